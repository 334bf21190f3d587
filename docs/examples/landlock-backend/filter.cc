#include "filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace landlock {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kMachine = "x86_64";
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::string_view kMachine = "aarch64";
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "which calls have which numbers is known for x86_64 and aarch64"
#endif

enum class When : std::uint8_t { kAlways, kNetworkCut, kNetworkOpen, kUnixDenied, kAnySocketCut };
enum class Test : std::uint8_t { kAnyArguments, kIsOneOf, kIsNoneOf };

struct Row {
  int number;
  const char* name;
  std::uint32_t answer;  // errno
  When when = When::kAlways;
  Test test = Test::kAnyArguments;
  unsigned argument = 0;
  std::uint32_t mask = 0;
  std::array<std::uint32_t, 5> values{};
  std::size_t value_count = 0;
};

constexpr std::uint32_t kLowWord = 0xffffffff;

constexpr Row always(int number, const char* name, std::uint32_t answer = EPERM) {
  return {.number = number, .name = name, .answer = answer};
}

constexpr Row tested(Row row, Test test, unsigned argument, std::uint32_t mask,
                     std::initializer_list<std::uint32_t> values) {
  row.test = test;
  row.argument = argument;
  row.mask = mask;
  for (const std::uint32_t value : values) row.values[row.value_count++] = value;
  return row;
}

constexpr Row only(When when, Row row) {
  row.when = when;
  return row;
}

constexpr std::uint32_t kNewUser = 0x10000000;  // CLONE_NEWUSER
constexpr std::uint32_t kTypeMask = 0x0f;       // SOCK_TYPE_MASK of the kernel's <linux/net.h>

// Rows of one call stand together. What each is refused for is told in docs/jail.md 10 of
// loom-exec, whose table this one follows: "seccomp-deny" promises those calls.
constexpr auto kRows = std::to_array<Row>({
    always(SYS_mount, "mount"),
    always(SYS_umount2, "umount2"),
    always(SYS_pivot_root, "pivot_root"),
    always(429, "move_mount"),
    always(428, "open_tree"),
    always(467, "open_tree_attr"),
    always(430, "fsopen"),
    always(432, "fsmount"),
    always(431, "fsconfig"),
    always(433, "fspick"),
    always(442, "mount_setattr"),
    always(SYS_setns, "setns"),
    tested(always(SYS_unshare, "unshare"), Test::kIsOneOf, 0, kNewUser, {kNewUser}),
    tested(always(SYS_clone, "clone"), Test::kIsOneOf, 0, kNewUser, {kNewUser}),
    // Its flags lie in memory, unseen; libraries fall back to clone.
    always(435, "clone3", ENOSYS),
    // TIOCSTI and TIOCLINUX type into a terminal.
    tested(always(SYS_ioctl, "ioctl"), Test::kIsOneOf, 1, kLowWord, {0x5412, 0x541c}),
    always(SYS_bpf, "bpf"),
    always(SYS_perf_event_open, "perf_event_open"),
    always(SYS_kexec_load, "kexec_load"),
    always(SYS_kexec_file_load, "kexec_file_load"),
    always(SYS_reboot, "reboot"),
    always(SYS_swapon, "swapon"),
    always(SYS_swapoff, "swapoff"),
    always(SYS_init_module, "init_module"),
    always(SYS_finit_module, "finit_module"),
    always(SYS_delete_module, "delete_module"),
    always(SYS_keyctl, "keyctl"),
    always(SYS_add_key, "add_key"),
    always(SYS_request_key, "request_key"),
    always(SYS_userfaultfd, "userfaultfd"),
    always(SYS_open_by_handle_at, "open_by_handle_at"),
    // Where no namespace hides them, the limits of the helper's own processes are in reach.
    tested(always(SYS_prlimit64, "prlimit64"), Test::kIsNoneOf, 0, kLowWord, {0}),
    // Extended attributes: Landlock has no right for them, and these go by a path, protected or
    // not, or change what is open for reading only. The answer is that of a file system without
    // any, which programs cope with; cp gives up over another. Reading by a descriptor is left:
    // whoever could open the file may read it.
    always(SYS_setxattr, "setxattr", EOPNOTSUPP),
    always(SYS_lsetxattr, "lsetxattr", EOPNOTSUPP),
    always(SYS_fsetxattr, "fsetxattr", EOPNOTSUPP),
    always(463, "setxattrat", EOPNOTSUPP),
    always(SYS_getxattr, "getxattr", EOPNOTSUPP),
    always(SYS_lgetxattr, "lgetxattr", EOPNOTSUPP),
    always(464, "getxattrat", EOPNOTSUPP),
    always(SYS_listxattr, "listxattr", EOPNOTSUPP),
    always(SYS_llistxattr, "llistxattr", EOPNOTSUPP),
    always(465, "listxattrat", EOPNOTSUPP),
    always(SYS_removexattr, "removexattr", EOPNOTSUPP),
    always(SYS_lremovexattr, "lremovexattr", EOPNOTSUPP),
    always(SYS_fremovexattr, "fremovexattr", EOPNOTSUPP),
    always(466, "removexattrat", EOPNOTSUPP),
    always(468, "file_getattr", EOPNOTSUPP),
    always(469, "file_setattr", EOPNOTSUPP),
    // Rings make sockets past the rows below; libraries fall back to epoll.
    only(When::kAnySocketCut, always(425, "io_uring_setup", ENOSYS)),
    only(When::kAnySocketCut, always(426, "io_uring_enter", ENOSYS)),
    only(When::kAnySocketCut, always(427, "io_uring_register", ENOSYS)),
    only(When::kNetworkCut,
         tested(always(SYS_socket, "socket"), Test::kIsNoneOf, 0, kLowWord, {AF_UNIX})),
    // AF_PACKET, AF_TIPC, AF_ALG, AF_VSOCK, AF_XDP: to the kernel, the wire or a hypervisor.
    only(When::kNetworkOpen,
         tested(always(SYS_socket, "socket"), Test::kIsOneOf, 0, kLowWord, {17, 30, 38, 40, 44})),
    only(When::kUnixDenied,
         tested(always(SYS_socket, "socket"), Test::kIsOneOf, 0, kLowWord, {AF_UNIX})),
    only(When::kNetworkCut,
         tested(always(SYS_socketpair, "socketpair"), Test::kIsNoneOf, 0, kLowWord, {AF_UNIX})),
    // One end of a datagram pair sends to any pathname socket, and a raw one is made a datagram.
    only(When::kUnixDenied, tested(always(SYS_socketpair, "socketpair"), Test::kIsOneOf, 1,
                                   kTypeMask, {SOCK_DGRAM, SOCK_RAW})),
});

