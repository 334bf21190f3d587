#include <elf.h>
#include <link.h>

#include <climits>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "guard/binary_file.h"

namespace loom::guard {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);

constexpr std::size_t kMaxSegmentBytes = 65'536;  // load_elf_phdrs, fs/binfmt_elf.c

constexpr Elf64_Half kMachine =
#if defined(__x86_64__)
    EM_X86_64;
#elif defined(__i386__)
    EM_386;
#elif defined(__aarch64__)
    EM_AARCH64;
#elif defined(__arm__)
    EM_ARM;
#elif defined(__riscv)
    EM_RISCV;
#elif defined(__powerpc64__)
    EM_PPC64;
#elif defined(__s390x__)
    EM_S390;
#elif defined(__loongarch__)
    EM_LOONGARCH;
#else
#error "which e_machine do programs of this machine have?"
#endif
constexpr unsigned char kClass = __ELF_NATIVE_CLASS == 64 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char kOrder = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

template <class T>
T read_as(ByteView bytes) noexcept {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

bool is_for_this_machine(const Header& header) noexcept {
  return header.e_ident[EI_CLASS] == kClass && header.e_ident[EI_DATA] == kOrder &&
         header.e_machine == kMachine;
}

// nullopt: there is none. The first one counts.
std::optional<Segment> linker_segment(ByteView table) {
  for (; table.size() >= sizeof(Segment); table = table.subspan(sizeof(Segment))) {
    const auto segment = read_as<Segment>(table);
    if (segment.p_type == PT_INTERP) return segment;
  }
  return std::nullopt;
}

Result<ProgramFile> parse_linker(const Segment& segment, const ReadBytes& read) {
  if (segment.p_filesz < 2 || segment.p_filesz > PATH_MAX) {
    return unknown_file("is a binary whose linker has no sound name");
  }
  LOOM_TRY(const Bytes bytes, read(segment.p_offset, segment.p_filesz));
  const std::string_view text = as_text(bytes);
  if (text.size() != segment.p_filesz || text.back() != '\0') {
    return unknown_file("is a binary whose linker has no sound name");
  }
  return ProgramFile{.format = ProgramFormat::kBinary,
                     .needs = std::string(text.substr(0, text.find('\0')))};
}

}  // namespace

bool begins_elf(std::string_view head) noexcept { return head.starts_with(ELFMAG); }

Result<ProgramFile> parse_elf(ByteView head, const ReadBytes& read) {
  if (head.size() < sizeof(Header)) return unknown_file("is a binary that is cut short");
  const auto header = read_as<Header>(head);
  if (!is_for_this_machine(header)) return unknown_file("is a binary for another machine");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return unknown_file("is a binary file, but no program");
  }
  const std::size_t size = header.e_phnum * sizeof(Segment);
  if (header.e_phentsize != sizeof(Segment) || size == 0 || size > kMaxSegmentBytes) {
    return unknown_file("is a binary without a sound table of segments");
  }
  LOOM_TRY(const Bytes table, read(header.e_phoff, size));
  if (table.size() != size) return unknown_file("is a binary that is cut short");
  const std::optional<Segment> segment = linker_segment(table);
  if (segment) return parse_linker(*segment, read);
  return ProgramFile{.format = ProgramFormat::kBinary};
}

}  // namespace loom::guard
