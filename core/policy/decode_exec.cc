#include "policy/decode_exec.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "policy/document_reading.h"

namespace loom {
namespace {

constexpr std::array<std::string_view, 6> kExecKeys = {"default", "allow", "deny",
                                                       "support", "memfd", "required"};
constexpr std::array<std::string_view, 2> kEntryKeys = {"kind", "value"};
constexpr std::array<ExecEntryKind, 3> kKinds = {ExecEntryKind::kDirectory, ExecEntryKind::kFile,
                                                 ExecEntryKind::kName};
constexpr std::size_t kMaxPathBytes = 4'095;
constexpr std::size_t kMaxComponentBytes = 255;

// One element of a list, and where it stands.
struct Entry {
  const Value* value = nullptr;
  bool allows = false;
  std::size_t index = 0;
  ExecEntry read{};  // once its kind and its text are known

  [[nodiscard]] std::string place() const {
    return element(allows ? "exec.allow" : "exec.deny", index);
  }
  [[nodiscard]] bool is_path() const { return read.kind != ExecEntryKind::kName; }
};

Result<void> check_choice(const Value& exec, std::string_view key, std::string_view one,
                          std::string_view other) {
  const Value& value = *exec.find(key);
  if (is_string(value) && (value.bytes == one || value.bytes == other)) return {};
  return refuse_policy("exec." + std::string(key) + ": " + quoted_or_type(value) + " is neither " +
                       quoted(one) + " nor " + quoted(other));
}

Result<void> check_list(const Value& exec, const std::string& key) {
  const Value& list = *exec.find(key);
  if (list.is(Value::Kind::kArray)) return {};
  return refuse_policy("exec." + key + ": " + expected("array", list));
}

Result<void> check_length(const Value& exec, const std::string& key) {
  const std::size_t count = exec.find(key)->items.size();
  if (count <= kMaxExecEntries) return {};
  return refuse_policy("exec." + key + ": too many entries, " + std::to_string(count) +
                       ", at most " + std::to_string(kMaxExecEntries));
}

// Rows 34 to 40.
Result<void> check_form(const Value& exec) {
  if (!exec.is(Value::Kind::kMap)) return refuse_policy("exec: " + expected("map or nil", exec));
  LOOM_TRY_VOID(check_keys(exec, kExecKeys, kExecKeys, "exec: "));
  LOOM_TRY_VOID(check_choice(exec, "default", "deny", "allow"));
  LOOM_TRY_VOID(check_choice(exec, "support", "system", "none"));
  LOOM_TRY_VOID(check_choice(exec, "memfd", "noexec", "any"));
  const Value& required = *exec.find("required");
  if (!required.is(Value::Kind::kBoolean)) {
    return refuse_policy("exec.required: " + expected("bool", required));
  }
  LOOM_TRY_VOID(check_list(exec, "allow"));
  LOOM_TRY_VOID(check_list(exec, "deny"));
  LOOM_TRY_VOID(check_length(exec, "allow"));
  return check_length(exec, "deny");
}

// Row 41.
Result<void> check_entry(const Entry& entry) {
  if (!entry.value->is(Value::Kind::kMap)) {
    return refuse_policy(entry.place() + ": " + expected("map", *entry.value));
  }
  return check_keys(*entry.value, kEntryKeys, kEntryKeys, entry.place() + ": ");
}

// Row 42.
Result<void> read_kind(Entry& entry) {
  const Value& kind = *entry.value->find("kind");
  for (const ExecEntryKind known : kKinds) {
    if (is_string(kind) && kind.bytes == exec_entry_kind_name(known)) {
      entry.read.kind = known;
      return {};
    }
  }
  return refuse_policy(entry.place() + ".kind: unknown kind " + quoted_or_type(kind));
}

// Row 43.
Result<void> read_text(Entry& entry) {
  const Value& value = *entry.value->find("value");
  const std::string place = entry.place() + ".value: ";
  if (!is_string(value)) return refuse_policy(place + expected("string", value));
  if (value.bytes.find('\0') != std::string_view::npos) {
    return refuse_policy(place + "expected string without a NUL, found " + quoted(value.bytes));
  }
  entry.read.value = std::string(value.bytes);
  return {};
}

tl::unexpected<Error> refuse_value(const Entry& entry, const std::string& why) {
  return refuse_policy(entry.place() + ".value: " + quoted(entry.read.value) + " " + why);
}

// Row 44.
Result<void> check_absolute(const Entry& entry) {
  if (!entry.is_path() || entry.read.value.starts_with('/')) return {};
  return refuse_value(entry, "is not absolute");
}

// Row 45.
Result<void> check_below_root(const Entry& entry) {
  if (!entry.is_path() || entry.read.value != "/") return {};
  return refuse_value(entry, "is not allowed here: \"default\" speaks of everything");
}

// Row 46. What is accepted is a path that cleaning leaves as it is.
Result<void> check_clean(const Entry& entry) {
  if (!entry.is_path()) return {};
  const std::string_view path = entry.read.value;
  if (path.ends_with('/')) return refuse_value(entry, "ends in a slash");
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view segment = path.substr(at, end - at);
    if (segment.empty()) return refuse_value(entry, "has an empty segment");
    if (segment == "." || segment == "..") {
      return refuse_value(entry, "has a " + quoted(segment) + " segment");
    }
    if (segment.size() > kMaxComponentBytes) {
      return refuse_value(entry,
                          "has a segment that is too long: " + std::to_string(segment.size()) +
                              " bytes, at most " + std::to_string(kMaxComponentBytes));
    }
    at = end + 1;
  }
  if (path.size() <= kMaxPathBytes) return {};
  return refuse_value(entry, "is too long: " + std::to_string(path.size()) + " bytes, at most " +
                                 std::to_string(kMaxPathBytes));
}

bool is_control_or_blank(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20U || byte == 0x7fU;
}

// Row 47.
Result<void> check_name(const Entry& entry) {
  const std::string& name = entry.read.value;
  const bool sound = !name.empty() && name != "." && name != ".." &&
                     name.size() <= kMaxComponentBytes && name.find('/') == std::string::npos &&
                     std::none_of(name.begin(), name.end(), is_control_or_blank);
  if (entry.is_path() || sound) return {};
  return refuse_value(entry, "is not a name");
}

std::string both_places(const Entry& first, const Entry& second) {
  return first.place() + " and " + second.place() + ": " +
         std::string(exec_entry_kind_name(first.read.kind)) + " " + quoted(first.read.value);
}

// Rows 48 and 49.
Result<void> check_named_once(const std::vector<Entry>& entries) {
  std::map<std::pair<ExecEntryKind, std::string_view>, const Entry*> seen[2];
  const auto key = [](const Entry& entry) {
    return std::pair(entry.read.kind, std::string_view(entry.read.value));
  };
  for (const Entry& entry : entries) {
    const auto [first, is_new] = seen[entry.allows ? 0 : 1].emplace(key(entry), &entry);
    if (!is_new) return refuse_policy(both_places(*first->second, entry) + " is named twice");
  }
  for (const Entry& entry : entries) {
    const auto denied = entry.allows ? seen[1].find(key(entry)) : seen[1].end();
    if (denied != seen[1].end()) {
      return refuse_policy(both_places(entry, *denied->second) + " is allowed and denied");
    }
  }
  return {};
}

// Row 50.
Result<void> check_not_protected(const std::vector<Entry>& entries,
                                 const std::vector<PolicyPath>& protected_paths) {
  std::vector<PolicyPath> allowed;
  for (const Entry& entry : entries) {
    if (!entry.allows || !entry.is_path()) continue;
    LOOM_TRY(AbsolutePath path, AbsolutePath::parse(entry.read.value));
    allowed.push_back({.written = entry.read.value, .path = std::move(path)});
  }
  return check_allowed_paths(allowed, protected_paths);
}

std::vector<Entry> entries_of(const Value& exec) {
  std::vector<Entry> entries;
  for (const bool allows : {true, false}) {
    const Value& list = *exec.find(allows ? "allow" : "deny");
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      entries.push_back({.value = &list.items[i], .allows = allows, .index = i});
    }
  }
  return entries;
}

