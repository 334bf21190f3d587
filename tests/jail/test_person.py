"""`loom-exec run` and `loom-exec plan`, as a person at a shell uses them."""

import http.server
import json
import pty
import re
import threading

from jail import *

CLIENT = (
    "import sys, urllib.request\n"
    "try: print('answer', urllib.request.urlopen(sys.argv[1], timeout=2).status)\n"
    "except OSError as error: print('network failed:', error)\n"
)


class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Repository(JailCase):
    """The session that the first issue promises: git, /etc, the network, each denied and granted."""

    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}/"
        self.git = shutil.which("git", path="/usr/bin:/bin")
        if not self.git:
            self.skipTest("git is not installed")
        subprocess.run([self.git, "init", "-q", self.ws], check=True)
        self.file("ws/client.py", text=CLIENT)

    def session(self, *options):
        script = (
            "echo begin; git status; cat .git/config; touch /etc/$3; "
            f'{PYTHON} -IS client.py "$1"; touch "$2/x" && echo touched; true'
        )
        env = {**path_with(), "GIT_CONFIG_NOSYSTEM": "1"}
        run = self.person(*options, "--", SH, "-c", script, "sh", self.url, self.out, NEW, env=env)
        self.assertEqual(run.status, 0, run)
        text = run.stdout.decode() + run.stderr.decode()
        self.assertTrue(text.startswith("begin\n"), run)
        self.assertIn(f"cannot touch '/etc/{NEW}'", text)
        self.assertFalse(os.path.exists("/etc/" + NEW))
        self.assertFalse([e for e in run.enforcement if e.startswith("skip:")], run.enforcement)
        return text

    def test_a_protected_repository_is_none_and_the_network_and_the_rest_fail(self):
        text = self.session("--protect", ".git")
        self.assertIn("not a git repository", text)
        self.assertNotIn("[core]", text)
        self.assertIn("network failed:", text)
        self.assertNotIn("touched", text)
        self.assertEqual(os.listdir(self.out), [])

    def test_without_protection_the_repository_is_one(self):
        text = self.session()
        self.assertIn("No commits yet", text)
        self.assertIn("[core]", text)
        self.assertIn("network failed:", text)

    def test_a_directory_that_is_granted_can_be_written(self):
        text = self.session("--protect", ".git", "--write", self.out)
        self.assertIn("touched", text)
        self.assertEqual(os.listdir(self.out), ["x"])
        self.assertNotIn("[core]", text)

    def test_an_open_network_answers(self):
        text = self.session("--protect", ".git", "--network", "full")
        self.assertIn("answer 200", text)
        self.assertNotIn("[core]", text)


