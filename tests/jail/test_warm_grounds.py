"""A waiting jail is never used when mounts, what it inherits, itself or its program changed meanwhile.

What is a path: test_warm_stale.py.
"""

import fcntl
import resource
import sys

from test_aliases import among_the_mounts_of, ctypes, libc, mount
from warming import *

PTRACE_SEIZE, MNT_DETACH, WALL = 0x4206, 2, 0x40000000


def unmount(target, flags=0):
    if libc.umount2(os.fsencode(target), flags) != 0:
        raise OSError(ctypes.get_errno(), f"umount {target}")


class MountTest(StaleCase):
    """Mounts of the host: the helper's."""

    def assertStaleAfterMounting(self, actions, script=StaleCase.LOOK):
        def change():
            for action in actions:
                among_the_mounts_of(helper.pid, action)

        with self.warm(self.masked(), prepare=own_mounts) as (helper, jail):
            self.assertUsed(helper, jail, self.LOOK)
            run = self.assertStale(helper, self.until_warm(helper), HOST_MOUNTS, script, change=change)
            self.assertHidden(run)
            return run

    def test_a_mount_on_the_host(self):
        target = self.directory("ws/sub")

        def cover():
            mount("none", target, "tmpfs")
            with open(f"{target}/note", "w", encoding="utf-8") as file:
                file.write("mounted\n")

        run = self.assertStaleAfterMounting([cover], self.LOOK + "; cat sub/note")
        self.assertIn(b"mounted\n", run.stdout)

    def test_a_mount_on_the_host_that_is_gone_again(self):
        target = self.directory("ws/sub")
        self.assertStaleAfterMounting([lambda: mount("none", target, "tmpfs"), lambda: unmount(target)])

    def test_a_file_system_that_is_unmounted_is_let_go_at_once(self):
        target = self.directory("mnt")

        def prepare():
            own_mounts()
            mount("none", target, "tmpfs")
            with open(f"{target}/note", "w", encoding="utf-8") as file:
                file.write("mounted\n")

        policy = self.policy(readable_roots=[target])
        with self.warm(policy, prepare=prepare) as (helper, jail):
            run = self.assertUsed(helper, jail, "cat ../mnt/note")
            self.assertIn(b"mounted\n", run.stdout)
            self.until_warm(helper)
            among_the_mounts_of(helper.pid, lambda: unmount(target))
            gone = client.wait_until(lambda: not client.descendants(helper.pid), PATIENCE)
            self.assertTrue(gone, "a jail goes on holding what was unmounted")
            run, _ = self.run_held(helper, "cat ../mnt/note")
            self.assertNotIn(b"mounted\n", run.stdout)


class JailMountTest(StaleCase):
    """Mounts of the waiting jail, changed from outside. Nothing on the host is another for that."""

    @staticmethod
    def among_the_mounts_of_jail(pid, action):
        """As among_the_mounts_of, where a process has a user namespace below that of its mounts."""
        ns_get_userns = 0xB701
        child = os.fork()
        if child == 0:
            status = 1
            try:
                mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
                for namespace in (mounts,) if ROOT else (fcntl.ioctl(mounts, ns_get_userns), mounts):
                    if libc.setns(namespace, 0) != 0:
                        raise OSError(ctypes.get_errno(), "setns")
                action()
                status = 0
            except Exception as problem:
                print(problem, file=sys.stderr, flush=True)
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0, "nothing was done among the mounts of the jail"

    def assertStaleAfter(self, action, script=StaleCase.LOOK):
        with self.warm(self.masked()) as (helper, jail):
            self.among_the_mounts_of_jail(self.stage2_of(jail), action)
            run = self.assertStale(helper, jail, JAIL_MOUNTS, script)
            self.assertHidden(run)
            return run

    def test_a_look_at_them_does_no_harm(self):
        with self.warm(self.masked()) as (helper, jail):
            self.among_the_mounts_of_jail(self.stage2_of(jail), lambda: os.listdir(self.ws))
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK))

    def test_a_mask_of_a_file_that_is_gone(self):
        self.assertStaleAfter(lambda: unmount(self.secret, MNT_DETACH))

    def test_a_mask_of_a_directory_that_is_gone(self):
        self.assertStaleAfter(lambda: unmount(self.keys, MNT_DETACH))

    def test_a_mount_that_is_no_mask(self):
        sub = self.directory("ws/sub")
        self.file("ws/sub/note", text="note\n")
        run = self.assertStaleAfter(lambda: mount("none", sub, "tmpfs"), self.LOOK + "; cat sub/note")
        self.assertIn(b"note\n", run.stdout)

    def test_a_mount_whose_options_are_others(self):
        ms_remount, ms_nosuid, ms_noexec = 32, 2, 8

        def change():
            mount("none", self.ws, flags=ms_remount | 4096 | ms_nosuid | 4 | ms_noexec)

        self.program("ws/run", text="#!/bin/sh\necho it runs\n")
        run = self.assertStaleAfter(change, self.LOOK + "; ./run")
        self.assertIn(b"it runs\n", run.stdout)