Result<std::vector<Entry>> read_entries(const Value& exec,
                                        const std::vector<PolicyPath>& protected_paths) {
  std::vector<Entry> entries = entries_of(exec);
  for (const Entry& entry : entries) LOOM_TRY_VOID(check_entry(entry));
  for (Entry& entry : entries) LOOM_TRY_VOID(read_kind(entry));
  for (Entry& entry : entries) LOOM_TRY_VOID(read_text(entry));
  using Check = Result<void> (*)(const Entry&);
  constexpr std::array<Check, 4> kChecks = {check_absolute, check_below_root, check_clean,
                                            check_name};
  for (const Check check : kChecks) {
    for (const Entry& entry : entries) LOOM_TRY_VOID(check(entry));
  }
  LOOM_TRY_VOID(check_named_once(entries));
  LOOM_TRY_VOID(check_not_protected(entries, protected_paths));
  return entries;
}

}  // namespace

Result<std::optional<ExecPolicy>> decode_exec(const Value& exec,
                                              const std::vector<PolicyPath>& protected_paths) {
  if (exec.is(Value::Kind::kNil)) return std::optional<ExecPolicy>();
  LOOM_TRY_VOID(check_form(exec));
  LOOM_TRY(std::vector<Entry> entries, read_entries(exec, protected_paths));
  ExecPolicy policy{.allow_by_default = exec.find("default")->bytes == "allow",
                    .allow = {},
                    .deny = {},
                    .system_support = exec.find("support")->bytes == "system",
                    .memfd_noexec = exec.find("memfd")->bytes == "noexec",
                    .required = exec.find("required")->boolean};
  for (Entry& entry : entries) {
    (entry.allows ? policy.allow : policy.deny).push_back(std::move(entry.read));
  }
  return std::optional<ExecPolicy>(std::move(policy));
}

}  // namespace loom
