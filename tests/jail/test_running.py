"""One execution from start to end in a real jail: streams, limits, stopping, outcomes, settling."""

import contextlib
import ctypes
import select

from jail import *

import leftovers  # noqa: E402, isort:skip (jail knows where it lies)

LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_SEIZE = 0x4206
WALL = 0x40000000  # __WALL: those that are traced too
MOST_LEAVING = 8  # core/app/server.cc
CAN_TELL_SIGNALS = kernel_at_least(6, 15)  # PIDFD_GET_INFO with exit information


class RunCase(JailCase):
    def running(self, helper, script, **start):
        """A run whose script has said `up`."""
        self.needs(helper, "bwrap")
        return helper.until_output(helper.start([SH, "-c", script], **start), b"up\n", LIMIT)

    def python_running(self, helper, script, **start):
        self.needs(helper, "bwrap")
        return helper.until_output(helper.start([PYTHON, "-ISc", script], **start), b"up\n", LIMIT)

    def cancelled(self, helper, run):
        """The seconds from a cancel to the exit frame."""
        began = time.monotonic()
        helper.cancel(run)
        self.settle(helper, run)
        return time.monotonic() - began

    def assertNothingBelow(self, helper):
        self.assertEqual(client.left_of(helper.pid), {})

    def limited(self, **given):
        return self.policy(limits=client.limits(**given))


class Streams(RunCase):
    def test_output_and_status_come_back(self):
        # cases.md 165, 166
        run = self.execute([SH, "-c", "echo hello; echo woe >&2; exit 42"])
        self.assertEqual((bytes(run.stdout), bytes(run.stderr)), (b"hello\n", b"woe\n"))
        self.assertEqual((run.code, run.exit["signal"]), (42, 0))

    def test_stdin_is_echoed_and_nothing_is_taken_after_its_end(self):
        # cases.md 167
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", "cat; echo up; sleep 60"])
            helper.stdin(b"some bytes\n", eof=True)
            helper.until_output(run, b"up\n")
            late = helper.stdin(b"late")
            error = helper.expect("error", late)
            self.assertEqual(error.body["code"], "no_exec")
            self.assertEqual(bytes(run.stdout), b"some bytes\nup\n")
            self.cancelled(helper, run)

    def test_the_cap_cuts_one_stream_once_and_leaves_the_other(self):
        # cases.md 168, 169
        script = "head -c 100000 /dev/zero; echo a line >&2"
        run = self.execute([SH, "-c", script], self.limited(output_bytes=4096))
        self.assertEqual((run.code, len(run.stdout), bytes(run.stderr)), (0, 4096, b"a line\n"))
        self.assertTrue(run.exit["stdout_truncated"])
        self.assertFalse(run.exit["stderr_truncated"])
        exact = self.execute(["/usr/bin/head", "-c", "4096", "/dev/zero"], self.limited(output_bytes=4096))
        self.assertEqual((len(exact.stdout), exact.exit["stdout_truncated"]), (4096, False))
        more = self.execute(["/usr/bin/head", "-c", "4097", "/dev/zero"], self.limited(output_bytes=4096))
        self.assertEqual((len(more.stdout), more.exit["stdout_truncated"]), (4096, True))

    def test_a_background_child_that_holds_the_streams_does_not_hold_the_end(self):
        # cases.md 170, 171
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            for script in ("sleep 30 & echo out", "setsid sleep 30 & echo out"):
                began = time.monotonic()
                run = self.settle(helper, helper.start([SH, "-c", script]))
                self.assertLess(time.monotonic() - began, 10)
                self.assertEqual((run.code, bytes(run.stdout)), (0, b"out\n"))
                self.assertNothingBelow(helper)

    def test_a_cancel_with_a_full_stdin_queue_settles_and_refuses_the_next_chunk(self):
        # cases.md 177
        with self.helper() as helper:
            run = self.running(helper, "echo up; exec sleep 60")
            helper.stdin(b"x" * (1 << 20))
            self.assertLess(self.cancelled(helper, run), 3)
            self.assertTrue(run.exit["cancelled"])
            late = helper.stdin(b"late")
            self.assertEqual(helper.expect("error", late).body["code"], "no_exec")

    def test_the_wall_clock_runs_out_on_time_with_a_full_stdin_queue(self):
        # cases.md 178, 183
        with self.helper(base=self.limited(wall_s=1)) as helper:
            run = self.running(helper, "echo up; exec sleep 60")
            helper.stdin(b"x" * (1 << 20))
            began = time.monotonic()
            self.settle(helper, run)
            self.assertLess(time.monotonic() - began, 10)
            self.assertTrue(run.exit["timed_out"] and run.exit["cancelled"])
            self.assertGreaterEqual(run.exit["wall_ms"], 1000)
            self.assertEqual(self.outcome(run)["class"], "timeout")


