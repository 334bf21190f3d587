#include "spellings.h"

#include <algorithm>
#include <array>
#include <string>

#include "law/folded_path.h"
#include "platform.h"

namespace loom::seatbelt {
namespace {

constexpr std::array<std::string_view, 3> kPairs = {"/tmp", "/var", "/etc"};
constexpr std::string_view kPrivate = "/private";

bool is_at_or_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace

AbsolutePath known_path(std::string_view text) { return AbsolutePath::parse(text).value(); }

std::optional<AbsolutePath> other_spelling(const AbsolutePath& path) {
  const std::string_view text = path.str();
  const bool long_form = is_at_or_below(text, kPrivate);
  const std::string_view short_text = long_form ? text.substr(kPrivate.size()) : text;
  const bool paired = std::any_of(kPairs.begin(), kPairs.end(), [&](std::string_view name) {
    return is_at_or_below(short_text, name);
  });
  if (!paired) return std::nullopt;
  return long_form ? known_path(short_text) : known_path(std::string(kPrivate).append(short_text));
}

std::vector<AbsolutePath> spellings(const AbsolutePath& path) {
  std::vector<AbsolutePath> both{path};
  if (auto other = other_spelling(path)) both.push_back(*std::move(other));
  return both;
}

std::string folded(const AbsolutePath& path) {
  return path.is_root() ? path.str() : law::FoldedPath(path).str();
}

void sort_unique(std::vector<AbsolutePath>& paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
}

std::string_view above(std::string_view path) noexcept {
  if (path.size() <= 1) return {};
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

}  // namespace loom::seatbelt
