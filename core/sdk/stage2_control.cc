#include <loom/stage2_control.h>

#include "archive.h"
#include "fields_facts.h"

namespace loom::archive {

template <>
struct Enumerators<ControlKind> {
  static constexpr ControlKind kFirst = ControlKind::kReady;
  static constexpr ControlKind kLast = ControlKind::kConfined;
};
template <>
struct Enumerators<Stage2Step> {
  static constexpr Stage2Step kFirst = Stage2Step::kDocument;
  static constexpr Stage2Step kLast = Stage2Step::kExecute;
};

template <>
struct Fields<ControlMessage> {
  static void visit(auto& archive, auto& value) {
    archive("kind", value.kind);
    archive("step", value.step);
    archive("error", value.error);
    archive("detail", value.detail);
  }
};

template <>
struct Fields<CommitDocument> {
  static void visit(auto& archive, auto& value) {
    archive("argv", value.argv);
    archive("environment", value.environment);
    archive("cwd", value.cwd);
    archive("program", value.program);
    archive("program_identity", value.program_identity);
    archive("exec_rules", value.exec_rules);
    archive("scratch_runs", value.scratch_runs);
  }
};

}  // namespace loom::archive

namespace loom {
namespace {

constexpr std::size_t kMaxDetailBytes = 1'024;

Result<void> check_size(ByteView bytes, std::size_t max_bytes, std::string_view noun) {
  if (bytes.size() <= max_bytes) return {};
  return fail(ErrorCode::kInvalidRequest,
              std::string(noun) + ": longer than " + std::to_string(max_bytes) + " bytes");
}

}  // namespace

std::string_view stage2_step_name(Stage2Step step) noexcept {
  switch (step) {
    case Stage2Step::kDocument:
      return "document";
    case Stage2Step::kView:
      return "view";
    case Stage2Step::kLimits:
      return "limits";
    case Stage2Step::kSession:
      return "session";
    case Stage2Step::kNoNewPrivs:
      return "no-new-privs";
    case Stage2Step::kCapabilities:
      return "capabilities";
    case Stage2Step::kLandlock:
      return "landlock";
    case Stage2Step::kFilter:
      return "filter";
    case Stage2Step::kReport:
      return "report";
    case Stage2Step::kCommit:
      return "commit";
    case Stage2Step::kExecRules:
      return "exec-rules";
    case Stage2Step::kDirectory:
      return "directory";
    case Stage2Step::kLookup:
      return "lookup";
    case Stage2Step::kExecute:
      return "execute";
  }
  return "unknown step";
}

Bytes encode(const ControlMessage& message) {
  if (message.detail.size() <= kMaxDetailBytes) return archive::encode_value(message);
  ControlMessage shortened = message;
  shortened.detail.resize(kMaxDetailBytes);
  return archive::encode_value(shortened);
}

Result<ControlMessage> decode_control_message(ByteView bytes) {
  LOOM_TRY_VOID(check_size(bytes, kMaxControlBytes, "control message"));
  LOOM_TRY(auto message, archive::decode_value<ControlMessage>(bytes, "control message"));
  if (message.detail.size() > kMaxDetailBytes) {
    return fail(ErrorCode::kInvalidRequest, "control message: detail: too long");
  }
  return message;
}

Bytes encode(const CommitDocument& document) { return archive::encode_value(document); }

Result<CommitDocument> decode_commit_document(ByteView bytes) {
  LOOM_TRY_VOID(check_size(bytes, kMaxDocumentBytes, "commit document"));
  return archive::decode_value<CommitDocument>(bytes, "commit document");
}

}  // namespace loom
