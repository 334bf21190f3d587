"""What the field tests stand on: the reports' base policy, hosts as odd as theirs, and what came of a run.

The reports are those of docs/field-reports.md. Each test says in a comment `field Bnn` which one it
shows. W is `self.ws`, OUT is `self.out`, R is `Attempt.report`; `strict` and `degraded` in a report
are STRICT and DEGRADED.
"""

import ctypes
import os
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "jail"))

import jail  # noqa: E402  (found only after the path is set; behind our own modules of equal names)
from jail import *  # noqa: E402, F403
from jail import LIMIT, PYTHON, SH, client, shutil, stat, subprocess  # noqa: E402

STRICT = ("--demand", "platform")
DEGRADED = ("--demand", "best-effort")
BWRAP = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin") or "/usr/bin/bwrap"

# --- helpers in odd surroundings --------------------------------------------------------------


class Helper(jail.Helper):
    """A helper that `before` words start: a launcher of an outer jail, say, that keeps descriptor 3."""

    def __init__(self, policy, *args, before=(), program=None, **how):
        self.before = list(before)
        self.program = program
        super().__init__(policy, *args, **how)

    def spawn(self, policy, args, env):
        if not self.before and not self.program:
            super().spawn(policy, args, env)
            return
        words = [*self.before, self.program or client.helper_path(), *args]
        saved, os.environ["LOOM_EXEC"] = os.environ["LOOM_EXEC"], words[0]
        try:
            super().spawn(policy, words[1:], env)
        finally:
            os.environ["LOOM_EXEC"] = saved


class Attempt:
    """What came of one execution, whether it ran or was refused."""

    def __init__(self, run, features):
        self.run, self.features = run, features
        self.refused = run.error["msg"] if run.error else ""  # not empty: nothing was started
        self.refused_as = run.error["code"] if run.error else ""
        self.output = bytes(run.stdout).decode("utf-8", "surrogateescape")
        self.errors = bytes(run.stderr).decode("utf-8", "surrogateescape")
        self.exit = run.exit or {}
        self.code = self.exit.get("code")
        self.report = self.exit.get("enforcement", [])
        self.outcome = self.exit.get("outcome", {})

    @property
    def lines(self):
        return self.output.splitlines()

    @property
    def skips(self):
        return [entry for entry in self.report if entry.startswith("skip:")]

    def entries(self, start):
        return [entry for entry in self.report if entry.startswith(start)]

    @property
    def reasons(self):
        """Everything that was said about what does not hold, in one text."""
        parts = [self.refused, *self.skips, *self.entries("unheld:")]
        return "\n".join([*parts, *(str(value) for value in self.outcome.values())])

    def __repr__(self):
        if self.refused:
            return f"<refused: {self.refused_as}: {self.refused}>"
        return f"<code {self.code}, {self.output!r}, {self.errors!r}, {self.report!r}, {self.outcome!r}>"


# Calls by number, and what a filter answers instead of the kernel. The suite knows this machine's
# table only: see FieldCase.filtered.
CALLS = {
    "write": 1,
    "ioctl": 16,
    "sendto": 44,
    "clone": 56,
    "unshare": 272,
    "prctl": 157,
    "pivot_root": 155,
    "mount": 165,
    "seccomp": 317,
    "clone3": 435,
    "openat2": 437,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # classic BPF
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000


def _libc():
    return ctypes.CDLL(None, use_errno=True)


def _must(answer, what):
    if answer < 0:
        raise OSError(ctypes.get_errno(), what)
    return answer


def _no_new_privileges(libc):
    _must(libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl(PR_SET_NO_NEW_PRIVS)")


def _rule(name, errno_number, *arguments):
    """BPF for: this call, with arguments as said, fails. An argument is (index, value, whole)."""
    checks = [(0, CALLS[name], True)]
    checks += [(16 + 8 * index, value, whole) for index, value, whole in arguments]
    code, left = [], 2 * len(checks)
    for offset, value, whole in checks:
        left -= 2
        code.append((_LOAD, 0, 0, offset))
        code.append((_EQUAL if whole else _ANY_BIT, 0, left + 1, value))
    return code + [(_RETURN, 0, 0, _ERRNO | errno_number)]


def answering(*rules):
    """A `prepare` under whose filter calls fail: (name, errno[, (argument, value, True: equal; False:
    any of these bits)…])."""
    code = [word for rule in rules for word in _rule(*rule)] + [(_RETURN, 0, 0, _ALLOW)]
    program = b"".join(struct.pack("=HBBI", *word) for word in code)

    def prepare():
        libc, text = _libc(), ctypes.create_string_buffer(program)
        head = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(text)))
        _no_new_privileges(libc)
        _must(libc.prctl(_SET_SECCOMP, _FILTER_MODE, head, 0, 0), "prctl(PR_SET_SECCOMP)")

    return prepare


