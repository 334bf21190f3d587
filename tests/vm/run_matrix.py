"""The kernel matrix: boots an older kernel under emulation, goes through host variations in it, and
compares what the helper said in each with tests/vm/expected/.

    run_matrix.py BUILD PLACE [--accept] [--only NAME,NAME] [--boot NAME]

BUILD is a release build. PLACE is a directory for archive, logs and what was seen; PLACE/fetched
holds the kernel and the busybox that fetch.sh brought.
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GUEST = os.path.join(HERE, "guest")
EXPECTED = os.path.join(HERE, "expected")
sys.path.insert(0, GUEST)

import initramfs  # noqa: E402
import laws  # noqa: E402
import variations  # noqa: E402

DEADLINE = float(os.environ.get("LOOM_VM_PATIENCE", "600"))  # seconds for one boot, start to end
# For each of the two users that the tests of ceilings run as.
TRIES = {
    "sweep_tries": os.environ.get("LOOM_SWEEP_TRIES", "50"),
    "gate_tries": os.environ.get("LOOM_GATE_TRIES", "8"),
}
MEMORY_MB = 1024
PROCESSOR = "qemu64,+rdrand"  # few features: emulating wide registers costs more than it saves
SCRIPTS = """control_groups.py driver.py observe.py run_tests.py setting.py test_ceilings.py
variations.py""".split()
# panic=-1 with -no-reboot ends the machine. Mitigations, zeroed pages and random addresses only cost
# an emulated processor time; addresses that stay let it find again what it has translated. On a busy
# machine the emulated timer may miss the kernel's test of it, which would end the boot.
PARAMETERS = """console=ttyS0 quiet panic=-1 rdinit=/init random.trust_cpu=on mitigations=off
init_on_alloc=0 norandmaps no_timer_check"""


def say(line=""):
    print(line, flush=True)


def guest_scripts():
    paths = [os.path.join(GUEST, name) for name in SCRIPTS]
    return [*paths, os.path.join(HERE, "../wire/client.py")]


class Machine:
    """One boot: a qemu process, its console in one file, the driver's reports in another."""

    def __init__(self, boot, options):
        self.boot = boot
        self.place = os.path.join(options.place, boot.name)
        os.makedirs(self.place, exist_ok=True)
        self.console, self.reports = (os.path.join(self.place, name) for name in ("console", "reports"))
        open(self.reports, "wb").close()
        self.taken = 0
        self.rows = []
        self.problem = None
        self.began = time.monotonic()
        self.process = subprocess.Popen(self.command(options), stdin=subprocess.DEVNULL)

    def command(self, options):
        told = {"boot": self.boot.name, "only": options.only or "", **TRIES}
        words = [*PARAMETERS.split(), self.boot.kernel]
        words += [f"matrix.{name}={value}" for name, value in told.items()]
        return [
            "qemu-system-x86_64",
            *("-accel", "tcg", "-machine", "pc", "-cpu", PROCESSOR, "-m", str(MEMORY_MB)),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-kernel", options.kernel, "-initrd", options.archive, "-append", " ".join(words)),
            *("-serial", f"file:{self.console}", "-serial", f"file:{self.reports}"),
        ]

    def poll(self):
        """Reads new reports; False when the machine has ended."""
        ended = self.process.poll() is not None
        with open(self.reports, "rb") as file:
            file.seek(self.taken)
            lines = file.read().split(b"\n")
        for line in lines[:-1]:
            self.taken += len(line) + 1
            self.take(json.loads(line))
        if not ended and time.monotonic() > self.began + DEADLINE:
            self.process.kill()
            self.process.wait()
            self.problem = f"no end within {DEADLINE:.0f} s"
            return False
        if ended and not any("done" in row for row in self.rows):
            self.problem = f"the machine ended early, qemu's status {self.process.returncode}"
        return not ended

    def take(self, row):
        self.rows.append(row)
        if "kernel" in row:
            passed = time.monotonic() - self.began
            say(f"  {self.boot.name}: kernel {row['kernel']} after {passed:.1f} s")
        elif "begins" in row:
            say(f"  {self.boot.name}: {row['begins']} …")
        elif "ends" in row:
            say(f"  {self.boot.name}: {row['ends']} took {row['seconds']:.1f} s")

    def console_text(self):
        with open(self.console, encoding="utf-8", errors="replace") as file:
            return file.read()


def run_machines(options):
    boots = [boot for boot in variations.BOOTS if not options.boot or boot.name == options.boot]
    if options.only:
        wanted = set(options.only.split(","))
        boots = [boot for boot in boots if wanted & {each.name for each in boot.variations}]
    machines = [Machine(boot, options) for boot in boots]
    say("+ " + " ".join(machines[0].process.args))
    running = list(machines)
    try:
        while running:
            running = [machine for machine in running if machine.poll()]
            time.sleep(0.1)
    finally:
        for machine in machines:
            if machine.process.poll() is None:
                machine.process.kill()
                machine.process.wait()
    return machines


