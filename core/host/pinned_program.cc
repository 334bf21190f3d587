#include "host/pinned_program.h"

#include <loom/digest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "guard/file_system.h"
#include "host/descriptors.h"
#include "host/errno_text.h"
#include "host/memory_file.h"
#include "host/path_survey.h"
#include "host/program_handle.h"
#include "host/trusted_file.h"

namespace loom::host {

namespace {

constexpr std::size_t kMaxProgramBytes = 64u << 20;

PinnedProgram absent(std::string reason) {
  PinnedProgram program;
  program.fact.reason = std::move(reason);
  return program;
}

// Nothing, or why the file behind `handle` cannot be executed.
std::optional<std::string> refusal(int handle, const std::string& path, const struct stat& about) {
  if (!S_ISREG(about.st_mode)) return "not a regular file";
  if (!may_access(handle, path, X_OK)) return errno_text(errno);
  return std::nullopt;
}

std::int64_t nanoseconds(const timespec& time) noexcept {
  static constexpr std::int64_t kSecond = 1'000'000'000;
  return time.tv_sec * kSecond + time.tv_nsec;
}

FileStamp stamp_of(const struct stat& about) noexcept {
  return {.size = static_cast<std::uint64_t>(about.st_size),
          .modified_ns = nanoseconds(modified_at(about)),
          .changed_ns = nanoseconds(changed_at(about))};
}

// Nothing when it cannot be looked at any more, or is not what would be executed.
std::optional<FileStamp> stamp_now(const PinnedProgram& program) {
  struct stat about {};
  if (::fstat(program.handle.get(), &about) != 0) return std::nullopt;
  if (runs_by_path()) {
    struct stat named {};
    const bool same = ::stat(program.fact.path.c_str(), &named) == 0 &&
                      named.st_dev == about.st_dev && named.st_ino == about.st_ino;
    if (!same) return std::nullopt;
  }
  return stamp_of(about);
}

// Empty when it cannot be read, or is too large for a program.
std::string digest_now(const PinnedProgram& program) {
  const UniqueFd file = open_to_read(program.handle.get(), program.fact.path);
  if (!file) return {};
  const auto contents = read_all(file.get(), kMaxProgramBytes, "a pinned program");
  return contents ? sha256_hex(*contents) : std::string();
}

PinnedProgram pin(const std::string& path, ProgramUse use) {
  UniqueFd handle = open_program(path, use);
  if (!handle) return absent(path + ": " + errno_text(errno));
  struct stat about {};
  if (::fstat(handle.get(), &about) != 0) return absent(path + ": " + errno_text(errno));
  if (const auto why = refusal(handle.get(), path, about)) return absent(path + ": " + *why);
  PinnedProgram program;
  program.fact.present = true;
  program.fact.path = path;
  program.fact.identity = guard::identity_of(about);
  program.stamp = stamp_of(about);
  program.handle = std::move(handle);
  return program;
}

// Security: a program found in a directory the command may write is a program the command chose.
class Search {
 public:
  explicit Search(const std::vector<AbsolutePath>& excluded) {
    for (const auto& region : excluded) {
      excluded_.push_back(region);
      excluded_.push_back(survey_path(region).real);
    }
  }

  std::optional<PinnedProgram> look_in(std::string_view entry, const std::string& name) {
    const auto directory = AbsolutePath::parse(entry);
    if (!directory) {
      skip(entry, "not an absolute path");
      return std::nullopt;
    }
    if (is_excluded(*directory) || is_excluded(survey_path(*directory).real)) {
      skip(entry, "inside a writable region");
      return std::nullopt;
    }
    const std::string path = (directory->is_root() ? "" : directory->str()) + '/' + name;
    PinnedProgram program = pin(path, ProgramUse::kExecute);
    if (!program.handle) {
      if (::access(path.c_str(), F_OK) == 0) skip(path, "not an executable regular file");
      return std::nullopt;
    }
    const auto place = place_of(program.handle.get(), path);
    if (!place || is_excluded(*place)) {
      skip(path, "leads into a writable region");
      return std::nullopt;
    }
    return program;
  }

