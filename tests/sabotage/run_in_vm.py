"""Runs rows of the sabotage table on the kernel matrix's machine, which has what this one may lack.

    run_in_vm.py BUILD KERNEL BUSYBOX PLACE [--only LAYER,LAYER] [--accept]

BUILD is a build with LOOM_SABOTAGE, KERNEL a bzImage, PLACE a directory for the archive and the console.
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
import run_sabotage  # noqa: E402

DEADLINE = float(os.environ.get("LOOM_VM_PATIENCE", "600"))  # seconds for the boot, start to end
MEMORY_MB = 1024
PARAMETERS = (
    "console=ttyS0 quiet panic=-1 mitigations=off init_on_alloc=0 norandmaps no_timer_check"
    " random.trust_cpu=on rdinit=/init"
)
PIECES = ("bin/loom-exec", "lib/loom-exec/backends/bwrap.so", "libexec/loom-exec/bwrap-stage2")


def scripts():
    own = [os.path.join(HERE, name) for name in ("guest/driver.py", "run_sabotage.py")]
    guest = [os.path.join(VM, "guest", name) for name in ("control_groups.py", "setting.py", "variations.py")]
    return [os.path.realpath(path) for path in [*own, *guest, os.path.join(HERE, "../wire/client.py")]]


def write_archive(path, options):
    with open(path, "wb") as file:
        archive = initramfs.Archive(file)
        initramfs.add_system(archive, options.busybox, os.path.join(VM, "guest/init"))
        initramfs.add_installation(archive, options.build)
        for layer in options.only.split(","):
            for piece in PIECES:
                archive.copy(os.path.join(options.build, "sabotage", layer, piece), f"opt/sabotage/{layer}/{piece}")
        initramfs.add_python(archive, scripts())
        archive.end()


def boot(options):
    """What the guest sent out; nothing when it did not get that far."""
    archive, console, report = (os.path.join(options.place, name) for name in ("archive", "console", "report"))
    write_archive(archive, options)
    subprocess.run(
        [
            "qemu-system-x86_64",
            *("-accel", "tcg", "-machine", "pc", "-cpu", "qemu64,+rdrand", "-m", str(MEMORY_MB)),
            *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-kernel", options.kernel, "-initrd", archive, "-append", f"{PARAMETERS} sabotage.only={options.only}"),
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
    parser.add_argument("--only", default="cgroup-entry,ceilings", help="layers, comma separated")
    parser.add_argument("--accept", action="store_true", help="write what was seen into the committed table")
    return parser.parse_args()


def judge(text, options):
    """The exit status for what the guest said."""
    status = re.search(r"(?m)^status (\d+)$", text)
    rows = run_sabotage.parse_rows(text)
    if status is None or len(rows) != len(options.only.split(",")):
        print(f"the guest did not end as it should; see {options.place}/console")
        return 1
    if options.accept and status[1] == "0":
        run_sabotage.accept(rows)
    wrong = list(run_sabotage.differences(rows))
    print("\n".join(wrong), end="\n" if wrong else "")
    return int(status[1]) or bool(wrong)


def main():
    options = parse()
    os.makedirs(options.place, exist_ok=True)
    text = boot(options)
    print(text.rstrip(), flush=True)
    return judge(text, options)


if __name__ == "__main__":
    sys.exit(main())
