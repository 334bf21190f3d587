"""How runs are stopped, and that nothing of them is left (see trying.py)."""

import os
import shutil
import signal
import tempfile
import time
import unittest

from trying import SCRATCH_PARENT, SeatbeltCase, client, is_alive

SLOW = 2  # seconds, on a busy machine, for what takes milliseconds
# Leaves the group and the session, and is seen doing so: the ledger looks every 20 ms.
ESCAPE = "setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 600' & sleep 0.3; "


def scratches():
    return {name for name in os.listdir(SCRATCH_PARENT) if name.startswith("loom-exec-scratch-")}


def fill_directories(parent, number):
    for name in range(number):
        os.mkdir(f"{parent}/{name}")
        open(f"{parent}/{name}/file", "w", encoding="ascii").close()


def many_enough():
    """How many directories with a file each this disk needs three seconds to remove; 25,000 at most."""
    sample = 250
    with tempfile.TemporaryDirectory(dir=SCRATCH_PARENT) as place:
        fill_directories(place, sample)
        began = time.monotonic()
    return min(25_000, int(sample * 3 / (time.monotonic() - began)))


class StopTest(SeatbeltCase):
    def assertAllGone(self, pids):
        self.assertTrue(pids)
        self.assertTrue(client.wait_until(lambda: not any(map(is_alive, pids)), 5), pids)

    # jail-darwin.md 6
    def test_a_cancelled_command_reports_the_signal(self):
        helper = self.helper()
        run = helper.until_output(helper.start(["/bin/sh", "-c", "echo up; exec sleep 30"]), b"up\n")
        began = time.monotonic()
        helper.cancel(run)
        helper.settle(run)
        self.assertEqual((run.code, run.exit["signal"]), (143, signal.SIGTERM))
        self.assertEqual(self.outcome(run), ("cancelled", "stopped on request; killed by SIGTERM"))
        self.assertLess(time.monotonic() - began, 1.5)

    def test_a_command_that_ignores_term_is_killed_after_two_seconds(self):
        helper = self.helper()
        run = self.running(helper, "trap '' TERM; echo up; while :; do sleep 0.1; done")
        began = time.monotonic()
        helper.cancel(run)
        helper.settle(run)
        self.assertEqual((run.code, run.exit["signal"]), (137, signal.SIGKILL))
        self.assertTrue(1.95 <= time.monotonic() - began < 3.5)

    def test_a_cancel_right_behind_the_start_stops_it(self):
        helper = self.helper()
        for _ in range(10):
            start_id = next(helper.ids)
            helper.send_all(
                client.envelope(start_id, "exec_start", client.start_body(["/bin/sleep", "600"]))
                + client.envelope(start_id, "cancel", {})
            )
            run = helper.settle(client.Run(start_id))
            self.assertTrue(run.exit["cancelled"])
            self.assertNotEqual(run.code, 0)

    def test_a_descendant_that_left_the_session_is_ended_when_the_command_has(self):
        run = self.shell(self.helper(), ESCAPE + "exit 3")
        self.assertEqual(run.code, 3)
        self.assertAllGone(self.numbers(run))

    def test_a_descendant_that_left_the_session_is_ended_by_a_cancel(self):
        helper = self.helper()
        for trap in ("", "trap '' TERM; "):
            with self.subTest(trap):
                run = self.running(helper, trap + ESCAPE + "echo up; while :; do sleep 0.1; done")
                pids = self.numbers(run)
                self.assertTrue(all(map(is_alive, pids)), pids)
                helper.cancel(run)
                helper.settle(run)
                self.assertAllGone(pids)

    def test_output_is_not_held_open_by_one_that_was_never_seen(self):
        # It is born after the last look and lives on its own: nobody knows of it.
        helper = self.helper()
        run = self.shell(helper, "(setsid sleep 5 &) ; exit 3")
        self.assertEqual(run.code, 3)
        self.assertLess(run.exit["wall_ms"], 2500)

    def test_a_killed_helper_leaves_neither_command_nor_scratch(self):
        before = scratches()
        for number in range(20):
            helper = self.helper()
            run = helper.start(["/bin/sh", "-c", "echo up; exec sleep 600"])
            if number == 0:
                helper.until_output(run, b"up\n")
                self.assertEqual(len(scratches() - before), 1)
            time.sleep(number * 3 / 1000)
            helper.kill()
            helper.close()
        self.assertNothingLeft()
        self.assertTrue(client.wait_until(lambda: scratches() <= before, 5), scratches() - before)

    def fill(self, helper):
        """A run that has left files whose removal takes seconds, and waits for a line; its scratch."""
        number = many_enough()
        filling = f"mkdir {{1..{number}}} && touch {{1..{number}}}/file"
        script = f'cd "$LOOM_SCRATCH_DIR" && {filling} && pwd && echo up && read line'
        run = helper.until_output(helper.start(["/bin/bash", "-c", script]), b"up\n", 60)
        place = run.stdout.split()[0].decode()
        self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        return run, place

    def heartbeats_until_the_end(self, helper, run):
        """How long the slowest answer took, while the run ends."""
        slowest = 0
        while run.exit is None:
            began = time.monotonic()
            beat = helper.send("heartbeat", {})
            while (frame := helper.receive()).id != beat:
                run.take(frame)
            slowest = max(slowest, time.monotonic() - began)
            time.sleep(0.005)
        return slowest

    # wire.md 6.3
    def test_a_scratch_full_of_files_holds_up_neither_answers_nor_the_exit_nor_the_next_run(self):
        before = scratches()
        helper = self.helper()
        run, place = self.fill(helper)
        helper.stdin(b"\n")
        slowest = self.heartbeats_until_the_end(helper, run)
        self.assertEqual(run.code, 0)
        self.assertLess(slowest, SLOW / 2)
        left = [entry for entry in run.enforcement if entry.startswith("unheld:scratch=")]
        self.assertEqual(left, [f"unheld:scratch=private scratch {place}: it is still being removed"])
        began = time.monotonic()
        self.assertEqual(self.shell(helper, "exit 4").code, 4)
        self.assertLess(time.monotonic() - began, SLOW)
        self.assertTrue(client.wait_until(lambda: not os.path.exists(place), 60))
        self.assertTrue(scratches() <= before)

    def test_shutdown_waits_for_what_is_left_of_a_scratch(self):
        before = scratches()
        helper = self.helper()
        run, place = self.fill(helper)
        helper.send("shutdown", {})
        helper.settle(run)
        began = time.monotonic()
        self.assertEnds(helper, 0)
        # On a disk that is too slow for this, the helper's patience has ended.
        self.assertTrue(not os.path.exists(place) or time.monotonic() - began > 9)
        self.assertTrue(scratches() - before <= {os.path.basename(place)})

    def test_shutdown_joins_the_run(self):
        before = scratches()
        helper = self.helper()
        run = self.running(helper)
        helper.send("shutdown", {})
        helper.settle(run)
        self.assertTrue(run.exit["cancelled"])
        self.assertEnds(helper, 0)
        self.assertNothingLeft()
        self.assertTrue(scratches() <= before)

    def test_many_runs_leave_nothing(self):
        before = scratches()
        helper = self.helper()
        for _ in range(3):
            self.shell(helper, "true")
        time.sleep(0.3)  # the last run's own go right behind its exit frame
        descriptors = len(os.listdir(f"/proc/{helper.pid}/fd"))
        for number in range(60):
            self.assertEqual(self.shell(helper, f"exit {number}").code, number)
        self.assertTrue(
            client.wait_until(lambda: len(os.listdir(f"/proc/{helper.pid}/fd")) == descriptors, 5)
        )
        helper.send("shutdown", {})
        self.assertEnds(helper, 0)
        self.assertNothingLeft()
        self.assertTrue(scratches() <= before)


if __name__ == "__main__":
    unittest.main()
