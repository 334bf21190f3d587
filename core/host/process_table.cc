#include "host/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "host/errno_text.h"
#include "host/exit_status.h"
#include "host/memory_file.h"

namespace loom::host {

namespace {

constexpr std::size_t kMaxChildrenBytes = 4u << 20;
constexpr std::size_t kStatBytes = 1'024;  // a line has 52 numbers and a name of at most 64 bytes
// Words after the name, counted from 0 (proc_pid_stat(5) counts the pid as 1 and the name as 2).
constexpr int kStateWord = 0;
constexpr int kParentWord = 1;
constexpr int kGroupWord = 2;
constexpr int kSessionWord = 3;
constexpr int kThreadsWord = 17;
constexpr int kBirthWord = 19;
constexpr int kWaitChannelWord = 32;
constexpr int kExitCodeWord = 49;

template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The first one, which is taken away; empty at the end.
std::string_view take_word(std::string_view& text) noexcept {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

std::string_view word_of(std::string_view text, int index) noexcept {
  for (int i = 0; i < index; ++i) {
    if (take_word(text).empty()) return {};
  }
  return take_word(text);
}

// All up to the exit code's, the last one; those that are missing are empty.
using Words = std::array<std::string_view, kExitCodeWord + 1>;

Words words_of(std::string_view text) noexcept {
  Words words;
  for (std::string_view& word : words) word = take_word(text);
  return words;
}

// What follows the name. The name itself may hold spaces and parentheses.
std::string_view after_name(std::string_view stat_text) noexcept {
  const auto close = stat_text.rfind(')');
  return close == std::string_view::npos ? std::string_view() : stat_text.substr(close + 1);
}

// Empty when the process is gone.
std::string_view read_stat(std::int32_t pid, std::array<char, kStatBytes>& buffer) {
  std::array<char, 32> path{"/proc/"};
  char* const end = std::to_chars(path.data() + 6, path.data() + 20, pid).ptr;
  std::string_view("/stat").copy(end, 5);
  const UniqueFd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
  return got <= 0 ? std::string_view()
                  : std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

bool exists(std::int32_t pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

}  // namespace

std::optional<ProcessRow> parse_process_stat(std::string_view text) {
  const auto open = text.find('(');
  if (open == std::string_view::npos) return std::nullopt;
  const auto pid = parse_number<std::int32_t>(word_of(text.substr(0, open), 0));
  const std::string_view rest = after_name(text);
  const auto parent = parse_number<std::int32_t>(word_of(rest, kParentWord));
  const auto birth = parse_number<std::uint64_t>(word_of(rest, kBirthWord));
  if (!pid || !parent || !birth) return std::nullopt;
  return ProcessRow{.pid = *pid, .parent = *parent, .birth = *birth};
}

char process_state(std::string_view stat_text) noexcept {
  const std::string_view state = word_of(after_name(stat_text), kStateWord);
  return state.size() == 1 ? state.front() : '\0';
}

// How many threads there are is read under the same lock as how the process ended, and is 0 once
// that lock is gone (fs/proc/array.c, do_task_stat). Since Linux 5.16 a process that waits, or has
// ended, has a wait channel of 1, for whoever may trace it.
std::optional<EndLine> parse_end_line(std::string_view stat_text) noexcept {
  const Words words = words_of(after_name(stat_text));
  if (words[kStateWord] != "Z" || words[kThreadsWord] == "0") return std::nullopt;
  const auto status = parse_number<int>(words[kExitCodeWord]);
  if (!status) return std::nullopt;
  return EndLine{.status = *status, .is_known = words[kWaitChannelWord] == "1"};
}

std::optional<ProcessRow> read_process(std::int32_t pid) {
  std::array<char, kStatBytes> buffer;
  return parse_process_stat(read_stat(pid, buffer));
}

char read_process_state(std::int32_t pid) {
  std::array<char, kStatBytes> buffer;
  return process_state(read_stat(pid, buffer));
}

namespace {

// Calls `take` with each process's line of /proc/<pid>/stat.
Result<void> for_each_stat(const std::function<void(std::string_view)>& take) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir);
  if (!proc) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "open /proc: " + errno_text(error), error);
  }
  std::array<char, kStatBytes> buffer;
  for (;;) {
    errno = 0;  // the only way to tell the end from a failure (readdir(3))
    const dirent* const entry = ::readdir(proc.get());
    if (entry == nullptr && errno != 0) {
      const int error = errno;
      return fail(ErrorCode::kSystem, "list /proc: " + errno_text(error), error);
    }
    if (entry == nullptr) return {};
    if (const auto pid = parse_number<std::int32_t>(entry->d_name)) take(read_stat(*pid, buffer));
  }
}

}  // namespace

