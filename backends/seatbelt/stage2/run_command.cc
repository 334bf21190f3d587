#include "run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::seatbelt {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The interpreter that a script names, or nothing.
std::string read_interpreter(const std::string& path) {
  std::array<char, 512> bytes{};
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const ssize_t n = file ? ::pread(file.get(), bytes.data(), bytes.size(), 0) : 0;
  std::string_view line(bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
  if (!line.starts_with("#!")) return {};
  line.remove_prefix(2);
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

bool exists(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_absent(int error) noexcept { return error == ENOENT || error == ENOTDIR; }

Failure not_found(std::string name) {
  return {.step = Stage2Step::kLookup, .thing = std::move(name), .error = ENOENT};
}

// The kernel says ENOENT for an absent program and for an absent interpreter of a present one.
Failure refused(const std::string& path, int error) {
  std::string thing = path;
  if (is_absent(error)) {
    const std::string interpreter = read_interpreter(path);
    if (!interpreter.empty()) thing.append(": interpreter ").append(interpreter);
  }
  return {.step = Stage2Step::kExecute, .thing = std::move(thing), .error = error};
}

struct Program {
  std::vector<char*> argv;
  std::vector<char*> environment;

  // Returns only on failure, with errno.
  [[nodiscard]] int execute(const std::string& path) const noexcept {
    ::execve(path.c_str(), argv.data(), environment.data());
    return errno;
  }
};

Failure execute_path(const Program& program, const std::string& path) {
  const int error = program.execute(path);
  return is_absent(error) && !exists(path) ? not_found(path) : refused(path, error);
}

// Not by opening it: that needs the right to read, and a program may be there to be run only.
std::optional<Failure> doubt_program(const std::string& path, const FileIdentity& identity) {
  struct stat status {};
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (::lstat(path.substr(0, end).c_str(), &status) != 0) {
      return is_absent(errno) ? not_found(path) : refused(path, errno);
    }
    if (S_ISLNK(status.st_mode)) break;
    if (end == std::string::npos) break;
  }
  const FileIdentity found{.device = static_cast<std::uint64_t>(status.st_dev),
                           .inode = status.st_ino};
  if (!S_ISLNK(status.st_mode) && found == identity) return std::nullopt;
  return Failure{.step = Stage2Step::kExecute, .thing = path + ": exchanged since it was judged"};
}

// What was found but refused is remembered: it is a better answer than "not found", and a later
// directory may still hold a program that runs.
Failure search_path(const Program& program, const std::string& name, std::string_view directories) {
  std::optional<Failure> remembered;
  for (;;) {
    const auto colon = directories.find(':');
    std::string path(directories.substr(0, colon));
    if (!path.empty() && path.back() != '/') path.push_back('/');
    path.append(name);  // an empty entry is the current directory, as for execvp
    const int error = program.execute(path);
    if (!looks_further(error)) return refused(path, error);
    if (!remembered && exists(path)) remembered = refused(path, error);
    if (colon == std::string_view::npos) break;
    directories.remove_prefix(colon + 1);
  }
  return remembered ? std::move(*remembered) : not_found(name);
}

std::optional<std::string_view> find_path(const std::vector<std::string>& environment) {
  static constexpr std::string_view kPrefix = "PATH=";
  for (const std::string& variable : environment) {
    if (variable.starts_with(kPrefix)) return std::string_view(variable).substr(kPrefix.size());
  }
  return std::nullopt;
}

// A directory that cannot be entered ends the run; the command never runs somewhere else (D19).
std::optional<Failure> enter(const std::string& cwd) {
  const std::string directory = cwd.empty() ? "/" : cwd;
  const int error = directory.front() != '/' ? EINVAL : ::chdir(directory.c_str()) != 0 ? errno : 0;
  if (error == 0) return std::nullopt;
  return Failure{.step = Stage2Step::kDirectory, .thing = directory, .error = error};
}

}  // namespace

bool looks_further(int error) noexcept {
  return is_absent(error) || error == EACCES || error == EPERM;
}

void reset_signals() noexcept {
  for (int number = 1; number < NSIG; ++number) {
    ::signal(number, SIG_DFL);  // fails for those that nobody can change
  }
  sigset_t nothing;
  sigemptyset(&nothing);  // a macro on macOS
  ::sigprocmask(SIG_SETMASK, &nothing, nullptr);
}

Failure run_command(CommitDocument document) {
  if (document.argv.empty()) {
    return {.step = Stage2Step::kCommit, .thing = "commit document: argv is empty"};
  }
  if (auto failure = enter(document.cwd)) return std::move(*failure);
  const std::string name = document.argv.front();
  const auto directories = find_path(document.environment);
  const Program program{.argv = pointers_to(document.argv),
                        .environment = pointers_to(document.environment)};
  if (!document.program.empty()) {
    if (auto doubt = doubt_program(document.program, document.program_identity)) {
      return std::move(*doubt);
    }
    return execute_path(program, document.program);
  }
  if (name.find('/') != std::string::npos) return execute_path(program, name);
  if (name.empty() || !directories) return not_found(name);
  return search_path(program, name, *directories);
}

}  // namespace loom::seatbelt
