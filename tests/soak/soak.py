"""Thousands of executions of every kind on one helper, which must leave nothing and keep nothing.

soak.py [EXECUTIONS] [--only FORM]…: so many (10,000) in each form: with a jail that waits before each
(warm), and without (cold). LOOM_EXEC is the helper.
"""

import argparse
import itertools
import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "wire"))

import client  # noqa: E402  (found only after the path is set)
import leftovers  # noqa: E402

FORMS = {"warm": (), "cold": ("--no-warm",)}
SANITIZED = os.environ.get("LOOM_WIRE_SANITIZED") == "1"
PLACE = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")  # never /tmp, which the scratch covers
GROWTH_KIB = 256  # of memory, in all, after the warm-up: what an allocator may do once
WARM_SHARE = 0.8  # of the runs that were looked at: what else the machine mounts makes jails stale
SH = "/bin/sh"


class Grown(AssertionError):
    """Something is left or kept."""


def due(condition, what):
    if not condition:
        raise Grown(what)


def kib(pid, file, field):
    with open(f"/proc/{pid}/{file}", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def memory_of(pid):
    """Its own pages, and its proportional share of all."""
    return {"anonymous": kib(pid, "status", "RssAnon:"), "share": kib(pid, "smaps_rollup", "Pss:")}


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return ""


def waiting_below(pid):
    """The process in a jail that waits for its command; None without one."""
    for child in children(pid):
        found = child if name_of(child) == client.WAITS else waiting_below(child)
        if found:
            return found
    return None


class Soak:
    """One helper, and what is done with it."""

    def __init__(self, form, place):
        self.form = form
        self.ws, self.own = (os.path.join(place, name) for name in ("ws", "own"))
        for directory in (self.ws, self.own):
            os.makedirs(directory)
        environment = {**os.environ, "TMPDIR": self.own}
        self.helper = client.Helper(self.policy(), *FORMS[form], env=environment)
        self.looked, self.used = 0, 0  # runs whose process was looked at, and those in a jail that had waited
        # One round of runs, mostly what is short and ends well, as a broker's are. At its end the helper
        # expects its own policy again, and a jail waits.
        self.kinds = [self.plain] * 4 + [self.printing, self.failing] + [self.plain] * 4
        self.kinds += [self.cancelled, self.leaving] + [self.plain] * 3
        self.kinds += [self.missing, self.refused, self.limited, self.plain, self.plain]

    def policy(self, **given):
        return client.policy(writable_roots=[self.ws], **given)

    def shell(self, script, **more):
        return self.helper.execute([SH, "-c", script], cwd=self.ws, **more)

    def plain(self):
        due(self.helper.execute(["/bin/true"], cwd=self.ws).code == 0, "true failed")

    def printing(self):
        run = self.shell("head -c 200000 /dev/zero; echo words >&2")
        due((len(run.stdout), bytes(run.stderr)) == (200000, b"words\n"), "output was lost")

    def flood(self):
        """So much that the helper moves it through a pipe of its own, which it keeps: two descriptors."""
        due(len(self.shell("head -c 16000000 /dev/zero").stdout) == 16000000, "output was lost")

    def failing(self):
        due(self.shell("exit 7").code == 7, "a failure was lost")

    def missing(self):
        due(self.helper.execute(["/no/such/program"], cwd=self.ws).code != 0, "nothing ran well")

    def refused(self):
        due(self.helper.execute(["/bin/true"], cwd="relative").error is not None, "it was not refused")

    def leaving(self):
        """A process that would outlive its command, and files in the scratch."""
        due(self.shell("sleep 600 & echo left >/tmp/left; mkdir -p /tmp/a/b").code == 0, "it failed")

    def limited(self):
        """Another policy, for which no jail waits."""
        policy = self.policy(limits=client.limits(wall_s=60, output_bytes=10, pids=100, mem_bytes=1 << 30))
        run = self.shell("head -c 100000 /dev/zero", policy=policy)
        due(len(run.stdout) == 10 and run.exit["stdout_truncated"], "the limit did not hold")

    def cancelled(self):
        waiting = waiting_below(self.helper.pid)
        run = self.helper.start([SH, "-c", "echo up; exec sleep 600"], cwd=self.ws)
        self.helper.until_output(run, b"up\n")
        if waiting:
            self.looked += 1
            # The process that waited has become the command.
            self.used += name_of(waiting) in ("sh", "dash", "sleep")
        self.helper.cancel(run)
        due(self.helper.settle(run).exit["cancelled"], "it was not cancelled")

    # --- the whole -------------------------------------------------------------------------------

    def rest(self, number):
        """Until the jail waits that a helper prepares which saw the same policy twice."""
        before = [self.kinds[number - 1], self.kinds[number - 2]]
        if self.form == "warm" and self.limited not in before:
            due(client.wait_until(lambda: waiting_below(self.helper.pid), 10, pause=0.002), "no jail waits")
            time.sleep(0.003)  # what stage 2 said is read

    def reap(self):
        """Orphans are ours (become_subreaper). Unreaped they would fill the process table, which the
        helper reads when it sweeps what a command left."""
        for child in children(os.getpid()):
            if child != self.helper.pid:
                os.waitpid(child, os.WNOHANG)

    def orphans(self):
        self.reap()
        return sorted(name_of(child) for child in children(os.getpid()) if child != self.helper.pid)

    def go_round(self, times):
        for number, kind in itertools.product(range(times), range(len(self.kinds))):
            try:
                self.reap()
                self.rest(kind)
                self.kinds[kind]()
            except Grown as problem:
                name = self.kinds[kind].__name__
                raise Grown(f"round {number}, {name}: {problem}") from None

    def state(self):
        client.rest(self.helper)
        return {**leftovers.state(self.helper.pid, self.own, self.ws), "orphans": self.orphans()}

    def idle_state(self):
        """Once nothing is being cleaned up any more."""
        states = [self.state()]

        def is_calm():
            states.append(self.state())
            return states[-1] == states[-2]

        due(client.wait_until(is_calm, 30, pause=0.3), "it never comes to rest")
        return states[-1]


def compare(before, after):
    return [f"{what}: {before[what]} became {after[what]}" for what in before if before[what] != after[what]]


def soak(form, executions, place):
    """What was seen, as one line; Grown when something is left or kept."""
    trial = Soak(form, place)
    with trial.helper as helper:
        rounds = -(-executions // len(trial.kinds))
        first = max(2, min(50, rounds // 10))  # what is made once has been made then
        began = time.monotonic()
        trial.flood()
        trial.go_round(first)
        before, memory = trial.idle_state(), memory_of(helper.pid)
        trial.go_round(max(1, rounds - first))
        seconds = time.monotonic() - began
        client.wait_until(lambda: trial.state() == before, 10)
        problems = compare(before, trial.state())
        later = memory_of(helper.pid)
        helper.end_input()
        helper.remaining()
        due(helper.wait_exit() == 0, f"the helper ended with {helper.status}: {helper.stderr_text()}")
    for what, size in memory.items():
        if later[what] - size > GROWTH_KIB and not SANITIZED:
            problems.append(f"memory, {what}: {size} KiB became {later[what]} KiB")
    if form == "warm" and trial.used < trial.looked * WARM_SHARE:
        problems.append(f"of {trial.looked} runs {trial.used} were in the jail that had waited")
    due(form == "cold" or trial.looked, "no jail ever waited")
    due(not problems, "\n".join(problems))
    return (
        f"{form}: {rounds * len(trial.kinds)} executions in {seconds:.0f} s; "
        + f"after the first {first * len(trial.kinds)}: memory "
        + ", ".join(f"{what} {memory[what]} to {later[what]} KiB" for what in memory)
        + f"; {len(before['descriptors'])} descriptors, {len(before['processes'])} processes, "
        + f"{len(before['groups'])} groups, nothing more at the end"
        + (f"; {trial.used} of {trial.looked} were in the jail that had waited" if form == "warm" else "")
    )


def soak_somewhere(form, executions):
    client.become_subreaper()
    place = tempfile.mkdtemp(prefix="loom-soak-", dir=PLACE)
    try:
        return soak(form, executions, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description="Thousands of executions that must leave nothing.")
    parser.add_argument("executions", nargs="?", type=int, default=10000, help="in each form (10000)")
    parser.add_argument("--only", choices=FORMS, action="append", help="this form; may be repeated")
    options = parser.parse_args()
    failed = False
    for form in options.only or FORMS:
        try:
            print(soak_somewhere(form, options.executions), flush=True)
        except (Grown, client.WireError) as problem:
            print(f"{form}: {problem}", flush=True)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
