#include "policy_case.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "policy/decode_policy.h"

namespace loom::seatbelt::test {
namespace {

using loom::test::Dice;

constexpr auto kTops = std::to_array<std::string_view>({"/w", "/w", "/x", "/h", "/tmp/t"});
constexpr auto kNames =
    std::to_array<std::string_view>({"a", "b", "ab", "\u00E9", "s\u00DF", "run"});
// Other spellings of some of these; only a volume that tells names apart can hold both.
constexpr auto kVariants = std::to_array<std::string_view>({"A", "e\u0301", "SS\u00DF", "RUN"});
// Of the system, on one platform or the other.
constexpr auto kSystemNames = std::to_array<std::string_view>({"/",
                                                               "/tmp",
                                                               "/tmp/x",
                                                               "/usr",
                                                               "/usr/bin",
                                                               "/usr/bin/tool",
                                                               "/etc",
                                                               "/etc/hosts",
                                                               "/opt",
                                                               "/opt/t",
                                                               "/var",
                                                               "/var/db/x",
                                                               "/var/x",
                                                               "/dev",
                                                               "/dev/null",
                                                               "/proc",
                                                               "/bin",
                                                               "/bin/sh",
                                                               "/var/folders/u/T",
                                                               "/helper",
                                                               "/System",
                                                               "/System/Volumes",
                                                               "/System/Volumes/Data/own"});

template <class Names>
std::string one_of(Dice& dice, const Names& names) {
  return std::string(names[dice.below(names.size())]);
}

std::string random_name(Dice& dice, bool variants) {
  return variants && dice.chance(5) ? one_of(dice, kVariants) : one_of(dice, kNames);
}

std::string random_user_path(Dice& dice, bool variants) {
  std::string path = one_of(dice, kTops);
  for (std::size_t depth = dice.below(4); depth > 0; --depth) {
    path = child_of(path, random_name(dice, variants));
  }
  return path;
}

std::string random_target(Dice& dice, const std::vector<TreeEntry>& entries) {
  if (dice.chance(6)) return "../" + random_name(dice, false);
  if (dice.chance(4) || entries.empty()) return random_user_path(dice, false);
  return entries[dice.below(entries.size())].path;
}

// Whether the path is another entry's directory, or has another entry for one that is none.
bool clashes(const std::vector<TreeEntry>& entries, const TreeEntry& added) {
  return std::any_of(entries.begin(), entries.end(), [&](const TreeEntry& there) {
    const bool below = lies_in(added.path, there.path) && there.kind != NodeKind::kDirectory;
    const bool above = lies_in(there.path, added.path) && added.kind != NodeKind::kDirectory;
    return below || above;
  });
}

std::vector<TreeEntry> random_entries(Dice& dice, bool variants) {
  std::vector<TreeEntry> entries;
  for (std::size_t count = 4 + dice.below(9); count > 0; --count) {
    TreeEntry entry{.path = random_user_path(dice, variants)};
    const std::size_t kind = dice.below(10);
    if (kind < 3) entry.kind = NodeKind::kDirectory;
    if (kind >= 8) {
      entry.kind = NodeKind::kLink;
      entry.target = random_target(dice, entries);
    }
    if (!clashes(entries, entry)) entries.push_back(std::move(entry));
  }
  return entries;
}

// A path that a policy may name.
std::string random_place(Dice& dice, const PolicyCase& one) {
  if (dice.chance(12)) return one_of(dice, kSystemNames);
  if (dice.chance(6)) return random_user_path(dice, true);
  if (one.entries.empty() || dice.chance(8)) return one_of(dice, kTops);
  std::string path = one.entries[dice.below(one.entries.size())].path;
  if (dice.chance(5)) return child_of(path, random_name(dice, false));
  for (; dice.chance(3) && path != "/w" && path != "/x" && path != "/h" && path != "/tmp/t";) {
    path = parent_of(path);
  }
  return path;
}

std::vector<AbsolutePath> random_places(Dice& dice, const PolicyCase& one, std::size_t most) {
  std::vector<AbsolutePath> places;
  for (std::size_t count = dice.below(most + 1); count > 0; --count) {
    places.push_back(AbsolutePath::parse(random_place(dice, one)).value());
  }
  return places;
}

std::vector<ExecEntry> random_exec_entries(Dice& dice, const PolicyCase& one) {
  std::vector<ExecEntry> entries;
  for (std::size_t count = dice.below(4); count > 0; --count) {
    if (dice.chance(4)) {
      entries.push_back({.kind = ExecEntryKind::kName, .value = random_name(dice, true)});
    } else {
      entries.push_back({.kind = dice.chance(2) ? ExecEntryKind::kFile : ExecEntryKind::kDirectory,
                         .value = random_place(dice, one)});
    }
  }
  return entries;
}

void add_exec(Dice& dice, PolicyCase& one) {
  one.policy.version = 3;
  if (dice.chance(4)) return;
  ExecPolicy exec{.allow_by_default = dice.chance(3),
                  .allow = random_exec_entries(dice, one),
                  .deny = random_exec_entries(dice, one)};
  exec.system_support = dice.chance(2);
  one.policy.exec = std::move(exec);
}

Policy random_policy(Dice& dice, PolicyCase& one) {
  Policy policy;
  policy.readable_roots = random_places(dice, one, 3);
  policy.writable_roots = random_places(dice, one, 3);
  policy.protected_paths = random_places(dice, one, 3);
  for (const AbsolutePath& at : random_places(dice, one, 2)) {
    policy.mounts.push_back({.path = at, .writable = dice.chance(2), .required = dice.chance(4)});
  }
  if (dice.chance(4)) {
    policy.scratch.host_path = AbsolutePath::parse(random_place(dice, one)).value();
    policy.scratch.written = policy.scratch.host_path->str();
  }
  constexpr std::array kModes = {NetworkMode::kOff, NetworkMode::kProxy, NetworkMode::kFull};
  policy.network.mode = kModes[dice.below(3)];
  return policy;
}

bool is_valid(const Policy& policy) { return decode_policy(encode_policy(policy)).has_value(); }

// Each list without one of its items.
template <class Item, class Add>
void drop_each(const std::vector<Item>& items, Add add) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::vector<Item> fewer = items;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    add(std::move(fewer));
  }
}