class Cancel(RunCase):
    def test_a_sleeper_ends_by_term(self):
        # cases.md 180, 193
        with self.helper() as helper:
            run = self.running(helper, "echo up; exec sleep 30")
            self.assertLess(self.cancelled(helper, run), 2)
            self.assertEqual((run.code, run.exit["signal"]), (143, 0))
            self.assertTrue(run.exit["cancelled"])
            self.assertFalse(run.exit["timed_out"])
            self.assertEqual(self.outcome(run)["class"], "cancelled")
            self.assertNothingBelow(helper)

    def test_a_handler_gets_its_say(self):
        # cases.md 181
        with self.helper() as helper:
            run = self.running(helper, "trap 'exit 7' TERM; echo up; while :; do sleep 0.1; done")
            self.assertLess(self.cancelled(helper, run), 2)
            self.assertEqual((run.code, run.exit["signal"]), (7, 0))
            self.assertTrue(run.exit["cancelled"])

    def test_whoever_ignores_term_is_killed_after_two_seconds(self):
        # cases.md 182
        with self.helper() as helper:
            run = self.running(helper, "trap '' TERM; echo up; while :; do sleep 0.1; done")
            helper.cancel(run)
            took = self.cancelled(helper, run)
            self.assertGreater(took, 1.8)
            self.assertLess(took, 15)
            self.assertEqual(run.code, 137)
            self.assertNothingBelow(helper)

    def test_a_command_in_a_session_of_its_own_gets_its_term(self):
        # cases.md 184
        with self.helper() as helper:
            inner = "trap 'exit 7' TERM; echo up; while :; do sleep 0.1; done"
            run = helper.start(["/usr/bin/setsid", "-w", SH, "-c", inner])
            helper.until_output(run, b"up\n", LIMIT)
            self.assertLess(self.cancelled(helper, run), 5)
            self.assertIn(run.code, (7, 143), self.story(run))
            self.assertTrue(run.exit["cancelled"])
            self.assertNothingBelow(helper)

    def test_a_leaf_in_a_session_of_its_own_runs_its_handler(self):
        # cases.md 184
        script = (
            "import os, signal, sys, time\n"
            "def stop(*_): open(sys.argv[1], 'w').write('ran'); os._exit(7)\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    os.setsid()\n"
            "    signal.signal(signal.SIGTERM, stop)\n"
            "    print('up', flush=True)\n"
            "    time.sleep(60)\n"
            "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            run = helper.start([PYTHON, "-ISc", script, self.path("ws/mark")])
            helper.until_output(run, b"up\n", LIMIT)
            self.assertLess(self.cancelled(helper, run), 2)
            self.assertEqual(run.code, 7)
            self.assertEqual(self.text(self.path("ws/mark")), "ran")

    def test_process_one_of_a_nested_namespace_runs_its_handler(self):
        # cases.md 185
        script = (
            "import ctypes, os, signal, sys, time\n"
            "CLONE_NEWPID = 0x20000000\n"
            "libc = ctypes.CDLL(None, use_errno=True)\n"
            "if libc.unshare(CLONE_NEWPID) != 0:\n"
            "    print('errno', ctypes.get_errno(), flush=True); sys.exit(9)\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    signal.signal(signal.SIGTERM, lambda *_: os._exit(7))\n"
            "    print('up' if os.getpid() == 1 else 'not one', flush=True)\n"
            "    while True: time.sleep(1)\n"
            "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        )
        if os.getuid() != 0:  # without a user namespace only this capability makes another
            refused = self.execute([PYTHON, "-ISc", script])
            self.assertEqual((bytes(refused.stdout), refused.code), (b"errno 1\n", 9))
            return
        with self.helper("--keep-caps", "CAP_SYS_ADMIN") as helper:
            run = self.python_running(helper, script)
            self.assertLess(self.cancelled(helper, run), 5)
            self.assertEqual(run.code, 7)

    def test_a_shell_that_waits_for_its_background_sleep_is_cancelled(self):
        # cases.md 186
        with self.helper() as helper:
            run = self.running(helper, "sleep 60 & echo up; wait")
            self.assertLess(self.cancelled(helper, run), 5)
            self.assertTrue(run.exit["cancelled"])
            self.assertNothingBelow(helper)

    def test_an_exit_that_looks_like_term_is_no_cancel(self):
        # cases.md 187
        run = self.execute([SH, "-c", "exit 143"])
        self.assertEqual((run.code, run.exit["cancelled"]), (143, False))
        if CAN_TELL_SIGNALS:
            self.assertEqual(self.outcome(run)["class"], "exited")

    def test_a_cancel_after_the_end_or_before_any_start_does_nothing(self):
        # cases.md 194
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            helper.send("cancel", {}, 77)
            run = self.settle(helper, helper.start([SH, "-c", "echo begin"]))
            helper.cancel(run)
            helper.heartbeat()
            again = self.settle(helper, helper.start([SH, "-c", "echo again"]))
            self.assertEqual((bytes(again.stdout), again.exit["cancelled"]), (b"again\n", False))

    def test_a_cancel_in_the_first_milliseconds_ends_the_run_and_leaves_nothing(self):
        # cases.md 193
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            for number in range(20):
                run = helper.start(["/bin/sleep", "60"])
                time.sleep(number / 2000)
                self.assertLess(self.cancelled(helper, run), 3)
                self.assertTrue(run.exit["cancelled"])
                self.assertNothingBelow(helper)

    def test_a_killed_helper_takes_its_jail_with_it(self):
        # cases.md 195
        client.become_subreaper()
        helper = self.helper()
        run = self.running(helper, "setsid sleep 1000 & echo up; sleep 1000")
        below = set(client.descendants(helper.pid))
        self.assertGreaterEqual(len(below), 4, "supervisor, process 1, shell, sleep")
        helper.kill()

        def gone():
            client.reap_adopted(set(client.Helper.live))
            return not below & set(client.process_table())

        self.assertTrue(client.wait_until(gone, 5), client.process_table())
        self.assertIsNone(run.exit)


class Escapes(RunCase):
    def test_a_command_that_kills_all_it_can_reach_hurts_neither_jail_nor_report(self):
        script = "kill -TERM 1; kill -KILL 1; kill -9 -1; echo alive; exit 4"
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            run = self.settle(helper, helper.start([SH, "-c", script]))
            self.assertEqual((run.code, bytes(run.stdout)), (4, b"alive\n"), self.story(run))
            self.assertNoSkips(run)

    def test_daemons_in_sessions_of_their_own_do_not_outlive_the_run(self):
        script = (
            "import os, time\n"
            "for _ in range(100):\n"
            "    if os.fork() == 0:\n"
            "        os.setsid()\n"
            "        if os.fork() == 0: time.sleep(60)\n"
            "        os._exit(0)\n"
            "print('begun')\n"
        )
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            run = self.settle(helper, helper.start([PYTHON, "-ISc", script]))
            self.assertEqual((run.code, bytes(run.stdout)), (0, b"begun\n"))
            self.assertNothingBelow(helper)


    def test_nothing_of_the_jail_lives_when_its_exit_is_read(self):
        marker = f"marker-{NEW}"
        script = (
            "import os, sys, time\n"
            "for _ in range(40):\n"
            "    if os.fork() == 0:\n"
            "        os.setsid()\n"
            "        for fd in range(3): os.close(fd)\n"
            "        time.sleep(60)\n"
            "        os._exit(0)\n"
            "print('up', flush=True)\n"
            "sys.stdin.readline()\n"
        )
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            for _ in range(5):
                run = helper.start([PYTHON, "-ISc", script, marker])
                helper.until_output(run, b"up\n", LIMIT)
                self.assertEqual(len(self.alive(marker)), 41)
                helper.stdin(b"end\n", eof=True)
                self.settle(helper, run)
                self.assertEqual(self.alive(marker), [])
                self.assertEqual(run.code, 0, self.story(run))

    @staticmethod
    def alive(marker):
        """The processes of this machine whose arguments hold a word; one that ended has none."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    if marker.encode() in file.read().split(b"\0"):
                        found.append(int(pid))
            except OSError:
                pass
        return found


class Outcomes(RunCase):
    def of(self, argv, policy=None, **how):
        run = self.execute(argv, policy, **how)
        return run, self.outcome(run)

    def test_a_plain_exit(self):
        run, outcome = self.of([SH, "-c", "exit 3"])
        self.assertEqual((run.code, outcome["class"], outcome["detail"]), (3, "exited", "exit 3"))

    def test_a_kill_and_an_exit_with_137_are_told_apart_where_the_kernel_can(self):
        killed, how = self.of([SH, "-c", "kill -9 $$"])
        left, why = self.of([SH, "-c", "exit 137"])
        self.assertEqual((killed.code, left.code), (137, 137))
        if CAN_TELL_SIGNALS:
            self.assertEqual((how["class"], why["class"]), ("signalled", "exited"))
            self.assertIn("SIGKILL", how["detail"])
            self.assertEqual(why["detail"], "exit 137")
        else:
            self.assertEqual(how, why)
            self.assertIn("137, or signal 9", how["detail"])

    def test_a_missing_program_is_told_from_a_forbidden_one_and_from_a_missing_interpreter(self):
        # cases.md 109
        plain = self.file("ws/plain")
        lost = self.program("ws/lost", text="#!/no/such/interpreter\n")
        rows = [
            (["no-such-program"], "exec", "not found"),
            ([self.path("ws/absent")], "exec", "not found"),
            ([plain], "exec", "Permission denied"),
            ([self.ws], "exec", "Permission denied"),
            ([lost], "exec", "interpreter"),
        ]
        for argv, kind, word in rows:
            with self.subTest(argv=argv):
                run, outcome = self.of(argv)
                self.assertEqual((run.code, outcome["class"]), (126, kind), outcome)
                self.assertIn(word, outcome["detail"])
                self.assertIn(argv[0], outcome["detail"])
                self.assertEqual(run.stderr.count(b"\n"), 1, run.stderr)
                self.assertTrue(run.stderr.startswith(b"loom-exec[stage2]: "), run.stderr)
                self.assertApplied(run, "bwrap", "mounts", "landlock", "no-new-privs", "seccomp-net")
                self.assertNoSkips(run)
        run, outcome = self.of([self.program("ws/found", text="#!/bin/sh\nexit 126\n")])
        self.assertEqual((run.code, outcome["class"]), (126, "exited"))

    def test_a_program_on_the_host_only_is_not_found(self):
        run, outcome = self.of([self.program("out/tool", text="#!/bin/sh\necho ran\n")])
        self.assertEqual((run.code, outcome["class"], bytes(run.stdout)), (126, "exec", b""))
        granted = self.policy(readable_roots=[self.out])
        run, outcome = self.of([self.path("out/tool")], granted)
        self.assertEqual((run.code, bytes(run.stdout)), (0, b"ran\n"))

    def test_the_file_size_ceiling_holds_and_is_told(self):
        # field B71
        policy = self.limited(fsize_bytes=4096)
        run, outcome = self.of(["/bin/dd", "if=/dev/zero", f"of={self.ws}/f", "bs=1000", "count=9"], policy)
        self.assertEqual(os.stat(self.path("ws/f")).st_size, 4096)
        self.assertEqual(run.code, 128 + signal.SIGXFSZ)
        if CAN_TELL_SIGNALS:
            self.assertEqual(outcome["class"], "limit")
        self.assertIn("SIGXFSZ", outcome["detail"])
        self.assertApplied(run, "rlimit-fsize")
        run, _ = self.of(["/bin/dd", "if=/dev/zero", f"of={self.ws}/g", "bs=1000", "count=4"], policy)
        self.assertEqual(run.code, 0)

    def test_a_signal_of_a_ceiling_that_nobody_set_is_only_a_signal(self):
        for number, ceiling in ((signal.SIGXFSZ, "fsize_bytes"), (signal.SIGXCPU, "cpu_s")):
            with self.subTest(signal=number):
                argv = [SH, "-c", f"kill -{int(number)} $$"]
                run, outcome = self.of(argv)
                self.assertEqual(run.code, 128 + number)
                self.assertNotEqual(outcome["class"], "limit")
                self.assertNotIn(ceiling, outcome["detail"])
                limited, why = self.of(argv, self.limited(**{ceiling: 1 << 20}))
                self.assertEqual(limited.code, 128 + number)
                if CAN_TELL_SIGNALS:
                    self.assertEqual((outcome["class"], why["class"]), ("signalled", "limit"))
                    self.assertIn(number.name, outcome["detail"])

    def test_the_cpu_ceiling_holds_and_is_told(self):
        policy = self.limited(cpu_s=1)
        run, outcome = self.of([SH, "-c", "while :; do :; done"], policy)
        self.assertEqual(run.code, 128 + signal.SIGXCPU)
        if CAN_TELL_SIGNALS:
            self.assertEqual(outcome["class"], "limit")
        self.assertIn("SIGXCPU", outcome["detail"])
        self.assertApplied(run, "rlimit-cpu")
        printed = self.output("ulimit -t; ulimit -Ht", policy)
        self.assertEqual(printed, "1\n2\n")

    def test_ceilings_beyond_every_number_are_no_error(self):
        most = 2**64 - 1
        given = client.limits(cpu_s=most, wall_s=most, fsize_bytes=most, output_bytes=most)
        run, outcome = self.of([SH, "-c", "echo begin"], self.policy(limits=given))
        self.assertEqual((bytes(run.stdout), outcome["class"]), (b"begin\n", "exited"))

    def test_without_the_feature_there_is_no_outcome(self):
        with self.helper(features=()) as helper:
            run = self.settle(helper, helper.start(["/bin/true"]))
            self.assertNotIn("outcome", run.exit)

    def test_what_stage_2_prints_when_started_by_hand(self):
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(client.helper_path())))
        done = subprocess.run(
            [os.path.join(prefix, "libexec/loom-exec/bwrap-stage2"), "/bin/echo", "ran"],
            capture_output=True,
            timeout=LIMIT,
        )
        self.assertEqual((done.returncode, done.stdout), (126, b""))
        self.assertRegex(done.stderr, rb"^loom-exec\[stage2\]: [^\n]+\n$")


class LaterEnds(RunCase):
    """Once a helper knows that the kernel tells of ends it waits for no launcher any more."""

    ROWS = [
        ("exit 0", 0),
        ("exit 7", 7),
        ("kill -9 $$", 137),
        ("kill -15 $$", 143),
        ("exit 137", 137),
        ("sleep 100 & exit 3", 3),  # somebody is left, who dies with the jail
        ("setsid sleep 100 >/dev/null 2>&1 & exit 4", 4),
        ("head -c 300000 /dev/zero; exit 5", 5),
        ("(trap '' TERM; while :; do sleep 1; done) & exit 6", 6),
    ]

    def test_they_are_told_like_the_first(self):
        first = {}
        for script, code in self.ROWS:
            with self.helper() as helper:
                run = self.settle(helper, helper.start([SH, "-c", script]))
            self.assertEqual((run.code, run.exit["signal"]), (code, 0), self.story(run))
            first[script] = (self.outcome(run)["class"], self.outcome(run)["detail"], len(run.stdout))
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            for script, code in [("exit 0", 0), *self.ROWS, *self.ROWS]:
                run = self.settle(helper, helper.start([SH, "-c", script]))
                self.assertEqual((run.code, run.exit["signal"]), (code, 0), self.story(run))
                told = (self.outcome(run)["class"], self.outcome(run)["detail"], len(run.stdout))
                self.assertEqual(told, first[script], self.story(run))
                self.assertNoSkips(run)
                self.assertNothingBelow(helper)


    def test_the_status_is_the_process_s_and_not_its_main_thread_s(self):
        # A process has one status, and what its main thread said of itself is not it.
        program = shutil.copy(os.environ["LOOM_LEADERLESS"], self.directory("program"))
        with self.helper(base=self.policy(readable_roots=[program])) as helper:
            self.needs(helper, "bwrap")
            for pause in range(0, 1_000, 5):
                for how, code, told in (("exit", 3, "exited"), ("crash", 139, "signalled")):
                    run = self.settle(helper, helper.start([program, how, str(pause)]))
                    self.assertEqual((run.code, run.exit["signal"]), (code, 0), self.story(run))
                    # Of a command whose launcher was quicker than the helper only its word is known.
                    either = "exit 139, or signal 11 (SIGSEGV)"
                    if self.outcome(run)["detail"] != either:
                        self.assertEqual(self.outcome(run)["class"], told, self.story(run))


class FirstAnswer(RunCase):
    """The answer waits for whoever may still do something, and not for bubblewrap's own two processes.

    A launcher that this process traces has not ended for the helper until this process collects it;
    process 1, stopped, does not collect the command before the helper has looked.
    """

    @contextlib.contextmanager
    def answering(self, **how):
        """A helper that knows whether its kernel tells of ends, which it learns from its first run."""
        with self.helper("--no-warm", **how) as helper:
            self.needs(helper, "bwrap", "landlock")
            self.settle(helper, helper.start(["/bin/true"]))
            self.assertNothingBelow(helper)
            yield helper

    def held(self, helper, script, stops=True, **start):
        """A run whose script waits for a line, and its launcher, which will not end for the helper."""
        if not CAN_TELL_SIGNALS:
            self.skipTest("the kernel is older than 6.15, and every answer waits for the launcher")
        known = set(client.descendants(helper.pid))
        run = self.running(helper, "echo up; read line; " + script, **start)
        table = client.process_table()
        (launcher,) = [pid for pid, row in table.items() if row[0] == helper.pid and pid not in known]
        (process_one,) = [pid for pid, row in table.items() if row[0] == launcher]
        if LIBC.ptrace(PTRACE_SEIZE, launcher, 0, 0) != 0:
            self.skipTest("this user may not trace a launcher")
        self.addCleanup(self.collect, launcher)
        self.addCleanup(self.end_helpers)
        if stops:
            os.kill(process_one, signal.SIGSTOP)
            self.assertState(process_one, "T")
        return run, launcher

    def collect(self, launcher):
        with contextlib.suppress(ChildProcessError):
            os.waitpid(launcher, WALL)

    def let_go_on(self, pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    def assertSilent(self, helper):
        self.assertEqual(select.select([helper.process.stdout], [], [], 0.5)[0], [], "it has answered")

    def assertHeld(self, launcher):
        self.assertTrue(client.wait_until(lambda: client.process_table()[launcher][1] == "Z", LIMIT))

    def test_it_comes_whole_while_the_launcher_has_not_ended(self):
        rows = (("exit 3", 3, 0), ("kill -9 $$", 137, 0), ("exec head -c 700000 /dev/zero", 0, 700_000))
        with self.answering() as helper:
            for script, code, size in rows:
                run, launcher = self.held(helper, script)
                helper.stdin(b"go\n")
                self.settle(helper, run)
                self.assertHeld(launcher)
                self.assertEqual((run.code, len(run.stdout)), (code, len(b"up\n") + size), self.story(run))
                self.assertNoSkips(run)
                self.collect(launcher)
                self.assertNothingBelow(helper)

    def stopped(self, helper, script, **start):
        """A run whose script waits for a line, its launcher, which is stopped, and process 1."""
        if not CAN_TELL_SIGNALS:
            self.skipTest("the kernel is older than 6.15, and every answer waits for the launcher")
        run = self.running(helper, "echo up; read line; " + script, **start)
        table = client.process_table()
        (launcher,) = [pid for pid, row in table.items() if row[0] == helper.pid]
        (process_one,) = [pid for pid, row in table.items() if row[0] == launcher]
        os.kill(launcher, signal.SIGSTOP)
        self.assertState(launcher, "T")
        return run, launcher, process_one

    def assertState(self, pid, state):
        self.assertTrue(client.wait_until(lambda: client.process_table().get(pid, (0, "", ""))[1] == state, LIMIT))

    def assertEnds(self, pid):
        """Whoever adopts it may never collect it."""

        def has_ended():
            return client.process_table().get(pid, (0, "X", ""))[1] in ("Z", "X")

        self.assertTrue(client.wait_until(has_ended, LIMIT))

    def test_it_comes_from_process_one_where_that_took_the_status(self):
        rows = (("exit 3", 3), ("exit 0", 0), ("kill -9 $$", 137))
        with self.answering() as helper:
            for script, code in rows:
                waiting = f"until [ -e go-{code} ]; do sleep 0.1; done; "
                run, launcher, process_one = self.stopped(helper, waiting + script, cwd=self.ws)
                helper.stdin(b"go\n")
                self.assertTrue(client.wait_until(lambda: "sleep" in client.descendants(helper.pid).values(), LIMIT))
                os.kill(helper.pid, signal.SIGSTOP)
                self.addCleanup(self.let_go_on, helper.pid)
                self.assertState(helper.pid, "T")
                self.file(f"ws/go-{code}")
                self.assertState(process_one, "Z")
                self.assertState(launcher, "T")
                os.kill(helper.pid, signal.SIGCONT)
                self.settle(helper, run)
                self.assertEqual(run.code, code, self.story(run))
                self.assertNoSkips(run)
                self.assertNothingBelow(helper)

    def test_it_does_not_come_from_a_process_one_that_was_killed(self):
        # The supervisor ends with the command, and whoever is left in the jail is killed with process 1.
        with self.answering() as helper:
            waiting = "sleep 100 >/dev/null 2>&1 & until [ -e go ]; do sleep 0.1; done; exit 3"
            run, launcher = self.held(helper, waiting, stops=False, cwd=self.ws)
            (process_one,) = [pid for pid, row in client.process_table().items() if row[0] == launcher]
            helper.stdin(b"go\n")
            self.assertTrue(client.wait_until(lambda: "sleep" in client.descendants(helper.pid).values(), LIMIT))
            # So that it finds process 1 ended, and nothing of the command.
            os.kill(helper.pid, signal.SIGSTOP)
            self.addCleanup(self.let_go_on, helper.pid)
            self.assertState(helper.pid, "T")
            self.file("ws/go")
            self.assertEnds(process_one)
            os.kill(helper.pid, signal.SIGCONT)
            self.assertSilent(helper)
            self.collect(launcher)
            self.settle(helper, run)
            self.assertEqual(run.code, 3, self.story(run))
            self.assertNothingBelow(helper)

    def test_it_waits_where_somebody_is_left(self):
        with self.answering() as helper:
            run, launcher = self.held(helper, "sleep 100 >/dev/null 2>&1 & exit 3")
            helper.stdin(b"go\n")
            self.assertSilent(helper)
            os.kill(launcher, signal.SIGKILL)
            self.collect(launcher)
            self.settle(helper, run)
            self.assertNothingBelow(helper)

    def test_the_next_command_runs_while_the_last_launcher_has_not_ended(self):
        with self.answering() as helper:
            run, launcher = self.held(helper, "exit 3")
            helper.stdin(b"go\n")
            self.settle(helper, run)
            for _ in range(3):
                self.assertEqual(self.settle(helper, helper.start([SH, "-c", "exit 4"])).code, 4)
            self.assertHeld(launcher)
            self.collect(launcher)
            self.assertNothingBelow(helper)

    def test_whoever_holds_every_launcher_is_waited_for_in_the_end(self):
        held = []
        with self.answering() as helper:
            for _ in range(MOST_LEAVING):
                run, launcher = self.held(helper, "exit 3")
                helper.stdin(b"go\n")
                self.settle(helper, run)
                held.append(launcher)
            run, launcher = self.held(helper, "exit 5")
            helper.stdin(b"go\n")
            self.assertSilent(helper)
            self.collect(launcher)
            self.assertEqual(self.settle(helper, run).code, 5)
            for launcher in held:
                self.collect(launcher)
            self.assertNothingBelow(helper)

    def test_a_launcher_that_never_ends_does_not_keep_the_helper(self):
        with self.answering() as helper:
            run, launcher = self.held(helper, "exit 3")
            helper.stdin(b"go\n")
            self.settle(helper, run)
            began = time.monotonic()
            helper.end_input()
            self.assertEqual(helper.wait_exit(LIMIT), 0)
            self.assertLess(time.monotonic() - began, 10)
            self.collect(launcher)

    def test_it_comes_after_a_command_that_is_slow_to_die(self):
        # A launcher that is killed before its command, alone in its jail, has left it behind.
        script = (
            "import signal, sys\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "memory = bytearray(200 << 20)\n"
            "file = open('more', 'ab', 0)\n"
            "print('up', flush=True)\n"
            "while True: file.write(b'x')\n"
        )
        with self.answering() as helper:
            for end in ("kill", "cancel") * 2:
                run = self.python_running(helper, script, cwd=self.ws)
                (launcher,) = [pid for pid, row in client.process_table().items() if row[0] == helper.pid]
                (command,) = [pid for pid, name in client.descendants(launcher).items() if name != "bwrap"]
                if end == "kill":
                    os.kill(launcher, signal.SIGKILL)
                else:
                    helper.cancel(run)
                self.settle(helper, run)
                size = os.path.getsize(self.path("ws/more"))
                self.assertIn(client.process_table().get(command, (0, "Z", ""))[1], ("Z", "X"), end)
                time.sleep(0.05)
                self.assertEqual(os.path.getsize(self.path("ws/more")), size)
                self.assertEqual(run.code, 137, self.story(run))
                self.assertNothingBelow(helper)

    def test_a_helper_does_not_wear_itself_out_over_a_launcher_that_is_traced(self):
        def ticks():
            with open(f"/proc/{helper.pid}/stat", encoding="ascii", errors="replace") as file:
                return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))

        with self.answering() as helper:
            run, launcher = self.held(helper, "exit 3")
            helper.stdin(b"go\n")
            self.settle(helper, run)
            self.assertHeld(launcher)
            before = ticks()
            time.sleep(1)
            self.assertLess(ticks() - before, 0.5 * os.sysconf("SC_CLK_TCK"))
            self.collect(launcher)
            self.assertNothingBelow(helper)

    def test_nothing_is_written_after_it(self):
        with self.answering() as helper:
            for left in ("", "(while :; do echo x >>more; done) & "):
                for _ in range(20):
                    run = helper.start([SH, "-c", left + "echo x >>more; exit 3"], cwd=self.ws)
                    self.settle(helper, run)
                    size = os.path.getsize(self.path("ws/more"))
                    time.sleep(0.01)
                    self.assertEqual(os.path.getsize(self.path("ws/more")), size)
                    self.assertEqual(run.code, 3, self.story(run))


class Settling(RunCase):
    def test_the_next_start_on_the_exit_frame_is_never_busy(self):
        # cases.md 196
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            for number in range(40):
                run = self.settle(helper, helper.start([SH, "-c", "sleep 60 & echo $0", str(number)]))
                self.assertEqual(bytes(run.stdout), b"%d\n" % number)

    def test_a_second_start_during_a_run_is_busy_and_hurts_nobody(self):
        # cases.md 197
        with self.helper() as helper:
            run = self.running(helper, "echo up; read line; echo got $line")
            second = helper.start(["/bin/true"])
            self.assertEqual(helper.expect("error", second.id).body["code"], "busy")
            helper.stdin(b"it\n", eof=True)
            self.settle(helper, run)
            self.assertEqual(bytes(run.stdout), b"up\ngot it\n")

    def test_a_shutdown_during_a_run_gives_its_exit_frame_and_then_zero(self):
        # cases.md 198, 199
        with self.helper() as helper:
            run = self.running(helper, "echo up; sleep 60")
            helper.send("shutdown", {})
            self.settle(helper, run)
            self.assertTrue(run.exit["cancelled"])
            self.assertIsNone(helper.receive())
            self.assertEqual(helper.wait_exit(), 0)
            self.assertEqual(client.left_of(helper.pid), {})

    def test_one_whole_conversation(self):
        # cases.md 200
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", "cat; echo end"], cwd=self.ws)
            helper.stdin(b"", eof=True)
            self.settle(helper, run)
            self.assertEqual((run.code, bytes(run.stdout)), (0, b"end\n"))
            self.assertTrue(run.enforcement)
            helper.end_input()
            self.assertEqual(helper.wait_exit(), 0)

    def test_a_base_policy_that_is_none_ends_the_helper_before_any_frame(self):
        # cases.md 201
        documents = [b"garbage", b"", pack({**self.policy(), "v": 1}), pack(self.policy()) + b"x"]
        for document in documents:
            with self.subTest(document=document[:8]):
                helper = client.Helper(document, hello=False)
                self.assertIsNone(helper.receive())
                self.assertEqual(helper.wait_exit(), 1)
                self.assertEqual(helper.stderr_text().count("\n"), 1, helper.stderr_text())
                helper.close()

    def test_a_hundred_runs_leave_no_process_and_no_descriptor(self):
        # test_warm.py has the same with jails that wait.
        with self.helper("--no-warm") as helper:
            self.needs(helper, "bwrap")
            self.settle(helper, helper.start(["/bin/true"]))
            time.sleep(0.5)  # what belonged to the run is dropped after its exit frame, the next one's is made
            before = leftovers.descriptors(helper.pid)
            for _ in range(100):
                self.settle(helper, helper.start(["/bin/true"]))
            self.assertNothingBelow(helper)
            client.wait_until(lambda: leftovers.descriptors(helper.pid) == before, LIMIT)
            self.assertEqual(leftovers.descriptors(helper.pid), before)
            self.assertEqual(os.listdir(self.ws), [])


if __name__ == "__main__":
    unittest.main()
