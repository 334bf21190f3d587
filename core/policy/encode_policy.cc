#include <loom/value.h>

#include "policy/decode_policy.h"

namespace loom {
namespace {

void write_paths(ValueWriter& out, std::string_view key, const std::vector<AbsolutePath>& paths) {
  out.text(key);
  out.array(paths.size());
  for (const AbsolutePath& path : paths) out.name(path.str());
}

void write_strings(ValueWriter& out, std::string_view key,
                   const std::vector<std::string>& strings) {
  out.text(key);
  out.array(strings.size());
  for (const std::string& text : strings) out.name(text);
}

void write_limit(ValueWriter& out, std::string_view key, std::optional<std::uint64_t> limit) {
  out.text(key);
  out.number(limit.value_or(0));
}

void write_limits(ValueWriter& out, const Limits& limits) {
  out.text("limits");
  out.map(6);
  write_limit(out, "cpu_s", limits.cpu_s);
  write_limit(out, "fsize_bytes", limits.fsize_bytes);
  write_limit(out, "mem_bytes", limits.mem_bytes);
  write_limit(out, "output_bytes", limits.output_bytes);
  write_limit(out, "pids", limits.pids);
  write_limit(out, "wall_s", limits.wall_s);
}

void write_mounts(ValueWriter& out, const std::vector<ExplicitMount>& mounts) {
  out.text("mounts");
  out.array(mounts.size());
  for (const ExplicitMount& mount : mounts) {
    out.map(3);
    out.text("access");
    out.text(mount.writable ? "rw" : "ro");
    out.text("path");
    out.name(mount.path.str());
    out.text("required");
    out.boolean(mount.required);
  }
}

void write_network(ValueWriter& out, const NetworkPolicy& network) {
  out.text("network");
  if (network.mode != NetworkMode::kProxy) {
    out.map(1);
    out.text("mode");
    out.text(network.mode == NetworkMode::kOff ? "off" : "full");
    return;
  }
  out.map(3);
  write_strings(out, "allow", network.allow);
  out.text("mode");
  out.text("proxy");
  out.text("proxy");
  out.name(network.proxy);
}

void write_scratch(ValueWriter& out, const Scratch& scratch) {
  out.text("scratch");
  if (scratch.is_tmpfs()) {
    out.text("tmpfs");
  } else {
    out.name(scratch.written.empty() ? scratch.host_path->str() : scratch.written);
  }
}

void write_entries(ValueWriter& out, std::string_view key, const std::vector<ExecEntry>& entries) {
  out.text(key);
  out.array(entries.size());
  for (const ExecEntry& entry : entries) {
    out.map(2);
    out.text("kind");
    out.text(exec_entry_kind_name(entry.kind));
    out.text("value");
    out.name(entry.value);
  }
}

void write_exec(ValueWriter& out, const std::optional<ExecPolicy>& exec) {
  out.text("exec");
  if (!exec) {
    out.nil();
    return;
  }
  out.map(6);
  write_entries(out, "allow", exec->allow);
  out.text("default");
  out.text(exec->allow_by_default ? "allow" : "deny");
  write_entries(out, "deny", exec->deny);
  out.text("memfd");
  out.text(exec->memfd_noexec ? "noexec" : "any");
  out.text("required");
  out.boolean(exec->required);
  out.text("support");
  out.text(exec->system_support ? "system" : "none");
}

}  // namespace

Bytes encode_policy(const Policy& policy) {
  const bool has_exec = policy.version > 2;
  ValueWriter out;
  out.map(has_exec ? 10 : 9);
  write_strings(out, "env_allow", policy.env_allow);
  if (has_exec) write_exec(out, policy.exec);
  write_limits(out, policy.limits);
  write_mounts(out, policy.mounts);
  write_network(out, policy.network);
  write_paths(out, "protected", policy.protected_paths);
  write_paths(out, "readable_roots", policy.readable_roots);
  write_scratch(out, policy.scratch);
  out.text("v");
  out.number(policy.version);
  write_paths(out, "writable_roots", policy.writable_roots);
  return out.take();
}

}  // namespace loom
