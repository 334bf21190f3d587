#pragma once

#include <loom/absolute_path.h>
#include <loom/bytes.h>
#include <loom/check.h>
#include <loom/codec.h>
#include <loom/result.h>
#include <loom/value.h>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// Encoding and decoding of structs from one description each, so that the two can never disagree.
//
// A description is a specialisation of Fields with one line a field, in the order of the struct:
//
//   template <>
//   struct Fields<FileIdentity> {
//     static void visit(auto& archive, auto& value) {
//       archive("device", value.device);
//       archive("inode", value.inode);
//     }
//   };
//
// and, for an enum, a specialisation of Enumerators with its first and last.
namespace loom::archive {

template <class T>
struct Fields;

template <class E>
struct Enumerators;

// A struct that has a description.
template <class T>
concept Described = requires {
  sizeof(Fields<T>);
};

// A value to decode into. Specialise for a struct that holds an AbsolutePath, which has no default.
template <class T>
struct Blank {
  static T make() { return T{}; }
};
template <>
struct Blank<AbsolutePath> {
  static AbsolutePath make() { return AbsolutePath::root(); }
};

class CountFields {
 public:
  void operator()(std::string_view, const auto&) { ++count_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t count_ = 0;
};

class Writer {
 public:
  explicit Writer(ValueWriter& out) : out_(out) {}

  void operator()(std::string_view key, const auto& field) {
    out_.text(key);
    write(field);
  }

  template <class T>
  void write_struct(const T& value) {
    CountFields counter;
    Fields<T>::visit(counter, value);
    out_.map(counter.count());
    Fields<T>::visit(*this, value);
  }

 private:
  void write(bool value) { out_.boolean(value); }
  void write(std::unsigned_integral auto value) { out_.number(value); }
  void write(std::signed_integral auto value) { out_.signed_number(value); }
  void write(const std::string& value) { out_.name(value); }
  void write(const AbsolutePath& value) { out_.name(value.str()); }
  void write(const Bytes& value) { out_.binary(value); }
  template <class T>
  void write(const std::optional<T>& value) {
    if (value) {
      write(*value);
    } else {
      out_.nil();
    }
  }
  template <class T>
  void write(const std::vector<T>& values) {
    out_.array(values.size());
    for (const T& value : values) write(value);
  }
  template <class T>
  requires std::is_enum_v<T>
  void write(T value) { out_.number(static_cast<std::uint64_t>(value)); }
  template <Described T>
  void write(const T& value) {
    write_struct(value);
  }

  ValueWriter& out_;
};

// Where decoding stopped and why; `where` grows outwards while the readers return.
struct Refusal {
  std::string where;
  std::string why;
};

// Reads one map into one struct. Stops at the first refusal.
class Reader {
 public:
  Reader(const Value& map, Refusal& refusal) : map_(map), refusal_(refusal) {}

  void operator()(std::string_view key, auto& field) {
    if (failed_) return;
    const Value* value = next(key);
    if (value == nullptr) {
      failed_ = !refuse("missing key");
    } else {
      failed_ = !read(*value, field);
    }
    if (failed_) locate(key);
  }

  // After the last field: whether all went well and no key was left over.
  [[nodiscard]] bool finish() {
    if (failed_) return false;
    if (2 * seen_.size() == map_.items.size()) return true;
    for (std::size_t i = 0; i < map_.items.size(); i += 2) {
      const Value& key = map_.items[i];
      if (!key.is(Value::Kind::kText)) return refuse("a key is not a string");
      if (!was_seen(key.bytes)) {
        locate(key.bytes);
        return refuse("unknown key");
      }
    }
    return refuse("unknown key");
  }

 private:
  // The order of the struct is the usual one, and needs no search.
  const Value* next(std::string_view key) {
    const std::size_t i = 2 * seen_.size();
    seen_.push_back(key);
    if (i < map_.items.size() && map_.items[i].is(Value::Kind::kText) &&
        map_.items[i].bytes == key) {
      return &map_.items[i + 1];
    }
    return map_.find(key);
  }

  bool was_seen(std::string_view key) const {
    for (const std::string_view known : seen_) {
      if (known == key) return true;
    }
    return false;
  }

  bool refuse(std::string why) {
    refusal_.why = std::move(why);
    return false;
  }
  bool refuse_kind(std::string_view due, const Value& value) {
    return refuse("expected " + std::string(due) + ", found " + std::string(kind_name(value.kind)));
  }
  void locate(std::string_view key) {
    const bool joined = !refusal_.where.empty() && refusal_.where.front() != '[';
    refusal_.where.insert(0, std::string(key) + (joined ? "." : ""));
  }

