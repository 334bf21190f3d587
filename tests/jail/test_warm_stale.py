"""A waiting jail is never used when anything changed meanwhile: there, and there and back.

What the helper compares is tried alone where it can be: with the helper stopped during the change, so that
nothing but the comparison at the start can notice; and once more with the helper awake, which lets go of the
jail in time or compares as well.
"""

import fcntl
import resource
import sys

from test_aliases import among_the_mounts_of, ctypes, libc, mount
from warming import *

# What is told of a jail that was not taken (core/app/warm_grounds.cc, core/app/execution_ahead.cc).
FAILED, ENDED = "its jail failed", "its jail ended"
POLICY, MORE = "another policy", "a run that needs more than a jail"
FILES, NAMES = "the host's files changed", "a protected name was touched"
HOST_MOUNTS, JAIL_MOUNTS = "the host's mounts changed", "the jail's mounts changed"
INHERITED, PROGRAM = "what a child inherits changed", "a program was rewritten"

PTRACE_SEIZE, MNT_DETACH, WALL = 0x4206, 2, 0x40000000
NO_RULES = {"default": "allow", "allow": [], "deny": [], "support": "system", "memfd": "any", "required": False}


def unmount(target, flags=0):
    if libc.umount2(os.fsencode(target), flags) != 0:
        raise OSError(ctypes.get_errno(), f"umount {target}")


class StaleCase(WarmCase):
    def setUp(self):
        super().setUp()
        self.secret = self.file("ws/.env")
        self.keys = self.directory("ws/keys")
        self.file("ws/keys/id", text="S3CRET\n")
        self.file("ws/open.txt", text="open\n")

    def masked(self, **more):
        return self.policy(protected=[self.secret, self.keys], **more)

    LOOK = "cat open.txt; cat .env; cat keys/id; ls keys"

    def assertHidden(self, run):
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)
        self.assertNotIn(b"id\n", run.stdout)


