#include "backends/seatbelt/render.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/stage2_control.h>

#include <limits>
#include <string>

#include "backends/seatbelt/platform.h"
#include "backends/seatbelt/stage2/prepare_document.h"
#include "mac_fixture.h"

namespace loom::seatbelt::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

PrepareDocument prepared(const Launched& run) {
  EXPECT_EQ(run.launch().memory_files.at(0).child_number, 3);
  return decode_prepare_document(run.launch().memory_files.at(0).bytes).value();
}

TEST(SeatbeltRenderTest, TheLauncherGetsTheProfileAndStage2) {
  const Launched run(Mac(), work_policy());
  const LaunchSpec& launch = run.launch();
  EXPECT_EQ(launch.image, ImageKind::kLauncher);
  EXPECT_EQ(launch.argv.at(0), kLauncher);
  EXPECT_EQ(launch.argv.at(1), "-p");
  EXPECT_EQ(launch.argv.at(2), run.profile());
  EXPECT_THAT(launch.argv.at(3), StartsWith("-DREADABLE_ROOT_0="));
  EXPECT_EQ(launch.argv.at(launch.argv.size() - 2), "--");
  EXPECT_EQ(launch.argv.back(), kStage2Path);
  EXPECT_THAT(launch.environment, IsEmpty());
  EXPECT_EQ(launch.memory_files.size(), 1U);
  EXPECT_EQ(launch.report_number, 4);
  EXPECT_EQ(launch.control_number, 5);
  EXPECT_EQ(launch.stdin_number, 0);
  EXPECT_EQ(launch.observe_ms, 20U);
  EXPECT_FALSE(launch.jailed_pids);
  EXPECT_FALSE(launch.wants_exec_rules);
  EXPECT_EQ(launch.ceilings, Ceilings{});
}

TEST(SeatbeltRenderTest, StartsWhereTheCommandStartsIfThatIsKnownToBeADirectory) {
  const Mac mac;
  const auto started_in = [&mac](const std::string& cwd) {
    PlanRequest request = mac.request(work_policy());
    request.command.cwd = cwd;
    return Launched(mac, request).launch().cwd;
  };
  EXPECT_EQ(started_in(kWork), kWork);
  EXPECT_EQ(started_in("/Users/me"), "/Users/me");
  EXPECT_EQ(started_in("/Users/me/work/src"), "/");
  EXPECT_EQ(started_in(kStage2Path), "/");
  EXPECT_EQ(started_in(""), "/");
}

TEST(SeatbeltRenderTest, TheCommandIsInTheCommitAndNowhereElse) {
  const Mac mac;
  PlanRequest request = mac.request(work_policy());
  request.command = {
      .argv = {"tool", "--secret"},
      .environment = {"TOKEN=hush"},
      .cwd = "/nowhere",
      .program = AdmittedProgram{.real = path("/bin/tool"), .identity = {.device = 1, .inode = 2}}};
  const LaunchSpec launch = Launched(mac, request).launch();
  const CommitDocument commit = decode_commit_document(launch.commit).value();
  EXPECT_THAT(commit.argv, ElementsAre("tool", "--secret"));
  EXPECT_THAT(commit.environment, ElementsAre("TOKEN=hush"));
  EXPECT_EQ(commit.cwd, "/nowhere");
  EXPECT_EQ(commit.program, "/bin/tool");
  EXPECT_EQ(commit.program_identity.inode, 2U);
  EXPECT_FALSE(commit.exec_rules);
  for (const std::string& word : launch.argv) {
    EXPECT_EQ(word.find("secret"), std::string::npos);
    EXPECT_EQ(word.find("hush"), std::string::npos);
  }
}

TEST(SeatbeltRenderTest, LimitsOfVersionTwo) {
  Policy policy = work_policy();
  policy.limits = {.cpu_s = 5, .mem_bytes = 7, .pids = 9, .fsize_bytes = 11};
  PlanRequest request = Mac().request(policy);
  request.facts.descriptor_limit = 256;
  EXPECT_EQ(prepared(Launched(Mac(), request)), (PrepareDocument{.fsize_bytes = 11,
                                                                 .cpu_s = 5,
                                                                 .address_space_bytes = 7,
                                                                 .processes = 9,
                                                                 .descriptor_limit = 256}));
  EXPECT_EQ(prepared(Launched(Mac(), work_policy())), PrepareDocument{});
}

TEST(SeatbeltRenderTest, VersionThreeHasAForkBrake) {
  const Mac mac;
  Policy policy = work_policy();
  EXPECT_EQ(prepared(Launched(mac, mac.request(policy, exec_rules({})))),
            PrepareDocument{.fork_brake = 512});
  policy.limits.pids = 40;
  EXPECT_EQ(prepared(Launched(mac, mac.request(policy, exec_rules({})))),
            PrepareDocument{.fork_brake = 40});
}

TEST(SeatbeltRenderTest, TheSuperuserHasNoForkBrakeAndNoSkipOfOne) {
  Mac mac;
  mac.uid(0);
  Policy policy = work_policy();
  const Launched run(mac, mac.request(policy, exec_rules({})));
  EXPECT_EQ(prepared(run), PrepareDocument{});
  EXPECT_THAT(run.audit().extras, Contains(StartsWith("unheld:fork-brake=")));
  // What was asked for is stage 2's to name.
  policy.limits.pids = 40;
  const Launched asked(mac, mac.request(policy, exec_rules({})));
  EXPECT_EQ(prepared(asked), PrepareDocument{.fork_brake = 40});
  EXPECT_THAT(asked.audit().extras, Not(Contains(StartsWith("unheld:fork-brake="))));
  // Version 2 has none to lack.
  EXPECT_THAT(Launched(mac, work_policy()).audit().extras,
              Not(Contains(StartsWith("unheld:fork-brake="))));
}

