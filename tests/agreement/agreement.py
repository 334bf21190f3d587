"""The agreement test: the guard and the kernel must give the same answers (docs/guard.md, "Agreement").

    agreement.py --helper PATH --tools DIRECTORY [--seed N] [--worlds N] [--operations N] [--jobs N]
                 [--sabotage DIRECTORY]

Random trees and policies; each request is judged by the guard, by an independent judge, and by the
kernel in a real jail. What differs must be accounted for by a declared limit. 0: it does; 1: a
disagreement; 77: no jail can be built here.
"""

import argparse
import collections
import json
import os
import sys
import time
import traceback
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import asking  # noqa: E402  (found only after the path is set)
import comparing  # noqa: E402
import limits  # noqa: E402
import shrinking  # noqa: E402
import world  # noqa: E402

OPERATIONS_A_WORLD = 40
SKIPPED = 77
SHOWN = 5  # disagreements that are shrunk and printed in full
LEAST_EQUAL = 0.20  # of all requests, in both classes
BROKE = "the test broke"
PER_HIT = 10_000  # operations in which every limit must be met


@dataclass(frozen=True)
class Tools:
    prober: str
    tiny: str
    tiny_dynamic: str


def say(text=""):
    print(text, flush=True)


def tools_in(directory):
    """The programs of a build, or, without a directory, those that the environment names."""
    if not directory:
        return Tools(*(os.environ[f"LOOM_AGREEMENT_{name}"] for name in ("PROBER", "TINY", "TINY_DYNAMIC")))
    names = ("agreement-prober", "agreement-tiny-static", "agreement-tiny-dynamic")
    return Tools(*(os.path.join(directory, name) for name in names))


# --- one worker ----------------------------------------------------------------------------------------


class Worker:
    """Carries out every job-th case and counts."""

    def __init__(self, options):
        self.options = options
        self.counts = collections.Counter()
        self.operations = collections.Counter()
        self.failures = []
        self.bench = comparing.Bench(options.helper, tools_in(options.tools))

    def run(self, seeds):
        for seed in seeds:
            if self.options.until_failure and self.failures:
                return
            self.run_world(seed)

    def run_world(self, seed):
        case = world.make_case(seed, self.options.operations_a_world, self.bench.may_mount)
        try:
            case, refused = self.bench.launchable(case)
            self.counts["policies refused"] += refused
            if case is None:
                self.counts["worlds without a policy"] += 1
                return
            results = self.bench.run(case)
        except asking.Broken as broken:
            self.explain_launch(broken)
            return
        except Exception:  # what the test itself cannot do is as bad as a disagreement
            self.fail(f"--- seed {seed}: {BROKE}\n{traceback.format_exc()}")
            return
        self.counts["worlds"] += 1
        for index, result in enumerate(results):
            self.count(result)
            if result.problem:
                self.explain(case, case.requests[index], result)

    def count(self, result):
        self.counts["operations"] += 1
        self.counts[result.kind] += 1
        self.operations[result.request.operation, result.kind] += 1
        if result.said.admitted != result.outcome.worked:
            for number in result.limits:
                self.counts[f"met {number}"] += 1

    def explain_launch(self, broken):
        case = getattr(broken, "case", None)
        lines = [f"--- {broken}"]
        if case is not None:
            if len(self.failures) < SHOWN and not self.options.until_failure:
                case = shrinking.shrink_launch(self.bench, case)
            lines += shrinking.describe_case(self.bench, case, self.options.operations_a_world)
        self.counts["launches broken"] += 1
        self.fail("\n".join(lines))

    def explain(self, case, request, result):
        if len(self.failures) < SHOWN and not self.options.until_failure:
            case = shrinking.shrink(self.bench, case, request, result.problem)
            again = self.bench.run(world.replace(case, requests=(request,)))
            result = again[0] if again[0].problem else result
        self.fail(shrinking.describe(self.bench, case, result, self.options.operations_a_world))

    def fail(self, text):
        self.counts["failures"] += 1
        self.failures.append(text)
        if len(self.failures) <= SHOWN and not self.options.until_failure:
            say(text)

    def report(self):
        operations = [[*key, count] for key, count in self.operations.items()]
        return {"counts": dict(self.counts), "operations": operations, "failures": self.failures[:SHOWN]}