class StoppedTest(StaleCase):
    """Each change between the preparation and the start, which the helper learns of at the start."""

    def assertStaleAfter(self, change, reason, policy=None, script=StaleCase.LOOK, **start):
        with self.warm(policy or self.masked()) as (helper, jail):
            return self.assertStale(helper, jail, reason, script, change=change, **start)

    def test_a_protected_file_that_was_replaced(self):
        def change():
            self.file("out/new")
            os.rename(self.path("out/new"), self.secret)

        self.assertHidden(self.assertStaleAfter(change, FILES))

    def test_a_protected_file_that_was_removed_and_made_again(self):
        def change():
            os.unlink(self.secret)
            self.file("ws/.env")

        self.assertHidden(self.assertStaleAfter(change, FILES))

    def test_a_protected_file_that_was_removed(self):
        script = "cat open.txt; echo x >.env; ls -A"
        run = self.assertStaleAfter(lambda: os.unlink(self.secret), MORE, script=script)
        self.assertIn(b"open\n", run.stdout)
        self.assertFalse(os.path.lexists(self.secret))

    def test_a_protected_file_that_was_exchanged_and_exchanged_back(self):
        """The mask goes with the name, and comes back with it: all facts are those of before."""

        def change():
            os.rename(self.secret, self.path("ws/away"))
            self.file("ws/.env", text="other\n")
            os.rename(self.path("ws/away"), self.secret)

        self.assertHidden(self.assertStaleAfter(change, NAMES))

    def test_a_protected_file_that_was_replaced_and_came_back(self):
        """Whoever replaces a name takes the mask off the object that had it."""

        def change():
            os.link(self.secret, self.path("ws/kept"))
            self.file("ws/other", text="other\n")
            os.rename(self.path("ws/other"), self.secret)
            os.rename(self.path("ws/kept"), self.secret)

        self.assertHidden(self.assertStaleAfter(change, JAIL_MOUNTS))

    def test_a_protected_directory_that_was_exchanged_and_exchanged_back(self):
        def change():
            os.rename(self.keys, self.path("ws/away"))
            os.mkdir(self.keys)
            os.rmdir(self.keys)
            os.rename(self.path("ws/away"), self.keys)

        self.assertHidden(self.assertStaleAfter(change, NAMES))

    def test_a_directory_above_that_was_exchanged(self):
        policy = self.policy(protected=[self.file("ws/deep/er/.env")])

        def change():
            os.rename(self.path("ws/deep"), self.path("ws/away"))
            self.file("ws/deep/er/.env")

        run = self.assertStaleAfter(change, FILES, policy, "cat open.txt; cat deep/er/.env")
        self.assertHidden(run)

    def test_a_directory_above_that_was_exchanged_and_exchanged_back(self):
        policy = self.policy(protected=[self.file("ws/deep/er/.env")])

        def change():
            os.rename(self.path("ws/deep"), self.path("ws/away"))
            os.mkdir(self.path("ws/deep"))
            os.rmdir(self.path("ws/deep"))
            os.rename(self.path("ws/away"), self.path("ws/deep"))

        run = self.assertStaleAfter(change, NAMES, policy, "cat open.txt; cat deep/er/.env")
        self.assertHidden(run)

    def test_a_directory_above_that_was_exchanged_around_what_is_granted(self):
        """The granted directory is the same one; only the way there is another."""
        granted = os.path.dirname(self.file("out/deep/er/note", text="note\n"))

        def change():
            os.rename(self.path("out/deep"), self.path("out/away"))
            os.mkdir(self.path("out/deep"))
            os.rename(self.path("out/away/er"), granted)

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[granted]), f"cat {granted}/note")
        self.assertIn(b"note\n", run.stdout)

    def test_a_protected_file_with_another_name(self):
        run = self.assertStaleAfter(lambda: os.link(self.secret, self.path("ws/other")), FILES)
        self.assertIn("mask-links=1", run.enforcement)

    def test_a_protected_file_that_became_a_directory(self):
        def change():
            os.unlink(self.secret)
            os.mkdir(self.secret)
            self.file("ws/.env/inner")

        run = self.assertStaleAfter(change, FILES, script="cat open.txt; cat .env/inner")
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)

    def test_a_protected_path_that_was_absent_and_is_there(self):
        absent = self.path("out/late")  # nothing shows it, so that nothing has to be made
        policy = self.policy(protected=[absent])
        run = self.assertStaleAfter(lambda: self.file("out/late"), FILES, policy, "cat open.txt; cat ../out/late")
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)

    def test_a_link_that_leads_elsewhere(self):
        self.file("out/a/note", text="first\n")
        self.file("out/b/note", text="second\n")
        link = self.link(self.path("out/a"), "link")

        def change():
            os.unlink(link)
            os.symlink(self.path("out/b"), link)

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[link]), f"cat {link}/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_link_that_leads_there_by_another_way(self):
        self.file("out/a/note", text="note\n")
        link = self.link(self.path("out/a"), "link")
        other = self.link(self.path("out/a"), "other")

        def change():
            os.unlink(link)
            os.symlink(other, link)

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[link]), f"cat {link}/note")
        self.assertIn(b"note\n", run.stdout)

    def test_a_link_that_became_a_directory(self):
        self.file("out/a/note", text="first\n")
        link = self.link(self.path("out/a"), "link")

        def change():
            os.unlink(link)
            self.file("link/note", text="second\n")

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[link]), f"cat {link}/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_workspace_that_was_exchanged(self):
        def change():
            os.rename(self.ws, self.path("away"))
            self.file("ws/open.txt", text="new\n")

        run = self.assertStaleAfter(change, FILES, self.policy(), "cat open.txt; echo mine >made")
        self.assertIn(b"new\n", run.stdout)
        self.assertTrue(os.path.exists(self.path("ws/made")))
        self.assertFalse(os.path.exists(self.path("away/made")))

    def test_a_readable_root_that_was_exchanged(self):
        self.file("out/note", text="first\n")

        def change():
            os.rename(self.out, self.path("away"))
            self.file("out/note", text="second\n")

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[self.out]), "cat ../out/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_file_with_a_mount_of_its_own_that_was_replaced(self):
        file = self.file("out/file", text="first\n")

        def change():
            self.file("out/new", text="second\n")
            os.rename(self.path("out/new"), file)

        policy = self.policy(mounts=[{"path": file, "access": "ro", "required": True}])
        run = self.assertStaleAfter(change, FILES, policy, f"cat {file}")
        self.assertIn(b"\nsecond\n", run.stdout)


