"""What is tried of bubblewrap before the first plan, and what a run does without (guard 5.2)."""

from probing import *

PLATFORM = ("--demand", "platform")


class Trials(ProbingCase):
    def test_one_trial_for_all_runs_of_a_helper_shows_that_everything_works(self):
        with self.helper("--no-warm", env=self.on()) as helper:
            self.needs(helper, "bwrap", "landlock", "seccomp")
            for _ in range(3):
                run = self.settle(helper, helper.start(["/bin/true"]))
                self.assertIn("mounts-by=handle", run.enforcement)
                self.assertNoSkips(run)
                self.assertNotUnheld(run, "pid-namespace", "cgroup-namespace", "private-ptys")
        trial, *runs = self.starts()
        self.assertRegex(trial, r" --ro-bind-fd \d+ /null ")
        self.assertEqual(len(runs), 3)
        self.assertFalse([options for options in runs if " /null " in options])

    def test_a_trial_has_nothing_of_a_policy_and_runs_no_command(self):
        mark = self.path("ws/mark")
        with self.helper(base=self.policy(protected=[self.file("ws/.env")]), env=self.on()) as helper:
            self.needs(helper, "bwrap")
            self.assertTrue(client.wait_until(lambda: len(self.starts()) == 1, LIMIT))
            self.assertNotIn(self.place, self.starts()[0])
            self.settle(helper, helper.start([SH, "-c", f"echo x >{mark}"]))
        self.assertTrue(os.path.exists(mark))
        self.assertIn(self.ws, self.starts()[1])  # the control: a run's options do

    def test_a_plan_makes_the_trial_and_starts_nothing_else(self):
        env, mark = self.on(), self.path("ws/mark")
        words = [client.helper_path(), "plan", "--workspace", self.ws, "--", SH, "-c", f"echo x >{mark}"]
        done = subprocess.run(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"mounts-by=handle", done.stdout)
        self.assertEqual([" /null " in options for options in self.starts()], [True])
        self.assertFalse(os.path.exists(mark))
        self.assertEqual(self.person("--", SH, "-c", f"echo x >{mark}", env=env).status, 0)
        self.assertEqual([" /null " in options for options in self.starts()], [True, True, False])
        self.assertTrue(os.path.exists(mark))

    # guard 5.2: P1
    def test_a_bubblewrap_that_only_mounts_by_name_does_and_meets_a_demand(self):
        run = self.execute(["/bin/true"], flags=PLATFORM, helper_env=self.on(HANDLES))
        self.assertIn("mounts-by=name", run.enforcement)
        self.assertNoSkips(run)
        run = self.execute(["/bin/true"], flags=PLATFORM, helper_env=self.on())
        self.assertIn("mounts-by=handle", run.enforcement)

    # guard 5.2: P3
    def test_where_no_network_can_be_made_cutting_it_is_refused_and_an_open_one_is_not(self):
        env, mark = self.on(NETWORK), self.path("ws/mark")
        command = [SH, "-c", f"echo x >{mark}"]
        proxy = {"mode": "proxy", "allow": [], "proxy": "x"}
        for network in ({"mode": "off"}, proxy):
            message = self.refusal(self.policy(network=network), command, helper_env=env)
            for word in ("network", NO_LOOPBACK):
                self.assertIn(word, message)
            self.assertFalse(os.path.exists(mark))
        run = self.execute(command, self.policy(network={"mode": "full"}), helper_env=env)
        self.assertEqual(run.code, 0, self.story(run))
        self.assertTrue(os.path.exists(mark))
        self.assertNoSkips(run)


