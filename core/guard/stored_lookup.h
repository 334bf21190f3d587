#pragma once

#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "guard/walk_calls.h"

namespace loom::guard {

// How macOS is asked to open a name. None of them follows a link at the end.
enum class OpenAs : std::uint8_t {
  kDirectory,  // for searching: ENOTDIR for what is none, ELOOP or ENOTDIR for a link
  kLink,       // the link itself
  kFile,       // a regular file, for reading; never waits for what has taken its place
  kProgram,    // one that this user may run and not read
};

// The calls that a walk on macOS is made of. They are few, so that a test can put a directory tree
// of its own behind them. Each sets errno as the system call of its name does.
class StoredNameCalls {
 public:
  StoredNameCalls(const StoredNameCalls&) = delete;
  StoredNameCalls& operator=(const StoredNameCalls&) = delete;
  StoredNameCalls(StoredNameCalls&&) = delete;
  StoredNameCalls& operator=(StoredNameCalls&&) = delete;

  [[nodiscard]] virtual int open_root() const = 0;
  [[nodiscard]] virtual int open(int directory, const char* name, OpenAs how) const = 0;
  [[nodiscard]] virtual int status(int handle, struct stat& about) const = 0;
  [[nodiscard]] virtual int status_of(int directory, const char* name,
                                      struct stat& about) const = 0;
  // The name attribute of what the name denotes; nothing where the file system does not say.
  [[nodiscard]] virtual std::optional<std::string> stored_name(int directory,
                                                               const char* name) const = 0;
  [[nodiscard]] virtual ssize_t read_link(int directory, const char* name, char* text,
                                          std::size_t size) const = 0;

 protected:
  StoredNameCalls() = default;
  ~StoredNameCalls() = default;
};

// Walks where a directory finds a name under other spellings too, and where there are no O_PATH
// handles (macOS). A directory is held by a search handle, a link by one of its own, a file by one
// that nothing is read through; a device, a FIFO or a socket is looked at by its name and not
// opened, since opening does something to them.
//
// /tmp, /var and /etc are /private/tmp, /private/var and /private/etc under another name. They are
// links there; were they directories, real paths would say /private all the same.
class StoredLookup final : public WalkCalls {
 public:
  // Borrows the calls.
  explicit StoredLookup(const StoredNameCalls& calls) : calls_(&calls) {}

  [[nodiscard]] LookedUp root() const override;
  [[nodiscard]] LookedUp look_up(int directory, const std::string& name,
                                 bool enter_automounts) const override;
  // Nothing that a walk must not enter, and opening a directory makes an automounter mount.
  [[nodiscard]] FileSystemKind file_system(int /*handle*/) const override {
    return FileSystemKind::kOrdinary;
  }
  [[nodiscard]] ssize_t read_link(int directory, const std::string& name, const LookedUp& link,
                                  char* text, std::size_t size) const override;
  [[nodiscard]] std::string name_in_root(const std::string& name) const override;
  [[nodiscard]] bool has_firmlinks() const noexcept override { return true; }

 private:
  [[nodiscard]] std::optional<LookedUp> try_look_up(int directory, const std::string& name) const;
  [[nodiscard]] std::optional<LookedUp> hold(int directory, const std::string& name,
                                             const struct stat& about) const;
  [[nodiscard]] std::string spelling(int directory, const std::string& name) const;

  const StoredNameCalls* calls_;
};

}  // namespace loom::guard