Result<std::vector<ProcessRow>> read_process_table() {
  std::vector<ProcessRow> rows;
  LOOM_TRY_VOID(for_each_stat([&rows](std::string_view text) {
    if (const auto row = parse_process_stat(text)) rows.push_back(*row);
  }));
  return rows;
}

Result<std::vector<ProcessRow>> read_group(const ProcessRow& leader) {
  std::vector<ProcessRow> rows;
  bool reused = false;
  LOOM_TRY_VOID(for_each_stat([&](std::string_view text) {
    const auto row = parse_process_stat(text);
    if (!row) return;
    // While the group has members nobody gets its number: a stranger who has it is proof that all
    // of them have ended.
    reused = reused || (row->pid == leader.pid && row->birth != leader.birth);
    const std::string_view rest = after_name(text);
    const bool member = parse_number<std::int32_t>(word_of(rest, kGroupWord)) == leader.pid &&
                        parse_number<std::int32_t>(word_of(rest, kSessionWord)) == leader.pid;
    if (member && process_state(text) != 'Z' && process_state(text) != 'X') rows.push_back(*row);
  }));
  if (reused) rows.clear();
  return rows;
}

Result<std::vector<std::int32_t>> read_children(std::int32_t pid) {
  const std::string number = std::to_string(pid);
  const std::string path = "/proc/" + number + "/task/" + number + "/children";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    const int error = errno;
    const bool gone = (error == ENOENT || error == ESRCH) && !exists(pid);
    if (gone) return std::vector<std::int32_t>();
    return fail(ErrorCode::kSystem, "open " + path + ": " + errno_text(error), error);
  }
  const auto text = read_all(file.get(), kMaxChildrenBytes, path.c_str());
  if (!text && text.error().sys_errno == ESRCH) return std::vector<std::int32_t>();
  if (!text) return tl::unexpected(text.error());
  std::vector<std::int32_t> children;
  for (int i = 0;; ++i) {
    const auto child = parse_number<std::int32_t>(word_of(as_text(*text), i));
    if (!child) return children;
    children.push_back(*child);
  }
}

namespace {

// Nothing where it cannot be seen.
using NamespaceIdentity = std::optional<std::pair<dev_t, ino_t>>;

// linux/pidfd.h (6.11), which Debian 12 has no header for.
struct NamespaceKind {
  const char* name;  // in /proc/<pid>/ns
  unsigned long request;
};
constexpr NamespaceKind kMounts{.name = "mnt", .request = _IO(0xFF, 3)};
constexpr NamespaceKind kNetwork{.name = "net", .request = _IO(0xFF, 4)};
constexpr NamespaceKind kPids{.name = "pid", .request = _IO(0xFF, 5)};

NamespaceIdentity identity_of(int result, const struct stat& status) {
  if (result != 0) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

NamespaceIdentity namespace_in(const std::string& process, NamespaceKind kind) {
  struct stat status {};
  return identity_of(::stat(("/proc/" + process + "/ns/" + kind.name).c_str(), &status), status);
}

// By its descriptor, for half of what the names in /proc take.
NamespaceIdentity namespace_of(int pidfd, std::int32_t pid, NamespaceKind kind) {
  const UniqueFd space(::ioctl(pidfd, kind.request, 0));
  if (!space) return namespace_in(std::to_string(pid), kind);
  struct stat status {};
  return identity_of(::fstat(space.get(), &status), status);
}

}  // namespace

bool shares_namespaces(int pidfd, std::int32_t pid, NamespaceKinds kinds) {
  static NamespaceIdentity mounts;
  static NamespaceIdentity pids;
  static NamespaceIdentity network;
  const auto same = [=](NamespaceIdentity& ours, NamespaceKind kind) {
    // We never leave ours, and looking costs as much as looking at theirs.
    if (!ours) ours = namespace_in("self", kind);
    return ours && namespace_of(pidfd, pid, kind) == ours;
  };
  return same(mounts, kMounts) || (kinds.pids && same(pids, kPids)) ||
         (kinds.network && same(network, kNetwork));
}

UniqueFd open_process(const ProcessRow& row) noexcept {
  if (row.pid <= 0) return UniqueFd();
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, row.pid, 0u)));
  if (!pidfd) return UniqueFd();
  // The descriptor first, the birth second: if the number changed hands in between, the birth is
  // another.
  const auto now = read_process(row.pid);
  return now && now->birth == row.birth ? std::move(pidfd) : UniqueFd();
}

bool signal_process(const ProcessRow& row, int signal) noexcept {
  const UniqueFd pidfd = open_process(row);
  return pidfd && ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0u) == 0;
}

}  // namespace loom::host
