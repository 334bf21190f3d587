#pragma once

#include <loom/bytes.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom::guard {

// What a kernel reads of a "#!" line.
struct ScriptRules {
  std::size_t head_bytes = 256;  // what it looks at
  // How many scripts may stand in front of a binary.
  std::size_t max_scripts = 5;
  // The line ends at '#' too, must end inside the head, and at nothing else: a file without a
  // newline is no script.
  bool ends_at_hash = false;
  friend bool operator==(const ScriptRules&, const ScriptRules&) = default;
};

enum class BinaryFormat : std::uint8_t { kElf, kMachO };

// Programs of macOS that only start another one, the same for everybody. Absolute names.
struct ForwardingPrograms {
  std::string shell = "/bin/sh";
  std::string shell_choice = "/private/var/select/sh";  // a link to what the shell starts
  std::string stubs =
      "/usr/bin";  // a file in it starts the developer tool of its name, if there is
  std::string developer_choice =
      "/private/var/db/xcode_select_link";  // a link; may be absent, then:
  std::string developer_default = "/Library/Developer/CommandLineTools";
  // Where it has tools, in the order in which they are told.
  std::vector<std::string> tool_directories = {"usr/bin",
                                               "Toolchains/XcodeDefault.xctoolchain/usr/bin"};
  friend bool operator==(const ForwardingPrograms&, const ForwardingPrograms&) = default;
};

// How the kernel of one platform tells what a program is and what else it starts with it.
struct ProgramRules {
  ScriptRules script{};
  BinaryFormat binary = BinaryFormat::kElf;
  // Mach-O: the processors whose binaries run here (cputype, <mach/machine.h>).
  std::vector<std::uint32_t> processors{};
  // Whether a binary's linker is a program that the kernel must admit too.
  bool linker_is_a_program = true;
  std::optional<ForwardingPrograms> forwarding{};
  friend bool operator==(const ProgramRules&, const ProgramRules&) = default;
};

// `os` and `machine` as HostFacts has them: macOS' rules for "darwin", Linux's for everything else.
[[nodiscard]] ProgramRules program_rules(std::string_view os, std::string_view machine);

// Of the system that this was built for.
[[nodiscard]] const ProgramRules& own_program_rules();

}  // namespace loom::guard
