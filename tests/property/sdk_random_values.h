#pragma once

#include <loom/backend.h>
#include <loom/report.h>
#include <loom/stage2_control.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace loom::test {

// Draws values of every type that crosses the boundary. Each field is written out here, and not
// taken from the codec's own description, so that a field which the codec forgets is noticed.
class RandomValues {
 public:
  explicit RandomValues(std::uint32_t seed) : engine_(seed) {}

  std::uint64_t below(std::uint64_t limit) {
    return std::uniform_int_distribution<std::uint64_t>(0, limit - 1)(engine_);
  }
  bool coin() { return below(2) == 1; }

  // Small, at the edge of an encoding, or anything.
  std::uint64_t number() {
    switch (below(3)) {
      case 0:
        return below(200);
      case 1:
        return (std::uint64_t{1} << below(64)) - below(2);
      default:
        return below(UINT64_MAX);
    }
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }
  std::int32_t signed32() { return static_cast<std::int32_t>(number()); }

  std::string text() {
    static constexpr const char* kPieces[] = {"a",  "/",    " ",    "\n", "\"", "é",
                                              "日", "\xFF", "\xC3", "%s", ".."};
    std::string out;
    for (std::uint64_t i = below(12); i > 0; --i) out += kPieces[below(std::size(kPieces))];
    if (below(40) == 0) out.append(300, 'x');
    if (below(40) == 0) out.push_back('\0');
    return out;
  }
  Bytes bytes() {
    Bytes out(below(40));
    for (std::byte& byte : out) byte = static_cast<std::byte>(below(256));
    return out;
  }
  AbsolutePath path() {
    std::string out = "/";
    for (std::uint64_t i = below(4); i > 0; --i) {
      out += std::string(1 + below(3), static_cast<char>('a' + below(26))) +
             (coin() ? "\xFF" : "é") + "/";
    }
    return *AbsolutePath::parse(out);
  }

  template <class Draw>
  auto list(Draw draw) {
    std::vector<decltype(draw())> out;
    for (std::uint64_t i = below(20) == 0 ? 20 : below(4); i > 0; --i) out.push_back(draw());
    return out;
  }
  std::vector<std::string> texts() {
    return list([this] { return text(); });
  }
  std::vector<AbsolutePath> paths() {
    return list([this] { return path(); });
  }
  template <class Draw>
  auto maybe(Draw draw) {
    return coin() ? std::optional(draw()) : std::nullopt;
  }
  std::optional<std::uint64_t> limit() {
    return maybe([this] { return number(); });
  }
  template <class E>
  E one_of(E last, std::uint64_t first = 0) {
    return static_cast<E>(first + below(static_cast<std::uint64_t>(last) - first + 1));
  }

