#include "host/caretaker_codec.h"

#include <loom/value.h>

#include <utility>

namespace loom::host {

namespace {

// A path of 4,095 bytes, the other fields, and the head still fit a message together with this.
constexpr std::size_t kPartBytes = 32'768;
constexpr std::size_t kNameFields = 4;
constexpr std::size_t kIdentityFields = 2;
constexpr std::size_t kMaxErrorText = 16'384;

tl::unexpected<Error> garbled() {
  return fail(ErrorCode::kInvalidRequest, "caretaker: a message is garbled");
}

// Every list is flat: the fields of the first item, those of the second, …
class PartWriter {
 public:
  explicit PartWriter(std::size_t fields) : fields_(fields) {}

  ValueWriter& next() {
    if (items_.bytes().size() > kPartBytes) finish_part();
    ++count_;
    return items_;
  }

  std::vector<Bytes> take() {
    if (count_ > 0 || parts_.empty()) finish_part();
    return std::move(parts_);
  }

 private:
  void finish_part() {
    ValueWriter part;
    part.array(count_ * fields_);
    part.encoded(items_.take());
    parts_.push_back(part.take());
    items_ = ValueWriter();
    count_ = 0;
  }

  std::size_t fields_;
  std::size_t count_ = 0;
  ValueWriter items_;
  std::vector<Bytes> parts_;
};

Result<Value> parse_list(ByteView part, std::size_t fields) {
  LOOM_TRY(Value list, parse_value(part));
  if (!list.is(Value::Kind::kArray) || list.items.size() % fields != 0) return garbled();
  return list;
}

bool is_name(const Value& value) {
  return value.is(Value::Kind::kText) || value.is(Value::Kind::kBinary);
}

bool is_identity(const Value& device, const Value& inode) {
  return device.is(Value::Kind::kUnsigned) && inode.is(Value::Kind::kUnsigned);
}

FileIdentity identity_of(const Value& device, const Value& inode) {
  return {.device = device.unsigned_number, .inode = inode.unsigned_number};
}

}  // namespace

std::vector<Bytes> encode_names(const std::vector<WantedName>& names) {
  PartWriter parts(kNameFields);
  for (const WantedName& name : names) {
    ValueWriter& out = parts.next();
    out.name(name.path.str());
    out.boolean(name.intermediate);
    out.number(name.parent.device);
    out.number(name.parent.inode);
  }
  return parts.take();
}

Result<void> decode_names(ByteView part, std::vector<WantedName>& names) {
  LOOM_TRY(const Value list, parse_list(part, kNameFields));
  for (std::size_t i = 0; i < list.items.size(); i += kNameFields) {
    const Value* const at = &list.items[i];
    if (!is_name(at[0]) || !at[1].is(Value::Kind::kBoolean) || !is_identity(at[2], at[3])) {
      return garbled();
    }
    LOOM_TRY(AbsolutePath path, AbsolutePath::parse(at[0].bytes));
    names.push_back({.path = std::move(path),
                     .intermediate = at[1].boolean,
                     .parent = identity_of(at[2], at[3])});
  }
  return {};
}

std::vector<Bytes> encode_identities(const std::vector<FileIdentity>& identities) {
  PartWriter parts(kIdentityFields);
  for (const FileIdentity& identity : identities) {
    ValueWriter& out = parts.next();
    out.number(identity.device);
    out.number(identity.inode);
  }
  return parts.take();
}

Result<void> decode_identities(ByteView part, std::vector<FileIdentity>& identities) {
  LOOM_TRY(const Value list, parse_list(part, kIdentityFields));
  for (std::size_t i = 0; i < list.items.size(); i += kIdentityFields) {
    if (!is_identity(list.items[i], list.items[i + 1])) return garbled();
    identities.push_back(identity_of(list.items[i], list.items[i + 1]));
  }
  return {};
}

Bytes encode_texts(const std::vector<std::string>& texts) {
  PartWriter parts(1);
  for (const std::string& text : texts) parts.next().name(text);
  return std::move(parts.take().front());
}

Result<std::vector<std::string>> decode_texts(ByteView part) {
  LOOM_TRY(const Value list, parse_list(part, 1));
  std::vector<std::string> texts;
  for (const Value& item : list.items) {
    if (!is_name(item)) return garbled();
    texts.emplace_back(item.bytes);
  }
  return texts;
}

Bytes encode_error(const Error& error) {
  ValueWriter out;
  out.array(3);
  out.number(static_cast<std::uint64_t>(error.code));
  out.number(static_cast<std::uint64_t>(error.sys_errno));
  out.name(std::string_view(error.message).substr(0, kMaxErrorText));
  return out.take();
}

Result<Error> decode_error(ByteView part) {
  LOOM_TRY(const Value list, parse_list(part, 3));
  if (list.items.size() != 3 || !is_identity(list.items[0], list.items[1]) ||
      !is_name(list.items[2]) ||
      list.items[0].unsigned_number > static_cast<std::uint64_t>(ErrorCode::kSystem)) {
    return garbled();
  }
  return Error{.code = static_cast<ErrorCode>(list.items[0].unsigned_number),
               .message = std::string(list.items[2].bytes),
               .sys_errno = static_cast<int>(list.items[1].unsigned_number)};
}

}  // namespace loom::host