class Statuses(JailCase):
    def test_the_status_is_the_commands(self):
        for status in (0, 1, 42, 125, 126, 127):
            run = self.person("--", SH, "-c", f"echo begin; exit {status}")
            self.assertEqual((run.status, run.stdout), (status, b"begin\n"), run)
            self.assertEqual(run.outcome["class"], "exited")

    def test_a_signal_is_128_and_its_number(self):
        run = self.person("--", SH, "-c", "kill -TERM $$")
        self.assertEqual(run.status, 143, run)

    def test_a_missing_program_is_127_and_a_forbidden_one_126(self):
        # cases.md 109
        plain = self.file("ws/plain")
        lost = self.program("ws/lost", text="#!/no/such/interpreter\n")
        rows = [("no-such", 127, "exec"), ("./absent", 127, "exec"), (plain, 126, "exec"), (lost, 126, "exec")]
        for program, status, kind in rows:
            with self.subTest(program=program):
                run = self.person("--", program)
                self.assertEqual((run.status, run.outcome["class"]), (status, kind), run)
                self.assertEqual(run.report["code"], 126)

    def test_a_jail_that_is_not_set_up_is_125_and_says_that_nothing_ran(self):
        mark = self.path("ws/mark")
        command = ["--", SH, "-c", f"echo x >{mark}"]
        rows = [
            ["--protect", f"/usr/share/{NEW}"],
            ["--write", self.path("gone")],
            ["--workspace", "/"],
            ["--memory-bytes", "1000000000"],
            ["--policy", self.file("policy.json", text="{}")],
            ["--keep-caps", "CAP_NO_SUCH"],
            ["--mount", self.path("gone")],
        ]
        for options in rows:
            with self.subTest(options=options):
                run = self.person(*options, *command)
                if options[0] == "--memory-bytes" and run.status == 0:
                    os.unlink(mark)  # a machine with control groups
                    continue
                self.assertEqual(run.status, 125, run)
                self.assertEqual(run.outcome["class"], "setup", run)
                self.assertIn(b"the command was not run", run.stderr)
                self.assertFalse(os.path.exists(mark))
        self.assertEqual(self.person(*command).status, 0)
        self.assertTrue(os.path.exists(mark))

    def test_a_machine_without_bubblewrap_refuses_unless_told_that_best_effort_will_do(self):
        env = {**os.environ, "PATH": self.directory("nothing")}
        mark = self.path("ws/mark")
        command = ["--", SH, "-c", f"echo x >{mark}"]
        run = self.person(*command, env=env)
        self.assertEqual(run.status, 125, run)
        self.assertRegex(run.stderr, rb"not held: bwrap .*, mounts\n")
        self.assertFalse(os.path.exists(mark))
        run = self.person("--demand", "best-effort", *command, env=env)
        self.assertEqual(run.status, 0, run)
        self.assertTrue(os.path.exists(mark))
        self.assertTrue([e for e in run.enforcement if e.startswith("skip:bwrap: ")])

    def test_a_launcher_that_fails_is_125(self):
        # cases.md 110
        shutil.copy2("/bin/false", os.path.join(self.directory("fake"), "bwrap"))
        mark = self.path("ws/mark")
        run = self.person("--", SH, "-c", f"echo x >{mark}", env=path_with(self.path("fake")))
        self.assertEqual((run.status, run.outcome["class"]), (125, "setup"), run)
        self.assertFalse(os.path.exists(mark))

    def test_a_directory_that_is_not_there_is_126(self):
        run = self.person("--cwd", "missing", "--", "/bin/true")
        self.assertEqual((run.status, run.outcome["class"]), (126, "setup"), run)
        self.assertIn(self.path("ws/missing"), run.outcome["detail"])

    def test_a_usage_error_is_2_and_runs_nothing(self):
        mark = self.path("ws/mark")
        command = ["--", SH, "-c", f"echo x >{mark}"]
        policy = self.file("policy.json", text="{}")
        for options in (["--no-such"], ["--network", "some"], ["--demand", "x"], ["--policy", policy, "--protect", "x"]):
            run = self.person(*options, *command)
            self.assertEqual((run.status, run.report), (2, None), run)
        self.assertEqual(self.person().status, 2)
        self.assertFalse(os.path.exists(mark))

    def test_a_workspace_of_somebody_else_is_explained(self):
        other = "/usr/share" if os.getuid() != 0 else self.directory("other")
        if os.getuid() == 0:
            os.chown(other, 65534, 65534)
        run = self.person("--", "/bin/true", cwd=other)
        self.assertEqual(run.status, 125, run)
        self.assertIn(b"run as that user", run.stderr)


