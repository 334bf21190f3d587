#include "backends/bwrap/compile_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "filter_simulator.h"

namespace loom::bwrap::test {
namespace {

using ::testing::HasSubstr;

constexpr FilterVariant kCut{.cuts_network = true, .denies_unix = false};
constexpr FilterVariant kOpen{.cuts_network = false, .denies_unix = false};
constexpr FilterVariant kCutNoUnix{.cuts_network = true, .denies_unix = true};
constexpr FilterVariant kOpenNoUnix{.cuts_network = false, .denies_unix = true};
// Of launches without an exec table.
constexpr std::array kPlainVariants = {kCut, kOpen, kCutNoUnix, kOpenNoUnix};
constexpr FilterVariant kConfined{.confines_programs = true, .seals_memory = false};
constexpr FilterVariant kSealed{.confines_programs = true, .seals_memory = true};
constexpr FilterVariant kCutSealed{
    .cuts_network = true, .confines_programs = true, .seals_memory = true};
constexpr FilterVariant kEverything{
    .cuts_network = true, .denies_unix = true, .confines_programs = true, .seals_memory = true};
constexpr std::array kConfiningVariants = {kConfined, kSealed, kCutSealed, kEverything};
constexpr std::array kVariants = {kCut,      kOpen,   kCutNoUnix, kOpenNoUnix,
                                  kConfined, kSealed, kCutSealed, kEverything};

constexpr int kX32Bit = 0x40000000;
constexpr int kLastNumber = 600;  // past every table
constexpr std::uint64_t kNewUser = 0x10000000;
constexpr std::uint64_t kTiocsti = 0x5412;
constexpr std::uint64_t kTioclinux = 0x541c;
constexpr std::uint64_t kNoExecSeal = 0x8;
// What another process is looked into and made to do things with.
constexpr std::array kTracing = {"ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd"};
// Whatever a program of ordinary tools asks for, besides what the table is about.
constexpr std::array kAdmitted = {"read",
                                  "getpid",
                                  "execve",
                                  "clone",
                                  "unshare",
                                  "chroot",
                                  "pidfd_open",
                                  "statmount",
                                  "listmount",
                                  "ioctl",
                                  "landlock_restrict_self"};

bool is_native(const Machine& machine) {
  utsname name{};
  return ::uname(&name) == 0 && std::string_view(name.machine) == machine.name;
}

std::uint32_t answer_of(DenyAction action) {
  switch (action) {
    case DenyAction::kPermission:
      return kRefuse;
    case DenyAction::kAccess:
      return kNoAccess;
    case DenyAction::kNoCall:
      return kNoCall;
    case DenyAction::kKill:
      break;
  }
  return kKill;
}

bool refuses(const ArgumentTest& test, const Arguments& arguments) {
  const auto word = static_cast<std::uint32_t>(arguments.at(test.argument)) & test.mask;
  const bool named = std::any_of(test.values.begin(), test.values.end(),
                                 [&](const ArgumentValue& value) { return value.bits == word; });
  return named != test.inverted;
}

// The rows in force that name a call, found by nobody but us.
std::vector<const DenyRow*> rows_about(const FilterVariant& variant, const Machine& machine,
                                       int number) {
  std::vector<const DenyRow*> rows;
  for (const DenyRow& row : deny_table()) {
    if (!is_in_force(row, variant)) continue;
    for (const DeniedCall& call : row.calls) {
      // The one thing that a program for another machine than this lacks.
      const bool known = call.number == DeniedCall::kByName || is_native(machine);
      if (known && machine.number_of(call.name) == number) rows.push_back(&row);
    }
  }
  return rows;
}

std::uint32_t answer_of(const std::vector<const DenyRow*>& rows, const Arguments& arguments) {
  for (const DenyRow* row : rows) {
    if (!row->test || refuses(*row->test, arguments)) return answer_of(row->action);
  }
  return kAllow;
}

// Every argument that some row looks at, its neighbours, and the same with high bits set.
std::vector<std::uint64_t> words_of_interest() {
  std::vector<std::uint64_t> words = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff};
  for (const DenyRow& row : deny_table()) {
    if (!row.test) continue;
    for (const ArgumentValue& value : row.test->values) {
      for (const std::uint64_t word : {value.bits - 1U, value.bits, value.bits + 1U,
                                       value.bits | 0x800U, value.bits | 0x80000U}) {
        words.push_back(word);
        words.push_back(word & ~std::uint64_t{1});
      }
    }
  }
  const std::size_t plain = words.size();
  for (std::size_t i = 0; i < plain; ++i) words.push_back(words[i] | kHighBits);
  return words;
}

// guard 5.5: every number of both tables, in every variant, against the table
TEST(CompileFilterTest, TheProgramDoesWhatTheTableSaysForEveryCall) {
  const std::vector<std::uint64_t> words = words_of_interest();
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : kVariants) {
      const FilterSimulator filter(variant, *machine);
      for (int number = 0; number < kLastNumber; ++number) {
        const auto rows = rows_about(variant, *machine, number);
        for (const std::uint64_t word : words) {
          for (const Arguments& arguments : {Arguments{word, 1}, Arguments{1, word}}) {
            ASSERT_EQ(filter.judge(number, arguments), answer_of(rows, arguments))
                << machine->name << ' ' << number << std::hex << ' ' << arguments[0] << ' '
                << arguments[1];
          }
        }
      }
    }
  }
}

