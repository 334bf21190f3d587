#include "app/self_test/probe_table.h"

#include <gmock/gmock.h>

#include "app/self_test/hostile_probes.h"

namespace loom::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> names(std::string_view os = "linux") {
  std::vector<std::string> found;
  for (const Probe& probe : probe_table(os)) found.emplace_back(probe.name);
  return found;
}

// cases.md 241
TEST(ProbeTableTest, TheElevenAgreedNamesComeFirstAndInTheirOrder) {
  std::vector<std::string> first = names();
  ASSERT_GE(first.size(), 11u);
  first.resize(11);

  EXPECT_THAT(first,
              ElementsAre("write outside writable_roots denied",
                          "protected path masked from reads and writes",
                          "daemon state root unreachable from a session jail",
                          "host path outside the mount plan unreadable",
                          "direct socket denied under network off", "env not in allowlist withheld",
                          "fork bomb capped by pids limit", "output flood truncated at cap",
                          "orphaned grandchild reaped via pgroup", "observed setsid escape reaped",
                          "unvetted beam denied host write, secret, and network"));
}

TEST(ProbeTableTest, OurOwnNamesFollow) {
  std::vector<std::string> rest = names();
  rest.erase(rest.begin(), rest.begin() + 11);

  EXPECT_THAT(
      rest,
      ElementsAre("hostile native program denied host write, secret, and network",
                  "only the loopback device under network off",
                  "landlock refuses what the mounts would allow",
                  "file size ceiling ends the writer", "memory ceiling stops the allocator",
                  "no capability and no privilege gain left", "dangerous system calls refused",
                  "no descriptor of the helper leaks", "orphans end with their run"));
}

// cases.md 241
TEST(ProbeTableTest, TheElevenAreTheSameOnMacosAndOfOurOwnThoseWithoutLinuxInThem) {
  const std::vector<std::string> on_linux = names("linux");
  std::vector<std::string> expected(on_linux.begin(), on_linux.begin() + 11);
  expected.insert(expected.end(),
                  {"hostile native program denied host write, secret, and network",
                   "file size ceiling ends the writer", "orphans end with their run"});

  EXPECT_EQ(names("darwin"), expected);
}

AbsolutePath path(const char* text) { return *AbsolutePath::parse(text); }

// cases.md 240
TEST(AdversaryPolicyTest, ThePermissiveOneGrantsExactlyTheThreeEscapes) {
  const AbsolutePath tree = path("/var/tmp/d/tree");
  const AbsolutePath code = path("/var/tmp/d/ebin");
  Policy confined = adversary_policy(Surroundings::kConfined, tree, code);
  const Policy permissive = adversary_policy(Surroundings::kPermissive, tree, code);

  EXPECT_THAT(confined.writable_roots, ElementsAre(path("/var/tmp/d/tree/inside")));
  EXPECT_THAT(confined.protected_paths, ElementsAre(path("/var/tmp/d/tree/inside/vault")));
  EXPECT_EQ(confined.network.mode, NetworkMode::kOff);
  EXPECT_THAT(confined.readable_roots, ElementsAre(code));
  EXPECT_THAT(permissive.protected_paths, IsEmpty());
  confined.writable_roots = {tree};
  confined.protected_paths.clear();
  confined.network.mode = NetworkMode::kFull;
  EXPECT_EQ(permissive, confined);
}

}  // namespace
}  // namespace loom::app
