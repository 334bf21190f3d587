"""Field reports G: ways around a layer by a key, a handle or an older interface of the kernel.

What is refused call by call is shown by tests/jail/test_deny_set.py.
"""

import ctypes
import hashlib

from field import *

# What follows runs inside the jail and, as its own control, outside of it.
PRELUDE = r"""
import ctypes, errno, os, sys
def attempt(act):
    try:
        act()
        return "done"
    except OSError as error:
        return errno.errorcode[error.errno]
print("begin", flush=True)
"""

# argv: files; empties each by its name and by opening it for reading.
EMPTYING = PRELUDE + r"""
for path in sys.argv[1:]:
    print(attempt(lambda: os.truncate(path, 0)), attempt(lambda: os.open(path, os.O_RDONLY | os.O_TRUNC)))
"""

# argv: files; changes of what is about a file and not in it.
ABOUT = PRELUDE + r"""
for path in sys.argv[1:]:
    acts = (
        lambda: os.chmod(path, 0o777),
        lambda: os.utime(path, (1, 1)),
        lambda: os.setxattr(path, "user.loom", b"x"),
    )
    print(*map(attempt, acts))
"""

# argv: the name of a key. x86-64's numbers.
KEYS = PRELUDE + r"""
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
ADD_KEY, REQUEST_KEY, KEYCTL, SEARCH, READ = 248, 249, 250, 10, 11
session, kind, name = ctypes.c_long(-3), b"user", sys.argv[1].encode()
def answer(made):
    return "ok" if made >= 0 else errno.errorcode[ctypes.get_errno()]
print("add", answer(libc.syscall(ADD_KEY, kind, b"other", b"x", ctypes.c_size_t(1), session)))
print("request", answer(libc.syscall(REQUEST_KEY, kind, name, None, ctypes.c_long(0))))
key = libc.syscall(KEYCTL, SEARCH, session, kind, name, ctypes.c_long(0))
print("search", answer(key))
text = ctypes.create_string_buffer(64)
size = libc.syscall(KEYCTL, READ, ctypes.c_long(key), text, ctypes.c_long(64)) if key > 0 else -1
print("read", text.raw[:size].decode() if size > 0 else "nothing")
"""

MEMORY_FILE = PRELUDE + r"""
file = os.memfd_create("program", 0)
os.sendfile(file, os.open("/bin/echo", os.O_RDONLY), 0, 1 << 24)
os.execve(file, ["echo", "executed"], {})
"""

# argv: a file that may be written; opens whatever program any process here runs, for writing.
OVERWRITE = PRELUDE + r"""
names = set()
for _ in range(200):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            names.add(open(f"/proc/{pid}/comm").read().strip())
            os.open(f"/proc/{pid}/exe", os.O_WRONLY)
            print("opened", pid)
        except OSError:
            pass
print("names", *sorted(names))
print("control", attempt(lambda: os.open(sys.argv[1], os.O_WRONLY)))
"""


def rows(text):
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def landlock_version():
    """The interface that this kernel offers; 0 without Landlock."""
    libc = ctypes.CDLL(None)
    return max(0, libc.syscall(CALLS["landlock_create_ruleset"], None, ctypes.c_size_t(0), 1))


def plant_key(name, text):
    """A broker with a session keyring of its own and a key in it."""
    add_key, keyctl, join_session_keyring, session = 248, 250, 1, ctypes.c_long(-3)

    def prepare():
        libc = ctypes.CDLL(None)
        libc.syscall(keyctl, join_session_keyring, None)
        libc.syscall(add_key, b"user", name, text, ctypes.c_size_t(len(text)), session)

    return prepare


class KernelCase(FieldCase):
    def inside(self, script, policy=None, args=(), **how):
        """What a script printed, as lines behind its first."""
        seen = self.assertRan(self.attempt([PYTHON, "-ISc", script, *args], policy, **how))
        self.assertEqual(seen.lines[:1], ["begin"], seen)
        return seen

    def outside(self, script, args=(), prepare=None):
        done = subprocess.run(
            [PYTHON, "-ISc", script, *args], capture_output=True, text=True, timeout=LIMIT, preexec_fn=prepare
        )
        self.assertTrue(done.stdout.startswith("begin\n"), done)
        return done.stdout


