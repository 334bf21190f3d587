#pragma once

#include <loom/policy.h>

#include "archive.h"

// How a checked policy travels inside a value. Not the policy document, which has its own rules and
// its own reader (core/policy).
namespace loom::archive {

template <>
struct Enumerators<NetworkMode> {
  static constexpr NetworkMode kFirst = NetworkMode::kOff;
  static constexpr NetworkMode kLast = NetworkMode::kFull;
};

template <>
struct Fields<NetworkPolicy> {
  static void visit(auto& archive, auto& value) {
    archive("mode", value.mode);
    archive("allow", value.allow);
    archive("proxy", value.proxy);
  }
};

template <>
struct Fields<Limits> {
  static void visit(auto& archive, auto& value) {
    archive("cpu_s", value.cpu_s);
    archive("wall_s", value.wall_s);
    archive("mem_bytes", value.mem_bytes);
    archive("pids", value.pids);
    archive("fsize_bytes", value.fsize_bytes);
    archive("output_bytes", value.output_bytes);
  }
};

template <>
struct Fields<Scratch> {
  static void visit(auto& archive, auto& value) {
    archive("host_path", value.host_path);
    archive("written", value.written);
  }
};

template <>
struct Blank<ExplicitMount> {
  static ExplicitMount make() { return {.path = AbsolutePath::root()}; }
};
template <>
struct Fields<ExplicitMount> {
  static void visit(auto& archive, auto& value) {
    archive("path", value.path);
    archive("writable", value.writable);
    archive("required", value.required);
  }
};

template <>
struct Enumerators<ExecEntryKind> {
  static constexpr ExecEntryKind kFirst = ExecEntryKind::kDirectory;
  static constexpr ExecEntryKind kLast = ExecEntryKind::kName;
};

template <>
struct Fields<ExecEntry> {
  static void visit(auto& archive, auto& value) {
    archive("kind", value.kind);
    archive("value", value.value);
  }
};
template <>
struct Fields<ExecPolicy> {
  static void visit(auto& archive, auto& value) {
    archive("allow_by_default", value.allow_by_default);
    archive("allow", value.allow);
    archive("deny", value.deny);
    archive("system_support", value.system_support);
    archive("memfd_noexec", value.memfd_noexec);
    archive("required", value.required);
  }
};

template <>
struct Fields<Policy> {
  static void visit(auto& archive, auto& value) {
    archive("version", value.version);
    archive("writable_roots", value.writable_roots);
    archive("readable_roots", value.readable_roots);
    archive("protected_paths", value.protected_paths);
    archive("network", value.network);
    archive("limits", value.limits);
    archive("env_allow", value.env_allow);
    archive("scratch", value.scratch);
    archive("mounts", value.mounts);
    archive("exec", value.exec);
  }
};

}  // namespace loom::archive
