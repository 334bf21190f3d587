#!/usr/bin/python3
"""Has the conformance suite judge every liar, and demands that the check meant for it catches it.

  catch_liars.py CONFORMANCE --backends DIRECTORY [--full] [--only LIAR,…] [--jobs N]
  catch_liars.py CONFORMANCE --helper HELPER      [--full] [--only LIAR,…] [--jobs N]

DIRECTORY holds the lying backends; HELPER is an honest one, before which the lying proxy stands. Prints the
table liar x check: for each liar the checks that caught it, those meant for it first. Without --full only
these are asked; with it all are, and the table shows who else notices. Fails when a liar is not caught by
each check meant for it, with the kind of verdict that is due; when a check passes a liar that it is meant
for; and when there is a check, or a liar, that the table does not know. A liar of the kind ok tells no lie.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LYING_HELPER = os.path.join(HERE, os.pardir, "liars", "helper", "lying_helper.py")
SKIPPED_TEST = 77
HONEST = "ok"


class Backends:
    """A shared object for each lie."""

    table = "meant.txt"
    listing = ()

    def __init__(self, directory):
        self.directory = os.path.abspath(directory)

    def built(self):
        return {name[:-3] for name in os.listdir(self.directory) if name.endswith(".so")}

    def words(self, liar):
        return ["--backend", os.path.join(self.directory, liar + ".so")]


class Helpers:
    """One proxy, told its lie by its first argument."""

    table = "meant_helpers.txt"
    listing = ("--helper", LYING_HELPER)

    def __init__(self, honest):
        self.honest = os.path.abspath(honest)

    def built(self):
        listing = subprocess.run([LYING_HELPER, "--list"], check=True, capture_output=True, text=True)
        return set(listing.stdout.split())

    def words(self, liar):
        return ["--helper", LYING_HELPER, "--helper-arg=" + liar, "--helper-arg=" + self.honest]


class Meant:
    """One row of the table; * are all checks there are."""

    def __init__(self, line, known):
        self.liar, self.kind, checks = line.split()
        self.checks = known if checks == "*" else checks.split(",")


def read_meant(table, known):
    with open(os.path.join(HERE, table), encoding="utf-8") as file:
        return [Meant(line, known) for line in file if line.strip() and not line.startswith("#")]


def known_checks(conformance, subjects):
    words = [conformance, "--list", *subjects.listing]
    listing = subprocess.run(words, check=True, capture_output=True, text=True)
    return [line.split()[0] for line in listing.stdout.splitlines() if line]


def verdict_of(check):
    """"ok", or every kind of finding, the gravest first."""
    kinds = [check["verdict"]] + sorted(finding["kind"] for finding in check["findings"])
    return "+".join(dict.fromkeys(kinds))


def judge(conformance, subject, only=()):
    """check -> verdict, and the details of those that are not ok."""
    with tempfile.TemporaryDirectory(prefix="loom-liars-") as place:
        output = os.path.join(place, "results.json")
        words = [conformance, *subject, "--output", "json:" + output]
        for check in only:
            words += ["--only", check]
        run = subprocess.run(words, capture_output=True, text=True, errors="replace")
        if not os.path.exists(output):
            return {}, [f"no results, status {run.returncode}: {run.stderr.strip()[:400]}"]
        with open(output, encoding="utf-8") as file:
            results = json.load(file)
    verdicts = {check["id"]: verdict_of(check) for check in results["checks"]}
    details = [
        f"{check['id']}: [{finding['kind']}] {finding['text']}"
        for check in results["checks"]
        for finding in check["findings"][:2]
    ]
    return verdicts, details


class Row:
    def __init__(self, meant, verdicts, details):
        self.meant = meant
        self.verdicts = verdicts
        self.details = details

    def problems(self):
        for check in self.meant.checks:
            verdict = self.verdicts.get(check, "no verdict")
            if self.meant.kind not in verdict.split("+"):
                yield f"{self.meant.liar}: {check} says {verdict}, and should say {self.meant.kind}"

    def line(self):
        if self.meant.kind == HONEST:
            passed = sum(self.verdicts.get(check) == HONEST for check in self.meant.checks)
            return f"{self.meant.liar:24}  passes {passed} of {len(self.meant.checks)}"
        caught = [f"{check}={self.verdicts.get(check, '-')}" for check in self.meant.checks]
        others = [
            f"{check}={verdict}"
            for check, verdict in self.verdicts.items()
            if check not in self.meant.checks and verdict != "ok"
        ]
        return f"{self.meant.liar:24}  {' '.join(caught)}" + (f"  | also {' '.join(others)}" if others else "")


def unknown(rows, checks, built):
    """What the table does not know, and what it knows and is not there."""
    meant_checks = {check for row in rows for check in row.checks if row.kind != HONEST}
    meant_liars = {row.liar for row in rows}
    for check in sorted(set(checks) - meant_checks):
        yield f"no liar is meant for {check}: a check that cannot fail proves nothing"
    for check in sorted(meant_checks - set(checks)):
        yield f"the table names {check}, and there is no such check"
    for liar in sorted(built ^ meant_liars):
        yield f"{liar} is built or meant, and not both"


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("conformance")
    kinds = parser.add_mutually_exclusive_group(required=True)
    kinds.add_argument("--backends", type=Backends, dest="subjects")
    kinds.add_argument("--helper", type=Helpers, dest="subjects")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(words)
    options.conformance = os.path.abspath(options.conformance)
    return options


def main():
    options = parse(sys.argv[1:])
    if os.environ.get("LOOM_SCRATCH_DIR"):
        print("inside a jail of our own kind: there is nothing to catch a liar at")
        return SKIPPED_TEST
    subjects = options.subjects
    checks = known_checks(options.conformance, subjects)
    meant = read_meant(subjects.table, checks)
    wrong = list(unknown(meant, checks, subjects.built()))
    wanted = set(filter(None, options.only.split(",")))
    chosen = [row for row in meant if not wanted or row.liar in wanted]

    def make_row(row):
        return Row(row, *judge(options.conformance, subjects.words(row.liar), () if options.full else row.checks))

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        for row in workers.map(make_row, chosen):
            print(row.line(), flush=True)
            problems = list(row.problems())
            wrong += problems
            for line in row.details if problems else ():
                print("    " + line, flush=True)
    for line in wrong:
        print("WRONG  " + line)
    print(f"{len(chosen)} liars, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
