#include "backends/bwrap/compile_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace loom::bwrap::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kNoCall = SECCOMP_RET_ERRNO | ENOSYS;
constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t kMalformed = 0xdead0000;

// Numbers of the kernel's tables, not of this build's headers: both architectures are judged here.
constexpr int kSocket64 = 41;
constexpr int kSocketPair64 = 53;
constexpr int kRead64 = 0;
constexpr int kExecve64 = 59;
constexpr int kSocketArm = 198;
constexpr int kSocketPairArm = 199;
constexpr int kReadArm = 63;
constexpr int kX32Bit = 0x40000000;
constexpr std::uint64_t kHighBits = 0xabcdef0000000000;

std::vector<sock_filter> instructions(const Bytes& program) {
  std::vector<sock_filter> all(program.size() / sizeof(sock_filter));
  std::memcpy(all.data(), program.data(), all.size() * sizeof(sock_filter));
  return all;
}

std::uint32_t load(const seccomp_data& data, std::uint32_t offset) {
  std::uint32_t word = 0;
  if (offset > sizeof data - sizeof word) return 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

// Runs the few instructions that a filter is made of.
std::uint32_t run(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t a = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& i = program[at];
    switch (i.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        a = load(data, i.k);
        break;
      case BPF_ALU | BPF_AND | BPF_K:
        a &= i.k;
        break;
      case BPF_JMP | BPF_JA:
        at += i.k;
        break;
      case BPF_JMP | BPF_JEQ | BPF_K:
        at += a == i.k ? i.jt : i.jf;
        break;
      case BPF_JMP | BPF_JGE | BPF_K:
        at += a >= i.k ? i.jt : i.jf;
        break;
      case BPF_JMP | BPF_JGT | BPF_K:
        at += a > i.k ? i.jt : i.jf;
        break;
      case BPF_RET | BPF_K:
        return i.k;
      default:
        return kMalformed;
    }
  }
  return kMalformed;
}

class Judge {
 public:
  Judge(SocketFilter filter, const char* machine, std::uint32_t arch) : arch_(arch) {
    const auto program = compile_filter(filter, machine);
    EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
    if (program) program_ = instructions(*program);
  }
  [[nodiscard]] std::uint32_t operator()(int number, std::uint64_t family) const {
    return of(arch_, number, family);
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t arch, int number, std::uint64_t family = 1) const {
    seccomp_data data{};
    data.nr = number;
    data.arch = arch;
    data.args[0] = family;
    return run(program_, data);
  }
  [[nodiscard]] std::size_t size() const { return program_.size(); }

 private:
  std::uint32_t arch_;
  std::vector<sock_filter> program_;
};

// cases.md 134
TEST(CompileFilterTest, CutNetworkLeavesUnixSocketsOnly) {
  const Judge judge(SocketFilter::kUnixOnly, "x86_64", AUDIT_ARCH_X86_64);
  for (const int call : {kSocket64, kSocketPair64}) {
    for (const int number : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK, 0, 3}) {
      const auto family = static_cast<std::uint64_t>(number);
      EXPECT_EQ(judge(call, family), kRefuse) << call << ' ' << family;
      EXPECT_EQ(judge(call, family | kHighBits), kRefuse) << call << ' ' << family;
    }
    EXPECT_EQ(judge(call, 0x80000001), kRefuse);
    EXPECT_EQ(judge(call, AF_UNIX), kAllow);
    EXPECT_EQ(judge(call, AF_UNIX | kHighBits), kAllow);
  }
  EXPECT_EQ(judge(kRead64, AF_INET), kAllow);
  EXPECT_EQ(judge(kExecve64, AF_INET), kAllow);
}

TEST(CompileFilterTest, IoUringMakesNoSocketsPastACutNetwork) {
  for (const int call : {425, 426, 427}) {  // the same numbers on every architecture
    EXPECT_EQ(Judge(SocketFilter::kUnixOnly, "x86_64", AUDIT_ARCH_X86_64)(call, 0), kNoCall);
    EXPECT_EQ(Judge(SocketFilter::kUnixOnly, "aarch64", AUDIT_ARCH_AARCH64)(call, 0), kNoCall);
    EXPECT_EQ(Judge(SocketFilter::kUsualFamilies, "x86_64", AUDIT_ARCH_X86_64)(call, 0), kAllow);
  }
}

