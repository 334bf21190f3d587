"""The report file lies where the command can write, and is nevertheless ours."""

import json
import threading

from jail import *

FORGED = '{"code":0,"enforcement":["all is well"]}'
REAL = {"code", "signal", "enforcement", "outcome", "wall_ms"}


class ReportFileCase(JailCase):
    def run_with(self, report, script="exit 3", cwd=None, **how):
        return subprocess.run(
            [client.helper_path(), "run", "--report=json", f"--report-file={report}", "--", SH, "-c", script],
            cwd=cwd or self.ws,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LIMIT,
            **how,
        )

    def assertReal(self, text):
        """Exactly one report of a run that ended with 3, and nothing beside it."""
        self.assertEqual(text.count("\n"), 1, text[:300])
        self.assertTrue(text.endswith("\n"))
        report = json.loads(text)
        self.assertLessEqual(REAL, set(report))
        self.assertEqual((report["code"], report["outcome"]["class"]), (3, "exited"))
        self.assertNotIn("all is well", report["enforcement"])


class InTheWorkspace(ReportFileCase):
    def attempt(self, script, report="report"):
        done = self.run_with(report, f"FORGED='{FORGED}'\n{script}\nexit 3")
        self.assertEqual((done.returncode, done.stderr), (3, b""), done)
        path = self.path("ws", report)
        self.assertTrue(stat.S_ISREG(os.lstat(path).st_mode))
        self.assertReal(self.text(path))
        left = [name for name in os.listdir(self.ws) if name.startswith(".loom-exec")]
        self.assertEqual(left, [])

    def test_a_report_arrives(self):
        self.attempt(":")
        self.attempt(":")  # over an earlier one

    def test_a_report_is_not_forged_by_a_command_that_makes_the_file_anew(self):
        self.attempt('rm -f report; echo "$FORGED" >report')
        self.attempt('rm -f report; echo "$FORGED" >new; mv new report')

    def test_a_report_is_not_forged_by_a_longer_file(self):
        self.attempt('echo "$FORGED" >report; head -c 100000 /dev/zero >>report')
        self.attempt('rm -f report; yes "$FORGED" | head -n 10000 >report')

    def test_a_report_is_not_forged_by_a_descriptor_that_stays_open(self):
        self.attempt('exec 9>>report; (sleep 1; echo "$FORGED" >&9) & echo "$FORGED" >&9')

    def test_a_report_replaces_a_link_and_leaves_its_target(self):
        target = self.file("ws/target", text="untouched\n")
        strange = self.file("out/target", text="untouched\n")
        self.attempt(f"rm -f report; ln -s {target} report")
        self.attempt(f"rm -f report; ln -s {strange} report")
        self.attempt("rm -f report; ln -s report report")
        self.attempt(f"rm -f report; ln {target} report")
        self.assertEqual([self.text(target), self.text(strange)], ["untouched\n"] * 2)

    def test_a_report_is_not_swallowed_by_a_pipe_the_command_made(self):
        self.attempt("rm -f report; mkfifo report")

    def test_a_directory_in_its_place_is_said_and_nothing_is_put_into_it(self):
        done = self.run_with("report", "rm -f report; mkdir report; exit 3")
        self.assertEqual(done.returncode, 3, done)
        self.assertIn(b"--report-file report: Is a directory", done.stderr)
        self.assertEqual(os.listdir(self.path("ws/report")), [])
        self.assertEqual(os.listdir(self.ws), ["report"])

    def test_a_report_below_a_directory_that_was_exchanged_is_there_or_is_missed_aloud(self):
        self.directory("ws/sub")
        script = f"mv sub away; mkdir sub; echo '{FORGED}' >sub/report; exit 3"
        done = self.run_with("sub/report", script)
        self.assertEqual(done.returncode, 3, done)
        if FORGED in self.text(self.path("ws/sub/report")):
            self.assertIn(b"--report-file", done.stderr)
        else:
            self.assertReal(self.text(self.path("ws/sub/report")))
        self.directory("ws/other")
        self.attempt("echo \"$FORGED\" >other/report", "other/report")


class Streams(ReportFileCase):
    def test_a_descriptor_of_the_caller_gets_the_report(self):
        for form in ("/dev/fd/{}", "/proc/self/fd/{}"):
            ours, theirs = os.pipe()
            with os.fdopen(ours, encoding="utf-8") as reader:
                done = self.run_with(form.format(theirs), pass_fds=[theirs])
                os.close(theirs)
                self.assertEqual((done.returncode, done.stderr), (3, b""), done)
                self.assertReal(reader.read())

    def test_a_descriptor_that_is_not_open_is_refused_before_anything_runs(self):
        done = self.run_with("/dev/fd/77", "echo x >mark; exit 3")
        self.assertEqual(done.returncode, 125, done)
        self.assertIn(b"/dev/fd/77", done.stderr)
        self.assertEqual(os.listdir(self.ws), [])

    def test_a_descriptor_for_the_report_is_not_the_commands(self):
        ours, theirs = os.pipe()
        with os.fdopen(ours, encoding="utf-8") as reader:
            script = f"echo forged >&{theirs} || true; exit 3"
            done = self.run_with(f"/dev/fd/{theirs}", script, pass_fds=[theirs])
            os.close(theirs)
            self.assertEqual(done.returncode, 3, done)
            self.assertReal(reader.read())

    def test_a_named_pipe_gets_the_report_and_stays_a_pipe(self):
        fifo, texts = self.path("fifo"), []
        os.mkfifo(fifo)
        reader = threading.Thread(target=lambda: texts.append(self.text(fifo)), daemon=True)
        reader.start()
        # Our side opens without waiting, so the reader has to be there first.
        self.assertTrue(client.wait_until(lambda: self.has_reader(fifo), 10))
        done = self.run_with(fifo)
        reader.join(10)
        self.assertEqual((done.returncode, done.stderr), (3, b""), done)
        self.assertReal("".join(texts))
        self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))

    @staticmethod
    def has_reader(fifo):
        """Without opening the pipe, whose reader would then see its end."""
        for name in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{name}/stat", encoding="ascii", errors="replace") as file:
                state = file.read().rpartition(")")[2].split()[0]
            if int(name) != os.getpid() and state == "S":
                return True
        return False


if __name__ == "__main__":
    unittest.main()