class Groups(ProbingCase):
    # guard 5.2: I8
    def test_without_a_namespace_of_control_groups_the_jail_is_built_and_says_so(self):
        own = "readlink /proc/self/ns/cgroup"
        outside = os.readlink("/proc/self/ns/cgroup")
        run = self.shell(own, flags=PLATFORM, helper_env=self.on(CGROUP))
        self.assertEqual(self.unheld(run, "cgroup-namespace"), NO_NAMESPACE)
        self.assertEqual(bytes(run.stdout), f"begin\n{outside}\n".encode())
        self.assertNoSkips(run)
        run = self.shell(own, helper_env=self.on())
        self.assertNotUnheld(run, "cgroup-namespace")
        self.assertNotIn(outside.encode(), bytes(run.stdout))


class Devices(ProbingCase):
    SCRIPT = (
        'for d in null zero full random urandom; do test -c /dev/$d && head -c 1 /dev/$d >/tmp/x && '
        'echo "$d $(wc -c </tmp/x)"; done\n'
        "echo x >/dev/null && echo null-written; echo x >/dev/full 2>/dev/null || echo full-full\n"
        "echo through >/dev/stdout; cat /dev/fd/0 </etc/hostname >/tmp/y && echo fd\n"
        'test -w /dev/shm && : >/dev/shm/f && echo shm\n'
        "ls /dev | tr '\\n' ' '; echo"
    )
    PTY = "import os; a, b = os.openpty(); os.write(b, b'x'); print('pty', os.read(a, 1) == b'x', os.isatty(b))"
    LOCK = "import multiprocessing as m; m.Lock(); print('lock')"

    def printed(self, *rules, flags=()):
        script = f'bash -c "$1"; {PYTHON} -ISc "$2" 2>/dev/null || echo pty refused; {PYTHON} -ISc "$3"'
        args = [self.SCRIPT, self.PTY, self.LOCK]
        run = self.shell(script, args=args, flags=flags, helper_env=self.on(*rules))
        return run, bytes(run.stdout).decode().splitlines()[1:]

    # guard 5.2: I9
    def test_devices_made_by_hand_are_those_that_bubblewrap_makes_but_for_the_ptys(self):
        run, by_hand = self.printed(DEVICES, flags=PLATFORM)
        self.assertIn(NO_DEVICES, self.unheld(run, "private-ptys"))
        self.assertNoSkips(run)
        own_run, own = self.printed()
        self.assertNotUnheld(own_run, "private-ptys")
        *by_hand_answers, names, pty, lock = by_hand
        *own_answers, own_names, own_pty, own_lock = own
        self.assertEqual(by_hand_answers, own_answers, self.story(run))
        self.assertIn("zero 1", by_hand_answers)
        self.assertEqual((lock, own_lock, own_pty), ("lock", "lock", "pty True True"))
        if os.stat("/dev/pts/ptmx").st_mode & 0o006 == 0o006:  # the host's own choice (devpts ptmxmode)
            self.assertEqual(pty, "pty True True")
        # bubblewrap's own has /dev/console where there is one, and /dev/core.
        self.assertLessEqual(set(names.split()), set(own_names.split()))
        self.assertLessEqual({"null", "ptmx", "pts", "shm", "fd", "stdin", "stdout", "stderr"}, set(names.split()))

    def test_the_ptys_are_then_the_machines(self):
        show = "stat -c %d /dev/pts"
        machines = str(os.stat("/dev/pts").st_dev)
        self.assertEqual(self.output(show, helper_env=self.on(DEVICES)).strip(), machines)
        self.assertNotEqual(self.output(show, helper_env=self.on()).strip(), machines)

    def test_nothing_else_of_the_hosts_devices_is_there_and_nothing_can_be_made(self):
        ours = "null zero full random urandom tty pts ptmx fd stdin stdout stderr shm".split()
        hidden = sorted(set(os.listdir("/dev")) - set(ours))[:50]
        script = 'for d; do test -e /dev/$d && echo "$d"; done; (: >/dev/new) 2>/dev/null && echo made; echo end'
        shown = self.output(script, args=[*hidden, "null"], helper_env=self.on(DEVICES))
        self.assertEqual(shown, "null\nend\n")

    def test_a_protected_device_is_masked_there_too(self):
        run = self.shell("head -c 1 /dev/zero | wc -c; head -c 1 /dev/full | wc -c",
                         self.policy(protected=["/dev/zero"]), helper_env=self.on(DEVICES))
        self.assertEqual(bytes(run.stdout), b"begin\n0\n1\n", self.story(run))
        self.assertEqual(self.mounts_entry(run)["mask"], "1")


