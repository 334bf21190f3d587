#include "guard/linker_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <loom/unique_fd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <utility>

#include "guard/file_system.h"

namespace loom::guard {
namespace {

struct Root {
  const char* name;
  bool below;  // one level below it too
};
constexpr std::array kRoots{Root{"/lib", true},        Root{"/lib64", false},
                            Root{"/lib32", false},     Root{"/usr/lib", true},
                            Root{"/usr/lib64", false}, Root{"/usr/lib32", false}};

#ifdef __APPLE__
timespec modified(const struct stat& about) noexcept { return about.st_mtimespec; }
timespec changed(const struct stat& about) noexcept { return about.st_ctimespec; }
#else
timespec modified(const struct stat& about) noexcept { return about.st_mtim; }
timespec changed(const struct stat& about) noexcept { return about.st_ctim; }
#endif

bool same_time(const timespec& a, const timespec& b) noexcept {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool is_unchanged(const struct stat& then, const struct stat& now) noexcept {
  return identity_of(then) == identity_of(now) && same_time(changed(then), changed(now)) &&
         same_time(modified(then), modified(now));
}

// Time stamps come from a clock that stands still for some milliseconds.
bool is_settled(const struct stat& about) noexcept {
  return changed(about).tv_sec + 1 < ::time(nullptr);
}

struct CloseDirectory {
  void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};
using OpenDirectory = std::unique_ptr<DIR, CloseDirectory>;

OpenDirectory open_directory(const std::string& name) {
  UniqueFd handle(uninterrupted(
      [&] { return ::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK); }));
  DIR* const directory = handle ? ::fdopendir(handle.get()) : nullptr;
  if (directory != nullptr) static_cast<void>(handle.release());
  return OpenDirectory(directory);
}

std::string inside(const std::string& directory, std::string_view name) {
  std::string path = directory;
  path += '/';
  path += name;
  return path;
}

}  // namespace

bool is_linker_name(std::string_view name) noexcept {
  return name.starts_with("ld") && name.find(".so", 2) != std::string_view::npos;
}

LinkerNames::Listing LinkerNames::list(const std::string& directory) {
  Listing listing;
  const OpenDirectory open = open_directory(directory);
  // Looked at before it is listed: a change in between shows.
  if (!open || ::fstat(::dirfd(open.get()), &listing.about) != 0) return listing;
  listing.settled = is_settled(listing.about);
  ++listings_;
  for (std::size_t left = kMaxEntries; left > 0; --left) {
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (is_linker_name(name)) listing.linkers.push_back(inside(directory, name));
    const bool directory_like = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
    if (directory_like && name != "." && name != "..") {
      listing.directories.push_back(inside(directory, name));
    }
  }
  return listing;
}

const LinkerNames::Listing* LinkerNames::look_at(const std::string& directory) {
  struct stat about {};
  if (::stat(directory.c_str(), &about) != 0 || !S_ISDIR(about.st_mode)) return nullptr;
  if (known_.size() >= kMaxDirectories) known_.clear();
  Listing& listing = known_[directory];
  if (!listing.settled || !is_unchanged(listing.about, about)) listing = list(directory);
  return &listing;
}

std::vector<std::string> LinkerNames::find() {
  std::vector<std::string> found;
  std::vector<FileIdentity> seen;  // of the roots: /lib is /usr/lib on most systems
  const auto add = [&](const Listing& listing) {
    found.insert(found.end(), listing.linkers.begin(), listing.linkers.end());
  };
  for (const Root& root : kRoots) {
    const Listing* const listing = look_at(system_ + root.name);
    if (listing == nullptr) continue;
    const FileIdentity identity = identity_of(listing->about);
    if (std::find(seen.begin(), seen.end(), identity) != seen.end()) continue;
    seen.push_back(identity);
    add(*listing);
    if (!root.below) continue;
    // A copy: looking on may forget the listing.
    for (const std::string& directory : std::vector(listing->directories)) {
      if (const Listing* const inner = look_at(directory)) add(*inner);
    }
  }
  return found;
}

}  // namespace loom::guard
