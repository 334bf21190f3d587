#include "filter.h"

#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

namespace landlock {
namespace {

#if defined(__x86_64__)
constexpr const char* kMachine = "x86_64";
constexpr std::uint32_t kOwn = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kForeign = AUDIT_ARCH_I386;
#else
constexpr const char* kMachine = "aarch64";
constexpr std::uint32_t kOwn = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kForeign = AUDIT_ARCH_ARM;
#endif
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;

// Runs a filter as the kernel would. Knows the instructions that ours are made of.
class Interpreter {
 public:
  explicit Interpreter(const FilterChoice& choice) {
    const auto bytes = compile_filter(choice, kMachine);
    EXPECT_TRUE(bytes);
    if (!bytes) return;
    program_.resize(bytes->size() / sizeof(sock_filter));
    std::memcpy(program_.data(), bytes->data(), bytes->size());
  }

  // What the filter answers to a call.
  [[nodiscard]] std::uint32_t answer(long number, std::uint64_t first = 0, std::uint64_t second = 0,
                                     std::uint32_t arch = kOwn) const {
    seccomp_data data{};
    data.nr = static_cast<int>(number);
    data.arch = arch;
    data.args[0] = first;
    data.args[1] = second;
    std::uint32_t a = 0;
    for (std::size_t at = 0; at < program_.size(); ++at) {
      const sock_filter& step = program_[at];
      switch (step.code) {
        case BPF_LD | BPF_W | BPF_ABS:
          std::memcpy(&a, reinterpret_cast<const char*>(&data) + step.k, sizeof a);
          break;
        case BPF_ALU | BPF_AND | BPF_K:
          a &= step.k;
          break;
        case BPF_JMP | BPF_JEQ | BPF_K:
          at += a == step.k ? step.jt : step.jf;
          break;
        case BPF_JMP | BPF_JGE | BPF_K:
          at += a >= step.k ? step.jt : step.jf;
          break;
        case BPF_RET | BPF_K:
          return step.k;
        default:
          ADD_FAILURE() << "instruction " << step.code;
          return 0;
      }
    }
    ADD_FAILURE() << "the program ends without an answer";
    return 0;
  }