// guard 9.7: 138, 141; field B72, B80, B81
TEST(CompileFilterTest, EachRowAnswersAsItsActionSays) {
  for (const Machine* machine : kMachines) {
    const FilterSimulator cut(kCut, *machine);
    const FilterSimulator open(kOpen, *machine);
    for (const FilterSimulator* filter : {&cut, &open}) {
      for (const char* call :
           {"mount",           "umount2",          "pivot_root",      "move_mount",
            "open_tree",       "fsopen",           "fsmount",         "fsconfig",
            "fspick",          "mount_setattr",    "setns",           "bpf",
            "perf_event_open", "kexec_load",       "kexec_file_load", "reboot",
            "swapon",          "swapoff",          "init_module",     "finit_module",
            "keyctl",          "delete_module",    "add_key",         "request_key",
            "userfaultfd",     "open_by_handle_at"}) {
        EXPECT_EQ(filter->judge(call), kRefuse) << machine->name << ' ' << call;
      }
      EXPECT_EQ(filter->judge("clone3"), kNoCall);
    }
    for (const char* call : {"io_uring_setup", "io_uring_enter", "io_uring_register"}) {
      EXPECT_EQ(cut.judge(call), kNoCall) << machine->name << ' ' << call;
      EXPECT_EQ(open.judge(call), kAllow) << machine->name << ' ' << call;
      EXPECT_EQ(FilterSimulator(kOpenNoUnix, *machine).judge(call), kNoCall);
    }
  }
}

// guard 9.7: 138, 139; field B60, B81
TEST(CompileFilterTest, HighBitsHideNoFlagAndNoRequest) {
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : kVariants) {
      const FilterSimulator filter(variant, *machine);
      for (const std::uint64_t high : {std::uint64_t{0}, std::uint64_t{1} << 32U, kHighBits}) {
        for (const char* call : {"unshare", "clone"}) {
          EXPECT_EQ(filter.judge(call, {kNewUser | high}), kRefuse);
          EXPECT_EQ(filter.judge(call, {kNewUser | 0x11 | high}), kRefuse);
          EXPECT_EQ(filter.judge(call, {(~kNewUser & 0xffffffff) | high}), kAllow);
        }
        EXPECT_EQ(filter.judge("ioctl", {0, kTiocsti | high}), kRefuse);
        EXPECT_EQ(filter.judge("ioctl", {0, kTioclinux | high}), kRefuse);
        EXPECT_EQ(filter.judge("ioctl", {kTiocsti, 0x5413 | high}), kAllow);  // TIOCGWINSZ
      }
    }
  }
}

