#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <initializer_list>
#include <type_traits>

// The system calls that stage 2 makes, under the C library's names and with its manners: -1 and
// errno. There is one thread.

namespace {

int last_error = 0;

struct Arguments {
  long first = 0;
  long second = 0;
  long third = 0;
  long fourth = 0;
  long fifth = 0;
  long sixth = 0;
};

long enter_kernel(long number, const Arguments& arguments) noexcept {
  constexpr long kHighestError = 4'095;
  register long fourth asm("r10") = arguments.fourth;
  register long fifth asm("r8") = arguments.fifth;
  register long sixth asm("r9") = arguments.sixth;
  long result = number;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(arguments.first), "S"(arguments.second), "d"(arguments.third), "r"(fourth),
                 "r"(fifth), "r"(sixth)
               : "rcx", "r11", "memory");
  if (result >= 0 || result < -kHighestError) return result;
  last_error = static_cast<int>(-result);
  return -1;
}

template <class T>
long as_word(T value) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

template <class Answer = int, class... Words>
Answer call(long number, Words... words) noexcept {
  return static_cast<Answer>(enter_kernel(number, Arguments{as_word(words)...}));
}

}  // namespace

extern "C" {

// NOLINTBEGIN(cert-dcl50-cpp,bugprone-reserved-identifier): the C library's own signatures
int* __errno_location() noexcept { return &last_error; }

long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  Arguments arguments;
  for (long* word : {&arguments.first, &arguments.second, &arguments.third, &arguments.fourth,
                     &arguments.fifth, &arguments.sixth}) {
    *word = va_arg(list, long);
  }
  va_end(list);
  return enter_kernel(number, arguments);
}

int prctl(int option, ...) noexcept {
  va_list list;
  va_start(list, option);
  Arguments arguments{.first = option};
  for (long* word : {&arguments.second, &arguments.third, &arguments.fourth, &arguments.fifth}) {
    *word = va_arg(list, long);
  }
  va_end(list);
  return static_cast<int>(enter_kernel(SYS_prctl, arguments));
}

int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  return call(SYS_fcntl, fd, command, argument);
}

// No file that lives on is ever created, so there is no mode.
int open(const char* path, int flags, ...) { return call(SYS_openat, AT_FDCWD, path, flags, 0); }
int openat(int directory, const char* path, int flags, ...) {
  return call(SYS_openat, directory, path, flags, 0);
}
// NOLINTEND(cert-dcl50-cpp,bugprone-reserved-identifier)

int close(int fd) { return call(SYS_close, fd); }
int dup2(int from, int to) noexcept { return call(SYS_dup2, from, to); }
ssize_t pread(int fd, void* data, std::size_t size, off_t offset) {
  return call<ssize_t>(SYS_pread64, fd, data, size, offset);
}
ssize_t write(int fd, const void* data, std::size_t size) {
  return call<ssize_t>(SYS_write, fd, data, size);
}
ssize_t readlink(const char* path, char* target, std::size_t size) noexcept {
  return call<ssize_t>(SYS_readlink, path, target, size);
}
int fstat(int fd, struct stat* status) noexcept { return call(SYS_fstat, fd, status); }
int stat(const char* path, struct stat* status) noexcept { return call(SYS_stat, path, status); }
int statx(int directory, const char* path, int flags, unsigned mask,
          struct statx* status) noexcept {
  return call(SYS_statx, directory, path, flags, mask, status);
}
int statfs(const char* path, struct statfs* status) noexcept {
  return call(SYS_statfs, path, status);
}
int fstatfs(int fd, struct statfs* status) noexcept { return call(SYS_fstatfs, fd, status); }
void* mmap(void* at, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  return reinterpret_cast<void*>(call<long>(SYS_mmap, at, size, protection, flags, fd, offset));
}
int madvise(void* at, std::size_t size, int advice) noexcept {
  return call(SYS_madvise, at, size, advice);
}

int socket(int family, int type, int protocol) noexcept {
  return call(SYS_socket, family, type, protocol);
}
ssize_t send(int socket, const void* data, std::size_t size, int flags) {
  return call<ssize_t>(SYS_sendto, socket, data, size, flags, 0, 0);
}
ssize_t recv(int socket, void* data, std::size_t size, int flags) {
  return call<ssize_t>(SYS_recvfrom, socket, data, size, flags, 0, 0);
}
ssize_t recvmsg(int socket, msghdr* message, int flags) {
  return call<ssize_t>(SYS_recvmsg, socket, message, flags);
}
int getsockopt(int socket, int level, int name, void* value, socklen_t* size) noexcept {
  return call(SYS_getsockopt, socket, level, name, value, size);
}

pid_t getpid() noexcept { return call(SYS_getpid); }
pid_t getppid() noexcept { return call(SYS_getppid); }
int kill(pid_t pid, int number) noexcept { return call(SYS_kill, pid, number); }
pid_t getsid(pid_t pid) noexcept { return call(SYS_getsid, pid); }
pid_t setsid() noexcept { return call(SYS_setsid); }
int chdir(const char* path) noexcept { return call(SYS_chdir, path); }
int sched_yield() noexcept { return call(SYS_sched_yield); }
int clock_gettime(clockid_t clock, timespec* now) noexcept {
  return call(SYS_clock_gettime, clock, now);
}
int getrlimit(__rlimit_resource_t resource, rlimit* limit) noexcept {
  return call(SYS_getrlimit, static_cast<int>(resource), limit);
}
int setrlimit(__rlimit_resource_t resource, const rlimit* limit) noexcept {
  return call(SYS_setrlimit, static_cast<int>(resource), limit);
}
int execve(const char* path, char* const argv[], char* const environment[]) noexcept {
  return call(SYS_execve, path, argv, environment);
}
void _exit(int status) {
  for (;;) call(SYS_exit_group, status);
}

// Only ever to ignore a signal: a handler would need a way back. The kernel's own struct begins
// with the disposition, and the rest of it is zero.
sighandler_t signal(int number, sighandler_t disposition) noexcept {
  constexpr std::size_t kMaskBytes = 8;
  const long action[4] = {as_word(disposition), 0, 0, 0};
  return call(SYS_rt_sigaction, number, action, 0, kMaskBytes) == 0 ? SIG_DFL : SIG_ERR;
}

}  // extern "C"
