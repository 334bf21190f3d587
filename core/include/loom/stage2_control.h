#pragma once

#include <loom/bytes.h>
#include <loom/facts.h>
#include <loom/result.h>

#include <cstdint>
#include <string>
#include <vector>

namespace loom {

// The conversation on the control channel between the host and a stage 2: one end of a
// SOCK_SEQPACKET pair, one message a packet. docs/jail.md, "Prepare, report, commit".
//
//   stage 2 -> host  here     first of all, so that the host looks at the process while it
//                             prepares. May be left out
//   stage 2 -> host  ready    after the report pipe was written and closed. The kernel's
//   credentials
//                             of this packet tell the host the process that becomes the command
//   host -> stage 2  commit   carries one sealed memory file (SCM_RIGHTS) with a CommitDocument
//   and,
//                             where that says so, an exec rule set
//   stage 2 -> host  confined the exec rule set is in force; only where there is one
//   stage 2 -> host  failed   the step that failed, errno, and the thing it failed on; exit 126
//   follows
//
// End of file towards stage 2 means: do not run, exit 126. End of file towards the host after a
// commit means: the command is running (stage 2 makes the socket close-on-exec).
enum class ControlKind : std::uint8_t {
  kReady = 1,
  kCommit = 2,
  kFailed = 3,
  kHere = 4,
  kConfined = 5
};

// Where stage 2 stopped. Steps up to kReport precede the report.
enum class Stage2Step : std::uint8_t {
  kDocument = 1,
  kView,  // a planned mask is not in place (D22)
  kLimits,
  kSession,
  kNoNewPrivs,
  kCapabilities,
  kLandlock,
  kFilter,
  kReport,
  kCommit,     // no commit, or not a readable one
  kExecRules,  // the exec rule set
  kDirectory,  // the working directory (D19)
  kLookup,     // the program is not in any directory of PATH
  kExecute,    // execve refused
};
[[nodiscard]] std::string_view stage2_step_name(Stage2Step step) noexcept;

struct ControlMessage {
  ControlKind kind = ControlKind::kReady;
  Stage2Step step = Stage2Step::kDocument;  // kFailed only
  std::int32_t error = 0;                   // kFailed only: errno, 0 when none
  std::string detail{};                     // kFailed only: the thing; at most 1,024 bytes
  friend bool operator==(const ControlMessage&, const ControlMessage&) = default;
};

inline constexpr std::size_t kMaxControlBytes = 2'048;

[[nodiscard]] Bytes encode(const ControlMessage& message);
[[nodiscard]] Result<ControlMessage> decode_control_message(ByteView bytes);

// What becomes of the process once the commit arrives.
struct CommitDocument {
  std::vector<std::string> argv{};
  std::vector<std::string> environment{};  // NAME=VALUE, exactly what the command sees
  std::string cwd{};                       // absolute, or empty for "/"
  // The file to execute, a real path; argv[0] is then only what the command sees. Empty: argv[0] is
  // looked up.
  std::string program{};
  FileIdentity program_identity{};  // what `program` must lead to
  bool exec_rules = false;          // an exec rule set comes with the commit and is entered
  bool scratch_runs = false;        // it gets a rule for the private /tmp
  friend bool operator==(const CommitDocument&, const CommitDocument&) = default;
};

inline constexpr std::size_t kMaxDocumentBytes = 16'777'216;  // of a prepare or a commit document

[[nodiscard]] Bytes encode(const CommitDocument& document);
[[nodiscard]] Result<CommitDocument> decode_commit_document(ByteView bytes);

}  // namespace loom