TEST(CompileFilterTest, WhatToolsNeedIsAdmitted) {
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : kVariants) {
      const FilterSimulator filter(variant, *machine);
      for (const char* call : kAdmitted) {
        EXPECT_EQ(filter.judge(call), kAllow) << machine->name << ' ' << call;
      }
      // SIGCHLD; and what a C library makes a thread with
      EXPECT_EQ(filter.judge("clone", {0x01200011}), kAllow);
      EXPECT_EQ(filter.judge("clone", {0x003d0f00}), kAllow);
    }
  }
}

// guard 5.5 S7, S14; design D7, D8
TEST(CompileFilterTest, TracingAndRingsAreRefusedWhereProgramsAreConfinedAndOtherwiseNot) {
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : kConfiningVariants) {
      const FilterSimulator filter(variant, *machine);
      for (const char* call : kTracing) EXPECT_EQ(filter.judge(call), kRefuse) << call;
      EXPECT_EQ(filter.judge("io_uring_setup"), kNoCall);
    }
    for (const FilterVariant& variant : kPlainVariants) {
      const FilterSimulator filter(variant, *machine);
      for (const char* call : kTracing) EXPECT_EQ(filter.judge(call), kAllow) << call;
    }
  }
}

// guard 5.5 S15
TEST(CompileFilterTest, MemoryFilesNeedTheSealWhereTheyMustNotBePrograms) {
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : kVariants) {
      const FilterSimulator filter(variant, *machine);
      const std::uint32_t due = variant.seals_memory ? kNoAccess : kAllow;
      for (const std::uint64_t high : {std::uint64_t{0}, kHighBits, kNoExecSeal << 32U}) {
        for (const std::uint64_t flags : {0x0U, 0x1U, 0x2U, 0x3U, 0x4U, 0x10U, 0x13U, 0x7U}) {
          EXPECT_EQ(filter.judge("memfd_create", {kNoExecSeal, flags | high}), due) << flags;
          EXPECT_EQ(filter.judge("memfd_create", {0, flags | kNoExecSeal | high}), kAllow) << flags;
        }
      }
    }
  }
  // Nothing seals memory where programs are not confined.
  EXPECT_EQ(FilterSimulator({.confines_programs = false, .seals_memory = true}, kIntel)
                .judge("memfd_create"),
            kAllow);
}

// The programs of version-2 launches, byte for byte those that have no such rows.
TEST(CompileFilterTest, LaunchesWithoutAnExecTableHaveTheirOldProgram) {
  for (const FilterVariant& variant : kPlainVariants) {
    FilterVariant idle = variant;
    idle.seals_memory = true;
    EXPECT_EQ(*compile_filter(idle, "x86_64"), *compile_filter(variant, "x86_64"));
    idle.confines_programs = true;
    EXPECT_NE(*compile_filter(idle, "x86_64"), *compile_filter(variant, "x86_64"));
  }
}

TEST(CompileFilterTest, ACallThatLibseccompDoesNotKnowIsRefusedByItsNumber) {
  static constexpr int kOpenTreeAttr = 467;
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : kVariants) {
      EXPECT_EQ(FilterSimulator(variant, *machine).judge(kOpenTreeAttr),
                is_native(*machine) ? kRefuse : kAllow);
    }
  }
}

// cases.md 134; guard 5.5 S16, 9.7: 140; field B72
TEST(CompileFilterTest, ForeignCallsKillAndMinusOneIsNoX32Number) {
  for (const FilterVariant& variant : kVariants) {
    const FilterSimulator intel(variant, kIntel);
    for (const int number : {0, 41, 57, 102, 359, kLastNumber, -1}) {
      EXPECT_EQ(intel.judge_foreign(AUDIT_ARCH_I386, number), kKill) << number;
      EXPECT_EQ(intel.judge_foreign(AUDIT_ARCH_AARCH64, number), kKill) << number;
    }
    for (const int number : {0, 39, 41, 512, 547}) {
      EXPECT_EQ(intel.judge(kX32Bit | number), kKill) << number;
    }
    EXPECT_EQ(intel.judge(0x7fffffff), kKill);
    EXPECT_EQ(intel.judge(-2), kKill);  // has the bit, and is nothing special
    EXPECT_EQ(intel.judge(-1), kAllow);
    EXPECT_EQ(intel.judge(kX32Bit - 1), kAllow);

    const FilterSimulator arm(variant, kArm);
    EXPECT_EQ(arm.judge_foreign(AUDIT_ARCH_ARM, 1), kKill);
    EXPECT_EQ(arm.judge_foreign(AUDIT_ARCH_X86_64, 0), kKill);
    EXPECT_EQ(arm.judge(-1), kAllow);
  }
}

