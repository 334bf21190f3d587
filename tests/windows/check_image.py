#!/usr/bin/python3
"""check_image.py BUILD: what was built for Windows needs no library but Windows' own, and the backend
exports one name."""

import glob
import re
import subprocess
import sys

# What every Windows 10 has in system32. bcrypt: SHA-256.
SYSTEM = {"kernel32.dll", "msvcrt.dll", "shell32.dll", "bcrypt.dll", "advapi32.dll", "user32.dll"}
ENTRY = "loom_backend_entry_v1"


def dump(file):
    return subprocess.run(["x86_64-w64-mingw32-objdump", "-p", file], capture_output=True, text=True,
                          check=True).stdout


def problems_of(file):
    text = dump(file)
    needed = {name.lower() for name in re.findall(r"DLL Name: (\S+)", text)}
    for name in sorted(needed - SYSTEM):
        yield f"{file} needs {name}"
    if not needed:
        yield f"{file}: no table of imports was found"
    if file.endswith(".dll"):
        exported = re.findall(r"^\s*\[\s*\d+\](?: \+base\[\s*\d+\])?(?:\s+[0-9a-f]{4})?\s+(\w+)$",
                              text.partition("[Ordinal/Name Pointer] Table")[2], re.MULTILINE)
        if exported != [ENTRY]:
            yield f"{file} exports {exported}"


def main():
    build = sys.argv[1]
    files = glob.glob(f"{build}/bin/*.exe") + glob.glob(f"{build}/lib/loom-exec/backends/*.dll")
    found = [problem for file in files for problem in problems_of(file)]
    if len(files) < 2:
        found.append(f"{build}: the helper or its backend is missing")
    for problem in found:
        print(f"check_image: {problem}", file=sys.stderr)
    print(f"check_image: {len(files)} images, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
