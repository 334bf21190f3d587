#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "../landlock_numbers.h"
#include "restrict.h"

namespace landlock::stage2 {
namespace {

struct RulesetAttributes {
  std::uint64_t handled_files;
  std::uint64_t handled_tcp;
  std::uint64_t scopes;
};

struct __attribute__((packed)) PathAttributes {
  std::uint64_t access;
  std::int32_t fd;
};

bool is_link(int fd) noexcept {
  struct stat about {};
  return ::fstat(fd, &about) == 0 && S_ISLNK(about.st_mode);
}

// The object at a real path, reached without following a link, or -1 and errno. Component by
// component: container filters may be older than openat2.
int open_without_links(const char* path) noexcept {
  int at = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  while (at >= 0) {
    while (*path == '/') ++path;
    if (*path == '\0') return at;
    std::array<char, NAME_MAX + 1> name{};
    const std::size_t size = ::strcspn(path, "/");
    if (size >= name.size()) {
      ::close(at);
      errno = ENAMETOOLONG;
      return -1;
    }
    ::memcpy(name.data(), path, size);
    path += size;
    const int next = ::openat(at, name.data(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    ::close(at);
    errno = error;
    at = next;
    if (at >= 0 && is_link(at)) {
      ::close(at);
      errno = ELOOP;
      return -1;
    }
  }
  return -1;
}

// Security: the plan was made for this object. Another one that has its name by now was nobody's to
// grant.
void add_rule(int rules, const Rule& rule) noexcept {
  const int at = open_without_links(rule.path);
  if (at < 0) give_up(Step::kLandlock, rule.path, errno);
  struct stat about {};
  if (::fstat(at, &about) != 0) give_up(Step::kLandlock, rule.path, errno);
  const bool known = rule.device != 0 || rule.inode != 0;
  const bool same =
      known ? about.st_dev == rule.device && about.st_ino == rule.inode : S_ISDIR(about.st_mode);
  if (!same) give_up(Step::kLandlock, rule.path, ESTALE);
  const std::uint64_t access = S_ISDIR(about.st_mode) ? rule.access : (rule.access & kFileRights);
  const PathAttributes attributes{.access = access, .fd = at};
  if (access != 0 && ::syscall(kAddRule, rules, kPathBeneath, &attributes, 0U) != 0) {
    give_up(Step::kLandlock, rule.path, errno);
  }
  ::close(at);
}

bool can_list_root() noexcept {
  const int root = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root >= 0) ::close(root);
  return root >= 0;
}

// Whether TCP can be bound to whichever port is free. Changes nothing: the socket is gone at once.
bool can_bind() noexcept {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  const int bound = ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::close(made);
  errno = error;
  return bound == 0;
}

// A listener by an abstract name that the kernel chose, made before the restriction and so outside
// of what it scopes. Gone with the descriptor.
class AbstractListener {
 public:
  AbstractListener() noexcept : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un own{};
    own.sun_family = AF_UNIX;
    // An address that is its family alone asks for a free abstract name.
    const bool listens =
        ::bind(fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own.sun_family) == 0 &&
        ::listen(fd_, 2) == 0 &&
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&name_), &size_) == 0;
    if (!listens) size_ = 0;
  }
  AbstractListener(const AbstractListener&) = delete;
  AbstractListener& operator=(const AbstractListener&) = delete;
  ~AbstractListener() {
    if (fd_ >= 0) ::close(fd_);
  }

  // 0, or the errno of why not.
  [[nodiscard]] int connect() const noexcept {
    if (size_ == 0) return ENOTCONN;
    const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (made < 0) return errno;
    const bool done = ::connect(made, reinterpret_cast<const sockaddr*>(&name_), size_) == 0;
    const int error = done ? 0 : errno;
    ::close(made);
    return error;
  }

 private:
  int fd_;
  sockaddr_un name_{};
  socklen_t size_ = sizeof name_;
};

bool can_signal_parent() noexcept { return ::kill(::getppid(), 0) == 0; }

void restrict_self(int rules, std::uint32_t abi) noexcept {
  // What is tried below is nothing for the system's audit log.
  const unsigned flags = abi >= kLogAbi ? kDoNotLog : 0U;
  if (::syscall(kRestrictSelf, rules, flags) == 0) return;
  // landlock(7): the kernel stacks 16, and does not say that this is what E2BIG means.
  give_up(Step::kLandlock, errno == E2BIG ? "16 layers are in force already" : "restrict self",
          errno);
}

}  // namespace

LandlockState enter_landlock(const PrepareDocument& prepare) noexcept {
  const RulesetAttributes attributes{.handled_files = prepare.handled_files,
                                     .handled_tcp = prepare.handled_tcp,
                                     .scopes = prepare.scopes};
  const auto rules =
      static_cast<int>(::syscall(kCreateRuleset, &attributes, sizeof attributes, 0U));
  if (rules < 0) give_up(Step::kLandlock, "rule set", errno);
  for (std::size_t i = 0; i < prepare.rule_count; ++i) add_rule(rules, prepare.rules[i]);
  const bool bound = can_bind();
  const bool signalled = can_signal_parent();
  const AbstractListener outside;
  const bool connected = outside.connect() == 0;
  const bool listed = can_list_root();
  restrict_self(rules, prepare.abi);
  ::close(rules);
  // No policy that was planned opens the root. Some layer around us may have closed it before, and
  // then this shows nothing.
  if (can_list_root()) give_up(Step::kLandlock, "the rules were taken and do not show", 0);
  LandlockState state;
  state.rules = listed;
  const bool signals = signalled && !can_signal_parent() && errno == EPERM;
  state.scopes = prepare.scopes != 0 && signals && connected && outside.connect() == EPERM;
  state.tcp = prepare.handled_tcp != 0 && bound && !can_bind() && errno == EACCES;
  return state;
}

}  // namespace landlock::stage2
