#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "guard/placeholder.h"
#include "host/held_names.h"
#include "process_support.h"

namespace loom::host {

inline AbsolutePath absolute(const std::string& text) {
  auto path = AbsolutePath::parse(text);
  EXPECT_TRUE(path) << text;
  return path ? *path : AbsolutePath::root();
}

// Zero when nothing is there.
inline FileIdentity identity_at(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return {};
  return {.device = about.st_dev, .inode = about.st_ino};
}

inline mode_t mode_at(const std::string& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}

// What a plan asks for so that `path` is there: the directories on the way that are missing, or
// only placeholders, and itself.
inline std::vector<WantedName> names_for(const std::string& path) {
  std::vector<WantedName> names;
  AbsolutePath at = absolute(path);
  for (bool leaf = true;; leaf = false) {
    const AbsolutePath above = at.parent();
    const int handle = ::open(above.str().c_str(), O_PATH | O_CLOEXEC);
    const UniqueFd directory(handle);
    const bool there = directory && !guard::is_placeholder(directory.get());
    const FileIdentity parent = there ? identity_at(above.str()) : FileIdentity{};
    names.push_back({.path = at, .intermediate = !leaf, .parent = parent});
    if (there || at.is_root()) break;
    at = above;
  }
  std::reverse(names.begin(), names.end());
  return names;
}

inline std::vector<WantedName> names_for_all(const std::vector<std::string>& paths) {
  std::vector<WantedName> names;
  for (const std::string& path : paths) {
    for (WantedName& name : names_for(path)) {
      const auto same = [&](const WantedName& known) { return known.path == name.path; };
      if (std::none_of(names.begin(), names.end(), same)) names.push_back(std::move(name));
    }
  }
  return names;
}

// Every name below `top` with its mode, sorted: "a 1755".
inline std::vector<std::string> listing(const std::string& top) {
  std::vector<std::string> rows;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    std::array<char, 16> mode{};
    std::snprintf(mode.data(), mode.size(), " %04o", mode_at(entry.path()));
    rows.push_back(entry.path().lexically_relative(top).string() + mode.data());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// For its lifetime.
class CreationMask {
 public:
  explicit CreationMask(mode_t mask) : before_(::umask(mask)) {}
  ~CreationMask() { ::umask(before_); }
  CreationMask(const CreationMask&) = delete;
  CreationMask& operator=(const CreationMask&) = delete;
  CreationMask(CreationMask&&) = delete;
  CreationMask& operator=(CreationMask&&) = delete;

 private:
  mode_t before_;
};

}  // namespace loom::host
