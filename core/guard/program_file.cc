#include "guard/program_file.h"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "guard/file_system.h"
#include "guard/system_error.h"

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

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
bool ends_name(char c) noexcept { return is_blank(c) || c == '\0' || c == '\n'; }

ProgramFile unknown(std::string why) {
  return ProgramFile{.format = ProgramFormat::kUnknown, .why = std::move(why)};
}

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
    return unknown("is a binary whose linker has no sound name");
  }
  LOOM_TRY(const Bytes bytes, read(segment.p_offset, segment.p_filesz));
  const std::string_view text = as_text(bytes);
  if (text.size() != segment.p_filesz || text.back() != '\0') {
    return unknown("is a binary whose linker has no sound name");
  }
  return ProgramFile{.format = ProgramFormat::kBinary,
                     .needs = std::string(text.substr(0, text.find('\0')))};
}

Result<ProgramFile> parse_binary(ByteView head, const ReadBytes& read) {
  if (head.size() < sizeof(Header)) return unknown("is a binary that is cut short");
  const auto header = read_as<Header>(head);
  if (!is_for_this_machine(header)) return unknown("is a binary for another machine");
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN) {
    return unknown("is a binary file, but no program");
  }
  const std::size_t size = header.e_phnum * sizeof(Segment);
  if (header.e_phentsize != sizeof(Segment) || size == 0 || size > kMaxSegmentBytes) {
    return unknown("is a binary without a sound table of segments");
  }
  LOOM_TRY(const Bytes table, read(header.e_phoff, size));
  if (table.size() != size) return unknown("is a binary that is cut short");
  const std::optional<Segment> segment = linker_segment(table);
  if (segment) return parse_linker(*segment, read);
  return ProgramFile{.format = ProgramFormat::kBinary};
}

// pread(2) until there is enough, or the end.
Result<Bytes> read_bytes(int file, std::uint64_t offset, std::size_t size) {
  Bytes bytes(size);
  std::size_t done = 0;
  // Beyond what an off_t can hold no file has bytes.
  while (done < size && offset <= std::uint64_t{INT64_MAX} - size) {
    const ssize_t got = uninterrupted([&] {
      return ::pread(file, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    });
    if (got < 0) return system_error("read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace

std::optional<std::string_view> script_interpreter(std::string_view head) noexcept {
  head = head.substr(0, kProgramHeadBytes);
  if (!head.starts_with("#!")) return std::nullopt;
  const auto* const first = std::find_if_not(head.begin() + 2, head.end(), is_blank);
  const auto* const last = std::find_if(first, head.end(), ends_name);
  // The kernel pads a short file with NUL; a name that fills the head may be cut short.
  if (last == head.end() && head.size() == kProgramHeadBytes) return std::nullopt;
  if (first == last) return std::nullopt;
  return std::string_view(first, static_cast<std::size_t>(last - first));
}

Result<ProgramFile> parse_program(const ReadBytes& read) {
  LOOM_TRY(const Bytes head, read(0, kProgramHeadBytes));
  if (as_text(head).starts_with(ELFMAG)) return parse_binary(head, read);
  const auto interpreter = script_interpreter(as_text(head));
  if (!interpreter) return unknown("is neither a script that names its interpreter nor a binary");
  return ProgramFile{.format = ProgramFormat::kScript, .needs = std::string(*interpreter)};
}

Result<ProgramFile> read_program(int file) {
  return parse_program(
      [file](std::uint64_t offset, std::size_t size) { return read_bytes(file, offset, size); });
}

}  // namespace loom::guard