def under(*rules):
    """Words that start a program under `answering(*rules)`: for `before`, behind an outer jail's."""
    start = (
        "import ast, os, sys; sys.path.insert(0, sys.argv[1]); import field; "
        "field.answering(*ast.literal_eval(sys.argv[2]))(); os.execv(sys.argv[3], sys.argv[3:])"
    )
    return [PYTHON, "-c", start, os.path.dirname(os.path.abspath(__file__)), repr(rules)]


def landlocked(layers=1, files=True):
    """A `prepare` under that many Landlock layers: each allows all of `/`, or rules only TCP ports."""
    every_right = (1 << 13) - 1  # what the first version of the interface has
    rights = struct.pack("=QQ", every_right if files else 0, 0 if files else 2)

    def prepare():
        libc = _libc()
        _no_new_privileges(libc)
        for _ in range(layers):
            size = ctypes.c_size_t(8 if files else 16)
            ruleset = _must(libc.syscall(CALLS["landlock_create_ruleset"], rights, size, 0), "ruleset")
            if files:
                root = os.open("/", os.O_PATH | os.O_DIRECTORY)
                rule = struct.pack("=Qi", every_right, root)
                _must(libc.syscall(CALLS["landlock_add_rule"], ruleset, 1, rule, 0), "rule")
                os.close(root)
            _must(libc.syscall(CALLS["landlock_restrict_self"], ruleset, 0), "restrict_self")
            os.close(ruleset)

    return prepare


