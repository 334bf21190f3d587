#pragma once

#include <loom/plan.h>
#include <loom/policy.h>
#include <sched.h>
#include <sys/mount.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "guard/guard.h"
#include "guard_support.h"

namespace loom::guard {

// A tree, a policy about it, and the view that a launch would have, as the test writes them.
class World {
 public:
  Tree tree;
  Policy policy;
  ExecInForce exec;
  SearchPath search;
  FreezeGrounds grounds;
  std::vector<MountOperation> view = {
      {.mount_class = MountClass::kRootTmpfs, .region = path("/"), .written = path("/")}};

  [[nodiscard]] AbsolutePath at(std::string_view name) const { return path(tree.at(name)); }

  // Names below are the tree's. Each adds to the policy and to the view, in this order.
  void writable(std::string_view name) {
    policy.writable_roots.push_back(at(name));
    show(MountClass::kWritable, MountForm::kBind, name);
  }
  void readable(std::string_view name) {
    policy.readable_roots.push_back(at(name));
    show(MountClass::kReadable, MountForm::kReadOnlyBindTry, name);
  }
  void mounted(std::string_view name, bool writes) {
    policy.mounts.push_back({.path = at(name), .writable = writes});
    show(writes ? MountClass::kMountReadWrite : MountClass::kMountReadOnly,
         writes ? MountForm::kBindTry : MountForm::kReadOnlyBindTry, name);
  }
  // To the policy alone: what a mask would be is the law's.
  void hidden(std::string_view name) { policy.protected_paths.push_back(at(name)); }
  void show(MountClass mount_class, MountForm form, std::string_view name) {
    show_at(mount_class, form, at(name));
  }
  void show_at(MountClass mount_class, MountForm form, const AbsolutePath& region) {
    struct stat about {};
    struct stat parent {};
    const bool known = ::stat(region.str().c_str(), &about) == 0;
    const bool held = ::stat(region.parent().str().c_str(), &parent) == 0;
    view.push_back({.mount_class = mount_class,
                    .form = form,
                    .region = region,
                    .written = region,
                    .identity = known ? identity_of(about) : FileIdentity{},
                    .parent_identity = held ? identity_of(parent) : FileIdentity{}});
  }

  // A layer of its own for each call.
  void table(bool allow_by_default, std::vector<ExecEntry> allow, std::vector<ExecEntry> deny) {
    exec.version = 3;
    exec.layers.push_back({.layer = exec.layers.size(),
                           .table = {.allow_by_default = allow_by_default,
                                     .allow = std::move(allow),
                                     .deny = std::move(deny)}});
  }
  [[nodiscard]] ExecEntry dir(std::string_view name) const {
    return {.kind = ExecEntryKind::kDirectory, .value = tree.at(name)};
  }
  [[nodiscard]] ExecEntry file(std::string_view name) const {
    return {.kind = ExecEntryKind::kFile, .value = tree.at(name)};
  }
  [[nodiscard]] static ExecEntry bare(std::string name) {
    return {.kind = ExecEntryKind::kName, .value = std::move(name)};
  }

  [[nodiscard]] Snapshot snapshot() const {
    return Snapshot::take(policy, exec, search, 0, grounds);
  }

 private:
  static FileIdentity identity_of(const struct stat& about) {
    return {.device = about.st_dev, .inode = about.st_ino};
  }
};

// The reason of a refusal; "admitted" where there is none.
template <class T>
std::string reason(const Judged<T>& judged) {
  return judged ? "admitted" : judged.error().reason;
}

// Runs on a thread that has the machine's mounts for itself. Whether it could.
template <class Act>
[[nodiscard]] bool in_private_mounts(Act act) {
  bool could = false;
  std::thread([&] {
    could = ::unshare(CLONE_NEWNS) == 0 &&
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    if (could) act();
  }).join();
  return could;
}

inline void mount_bind(const std::string& from, const std::string& to) {
  ASSERT_EQ(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr), 0) << to;
}

}  // namespace loom::guard
