"""Links exchanged on the way to protected paths while jails start.

    LOOM_EXEC=…/bin/loom-exec stress_races.py [STARTS]

STARTS executions (500) in each of several ways: a process outside exchanges a directory above a
protected file, or the file itself, with a link, as fast as it can and with pauses. The links lead to
the names that bubblewrap has for the host and for the jail while it builds one, and to places outside
the workspace. At the end nothing may have appeared outside the workspace, and no command may have read
what is protected without a report that says so. A bare bubblewrap, first, shows that it makes what it
finds missing behind such a link. LOOM_SEED repeats the random choices.
"""

import collections
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "wire"))

import client  # noqa: E402  (found only after the path is set)

PLACE = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")  # never /tmp, which the scratch covers
SEED = int(os.environ.get("LOOM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
LIMIT = 60  # seconds after which an execution counts as hung
AT_FDCWD, RENAME_EXCHANGE = -100, 2
SECRET = "S3CRET\n"

COMMAND = 'echo begin; for f; do cat "$f"; done; exit 0'


def exchange(libc, one, other):
    return libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE)


def exchanger(one, other, rng):
    """A process that exchanges the names of the two until it is killed."""
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        while True:
            # At rest everything is as it began, now and then for long enough for a whole run.
            for _ in range(rng.randrange(1, 40)):
                exchange(libc, one, other)
                time.sleep(rng.uniform(0, 60e-6))
                exchange(libc, one, other)
                time.sleep(rng.uniform(0, 60e-6))
            time.sleep(rng.choice((0, 0.01, 0.4)) * rng.random())
    finally:
        os._exit(1)


class Field:
    """A workspace with something protected, a stranger beside it, and what is exchanged."""

    def __init__(self, place, way):
        self.place = os.path.join(place, way)
        self.ws, self.out = os.path.join(self.place, "ws"), os.path.join(self.place, "out")
        os.makedirs(os.path.join(self.ws, "a", "b"))
        os.makedirs(os.path.join(self.out, "b"))
        self.secret = os.path.join(self.ws, "a", "b", "secret")
        self.flat = os.path.join(self.ws, "flat")
        for path in (self.secret, self.flat):
            with open(path, "w", encoding="utf-8") as file:
                file.write(SECRET)
        up = "../" * 20
        link, self.one = {
            "host": (f"/oldroot{self.out}", "a"),
            "jail": (f"/newroot{self.out}", "a"),
            "relative": (f"{up}oldroot{self.out}", "a"),
            "inner": (f"/oldroot{self.out}/b", "a/b"),
            "plain": (self.out, "a"),
            "leaf": (f"/oldroot{self.out}/made", "flat"),
            "file": (f"/oldroot{self.out}/b", "a/b/secret"),
        }[way]
        self.one = os.path.join(self.ws, self.one)
        self.other = self.one + ".other"
        os.symlink(link, self.other)

    def policy(self):
        return client.policy(writable_roots=[self.ws], protected=[self.secret, self.flat])

    def outside(self):
        """Everything there is beside the workspace."""
        rows = []
        for folder, names, files in os.walk(self.place):
            if folder == self.place:
                names.remove("ws")
            rows += [os.path.join(folder, name) for name in names + files]
        return sorted(rows)


WAYS = ("host", "jail", "relative", "inner", "plain", "leaf", "file")


def bare_bubblewrap_makes_it(place):
    """Whether a bubblewrap on its own makes a mount point behind such a link: the control."""
    field = Field(place, "host")
    before = field.outside()
    libc = ctypes.CDLL(None)
    exchange(libc, field.one, field.other)
    os.mkdir(os.path.join(field.out, "c"))
    missing = os.path.join(field.ws, "a", "b", "secret")
    subprocess.run(
        ["bwrap", "--ro-bind", "/usr", "/usr", "--bind", field.ws, field.ws]
        + ["--ro-bind", "/dev/null", missing, "--symlink", "usr/bin", "/bin"]
        + ["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "true"],
        stderr=subprocess.DEVNULL,
        check=False,
    )
    os.rmdir(os.path.join(field.out, "c"))
    made = field.outside() != before
    shutil.rmtree(field.place)
    return made


def verdict(run):
    """What an execution came to, and whether that is wrong."""
    if run.error:
        return "refused before the start", False
    said = [e for e in run.enforcement if e.startswith("skip:mounts: protected")]
    began, open_ = bytes(run.stdout).startswith(b"begin"), SECRET.encode() in bytes(run.stdout)
    if not began:
        return "refused before the command", bool(run.stdout)
    if open_:
        return ("open and reported" if said else "open and silent"), not said
    return ("held and reported" if said else "held"), False


def race(place, way, starts, rng):
    """The verdicts, and what is wrong, as sentences."""
    field = Field(place, way)
    before, wrong, verdicts = field.outside(), [], collections.Counter()
    pid = exchanger(field.one, field.other, rng)
    try:
        with client.Helper(field.policy(), features=("exec-outcome-v1",)) as helper:
            argv = ["/bin/sh", "-c", COMMAND, "sh", field.secret, field.flat]
            for _ in range(starts):
                run = helper.settle(helper.start(argv), LIMIT)
                name, bad = verdict(run)
                verdicts[name] += 1
                if bad:
                    wrong.append(f"{way}: {bytes(run.stdout)!r} {run.exit}")
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
    wrong += [f"{way}: appeared outside: {path}" for path in field.outside() if path not in before]
    wrong += [f"{way}: gone: {path}" for path in before if path not in field.outside()]
    return verdicts, wrong


def main():
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    client.helper_path()
    place = tempfile.mkdtemp(prefix="loom-races-", dir=PLACE)
    print(f"seed {SEED}")
    if not bare_bubblewrap_makes_it(place):
        print("this bubblewrap makes nothing behind a link: there is nothing to show")
        shutil.rmtree(place)
        return 77
    rng, wrong, total = random.Random(SEED), [], collections.Counter()
    for way in WAYS:
        began = time.monotonic()
        verdicts, bad = race(place, way, starts, rng)
        print(f"{way}: {dict(verdicts)} in {time.monotonic() - began:.0f} s", flush=True)
        total += verdicts
        wrong += bad
    if not total["held"]:
        wrong.append("not one command ran in a jail that held: this proves nothing")
    if total["held"] == starts * len(WAYS):
        wrong.append("nothing was exchanged at a bad moment: this proves nothing")
    print("\n".join(wrong[:20]) if wrong else "nothing appeared outside, and nothing was read in silence")
    if not wrong:
        shutil.rmtree(place)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