class Processes(ProbingCase):
    """I6: no process table of the jail's own, and the host's /proc, read-only."""

    def test_the_jail_is_built_says_so_and_meets_a_demand(self):
        run = self.shell("true", flags=PLATFORM, helper_env=self.on(PIDS))
        reason = self.unheld(run, "pid-namespace")
        for word in (NO_PROC, "container runtime"):
            self.assertIn(word, reason)
        self.assertNoSkips(run)
        self.assertApplied(run, "bwrap", "mounts", "landlock", "seccomp-net")

    # field B36
    def test_no_other_process_can_be_read_or_signalled_and_the_commands_own_can(self):
        canary = "loom-canary-" + os.urandom(6).hex()
        outsider = subprocess.Popen(["/bin/sleep", "60"], env={"TOKEN": canary})
        self.addCleanup(outsider.wait)
        self.addCleanup(outsider.kill)
        # The control: we can read it.
        self.assertTrue(client.wait_until(lambda: canary in self.text(f"/proc/{outsider.pid}/environ"), LIMIT))
        script = (
            'sleep 60 & own=$!; kill -0 $own && echo own; kill -0 "$1" 2>/dev/null && echo reached\n'
            'cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr "\\0" "\\n" >/tmp/seen\n'
            'grep -c "^SHOWN=" /tmp/seen >/dev/null && echo shown; grep "^TOKEN=" /tmp/seen\n'
            'tell() { for f in maps root fd/0 cwd exe; do\n'
            ' (readlink /proc/$1/$f || cat /proc/$1/$f || ls /proc/$1/$f/) >/dev/null 2>&1 && echo $2$f; done; }\n'
            'tell "$1"; tell self own-; kill $own'
        )
        env = {**self.on(PIDS), "TOKEN": canary}
        policy = self.policy(env_allow=["PATH", "SHOWN"])
        run = self.shell(script, policy, args=[str(outsider.pid)], helper_env=env, env={"SHOWN": "own"})
        self.assertEqual(
            bytes(run.stdout),
            b"begin\nown\nshown\nown-maps\nown-root\nown-fd/0\nown-cwd\nown-exe\n",
            self.story(run),
        )

    def test_nothing_below_proc_can_be_changed(self):
        script = (
            "(echo 5 >/proc/self/oom_score_adj) 2>/dev/null && echo written\n"
            "for f in /proc/sys/kernel/core_pattern /proc/version /proc/self/comm; do\n"
            ' chmod 777 "$f" 2>/dev/null && echo "changed $f"; done; chmod 600 "$1/f" && echo control'
        )
        self.file("ws/f")
        self.assertEqual(self.output(script, args=[self.ws], helper_env=self.on(PIDS)), "control\n")

    def test_masks_are_in_place_and_a_replaced_one_is_reported(self):
        secret = self.file("ws/.env")
        script = f"cat {secret} 2>/dev/null; echo up; read line; cat {secret} 2>/dev/null; echo end"
        with self.helper(base=self.policy(protected=[secret]), env=self.on(PIDS)) as helper:
            self.needs(helper, "bwrap", "landlock")
            for replaced in (False, True):
                run = helper.until_output(helper.start([SH, "-c", script]), b"up\n", LIMIT)
                if replaced:
                    os.rename(self.file("ws/new", text="NEW\n"), secret)
                helper.stdin(b"x\n", eof=True)
                self.settle(helper, run)
                self.assertEqual(self.mounts_entry(run)["mask"], "1")
                skips = [e for e in run.enforcement if e.startswith("skip:mounts:")]
                self.assertEqual(bool(skips), replaced, run.enforcement)
                self.assertNotIn(b"S3CRET", bytes(run.stdout))

    def running(self, helper, script):
        self.needs(helper, "bwrap", "landlock")
        return helper.until_output(helper.start([SH, "-c", script]), b"up\n", LIMIT)

    def test_a_cancel_reaches_the_command_and_its_children_before_the_supervisor(self):
        # The command tells its children's ends apart from its own: TERM came to each of them.
        script = (
            "trap 'echo told; wait; exit 7' TERM\n"
            "sh -c 'trap \"echo child-told; exit 0\" TERM; while :; do sleep 0.05; done' &\n"
            "echo up; while :; do sleep 0.05; done"
        )
        with self.helper(env=self.on(PIDS)) as helper:
            run = self.running(helper, script)
            time.sleep(0.3)  # the child has its trap
            began = time.monotonic()
            helper.cancel(run)
            self.settle(helper, run)
            self.assertEqual(run.code, 7, self.story(run))
            self.assertEqual(sorted(bytes(run.stdout).split()), [b"child-told", b"told", b"up"])
            self.assertLess(time.monotonic() - began, 1.9)
            self.assertTrue(run.exit["cancelled"])

    def test_who_is_deaf_to_the_cancel_is_killed_with_everything_it_started(self):
        script = "trap '' TERM; sleep 60 & setsid sleep 61 & echo up; wait; wait; while :; do sleep 1; done"
        with self.helper(env=self.on(PIDS)) as helper:
            run = self.running(helper, script)
            helper.cancel(run)
            self.settle(helper, run)
            self.assertNotEqual(run.code, 0)
            self.assertNoneIsLeft(helper.pid, run)

    def assertNoneIsLeft(self, helper_pid, run=None):
        """Nobody is left of a jail whose shell had children; `client` adopts what was orphaned."""
        def left():
            client.reap_adopted({helper_pid})
            return {pid: name for pid, name in client.descendants().items() if name in ("sleep", "sh", "bwrap")}
        self.assertTrue(client.wait_until(lambda: not left(), 10), left())

    def setUp(self):
        super().setUp()
        client.become_subreaper()

    def test_what_a_command_leaves_behind_ends_with_it_in_its_session_or_not(self):
        with self.helper(env=self.on(PIDS)) as helper:
            run = self.running(helper, "(sleep 60 & setsid sleep 61 &) ; sleep 0.2; echo up")
            self.settle(helper, run)
            self.assertEqual(run.code, 0)
            self.assertNoneIsLeft(helper.pid, run)

    def test_a_killed_helper_takes_the_command_and_all_its_children_along(self):
        with self.helper(env=self.on(PIDS)) as helper:
            script = "sleep 60 & sh -c 'sleep 61; :' & setsid sleep 62 & sleep 0.2; echo up; wait"
            self.running(helper, script)
            self.assertIn("sleep", client.descendants().values())
            helper.kill()
            self.assertNoneIsLeft(helper.pid)

    def test_exit_status_signals_and_streams_are_as_ever(self):
        with self.helper(env=self.on(PIDS)) as helper:
            self.needs(helper, "bwrap", "landlock")
            rows = [("exit 7", 7), ("kill -9 $$", 137), ("cat; echo err >&2", 0)]
            for script, code in rows:
                run = helper.start([SH, "-c", script])
                helper.stdin(b"in", eof=True)
                self.settle(helper, run)
                self.assertEqual(run.code, code, self.story(run))
            self.assertEqual((bytes(run.stdout), bytes(run.stderr)), (b"in", b"err\n"))