// cases.md 134
TEST(CompileFilterTest, ForeignCallsKillAndMinusOneIsNoX32Number) {
  for (const SocketFilter filter : {SocketFilter::kUnixOnly, SocketFilter::kUsualFamilies}) {
    const Judge judge(filter, "x86_64", AUDIT_ARCH_X86_64);
    EXPECT_EQ(judge.of(AUDIT_ARCH_I386, kRead64), kKill);
    EXPECT_EQ(judge(kX32Bit | kSocket64, AF_UNIX), kKill);
    EXPECT_EQ(judge(kX32Bit | kRead64, AF_UNIX), kKill);
    EXPECT_EQ(judge(-1, AF_UNIX), kAllow);
    EXPECT_EQ(judge(kRead64, AF_UNIX), kAllow);
  }
}

// cases.md 135
TEST(CompileFilterTest, OtherArchitectureHasItsOwnNumbers) {
  const Judge judge(SocketFilter::kUnixOnly, "aarch64", AUDIT_ARCH_AARCH64);
  EXPECT_EQ(judge(kSocketArm, AF_INET), kRefuse);
  EXPECT_EQ(judge(kSocketArm, AF_UNIX), kAllow);
  EXPECT_EQ(judge(kSocketPairArm, AF_INET6), kRefuse);
  EXPECT_EQ(judge(kReadArm, AF_INET), kAllow);
  EXPECT_EQ(judge.of(AUDIT_ARCH_X86_64, kRead64), kKill);
}

TEST(CompileFilterTest, OpenNetworkRefusesTheUnusualFamilies) {
  for (const char* machine : {"x86_64", "aarch64"}) {
    const bool intel = std::string_view(machine) == "x86_64";
    const Judge judge(SocketFilter::kUsualFamilies, machine,
                      intel ? AUDIT_ARCH_X86_64 : AUDIT_ARCH_AARCH64);
    const int call = intel ? kSocket64 : kSocketArm;
    for (const int number : {38, 40, 44, 30, 17}) {
      const auto family = static_cast<std::uint64_t>(number);
      EXPECT_EQ(judge(call, family), kRefuse) << family;
      EXPECT_EQ(judge(call, family | kHighBits), kRefuse) << family;
    }
    for (const int number : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}) {
      const auto family = static_cast<std::uint64_t>(number);
      EXPECT_EQ(judge(call, family), kAllow) << family;
      EXPECT_EQ(judge(call, family | kHighBits), kAllow) << family;
    }
  }
}

// cases.md 136
TEST(CompileFilterTest, UnknownArchitectureIsRefusedByName) {
  const auto program = compile_filter(SocketFilter::kUnixOnly, "vax");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(program.error().message, HasSubstr("vax"));
}

// cases.md 137
TEST(CompileFilterTest, NumbersAreThisBuildsAndTheProgramFits) {
#if defined(__x86_64__)
  EXPECT_EQ(SYS_socket, kSocket64);
  EXPECT_EQ(SYS_socketpair, kSocketPair64);
#elif defined(__aarch64__)
  EXPECT_EQ(SYS_socket, kSocketArm);
  EXPECT_EQ(SYS_socketpair, kSocketPairArm);
#endif
  const Judge judge(SocketFilter::kUnixOnly, "x86_64", AUDIT_ARCH_X86_64);
  EXPECT_GE(judge.size(), 1U);
  EXPECT_LE(judge.size(), 4'096U);
}

TEST(CompileFilterTest, RememberedProgramIsTheCompiledOne) {
  for (int round = 0; round < 2; ++round) {
    const auto program = socket_filter(SocketFilter::kUnixOnly, "x86_64");
    ASSERT_TRUE(program);
    EXPECT_EQ(*program, *compile_filter(SocketFilter::kUnixOnly, "x86_64"));
  }
  EXPECT_FALSE(socket_filter(SocketFilter::kUnixOnly, "vax"));
}

}  // namespace
}  // namespace loom::bwrap::test
