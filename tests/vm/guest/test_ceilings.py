"""Memory and process ceilings where the kernel really sets them: in a delegated base.

LOOM_CGROUP_BASE names the base, an empty control group with the memory and pids controllers;
LOOM_EXEC the helper. Speaks to it by the broker's client, which shares no code with it.

    LOOM_SWEEP_TRIES   starts of other helpers beside a fresh, empty group (500)
    LOOM_RACE_TRIES    at most so many tries to hit a moment (30); three hits are enough
"""

import ctypes
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../wire"))  # in the guest client.py lies beside this file

import client  # noqa: E402

BASE = os.environ.get("LOOM_CGROUP_BASE", "").rstrip("/")
SWEEP_TRIES = int(os.environ.get("LOOM_SWEEP_TRIES", "500"))
RACE_TRIES = int(os.environ.get("LOOM_RACE_TRIES", "30"))
HITS = 3
OUTCOME = ("exec-outcome-v1",)
PATIENCE = 120  # seconds for one execution on an emulated processor
MIB = 1 << 20
NOBODY = 4194305  # one above the highest process number of the kernel
PYTHON = ["/usr/bin/python3", "-I", "-S", "-c"]

# Forks so many times, says how often that was refused, and ends with 0 all the same.
FORKS = """
import os, sys, time
denied = 0
for _ in range(int(sys.argv[1])):
    try:
        if os.fork() == 0:
            time.sleep(1)
            os._exit(0)
    except BlockingIOError:
        denied += 1
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
print(denied)
"""
# The same with threads: they count as processes do.
THREADS = """
import _thread, os, sys, time
denied = 0
for _ in range(int(sys.argv[1])):
    try:
        _thread.start_new_thread(time.sleep, (600,))  # none ends before the last was tried
    except RuntimeError:
        denied += 1
print(denied, flush=True)
os._exit(0)
"""
# Address space that is never touched.
RESERVE = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
reserved = libc.mmap(None, 8 << 30, 0, 0x4022, -1, 0)  # PROT_NONE; private, anonymous, no reserve
print("no" if reserved == ctypes.c_void_p(-1).value else "reserved")
"""
# A shell that cannot fork ends there and then.
FORK_BOMB = 'i=0; while [ $i -lt 32 ]; do sleep 1 & i=$((i + 1)); done; wait; echo "all 32 started"'
CRASH = "kill -SEGV $$"
DUMPED = "/srv/dumped"  # the process of each dump that the guest's handler was given
# dd reads into one buffer of that size and so touches all of it. (head | tail -c 1 keeps one byte.)
ALLOCATE = "dd if=/dev/zero of=/dev/null bs=256M count=1 2>/dev/null"


def read(*parts):
    with open(os.path.join(*parts), encoding="ascii") as file:
        return file.read()


def write(text, *parts):
    with open(os.path.join(*parts), "w", encoding="ascii") as file:
        file.write(text)


def groups():
    """Names of the runs' groups in the base."""
    return sorted(name for name in os.listdir(BASE) if name.startswith("exec-"))


def processes_of(group):
    try:
        return {int(line) for line in read(BASE, group, "cgroup.procs").split()}
    except OSError:
        return set()


def is_populated(group):
    return "populated 1" in read(BASE, group, "cgroup.events")


def kernel_version():
    return tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])


