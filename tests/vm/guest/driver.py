"""Goes through the variations of this boot, as uid 0, and reports on the second serial port.

One JSON object a line: {"kernel": RELEASE}; for each variation {"begins": NAME}, then {"ends": NAME,
"seconds": S, "text": OBSERVATION, "ceilings": {"status": N, "text": OUTPUT} or null}; {"done": true}
last. Who reads them stands outside the guest: tests/vm/run_matrix.py.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import control_groups
import setting
import variations

PLACE = "/srv/case"
SUITE = os.path.dirname(os.path.abspath(__file__))
FOLDERS = ("ws", "ws/secrets", "outside", "scratch", "library", "tool", "cache")
FILES = ("ws/secret.env", "ws/secrets/key", "outside/victim", "library/book")
PATIENCE = 300  # seconds for all of one variation


def report(port, **row):
    port.write(json.dumps(row).encode() + b"\n")
    port.flush()


def parameters():
    """What the kernel's command line says to us: matrix.NAME=VALUE."""
    words = control_groups.read("/proc/cmdline").split()
    pairs = [word.split("=", 1) for word in words if word.startswith("matrix.") and "=" in word]
    return {name.removeprefix("matrix."): value for name, value in pairs}


def make_place(uid):
    """What the fixed policies name, new for each variation and its user's."""
    shutil.rmtree(PLACE, ignore_errors=True)
    for name in FOLDERS:
        os.makedirs(f"{PLACE}/{name}")
    for name in FILES:
        with open(f"{PLACE}/{name}", "w", encoding="ascii") as file:
            file.write("S3CRET\n")
    for folder, names, files in os.walk(PLACE):
        for name in ("", *names, *files):
            os.chown(os.path.join(folder, name), uid, uid)
    os.makedirs(setting.WITHOUT_BWRAP, exist_ok=True)


def run_in(variation, group, base, *words, **more):
    """A program of the suite in the variation's setting: its status and what it printed."""
    child = subprocess.Popen(
        ["/usr/bin/python3", *words],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**setting.environment(variation, base), "PYTHONPATH": SUITE, **more},
        preexec_fn=lambda: setting.become(variation, group),
        start_new_session=True,
    )
    try:
        text, _ = child.communicate(timeout=PATIENCE)
        return child.returncode, text.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        text, _ = child.communicate()
        return -signal.SIGKILL, text.decode("utf-8", "replace") + f"no end within {PATIENCE} s\n"


def left_behind(base):
    """What the helper's runs left on the host: it should be nothing."""
    walk = [(folder, [*names, *files]) for folder, names, files in os.walk(PLACE)]
    there = {os.path.join(folder, name) for folder, names in walk for name in names}
    left = sorted(there - {f"{PLACE}/{name}" for name in FOLDERS + FILES})
    left += control_groups.strangers(base)
    left += [f"process {pid}" for pid in control_groups.processes()]
    left += [name for name in os.listdir("/var/tmp") if name.startswith("loom-")]
    return left


def settled_remains(base):
    """Control groups go a moment after the answer; what is there after a while stays."""
    deadline = time.monotonic() + 5
    while (left := left_behind(base)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


def observe(variation):
    """The text of one variation, and what the tests of ceilings said where they run."""
    make_place(variation.uid)
    group, base = control_groups.set_up(variation)
    setting.allow_namespaces(variation.namespaces)
    try:
        status, text = run_in(variation, group, base, f"{SUITE}/observe.py")
        if status != 0:
            text += f"BROKEN: the observer ended with {status}\n"
        left = settled_remains(base)
        text += f"\nleft on the host: {', '.join(left) if left else 'nothing'}\n"
        ceilings = test_ceilings(variation, group, base) if variation.ceilings else None
    finally:
        setting.allow_namespaces(True)
        control_groups.tear_down()
    return f"variation: {variation.title}\n{text}", ceilings


def test_ceilings(variation, group, base):
    given = parameters()
    tries = {"LOOM_SWEEP_TRIES": given["sweep_tries"], "LOOM_GATE_TRIES": given["gate_tries"]}
    words = (f"{SUITE}/run_tests.py", "test_ceilings")
    status, text = run_in(variation, group, base, *words, **tries)
    return {"status": status, "text": text}


def main():
    with open("/dev/ttyS1", "wb") as port:
        report(port, kernel=os.uname().release)
        setting.hand_over_dumps()
        boot = variations.boot_named(parameters()["boot"])
        only = parameters().get("only", "")
        for variation in boot.variations:
            if only and variation.name not in only.split(","):
                continue
            report(port, begins=variation.name)
            began = time.monotonic()
            text, ceilings = observe(variation)
            passed = time.monotonic() - began
            report(port, ends=variation.name, seconds=passed, text=text, ceilings=ceilings)
        report(port, done=True)


if __name__ == "__main__":
    sys.exit(main())
