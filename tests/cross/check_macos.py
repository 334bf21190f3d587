#!/usr/bin/python3
"""Checks what a cross build for macOS made, which nothing here can run.

    check_macos.py BUILD ARCHITECTURE     (aarch64 or x86_64)

Every program and backend must be a Mach-O file of that architecture, say which macOS it needs,
load only the system's own libraries, carry no path of the build, and on Apple's processors a signature,
without which the kernel runs nothing. A backend must export its one symbol and no other. Before that
the checker reads files that are wrong in one respect each: a check that cannot fail proves nothing.
"""

import pathlib
import struct
import sys

MAGIC = 0xFEEDFACF  # 64 bits, little-endian (mach-o/loader.h)
CPU_TYPES = {"x86_64": 0x01000007, "aarch64": 0x0100000C}
EXECUTE, LIBRARY = 2, 6
LC_SYMTAB, LC_LOAD_DYLIB, LC_CODE_SIGNATURE, LC_BUILD_VERSION = 0x2, 0xC, 0x1D, 0x32
LOADS = {LC_LOAD_DYLIB, 0x80000018, 0x8000001F}  # needed, weak, re-exported
PLATFORM_MACOS = 1
N_STAB, N_TYPE, N_EXT, N_PEXT = 0xE0, 0x0E, 0x01, 0x10
N_WEAK_DEF = 0x80
OLDEST = (13, 0)
ENTRY = "_loom_backend_entry_v1"
SYSTEM = ("/usr/lib/", "/System/Library/")

PROGRAMS = ("bin/loom-exec", "libexec/loom-exec/seatbelt-stage2")
BACKENDS = ("lib/loom-exec/backends/seatbelt.so", "lib/loom-exec/backends/unsupported.so")


class MachO:
    """The few load commands that are asked about."""

    def __init__(self, data):
        self.data = data
        if len(data) < 32:
            raise ValueError("too short for a Mach-O file")
        magic, self.cpu, _, self.kind, count, size, _, _ = struct.unpack_from("<8I", data)
        if magic != MAGIC:
            raise ValueError("no 64-bit Mach-O file")
        self.platform, self.oldest, self.signed = None, None, False
        self.libraries, self.symbols = [], ()
        at = 32
        for _ in range(count):
            command, length = struct.unpack_from("<2I", data, at)
            self._take(command, data[at : at + length])
            at += length
        if at != 32 + size:
            raise ValueError("load commands of another size than the header says")

    def _take(self, command, body):
        if command == LC_BUILD_VERSION:
            self.platform, oldest = struct.unpack_from("<2I", body, 8)
            self.oldest = (oldest >> 16, oldest >> 8 & 0xFF)
        elif command == LC_CODE_SIGNATURE:
            self.signed = True
        elif command in LOADS:
            (start,) = struct.unpack_from("<I", body, 8)
            self.libraries.append(body[start:].split(b"\0")[0].decode())
        elif command == LC_SYMTAB:
            self.symbols = struct.unpack_from("<4I", body, 8)

    def exported(self):
        """Names that are defined here for others to bind to. Weak ones are the compiler's own runtime,
        which zig's linker cannot hide; every program of that compiler brings the same."""
        if not self.symbols:
            return []
        symbols, count, strings, _ = self.symbols
        names = []
        for each in range(count):
            name, kind, _, about = struct.unpack_from("<IBBH", self.data, symbols + 16 * each)
            hidden = kind & (N_STAB | N_PEXT) or not kind & N_EXT or about & N_WEAK_DEF
            if hidden or kind & N_TYPE == 0:
                continue
            start = strings + name
            names.append(self.data[start : self.data.index(b"\0", start)].decode())
        return names


def problems(data, architecture, kind, places):
    """What is wrong with a file of this kind, in words."""
    try:
        file = MachO(data)
    except (ValueError, struct.error) as error:
        return [str(error)]
    found = []
    if file.cpu != CPU_TYPES[architecture]:
        found.append(f"built for processor {file.cpu:#x}")
    if file.kind != kind:
        found.append(f"of kind {file.kind}, not {kind}")
    if file.platform != PLATFORM_MACOS or file.oldest != OLDEST:
        found.append(f"for platform {file.platform} from {file.oldest}, not macOS from {OLDEST}")
    if architecture == "aarch64" and not file.signed:
        found.append("not signed")
    foreign = [each for each in file.libraries if not each.startswith(SYSTEM)]
    if foreign or not file.libraries:
        found.append(f"loads {foreign or 'nothing, not even the system library'}")
    if kind == LIBRARY and file.exported() != [ENTRY]:
        found.append(f"exports {file.exported()}")
    found += [f"holds the path {place}" for place in places if place.encode() in data]
    return found


def self_check(good, architecture, places):
    """`good` is a backend without a problem; every change to it must be noticed."""
    other = next(each for each in CPU_TYPES if each != architecture)
    wrong = {
        "processor": (good, other, LIBRARY, places),
        "kind": (good, architecture, EXECUTE, places),
        "path": (good + places[0].encode(), architecture, LIBRARY, places),
        "export": (good.replace(ENTRY.encode(), ENTRY[:-1].encode() + b"2"), architecture, LIBRARY, places),
        "library": (good.replace(b"/usr/lib/libSystem", b"/opt/lib/libSystem"), architecture, LIBRARY, places),
        "version": (good.replace(struct.pack("<2I", PLATFORM_MACOS, OLDEST[0] << 16),
                                 struct.pack("<2I", PLATFORM_MACOS, OLDEST[0] + 1 << 16)),
                    architecture, LIBRARY, places),
        "length": (good[:40], architecture, LIBRARY, places),
    }
    if architecture == "aarch64":
        wrong["signature"] = (good.replace(struct.pack("<2I", LC_CODE_SIGNATURE, 16),
                                           struct.pack("<2I", 0x26, 16), 1), architecture, LIBRARY, places)
    for name, case in wrong.items():
        if not problems(*case):
            sys.exit(f"check_macos: a file that is wrong in its {name} was not noticed")


def main():
    build, architecture = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    tree = pathlib.Path(__file__).resolve().parents[2]
    places = [str(tree), str((tree / "build/cross/zig/package").resolve())]
    failed = False
    for names, kind in ((PROGRAMS, EXECUTE), (BACKENDS, LIBRARY)):
        for name in names:
            data = (build / name).read_bytes()
            for problem in problems(data, architecture, kind, places):
                print(f"check_macos: {name}: {problem}", file=sys.stderr)
                failed = True
    if failed:
        sys.exit(1)
    self_check((build / BACKENDS[0]).read_bytes(), architecture, places)
    print(f"check_macos: {len(PROGRAMS + BACKENDS)} files for {architecture} are what they should be")


if __name__ == "__main__":
    main()
