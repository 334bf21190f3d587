"""The guest's part of run_in_vm.py: makes one variation of the kernel matrix and takes layers away in it.

Stands where the matrix has its own driver. What the table's script prints goes out through the second
serial port, and its status last.
"""

import subprocess

import control_groups
import setting
import variations

SUITE = "/opt/matrix"
VARIATION = variations.Variation("sabotage", "uid 0 with a delegated base", variations.ROOT, variations.DELEGATED)
FLAGS = ("--uncompared", "--jobs", "1")
PLACES = ("/opt/loom/bin/loom-exec", "/opt/sabotage")


def parameter(name):
    words = control_groups.read("/proc/cmdline").split()
    return next(word.split("=", 1)[1] for word in words if word.startswith(f"{name}="))


def main():
    with open("/dev/ttyS1", "wb", buffering=0) as port:
        group, base = control_groups.set_up(VARIATION)
        child = subprocess.run(
            ["/usr/bin/python3", f"{SUITE}/run_sabotage.py", *FLAGS, "--only", parameter("sabotage.only"), *PLACES],
            stdin=subprocess.DEVNULL,
            stdout=port,
            stderr=subprocess.STDOUT,
            env={**setting.environment(VARIATION, base), "LOOM_WIRE_SUITE": SUITE},
            preexec_fn=lambda: setting.become(VARIATION, group),
            check=False,
        )
        port.write(f"status {child.returncode}\n".encode())


if __name__ == "__main__":
    main()