class AwakeTest(StoppedTest):
    """The same under the eyes of the helper."""

    def assertStaleAfter(self, change, reason, policy=None, script=StaleCase.LOOK, **start):
        with self.warm(policy or self.masked()) as (helper, jail):
            return self.assertStale(helper, jail, None, script, meanwhile=change, **start)

    def test_a_protected_name_that_is_touched_lets_go_of_the_jail_at_once(self):
        with self.warm(self.masked()) as (helper, jail):
            os.rename(self.secret, self.path("ws/away"))
            os.rename(self.path("ws/away"), self.secret)
            gone = client.wait_until(lambda: state(jail) is None, PATIENCE)
            self.assertTrue(gone, "a jail is kept that nobody can get any more")
            self.assertHidden(self.assertStale(helper, jail, None, self.LOOK))


class UnchangedTest(StaleCase):
    def test_it_is_used(self):
        with self.warm(self.masked()) as (helper, jail):
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK))

    def test_a_helper_that_was_stopped_uses_it(self):
        with self.warm(self.masked()) as (helper, jail):
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK, change=lambda: None))

    def test_a_name_beside_a_protected_one_is_nothing_to_it(self):
        with self.warm(self.masked()) as (helper, jail):
            self.file("ws/new")
            os.rename(self.path("ws/new"), self.path("ws/newer"))
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK))

    def test_a_workspace_that_was_exchanged_and_exchanged_back_is_the_workspace(self):
        with self.warm(self.policy()) as (helper, _):
            os.rename(self.ws, self.path("away"))
            os.mkdir(self.ws)
            os.rmdir(self.ws)
            os.rename(self.path("away"), self.ws)
            run, _ = self.run_held(helper, "cat open.txt; echo mine >made")
            self.assertIn(b"open\n", run.stdout)
            self.assertEqual(self.text(self.path("ws/made")), "mine\n")


class RequestTest(StaleCase):
    """Starts that come with something else."""

    def test_a_policy_that_differs_in_what_no_jail_is_made_by(self):
        """What the helper counts itself is in no launch, and begins with the jail."""
        policy = self.masked(limits=client.limits(output_bytes=100))
        with self.warm(policy) as (helper, jail):
            script = "i=0; while [ $i -lt 50 ]; do echo 0123456789; i=$((i + 1)); done"
            run = self.assertStale(helper, jail, POLICY, script, policy=self.masked())
            self.assertEqual(run.truncations["stdout"], 0)

    def test_a_policy_of_version_3_that_restricts_nothing(self):
        with self.warm(self.policy()) as (helper, jail):
            run = self.assertStale(helper, jail, POLICY, "cat open.txt", policy=self.policy(v=3, exec=NO_RULES))
            self.assertIn(b"open\n", run.stdout)


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
            inner = client.wait_until(lambda: not client.descendants(jail), PATIENCE)
            self.assertTrue(inner, "it does not fail")
            self.assertEqual(state(jail), "S")
            helper.heartbeat()  # it has heard of it
            self.assertWorks(helper, FAILED, jail, meanwhile=meanwhile)

    def test_a_stage_2_that_failed_under_a_launcher_that_lives(self):
        self.assertWorksAfterDropping(self.secret)

    def test_a_jail_that_the_helper_refused_under_a_launcher_that_lives(self):
        """Stage 2 knows of no network but its own, and would go on."""
        self.assertWorksAfterDropping("--unshare-net")

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