// cases.md 134, 135; field B73
TEST(CompileFilterTest, CutNetworkLeavesUnixSocketsOnly) {
  for (const Machine* machine : kMachines) {
    const FilterSimulator filter(kCut, *machine);
    for (const char* call : {"socket", "socketpair"}) {
      for (std::uint64_t family = 0; family < 300; ++family) {
        const std::uint32_t due = family == AF_UNIX ? kAllow : kRefuse;
        EXPECT_EQ(filter.judge(call, {family}), due) << call << ' ' << family;
        EXPECT_EQ(filter.judge(call, {family | kHighBits}), due) << call << ' ' << family;
      }
      EXPECT_EQ(filter.judge(call, {0x80000001}), kRefuse);
    }
  }
}

// field B73
TEST(CompileFilterTest, OpenNetworkRefusesTheUnusualFamilies) {
  for (const Machine* machine : kMachines) {
    const FilterSimulator filter(kOpen, *machine);
    for (const char* call : {"socket", "socketpair"}) {
      for (std::uint64_t family = 0; family < 300; ++family) {
        const bool unusual =
            family == 17 || family == 30 || family == 38 || family == 40 || family == 44;
        const std::uint32_t due = unusual ? kRefuse : kAllow;
        EXPECT_EQ(filter.judge(call, {family}), due) << call << ' ' << family;
        EXPECT_EQ(filter.judge(call, {family | kHighBits}), due) << call << ' ' << family;
      }
    }
  }
}

TEST(CompileFilterTest, WithoutUnixSocketsOnlyConnectedPairsAreLeft) {
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : {kCutNoUnix, kOpenNoUnix}) {
      const FilterSimulator filter(variant, *machine);
      for (const std::uint64_t high : {std::uint64_t{0}, kHighBits}) {
        for (std::uint64_t type = 0; type < 16; ++type) {
          EXPECT_EQ(filter.judge("socket", {AF_UNIX | high, type}), kRefuse) << type;
          const bool datagrams = type == SOCK_DGRAM || type == SOCK_RAW;
          for (const int flags : {0, SOCK_CLOEXEC | 0, SOCK_CLOEXEC | SOCK_NONBLOCK}) {
            EXPECT_EQ(filter.judge("socketpair", {AF_UNIX | high,
                                                  type | static_cast<std::uint64_t>(flags) | high}),
                      datagrams ? kRefuse : kAllow)
                << type;
          }
        }
        EXPECT_EQ(filter.judge("socket", {AF_INET | high, SOCK_STREAM}),
                  variant.cuts_network ? kRefuse : kAllow);
      }
    }
  }
}

// cases.md 136
TEST(CompileFilterTest, UnknownArchitectureIsRefusedByName) {
  const auto program = compile_filter(kCut, "vax");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(program.error().message, HasSubstr("vax"));
}

// cases.md 137
TEST(CompileFilterTest, NumbersAreThisBuildsAndTheProgramFits) {
#if defined(__x86_64__)
  const Machine& own = kIntel;
#else
  const Machine& own = kArm;
#endif
  EXPECT_EQ(own.number_of("socket"), SYS_socket);
  EXPECT_EQ(own.number_of("socketpair"), SYS_socketpair);
  EXPECT_EQ(own.number_of("ioctl"), SYS_ioctl);
  EXPECT_EQ(own.number_of("keyctl"), SYS_keyctl);
  for (const Machine* machine : kMachines) {
    for (const FilterVariant& variant : kVariants) {
      const std::size_t size = FilterSimulator(variant, *machine).program().size();
      EXPECT_GE(size, 50U);
      EXPECT_LE(size, 300U);  // the kernel takes 4,096; each start pays for what is there
    }
  }
}

