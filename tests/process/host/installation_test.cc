#include "host/installation.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace loom::host {
namespace {

TEST(InstallationTest, PiecesAreFoundFromTheRunningExecutable) {
  const auto installation = find_installation();

  ASSERT_TRUE(installation) << installation.error().message;
  const auto self = std::filesystem::canonical("/proc/self/exe");
  const std::string prefix = self.parent_path().parent_path();
  EXPECT_EQ(installation->executable, self);
  EXPECT_EQ(installation->backend_directory, prefix + "/lib/loom-exec/backends");
  EXPECT_EQ(installation->libexec_directory, prefix + "/libexec/loom-exec");
}

}  // namespace
}  // namespace loom::host