class CeilingCase(unittest.TestCase):
    """A workspace, helpers that are gone at the end, and a base as it was before."""

    @classmethod
    def setUpClass(cls):
        if not BASE:
            if os.environ.get("LOOM_JAIL_MUST_WORK") == "1":
                raise AssertionError("LOOM_CGROUP_BASE names no base")
            raise unittest.SkipTest("LOOM_CGROUP_BASE names no base")
        client.helper_path()
        client.become_subreaper()

    def setUp(self):
        self.ws = tempfile.mkdtemp(prefix="loom-ceilings-")
        self.addCleanup(shutil.rmtree, self.ws, ignore_errors=True)
        self.before = groups()
        self.addCleanup(self.clean)

    def clean(self):
        for helper in list(client.Helper.live.values()):
            helper.close()
        for name in set(groups()) - set(self.before):
            write("1", BASE, name, "cgroup.kill")
            client.wait_until(lambda: not is_populated(name), 10)  # noqa: B023
            os.rmdir(os.path.join(BASE, name))
        client.reap_adopted(set())

    def policy(self, readable=(), writable=(), **ceilings):
        return client.policy(
            writable_roots=[self.ws, *writable],
            readable_roots=list(readable),
            limits=client.limits(**ceilings),
        )

    def helper(self, *flags, base=BASE, **how):
        return client.Helper(self.policy(), "--cgroup-base", base, *flags, features=OUTCOME, **how)

    def start(self, helper, command, readable=(), writable=(), **ceilings):
        command = ["/bin/sh", "-c", command] if isinstance(command, str) else command
        document = self.policy(readable, writable, **ceilings)
        return helper.start(command, env={"PATH": "/usr/bin"}, cwd=self.ws, policy=document)

    def run_in(self, helper, command, **given):
        return helper.settle(self.start(helper, command, **given), PATIENCE)

    def running(self, helper, command="echo up; exec sleep 600", **given):
        return helper.until_output(self.start(helper, command, **given), b"up\n", PATIENCE)

    def the_group(self):
        """The one group that was not there before."""
        fresh = [name for name in groups() if name not in self.before]
        self.assertEqual(len(fresh), 1, fresh)
        return fresh[0]

    def path(self, name):
        return os.path.join(self.ws, name)

    def assertLimited(self, run):
        """The report claims the group, and says of no ceiling that it was not applied."""
        self.assertIn("cgroup-v2", run.enforcement)
        self.assertFalse([entry for entry in run.enforcement if entry.startswith("skip:cgroup-v2")])

    def assertEnded(self, run, kind, code=None):
        self.assertEqual(run.exit["outcome"]["class"], kind, (run.exit, run.stdout, run.stderr))
        if code is not None:
            self.assertEqual(run.code, code, run.exit)
        return run.exit["outcome"]["detail"]

    def assertNoGroupSoon(self):
        gone = client.wait_until(lambda: groups() == self.before, 10)
        self.assertTrue(gone, groups())

    def assertNothingRuns(self, seconds=10):
        """Of what helpers started, nothing is left but helpers that are known to live."""

        def clean():
            client.reap_adopted(set(client.Helper.live))
            return not set(client.descendants()) - set(client.Helper.live)

        self.assertTrue(client.wait_until(clean, seconds), client.descendants())


class DetectionTest(CeilingCase):
    def test_a_base_by_flag_or_by_variable_is_announced_and_one_that_is_no_group_is_not(self):
        without = {name: value for name, value in os.environ.items() if name != "LOOM_CGROUP_BASE"}
        for flags, env, announced in (
            (["--cgroup-base", BASE], without, True),
            (["--cgroup-base", BASE + "//"], without, True),
            ([], {**without, "LOOM_CGROUP_BASE": f" {BASE}\n"}, True),
            (["--cgroup-base", self.ws], {**without, "LOOM_CGROUP_BASE": BASE}, False),
        ):
            with self.subTest(flags=flags), client.Helper(self.policy(), *flags, env=env) as helper:
                self.assertEqual("cgroup-v2" in helper.features, announced, helper.features)

    # cases.md 143, 146
    def test_sixteen_helpers_that_start_together_all_accept_the_base_and_leave_it_as_it_was(self):
        before = (read(BASE, "cgroup.subtree_control"), sorted(os.listdir(BASE)))
        helpers = [self.helper(hello=False) for _ in range(16)]
        for helper in helpers:
            hello = helper.expect("hello", timeout=PATIENCE)
            self.assertIn("cgroup-v2", hello.body["features"])
        self.assertEqual((read(BASE, "cgroup.subtree_control"), sorted(os.listdir(BASE))), before)


