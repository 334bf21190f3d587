#include "deny_table.h"

#include <sys/socket.h>

#include <array>

namespace loom::bwrap {
namespace {

constexpr std::uint32_t kLowWord = 0xffffffff;
constexpr std::uint32_t kNewUser = 0x10000000;   // CLONE_NEWUSER
constexpr std::uint32_t kNoExecSeal = 0x8;       // MFD_NOEXEC_SEAL, Linux 6.3
constexpr std::uint32_t kSocketTypeMask = 0x0f;  // SOCK_TYPE_MASK of <linux/net.h>

constexpr std::array<DeniedCall, 11> kMounting = {{{"mount"},
                                                   {"umount2"},
                                                   {"pivot_root"},
                                                   {"move_mount"},
                                                   {"open_tree"},
                                                   {"open_tree_attr", 467},
                                                   {"fsopen"},
                                                   {"fsmount"},
                                                   {"fsconfig"},
                                                   {"fspick"},
                                                   {"mount_setattr"}}};
constexpr std::array<DeniedCall, 2> kMakingNamespaces = {{{"unshare"}, {"clone"}}};
constexpr std::array<DeniedCall, 1> kJoiningNamespaces = {{{"setns"}}};
constexpr std::array<DeniedCall, 1> kClone3 = {{{"clone3"}}};
constexpr std::array<DeniedCall, 1> kIoctl = {{{"ioctl"}}};
constexpr std::array<DeniedCall, 4> kOtherProcesses = {
    {{"ptrace"}, {"process_vm_readv"}, {"process_vm_writev"}, {"pidfd_getfd"}}};
constexpr std::array<DeniedCall, 2> kKernelPrograms = {{{"bpf"}, {"perf_event_open"}}};
constexpr std::array<DeniedCall, 5> kMachine = {
    {{"kexec_load"}, {"kexec_file_load"}, {"reboot"}, {"swapon"}, {"swapoff"}}};
constexpr std::array<DeniedCall, 3> kModules = {
    {{"init_module"}, {"finit_module"}, {"delete_module"}}};
constexpr std::array<DeniedCall, 3> kKeys = {{{"keyctl"}, {"add_key"}, {"request_key"}}};
constexpr std::array<DeniedCall, 1> kUserFaults = {{{"userfaultfd"}}};
constexpr std::array<DeniedCall, 1> kFileHandles = {{{"open_by_handle_at"}}};
constexpr std::array<DeniedCall, 3> kRings = {
    {{"io_uring_setup"}, {"io_uring_enter"}, {"io_uring_register"}}};
constexpr std::array<DeniedCall, 1> kMemoryFiles = {{{"memfd_create"}}};
constexpr std::array<DeniedCall, 2> kSockets = {{{"socket"}, {"socketpair"}}};
constexpr std::array<DeniedCall, 1> kSocket = {{{"socket"}}};
constexpr std::array<DeniedCall, 1> kSocketPair = {{{"socketpair"}}};

constexpr std::array<ArgumentValue, 1> kNewUserFlag = {{{kNewUser, "CLONE_NEWUSER"}}};
constexpr std::array<ArgumentValue, 1> kNoExecSealFlag = {{{kNoExecSeal, "MFD_NOEXEC_SEAL"}}};
constexpr std::array<ArgumentValue, 1> kPushInput = {{{0x5412, "TIOCSTI"}}};
constexpr std::array<ArgumentValue, 1> kConsolePaste = {{{0x541c, "TIOCLINUX"}}};
constexpr std::array<ArgumentValue, 1> kUnix = {{{AF_UNIX, "AF_UNIX"}}};
// Not all of them are in every C library's <sys/socket.h>.
constexpr std::array<ArgumentValue, 5> kUnusualFamilies = {
    {{17, "AF_PACKET"}, {30, "AF_TIPC"}, {38, "AF_ALG"}, {40, "AF_VSOCK"}, {44, "AF_XDP"}}};
// The kernel makes a datagram socket of a raw one.
constexpr std::array<ArgumentValue, 2> kDatagrams = {
    {{SOCK_DGRAM, "SOCK_DGRAM"}, {SOCK_RAW, "SOCK_RAW"}}};

constexpr std::nullopt_t kAnyArguments = std::nullopt;
constexpr ArgumentTest kMakesUser{.argument = 0, .mask = kNewUser, .values = kNewUserFlag};
constexpr ArgumentTest kMakesExecutable{
    .argument = 1, .mask = kNoExecSeal, .values = kNoExecSealFlag, .inverted = true};
constexpr ArgumentTest kPushesInput{.argument = 1, .mask = kLowWord, .values = kPushInput};
constexpr ArgumentTest kPastes{.argument = 1, .mask = kLowWord, .values = kConsolePaste};
constexpr ArgumentTest kIsUnix{.argument = 0, .mask = kLowWord, .values = kUnix};
constexpr ArgumentTest kIsNotUnix{
    .argument = 0, .mask = kLowWord, .values = kUnix, .inverted = true};
constexpr ArgumentTest kIsUnusual{.argument = 0, .mask = kLowWord, .values = kUnusualFamilies};
constexpr ArgumentTest kIsDatagram{.argument = 1, .mask = kSocketTypeMask, .values = kDatagrams};

using enum DenyAction;

constexpr std::array<DenyRow, 20> kTable = {{
    {"S1", kMounting, kAnyArguments, kPermission, when::kAlways,
     "a changed mount tree would undo the masks"},
    {"S2", kMakingNamespaces, kMakesUser, kPermission, when::kAlways,
     "in a user namespace a process is root over mounts of its own"},
    {"S3", kJoiningNamespaces, kAnyArguments, kPermission, when::kAlways,
     "to join another namespace is to leave this one"},
    {"S4", kClone3, kAnyArguments, kNoCall, when::kAlways,
     "its flags lie in memory, unseen; libraries fall back to clone"},
    {"S5", kIoctl, kPushesInput, kPermission, when::kAlways,
     "types into the terminal of whoever started the command"},
    {"S6", kIoctl, kPastes, kPermission, when::kAlways, "the same, by pasting into a console"},
    {"S7", kOtherProcesses, kAnyArguments, kPermission, when::kProgramsConfined,
     "looks into another process, or makes it do what this one may not"},
    {"S8", kKernelPrograms, kAnyArguments, kPermission, when::kAlways,
     "programs and counters inside the kernel: attack surface"},
    {"S9", kMachine, kAnyArguments, kPermission, when::kAlways, "the state of the whole machine"},
    {"S10", kModules, kAnyArguments, kPermission, when::kAlways,
     "loads and removes code of the kernel"},
    {"S11", kKeys, kAnyArguments, kPermission, when::kAlways,
     "keys are shared with processes outside, past every other layer"},
    {"S12", kUserFaults, kAnyArguments, kPermission, when::kAlways,
     "stops the kernel at a chosen moment, which wins races"},
    {"S13", kFileHandles, kAnyArguments, kPermission, when::kAlways,
     "opens by inode number, past every path"},
    {"S14", kRings, kAnyArguments, kNoCall,
     when::kNetworkCut | when::kUnixDenied | when::kProgramsConfined,
     "makes sockets past these rows; libraries fall back to epoll"},
    {"S15", kMemoryFiles, kMakesExecutable, kAccess, when::kMemorySealed,
     "a file without a name runs whatever rules there are for names"},
    {"S16",
     {},
     kAnyArguments,
     kKill,
     when::kAlways,
     "the other rows go by the numbers of one table of calls"},
    {"N1", kSockets, kIsNotUnix, kPermission, when::kNetworkCut, "direct network is cut"},
    {"N2", kSockets, kIsUnusual, kPermission, when::kNetworkOpen,
     "lead to the kernel, the wire or a hypervisor, no ordinary peer"},
    {"N3", kSocket, kIsUnix, kPermission, when::kUnixDenied,
     "a pathname socket leads to whoever listens there"},
    {"N4", kSocketPair, kIsDatagram, kPermission, when::kUnixDenied,
     "one end of such a pair sends to any pathname socket"},
}};

}  // namespace

std::span<const DenyRow> deny_table() noexcept { return kTable; }

bool is_in_force(const DenyRow& row, const FilterVariant& variant) noexcept {
  unsigned circumstances = when::kAlways;
  circumstances |= variant.cuts_network ? when::kNetworkCut : when::kNetworkOpen;
  if (variant.denies_unix) circumstances |= when::kUnixDenied;
  if (variant.confines_programs) circumstances |= when::kProgramsConfined;
  if (variant.confines_programs && variant.seals_memory) circumstances |= when::kMemorySealed;
  return (row.in_force & circumstances) != 0;
}

}  // namespace loom::bwrap
