"""How a helper ends: shutdown, end of input, a broker that is gone (wire.md 8)."""

import time
import unittest

import client
from case import WireCase, for_jails

EMPTY_MAPS = {"fixmap": b"\x80", "map16": b"\xde\x00\x00", "map32": b"\xdf\x00\x00\x00\x00"}


def shutdown_with(body, frame_id=70):
    return client.frame_of(client.envelope(frame_id, "shutdown", {})[4:-1] + body)


class EndingTest(WireCase):
    def assertExitThenEnd(self, helper, run, status=0):
        """The run's exit frame, cancelled and not timed out, then the end."""
        while (frame := helper.expect_any(run)).kind == "exec_out":
            run.take(frame)
        run.take(frame)
        self.assertEqual((run.exit["cancelled"], run.exit["timed_out"]), (True, False))
        self.assertEqual(helper.remaining(), [])
        self.assertEnds(helper, status)

    def test_shutdown_when_idle_is_exit_0_without_a_frame_and_without_end_of_input(self):
        for name, body in EMPTY_MAPS.items():
            with self.subTest(name), self.helper() as helper:
                helper.send_all(shutdown_with(body))
                self.assertEqual(helper.remaining(), [])
                self.assertEnds(helper, 0)

    # cases.md 199
    def test_shutdown_during_a_run_writes_its_exit_and_is_exit_0(self):
        helper = self.helper()
        run = self.running(helper)
        helper.send("shutdown", {})
        self.assertExitThenEnd(helper, run)
        self.assertNothingLeft()

    def test_shutdown_during_a_run_that_ignores_term_kills_it_in_time(self):
        helper = self.jailing_helper()
        run = self.running(helper, "trap '' TERM; echo up; while :; do sleep 0.1; done")
        began = time.monotonic()
        helper.send("shutdown", {})
        self.assertExitThenEnd(helper, run)
        self.assertLess(time.monotonic() - began, 3.5)
        self.assertNothingLeft()

    def test_frames_queued_behind_a_shutdown_get_no_answer(self):
        for running in (False, True):
            with self.subTest(running=running), self.helper() as helper:
                run = self.running(helper) if running else None
                helper.send_all(
                    shutdown_with(b"\x80")
                    + client.envelope(71, "heartbeat", {})
                    + client.envelope(72, "exec_start", client.start_body(["/bin/true"]))
                    + client.envelope(73, "no_such_kind", {})
                    + client.frame_of(b"\xc1")
                )
                if run:
                    self.assertExitThenEnd(helper, run)
                else:
                    self.assertEqual(helper.remaining(), [])
                    self.assertEnds(helper, 0)

    def test_a_shutdown_with_any_other_body_is_malformed_under_its_id(self):
        bodies = {
            "full map": client.pack({"a": 1}),
            "list": b"\x90",
            "number": b"\x05",
            "text": b"\xa0",
            "false": b"\xc2",
        }
        for name, body in bodies.items():
            with self.subTest(name), self.helper() as helper:
                helper.send_all(shutdown_with(body))
                self.assertEqual(helper.expect("error", 70).body["code"], "malformed_frame")
                self.assertEqual(helper.remaining(), [])
                self.assertEnds(helper, 1)

    def test_a_shutdown_with_nil_is_malformed_as_an_envelope(self):
        helper = self.helper()
        helper.send_all(shutdown_with(b"\xc0"))
        self.assertEqual(helper.expect("error", 0).body["code"], "malformed_frame")
        self.assertEqual(helper.remaining(), [])
        self.assertEnds(helper, 1)

    def test_a_bad_shutdown_during_a_run_joins_it_and_is_exit_1(self):
        helper = self.helper()
        run = self.running(helper)
        helper.send_all(shutdown_with(b"\x90"))
        frames = helper.remaining()
        found = sorted((frame.kind, frame.id) for frame in frames)
        self.assertEqual(found, [("error", 70), ("exec_exit", run.id)])
        self.assertEnds(helper, 1)
        self.assertNothingLeft()

    def test_end_of_input_when_idle_is_exit_0(self):
        helper = self.helper()
        helper.end_input()
        self.assertEqual(helper.remaining(), [])
        self.assertEnds(helper, 0)

    def test_end_of_input_before_any_hello_is_exit_0(self):
        with self.helper(hello=False) as helper:
            helper.expect("hello")
            helper.end_input()
            self.assertEqual(helper.remaining(), [])
            self.assertEnds(helper, 0)

    def test_end_of_input_during_a_run_writes_its_exit_and_is_exit_0(self):
        helper = self.helper()
        run = self.running(helper)
        helper.end_input()
        self.assertExitThenEnd(helper, run)
        self.assertNothingLeft()

    def test_end_of_input_during_a_flood_writes_its_exit_and_is_exit_0(self):
        helper = self.helper()
        run = self.running(helper, "echo up; yes")
        helper.end_input()
        self.assertExitThenEnd(helper, run)

    def test_a_broker_that_stopped_reading_takes_helper_and_jail_with_it(self):
        helper = self.jailing_helper()
        self.running(helper, "echo up; while :; do echo more; sleep 0.05; done")
        helper.process.stdout.close()
        helper.process.stdin.close()
        helper.process.wait(client.PATIENCE)
        self.assertNotEqual(helper.process.returncode, None)
        self.assertNothingLeft()

    # cases.md 195
    @for_jails
    def test_a_killed_helper_takes_its_jail_with_it(self):
        helper = self.jailing_helper()
        self.running(helper, "trap '' TERM HUP INT; sleep 600 & setsid sleep 600 & echo up; wait")
        self.assertGreater(len(client.descendants(helper.pid)), 3)
        helper.kill()
        client.Helper.live.pop(helper.pid)
        self.assertNothingLeft()
        client.Helper.live[helper.pid] = helper


if __name__ == "__main__":
    unittest.main()
