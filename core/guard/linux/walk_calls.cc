#include "guard/walk_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace loom::guard {
namespace {

constexpr int kHandle = O_PATH | O_NOFOLLOW | O_CLOEXEC;

LookedUp failed(int error) { return LookedUp{.error = error}; }

LookedUp looked_up(int fd) {
  if (fd < 0) return failed(errno);
  LookedUp found{.handle = UniqueFd(fd)};
  if (::fstat(fd, &found.about) != 0) return failed(errno);
  return found;
}

class LinuxCalls final : public WalkCalls {
 public:
  LinuxCalls() = default;

  [[nodiscard]] LookedUp root() const override {
    return looked_up(uninterrupted([] { return ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC); }));
  }

  [[nodiscard]] LookedUp look_up(int directory, const std::string& name,
                                 bool enter_automounts) const override {
    LookedUp found = open(directory, name, 0);
    if (!enter_automounts || found.error != 0 || !may_be_automount(found.about)) return found;
    if (file_system_of(found.handle.get()) != FileSystemKind::kAutomount) return found;
    // O_PATH alone does not make an automounter mount; asking for a directory does.
    return open(directory, name, O_DIRECTORY);
  }

  [[nodiscard]] FileSystemKind file_system(int handle) const override {
    return file_system_of(handle);
  }

  // Through the handle, which no name can exchange.
  [[nodiscard]] ssize_t read_link(int /*directory*/, const std::string& /*name*/,
                                  const LookedUp& link, char* text,
                                  std::size_t size) const override {
    return ::readlinkat(link.handle.get(), "", text, size);
  }

 private:
  [[nodiscard]] static LookedUp open(int directory, const std::string& name, int flags) {
    return looked_up(
        uninterrupted([&] { return ::openat(directory, name.c_str(), kHandle | flags); }));
  }
};

}  // namespace

const WalkCalls& system_walk_calls() noexcept {
  static const LinuxCalls calls;
  return calls;
}

}  // namespace loom::guard
