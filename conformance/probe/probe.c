/* Looks around where it runs and says what it could do. Static, so that it needs nothing of a
 * jail's view but itself.
 *
 *   conformance-probe OP[:ARGUMENT]…
 *
 * One line for each, "OP:ARGUMENT = ANSWER". An answer is an errno, 0 for success, unless said
 * otherwise beside the operation. A line that is missing was never tried. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

enum { kRounds = 1200, kPauseMs = 50 }; /* a minute */

static void pause_briefly(void) {
  const struct timespec pause = {.tv_sec = 0, .tv_nsec = kPauseMs * 1000000L};
  nanosleep(&pause, NULL);
}

static void answer(const char* op, const char* argument, int value) {
  printf("%s:%s = %d\n", op, argument, value);
  fflush(stdout); /* an operation that kills must not take earlier answers along */
}

static int read_some(const char* path) {
  char text[128];
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno;
  const ssize_t got = read(fd, text, sizeof text - 1);
  const int error = got < 0 ? errno : 0;
  close(fd);
  if (error != 0) return error;
  printf("text:%s = %.*s\n", path, (int)got, text);
  return got == 0 ? ENODATA : 0;
}

static int open_to(const char* path, int flags) {
  const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK, 0600);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

/* Creates, and leaves bytes behind. */
static int create(const char* path) {
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  const int error = write(fd, "made", 4) == 4 ? 0 : errno;
  close(fd);
  return error;
}

/* The same, where the scratch is said to be. */
static int create_in_scratch(void) {
  const char* directory = getenv("LOOM_SCRATCH_DIR");
  char path[4096];
  if (directory == NULL) return ENOENT;
  const int size = snprintf(path, sizeof path, "%s/conformance-made", directory);
  return size < (int)sizeof path ? create(path) : ENAMETOOLONG;
}

/* The number of entries, or an errno below zero. */
static int list(const char* path) {
  int entries = 0;
  DIR* directory = opendir(path);
  if (directory == NULL) return -errno;
  for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) ++entries;
  }
  closedir(directory);
  return entries;
}

static int connect_tcp(const char* port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const int error = connect(fd, (const struct sockaddr*)&to, sizeof to) == 0 ? 0 : errno;
  close(fd);
  return error;
}

static int connect_abstract(const char* name) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  const size_t size = strlen(name);
  memcpy(to.sun_path + 1, name, size);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  const socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size);
  const int error = connect(fd, (const struct sockaddr*)&to, length) == 0 ? 0 : errno;
  close(fd);
  return error;
}

static int make_socket(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

static int attempt(const char* call) {
  long result = 0;
  errno = 0;
  if (strcmp(call, "clone3") == 0) result = syscall(435, NULL, 0);
  if (strcmp(call, "io_uring_setup") == 0) result = syscall(425, 1, NULL);
  if (strcmp(call, "keyctl") == 0) result = syscall(SYS_keyctl, 0, -2, 0);
  if (strcmp(call, "userns") == 0) result = unshare(CLONE_NEWUSER);
  return result < 0 ? errno : 0;
}

static void show_descriptors(void) {
  for (int fd = 0; fd < 1024; ++fd) {
    char name[64];
    char target[256];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (fcntl(fd, F_GETFD) < 0) continue;
    const ssize_t got = readlink(name, target, sizeof target);
    printf("descriptor:%d = %.*s\n", fd, got < 0 ? 0 : (int)got, target);
  }
}

static void show_hex(const char* what, const char* text) {
  printf("%s:", what);
  for (const char* at = text; *at != '\0'; ++at) printf("%02x", (unsigned char)*at);
  printf(" = 0\n");
}

static void show_status(void) {
  char line[256];
  FILE* file = fopen("/proc/self/status", "re");
  if (file == NULL) return;
  while (fgets(line, sizeof line, file) != NULL) {
    char* value = strchr(line, ':');
    if (value == NULL) continue;
    *value++ = '\0';
    while (*value == ' ' || *value == '\t') ++value;
    printf("status:%s = %s", line, value);
  }
  fclose(file);
}

static void show_limit(const char* name, int resource) {
  struct rlimit limit;
  getrlimit((__rlimit_resource_t)resource, &limit);
  printf("limit:%s = %llu\n", name, (unsigned long long)limit.rlim_cur);
}

static void beat(const char* file) {
  for (int round = 0; round < kRounds; ++round) {
    const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
      if (write(fd, ".", 1) != 1) _exit(1);
      close(fd);
    }
    pause_briefly();
  }
}

/* A background process in a session of its own, which writes to the file as long as it lives. */
static void make_daemon(const char* file) {
  if (fork() != 0) return;
  setsid();
  if (fork() != 0) _exit(0);
  for (int fd = 0; fd < 3; ++fd) close(fd);
  beat(file);
  _exit(0);
}

static const char* term_file;

static void on_term(int number) {
  (void)number;
  const int fd = open(term_file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || write(fd, "term", 4) != 4) _exit(1);
  _exit(9);
}

static void say_ready(void) {
  printf("ready: = 0\n");
  fflush(stdout);
}

static void flood(int lines) {
  for (int i = 0; i < lines; ++i) printf("%07d the quick brown fox jumps over the lazy dog\n", i);
  printf("the very last line\n");
  fflush(stdout);
}

