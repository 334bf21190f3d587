#!/usr/bin/python3
"""Does what the first two chapters of docs/backend-guide.md say, and compares what comes out.

  follow_guide.py PREFIX [GUIDE]

In an empty folder, with the installation below PREFIX and nothing else of ours; GUIDE is that installation's
unless it is named. Blocks marked `sh` are run, each as a whole. The lines of a `text` block must come out of
the `sh` block before it, in this order, others between; an ellipsis in them stands for anything. A `diff` is
applied. Blocks marked otherwise are for people. Where the guide says /usr, PREFIX is meant."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
LAST_CHAPTER = "## 3. "
DEADLINE_S = 600


def blocks(guide):
    """(kind, text) of what is to be done and compared, in order."""
    text = guide.read_text(encoding="utf-8")
    tutorial, mark, _ = text.partition("\n" + LAST_CHAPTER)
    if not mark:
        raise SystemExit(f"follow_guide: {guide} has no chapter {LAST_CHAPTER.strip('# ')}")
    found = [(match[1], match[2]) for match in FENCED.finditer(tutorial)]
    counts = {kind: sum(1 for each, _ in found if each == kind) for kind in ("sh", "text", "diff")}
    if min(counts.values()) < 3:
        raise SystemExit(f"follow_guide: {guide} is not read as it was meant: {counts}")
    return found, counts


class Reader:
    """Somebody with a shell in an empty folder."""

    def __init__(self, prefix, folder):
        self.prefix = prefix
        self.folder = folder
        self.said = ""
        self.environment = {**os.environ, "CMAKE_PREFIX_PATH": prefix, "LC_ALL": "C.UTF-8",
                            "PATH": f"{prefix}/bin:{os.environ['PATH']}"}

    def do(self, script):
        script = script.replace("/usr/share/", self.prefix + "/share/")
        left = tempfile.NamedTemporaryFile("r", dir="/var/tmp")
        with left:
            done = subprocess.run(["sh", "-euc", f"{script}\npwd >'{left.name}'"], cwd=self.folder,
                                  env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  stdin=subprocess.DEVNULL, text=True, errors="replace", timeout=DEADLINE_S,
                                  check=False)
            self.said = done.stdout
            if done.returncode != 0:
                raise SystemExit(f"{self.said}\nfollow_guide: status {done.returncode} of:\n{script}")
            self.folder = left.read().rstrip("\n")

    def patch(self, text):
        done = subprocess.run(["patch", "-p0", "--fuzz=0", "--batch", "--forward"], cwd=self.folder, input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{done.stdout}\nfollow_guide: this does not apply:\n{text}")

    def compare(self, expected):
        lines = self.said.splitlines()
        for wanted in filter(None, expected.splitlines()):
            pattern = ".*".join(re.escape(part) for part in wanted.split("…"))
            while lines and not re.fullmatch(pattern, lines[0].rstrip()):
                lines.pop(0)
            if not lines:
                raise SystemExit(f"{self.said}\nfollow_guide: this did not come out, or too early: {wanted}")
            lines.pop(0)


def main(words):
    prefix = os.path.abspath(words[0])
    guide = pathlib.Path(words[1] if len(words) > 1 else prefix + "/share/doc/loom-exec/docs/backend-guide.md")
    found, counts = blocks(guide)
    with tempfile.TemporaryDirectory(prefix="loom-guide-", dir="/var/tmp") as folder:
        reader = Reader(prefix, folder)
        steps = {"sh": reader.do, "diff": reader.patch, "text": reader.compare}
        for kind, text in found:
            if kind in steps:
                steps[kind](text)
    print(f"follow_guide: {counts['sh']} blocks of commands, {counts['diff']} changes and {counts['text']} outputs are as "
          "the guide has them")


if __name__ == "__main__":
    main(sys.argv[1:])
