#include <loom/utf8.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace loom {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// What may follow a lead byte (Unicode 15, table 3-7): the number of bytes in all, and the range of
// the second. The ranges leave out overlong forms, surrogates and everything past U+10FFFF.
struct Lead {
  std::size_t length;
  std::uint8_t low;
  std::uint8_t high;
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

// Length of the valid sequence at the front of `text` (not empty), or 0.
std::size_t sequence_length(std::string_view text) {
  const Lead lead = lead_of(byte_at(text, 0));
  if (lead.length <= 1) return lead.length;
  if (text.size() < lead.length) return 0;
  if (byte_at(text, 1) < lead.low || byte_at(text, 1) > lead.high) return 0;
  for (std::size_t i = 2; i < lead.length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  }
  return lead.length;
}

// C0, DEL, and C1 (which some terminals obey even when it comes as UTF-8).
bool is_control(std::string_view sequence) {
  const std::uint8_t first = byte_at(sequence, 0);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return sequence.size() == 2 && first == 0xC2 && byte_at(sequence, 1) < 0xA0;
}

void append_hex(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out.append("\\x");
    out.push_back(kDigits[byte_at(bytes, i) >> 4]);
    out.push_back(kDigits[byte_at(bytes, i) & 0x0F]);
  }
}

// Neither UTF-8 to check nor anything to escape, which is nearly everything that passes here.
bool is_plain(std::string_view text, std::string_view also) {
  const auto printable = [](char c) { return c >= 0x20 && c < 0x7F; };
  return std::all_of(text.begin(), text.end(), printable) &&
         (also.empty() || text.find_first_of(also) == std::string_view::npos);
}

// `out` never grows past `max_bytes`; where it was cut an ellipsis stands.
std::string escape(std::string_view text, std::size_t max_bytes, std::string_view also) {
  if (text.size() <= max_bytes && is_plain(text, also)) return std::string(text);
  std::string out;
  std::size_t cut = 0;  // the longest prefix that leaves room for the ellipsis
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(sequence.size());
    if (length == 0 || is_control(sequence) || also.find(sequence) != std::string_view::npos) {
      append_hex(out, sequence);
    } else {
      out.append(sequence);
    }
    if (out.size() > max_bytes) {
      out.resize(cut);
      if (max_bytes >= kEllipsis.size()) out.append(kEllipsis);
      return out;
    }
    if (out.size() + kEllipsis.size() <= max_bytes) cut = out.size();
  }
  return out;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  // Nearly everything that passes here is ASCII from end to end.
  const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), ascii)) return true;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Utf8 Utf8::sanitise(std::string_view text) {
  if (is_utf8(text)) return Utf8(std::string(text));
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    out.append(length == 0 ? kReplacement : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return Utf8(std::move(out));
}

std::string escaped(std::string_view text, std::size_t max_bytes) {
  return escape(text, max_bytes, "\\\"");
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  return escape(text, max_bytes, {});
}

}  // namespace loom
