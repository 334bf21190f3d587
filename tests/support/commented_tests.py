"""Which tests show which entry of a list: a test says so in a comment right above it or inside it.

The tables below docs/ that name tests are kept by these comments; see map_cases.py and
map_field_reports.py.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = re.compile(r"^\s*(?:TEST(?:_F|_P)?\((\w+), (\w+)\)|def (test_\w+)\()")
SKIPPED_LINE = re.compile(r"^\s*(#|//|@|$)")
NOBODY = "—"  # what a table says where no test shows the entry


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


def shown_by(entries_of, tests):
    """{entry: {file below `tests`: {test}}}; `entries_of` gives the entries that a line names.

    The tools in tests/support and their own tests show nothing.
    """
    found = {}
    for path in sorted(tests.rglob("*")):
        file = path.relative_to(tests)
        if path.suffix not in (".cc", ".py") or file.parts[0] == "support":
            continue
        lines = path.read_text(encoding="utf-8").split("\n")
        for index, line in enumerate(lines):
            for entry in entries_of(line):
                name = test_of(lines, index)
                if name is None:
                    sys.exit(f"{path}:{index + 1}: {entry} without a test")
                found.setdefault(entry, {}).setdefault(str(file), set()).add(name)
    return found


def column(files):
    """The cell of a table that names these tests."""
    cells = [
        f"`{file}`: " + ", ".join(f"`{name}`" for name in sorted(files[file]))
        for file in sorted(files)
    ]
    return "<br>".join(cells) or NOBODY


def settle(table, text, problems, write, tool):
    """Writes the table, or compares it with what it should be. The tool's exit status."""
    stale = text != table.read_text(encoding="utf-8")
    if write and stale:
        table.write_text(text, encoding="utf-8")
    if stale and not write:
        problems = [*problems, f"it is not what the tests say: tests/support/{tool} --write"]
    for problem in problems:
        print(f"{table.name}: {problem}")
    return 1 if problems else 0
