// What the backend of macOS makes of a policy, for a publication on a machine that stands for one.

#include "app/git_identity_grounds.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "app/git_identity_file.h"
#include "backends/seatbelt/seatbelt_backend.h"
#include "host/path_survey.h"
#include "tests/support/read_file.h"

namespace loom::app {
namespace {

class IdleHost final : public HostServices {
 public:
  void log(LogLevel /*level*/, std::string_view /*utf8*/) override {}
  Result<TrialResult> try_launch(const LaunchSpec& /*launch*/,
                                 std::uint32_t /*deadline_ms*/) override {
    return fail(ErrorCode::kBackend, "nothing is tried");
  }
  Result<std::int32_t> spawn(const LaunchSpec& /*launch*/) override {
    return fail(ErrorCode::kBackend, "nothing is started");
  }
  Result<ExecObject> next_exec_object() override {
    return fail(ErrorCode::kBackend, "there are none");
  }
  Result<std::vector<std::int32_t>> children(std::int32_t /*pid*/) override {
    return fail(ErrorCode::kBackend, "there are none");
  }
};

// A directory of its own in which "tmp" is a link to "private/tmp".
class MacGroundsTest : public testing::Test {
 protected:
  MacGroundsTest() {
    std::string name = std::filesystem::temp_directory_path() / "loom-identity-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    base_ = std::filesystem::canonical(name);
    std::filesystem::create_directories(base_ + "/private/tmp/x/.codemode/home");
    std::filesystem::create_directory_symlink("private/tmp", base_ + "/tmp");
  }
  ~MacGroundsTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }

  [[nodiscard]] AbsolutePath at(const std::string& name) const {
    return *AbsolutePath::parse(base_ + name);
  }
  // As --publish-git-identity does it; "published" or the reason.
  [[nodiscard]] std::string publish(const std::string& workspace, const Policy& policy) {
    SeatbeltBackendUnderTest machine;
    const PathFact fact = host::survey_path(at(workspace));
    const PublicationPlaces places = publication_places(fact.real, ".gitconfig-0");
    const auto grounds = grounds_by(machine.backend, machine.facts, policy);
    if (!grounds) return std::string(refusal_text(grounds.error()));
    const auto admitted = admit_publication(places, *grounds, IdentityPlatform::kDarwin);
    if (!admitted) return std::string(refusal_text(admitted.error()));
    auto file = walk_to_file(places.target);
    if (!file) return std::string(refusal_text(file.error()));
    const auto replaced = replace_file(*file, ".gitconfig-0", "content");
    return replaced ? "published" : std::string(refusal_text(replaced.error()));
  }
  [[nodiscard]] std::string content() const {
    return test::read_file(base_ + "/private/tmp/x/.codemode/home/gitconfig");
  }
  static std::string words(IdentityRefusal refusal) { return std::string(refusal_text(refusal)); }

  struct SeatbeltBackendUnderTest {
    // As an installation on a Mac has them.
    SeatbeltBackendUnderTest() {
      facts = *publication_facts(backend, {.executable = "/usr/bin/loom-exec",
                                           .backend_directory = "/usr/lib/loom-exec/backends",
                                           .libexec_directory = "/usr/libexec/loom-exec"});
      facts.os = "darwin";
      facts.machine = "arm64";
    }
    IdleHost host;
    seatbelt::SeatbeltBackend backend{host};
    HostFacts facts;
  };

  std::string base_;
};

// cases.md 232
TEST_F(MacGroundsTest, AWorkspaceInTmpIsAcceptedUnderBothSpellings) {
  for (const std::string root : {"/tmp/x", "/private/tmp/x", "/tmp"}) {
    Policy policy;
    policy.writable_roots = {at(root)};
    for (const std::string workspace : {"/tmp/x", "/private/tmp/x"}) {
      std::filesystem::remove(base_ + "/private/tmp/x/.codemode/home/gitconfig");
      EXPECT_EQ(publish(workspace, policy), "published") << root << " and " << workspace;
      EXPECT_EQ(content(), "content") << root << " and " << workspace;
    }
  }
}

TEST_F(MacGroundsTest, WithoutAGrantNothingIsPublished) {
  Policy policy;
  policy.readable_roots = {at("/tmp/x")};
  EXPECT_EQ(publish("/tmp/x", policy), words(IdentityRefusal::kNotWritable));
  policy.writable_roots = {at("/tmp/y")};
  EXPECT_EQ(publish("/private/tmp/x", policy), words(IdentityRefusal::kNotWritable));
  EXPECT_EQ(content(), "");
}

TEST_F(MacGroundsTest, AProtectedPathHoldsUnderBothSpellings) {
  for (const std::string hidden : {"/tmp/x/.codemode", "/private/tmp/x/.codemode/home/gitconfig"}) {
    Policy policy;
    policy.writable_roots = {at("/private/tmp/x")};
    EXPECT_EQ(publish("/tmp/x", policy), "published");
    policy.protected_paths = {at(hidden)};
    for (const std::string workspace : {"/tmp/x", "/private/tmp/x"}) {
      EXPECT_EQ(publish(workspace, policy), words(IdentityRefusal::kProtected)) << hidden;
    }
  }
}

// cases.md 233
TEST_F(MacGroundsTest, AWorkspaceAndItsRootMayBeNamedThroughALinkedParent) {
  std::filesystem::create_directory_symlink("private", base_ + "/other");
  Policy policy;
  policy.writable_roots = {at("/other/tmp/x")};

  EXPECT_EQ(publish("/other/tmp/x", policy), "published");
  EXPECT_EQ(publish("/tmp/x", policy), "published");
}

TEST_F(MacGroundsTest, TheWayToTheFileFollowsNoLink) {
  std::filesystem::rename(base_ + "/private/tmp/x/.codemode/home", base_ + "/elsewhere");
  std::filesystem::create_directory_symlink(base_ + "/elsewhere",
                                            base_ + "/private/tmp/x/.codemode/home");
  Policy policy;
  policy.writable_roots = {at("/tmp/x")};

  EXPECT_EQ(publish("/tmp/x", policy), words(IdentityRefusal::kHomeThroughLink));
  EXPECT_FALSE(std::filesystem::exists(base_ + "/elsewhere/gitconfig"));
}

}  // namespace
}  // namespace loom::app
