"""The cancel ladder and the wall clock (wire.md 6.4)."""

import os
import shutil
import time
import unittest

import client
from case import WireCase, for_jails

ON_TERM = "trap 'exit 7' TERM; echo up; while :; do sleep 0.1; done"
DEAF = "trap '' TERM; echo up; while :; do sleep 0.1; done"


class CancelTest(WireCase):
    def timed(self, action):
        began = time.monotonic()
        action()
        return time.monotonic() - began

    # cases.md 180
    def test_a_sleeping_command_ends_with_143(self):
        helper = self.helper()
        run = helper.start(["/bin/sh", "-c", "echo up; exec sleep 30"])
        helper.until_output(run, b"up\n")
        helper.cancel(run)
        took = self.timed(lambda: helper.settle(run))
        self.assertEqual((run.code, run.exit["cancelled"], run.exit["timed_out"]), (143, True, False))
        self.assertLess(took, 2)

    # cases.md 181
    def test_a_handler_runs_and_its_status_counts(self):
        helper = self.jailing_helper()
        run = self.running(helper, ON_TERM)
        helper.cancel(run)
        took = self.timed(lambda: helper.settle(run))
        self.assertEqual((run.code, run.exit["signal"], run.exit["cancelled"]), (7, 0, True))
        self.assertLess(took, 2)

    # cases.md 182
    def test_a_command_that_ignores_term_is_killed_after_two_seconds(self):
        helper = self.jailing_helper()
        run = self.running(helper, DEAF)
        helper.cancel(run)
        took = self.timed(lambda: helper.settle(run))
        self.assertEqual((run.code, run.exit["cancelled"]), (137, True))
        self.assertGreaterEqual(took, 1.95)
        self.assertLess(took, 3)

    # cases.md 182
    def test_asking_again_moves_no_deadline(self):
        helper = self.jailing_helper()
        run = self.running(helper, DEAF)
        began = time.monotonic()
        helper.cancel(run)
        for _ in range(3):
            time.sleep(0.5)
            helper.cancel(run)
        helper.settle(run)
        took = time.monotonic() - began
        self.assertGreaterEqual(took, 1.95)
        self.assertLess(took, 3)
        helper.cancel(run)
        helper.heartbeat()

    # cases.md 194
    def test_a_cancel_with_nothing_running_is_never_answered(self):
        helper = self.helper()
        helper.send("cancel", {}, 99)
        helper.heartbeat()
        run = self.shell(helper, "exit 3")
        helper.cancel(run)
        helper.heartbeat()
        self.assertEqual(self.shell(helper, "exit 4").code, 4)

    def test_nobody_looks_at_the_body_of_a_cancel(self):
        for body in (7, [], {"a": 1}, "x"):
            with self.subTest(body), self.helper() as helper:
                run = self.running(helper)
                helper.send("cancel", body, run.id)
                self.assertTrue(helper.settle(run).exit["cancelled"])

    # cases.md 183
    def test_the_wall_clock_climbs_the_same_ladder(self):
        helper = self.jailing_helper()
        base = self.policy(limits=client.limits(wall_s=1))
        run = self.running(helper, ON_TERM, policy=base)
        helper.settle(run)
        self.assertEqual((run.code, run.exit["timed_out"], run.exit["cancelled"]), (7, True, True))
        self.assertGreaterEqual(run.exit["wall_ms"], 1000)
        self.assertLess(run.exit["wall_ms"], 2900)
        run = self.running(helper, DEAF, policy=base)
        helper.settle(run)
        self.assertEqual((run.code, run.exit["timed_out"]), (137, True))
        self.assertGreaterEqual(run.exit["wall_ms"], 2950)
        self.assertLess(run.exit["wall_ms"], 5000)

    def test_a_command_that_ends_before_the_wall_clock_did_not_time_out(self):
        helper = self.helper()
        base = self.policy(limits=client.limits(wall_s=30))
        run = self.shell(helper, "exit 5", policy=base)
        self.assertEqual((run.code, run.exit["timed_out"], run.exit["cancelled"]), (5, False, False))

    # cases.md 184
    @for_jails
    def test_a_command_in_a_session_of_its_own_hears_of_it(self):
        if not shutil.which("setsid"):
            self.skipTest("no setsid")
        helper = self.jailing_helper()
        # The shell in front keeps setsid from being a session leader, which would fork and die of TERM.
        outer = "trap : TERM; setsid -w /bin/sh -c \"$0\"; exit $?"
        inner = f"trap 'touch {self.path('heard')}; exit 7' TERM; echo up; while :; do sleep 0.1; done"
        run = self.running(helper, outer, inner)
        helper.cancel(run)
        self.assertEqual(helper.settle(run).code, 7)
        self.assertTrue(os.path.exists(self.path("heard")))

    # cases.md 186
    def test_a_command_that_waits_for_its_own_child_is_cancelled_whatever_its_status(self):
        helper = self.jailing_helper()
        run = self.running(helper, "sleep 600 & echo up; wait")
        helper.cancel(run)
        self.assertTrue(helper.settle(run).exit["cancelled"])

    # cases.md 187
    def test_a_command_that_ends_with_143_by_itself_was_not_cancelled(self):
        run = self.shell(self.helper(), "exit 143")
        self.assertEqual((run.code, run.exit["cancelled"]), (143, False))

    # cases.md 193
    def test_a_cancel_right_behind_the_start_stops_it(self):
        helper = self.jailing_helper()
        for _ in range(20):
            start_id = next(helper.ids)
            body = client.start_body(["/bin/sleep", "600"])
            helper.send_all(
                client.envelope(start_id, "exec_start", body)
                + client.envelope(start_id, "cancel", {})
            )
            run = helper.settle(client.Run(start_id))
            self.assertTrue(run.exit["cancelled"])
            self.assertNotEqual(run.code, 0)

    def test_heartbeats_are_echoed_while_the_ladder_is_climbed(self):
        helper = self.jailing_helper()
        run = self.running(helper, DEAF)
        helper.cancel(run)
        for _ in range(10):
            began = time.monotonic()
            helper.heartbeat()
            self.assertLess(time.monotonic() - began, 0.5)
            time.sleep(0.1)
        self.assertTrue(helper.settle(run).exit["cancelled"])

    @for_jails
    def test_nothing_of_a_cancelled_command_is_left(self):
        helper = self.jailing_helper()
        idle = client.left_of(helper.pid, 0)
        tree = "sleep 600 & setsid sleep 600 & (sleep 600; true) & echo up; wait"
        for script in (tree, "trap '' TERM; " + tree):
            run = self.running(helper, script)
            self.assertGreater(len(client.left_of(helper.pid, 0)), 3)
            helper.cancel(run)
            helper.settle(run)
            self.assertTrue(
                client.wait_until(lambda: len(client.left_of(helper.pid, 0)) <= len(idle) + 1, 5),
                client.descendants(helper.pid),
            )
        helper.send("shutdown", {})
        self.assertEnds(helper, 0)
        self.assertNothingLeft()


if __name__ == "__main__":
    unittest.main()
