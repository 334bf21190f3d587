#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/unique_fd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "guard/walk.h"

namespace loom::guard {

inline AbsolutePath path(const std::string& text) { return *AbsolutePath::parse(text); }

// A directory of this test's own, with links resolved, open to every user, with /w and /o in it:
// what a policy would let the command write, and what not. Removed at the end.
class Tree {
 public:
  explicit Tree(const std::filesystem::path& where = std::filesystem::temp_directory_path()) {
    std::string name = where / "loom-guard-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    base_ = std::filesystem::canonical(name);
    std::filesystem::permissions(base_, std::filesystem::perms(0755));
    directory("/w");
    directory("/o");
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  Tree(Tree&&) = delete;
  Tree& operator=(Tree&&) = delete;

  // "/w/f": where that is on this machine.
  [[nodiscard]] std::string at(std::string_view name) const { return base_ + std::string(name); }

  void directory(std::string_view name, mode_t mode = 0755) const {
    std::filesystem::create_directories(at(name));
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0) << name;
  }
  void file(std::string_view name, std::string_view content = "content", mode_t mode = 0644) const {
    std::ofstream(at(name), std::ios::binary) << content;
    ASSERT_EQ(::chmod(at(name).c_str(), mode), 0) << name;
  }
  void link(const std::string& target, std::string_view name) const {
    ASSERT_EQ(::symlink(target.c_str(), at(name).c_str()), 0) << name;
  }
  void fifo(std::string_view name) const { ASSERT_EQ(::mkfifo(at(name).c_str(), 0666), 0) << name; }
  void socket(std::string_view name) const {
    const UniqueFd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = at(name);
    ASSERT_LT(text.size(), sizeof address.sun_path);
    text.copy(address.sun_path, text.size());
    ASSERT_EQ(::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  [[nodiscard]] std::string text(std::string_view name) const {
    std::ifstream file(at(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] bool has(std::string_view name) const {
    struct stat about {};
    return ::lstat(at(name).c_str(), &about) == 0;
  }
  [[nodiscard]] FileIdentity identity(std::string_view name) const {
    struct stat about {};
    EXPECT_EQ(::lstat(at(name).c_str(), &about), 0) << name;
    return FileIdentity{.device = about.st_dev, .inode = about.st_ino};
  }
  [[nodiscard]] std::set<std::string> names(std::string_view name) const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(at(name))) {
      found.insert(entry.path().filename());
    }
    return found;
  }

 private:
  std::string base_;
};

// Where thousands of names cost nothing, on machines that have such a place.
inline std::filesystem::path place_in_memory() {
  return ::access("/dev/shm", W_OK | X_OK) == 0 ? std::filesystem::path("/dev/shm")
                                                : std::filesystem::temp_directory_path();
}

// While it lives, a superuser's test has the rights of nobody in particular. Others have none more
// anyhow.
class OrdinaryUser {
 public:
  OrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(::setegid(kNobody), 0);
      EXPECT_EQ(::seteuid(kNobody), 0);
    }
  }
  ~OrdinaryUser() {
    if (was_root_) {
      EXPECT_EQ(::seteuid(0), 0);
      EXPECT_EQ(::setegid(0), 0);
    }
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  OrdinaryUser(OrdinaryUser&&) = delete;
  OrdinaryUser& operator=(OrdinaryUser&&) = delete;

  static constexpr uid_t kNobody = 65534;

 private:
  bool was_root_ = ::geteuid() == 0;
};

// Ends the test program when something waits that must not.
class Deadline {
 public:
  explicit Deadline(unsigned seconds) { ::alarm(seconds); }
  ~Deadline() { ::alarm(0); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  Deadline(Deadline&&) = delete;
  Deadline& operator=(Deadline&&) = delete;
};

// The reason of a failure by its name; "landed" when there is none.
template <class T>
std::string reason(const WalkResult<T>& result) {
  return result ? "landed" : std::string(walk_failure_name(result.error().reason));
}

inline std::string content_of(const UniqueFd& file) {
  std::array<char, 4096> text;
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  return got < 0 ? "unreadable" : std::string(text.data(), static_cast<std::size_t>(got));
}

inline void write_to(const UniqueFd& file, std::string_view content) {
  ASSERT_EQ(::write(file.get(), content.data(), content.size()),
            static_cast<ssize_t>(content.size()));
}

}  // namespace loom::guard
