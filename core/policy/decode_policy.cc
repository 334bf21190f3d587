#include "policy/decode_policy.h"

#include <loom/utf8.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "policy/check_policy_paths.h"
#include "policy/decode_exec.h"
#include "policy/document_reading.h"

namespace loom {
namespace {

// A document of version 3 has all ten keys, one of version 2 all but the last.
constexpr std::array<std::string_view, 10> kTopKeys = {
    "v",      "writable_roots", "readable_roots", "protected", "network",
    "limits", "env_allow",      "scratch",        "mounts",    "exec"};
constexpr std::array<std::string_view, 3> kMountKeys = {"path", "access", "required"};

// A tree in which every map has text keys only was checked once, at the door.
Result<void> check_keys_are_text(const Value& value) {
  const bool is_map = value.is(Value::Kind::kMap);
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const Value& item = value.items[i];
    if (is_map && i % 2 == 0 && !item.is(Value::Kind::kText)) {
      return refuse_policy("decode: a map key is of type " + std::string(kind_name(item.kind)) +
                           ", expected string");
    }
    LOOM_TRY_VOID(check_keys_are_text(item));
  }
  return {};
}

// Rows 3 and 4, with the key set of the version. A version that is not known has none; a document
// of it is refused for that, not for a key that somebody may have added since.
Result<void> check_top_keys(const Value& document) {
  const Value* v = document.find("v");
  const bool is_number = v != nullptr && v->is(Value::Kind::kUnsigned);
  const std::span<const std::string_view> newest(kTopKeys);
  const auto nine = newest.first(newest.size() - 1);
  const bool knows_exec = is_number && v->unsigned_number > 2;
  const bool needs_exec = is_number && v->unsigned_number == 3;
  return check_keys(document, knows_exec ? newest : nine, needs_exec ? newest : nine, "");
}

Result<std::uint32_t> read_version(const Value& value) {
  std::string found;
  if (value.is(Value::Kind::kUnsigned)) {
    if (value.unsigned_number == 2) return 2U;
    if (value.unsigned_number == 3) return 3U;
    found = std::to_string(value.unsigned_number);
  } else if (value.is(Value::Kind::kNegative)) {
    found = std::to_string(value.negative_number) + " (negative)";
  } else {
    return refuse_policy("v: " + expected("integer", value));
  }
  return refuse_policy("v: unsupported version " + found + ", this build reads 2 and 3");
}

// Views of a list of strings; they live as long as the document.
Result<std::vector<std::string_view>> read_strings(const Value& list, const std::string& name) {
  if (!list.is(Value::Kind::kArray)) return refuse_policy(name + ": " + expected("array", list));
  std::vector<std::string_view> strings;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Value& item = list.items[i];
    if (!is_string(item)) return refuse_policy(element(name, i) + ": " + expected("string", item));
    strings.push_back(item.bytes);
  }
  return strings;
}

Result<AbsolutePath> read_path(std::string_view text, const std::string& place) {
  if (!AbsolutePath::is_absolute(text)) {
    return refuse_policy(place + ": " + quoted(text) + " is not absolute");
  }
  auto path = AbsolutePath::parse(text);
  if (!path) return refuse_policy(place + ": " + quoted(text) + ": " + path.error().message);
  return path;
}

Result<NetworkPolicy> read_proxy(const Value& network) {
  for (std::size_t i = 0; i < network.items.size(); i += 2) {
    const std::string_view key = network.items[i].bytes;
    if (key != "mode" && key != "allow" && key != "proxy") {
      return refuse_policy("network: unexpected key " + quoted(key) + " with mode \"proxy\"");
    }
  }
  const Value* allow = network.find("allow");
  if (allow == nullptr) return refuse_policy("network.allow: missing required key \"allow\"");
  LOOM_TRY(const auto globs, read_strings(*allow, "network.allow"));
  const Value* proxy = network.find("proxy");
  if (proxy == nullptr) return refuse_policy("network.proxy: missing required key \"proxy\"");
  if (!is_string(*proxy)) return refuse_policy("network.proxy: " + expected("string", *proxy));
  return NetworkPolicy{.mode = NetworkMode::kProxy,
                       .allow = {globs.begin(), globs.end()},
                       .proxy = std::string(proxy->bytes)};
}

