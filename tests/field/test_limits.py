"""Field reports F: what the policy limits holds, or the report says not, and nothing else is limited."""

import resource

from field import *

MIB = 1 << 20
# Touches so much memory; the buffer is written, so every page of it is there.
ALLOCATE = "import sys; block = bytearray(int(sys.argv[1])); print('used', len(block))"
# Address space that is never touched: what a garbage collector or a just-in-time compiler reserves.
RESERVE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
reserved = libc.mmap(None, 64 << 30, 0, 0x4022, -1, 0)  # PROT_NONE; private, anonymous, no reserve
print("no" if reserved == ctypes.c_void_p(-1).value else "reserved")
"""
WEB_ASSEMBLY = "fetch; new WebAssembly.Memory({initial: 1, maximum: 65536}); console.log('started')"


def dump_without_limit():
    """A broker that asks for core files, as far as its own ceiling goes."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def core_pattern():
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        return file.read().strip()


class Unapplied(FieldCase):
    """A base that is no control group: the machine has nothing that holds a whole jail's memory."""

    FLAGS = ("--cgroup-base", "/dev/null")

    # field B66
    def test_b66_a_ceiling_that_cannot_be_held_is_refused_or_said_not_to_hold(self):
        mark = self.path("ws/ran")
        command = [PYTHON, "-ISc", f"open({mark!r}, 'w').close()\n{ALLOCATE}", str(128 * MIB)]
        limited = self.base(limits={"mem_bytes": 32 * MIB, "pids": 16})

        self.assertRefused(self.attempt(command, limited, [*self.FLAGS, *STRICT]), "cgroup-v2")
        self.assertFalse(os.path.exists(mark))
        self.assertRan(self.attempt(command, self.base(), [*self.FLAGS, *STRICT]))
        os.unlink(mark)

        seen = self.assertRan(self.attempt(command, limited, [*self.FLAGS, *DEGRADED]))
        self.assertEqual(seen.lines, [f"used {128 * MIB}"])  # and the report does not say otherwise:
        self.assertNotIn("cgroup-v2", seen.report)
        self.assertEqual(len(seen.skips), 1, seen)
        self.assertRegex(seen.skips[0], "^skip:cgroup-v2: .*; memory.max and pids.max NOT applied$")

    # field B67
    def test_b67_memory_is_not_limited_by_address_space(self):
        commands = {
            "a reservation": ([PYTHON, "-ISc", RESERVE], "reserved"),
            "a shell": ([SH, "-c", "ulimit -v"], "unlimited"),
        }
        if shutil.which("node", path="/usr/bin:/bin"):
            commands["a just-in-time compiler"] = (["node", "-e", WEB_ASSEMBLY], "started")
        if shutil.which("java", path="/usr/bin:/bin"):
            commands["a virtual machine"] = (["java", "-version"], "")
        with self.field_helper(self.base(limits={"mem_bytes": 1 << 30}), self.FLAGS) as helper:
            self.needs(helper, "bwrap")
            for name, (command, said) in commands.items():
                with self.subTest(name):
                    seen = self.assertRan(self.attempt_on(helper, command, env={"PATH": "/usr/bin"}))
                    self.assertEqual(seen.output.strip(), said)


class Dumps(FieldCase):
    # field B71
    def test_b71_no_core_file_is_left_whatever_the_broker_allows(self):
        crash = [SH, "-c", "grep core /proc/self/limits; kill -SEGV $$"]
        outside = self.directory("outside")
        subprocess.run(crash, cwd=outside, preexec_fn=dump_without_limit, stdout=subprocess.DEVNULL)
        a_plain_name = not core_pattern().startswith(("|", "/", "@"))
        if a_plain_name and resource.getrlimit(resource.RLIMIT_CORE)[1] != 0:
            self.assertTrue(os.listdir(outside), "the control: a crash outside leaves a file")

        seen = self.attempt(crash, prepare=dump_without_limit, cwd=self.ws)
        self.assertEqual(seen.code, 128 + signal.SIGSEGV, seen)
        self.assertEqual(os.listdir(self.ws), [])
        limits = seen.output.removeprefix("Max core file size").split()[:2]
        self.assertLessEqual({int(limit) for limit in limits}, {0, 1}, seen)
        # A limit of 0 does not keep a dump from a program of the host's; a limit of 1 does.
        if core_pattern().startswith(("|", "@")) and not seen.entries("unheld:no-core="):
            self.assertEqual(limits, ["1", "1"], seen)


if __name__ == "__main__":
    unittest.main()
