#include "guard/binary_file.h"

namespace loom::guard {

bool begins_elf(std::string_view head) noexcept { return head.starts_with("\177ELF"); }

Result<ProgramFile> parse_elf(ByteView /*head*/, const ReadBytes& /*read*/) {
  return unknown_file("is a binary for another system");
}

}  // namespace loom::guard