  bool read(const Value& value, bool& out) {
    if (!value.is(Value::Kind::kBoolean)) return refuse_kind("bool", value);
    out = value.boolean;
    return true;
  }
  template <std::unsigned_integral T>
  bool read(const Value& value, T& out) {
    if (value.is(Value::Kind::kNegative)) return refuse("negative");
    if (!value.is(Value::Kind::kUnsigned)) return refuse_kind("integer", value);
    if (value.unsigned_number > std::numeric_limits<T>::max()) return refuse("too large");
    out = static_cast<T>(value.unsigned_number);
    return true;
  }
  template <std::signed_integral T>
  bool read(const Value& value, T& out) {
    if (value.is(Value::Kind::kNegative)) {
      if (value.negative_number < std::numeric_limits<T>::min()) return refuse("too small");
      out = static_cast<T>(value.negative_number);
      return true;
    }
    if (!value.is(Value::Kind::kUnsigned)) return refuse_kind("integer", value);
    if (!std::in_range<T>(value.unsigned_number)) return refuse("too large");
    out = static_cast<T>(value.unsigned_number);
    return true;
  }
  bool read(const Value& value, std::string& out) {
    if (!value.is(Value::Kind::kText) && !value.is(Value::Kind::kBinary)) {
      return refuse_kind("string", value);
    }
    out.assign(value.bytes);
    return true;
  }
  bool read(const Value& value, AbsolutePath& out) {
    if (!value.is(Value::Kind::kText) && !value.is(Value::Kind::kBinary)) {
      return refuse_kind("path", value);
    }
    auto path = AbsolutePath::parse(value.bytes);
    if (!path) return refuse(std::move(path).error().message);
    // One path, one spelling: values are compared and digested as bytes.
    if (path->str() != value.bytes) return refuse("path is not in normal form");
    out = *std::move(path);
    return true;
  }
  bool read(const Value& value, Bytes& out) {
    if (!value.is(Value::Kind::kBinary)) return refuse_kind("binary", value);
    const ByteView bytes = as_bytes(value.bytes);
    out.assign(bytes.begin(), bytes.end());
    return true;
  }
  template <class T>
  bool read(const Value& value, std::optional<T>& out) {
    if (value.is(Value::Kind::kNil)) {
      out.reset();
      return true;
    }
    return read(value, out.emplace(Blank<T>::make()));
  }
  template <class T>
  bool read(const Value& value, std::vector<T>& out) {
    if (!value.is(Value::Kind::kArray)) return refuse_kind("array", value);
    out.clear();
    out.reserve(value.items.size());  // they are here already: parse_value counted them
    for (const Value& item : value.items) {
      if (!read(item, out.emplace_back(Blank<T>::make()))) {
        locate("[" + std::to_string(out.size() - 1) + "]");
        return false;
      }
    }
    return true;
  }
  template <Described T>
  bool read(const Value& value, T& out) {
    if (!value.is(Value::Kind::kMap)) return refuse_kind("map", value);
    Reader inner(value, refusal_);
    Fields<T>::visit(inner, out);
    return inner.finish();
  }
  template <class E>
  requires std::is_enum_v<E>
  bool read(const Value& value, E& out) {
    if (!value.is(Value::Kind::kUnsigned)) return refuse_kind("integer", value);
    const auto number = value.unsigned_number;
    if (number < static_cast<std::uint64_t>(Enumerators<E>::kFirst) ||
        number > static_cast<std::uint64_t>(Enumerators<E>::kLast)) {
      return refuse("unknown enumerator " + std::to_string(number));
    }
    out = static_cast<E>(number);
    return true;
  }

  // Keys asked for so far, which are as many as the largest struct has fields.
  class Seen {
   public:
    void push_back(std::string_view key) {
      LOOM_CHECK(count_ < std::size(keys_));
      keys_[count_++] = key;
    }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] const std::string_view* begin() const { return keys_; }
    [[nodiscard]] const std::string_view* end() const { return keys_ + count_; }

   private:
    std::string_view keys_[24];
    std::size_t count_ = 0;
  };

  const Value& map_;
  Refusal& refusal_;
  Seen seen_;
  bool failed_ = false;
};

}  // namespace loom::archive

#include "direct_reader.h"

namespace loom::archive {

// The version travels in front of the fields of the outermost struct.
template <class Ref>
struct Versioned {
  std::uint32_t version;
  Ref value;
};

template <class Ref>
struct Fields<Versioned<Ref>> {
  static void visit(auto& archive, auto& versioned) {
    archive("v", versioned.version);
    Fields<std::remove_cvref_t<Ref>>::visit(archive, versioned.value);
  }
};

template <class T>
Bytes encode_value(const T& value) {
  ValueWriter out;
  out.reserve(4'096);  // most values fit; a few doublings are left for the others
  Writer(out).write_struct(Versioned<const T&>{.version = kValueVersion, .value = value});
  return out.take();
}

[[nodiscard]] Result<void> check_version(const Value& value, std::string_view noun);
[[nodiscard]] tl::unexpected<Error> refused(std::string_view noun, const Refusal& refusal);

// What our own writer wrote, and nothing else that would decode.
template <class T>
std::optional<T> decode_directly(ByteView bytes) {
  // Below this, no more values fit than parse_value lets pass.
  if (bytes.size() > kMaxValueItems) return std::nullopt;
  Versioned<T> versioned{.version = 0, .value = Blank<T>::make()};
  Cursor cursor(bytes);
  DirectReader reader(cursor);
  const bool whole = reader.read_struct(versioned) && cursor.at_end();
  if (!whole || versioned.version != kValueVersion) return std::nullopt;
  return std::move(versioned.value);
}

// `noun` is what the value is called in messages.
template <class T>
Result<T> decode_value(ByteView bytes, std::string_view noun) {
  if (auto value = decode_directly<T>(bytes)) return *std::move(value);
  LOOM_TRY(const Value tree, parse_value(bytes));
  // First of all, so that a newer value is called newer and not full of unknown keys.
  LOOM_TRY_VOID(check_version(tree, noun));
  Versioned<T> versioned{.version = 0, .value = Blank<T>::make()};
  Refusal refusal;
  Reader reader(tree, refusal);
  Fields<Versioned<T>>::visit(reader, versioned);
  if (!reader.finish()) return refused(noun, refusal);
  return std::move(versioned.value);
}

}  // namespace loom::archive

// Defines the two functions of <loom/codec.h> for one struct.
#define LOOM_DEFINE_CODEC_(Type, name, noun)                               \
  Bytes encode(const Type& value) { return archive::encode_value(value); } \
  Result<Type> decode_##name(ByteView bytes) { return archive::decode_value<Type>(bytes, noun); }
