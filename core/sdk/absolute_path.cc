#include <loom/absolute_path.h>

#include <algorithm>

namespace loom {
namespace {

constexpr std::size_t kDriveBytes = 3;  // "/C:"

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

bool is_letter(char each) noexcept {
  const char lower = static_cast<char>(each | 0x20);
  return lower >= 'a' && lower <= 'z';
}

bool begins_with_drive(std::string_view text) noexcept {
  if (text.size() < 3 || text[1] != ':' || (text[2] != '\\' && text[2] != '/')) return false;
  return is_letter(text[0]);
}

// Whether the first component of what begins with '/' is a drive: "/c:" or "/c:/x".
bool has_drive(std::string_view path) noexcept {
  if (path.size() == kDriveBytes) return is_letter(path[1]) && path[2] == ':';
  return begins_with_drive(path.substr(1));
}

// Where a drive is the first component, and whatever ".." does stays on it.
std::string cleaned_with_drive(std::string_view path) {
  if (!has_drive(path)) return is_clean(path) ? std::string(path) : cleaned(path);
  const std::string drive{'/', static_cast<char>(path[1] & ~0x20), ':'};
  if (path.size() == kDriveBytes) return drive;
  const std::string rest = cleaned(path.substr(kDriveBytes));
  return rest == "/" ? drive : drive + rest;
}

Result<void> check_bytes(std::string_view text) {
  if (text.empty()) return fail(ErrorCode::kInvalidRequest, "path is empty");
  if (text.front() != '/') return fail(ErrorCode::kInvalidRequest, "path is not absolute");
  if (text.find('\0') != std::string_view::npos) {
    return fail(ErrorCode::kInvalidRequest, "path holds a NUL");
  }
  return {};
}

#if defined(_WIN32)
constexpr bool kHasDrives = true;
#else
constexpr bool kHasDrives = false;
#endif

}  // namespace

std::optional<std::string> spell_drive_path(std::string_view text) {
  if (!begins_with_drive(text)) return std::nullopt;
  std::string path = "/" + std::string(text);
  path[1] = static_cast<char>(path[1] & ~0x20);
  std::replace(path.begin(), path.end(), '\\', '/');
  return path;
}

bool AbsolutePath::is_absolute(std::string_view text) noexcept {
  if (!kHasDrives) return text.starts_with('/');
  return begins_with_drive(text) || (text.starts_with('/') && !text.starts_with("//"));
}

Result<AbsolutePath> AbsolutePath::parse(std::string_view text) {
  if (kHasDrives) return parse_with_drives(text);
  LOOM_TRY_VOID(check_bytes(text));
  return AbsolutePath(is_clean(text) ? std::string(text) : cleaned(text));
}

Result<AbsolutePath> AbsolutePath::parse_with_drives(std::string_view text) {
  const std::string spelled = spell_drive_path(text).value_or(std::string(text));
  LOOM_TRY_VOID(check_bytes(spelled));
  if (spelled.starts_with("//")) {
    return fail(ErrorCode::kInvalidRequest, "path is a name of the network");
  }
  if (spelled.find('\\') != std::string::npos) {
    return fail(ErrorCode::kInvalidRequest, "path holds a backslash behind its leading slash");
  }
  std::string clean = cleaned_with_drive(spelled);
  if (has_drive(clean) && !has_drive(spelled)) {
    return fail(ErrorCode::kInvalidRequest, "path names a drive behind other components");
  }
  return AbsolutePath(std::move(clean));
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