class SmallCeilingTest(CeilingCase):
    def test_a_ceiling_too_small_for_the_jail_ends_the_run_and_not_the_helper(self):
        """The launcher is executed inside the group; what shares its memory there dies with it."""
        helper = self.helper()
        for ceiling in (1, 4096, 16384, 24576, 32768, 1 << 18):
            with self.subTest(mem_bytes=ceiling):
                run = self.run_in(helper, "true", mem_bytes=ceiling)
                self.assertIn(run.exit["outcome"]["class"], ("setup", "limit"), run.exit)
                self.assertNotEqual(run.code, 0)
        enough = self.run_in(helper, "true", mem_bytes=64 * MIB)
        self.assertLimited(enough)
        self.assertEnded(enough, "exited", 0)
        self.assertNoGroupSoon()

    def test_a_ceiling_above_that_is_met_is_not_the_policys(self):
        helper = self.helper()
        run = self.run_in(helper, [*PYTHON, FORKS, "16"], mem_bytes=64 * MIB)
        self.assertNotIn("pids", self.assertEnded(run, "exited", 0))
        if not os.access(os.path.join(BASE, "pids.max"), os.W_OK):
            return  # whoever was given the base may fill it, and not raise or lower what it has
        write("8", BASE, "pids.max")
        self.addCleanup(write, "max", BASE, "pids.max")
        run = self.run_in(helper, [*PYTHON, FORKS, "16"], mem_bytes=64 * MIB)
        self.assertGreater(int(run.stdout), 0)
        self.assertNotIn("pids", self.assertEnded(run, "exited", 0))


class PidsTest(CeilingCase):
    # cases.md 159; field B69
    def test_denied_forks_are_counted_and_a_command_that_copes_has_exited(self):
        helper = self.helper()
        run = self.run_in(helper, [*PYTHON, FORKS, "16"], pids=8)
        self.assertLimited(run)
        denied = int(run.stdout)
        self.assertGreaterEqual(denied, 9)  # at least the command itself is one of the eight
        self.assertLess(denied, 16)  # some were allowed
        detail = self.assertEnded(run, "exited", 0)
        self.assertIn("pids", detail)
        self.assertIn(str(denied), detail)

        enough = self.run_in(helper, [*PYTHON, FORKS, "16"], pids=64)
        self.assertLimited(enough)
        self.assertEqual(enough.stdout, b"0\n")
        self.assertNotIn("pids", self.assertEnded(enough, "exited", 0))

    # field B69
    def test_threads_count_as_processes_do(self):
        helper = self.helper()
        run = self.run_in(helper, [*PYTHON, THREADS, "100"], pids=32)
        self.assertLimited(run)
        self.assertGreaterEqual(int(run.stdout), 69)
        self.assertLess(int(run.stdout), 100)
        self.assertIn("pids", self.assertEnded(run, "exited", 0))

    def test_a_fork_bomb_ends_at_its_ceiling_and_goes_through_under_a_higher_one(self):
        helper = self.helper()
        bomb = self.run_in(helper, FORK_BOMB, pids=8)
        self.assertLimited(bomb)
        self.assertNotEqual(bomb.code, 0)
        self.assertNotIn(b"all 32", bomb.stdout)
        self.assertTrue(self.assertEnded(bomb, "limit").startswith("pids: "), bomb.exit)

        free = self.run_in(helper, FORK_BOMB, pids=64)
        self.assertEqual(free.stdout, b"all 32 started\n", free.stderr)
        self.assertEnded(free, "exited", 0)


class MemoryTest(CeilingCase):
    # field B70
    def test_memory_beyond_the_ceiling_is_named_with_its_peak_and_less_is_not(self):
        helper = self.helper()
        script = f'sh -c "{ALLOCATE}" || exit 9; echo allocated'  # a grandchild allocates
        much = self.run_in(helper, script, mem_bytes=64 * MIB)
        self.assertLimited(much)
        self.assertNotIn(b"allocated", much.stdout)
        detail = self.assertEnded(much, "limit")
        self.assertTrue(detail.startswith("mem_bytes: "), detail)
        self.assertIn("memory", detail)
        if kernel_version() >= (5, 19):
            self.assertIn("peak", detail)
        self.assertNothingRuns()
        self.assertNoGroupSoon()

        enough = self.run_in(helper, f"{ALLOCATE}; echo allocated", mem_bytes=512 * MIB)
        self.assertLimited(enough)
        self.assertEqual(enough.stdout, b"allocated\n", enough.exit)
        self.assertNotIn("mem_bytes", self.assertEnded(enough, "exited", 0))

    # field B67
    def test_address_space_that_is_not_touched_is_not_memory(self):
        run = self.run_in(self.helper(), [*PYTHON, RESERVE], mem_bytes=64 * MIB)
        self.assertLimited(run)
        self.assertEqual(run.stdout, b"reserved\n", run.stderr)

    def test_ceilings_beyond_the_kernels_numbers_are_no_failure(self):
        helper = self.helper()
        for ceiling in (1 << 22, (1 << 22) + 1, 1 << 40, 1 << 62, (1 << 64) - 1):
            with self.subTest(ceiling):
                enough = max(ceiling, 256 * MIB)
                run = self.run_in(helper, ["/bin/true"], pids=ceiling, mem_bytes=enough)
                self.assertLimited(run)
                self.assertEnded(run, "exited", 0)