class KernelLimits(ProbingCase):
    """No fake: a user namespace in which the kernel makes no namespace of one kind."""

    def without(self, kind):
        helper = self.installation()[-1]  # what belongs to others is nobody's in there
        inner = f"echo 0 >/proc/sys/user/max_{kind}_namespaces; exec \"$@\""
        self.become_helper(self.program("without", text=f"#!{SH}\nexec unshare -Ur {SH} -c '{inner}' sh {helper} \"$@\"\n"))

    def exceeded(self, text):
        for word in ("Creating new namespace failed", "ENOSPC"):
            self.assertIn(word, text)

    # guard 5.2: I8
    def test_of_control_groups(self):
        self.without("cgroup")
        run = self.execute(["/bin/true"], flags=PLATFORM)
        self.exceeded(self.unheld(run, "cgroup-namespace"))
        self.assertNotUnheld(run, "pid-namespace", "private-ptys")
        self.assertNoSkips(run)

    # guard 5.2: I6
    def test_of_processes(self):
        self.without("pid")
        run = self.shell("ls /proc | grep -c '^[0-9]'", flags=PLATFORM)
        self.exceeded(self.unheld(run, "pid-namespace"))
        self.assertNotIn("container runtime", self.unheld(run, "pid-namespace"))
        self.assertNotUnheld(run, "cgroup-namespace", "private-ptys")
        self.assertNoSkips(run)
        self.assertGreater(int(bytes(run.stdout).split()[1]), 5)  # the machine's

    # guard 5.2: P3
    def test_of_networks(self):
        self.without("net")
        self.exceeded(self.refusal())
        run = self.execute(["/bin/true"], self.policy(network={"mode": "full"}), PLATFORM)
        self.assertNoSkips(run)

    def test_of_any_other_kind(self):
        self.without("ipc")
        mark = self.path("ws/mark")
        message = self.refusal(argv=[SH, "-c", f"echo x >{mark}"], flags=PLATFORM)
        self.exceeded(message)
        self.assertIn("bubblewrap builds no jail here", message)
        self.assertFalse(os.path.exists(mark))


