"""Warm jails: one waits for the next command, is used once, and never when anything changed meanwhile."""

import contextlib
import resource

from probing import *
from test_aliases import CLONE_NEWUSER, among_the_mounts_of, ctypes, libc, mount, own_mounts

PATIENCE = 10  # seconds until a jail waits, or is gone
LEAVE = "/bin/true"


class WarmCase(ProbingCase):
    def setUp(self):
        super().setUp()
        client.become_subreaper()

    @contextlib.contextmanager
    def warm(self, policy=None, *flags, **how):
        """A helper, and the launcher of the jail that waits in it."""
        with self.helper(*flags, base=policy or self.policy(), **how) as helper:
            self.needs(helper, "bwrap", "landlock", "seccomp")
            yield helper, self.until_warm(helper)

    def until_warm(self, helper):
        found = []

        def look():
            found[:] = [client.waiting_jail(helper.pid)]
            return found[0] is not None

        self.assertTrue(client.wait_until(look, PATIENCE), "no jail waits")
        time.sleep(0.05)  # the helper has read what stage 2 said
        return found[0]

    def jails(self, helper):
        return {pid for pid, name in client.descendants(helper.pid).items() if name == "bwrap"}

    def run_held(self, helper, script="", **start):
        """A run that says what it sees and waits to be told to end: the run, and its launchers."""
        run = helper.start([SH, "-c", f"echo begin; {script}\necho seen; read line"], cwd=self.ws, **start)
        helper.until_output(run, b"seen", LIMIT)
        used = self.jails(helper)
        helper.stdin(b"go\n")
        self.settle(helper, run)
        return run, used

    def assertUsed(self, helper, jail, script="", **start):
        for _ in range(2):  # a mount that somebody else makes on this host makes every jail stale
            run, used = self.run_held(helper, script, **start)
            if jail in used:
                return run
            jail = self.until_warm(helper)
        run, used = self.run_held(helper, script, **start)
        self.assertIn(jail, used, "the waiting jail was not used: " + self.story(run))
        return run

    def assertStale(self, helper, jail, script="", **start):
        run, used = self.run_held(helper, script, **start)
        self.assertNotIn(jail, used, "a stale jail was used: " + self.story(run))
        self.assertTrue(used, self.story(run))
        return run