 private:
  std::vector<sock_filter> program_;
};

constexpr std::uint32_t refused(std::uint32_t error) { return SECCOMP_RET_ERRNO | error; }

TEST(LandlockFilterTest, OrdinaryCallsPass) {
  for (const bool cut : {false, true}) {
    const Interpreter filter({.cuts_network = cut});

    for (const long number : {SYS_read, SYS_openat, SYS_execve, SYS_exit_group, SYS_bind}) {
      EXPECT_EQ(filter.answer(number), kAllow) << number;
    }
    EXPECT_EQ(filter.answer(SYS_clone, 0x11), kAllow);
    EXPECT_EQ(filter.answer(SYS_ioctl, 0, 0x5413), kAllow);
  }
}

TEST(LandlockFilterTest, TheDenySetIsRefusedInEveryFilter) {
  for (const bool cut : {false, true}) {
    const Interpreter filter({.cuts_network = cut});

    for (const long number : {SYS_mount, SYS_setns, SYS_keyctl, SYS_bpf, SYS_open_by_handle_at}) {
      EXPECT_EQ(filter.answer(number), refused(EPERM)) << number;
    }
    EXPECT_EQ(filter.answer(435), refused(ENOSYS));
    EXPECT_EQ(filter.answer(SYS_clone, 0x10000011), refused(EPERM));
    EXPECT_EQ(filter.answer(SYS_unshare, 0x10000000), refused(EPERM));
    EXPECT_EQ(filter.answer(SYS_ioctl, 0, 0x5412), refused(EPERM));
    EXPECT_EQ(filter.answer(SYS_ioctl, 0, 0x541c), refused(EPERM));
  }
}

TEST(LandlockFilterTest, ExtendedAttributesAreThoseOfAFileSystemWithoutAny) {
  const Interpreter filter({});

  for (const long number :
       {SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_getxattr, SYS_lgetxattr, SYS_listxattr,
        SYS_llistxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr}) {
    EXPECT_EQ(filter.answer(number), refused(EOPNOTSUPP)) << number;
  }
  // setxattrat to removexattrat, file_getattr and file_setattr: the same numbers everywhere.
  for (const long number : {463, 464, 465, 466, 468, 469}) {
    EXPECT_EQ(filter.answer(number), refused(EOPNOTSUPP)) << number;
  }
}

TEST(LandlockFilterTest, AttributesOfWhatCouldBeOpenedAreRead) {
  const Interpreter filter({});

  EXPECT_EQ(filter.answer(SYS_fgetxattr), kAllow);
  EXPECT_EQ(filter.answer(SYS_flistxattr), kAllow);
}

TEST(LandlockFilterTest, LimitsAreSetForOneselfOnly) {
  const Interpreter filter({});

  EXPECT_EQ(filter.answer(SYS_prlimit64, 0), kAllow);
  EXPECT_EQ(filter.answer(SYS_prlimit64, 1), refused(EPERM));
}

TEST(LandlockFilterTest, ACutNetworkLeavesUnixSocketsOnly) {
  const Interpreter cut({.cuts_network = true});
  const Interpreter open({});

  for (std::uint64_t family = 0; family < 64; ++family) {
    const bool is_unix = family == AF_UNIX;
    EXPECT_EQ(cut.answer(SYS_socket, family) == kAllow, is_unix) << family;
    EXPECT_EQ(cut.answer(SYS_socketpair, family) == kAllow, is_unix) << family;
  }
  EXPECT_EQ(open.answer(SYS_socket, AF_INET), kAllow);
  EXPECT_EQ(open.answer(SYS_socket, AF_INET6), kAllow);
  for (const std::uint64_t family : {17u, 30u, 38u, 40u, 44u}) {
    EXPECT_EQ(open.answer(SYS_socket, family), refused(EPERM)) << family;
  }
  EXPECT_EQ(cut.answer(425), refused(ENOSYS));
  EXPECT_EQ(open.answer(425), kAllow);
}

TEST(LandlockFilterTest, TheHighWordOfAnArgumentDoesNotHideTheLowOne) {
  const Interpreter cut({.cuts_network = true});

  EXPECT_EQ(cut.answer(SYS_socket, 0x1'0000'0000 + AF_INET), refused(EPERM));
  EXPECT_EQ(cut.answer(SYS_ioctl, 0, 0x1'0000'5412), refused(EPERM));
}

TEST(LandlockFilterTest, DeniedUnixSocketsLeaveConnectedPairs) {
  for (const bool cut : {false, true}) {
    const Interpreter filter({.cuts_network = cut, .denies_unix = true});

    EXPECT_EQ(filter.answer(SYS_socket, AF_UNIX), refused(EPERM));
    EXPECT_EQ(filter.answer(SYS_socketpair, AF_UNIX, SOCK_STREAM), kAllow);
    EXPECT_EQ(filter.answer(SYS_socketpair, AF_UNIX, SOCK_DGRAM | 0x80000), refused(EPERM));
    EXPECT_EQ(filter.answer(SYS_socketpair, AF_UNIX, SOCK_RAW), refused(EPERM));
    EXPECT_EQ(filter.answer(425), refused(ENOSYS));
  }
}

TEST(LandlockFilterTest, ForeignTablesOfCallsKill) {
  const Interpreter filter({});

  EXPECT_EQ(filter.answer(SYS_read, 0, 0, kForeign), SECCOMP_RET_KILL_PROCESS);
#if defined(__x86_64__)
  EXPECT_EQ(filter.answer(0x40000000), SECCOMP_RET_KILL_PROCESS);
  EXPECT_EQ(filter.answer(-1), kAllow);
#endif
}

TEST(LandlockFilterTest, AnotherArchitectureIsRefusedAndNotGuessed) {
  EXPECT_FALSE(compile_filter({}, "riscv64"));
}

}  // namespace
}  // namespace landlock