  // " (skipped PATH entries: …)", or nothing.
  [[nodiscard]] std::string skipped() const {
    return skipped_.empty() ? "" : " (skipped: " + skipped_ + ")";
  }

 private:
  [[nodiscard]] bool is_excluded(const AbsolutePath& path) const {
    return std::any_of(excluded_.begin(), excluded_.end(),
                       [&path](const AbsolutePath& region) { return path.is_within(region); });
  }

  void skip(std::string_view what, const char* why) {
    if (!skipped_.empty()) skipped_ += "; ";
    skipped_ += '"' + std::string(what) + "\": " + why;
  }

  std::vector<AbsolutePath> excluded_;
  std::string skipped_;
};

}  // namespace

PinnedProgram pin_launcher(const std::string& name, std::string_view search_path,
                           const std::vector<AbsolutePath>& excluded) {
  if (name.starts_with('/')) return pin(name, ProgramUse::kExecute);
  if (name.empty() || name.find('/') != std::string::npos) {
    return absent('"' + name + "\": neither a plain name nor an absolute path");
  }
  Search search(excluded);
  while (!search_path.empty()) {
    const auto colon = std::min(search_path.find(':'), search_path.size());
    if (auto program = search.look_in(search_path.substr(0, colon), name)) {
      return std::move(*program);
    }
    search_path.remove_prefix(std::min(colon + 1, search_path.size()));
  }
  return absent(name + ": not found on the helper's PATH" + search.skipped());
}

// Security: it runs before anything is restricted. Not so for a launcher, which the operator's PATH
// names.
PinnedProgram find_stage2(const std::string& file) {
  PinnedProgram program = pin(file, ProgramUse::kCopy);
  if (!program.handle) return program;
  struct stat about {};
  if (::fstat(program.handle.get(), &about) != 0) return absent(file + ": " + errno_text(errno));
  if (const auto why = distrust(about)) return absent(file + ": " + *why);
  return program;
}

PinnedProgram find_stage2(const std::vector<std::string>& directories, const std::string& name) {
  std::optional<PinnedProgram> nearest;
  for (const std::string& directory : directories) {
    const std::string file = directory + "/" + name;
    PinnedProgram program = find_stage2(file);
    struct stat about {};
    if (program.fact.present || ::lstat(file.c_str(), &about) == 0) return program;
    if (!nearest) nearest = std::move(program);
  }
  return std::move(nearest).value_or(absent(name + ": there is no place to look for it"));
}

Result<void> seal_stage2(PinnedProgram& program) {
  if (!program.handle) return {};
  auto copy = make_executable_copy("loom-stage2", program.handle.get(), kMaxProgramBytes);
  if (copy) {
    program.handle = std::move(*copy);
    program.sealed = true;
  } else if (copy.error().code != ErrorCode::kUnsupported) {
    return tl::unexpected(std::move(copy).error());
  }
  return {};
}

void take_digest(PinnedProgram& program) {
  if (!program.handle || program.sealed) return;
  std::string digest = digest_now(program);
  // Read before a change and after it alike: both stamps are the one of the opening.
  if (stamp_now(program) == program.stamp) program.digest = std::move(digest);
}

Result<void> check_pin(PinnedProgram& program) {
  if (!program.handle || program.sealed) return {};
  const auto now = stamp_now(program);
  if (now == program.stamp) return {};
  const bool same = now && !program.digest.empty() && digest_now(program) == program.digest &&
                    stamp_now(program) == now;
  if (!same) {
    return fail(ErrorCode::kDenied,
                "pin_changed: " + program.fact.path +
                    " is not the program any more that was chosen at the start: start again");
  }
  program.stamp = *now;
  return {};
}

bool is_ours_to_write(const PinnedProgram& program) {
  if (!program.handle || program.sealed || ::geteuid() == 0) return false;
  struct stat about {};
  if (::fstat(program.handle.get(), &about) != 0) return false;
  return about.st_uid == ::geteuid() || may_access(program.handle.get(), program.fact.path, W_OK);
}

}  // namespace loom::host
