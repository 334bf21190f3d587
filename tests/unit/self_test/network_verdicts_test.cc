#include "app/self_test/network_verdicts.h"

#include <gmock/gmock.h>

#include "tests/unit/self_test/probe_evidence.h"

namespace loom::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ProbeRun exited(std::string out, int code) {
  ProbeRun run = printed(std::move(out));
  run.result.code = code;
  return run;
}

SocketEvidence held_socket() {
  return {.control = exited("socket-created\n", 0),
          .test = exited("socket-denied-permission\n", 1)};
}

TEST(SocketVerdictTest, ADenialBesideACreatedSocketIsEnforced) {
  EXPECT_THAT(judge_socket(held_socket()), IsEnforced());
}

TEST(SocketVerdictTest, ASocketUnderNetworkOffIsAFailure) {
  SocketEvidence seen = held_socket();
  seen.test = seen.control;

  EXPECT_THAT(judge_socket(seen), IsAFailure("a socket was created"));
}

TEST(SocketVerdictTest, WithoutItsControlADenialProvesNothing) {
  SocketEvidence seen = held_socket();
  seen.control = seen.test;

  EXPECT_THAT(judge_socket(seen), IsAFailure("network full"));
}

TEST(SocketVerdictTest, AnythingElseIsInconclusive) {
  for (const ProbeRun& test : {exited("socket-error:Too many open files\n", 2), exited("", 1),
                               exited("socket-denied-permission\n", 0)}) {
    SocketEvidence seen = held_socket();
    seen.test = test;
    EXPECT_THAT(judge_socket(seen), IsAFailure("inconclusive")) << test.out;
  }
}

constexpr const char* kTitles =
    "Inter-|   Receive                            |  Transmit\n"
    " face |bytes    packets errs drop fifo frame |bytes\n";

std::string shown(const std::string& space, const std::string& devices) {
  return "namespace " + space + "\n" + kTitles + devices;
}

DeviceEvidence held_devices() {
  return {.control = printed(shown("net:[1]", "    lo: 1 2\n  eth0: 3 4\n")),
          .test = printed(shown("net:[2]", "    lo: 0 0\n")),
          .own_namespace = "net:[1]"};
}

TEST(DeviceVerdictTest, NamesComeWithoutTitlesAndPadding) {
  EXPECT_THAT(parse_devices(shown("net:[1]", "    lo: 1 2\n  eth0: 3 4\nveth12a:5\n")),
              ElementsAre("lo", "eth0", "veth12a"));
  EXPECT_THAT(parse_devices("no such file\n"), IsEmpty());
}

TEST(DeviceVerdictTest, OnlyTheLoopbackInANamespaceOfItsOwnIsEnforced) {
  EXPECT_THAT(judge_devices(held_devices()), IsEnforced());
}

TEST(DeviceVerdictTest, AFurtherDeviceIsAFailure) {
  DeviceEvidence seen = held_devices();
  seen.test = printed(shown("net:[2]", "    lo: 0 0\n  eth0: 0 0\n"));

  EXPECT_THAT(judge_devices(seen), IsAFailure("further devices"));
}

TEST(DeviceVerdictTest, OnAMachineWithoutANetworkTheNamespaceStillTells) {
  DeviceEvidence seen = held_devices();
  seen.test = printed(shown("net:[1]", "    lo: 0 0\n"));

  EXPECT_THAT(judge_devices(seen), IsAFailure("shares the helper's network"));
}

TEST(DeviceVerdictTest, WithoutItsControlOrWithoutAWitnessNothingIsProven) {
  DeviceEvidence seen = held_devices();
  seen.control = seen.test;
  EXPECT_THAT(judge_devices(seen), IsAFailure("the control"));
  seen = held_devices();
  seen.own_namespace.clear();
  EXPECT_THAT(judge_devices(seen), IsAFailure("the control"));
  seen = held_devices();
  seen.test = printed(shown("net:[2]", ""));
  EXPECT_THAT(judge_devices(seen), IsAFailure("inconclusive"));
  seen.test = printed(shown("", "    lo: 0 0\n"));
  EXPECT_THAT(judge_devices(seen), IsAFailure("inconclusive"));
}

}  // namespace
}  // namespace loom::app
