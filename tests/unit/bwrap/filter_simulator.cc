#include "filter_simulator.h"

#include <gtest/gtest.h>
#include <linux/audit.h>

#include <cstring>
#include <map>
#include <string>

#include "backends/bwrap/compile_filter.h"

namespace loom::bwrap::test {
namespace {

using Numbers = std::map<std::string_view, int>;

// arch/x86/entry/syscalls/syscall_64.tbl
const Numbers kIntelNumbers = {{"read", 0},
                               {"ioctl", 16},
                               {"getpid", 39},
                               {"socket", 41},
                               {"socketpair", 53},
                               {"clone", 56},
                               {"fork", 57},
                               {"vfork", 58},
                               {"execve", 59},
                               {"ptrace", 101},
                               {"pivot_root", 155},
                               {"chroot", 161},
                               {"mount", 165},
                               {"umount2", 166},
                               {"swapon", 167},
                               {"swapoff", 168},
                               {"reboot", 169},
                               {"init_module", 175},
                               {"delete_module", 176},
                               {"kexec_load", 246},
                               {"add_key", 248},
                               {"request_key", 249},
                               {"keyctl", 250},
                               {"unshare", 272},
                               {"perf_event_open", 298},
                               {"open_by_handle_at", 304},
                               {"setns", 308},
                               {"process_vm_readv", 310},
                               {"process_vm_writev", 311},
                               {"finit_module", 313},
                               {"memfd_create", 319},
                               {"kexec_file_load", 320},
                               {"bpf", 321},
                               {"userfaultfd", 323}};

// include/uapi/asm-generic/unistd.h
const Numbers kArmNumbers = {{"ioctl", 29},
                             {"umount2", 39},
                             {"mount", 40},
                             {"pivot_root", 41},
                             {"chroot", 51},
                             {"read", 63},
                             {"unshare", 97},
                             {"kexec_load", 104},
                             {"init_module", 105},
                             {"delete_module", 106},
                             {"ptrace", 117},
                             {"reboot", 142},
                             {"getpid", 172},
                             {"socket", 198},
                             {"socketpair", 199},
                             {"add_key", 217},
                             {"request_key", 218},
                             {"keyctl", 219},
                             {"clone", 220},
                             {"execve", 221},
                             {"swapon", 224},
                             {"swapoff", 225},
                             {"perf_event_open", 241},
                             {"open_by_handle_at", 265},
                             {"setns", 268},
                             {"process_vm_readv", 270},
                             {"process_vm_writev", 271},
                             {"finit_module", 273},
                             {"memfd_create", 279},
                             {"bpf", 280},
                             {"userfaultfd", 282},
                             {"kexec_file_load", 294}};

// From 424 on the tables agree.
const Numbers kCommonNumbers = {{"io_uring_setup", 425},
                                {"io_uring_enter", 426},
                                {"io_uring_register", 427},
                                {"open_tree", 428},
                                {"move_mount", 429},
                                {"fsopen", 430},
                                {"fsconfig", 431},
                                {"fsmount", 432},
                                {"fspick", 433},
                                {"pidfd_open", 434},
                                {"clone3", 435},
                                {"pidfd_getfd", 438},
                                {"mount_setattr", 442},
                                {"landlock_restrict_self", 446},
                                {"statmount", 457},
                                {"listmount", 458},
                                {"open_tree_attr", 467}};

int number_in(const Numbers& own, std::string_view call) {
  for (const Numbers* numbers : {&own, &kCommonNumbers}) {
    if (const auto found = numbers->find(call); found != numbers->end()) return found->second;
  }
  return -1;
}

std::uint32_t load(const seccomp_data& data, std::uint32_t offset) {
  std::uint32_t word = 0;
  if (offset > sizeof data - sizeof word) return 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

// The few instructions that a filter is made of.
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

}  // namespace

const Machine kIntel = {"x86_64", AUDIT_ARCH_X86_64,
                        [](std::string_view call) { return number_in(kIntelNumbers, call); }};
const Machine kArm = {"aarch64", AUDIT_ARCH_AARCH64,
                      [](std::string_view call) { return number_in(kArmNumbers, call); }};

FilterSimulator::FilterSimulator(const FilterVariant& variant, const Machine& machine)
    : machine_(&machine) {
  const auto program = compile_filter(variant, machine.name);
  EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
  if (!program) return;
  program_.resize(program->size() / sizeof(sock_filter));
  std::memcpy(program_.data(), program->data(), program->size());
}

std::uint32_t FilterSimulator::judge(int number, const Arguments& arguments) const {
  seccomp_data data{};
  data.nr = number;
  data.arch = machine_->arch;
  std::copy(arguments.begin(), arguments.end(), data.args);
  return run(program_, data);
}

std::uint32_t FilterSimulator::judge(const char* call, const Arguments& arguments) const {
  const int number = machine_->number_of(call);
  EXPECT_GE(number, 0) << call;
  return judge(number, arguments);
}

std::uint32_t FilterSimulator::judge_foreign(std::uint32_t arch, int number) const {
  seccomp_data data{};
  data.nr = number;
  data.arch = arch;
  return run(program_, data);
}

}  // namespace loom::bwrap::test
