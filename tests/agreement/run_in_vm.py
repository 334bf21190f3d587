"""Runs the agreement test on the kernel matrix's older kernel, under emulation.

    run_in_vm.py BUILD KERNEL BUSYBOX PLACE [--operations N] [--seed N]

BUILD is a build with tests, KERNEL a bzImage, PLACE a directory for the archive and the console.
"""

import argparse
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VM = os.path.join(HERE, os.pardir, "vm")
sys.path.insert(0, VM)

import initramfs  # noqa: E402  (found only after the path is set)

DEADLINE = float(os.environ.get("LOOM_VM_PATIENCE", "1800"))  # seconds for the boot, start to end
MEMORY_MB = 1024
PARAMETERS = (
    "console=ttyS0 quiet panic=-1 mitigations=off init_on_alloc=0 norandmaps no_timer_check"
    " random.trust_cpu=on rdinit=/init"
)
SUITE = "agreement answers asking comparing judge limits names programs rules shrinking viewing walking world"
TOOLS = ("agreement-prober", "agreement-tiny-static", "agreement-tiny-dynamic")


def scripts():
    own = [os.path.join(HERE, f"{name}.py") for name in SUITE.split()]
    guest = [os.path.join(VM, "guest", name) for name in ("control_groups.py", "setting.py", "variations.py")]
    paths = [os.path.join(HERE, "guest/driver.py"), *own, *guest, os.path.join(HERE, "../wire/client.py")]
    return [os.path.realpath(path) for path in paths]


def write_archive(path, options):
    with open(path, "wb") as file:
        archive = initramfs.Archive(file)
        initramfs.add_system(archive, options.busybox, os.path.join(VM, "guest/init"))
        initramfs.add_installation(archive, options.build)
        for tool in TOOLS:
            archive.copy(os.path.join(options.build, "tests", tool), f"opt/agreement/{tool}")
        initramfs.add_python(archive, scripts())
        archive.end()


def boot(options):
    """What the guest sent out; nothing when it did not get that far."""
    archive, console, report = (os.path.join(options.place, name) for name in ("archive", "console", "report"))
    write_archive(archive, options)
    told = f"agreement.operations={options.operations} agreement.seed={options.seed}"
    subprocess.run(
        [
            "qemu-system-x86_64",
            *("-accel", "tcg", "-machine", "pc", "-cpu", "qemu64,+rdrand", "-m", str(MEMORY_MB)),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-kernel", options.kernel, "-initrd", archive, "-append", f"{PARAMETERS} {told}"),
            *("-serial", f"file:{console}", "-serial", f"file:{report}"),
        ],
        stdin=subprocess.DEVNULL,
        timeout=DEADLINE,
        check=True,
    )
    with open(report, encoding="utf-8", errors="replace") as file:
        return file.read()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "kernel", "busybox", "place"):
        parser.add_argument(name)
    parser.add_argument("--operations", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse()
    os.makedirs(options.place, exist_ok=True)
    text = boot(options)
    status = re.search(r"(?m)^status (\d+)$", text)
    print(re.sub(r"(?m)^status \d+\n", "", text).rstrip(), flush=True)
    if status is None:
        print(f"the guest did not end as it should; see {options.place}/console")
        return 1
    return int(status[1])


if __name__ == "__main__":
    sys.exit(main())