class UseTest(WarmCase):
    def test_it_is_used_once_and_another_one_is_made(self):
        with self.warm() as (helper, first):
            self.assertUsed(helper, first)
            second = self.until_warm(helper)
            self.assertNotEqual(first, second)
            self.assertUsed(helper, second)

    def test_there_is_never_more_than_one(self):
        with self.warm() as (helper, _):
            for _ in range(3):
                self.settle(helper, helper.start([LEAVE]))
                self.until_warm(helper)
                time.sleep(0.1)
                launchers = [pid for pid in self.jails(helper) if client.process_table()[pid][0] == helper.pid]
                self.assertEqual(len(launchers), 1)

    def test_everything_that_comes_with_a_start_reaches_the_command(self):
        script = 'echo "$0 $1 $NAME"; pwd; read line; echo "$line"; exit 7'
        policy = self.policy(env_allow=["PATH", "NAME"])
        said = []
        for flags in ((), ("--no-warm",)):
            with self.helper(*flags, base=policy) as helper:
                self.needs(helper, "bwrap")
                if not flags:
                    self.until_warm(helper)
                argv = [SH, "-c", script, "zero", "one"]
                run = helper.start(argv, cwd=self.ws, env={"NAME": "value", "OTHER": "no", "PATH": "/usr/bin:/bin"})
                helper.stdin(b"a line\n", eof=True)
                self.settle(helper, run)
                said.append((run.code, bytes(run.stdout), bytes(run.stderr)))
        self.assertEqual(said[0], (7, f"zero one value\n{self.ws}\na line\n".encode(), b""))
        self.assertEqual(said[0], said[1])

    def test_its_report_is_the_one_of_a_cold_run(self):
        self.file("ws/.env")
        policy = self.policy(protected=[self.path("ws/.env")], limits=client.limits(fsize_bytes=1 << 20))
        with self.warm(policy) as (helper, jail):
            warm = self.assertUsed(helper, jail)
        with self.helper("--no-warm", base=policy) as helper:
            cold, _ = self.run_held(helper)
        self.assertEqual(warm.enforcement, cold.enforcement)
        self.assertEqual(self.outcome(warm), self.outcome(cold))

    def test_the_wall_clock_begins_with_the_command(self):
        policy = self.policy(limits=client.limits(wall_s=2))
        with self.warm(policy) as (helper, jail):
            time.sleep(2.5)
            run = self.assertUsed(helper, jail)
            self.assertEqual((run.code, run.exit["timed_out"]), (0, False))
            self.assertLess(run.exit["wall_ms"], 2000)
            self.until_warm(helper)
            slow = self.settle(helper, helper.start([SH, "-c", "sleep 30"]))
            self.assertTrue(slow.exit["timed_out"])

    def test_a_cancel_ends_it(self):
        with self.warm() as (helper, _):
            run = helper.start([SH, "-c", "echo running; exec sleep 60"])
            helper.until_output(run, b"running", LIMIT)
            helper.cancel(run)
            self.settle(helper, run)
            self.assertTrue(run.exit["cancelled"])

    def test_a_mask_holds_in_it(self):
        self.file("ws/.env")
        self.file("ws/open.txt", text="open\n")
        policy = self.policy(protected=[self.path("ws/.env")])
        with self.warm(policy) as (helper, jail):
            run = self.assertUsed(helper, jail, "cat open.txt; cat .env; echo x >.env; echo $?")
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)
        self.assertEqual(self.text(self.path("ws/.env")), "S3CRET\n")

    def test_the_policy_of_the_last_start_is_expected_next(self):
        other = self.policy(readable_roots=[self.out])
        self.file("out/note", text="note\n")
        with self.warm() as (helper, jail):
            self.assertStale(helper, jail, "cat ../out/note", policy=other)
            time.sleep(0.3)
            self.assertIsNone(client.waiting_jail(helper.pid), "a policy that came once is not expected")
            self.run_held(helper, "true", policy=other)
            second = self.until_warm(helper)
            run = self.assertUsed(helper, second, "cat ../out/note", policy=other)
            self.assertIn(b"note\n", run.stdout)
            third = self.until_warm(helper)
            run = self.assertStale(helper, third, "cat ../out/note")
            self.assertIn(b"seen\n", run.stdout)
            self.assertNotIn(b"note\n", run.stdout)

    def test_a_hundred_of_them_leave_nothing(self):
        with self.warm() as (helper, jail):

            def state():
                names = sorted(client.descendants(helper.pid).values())
                return names, len(os.listdir(f"/proc/{helper.pid}/fd")), sorted(os.listdir(self.ws))

            self.assertUsed(helper, jail)
            self.until_warm(helper)
            before = state()
            for _ in range(100):
                self.settle(helper, helper.start([LEAVE]))
                jail = self.until_warm(helper)
            self.assertEqual(state(), before)
            self.assertUsed(helper, jail)

    def test_what_is_made_on_the_host_after_it_was_made_is_seen(self):
        with self.warm() as (helper, jail):
            self.file("ws/later.txt", text="later\n")
            run = self.assertUsed(helper, jail, "cat later.txt")
            self.assertIn(b"later\n", run.stdout)


class NoneTest(WarmCase):
    def assertNone(self, helper):
        self.settle(helper, helper.start([LEAVE]))
        time.sleep(0.5)
        self.assertIsNone(client.waiting_jail(helper.pid))

    def test_no_warm_says_so(self):
        with self.helper("--no-warm") as helper:
            self.needs(helper, "bwrap")
            self.assertNone(helper)
            self.assertEqual(client.descendants(helper.pid), {})

    def test_where_nobody_can_watch_the_protected_names(self):
        policy = self.policy(protected=[self.file("ws/.env")])

        def without_watches():
            uid, gid = os.getuid(), os.getgid()
            if libc.unshare(CLONE_NEWUSER) != 0:
                raise OSError(ctypes.get_errno(), "unshare")
            for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                    file.write(text)
            with open("/proc/sys/user/max_inotify_instances", "w", encoding="ascii") as file:
                file.write(str(watches))

        for watches in (8, 0):
            with self.helper(base=policy, prepare=without_watches) as helper:
                self.needs(helper, "bwrap")
                if watches:
                    self.assertTrue(client.wait_until(lambda: client.waiting_jail(helper.pid), PATIENCE))
                else:
                    self.assertNone(helper)

    def test_an_absent_protected_path_is_not_made_ahead(self):
        policy = self.policy(protected=[self.path("ws/absent")])
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            time.sleep(0.5)
            self.assertFalse(os.path.lexists(self.path("ws/absent")))
            self.assertNone(helper)
            self.assertFalse(os.path.lexists(self.path("ws/absent")))

    def test_a_policy_with_an_exec_table_has_none(self):
        rules = {"default": "allow", "allow": [], "deny": [{"kind": "name", "value": "curl"}]}
        rules |= {"support": "system", "memfd": "any", "required": False}
        policy = self.policy(v=3, exec=rules)
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            self.assertNone(helper)


