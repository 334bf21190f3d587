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

TEST(InstallationTest, ABackendsOwnPiecesLieBesideItAndTheRestAreTheHelpers) {
  const Installation installation{.executable = "/usr/bin/loom-exec",
                                  .backend_directory = "/usr/lib/loom-exec/backends",
                                  .libexec_directory = "/usr/libexec/loom-exec"};
  const std::vector<std::string> own = {"/usr/libexec/loom-exec"};

  EXPECT_EQ(piece_directories(installation, "/usr/lib/loom-exec/backends/bwrap.so"), own);
  EXPECT_EQ(piece_directories(installation, "/home/u/nspawn.so"), own);
  EXPECT_EQ(piece_directories(installation, "/home/u/not-lib/loom-exec/backends/nspawn.so"), own);
  const std::vector<std::string> beside = {"/home/u/build/libexec/loom-exec",
                                           "/usr/libexec/loom-exec"};
  EXPECT_EQ(piece_directories(installation, "/home/u/build/lib/loom-exec/backends/nspawn.so"),
            beside);
}

}  // namespace
}  // namespace loom::host
