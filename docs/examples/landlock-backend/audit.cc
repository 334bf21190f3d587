#include "audit.h"

#include <loom/utf8.h>
#include <loom/view_replay.h>

#include <string>
#include <utility>

#include "landlock_numbers.h"
#include "run_memo.h"
#include "view.h"

namespace landlock {
namespace {

using loom::MountClass;
using loom::MountOperation;
using loom::PathRole;

struct Counts {
  std::size_t ro = 0;
  std::size_t rw = 0;
  std::size_t mask = 0;
  std::size_t bind_ro = 0;
  std::size_t bind_rw = 0;
};

std::string decided_by(const MountOperation* operation) {
  if (operation == nullptr) return "nothing decides there";
  return std::string(loom::mount_class_name(operation->mount_class)) + " " +
         loom::escaped(operation->region.str(), 512) + " decides there";
}

// Replays the view for each path that the policy names.
class Auditor {
 public:
  explicit Auditor(const std::vector<MountOperation>& view) : replay_(view) {}

  void judge(const Subject& subject) {
    const MountOperation* const operation = replay_.effective(subject.real);
    const bool shown = operation != nullptr && loom::is_host_backed(operation->mount_class);
    const bool writable = operation != nullptr && loom::is_writable(operation->mount_class);
    switch (subject.role) {
      case PathRole::kReadableRoot:
        // At the place of a writable root, writable is what the policy says.
        ++counts_.ro;
        return;
      case PathRole::kWritableRoot:
        if (shown && writable) ++counts_.rw;
        if (shown && !writable) widen("writable root ", subject, " is read-only: ", operation);
        return;
      case PathRole::kProtected:
        if (operation != nullptr && loom::is_masked(operation->mount_class) && !writable) {
          ++counts_.mask;
        } else {
          widen("protected path ", subject, " is open: ", operation);
        }
        return;
      case PathRole::kMount:
        if (shown) ++(writable ? counts_.bind_rw : counts_.bind_ro);
        return;
      case PathRole::kScratch:
      case PathRole::kSystemRoot:
      case PathRole::kPiece:
        return;
    }
  }

  [[nodiscard]] std::string entry(const RunMemo& memo, const std::string& digest) const {
    return "landlock-fs:ro=" + std::to_string(counts_.ro) + ",rw=" + std::to_string(counts_.rw) +
           ",mask=" + std::to_string(counts_.mask) + ",bind_ro=" + std::to_string(counts_.bind_ro) +
           ",bind_rw=" + std::to_string(counts_.bind_rw) +
           ",scratch=" + (memo.private_scratch ? "private-dir" : "path") +
           ",base=minimal,plan=" + digest;
  }
  [[nodiscard]] std::vector<std::string> take_widened() { return std::move(widened_); }

 private:
  void widen(const char* what, const Subject& subject, const char* how,
             const MountOperation* operation) {
    widened_.push_back("mounts: " + (what + loom::escaped(subject.written.str(), 512)) + how +
                       decided_by(operation));
  }

  loom::ViewReplay replay_;
  Counts counts_;
  std::vector<std::string> widened_;
};

// Everything that a jail of bubblewrap's holds and this one does not. It names no clause that this
// backend does hold.
std::string no_namespaces(const RunMemo& memo) {
  std::string text =
      "skip:bwrap: this backend does not use it, so not held: a namespace of any kind; names, "
      "sizes, owners, modes and times of files, which are seen everywhere, and modes, owners and "
      "times are changed wherever the account may";
  if (memo.private_scratch) text += "; a /tmp of its own, which is closed instead";
  return text;
}

// Only the inner stage's two keepers end what a run leaves behind, unless a control group does.
std::string what_may_outlive(const RunMemo& memo) {
  std::string text =
      "unheld:processes=nothing of the kernel's ends with this run: what forks for 20 s as fast as "
      "it is killed gets away";
  if (memo.abi < kScopeAbi) {
    text +=
        ", and so does everything when the command kills the two processes that would end it, for "
        "this kernel does not scope signals";
  }
  return text;
}

std::vector<std::string> extras(const RunMemo& memo) {
  std::vector<std::string> entries = {
      "unheld:pid-namespace=none is made: the command sees the machine's processes and their "
      "arguments, can change the priority of its user's, and neither reads nor traces any but "
      "its own",
      "unheld:ipc-namespace=none is made: System V IPC and message queues of the same user are "
      "shared with the machine's processes",
      "unheld:devices=device nodes in what is granted work as far as the account may use them, and "
      "so does a devtmpfs, devpts or proc that is mounted there"};
  if (!memo.in_group) entries.push_back(what_may_outlive(memo));
  if (memo.linked_masks > 0) entries.push_back("mask-links=" + std::to_string(memo.linked_masks));
  if (!memo.denies_unix) {
    entries.emplace_back(
        "unheld:unix-path=any socket of the account, granted or not, protected ones too");
  }
  if (memo.abi < kReferAbi) entries.emplace_back("unheld:refer");
  if (memo.abi < kTruncateAbi) entries.emplace_back("unheld:truncate");
  if (memo.abi < kDeviceIoctlAbi) entries.emplace_back("unheld:device-ioctl");
  if (memo.abi < kScopeAbi) entries.emplace_back("unheld:signal-scope");
  return entries;
}

}  // namespace

loom::Result<loom::Audit> audit(const loom::JailPlan& plan) {
  LOOM_TRY(const RunMemo memo, decode_run_memo(plan.backend));
  Auditor auditor(plan.view);
  for (const Subject& subject : memo.subjects) auditor.judge(subject);
  loom::Audit audit;
  audit.when_witnessed = {no_namespaces(memo), auditor.entry(memo, view_digest(plan.view))};
  audit.when_silent = {no_namespaces(memo)};
  audit.extras = extras(memo);
  audit.widened = auditor.take_widened();
  return audit;
}

}  // namespace landlock
