#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace loom::guard {

// As much of a binary of macOS as admission looks at. Not to be run.

inline constexpr std::uint32_t kMacX86 = 0x01000007;
inline constexpr std::uint32_t kMacArm = 0x0100000c;
inline constexpr std::uint32_t kMacExecute = 2;
inline constexpr std::uint32_t kMacLibrary = 6;

inline std::string little(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

inline std::string big(std::uint32_t value) {
  const std::string bytes = little(value);
  return {bytes.rbegin(), bytes.rend()};
}

// One image: magic, processor, its kind, what the file is; 32 bytes in all.
inline std::string mac_image(std::uint32_t processor, std::uint32_t filetype = kMacExecute) {
  return little(0xfeedfacf) + little(processor) + little(0) + little(filetype) +
         std::string(16, '\0');
}

inline std::string mac_program() { return mac_image(kMacArm); }

// Several in one file: a table of 20 bytes for each, then the images.
inline std::string mac_fat(const std::vector<std::string>& images,
                           const std::vector<std::uint32_t>& processors) {
  std::string table = big(0xcafebabe) + big(static_cast<std::uint32_t>(images.size()));
  std::string bodies;
  const std::size_t first = 8 + 20 * images.size();
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::size_t offset = first + bodies.size();
    table += big(processors[i]) + big(0) + big(static_cast<std::uint32_t>(offset)) +
             big(static_cast<std::uint32_t>(images[i].size())) + big(0);
    bodies += images[i];
  }
  return table + bodies;
}

}  // namespace loom::guard
