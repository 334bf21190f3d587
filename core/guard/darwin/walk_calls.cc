#include "guard/walk_calls.h"

#include <fcntl.h>
#include <sys/attr.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "guard/darwin/open_flags.h"
#include "guard/stored_lookup.h"

namespace loom::guard {
namespace {

// What getattrlistat fills for a name alone (getattrlist(2)): attributes are aligned to 4 bytes,
// and a name has at most 255 characters of UTF-8.
struct NameAttribute {
  std::uint32_t size = 0;  // of all of it
  attrreference_t name{};
  std::array<char, 1'024> text{};
};

class DarwinCalls final : public StoredNameCalls {
 public:
  DarwinCalls() = default;

  [[nodiscard]] int open_root() const override { return ::open("/", kOpenDirectory); }

  [[nodiscard]] int open(int directory, const char* name, OpenAs how) const override {
    return ::openat(directory, name, flags_of(how));
  }

  [[nodiscard]] int status(int handle, struct stat& about) const override {
    return ::fstat(handle, &about);
  }

  [[nodiscard]] int status_of(int directory, const char* name, struct stat& about) const override {
    return ::fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW);
  }

  [[nodiscard]] std::optional<std::string> stored_name(int directory,
                                                       const char* name) const override {
    struct attrlist wanted {};
    wanted.bitmapcount = ATTR_BIT_MAP_COUNT;
    wanted.commonattr = ATTR_CMN_NAME;
    NameAttribute got;
    if (::getattrlistat(directory, name, &wanted, &got, sizeof got, FSOPT_NOFOLLOW) != 0) {
      return std::nullopt;
    }
    // The offset counts from the reference itself, and the length has the NUL in it.
    const char* const from = reinterpret_cast<const char*>(&got.name) + got.name.attr_dataoffset;
    const char* const end = reinterpret_cast<const char*>(&got) + sizeof got;
    if (from < got.text.data() || from >= end) return std::nullopt;
    return std::string(from, ::strnlen(from, static_cast<std::size_t>(end - from)));
  }

  [[nodiscard]] ssize_t read_link(int directory, const char* name, char* text,
                                  std::size_t size) const override {
    return ::readlinkat(directory, name, text, size);
  }

 private:
  [[nodiscard]] static int flags_of(OpenAs how) noexcept {
    switch (how) {
      case OpenAs::kDirectory:
        return kOpenDirectory;
      case OpenAs::kLink:
        return kOpenLink;
      case OpenAs::kFile:
        return kOpenFile;
      case OpenAs::kProgram:
        return kOpenProgram;
    }
    return kOpenFile;
  }
};

}  // namespace

const WalkCalls& system_walk_calls() noexcept {
  static const DarwinCalls calls;
  static const StoredLookup lookup(calls);
  return lookup;
}

}  // namespace loom::guard
