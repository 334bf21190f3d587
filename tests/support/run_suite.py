"""Runs modules of a Python suite: run_suite.py SUITE_DIRECTORY test_masks…. 77: all was skipped."""

import os
import sys
import unittest

SKIPPED = 77


def main():
    sys.path.insert(0, os.path.abspath(sys.argv[1]))
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    inside = bool(os.environ.get("LOOM_SCRATCH_DIR"))
    if result.skipped and os.environ.get("LOOM_JAIL_MUST_WORK") == "1" and not inside:
        print("LOOM_JAIL_MUST_WORK=1: a skip is a failure")
        return 1
    if not result.wasSuccessful():
        return 1
    skipped_tests = [test for test, _ in result.skipped if hasattr(test, "_testMethodName")]
    if result.testsRun > len(skipped_tests):
        return 0
    return SKIPPED if result.skipped else 1


if __name__ == "__main__":
    sys.exit(main())