class DumpTest(CeilingCase):
    """This guest hands dumps to a program of its own, as most systems do (setting.py)."""

    def crash_outside(self):
        """Waits until the handler was given it; the line that says so."""
        crash = subprocess.Popen(["/bin/sh", "-c", CRASH], cwd=self.ws)
        crash.wait()
        line = f"{crash.pid}\n"
        self.assertTrue(client.wait_until(lambda: line in read(DUMPED), 30), read(DUMPED))
        return line

    # field B71
    def test_a_crash_outside_reaches_the_hosts_handler_and_one_in_a_jail_does_not(self):
        if not os.path.exists(DUMPED):
            self.skipTest("dumps of this machine go elsewhere")
        before = read(DUMPED)
        first = self.crash_outside()
        run = self.run_in(self.helper(), CRASH)
        self.assertEqual(run.code, 128 + signal.SIGSEGV, run.exit)
        self.assertFalse([entry for entry in run.enforcement if "no-core" in entry])
        last = self.crash_outside()
        time.sleep(0.5)  # for a handler that was started earlier and is slower
        self.assertEqual(read(DUMPED), before + first + last)
        self.assertEqual(os.listdir(self.ws), [])


class GroupTest(CeilingCase):
    # cases.md 108, 140
    def test_the_group_holds_the_whole_jail_and_what_the_kernel_shows_is_what_was_asked_for(self):
        helper = self.helper()
        run = self.running(helper, mem_bytes=64 * MIB, pids=32)
        group = self.the_group()
        self.assertEqual(group.split("-")[1], str(run.id))
        self.assertEqual(read(BASE, group, "memory.max"), f"{64 * MIB}\n")
        self.assertEqual(read(BASE, group, "pids.max"), "32\n")
        swap = os.path.join(BASE, group, "memory.swap.max")
        if os.path.exists(swap):
            self.assertEqual(read(swap), "0\n")
        inside = processes_of(group)
        self.assertGreaterEqual(len(inside), 3, "the launcher's two processes and the command")
        self.assertIn(int(group.split("-")[2]), inside)
        names = {name for pid, name in client.descendants(helper.pid).items() if pid in inside}
        self.assertLessEqual({"bwrap", "sleep"}, names)
        helper.cancel(run)
        self.assertLimited(helper.settle(run, PATIENCE))
        self.assertNoGroupSoon()

    # cases.md 97
    def test_a_run_that_asked_for_no_ceiling_gets_no_group_and_no_entry(self):
        helper = self.helper()
        run = self.running(helper)
        self.assertEqual(groups(), self.before)
        helper.cancel(run)
        self.assertFalse([entry for entry in helper.settle(run).enforcement if "cgroup" in entry])

    # field B68
    def test_a_jail_that_sees_its_ceiling_cannot_lift_it(self):
        helper = self.helper()
        wait = 'while [ ! -e "$1/go" ]; do sleep 0.1; done'
        script = (
            f"f=$(echo {BASE}/exec-*/memory.max); cat $f; echo up; {wait}; cat $f;"
            " echo $$ > written; cat written;"
            " (echo max > $f) 2>/dev/null && echo lifted || echo refused; cat $f"
        )
        command = ["/bin/sh", "-c", script, "sh", self.ws]
        run = self.running(helper, command, readable=["/sys"], mem_bytes=64 * MIB)
        self.assertEqual(run.stdout, f"{64 * MIB}\nup\n".encode(), "the jail sees its own group")
        # The user may: it is the jail that stops the command.
        write(str(65 * MIB), BASE, self.the_group(), "memory.max")
        write("", self.path("go"))
        helper.settle(run, PATIENCE)
        lines = run.stdout.decode().split()
        self.assertEqual(lines[2], str(65 * MIB))
        self.assertTrue(lines[3].isdigit(), "the same shell writes where it may")
        self.assertEqual(lines[4:], ["refused", str(65 * MIB)])

    # field B68
    def test_a_policy_that_would_let_the_jail_lift_its_ceilings_is_refused_by_name(self):
        helper = self.helper()
        refused = self.run_in(helper, ["/bin/true"], writable=[BASE], pids=32)
        self.assertIsNotNone(refused.error, refused.exit)
        self.assertIn(BASE, refused.error["msg"])
        free = self.run_in(helper, ["/bin/true"], writable=[BASE])
        self.assertEqual(free.code, 0, free.stderr)

    # cases.md 160
    def test_a_base_that_is_lost_after_the_hello_is_reported_and_the_command_runs(self):
        write("+memory +pids", BASE, "cgroup.subtree_control")
        lost = os.path.join(BASE, f"lost-{os.getpid()}")
        os.mkdir(lost)
        helper = self.helper(base=lost)
        try:
            self.assertIn("cgroup-v2", helper.features)
            before = self.run_in(helper, ["/bin/true"], pids=32)
            self.assertLimited(before)
            self.assertTrue(client.wait_until(lambda: "exec-" not in str(os.listdir(lost)), 10))
        finally:
            os.rmdir(lost)

        script = "echo begin; ls /proc/self/fd; echo end"
        run = self.run_in(helper, script, pids=32, mem_bytes=64 * MIB)

        self.assertEnded(run, "exited", 0)
        # 3 is ls's own.
        self.assertEqual(run.stdout.split(), [b"begin", b"0", b"1", b"2", b"3", b"end"])
        self.assertNotIn("cgroup-v2", run.enforcement)
        skips = [entry for entry in run.enforcement if entry.startswith("skip:cgroup-v2")]
        self.assertEqual(len(skips), 1, run.enforcement)
        for word in ("cgroup.subtree_control", "memory.max and pids.max", "NOT applied"):
            self.assertIn(word, skips[0])


