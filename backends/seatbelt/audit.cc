#include "audit.h"

#include <string>

#include "run_memo.h"

namespace loom::seatbelt {
namespace {

std::string files_entry(const RunMemo& memo, const std::string& digest) {
  const Counts& counts = memo.counts;
  return "seatbelt-fs:rw=" + std::to_string(counts.writable) +
         ",mask=" + std::to_string(counts.protected_paths) +
         ",bind_ro=" + std::to_string(counts.bind_ro) +
         ",bind_rw=" + std::to_string(counts.bind_rw) +
         ",scratch=" + (memo.private_scratch ? "private-dir" : "path") +
         ",base=" + (memo.shows_whole_host ? "host-view" : "minimal") + ",plan=" + digest;
}

}  // namespace

Result<Audit> audit(const JailPlan& plan) {
  LOOM_TRY(const RunMemo memo, decode_run_memo(plan.backend));
  Audit audit;
  audit.when_witnessed = {"seatbelt", files_entry(memo, plan.digest)};
  if (memo.cuts_network) audit.when_witnessed.emplace_back("seatbelt-net");
  if (memo.confines_programs) {
    audit.extras.push_back("seatbelt-exec:allow=" + std::to_string(memo.counts.exec_allow) +
                           ",deny=" + std::to_string(memo.counts.exec_deny));
  }
  audit.widened = memo.widened;
  audit.extras.insert(audit.extras.end(), memo.remarks.begin(), memo.remarks.end());
  if (memo.lacks_fork_brake) {
    audit.extras.emplace_back("unheld:fork-brake=the kernel holds uid 0 to no limit of processes");
  }
  // A socket's name is no file to the rules about files: whatever the account may connect to.
  if (!memo.denies_unix_sockets) audit.extras.emplace_back("unheld:unix-path");
  audit.when_silent = {
      "skip:seatbelt: no report came from inside the jail, so nothing shows that the profile was "
      "in force"};
  return audit;
}

}  // namespace loom::seatbelt
