#pragma once

#include <loom/bytes.h>
#include <loom/facts.h>
#include <loom/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loom::bwrap {

// One mask, pin or read-only bind of the plan that stage 2 must find in place before it reports
// (D22).
struct ViewCheck {
  enum class Form : std::uint8_t {
    kEmptyDirectory,   // the root of a read-only tmpfs
    kClosedDirectory,  // the same, with mode 0
    kNullDevice,       // character device 1:3 on a read-only mount
    kPin,              // a directory of `identity` that is the root of a mount
    kReadOnlyBind,     // an object of `identity` that is the root of a read-only mount
  };

  std::string path;  // where it lies, links resolved
  Form form = Form::kEmptyDirectory;
  // Of the host directory that the plan shows around it. Zero: the plan shows none, so the parent
  // must lie on one of the document's own_tmpfs.
  FileIdentity parent_identity{};
  FileIdentity identity{};  // kPin and kReadOnlyBind only; else zero
  friend bool operator==(const ViewCheck&, const ViewCheck&) = default;
};

// One path_beneath rule.
struct LandlockRule {
  std::string path;
  std::uint64_t access =
      0;  // LANDLOCK_ACCESS_FS_*; masked down to file rights when the path is no directory
  bool required = false;  // true: an absent path is fatal. false: it is passed over
  friend bool operator==(const LandlockRule&, const LandlockRule&) = default;
};

// Everything stage 2 puts in force before it reports. Depends on the policy and the machine only,
// never on the command, so that a jail can be prepared before its command is known.
struct PrepareDocument {
  bool jailed = false;  // inside bubblewrap: check the view, lead a session of its own
  // The jail has the host's process table: no session of its own, so that the process group finds
  // every process, and Landlock must hold. jailed only
  bool shares_pids = false;
  bool root_read_only = false;  // "/" must be a read-only mount; jailed only
  std::vector<ViewCheck> view;  // jailed only
  std::vector<std::string>
      own_tmpfs;  // where the plan mounts a tmpfs of the jail's own; jailed only
  std::optional<std::uint64_t> cpu_soft;          // seconds; both or neither
  std::optional<std::uint64_t> cpu_hard;          // seconds
  std::optional<std::uint64_t> fsize;             // bytes, soft and hard
  std::optional<std::uint64_t> descriptor_limit;  // soft RLIMIT_NOFILE to give back
  std::vector<std::uint32_t> keep_caps;           // capability numbers; usually empty
  std::uint32_t landlock_abi = 0;                 // the kernel's number; 0: not available, then
  std::string landlock_reason;                    // … this says why, and must
  std::uint64_t landlock_handled_fs = 0;          // LANDLOCK_ACCESS_FS_*
  std::uint64_t landlock_scoped = 0;              // LANDLOCK_SCOPE_*
  std::vector<LandlockRule> landlock_rules;
  bool filter_wanted = false;  // an empty `filter` is then reported as skipped
  std::string filter_tag;      // "seccomp-net", or empty when the filter cuts no network
  Bytes filter;                // array of struct sock_filter, native byte order
  bool filter_denies = false;  // the deny-set is in it: claimed as "seccomp-deny"
  bool denies_unix = false;    // so is socket(AF_UNIX)
  std::string filter_reason;   // why a wanted filter is empty
  std::string proxy_reason;    // not empty: reported as "network-proxy: …", skipped
  friend bool operator==(const PrepareDocument&, const PrepareDocument&) = default;
};

inline constexpr std::uint32_t kPrepareVersion = 1;

// One msgpack map: "v" first, then one key per field, all present.
[[nodiscard]] Bytes encode(const PrepareDocument& document);

// Strict: an unknown version, key or form, a missing key or a wrong type is kInvalidRequest and
// names the key. So is a document that contradicts itself: half a CPU limit, Landlock or a wanted
// filter absent without a reason, a filter tag without a filter, a filter that is no whole number
// of instructions.
[[nodiscard]] Result<PrepareDocument> decode_prepare_document(ByteView bytes);

}  // namespace loom::bwrap
