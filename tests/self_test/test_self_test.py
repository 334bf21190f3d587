"""`loom-exec --self-test` for real: what it says here, and that it cannot be made to say more."""

import glob
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import check_self_test as check  # noqa: E402

LIMIT = 180  # seconds after which a self-test counts as hung
PLACE = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")
NOBODY = 65534
PATH = "/usr/local/bin:/usr/bin:/bin"
EVERYWHERE = [
    "env not in allowlist withheld",
    "output flood truncated at cap",
    "orphaned grandchild reaped via pgroup",
]
CEILINGS = ["fork bomb capped by pids limit", "memory ceiling stops the allocator"]


def helper():
    program = os.environ.get("LOOM_EXEC", "")
    if not os.access(program, os.X_OK):
        raise AssertionError("LOOM_EXEC must name the helper, in a tree with its backends")
    return program


def processes_with(word):
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if word.encode() in file.read():
                    found.append(path)
        except OSError:
            pass
    return found


class SelfTestCase(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if os.environ.get("LOOM_SCRATCH_DIR"):
            raise unittest.SkipTest("inside a jail of our own kind: the self-test would not run")

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="loom-self-", dir=PLACE)
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        # Where probe directories are made, unless a test wants them elsewhere: empty again at the end.
        self.fixtures = os.path.join(self.place, "fixtures")
        os.mkdir(self.fixtures)
        self.addCleanup(lambda: self.assertEqual(os.listdir(self.fixtures), []))

    def environment(self, **given):
        kept = {name: os.environ[name] for name in ("LOOM_CGROUP_BASE",) if name in os.environ}
        return {**kept, "PATH": PATH, "TMPDIR": self.fixtures, **given}

    def start(self, *words, **given):
        """A self-test whose lines are read as they come; stopped at the end, if it has not ended."""
        process = subprocess.Popen([helper(), "--self-test", *words], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, encoding="utf-8", env=self.environment(**given))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait, LIMIT)
        self.addCleanup(process.terminate)
        return process

    def run_helper(self, *words, program=None, **given):
        return subprocess.run(
            [program or helper(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=self.environment(**given),
            timeout=LIMIT,
        )

    def self_test(self, *words, **given):
        """One self-test; its output obeys the grammar and agrees with its exit status."""
        done = self.run_helper("--self-test", *words, **given)
        self.assertEqual(done.stderr, "")
        output = check.Output(done.stdout)
        self.assertEqual(done.returncode, output.status, done.stdout)
        return output

    def as_declared(self, output, *kinds):
        paths = [os.path.join(HERE, "expected", f"{kind}.txt") for kind in ("delegated", *kinds)]
        declared = check.merge([check.read_declaration(path) for path in paths])
        self.assertEqual(check.problems(output, declared), [])

    def kinds(self, features):
        """What this machine lacks, by its own look and, for the kernel, by the helper's features."""
        found = []
        if not all(shutil.which(name, path=PATH) for name in ("erl", "erlc")):
            found.append("no-erlang")
        if "cgroup-v2" not in features:
            found.append("no-cgroup")
        if "landlock" not in features:
            found.append("no-landlock")
        return found

    def installation_in(self, directory):
        """The helper once more, with what it needs, in a place of another kind."""
        prefix = os.path.dirname(os.path.dirname(helper()))
        for name in ("bin/loom-exec", "lib/loom-exec", "libexec/loom-exec"):
            source, target = os.path.join(prefix, name), os.path.join(directory, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.isdir(source):
                shutil.copytree(source, target)
            else:
                shutil.copy2(source, target)
        return os.path.join(directory, "bin/loom-exec")

    def bwrap_that_is(self, program):
        """A directory for PATH whose `bwrap` is that program."""
        directory = os.path.join(self.place, "fake")
        os.mkdir(directory)
        shutil.copy2(program, os.path.join(directory, "bwrap"))
        os.chmod(os.path.join(directory, "bwrap"), 0o755)
        return directory


class HereTest(SelfTestCase):
    # cases.md 234, 237, 241
    def test_every_probe_is_as_declared_for_this_machine(self):
        # Told to make its fixtures where every jail would hide them, and started from a place that
        # nobody else may look into; if by the superuser, then one where only privilege leads.
        os.chmod(self.place, 0o700)
        program = self.installation_in(self.place)
        if os.getuid() == 0:
            os.chown(self.place, NOBODY, NOBODY)
        output = self.self_test(program=program, TMPDIR="/tmp")
        os.chown(self.place, os.getuid(), os.getgid())
        if "bwrap" not in output.features:
            self.skipTest(f"this machine has no bubblewrap: {output.features}")
        self.as_declared(output, *self.kinds(output.features))
        for name in EVERYWHERE:
            self.assertEqual(output.verdicts[name][0], "ENFORCED", output.verdicts[name])

    # cases.md 234
    def test_without_bubblewrap_what_is_left_still_holds(self):
        output = self.self_test(PATH="/nonexistent")
        self.assertIn("degraded", output.features)
        alone = "no-bubblewrap" if os.getuid() == 0 else "no-bubblewrap-user"
        self.as_declared(output, alone, *self.kinds(output.features))
        for name in EVERYWHERE:
            self.assertEqual(output.verdicts[name][0], "ENFORCED", output.verdicts[name])
        masked = output.verdicts["protected path masked from reads and writes"]
        self.assertEqual(masked[0], "SKIPPED")
        self.assertIn("bwrap", masked[1])

    # cases.md 239
    def test_a_backend_without_a_jail_is_a_platform_without_one(self):
        done = self.run_helper("--self-test", "--backend", "unsupported")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        output = check.Output(done.stdout)
        self.assertEqual((output.not_run, output.verdicts), ("no jail is built for the backend in use", {}))
        self.assertIn("\nRESULT: UNSUPPORTED PLATFORM (", done.stdout)
        self.assertNotIn("RESULT: OK", done.stdout)
        self.assertNotIn("environment", done.stdout.split("RESULT: ")[1])

    def test_a_verdict_is_printed_as_soon_as_it_is_known(self):
        process = self.start()
        self.assertTrue(process.stdout.readline().endswith("self-test\n"))
        while not process.stdout.readline().startswith(("  ENFORCED", "  SKIPPED", "  FAILED")):
            self.assertIsNone(process.poll())
        self.assertIsNone(process.poll(), "the first verdict came with the last")

    def test_an_interrupted_self_test_says_so_and_leaves_nothing_behind(self):
        process = self.start()
        lines = []
        while not lines or not lines[-1].startswith("  ENFORCED"):
            lines.append(process.stdout.readline())
            self.assertTrue(lines[-1], "it ended before a probe was enforced")
        process.send_signal(signal.SIGTERM)
        lines += process.stdout.readlines()
        self.assertEqual(process.wait(LIMIT), 1)
        output = check.Output("".join(lines))
        self.assertTrue(output.result.startswith("RESULT: FAIL (interrupted"), output.result)
        deadline = time.monotonic() + 10
        while processes_with(self.fixtures) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(processes_with(self.fixtures), [])


    # D4: the features are what the runs will have, not what a hello would list.
    def test_a_bubblewrap_that_says_it_builds_no_jail_is_as_good_as_none(self):
        careless = os.environ.get("LOOM_CARELESS_BWRAP", "")
        self.assertTrue(os.access(careless, os.X_OK), "LOOM_CARELESS_BWRAP must name that program")
        directory = self.bwrap_that_is(careless)
        with open(os.path.join(directory, "unknown"), "w", encoding="utf-8") as file:
            file.write("--die-with-parent")
        output = self.self_test(PATH=f"{directory}:{PATH}")
        self.assertIn("degraded", output.features)
        self.assertNotIn("bwrap", output.features)
        alone = "no-bubblewrap" if os.getuid() == 0 else "no-bubblewrap-user"
        self.as_declared(output, alone, *self.kinds(output.features))
        masked = output.verdicts["protected path masked from reads and writes"]
        self.assertEqual(masked[0], "SKIPPED")
        self.assertIn("bubblewrap builds no jail here: Unknown option --die-with-parent", masked[1])


class BrokenLauncherTest(SelfTestCase):
    def enforces_nothing(self, directory, *starts):
        output = self.self_test(PATH=f"{directory}:{PATH}")
        self.assertIn("bwrap", output.features, "the launcher was not taken for one")
        for name, (word, reason) in output.verdicts.items():
            if name in CEILINGS and "cgroup-v2" not in output.features:
                self.assertEqual(word, "SKIPPED", name)
                continue
            self.assertEqual(word, "FAILED", name)
            self.assertTrue(reason.startswith(starts), f"{name}: {reason}")
        return output

    # cases.md 235
    def test_a_launcher_that_exits_1_enforces_nothing(self):
        self.enforces_nothing(self.bwrap_that_is("/bin/false"), "setup: ")

    # cases.md 235
    def test_a_launcher_that_exits_0_enforces_nothing(self):
        self.enforces_nothing(self.bwrap_that_is("/bin/true"), "setup: ")

    # cases.md 235
    def test_a_launcher_that_cannot_be_started_enforces_nothing(self):
        script = os.path.join(self.place, "script")
        with open(script, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 1\n")
        self.enforces_nothing(self.bwrap_that_is(script), "spawn: ")

    def test_a_launcher_that_builds_no_jail_enforces_nothing(self):
        careless = os.environ.get("LOOM_CARELESS_BWRAP", "")
        self.assertTrue(os.access(careless, os.X_OK), "LOOM_CARELESS_BWRAP must name that program")
        directory = self.bwrap_that_is(careless)
        with open(os.path.join(directory, "bare"), "w", encoding="utf-8"):
            pass
        self.enforces_nothing(directory, "setup: ")
        self.assertTrue(os.path.exists(os.path.join(directory, "started")), "it was never started")


class GateTest(SelfTestCase):
    def not_run(self, done):
        output = check.Output(done.stdout)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(output.result, "RESULT: NOT RUN (not a pass)")
        for never in ("RESULT: OK", "skips come from the environment"):
            self.assertNotIn(never, done.stdout)
        return output

    def refused_directory(self):
        """A directory in which this user is not permitted to make another."""
        for candidate in ("/sys/kernel", "/usr"):
            try:
                os.rmdir(tempfile.mkdtemp(prefix="loom-refused-", dir=candidate))
            except PermissionError:
                return candidate
            except OSError:
                pass
        self.skipTest("this user may make directories everywhere")
        return None

    # cases.md 238
    def test_where_no_directory_may_be_made_nothing_is_run(self):
        place = self.refused_directory()
        output = self.not_run(self.run_helper("--self-test", TMPDIR=place))
        self.assertIn("probably inside a sandbox", output.not_run)
        self.assertIn(place, output.not_run)

    # cases.md 238
    def test_another_error_of_the_place_is_each_probes_own(self):
        """A place whose path leaves no room for a directory's name below it."""
        deep = self.place
        here = os.open(deep, os.O_PATH)
        while len(deep) < 4085:
            name = "d" * min(200, 4090 - len(deep) - 1)
            os.mkdir(name, dir_fd=here)
            below = os.open(name, os.O_PATH, dir_fd=here)
            os.close(here)
            here, deep = below, f"{deep}/{name}"
        os.close(here)
        output = self.self_test(TMPDIR=deep)
        self.assertIsNone(output.not_run)
        word, reason = output.verdicts["env not in allowlist withheld"]
        self.assertEqual(word, "FAILED", reason)
        self.assertTrue(reason.startswith(deep[:200]), reason)

    def test_a_place_that_is_not_there_is_passed_over(self):
        output = self.self_test(TMPDIR=os.path.join(self.place, "missing"))
        self.assertEqual(output.verdicts["env not in allowlist withheld"][0], "ENFORCED")

    def test_inside_a_jail_of_our_own_nothing_is_run(self):
        if shutil.which("bwrap", path=PATH) is None:
            self.skipTest("this machine has no bubblewrap")
        prefix = os.path.dirname(os.path.dirname(helper()))
        for network in ("off", "full"):
            done = self.run_helper("run", "--report=none", "--demand=platform", "--workspace", self.place,
                                   "--read", prefix, "--network", network, "--", helper(), "--self-test")
            output = self.not_run(done)
            self.assertTrue(output.not_run.startswith("inside a jail already: "), output.not_run)
            self.assertIn("system-call filter", output.not_run)  # the deny-set, in every network mode


class CommandLineTest(SelfTestCase):
    def test_anything_but_the_two_options_is_a_usage_error(self):
        for words in (["--nope"], ["extra"], ["--backend"], ["--cgroup-base"], ["--allow-unenforced"]):
            done = self.run_helper("--self-test", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), words)
            self.assertIn(f'"{words[0]}"', done.stderr)
            self.assertIn("usage: ", done.stderr)

    def test_a_backend_that_is_not_there_is_said_on_stderr(self):
        done = self.run_helper("--self-test", "--backend", "nothing-of-that-name")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("nothing-of-that-name", done.stderr)

    def test_a_base_that_is_no_control_group_is_the_reason_of_a_skip(self):
        for words, given in ((["--cgroup-base", self.place], {}), ([], {"LOOM_CGROUP_BASE": f" {self.place}\n"})):
            process = self.start("--backend", "bwrap", *words, **given)
            line = ""
            while CEILINGS[0] not in line:
                line = process.stdout.readline()
                self.assertTrue(line, "the probe did not come")
            process.terminate()
            process.stdout.readlines()
            self.assertTrue(line.startswith("  SKIPPED   "), line)
            self.assertIn(self.place, line)

    def test_a_helper_that_cannot_find_itself_says_so(self):
        program = self.installation_in(self.place)
        with open(program, "rb") as file:
            os.unlink(program)
            done = subprocess.run([f"/proc/self/fd/{file.fileno()}", "--self-test"], pass_fds=[file.fileno()],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=self.environment(), timeout=LIMIT)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"own executable", done.stderr)

    def test_a_reader_that_is_gone_is_no_pass(self):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([helper(), "--self-test", "--backend", "unsupported"], stdin=subprocess.DEVNULL,
                              stdout=writing, stderr=subprocess.PIPE, env=self.environment(), timeout=LIMIT)
        os.close(writing)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"could not be written", done.stderr)


class ProbeModeTest(SelfTestCase):
    def mode(self, *words, **how):
        done = subprocess.run([helper(), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env={}, timeout=LIMIT, **how)
        self.assertEqual(done.stderr, b"")
        return done.stdout, done.returncode

    def test_the_socket_probe_tells_a_created_socket_from_a_denied_one(self):
        self.assertEqual(self.mode("--probe-socket", "--ignored", "x"), (b"socket-created\n", 0))
        for network, line, status in (("full", "socket-created\n", 0), ("off", "socket-denied-permission\n", 1)):
            prefix = os.path.dirname(os.path.dirname(helper()))
            done = self.run_helper("run", "--report=none", "--demand=best-effort", "--workspace", self.place,
                                   "--read", prefix, "--network", network, "--", helper(), "--probe-socket")
            self.assertEqual((done.stdout, done.returncode), (line, status), done.stderr)

    def test_the_setsid_probe_leaves_its_session_or_says_that_it_cannot(self):
        self.assertEqual(self.mode("--probe-setsid", "ignored", start_new_session=True), (b"setsid-denied\n", 1))
        process = subprocess.Popen([helper(), "--probe-setsid"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), b"setsid-ok\n")
        self.assertEqual(os.getsid(process.pid), process.pid)
        self.assertIsNone(process.poll())
        process.kill()
        process.wait(LIMIT)

    def test_the_fork_probe_starts_all_or_is_denied(self):
        self.assertEqual(self.mode("--probe-fork", "ignored"), (b"fork-all-started\n", 0))
        if os.getuid() != 0:  # the kernel asks nobody else
            mine = len([1 for p in glob.glob("/proc/[0-9]*") if os.path.exists(p) and os.stat(p).st_uid == os.getuid()])
            limit = mine + 30
            self.assertEqual(
                self.mode("--probe-fork", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))),
                (b"fork-denied-eagain\n", 1),
            )

    def test_the_hostile_program_reaches_what_nothing_keeps_it_from(self):
        for name in ("readable", "secret"):
            with open(os.path.join(self.place, name), "w", encoding="utf-8") as file:
                file.write(f"bytes of {name}\nsecond line\n")
        paths = [os.path.join(self.place, name) for name in ("readable", "writable", "secret", "victim")]
        out, status = self.mode("--probe-hostile", *paths, "1")  # nobody listens on port 1
        lines = out.decode().splitlines()
        self.assertEqual(status, 0)
        self.assertEqual(lines[:-2], ["hostile-loaded", "control-read-ok", "control-write-ok",
                                      "secret-read-SUCCEEDED:bytes of secret", "outside-write-SUCCEEDED"])
        self.assertEqual(lines[-2:], ["net-denied:Connection refused", "hostile-done"])
        self.assertTrue(os.path.exists(paths[3]))

    def test_an_unknown_probe_is_an_unknown_argument(self):
        done = self.run_helper("--probe-nothing")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn('unknown argument "--probe-nothing"', done.stderr)


if __name__ == "__main__":
    unittest.main()
