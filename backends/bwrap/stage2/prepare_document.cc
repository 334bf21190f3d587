#include "prepare_document.h"

#include <loom/value.h>

#include <initializer_list>
#include <string_view>

namespace loom::bwrap {
namespace {

constexpr std::size_t kInstructionBytes =
    8;  // sizeof(struct sock_filter), part of the kernel's ABI

constexpr std::string_view kEmptyDirectoryName = "empty-directory";
constexpr std::string_view kClosedDirectoryName = "closed-directory";
constexpr std::string_view kNullDeviceName = "null-device";
constexpr std::string_view kPinName = "pin";
constexpr std::string_view kReadOnlyBindName = "read-only-bind";

std::string_view form_name(ViewCheck::Form form) noexcept {
  switch (form) {
    case ViewCheck::Form::kEmptyDirectory:
      return kEmptyDirectoryName;
    case ViewCheck::Form::kClosedDirectory:
      return kClosedDirectoryName;
    case ViewCheck::Form::kNullDevice:
      return kNullDeviceName;
    case ViewCheck::Form::kPin:
      return kPinName;
    case ViewCheck::Form::kReadOnlyBind:
      return kReadOnlyBindName;
  }
  return {};
}

// Reads the fields of one map and remembers the first thing that is wrong with it, so that a
// decoder reads like the struct it fills.
class FieldReader {
 public:
  FieldReader(const Value& map, std::string_view what, std::initializer_list<std::string_view> keys)
      : map_(map), what_(what) {
    if (!map.is(Value::Kind::kMap)) {
      refuse("", "not a map");
      return;
    }
    for (std::size_t i = 0; i < map.items.size(); i += 2) {
      require_known(map.items[i], keys);
    }
  }

  void read(std::string_view key, bool& out) {
    if (const Value* value = find(key, Value::Kind::kBoolean)) out = value->boolean;
  }
  void read(std::string_view key, std::uint64_t& out) {
    if (const Value* value = find(key, Value::Kind::kUnsigned)) out = value->unsigned_number;
  }
  void read(std::string_view key, std::uint32_t& out) {
    std::uint64_t wide = 0;
    read(key, wide);
    if (wide > UINT32_MAX) {
      refuse(key, "out of range");
      return;
    }
    out = static_cast<std::uint32_t>(wide);
  }
  void read(std::string_view key, std::optional<std::uint64_t>& out) {
    const Value* value = find(key);
    if (value == nullptr || value->is(Value::Kind::kNil)) return;
    std::uint64_t number = 0;
    read(key, number);
    out = number;
  }
  // Text that may be no UTF-8 travels as binary; see ValueWriter::name.
  void read(std::string_view key, std::string& out) {
    const Value* value = find(key);
    if (value == nullptr) return;
    if (!value->is(Value::Kind::kText) && !value->is(Value::Kind::kBinary)) {
      refuse(key, "not a string");
      return;
    }
    if (value->bytes.find('\0') != std::string_view::npos) {
      refuse(key, "holds a NUL");
      return;
    }
    out = value->bytes;
  }
  void read(std::string_view key, Bytes& out) {
    const Value* value = find(key, Value::Kind::kBinary);
    if (value == nullptr) return;
    const ByteView bytes = as_bytes(value->bytes);
    out.assign(bytes.begin(), bytes.end());
  }
  // Calls `read_item` for each element until something is refused; its error becomes the reader's.
  template <class T, class ReadItem>
  void read_list(std::string_view key, std::vector<T>& out, ReadItem read_item) {
    const Value* value = find(key, Value::Kind::kArray);
    if (value == nullptr) return;
    for (const Value& item : value->items) {
      Result<T> read = read_item(item);
      if (!read) {
        if (problem_.empty()) problem_ = std::move(read.error().message);
        return;
      }
      out.push_back(std::move(*read));
    }
  }

  void refuse(std::string_view key, std::string_view why) {
    if (!problem_.empty()) return;
    problem_ = what_;
    if (!key.empty()) problem_.append(": ").append(key);
    problem_.append(": ").append(why);
  }

  [[nodiscard]] Result<void> finish() const {
    if (!problem_.empty()) return fail(ErrorCode::kInvalidRequest, problem_);
    return {};
  }

 private:
  void require_known(const Value& key, std::initializer_list<std::string_view> keys) {
    for (const std::string_view known : keys) {
      if (key.is(Value::Kind::kText) && key.bytes == known) return;
    }
    refuse(key.is(Value::Kind::kText) ? key.bytes : "key", "not known");
  }
  [[nodiscard]] const Value* find(std::string_view key) {
    if (!problem_.empty()) return nullptr;
    const Value* value = map_.find(key);
    if (value == nullptr) refuse(key, "missing");
    return value;
  }
  [[nodiscard]] const Value* find(std::string_view key, Value::Kind kind) {
    const Value* value = find(key);
    if (value == nullptr || value->is(kind)) return value;
    refuse(key, std::string("not a ").append(kind_name(kind)));
    return nullptr;
  }

