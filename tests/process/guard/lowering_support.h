#pragma once

#include <gtest/gtest.h>
#include <loom/plan.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard/exec_objects.h"
#include "guard/freeze_exclusion.h"
#include "guard_support.h"
#include "host/own_mounts.h"
#include "law/table.h"
#include "tests/support/promised.h"

namespace loom::guard {

// What one lowering gave: its objects by the names that they were opened by, in the order given,
// "/w/d/" for a whole directory; or why it was refused.
struct Lowered {
  std::vector<std::string> rules{};
  std::vector<FileIdentity> objects{};  // of `rules`, in the same order
  std::vector<bool> whole{};
  std::uint64_t listed = 0;
  std::uint64_t support = 0;
  std::vector<std::string> doubtful{};
  std::string refusal{};  // the denial's reason; empty: none
  Denial denial{};

  // "/w/a /w/sub/", or the reason in brackets.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& rule : rules) all += (all.empty() ? "" : " ") + rule;
    return refusal.empty() ? all : all + '(' + refusal + ')';
  }
};

// What a lowering is given besides a table and a view.
struct LoweringExtras {
  std::vector<std::string> support{};
  std::vector<ExecRule> frozen{};
  LoweringCeilings ceilings{};
};

// A table, a view and mounts on a tree of the test's own. Every path is one of the tree.
class LoweringTest : public ::testing::Test {
 protected:
  struct Shown {
    MountClass mount_class;
    MountForm form;
    std::string region;
    std::string written{};  // another name that the policy spells; empty: the region
  };

