#include "host/mount_table.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <optional>

#include "host/errno_text.h"
#include "host/memory_file.h"

namespace loom::host {

namespace {

constexpr std::size_t kMaxMountinfoBytes = 16u << 20;
// proc_pid_mountinfo(5), counted from 0.
constexpr int kIdField = 0;
constexpr int kParentField = 1;
constexpr int kDeviceField = 2;
constexpr int kRootField = 3;
constexpr int kMountPointField = 4;
// What d_path(9) puts behind the name of a directory that was removed under its mount.
constexpr std::string_view kRemoved = "//deleted";

bool is_octal(char c) noexcept { return c >= '0' && c <= '7'; }

// The kernel writes space, tab, newline and backslash as a backslash and three octal digits.
std::string undo_escapes(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (escape) {
      plain.push_back(static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                        (text[i + 3] - '0')));
      i += 3;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

std::string_view field_of(std::string_view line, int index) {
  for (int i = 0; i < index; ++i) {
    const auto space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space + 1);
  }
  return line.substr(0, line.find(' '));
}

// The file-system type stands behind a separator that follows any number of optional fields.
std::string_view type_of(std::string_view line) {
  constexpr std::string_view kSeparator = " - ";
  const auto at = line.find(kSeparator);
  return at == std::string_view::npos ? std::string_view()
                                      : field_of(line.substr(at + kSeparator.size()), 0);
}

// Mount points of the lines that `wanted` takes, sorted.
template <class Wanted>
std::vector<std::string> points_where(std::string_view mountinfo, Wanted wanted) {
  std::vector<std::string> points;
  while (!mountinfo.empty()) {
    const auto end = mountinfo.find('\n');
    const std::string_view line = mountinfo.substr(0, end);
    const std::string_view point = field_of(line, kMountPointField);
    if (!point.empty() && wanted(line)) points.push_back(undo_escapes(point));
    mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
  }
  std::sort(points.begin(), points.end());
  return points;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<AbsolutePath> path_of(std::string_view field) {
  std::string text = undo_escapes(field);
  if (text.empty() || std::string_view(text).ends_with(kRemoved)) return std::nullopt;
  if (text.front() != '/') text.insert(text.begin(), '/');
  auto path = AbsolutePath::parse(text);
  if (!path) return std::nullopt;
  return *std::move(path);
}

std::optional<MountRow> parse_row(std::string_view line) {
  const auto id = number_of(field_of(line, kIdField));
  const auto parent = number_of(field_of(line, kParentField));
  auto root = path_of(field_of(line, kRootField));
  auto point = path_of(field_of(line, kMountPointField));
  if (!id || !parent || !root || !point) return std::nullopt;
  return MountRow{.id = *id,
                  .parent = *parent,
                  .device = std::string(field_of(line, kDeviceField)),
                  .root = *std::move(root),
                  .point = *std::move(point),
                  .type = std::string(type_of(line))};
}

}  // namespace

std::vector<MountRow> parse_mount_rows(std::string_view mountinfo) {
  std::vector<MountRow> rows;
  while (!mountinfo.empty()) {
    const auto end = mountinfo.find('\n');
    if (auto row = parse_row(mountinfo.substr(0, end))) rows.push_back(*std::move(row));
    mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
  }
  return rows;
}

std::vector<std::string> parse_mount_points(std::string_view mountinfo) {
  return points_where(mountinfo, [](std::string_view) { return true; });
}

NumberedPoints parse_numbered_points(std::string_view mountinfo) {
  NumberedPoints points;
  while (!mountinfo.empty()) {
    const auto end = mountinfo.find('\n');
    const std::string_view line = mountinfo.substr(0, end);
    const std::string_view point = field_of(line, kMountPointField);
    const auto number = number_of(field_of(line, kIdField));
    if (number && !point.empty()) points.emplace(*number, undo_escapes(point));
    mountinfo.remove_prefix(end == std::string_view::npos ? mountinfo.size() : end + 1);
  }
  return points;
}

std::vector<std::string> mount_points_of_type(std::string_view mountinfo, std::string_view type) {
  return points_where(mountinfo, [&](std::string_view line) { return type_of(line) == type; });
}

std::vector<std::string> lost_mount_points(const std::vector<std::string>& before,
                                           const std::vector<std::string>& after) {
  std::vector<std::string> lost;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(lost));
  return lost;
}

Result<MountTable> MountTable::open(int pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/mountinfo";
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "open " + path + ": " + errno_text(error), error);
  }
  return MountTable(std::move(file));
}

Result<Bytes> MountTable::read() const {
  if (::lseek(file_.get(), 0, SEEK_SET) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "rewind a mount table: " + errno_text(error), error);
  }
  return read_all(file_.get(), kMaxMountinfoBytes, "a mount table");
}

bool MountTable::has_changed() const noexcept {
  pollfd table{.fd = file_.get(), .events = POLLPRI, .revents = 0};
  return ::poll(&table, 1, 0) != 0;
}

Result<std::vector<std::string>> MountTable::mount_points() const {
  LOOM_TRY(const Bytes text, read());
  return parse_mount_points(as_text(text));
}

Result<NumberedPoints> MountTable::numbered_points() const {
  LOOM_TRY(const Bytes text, read());
  return parse_numbered_points(as_text(text));
}

Result<std::vector<MountRow>> MountTable::rows() const {
  LOOM_TRY(const Bytes text, read());
  return parse_mount_rows(as_text(text));
}

Result<std::vector<std::string>> MountTable::mount_points_of_type(std::string_view type) const {
  LOOM_TRY(const Bytes text, read());
  return host::mount_points_of_type(as_text(text), type);
}

}  // namespace loom::host
