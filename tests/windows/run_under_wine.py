#!/usr/bin/python3
"""run_under_wine.py BUILD [--accept] [-k PATTERN]: makes a wine prefix in BUILD, runs every test, ends wine.

Exit status 0 when all passed. --accept rewrites the expected transcript.
"""

import os
import subprocess
import sys
import unittest


def main():
    build = os.path.abspath(sys.argv[1])
    rest = sys.argv[2:]
    os.environ["LOOM_WINDOWS_BUILD"] = build
    os.environ.setdefault("LOOM_WIRE_PATIENCE", "60")
    if "--accept" in rest:
        rest.remove("--accept")
        os.environ["LOOM_ACCEPT_TRANSCRIPT"] = "1"
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    import wine  # it reads the environment

    server = os.path.join(os.path.dirname(wine.WINE), "wineserver")
    if not os.access(server, os.X_OK):
        server += "64"

    def control(word):
        return subprocess.run([server, word], env=wine.environment(), stdin=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=60, check=False).returncode

    # One server for all tests, and ours from the start: one that a program brought up ends with the last
    # program, and every test would wait for Windows' services again. A killed run may have left one.
    os.makedirs(wine.PREFIX, exist_ok=True)
    control("--kill")
    if control("--persistent") != 0:
        print(f"run_under_wine: {server} --persistent did not start", file=sys.stderr)
        return 1
    try:
        # The first start makes the prefix, which takes its time and is no test's.
        subprocess.run([wine.WINE, "wineboot", "--init"], env=wine.environment(), stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)
        program = unittest.main(module=None, argv=["tests", "discover", "-s", here, "-v", *rest], exit=False)
    finally:
        control("--kill")
    return 0 if program.result.wasSuccessful() and program.result.testsRun > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
