#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/self_test/adversary.h"
#include "app/self_test/loopback_listener.h"
#include "app/self_test/probe_rig.h"

namespace loom::app {

[[nodiscard]] Result<ProbeVerdict> probe_hostile_module(ProbeRig& rig);
[[nodiscard]] Result<ProbeVerdict> probe_hostile_program(ProbeRig& rig);

// ---- the parts, for the counterpart tests
// ---------------------------------------------------------

// How to run an adversary: the command before its five arguments, and where its code lies, which a
// jail must show.
struct Adversary {
  std::vector<std::string> command;
  AbsolutePath code;
};

enum class Surroundings : std::uint8_t { kUnjailed, kPermissive, kConfined };

// The policy of one run in the tree `tree`, which holds inside/ and outside/. kPermissive grants
// exactly the three escapes more than kConfined. Pure.
[[nodiscard]] Policy adversary_policy(Surroundings surroundings, const AbsolutePath& tree,
                                      const AbsolutePath& code);

// Runs it once, in a tree of its own below `directory`.
[[nodiscard]] Result<AdversaryRun> run_adversary(ProbeRig& rig, const ProbeDirectory& directory,
                                                 const LoopbackListener& listener,
                                                 const Adversary& adversary,
                                                 Surroundings surroundings);

// The three runs, until one of them decides.
[[nodiscard]] Result<ProbeVerdict> try_adversary(ProbeRig& rig, const ProbeDirectory& directory,
                                                 const LoopbackListener& listener,
                                                 const Adversary& adversary);

// The Erlang module, compiled on the host into `directory`; nothing where erl or erlc is missing.
[[nodiscard]] Result<std::optional<Adversary>> make_hostile_module(ProbeRig& rig,
                                                                   const ProbeDirectory& directory);
// The helper itself.
[[nodiscard]] Adversary hostile_program(const ProbeRig& rig);

}  // namespace loom::app
