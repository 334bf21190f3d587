#include "machine.h"

#include <gtest/gtest.h>
#include <loom/other_names.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "backends/bwrap/plan.h"
#include "backends/bwrap/render.h"
#include "backends/bwrap/render_argv.h"
#include "backends/bwrap/survey.h"
#include "backends/bwrap/system_roots.h"
#include "backends/bwrap/view.h"

namespace loom::bwrap::test {

AbsolutePath path(std::string_view text) { return known_path(text); }

std::vector<AbsolutePath> paths(const std::vector<std::string>& texts) {
  std::vector<AbsolutePath> all;
  for (const std::string& text : texts) all.push_back(path(text));
  return all;
}

FileIdentity identity_of(const std::string& real) {
  return {.device = 7, .inode = std::hash<std::string>{}(real) | 1U};
}

Machine::Machine() {
  for (const std::string_view root : kSystemRoots) directory(std::string(root));
  directory("/tmp");
  facts_.os = "linux";
  facts_.machine = "x86_64";
  facts_.launcher = {.present = true, .path = "/usr/bin/bwrap", .reason = {}, .identity = {}};
  facts_.stage2 = {.present = true, .path = "/x/bwrap-stage2", .reason = {}, .identity = {}};
  kernel({.landlock_abi = 7, .landlock_reason = {}, .seccomp = true, .seccomp_reason = {}});
}

Machine& Machine::directory(const std::string& at) {
  entries_[at] = {.real = at, .kind = PathKind::kDirectory, .error = 0, .links = {}};
  return *this;
}

Machine& Machine::file(const std::string& at) {
  entries_[at] = {.real = at, .kind = PathKind::kRegular, .error = 0, .links = {}};
  return *this;
}

Machine& Machine::other(const std::string& at) {
  entries_[at] = {.real = at, .kind = PathKind::kOther, .error = 0, .links = {}};
  return *this;
}

Machine& Machine::missing(const std::string& at, int error) {
  entries_[at] = {.real = at, .kind = PathKind::kMissing, .error = error, .links = {}};
  return *this;
}

Machine& Machine::placeholder(const std::string& at) {
  entries_[at] = {
      .real = at, .kind = PathKind::kMissing, .error = ENOENT, .links = {}, .placeholder = true};
  return *this;
}

Machine& Machine::mounted(const std::string& point, const std::string& root,
                          const std::string& device) {
  facts_.mounts.push_back({.point = path(point), .root = path(root), .device = device});
  return *this;
}

Machine& Machine::unlooked(const std::string& at) {
  unlooked_.insert(at);
  return *this;
}

Machine& Machine::by_handle() {
  auto facts = decode_kernel_facts(facts_.backend);
  EXPECT_TRUE(facts.has_value());
  if (facts) facts->launcher.by_handle = true;
  return facts ? kernel(*facts) : *this;
}

Machine& Machine::linked(const std::string& at, const std::string& real,
                         std::vector<LinkFact> links) {
  const auto target = entries_.find(real);
  const bool there = target != entries_.end() && target->second.kind != PathKind::kMissing;
  entries_[at] = {.real = real,
                  .kind = there ? target->second.kind : PathKind::kMissing,
                  .error = there ? 0 : ENOENT,
                  .links = std::move(links)};
  return *this;
}

Machine& Machine::kernel(const KernelFacts& facts) {
  facts_.backend = encode(facts);
  return *this;
}

Machine& Machine::without_launcher() {
  facts_.launcher = {.present = false, .path = {}, .reason = "no bwrap on PATH", .identity = {}};
  return *this;
}

Machine& Machine::without_stage2() {
  facts_.stage2 = {.present = false, .path = {}, .reason = "no such file", .identity = {}};
  return *this;
}

Machine& Machine::architecture(const std::string& machine) {
  facts_.machine = machine;
  return *this;
}

PathFact Machine::fact(const AbsolutePath& at, const Directories& directories) const {
  const auto found = entries_.find(at.str());
  const Entry entry = found != entries_.end() ? found->second
                                              : Entry{.real = at.str(),
                                                      .kind = PathKind::kMissing,
                                                      .error = ENOENT,
                                                      .links = {},
                                                      .placeholder = false};
  const bool there = entry.kind != PathKind::kMissing;
  const AbsolutePath real = path(entry.real);
  return {.path = at,
          .real = real,
          .kind = entry.kind,
          .identity = there || entry.placeholder ? identity_of(entry.real) : FileIdentity{},
          .parent_identity = directories.contains(real.parent().str())
                                 ? identity_of(real.parent().str())
                                 : FileIdentity{},
          .link_count = there ? 1U : 0U,
          .links = entry.links,
          .error = entry.error};
}

// What exists lies in a directory that exists.
Machine::Directories Machine::directories() const {
  Directories all = {"/"};
  for (const auto& [name, entry] : entries_) {
    const bool there = entry.kind != PathKind::kMissing || entry.placeholder;
    if (!there) continue;
    if (entry.kind == PathKind::kDirectory || entry.placeholder) all.insert(entry.real);
    AbsolutePath at = path(entry.real).parent();
    while (all.insert(at.str()).second) at = at.parent();
  }
  return all;
}

// Above whatever was asked for, and above the names that the mounts give to it.
void Machine::add_directories(HostFacts& facts, const Directories& directories) const {
  Directories known;
  const MountNames names(facts.mounts);
  const auto add = [&](AbsolutePath at) {
    do {
      at = at.parent();
      if (directories.contains(at.str()) && !known.insert(at.str()).second) return;
    } while (!at.is_root());
  };
  for (const PathFact& fact : facts.paths) {
    add(fact.real);
    for (const OtherName& name : names.of(fact.real)) {
      add(name.path);
      if (directories.contains(name.path.str())) known.insert(name.path.str());
    }
  }
  for (const std::string& at : known) {
    if (unlooked_.contains(at)) continue;
    const auto entry = entries_.find(at);
    facts.directories.push_back(
        {.path = path(at),
         .identity = identity_of(at),
         .placeholder = entry != entries_.end() && entry->second.placeholder});
  }
}

HostFacts Machine::facts(const Policy& policy) const {
  HostFacts all = facts_;
  const Directories there = directories();
  for (const SurveyPath& asked : survey({.policy = policy, .facts = facts_}).paths) {
    all.paths.push_back(fact(asked.path, there));
  }
  add_directories(all, there);
  return all;
}

ResolvedPolicy Machine::resolve(const Policy& policy) const {
  return bwrap::resolve(policy, facts(policy));
}

PlanRequest Machine::request(const Policy& policy) const {
  return {.policy = policy,
          .command = {.argv = {"true"}, .environment = {"PATH=/usr/bin"}, .cwd = "/work"},
          .demand = Demand::kBestEffort,
          .keep_capabilities = {},
          .facts = facts(policy),
          .nonce = "1"};
}

Machine base_machine() {
  Machine machine;
  machine.directory("/work").directory("/opt/tools").directory("/work/.git").file("/work/.env");
  return machine;
}

Policy base_policy() {
  Policy policy;
  policy.writable_roots = paths({"/work"});
  policy.readable_roots = paths({"/opt/tools"});
  policy.protected_paths = paths({"/work/.git", "/work/.env"});
  policy.env_allow = {"PATH"};
  policy.limits.output_bytes = 1'048'576;
  return policy;
}

Policy empty_policy() { return {}; }

Scratch host_scratch(const std::string& at) { return {.host_path = path(at), .written = at}; }

ExplicitMount mount(const std::string& at, bool writable, bool required) {
  return {.path = path(at), .writable = writable, .required = required};
}

JailPlan plan_of(const Machine& machine, const Policy& policy) {
  auto made = plan(machine.request(policy));
  EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
  return made ? *std::move(made) : JailPlan{};
}

std::string refusal_of(const Machine& machine, const Policy& policy) {
  const auto made = plan(machine.request(policy));
  EXPECT_FALSE(made.has_value());
  return made ? std::string() : made.error().message;
}

std::vector<std::string> argv_of(const Machine& machine, const Policy& policy) {
  return canonical_argv(build_view(machine.resolve(policy)), policy.network.blocks_direct());
}

LaunchSpec launch_of(const Machine& machine, const Policy& policy) {
  const auto launch = render(plan_of(machine, policy));
  EXPECT_TRUE(launch.has_value()) << (launch ? "" : launch.error().message);
  return launch ? *launch : LaunchSpec{};
}

std::vector<std::string> executed_of(const Machine& machine, const Policy& policy) {
  std::vector<std::string> argv;
  for (const MemoryFile& memory : launch_of(machine, policy).memory_files) {
    if (memory.role != "launcher options") continue;
    std::string word;
    for (const char byte : as_text(memory.bytes)) {
      if (byte != '\0') {
        word += byte;
      } else {
        argv.push_back(std::exchange(word, {}));
      }
    }
  }
  return argv;
}

Machine after_making(Machine machine, const Policy& policy) {
  for (const MadeName& name : plan_of(machine, policy).to_make) {
    machine.placeholder(name.path.str());
  }
  return machine;
}

std::string joined(const std::vector<std::string>& argv) {
  std::string text = " ";
  for (const std::string& word : argv) text += word + ' ';
  return text;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace loom::bwrap::test
