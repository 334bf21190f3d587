#pragma once

#include <loom/result.h>

#include <string>
#include <string_view>
#include <vector>

// What Windows wants as one text where POSIX takes lists. Pure, so that it is tested everywhere.
// Everything is UTF-8; all marks that matter are ASCII.
namespace loom::windows {

// CreateProcess takes this many UTF-16 units, the closing zero included.
inline constexpr std::size_t kMaxCommandLine = 32'767;

// The command line from which CommandLineToArgvW, and the start-up code of C programs, make exactly
// `argv` again. argv[0] is read by another rule than the rest: no backslash escapes anything there,
// so one that holds a quote cannot be passed and is refused.
//
// A program that takes its command line apart by rules of its own (cmd.exe) gets no promise.
[[nodiscard]] Result<std::string> join_command_line(const std::vector<std::string>& argv);

// The environment block of `variables` (NAME=VALUE): sorted by name without regard to ASCII case,
// as Windows keeps it, each with a NUL behind it, and one more at the end. Refuses two names that
// are one to Windows: nothing would say which of them the command saw.
[[nodiscard]] Result<std::string> make_environment_block(std::vector<std::string> variables);

}  // namespace loom::windows
