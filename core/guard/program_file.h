#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "guard/program_rules.h"

namespace loom::guard {

enum class ProgramFormat : std::uint8_t {
  kScript,
  kBinary,   // for this machine, as this build is
  kUnknown,  // nothing that the kernel runs by itself; binfmt_misc handlers are not asked (L18)
};

struct ProgramFile {
  ProgramFormat format = ProgramFormat::kUnknown;
  // The file that the kernel starts instead or besides, as it is written there: a script's
  // interpreter, a binary's linker (PT_INTERP). nullopt: none, the binary is static.
  std::optional<std::string> needs{};
  std::string why{};  // kUnknown: "is a binary for another machine"
};

// Up to `size` bytes from `offset`; fewer only where the file ends.
using ReadBytes = std::function<Result<Bytes>(std::uint64_t offset, std::size_t size)>;

// Reads as execve(2) of that platform would. Fails only as `read` does.
[[nodiscard]] Result<ProgramFile> parse_program(const ReadBytes& read, const ProgramRules& rules);

// The same for an open file.
[[nodiscard]] Result<ProgramFile> read_program(int file, const ProgramRules& rules);

// The interpreter of a "#!" line by the kernel's own grammar (fs/binfmt_script.c; exec_shell_imgact
// in bsd/kern/kern_exec.c); `head` is the beginning of the file, as much as the kernel looks at.
// nullopt: the kernel takes it for no script. A carriage return is part of the name.
[[nodiscard]] std::optional<std::string_view> script_interpreter(std::string_view head,
                                                                 const ScriptRules& rules) noexcept;

}  // namespace loom::guard
