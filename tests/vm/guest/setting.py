"""One variation of the host around a program: its control group, its /proc, its user. Runs as uid 0."""

import ctypes
import os

import control_groups

CLONE_NEWNS = 0x20000
MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
PR_CAPBSET_DROP = 24
LAST_CAPABILITY = 40  # CAP_CHECKPOINT_RESTORE

# What container runtimes take from /proc (the "masked" and "readonly" paths of the OCI runtime
# specification's usual configuration) and the capabilities they leave to uid 0.
READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")
MASKED_FILES = ("kcore", "keys", "timer_list", "latency_stats", "sched_debug")
MASKED_DIRECTORIES = ("acpi", "scsi")
KEPT_CAPABILITIES = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}

NAMESPACES = "/proc/sys/user/max_user_namespaces"
WITH_BWRAP = "/usr/bin"
WITHOUT_BWRAP = "/srv/no-programs"

DUMP_HANDLER = "/srv/dump-handler"
DUMPED = "/srv/dumped"

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(source, target, kind=None, flags=0, data=None):
    words = [word.encode() if word else None for word in (source, target, kind, data)]
    check(libc.mount(words[0], words[1], words[2], flags, words[3]), f"mount {target}")


def mask_proc():
    """/proc as in a container: with parts covered, a new procfs is refused in a user namespace."""
    for name in READ_ONLY:
        path = f"/proc/{name}"
        if os.path.exists(path):
            mount(path, path, flags=MS_BIND | MS_REC)
            mount(None, path, flags=MS_BIND | MS_REMOUNT | MS_RDONLY)
    for name in MASKED_FILES:
        if os.path.exists(f"/proc/{name}"):
            mount("/dev/null", f"/proc/{name}", flags=MS_BIND)
    for name in MASKED_DIRECTORIES:
        if os.path.isdir(f"/proc/{name}"):
            mount("tmpfs", f"/proc/{name}", "tmpfs", MS_RDONLY)


def drop_capabilities():
    for number in range(LAST_CAPABILITY + 1):
        if number not in KEPT_CAPABILITIES:
            check(libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0), f"drop capability {number}")


def become(variation, group):
    """Turns this process into one of the variation's: group, mounts, capabilities, user."""
    control_groups.write(f"{group}/cgroup.procs", "0")
    if variation.container:
        check(libc.unshare(CLONE_NEWNS), "unshare mounts")
        mount(None, "/", flags=MS_REC | MS_PRIVATE)
        mask_proc()
        drop_capabilities()
    if variation.uid:
        os.setgroups([])
        os.setgid(variation.uid)
        os.setuid(variation.uid)


def environment(variation, base):
    """What the helper and who drives it find in their environment."""
    home = "/home/loom" if variation.uid else "/root"
    given = {"HOME": home, "TMPDIR": "/var/tmp", "LOOM_EXEC": "/opt/loom/bin/loom-exec"}
    given["LOOM_JAIL_MUST_WORK"] = "1"
    given["LOOM_WIRE_PATIENCE"] = "60"  # an emulated processor, on a machine that may be busy
    given["PATH"] = WITH_BWRAP if variation.bwrap else WITHOUT_BWRAP
    if base:
        given["LOOM_CGROUP_BASE"] = base
    return given


def allow_namespaces(allowed):
    control_groups.write(NAMESPACES, "10000" if allowed else "0")


def hand_over_dumps():
    """Dumps go to a program of the host's, which a limit of 0 does not keep from them."""
    control_groups.write(DUMPED, "")
    control_groups.write(DUMP_HANDLER, f"#!/bin/sh\ncat >/dev/null\necho $1 >>{DUMPED}\n")
    os.chmod(DUMP_HANDLER, 0o755)
    control_groups.write("/proc/sys/kernel/core_pattern", f"|{DUMP_HANDLER} %P")
