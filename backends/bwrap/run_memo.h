#pragma once

#include <loom/facts.h>
#include <loom/features.h>
#include <loom/launch.h>
#include <loom/policy.h>
#include <loom/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "deny_table.h"
#include "kernel_facts.h"

namespace loom::bwrap {

// A path the policy names, as render and audit need it.
struct Subject {
  PathRole role = PathRole::kReadableRoot;
  bool writable = false;  // kMount only: bound read-write
  bool present = false;
  AbsolutePath written;
  AbsolutePath real;
  FileIdentity identity;
  friend bool operator==(const Subject&, const Subject&) = default;
};

// A link of the host that the jail shows too, so that a path works as the policy spells it.
struct HostLink {
  AbsolutePath place;
  std::string target;
  friend bool operator==(const HostLink&, const HostLink&) = default;
};

// A bind whose source has another name than its region: a system root that is a link.
struct MovedSource {
  std::uint64_t index = 0;  // into the view
  AbsolutePath real;
  friend bool operator==(const MovedSource&, const MovedSource&) = default;
};

// What plan leaves for render and audit besides the view: JailPlan::backend.
struct RunMemo {
  bool jailed = false;
  std::string launcher_reason;  // why there is no bubblewrap; not jailed only
  NetworkMode network = NetworkMode::kOff;
  std::optional<std::uint64_t> cpu_s;
  std::optional<std::uint64_t> fsize_bytes;
  Ceilings ceilings;
  std::vector<std::uint64_t> keep_caps;  // capability numbers
  KernelFacts kernel;
  bool deny_unix_sockets = false;
  std::optional<std::uint64_t> descriptor_limit;  // what stage 2 gives back to the command
  std::string machine;
  bool scratch_is_tmpfs = true;
  std::vector<Subject> subjects;       // the policy's own entries, duplicates included
  std::vector<std::uint64_t> dropped;  // indices into the view: tolerant binds without a source
  std::vector<MovedSource> moved;
  std::vector<HostLink> links;
  std::vector<std::string>
      link_remarks;                // "mounts: …" of paths behind links the command can replace
  bool hardened = false;           // a launch of version 3
  bool confines_programs = false;  // its exec table says which programs may run
  bool seals_memory = false;       // and refuses executable memory files
  bool leads = false;  // to mount points by links (mount_steps.h), for which there are words enough
  std::uint64_t linked_masks = 0;  // masked files that have another name somewhere (D14)
  Bytes commit;                    // encoded CommitDocument

  [[nodiscard]] bool cuts_network() const noexcept { return network != NetworkMode::kFull; }
  // Whether the kernel is told which programs may run.
  [[nodiscard]] bool has_exec_rules() const noexcept {
    return confines_programs && kernel.landlock_abi > 0;
  }
  [[nodiscard]] FilterVariant filter_variant() const noexcept {
    return {.cuts_network = cuts_network(),
            .denies_unix = deny_unix_sockets,
            .confines_programs = confines_programs,
            .seals_memory = seals_memory};
  }
  friend bool operator==(const RunMemo&, const RunMemo&) = default;
};

[[nodiscard]] Bytes encode(const RunMemo& memo);
[[nodiscard]] Result<RunMemo> decode_run_memo(ByteView bytes);

}  // namespace loom::bwrap
