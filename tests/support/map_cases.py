"""Keeps docs/cases.md true: map_cases.py [--write] compares its last column with the tests.

A test says which case it shows in a comment `cases.md N, M`, right above it or inside it. A last
column that names no test (`void, …`, `the specification's own …`) is a person's and stays.
"""

import re
import sys

from commented_tests import NOBODY, ROOT, column, settle, shown_by

TABLE = ROOT / "docs" / "cases.md"
NUMBERS = re.compile(r"cases\.md ((?:\d+(?:, (?=\d)| and |, and )?)+)")
ROW = re.compile(r"^\| (\d+) \| (.*) \| (.*) \|$")
NAMES_A_TEST = re.compile(r"^`[\w/]+\.(cc|py)`")


def cases_of(line):
    return [int(number) for match in NUMBERS.finditer(line) for number in re.findall(r"\d+", match[1])]


def main():
    found = shown_by(cases_of, ROOT / "tests")
    lines = TABLE.read_text(encoding="utf-8").split("\n")
    seen = set()
    for index, line in enumerate(lines):
        row = ROW.match(line)
        if not row:
            continue
        number, expected, shown = int(row[1]), row[2], row[3]
        seen.add(number)
        if shown == NOBODY or NAMES_A_TEST.match(shown):
            lines[index] = f"| {number} | {expected} | {column(found.get(number, {}))} |"
    problems = [f"no row for case {number}" for number in sorted(set(found) - seen)]
    return settle(TABLE, "\n".join(lines), problems, "--write" in sys.argv, "map_cases.py")


if __name__ == "__main__":
    sys.exit(main())
