"""What the jail tests stand on: a broker's client, fixtures, and probes that prove themselves.

A probe prints `begin` before anything else, so that a jail that never started cannot pass, and tries
in one jail both what must fail and what must succeed. Paths may hold any bytes: surrogates stand for
what is not UTF-8, as everywhere in Python.
"""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "wire"))

import client  # noqa: E402  (found only after the path is set)
import msgpack  # noqa: E402

SH = "/bin/sh"
PYTHON = "/usr/bin/python3"
PLACE = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")  # never /tmp, which the scratch covers
NEW = f"loom-new-{os.getpid()}"  # a name that nobody has, for what must not appear on the host
LIMIT = 60  # seconds after which a whole run counts as hung

# argv: VERB PATH VERB PATH …; one line of yes or no for each, in order.
PROBE = r"""
try_read() { cat <"$1"; }
try_write() { test -e "$1" && echo changed >>"$1"; }
try_create() { test ! -e "$1" && echo made >"$1"; }
try_remove() { rm -r "$1"; }
try_mkdir() { mkdir "$1"; }
try_list() { test -n "$(ls -A "$1")"; }
try_see() { test -e "$1"; }
try_rename() { mv "$1" "$1.renamed"; }
try_run() { "$1"; }
echo begin
while test $# -gt 0; do
  if "try_$1" "$2" >/dev/null 2>&1 </dev/null; then echo yes; else echo no; fi
  shift 2
done
"""


def pack(value):
    return msgpack.packb(value, use_bin_type=True, unicode_errors="surrogateescape")


def inside_our_own_jail():
    return bool(os.environ.get("LOOM_SCRATCH_DIR"))