class RemovalTest(CeilingCase):
    # cases.md 198
    def test_ten_executions_leave_no_group(self):
        helper = self.helper()
        for _ in range(10):
            run = self.run_in(helper, "sleep 0.01 & echo ran", pids=32, mem_bytes=64 * MIB)
            self.assertLimited(run)
            self.assertEqual(run.stdout, b"ran\n")
        self.assertNoGroupSoon()
        helper.heartbeat()

    # cases.md 198
    def test_a_shutdown_right_after_the_exit_frame_waits_for_the_removal(self):
        for _ in range(3):
            helper = self.helper()
            self.assertLimited(self.run_in(helper, "setsid sleep 60 & echo ran", pids=32))
            helper.send("shutdown", {})
            self.assertEqual(helper.wait_exit(PATIENCE), 0, helper.stderr_text())
            self.assertEqual(groups(), self.before)
            helper.close()

    def test_what_left_the_process_group_did_not_leave_the_control_group(self):
        helper = self.helper()
        run = self.run_in(helper, "setsid sleep 600 & setsid setsid sleep 600 & echo ran", pids=32)
        self.assertEqual(run.stdout, b"ran\n")
        self.assertNothingRuns()
        self.assertNoGroupSoon()


class WarmTest(CeilingCase):
    """A jail that waits for its command is in its group before anybody asks for it."""

    CEILINGS = {"mem_bytes": 64 * MIB, "pids": 32}

    def warm_helper(self):
        """A helper, and the launcher of the jail that waits in it."""
        base = self.policy(**self.CEILINGS)
        helper = client.Helper(base, "--cgroup-base", BASE, features=OUTCOME)
        return helper, self.until_warm(helper)

    def until_warm(self, helper):
        warm = client.wait_until(lambda: client.waiting_jail(helper.pid), PATIENCE)
        self.assertTrue(warm, client.descendants(helper.pid))
        return client.waiting_jail(helper.pid)

    def command(self, helper, script="echo up; read line", **ceilings):
        return self.running(helper, script, **(ceilings or self.CEILINGS))

    def end(self, helper, run):
        helper.stdin(b"go\n")
        return helper.settle(run, PATIENCE)

    def test_it_has_its_ceilings_and_the_command_gets_them_with_it(self):
        helper, jail = self.warm_helper()
        group = self.the_group()
        self.assertEqual(group, f"exec-0-{jail}")
        self.assertEqual(read(BASE, group, "memory.max"), f"{64 * MIB}\n")
        self.assertEqual(read(BASE, group, "pids.max"), "32\n")
        self.assertEqual(processes_of(group), {jail, *client.descendants(jail)})
        before = processes_of(group)

        run = self.command(helper)

        self.assertEqual(self.the_group(), group, "the waiting jail was not used")
        self.assertLessEqual(before, processes_of(group))
        self.assertLimited(self.end(helper, run))
        self.assertTrue(client.wait_until(lambda: group not in groups(), 10), groups())

    def test_what_its_command_is_refused_is_counted_for_that_command(self):
        helper, jail = self.warm_helper()
        script = f"{' '.join(PYTHON)} '{FORKS}' 40; echo up; read line"
        run = self.command(helper, script)
        self.assertEqual(self.the_group(), f"exec-0-{jail}", "the waiting jail was not used")
        self.assertLimited(self.end(helper, run))
        denied = int(run.stdout.split()[0])
        self.assertGreater(denied, 0)
        self.assertIn(str(denied), self.assertEnded(run, "exited", 0))

    def test_other_ceilings_are_not_met_by_it(self):
        helper, jail = self.warm_helper()
        run = self.command(helper, mem_bytes=64 * MIB, pids=16)
        gone = client.wait_until(lambda: f"exec-0-{jail}" not in groups(), 10)
        self.assertTrue(gone, groups())
        group = self.the_group()
        self.assertEqual(group.split("-")[1], str(run.id))
        self.assertEqual(read(BASE, group, "pids.max"), "16\n")
        self.assertLimited(self.end(helper, run))

    def test_one_that_got_no_group_is_not_used_once_there_are_groups(self):
        """Its base comes and goes, as that of a service that is started again."""
        lost = os.path.join(BASE, f"lost-{os.getpid()}")

        def make():
            os.mkdir(lost)
            write("+memory +pids", lost, "cgroup.subtree_control")

        def remove():
            empty = client.wait_until(lambda: "exec-" not in str(os.listdir(lost)), 10)
            self.assertTrue(empty, os.listdir(lost))
            os.rmdir(lost)

        write("+memory +pids", BASE, "cgroup.subtree_control")
        make()
        self.addCleanup(lambda: os.path.isdir(lost) and os.rmdir(lost))
        helper = self.helper(base=lost)
        self.assertLimited(self.run_in(helper, "true", pids=32))
        remove()
        run = self.run_in(helper, "true", pids=32)
        self.assertNotIn("cgroup-v2", run.enforcement)
        jail = self.until_warm(helper)
        make()
        run = self.command(helper, pids=32)
        self.assertEqual([name.split("-")[1] for name in os.listdir(lost) if "exec-" in name], [str(run.id)])
        self.assertLimited(self.end(helper, run))
        self.assertNotIn(jail, client.descendants(helper.pid))
        # The next one has a group again; the helper's end takes it away.
        self.until_warm(helper)
        self.assertTrue(any(name.startswith("exec-0-") for name in os.listdir(lost)), os.listdir(lost))
        helper.end_input()
        self.assertEqual(helper.wait_exit(PATIENCE), 0)
        remove()

    def test_its_group_is_gone_on_every_way_out(self):
        for leave in (lambda helper: helper.end_input(), lambda helper: helper.send("shutdown", {})):
            helper, _ = self.warm_helper()
            self.the_group()
            leave(helper)
            self.assertEqual(helper.wait_exit(PATIENCE), 0, helper.stderr_text())
            self.assertEqual(groups(), self.before)
            self.assertNothingRuns()
            helper.close()

    def test_a_killed_helper_leaves_an_empty_group_and_the_next_start_removes_it(self):
        helper, _ = self.warm_helper()
        group = self.the_group()
        helper.kill()
        helper.close()
        self.assertNothingRuns()
        self.assertTrue(client.wait_until(lambda: not is_populated(group), 10))
        self.assertEqual(self.the_group(), group)
        self.helper()
        self.assertNotIn(group, groups())


