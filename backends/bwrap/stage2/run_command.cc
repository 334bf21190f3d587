#include "run_command.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "descriptors.h"
#include "enter_exec_rules.h"
#include "open_path.h"

namespace loom::bwrap {
namespace {

constexpr int kSignals = 64;
constexpr std::size_t kKernelSetBytes = kSignals / 8;

// By system call: the C library refuses to touch its own signals 32 and 33, which somebody may have
// ignored or blocked all the same. All zeros is SIG_DFL, no flags, no mask, on every architecture.
void reset_signals() noexcept {
  const std::array<unsigned long, 8> default_action{};
  for (int number = 1; number <= kSignals; ++number) {
    ::syscall(SYS_rt_sigaction, number, default_action.data(), nullptr, kKernelSetBytes);
  }
  const std::array<unsigned char, kKernelSetBytes> nothing{};
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, nothing.data(), nullptr, kKernelSetBytes);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The interpreter that a program asks for, as far as the first bytes of its file tell.
class ProgramHead {
 public:
  explicit ProgramHead(const std::string& path) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    const ssize_t n = file ? ::pread(file.get(), bytes_.data(), bytes_.size(), 0) : 0;
    size_ = n > 0 ? static_cast<std::size_t>(n) : 0;
  }

  [[nodiscard]] std::string interpreter() const {
    if (text(0, 2) == "#!") return script_interpreter();
    if (text(0, SELFMAG) != ELFMAG) return {};
    if (bytes_[EI_CLASS] == ELFCLASS64) return elf_interpreter<Elf64_Ehdr, Elf64_Phdr>();
    return elf_interpreter<Elf32_Ehdr, Elf32_Phdr>();
  }

 private:
  // Empty when the range is not within what was read.
  [[nodiscard]] std::string_view text(std::size_t offset, std::size_t size) const noexcept {
    if (offset > size_ || size > size_ - offset) return {};
    return {bytes_.data() + offset, size};
  }

  [[nodiscard]] std::string script_interpreter() const {
    std::string_view line = text(2, size_ - 2);
    line = line.substr(0, line.find('\n'));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return std::string(line.substr(0, line.find_first_of(" \t")));
  }

  template <class Header, class Segment>
  [[nodiscard]] std::string elf_interpreter() const {
    const auto header = copy<Header>(0);
    for (std::size_t i = 0; header && i < header->e_phnum; ++i) {
      const auto segment = copy<Segment>(header->e_phoff + i * sizeof(Segment));
      if (!segment) break;
      if (segment->p_type != PT_INTERP) continue;
      const std::string_view name = text(segment->p_offset, segment->p_filesz);
      return std::string(name.substr(0, name.find('\0')));
    }
    return {};
  }

  template <class T>
  [[nodiscard]] std::optional<T> copy(std::size_t offset) const noexcept {
    const std::string_view from = text(offset, sizeof(T));
    if (from.empty()) return std::nullopt;
    T value;
    ::memcpy(&value, from.data(), sizeof value);
    return value;
  }

  std::array<char, 4'096> bytes_{};
  std::size_t size_ = 0;
};

bool exists(const std::string& path) noexcept {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

Failure not_found(std::string name) {
  return {.step = Stage2Step::kLookup, .thing = std::move(name), .error = ENOENT};
}

// The kernel says ENOENT for an absent program and for an absent interpreter of a present one.
Failure refused(const std::string& path, int error) {
  std::string thing = path;
  if (error == ENOENT || error == ENOTDIR) {
    const std::string interpreter = ProgramHead(path).interpreter();
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
  const bool absent = (error == ENOENT || error == ENOTDIR) && !exists(path);
  return absent ? not_found(path) : refused(path, error);
}

// Any other object than the one that was judged is no program of ours.
Failure execute_admitted(const Program& program, const std::string& path,
                         const FileIdentity& identity) {
  {
    const UniqueFd file = open_without_links(path);
    if (!file && (errno == ENOENT || errno == ENOTDIR)) return not_found(path);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) return refused(path, errno);
    if (FileIdentity{.device = status.st_dev, .inode = status.st_ino} != identity) {
      return {.step = Stage2Step::kExecute, .thing = path + ": exchanged since it was judged"};
    }
  }
  return execute_path(program, path);
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
    const bool go_on = error == ENOENT || error == ENOTDIR || error == EACCES;
    if (!go_on) return refused(path, error);
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
StepResult<void> enter(const std::string& cwd) {
  const std::string directory = cwd.empty() ? "/" : cwd;
  if (directory.front() != '/') return stop(Stage2Step::kDirectory, directory, EINVAL);
  if (::chdir(directory.c_str()) != 0) return stop(Stage2Step::kDirectory, directory, errno);
  return {};
}

}  // namespace

StepResult<void> shed_inheritance() {
  if (!mark_descriptors_for_closing()) return stop(Stage2Step::kExecute, "descriptors", errno);
  reset_signals();
  return {};
}

Failure run_command(Commit commit, std::uint32_t landlock_abi, int control) {
  CommitDocument& document = commit.document;
  if (document.argv.empty()) {
    return {.step = Stage2Step::kCommit, .thing = "commit document: argv is empty"};
  }
  if (auto entered = enter(document.cwd); !entered) return std::move(entered.error());
  if (auto confined = enter_exec_rules(commit, landlock_abi, control); !confined) {
    return std::move(confined.error());
  }
  const std::string name = document.argv.front();
  const auto directories = find_path(document.environment);
  const Program program{.argv = pointers_to(document.argv),
                        .environment = pointers_to(document.environment)};
  if (!document.program.empty()) {
    return execute_admitted(program, document.program, document.program_identity);
  }
  if (name.find('/') != std::string::npos) return execute_path(program, name);
  if (name.empty() || !directories) return not_found(name);
  return search_path(program, name, *directories);
}

}  // namespace loom::bwrap
