"""The agreement test in the size of a unit test; agreement.py is the test itself."""

import os
import unittest

import agreement


class RandomTest(unittest.TestCase):
    # guard 7.2
    def test_guard_judge_and_kernel_agree_on_random_worlds(self):
        operations = os.environ.get("LOOM_AGREEMENT_OPERATIONS", "1500" if os.geteuid() == 0 else "800")
        status = agreement.main(["--operations", operations])
        if status == agreement.SKIPPED:
            self.skipTest("no jail can be built here; the reason is above")
        self.assertEqual(status, 0)


if __name__ == "__main__":
    unittest.main()