class SweepTest(CeilingCase):
    def make(self, name):
        path = os.path.join(BASE, name)
        os.mkdir(path)
        self.addCleanup(lambda: os.path.isdir(path) and os.rmdir(path))
        return name

    # cases.md 158
    def test_a_killed_helper_leaves_one_empty_group_and_the_next_start_removes_just_that(self):
        helper = self.helper()
        self.running(helper, pids=32, mem_bytes=64 * MIB)
        group = self.the_group()
        helper.kill()
        helper.close()
        self.assertNothingRuns()
        self.assertTrue(client.wait_until(lambda: not is_populated(group), 10))
        self.assertEqual(self.the_group(), group)
        others = (f"exec-9002-{os.getpid()}", "exec-8", f"exec-8-9-{NOBODY}", "other")
        kept = [self.make(name) for name in others]
        gone = self.make(f"exec-9001-{NOBODY}")

        self.helper()

        left = os.listdir(BASE)
        self.assertNotIn(group, left)
        self.assertNotIn(gone, left)
        self.assertLessEqual(set(kept), set(left))

    def test_a_fresh_and_still_empty_group_survives_the_starts_of_other_helpers(self):
        fresh = self.make(f"exec-1-{os.getpid()}")  # as it is between the fork and the entry
        working = self.helper()
        for number in range(SWEEP_TRIES):
            other = self.helper(hello=False)
            # Its group is fresh at some moment, too.
            run = self.run_in(working, ["/bin/true"], pids=32)
            self.assertLimited(run)
            other.expect("hello", timeout=PATIENCE)
            self.assertIn(fresh, os.listdir(BASE), f"start {number}")
            other.close()

    # What sees none of our processes takes them for gone.
    def test_a_group_swept_before_the_entry_is_made_again(self):
        working, met = self.helper(), 0
        for _ in range(RACE_TRIES):
            words = [sys.executable, "-S", "-c", SWEEPER, BASE, *self.before]
            child = subprocess.Popen(words, stdout=subprocess.PIPE)
            self.assertEqual(child.stdout.readline(), b"ready\n")
            run = self.run_in(working, ["/bin/true"], pids=32)
            child.kill()
            met += child.stdout.read() == b"met\n"
            child.stdout.close()
            child.wait()
            self.assertLimited(run)
            if met == HITS:
                break
        self.assertGreater(met, 0, "the sweeper was never in time: nothing was shown")


