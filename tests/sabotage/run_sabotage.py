"""Takes one layer away at a time and asks who notices: the self-test, and the report of an execution.

    run_sabotage.py HEALTHY VARIANTS [--accept | --uncompared] [--only LAYER,LAYER] [--jobs N]

HEALTHY is a whole helper (bin/loom-exec), VARIANTS the directory with one installation for each layer
that was taken away (build option LOOM_SABOTAGE). Each row of the table is a layer: what its own probe
says with the layer and without it, and whether the report of an execution that asks for everything
claims the layer's own tag. Without its layer no probe may say ENFORCED and no report may claim the tag.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.environ.get("LOOM_WIRE_SUITE", os.path.join(HERE, os.pardir, "wire")))

import client  # noqa: E402  (found only after the path is set)

PLACE = os.environ.get("LOOM_JAIL_TMP", "/var/tmp")  # never /tmp, which the scratch covers
PATIENCE = 300  # seconds for one self-test
SKIPPED_TEST = 77
TABLE = os.path.join(HERE, "table.txt")
NONE = "-"


@dataclasses.dataclass(frozen=True)
class Layer:
    """One layer, the probe that only it can satisfy, and the tag that claims it."""

    name: str
    probe: str  # "-": no probe of the self-test can see it; its report is all that is judged
    tag: str  # "-": it has none of its own
    feature: str = ""  # what the hello lists where the machine has the layer; empty: always there
    jailed: bool = True  # False: tested without bubblewrap, which would hold it too
    root_only: bool = False  # True: to an ordinary user bubblewrap leaves nothing that could be taken


LAYERS = (
    Layer("mount-masks", "protected path masked from reads and writes", "mounts", "bwrap"),
    Layer("net-namespace", "only the loopback device under network off", "bwrap", "bwrap"),
    Layer("pid-namespace", "observed setsid escape reaped", "bwrap", "bwrap"),
    Layer("filter", "direct socket denied under network off", "seccomp-net", "seccomp"),
    Layer("deny-set", "dangerous system calls refused", "seccomp-deny", "seccomp"),
    Layer("deny-row", "dangerous system calls refused", NONE, "seccomp"),
    Layer("landlock", "landlock refuses what the mounts would allow", "landlock", "landlock"),
    Layer("scopes", NONE, "scopes", "landlock"),
    Layer("cgroup-entry", "fork bomb capped by pids limit", "cgroup-v2", "cgroup-v2"),
    Layer("ceilings", "memory ceiling stops the allocator", "cgroup-v2", "cgroup-v2"),
    Layer("rlimit", "file size ceiling ends the writer", "rlimit-fsize"),
    Layer("capabilities", "no capability and no privilege gain left", "caps", root_only=True),
    Layer("no-new-privs", "no capability and no privilege gain left", "no-new-privs", jailed=False),
    Layer("environment-filter", "env not in allowlist withheld", NONE),
    Layer("output-cap", "output flood truncated at cap", NONE),
    Layer("group-kill", "orphans end with their run", NONE, jailed=False),
)

NOTE = """\
With the layer and without it: first what its own probe of --self-test says, then whether the report of
an execution claims its own tag. Two rows are shown without bubblewrap, which would hold the layer too.
cgroup-entry and ceilings have a row for each kind of machine: with delegated control groups
(run_in_vm.py), and without."""
VERDICT = re.compile(r"^  (ENFORCED|SKIPPED |FAILED  )  (.+?)(?: \((.*)\))?$")
COLUMNS = ("layer", "bubblewrap", "its own probe", "with", "without", "its own tag", "with", "without")


def say(text=""):
    print(text, flush=True)


class Machine:
    """Runs helpers here, healthy ones once a kind, and remembers what they said."""

    def __init__(self, healthy, variants):
        self.healthy, self.variants = healthy, variants
        self.place = tempfile.mkdtemp(prefix="loom-sabotage-", dir=PLACE)
        os.chmod(self.place, 0o711)
        self.empty = os.path.join(self.place, "empty")
        os.mkdir(self.empty)
        self.lock = threading.Lock()
        self.known = {}

    def close(self):
        shutil.rmtree(self.place, ignore_errors=True)

    def helper(self, layer, sabotaged):
        return os.path.join(self.variants, layer.name, "bin/loom-exec") if sabotaged else self.healthy

    def environment(self, layer):
        """A PATH without bubblewrap where that would hold the layer too."""
        return dict(os.environ) if layer.jailed else {**os.environ, "PATH": self.empty}

    def once(self, key, make):
        """What `make` returns; for one key it is called once, whoever asks first."""
        with self.lock:
            future = self.known.get(key)
            first = future is None
            if first:
                future = self.known[key] = concurrent.futures.Future()
        if first:
            try:
                future.set_result(make())
            except BaseException as problem:
                future.set_exception(problem)
        return future.result()

    def verdicts(self, layer, sabotaged):
        helper = self.helper(layer, sabotaged)
        return self.once(("probes", helper, layer.jailed), lambda: self.self_test(helper, layer))

    def self_test(self, helper, layer):
        """name -> (verdict, detail), as one self-test printed them."""
        done = subprocess.run(
            [helper, "--self-test"],
            env=self.environment(layer),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
        found = {}
        for line in done.stdout.decode("utf-8", "replace").splitlines():
            if match := VERDICT.match(line):
                found[match[2]] = (match[1].strip(), match[3] or "")
        if not found:
            raise AssertionError(f"{helper} --self-test, {done.returncode}: {done.stdout!r} {done.stderr!r}")
        return found

    def report(self, layer, sabotaged):
        helper = self.helper(layer, sabotaged)
        return self.once(("report", helper, layer.jailed), lambda: self.execution(helper, layer))

    def execution(self, helper, layer):
        """(features, entries) of one execution that asks for everything."""
        place = tempfile.mkdtemp(prefix="run-", dir=self.place)
        os.mkdir(os.path.join(place, ".git"))
        with open(os.path.join(place, ".env"), "w", encoding="utf-8") as file:
            file.write("secret\n")
        policy = client.policy(
            writable_roots=[place],
            protected=[os.path.join(place, name) for name in (".env", ".git")],
            limits=client.limits(cpu_s=20, wall_s=60, mem_bytes=1 << 28, pids=64, fsize_bytes=1 << 20),
        )
        with self.lock:  # the client takes the helper's path from our environment
            os.environ["LOOM_EXEC"] = helper
            broker = client.Helper(policy, env=self.environment(layer))
        with broker:
            run = broker.execute(["/bin/true"], timeout=client.PATIENCE * 3)
            return broker.features, run.enforcement

    def offers(self, layer):
        if layer.root_only and os.getuid() != 0:
            return False
        return not layer.feature or layer.feature in self.report(layer, False)[0]


def claims(entries, tag):
    return any(re.split("[:=]", entry)[0] == tag for entry in entries if not entry.startswith("skip:"))


def claim_cell(entries, tag):
    return NONE if tag == NONE else "yes" if claims(entries, tag) else "no"


def probe_cell(verdicts, probe):
    """(word, detail) of one probe."""
    if probe == NONE:
        return NONE, ""
    return verdicts.get(probe, ("MISSING", "the self-test has no such probe"))


@dataclasses.dataclass
class Row:
    layer: Layer
    offered: bool  # the machine, or the user, has the layer
    cells: tuple
    details: tuple  # of the probe with and without the layer
    entries: tuple  # of the report with and without the layer

    def problems(self):
        """What must never be, in this row."""
        with_layer, without, _, claimed, claimed_without = self.cells[3:]
        if without in ("ENFORCED", "MISSING"):
            yield f"without the layer its probe says {without}"
        if claimed_without == "yes":
            yield f"without the layer the report claims it: {self.entries[1]}"
        if not self.offered:
            if os.environ.get("LOOM_JAIL_MUST_WORK") == "1" and not self.may_be_missing():
                yield f"LOOM_JAIL_MUST_WORK=1, and the machine does not have the layer: {self.details[0]}"
            return
        if with_layer not in ("ENFORCED", NONE):
            yield f"the machine has the layer, and its probe says {with_layer}: {self.details[0]}"
        if claimed == "no":
            yield f"the machine has the layer, and the report does not claim it: {self.entries[0]}"
        if not self.would_catch():
            yield "a variant that lacks nothing would pass"

    def may_be_missing(self):
        return self.layer.root_only or self.layer.feature == "cgroup-v2"

    def would_catch(self):
        """The control: the same row of a build from which nothing was taken away is wrong."""
        return self.cells[3] == "ENFORCED" or self.cells[6] == "yes"


def make_row(machine, layer):
    healthy, sabotaged = (machine.report(layer, each)[1] for each in (False, True))
    verdicts = [(NONE, "")] * 2
    if layer.probe != NONE:
        verdicts = [probe_cell(machine.verdicts(layer, each), layer.probe) for each in (False, True)]
    cells = (
        layer.name,
        "yes" if layer.jailed else "no",
        layer.probe,
        verdicts[0][0],
        verdicts[1][0],
        layer.tag,
        claim_cell(healthy, layer.tag),
        claim_cell(sabotaged, layer.tag),
    )
    details = tuple(detail for _, detail in verdicts)
    return Row(layer, machine.offers(layer), cells, details, (healthy, sabotaged))


def table_lines(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def parse_rows(text):
    """The rows of a printed table."""
    lines = (tuple(re.split(r"  +", line.strip())) for line in text.splitlines())
    names = {layer.name for layer in LAYERS}
    return [cells for cells in lines if len(cells) == len(COLUMNS) and cells[0] in names]


def committed_rows():
    """layer -> its rows in the committed table, one for each kind of machine."""
    found = {}
    if os.path.exists(TABLE):
        with open(TABLE, encoding="utf-8") as file:
            for cells in parse_rows(file.read()):
                found.setdefault(cells[0], []).append(cells)
    return found


def differences(rows):
    """One line for each of these rows that the committed table does not have."""
    known = committed_rows()
    for cells in rows:
        if cells not in known.get(cells[0], []):
            yield f"WRONG  {cells[0]}: the committed table says otherwise: {known.get(cells[0], 'nothing')}"


def accept(rows):
    """Writes these rows into the committed table, and leaves those of machines that differ."""
    kept = committed_rows()
    for row in rows:
        others = [cells for cells in kept.get(row[0], []) if cells[3] != row[3]]
        kept[row[0]] = sorted([*others, row])
    ordered = [cells for layer in LAYERS for cells in kept.get(layer.name, [])]
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write("\n".join([*table_lines([COLUMNS] + ordered), "", NOTE]) + "\n")


def print_rows(rows):
    for line in table_lines([COLUMNS] + [row.cells for row in rows]):
        say(line)
    say()
    for row in rows:
        for word, detail in zip(("with", "without"), row.details):
            if detail:
                say(f"{row.layer.name}, the probe {word} the layer: {detail}")
        if not row.offered:
            say(f"{row.layer.name}: this machine or this user does not have it, so it cannot be taken away here")
    say()


def judge(rows):
    """How many rows are wrong, having said why."""
    wrong = 0
    for row in rows:
        problems = list(row.problems())
        for problem in problems:
            say(f"WRONG  {row.layer.name}: {problem}")
        wrong += bool(problems)
    return wrong


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("healthy")
    parser.add_argument("variants")
    parser.add_argument("--accept", action="store_true", help="write what is not wrong into the committed table")
    parser.add_argument("--uncompared", action="store_true", help="leave the committed table alone")
    parser.add_argument("--only", default="", help="layers, comma separated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(words)
    options.healthy, options.variants = (os.path.abspath(each) for each in (options.healthy, options.variants))
    return options


def main():
    options = parse(sys.argv[1:])
    if os.environ.get("LOOM_SCRATCH_DIR"):
        say("inside a jail of our own kind: nothing can be taken away here")
        return SKIPPED_TEST
    wanted = set(options.only.split(",")) if options.only else {layer.name for layer in LAYERS}
    layers = [layer for layer in LAYERS if layer.name in wanted]
    machine = Machine(options.healthy, options.variants)
    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
            rows = list(workers.map(lambda layer: make_row(machine, layer), layers))
    finally:
        machine.close()
    print_rows(rows)
    wrong = judge(rows)
    if options.accept:
        accept([row.cells for row in rows if not list(row.problems())])
    elif not options.uncompared:
        # A row of a layer that is not here says nothing about the layer.
        for line in differences([row.cells for row in rows if row.offered]):
            say(line)
            wrong += 1
    say(f"{len(rows)} layers, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