  const Value& map_;
  std::string_view what_;
  std::string problem_;
};

Result<ViewCheck> decode_view_check(const Value& value) {
  FieldReader reader(value, "view",
                     {"path", "form", "parent_device", "parent_inode", "device", "inode"});
  ViewCheck check;
  std::string form;
  reader.read("path", check.path);
  reader.read("form", form);
  reader.read("parent_device", check.parent_identity.device);
  reader.read("parent_inode", check.parent_identity.inode);
  reader.read("device", check.identity.device);
  reader.read("inode", check.identity.inode);
  if (form == kClosedDirectoryName) {
    check.form = ViewCheck::Form::kClosedDirectory;
  } else if (form == kNullDeviceName) {
    check.form = ViewCheck::Form::kNullDevice;
  } else if (form == kPinName) {
    check.form = ViewCheck::Form::kPin;
  } else if (form == kReadOnlyBindName) {
    check.form = ViewCheck::Form::kReadOnlyBind;
  } else if (form != kEmptyDirectoryName) {
    reader.refuse("form", "not known");
  }
  const bool bind =
      check.form == ViewCheck::Form::kPin || check.form == ViewCheck::Form::kReadOnlyBind;
  if (bind != (check.identity != FileIdentity{})) {
    reader.refuse("inode", "belongs to a pin or a read-only bind, and to nothing else");
  }
  if (!check.path.starts_with('/')) reader.refuse("path", "not absolute");
  LOOM_TRY_VOID(reader.finish());
  return check;
}

Result<std::string> decode_place(const Value& value) {
  const bool is_name = value.is(Value::Kind::kText) || value.is(Value::Kind::kBinary);
  if (!is_name || !value.bytes.starts_with('/') ||
      value.bytes.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInvalidRequest, "prepare document: own_tmpfs: not an absolute path");
  }
  return std::string(value.bytes);
}

Result<LandlockRule> decode_landlock_rule(const Value& value) {
  FieldReader reader(value, "landlock_rules", {"path", "access", "required"});
  LandlockRule rule;
  reader.read("path", rule.path);
  reader.read("access", rule.access);
  reader.read("required", rule.required);
  if (!rule.path.starts_with('/')) reader.refuse("path", "not absolute");
  LOOM_TRY_VOID(reader.finish());
  return rule;
}

Result<std::uint32_t> decode_capability(const Value& value) {
  static constexpr std::uint64_t kHighestNumber = 63;  // the kernel keeps capabilities in 64 bits
  if (!value.is(Value::Kind::kUnsigned) || value.unsigned_number > kHighestNumber) {
    return fail(ErrorCode::kInvalidRequest, "prepare document: keep_caps: not a capability number");
  }
  return static_cast<std::uint32_t>(value.unsigned_number);
}

void refuse_contradictions(const PrepareDocument& document, FieldReader& reader) {
  if (document.cpu_soft.has_value() != document.cpu_hard.has_value()) {
    reader.refuse("cpu_hard", "half a limit");
  }
  if (document.landlock_abi == 0 && document.landlock_reason.empty()) {
    reader.refuse("landlock_reason", "missing although landlock_abi is 0");
  }
  if (document.shares_pids && (!document.jailed || document.landlock_abi == 0)) {
    reader.refuse("shares_pids", "neither a jail nor Landlock");
  }
  if (document.filter.size() % kInstructionBytes != 0) {
    reader.refuse("filter", "not a whole number of instructions");
  }
  if (document.filter.empty() && (document.filter_denies || document.denies_unix)) {
    reader.refuse("filter", "empty, and yet it is to deny something");
  }
  if (document.filter.empty() && !document.filter_tag.empty()) {
    reader.refuse("filter_tag", "names an empty filter");
  }
  if (document.filter.empty() && document.filter_wanted && document.filter_reason.empty()) {
    reader.refuse("filter_reason", "missing although the wanted filter is empty");
  }
}

void read_limits_and_view(FieldReader& reader, PrepareDocument& document) {
  reader.read("jailed", document.jailed);
  reader.read("shares_pids", document.shares_pids);
  reader.read("root_read_only", document.root_read_only);
  reader.read_list("view", document.view, decode_view_check);
  reader.read_list("own_tmpfs", document.own_tmpfs, decode_place);
  reader.read("cpu_soft", document.cpu_soft);
  reader.read("cpu_hard", document.cpu_hard);
  reader.read("fsize", document.fsize);
  reader.read("descriptor_limit", document.descriptor_limit);
  reader.read_list("keep_caps", document.keep_caps, decode_capability);
}

void read_restrictions(FieldReader& reader, PrepareDocument& document) {
  reader.read("landlock_abi", document.landlock_abi);
  reader.read("landlock_reason", document.landlock_reason);
  reader.read("landlock_handled_fs", document.landlock_handled_fs);
  reader.read("landlock_scoped", document.landlock_scoped);
  reader.read_list("landlock_rules", document.landlock_rules, decode_landlock_rule);
  reader.read("filter_wanted", document.filter_wanted);
  reader.read("filter_tag", document.filter_tag);
  reader.read("filter", document.filter);
  reader.read("filter_denies", document.filter_denies);
  reader.read("denies_unix", document.denies_unix);
  reader.read("filter_reason", document.filter_reason);
  reader.read("proxy_reason", document.proxy_reason);
}

void write_optional(ValueWriter& writer, const std::optional<std::uint64_t>& value) {
  if (value) {
    writer.number(*value);
  } else {
    writer.nil();
  }
}

void write_view(ValueWriter& writer, const std::vector<ViewCheck>& view) {
  writer.array(view.size());
  for (const ViewCheck& check : view) {
    writer.map(6);
    writer.text("path");
    writer.name(check.path);
    writer.text("form");
    writer.text(form_name(check.form));
    writer.text("parent_device");
    writer.number(check.parent_identity.device);
    writer.text("parent_inode");
    writer.number(check.parent_identity.inode);
    writer.text("device");
    writer.number(check.identity.device);
    writer.text("inode");
    writer.number(check.identity.inode);
  }
}

void write_limits_and_view(ValueWriter& writer, const PrepareDocument& document) {
  writer.text("jailed");
  writer.boolean(document.jailed);
  writer.text("shares_pids");
  writer.boolean(document.shares_pids);
  writer.text("root_read_only");
  writer.boolean(document.root_read_only);
  writer.text("view");
  write_view(writer, document.view);
  writer.text("own_tmpfs");
  writer.array(document.own_tmpfs.size());
  for (const std::string& place : document.own_tmpfs) writer.name(place);
  writer.text("cpu_soft");
  write_optional(writer, document.cpu_soft);
  writer.text("cpu_hard");
  write_optional(writer, document.cpu_hard);
  writer.text("fsize");
  write_optional(writer, document.fsize);
  writer.text("descriptor_limit");
  write_optional(writer, document.descriptor_limit);
  writer.text("keep_caps");
  writer.array(document.keep_caps.size());
  for (const std::uint32_t number : document.keep_caps) writer.number(number);
}

void write_landlock(ValueWriter& writer, const PrepareDocument& document) {
  writer.text("landlock_abi");
  writer.number(document.landlock_abi);
  writer.text("landlock_reason");
  writer.name(document.landlock_reason);
  writer.text("landlock_handled_fs");
  writer.number(document.landlock_handled_fs);
  writer.text("landlock_scoped");
  writer.number(document.landlock_scoped);
  writer.text("landlock_rules");
  writer.array(document.landlock_rules.size());
  for (const LandlockRule& rule : document.landlock_rules) {
    writer.map(3);
    writer.text("path");
    writer.name(rule.path);
    writer.text("access");
    writer.number(rule.access);
    writer.text("required");
    writer.boolean(rule.required);
  }
}

void write_filter(ValueWriter& writer, const PrepareDocument& document) {
  writer.text("filter_wanted");
  writer.boolean(document.filter_wanted);
  writer.text("filter_tag");
  writer.name(document.filter_tag);
  writer.text("filter");
  writer.binary(document.filter);
  writer.text("filter_denies");
  writer.boolean(document.filter_denies);
  writer.text("denies_unix");
  writer.boolean(document.denies_unix);
  writer.text("filter_reason");
  writer.name(document.filter_reason);
  writer.text("proxy_reason");
  writer.name(document.proxy_reason);
}

}  // namespace

