"""Compares what `loom-exec --self-test` said with what is declared for this kind of machine.

    check_self_test.py [--status N] OUTPUT EXPECTED…

OUTPUT is a file with the self-test's standard output ("-": standard input), EXPECTED a declaration,
one line a probe: `required|<name>` or `known-gap|<name>|<reason>`; blank lines and lines that begin
with # are comments. A machine may be of several kinds: a probe is required if every declaration
requires it. `--status` is the exit status the self-test ended with.

Fails when a required probe is not ENFORCED, when a known gap is, when the names are not the declared
ones, and when the output contradicts itself: nothing is taken on trust from a summary.
"""

import re
import sys

WORDS = ("ENFORCED", "SKIPPED", "FAILED")
VERDICT = re.compile(r"  (ENFORCED  |SKIPPED   |FAILED    )([^ (][^(]*?)(?: \((.*)\))?")
HEADING = "==== enforcement summary ===="
OK = "RESULT: OK (skips come from the environment and are not passes)"
NOT_A_PASS = "RESULT: NOT RUN (not a pass)"


class Wrong(Exception):
    """The output or a declaration is not what it must be; the text says what and where."""


class Output:
    """One self-test's output, read line by line by the grammar of docs/self-test.md 1."""

    def __init__(self, text):
        if not text.endswith("\n"):
            raise Wrong("the output does not end with a whole line")
        self.lines = text[:-1].split("\n")
        self.at = 0
        self.verdicts = {}  # name to (word, reason), in order
        self.not_run = None
        title = self.take("a title")
        if not title.endswith("self-test"):
            raise Wrong(f"line 1 is no title: {title!r}")
        features = self.take("the features")
        if not features.startswith("  features: "):
            raise Wrong(f"line 2 names no features: {features!r}")
        self.features = features[len("  features: ") :].split(", ")
        self.take_exactly("")
        if self.peek().startswith("  NOT RUN   "):
            self.take_not_run()
        else:
            self.take_verdicts()
        if self.at != len(self.lines):
            raise Wrong(f"line {self.at + 1} follows the result: {self.lines[self.at]!r}")

    def peek(self):
        return self.lines[self.at] if self.at < len(self.lines) else ""

    def take(self, what):
        if self.at == len(self.lines):
            raise Wrong(f"the output ends where {what} is due")
        self.at += 1
        return self.lines[self.at - 1]

    def take_exactly(self, line):
        found = self.take(repr(line))
        if found != line:
            raise Wrong(f"line {self.at} is {found!r}, due is {line!r}")

    def take_not_run(self):
        line = self.take("a reason")
        match = re.fullmatch(r"  NOT RUN   every probe \((.+)\)", line)
        if not match:
            raise Wrong(f"line {self.at} is no NOT RUN: {line!r}")
        self.not_run = match.group(1)
        for due in ("", HEADING, "enforced (0):"):
            self.take_exactly(due)
        self.take("a remark")
        self.take_exactly("")
        self.result = self.take("a result")
        if self.result != NOT_A_PASS and not self.result.startswith("RESULT: UNSUPPORTED PLATFORM ("):
            raise Wrong(f"nothing was run, and the result is {self.result!r}")

    def take_verdicts(self):
        while self.peek():
            self.take_verdict(self.take("a verdict"))
        if not self.verdicts:
            raise Wrong("there is not one verdict")
        self.take_exactly("")
        self.take_exactly(HEADING)
        self.take_summary()
        self.take_exactly("")
        self.result = self.take("a result")
        failed = [name for name, (word, _) in self.verdicts.items() if word == "FAILED"]
        if failed and not re.fullmatch(r"RESULT: FAIL \(.+\)", self.result):
            raise Wrong(f"{failed[0]!r} failed, and the result is {self.result!r}")
        if not failed and self.result != OK and not self.result.startswith("RESULT: FAIL (interrupted"):
            raise Wrong(f"nothing failed, and the result is {self.result!r}")

    def take_verdict(self, line):
        match = VERDICT.fullmatch(line)
        if not match:
            raise Wrong(f"line {self.at} is no verdict: {line!r}")
        word, name, reason = match.group(1).rstrip(), match.group(2), match.group(3)
        if (word == "ENFORCED") != (reason is None):
            raise Wrong(f"line {self.at}: only what is not ENFORCED has a reason: {line!r}")
        if name in self.verdicts:
            raise Wrong(f"line {self.at}: a second verdict on {name!r}")
        self.verdicts[name] = (word, reason)

    def take_summary(self):
        names = {word: [n for n, (w, _) in self.verdicts.items() if w == word] for word in WORDS}
        self.take_exactly(f"enforced ({len(names['ENFORCED'])}):")
        for name in names["ENFORCED"]:
            self.take_exactly(f"  + {name}")
        self.take_exactly(f"skipped ({len(names['SKIPPED'])}) — not verified here")
        for name in names["SKIPPED"]:
            self.take_exactly(f"  - {name}: {self.verdicts[name][1]}")

    @property
    def status(self):
        """What a self-test that printed this must end with."""
        return 0 if self.result == OK else 1


