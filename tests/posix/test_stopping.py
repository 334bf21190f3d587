"""How runs are stopped and what is left: groups are all there is to hold them by."""

import os
import signal
import time
import unittest

from unjailed import PosixCase, client, is_alive

DEAF = "trap '' TERM; echo up; while :; do sleep 0.1; done"
GROUP = "sleep 600 & echo $!; (trap '' TERM; sleep 600) & echo $!; "


class StopTest(PosixCase):
    def numbers(self, run):
        return [int(word) for word in run.stdout.split() if word.isdigit()]

    def assertAllGone(self, pids):
        self.assertTrue(pids)
        self.assertTrue(client.wait_until(lambda: not any(map(is_alive, pids)), 5), pids)

    # cases.md 180
    def test_a_cancelled_command_ends_by_term(self):
        helper = self.helper()
        run = helper.until_output(helper.start(["/bin/sh", "-c", "echo up; exec sleep 30"]), b"up\n")
        began = time.monotonic()
        helper.cancel(run)
        helper.settle(run)
        self.assertEqual((run.code, run.exit["signal"]), (143, signal.SIGTERM))
        self.assertEqual((run.exit["cancelled"], run.exit["timed_out"]), (True, False))
        self.assertEqual(self.outcome(run), ("cancelled", "stopped on request; killed by SIGTERM"))
        self.assertLess(time.monotonic() - began, 1)

    # cases.md 181
    def test_a_handler_runs_and_its_status_counts(self):
        helper = self.helper()
        run = self.running(helper, "trap 'exit 7' TERM; echo up; while :; do sleep 0.1; done")
        helper.cancel(run)
        helper.settle(run)
        self.assertEqual((run.code, run.exit["signal"], run.exit["cancelled"]), (7, 0, True))

    # cases.md 182
    def test_a_command_that_ignores_term_is_killed_after_two_seconds(self):
        helper = self.helper()
        run = self.running(helper, DEAF)
        began = time.monotonic()
        helper.cancel(run)
        helper.settle(run)
        took = time.monotonic() - began
        self.assertEqual((run.code, run.exit["signal"]), (137, signal.SIGKILL))
        self.assertTrue(1.95 <= took < 3, took)

    # cases.md 183
    def test_the_wall_clock_climbs_the_same_ladder(self):
        helper = self.helper(base=self.limited(wall_s=1))
        run = self.running(helper, "echo up; exec sleep 30")
        helper.settle(run)
        self.assertEqual((run.code, run.exit["timed_out"], run.exit["cancelled"]), (143, True, True))
        self.assertEqual(self.outcome(run)[0], "timeout")
        self.assertTrue(1000 <= run.exit["wall_ms"] < 2500, run.exit)
        self.assertEqual(self.shell(helper, "exit 5").code, 5)

    def test_what_stays_in_the_group_does_not_outlive_the_command(self):
        helper = self.helper()
        run = self.shell(helper, GROUP + "exit 3")
        self.assertEqual(run.code, 3)
        self.assertAllGone(self.numbers(run))

    def test_what_stays_in_the_group_does_not_outlive_a_cancel_either(self):
        helper = self.helper()
        for trap in ("", "trap '' TERM; "):
            with self.subTest(trap):
                run = self.running(helper, trap + GROUP + "echo up; while :; do sleep 0.1; done")
                pids = self.numbers(run)
                self.assertTrue(all(map(is_alive, pids)), pids)
                helper.cancel(run)
                helper.settle(run)
                self.assertAllGone(pids)

    # A group is all that this build has to hold on to a run by. The report names it (skip:jail).
    def test_who_leaves_the_session_stays_behind(self):
        helper = self.helper()
        run = self.shell(helper, "setsid sleep 600 >/dev/null 2>&1 & echo $!; sleep 0.3")
        (pid,) = self.numbers(run)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        self.assertTrue(is_alive(pid))

    def test_the_end_of_one_command_is_not_taken_for_the_end_of_the_next(self):
        helper = self.helper()
        for number in range(30):
            # Many children end while the command runs on.
            run = self.shell(helper, "for i in 1 2 3 4 5; do true & done; wait; exit $0", str(number))
            self.assertEqual(run.code, number)

    def test_shutdown_joins_the_run(self):
        helper = self.helper()
        run = self.running(helper, GROUP + "echo up; wait")
        pids = self.numbers(run)
        helper.send("shutdown", {})
        helper.settle(run)
        self.assertTrue(run.exit["cancelled"])
        self.assertEqual(helper.remaining(), [])
        self.assertEnds(helper, 0)
        self.assertAllGone(pids)
        self.assertNothingLeft()

    def test_the_end_of_input_joins_the_run(self):
        helper = self.helper()
        run = self.running(helper)
        helper.end_input()
        helper.settle(run)
        self.assertTrue(run.exit["cancelled"])
        self.assertEnds(helper, 0)
        self.assertNothingLeft()


class KilledHelperTest(PosixCase):
    SCRIPT = 'echo x > "$0/began.$1"; echo up; sleep 0.6; echo x > "$0/late.$1"; exec sleep 600'

    def begin(self, number):
        helper = self.helper()
        return helper, helper.start(["/bin/sh", "-c", self.SCRIPT, self.ws, str(number)])

    def test_a_killed_helper_takes_its_command_along(self):
        helper, run = self.begin(0)
        helper.until_output(run, b"up\n")
        self.assertGreater(len(client.descendants(helper.pid)), 0)
        helper.kill()
        self.assertNothingLeft()
        self.assertFalse(os.path.exists(self.path("late.0")))

    def time_to_run(self):
        """How long it takes from the start to the command's first sign of life."""
        helper, run = self.begin("control")
        began = time.monotonic()
        helper.until_output(run, b"up\n")
        took = time.monotonic() - began
        helper.kill()
        helper.close()
        return took

    def test_that_is_so_at_whatever_moment_it_is_killed(self):
        kills = int(os.environ.get("LOOM_KILLS", "60"))
        span = 2 * self.time_to_run()
        for number in range(kills):
            helper, _ = self.begin(number)
            time.sleep(span * number / kills)
            helper.kill()
            helper.close()
        self.assertNothingLeft()
        time.sleep(0.7)
        names = os.listdir(self.ws)
        self.assertEqual([name for name in names if name.startswith("late.")], [])
        began = [name for name in names if name.startswith("began.") and name != "began.control"]
        self.assertTrue(began, "no kill came late enough")


if __name__ == "__main__":
    unittest.main()
