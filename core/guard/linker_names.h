#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::guard {

// Whether a file of this name can be the dynamic linker of a C library: "ld*.so*".
[[nodiscard]] bool is_linker_name(std::string_view name) noexcept;

// What has the name of a dynamic linker in the system's library directories: /lib, /lib64, /lib32,
// the same below /usr, and one level below /lib and /usr/lib. Only names: what they lead to is for
// the asker to see.
//
// Remembers what it listed until a directory's identity or time stamps change. Listing takes a
// millisecond, so a helper keeps one for all its launches.
class LinkerNames {
 public:
  static constexpr std::size_t kMaxDirectories = 4'096;
  static constexpr std::size_t kMaxEntries = 200'000;  // of one directory

  // `system`: what stands before "/lib"; empty for the running system.
  explicit LinkerNames(std::string system = {}) : system_(std::move(system)) {}

  // Absolute names; one object may have several. A directory that cannot be listed has none.
  [[nodiscard]] std::vector<std::string> find();

  // Directories that were listed so far, each time counted.
  [[nodiscard]] std::size_t listings() const noexcept { return listings_; }

 private:
  struct Listing {
    struct stat about {};
    bool settled = false;  // a later change will show in the time stamps
    std::vector<std::string> linkers{};
    std::vector<std::string> directories{};
  };

  // Null where there is no such directory.
  [[nodiscard]] const Listing* look_at(const std::string& directory);
  [[nodiscard]] Listing list(const std::string& directory);

  std::string system_;
  std::map<std::string, Listing> known_;
  std::size_t listings_ = 0;
};

}  // namespace loom::guard
