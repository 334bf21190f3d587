"""What a caller leaves to `loom-exec run`: descriptors, signals, limits, odd places and odd words."""

import json
import pty
import resource
import select
import threading

from jail import *

SOON = 10  # seconds within which something that is decided has happened


class CallerCase(JailCase):
    def start(self, *words, **how):
        """`loom-exec run WORDS…`, its streams as the test likes them."""
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([client.helper_path(), "run", *words], cwd=how.pop("cwd", self.ws), **how)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for stream in (process.stdout, process.stderr):
            if stream:
                self.addCleanup(stream.close)
        return process

    def ended(self, *words, **how):
        process = self.start("--report=none", *words, **how)
        out, err = process.communicate(timeout=LIMIT)
        return process.returncode, out, err

    def run_script(self, script, *options, **how):
        return self.ended(*options, "--", SH, "-c", script, **how)


class TerminalNobodyReads(CallerCase):
    def flood(self, terminal):
        return self.start(
            "--wall-seconds=3",
            "--report=json",
            f"--report-file={self.path('report')}",
            "--",
            "/usr/bin/yes",
            stdout=terminal,
            stderr=subprocess.DEVNULL,
        )

    def floods(self, process):
        """The command is there, and not only a trial launch."""
        return "yes" in client.descendants(process.pid).values()

    def terminal(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        return ours, theirs

    def assertTimedOut(self):
        report = json.loads(self.text(self.path("report")))
        self.assertEqual((report["timed_out"], report["outcome"]["class"]), (True, "timeout"), report)

    def test_the_wall_limit_holds_and_a_signal_then_ends_the_helper(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(signal=number):
                _, theirs = self.terminal()
                process = self.flood(theirs)
                self.assertTrue(client.wait_until(lambda: self.floods(process), SOON))
                self.assertTrue(
                    client.wait_until(lambda: not client.descendants(process.pid), SOON),
                    "the wall limit did not end the command",
                )
                time.sleep(0.7)  # longer than the rest of its output is waited for
                process.send_signal(number)
                process.wait(SOON)
                self.assertTimedOut()
                os.unlink(self.path("report"))

    def test_with_a_reader_the_helper_ends_without_being_told(self):
        ours, theirs = self.terminal()
        process = self.flood(theirs)
        seen = [0]

        def read():
            try:
                while process.poll() is None:
                    seen[0] += len(os.read(ours, 65536))
            except OSError:
                pass

        threading.Thread(target=read, daemon=True).start()
        process.wait(SOON)
        self.assertGreater(seen[0], 0)
        self.assertTimedOut()


class ControllingSide(CallerCase):
    def test_what_goes_to_it_arrives_at_the_terminal(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        process = self.start("--report=none", "--", "/bin/echo", "hi", stdout=ours)
        self.assertEqual(process.wait(LIMIT), 0, process.stderr.read())
        self.assertEqual(select.select([theirs], [], [], SOON)[0], [theirs], "nothing arrived")
        self.assertEqual(os.read(theirs, 100), b"hi\n")


class Signals(CallerCase):
    def test_a_caller_that_ignores_its_children_does_not_hide_how_the_command_ended(self):
        for disposition in (signal.SIG_IGN, signal.SIG_DFL):
            status, out, _ = self.run_script(
                "echo begin; exit 3", preexec_fn=lambda: signal.signal(signal.SIGCHLD, disposition)
            )
            self.assertEqual((status, out), (3, b"begin\n"), disposition)

    def test_a_helper_whose_broker_ignores_its_children_tells_the_status(self):
        def ignore():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)

        with self.helper(prepare=ignore) as helper:
            self.needs(helper, "bwrap")
            run = self.settle(helper, helper.start([SH, "-c", "echo begin; exit 3"]))
            self.assertEqual((run.code, bytes(run.stdout)), (3, b"begin\n"), self.story(run))
            self.assertEqual(self.outcome(run)["class"], "exited")

    def hung_up(self, disposition):
        process = self.start(
            "--report=none",
            "--",
            SH,
            "-c",
            "echo up; sleep 1; echo done",
            preexec_fn=lambda: signal.signal(signal.SIGHUP, disposition),
        )
        self.assertEqual(process.stdout.readline(), b"up\n")
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=LIMIT)
        return process.returncode, out

    def test_a_hangup_that_the_caller_ignores_stays_ignored(self):
        self.assertEqual(self.hung_up(signal.SIG_IGN), (0, b"done\n"))
        self.assertEqual(self.hung_up(signal.SIG_DFL), (143, b""))


class Limits(CallerCase):
    def small_files(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (500 * 512, 500 * 512))

    def test_files_that_may_not_grow_are_a_refusal_in_words_and_no_death_by_a_signal(self):
        mark = self.path("ws/mark")
        status, _, err = self.run_script(f"echo x >{mark}", preexec_fn=self.small_files)
        if status == 0:
            self.assertTrue(os.path.exists(mark))  # all that we write fits
        else:
            self.assertEqual(status, 125, err)
            self.assertIn(b"File too large", err)
            self.assertFalse(os.path.exists(mark))
        status, _, err = self.run_script(f"echo x >{mark}")
        self.assertEqual((status, err), (0, b""))
        self.assertTrue(os.path.exists(mark))

    def test_a_helper_whose_files_may_not_grow_says_so_and_ends(self):
        with self.helper(prepare=self.small_files, hello=False) as helper:
            if helper.receive() is None:  # else all that it writes fits
                self.assertEqual(helper.wait_exit(), 1)
                self.assertIn("File too large", helper.stderr_text())
                self.assertEqual(helper.stderr_text().count("\n"), 1)
        self.assertEqual(bytes(self.execute([SH, "-c", "echo begin"]).stdout), b"begin\n")


class Descriptors(CallerCase):
    @staticmethod
    def put(flags, number):
        def prepare():
            os.dup2(os.open("/dev/null", flags), number)

        return prepare

    def test_a_standard_stream_that_only_names_a_file_is_refused_and_aborts_nothing(self):
        for number in range(3):
            with self.subTest(descriptor=number):
                status, out, err = self.run_script(
                    "echo begin; exit 3", preexec_fn=self.put(os.O_PATH, number)
                )
                self.assertEqual((status, out), (1, b""), err)
                if number < 2:
                    self.assertIn(b"descriptors 0 to 2", err)
        usable = self.put(os.O_RDONLY, 0)
        self.assertEqual(self.run_script("echo begin; exit 3", preexec_fn=usable)[:2], (3, b"begin\n"))


class Places(CallerCase):
    def test_a_place_to_write_that_the_scratch_covers_is_refused_by_name(self):
        rows = [(["--write", "/tmp"], self.ws), (["--write", self.link("/tmp", "alias")], self.ws)]
        if os.getuid() == 0:  # whose /tmp is
            rows += [([], "/tmp"), (["--workspace=/tmp"], self.ws)]
        for options, where in rows:
            with self.subTest(options=options, where=where):
                status, _, err = self.run_script(f"echo x >/tmp/{NEW}", *options, cwd=where)
                self.assertEqual(status, 125, err)
                self.assertIn(b"would not be kept", err)
                self.assertIn(b"/tmp", err)
        self.assertFalse(os.path.exists("/tmp/" + NEW))

    def test_what_is_written_below_the_scratch_where_it_was_granted_is_kept(self):
        for options, where in (([], self.under_tmp()), (["--write", self.under_tmp()], self.ws)):
            place = options[-1] if options else where
            status, _, err = self.run_script(f"echo x >{place}/made", *options, cwd=where)
            self.assertEqual((status, os.listdir(place)), (0, ["made"]), err)

    def test_a_workspace_named_through_a_link_gives_the_command_no_program(self):
        inside, outside = self.directory("ws/bin"), self.directory("out/bin")
        alias = self.link(self.ws, "alias")
        env = {**os.environ, "PATH": f"{inside}:{outside}:{alias}/bin:/usr/bin:/bin"}
        for workspace, where in ((alias, self.place), (self.ws, self.place), (alias, alias)):
            with self.subTest(workspace=workspace, where=where):
                status, out, err = self.run_script(
                    'echo "$PATH"', f"--workspace={workspace}", cwd=where, env=env
                )
                self.assertEqual(status, 0, err)
                directories = out.decode().strip().split(":")
                self.assertNotIn(inside, directories)
                self.assertNotIn(alias + "/bin", directories)
                self.assertIn(outside, directories)
                self.assertIn("/usr/bin", directories)

    def test_a_step_up_behind_a_link_means_what_the_kernel_means(self):
        self.link(self.directory("ws/far/deep"), self.directory("ws/z") and "ws/z/lk")
        meant = self.file("ws/far/sec", text="MEANT\n")
        spelled = self.file("ws/z/sec", text="SPELLED\n")
        with open(self.path("ws/z/lk/../sec"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "MEANT\n")
        status, out, err = self.run_script(
            f"echo begin; cat {spelled}; cat {meant} 2>/dev/null; exit 0", "--protect", "z/lk/../sec"
        )
        self.assertEqual((status, out), (0, b"begin\nSPELLED\n"), err)
        self.assertEqual(self.run_script(f"cat {meant}")[1], b"MEANT\n")

    def test_what_the_jail_has_of_its_own_is_neither_protected_nor_mounted_over(self):
        rows = [
            (["--protect", "/proc/sys"], "/proc/sys"),
            (["--protect", "/proc"], "/proc"),
            (["--protect", "/dev"], "/dev"),
            (["--mount", "/proc:rw"], "/proc"),
            (["--mount", "/proc/sys"], "/proc"),
            (["--mount", "/"], '"/"'),
        ]
        for options, name in rows:
            with self.subTest(options=options):
                status, out, err = self.run_script("echo begin", *options)
                self.assertEqual((status, out), (125, b""), err)
                self.assertIn(name.encode(), err)
                self.assertIn(b"the command was not run", err)
        control = self.run_script("echo begin", "--mount", self.out, "--protect", self.file("ws/.env"))
        self.assertEqual(control[:2], (0, b"begin\n"))


class Words(CallerCase):
    def test_a_number_is_decimal_and_fits_or_is_a_usage_error(self):
        for text in ("-1", str(2**64), "1e3", "0x10", "", " 5"):
            with self.subTest(text=text):
                status, out, _ = self.run_script("echo begin", f"--file-bytes={text}")
                self.assertEqual((status, out), (2, b""))
        self.assertEqual(self.run_script("echo begin", f"--file-bytes={2**64 - 1}")[:2], (0, b"begin\n"))
        self.run_script("head -c 20 /dev/zero >f", "--file-bytes=010")
        self.assertEqual(os.stat(self.path("ws/f")).st_size, 10)

    def deep_policy(self, depth):
        document = json.dumps(self.policy())
        return self.file("deep.json", text='{"x":' + "[" * depth + "]" * depth + "," + document[1:])

    def test_a_policy_nested_without_end_is_refused_and_crashes_nothing(self):
        for depth in (50, 400_000):
            status, out, err = self.run_script("echo begin", "--policy", self.deep_policy(depth))
            self.assertEqual((status, out), (125, b""), err[:300])
            self.assertIn(b"the command was not run", err)
        flat = self.file("flat.json", text=json.dumps(self.policy()))
        self.assertEqual(self.run_script("echo begin", "--policy", flat)[:2], (0, b"begin\n"))


if __name__ == "__main__":
    unittest.main()
