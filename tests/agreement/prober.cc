// Tries operations inside a jail and says what came of each.
//
//   prober WORD PATH SECOND [WORD PATH SECOND]…
//
// SECOND is a rename's target, the source of a copy, the linker to start a program with, or empty.
// One line each: y or n, errno, device and inode of the object that was reached (0 0: none), and
// whether a program that was started said its word (1 or 0). Starting means that the kernel took
// it, and killed it for nothing.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace {

constexpr std::string_view kWord = "ran\n";
constexpr int kPatienceMs = 10'000;  // for a program that prints one word

struct Outcome {
  int error = 0;  // 0: it worked
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool said = false;
};

Outcome failed(int error = errno) { return {.error = error == 0 ? EIO : error}; }

// A descriptor and what it denotes.
class File {
 public:
  File(const char* path, int flags, mode_t mode = 0) : fd_(::open(path, flags | O_CLOEXEC, mode)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int number() const { return fd_; }
  [[nodiscard]] Outcome reached() const {
    struct stat about {};
    if (::fstat(fd_, &about) != 0) return failed();
    return {.error = 0, .device = about.st_dev, .inode = about.st_ino};
  }

 private:
  int fd_;
};

Outcome try_read(const char* path) {
  const File file(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file.is_open()) return failed();
  char byte = 0;
  return ::read(file.number(), &byte, 1) < 0 ? failed() : file.reached();
}

Outcome try_list(const char* path) {
  const File file(path, O_RDONLY | O_DIRECTORY);
  if (!file.is_open()) return failed();
  char names[4096];
  const long got = ::syscall(SYS_getdents64, file.number(), names, sizeof names);
  return got < 0 ? failed() : file.reached();
}

Outcome try_write(const char* path) {
  const File file(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY);
  return file.is_open() ? file.reached() : failed();
}

// The name must be new, wherever a link in its place leads.
Outcome try_create(const char* path) {
  struct stat about {};
  if (::stat(path, &about) == 0) return failed(EEXIST);
  const File file(path, O_WRONLY | O_CREAT | O_NOCTTY, 0755);
  return file.is_open() ? file.reached() : failed();
}

Outcome try_remove(const char* path) {
  struct stat about {};
  if (::lstat(path, &about) != 0) return failed();
  // The walk of the guard reads a directory's name with a slash behind it as the directory.
  const int result = S_ISDIR(about.st_mode) ? ::rmdir(path) : ::unlink(path);
  // What is asked comes after every question of what is allowed.
  if (result != 0 && errno != ENOTEMPTY) return failed();
  return {.error = 0, .device = about.st_dev, .inode = about.st_ino};
}

Outcome try_rename(const char* from, const char* to) {
  struct stat about {};
  if (::lstat(from, &about) != 0) return failed();
  if (::rename(from, to) != 0 && errno != ENOTEMPTY) return failed();
  return {.error = 0, .device = about.st_dev, .inode = about.st_ino};
}

struct Start {
  const char* program;
  const char* argument;  // or null
  int handle;            // executed instead, when not negative
};

[[noreturn]] void become(const Start& start, int output, int failure) {
  char* const nothing[] = {nullptr};
  char* const argv[] = {const_cast<char*>(start.program), const_cast<char*>(start.argument),
                        nullptr};
  ::dup2(output, STDOUT_FILENO);
  // Nothing to read, also where a policy hides the device.
  ::close(STDIN_FILENO);
  ::close(STDERR_FILENO);
  for (int fd = 0; fd >= 0 && fd < STDERR_FILENO;) fd = ::open("/dev/null", O_RDWR);
  if (start.handle >= 0) {
    ::fexecve(start.handle, argv, nothing);
  } else {
    ::execve(start.program, argv, nothing);
  }
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(failure, &error, sizeof error);
  ::_exit(127);
}

std::string read_all(int fd) {
  std::string text;
  char piece[256];
  for (;;) {
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, kPatienceMs) <= 0) return text;
    const ssize_t got = ::read(fd, piece, sizeof piece);
    if (got <= 0) return text;
    text.append(piece, static_cast<std::size_t>(got));
  }
}