class StaleTest(WarmCase):
    """Each change between the preparation and the start, there, and there and back."""

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

    def assertStaleAfter(self, change, policy=None, script=LOOK, **start):
        with self.warm(policy or self.masked()) as (helper, jail):
            change()
            return self.assertStale(helper, jail, script, **start)

    def test_unchanged_it_is_used(self):
        with self.warm(self.masked()) as (helper, jail):
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK))

    def test_a_protected_file_that_was_replaced(self):
        def change():
            self.file("out/new")
            os.rename(self.path("out/new"), self.secret)

        self.assertHidden(self.assertStaleAfter(change))

    def test_a_protected_file_that_was_removed_and_made_again(self):
        def change():
            os.unlink(self.secret)
            self.file("ws/.env")

        self.assertHidden(self.assertStaleAfter(change))

    def test_a_protected_file_that_was_removed(self):
        run = self.assertStaleAfter(lambda: os.unlink(self.secret), script="cat open.txt; echo x >.env; ls -A")
        self.assertIn(b"open\n", run.stdout)
        self.assertFalse(os.path.lexists(self.secret))

    def test_a_protected_file_that_was_exchanged_and_exchanged_back(self):
        def change():
            os.rename(self.secret, self.path("ws/away"))
            self.file("ws/.env", text="other\n")
            os.rename(self.path("ws/away"), self.secret)

        self.assertHidden(self.assertStaleAfter(change))

    def test_a_protected_directory_that_was_exchanged_and_exchanged_back(self):
        def change():
            os.rename(self.keys, self.path("ws/away"))
            os.mkdir(self.keys)
            os.rmdir(self.keys)
            os.rename(self.path("ws/away"), self.keys)

        self.assertHidden(self.assertStaleAfter(change))

    def test_a_directory_above_that_was_exchanged(self):
        policy = self.policy(protected=[self.file("ws/deep/er/.env")])

        def change():
            os.rename(self.path("ws/deep"), self.path("ws/away"))
            self.file("ws/deep/er/.env")

        run = self.assertStaleAfter(change, policy, "cat open.txt; cat deep/er/.env")
        self.assertHidden(run)

    def test_a_directory_above_that_was_exchanged_and_exchanged_back(self):
        policy = self.policy(protected=[self.file("ws/deep/er/.env")])

        def change():
            os.rename(self.path("ws/deep"), self.path("ws/away"))
            os.mkdir(self.path("ws/deep"))
            os.rmdir(self.path("ws/deep"))
            os.rename(self.path("ws/away"), self.path("ws/deep"))

        run = self.assertStaleAfter(change, policy, "cat open.txt; cat deep/er/.env")
        self.assertHidden(run)

    def test_a_protected_file_with_another_name(self):
        run = self.assertStaleAfter(lambda: os.link(self.secret, self.path("ws/other")))
        self.assertIn("mask-links=1", run.enforcement)

    def test_a_protected_file_that_became_a_directory(self):
        def change():
            os.unlink(self.secret)
            os.mkdir(self.secret)
            self.file("ws/.env/inner")

        run = self.assertStaleAfter(change, script="cat open.txt; cat .env/inner")
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)

    def test_a_protected_path_that_was_absent_and_is_there(self):
        absent = self.path("out/late")  # nothing shows it, so that nothing has to be made
        policy = self.policy(protected=[absent])
        run = self.assertStaleAfter(lambda: self.file("out/late"), policy, "cat open.txt; cat ../out/late")
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)

    def test_a_link_that_leads_elsewhere(self):
        self.file("out/a/note", text="first\n")
        self.file("out/b/note", text="second\n")
        link = self.link(self.path("out/a"), "link")
        policy = self.policy(readable_roots=[link])

        def change():
            os.unlink(link)
            os.symlink(self.path("out/b"), link)

        run = self.assertStaleAfter(change, policy, f"cat {link}/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_link_that_became_a_directory(self):
        self.file("out/a/note", text="first\n")
        link = self.link(self.path("out/a"), "link")
        policy = self.policy(readable_roots=[link])

        def change():
            os.unlink(link)
            self.file("link/note", text="second\n")

        run = self.assertStaleAfter(change, policy, f"cat {link}/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_workspace_that_was_exchanged(self):
        def change():
            os.rename(self.ws, self.path("away"))
            self.file("ws/open.txt", text="new\n")

        run = self.assertStaleAfter(change, self.policy(), "cat open.txt; echo mine >made")
        self.assertIn(b"new\n", run.stdout)
        self.assertTrue(os.path.exists(self.path("ws/made")))
        self.assertFalse(os.path.exists(self.path("away/made")))

    def test_a_workspace_that_was_exchanged_and_exchanged_back_is_the_workspace(self):
        with self.warm(self.policy()) as (helper, _):
            os.rename(self.ws, self.path("away"))
            os.mkdir(self.ws)
            os.rmdir(self.ws)
            os.rename(self.path("away"), self.ws)
            run, _ = self.run_held(helper, "cat open.txt; echo mine >made")
            self.assertIn(b"open\n", run.stdout)
            self.assertEqual(self.text(self.path("ws/made")), "mine\n")

    def test_a_readable_root_that_was_exchanged(self):
        self.file("out/note", text="first\n")
        policy = self.policy(readable_roots=[self.out])

        def change():
            os.rename(self.out, self.path("away"))
            self.file("out/note", text="second\n")

        run = self.assertStaleAfter(change, policy, "cat ../out/note")
        self.assertIn(b"second\n", run.stdout)

    def assertStaleAfterMounting(self, actions, script):
        """The helper has mounts of its own, so that other tests' jails do not become stale."""
        with self.warm(self.masked(), prepare=own_mounts) as (helper, jail):
            self.assertUsed(helper, jail, self.LOOK)
            jail = self.until_warm(helper)
            for action in actions:
                among_the_mounts_of(helper.pid, action)
            return self.assertStale(helper, jail, script)

    def test_a_file_system_that_is_unmounted_is_let_go_at_once(self):
        target = self.directory("mnt")

        def cover():
            mount("none", target, "tmpfs")
            with open(f"{target}/note", "w", encoding="utf-8") as file:
                file.write("mounted\n")

        def uncover():
            if libc.umount2(os.fsencode(target), 0) != 0:
                raise OSError(ctypes.get_errno(), "umount")

        def prepare():
            own_mounts()
            cover()

        policy = self.policy(readable_roots=[target])
        with self.warm(policy, prepare=prepare) as (helper, jail):
            run = self.assertUsed(helper, jail, "cat ../mnt/note")
            self.assertIn(b"mounted\n", run.stdout)
            self.until_warm(helper)
            among_the_mounts_of(helper.pid, uncover)
            gone = client.wait_until(lambda: not client.descendants(helper.pid), PATIENCE)
            self.assertTrue(gone, "a jail goes on holding what was unmounted")
            run, _ = self.run_held(helper, "cat ../mnt/note")
            self.assertNotIn(b"mounted\n", run.stdout)

    def test_what_a_child_inherits(self):
        def moved(change, look, expected):
            with self.warm(self.masked()) as (helper, jail):
                change(helper.pid)
                run = self.assertStale(helper, jail, self.LOOK + "; " + look)
                self.assertHidden(run)
                self.assertIn(expected, run.stdout)

        limit = (1 << 15, 1 << 15)
        moved(lambda pid: os.sched_setaffinity(pid, {0}), "nproc", b"\n1\n")
        moved(lambda pid: os.setpriority(os.PRIO_PROCESS, pid, 7), "nice", b"\n7\n")
        moved(lambda pid: resource.prlimit(pid, resource.RLIMIT_MEMLOCK, limit), "ulimit -l", b"\n32\n")

    def test_nothing_is_waited_for_that_will_not_end(self):
        """A tracer that does not reap keeps the launcher from ending, and the helper has others to serve."""
        with self.warm(self.masked()) as (helper, jail):
            if libc.ptrace(0x4206, jail, 0, 0) != 0:  # PTRACE_SEIZE
                self.skipTest("this user may not trace a launcher")
            began = time.monotonic()
            run, used = self.run_held(helper, self.LOOK, policy=self.masked(readable_roots=[self.out]))
            self.assertHidden(run)
            self.assertIn(jail, used, "it should not have ended yet, or nothing is shown")
            helper.send("shutdown", {})
            self.assertEqual(helper.wait_exit(), 0)
            self.assertLess(time.monotonic() - began, 8)

    def test_a_mount_on_the_host(self):
        target = self.directory("ws/sub")

        def cover():
            mount("none", target, "tmpfs")
            with open(f"{target}/note", "w", encoding="utf-8") as file:
                file.write("mounted\n")

        run = self.assertStaleAfterMounting([cover], self.LOOK + "; cat sub/note")
        self.assertHidden(run)
        self.assertIn(b"mounted\n", run.stdout)

    def test_a_mount_on_the_host_that_is_gone_again(self):
        target = self.directory("ws/sub")

        def uncover():
            if libc.umount2(os.fsencode(target), 0) != 0:
                raise OSError(ctypes.get_errno(), "umount")

        self.assertHidden(self.assertStaleAfterMounting([lambda: mount("none", target, "tmpfs"), uncover], self.LOOK))

    def test_the_launcher_was_rewritten(self):
        tools = self.directory("tools")
        shutil.copy2("/usr/bin/bwrap", os.path.join(tools, "bwrap"))
        with self.warm(self.masked(), env={"PATH": tools + ":/usr/bin:/bin"}) as (helper, _):
            time.sleep(0.1)
            with open(os.path.join(tools, "new"), "wb") as file:
                file.write(open("/usr/bin/bwrap", "rb").read() + b"\0")
            os.chmod(os.path.join(tools, "new"), 0o755)
            # Bytes in place, so that the handle leads to them.
            with open(os.path.join(tools, "new"), "rb") as new:
                data = new.read()
            os.chmod(os.path.join(tools, "bwrap"), 0o755)
            try:
                with open(os.path.join(tools, "bwrap"), "r+b") as old:
                    old.write(data)
            except OSError as error:  # a jail of it waits: "text file busy"
                self.assertEqual(error.errno, 26)
                os.utime(os.path.join(tools, "bwrap"))
                run, _ = self.run_held(helper, self.LOOK)
                return self.assertHidden(run)
            run = helper.settle(helper.start([LEAVE]), LIMIT)
            self.assertIsNotNone(run.error)

    def test_a_jail_that_was_ended_by_somebody(self):
        with self.warm(self.masked()) as (helper, jail):
            os.kill(jail, signal.SIGKILL)
            self.assertTrue(client.wait_until(lambda: jail not in self.jails(helper), PATIENCE))
            run, _ = self.run_held(helper, self.LOOK)
            self.assertHidden(run)

    def test_a_jail_that_is_ended_in_the_moment_it_is_asked_for(self):
        with self.warm(self.masked()) as (helper, jail):
            os.kill(helper.pid, signal.SIGSTOP)
            os.kill(jail, signal.SIGKILL)
            self.assertTrue(client.wait_until(lambda: client.process_table()[jail][1] == "Z", PATIENCE))
            run = helper.start([SH, "-c", self.LOOK], cwd=self.ws)
            os.kill(helper.pid, signal.SIGCONT)
            self.settle(helper, run)
            self.assertEqual(run.code, 0, self.story(run))
            self.assertHidden(run)


class LeavingTest(WarmCase):
    """A jail that waits is gone on every way out."""

    def check(self, leave, status):
        with self.warm() as (helper, _):
            family = set(client.descendants(helper.pid))
            leave(helper)
            self.assertEqual(helper.wait_exit(), status)
            gone = client.wait_until(
                lambda: client.reap_adopted(()) or not family & set(client.process_table()), PATIENCE
            )
            self.assertTrue(gone, "somebody is left")

    def test_at_the_end_of_input(self):
        self.check(lambda helper: helper.end_input(), 0)

    def test_at_a_shutdown(self):
        self.check(lambda helper: helper.send("shutdown", {}), 0)

    def test_when_the_helper_is_killed(self):
        self.check(lambda helper: helper.process.kill(), -signal.SIGKILL)

    def test_at_sigterm(self):
        self.check(lambda helper: helper.process.terminate(), -signal.SIGTERM)

    def test_while_it_waits_nobody_uses_the_processor(self):
        with self.warm() as (helper, _):
            pids = [helper.pid, *client.descendants(helper.pid)]

            def used():
                total = 0
                for pid in pids:
                    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                        fields = file.read().rsplit(")", 1)[1].split()
                    total += int(fields[11]) + int(fields[12])
                return total

            before = used()
            time.sleep(1.5)
            self.assertLessEqual(used() - before, 1)


if __name__ == "__main__":
    unittest.main()
