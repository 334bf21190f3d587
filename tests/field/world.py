"""Hosts as odd as the reports': a mount namespace of the test's own, and what is mounted there.

A `World` is a process in namespaces of its own. Its set-up runs there as ordinary Python, so it may
mount what it likes and changes nothing of the host's. A helper enters it by `before=world.enter`.
An ordinary user gets a user namespace around it, in which its number stays what it is.
"""

import ctypes
import errno
import os
import signal
import stat
import struct
import subprocess
import traceback

ROOT = os.getuid() == 0
NSENTER = "/usr/bin/nsenter"

NEW_USER, NEW_MOUNTS, NEW_PIDS = 0x10000000, 0x20000, 0x20000000
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND, RECURSIVE, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
DETACH = 2
PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
DIES_WITH_PARENT = 1  # prctl(PR_SET_PDEATHSIG)

libc = ctypes.CDLL(None, use_errno=True)


def _bytes(word):
    return None if word is None else os.fsencode(word)


def _must(answer, *what):
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{' '.join(map(str, what))}: {os.strerror(number)}")
    return answer


def mount(source, target, kind=None, flags=0, data=None):
    """mount(2); in a set-up."""
    answer = libc.mount(_bytes(source), _bytes(target), _bytes(kind), ctypes.c_ulong(flags), _bytes(data))
    _must(answer, "mount", kind or source, "on", target)


def bind(source, target, flags=0):
    """One tree under a second name, with flags if there are some."""
    mount(source, target, flags=BIND | RECURSIVE)
    if flags:
        mount(None, target, flags=BIND | REMOUNT | flags)


def tmpfs(target, flags=0, mode="0755"):
    mount("loom-test", target, "tmpfs", flags, "mode=" + mode)


def plain(directory, name, text):
    """A file with that text, and the directories above it. Its path."""
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def only_as_root(test):
    """What an ordinary user cannot set up; the superuser's run of the same module has it."""
    return test if ROOT else None


