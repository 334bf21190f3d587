"""Keeps docs/field-reports.md true, and ctest's label `field` with it.

    map_field_reports.py [--write]        compares the table's last column with the tests, or writes it
    map_field_reports.py --ctest CTEST BUILD   the same, and that `ctest -L field` runs those tests
    map_field_reports.py --labels         names of the tests in ctest that get the label, for CMake

A test says which report it shows in a comment `field Bnn`, right above it or inside it. A report
that no test shows says why not, in the column before.
"""

import json
import re
import subprocess
import sys

from commented_tests import NOBODY, ROOT, column, settle, shown_by

TABLE = ROOT / "docs" / "field-reports.md"
REPORTS = [f"B{number:02}" for number in range(1, 95)]
MOST_WITHOUT = 25  # of them may have no test
IN_A_MACHINE = "vm/"  # these tests are run by ./dev vm, in a kernel of their own
NAMES = re.compile(r"\bfield ((?:B\d\d(?:, (?=B\d)| and (?=B\d)|, and (?=B\d))?)+)")
ROW = re.compile(r"^\| (B\d\d) \|([^|]*)\|([^|]*)\|[^|]*\|$")
NO_REASON = ("", "–", NOBODY)  # the second: what the report expects


def reports_of(line):
    return [name for match in NAMES.finditer(line) for name in re.findall(r"B\d\d", match[1])]


def rewritten(text, found):
    """The table with the tests that were found, and what is wrong with it."""
    lines, rows, without, problems = text.split("\n"), [], [], []
    for index, line in enumerate(lines):
        row = ROW.match(line)
        if not row:
            continue
        name, title, answer = (cell.strip() for cell in row.groups())
        rows.append(name)
        shown = column(found.get(name, {}))
        lines[index] = f"| {name} | {title} | {answer} | {shown} |"
        if shown == NOBODY:
            without.append(name)
            if answer in NO_REASON:
                problems.append(f"{name} has neither a test nor a reason")
    if rows != REPORTS:
        wrong = sorted(set(rows) ^ set(REPORTS)) or "their order"
        problems.append(f"the rows are not B01 to B94, each once: {wrong}")
    problems += [f"{name}, which a test names, is no report" for name in sorted(set(found) - set(REPORTS))]
    if len(without) > MOST_WITHOUT:
        problems.append(f"{len(without)} reports have no test, {MOST_WITHOUT} may: {', '.join(without)}")
    return "\n".join(lines), problems


def ctest_names(found):
    """The tests in ctest that run what was found: a module of a suite, or one GoogleTest."""
    names = set()
    for files in found.values():
        for file, tests in files.items():
            suite, _, module = file.rpartition("/")
            if file.startswith(IN_A_MACHINE):
                continue
            if file.endswith(".py"):
                names.add(f"{suite}.{module.removeprefix('test_').removesuffix('.py')}")
            else:
                names |= tests
    return sorted(names)


def labels(found):
    """The same, with what loom_suite calls a module's second run; a name ctest lacks does no harm."""
    names = ctest_names(found)
    return ";".join([*names, *(f"{name}.ordinary_user" for name in names)])


def unlabelled(found, run_by_label, all_names):
    """What `ctest -L field` leaves out. A program that is not built has no tests yet."""
    missing = set(ctest_names(found)) - set(run_by_label)
    if any(name.endswith("_NOT_BUILT") for name in all_names):
        missing &= set(all_names)
    return [f"`ctest -L field` does not run {name}" for name in sorted(missing)]


def listed(ctest, build, *words):
    done = subprocess.run(
        [ctest, "--test-dir", build, "--show-only=json-v1", *words],
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    return [test["name"] for test in json.loads(done.stdout)["tests"]]


def main(words):
    found = shown_by(reports_of, ROOT / "tests")
    if words == ["--labels"]:
        print(labels(found))
        return 0
    text, problems = rewritten(TABLE.read_text(encoding="utf-8"), found)
    if words[:1] == ["--ctest"]:
        _, ctest, build = words
        problems += unlabelled(found, listed(ctest, build, "-L", "^field$"), listed(ctest, build))
    elif words not in ([], ["--write"]):
        sys.exit(__doc__)
    return settle(TABLE, text, problems, words == ["--write"], "map_field_reports.py")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