  FileIdentity identity() { return {.device = number(), .inode = number()}; }
  PathFact path_fact() {
    return {.path = path(),
            .real = path(),
            .kind = one_of(PathKind::kOther),
            .identity = identity(),
            .parent_identity = identity(),
            .link_count = number(),
            .links = list([this] { return LinkFact{.place = path(), .target = text()}; }),
            .error = signed32()};
  }
  PieceFact piece() {
    return {.present = coin(), .path = text(), .reason = text(), .identity = identity()};
  }
  HostFacts host_facts() {
    return {.os = text(),
            .machine = text(),
            .uid = number32(),
            .gid = number32(),
            .launcher = piece(),
            .stage2 = piece(),
            .ceilings = {.available = coin(), .reason = text()},
            .paths = list([this] { return path_fact(); }),
            .backend = bytes()};
  }
  Policy policy() {
    return {.version = number32(),
            .writable_roots = paths(),
            .readable_roots = paths(),
            .protected_paths = paths(),
            .network = {.mode = one_of(NetworkMode::kFull), .allow = texts(), .proxy = text()},
            .limits = {.cpu_s = limit(),
                       .wall_s = limit(),
                       .mem_bytes = limit(),
                       .pids = limit(),
                       .fsize_bytes = limit(),
                       .output_bytes = limit()},
            .env_allow = texts(),
            .scratch = {.host_path = maybe([this] { return path(); }), .written = text()},
            .mounts = list([this] {
              return ExplicitMount{.path = path(), .writable = coin(), .required = coin()};
            }),
            .exec = maybe([this] { return exec_policy(); })};
  }
  std::vector<ExecEntry> exec_entries() {
    return list(
        [this] { return ExecEntry{.kind = one_of(ExecEntryKind::kName), .value = text()}; });
  }
  ExecPolicy exec_policy() {
    return {.allow_by_default = coin(),
            .allow = exec_entries(),
            .deny = exec_entries(),
            .system_support = coin(),
            .memfd_noexec = coin(),
            .required = coin()};
  }
  std::vector<ExecRule> exec_rule_list() {
    return list([this] {
      return ExecRule{.scope = one_of(ExecScope::kName),
                      .real = path(),
                      .name = text(),
                      .written = text(),
                      .identity = identity(),
                      .parent_identity = identity()};
    });
  }
  ExecRules exec_rules() {
    return {.restrictive = coin(),
            .required = coin(),
            .memfd_noexec = coin(),
            .scratch_runs = coin(),
            .allow = exec_rule_list(),
            .deny = exec_rule_list(),
            .support = paths()};
  }
  Features features() {
    return {.tags = texts(),
            .absent = list([this] { return AbsentFeature{.tag = text(), .reason = text()}; }),
            .degraded = coin(),
            .refusal = text(),
            .exec = one_of(ExecSupport::kRendered),
            .can_warm = coin()};
  }
  SurveyRequest survey_request() { return {.policy = policy(), .facts = host_facts()}; }
  Survey survey() {
    return {.paths = list(
                [this] { return SurveyPath{.path = path(), .role = one_of(PathRole::kPiece)}; }),
            .search_excluded = paths(),
            .scratch_dir = maybe([this] { return text(); }),
            .private_scratch =
                maybe([this] { return PrivateScratch{.parent = path(), .prefix = text()}; })};
  }
  Pieces pieces() { return {.launcher = text(), .stage2 = text()}; }
  ProbeRequest probe_request() {
    return {.phase = one_of(ProbePhase::kBeforePlan), .facts = host_facts()};
  }
  PlanRequest plan_request() {
    return {.policy = policy(),
            .command = {.argv = texts(),
                        .environment = texts(),
                        .cwd = text(),
                        .program = maybe([this] {
                          return AdmittedProgram{.real = path(), .identity = identity()};
                        })},
            .exec = maybe([this] { return exec_rules(); }),
            .demand = one_of(Demand::kFull),
            .keep_capabilities = texts(),
            .private_scratch = maybe([this] { return path(); }),
            .facts = host_facts(),
            .nonce = text()};
  }
  MountOperation mount_operation() {
    return {.mount_class = one_of(MountClass::kPin),
            .form = one_of(MountForm::kRule),
            .region = path(),
            .written = path(),
            .identity = identity(),
            .parent_identity = identity()};
  }
  JailPlan jail_plan() {
    return {.view = list([this] { return mount_operation(); }),
            .canonical_argv = texts(),
            .digest = text(),
            .notes = texts(),
            .backend = bytes()};
  }
  LaunchSpec launch_spec() {
    return {.image = one_of(ImageKind::kCommand),
            .argv = texts(),
            .environment = texts(),
            .cwd = text(),
            .memory_files = list([this] {
              return MemoryFile{.role = text(), .child_number = signed32(), .bytes = bytes()};
            }),
            .handles = list([this] {
              return LentHandle{.role = LentHandle::Role::kStage2, .child_number = signed32()};
            }),
            .stdin_number = signed32(),
            .report_number = signed32(),
            .control_number = signed32(),
            .commit = bytes(),
            .child_limits = list([this] {
              return ChildLimit{.resource = one_of(ChildLimit::Resource::kFileSize),
                                .soft = number(),
                                .hard = number(),
                                .applied_entry = text()};
            }),
            .ceilings = {.memory_bytes = limit(), .pids = limit()},
            .watched = list([this] {
              return WatchedPath{.path = path(), .identity = identity(), .masked = coin()};
            }),
            .jailed_pids = coin(),
            .observe_ms = static_cast<std::uint32_t>(number() & 0xFFFF),
            .wants_exec_rules = coin()};
  }
  Audit audit() {
    return {.when_witnessed = texts(),
            .extras = texts(),
            .when_silent = texts(),
            .always = texts(),
            .widened = texts(),
            .expects_witness = coin()};
  }
  StartResult start_result() {
    return {.entries = texts(), .exec_rules = signed32(), .exec_entry = text()};
  }
  ExecObject exec_object() {
    return {.handle = signed32(), .directory = coin(), .listed = number(), .support = number()};
  }
  ProcessRow process_row() { return {.pid = signed32(), .parent = signed32(), .birth = number()}; }
  TargetsRequest targets_request() {
    return {.rung = one_of(Rung::kSettle),
            .child = signed32(),
            .launched = coin(),
            .table = list([this] { return process_row(); })};
  }
  Targets targets() {
    return {.whole_group = coin(), .processes = list([this] { return process_row(); })};
  }
  TrialResult trial_result() { return {.code = signed32(), .timed_out = coin(), .output = text()}; }
  ControlMessage control_message() {
    return {.kind = one_of(ControlKind::kConfined, 1),
            .step = one_of(Stage2Step::kExecute, 1),
            .error = signed32(),
            .detail = text()};
  }
  CommitDocument commit_document() {
    return {.argv = texts(),
            .environment = texts(),
            .cwd = text(),
            .program = text(),
            .program_identity = identity(),
            .exec_rules = coin(),
            .scratch_runs = coin()};
  }

 private:
  std::mt19937 engine_;
};

}  // namespace loom::test
