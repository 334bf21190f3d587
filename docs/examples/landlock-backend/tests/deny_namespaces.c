/* Runs a command where no namespace can be made and nothing can be mounted, as in many a container:
 *
 *   deny_namespaces COMMAND WORD…
 *
 * Exits with 125 where it cannot install its filter. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEW_NAMESPACES                                                                       \
  (CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | \
   CLONE_NEWCGROUP)
#define DENIED (SECCOMP_RET_ERRNO | EPERM)
#define ABSENT (SECCOMP_RET_ERRNO | ENOSYS)
#define EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (yes), (no))

static struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    EQUAL(SYS_unshare, 8, 0),
    EQUAL(SYS_setns, 7, 0),
    EQUAL(SYS_mount, 6, 0),
    EQUAL(SYS_pivot_root, 5, 0),
    EQUAL(SYS_clone3, 5, 0),
    EQUAL(SYS_clone, 0, 5),
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_NAMESPACES, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, DENIED),
    BPF_STMT(BPF_RET | BPF_K, ABSENT),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char** argv) {
  const struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
  if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) {
    perror("deny_namespaces");
    return 125;
  }
  if (unshare(CLONE_NEWUSER) == 0 || errno != EPERM) {
    fputs("deny_namespaces: the filter does not hold\n", stderr);
    return 125;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 125;
}
