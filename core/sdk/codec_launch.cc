#include <loom/codec.h>

#include "fields_facts.h"

namespace loom::archive {

template <>
struct Enumerators<ImageKind> {
  static constexpr ImageKind kFirst = ImageKind::kLauncher;
  static constexpr ImageKind kLast = ImageKind::kCommand;
};
template <>
struct Enumerators<LentHandle::Role> {
  static constexpr LentHandle::Role kFirst = LentHandle::Role::kStage2;
  static constexpr LentHandle::Role kLast = LentHandle::Role::kSource;
};
template <>
struct Enumerators<ChildLimit::Resource> {
  static constexpr ChildLimit::Resource kFirst = ChildLimit::Resource::kCpuSeconds;
  static constexpr ChildLimit::Resource kLast = ChildLimit::Resource::kFileSize;
};
template <>
struct Enumerators<Rung> {
  static constexpr Rung kFirst = Rung::kTerm;
  static constexpr Rung kLast = Rung::kSettle;
};

template <>
struct Fields<MemoryFile> {
  static void visit(auto& archive, auto& value) {
    archive("role", value.role);
    archive("child_number", value.child_number);
    archive("bytes", value.bytes);
  }
};

template <>
struct Fields<LentHandle> {
  static void visit(auto& archive, auto& value) {
    archive("role", value.role);
    archive("child_number", value.child_number);
    archive("path", value.path);
    archive("identity", value.identity);
  }
};

template <>
struct Fields<ChildLimit> {
  static void visit(auto& archive, auto& value) {
    archive("resource", value.resource);
    archive("soft", value.soft);
    archive("hard", value.hard);
    archive("applied_entry", value.applied_entry);
  }
};

template <>
struct Fields<Ceilings> {
  static void visit(auto& archive, auto& value) {
    archive("memory_bytes", value.memory_bytes);
    archive("pids", value.pids);
  }
};

template <>
struct Blank<WatchedPath> {
  static WatchedPath make() { return {.path = AbsolutePath::root(), .identity = {}}; }
};
template <>
struct Fields<WatchedPath> {
  static void visit(auto& archive, auto& value) {
    archive("path", value.path);
    archive("identity", value.identity);
    archive("masked", value.masked);
  }
};

template <>
struct Fields<LaunchSpec> {
  static void visit(auto& archive, auto& value) {
    archive("image", value.image);
    archive("argv", value.argv);
    archive("environment", value.environment);
    archive("cwd", value.cwd);
    archive("memory_files", value.memory_files);
    archive("handles", value.handles);
    archive("stdin_number", value.stdin_number);
    archive("report_number", value.report_number);
    archive("control_number", value.control_number);
    archive("commit", value.commit);
    archive("child_limits", value.child_limits);
    archive("ceilings", value.ceilings);
    archive("watched", value.watched);
    archive("jailed_pids", value.jailed_pids);
    archive("observe_ms", value.observe_ms);
    archive("wants_exec_rules", value.wants_exec_rules);
  }
};

template <>
struct Fields<StartResult> {
  static void visit(auto& archive, auto& value) {
    archive("entries", value.entries);
    archive("exec_rules", value.exec_rules);
    archive("exec_entry", value.exec_entry);
  }
};

template <>
struct Fields<ExecObject> {
  static void visit(auto& archive, auto& value) {
    archive("handle", value.handle);
    archive("directory", value.directory);
    archive("listed", value.listed);
    archive("support", value.support);
  }
};

template <>
struct Fields<ProcessRow> {
  static void visit(auto& archive, auto& value) {
    archive("pid", value.pid);
    archive("parent", value.parent);
    archive("birth", value.birth);
  }
};

template <>
struct Fields<TargetsRequest> {
  static void visit(auto& archive, auto& value) {
    archive("rung", value.rung);
    archive("child", value.child);
    archive("jailed_pids", value.jailed_pids);
    archive("launched", value.launched);
    archive("table", value.table);
  }
};

template <>
struct Fields<Targets> {
  static void visit(auto& archive, auto& value) {
    archive("whole_group", value.whole_group);
    archive("processes", value.processes);
  }
};

template <>
struct Fields<TrialResult> {
  static void visit(auto& archive, auto& value) {
    archive("code", value.code);
    archive("timed_out", value.timed_out);
    archive("output", value.output);
  }
};

}  // namespace loom::archive

namespace loom {

LOOM_DEFINE_CODEC_(LaunchSpec, launch_spec, "launch")
LOOM_DEFINE_CODEC_(StartResult, start_result, "start result")
LOOM_DEFINE_CODEC_(ExecObject, exec_object, "exec object")
LOOM_DEFINE_CODEC_(TargetsRequest, targets_request, "targets request")
LOOM_DEFINE_CODEC_(Targets, targets, "targets")
LOOM_DEFINE_CODEC_(TrialResult, trial_result, "trial result")

}  // namespace loom
