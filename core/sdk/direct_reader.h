#pragma once

#include <loom/absolute_path.h>
#include <loom/bytes.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Included by archive.h, after what it describes.
namespace loom::archive {

// Walks over msgpack. What it is not asked for where it stands stays there, and the answer is no.
class Cursor {
 public:
  explicit Cursor(ByteView bytes) : left_(as_text(bytes)) {}

  [[nodiscard]] bool at_end() const { return left_.empty(); }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

  [[nodiscard]] bool skip_nil() { return skip(kNil); }
  [[nodiscard]] bool boolean(bool& out) {
    out = skip(kTrue);
    return out || skip(kFalse);
  }
  [[nodiscard]] bool number(std::uint64_t& out) {
    if (left_.empty()) return false;
    const std::uint8_t first = head();
    if (first <= kLastFixedNumber) {
      out = first;
      left_.remove_prefix(1);
      return true;
    }
    return first >= kFirstNumber && first <= kLastNumber && big_endian(first - kFirstNumber, out);
  }
  [[nodiscard]] bool text(std::string_view& out) {
    return sized({.fixed = 0xa0, .fixed_mask = 0x1f, .first = 0xd9, .widths = 3}, out);
  }
  [[nodiscard]] bool binary(std::string_view& out) {
    return sized({.fixed = 0, .fixed_mask = 0, .first = 0xc4, .widths = 3}, out);
  }
  [[nodiscard]] bool array(std::uint64_t& count) {
    return length({.fixed = 0x90, .fixed_mask = 0x0f, .first = 0xdc, .widths = 2}, 1, count);
  }
  [[nodiscard]] bool map(std::uint64_t& count) {
    return length({.fixed = 0x80, .fixed_mask = 0x0f, .first = 0xde, .widths = 2}, 1, count);
  }

 private:
  static constexpr std::uint8_t kNil = 0xc0;
  static constexpr std::uint8_t kFalse = 0xc2;
  static constexpr std::uint8_t kTrue = 0xc3;
  static constexpr std::uint8_t kLastFixedNumber = 0x7f;
  static constexpr std::uint8_t kFirstNumber = 0xcc;  // one byte, two, four, eight
  static constexpr std::uint8_t kLastNumber = 0xcf;

  // How a length is written: within the first byte, or in 1 << n bytes after it.
  struct LengthForm {
    std::uint8_t fixed;
    std::uint8_t fixed_mask;  // zero: there is no such form
    std::uint8_t first;
    std::uint8_t widths;
  };

  [[nodiscard]] std::uint8_t head() const { return static_cast<std::uint8_t>(left_.front()); }
  [[nodiscard]] bool skip(std::uint8_t byte) {
    if (left_.empty() || head() != byte) return false;
    left_.remove_prefix(1);
    return true;
  }
  // After the head, 1 << `power` bytes.
  [[nodiscard]] bool big_endian(int power, std::uint64_t& out) {
    const std::size_t width = std::size_t{1} << power;
    if (left_.size() < 1 + width) return false;
    out = 0;
    for (const char byte : left_.substr(1, width)) {
      out = out << 8U | static_cast<std::uint8_t>(byte);
    }
    left_.remove_prefix(1 + width);
    return true;
  }
  [[nodiscard]] bool length(const LengthForm& form, int smallest, std::uint64_t& out) {
    if (left_.empty()) return false;
    const std::uint8_t first = head();
    if (form.fixed_mask != 0 && (first & ~form.fixed_mask) == form.fixed) {
      out = first & form.fixed_mask;
      left_.remove_prefix(1);
      return true;
    }
    return first >= form.first && first < form.first + form.widths &&
           big_endian(smallest + first - form.first, out);
  }
  [[nodiscard]] bool sized(const LengthForm& form, std::string_view& out) {
    const std::string_view before = left_;
    std::uint64_t size = 0;
    if (!length(form, 0, size)) return false;
    if (size > left_.size()) {
      left_ = before;
      return false;
    }
    out = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }

  std::string_view left_;
};

// Reads what Writer writes: every key in the order of the struct. It builds no tree, and gives up
// at the first surprise without a word; Reader then finds out whether that was an error, and which.
// What this accepts, Reader accepts with the same result.
class DirectReader {
 public:
  explicit DirectReader(Cursor& in) : in_(in) {}

  void operator()(std::string_view key, auto& field) {
    std::string_view found;
    ok_ = ok_ && in_.text(found) && found == key && read(field);
  }

  template <class T>
  [[nodiscard]] bool read_struct(T& value) {
    CountFields counter;
    Fields<T>::visit(counter, value);
    std::uint64_t count = 0;
    ok_ = ok_ && in_.map(count) && count == counter.count();
    if (ok_) Fields<T>::visit(*this, value);
    return ok_;
  }

 private:
  [[nodiscard]] bool read(bool& out) { return in_.boolean(out); }
  template <std::integral T>
  [[nodiscard]] bool read(T& out) {
    std::uint64_t number = 0;
    if (!in_.number(number) || !std::in_range<T>(number)) return false;  // negative: not here
    out = static_cast<T>(number);
    return true;
  }
  [[nodiscard]] bool read_text(std::string_view& out) { return in_.text(out) || in_.binary(out); }
  [[nodiscard]] bool read(std::string& out) {
    std::string_view text;
    if (!read_text(text)) return false;
    out.assign(text);
    return true;
  }
  [[nodiscard]] bool read(AbsolutePath& out) {
    std::string_view text;
    if (!read_text(text)) return false;
    auto path = AbsolutePath::parse(text);
    if (!path || path->str() != text) return false;
    out = *std::move(path);
    return true;
  }
  [[nodiscard]] bool read(Bytes& out) {
    std::string_view text;
    if (!in_.binary(text)) return false;
    const ByteView bytes = as_bytes(text);
    out.assign(bytes.begin(), bytes.end());
    return true;
  }
  template <class T>
  [[nodiscard]] bool read(std::optional<T>& out) {
    if (in_.skip_nil()) return true;
    return read(out.emplace(Blank<T>::make()));
  }
  template <class T>
  [[nodiscard]] bool read(std::vector<T>& out) {
    std::uint64_t count = 0;
    if (!in_.array(count) || count > in_.left()) return false;  // each takes a byte at least
    out.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!read(out.emplace_back(Blank<T>::make()))) return false;
    }
    return true;
  }
  template <class E>
  requires std::is_enum_v<E>
  [[nodiscard]] bool read(E& out) {
    std::uint64_t number = 0;
    if (!in_.number(number) || number < static_cast<std::uint64_t>(Enumerators<E>::kFirst) ||
        number > static_cast<std::uint64_t>(Enumerators<E>::kLast)) {
      return false;
    }
    out = static_cast<E>(number);
    return true;
  }
  template <Described T>
  [[nodiscard]] bool read(T& out) {
    return read_struct(out);
  }

  Cursor& in_;
  bool ok_ = true;
};

}  // namespace loom::archive
