"""Keeps the table of cases in docs/guard.md true: map_guard_cases.py [--write] compares its last
column with the tests.

A test says which case it shows in a comment `guard 9.5: 78, 79`, right above it or inside it. A last
column that begins with "void" is a person's and stays.
"""

import re
import sys

from commented_tests import NOBODY, ROOT, column, settle, shown_by

TABLE = ROOT / "docs" / "guard.md"
COMMENT = re.compile(r"guard (9\.\d: .*)")
PART = re.compile(r"9\.(\d): (\d+(?:, \d+)*)")
ROW = re.compile(r"^\| 9\.(\d) \| (\d+) \| (.*) \| (.*) \|$")
LAST_CASE = 176


def cases_of(line):
    found = COMMENT.search(line)
    if not found:
        return []
    return [
        (int(chapter), int(number))
        for chapter, numbers in PART.findall(found[1])
        for number in numbers.split(", ")
    ]


def main():
    found = shown_by(cases_of, ROOT / "tests")
    lines = TABLE.read_text(encoding="utf-8").split("\n")
    seen = set()
    problems = []
    for index, line in enumerate(lines):
        row = ROW.match(line)
        if not row:
            continue
        chapter, number, expected, shown = int(row[1]), int(row[2]), row[3], row[4]
        seen.add((chapter, number))
        if not shown.startswith("void"):
            shown = column(found.get((chapter, number), {}))
            lines[index] = f"| 9.{chapter} | {number} | {expected} | {shown} |"
        if shown == NOBODY:
            problems.append(f"case {number} is shown by no test")
    problems += [f"no row for case {number} of 9.{chapter}" for chapter, number in sorted(set(found) - seen)]
    problems += [f"case {n} has no row" for n in range(1, LAST_CASE + 1) if n not in {n for _, n in seen}]
    return settle(TABLE, "\n".join(lines), problems, "--write" in sys.argv, "map_guard_cases.py")


if __name__ == "__main__":
    sys.exit(main())