Result<NetworkPolicy> read_network(const Value& network) {
  if (!network.is(Value::Kind::kMap)) return refuse_policy("network: " + expected("map", network));
  const Value* mode = network.find("mode");
  if (mode == nullptr) return refuse_policy("network.mode: missing required key \"mode\"");
  if (!is_string(*mode)) return refuse_policy("network.mode: " + expected("string", *mode));
  if (mode->bytes == "proxy") return read_proxy(network);
  if (mode->bytes != "off" && mode->bytes != "full") {
    return refuse_policy("network.mode: unknown network mode " + quoted(mode->bytes));
  }
  const auto stray = unknown_keys(network, std::array<std::string_view, 1>{"mode"});
  if (!stray.empty()) {
    return refuse_policy("network: unexpected key " + quoted(stray.front()) + " with mode " +
                         quoted(mode->bytes));
  }
  return NetworkPolicy{.mode = mode->bytes == "off" ? NetworkMode::kOff : NetworkMode::kFull,
                       .allow = {},
                       .proxy = {}};
}

struct LimitKey {
  std::string_view key;
  std::optional<std::uint64_t> Limits::*field;
};
constexpr std::array<LimitKey, 6> kLimitKeys = {{{"cpu_s", &Limits::cpu_s},
                                                 {"wall_s", &Limits::wall_s},
                                                 {"mem_bytes", &Limits::mem_bytes},
                                                 {"pids", &Limits::pids},
                                                 {"fsize_bytes", &Limits::fsize_bytes},
                                                 {"output_bytes", &Limits::output_bytes}}};

Result<std::optional<std::uint64_t>> read_limit(const Value& value, std::string_view key) {
  const std::string place = "limits." + std::string(key) + ": ";
  if (value.is(Value::Kind::kNegative)) {
    return refuse_policy(place + "negative: " + std::to_string(value.negative_number));
  }
  if (!value.is(Value::Kind::kUnsigned)) return refuse_policy(place + expected("integer", value));
  if (value.unsigned_number == 0) return std::optional<std::uint64_t>();
  return std::optional<std::uint64_t>(value.unsigned_number);
}

Result<Limits> read_limits(const Value& map) {
  if (!map.is(Value::Kind::kMap)) return refuse_policy("limits: " + expected("map", map));
  std::array<std::string_view, kLimitKeys.size()> known;
  std::transform(kLimitKeys.begin(), kLimitKeys.end(), known.begin(),
                 [](const LimitKey& row) { return row.key; });
  const auto unknown = unknown_keys(map, known);
  if (!unknown.empty()) return refuse_policy("limits: unknown key " + quoted(unknown.front()));
  for (const std::string_view key : known) {
    if (map.find(key) == nullptr) return refuse_policy("limits: missing key " + quoted(key));
  }
  Limits limits;
  for (const LimitKey& row : kLimitKeys) {
    LOOM_TRY(limits.*row.field, read_limit(*map.find(row.key), row.key));
  }
  return limits;
}

Result<Scratch> read_scratch(const Value& value) {
  if (!is_string(value)) return refuse_policy("scratch: " + expected("string", value));
  if (value.bytes.empty()) return refuse_policy("scratch: empty");
  if (value.bytes == "tmpfs") return Scratch{};
  if (!AbsolutePath::is_absolute(value.bytes)) {
    return refuse_policy("scratch: " + quoted(value.bytes) +
                         " is neither \"tmpfs\" nor an absolute path");
  }
  LOOM_TRY(AbsolutePath path, read_path(value.bytes, "scratch"));
  if (path.is_root())
    return refuse_policy("scratch: the root of the file system cannot be scratch");
  return Scratch{.host_path = std::move(path), .written = std::string(value.bytes)};
}