std::string in_words(const TreeEntry& entry) {
  switch (entry.kind) {
    case NodeKind::kDirectory:
      return entry.path + "/";
    case NodeKind::kLink:
      return entry.path + " -> " + entry.target;
    case NodeKind::kFile:
    case NodeKind::kDevice:
      break;
  }
  return entry.path;
}

std::string listed(const char* name, const std::vector<AbsolutePath>& paths) {
  std::string text;
  for (const AbsolutePath& path : paths) text += std::string("  ") + name + ' ' + path.str() + '\n';
  return text;
}

std::string in_words(const ExecPolicy& exec) {
  std::string text = std::string("  exec default ") + (exec.allow_by_default ? "allow" : "deny") +
                     (exec.system_support ? ", support system\n" : "\n");
  for (const auto& [list, sign] : {std::pair(&exec.allow, '+'), std::pair(&exec.deny, '-')}) {
    for (const ExecEntry& entry : *list) {
      text += std::string("  exec ") + sign + std::string(exec_entry_kind_name(entry.kind)) + ' ' +
              entry.value + '\n';
    }
  }
  return text;
}

// Wherever the entry's directory really is.
void place(ModelTree& tree, const TreeEntry& entry) {
  const std::string at = child_of(tree.walk(parent_of(entry.path)).real,
                                  AbsolutePath::parse(entry.path).value().name());
  const auto around = tree.at(parent_of(at));
  if (tree.at(at) || (around && around != NodeKind::kDirectory)) return;
  switch (entry.kind) {
    case NodeKind::kDirectory:
      tree.directory(at);
      return;
    case NodeKind::kLink:
      tree.link(at, entry.target);
      return;
    case NodeKind::kFile:
    case NodeKind::kDevice:
      tree.file(at);
      return;
  }
}

}  // namespace

const char* deed_name(Deed deed) noexcept {
  switch (deed) {
    case Deed::kRead:
      return "read";
    case Deed::kWrite:
      return "write";
    case Deed::kCreate:
      return "create";
    case Deed::kMove:
      return "move";
    case Deed::kRun:
      return "run";
  }
  return "";
}

PolicyCase random_case(Dice& dice) {
  while (true) {
    PolicyCase one{.any_case = dice.chance(2)};
    one.entries = random_entries(dice, !one.any_case);
    one.policy = random_policy(dice, one);
    if (dice.chance(2)) add_exec(dice, one);
    if (is_valid(one.policy)) return one;
  }
}

