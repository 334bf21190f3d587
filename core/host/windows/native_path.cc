#include "host/windows/native_path.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace loom::windows {
namespace {

std::string with_backslashes(std::string text) {
  std::replace(text.begin(), text.end(), '/', '\\');
  return text;
}

// The part behind the last separator or colon.
std::string_view last_name(std::string_view file) {
  const std::size_t mark = file.find_last_of("\\/:");
  return mark == std::string_view::npos ? file : file.substr(mark + 1);
}

// Nothing for what Windows may take for another name than the one written: it cuts dots and spaces
// off the end of a component, and a colon names a stream.
std::optional<AbsolutePath> plain_directory(std::string_view entry) {
  if (!spell_drive_path(entry)) return std::nullopt;
  auto path = AbsolutePath::parse_with_drives(folded(entry));
  if (!path) return std::nullopt;
  std::string_view rest = std::string_view(path->str()).substr(std::string_view("/C:").size());
  if (rest.find(':') != std::string_view::npos) return std::nullopt;
  for (; !rest.empty(); rest.remove_suffix(rest.size() - rest.rfind('/'))) {
    if (rest.ends_with('.') || rest.ends_with(' ')) return std::nullopt;
  }
  return *std::move(path);
}

// A region without a drive lies on the system's, as wherever it is used.
bool is_excluded(const AbsolutePath& directory, const std::vector<AbsolutePath>& excluded,
                 std::string_view system_drive) {
  return std::any_of(excluded.begin(), excluded.end(), [&](const AbsolutePath& region) {
    if (region.is_root()) return true;
    const auto above =
        AbsolutePath::parse_with_drives(folded(native_path(region.str(), system_drive)));
    return above && directory.is_within(*above);
  });
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> entries;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(';'), list.size());
    std::string_view entry = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (entry.size() >= 2 && entry.front() == '"' && entry.back() == '"') {
      entry = entry.substr(1, entry.size() - 2);
    }
    if (!entry.empty()) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

bool is_full_path(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;
  if (spell_drive_path(text)) return true;
  return text.starts_with('/') && !text.starts_with("//") &&
         text.find('\\') == std::string_view::npos;
}

std::string native_path(std::string_view full, std::string_view system_drive) {
  if (spell_drive_path(full)) return with_backslashes(std::string(full));
  const std::string_view behind_slash = full.substr(std::min<std::size_t>(1, full.size()));
  const bool names_drive = behind_slash.size() == 2 && behind_slash[1] == ':';
  if (names_drive) return std::string(behind_slash) + "\\";
  if (spell_drive_path(behind_slash)) return with_backslashes(std::string(behind_slash));
  return std::string(system_drive) + with_backslashes(std::string(full));
}

std::string folded(std::string_view text) {
  std::string out(text);
  for (char& each : out) {
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each | 0x20);
  }
  return out;
}

std::vector<std::string> search_directories(std::string_view list,
                                            const std::vector<AbsolutePath>& excluded,
                                            std::string_view system_drive) {
  std::vector<std::string> directories;
  for (const std::string_view entry : split_list(list)) {
    const auto path = plain_directory(entry);
    if (!path || is_excluded(*path, excluded, system_drive)) continue;
    std::string directory = with_backslashes(std::string(entry));
    const bool known =
        std::any_of(directories.begin(), directories.end(),
                    [&](const std::string& each) { return folded(each) == folded(directory); });
    if (!known) directories.push_back(std::move(directory));
  }
  return directories;
}

bool is_startable_name(std::string_view file) {
  const std::string name = folded(last_name(file));
  const std::string_view behind_drive = file.substr(std::min<std::size_t>(2, file.size()));
  if (behind_drive.find(':') != std::string_view::npos) return false;
  return name.ends_with(".exe") || name.ends_with(".com");
}

std::vector<std::string> program_candidates(std::string_view program, std::string_view directory,
                                            std::string_view system_drive,
                                            const std::vector<std::string>& search) {
  std::string name(program);
  if (last_name(program).find('.') == std::string_view::npos) name += ".exe";
  if (is_full_path(name)) return {native_path(name, system_drive)};
  const auto in = [&name](std::string_view folder) {
    return std::string(folder) + (folder.ends_with('\\') ? "" : "\\") + with_backslashes(name);
  };
  // A rooted name or one that begins with a drive and nothing else would leave the directory.
  if (program.find(':') != std::string_view::npos || program.starts_with('\\')) return {};
  if (program.find_first_of("\\/") != std::string_view::npos) return {in(directory)};
  std::vector<std::string> candidates;
  for (const std::string& folder : search) candidates.push_back(in(folder));
  return candidates;
}

}  // namespace loom::windows
