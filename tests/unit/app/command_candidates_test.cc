#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/launch_child.h"

namespace loom::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CommandCandidatesTest, ANameIsLookedUpInEveryAbsoluteEntryOfPath) {
  EXPECT_THAT(command_candidates("make", "/w", {"A=1", "PATH=/usr/bin:/bin"}),
              ElementsAre("/usr/bin/make", "/bin/make"));
}

TEST(CommandCandidatesTest, RelativeAndEmptyEntriesOfPathAreNoPlaceToLook) {
  EXPECT_THAT(command_candidates("make", "/w", {"PATH=:bin:/bin::./x"}), ElementsAre("/bin/make"));
}

TEST(CommandCandidatesTest, WithoutPathAPlainNameIsNowhere) {
  EXPECT_THAT(command_candidates("make", "/w", {"PATHS=/bin"}), IsEmpty());
}

TEST(CommandCandidatesTest, ANameWithASlashIsNotLookedUp) {
  EXPECT_THAT(command_candidates("/opt/x", "/w", {"PATH=/bin"}), ElementsAre("/opt/x"));
  EXPECT_THAT(command_candidates("./x", "/w", {"PATH=/bin"}), ElementsAre("/w/./x"));
}

}  // namespace
}  // namespace loom::app