def masked_proc(*more):
    """Words that start a program in a container as runtimes make them: part of its /proc is masked,
    so that the kernel lets nobody inside mount another one."""
    container = [BWRAP, "--unshare-user", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc"]
    return [*container, "--ro-bind", "/dev/null", "/proc/cmdline", *more, "--"]


# --- cases ------------------------------------------------------------------------------------


class FieldCase(jail.JailCase):
    """A test with W and OUT outside /tmp, and the host around them watched where it matters."""

    def base(self, **given):
        """The reports' BASE. Memory and processes need a control group, which few machines give a
        test; with them every demand would be about that, so `limits` adds them where they matter."""
        limits = {"cpu_s": 10, "wall_s": 20, "fsize_bytes": 64 << 20, "output_bytes": 1 << 20}
        given["limits"] = client.limits(**{**limits, **given.get("limits", {})})
        given.setdefault("env_allow", ["PATH", "HOME", "LANG"])
        return self.policy(**given)

    def field_helper(self, policy=None, flags=(), **how):
        """A helper, not closed before the test ends unless it is used in a `with`."""
        return Helper(policy if policy is not None else self.base(), *flags, **how)

    def attempt(self, command, policy=None, flags=(), args=(), jails=True, **how):
        """One execution on a fresh helper: `command` is a script, or a list of words.

        `prepare`, `before`, `program` and `helper_env` are the helper's; the rest (`env`, `cwd`,
        `inline` for a policy of its own) is the start's. Unless `jails` is false, a machine without
        a jail skips the test.
        """
        helper_how = {key: how.pop(key) for key in ("prepare", "before", "program") if key in how}
        helper_how["env"] = how.pop("helper_env", None)
        if "inline" in how:
            how["policy"] = how.pop("inline")
        with self.field_helper(policy, flags, **helper_how) as helper:
            if jails:
                self.needs(helper, "bwrap", "landlock", "seccomp")
            return self.attempt_on(helper, command, args, **how)

    def attempt_on(self, helper, command, args=(), timeout=LIMIT, **start):
        """One execution on this helper, to its end."""
        argv = [SH, "-c", command, "sh", *args] if isinstance(command, str) else list(command)
        run = helper.settle(helper.start(argv, **start), timeout)
        if run.error:
            helper.heartbeat()  # a refusal leaves the helper in service
        return Attempt(run, helper.features)

    def filtered(self, *rules):
        """`answering`, on a machine whose calls have those numbers."""
        self.needs_our_calls()
        return answering(*rules)

    def needs_our_calls(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the filters of this suite are written for x86-64")

    # --- the host as it was -------------------------------------------------------------------

    def host(self, *apart):
        """Type, mode, size and time of every name in the test's place outside W, and the names beside."""
        apart = apart or (self.ws,)
        rows = {}
        for folder, names, files in os.walk(self.place):
            names[:] = [name for name in names if os.path.join(folder, name) not in apart]
            for name in [*names, *files, "."]:
                path = os.path.normpath(os.path.join(folder, name))
                about = os.lstat(path)
                rows[path] = (stat.filemode(about.st_mode), about.st_size, about.st_mtime_ns)
        for top in ("/", "/usr", "/etc"):
            rows.update({os.path.join(top, name): "there" for name in os.listdir(top)})
        return rows

    def names(self, top=None):
        """Every name below W with type, mode and size: what a run that made nothing leaves alone."""
        top, rows = top or self.ws, {}
        for folder, names, files in os.walk(top):
            for name in names + files:
                path = os.path.join(folder, name)
                try:
                    about = os.lstat(path)
                except FileNotFoundError:  # removed meanwhile
                    continue
                size = about.st_size if stat.S_ISREG(about.st_mode) else 0
                rows[os.path.relpath(path, top)] = (stat.filemode(about.st_mode), size)
        return rows

    def assertHostUntouched(self, before, *apart):
        self.assertEqual(self.host(*apart), before)

    # --- what came of it ----------------------------------------------------------------------

    def assertRan(self, attempt, code=0):
        self.assertFalse(attempt.refused, attempt)
        self.assertIn(attempt.outcome.get("class"), ("exited", "signalled", "limit"), attempt)
        if code is not None:
            self.assertEqual(attempt.code, code, attempt)
        return attempt

    def assertRefused(self, attempt, *words):
        """Refused by name, before the command ran: at once, or on stage 2's report."""
        if not attempt.refused:
            self.assertEqual(attempt.outcome.get("class"), "setup", attempt)
        self.assertEqual(attempt.output, "", attempt)
        for word in words:
            self.assertIn(word, attempt.reasons, attempt)
        return attempt

    def assertHeld(self, attempt):
        """Nothing of the policy was left out."""
        self.assertRan(attempt, code=None)
        self.assertEqual(attempt.skips, [], attempt)
        return attempt

    def assertNoProcessLeft(self, root, seconds=5):
        """Below that process; a jail's own end may take a moment."""
        self.assertEqual(client.left_of(root, seconds), {})

    @staticmethod
    def marked(mark):
        """Pids of processes whose environment or command line holds these bytes."""
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            for part in ("environ", "cmdline"):
                try:
                    with open(f"/proc/{name}/{part}", "rb") as file:
                        if mark in file.read():
                            found.append(int(name))
                            break
                except OSError:
                    pass
        return found

    def git(self, *words, cwd=None, check=True, **how):
        """Git on the host, its user's own configuration apart."""
        program = shutil.which("git", path="/usr/bin:/bin")
        if not program:
            self.skipTest("git is not installed")
        env = {"PATH": "/usr/bin:/bin", "HOME": self.place, "GIT_CONFIG_NOSYSTEM": "1", **GIT_PERSON}
        how = {"cwd": cwd or self.ws, "env": env, "capture_output": True, "text": True, **how}
        return subprocess.run([program, *words], check=check, **how)


GIT_PERSON = {
    "GIT_AUTHOR_NAME": "A Person",
    "GIT_AUTHOR_EMAIL": "person@example.test",
    "GIT_COMMITTER_NAME": "A Person",
    "GIT_COMMITTER_EMAIL": "person@example.test",
}

__all__ = [
    *jail.__all__,
    "Attempt",
    "BWRAP",
    "CALLS",
    "DEGRADED",
    "FieldCase",
    "GIT_PERSON",
    "Helper",
    "STRICT",
    "answering",
    "landlocked",
    "masked_proc",
    "under",
]
