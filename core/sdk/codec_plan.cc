#include <loom/codec.h>

#include "fields_facts.h"
#include "fields_policy.h"

namespace loom::archive {

template <>
struct Enumerators<Demand> {
  static constexpr Demand kFirst = Demand::kBestEffort;
  static constexpr Demand kLast = Demand::kFull;
};
template <>
struct Enumerators<MountClass> {
  static constexpr MountClass kFirst = MountClass::kRootTmpfs;
  static constexpr MountClass kLast = MountClass::kPin;
};
template <>
struct Enumerators<MountForm> {
  static constexpr MountForm kFirst = MountForm::kNone;
  static constexpr MountForm kLast = MountForm::kRule;
};

template <>
struct Enumerators<ExecScope> {
  static constexpr ExecScope kFirst = ExecScope::kAny;
  static constexpr ExecScope kLast = ExecScope::kName;
};

template <>
struct Blank<AdmittedProgram> {
  static AdmittedProgram make() { return {.real = AbsolutePath::root(), .identity = {}}; }
};
template <>
struct Fields<AdmittedProgram> {
  static void visit(auto& archive, auto& value) {
    archive("real", value.real);
    archive("identity", value.identity);
  }
};

template <>
struct Blank<ExecRule> {
  static ExecRule make() { return {.real = AbsolutePath::root()}; }
};
template <>
struct Fields<ExecRule> {
  static void visit(auto& archive, auto& value) {
    archive("scope", value.scope);
    archive("real", value.real);
    archive("name", value.name);
    archive("written", value.written);
    archive("identity", value.identity);
    archive("parent_identity", value.parent_identity);
  }
};
template <>
struct Fields<ExecRules> {
  static void visit(auto& archive, auto& value) {
    archive("restrictive", value.restrictive);
    archive("required", value.required);
    archive("memfd_noexec", value.memfd_noexec);
    archive("scratch_runs", value.scratch_runs);
    archive("allow", value.allow);
    archive("deny", value.deny);
    archive("support", value.support);
  }
};

template <>
struct Fields<Command> {
  static void visit(auto& archive, auto& value) {
    archive("argv", value.argv);
    archive("environment", value.environment);
    archive("cwd", value.cwd);
    archive("program", value.program);
  }
};

template <>
struct Fields<PlanRequest> {
  static void visit(auto& archive, auto& value) {
    archive("policy", value.policy);
    archive("command", value.command);
    archive("exec", value.exec);
    archive("demand", value.demand);
    archive("deny_unix_sockets", value.deny_unix_sockets);
    archive("explain_filter", value.explain_filter);
    archive("keep_capabilities", value.keep_capabilities);
    archive("private_scratch", value.private_scratch);
    archive("facts", value.facts);
    archive("nonce", value.nonce);
  }
};

template <>
struct Blank<MountOperation> {
  static MountOperation make() {
    return {.region = AbsolutePath::root(),
            .written = AbsolutePath::root(),
            .identity = {},
            .parent_identity = {}};
  }
};
template <>
struct Fields<MountOperation> {
  static void visit(auto& archive, auto& value) {
    archive("mount_class", value.mount_class);
    archive("form", value.form);
    archive("region", value.region);
    archive("written", value.written);
    archive("identity", value.identity);
    archive("parent_identity", value.parent_identity);
  }
};

template <>
struct Blank<MadeName> {
  static MadeName make() { return {.path = AbsolutePath::root()}; }
};
template <>
struct Fields<MadeName> {
  static void visit(auto& archive, auto& value) {
    archive("path", value.path);
    archive("intermediate", value.intermediate);
  }
};

template <>
struct Fields<JailPlan> {
  static void visit(auto& archive, auto& value) {
    archive("view", value.view);
    archive("canonical_argv", value.canonical_argv);
    archive("digest", value.digest);
    archive("notes", value.notes);
    archive("to_make", value.to_make);
    archive("filter", value.filter);
    archive("backend", value.backend);
  }
};

template <>
struct Fields<Audit> {
  static void visit(auto& archive, auto& value) {
    archive("when_witnessed", value.when_witnessed);
    archive("extras", value.extras);
    archive("when_silent", value.when_silent);
    archive("always", value.always);
    archive("widened", value.widened);
    archive("expects_witness", value.expects_witness);
  }
};

}  // namespace loom::archive

namespace loom {

LOOM_DEFINE_CODEC_(PlanRequest, plan_request, "plan request")
LOOM_DEFINE_CODEC_(JailPlan, jail_plan, "plan")
LOOM_DEFINE_CODEC_(Audit, audit, "audit")

}  // namespace loom
