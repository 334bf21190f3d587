#pragma once

#include <loom/bytes.h>
#include <loom/value.h>

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Encoded msgpack values as expressions, for tests that need documents a writer would never write.
namespace loom::test {

inline Bytes nil() {
  ValueWriter out;
  out.nil();
  return out.take();
}
inline Bytes boolean(bool value) {
  ValueWriter out;
  out.boolean(value);
  return out.take();
}
inline Bytes number(std::uint64_t value) {
  ValueWriter out;
  out.number(value);
  return out.take();
}
inline Bytes negative(std::int64_t value) {
  ValueWriter out;
  out.signed_number(value);
  return out.take();
}
inline Bytes text(std::string_view value) {
  ValueWriter out;
  out.text(value);
  return out.take();
}
inline Bytes binary(std::string_view value) {
  ValueWriter out;
  out.binary(as_bytes(value));
  return out.take();
}
inline Bytes real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  Bytes out{std::byte{0xcb}};
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(std::byte((bits >> shift) & 0xffU));
  return out;
}
inline Bytes raw(std::initializer_list<int> bytes) {
  Bytes out;
  for (const int byte : bytes) out.push_back(static_cast<std::byte>(byte));
  return out;
}
inline Bytes array(const std::vector<Bytes>& items) {
  ValueWriter out;
  out.array(items.size());
  for (const Bytes& item : items) out.encoded(item);
  return out.take();
}
inline Bytes texts(const std::vector<std::string_view>& items) {
  std::vector<Bytes> encoded;
  for (const std::string_view item : items) encoded.push_back(text(item));
  return array(encoded);
}
inline Bytes map(const std::vector<std::pair<Bytes, Bytes>>& entries) {
  ValueWriter out;
  out.map(entries.size());
  for (const auto& [key, value] : entries) {
    out.encoded(key);
    out.encoded(value);
  }
  return out.take();
}

// A map with text keys whose entries a test exchanges one by one.
class Document {
 public:
  Document() = default;
  Document(std::initializer_list<std::pair<std::string, Bytes>> fields) : fields_(fields) {}

  [[nodiscard]] Document with(std::string_view key, Bytes value) const {
    Document copy = without(key);
    copy.fields_.emplace_back(key, std::move(value));
    return copy;
  }
  // Adds the entry even where the key is there already.
  [[nodiscard]] Document with_another(std::string_view key, Bytes value) const {
    Document copy = *this;
    copy.fields_.emplace_back(key, std::move(value));
    return copy;
  }
  [[nodiscard]] Document without(std::string_view key) const {
    Document copy;
    for (const auto& field : fields_) {
      if (field.first != key) copy.fields_.push_back(field);
    }
    return copy;
  }
  [[nodiscard]] Bytes bytes() const {
    std::vector<std::pair<Bytes, Bytes>> entries;
    for (const auto& [key, value] : fields_) entries.emplace_back(text(key), value);
    return map(entries);
  }

 private:
  std::vector<std::pair<std::string, Bytes>> fields_;
};

inline Document limits_document() {
  return {{"cpu_s", number(60)}, {"wall_s", number(120)},       {"mem_bytes", number(1 << 20)},
          {"pids", number(128)}, {"fsize_bytes", number(1024)}, {"output_bytes", number(65536)}};
}

inline Document mount_document(std::string_view path, std::string_view access) {
  return {{"path", text(path)}, {"access", text(access)}, {"required", boolean(true)}};
}

// A policy that decodes and in which everything but the mounts is there.
inline Document policy_document() {
  return {{"v", number(2)},
          {"writable_roots", texts({"/work", "/work/.cache"})},
          {"readable_roots", texts({"/usr/lib"})},
          {"protected", texts({"/work/.git"})},
          {"network", Document{{"mode", text("off")}}.bytes()},
          {"limits", limits_document().bytes()},
          {"env_allow", texts({"PATH", "HOME"})},
          {"scratch", text("tmpfs")},
          {"mounts", array({})}};
}

// An exec table that decodes.
inline Document exec_document() {
  return {{"default", text("deny")},   {"allow", array({})},      {"deny", array({})},
          {"support", text("system")}, {"memfd", text("noexec")}, {"required", boolean(true)}};
}

inline Document exec_entry(std::string_view kind, std::string_view value) {
  return {{"kind", text(kind)}, {"value", text(value)}};
}

// policy_document() in version 3, with this value of `exec`.
inline Document version_3_document(Bytes exec) {
  return policy_document().with("v", number(3)).with("exec", std::move(exec));
}

}  // namespace loom::test
