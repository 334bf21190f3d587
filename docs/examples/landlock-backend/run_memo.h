#pragma once

#include <loom/features.h>
#include <loom/launch.h>
#include <loom/plan.h>
#include <loom/result.h>

#include <string>
#include <vector>

namespace landlock {

// One path that the policy names, for the audit.
struct Subject {
  loom::PathRole role = loom::PathRole::kReadableRoot;
  loom::AbsolutePath written;
  loom::AbsolutePath real;
};

// What plan leaves for render and audit, besides the view; travels as JailPlan::backend.
struct RunMemo {
  loom::Bytes document{};  // for the inner stage, before the report
  loom::Bytes commit{};    // and after it
  loom::Ceilings ceilings{};
  std::vector<loom::WatchedPath> watched{};
  std::vector<Subject> subjects{};
  std::uint32_t abi = 0;
  bool denies_unix = false;
  bool private_scratch = false;
  bool in_group = false;           // a control group of the run's own ends with it
  std::uint64_t linked_masks = 0;  // protected files with further hard links
};

[[nodiscard]] loom::Bytes encode(const RunMemo& memo);
[[nodiscard]] loom::Result<RunMemo> decode_run_memo(loom::ByteView bytes);

}  // namespace landlock
