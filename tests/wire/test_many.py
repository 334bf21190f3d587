"""Many executions on one helper: nothing is left, and it never answers busy (wire.md 6.3)."""

import os
import tempfile
import time
import unittest

import client
import leftovers
from case import WireCase

COUNT = int(os.environ.get("LOOM_RUNS", "1000"))


def resident_kib(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


class ManyTest(WireCase):
    def state(self, helper):
        client.rest(helper)
        return leftovers.state(helper.pid, self.own, self.ws)

    def setUp(self):
        super().setUp()
        place = tempfile.TemporaryDirectory(prefix="loom-wire-own-", dir="/var/tmp")
        self.addCleanup(place.cleanup)
        self.own = place.name

    def idle_state(self, helper):
        """The state once nothing is being cleaned up any more."""
        state = self.state(helper)
        while True:
            time.sleep(0.5)
            later = self.state(helper)
            if later == state:
                return state
            state = later

    def settled_state(self, helper, wanted):
        """Clean-up may follow the exit frame; it may not stay away."""
        client.wait_until(lambda: self.state(helper) == wanted, 5)
        return self.state(helper)

    # cases.md 196
    def test_a_thousand_executions_in_a_row_leave_nothing_and_are_never_busy(self):
        helper = self.jailing_helper(env={**os.environ, "TMPDIR": self.own})
        for _ in range(5):
            self.shell(helper, "true")
        before, memory = self.idle_state(helper), None
        for number in range(COUNT):
            # The start leaves the instant the exit was read: settle returns on that very frame.
            run = helper.execute(["/bin/sh", "-c", f"echo {number}; exit {number % 100}"])
            self.assertIsNone(run.error, number)
            self.assertEqual((run.code, bytes(run.stdout)), (number % 100, b"%d\n" % number))
            if number == COUNT // 5:
                memory = resident_kib(helper.pid)
        grown = resident_kib(helper.pid) - memory
        self.assertEqual(self.settled_state(helper, before), before)
        if os.environ.get("LOOM_WIRE_SANITIZED") != "1":
            self.assertLess(grown, 1024, "KiB of growth")
        helper.send("shutdown", {})
        self.assertEnds(helper, 0)
        self.assertNothingLeft()

    def test_ends_of_every_kind_leave_nothing(self):
        helper = self.jailing_helper(env={**os.environ, "TMPDIR": self.own})
        for _ in range(5):
            self.shell(helper, "true")
        before = self.idle_state(helper)
        capped = self.policy(limits=client.limits(output_bytes=10))
        for _ in range(10):
            run = self.running(helper)
            helper.stdin(b"x" * 100000)
            helper.cancel(run)
            helper.settle(run)
            self.shell(helper, "sleep 600 & yes | head -c 100000", policy=capped)
            helper.execute(["/no/such/program"])
            helper.execute(["/bin/true"], cwd=self.path("absent"))
            self.assertRefused(
                helper,
                helper.send("exec_start", client.start_body(["/bin/true"], cwd="relative")),
                "spawn_failed",
            )
        self.assertEqual(self.settled_state(helper, before), before)


if __name__ == "__main__":
    unittest.main()