const char* error_name(std::uint32_t error) {
  switch (error) {
    case ENOSYS:
      return "ENOSYS";
    case EOPNOTSUPP:
      return "EOPNOTSUPP";
    default:
      return "EPERM";
  }
}

bool is_in_force(const Row& row, const FilterChoice& choice) {
  switch (row.when) {
    case When::kAlways:
      return true;
    case When::kNetworkCut:
      return choice.cuts_network;
    case When::kNetworkOpen:
      return !choice.cuts_network;
    case When::kUnixDenied:
      return choice.denies_unix;
    case When::kAnySocketCut:
      return choice.cuts_network || choice.denies_unix;
  }
  return true;
}

class Assembler {
 public:
  void add(std::uint16_t code, std::uint32_t k, std::size_t if_true = 0, std::size_t if_false = 0) {
    program_.push_back({.code = code,
                        .jt = static_cast<std::uint8_t>(if_true),
                        .jf = static_cast<std::uint8_t>(if_false),
                        .k = k});
  }
  void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  }
  void load_argument(unsigned argument) {
    load(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * argument);  // the low word
  }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action); }
  void equal(std::uint32_t value, std::size_t if_true, std::size_t if_false) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, if_true, if_false);
  }

  [[nodiscard]] std::size_t size() const { return program_.size(); }
  // The jump at `index` goes to what comes next when its comparison fails.
  void land(std::size_t index) {
    program_[index].jf = static_cast<std::uint8_t>(program_.size() - index - 1);
  }
  [[nodiscard]] loom::Bytes bytes() const {
    const auto view = std::as_bytes(std::span(program_));
    return {view.begin(), view.end()};
  }

 private:
  std::vector<sock_filter> program_;
};

// What one row says of the call whose number was met. Falls through where it refuses nothing.
void assemble_row(const Row& row, Assembler& out) {
  const std::uint32_t refusal = SECCOMP_RET_ERRNO | row.answer;
  if (row.test == Test::kAnyArguments) return out.answer(refusal);
  out.load_argument(row.argument);
  out.add(BPF_ALU | BPF_AND | BPF_K, row.mask);
  const bool refuses_match = row.test == Test::kIsOneOf;
  const std::size_t count = row.value_count;
  // A match jumps to the refusal, or over it; what matches nothing does the other.
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t rest = count - i - 1;
    const std::size_t none = i + 1 < count ? 0 : (refuses_match ? 1 : 0);
    out.equal(row.values[i], rest + (refuses_match ? 0 : 1), none);
  }
  out.answer(refusal);
}

}  // namespace

loom::Result<loom::Bytes> compile_filter(const FilterChoice& choice, std::string_view machine) {
  if (machine != kMachine) {
    return loom::fail(loom::ErrorCode::kUnsupported,
                      "system-call filter: this build knows the calls of " + std::string(kMachine) +
                          " and not of " + std::string(machine));
  }
  Assembler out;
  out.load(offsetof(seccomp_data, arch));
  out.equal(kArchitecture, 1, 0);
  out.answer(SECCOMP_RET_KILL_PROCESS);
  out.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  // The x32 table has numbers of its own. -1 is what a tracer writes to skip a call.
  constexpr std::uint32_t kX32 = 0x40000000;
  out.add(BPF_JMP | BPF_JGE | BPF_K, kX32, 0, 2);
  out.equal(kLowWord, 1, 0);
  out.answer(SECCOMP_RET_KILL_PROCESS);
#endif
  for (std::size_t i = 0; i < kRows.size();) {
    const int number = kRows[i].number;
    const std::size_t jump = out.size();
    bool any = false;
    for (; i < kRows.size() && kRows[i].number == number; ++i) {
      if (!is_in_force(kRows[i], choice)) continue;
      if (!any) out.equal(static_cast<std::uint32_t>(number), 0, 0);
      any = true;
      assemble_row(kRows[i], out);
    }
    if (!any) continue;
    out.answer(SECCOMP_RET_ALLOW);
    out.land(jump);
  }
  out.answer(SECCOMP_RET_ALLOW);
  return out.bytes();
}

std::vector<std::string> explain_filter(const FilterChoice& choice) {
  std::vector<std::string> lines = {"any call of another architecture: kill"};
  for (const Row& row : kRows) {
    if (!is_in_force(row, choice)) continue;
    std::string line = std::string(row.name) + ": " + error_name(row.answer);
    if (row.test != Test::kAnyArguments) {
      line += row.test == Test::kIsOneOf ? " where" : " unless";
      line += " argument " + std::to_string(row.argument) + " is";
      for (std::size_t i = 0; i < row.value_count; ++i) {
        line += (i == 0 ? " " : " or ") + std::to_string(row.values[i]);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace landlock
