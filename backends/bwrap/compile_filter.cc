#include "compile_filter.h"

#include <loom/unique_fd.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "errno_text.h"

namespace loom::bwrap {
namespace {

struct FilterRelease {
  void operator()(void* context) const noexcept { seccomp_release(context); }
};
using FilterContext = std::unique_ptr<void, FilterRelease>;

Error failed(const char* step, int result) {
  return {.code = ErrorCode::kSystem,
          .message = std::string("system-call filter: ") + step + ": " + errno_text(-result),
          .sys_errno = -result};
}

Result<std::uint32_t> architecture(std::string_view machine) {
  if (machine == "x86_64") return std::uint32_t{SCMP_ARCH_X86_64};
  if (machine == "aarch64") return std::uint32_t{SCMP_ARCH_AARCH64};
  return fail(ErrorCode::kUnsupported,
              "system-call filter: no program for the architecture " + std::string(machine));
}

// An empty program for `arch` alone, to be made as a binary tree: the kernel runs it for every
// number there is when it is loaded, and then for each call that a row looks into.
Result<FilterContext> make_context(std::uint32_t arch) {
  static constexpr std::uint32_t kBinaryTree = 2;
  FilterContext context(seccomp_init(SCMP_ACT_ALLOW));
  if (!context) return tl::unexpected(failed("begin", -ENOMEM));
  if (int result = seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree);
      result != 0) {
    return tl::unexpected(failed("binary tree", result));
  }
  if (arch == seccomp_arch_native()) return context;
  if (int result = seccomp_arch_add(context.get(), arch); result != 0) {
    return tl::unexpected(failed("architecture", result));
  }
  if (int result = seccomp_arch_remove(context.get(), seccomp_arch_native()); result != 0) {
    return tl::unexpected(failed("architecture", result));
  }
  return context;
}

std::uint32_t action_of(DenyAction action) noexcept {
  switch (action) {
    case DenyAction::kPermission:
      return SCMP_ACT_ERRNO(EPERM);
    case DenyAction::kAccess:
      return SCMP_ACT_ERRNO(EACCES);
    case DenyAction::kNoCall:
      return SCMP_ACT_ERRNO(ENOSYS);
    case DenyAction::kKill:
      break;
  }
  return SCMP_ACT_KILL_PROCESS;
}

scmp_arg_cmp masked(unsigned argument, std::uint32_t mask, std::uint32_t bits) noexcept {
  return {.arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = bits};
}

// The comparisons of which any one refuses. A masked comparison knows equality only, and a plain
// one looks at the high word too: so "is not this value" is said bit by bit, some bit is not what
// it is in the value.
std::vector<scmp_arg_cmp> comparisons(const ArgumentTest& test) {
  std::vector<scmp_arg_cmp> any;
  for (const ArgumentValue& value : test.values) {
    if (!test.inverted) {
      any.push_back(masked(test.argument, test.mask, value.bits));
      continue;
    }
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1U) {
      if ((test.mask & bit) != 0) any.push_back(masked(test.argument, bit, ~value.bits & bit));
    }
  }
  return any;
}

Result<void> refuse_call(void* context, int number, const DenyRow& row) {
  const std::uint32_t action = action_of(row.action);
  if (!row.test) {
    const int result = seccomp_rule_add(context, action, number, 0);
    if (result != 0) return tl::unexpected(failed("rule", result));
    return {};
  }
  for (const scmp_arg_cmp& comparison : comparisons(*row.test)) {
    const int result = seccomp_rule_add_array(context, action, number, 1, &comparison);
    if (result != 0) return tl::unexpected(failed("rule", result));
  }
  return {};
}

// libseccomp takes the running machine's numbers and finds those of another by name.
Result<int> number_of(const DeniedCall& call) {
  if (call.number != DeniedCall::kByName) return call.number;
  const int number = seccomp_syscall_resolve_name(std::string(call.name).c_str());
  if (number != __NR_SCMP_ERROR) return number;
  return fail(ErrorCode::kSystem, "system-call filter: no number for " + std::string(call.name));
}

Result<void> add_row(void* context, const DenyRow& row, bool native) {
  if (row.calls.empty()) {
    const int result = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, action_of(row.action));
    if (result != 0) return tl::unexpected(failed("foreign architectures", result));
  }
  for (const DeniedCall& call : row.calls) {
    const bool nameless = call.number != DeniedCall::kByName;
    if (nameless && !native) continue;
    LOOM_TRY(const int number, number_of(call));
    if (auto added = refuse_call(context, number, row); !added) return added;
  }
  return {};
}

// libseccomp 2.5 can hand out its program through a descriptor only.
Result<Bytes> exported(void* context) {
  const UniqueFd file(::memfd_create("loom-filter", MFD_CLOEXEC));
  if (!file) return tl::unexpected(failed("memory file", -errno));
  if (const int result = seccomp_export_bpf(context, file.get()); result != 0) {
    return tl::unexpected(failed("export", result));
  }
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size < 0) return tl::unexpected(failed("size", -errno));
  Bytes program(static_cast<std::size_t>(size));
  const ssize_t got = ::pread(file.get(), program.data(), program.size(), 0);
  if (got != size) return tl::unexpected(failed("read", got < 0 ? -errno : -EIO));
  return program;
}

}  // namespace

Result<Bytes> compile_filter(const FilterVariant& variant, std::string_view machine) {
  LOOM_TRY(const std::uint32_t arch, architecture(machine));
  LOOM_TRY(const FilterContext context, make_context(arch));
  const bool native = arch == seccomp_arch_native();
  for (const DenyRow& row : deny_table()) {
    if (!is_in_force(row, variant)) continue;
    if (auto added = add_row(context.get(), row, native); !added) {
      return tl::unexpected(std::move(added).error());
    }
  }
  return exported(context.get());
}

Result<void> require_filterable(std::string_view machine) {
  LOOM_TRY_VOID(architecture(machine));
  return {};
}

Result<Bytes> remembered_filter(const FilterVariant& variant, std::string_view machine) {
  static std::map<std::tuple<bool, bool, bool, bool, std::string>, Bytes> programs;
  const std::tuple key(variant.cuts_network, variant.denies_unix, variant.confines_programs,
                       variant.seals_memory, std::string(machine));
  if (const auto known = programs.find(key); known != programs.end()) return known->second;
  LOOM_TRY(Bytes program, compile_filter(variant, machine));
  programs.emplace(key, program);
  return program;
}

}  // namespace loom::bwrap