TEST(CompileFilterTest, RememberedProgramIsTheCompiledOne) {
  for (int round = 0; round < 2; ++round) {
    for (const FilterVariant& variant : kVariants) {
      const auto program = remembered_filter(variant, "x86_64");
      ASSERT_TRUE(program);
      EXPECT_EQ(*program, *compile_filter(variant, "x86_64"));
    }
  }
  EXPECT_FALSE(remembered_filter(kCut, "vax"));
}

// --- the table itself ---

std::string condition_of(const DenyRow& row) {
  if (!row.test) return {};
  std::string text = std::to_string(row.test->argument) + "&" + std::to_string(row.test->mask);
  for (const ArgumentValue& value : row.test->values) text += "," + std::to_string(value.bits);
  return text + (row.test->inverted ? "!" : "");
}

// guard 5.5
TEST(DenyTableTest, NoCallStandsInTwoRowsWithoutACondition) {
  for (const FilterVariant& variant : kVariants) {
    std::map<std::string_view, std::vector<std::string>> conditions;
    for (const DenyRow& row : deny_table()) {
      if (!is_in_force(row, variant)) continue;
      for (const DeniedCall& call : row.calls) conditions[call.name].push_back(condition_of(row));
    }
    for (auto& [call, all] : conditions) {
      std::sort(all.begin(), all.end());
      EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << call;
      EXPECT_TRUE(all.size() == 1 || !all.front().empty()) << call;
    }
  }
}

TEST(DenyTableTest, EveryRowHasAReasonAndANameOfItsOwn) {
  std::vector<std::string_view> ids;
  for (const DenyRow& row : deny_table()) {
    EXPECT_GT(row.why.size(), 15U) << row.id;
    EXPECT_NE(row.in_force, 0U) << row.id;
    ids.push_back(row.id);
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

TEST(DenyTableTest, OnlyForeignCallsKill) {
  for (const DenyRow& row : deny_table()) {
    EXPECT_EQ(row.action == DenyAction::kKill, row.calls.empty()) << row.id;
  }
}

TEST(DenyTableTest, TestsAskForBitsThatTheirMaskLeaves) {
  for (const DenyRow& row : deny_table()) {
    if (!row.test) continue;
    EXPECT_LT(row.test->argument, 6U) << row.id;
    EXPECT_FALSE(row.test->values.empty()) << row.id;
    // "None of several" would be several comparisons that must all hold; the compiler knows no
    // such.
    EXPECT_TRUE(!row.test->inverted || row.test->values.size() == 1) << row.id;
    for (const ArgumentValue& value : row.test->values) {
      EXPECT_EQ(value.bits & ~row.test->mask, 0U) << row.id << ' ' << value.name;
    }
  }
}

// A number is given only where libseccomp has none, and is the kernel's.
TEST(DenyTableTest, NamesAndNumbersAreTheKernels) {
  for (const DenyRow& row : deny_table()) {
    for (const DeniedCall& call : row.calls) {
      const std::string name(call.name);
      const int intel = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86_64, name.c_str());
      const int arm = seccomp_syscall_resolve_name_arch(SCMP_ARCH_AARCH64, name.c_str());
      if (call.number == DeniedCall::kByName) {
        EXPECT_EQ(intel, kIntel.number_of(call.name)) << name;
        EXPECT_EQ(arm, kArm.number_of(call.name)) << name;
      } else {
        EXPECT_TRUE(intel == __NR_SCMP_ERROR || intel == call.number) << name;
        EXPECT_EQ(call.number, kIntel.number_of(call.name)) << name;
        EXPECT_GE(call.number, 424) << name;
      }
    }
  }
}

}  // namespace
}  // namespace loom::bwrap::test