class Streams(JailCase):
    def test_stdin_goes_in_and_both_streams_come_out_whole(self):
        data = os.urandom(300_000)
        run = self.person("--", SH, "-c", "cat; head -c 200000 /dev/zero >&2", stdin=data)
        self.assertEqual(run.status, 0)
        self.assertTrue(run.stdout == data, "stdin did not come back whole")
        self.assertEqual(run.stderr, b"\0" * 200_000)

    def test_an_empty_stdin_ends_at_once(self):
        run = self.person("--", "/bin/cat")
        self.assertEqual((run.status, run.stdout), (0, b""))

    def test_standard_streams_that_are_closed_stand_in_for_nothing_else(self):
        words = f"run --report=none -- {SH} -c 'cat; echo out; echo err >&2; ls -1 /proc/self/fd | wc -l'"
        rows = [("<&-", b"out\n4\n", b"err\n"), (">&-", b"", b"err\n"), ("2>&-", b"out\n4\n", b"")]
        for closed, out, err in rows:
            with self.subTest(closed=closed):
                done = subprocess.run(
                    [SH, "-c", f'"$0" {words} {closed}', client.helper_path()],
                    cwd=self.ws,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=LIMIT,
                )
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, out, err))

    def test_output_that_cannot_be_written_is_not_lost_in_silence(self):
        done = subprocess.run(
            [SH, "-c", '"$0" run --report=none -- /bin/echo text >/dev/full', client.helper_path()],
            cwd=self.ws,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
        )
        self.assertIn(b"No space left on device", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_output_comes_while_the_command_runs(self):
        with self.started("--", SH, "-c", "echo early; read line; echo $line") as process:
            self.assertEqual(process.stdout.readline(), b"early\n")
            self.assertEqual(process.communicate(b"late\n", timeout=LIMIT)[0], b"late\n")
            self.assertEqual(process.returncode, 0)

    def test_the_output_cap_cuts_and_the_command_goes_on(self):
        run = self.person("--output-bytes", "10", "--", SH, "-c", "echo 0123456789abc; echo x >done; exit 3")
        self.assertEqual((run.status, run.stdout), (3, b"0123456789"))
        self.assertTrue(run.report["stdout_truncated"])
        self.assertTrue(os.path.exists(self.path("ws/done")))

    def test_a_reader_that_leaves_ends_the_command_as_in_any_pipe(self):
        with self.started("--", "/usr/bin/yes") as process:
            self.assertEqual(process.stdout.readline(), b"y\n")
            process.stdout.close()
            self.assertEqual(process.wait(LIMIT), 141)

    def test_the_human_report_is_short_and_names_what_was_not_held(self):
        network = {"mode": "proxy", "allow": [], "proxy": "x"}
        policy = self.file("policy.json", text=json.dumps(self.policy(network=network)))
        done = subprocess.run(
            [client.helper_path(), "run", "--demand", "best-effort", "--policy", policy, "--", "/bin/true"],
            cwd=self.ws,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        lines = done.stderr.splitlines()
        self.assertLess(len(lines), 20)
        self.assertFalse([line for line in lines if not line.startswith("loom-exec: ")], lines)
        self.assertTrue([line for line in lines if "NOT held" in line and "network-proxy" in line], lines)
        self.assertTrue([line for line in lines if "Landlock" in line], lines)

    def test_a_report_file_does_not_follow_a_link_that_the_command_made(self):
        target = self.file("out/target", text="untouched\n")
        report = self.link(target, "ws/report")
        for script in ("exit 3", 'rm -f report; ln -s "$0" report; exit 3'):
            done = subprocess.run(
                [client.helper_path(), "run", "--report=json", f"--report-file={report}"]
                + ["--", SH, "-c", script, target],
                cwd=self.ws,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT,
            )
            self.assertEqual((done.returncode, done.stderr), (3, b""), done)
            self.assertTrue(stat.S_ISREG(os.lstat(report).st_mode))
            self.assertEqual(json.loads(self.text(report))["code"], 3)
            self.assertEqual(self.text(target), "untouched\n")

    def started(self, *words):
        process = subprocess.Popen(
            [client.helper_path(), "run", "--report=none", *words],
            cwd=self.ws,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.kill)
        return process


class Interrupts(JailCase):
    def interrupted(self, script, *signals):
        report = self.path("report.json")
        with subprocess.Popen(
            [client.helper_path(), "run", "--report=json", f"--report-file={report}", "--", SH, "-c", script],
            cwd=self.ws,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            self.assertEqual(process.stdout.readline(), b"up\n")
            began = time.monotonic()
            for number in signals:
                process.send_signal(number)
                time.sleep(0.1)
            status = process.wait(LIMIT)
            took = time.monotonic() - began
            rest = process.stdout.read()
        return status, took, rest, json.loads(self.text(report))

    def test_an_interrupt_is_a_cancel(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            status, took, rest, report = self.interrupted("echo up; sleep 60", number)
            self.assertEqual((status, rest), (143, b""))
            self.assertLess(took, 2)
            self.assertTrue(report["cancelled"])
            self.assertEqual(report["outcome"]["class"], "cancelled")
            self.assertFalse([e for e in report["enforcement"] if e.startswith("skip:")])

    def test_a_command_with_a_handler_ends_as_it_likes(self):
        script = "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done"
        status, took, rest, report = self.interrupted(script, signal.SIGINT)
        self.assertEqual((status, rest), (7, b"bye\n"))
        self.assertEqual(report["outcome"]["class"], "cancelled")

    def test_at_a_terminal_the_command_reads_nothing_and_control_c_is_a_cancel(self):
        pid, terminal = pty.fork()
        if pid == 0:
            script = "cat; trap 'exit 9' TERM; echo up; while :; do sleep 0.05; done"
            os.chdir(self.ws)
            os.execv(client.helper_path(), ["loom-exec", "run", "--report=none", "--", SH, "-c", script])
        self.addCleanup(os.close, terminal)
        seen = b""
        while b"up" not in seen:
            seen += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        self.assertTrue(client.wait_until(lambda: self.ended(pid), 5))
        self.assertEqual(self.status, 9)

    def ended(self, pid):
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            self.status = os.waitstatus_to_exitcode(status)
        return bool(done)

    def test_a_second_interrupt_does_not_ask(self):
        script = "trap '' TERM; echo up; while :; do sleep 0.05; done"
        status, took, _, report = self.interrupted(script, signal.SIGINT, signal.SIGINT)
        self.assertEqual(status, 137)
        self.assertLess(took, 1.8)
        self.assertTrue(report["cancelled"])


class Options(JailCase):
    def test_the_workspace_can_be_written_and_the_home_is_the_scratch(self):
        run = self.person("--", SH, "-c", 'echo x >new; echo "$HOME $PWD"; cd; echo y >z; pwd', env=path_with())
        self.assertEqual(run.stdout.decode(), f"/tmp {self.ws}\n/tmp\n", run)
        self.assertTrue(os.path.exists(self.path("ws/new")))

    def test_reading_and_mounting_give_what_they_say(self):
        readable, mounted, both = self.file("r/f"), self.file("m/f"), self.file("b/f")
        hidden = self.file("h/f")
        script = (
            'for f; do cat "$f" >/dev/null 2>&1 && echo "read $f"; '
            'echo x 2>/dev/null >>"$f" && echo "wrote $f"; done'
        )
        options = ["--read", self.path("r"), "--mount", self.path("m"), "--mount", self.path("b") + ":rw"]
        run = self.person(*options, "--", SH, "-c", script, "sh", readable, mounted, both, hidden)
        self.assertEqual(
            run.stdout.decode().splitlines(),
            [f"read {readable}", f"read {mounted}", f"read {both}", f"wrote {both}"],
            run,
        )

    def test_every_spelling_of_a_protected_path_is_the_path(self):
        secret = self.file("ws/.env")
        self.directory("ws/sub")
        spellings = (".env", "./.env", "sub/../.env", ".//.env", self.ws + "/../ws/.env", secret)
        for spelling in spellings:
            with self.subTest(spelling=spelling):
                script = 'echo begin; cat .env 2>/dev/null || echo hidden'
                run = self.person("--protect", spelling, "--", SH, "-c", script)
                self.assertEqual(run.stdout, b"begin\nhidden\n", run)
        self.assertEqual(self.person("--", "/bin/cat", ".env").stdout, b"S3CRET\n")

    def test_variables_pass_when_they_are_named_and_not_otherwise(self):
        env = {**path_with(), "SECRET": "s", "KEPT": "k", "LANG": "C.UTF-8", "HOME": "/nowhere"}
        run = self.person("--env", "KEPT", "--env", "NEW=a=b", "--", "/usr/bin/env", env=env)
        lines = sorted(run.stdout.decode().splitlines())
        lines = [line for line in lines if not line.startswith(("PATH=", "TERM=", "COLUMNS=", "TZ=", "LC_"))]
        self.assertEqual(
            lines, ["HOME=/tmp", "KEPT=k", "LANG=C.UTF-8", "LOOM_SCRATCH_DIR=/tmp", "NEW=a=b"]
        )
        run = self.person("--env", "HOME=/here", "--", SH, "-c", 'echo "$HOME"')
        self.assertEqual(run.stdout, b"/here\n")

    def test_limits_hold(self):
        run = self.person("--wall-seconds", "1", "--", SH, "-c", "echo begin; sleep 60")
        self.assertEqual((run.stdout, run.outcome["class"], run.report["timed_out"]), (b"begin\n", "timeout", True))
        run = self.person("--file-bytes", "1000", "--", "/bin/dd", "if=/dev/zero", "of=f", "bs=2000", "count=1")
        self.assertEqual(os.stat(self.path("ws/f")).st_size, 1000, run)

    def test_a_policy_file_means_the_same_in_both_encodings(self):
        secret = self.file("ws/.env")
        policy = self.policy(protected=[secret])
        text, binary = self.file("policy.json", text=json.dumps(policy)), self.path("policy.bin")
        with open(binary, "wb") as file:
            file.write(pack(policy))
        runs = [
            self.person("--policy", name, "--", SH, "-c", 'echo begin; cat "$0" || true', secret)
            for name in (text, binary)
        ]
        for run in runs:
            self.assertEqual((run.status, run.stdout), (0, b"begin\n"), run)
        self.assertEqual(runs[0].enforcement, runs[1].enforcement)

    def test_a_command_sees_no_descriptor_of_the_caller(self):
        secret = self.file("out/secret")
        with open(secret, "rb") as file:
            done = subprocess.run(
                [client.helper_path(), "run", "--report=none", "--", "/bin/ls", "/proc/self/fd"],
                cwd=self.ws,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                pass_fds=[file.fileno()],
            )
        self.assertEqual(done.stdout.split(), [b"0", b"1", b"2", b"3"])


class Plan(JailCase):
    def plan(self, *words, env=None):
        return subprocess.run(
            [client.helper_path(), "plan", *words],
            cwd=self.ws,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=env,
            timeout=LIMIT,
        )

    def test_a_plan_shows_view_audit_and_arguments_and_starts_no_command(self):
        secret, mark = self.file("ws/.env"), self.path("ws/mark")
        done = self.plan("--protect", ".env", "--", SH, "-c", f"echo x >{mark}")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in (f"--ro-bind /dev/null {secret}", f"--bind {self.ws} {self.ws}", "mounts:ro=0,rw=1,mask=1"):
            self.assertIn(words, done.stdout)
        self.assertRegex(done.stdout, r"plan=[0-9a-f]{16}")
        self.assertFalse(os.path.exists(mark))
        run = self.person("--protect", ".env", "--", SH, "-c", f"echo x >{mark}")
        self.assertTrue(os.path.exists(mark))
        entry = [e for e in run.enforcement if e.startswith("mounts:")][0]
        self.assertIn(entry, done.stdout)

    def test_a_line_feed_in_a_name_is_no_end_of_a_value(self):
        place = self.path("ws/two\nlines")
        os.mkdir(place)
        done = self.plan("--mount", place, "--", "/bin/true")
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = place.replace("\n", "\\x0a")
        self.assertRegex(done.stdout, rf"(?m)^  --ro-bind\S* \S+ {re.escape(shown)}$")
        self.assertNotRegex(done.stdout, r"(?m)^\s*lines")

    def test_a_plan_that_would_be_refused_says_so(self):
        absent = f"/usr/share/{NEW}"
        done = self.plan("--protect", absent, "--", "/bin/true")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(absent, done.stderr)
        self.assertEqual(os.listdir(self.ws), [])


if __name__ == "__main__":
    unittest.main()
