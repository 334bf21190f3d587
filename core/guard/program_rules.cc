#include "guard/program_rules.h"

namespace loom::guard {
namespace {

// <mach/machine.h>: the processor, and the bit of the 64-bit ABI.
constexpr std::uint32_t kX86 = 0x01000007;
constexpr std::uint32_t kArm = 0x0100000c;

constexpr std::string_view kOwnOs =
#ifdef __APPLE__
    "darwin";
#else
    "linux";
#endif
constexpr std::string_view kOwnMachine =
#ifdef __aarch64__
    "arm64";
#else
    "x86_64";
#endif

// xnu, bsd/kern/kern_exec.c: IMG_SHSIZE bytes, IS_EOL, and IMGPF_INTERPRET, by which the
// interpreter of a script is no script itself.
constexpr ScriptRules kDarwinScripts{.head_bytes = 512, .max_scripts = 1, .ends_at_hash = true};

// A Mac with an ARM processor runs the other one's programs where the translator is installed.
std::vector<std::uint32_t> processors_of(std::string_view machine) {
  const bool is_arm = machine == "arm64" || machine == "aarch64";
  return is_arm ? std::vector{kArm, kX86} : std::vector{kX86};
}

}  // namespace

ProgramRules program_rules(std::string_view os, std::string_view machine) {
  if (os != "darwin") return {};
  return {.script = kDarwinScripts,
          .binary = BinaryFormat::kMachO,
          .processors = processors_of(machine),
          .linker_is_a_program = false,
          .forwarding = ForwardingPrograms{}};
}

const ProgramRules& own_program_rules() {
  static const ProgramRules rules = program_rules(kOwnOs, kOwnMachine);
  return rules;
}

}  // namespace loom::guard