# Removes the first empty group it meets, once.
SWEEPER = """
import os, sys
base, known = sys.argv[1], set(sys.argv[2:])
print("ready", flush=True)
met = False
while not met:
    for name in os.listdir(base):
        if name.startswith("exec-") and name not in known:
            try:
                os.rmdir(base + "/" + name)
                met = True
                break
            except OSError:
                pass
print("met", flush=True)
"""


class GateTest(CeilingCase):
    def stop_at_the_gate(self, helper, command):
        """Stops the helper as soon as the group is there; whether its child still waits."""
        self.start(helper, command, pids=32)
        deadline = time.monotonic() + PATIENCE
        while groups() == self.before and time.monotonic() < deadline:
            pass  # a sleep is coarser than what is to be hit
        os.kill(helper.pid, signal.SIGSTOP)
        own = os.readlink(f"/proc/{helper.pid}/exe")
        children = client.descendants(helper.pid)
        try:
            programs = {os.readlink(f"/proc/{pid}/exe") for pid in children}
            return programs == {own}
        except OSError:
            return False

    def test_a_helper_killed_while_its_child_waits_leaves_nothing_running(self):
        waited = 0
        for number in range(RACE_TRIES):
            helper = self.helper()
            waits = self.stop_at_the_gate(helper, f"echo x > {number}.ran; exec sleep 600")
            time.sleep(random.uniform(0, 0.05))
            ran_before = os.path.exists(self.path(f"{number}.ran"))
            helper.kill()
            helper.close()
            self.assertNothingRuns()
            if waits:
                waited += 1
                self.assertFalse(ran_before, "a child at the gate runs nothing")
                ran = os.path.exists(self.path(f"{number}.ran"))
                self.assertFalse(ran, "nor after the helper's end")
            if waited == HITS:
                break
        self.assertGreater(waited, 0, "no helper was stopped in time: nothing was shown")
        self.helper().close()
        self.assertEqual(groups(), self.before, "the next start removes what is left")


assert ctypes  # the guest holds what its scripts import, and RESERVE needs it

if __name__ == "__main__":
    unittest.main()