class InheritedTest(StaleCase):
    def assertStaleAfter(self, change, look, expected):
        with self.warm(self.masked()) as (helper, jail):
            change(helper.pid)
            run = self.assertStale(helper, jail, INHERITED, self.LOOK + "; " + look)
            self.assertHidden(run)
            self.assertIn(b"\n" + expected + b"\nseen\n", run.stdout)

    def test_processors(self):
        self.assertStaleAfter(lambda pid: os.sched_setaffinity(pid, {0}), "nproc", b"1")

    def test_priority(self):
        self.assertStaleAfter(lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 7), "nice", b"7")

    def test_a_limit(self):
        limit = (1 << 15, 1 << 15)
        self.assertStaleAfter(lambda pid: resource.prlimit(pid, resource.RLIMIT_MEMLOCK, limit), "ulimit -l", b"32")

    def test_scheduler(self):
        batch = os.sched_param(0)
        look = f"{PYTHON} -c 'import os; print(os.sched_getscheduler(0))'"
        self.assertStaleAfter(lambda pid: os.sched_setscheduler(pid, os.SCHED_BATCH, batch), look, b"3")

    def test_priority_of_its_input_and_output(self):
        idle = lambda pid: subprocess.run(["ionice", "-c3", "-p", str(pid)], check=True)
        self.assertStaleAfter(idle, "ionice", b"idle")

    def test_real_time_priority(self):
        look = f"{PYTHON} -c 'import os; print(os.sched_getparam(0).sched_priority)'"

        def raise_to(number):
            return lambda pid: os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(number))

        if not ROOT:  # nobody else can
            with self.warm() as (helper, _), self.assertRaises(PermissionError):
                raise_to(10)(helper.pid)
            return
        self.assertStaleAfter(raise_to(10), look, b"10")
        # The scheduler is the same one by then, only its parameter another.
        with self.warm(self.masked()) as (helper, jail):
            raise_to(10)(helper.pid)
            self.assertStale(helper, jail, INHERITED, self.LOOK)
            jail = self.until_warm(helper)
            raise_to(1)(helper.pid)
            run = self.assertStale(helper, jail, INHERITED, self.LOOK + "; " + look)
            self.assertIn(b"\n1\nseen\n", run.stdout)

    def set_file(self, name, text):
        def change(pid):
            with open(f"/proc/{pid}/{name}", "w", encoding="ascii") as file:
                file.write(text)

        return change

    def test_how_soon_the_kernel_kills_it_for_memory(self):
        self.assertStaleAfter(self.set_file("oom_score_adj", "500"), "cat /proc/self/oom_score_adj", b"500")

    def test_timer_slack(self):
        change = self.set_file("timerslack_ns", "70000")
        if ROOT:
            self.assertStaleAfter(change, "cat /proc/self/timerslack_ns", b"70000")
        else:  # nobody else can
            with self.warm() as (helper, _), self.assertRaises(PermissionError):
                change(helper.pid)


