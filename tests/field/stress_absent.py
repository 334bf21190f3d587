"""Two helpers in one workspace, many executions with absent protected paths, helpers killed at random.

    LOOM_EXEC=…/bin/loom-exec stress_absent.py [RUNS [KILLS]]

RUNS executions in all (3,000), KILLS of them (300) with a SIGKILL of their helper at a random moment.
The protected paths are flat, nested and sharing prefixes. Every command tries to make each of them;
a watcher looks at the host meanwhile. At the end the host must list as before, nothing of a command's
may lie under a protected name, and no process may be left. LOOM_SEED repeats the random choices.
"""

import json
import os
import random
import shutil
import signal
import stat
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "wire"))

import client  # noqa: E402  (found only after the path is set)

PLACE = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")  # never /tmp, which the scratch covers
SEED = int(os.environ.get("LOOM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
LIMIT = 60  # seconds after which an execution counts as hung
MARKED = {0o1444, 0o1755}  # modes of what a helper makes for an absent path
WISHES = (
    [".env"],
    ["a/b/c"],
    ["a/b/d", "a/e"],
    ["a"],
    [".env", "a/b/c", "src/x/y"],
    ["src/x", ".config/hooks", "a/b"],
)
NAMES = sorted({name for wish in WISHES for name in wish})

# $1 is a number of its own, then the protected names. `work` is what it may write.
COMMAND = r"""
echo begin
id=$1; shift
for name; do
  if echo EVIL >"$name"; then echo "leak: wrote $name"; fi
  if mkdir "$name"; then echo "leak: made $name"; fi
  if ln -s /etc/passwd "$name/link"; then echo "leak: linked into $name"; fi
  if echo EVIL >"$name/EVIL"; then echo "leak: wrote into $name"; fi
  if rmdir "$name"; then echo "leak: removed $name"; fi
  if mv -T work "$name"; then echo "leak: moved onto $name"; fi
  if test -n "$(ls -A "$name")"; then echo "leak: something is in $name"; fi
done
echo control >"work/$id" && rm "work/$id" && echo control
"""


def tree(top):
    """Name, type and mode, and a file's size, of everything below but `work`."""
    rows = []
    for folder, names, files in os.walk(top):
        if folder == top:
            names.remove("work")
        for name in names + files:
            try:
                about = os.lstat(os.path.join(folder, name))
            except FileNotFoundError:  # removed meanwhile
                continue
            size = about.st_size if stat.S_ISREG(about.st_mode) else 0
            rows.append([os.path.relpath(os.path.join(folder, name), top), oct(about.st_mode), size])
    return sorted(rows)


class Driver:
    """One helper after the other, and its executions."""

    def __init__(self, workspace, runs, kills, seed):
        self.workspace, self.runs = workspace, runs
        self.rng = random.Random(seed)
        self.doomed = set(self.rng.sample(range(runs), kills))
        self.helper = None
        self.took = [0.02]  # seconds of an execution, to aim the kills
        self.tally = {"ran": 0, "killed": 0, "killed after the start": 0, "refused": 0, "reported": 0}
        self.failures = []

    def policy(self, names):
        paths = [os.path.join(self.workspace, name) for name in names]
        return client.policy(writable_roots=[self.workspace], protected=paths)

    def start(self, number):
        if self.helper is None:
            self.helper = client.Helper(self.policy([]), features=("exec-outcome-v1",))
        names = self.rng.choice(WISHES)
        argv = ["/bin/sh", "-c", COMMAND, "sh", f"{os.getpid()}-{number}", *names]
        return self.helper.start(argv, cwd=self.workspace, policy=self.policy(names))

    def execute(self, number):
        began = time.monotonic()
        run = self.start(number)
        self.helper.settle(run, LIMIT)
        self.took.append(time.monotonic() - began)
        if run.error:
            self.tally["refused"] += 1
            if "changed while" not in run.error["msg"] and "exchanged while" not in run.error["msg"]:
                self.failures.append(run.error["msg"])
            return
        self.tally["ran"] += 1
        said = [entry for entry in run.enforcement if entry.startswith("skip:")]
        self.tally["reported"] += bool(said)
        if bytes(run.stdout) != b"begin\ncontrol\n" or said:
            self.failures.append(f"{bytes(run.stdout)!r} {bytes(run.stderr)[-400:]!r} {run.exit}")

    def execute_and_kill(self, number):
        run = self.start(number)
        moment = time.monotonic() + self.rng.uniform(0, 1.3 * sorted(self.took)[len(self.took) // 2])
        while time.monotonic() < moment:
            pass  # a sleep is coarser than what is to be hit
        self.helper.kill()
        for frame in self.helper.remaining(LIMIT):
            if frame.id == run.id:
                run.take(frame)
        self.tally["killed"] += 1
        self.tally["killed after the start"] += run.stdout.startswith(b"begin")
        if b"leak" in run.stdout:
            self.failures.append(f"{bytes(run.stdout)!r}")
        self.helper.close()
        self.helper = None

    def drive(self):
        for number in range(self.runs):
            if number in self.doomed:
                self.execute_and_kill(number)
            else:
                self.execute(number)
            if len(self.failures) > 5:
                break
        if self.helper:
            self.helper.end_input()
            self.helper.wait_exit()
            self.helper.close()
        return {"tally": self.tally, "failures": self.failures, "median_ms": sorted(self.took)[len(self.took) // 2] * 1000}


def watch(workspace, stop):
    """Looks at the protected names on the host until told to stop: what it saw, and what must not be."""
    looks, placeholders, wrong = 0, 0, []
    while not os.path.exists(stop) and len(wrong) < 5:
        looks += 1
        for name in NAMES:
            path = os.path.join(workspace, name)
            try:
                about = os.lstat(path)
                inside = os.listdir(path) if stat.S_ISDIR(about.st_mode) else []
            except OSError:
                continue
            placeholders += 1
            # What is on the way to another protected path may hold more placeholders.
            strangers = [entry for entry in inside if not any(n.startswith(f"{name}/{entry}") for n in NAMES)]
            if not stat.S_ISDIR(about.st_mode) or stat.S_IMODE(about.st_mode) not in MARKED or strangers:
                wrong.append(f"{name}: {oct(about.st_mode)} with {inside}")
        time.sleep(0.0005)
    return {"looks": looks, "placeholders": placeholders, "wrong": wrong}


def fork(action):
    """Runs an action in a child of ours: its pid, and the pipe that its answer comes on."""
    answers, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(answers)
            with os.fdopen(said, "w") as file:
                json.dump(action(), file)
            status = 0
        finally:
            os._exit(status)
    os.close(said)
    return pid, answers


def answer_of(child):
    with os.fdopen(child[1]) as file:
        text = file.read()
    os.waitpid(child[0], 0)
    return json.loads(text) if text else None


def prepare(workspace):
    for name in ("work", "src"):
        os.mkdir(os.path.join(workspace, name))
    with open(os.path.join(workspace, "src", "main.c"), "w") as file:
        file.write("int main(void) { return 0; }\n")


def leftovers(workspace):
    """Names anywhere in the workspace that only a command could have put there."""
    found = []
    for folder, names, files in os.walk(workspace):
        found += [os.path.join(folder, name) for name in names + files if name in ("EVIL", "link")]
    return found


def judge(workspace, before, drivers, watched):
    """What is wrong, as sentences."""
    wrong = [f"a driver: {failure}" for driver in drivers for failure in driver["failures"]]
    wrong += [f"on the host: {sight}" for sight in watched["wrong"]]
    client.wait_until(lambda: tree(workspace) == before and not processes(), 15, 0.05)
    after = tree(workspace)
    wrong += [f"left behind: {row}" for row in after if row not in before]
    wrong += [f"gone: {row}" for row in before if row not in after]
    wrong += [f"made by a command: {path}" for path in leftovers(workspace)]
    wrong += [f"a process is left: {process}" for process in processes().items()]
    if not watched["placeholders"]:
        wrong.append("the watcher never saw a placeholder: it proves nothing")
    return wrong


def processes():
    client.reap_adopted(set())
    return client.descendants()


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    client.helper_path()
    client.become_subreaper()
    place = tempfile.mkdtemp(prefix="loom-stress-", dir=PLACE)
    workspace, stop = os.path.join(place, "ws"), os.path.join(place, "stop")
    os.mkdir(workspace)
    prepare(workspace)
    before, began = tree(workspace), time.monotonic()
    watcher = fork(lambda: watch(workspace, stop))
    children = [
        fork(Driver(workspace, runs // 2, kills // 2, SEED + number).drive) for number in range(2)
    ]
    drivers = [answer_of(child) for child in children]
    with open(stop, "w"):
        pass
    watched = answer_of(watcher)
    if None in drivers or watched is None:
        print(f"seed {SEED}: a driver or the watcher failed")
        return 1
    wrong = judge(workspace, before, drivers, watched)
    tally = {key: sum(driver["tally"][key] for driver in drivers) for key in drivers[0]["tally"]}
    print(f"seed {SEED}: {runs} executions by two helpers in {time.monotonic() - began:.0f} s: {tally}")
    print(f"median of an execution: {max(d['median_ms'] for d in drivers):.1f} ms")
    print(f"the watcher looked {watched['looks']} times and saw {watched['placeholders']} placeholders")
    print("\n".join(wrong) if wrong else "the host is as before, nothing was made, no process is left")
    if not wrong:
        shutil.rmtree(place)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
