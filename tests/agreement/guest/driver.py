"""The guest's part of run_in_vm.py: one variation of the kernel matrix, and the agreement test in it.

Stands where the matrix has its own driver. What the test prints goes out through the second serial
port, and its status last.
"""

import subprocess

import control_groups
import setting
import variations

SUITE = "/opt/matrix"
TOOLS = "/opt/agreement"
VARIATION = variations.Variation("agreement", "uid 0 without delegation", variations.ROOT, variations.UNDELEGATED)


def parameter(name):
    words = control_groups.read("/proc/cmdline").split()
    return next(word.split("=", 1)[1] for word in words if word.startswith(f"{name}="))


def main():
    with open("/dev/ttyS1", "wb", buffering=0) as port:
        group, base = control_groups.set_up(VARIATION)
        flags = ["--jobs", "1", "--tools", TOOLS]
        for name in ("operations", "seed"):
            flags += [f"--{name}", parameter(f"agreement.{name}")]
        child = subprocess.run(
            ["/usr/bin/python3", f"{SUITE}/agreement.py", *flags],
            stdin=subprocess.DEVNULL,
            stdout=port,
            stderr=subprocess.STDOUT,
            env=setting.environment(VARIATION, base),
            preexec_fn=lambda: setting.become(VARIATION, group),
            check=False,
        )
        port.write(f"status {child.returncode}\n".encode())


if __name__ == "__main__":
    main()