def work(options, seeds, port):
    """The whole life of a worker's process."""
    status = 1
    try:
        worker = Worker(options)
        try:
            worker.run(seeds)
        finally:
            worker.bench.close()
        with os.fdopen(port, "w", encoding="utf-8") as pipe:
            json.dump(worker.report(), pipe)
        status = 0
    except asking.CannotAsk as problem:
        say(f"agreement: {problem}")
        status = SKIPPED
    except Exception:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(status)


def run_workers(options):
    """What all workers counted, and the worst of their statuses."""
    seeds = [options.seed + i for i in range(options.worlds)]
    workers = []
    for job in range(options.jobs):
        mine, theirs = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(mine)
            work(options, seeds[job :: options.jobs], theirs)
        os.close(theirs)
        workers.append((pid, mine))
    reports, statuses = [], []
    for pid, port in workers:
        with os.fdopen(port, encoding="utf-8") as pipe:
            text = pipe.read()
        statuses.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        if text:
            reports.append(json.loads(text))
    return reports, max(statuses)


# --- the whole -----------------------------------------------------------------------------------------


def totals(reports):
    counts, operations = collections.Counter(), collections.Counter()
    for report in reports:
        counts.update(report["counts"])
        for operation, kind, count in report["operations"]:
            operations[operation, kind] += count
    return counts, operations


def print_counts(counts, operations):
    kinds = ["admit", "refuse"] + [number for number, _, _ in limits.LIMITS if counts[number]] + ["unexplained"]
    words = sorted({operation for operation, _ in operations})
    say(f"{'':12}" + "".join(f"{word:>9}" for word in [*words, "all"]))
    for kind in kinds:
        cells = [operations[word, kind] for word in words]
        say(f"{kind:12}" + "".join(f"{cell:9}" for cell in [*cells, sum(cells)]))
    say()
    met = ", ".join(f"{number} {counts[f'met {number}']}" for number, _, _ in limits.LIMITS)
    say(f"limits that account for a difference, alone or among others: {met}")
    say(
        f"{counts['worlds']} worlds, {counts['policies refused']} policies that no jail could be built for, "
        f"{counts['worlds without a policy']} worlds without a policy"
    )


def vacuities(counts):
    """What was met too seldom for the numbers to mean anything."""
    operations = counts["operations"]
    for kind in ("admit", "refuse"):
        if counts[kind] < LEAST_EQUAL * operations:
            yield f"only {counts[kind]} of {operations} operations are equal and {kind}"
    for number in limits.met_at_random():
        if operations >= PER_HIT and counts[f"met {number}"] < operations // PER_HIT:
            yield f"{number} was met {counts[f'met {number}']} times in {operations} operations"


def judge_all(options):
    began = time.monotonic()
    say(f"agreement: seed {options.seed}, {options.worlds} worlds, {options.jobs} jobs")
    reports, status = run_workers(options)
    if status == SKIPPED or not reports:
        return status or 1
    counts, operations = totals(reports)
    print_counts(counts, operations)
    wrong = [] if options.worlds * options.operations_a_world < 1_000 else list(vacuities(counts))
    for line in wrong:
        say(f"vacuous: {line}")
    limited = sum(counts[number] for number, _, _ in limits.LIMITS)
    say(
        f"agreement: {counts['operations']} operations, {counts['admit']} equal and admitted, "
        f"{counts['refuse']} equal and refused, {limited} within a limit, {counts['unexplained']} unexplained, "
        f"{counts['failures']} failures, {time.monotonic() - began:.0f} s"
    )
    return 1 if counts["failures"] or wrong or status or not counts["operations"] else 0


