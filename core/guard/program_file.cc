#include "guard/program_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "guard/binary_file.h"
#include "guard/file_system.h"
#include "guard/system_error.h"

namespace loom::guard {
namespace {

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }
bool ends_name(char c) noexcept { return is_blank(c) || c == '\0' || c == '\n'; }

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

std::optional<std::string_view> linux_interpreter(std::string_view head,
                                                  const ScriptRules& rules) noexcept {
  const auto* const first = std::find_if_not(head.begin() + 2, head.end(), is_blank);
  const auto* const last = std::find_if(first, head.end(), ends_name);
  // The kernel pads a short file with NUL; a name that fills the head may be cut short.
  if (last == head.end() && head.size() == rules.head_bytes) return std::nullopt;
  if (first == last) return std::nullopt;
  return std::string_view(first, static_cast<std::size_t>(last - first));
}

std::optional<std::string_view> darwin_interpreter(std::string_view head) noexcept {
  const std::size_t end = head.find_first_of("#\n", 2);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = head.substr(2, end - 2);
  const auto* const first = std::find_if_not(line.begin(), line.end(), is_blank);
  const auto* const last = std::find_if(first, line.end(), ends_name);
  if (first == last) return std::nullopt;
  return std::string_view(first, static_cast<std::size_t>(last - first));
}

}  // namespace

std::optional<std::string_view> script_interpreter(std::string_view head,
                                                   const ScriptRules& rules) noexcept {
  head = head.substr(0, rules.head_bytes);
  if (!head.starts_with("#!")) return std::nullopt;
  return rules.ends_at_hash ? darwin_interpreter(head) : linux_interpreter(head, rules);
}

Result<ProgramFile> parse_program(const ReadBytes& read, const ProgramRules& rules) {
  LOOM_TRY(const Bytes head, read(0, rules.script.head_bytes));
  const std::string_view text = as_text(head);
  if (rules.binary == BinaryFormat::kElf && begins_elf(text)) return parse_elf(head, read);
  if (rules.binary == BinaryFormat::kMachO && begins_mach_o(text)) {
    return parse_mach_o(head, read, rules.processors);
  }
  const auto interpreter = script_interpreter(text, rules.script);
  if (!interpreter) {
    return unknown_file("is neither a script that names its interpreter nor a binary");
  }
  return ProgramFile{.format = ProgramFormat::kScript, .needs = std::string(*interpreter)};
}

Result<ProgramFile> read_program(int file, const ProgramRules& rules) {
  return parse_program(
      [file](std::uint64_t offset, std::size_t size) { return read_bytes(file, offset, size); },
      rules);
}

}  // namespace loom::guard
