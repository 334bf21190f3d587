#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guard/program_file.h"

namespace loom::guard {

// The formats of binaries, each as its own kernel reads it: what parse_program is made of. `head`
// is the beginning of the file.

[[nodiscard]] inline ProgramFile unknown_file(std::string why) {
  return ProgramFile{.format = ProgramFormat::kUnknown, .why = std::move(why)};
}

// For this machine, as this build is; on another system than Linux none is.
[[nodiscard]] bool begins_elf(std::string_view head) noexcept;
[[nodiscard]] Result<ProgramFile> parse_elf(ByteView head, const ReadBytes& read);

// One image, or several of which one is for `processors`. Either byte order is recognised; images
// in the order that these processors do not have are for another machine. Needs no other file: the
// dynamic linker is mapped, and no right to execute is asked for it.
[[nodiscard]] bool begins_mach_o(std::string_view head) noexcept;
[[nodiscard]] Result<ProgramFile> parse_mach_o(ByteView head, const ReadBytes& read,
                                               const std::vector<std::uint32_t>& processors);

}  // namespace loom::guard
