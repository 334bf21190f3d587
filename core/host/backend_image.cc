#include "host/backend_image.h"

#include <elf.h>
#include <link.h>
#include <loom/backend_abi.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <string_view>

#include "host/memory_file.h"

namespace loom::host {
namespace {

// A file seen as memory. No page of a sealed copy can go away under us; a file that somebody cuts
// short while we look may, and takes this process with it, as it would while it is mapped to run.
class MappedFile {
 public:
  explicit MappedFile(int file) {
    struct stat status {};
    if (::fstat(file, &status) != 0 || status.st_size <= 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    place_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (place_ == MAP_FAILED) size_ = 0;
  }
  ~MappedFile() noexcept {
    if (size_ != 0) ::munmap(place_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // False when the file ends before `offset + sizeof(T)`.
  template <class T>
  [[nodiscard]] bool read(std::size_t offset, T& out) const {
    if (offset > size_ || size_ - offset < sizeof(T)) return false;
    std::memcpy(&out, static_cast<const char*>(place_) + offset, sizeof(T));
    return true;
  }

  // Whether the bytes at `offset` are `text` and a NUL.
  [[nodiscard]] bool holds(std::size_t offset, std::string_view text) const {
    if (offset > size_ || size_ - offset <= text.size()) return false;
    const char* place = static_cast<const char*>(place_) + offset;
    return text == std::string_view(place, text.size()) && place[text.size()] == '\0';
  }

 private:
  void* place_ = MAP_FAILED;
  std::size_t size_ = 0;
};

bool is_exported(const ElfW(Sym) & symbol) {
  const unsigned binding = symbol.st_info >> 4;
  return symbol.st_shndx != SHN_UNDEF && (binding == STB_GLOBAL || binding == STB_WEAK);
}

bool table_exports(const MappedFile& file, const ElfW(Shdr) & symbols, const ElfW(Shdr) & strings,
                   std::string_view name) {
  for (std::size_t at = 0; at + sizeof(ElfW(Sym)) <= symbols.sh_size; at += sizeof(ElfW(Sym))) {
    ElfW(Sym) symbol{};
    if (!file.read(symbols.sh_offset + at, symbol)) return false;
    if (symbol.st_name >= strings.sh_size || !is_exported(symbol)) continue;
    if (file.holds(strings.sh_offset + symbol.st_name, name)) return true;
  }
  return false;
}

}  // namespace

// Reads the dynamic symbol table, the one the dynamic linker will use. Not
// boost::dll::library_info: that of 1.74 reads .symtab, which every packaged library lacks (they
// are stripped), and indexes its strings unchecked.
Result<void> require_entry_symbol(int library) {
  const MappedFile file(library);
  ElfW(Ehdr) header{};
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != kClass || header.e_shentsize != sizeof(ElfW(Shdr))) {
    return fail(ErrorCode::kBackend, "is not a shared library of this system");
  }
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) section{};
    ElfW(Shdr) strings{};
    if (!file.read(header.e_shoff + i * sizeof(section), section)) break;
    if (section.sh_type != SHT_DYNSYM) continue;
    if (!file.read(header.e_shoff + section.sh_link * sizeof(strings), strings)) break;
    if (table_exports(file, section, strings, LOOM_BACKEND_ENTRY_NAME)) return {};
  }
  return fail(ErrorCode::kBackend, "does not export " LOOM_BACKEND_ENTRY_NAME);
}

// Security: the kernel lets whoever can write a mapped library rewrite the code that runs here;
// nobody can write a sealed copy. It also makes the file that is checked the file that runs.
Result<UniqueFd> unwritable_image(UniqueFd original, std::size_t max_bytes) {
  return make_executable_copy("loom-backend", original.get(), max_bytes);
}

std::string name_to_map(int image, const std::string&) {
  return "/proc/self/fd/" + std::to_string(image);
}

// The descriptor's own name leads nowhere else.
Result<void> require_image(int, const std::string&) { return {}; }

}  // namespace loom::host
