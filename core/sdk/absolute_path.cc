#include <loom/absolute_path.h>

#include <algorithm>

namespace loom {
namespace {

// Whether cleaning would change nothing. Nearly every path is asked this, and few need more.
bool is_clean(std::string_view text) {
  if (text.size() == 1) return true;
  std::size_t start = 1;
  while (true) {
    const std::size_t end = std::min(text.find('/', start), text.size());
    const std::string_view part = text.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == text.size()) return true;
    start = end + 1;
  }
}

std::string cleaned(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t start = 1;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find('/', start), text.size());
    const std::string_view part = text.substr(start, end - start);
    start = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      out.resize(out.empty() ? 0 : out.rfind('/'));
    } else {
      out.append("/").append(part);
    }
  }
  return out.empty() ? "/" : out;
}

}  // namespace

Result<AbsolutePath> AbsolutePath::parse(std::string_view text) {
  if (text.empty()) return fail(ErrorCode::kInvalidRequest, "path is empty");
  if (text.front() != '/') return fail(ErrorCode::kInvalidRequest, "path is not absolute");
  if (text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInvalidRequest, "path holds a NUL");
  }
  return AbsolutePath(is_clean(text) ? std::string(text) : cleaned(text));
}

bool AbsolutePath::is_within(const AbsolutePath& ancestor) const noexcept {
  if (ancestor.is_root()) return true;
  const std::string& above = ancestor.text_;
  return text_.starts_with(above) && (text_.size() == above.size() || text_[above.size()] == '/');
}

AbsolutePath AbsolutePath::parent() const {
  const std::size_t slash = text_.rfind('/');
  return slash == 0 ? root() : AbsolutePath(text_.substr(0, slash));
}

std::string_view AbsolutePath::name() const noexcept {
  return std::string_view(text_).substr(text_.rfind('/') + 1);
}

}  // namespace loom
