#pragma once

#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <loom/unique_fd.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>

namespace loom::guard {

using ElfHeader = ElfW(Ehdr);
using ElfSegment = ElfW(Phdr);

// As much of a binary as admission looks at: the header, and one segment that may name a linker.
// Not to be run.
struct Image {
  ElfHeader header{};
  ElfSegment segment{};
  std::string name{};  // the linker's, with its NUL

  explicit Image(const std::string& linker) : name(linker + '\0') {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_DYN;
    header.e_machine = own_machine();
    header.e_phoff = sizeof(ElfHeader);
    header.e_phentsize = sizeof(ElfSegment);
    header.e_phnum = 1;
    segment.p_type = PT_INTERP;
    segment.p_offset = sizeof(ElfHeader) + sizeof(ElfSegment);
    segment.p_filesz = name.size();
  }

  [[nodiscard]] std::string bytes() const {
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           std::string(reinterpret_cast<const char*>(&segment), sizeof segment) + name;
  }

 private:
  static decltype(ElfHeader::e_machine) own_machine() {
    const UniqueFd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    ElfHeader own{};
    EXPECT_EQ(::pread(self.get(), &own, sizeof own, 0), ssize_t{sizeof own});
    return own.e_machine;
  }
};

inline std::string dynamic_program(const std::string& linker) { return Image(linker).bytes(); }

inline std::string static_program() {
  Image image("");
  image.segment.p_type = PT_LOAD;
  return image.bytes();
}

}  // namespace loom::guard
