#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "host/mount_table.h"
#include "process_support.h"
#include "tests/support/promised.h"

namespace loom::host {

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// No process of this machine has this number: it is one above the kernel's highest.
inline constexpr const char* kNobody = "4194305";

// A child that waits to be killed.
class WaitingChild {
 public:
  WaitingChild() : pid_(::fork()) {
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::pause();
  }
  ~WaitingChild() { end(); }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  WaitingChild(WaitingChild&&) = delete;
  WaitingChild& operator=(WaitingChild&&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    static_cast<void>(signal_of_its_end());
  }
  // Waits for the end; the signal that caused it.
  int signal_of_its_end() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t pid_;
};

// A directory of this test's own in the machine's real control-group hierarchy, if there is one in
// which we may make groups. A skip says why not; with LOOM_JAIL_MUST_WORK=1, and a hierarchy to be
// had by the superuser, that is a failure.
class RealControlGroupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto table = MountTable::open(::getpid());
    ASSERT_TRUE(table);
    const auto points = table->mount_points_of_type("cgroup2");
    ASSERT_TRUE(points);
    if (points->empty()) GTEST_SKIP() << "no cgroup2 file system is mounted";
    std::string name = points->front() + "/loom-test-" + std::to_string(::getpid()) + "-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) {
      top_ = name;
      return;
    }
    const std::string why = name + ": " + std::strerror(errno);
    if (::getuid() == 0) LOOM_SKIP_UNLESS_PROMISED(why);
    GTEST_SKIP() << why;
  }

  void TearDown() override {
    if (top_.empty()) return;
    // Innermost first; no file is anybody's to remove there.
    std::vector<std::string> groups = {top_};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top_)) {
      if (entry.is_directory()) groups.push_back(entry.path());
    }
    std::sort(groups.rbegin(), groups.rend());
    for (const std::string& group : groups) {
      EXPECT_TRUE(holds_at_last([&] { return ::rmdir(group.c_str()) == 0 || errno == ENOENT; }))
          << group << " stays behind: " << std::strerror(errno);
    }
  }

  [[nodiscard]] std::string at(const std::string& name) const { return top_ + '/' + name; }

  // A process may be reaped a moment before its group counts as empty.
  static bool becomes_empty(const std::string& group) {
    return holds_at_last(
        [&] { return text_of(group + "/cgroup.events").find("populated 0") != std::string::npos; });
  }

  std::string top_;

 private:
  template <class Condition>
  static bool holds_at_last(const Condition& condition) {
    for (int tries = 0; tries < 500; ++tries) {
      if (condition()) return true;
      ::usleep(10'000);
    }
    return false;
  }
};

}  // namespace loom::host
