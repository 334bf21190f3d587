#include "app/self_test/hostile_probes.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/self_test/erlang_module.h"
#include "app/self_test/probe_base.h"

namespace loom::app {
namespace {

// The first of this name on the probes' PATH; empty when there is none.
std::string find_program(const std::string& name) {
  std::string_view rest = kProbePath;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string path = std::string(rest.substr(0, end)) + "/" + name;
    if (::access(path.c_str(), X_OK) == 0) return path;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

const char* tree_name(Surroundings surroundings) {
  switch (surroundings) {
    case Surroundings::kUnjailed:
      return "unjailed";
    case Surroundings::kPermissive:
      return "permissive";
    case Surroundings::kConfined:
      return "confined";
  }
  return "confined";
}

// One run's files: what may be read and written, what must not be, and where the victim would be.
struct Tree {
  std::string root;    // all of them relative to the probe directory
  std::string inside;  // the workspace
  std::string readable;
  std::string writable;
  std::string secret;
  std::string outside;  // the victim
};

Result<Tree> make_tree(const ProbeDirectory& directory, const std::string& name,
                       const std::string& secret) {
  Tree tree{.root = name,
            .inside = name + "/inside",
            .readable = name + "/inside/readable",
            .writable = name + "/inside/writable",
            .secret = name + "/inside/vault/secret",
            .outside = name + "/outside/victim"};
  LOOM_TRY_VOID(directory.add_directories(
      {tree.root, tree.inside, name + "/inside/vault", name + "/outside"}));
  LOOM_TRY_VOID(directory.write(tree.readable, "readable\n"));
  LOOM_TRY_VOID(directory.write(tree.secret, secret));
  return tree;
}

std::vector<std::string> command_line(const Adversary& adversary, const ProbeDirectory& directory,
                                      const Tree& tree, std::uint16_t port) {
  std::vector<std::string> argv = adversary.command;
  for (const std::string& name : {tree.readable, tree.writable, tree.secret, tree.outside}) {
    argv.push_back(directory.at(name).str());
  }
  argv.push_back(std::to_string(port));
  return argv;
}

// stdout, then stderr.
Result<std::string> output_of(ProbeRig& rig, const AbsolutePath& tree, const AbsolutePath& code,
                              Surroundings surroundings, std::vector<std::string> argv) {
  if (surroundings == Surroundings::kUnjailed) {
    LOOM_TRY(const PlainRun run,
             rig.unjailed({.argv = std::move(argv), .directory = tree.str() + "/inside"}));
    return run.out + "\n" + run.err;
  }
  LOOM_TRY(const ProbeRun run, rig.run({.policy = adversary_policy(surroundings, tree, code),
                                        .argv = std::move(argv)}));
  return run.out + "\n" + run.err;
}

}  // namespace

Policy adversary_policy(Surroundings surroundings, const AbsolutePath& tree,
                        const AbsolutePath& code) {
  const AbsolutePath inside = *AbsolutePath::parse(tree.str() + "/inside");
  Policy policy = base_policy(inside);
  policy.readable_roots = {code};
  policy.protected_paths = {*AbsolutePath::parse(inside.str() + "/vault")};
  if (surroundings == Surroundings::kConfined) return policy;
  policy.writable_roots = {tree};
  policy.protected_paths.clear();
  policy.network.mode = NetworkMode::kFull;
  return policy;
}

Result<AdversaryRun> run_adversary(ProbeRig& rig, const ProbeDirectory& directory,
                                   const LoopbackListener& listener, const Adversary& adversary,
                                   Surroundings surroundings) {
  LOOM_TRY(const std::string secret, make_marker("secret"));
  LOOM_TRY(const Tree tree, make_tree(directory, tree_name(surroundings), secret));
  static_cast<void>(listener.take_connections());
  AdversaryRun run;
  LOOM_TRY(run.output, output_of(rig, directory.at(tree.root), adversary.code, surroundings,
                                 command_line(adversary, directory, tree, listener.port())));
  run.record = parse_adversary(run.output);
  run.victim_exists = directory.has(tree.outside);
  run.secret_changed = directory.read(tree.secret) != secret;
  run.secret_shown = holds(run.output, secret);
  run.connected = listener.take_connections();
  return run;
}

Result<ProbeVerdict> try_adversary(ProbeRig& rig, const ProbeDirectory& directory,
                                   const LoopbackListener& listener, const Adversary& adversary) {
  const auto run = [&](Surroundings surroundings) {
    return run_adversary(rig, directory, listener, adversary, surroundings);
  };
  LOOM_TRY(const AdversaryRun unjailed, run(Surroundings::kUnjailed));
  if (auto verdict = judge_unjailed(unjailed); verdict.verdict != Verdict::kEnforced)
    return verdict;
  LOOM_TRY(const AdversaryRun permissive, run(Surroundings::kPermissive));
  if (auto verdict = judge_permissive(permissive); verdict.verdict != Verdict::kEnforced) {
    return verdict;
  }
  LOOM_TRY(const AdversaryRun confined, run(Surroundings::kConfined));
  return judge_confined(confined);
}

Result<std::optional<Adversary>> make_hostile_module(ProbeRig& rig,
                                                     const ProbeDirectory& directory) {
  const std::string machine = find_program("erl");
  const std::string compiler = find_program("erlc");
  if (machine.empty() || compiler.empty()) return std::optional<Adversary>();
  const std::string source = std::string(kHostileModule) + ".erl";
  const AbsolutePath code = directory.at("ebin");
  LOOM_TRY_VOID(directory.add_directories({"ebin"}));
  LOOM_TRY_VOID(directory.write(source, kHostileSource));
  LOOM_TRY(const PlainRun compiled,
           rig.unjailed({.argv = {compiler, "-o", code.str(), directory.at(source).str()},
                         .directory = directory.path().str()}));
  if (compiled.code != 0 || !directory.has(std::string("ebin/") + kHostileModule + ".beam")) {
    return fail(ErrorCode::kSystem, "the hostile module does not compile: " +
                                        quote_output(compiled.out + "\n" + compiled.err));
  }
  return std::optional(
      Adversary{.command = {machine, "-noshell", "-pa", code.str(), "-run", kHostileModule, "run"},
                .code = code});
}

Adversary hostile_program(const ProbeRig& rig) {
  return {.command = {rig.executable().str(), "--probe-hostile"},
          .code = rig.executable().parent()};
}

Result<ProbeVerdict> probe_hostile_module(ProbeRig& rig) {
  if (!rig.has(rig.jail().file_system)) return rig.without(rig.jail().file_system);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY(const std::optional<Adversary> adversary, make_hostile_module(rig, directory));
  if (!adversary) return skipped("erl or erlc is not on " + std::string(kProbePath));
  const auto listener = LoopbackListener::open();
  if (!listener) return skipped(listener.error().message);
  return try_adversary(rig, directory, *listener, *adversary);
}

Result<ProbeVerdict> probe_hostile_program(ProbeRig& rig) {
  if (!rig.has(rig.jail().file_system)) return rig.without(rig.jail().file_system);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  const auto listener = LoopbackListener::open();
  if (!listener) return skipped(listener.error().message);
  return try_adversary(rig, directory, *listener, hostile_program(rig));
}

}  // namespace loom::app