Bytes encode(const PrepareDocument& document) {
  static constexpr std::size_t kKeys = 23;
  ValueWriter writer;
  writer.map(kKeys);
  writer.text("v");
  writer.number(kPrepareVersion);
  write_limits_and_view(writer, document);
  write_landlock(writer, document);
  write_filter(writer, document);
  return writer.take();
}

Result<PrepareDocument> decode_prepare_document(ByteView bytes) {
  LOOM_TRY(const Value value, parse_value(bytes));
  // The version first: what another version's keys are called is none of this one's business.
  const Value* version = value.is(Value::Kind::kMap) ? value.find("v") : nullptr;
  if (version == nullptr || !version->is(Value::Kind::kUnsigned) ||
      version->unsigned_number != kPrepareVersion) {
    return fail(ErrorCode::kInvalidRequest, "prepare document: not version 1");
  }
  FieldReader reader(value, "prepare document",
                     {"v",
                      "jailed",
                      "shares_pids",
                      "root_read_only",
                      "view",
                      "own_tmpfs",
                      "cpu_soft",
                      "cpu_hard",
                      "fsize",
                      "descriptor_limit",
                      "keep_caps",
                      "landlock_abi",
                      "landlock_reason",
                      "landlock_handled_fs",
                      "landlock_scoped",
                      "landlock_rules",
                      "filter_wanted",
                      "filter_tag",
                      "filter",
                      "filter_denies",
                      "denies_unix",
                      "filter_reason",
                      "proxy_reason"});
  PrepareDocument document;
  read_limits_and_view(reader, document);
  read_restrictions(reader, document);
  refuse_contradictions(document, reader);
  LOOM_TRY_VOID(reader.finish());
  return document;
}

}  // namespace loom::bwrap
