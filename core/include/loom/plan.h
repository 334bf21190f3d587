#pragma once

#include <loom/facts.h>
#include <loom/policy.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace loom {

// How much must hold before the command may run (docs/policy.md, "demand").
enum class Demand : std::uint8_t {
  kBestEffort,  // run whatever holds; the report says it
  kPlatform,    // everything that this platform can enforce
  kFull,        // everything the policy asks for
};

// The file that a launch runs, as the guard judged it.
struct AdmittedProgram {
  AbsolutePath real;  // no link in it; the same name leads there inside the jail
  FileIdentity identity{};
  friend bool operator==(const AdmittedProgram&, const AdmittedProgram&) = default;
};

struct Command {
  std::vector<std::string> argv{};  // not empty
  // NAME=VALUE, sorted by name; exactly what the command sees
  std::vector<std::string> environment{};
  std::string cwd{};  // absolute, or empty for "/"
  // What is executed, with argv[0] as it is spelled. nullopt: argv[0] is looked up inside the jail,
  // as version 2 has it (and while the first plan of a version-3 launch is made).
  std::optional<AdmittedProgram> program{};
  friend bool operator==(const Command&, const Command&) = default;
};

enum class ExecScope : std::uint8_t { kAny, kDirectory, kFile, kName };

// One rule of the exec table in force, frozen: where the written path led when the launch began.
struct ExecRule {
  ExecScope scope = ExecScope::kFile;
  AbsolutePath real;               // kDirectory, kFile; else the root
  std::string name{};              // kName: as written
  std::string written{};           // as the policy spells it; printed, never compared
  FileIdentity identity{};         // of the object; zero: absent
  FileIdentity parent_identity{};  // of the directory that holds real's last component
  friend bool operator==(const ExecRule&, const ExecRule&) = default;
};

// The exec table in force for a launch, judged and folded by the host. A launch of version 2 has
// none.
struct ExecRules {
  bool restrictive = false;  // programs are confined; otherwise nothing below matters
  bool required = true;      // a table that cannot be enforced refuses; else it is reported
  bool memfd_noexec = true;  // no executable memory files
  // Programs made in the private scratch may run: the table allows everything there.
  bool scratch_runs = false;
  // What holds at its own place. Each is an object that exists, or kAny. All of it must be readable
  // in the jail.
  std::vector<ExecRule> allow{};
  std::vector<ExecRule> deny{};
  // Files that may be executed besides, so that what is allowed can start: linkers, interpreters.
  // Empty while the first plan is made.
  std::vector<AbsolutePath> support{};
  friend bool operator==(const ExecRules&, const ExecRules&) = default;
};

// What plan is asked.
struct PlanRequest {
  Policy policy{};
  Command command{};
  std::optional<ExecRules> exec{};  // nullopt: a launch of version 2, whatever policy.exec says
  Demand demand = Demand::kBestEffort;
  bool deny_unix_sockets = false;  // operator's --unix-sockets deny (D26)
  bool explain_filter = false;     // fill JailPlan::filter
  // operator's --keep-caps, as "CAP_NET_RAW"; usually empty
  std::vector<std::string> keep_capabilities{};
  // The directory that Survey::private_scratch asked for, empty and real.
  std::optional<AbsolutePath> private_scratch{};
  HostFacts facts{};
  std::string nonce{};  // unique within the helper, but for can_warm; for names the run makes
  friend bool operator==(const PlanRequest&, const PlanRequest&) = default;
};

// Classes of mount operations, lowest to highest precedence at one region (docs/jail.md 4).
enum class MountClass : std::uint8_t {
  kRootTmpfs,
  kExecShown,  // read-only: what the exec table admits and no region shows
  kReadable,
  kWritable,  // also a host-path scratch
  kScratchTmpfs,
  kProc,
  kDev,
  kProtected,
  kMountReadWrite,
  kMountReadOnly,
  kPin,  // a directory bound onto itself, writable, so that its name cannot be moved (D11)
};
[[nodiscard]] std::string_view mount_class_name(MountClass mount_class) noexcept;

// How an operation realises its region.
enum class MountForm : std::uint8_t {
  kNone,     // nothing to do: the root tmpfs that is already there
  kBind,     // region onto itself, read-write
  kBindTry,  // the same, skipped when the source is absent
  kReadOnlyBind,
  kReadOnlyBindTry,
  kTmpfs,            // fresh and writable
  kEmptyDirectory,   // fresh, empty and read-only: mask of a directory or of nothing
  kClosedDirectory,  // the same without permissions, so that it cannot be listed either
  kNullDevice,       // /dev/null over it: mask of a file
  kProc,
  kDev,
  kRule,  // nothing is mounted: rules of a profile say the same
};

// One step of building the view. Later operations cover earlier ones.
struct MountOperation {
  MountClass mount_class = MountClass::kReadable;
  MountForm form = MountForm::kNone;
  AbsolutePath region;      // where, links resolved
  AbsolutePath written;     // as the policy spelled it; printed, never compared
  FileIdentity identity{};  // of the object the operation shows or hides; zero: none, or not known
  FileIdentity parent_identity{};  // of the host directory that holds the region's last component
  friend bool operator==(const MountOperation&, const MountOperation&) = default;
};

// A name that must be on the host before the jail is built, and must be gone after its end (D12).
struct MadeName {
  AbsolutePath path;          // real path; what lies above it exists, or is made before it
  bool intermediate = false;  // false: the protected path itself; true: a directory on the way
  friend bool operator==(const MadeName&, const MadeName&) = default;
};

// A decision, complete and comparable. `view` is normative: the guard, the audit and the
// conformance suite replay it.
struct JailPlan {
  std::vector<MountOperation> view{};  // in order of application
  // the launcher's options, for goldens, digest and people (D3)
  std::vector<std::string> canonical_argv{};
  std::string digest{};              // 16 hex digits; a comparison aid within one build
  std::vector<std::string> notes{};  // what a person should know, one sentence each
  // Absent protected paths where the command could make them, and the absent directories above. A
  // parent comes before what lies in it. While the facts do not know all of them as placeholders,
  // the host makes them, surveys again and asks for the plan once more before it renders.
  std::vector<MadeName> to_make{};
  std::vector<std::string> filter{};  // the rules of the system-call filter, as text, if asked
  Bytes backend{};                    // what render and audit of the same backend need; opaque
  friend bool operator==(const JailPlan&, const JailPlan&) = default;
};

// What the plan really gives each path that the policy names, in the report's words.
struct Audit {
  // applied entries, claimed only if the inner stage reported
  std::vector<std::string> when_witnessed{};
  std::vector<std::string> extras{};  // applied entries placed after the inner stage's own (D18)
  std::vector<std::string> when_silent{};  // complete entries ("skip:bwrap: …") if it did not
  std::vector<std::string> always{};   // complete entries that lead every report ("skip:jail: …")
  std::vector<std::string> widened{};  // "mounts: …", without "skip:"; published when witnessed
  bool expects_witness = true;         // false: this launch has no inner stage; silence is normal
  friend bool operator==(const Audit&, const Audit&) = default;
};

}  // namespace loom