class Helper(client.Helper):
    """A helper whose broker may be as badly behaved as a real one: see `prepare`."""

    def __init__(self, policy, *args, prepare=None, **how):
        self.prepare = prepare  # runs in the child before it becomes the helper
        how.setdefault("features", ("exec-outcome-v1",))
        super().__init__(pack(policy), *args, **how)

    def spawn(self, policy, args, env):
        args = [*args, *os.environ.get("LOOM_HELPER_FLAGS", "").split()]
        handle, self.policy_path = tempfile.mkstemp(prefix="loom-jail-policy-")
        with os.fdopen(handle, "wb") as file:
            file.write(policy)
        self.process = subprocess.Popen(
            [SH, "-c", client.SPAWN_SCRIPT, "sh", client.helper_path(), self.policy_path, *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr_file,
            env=env,
            bufsize=0,
            close_fds=self.prepare is None,  # descriptors that `prepare` opened are to be seen
            preexec_fn=self.prepare,
        )
        self.to_helper = self.process.stdin.fileno()
        self.from_helper = self.process.stdout.fileno()
        os.set_blocking(self.to_helper, False)
        os.set_blocking(self.from_helper, False)
        client.Helper.live[self.pid] = self

    def send(self, kind, body, frame_id=None):
        frame_id = next(self.ids) if frame_id is None else frame_id
        payload = pack({"v": 1, "id": frame_id, "kind": kind, "body": body})
        self.send_all(client.frame_of(payload))
        return frame_id


class PersonRun:
    """What `loom-exec run` gave back: status, stdout, stderr, and its report as JSON."""

    def __init__(self, status, stdout, stderr, report):
        self.status, self.stdout, self.stderr, self.report = status, stdout, stderr, report

    @property
    def enforcement(self):
        return self.report["enforcement"]

    @property
    def outcome(self):
        return self.report["outcome"]

    def __repr__(self):
        return f"<status {self.status} {self.stdout!r} {self.stderr!r} {self.report!r}>"


class JailCase(unittest.TestCase):
    """A test with a place of its own: a writable root `ws`, a stranger `out` beside it."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if inside_our_own_jail():
            raise unittest.SkipTest("inside a jail of our own kind: bubblewrap cannot start here")
        client.helper_path()

    def setUp(self):
        self.addCleanup(self.end_helpers)
        self.place = tempfile.mkdtemp(prefix="loom-jail-", dir=PLACE)
        os.chmod(self.place, 0o711)
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.ws = self.directory("ws")
        self.out = self.directory("out")

    def end_helpers(self):
        for helper in list(client.Helper.live.values()):
            helper.close()

    # --- fixtures ----------------------------------------------------------------------------

    def path(self, *parts):
        return os.path.join(self.place, *parts)

    def directory(self, *parts):
        path = self.path(*parts)
        os.makedirs(path, exist_ok=True)
        return path

    def file(self, *parts, text="S3CRET\n", mode=0o644):
        path = self.path(*parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def program(self, *parts, text):
        return self.file(*parts, text=text, mode=0o755)

    def link(self, target, *parts):
        path = self.path(*parts)
        os.symlink(target, path)
        return path

    def careless_bwrap(self):
        """A directory whose `bwrap` loses the mask that `drop` names, and leaves `started` behind."""
        program = os.environ.get("LOOM_CARELESS_BWRAP", "")
        self.assertTrue(os.access(program, os.X_OK), "LOOM_CARELESS_BWRAP must name that program")
        directory = self.directory("fake")
        shutil.copy2(program, os.path.join(directory, "bwrap"))
        return directory

    def under_tmp(self):
        """A directory in the host's /tmp, which a tmpfs scratch covers."""
        path = tempfile.mkdtemp(prefix="loom-jail-", dir="/tmp")
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    @staticmethod
    def text(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    @staticmethod
    def listing(top):
        """Name, mode, kind, size and time of everything below: what a run must leave as it was."""
        rows = []
        for folder, names, files in os.walk(top):
            for name in sorted(names) + sorted(files):
                about = os.lstat(os.path.join(folder, name))
                rows.append((os.path.join(folder, name), about.st_mode, about.st_size, about.st_mtime_ns))
        about = os.lstat(top)
        return sorted(rows) + [(top, about.st_mode, about.st_mtime_ns)]

    # --- the wire ----------------------------------------------------------------------------

    def policy(self, **given):
        return client.policy(**{"writable_roots": [self.ws], **given})

    def helper(self, *args, base=None, **how):
        return Helper(base if base is not None else self.policy(), *args, **how)

    def needs(self, helper, *layers):
        """A skip with its reason; the runner makes it a failure where the layer was promised."""
        for layer in layers:
            if layer not in helper.features:
                self.skipTest(f"this machine has no {layer}: {helper.features}")

    def settle(self, helper, run, timeout=LIMIT):
        helper.settle(run, timeout)
        self.assertIsNone(run.error, run.error)
        return run

    def execute(self, argv, policy=None, flags=(), helper_env=None, inline=None, **start):
        """One command in one real jail on a fresh helper; `inline` is a policy sent with it."""
        if inline is not None:
            start["policy"] = inline
        with self.helper(*flags, base=policy, env=helper_env) as helper:
            self.needs(helper, "bwrap", "landlock", "seccomp")
            return self.settle(helper, helper.start(argv, **start))

    def shell(self, script, policy=None, args=(), **how):
        """A script in a jail; it must have begun."""
        run = self.execute([SH, "-c", "echo begin\n" + script, "sh", *args], policy, **how)
        self.assertTrue(run.stdout.startswith(b"begin\n"), self.story(run))
        return run

    def output(self, script, policy=None, **how):
        """What a script printed after it began."""
        run = self.shell(script, policy, **how)
        return bytes(run.stdout[len(b"begin\n") :]).decode("utf-8", "surrogateescape")

    def refusal(self, policy=None, argv=("/bin/true",), flags=(), helper_env=None, **start):
        """The message of a start that is refused before anything runs."""
        how = {"policy": policy, "argv": argv, "helper_env": helper_env, **start}
        self.refusal_by(flags, **how)
        # Where no jail ever waits, nothing can be taken for one that does.
        return self.refusal_by((*flags, "--no-warm"), **how)

    def refusal_by(self, flags, policy, argv, helper_env, **start):
        with self.helper(*flags, base=policy, env=helper_env) as helper:
            self.needs(helper, *(() if "degraded" in helper.features and helper_env else ("bwrap",)))
            run = helper.settle(helper.start(list(argv), **start), LIMIT)
            self.assertIsNotNone(run.error, f"it ran: {run.exit}")
            self.assertEqual(run.error["code"], "spawn_failed", run.error)
            self.assertEqual(client.left_of(helper.pid), {}, "a process was started")
            helper.heartbeat()
            return run.error["msg"]

    # --- probes ------------------------------------------------------------------------------

    def probe(self, *attempts, policy=None, **how):
        """Tries each (verb, path) in one jail: what worked, by attempt, and the run."""
        words = [word for attempt in attempts for word in attempt]
        run = self.execute([SH, "-c", PROBE, "sh", *words], policy, **how)
        lines = run.stdout.decode().splitlines()
        self.assertEqual(lines[:1], ["begin"], self.story(run))
        self.assertEqual(len(lines), 1 + len(attempts), self.story(run))
        return [line == "yes" for line in lines[1:]], run

    def assertJail(self, policy, can=(), cannot=(), **how):
        """In one jail every attempt of `can` succeeds and every attempt of `cannot` fails."""
        self.assertTrue(can, "a denial proves nothing without something that is allowed")
        answers, run = self.probe(*cannot, *can, policy=policy, **how)
        wrong = [f"{verb} {path!r} worked" for (verb, path), ok in zip(cannot, answers) if ok]
        for (verb, path), ok in zip(can, answers[len(cannot) :]):
            if not ok:
                wrong.append(f"{verb} {path!r} failed")
        self.assertEqual(wrong, [], self.story(run))
        return run

    @staticmethod
    def story(run):
        return f"stdout {bytes(run.stdout)!r}, stderr {bytes(run.stderr)!r}, exit {run.exit}"

    # --- reports -----------------------------------------------------------------------------

    def assertApplied(self, run, *tags):
        names = [entry_tag(entry) for entry in run.enforcement if not entry.startswith("skip:")]
        for tag in tags:
            self.assertIn(tag, names, run.enforcement)

    def assertNoSkips(self, run):
        self.assertEqual([e for e in run.enforcement if e.startswith("skip:")], [])

    def assertSkips(self, run, start, count=1):
        found = [entry for entry in run.enforcement if entry.startswith(start)]
        self.assertEqual(len(found), count, run.enforcement)
        return found[0] if found else ""

    def mounts_entry(self, run):
        """The mounts report as a map of its fields."""
        entries = [entry for entry in run.enforcement if entry.startswith("mounts:")]
        self.assertEqual(len(entries), 1, run.enforcement)
        return dict(field.split("=", 1) for field in entries[0][len("mounts:") :].split(","))

    def outcome(self, run):
        return run.exit["outcome"]

    # --- loom-exec run -----------------------------------------------------------------------

    def person(self, *words, cwd=None, stdin=subprocess.DEVNULL, env=None, timeout=LIMIT):
        """`loom-exec run WORDS…` in the workspace, with its JSON report."""
        handle, report = tempfile.mkstemp(prefix="report-", dir=self.place)
        os.close(handle)
        done = subprocess.run(
            [client.helper_path(), "run", "--report=json", f"--report-file={report}", *words],
            cwd=cwd or self.ws,
            stdin=stdin if not isinstance(stdin, bytes) else None,
            input=stdin if isinstance(stdin, bytes) else None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            timeout=timeout,
        )
        text = self.text(report)
        os.unlink(report)
        return PersonRun(done.returncode, done.stdout, done.stderr, json.loads(text) if text else None)


def entry_tag(entry):
    name = entry[len("skip:") :] if entry.startswith("skip:") else entry
    return name.split(":", 1)[0].split("=", 1)[0]


def path_with(*directories):
    """An environment whose PATH begins with these directories."""
    return {**os.environ, "PATH": ":".join([*directories, "/usr/local/bin:/usr/bin:/bin"])}


def kernel_at_least(major, minor):
    numbers = os.uname().release.split(".")[:2]
    return (int(numbers[0]), int(numbers[1].split("-")[0])) >= (major, minor)


__all__ = [
    "Helper",
    "JailCase",
    "LIMIT",
    "NEW",
    "PYTHON",
    "SH",
    "client",
    "entry_tag",
    "kernel_at_least",
    "os",
    "pack",
    "path_with",
    "shutil",
    "signal",
    "stat",
    "subprocess",
    "tempfile",
    "time",
    "unittest",
]
