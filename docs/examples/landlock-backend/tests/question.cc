#include "question.h"

#include <gtest/gtest.h>

#include "kernel_facts.h"
#include "survey.h"

namespace landlock {

loom::AbsolutePath path(const std::string& text) {
  auto parsed = loom::AbsolutePath::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *parsed : loom::AbsolutePath::root();
}

Question::Question() {
  request.policy.writable_roots = {path("/ws")};
  request.command = {.argv = {"true"}, .environment = {"PATH=/usr/bin"}, .cwd = "/ws"};
  request.private_scratch = path("/tmp/loom-1");
  request.facts.os = "linux";
#if defined(__x86_64__)
  request.facts.machine = "x86_64";
#else
  request.facts.machine = "aarch64";
#endif
  request.facts.stage2.present = true;
  kernel(kAbi);
  look();
}

void Question::look() {
  request.facts.paths.clear();
  const loom::Survey wanted = survey({.policy = request.policy, .facts = request.facts});
  std::uint64_t inode = 100;
  for (const loom::SurveyPath& asked : wanted.paths) {
    loom::PathFact fact{.path = asked.path, .real = asked.path};
    const std::string& text = asked.path.str();
    const bool floor = asked.role != loom::PathRole::kSystemRoot || text == "/usr" ||
                       text == "/etc" || text == "/proc" || text.starts_with("/dev/");
    fact.kind = floor ? loom::PathKind::kDirectory : loom::PathKind::kMissing;
    fact.error = floor ? 0 : 2;
    if (floor) fact.identity = {.device = 1, .inode = ++inode};
    fact.parent_identity = {.device = 1, .inode = 2};
    fact.link_count = 1;
    request.facts.paths.push_back(fact);
  }
}

loom::PathFact& Question::fact(const std::string& text) {
  for (loom::PathFact& fact : request.facts.paths) {
    if (fact.path.str() == text) return fact;
  }
  ADD_FAILURE() << "nobody asked for " << text;
  return request.facts.paths.front();
}

void Question::kernel(std::uint32_t abi, bool seccomp) {
  request.facts.backend = encode(KernelFacts{.abi = abi,
                                             .no_landlock = abi > 0 ? "" : "not built in",
                                             .seccomp = seccomp,
                                             .no_seccomp = seccomp ? "" : "not built in"});
}

}  // namespace landlock