Result<ExplicitMount> read_mount(const Value& mount, const std::string& place) {
  if (!mount.is(Value::Kind::kMap)) return refuse_policy(place + ": " + expected("map", mount));
  LOOM_TRY_VOID(check_keys(mount, kMountKeys, kMountKeys, place + ": "));
  const Value& path = *mount.find("path");
  if (!is_string(path)) return refuse_policy(place + ".path: " + expected("string", path));
  LOOM_TRY(AbsolutePath where, read_path(path.bytes, place + ".path"));
  const Value& access = *mount.find("access");
  if (!is_string(access) || (access.bytes != "ro" && access.bytes != "rw")) {
    return refuse_policy(place + ".access: " + quoted_or_type(access) +
                         " is neither \"ro\" nor \"rw\"");
  }
  const Value& required = *mount.find("required");
  if (!required.is(Value::Kind::kBoolean)) {
    return refuse_policy(place + ".required: " + expected("bool", required));
  }
  return ExplicitMount{
      .path = std::move(where), .writable = access.bytes == "rw", .required = required.boolean};
}

Result<std::vector<ExplicitMount>> read_mounts(const Value& list) {
  std::vector<ExplicitMount> mounts;
  if (list.is(Value::Kind::kNil)) return mounts;
  if (!list.is(Value::Kind::kArray)) return refuse_policy("mounts: " + expected("array", list));
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    LOOM_TRY(ExplicitMount mount, read_mount(list.items[i], element("mounts", i)));
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

// Row 28 comes late: every type in the document is checked before the first path is.
Result<std::vector<PolicyPath>> read_paths(const std::vector<std::string_view>& texts,
                                           std::string_view list) {
  std::vector<PolicyPath> paths;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    LOOM_TRY(AbsolutePath path, read_path(texts[i], element(list, i)));
    paths.push_back({texts[i], std::move(path)});
  }
  return paths;
}

std::vector<AbsolutePath> cleaned(const std::vector<PolicyPath>& entries) {
  std::vector<AbsolutePath> paths;
  for (const PolicyPath& entry : entries) paths.push_back(entry.path);
  return paths;
}

std::vector<PolicyMountPath> mount_paths(const Value& list,
                                         const std::vector<ExplicitMount>& mounts) {
  std::vector<PolicyMountPath> paths;
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    paths.push_back({{list.items[i].find("path")->bytes, mounts[i].path}, mounts[i].writable});
  }
  return paths;
}

}  // namespace

Result<Policy> decode_policy(ByteView document) {
  auto tree = parse_value(document);
  if (!tree) return refuse_policy(tree.error().message);  // "decode msgpack: …"
  return decode_policy(*tree);
}

Result<Policy> decode_policy(const Value& document) {
  LOOM_TRY_VOID(check_keys_are_text(document));
  if (!document.is(Value::Kind::kMap)) return refuse_policy(expected("map", document));
  LOOM_TRY_VOID(check_top_keys(document));
  LOOM_TRY(const std::uint32_t version, read_version(*document.find("v")));
  LOOM_TRY(const auto writable, read_strings(*document.find("writable_roots"), "writable_roots"));
  LOOM_TRY(const auto readable, read_strings(*document.find("readable_roots"), "readable_roots"));
  LOOM_TRY(const auto hidden, read_strings(*document.find("protected"), "protected"));
  LOOM_TRY(const auto env_allow, read_strings(*document.find("env_allow"), "env_allow"));

  Policy policy{.version = version};
  policy.env_allow.assign(env_allow.begin(), env_allow.end());
  LOOM_TRY(policy.network, read_network(*document.find("network")));
  LOOM_TRY(policy.limits, read_limits(*document.find("limits")));
  LOOM_TRY(policy.scratch, read_scratch(*document.find("scratch")));
  const Value& mounts = *document.find("mounts");
  LOOM_TRY(policy.mounts, read_mounts(mounts));

  PolicyPaths paths;
  LOOM_TRY(paths.writable_roots, read_paths(writable, "writable_roots"));
  LOOM_TRY(const auto readable_roots, read_paths(readable, "readable_roots"));
  LOOM_TRY(paths.protected_paths, read_paths(hidden, "protected"));
  paths.mounts = mount_paths(mounts, policy.mounts);
  LOOM_TRY_VOID(check_policy_paths(paths));
  if (version > 2) {
    LOOM_TRY(policy.exec, decode_exec(*document.find("exec"), paths.protected_paths));
  }

  policy.writable_roots = cleaned(paths.writable_roots);
  policy.readable_roots = cleaned(readable_roots);
  policy.protected_paths = cleaned(paths.protected_paths);
  return policy;
}

}  // namespace loom