class JailEndsTest(StaleCase):
    """A waiting jail that ended, or is about to. Whoever asks gets one that works."""

    def assertWorks(self, helper, reason, jail, **how):
        run = self.assertStale(helper, jail, reason, self.LOOK, **how)
        self.assertHidden(run)
        self.assertEqual(run.code, 0)

    def one_that_is_held(self, helper, jail):
        """A jail that cannot begin to prepare."""
        self.file("choosy/hold")
        self.addCleanup(self.let_begin)
        self.assertUsed(helper, jail, self.LOOK)
        return self.one_that_prepares(helper)

    def let_begin(self):
        if os.path.exists(self.path("choosy/hold")):
            os.unlink(self.path("choosy/hold"))

    def kill(self, pid, ended=None):
        os.kill(pid, signal.SIGKILL)
        self.assertTrue(client.wait_until(lambda: state(ended or pid) in ("Z", None), PATIENCE))

    def trace(self, jail):
        """Until this process reaps it, a launcher that was killed has not ended for its parent."""
        if libc.ptrace(PTRACE_SEIZE, jail, 0, 0) != 0:
            self.skipTest("this user may not trace a launcher")
        self.addCleanup(os.waitpid, jail, WALL)
        self.addCleanup(self.end_helpers)

    def test_a_launcher_that_was_killed(self):
        with self.warm(self.masked()) as (helper, jail):
            os.kill(jail, signal.SIGKILL)
            self.assertTrue(client.wait_until(lambda: state(jail) is None, PATIENCE))
            self.assertWorks(helper, None, jail)

    def test_a_launcher_that_was_killed_in_the_moment_it_is_asked_for(self):
        with self.warm(self.masked()) as (helper, jail):
            self.assertWorks(helper, ENDED, jail, change=lambda: self.kill(jail))

    def test_a_launcher_that_was_killed_before_it_had_prepared_in_the_moment_it_is_asked_for(self):
        def change():
            self.kill(jail)
            self.let_begin()

        with self.warm(self.masked(), env=self.on()) as (helper, jail):
            jail = self.one_that_is_held(helper, jail)
            self.assertWorks(helper, ENDED, jail, change=change)

    def test_a_stage_2_that_was_killed_under_a_launcher_that_lives_in_the_moment_it_is_asked_for(self):
        with self.warm(self.masked()) as (helper, jail), stopped(jail):
            stage2 = self.stage2_of(jail)
            self.assertWorks(helper, ENDED, jail, change=lambda: self.kill(stage2))

    def test_a_stage_2_that_was_killed_under_a_launcher_that_lives(self):
        with self.warm(self.masked()) as (helper, jail), stopped(jail):
            self.kill(self.stage2_of(jail))
            helper.heartbeat()
            time.sleep(0.1)  # it has read the end of the channel
            self.assertWorks(helper, ENDED, jail, meanwhile=helper.heartbeat)

    def test_a_protected_name_that_was_touched_before_it_had_prepared(self):
        def meanwhile():
            os.rename(self.secret, self.path("ws/away"))
            os.rename(self.path("ws/away"), self.secret)
            self.assertTrue(client.wait_until(lambda: state(jail) == "Z", PATIENCE), "it is not let go")
            self.let_begin()

        with self.warm(self.masked(), env=self.on()) as (helper, jail):
            jail = self.one_that_is_held(helper, jail)
            self.trace(jail)
            self.assertWorks(helper, FAILED, jail, meanwhile=meanwhile)

    @staticmethod
    def lingers(launcher):
        """Whether it has made the process that does its work: it ignores the ends of its children then."""
        with open(f"/proc/{launcher}/status", encoding="ascii") as file:
            ignored = next(line for line in file if line.startswith("SigIgn:")).split()[1]
        return bool(int(ignored, 16) >> (signal.SIGCHLD - 1) & 1)

    def assertWorksAfterDropping(self, what):
        """A jail that fails, while its launcher stays as if nothing had happened."""

        def meanwhile():
            for name in ("drop", "linger"):
                os.unlink(self.path("fake", name))

        with self.warm(self.masked(), env=path_with(self.careless_bwrap())) as (helper, jail):
            for name in ("drop", "linger"):
                self.file("fake", name, text=what)
            self.assertUsed(helper, jail, self.LOOK)
            jail = self.one_that_prepares(helper)
            ended = client.wait_until(lambda: self.lingers(jail) and not client.descendants(jail), PATIENCE)
            self.assertTrue(ended, "it does not fail")
            self.assertIn(state(jail), ("R", "S"), "the launcher is to live on")
            helper.heartbeat()  # it has heard of it
            self.assertWorks(helper, FAILED, jail, meanwhile=meanwhile)

    def test_a_stage_2_that_failed_under_a_launcher_that_lives(self):
        self.assertWorksAfterDropping(self.secret)

    def test_a_jail_that_the_helper_refused_under_a_launcher_that_lives(self):
        """Stage 2 knows of no network but its own, and would go on."""
        self.assertWorksAfterDropping("--unshare-net")

    def test_a_report_whose_end_is_still_to_come_is_waited_for(self):
        """The jail waits for a command, and the command for the report."""
        fake = self.careless_bwrap()
        self.file("fake/hold", text="3000")
        with self.warm(self.masked(), env=path_with(fake)) as (helper, jail):
            run = self.assertUsed(helper, jail, self.LOOK)
            self.assertGreaterEqual(run.exit["wall_ms"], 500, "nobody held the report")
            self.assertApplied(run, "bwrap", "mounts", "landlock")
            self.assertNoSkips(run)

    def test_nothing_is_waited_for_that_will_not_end(self):
        """A tracer that does not reap keeps the launcher from ending, and the helper has others to serve."""
        with self.warm(self.masked()) as (helper, jail):
            self.trace(jail)
            began = time.monotonic()
            other = self.masked(readable_roots=[self.out])
            self.assertHidden(self.assertStale(helper, jail, POLICY, self.LOOK, policy=other))
            self.assertEqual(state(jail), "Z", "it should not have ended yet, or nothing is shown")
            helper.send("shutdown", {})
            self.assertEqual(helper.wait_exit(), 0)
            self.assertLess(time.monotonic() - began, 8)


    def test_nor_at_the_end_of_the_helper(self):
        with self.warm(self.masked()) as (helper, jail):
            self.trace(jail)
            helper.send("shutdown", {})
            self.assertEqual(helper.wait_exit(), 0)
            self.assertEqual(state(jail), "Z", "it should not have ended yet, or nothing is shown")


