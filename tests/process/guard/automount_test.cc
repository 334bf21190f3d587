#include <gtest/gtest.h>
#include <linux/auto_fs4.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <functional>
#include <string>
#include <utility>

#include "guard/freeze.h"
#include "guard/reopen.h"
#include "guard_support.h"
#include "host/path_survey.h"

namespace loom::guard {
namespace {

// An automounter that shows one directory wherever it is asked for something. Lives in a child with
// mounts of its own.
class Automounter {
 public:
  explicit Automounter(std::string shown) : shown_(std::move(shown)) {}

  // false: this machine has none, or lets nobody mount.
  [[nodiscard]] bool mount_at(const std::string& place, const char* kind) {
    int ends[2];
    if (::unshare(CLONE_NEWNS) != 0 || ::pipe2(ends, O_CLOEXEC) != 0) return false;
    requests_.reset(ends[0]);
    const UniqueFd write_end(ends[1]);
    place_ = place;
    const std::string options = "fd=" + std::to_string(ends[1]) +
                                ",pgrp=" + std::to_string(::getpgrp()) + ",minproto=5,maxproto=5," +
                                kind;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
    if (::mount("loom", place.c_str(), "autofs", 0, options.c_str()) != 0) return false;
    root_.reset(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return static_cast<bool>(root_);
  }

  // Answers one request. Processes of this process's group are not automounted for.
  void serve_one() {
    autofs_v5_packet_union packet{};
    if (::read(requests_.get(), &packet, sizeof packet) <= 0) return;
    const bool indirect = packet.hdr.type == autofs_ptype_missing_indirect;
    const std::string place =
        indirect ? place_ + '/' + std::string(packet.v5_packet.name, packet.v5_packet.len) : place_;
    if (indirect) ::mkdir(place.c_str(), 0755);
    ::mount(shown_.c_str(), place.c_str(), nullptr, MS_BIND, nullptr);
    ::ioctl(root_.get(), AUTOFS_IOC_READY, packet.v5_packet.wait_queue_token);
  }

 private:
  std::string shown_;
  std::string place_;
  UniqueFd requests_;
  UniqueFd root_;
};

class AutomountTest : public ::testing::Test {
 protected:
  // Runs `walker` for an automount point at /w/auto. 0: it said yes; 2: there is no automounter.
  [[nodiscard]] int run(const char* kind, const std::function<bool()>& walker) const {
    const pid_t outer = ::fork();
    if (outer == 0) {
      ::setpgid(0, 0);
      ::alarm(20);  // should nobody ask
      Automounter automounter(tree_.at("/o"));
      if (!automounter.mount_at(tree_.at("/w/auto"), kind)) ::_exit(2);
      const pid_t server = ::fork();
      while (server == 0) automounter.serve_one();
      const pid_t inner = ::fork();
      if (inner == 0) {
        ::setpgid(0, 0);
        ::alarm(10);
        ::_exit(walker() ? 0 : 1);
      }
      int status = -1;
      ::waitpid(inner, &status, 0);
      ::kill(server, SIGKILL);
      ::waitpid(server, nullptr, 0);
      ::_exit(status == 0 ? 0 : 1);
    }
    int status = -1;
    EXPECT_EQ(::waitpid(outer, &status, 0), outer);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Tree tree_;
};

// guard 0.8
TEST_F(AutomountTest, APathOfAPolicyIsWhatTheAutomounterPutsThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  tree_.directory("/w/auto");
  tree_.file("/o/inside");
  const FileIdentity directory = tree_.identity("/o");
  const FileIdentity file = tree_.identity("/o/inside");
  const auto looks_right = [&](const PathFact& fact, PathKind kind) {
    return fact.kind == kind && fact.identity == (kind == PathKind::kDirectory ? directory : file);
  };
  const auto frozen = [&](const char* name, PathKind kind) {
    return [&, name, kind] { return looks_right(freeze(path(tree_.at(name))).fact, kind); };
  };
  const auto surveyed = [&](const char* name, PathKind kind) {
    return [&, name, kind] { return looks_right(host::survey_path(path(tree_.at(name))), kind); };
  };

  const int first = run("direct", frozen("/w/auto", PathKind::kDirectory));
  if (first == 2) GTEST_SKIP() << "this machine has no automounter";
  EXPECT_EQ(first, 0);
  EXPECT_EQ(run("direct", frozen("/w/auto/inside", PathKind::kRegular)), 0);
  EXPECT_EQ(run("direct", surveyed("/w/auto", PathKind::kDirectory)), 0);
  EXPECT_EQ(run("direct", surveyed("/w/auto/inside", PathKind::kRegular)), 0);
  for (const auto& [name, kind] : {std::pair("/w/auto/host", PathKind::kDirectory),
                                   std::pair("/w/auto/host/inside", PathKind::kRegular)}) {
    EXPECT_EQ(run("indirect", frozen(name, kind)), 0) << name;
    EXPECT_EQ(run("indirect", surveyed(name, kind)), 0) << name;
  }
}

TEST_F(AutomountTest, WhatWasUnmountedMeanwhileIsReopenedAsWhatItWas) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  tree_.directory("/w/auto");
  const AbsolutePath place = path(tree_.at("/w/auto"));
  const FileIdentity shown = tree_.identity("/o");

  const int reopened = run("direct", [&] {
    return freeze(place).fact.identity == shown && ::umount(place.str().c_str()) == 0 &&
           reopen(place, shown).has_value();
  });

  if (reopened == 2) GTEST_SKIP() << "this machine has no automounter";
  EXPECT_EQ(reopened, 0);
}

TEST_F(AutomountTest, APathThatSomebodyAsksForMakesNobodyMountAtItsEnd) {
  if (::geteuid() != 0) GTEST_SKIP() << "it takes the superuser to mount";
  tree_.directory("/w/auto");
  const FileIdentity point = tree_.identity("/w/auto");
  const FileIdentity shown = tree_.identity("/o");
  const int walked = run("direct", [&] {
    const auto landing = walk(tree_.at("/w/auto"));
    return landing && landing->kind() == ObjectKind::kDirectory && landing->identity() != shown &&
           landing->identity() != point;
  });
  if (walked == 2) GTEST_SKIP() << "this machine has no automounter";
  EXPECT_EQ(walked, 0);
}

}  // namespace
}  // namespace loom::guard