static int fill(const char* path) {
  static char block[4096];
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return -errno;
  int blocks = 0;
  while (blocks < 256 && write(fd, block, sizeof block) == (ssize_t)sizeof block) ++blocks;
  close(fd);
  return blocks;
}

/* Computes for so many seconds of processor time, however long that takes. */
static int burn(int seconds) {
  struct timespec used;
  do {
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (used.tv_sec < seconds);
  return 0;
}

/* How many children there are at once, of so many. */
static int have_children(int wanted) {
  pid_t children[256];
  int made = 0;
  while (made < wanted && made < 256) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      for (int round = 0; round < kRounds; ++round) pause_briefly();
      _exit(0);
    }
    children[made++] = child;
  }
  for (int i = 0; i < made; ++i) kill(children[i], SIGKILL);
  for (int i = 0; i < made; ++i) waitpid(children[i], NULL, 0);
  return made;
}

/* Has so many MiB of memory, and not just the promise of them. */
static int have_memory(int mebibytes) {
  const size_t size = (size_t)mebibytes << 20;
  char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return errno;
  for (size_t at = 0; at < size; at += 4096) ((volatile char*)memory)[at] = 1;
  munmap(memory, size);
  return 0;
}

static void act_on_files(const char* op, const char* argument) {
  if (strcmp(op, "read") == 0) answer(op, argument, read_some(argument));
  if (strcmp(op, "write") == 0) answer(op, argument, open_to(argument, O_WRONLY | O_APPEND));
  if (strcmp(op, "create") == 0) answer(op, argument, create(argument));
  if (strcmp(op, "scratch") == 0) answer(op, argument, create_in_scratch());
  if (strcmp(op, "mkdir") == 0) answer(op, argument, mkdir(argument, 0700) == 0 ? 0 : errno);
  if (strcmp(op, "rmdir") == 0) answer(op, argument, rmdir(argument) == 0 ? 0 : errno);
  if (strcmp(op, "remove") == 0) answer(op, argument, unlink(argument) == 0 ? 0 : errno);
  if (strcmp(op, "list") == 0) answer(op, argument, list(argument));
  if (strcmp(op, "fill") == 0) {
    signal(SIGXFSZ, SIG_IGN);
    answer(op, argument, fill(argument)); /* blocks of 4 KiB */
  }
}

static void act_on_kernel(const char* op, const char* argument) {
  if (strcmp(op, "connect") == 0) answer(op, argument, connect_tcp(argument));
  if (strcmp(op, "abstract") == 0) answer(op, argument, connect_abstract(argument));
  if (strcmp(op, "unix") == 0) answer(op, argument, make_socket(AF_UNIX));
  if (strcmp(op, "inet") == 0) answer(op, argument, make_socket(AF_INET));
  if (strcmp(op, "call") == 0) answer(op, argument, attempt(argument));
  if (strcmp(op, "signal") == 0) answer(op, argument, kill(atoi(argument), 0) == 0 ? 0 : errno);
  if (strcmp(op, "pid") == 0) answer(op, argument, getpid());
  if (strcmp(op, "status") == 0) show_status();
  if (strcmp(op, "limits") == 0) {
    show_limit("cpu", RLIMIT_CPU);
    show_limit("fsize", RLIMIT_FSIZE);
    show_limit("core", RLIMIT_CORE);
  }
}

static void act_on_process(const char* op, const char* argument) {
  char directory[4096];
  if (strcmp(op, "descriptors") == 0) show_descriptors();
  if (strcmp(op, "cwd") == 0) show_hex("cwd", getcwd(directory, sizeof directory));
  if (strcmp(op, "environment") == 0) {
    for (char** variable = environ; *variable != NULL; ++variable) show_hex("variable", *variable);
  }
  if (strcmp(op, "daemon") == 0) make_daemon(argument);
  if (strcmp(op, "flood") == 0) flood(atoi(argument));
  if (strcmp(op, "sleep") == 0) {
    for (int i = 0; i < atoi(argument); ++i) pause_briefly();
  }
  if (strcmp(op, "burn") == 0) answer(op, argument, burn(atoi(argument)));
  if (strcmp(op, "children") == 0) answer(op, argument, have_children(atoi(argument)));
  if (strcmp(op, "memory") == 0) answer(op, argument, have_memory(atoi(argument)));
  if (strcmp(op, "exit") == 0) exit(atoi(argument));
  if (strcmp(op, "honour") == 0) {
    term_file = argument;
    signal(SIGTERM, on_term);
    say_ready();
    for (int round = 0; round < kRounds; ++round) pause_briefly();
  }
  if (strcmp(op, "ignore") == 0) {
    signal(SIGTERM, SIG_IGN);
    say_ready();
    beat(argument);
  }
}

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "words") == 0) { /* all that follows is shown and nothing of it done */
      while (++i < argc) show_hex("word", argv[i]);
      break;
    }
    char op[32];
    const char* colon = strchr(argv[i], ':');
    const size_t size = colon != NULL ? (size_t)(colon - argv[i]) : strlen(argv[i]);
    if (size >= sizeof op) return 2;
    memcpy(op, argv[i], size);
    op[size] = '\0';
    const char* argument = colon != NULL ? colon + 1 : "";
    act_on_files(op, argument);
    act_on_kernel(op, argument);
    act_on_process(op, argument);
  }
  fflush(stdout);
  return 0;
}