def first_failure(options, helper):
    """Runs against one build until it is noticed: how many operations that took, and by what."""
    tried = argparse.Namespace(**vars(options))
    tried.helper, tried.until_failure = helper, True
    reports, status = run_workers(tried)
    counts, _ = totals(reports)
    failures = [text for report in reports for text in report["failures"]]
    return counts["operations"], failures, status


def run_sabotage(options):
    """Each build that lacks a rule must be noticed, and the one that lacks none must not."""
    layers = sorted(name for name in os.listdir(options.sabotage) if name.startswith("agreement-"))
    if options.only:
        layers = [name for name in layers if name.removeprefix("agreement-") in options.only.split(",")]
    operations, failures, status = first_failure(options, options.helper)
    if status == SKIPPED:
        return SKIPPED
    print_row("rule", "operations", "noticed by")
    print_row("(none)", operations, "; ".join(map(headline, failures)) or "-")
    wrong = len(failures)
    for layer in layers:
        helper = os.path.join(options.sabotage, layer, "bin/loom-exec")
        if not os.access(helper, os.X_OK):
            sys.exit(f"agreement.py: {helper} is not there")
        operations, failures, status = first_failure(options, helper)
        # A test that breaks has noticed nothing.
        seen = [failure for failure in failures if BROKE not in failure]
        wrong += not seen
        found = headline(seen[0]) if seen else f"NOT NOTICED (status {status})"
        print_row(layer.removeprefix("agreement-"), operations, found)
    say(f"sabotage: {len(layers)} builds, {wrong} not as they must be")
    return 1 if wrong or not layers else 0


def print_row(rule, operations, found):
    say(f"{rule:20}{operations:>11}  {found}")


def headline(failure):
    """The first failing request in a few words."""
    lines = failure.splitlines()
    said = {line.partition(":")[0]: line.partition(":")[2].strip() for line in lines[1:6]}
    if "request" in said:
        word, judge = said["request"].split()[0], said["judge"].split(";")[0]
        return f"{lines[0].lstrip('- ')} ({word}: judge {judge}, kernel {said['kernel']})"
    return lines[-1] if "broke" in lines[0] else lines[0].lstrip("- ")


def parse(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--helper", default=os.environ.get("LOOM_EXEC"), help="loom-exec; default: LOOM_EXEC")
    parser.add_argument("--tools", help="where prober and programs are; default: LOOM_AGREEMENT_PROBER and so on")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("LOOM_SEED", "1")))
    parser.add_argument("--worlds", type=int, help="default: as many as the operations need")
    parser.add_argument("--operations", type=int, default=20_000, help="in all; of one world with --worlds 1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sabotage", help="a directory of builds agreement-RULE that must all be noticed")
    parser.add_argument("--only", help="with --sabotage: these rules, comma separated")
    options = parser.parse_args(words)
    options.until_failure = False
    options.operations_a_world = min(options.operations, OPERATIONS_A_WORLD)
    options.worlds = options.worlds or max(1, options.operations // OPERATIONS_A_WORLD)
    if not options.helper or not (options.tools or os.environ.get("LOOM_AGREEMENT_PROBER")):
        parser.error("--helper and --tools, or what stands for them in the environment")
    return options


def main(words=None):
    options = parse(words)
    if os.environ.get("LOOM_SCRATCH_DIR"):
        say("agreement: inside a jail of our own kind: bubblewrap cannot start here")
        return SKIPPED
    options.helper = os.path.abspath(options.helper)
    if options.sabotage:
        options.sabotage = os.path.abspath(options.sabotage)
    status = run_sabotage(options) if options.sabotage else judge_all(options)
    if status == SKIPPED and os.environ.get("LOOM_JAIL_MUST_WORK") == "1":
        say("LOOM_JAIL_MUST_WORK=1: a skip is a failure")
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
