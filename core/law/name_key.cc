#include "law/name_key.h"

#include <loom/utf8.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "law/name_tables.h"

namespace loom::law {
namespace {

// Hangul syllables are arithmetic (The Unicode Standard, 3.12).
constexpr char32_t kFirstSyllable = 0xAC00;
constexpr char32_t kFirstLeading = 0x1100;
constexpr char32_t kFirstVowel = 0x1161;
constexpr char32_t kBeforeTrailing = 0x11A7;
constexpr char32_t kVowels = 21;
constexpr char32_t kTrailings = 28;
constexpr char32_t kSyllables = 19 * kVowels * kTrailings;

bool is_ascii(char byte) { return static_cast<unsigned char>(byte) < 0x80; }

char ascii_lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

// `text` is valid UTF-8.
std::u32string decoded(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (std::size_t j = 1; j < length; ++j) {
      point = (point << 6) | (static_cast<std::uint8_t>(text[i + j]) & 0x3FU);
    }
    points.push_back(point);
    i += length;
  }
  return points;
}

void append_encoded(std::string& out, char32_t point) {
  const auto tail = [&](unsigned shift) {
    out.push_back(static_cast<char>(0x80U | ((point >> shift) & 0x3FU)));
  };
  if (point < 0x80) {
    out.push_back(static_cast<char>(point));
  } else if (point < 0x800) {
    out.push_back(static_cast<char>(0xC0U | (point >> 6)));
    tail(0);
  } else if (point < 0x10000) {
    out.push_back(static_cast<char>(0xE0U | (point >> 12)));
    tail(6);
    tail(0);
  } else {
    out.push_back(static_cast<char>(0xF0U | (point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string encoded(const std::u32string& points) {
  std::string text;
  for (const char32_t point : points) append_encoded(text, point);
  return text;
}

std::u32string mapped(const std::u32string& points, std::span<const NameMapping> mappings) {
  std::u32string out;
  for (const char32_t point : points) {
    const auto found =
        std::lower_bound(mappings.begin(), mappings.end(), point,
                         [](const NameMapping& entry, char32_t at) { return entry.from < at; });
    if (found == mappings.end() || found->from != point) {
      out.push_back(point);
    } else {
      const auto target = kNameTables.targets.subspan(found->first, found->count);
      out.append(target.begin(), target.end());
    }
  }
  return out;
}

std::u32string without_syllables(const std::u32string& points) {
  std::u32string out;
  for (const char32_t point : points) {
    if (point < kFirstSyllable || point >= kFirstSyllable + kSyllables) {
      out.push_back(point);
      continue;
    }
    const char32_t index = point - kFirstSyllable;
    out.push_back(kFirstLeading + index / (kVowels * kTrailings));
    out.push_back(kFirstVowel + index / kTrailings % kVowels);
    if (index % kTrailings != 0) out.push_back(kBeforeTrailing + index % kTrailings);
  }
  return out;
}

// 0 for whatever starts a sequence.
std::uint8_t combining_class(char32_t point) {
  const auto& marks = kNameTables.combining;
  const auto found =
      std::lower_bound(marks.begin(), marks.end(), point,
                       [](const CombiningClass& entry, char32_t at) { return entry.mark < at; });
  return found == marks.end() || found->mark != point ? std::uint8_t{0} : found->value;
}

// Marks that follow one another stand in the order of their classes; equal ones keep theirs.
void order_marks(std::u32string& points) {
  const auto starts = [](char32_t point) { return combining_class(point) == 0; };
  for (auto begin = points.begin(); begin != points.end();) {
    begin = std::find_if_not(begin, points.end(), starts);
    const auto end = std::find_if(begin, points.end(), starts);
    std::stable_sort(
        begin, end, [](char32_t a, char32_t b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

// NFD.
std::u32string decomposed(const std::u32string& points) {
  std::u32string out = without_syllables(mapped(points, kNameTables.decomposition));
  order_marks(out);
  return out;
}

}  // namespace

std::string name_key(std::string_view name) {
  if (std::all_of(name.begin(), name.end(), is_ascii)) {
    std::string key(name);
    std::transform(key.begin(), key.end(), key.begin(), ascii_lower);
    return key;
  }
  if (!is_utf8(name)) return std::string(name);
  // Decomposed before anything is mapped: U+0345 becomes a letter, and no mark is put in order over
  // a letter.
  const std::u32string upper = mapped(decomposed(decoded(name)), kNameTables.uppercase);
  return encoded(decomposed(mapped(upper, kNameTables.casefold)));
}

}  // namespace loom::law
