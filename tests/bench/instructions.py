"""The helper's own share in instructions, which a busy machine does not change.

instructions.py [--executions N] [--json FILE]: of a helper without executions and of one with N more
of a kind; the difference, divided, is one execution. LOOM_EXEC is the helper. What the helper starts
is not counted. Counted are instructions of user programs, by perf where this machine's processor
offers a counter, and else by callgrind, which runs the helper some 50 times slower.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
for suite in ("wire", "soak"):
    sys.path.insert(0, os.path.join(HERE, os.pardir, suite))

import client  # noqa: E402  (found only after the path is set)
import soak  # noqa: E402

PLACE = os.environ.get("LOOM_BENCH_DIR", "/var/tmp")
SLOWLY = 120  # seconds of patience: under callgrind
# What is kept from the first execution on is in place before the counting begins.
FIRST = 5


class Perf:
    name = "perf stat -e instructions:u"
    command = "exec perf stat --no-inherit -x, -e instructions:u -o {place}/counted -- {helper} \"$@\"\n"

    @staticmethod
    def works():
        if not shutil.which("perf"):
            return False
        tried = subprocess.run(
            ["perf", "stat", "-x,", "-e", "instructions:u", "true"], capture_output=True, text=True, check=False
        )
        return tried.returncode == 0 and re.search(r"^\d+,", tried.stderr, re.MULTILINE) is not None

    @staticmethod
    def read(place, _pid):
        with open(f"{place}/counted", encoding="utf-8") as file:
            return int(re.search(r"^(\d+),", file.read(), re.MULTILINE)[1])


class Callgrind:
    name = "valgrind --tool=callgrind"
    # The helper's own file; a child that became another program writes none.
    command = "exec valgrind --tool=callgrind --callgrind-out-file={place}/counted.%p -- {helper} \"$@\"\n"

    @staticmethod
    def works():
        return shutil.which("valgrind") is not None

    @staticmethod
    def read(place, pid):
        with open(f"{place}/counted.{pid}", encoding="utf-8") as file:
            return int(re.search(r"^totals: (\d+)", file.read(), re.MULTILINE)[1])


class Counter:
    """Runs helpers below one of the two, and tells what they took."""

    def __init__(self, way, place):
        self.way, self.place = way, place
        self.wrapper, self.ws = os.path.join(place, "helper"), os.path.join(place, "ws")
        with open(self.wrapper, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + way.command.format(place=place, helper=client.helper_path()))
        os.chmod(self.wrapper, 0o755)
        os.mkdir(self.ws)
        os.environ["LOOM_EXEC"] = self.wrapper

    def helper_of(self, wrapper):
        """perf stays above what it counts; callgrind becomes it."""
        return wrapper if self.way is Callgrind else soak.children(wrapper)[0]

    def policy(self, protected):
        files = [os.path.join(self.ws, str(number)) for number in range(protected)]
        for path in files:
            with open(path, "w", encoding="ascii"):
                pass
        return client.policy(writable_roots=[self.ws], protected=files)

    def count(self, executions, warm, protected=0):
        flags = () if warm else ("--no-warm",)
        with client.Helper(self.policy(protected), *flags, hello=False) as helper:
            helper.expect("hello", timeout=SLOWLY)
            if executions:
                helper.send("hello", {"proto": client.PROTO, "peer": "broker", "features": []})
            pid = self.helper_of(helper.pid)
            for _ in range(executions):
                if warm and not client.wait_until(lambda: soak.waiting_below(pid), SLOWLY):
                    raise AssertionError(f"no jail waits: {helper.stderr_text()}")
                run = helper.execute(["/usr/bin/true"], cwd=self.ws, timeout=SLOWLY)
                assert run.code == 0, run.exit
            helper.end_input()
            helper.remaining(SLOWLY)
            assert helper.wait_exit(SLOWLY) == 0, helper.stderr_text()
        return self.way.read(self.place, pid)

    def share(self, executions, warm, protected=0):
        few, many = (self.count(FIRST + more, warm, protected) for more in (0, executions))
        return round((many - few) / executions)


def measure(executions, place):
    way = next((way for way in (Perf, Callgrind) if way.works()), None)
    if way is None:
        raise SystemExit("neither perf with a counter of instructions nor valgrind is here")
    counter = Counter(way, place)
    return {
        "counted by": way.name,
        "start to hello, and leaving": counter.count(0, warm=False),
        "cold execution": counter.share(executions, warm=False),
        "warm execution, the next jail included": counter.share(executions, warm=True),
        # bubblewrap takes a second and more for each of these.
        "cold execution, 1,000 protected files": counter.share(max(2, executions // 4), False, 1000),
    }


def main():
    parser = argparse.ArgumentParser(description="The helper's own share in instructions.")
    parser.add_argument("--executions", type=int, default=40, help="that the difference is divided by (40)")
    parser.add_argument("--json", help="write the figures to this file too")
    options = parser.parse_args()
    place = tempfile.mkdtemp(prefix="loom-instructions-", dir=PLACE)
    try:
        figures = measure(options.executions, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    for name, figure in figures.items():
        print(f"{name:40} {figure if isinstance(figure, str) else f'{figure:14,}'}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"v": 1, "instructions": figures}, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