std::vector<PolicyCase> smaller_cases(const PolicyCase& one) {
  std::vector<PolicyCase> cases;
  const auto with = [&](auto change) {
    PolicyCase smaller = one;
    change(smaller);
    if (is_valid(smaller.policy)) cases.push_back(std::move(smaller));
  };
  const auto without = [&](auto member) {
    drop_each(one.policy.*member, [&](auto fewer) {
      with([&](PolicyCase& smaller) { smaller.policy.*member = std::move(fewer); });
    });
  };
  without(&Policy::readable_roots);
  without(&Policy::writable_roots);
  without(&Policy::protected_paths);
  without(&Policy::mounts);
  drop_each(one.entries, [&](auto fewer) {
    with([&](PolicyCase& smaller) { smaller.entries = std::move(fewer); });
  });
  if (one.policy.exec) {
    for (const auto member : {&ExecPolicy::allow, &ExecPolicy::deny}) {
      drop_each((*one.policy.exec).*member, [&](auto fewer) {
        with([&](PolicyCase& smaller) { (*smaller.policy.exec).*member = std::move(fewer); });
      });
    }
    with([](PolicyCase& smaller) { smaller.policy.exec.reset(); });
  } else if (one.policy.version == 3) {
    with([](PolicyCase& smaller) { smaller.policy.version = 2; });
  }
  if (one.policy.scratch.host_path) with([](PolicyCase& smaller) { smaller.policy.scratch = {}; });
  return cases;
}

std::string in_words(const PolicyCase& one) {
  std::string text = one.any_case ? "the Mac's volume finds any case\n" : "";
  for (const TreeEntry& entry : one.entries) text += "  " + in_words(entry) + '\n';
  const Policy& policy = one.policy;
  text += "policy, version " + std::to_string(policy.version) + '\n';
  text += listed("readable", policy.readable_roots) + listed("writable", policy.writable_roots) +
          listed("protected", policy.protected_paths);
  for (const ExplicitMount& mount : policy.mounts) {
    text += "  mount " + mount.path.str() + (mount.writable ? " rw" : " ro") +
            (mount.required ? " required\n" : "\n");
  }
  if (policy.scratch.host_path) text += "  scratch " + policy.scratch.host_path->str() + '\n';
  if (policy.exec) text += in_words(*policy.exec);
  return text;
}

void place_entries(ModelTree& tree, const PolicyCase& one) {
  for (const char* const top : {"/w", "/x", "/h"}) tree.directory(top);
  // Directories first: a link must not stand where another entry has its directory.
  for (const bool links : {false, true}) {
    for (const TreeEntry& entry : one.entries) {
      if ((entry.kind == NodeKind::kLink) == links) place(tree, entry);
    }
  }
}

std::vector<std::string> questions_about(const PolicyCase& one) {
  std::set<std::string> named;
  const Policy& policy = one.policy;
  for (const auto* list :
       {&policy.readable_roots, &policy.writable_roots, &policy.protected_paths}) {
    for (const AbsolutePath& path : *list) named.insert(path.str());
  }
  for (const ExplicitMount& mount : policy.mounts) named.insert(mount.path.str());
  if (policy.scratch.host_path) named.insert(policy.scratch.host_path->str());
  if (policy.exec) {
    for (const auto* list : {&policy.exec->allow, &policy.exec->deny}) {
      for (const ExecEntry& entry : *list) {
        if (entry.kind != ExecEntryKind::kName) named.insert(entry.value);
      }
    }
  }
  std::set<std::string> asked;
  for (const std::string& path : named) {
    for (std::string at = path; asked.insert(at).second && at != "/";) at = parent_of(at);
    asked.insert(child_of(path, "new"));
    if (path != "/") asked.insert(path + "b");
  }
  for (const TreeEntry& entry : one.entries) {
    asked.insert(entry.path);
    if (entry.kind == NodeKind::kDirectory) asked.insert(child_of(entry.path, "new"));
  }
  for (const char* const path :
       {"/usr/bin/tool", "/etc/hosts", "/tmp/x", "/tmp", "/opt/t/f", "/var/x", "/bin/sh",
        "/usr/lib/ld.so", "/helper/stage2", "/System/Volumes/Data/own/f", "/System/Volumes/Preboot",
        "/System/Volumes/Preboot/Cryptexes/OS/cache"}) {
    asked.insert(path);
  }
  return {asked.begin(), asked.end()};
}

}  // namespace loom::seatbelt::test
