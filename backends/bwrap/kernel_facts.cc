#include "kernel_facts.h"

#include <loom/value.h>

#include "value_reading.h"

namespace loom::bwrap {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 17;

}  // namespace

Bytes encode(const KernelFacts& facts) {
  ValueWriter out;
  out.array(kFields);
  out.number(kVersion);
  out.number(facts.landlock_abi);
  out.binary(as_bytes(facts.landlock_reason));
  out.boolean(facts.landlock_unclear);
  out.boolean(facts.seccomp);
  out.binary(as_bytes(facts.seccomp_reason));
  const LauncherFacts& launcher = facts.launcher;
  out.boolean(launcher.tried);
  out.boolean(launcher.by_handle);
  for (const std::string* reason :
       {&launcher.broken, &launcher.no_handles, &launcher.no_pids, &launcher.no_cgroup,
        &launcher.no_devices, &launcher.no_network, &launcher.no_cover, &launcher.no_userns_ban,
        &launcher.no_closed_masks}) {
    out.binary(as_bytes(*reason));
  }
  return out.take();
}

Result<KernelFacts> decode_kernel_facts(ByteView bytes) {
  if (bytes.empty()) {
    return KernelFacts{.landlock_abi = 0,
                       .landlock_reason = "not probed",
                       .landlock_unclear = false,
                       .seccomp = false,
                       .seccomp_reason = "not probed",
                       .launcher = {}};
  }
  LOOM_TRY(const Value value, parse_value(bytes));
  TupleReader in(value, kFields);
  const std::uint64_t version = in.number();
  KernelFacts facts;
  facts.landlock_abi = static_cast<std::uint32_t>(in.number());
  facts.landlock_reason = in.text();
  facts.landlock_unclear = in.boolean();
  facts.seccomp = in.boolean();
  facts.seccomp_reason = in.text();
  LauncherFacts& launcher = facts.launcher;
  launcher.tried = in.boolean();
  launcher.by_handle = in.boolean();
  for (std::string* reason :
       {&launcher.broken, &launcher.no_handles, &launcher.no_pids, &launcher.no_cgroup,
        &launcher.no_devices, &launcher.no_network, &launcher.no_cover, &launcher.no_userns_ban,
        &launcher.no_closed_masks}) {
    *reason = in.text();
  }
  if (!in.ok() || version != kVersion) {
    return fail(ErrorCode::kInvalidRequest,
                "facts.backend: not what this backend's probe returned");
  }
  return facts;
}

}  // namespace loom::bwrap