class NoJail(ProbingCase):
    """A bubblewrap that builds no jail: the machine is degraded, once that is known."""

    def setUp(self):
        super().setUp()
        self.mark = self.path("ws/mark")
        self.command = [SH, "-c", f"echo begin; echo x >{self.mark}"]

    # D4
    def test_the_hello_still_lists_it_and_every_report_tells_the_truth(self):
        policy = self.policy(protected=[self.file("ws/.env")])
        with self.helper(base=policy, env=self.on(EVERYTHING)) as helper:
            self.assertIn("bwrap", helper.features)
            self.assertNotIn("degraded", helper.features)
            for _ in range(2):
                run = self.settle(helper, helper.start(self.command))
                self.assertTrue(run.exit["degraded"])
                skip = self.assertSkips(run, "skip:bwrap: bubblewrap builds no jail here: ")
                for word in (NO_NAMESPACE, "namespaces, minimal view", "protected paths"):
                    self.assertIn(word, skip)
                self.assertFalse([e for e in run.enforcement if e.startswith(("mounts", "bwrap", "launcher"))])
                self.assertApplied(run, "landlock", "no-new-privs", "seccomp-net")

    # field B43
    def test_a_demand_refuses_before_the_start_in_its_words(self):
        for demand in ("platform", "full"):
            with self.helper("--demand", demand, env=self.on(EVERYTHING)) as helper:
                run = helper.settle(helper.start(self.command), LIMIT)
                self.assertIsNotNone(run.error, run.exit)
                self.assertEqual(run.error["code"], "spawn_failed")
                for word in ("bwrap", "mounts", NO_NAMESPACE):
                    self.assertIn(word, run.error["msg"])
                self.assertEqual(client.left_of(helper.pid), {})
            self.assertFalse(os.path.exists(self.mark))
        run = self.execute(self.command, flags=PLATFORM, helper_env=self.on())
        self.assertEqual(run.code, 0)
        self.assertTrue(os.path.exists(self.mark))

    def test_a_person_is_told_why_and_nothing_runs(self):
        run = self.person("--", *self.command, env=self.on(EVERYTHING))
        self.assertEqual((run.status, run.stdout), (125, b""))
        for word in (NO_NAMESPACE, "bwrap", "the command was not run"):
            self.assertIn(word.encode(), run.stderr)
        self.assertFalse(os.path.exists(self.mark))
        weak = self.person("--demand=best-effort", "--", *self.command, env=self.on(EVERYTHING))
        self.assertEqual((weak.status, weak.stdout), (0, b"begin\n"), weak)
        self.assertTrue(weak.report["degraded"])

    def test_a_scratch_that_is_not_there_is_not_announced(self):
        script = [SH, "-c", 'echo "scratch ${LOOM_SCRATCH_DIR-none}"']
        policy = self.policy(env_allow=["PATH", "LOOM_SCRATCH_DIR"])
        for rules, scratch in (((EVERYTHING,), b"scratch none\n"), ((), b"scratch /tmp\n")):
            env = self.on(*rules)
            with self.helper(base=policy, env=env) as helper:
                run = self.settle(helper, helper.start(script))
                self.assertEqual(bytes(run.stdout), scratch)
            run = self.person("--demand=best-effort", "--", *script, env=env)
            self.assertEqual(run.stdout, scratch)

    def test_a_plan_shows_what_a_run_would_do(self):
        env = self.on(EVERYTHING)
        done = subprocess.run([client.helper_path(), "plan", "--workspace", self.ws, "--", *self.command],
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(("skip:bwrap: bubblewrap builds no jail here: " + NO_NAMESPACE).encode(), done.stdout)
        self.assertFalse(os.path.exists(self.mark))


class NotKnown(ProbingCase):
    """What cannot be known now is refused now, and asked again."""

    # field B42
    def test_a_shortage_refuses_the_run_and_the_next_one_is_jailed_as_ever(self):
        mark = self.path("ws/mark")
        command = [SH, "-c", f"echo x >{mark}"]
        with self.helper("--no-warm", env=self.on(BUSY)) as helper:
            for _ in range(2):
                run = helper.settle(helper.start(command), LIMIT)
                self.assertIsNotNone(run.error, run.exit)
                for word in ("not known", SHORTAGE):
                    self.assertIn(word, run.error["msg"])
                self.assertFalse(os.path.exists(mark))
            tried = len(self.starts())
            self.assertGreaterEqual(tried, 3)  # with the hello, and for each run
            self.refuse()
            run = self.settle(helper, helper.start(command))
            self.assertEqual((run.code, run.exit["degraded"]), (0, False))
            self.assertIn("mounts-by=handle", run.enforcement)
            self.assertNoSkips(run)
            self.settle(helper, helper.start(command))
            self.assertEqual(len(self.starts()), tried + 3)  # one more trial, and two runs
        self.assertTrue(os.path.exists(mark))

    # field B42
    def test_a_launcher_that_does_not_end_is_not_known_to_build_nothing(self):
        env = self.on()
        self.file("choosy/slow", text="60000")
        began = time.monotonic()
        run = self.person("--demand=best-effort", "--", "/bin/echo", "ran", env=env)
        self.assertEqual((run.status, run.stdout), (125, b""), run)
        self.assertIn(b"not known", run.stderr)
        self.assertLess(time.monotonic() - began, 30)
        os.unlink(self.path("choosy/slow"))
        self.assertEqual(self.person("--", "/bin/echo", "ran", env=env).stdout, b"ran\n")

    def test_a_launcher_that_says_nothing_is_not_believed_and_nothing_weaker_runs(self):
        # cases.md 110
        directory, mark = self.directory("mute"), self.path("ws/mark")
        for program in ("/bin/false", "/bin/true"):
            shutil.copy2(program, os.path.join(directory, "bwrap"))
            run = self.execute([SH, "-c", f"echo x >{mark}"], helper_env=path_with(directory))
            self.assertEqual(self.outcome(run)["class"], "setup")
            self.assertSkips(run, "skip:bwrap:")
            self.assertSkips(run, "skip:stage2:")
            self.assertFalse(os.path.exists(mark))


if __name__ == "__main__":
    unittest.main()