  // "+dir /w", "-file /w/x", "-name sh": X[deny; …] of the specification's cases.
  [[nodiscard]] law::Table table(const std::vector<std::string>& entries,
                                 law::Default otherwise = law::Default::kDeny) const {
    std::vector<law::Allowance> allowances;
    std::vector<law::Exclusion> exclusions;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      add_entry(entries[i], {.layer = 0, .index = i, .written = entries[i]}, allowances,
                exclusions);
    }
    return law::make_table(otherwise, std::move(allowances), std::move(exclusions));
  }

  [[nodiscard]] std::vector<MountOperation> view(const std::vector<Shown>& shown) const {
    std::vector<MountOperation> all = {{.mount_class = MountClass::kRootTmpfs,
                                        .form = MountForm::kNone,
                                        .region = AbsolutePath::root(),
                                        .written = AbsolutePath::root()}};
    for (const Shown& each : shown) {
      const AbsolutePath region = path(tree_.at(each.region));
      struct stat about {};
      const bool exists = ::stat(region.str().c_str(), &about) == 0;
      all.push_back({.mount_class = each.mount_class,
                     .form = each.form,
                     .region = region,
                     .written = each.written.empty() ? region : path(tree_.at(each.written)),
                     .identity = exists
                                     ? FileIdentity{.device = about.st_dev, .inode = about.st_ino}
                                     : FileIdentity{}});
    }
    return all;
  }
  static Shown readable(const std::string& region, const std::string& written = {}) {
    return {MountClass::kReadable, MountForm::kReadOnlyBindTry, region, written};
  }
  static Shown writable(const std::string& region) {
    return {MountClass::kWritable, MountForm::kBind, region};
  }
  static Shown masked(const std::string& region) {
    return {MountClass::kProtected, MountForm::kEmptyDirectory, region};
  }
  static Shown scratch(const std::string& region) {
    return {MountClass::kScratchTmpfs, MountForm::kTmpfs, region};
  }

  // Of this process, as its namespace has them now.
  [[nodiscard]] static std::vector<MountFact> mounts() {
    host::OwnMounts own;
    std::vector<MountFact> facts;
    const auto now = own.now();
    if (!now) return facts;
    for (const host::MountRow& row : (*now)->rows()) {
      facts.push_back({.point = row.point, .root = row.root, .device = row.device});
    }
    return facts;
  }

  using Extras = LoweringExtras;

  [[nodiscard]] Lowered lower(const law::Table& of, const std::vector<Shown>& shown,
                              Extras extras = {}) const {
    std::vector<law::Subject> support;
    for (const std::string& name : extras.support) {
      support.push_back(law::Subject::file(path(tree_.at(name))));
    }
    const law::KernelTable kernel(of, support, {});
    return lower_in(kernel, view(shown), std::move(extras));
  }
  [[nodiscard]] Lowered lower_in(const law::KernelTable& kernel,
                                 const std::vector<MountOperation>& in, Extras extras = {}) const {
    ExecObjects objects(kernel, in, mounts(), std::move(extras.frozen), std::move(extras.ceilings));
    Lowered result;
    for (;;) {
      auto next = objects.next();
      if (!next) {
        result.refusal = next.error().reason;
        result.denial = next.error();
        return result;
      }
      if (next->handle < 0) {
        result.listed = next->listed;
        result.support = next->support;
        result.doubtful = objects.doubtful_roots();
        return result;
      }
      keep(*next, result);
    }
  }

  [[nodiscard]] ExecRule frozen(ExecScope scope, const std::string& name) const {
    return {.scope = scope, .real = path(tree_.at(name)), .identity = tree_.identity(name)};
  }

  Tree tree_{"/var/tmp"};

 private:
  void add_entry(const std::string& text, const law::Origin& origin,
                 std::vector<law::Allowance>& allowances,
                 std::vector<law::Exclusion>& exclusions) const {
    const std::string kind = text.substr(1, text.find(' ') - 1);
    const std::string value = text.substr(text.find(' ') + 1);
    if (kind == "name") {
      exclusions.push_back(law::Exclusion::name(value, origin));
      return;
    }
    const AbsolutePath where = path(tree_.at(value));
    if (text.front() == '+') {
      allowances.push_back(kind == "dir" ? law::Allowance::directory(where, origin)
                                         : law::Allowance::file(where, origin));
      return;
    }
    const law::Place place = freeze_exclusion(where).place;
    exclusions.push_back(kind == "dir" ? law::Exclusion::directory(place, origin)
                                       : law::Exclusion::file(place, origin));
  }

  void keep(const ExecObject& object, Lowered& result) const {
    std::array<char, PATH_MAX> name{};
    const std::string link = "/proc/self/fd/" + std::to_string(object.handle);
    ASSERT_GT(::readlink(link.c_str(), name.data(), name.size() - 1), 0);
    std::string text = name.data();
    if (text.starts_with(tree_.at(""))) text.erase(0, tree_.at("").size());
    struct stat about {};
    ASSERT_EQ(::fstat(object.handle, &about), 0);
    EXPECT_EQ(S_ISDIR(about.st_mode), object.directory) << text;
    result.rules.push_back(object.directory ? text + '/' : text);
    result.objects.push_back({.device = about.st_dev, .inode = about.st_ino});
    result.whole.push_back(object.directory);
  }
};

inline bool bind_mount(const std::string& from, const std::string& onto, unsigned long flags) {
  return ::mount(from.c_str(), onto.c_str(), nullptr, MS_BIND | flags, nullptr) == 0;
}

// A mount namespace of this process's own; an ordinary user takes a user namespace for it.
inline bool take_own_mounts() {
  const std::string user = std::to_string(::geteuid());
  const std::string group = std::to_string(::getegid());
  const bool superuser = ::geteuid() == 0;
  if (::unshare(superuser ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  const bool mapped =
      superuser ||
      (std::ofstream("/proc/self/setgroups") << "deny" << std::flush &&
       std::ofstream("/proc/self/uid_map") << user + ' ' + user + " 1" << std::flush &&
       std::ofstream("/proc/self/gid_map") << group + ' ' + group + " 1" << std::flush);
  return mapped && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

// Runs a body where it may mount, in a process of its own; the body's expectations count here.
// Skips the test where this machine lets nobody mount.
inline void expect_with_own_mounts(const std::function<void()>& body) {
  constexpr int kCannotMount = 42;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (!take_own_mounts()) ::_exit(kCannotMount);
    body();
    ::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kCannotMount) {
    LOOM_SKIP_UNLESS_PROMISED("this user mounts nothing here");
  }
  EXPECT_EQ(status, 0) << "what failed is printed above";
}

}  // namespace loom::guard
