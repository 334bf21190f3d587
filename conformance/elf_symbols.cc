#include "elf_symbols.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

namespace loom::conformance {
namespace {

constexpr std::size_t kMaxFileBytes = 64u << 20;

// False when the file ends before.
template <class T>
bool read_at(const std::string& file, std::size_t offset, T& out) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, file.data() + offset, sizeof(T));
  return true;
}

std::string name_at(const std::string& file, std::size_t offset) {
  if (offset >= file.size()) return {};
  const std::size_t end = std::min(file.find('\0', offset), file.size());
  return file.substr(offset, end - offset);
}

void add_symbols(const std::string& file, const ElfW(Shdr) & symbols, const ElfW(Shdr) & strings,
                 std::vector<std::string>& names) {
  for (std::size_t at = 0; at + sizeof(ElfW(Sym)) <= symbols.sh_size; at += sizeof(ElfW(Sym))) {
    ElfW(Sym) symbol{};
    if (!read_at(file, symbols.sh_offset + at, symbol)) return;
    const unsigned binding = symbol.st_info >> 4;
    const unsigned visibility = symbol.st_other & 3U;
    const bool offered =
        symbol.st_shndx != SHN_UNDEF &&
        (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) &&
        (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
    if (offered) names.push_back(name_at(file, strings.sh_offset + symbol.st_name));
  }
}

}  // namespace

Result<std::vector<std::string>> exported_symbols(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string file = text.str();
  if (!stream || file.size() > kMaxFileBytes) return fail(ErrorCode::kSystem, "read " + path);
  ElfW(Ehdr) header{};
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return fail(ErrorCode::kBackend, path + " is not a shared library of this system");
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) section{};
    ElfW(Shdr) strings{};
    if (!read_at(file, header.e_shoff + i * sizeof(section), section)) break;
    if (section.sh_type != SHT_DYNSYM) continue;
    if (!read_at(file, header.e_shoff + section.sh_link * sizeof(strings), strings)) break;
    add_symbols(file, section, strings, names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace loom::conformance