def new_root(**entries):
    """Makes a file tree like the host's the root, but for these names at its top: a directory that
    is shown there, None for an empty one, or False for nothing."""
    top = "/mnt"
    tmpfs(top)
    for name in sorted({*os.listdir("/"), *entries}):
        place, source = f"{top}/{name}", entries.get(name, f"/{name}")
        if source is False or (name == "mnt" and "mnt" not in entries):
            continue
        if name not in entries and os.path.islink(source):
            os.symlink(os.readlink(source), place)
        elif source is None or os.path.isdir(source):
            os.mkdir(place)
            tmpfs(place) if source is None else bind(source, place)
        elif os.path.isfile(source):
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY))
            bind(source, place)
    os.chdir(top)
    number = PIVOT_ROOT[os.uname().machine]
    _must(libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _must(libc.umount2(b".", DETACH), "umount the old root")
    os.chdir("/")


class World:
    """Namespaces that live until the test ends. `setup` runs in them, and what it yields is `result`."""

    def __init__(self, case, setup=lambda: None, pids=False, user=None):
        """`pids`: with a pid namespace; `user`: with a user namespace in which we have that number."""
        self.user = os.getuid() if user is None else user
        self.spaces = NEW_MOUNTS | (NEW_PIDS if pids else 0)
        if not ROOT or user is not None:
            self.spaces |= NEW_USER
        self.result = None
        ours, theirs = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            self.live(setup, theirs)
        os.close(theirs)
        case.addCleanup(self.end)
        with os.fdopen(ours, "rb") as pipe:
            said = pipe.readline().decode().strip()
            if not said.isdigit():
                raise AssertionError(f"the world was not made: {said}\n{pipe.read().decode()}")
            self.pid = int(said)
            self.result = pipe.readline().decode().strip()

    @property
    def enter(self):
        """The words that start a program in here, with the caller's own privileges or none."""
        words = [NSENTER, "--target", str(self.pid), "--mount"]
        if self.spaces & NEW_USER:
            words += ["--user", "--preserve-credentials"]
        if self.spaces & NEW_PIDS:
            words += ["--pid"]
        return words

    def run(self, argv, **how):
        """A command in here without a jail: what the jail is compared with."""
        how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **how}
        return subprocess.run([*self.enter, *argv], check=False, timeout=60, **how)

    def end(self):
        if self.child:
            os.kill(self.child, signal.SIGKILL)
            os.waitpid(self.child, 0)
            self.child = 0

    # --- in the child ------------------------------------------------------------------------

    def live(self, setup, pipe):
        try:
            libc.prctl(DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
            keep = os.dup2(pipe, 3)
            os.closerange(4, 1 << 16)
            self.unshare()
            if self.spaces & NEW_PIDS and self.first_of_its_own():
                signal.pause()
            result = setup()
            os.write(keep, f"{self.number()}\n{'' if result is None else result}\n".encode())
            os.close(keep)
            while True:
                signal.pause()
        except BaseException:  # whatever it was, the test must see it
            os.write(3, ("failed\n" + traceback.format_exc()).encode())
        finally:
            os._exit(1)

    def unshare(self):
        user, group = os.getuid(), os.getgid()
        self.outer = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)  # tells our number outside
        _must(libc.unshare(self.spaces), "unshare")
        if self.spaces & NEW_USER:
            for name, text in (
                ("setgroups", "deny"),
                ("uid_map", f"{self.user} {user} 1"),
                ("gid_map", f"{group} {group} 1"),
            ):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)
        mount(None, "/", flags=RECURSIVE | PRIVATE)

    def first_of_its_own(self):
        """In a new pid namespace the one who lives there is a child; True in its parent."""
        if os.fork():
            return True
        libc.prctl(DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        return False

    def number(self):
        """Our pid where the test looks."""
        return os.readlink("self", dir_fd=self.outer)


# --- a file system that somebody serves -------------------------------------------------------

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
OPENDIR, READDIR, RELEASEDIR, BATCH_FORGET = 27, 28, 29, 42
FILE, TEXT = b"served", b"SERVED\n"


class FuseServer:
    """Serves one directory with one file by the protocol of /dev/fuse, version 7.31, and nothing else."""

    def __init__(self, device):
        self.device = device

    def serve(self):
        while True:
            try:
                request = os.read(self.device, 1 << 20)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                os._exit(0)  # ENODEV: it is mounted no more
            _, code, unique, node = struct.unpack_from("=IIQQ", request)
            if code in (FORGET, BATCH_FORGET):
                continue
            answer = self.answer(code, node, request[40:])
            number, body = (answer, b"") if isinstance(answer, int) else (0, answer)
            os.write(self.device, struct.pack("=IiQ", 16 + len(body), -number, unique) + body)

    def answer(self, code, node, body):
        if code == INIT:
            return struct.pack("=IIIIHHIIHHI28x", 7, 31, 65536, 0, 0, 0, 4096, 1, 0, 0, 0)
        if code == LOOKUP:
            if body.rstrip(b"\0") != FILE:
                return errno.ENOENT
            return struct.pack("=QQQQII", 2, 0, 0, 0, 0, 0) + self.attributes(2)
        if code == GETATTR:
            return struct.pack("=QII", 0, 0, 0) + self.attributes(node)
        if code in (OPEN, OPENDIR):
            return struct.pack("=QII", 0, 0, 0)
        if code == READ:
            offset, size = struct.unpack_from("=QI", body, 8)
            return TEXT[offset : offset + size]
        if code == READDIR:
            offset = struct.unpack_from("=Q", body, 8)[0]
            entry = struct.pack("=QQII", 2, 1, len(FILE), stat.S_IFREG >> 12) + FILE
            return b"" if offset else entry.ljust((len(entry) + 7) & ~7, b"\0")
        if code == STATFS:
            return struct.pack("=QQQQQIIII24x", 1, 0, 0, 2, 0, 4096, 255, 4096, 0)
        return b"" if code in (RELEASE, RELEASEDIR, FLUSH) else errno.ENOSYS

    @staticmethod
    def attributes(node):
        mode, size = (stat.S_IFDIR | 0o755, 0) if node == 1 else (stat.S_IFREG | 0o644, len(TEXT))
        numbers = (node, size, 1, 0, 0, 0), (0, 0, 0, mode, 1, os.getuid(), os.getgid(), 0, 4096, 0)
        return struct.pack("=6Q10I", *numbers[0], *numbers[1])


def has(kind):
    """Whether this kernel has such file systems, as far as it has been asked for them."""
    with open("/proc/filesystems", encoding="ascii") as file:
        return kind in file.read().split()


def has_fuse():
    return os.access("/dev/fuse", os.R_OK | os.W_OK)


def fuse(target, owner=None):
    """In a set-up: mounts such a file system without allow_other. The pid of its server."""
    device = os.open("/dev/fuse", os.O_RDWR)
    owner = os.getuid() if owner is None else owner
    data = f"fd={device},rootmode=40000,user_id={owner},group_id={os.getgid()}"
    mount("loom-test", target, "fuse", NOSUID | NODEV, data)
    server = os.fork()
    if server == 0:
        libc.prctl(DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        os.close(3)
        FuseServer(device).serve()
    os.close(device)
    return server


def autofs(target, kind):
    """In a set-up: an automount point (`direct` or `indirect`) whose daemon answers nobody, ever."""
    os.setpgid(0, 0)
    _, theirs = os.pipe()
    data = f"fd={theirs},pgrp={os.getpgrp()},minproto=5,maxproto=5,{kind}"
    mount("loom-test", target, "autofs", 0, data)
