/* Runs a command where something is refused already that the inner stage would show its own
 * refusals by:
 *
 *   narrow root COMMAND WORD…   "/" cannot be listed: a Landlock layer of another's
 *   narrow unix COMMAND WORD…   no socket of AF_UNIX can be made, but pairs: a filter of another's
 *
 * Exits with 125 where it cannot do that. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))

static struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    EQUAL(SYS_socket, 0, 3),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
    EQUAL(AF_UNIX, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int deny_unix(void) {
  const struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0 &&
         socket(AF_UNIX, SOCK_STREAM, 0) < 0;
}

/* Every directory of the root's can be listed, and so can what is below it. */
static void open_all_but(int rules, DIR* root) {
  const struct dirent* entry;
  while ((entry = readdir(root)) != NULL) {
    struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_READ_DIR};
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    rule.parent_fd = openat(dirfd(root), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (rule.parent_fd < 0) continue;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
  }
}

static int close_root(void) {
  const struct landlock_ruleset_attr handled = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_DIR};
  const int rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
  DIR* const root = opendir("/");
  if (rules < 0 || root == NULL) return 0;
  open_all_but(rules, root);
  closedir(root);
  const int done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  close(rules);
  return done && opendir("/") == NULL;
}

int main(int argc, char** argv) {
  if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      !(strcmp(argv[1], "root") == 0 ? close_root() : deny_unix())) {
    perror("narrow");
    return 125;
  }
  execvp(argv[2], argv + 2);
  perror(argv[2]);
  return 125;
}
