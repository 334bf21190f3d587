"""Warm jails: one waits for the next command, is used once, and never when anything changed meanwhile."""

from test_aliases import CLONE_NEWUSER, ctypes, libc
from warming import *


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
                self.assertEqual(len(self.launchers(helper)), 1)

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
            self.assertStale(helper, jail, "another policy", "cat ../out/note", policy=other)
            time.sleep(0.3)
            self.assertIsNone(client.waiting_jail(helper.pid), "a policy that came once is not expected")
            self.run_held(helper, "true", policy=other)
            second = self.until_warm(helper)
            run = self.assertUsed(helper, second, "cat ../out/note", policy=other)
            self.assertIn(b"note\n", run.stdout)
            third = self.until_warm(helper)
            run = self.assertStale(helper, third, "another policy", "cat ../out/note")
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
            self.directory("ws/more")  # one more link of the workspace, which is no other for that
            run = self.assertUsed(helper, jail, "cat later.txt; ls -d more")
            self.assertIn(b"later\nmore\n", run.stdout)

    def assertSeenAs(self, path, policy, change, expected):
        """Whether it is taken or not: what a command sees after a change there and back is what is there."""
        with self.warm(policy) as (helper, _):
            run, _ = self.run_held(helper, f"cat {path}", change=change)
            self.assertIn(expected, run.stdout, self.story(run))
            self.until_warm(helper)
            run, _ = self.run_held(helper, f"cat {path}", meanwhile=change)
            self.assertIn(expected, run.stdout, self.story(run))

    def test_after_a_link_was_exchanged_and_exchanged_back_it_leads_where_it_did(self):
        self.file("out/a/note", text="first\n")
        self.file("out/b/note", text="second\n")
        link = self.link(self.path("out/a"), "link")

        def change():
            os.rename(link, self.path("away"))
            self.assertEqual(self.text(os.path.join(self.link(self.path("out/b"), "link"), "note")), "second\n")
            os.rename(self.path("away"), link)

        self.assertSeenAs(f"{link}/note", self.policy(readable_roots=[link]), change, b"begin\nfirst\nseen")

    def test_after_a_file_with_a_mount_of_its_own_was_exchanged_and_exchanged_back_it_is_that_file(self):
        file = self.file("out/file", text="first\n")

        def change():
            os.rename(file, self.path("away"))
            self.file("out/file", text="second\n")
            os.rename(self.path("away"), file)

        mounts = [{"path": file, "access": "ro", "required": True}]
        self.assertSeenAs(file, self.policy(mounts=mounts), change, b"begin\nfirst\nseen")

    def test_one_that_is_not_ready_yet_is_waited_for(self):
        """Another one would not be ready earlier."""
        with self.warm(env=self.on()) as (helper, jail):
            hold = self.file("choosy/hold")
            starts = len(self.starts()) + 1
            self.assertUsed(helper, jail)
            # It bears its name before it has written that it was started; the one before it is gone by then.
            self.assertTrue(client.wait_until(lambda: len(self.starts()) == starts, PATIENCE), self.starts())
            jail = self.one_that_prepares(helper)
            run = helper.start([SH, "-c", "echo running; read line"])
            helper.heartbeat()  # it has read the start
            os.unlink(hold)
            helper.until_output(run, b"running\n", LIMIT)
            self.assertEqual(self.launcher_of_the_command(helper), jail, self.reasons(helper))
            self.assertEqual(len(self.starts()), starts, "another one was started")
            helper.stdin(b"go\n")
            self.assertEqual(self.settle(helper, run).code, 0)


