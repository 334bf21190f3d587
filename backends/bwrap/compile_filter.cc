#include "compile_filter.h"

#include <loom/unique_fd.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "errno_text.h"

namespace loom::bwrap {
namespace {

// Not in every libc's <sys/socket.h>.
constexpr std::uint64_t kAfTipc = 30;
constexpr std::uint64_t kAfAlg = 38;
constexpr std::uint64_t kAfVsock = 40;
constexpr std::uint64_t kAfXdp = 44;

constexpr std::uint64_t kLowWord = 0xffffffff;

struct FilterRelease {
  void operator()(void* context) const noexcept { seccomp_release(context); }
};
using FilterContext = std::unique_ptr<void, FilterRelease>;

Error failed(const char* step, int result) {
  return {.code = ErrorCode::kSystem,
          .message = std::string("socket filter: ") + step + ": " + errno_text(-result),
          .sys_errno = -result};
}

Result<std::uint32_t> architecture(std::string_view machine) {
  if (machine == "x86_64") return std::uint32_t{SCMP_ARCH_X86_64};
  if (machine == "aarch64") return std::uint32_t{SCMP_ARCH_AARCH64};
  return fail(ErrorCode::kUnsupported,
              "socket filter: no program for the architecture " + std::string(machine));
}

// An empty program for `arch` alone.
Result<FilterContext> make_context(std::uint32_t arch) {
  FilterContext context(seccomp_init(SCMP_ACT_ALLOW));
  if (!context) return tl::unexpected(failed("begin", -ENOMEM));
  if (int result = seccomp_attr_set(context.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
      result != 0) {
    return tl::unexpected(failed("foreign architectures", result));
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

// One thing a family is refused for: the bits under the mask have exactly this value.
struct Refused {
  std::uint64_t mask;
  std::uint64_t value;
};

// A masked comparison knows equality only, and a plain one looks at the high word too. "The low
// word is not AF_UNIX" is said bit by bit: some bit is not what it is in AF_UNIX.
std::vector<Refused> all_but_unix() {
  std::vector<Refused> refused;
  for (std::uint64_t bit = 1; bit <= kLowWord; bit <<= 1U) {
    refused.push_back({.mask = bit, .value = ~std::uint64_t{AF_UNIX} & bit});
  }
  return refused;
}

std::vector<Refused> unusual_families() {
  std::vector<Refused> refused;
  for (const std::uint64_t family : {std::uint64_t{AF_PACKET}, kAfTipc, kAfAlg, kAfVsock, kAfXdp}) {
    refused.push_back({.mask = kLowWord, .value = family});
  }
  return refused;
}

Result<void> add_rules(void* context, const std::vector<Refused>& families) {
  for (const int call : {SCMP_SYS(socket), SCMP_SYS(socketpair)}) {
    for (const Refused& family : families) {
      const scmp_arg_cmp low_word{
          .arg = 0, .op = SCMP_CMP_MASKED_EQ, .datum_a = family.mask, .datum_b = family.value};
      const int result = seccomp_rule_add_array(context, SCMP_ACT_ERRNO(EPERM), call, 1, &low_word);
      if (result != 0) return tl::unexpected(failed("rule", result));
    }
  }
  return {};
}

// io_uring makes sockets without the calls that the rules judge (IORING_OP_SOCKET, kernel 5.19), so
// a filter that cuts the network without it would be a sieve. ENOSYS: libraries fall back to epoll.
Result<void> refuse_io_uring(void* context) {
  for (const int call :
       {SCMP_SYS(io_uring_setup), SCMP_SYS(io_uring_enter), SCMP_SYS(io_uring_register)}) {
    const int result = seccomp_rule_add(context, SCMP_ACT_ERRNO(ENOSYS), call, 0);
    if (result != 0) return tl::unexpected(failed("rule", result));
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

Result<Bytes> compile_filter(SocketFilter filter, std::string_view machine) {
  LOOM_TRY(const std::uint32_t arch, architecture(machine));
  LOOM_TRY(const FilterContext context, make_context(arch));
  LOOM_TRY_VOID(add_rules(context.get(),
                          filter == SocketFilter::kUnixOnly ? all_but_unix() : unusual_families()));
  if (filter == SocketFilter::kUnixOnly) LOOM_TRY_VOID(refuse_io_uring(context.get()));
  return exported(context.get());
}

Result<Bytes> socket_filter(SocketFilter filter, std::string_view machine) {
  static std::map<std::pair<SocketFilter, std::string>, Bytes> programs;
  const std::pair key(filter, std::string(machine));
  if (const auto known = programs.find(key); known != programs.end()) return known->second;
  LOOM_TRY(Bytes program, compile_filter(filter, machine));
  programs.emplace(key, program);
  return program;
}

}  // namespace loom::bwrap