def parse_declaration(text, source):
    """The declared probes: name to None (required) or to the reason of a known gap."""
    declared = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        parts = line.split("|")
        required = parts[0] == "required" and len(parts) == 2 and parts[1]
        gap = parts[0] == "known-gap" and len(parts) == 3 and parts[1] and parts[2].strip()
        if not required and not gap:
            raise Wrong(f"{source}:{number}: neither required|NAME nor known-gap|NAME|REASON: {line!r}")
        if parts[1] in declared:
            raise Wrong(f"{source}:{number}: {parts[1]!r} is declared twice")
        declared[parts[1]] = parts[2].strip() if gap else None
    if not declared:
        raise Wrong(f"{source}: nothing is declared")
    return declared


def read_declaration(path):
    with open(path, encoding="utf-8") as file:
        return parse_declaration(file.read(), path)


def merge(declarations):
    """Of several kinds at once: required is what all of them require."""
    merged = dict(declarations[0])
    for other in declarations[1:]:
        if set(other) != set(merged):
            raise Wrong(f"the declarations name different probes: {sorted(set(other) ^ set(merged))}")
        for name, reason in other.items():
            merged[name] = merged[name] or reason
    return merged


def problems(output, declared, status=None):
    """Everything that is not as declared, one line each; empty when all is well."""
    if output.not_run is not None:
        return [f"no probe was run: {output.not_run}"]
    found = []
    for name in [name for name in declared if name not in output.verdicts]:
        found.append(f"{name}: declared, and not probed")
    for name, (word, reason) in output.verdicts.items():
        if name not in declared:
            found.append(f"{name}: probed, and not declared")
        elif declared[name] is None and word != "ENFORCED":
            found.append(f"{name}: required, and {word} ({reason})")
        elif declared[name] is not None and word == "ENFORCED":
            found.append(f"{name}: declared a known gap ({declared[name]}), and ENFORCED: require it")
    if output.result.startswith("RESULT: FAIL (interrupted"):
        found.append(f"not all probes were run: {output.result}")
    if status is not None and status != output.status:
        found.append(f"exit status {status} under {output.result!r}")
    return found


def main(words):
    status = None
    if words[:1] == ["--status"] and len(words) > 1 and words[1].isdigit():
        status = int(words[1])
        words = words[2:]
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if words[0] == "-":
            text = sys.stdin.read()
        else:
            with open(words[0], encoding="utf-8") as file:
                text = file.read()
        found = problems(Output(text), merge([read_declaration(path) for path in words[1:]]), status)
    except (Wrong, OSError, UnicodeDecodeError) as problem:
        found = [str(problem)]
    for line in found:
        print(f"check_self_test: {line}")
    if not found:
        print("check_self_test: every probe is as declared")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
