// Before Boost.DLL: std::filesystem instead of a library to link.
#ifndef BOOST_DLL_USE_STD_FS
#define BOOST_DLL_USE_STD_FS
#endif

#include "host/load_backend.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <loom/bytes.h>
#include <loom/unique_fd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "host/errno_text.h"
#include "host/memory_file.h"

namespace loom::host {
namespace {

Result<UniqueFd> open_trusted(const std::string& file) {
  // Non-blocking: a FIFO under this name must not hold us up before it is refused.
  UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  const int error = errno;
  if (!opened && error == ELOOP) return fail(ErrorCode::kDenied, "is a symbolic link");
  if (!opened) return fail(ErrorCode::kSystem, "open: " + errno_text(error), error);
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) {
    const int why = errno;
    return fail(ErrorCode::kSystem, "stat: " + errno_text(why), why);
  }
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kDenied, "is not a regular file");
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return fail(ErrorCode::kDenied,
                "belongs to uid " + std::to_string(status.st_uid) + ", neither to us nor to root");
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(ErrorCode::kDenied, "is writable by group or others");
  }
  if (status.st_size > static_cast<off_t>(kMaxBackendBytes)) {
    return fail(ErrorCode::kInvalidRequest,
                "is larger than " + std::to_string(kMaxBackendBytes) + " bytes");
  }
  return opened;
}

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

// Boost.DLL throws from its path type.
Result<boost::dll::shared_library> map_now_and_local(const std::string& pinned) try {
  boost::dll::shared_library library;
  boost::dll::fs::error_code error;
  library.load(pinned, error, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  if (!error) return library;
  // The code is the same for every failure; only the linker's own words tell them apart.
  const char* words = ::dlerror();
  return fail(ErrorCode::kBackend,
              "cannot be mapped: " + std::string(words != nullptr ? words : "no reason given"));
} catch (const std::exception& error) {
  return fail(ErrorCode::kBackend, std::string("cannot be mapped: ") + error.what());
}

Result<loom_backend_entry> find_entry(const boost::dll::shared_library& library) try {
  return &library.get<std::remove_pointer_t<loom_backend_entry>>(LOOM_BACKEND_ENTRY_NAME);
} catch (const std::exception& error) {
  return fail(ErrorCode::kBackend, std::string("find the entry: ") + error.what());
}

// The dynamic linker remembers libraries by name, and their name holds the number of the
// descriptor: were it closed, the next library on that number would come back as this one. Nothing
// is ever unloaded, so that no vtable, thread-local or static of a backend can dangle.
void keep_forever(UniqueFd image, boost::dll::shared_library library) {
  static auto& kept = *new std::vector<std::pair<UniqueFd, boost::dll::shared_library>>();
  kept.emplace_back(std::move(image), std::move(library));
}

Result<boost::dll::shared_library> map_checked(int image) {
  LOOM_TRY_VOID(require_entry_symbol(image));
  return map_now_and_local("/proc/self/fd/" + std::to_string(image));
}

Result<const loom_backend_v1*> table_of(UniqueFd image, boost::dll::shared_library library) {
  LOOM_TRY(const loom_backend_entry entry, find_entry(library));
  keep_forever(std::move(image), std::move(library));
  const loom_backend_v1* table = entry();
  LOOM_TRY_VOID(check_table(table));
  return table;
}

Result<const loom_backend_v1*> load(const std::string& file, BackendImage image) {
  LOOM_TRY(UniqueFd original, open_trusted(file));
  if (image == BackendImage::kFile) {
    // Nothing of it has run when it cannot be mapped. The copy still can be where the file lies on
    // a file system that maps no code.
    auto library = map_checked(original.get());
    if (library) return table_of(std::move(original), std::move(*library));
  }
  // Security: the kernel lets whoever can write a mapped library rewrite the code that runs here;
  // nobody can write a sealed copy. It also makes the file that is checked the file that runs.
  LOOM_TRY(UniqueFd copy, make_executable_copy("loom-backend", original.get(), kMaxBackendBytes));
  LOOM_TRY(auto library, map_checked(copy.get()));
  return table_of(std::move(copy), std::move(library));
}

struct Slot {
  const char* name;
  bool filled;
};

auto slots_of(const loom_backend_v1& table) {
  return std::array{
      Slot{"create", table.create != nullptr},     Slot{"destroy", table.destroy != nullptr},
      Slot{"features", table.features != nullptr}, Slot{"survey", table.survey != nullptr},
      Slot{"pieces", table.pieces != nullptr},     Slot{"probe", table.probe != nullptr},
      Slot{"plan", table.plan != nullptr},         Slot{"render", table.render != nullptr},
      Slot{"audit", table.audit != nullptr},       Slot{"start", table.start != nullptr},
      Slot{"observe", table.observe != nullptr},   Slot{"targets", table.targets != nullptr},
      Slot{"finish", table.finish != nullptr}};
}

tl::unexpected<Error> bad_table(std::string what) {
  return fail(ErrorCode::kBackend, "table: " + std::move(what));
}

bool is_text(const char* name) { return name != nullptr && *name != '\0'; }

}  // namespace

Result<void> check_table(const loom_backend_v1* table) {
  if (table == nullptr) return bad_table("the entry returned none");
  if (table->magic != LOOM_BACKEND_MAGIC) return bad_table("wrong magic");
  if (table->abi != LOOM_BACKEND_ABI) {
    return bad_table("ABI " + std::to_string(table->abi) + ", this helper speaks " +
                     std::to_string(LOOM_BACKEND_ABI));
  }
  if (table->struct_size < sizeof(loom_backend_v1)) {
    return bad_table(std::to_string(table->struct_size) + " bytes, at least " +
                     std::to_string(sizeof(loom_backend_v1)) + " are due");
  }
  if (!is_text(table->name) || !is_text(table->version) || !is_text(table->build_tag)) {
    return bad_table("name, version or build tag is missing");
  }
  for (const Slot& slot : slots_of(*table)) {
    if (!slot.filled) {
      return bad_table("slot " + std::string(slot.name) + " is empty (built with " +
                       table->build_tag + ")");
    }
  }
  return {};
}

Result<const loom_backend_v1*> load_backend(const std::string& file, BackendImage image) {
  auto table = load(file, image);
  if (table) return table;
  return fail(table.error().code, "backend " + file + ": " + table.error().message,
              table.error().sys_errno);
}

}  // namespace loom::host
