#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "guard/binary_file.h"

// <mach-o/loader.h> and <mach-o/fat.h>; how the kernel reads them: bsd/kern/kern_exec.c and
// mach_loader.c in xnu.

namespace loom::guard {
namespace {

constexpr std::size_t kWord = 4;

// The first four bytes as a big-endian number.
constexpr std::uint32_t kFat = 0xcafebabe;
constexpr std::uint32_t kFat64 = 0xcafebabf;  // for libraries: the kernel starts none
constexpr std::uint32_t kThin = 0xfeedface;
constexpr std::uint32_t kThin64 = 0xfeedfacf;
constexpr std::array kMagics = {kFat,        kFat64,      kThin,       kThin64,
                                0xbebafecaU, 0xbfbafecaU, 0xcefaedfeU, 0xcffaedfeU};
constexpr std::uint32_t kThin64Swapped = 0xcffaedfe;

constexpr std::size_t kThin64Bytes = 32;  // mach_header_64
constexpr std::size_t kFatHeaderBytes = 8;
constexpr std::size_t kFatEntryBytes = 20;
// As many as fit into the first page of 4,096 bytes with the header (fatfile_getarch).
constexpr std::size_t kMaxImages = 204;
constexpr std::uint32_t kExecute = 2;  // MH_EXECUTE

std::uint32_t byte_at(ByteView bytes, std::size_t at) noexcept {
  return std::to_integer<std::uint32_t>(std::byte{bytes[at]});
}

std::uint32_t big_endian(ByteView bytes, std::size_t at) noexcept {
  return byte_at(bytes, at) << 24U | byte_at(bytes, at + 1) << 16U | byte_at(bytes, at + 2) << 8U |
         byte_at(bytes, at + 3);
}

std::uint32_t little_endian(ByteView bytes, std::size_t at) noexcept {
  return byte_at(bytes, at + 3) << 24U | byte_at(bytes, at + 2) << 16U |
         byte_at(bytes, at + 1) << 8U | byte_at(bytes, at);
}

bool contains(const std::vector<std::uint32_t>& processors, std::uint32_t processor) noexcept {
  return std::find(processors.begin(), processors.end(), processor) != processors.end();
}

// All processors that macOS runs on are little-endian and have 64 bits.
ProgramFile parse_image(ByteView head, const std::vector<std::uint32_t>& processors) {
  if (head.size() < kWord) return unknown_file("is a binary that is cut short");
  if (big_endian(head, 0) != kThin64Swapped) return unknown_file("is a binary for another machine");
  if (head.size() < kThin64Bytes) return unknown_file("is a binary that is cut short");
  if (!contains(processors, little_endian(head, kWord))) {
    return unknown_file("is a binary for another machine");
  }
  if (little_endian(head, 3 * kWord) != kExecute) {
    return unknown_file("is a binary file, but no program");
  }
  return ProgramFile{.format = ProgramFormat::kBinary};
}

// Where the first image for one of the processors begins, the earlier processor first.
std::optional<std::uint32_t> image_for(ByteView table,
                                       const std::vector<std::uint32_t>& processors) noexcept {
  for (const std::uint32_t processor : processors) {
    for (std::size_t at = 0; at + kFatEntryBytes <= table.size(); at += kFatEntryBytes) {
      if (big_endian(table, at) == processor) return big_endian(table, at + 2 * kWord);
    }
  }
  return std::nullopt;
}

Result<ProgramFile> parse_images(ByteView head, const ReadBytes& read,
                                 const std::vector<std::uint32_t>& processors) {
  if (head.size() < kFatHeaderBytes) return unknown_file("is a binary that is cut short");
  const std::size_t count = big_endian(head, kWord);
  if (count == 0 || count > kMaxImages) {
    return unknown_file("is a binary without a sound table of images");
  }
  LOOM_TRY(const Bytes table, read(kFatHeaderBytes, count * kFatEntryBytes));
  if (table.size() != count * kFatEntryBytes) return unknown_file("is a binary that is cut short");
  const auto offset = image_for(table, processors);
  if (!offset) return unknown_file("is a binary for another machine");
  LOOM_TRY(const Bytes image, read(*offset, kThin64Bytes));
  return parse_image(image, processors);
}

}  // namespace

bool begins_mach_o(std::string_view head) noexcept {
  if (head.size() < kWord) return false;
  const std::uint32_t magic = big_endian(as_bytes(head), 0);
  return std::find(kMagics.begin(), kMagics.end(), magic) != kMagics.end();
}

Result<ProgramFile> parse_mach_o(ByteView head, const ReadBytes& read,
                                 const std::vector<std::uint32_t>& processors) {
  if (big_endian(head, 0) == kFat) return parse_images(head, read, processors);
  return parse_image(head, processors);
}

}  // namespace loom::guard