class Objects(KernelCase):
    # field B80
    def test_b80_a_key_of_the_brokers_session_is_out_of_reach(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the calls of this test have x86-64's numbers")
        prepare = plant_key(b"loom-planted", b"S3CRET")
        self.assertEqual(rows(self.outside(KEYS, ["loom-planted"], prepare))["read"], "S3CRET")
        seen = self.inside(KEYS, args=["loom-planted"], prepare=prepare)
        due = {"add": "EPERM", "request": "EPERM", "search": "EPERM", "read": "nothing"}
        self.assertEqual(rows(seen.output), due, seen)

    # field B80
    def test_b80_a_file_in_memory_is_made_and_run_where_no_table_of_programs_forbids_it(self):
        self.assertEqual(self.inside(MEMORY_FILE).lines, ["begin", "executed"])


class OlderInterfaces(KernelCase):
    def degraded(self, script, args):
        """The same without bubblewrap: Landlock and the filter are all there is."""
        env = {**os.environ, "PATH": self.directory("nothing")}
        return self.inside(script, args=args, helper_env=env, jails=False, flags=DEGRADED)

    # field B77
    def test_b77_a_readable_file_is_emptied_neither_by_name_nor_by_opening_it(self):
        outside, within = self.file("out/file"), self.file("ws/file")
        seen = self.inside(EMPTYING, self.base(readable_roots=[self.out]), args=[outside, within])
        self.assertEqual(seen.lines[1:], ["EROFS EROFS", "done done"], seen)
        self.assertEqual((self.text(outside), self.text(within)), ("S3CRET\n", ""))

        self.file("ws/file")
        seen = self.degraded(EMPTYING, [outside, within])
        by_name, by_opening = seen.lines[1].split()
        self.assertEqual(seen.lines[2], "done done", seen)
        self.assertEqual(by_opening, "EACCES", seen)
        # The right is Landlock's since its third interface; before, the report says that it is not held.
        self.assertEqual(by_name == "done", "unheld:truncate" in seen.report, seen)
        self.assertEqual(by_name == "EACCES", landlock_version() >= 3, seen)

    # field B78
    def test_b78_modes_times_and_attributes_are_held_by_mounts_or_said_not_to_be(self):
        outside, within = self.file("out/file"), self.file("ws/file")
        before = self.host()
        seen = self.inside(ABOUT, self.base(readable_roots=[self.out]), args=[outside, within])
        self.assertEqual(seen.lines[1], "EROFS EROFS EROFS", seen)
        self.assertEqual(seen.lines[2].split()[:2], ["done", "done"], seen)
        self.assertHostUntouched(before)

        seen = self.degraded(ABOUT, [outside, within])
        self.assertEqual(seen.lines[1], seen.lines[2], "Landlock has no right for any of them")
        self.assertIn("modes and times of files", "".join(seen.entries("skip:bwrap: ")))

    # field B79
    def test_b79_fifteen_layers_above_are_few_enough_and_sixteen_are_a_refusal_by_name(self):
        if landlock_version() < 4:
            self.skipTest("layers that leave mounts alone need Landlock's fourth interface")
        mark = self.path("ws/ran")
        for flags in (STRICT, DEGRADED):
            with self.subTest(flags=flags):
                seen = self.attempt(["/bin/touch", mark], flags=flags, prepare=landlocked(15, files=False))
                self.assertHeld(self.assertRan(seen))
                self.assertTrue(os.path.exists(mark))
                os.unlink(mark)

                seen = self.attempt(["/bin/touch", mark], flags=flags, prepare=landlocked(16, files=False), jails=False)
                self.assertRefused(seen, "landlock", "16 layers are in force already")
                self.assertFalse(os.path.exists(mark))


class Programs(KernelCase):
    def pieces(self):
        """What the helper is made of, by content."""
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(client.helper_path())))
        found = {}
        for part in ("bin/loom-exec", "libexec/loom-exec/bwrap-stage2", "lib/loom-exec/backends/bwrap.so"):
            with open(os.path.join(prefix, part), "rb") as file:
                found[part] = hashlib.file_digest(file, "sha256").hexdigest()
        return found

    # field B82
    def test_b82_the_programs_that_build_the_jail_cannot_be_opened_for_writing_through_proc(self):
        before = self.pieces()
        seen = self.inside(OVERWRITE, args=[self.file("ws/file")])
        self.assertNotIn("opened", seen.output)
        self.assertEqual(seen.lines[-1], "control done")
        names = rows(seen.output)["names"].split()
        self.assertNotIn("loom-exec", names)
        self.assertLessEqual(len(names), 2, "the jail's first process and this one; none of the host's")
        self.assertEqual(self.pieces(), before)

    # field B82
    def test_b82_a_script_whose_interpreter_is_whatever_runs_it_gains_nothing(self):
        before = self.pieces()
        script = self.program("ws/script", text="#!/proc/self/exe\necho ran by a shell\n")
        self.assertEqual(self.assertRan(self.attempt('"$1"; "$1"', args=[script])).lines, ["ran by a shell"] * 2)
        # Executed by stage 2 it is stage 2 once more, started by hand.
        seen = self.attempt([script])
        self.assertEqual((seen.code, seen.output), (126, ""), seen)
        self.assertTrue(seen.errors.startswith("loom-exec[stage2]: "), seen)
        self.assertEqual(self.pieces(), before)


class Grants(KernelCase):
    # field B83
    def test_b83_a_granted_file_that_the_host_replaces_stays_the_old_one_until_the_next_run(self):
        granted, fresh = self.file("out/conf", text="old\n"), self.file("out/fresh", text="new\n")
        policy = self.base(readable_roots=[granted])
        with self.field_helper(policy) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", 'cat "$0"; read line; cat "$0"', granted])
            helper.until_output(run, b"old\n")
            os.rename(fresh, granted)
            helper.stdin(b"go\n", eof=True)
            self.settle(helper, run)
            self.assertEqual((bytes(run.stdout), run.code), (b"old\nold\n", 0), self.story(run))
            self.assertEqual(self.attempt_on(helper, ["/bin/cat", granted]).output, "new\n")


if __name__ == "__main__":
    unittest.main()
