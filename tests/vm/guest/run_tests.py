"""Runs a module of tests, one line a test with its time: run_tests.py MODULE. 0 when all passed and
none was skipped."""

import sys
import time
import unittest


class Lines(unittest.TextTestResult):
    def startTest(self, test):
        self.began = time.monotonic()
        unittest.TestResult.startTest(self, test)

    def line(self, word, test):
        seconds = time.monotonic() - self.began
        self.stream.writeln(f"  {word:7} {seconds:6.1f} s  {test.id()}")
        self.stream.flush()

    def addSuccess(self, test):
        unittest.TestResult.addSuccess(self, test)
        self.line("ok", test)

    def addFailure(self, test, problem):
        unittest.TestResult.addFailure(self, test, problem)
        self.line("FAILED", test)

    def addError(self, test, problem):
        unittest.TestResult.addError(self, test, problem)
        self.line("BROKEN", test)

    def addSubTest(self, test, subtest, problem):
        unittest.TestResult.addSubTest(self, test, subtest, problem)
        if problem is not None:
            self.line("FAILED", subtest)

    def addSkip(self, test, reason):
        unittest.TestResult.addSkip(self, test, reason)
        self.line("SKIPPED", test)
        self.stream.writeln(f"          {reason}")


def main():
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    result = unittest.TextTestRunner(stream=sys.stdout, resultclass=Lines, verbosity=0).run(suite)
    return 0 if result.wasSuccessful() and not result.skipped and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