TEST(SeatbeltRenderTest, ARootThatAMountUndoesIsNamed) {
  Mac mac;
  mac.file("/Users/me/data/ro/f").directory("/Users/me/data/rw/in");
  Policy policy;
  policy.readable_roots = paths({"/Users/me/data/ro", "/Users/me/data/rw/in", "/usr"});
  policy.writable_roots = paths({"/Users/me/data/rw"});
  policy.mounts = {mount("/Users/me/data", true, true)};
  EXPECT_THAT(Launched(mac, policy).audit().widened,
              ElementsAre("mounts: readable root /Users/me/data/ro is writable: the mount of "
                          "/Users/me/data is the final mount operation covering it"));
  EXPECT_TRUE(Launched(mac, policy).jail().writes("/Users/me/data/ro/f"));
  policy.mounts = {mount("/Users/me/data", false, true)};
  EXPECT_THAT(Launched(mac, policy).audit().widened,
              ElementsAre("mounts: writable root /Users/me/data/rw is read-only: the mount of "
                          "/Users/me/data is the final mount operation covering it"));
  policy.mounts = {};
  policy.scratch.host_path = path("/Users/me/data/ro");
  EXPECT_THAT(Launched(mac, policy).audit().widened,
              ElementsAre("mounts: readable root /Users/me/data/ro is writable: the run's own "
                          "directory /Users/me/data/ro is the final mount operation covering it"));
  policy.scratch.host_path.reset();
  EXPECT_THAT(Launched(mac, policy).audit().widened, IsEmpty());
  EXPECT_FALSE(Launched(mac, policy).jail().writes("/Users/me/data/ro/f"));
}

// $TMPDIR, as jail-darwin.md 3.5 has it: every run may write there, so no demand may fail for it.
TEST(SeatbeltRenderTest, ARootThatIsAUserDirectoryIsNoSkipButSaidToBeWritable) {
  Policy policy;
  policy.readable_roots = paths({"/var/folders/zz/T", "/private/var/folders/zz/C/in"});
  const Launched run(Mac(), policy);
  EXPECT_TRUE(run.jail().creates("/private/var/folders/zz/T/f"));
  EXPECT_FALSE(run.jail().creates("/private/var/folders/zz/C/in/f"));  // further in, a root holds
  EXPECT_THAT(run.audit().widened, IsEmpty());
  EXPECT_THAT(run.audit().extras,
              ElementsAre("unheld:user-directories=readable root /var/folders/zz/T is "
                          "writable: every run may write /private/var/folders/zz/T",
                          "unheld:unix-path"));

  // What a mount does there is the policy's own doing.
  policy.mounts = {mount("/var/folders/zz/T", true)};
  EXPECT_THAT(Launched(Mac(), policy).audit().widened,
              ElementsAre("mounts: readable root /var/folders/zz/T is writable: the mount of "
                          "/var/folders/zz/T is the final mount operation covering it"));
  policy.mounts = {mount("/var/folders/zz/T", false)};
  EXPECT_THAT(Launched(Mac(), policy).audit().widened, IsEmpty());
  EXPECT_THAT(Launched(Mac(), policy).audit().extras, ElementsAre("unheld:unix-path"));
  EXPECT_FALSE(Launched(Mac(), policy).jail().creates("/private/var/folders/zz/T/f"));

  // Nor is it said of what the policy makes writable itself.
  policy.mounts = {};
  policy.writable_roots = paths({"/private/var/folders"});
  EXPECT_THAT(Launched(Mac(), policy).audit().extras, ElementsAre("unheld:unix-path"));
}

TEST(SeatbeltRenderTest, AProxyIsReportedByStage2) {
  Policy policy = work_policy();
  policy.network = {.mode = NetworkMode::kProxy, .allow = {}, .proxy = "p"};
  EXPECT_TRUE(prepared(Launched(Mac(), policy)).proxy_asked);
  EXPECT_FALSE(prepared(Launched(Mac(), work_policy())).proxy_asked);
}

TEST(SeatbeltAuditTest, ClaimsOnlyWhatAReportConfirms) {
  const Audit audit = Launched(Mac(), work_policy()).audit();
  EXPECT_THAT(audit.when_witnessed,
              ElementsAre("seatbelt", StartsWith("seatbelt-fs:"), "seatbelt-net"));
  EXPECT_THAT(audit.when_silent, ElementsAre(StartsWith("skip:seatbelt: ")));
  EXPECT_TRUE(audit.expects_witness);
  EXPECT_THAT(audit.always, IsEmpty());
  EXPECT_THAT(audit.widened, IsEmpty());
  EXPECT_THAT(audit.extras, ElementsAre("unheld:unix-path"));
}

TEST(SeatbeltAuditTest, AnOpenNetworkIsNotClaimedToBeCut) {
  Policy policy = work_policy();
  policy.network.mode = NetworkMode::kFull;
  EXPECT_THAT(Launched(Mac(), policy).audit().when_witnessed, Not(Contains("seatbelt-net")));
}

}  // namespace
}  // namespace loom::seatbelt::test
