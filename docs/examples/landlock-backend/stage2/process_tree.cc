#include "process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "control.h"

namespace landlock::stage2 {
namespace {

constexpr long kPidfdSendSignal = 424;
constexpr long kPidfdOpen = 434;
constexpr const char* kChildren = "/proc/thread-self/children";
// What does not fit into one round is found in the next.
constexpr std::size_t kMaxProcesses = 131'072;
// A number, twice, and the words around them.
constexpr std::size_t kMaxName = 64;

struct Member {
  pid_t pid = 0;
  pid_t parent = 0;
};

// The head of a record of getdents64; its name follows.
struct __attribute__((packed)) EntryHead {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
};

int children_list = -1;
int proc = -1;
Member* members = nullptr;
std::size_t member_count = 0;

// "PID/FILE" or "PID/task/TID/FILE", below /proc.
class Name {
 public:
  Name& add(std::string_view words) noexcept {
    // The last byte stays a NUL.
    if (words.size() < text_.size() - size_)
      size_ += words.copy(text_.data() + size_, words.size());
    return *this;
  }
  Name& add(pid_t number) noexcept {
    std::array<char, 12> digits{};
    const auto [end, error] = std::to_chars(digits.begin(), digits.end(), number);
    return add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  [[nodiscard]] int open(int flags) const noexcept {
    return ::openat(proc, text_.data(), flags | O_CLOEXEC);
  }

 private:
  std::array<char, kMaxName> text_{};
  std::size_t size_ = 0;
};

// The parent of a process, 0 where it cannot be told.
pid_t parent_of(pid_t pid) noexcept {
  const int file = Name().add(pid).add("/stat").open(O_RDONLY);
  if (file < 0) return 0;
  std::array<char, 256> text{};
  const ssize_t got = ::read(file, text.data(), text.size());
  ::close(file);
  const std::string_view all(text.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  // "PID (NAME) STATE PARENT …", and a name holds whatever it likes, but is short.
  const std::size_t name_end = all.rfind(") ");
  if (name_end == std::string_view::npos || name_end + 4 >= all.size()) return 0;
  pid_t parent = 0;
  std::from_chars(all.data() + name_end + 4, all.data() + all.size(), parent);
  return parent;
}

// false: it is gone, or it is not what was found before.
bool signal_member(const Member& member, int number) noexcept {
  const pid_t self = ::getpid();
  // Nobody but this process waits for its children, so no number of theirs is another's yet.
  if (member.parent == self) return ::kill(member.pid, number) == 0;
  const auto held = static_cast<int>(::syscall(kPidfdOpen, member.pid, 0U));
  if (held < 0) return false;
  // What has the number while the descriptor's process is alive is that process.
  const pid_t parent = parent_of(member.pid);
  const bool ours = parent == member.parent || parent == self;
  const bool sent = ours && ::syscall(kPidfdSendSignal, held, number, nullptr, 0U) == 0;
  ::close(held);
  return sent;
}

void add_listed(int list, pid_t parent) noexcept {
  std::array<char, 4'096> text;
  pid_t pid = 0;
  ssize_t got = 0;
  for (off_t at = 0; (got = ::pread(list, text.data(), text.size(), at)) > 0; at += got) {
    for (ssize_t i = 0; i < got; ++i) {
      const char c = text[static_cast<std::size_t>(i)];
      if (c >= '0' && c <= '9') {
        pid = pid * 10 + (c - '0');
        continue;
      }
      if (pid > 0 && member_count < kMaxProcesses) {
        members[member_count++] = {.pid = pid, .parent = parent};
      }
      pid = 0;
    }
  }
}

// Each thread has a list of its own.
void add_children_of(pid_t pid) noexcept {
  const int tasks = Name().add(pid).add("/task").open(O_RDONLY | O_DIRECTORY);
  if (tasks < 0) return;
  std::array<char, 2'048> records;
  long got = 0;
  while ((got = ::syscall(SYS_getdents64, tasks, records.data(), records.size())) > 0) {
    for (long at = 0; at < got;) {
      const char* const record = records.data() + at;
      EntryHead head{};
      ::memcpy(&head, record, sizeof head);
      at += head.size;
      const char* const thread = record + sizeof head;
      if (*thread == '.') continue;
      const int list = Name().add(pid).add("/task/").add(thread).add("/children").open(O_RDONLY);
      if (list < 0) continue;
      add_listed(list, pid);
      ::close(list);
    }
  }
  ::close(tasks);
}

}  // namespace

void open_process_tree() noexcept {
  children_list = ::open(kChildren, O_RDONLY | O_CLOEXEC);
  if (children_list < 0) give_up(Step::kSession, kChildren, errno);
  proc = ::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0) give_up(Step::kSession, "/proc", errno);
  void* const place = ::mmap(nullptr, kMaxProcesses * sizeof(Member), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) give_up(Step::kSession, "process table", errno);
  members = static_cast<Member*>(place);
}

void kill_process_tree() noexcept {
  member_count = 0;
  add_listed(children_list, ::getpid());
  // Stopped before its children are listed: a fork that is under way fails, and none follows.
  for (std::size_t i = 0; i < member_count; ++i) {
    if (signal_member(members[i], SIGSTOP)) add_children_of(members[i].pid);
  }
  for (std::size_t i = member_count; i-- > 0;) signal_member(members[i], SIGKILL);
}

}  // namespace landlock::stage2
