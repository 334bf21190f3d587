"""Keeps docs/cases.md true: map_cases.py [--write] compares its last column with the tests.

A test says which case it shows in a comment `cases.md N, M`, right above it or inside it. A last
column that names no test (`void, …`, `the specification's own …`) is a person's and stays.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "cases.md"
TEST = re.compile(r"^\s*(?:TEST(?:_F|_P)?\((\w+), (\w+)\)|def (test_\w+)\()")
SKIPPED_LINE = re.compile(r"^\s*(#|//|@|$)")
NUMBERS = re.compile(r"cases\.md ((?:\d+(?:, (?=\d)| and |, and )?)+)")
ROW = re.compile(r"^\| (\d+) \| (.*) \| (.*) \|$")
NAMES_A_TEST = re.compile(r"^`[\w/]+\.(cc|py)`")


def test_name(line):
    match = TEST.match(line)
    if not match:
        return None
    return match[3] or f"{match[1]}.{match[2]}"


def test_of(lines, index):
    """The test that a comment at `index` belongs to."""
    following = index
    while following < len(lines) and SKIPPED_LINE.match(lines[following]):
        following += 1
    if following < len(lines) and test_name(lines[following]):
        return test_name(lines[following])
    return next((name for line in lines[index::-1] if (name := test_name(line))), None)


def shown_by():
    """{case: {file: {test}}}"""
    found = {}
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.suffix not in (".cc", ".py") or path == pathlib.Path(__file__).resolve():
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        for index, line in enumerate(lines):
            for match in NUMBERS.finditer(line):
                name = test_of(lines, index)
                if name is None:
                    sys.exit(f"{path}:{index + 1}: a case without a test")
                for number in re.findall(r"\d+", match[1]):
                    file = str(path.relative_to(ROOT / "tests"))
                    found.setdefault(int(number), {}).setdefault(file, set()).add(name)
    return found


def column(files):
    cells = [
        f"`{file}`: " + ", ".join(f"`{name}`" for name in sorted(files[file]))
        for file in sorted(files)
    ]
    return "<br>".join(cells) or "—"


def main():
    found = shown_by()
    lines = TABLE.read_text(encoding="utf-8").split("\n")
    seen = set()
    for index, line in enumerate(lines):
        row = ROW.match(line)
        if not row:
            continue
        number, expected, shown = int(row[1]), row[2], row[3]
        seen.add(number)
        if shown == "—" or NAMES_A_TEST.match(shown):
            lines[index] = f"| {number} | {expected} | {column(found.get(number, {}))} |"
    for number in sorted(set(found) - seen):
        print(f"docs/cases.md has no row for case {number}")
    text = "\n".join(lines)
    if "--write" in sys.argv:
        TABLE.write_text(text, encoding="utf-8")
        return 0
    if text == TABLE.read_text(encoding="utf-8") and not set(found) - seen:
        return 0
    print("docs/cases.md is not what the tests say: tests/support/map_cases.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())