// Whether a program starts and says its word.
Outcome try_start(const Start& start) {
  int output[2];
  int failure[2];
  if (::pipe2(output, O_CLOEXEC) != 0 || ::pipe2(failure, O_CLOEXEC) != 0) return failed();
  const pid_t child = ::fork();
  if (child < 0) return failed();
  if (child == 0) become(start, output[1], failure[1]);
  ::close(output[1]);
  ::close(failure[1]);
  const std::string said = read_all(output[0]);
  int error = 0;
  const bool refused = ::read(failure[0], &error, sizeof error) == sizeof error;
  ::close(output[0]);
  ::close(failure[0]);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return failed();
  if (refused) return failed(error);
  if (!WIFEXITED(status)) return failed(EIO);
  return {.error = 0, .device = 0, .inode = 0, .said = said == kWord};
}

// A relative interpreter is looked up from the program's own directory.
void enter_directory_of(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/') + 1);
  if (::chdir(directory.c_str()) != 0 && ::chdir("/") != 0) ::_exit(1);
}

Outcome try_execute(const char* path) {
  enter_directory_of(path);
  Outcome outcome = try_start({.program = path, .argument = nullptr, .handle = -1});
  struct stat about {};
  if (outcome.error != 0 || ::stat(path, &about) != 0) return outcome;
  outcome.device = about.st_dev;
  outcome.inode = about.st_ino;
  return outcome;
}

// Started by other means, a program is only known by its word.
Outcome only_by_word(const Outcome& outcome) {
  return outcome.error == 0 && !outcome.said ? failed(EIO) : outcome;
}

Outcome try_linker(const char* path, const char* linker) {
  return only_by_word(try_start({.program = linker, .argument = path, .handle = -1}));
}

// Of a regular file only: a device may have no end.
bool copy(int from, int to) {
  struct stat about {};
  if (::fstat(from, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  char piece[16384];
  ssize_t got = 0;
  while ((got = ::read(from, piece, sizeof piece)) > 0) {
    if (::write(to, piece, static_cast<std::size_t>(got)) != got) return false;
  }
  return got == 0;
}

Outcome try_memory(const char* path) {
  const File source(path, O_RDONLY | O_NONBLOCK);
  if (!source.is_open()) return failed();
  const int memory = ::memfd_create("program", MFD_CLOEXEC);
  if (memory < 0) return failed();
  if (!copy(source.number(), memory)) {
    ::close(memory);
    return failed(EIO);
  }
  const Outcome outcome = try_start({.program = path, .argument = nullptr, .handle = memory});
  ::close(memory);
  return only_by_word(outcome);
}

// A new program, made and started in one jail.
Outcome try_plant(const char* path, const char* source) {
  struct stat about {};
  if (::stat(path, &about) == 0) return failed(EEXIST);
  {
    const File from(source, O_RDONLY);
    const File to(path, O_WRONLY | O_CREAT, 0755);
    if (!from.is_open() || !to.is_open()) return failed();
    if (!copy(from.number(), to.number())) return failed();
  }
  return try_execute(path);
}

Outcome attempt(std::string_view word, const char* path, const char* second) {
  if (word == "read") return try_read(path);
  if (word == "list") return try_list(path);
  if (word == "write") return try_write(path);
  if (word == "create") return try_create(path);
  if (word == "remove") return try_remove(path);
  if (word == "rename") return try_rename(path, second);
  if (word == "execute") return try_execute(path);
  if (word == "linker") return try_linker(path, second);
  if (word == "memory") return try_memory(path);
  if (word == "plant") return try_plant(path, second);
  return failed(EINVAL);
}

}  // namespace

int main(int argc, char** argv) {
  ::umask(0);
  for (int i = 1; i + 2 < argc; i += 3) {
    const Outcome outcome = attempt(argv[i], argv[i + 1], argv[i + 2]);
    std::printf("%c %d %llu %llu %d\n", outcome.error == 0 ? 'y' : 'n', outcome.error,
                static_cast<unsigned long long>(outcome.device),
                static_cast<unsigned long long>(outcome.inode), outcome.said ? 1 : 0);
    std::fflush(stdout);
  }
  return 0;
}
