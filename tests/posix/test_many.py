"""Many executions on one helper leave nothing."""

import os
import tempfile
import time
import unittest

from unjailed import PosixCase, client

COUNT = int(os.environ.get("LOOM_RUNS", "200"))


def descriptors(pid):
    """What the helper's descriptors are, without their numbers in the kernel."""
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            found.append(os.readlink(f"/proc/{pid}/fd/{number}").split(":")[0])
        except OSError:
            pass
    return sorted(found)


class ManyTest(PosixCase):
    def state(self, helper):
        return {
            "processes": sorted(client.descendants(helper.pid).values()),
            "descriptors": descriptors(helper.pid),
            "files": sorted(os.listdir(self.own)),
        }

    def settled(self, helper, wanted):
        client.wait_until(lambda: self.state(helper) == wanted, 5)
        return self.state(helper)

    def setUp(self):
        super().setUp()
        self.own = tempfile.mkdtemp(prefix="loom-posix-own-", dir=self.ws)

    # cases.md 196
    def test_executions_in_a_row_leave_nothing_and_are_never_busy(self):
        helper = self.helper(env={**os.environ, "TMPDIR": self.own})
        for _ in range(5):
            self.shell(helper, "true")
        time.sleep(0.3)
        before = self.state(helper)
        for number in range(COUNT):
            run = self.shell(helper, f"echo {number}; exit {number % 100}")
            self.assertIsNone(run.error, number)
            self.assertEqual((run.code, bytes(run.stdout)), (number % 100, b"%d\n" % number))
        self.assertEqual(self.settled(helper, before), before)
        helper.send("shutdown", {})
        self.assertEnds(helper, 0)
        self.assertNothingLeft()

    def test_ends_of_every_kind_leave_nothing(self):
        helper = self.helper(env={**os.environ, "TMPDIR": self.own})
        for _ in range(5):
            self.shell(helper, "true")
        time.sleep(0.3)
        before = self.state(helper)
        capped = self.limited(output_bytes=10)
        for _ in range(10):
            run = self.running(helper)
            helper.stdin(b"x" * 100_000)
            helper.cancel(run)
            helper.settle(run)
            self.shell(helper, "sleep 600 & yes | head -c 100000", policy=capped)
            helper.execute(["/no/such/program"])
            helper.execute(["/bin/true"], cwd=self.path("absent"))
            refused = client.start_body(["/bin/true"], cwd="relative")
            self.assertRefused(helper, helper.send("exec_start", refused), "spawn_failed")
        self.assertEqual(self.settled(helper, before), before)


if __name__ == "__main__":
    unittest.main()
