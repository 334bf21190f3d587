"""A short soak (./dev soak is the long one): whatever is left or kept by each execution shows already."""

import os
import unittest

import soak

COUNT = 200


class SoakTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.environ.get("LOOM_SCRATCH_DIR"):
            raise unittest.SkipTest("inside a jail of our own kind: bubblewrap cannot start here")
        with soak.client.Helper(soak.client.policy()) as helper:
            if "bwrap" not in helper.features:
                raise unittest.SkipTest(f"this machine has no bwrap: {helper.features}")

    def test_cold_executions_leave_nothing_and_keep_nothing(self):
        print(soak.soak_somewhere("cold", COUNT))

    # With warm jails off there is nothing to be tested.
    if "--no-warm" not in os.environ.get("LOOM_HELPER_FLAGS", ""):

        def test_warm_executions_leave_nothing_and_keep_nothing(self):
            print(soak.soak_somewhere("warm", COUNT))


if __name__ == "__main__":
    unittest.main()