def summary(text):
    """An observation in a few words, for the table."""
    ran, refused = len(re.findall(r"(?m)^  code ", text)), len(re.findall(r"(?m)^  refused", text))
    skips = len(re.findall(r"(?m)^    skip:", text))
    words = ("ENFORCED", "SKIPPED", "FAILED")
    verdicts = "/".join(str(len(re.findall(rf"(?m)^  {word} ", text))) for word in words)
    return f"{ran} ran {refused} refused {skips} skips, self-test {verdicts}"


def expectation(name):
    path = os.path.join(EXPECTED, f"{name}.txt")
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def accept(name, text):
    os.makedirs(EXPECTED, exist_ok=True)
    with open(os.path.join(EXPECTED, f"{name}.txt"), "w", encoding="utf-8") as file:
        file.write(text)


def print_table(rows):
    """Columns as wide as their widest cell."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_differences(name, expected, seen):
    for line in difflib.unified_diff(
        expected.splitlines(), seen.splitlines(), f"expected/{name}.txt", "seen", lineterm=""
    ):
        say(line)


def verdict(name, text, options):
    if laws.broken(laws.named(name), text):
        return "WRONG"
    if options.accept:
        accept(name, text)
    return "equal" if expectation(name) == text else "DIFFERENT"


def print_ceilings(observations):
    titles = (laws.BOMB, laws.ALLOCATION)
    table = [("variation", *titles)]
    for name, text in observations.items():
        table.append((name, *(laws.ending(text, title) for title in titles)))
    print_table(table)


def judge(observations, options):
    """Prints tables and differences; how many variations are not as expected."""
    verdicts = {name: verdict(name, text, options) for name, text in observations.items()}
    table = [("variation", "expected", "seen", "result")]
    for name, text in observations.items():
        expected = expectation(name)
        due = summary(expected) if expected else "nothing yet"
        table.append((name, due, summary(text), verdicts[name]))
    say()
    print_table(table)
    say()
    print_ceilings(observations)
    wrong = [name for name, word in verdicts.items() if word != "equal"]
    for name in wrong:
        say()
        for line in laws.broken(laws.named(name), observations[name]):
            say(f"{name}: never right: {line}")
        print_differences(name, expectation(name), observations[name])
    return len(wrong)


def judge_names(observations, options):
    """Variations that nobody saw and expectations of no variation; how many."""
    if options.only or options.boot:
        return 0
    known = {variation.name for variation in variations.variations()}
    held = {name.removesuffix(".txt") for name in os.listdir(EXPECTED)}
    problems = [f"{name}: not seen" for name in sorted(known - set(observations))]
    problems += [f"expected/{name}.txt: no such variation" for name in sorted(held - known)]
    for problem in problems:
        say(problem)
    return len(problems)


def judge_ceilings(machines):
    """Prints what the tests of ceilings said in the guest; how many of their runs failed."""
    failed = 0
    for machine in machines:
        for row in machine.rows:
            if not row.get("ceilings"):
                continue
            say(f"\ntests of ceilings, {row['ends']}: status {row['ceilings']['status']}")
            say(row["ceilings"]["text"].rstrip())
            failed += row["ceilings"]["status"] != 0
    return failed


def judge_machines(machines):
    broken = [machine for machine in machines if machine.problem]
    for machine in broken:
        say(f"\nboot {machine.boot.name}: {machine.problem}; its console:")
        say(machine.console_text())
    return len(broken)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("build", "place"):
        parser.add_argument(name)
    parser.add_argument("--accept", action="store_true", help="make what is seen the expectation")
    parser.add_argument("--only", help="these variations, comma separated")
    parser.add_argument("--boot", help="this boot alone")
    options = parser.parse_args()
    fetched = os.path.join(options.place, "fetched")
    options.kernel, options.busybox = (os.path.join(fetched, name) for name in ("vmlinuz", "busybox"))
    options.archive = os.path.join(options.place, "initramfs")
    return options


def keep(observations, place):
    """What was seen, as files beside the logs."""
    os.makedirs(os.path.join(place, "seen"), exist_ok=True)
    for name, text in observations.items():
        with open(os.path.join(place, "seen", f"{name}.txt"), "w", encoding="utf-8") as file:
            file.write(text)


def main():
    options = arguments()
    began = time.monotonic()
    init = os.path.join(GUEST, "init")
    scripts = guest_scripts()
    size = initramfs.write(options.archive, options.build, options.busybox, init, scripts)
    say(f"initramfs: {size >> 20} MiB, made in {time.monotonic() - began:.1f} s")
    machines = run_machines(options)
    observations = {row["ends"]: row["text"] for m in machines for row in m.rows if "ends" in row}
    keep(observations, options.place)
    wrong = (
        judge(observations, options) + judge_names(observations, options),
        judge_ceilings(machines),
        judge_machines(machines),
    )
    say()
    say(
        f"kernel matrix: {len(observations)} variations, {wrong[0]} not as expected, {wrong[1]} runs"
        f" of the tests of ceilings failed, {wrong[2]} boots broke, {time.monotonic() - began:.0f} s"
    )
    return 1 if any(wrong) or not observations else 0


if __name__ == "__main__":
    sys.exit(main())