class NoneTest(WarmCase):
    def assertNone(self, helper, **start):
        self.settle(helper, helper.start([LEAVE], **start))
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
        untouched = os.stat(self.ws).st_mtime_ns
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            time.sleep(0.5)
            self.assertEqual(os.stat(self.ws).st_mtime_ns, untouched, "a name was made, if only for a moment")
            self.settle(helper, helper.start([LEAVE]))
            touched = os.stat(self.ws).st_mtime_ns
            self.assertGreater(touched, untouched, "a run makes it, or nothing is shown")
            time.sleep(0.5)
            self.assertIsNone(client.waiting_jail(helper.pid))
            self.assertEqual(os.stat(self.ws).st_mtime_ns, touched, "a name was made, if only for a moment")
            self.assertFalse(os.path.lexists(self.path("ws/absent")))

    def test_a_policy_with_an_exec_table_has_none(self):
        rules = {"default": "allow", "allow": [], "deny": [{"kind": "name", "value": "curl"}]}
        rules |= {"support": "system", "memfd": "any", "required": False}
        policy = self.policy(v=3, exec=rules)
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            self.assertNone(helper)
        with self.warm() as (helper, _):
            for _ in range(2):
                self.settle(helper, helper.start([LEAVE], policy=policy))
            self.assertNone(helper, policy=policy)


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

    def test_at_a_frame_that_is_none(self):
        def leave(helper):
            helper.send_all(client.frame_of(b"\xc1"))
            self.assertEqual(helper.expect("error", 0).body["code"], "malformed_frame")

        self.check(leave, 1)

    def test_when_nobody_takes_its_output(self):
        def leave(helper):
            helper.process.stdout.close()
            helper.send_raw(client.envelope(7, "heartbeat", {}), reading=False)

        self.check(leave, 1)

    def test_when_the_helper_is_killed(self):
        self.check(lambda helper: helper.process.kill(), -signal.SIGKILL)

    def test_at_sigterm(self):
        self.check(lambda helper: helper.process.terminate(), -signal.SIGTERM)

    def test_while_it_waits_nobody_uses_the_processor(self):
        with self.warm() as (helper, _):
            pids = [helper.pid, *client.descendants(helper.pid)]
            self.assertGreaterEqual(len(pids), 4, "helper, launcher, process 1, stage 2")

            def used():
                """Nanoseconds of each on a processor."""
                return {pid: spent(pid) for pid in pids}

            time.sleep(0.5)
            before = used()
            time.sleep(2)
            self.assertEqual(used(), before)
            helper.heartbeat()
            # The kernel counts once the helper has left the processor.
            counts = client.wait_until(lambda: used()[helper.pid] > before[helper.pid], PATIENCE)
            self.assertTrue(counts, "this kernel does not count")


class VanishedTest(JailCase):
    """A protected name that is removed between the helper's look and bubblewrap's, for a jail that nobody asked for."""

    def setUp(self):
        super().setUp()
        self.fake = self.careless_bwrap()
        self.kept = self.file("ws/kept")

    def test_it_does_not_come_back_as_a_mount_point(self):
        for make in (lambda: self.file("ws/.env"), lambda: self.directory("ws/.git")):
            path = make()
            policy = self.policy(protected=[path, self.kept])
            with self.subTest(path), self.helper(base=policy, env=path_with(self.fake)) as helper:
                self.needs(helper, "bwrap")
                run = helper.start([SH, "-c", "echo running; read line"], cwd=self.ws)
                helper.until_output(run, b"running", LIMIT)
                os.unlink(self.path("fake/started"))
                self.file("fake/remove", text=path)
                helper.stdin(b"go\n")
                self.settle(helper, run)
                self.assertTrue(client.wait_until(lambda: os.path.exists(self.path("fake/started")), LIMIT))
                client.wait_until(lambda: not self.launchers(helper) and os.listdir(self.ws) == ["kept"], LIMIT)
                self.assertEqual((self.launchers(helper), os.listdir(self.ws)), ([], ["kept"]))
                os.unlink(self.path("fake/remove"))

    def test_what_somebody_puts_there_while_a_jail_waits_stays(self):
        """It looks like what bubblewrap makes, and is none of it: the mounts were made long before."""
        secret = self.file("ws/.env")
        with self.helper(base=self.policy(protected=[secret, self.kept])) as helper:
            self.needs(helper, "bwrap")
            self.settle(helper, helper.start(["/bin/true"]))
            self.assertTrue(client.wait_until(lambda: client.waiting_jail(helper.pid), LIMIT))
            time.sleep(0.1)
            new = self.file("ws/new", text="")
            os.chmod(new, 0o444)
            os.rename(new, secret)
            self.assertTrue(client.wait_until(lambda: not self.launchers(helper), LIMIT), "it is not let go")
            helper.heartbeat()
            self.assertEqual(sorted(os.listdir(self.ws)), [".env", "kept"])

    def launchers(self, helper):
        rows = client.process_table()
        return [pid for pid, row in rows.items() if row[0] == helper.pid and row[1] != "Z"]


if __name__ == "__main__":
    unittest.main()