class ProgramTest(StaleCase):
    """A program that runs cannot be written to, but where a file system shows that of another."""

    def try_alone(self, prepare):
        """An ordinary user mounts such a file system from Linux 5.11 on."""
        if subprocess.run(["true"], preexec_fn=lambda: os._exit(self.fails(prepare)), check=False).returncode:
            self.skipTest("no overlay can be mounted here")

    @staticmethod
    def fails(action):
        try:
            action()
        except OSError:
            return 1
        return 0

    def launcher_on_an_overlay(self):
        """What a helper does before it starts, the directory for its PATH, and the file below."""
        below, above = self.directory("below"), self.directory("above")
        work, tools = self.directory("work"), self.directory("tools")
        shutil.copy2("/usr/bin/bwrap", os.path.join(below, "bwrap"))

        def prepare():
            own_mounts()
            mount("overlay", tools, "overlay", data=f"lowerdir={below},upperdir={above},workdir={work}")

        self.try_alone(prepare)
        return prepare, tools, os.path.join(below, "bwrap")

    def test_a_launcher_that_was_rewritten(self):
        prepare, tools, file = self.launcher_on_an_overlay()
        with self.warm(self.masked(), prepare=prepare, env=path_with(tools)) as (helper, jail):
            self.assertEqual(os.readlink(f"/proc/{jail}/exe"), os.path.join(tools, "bwrap"))
            self.assertUsed(helper, jail, self.LOOK)
            self.until_warm(helper)
            with open(file, "ab") as program:
                program.write(b"\0")
            tells, told = self.tells_reasons(), len(self.reasons(helper))
            run = helper.settle(helper.start([SH, "-c", self.LOOK], cwd=self.ws), LIMIT)
            self.assertIsNotNone(run.error, "it ran, by a program that is another: " + self.story(run))
            self.assertIn("pin_changed", run.error["msg"])
            self.assertEqual(self.reasons(helper)[told:], [PROGRAM] if tells else [])

    def test_a_launcher_that_was_only_touched_is_the_same(self):
        prepare, tools, file = self.launcher_on_an_overlay()
        with self.warm(self.masked(), prepare=prepare, env=path_with(tools)) as (helper, jail):
            os.utime(file)
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK))


if __name__ == "__main__":
    unittest.main()
