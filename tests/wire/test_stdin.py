"""exec_stdin (wire.md 6.2)."""

import hashlib
import random
import time
import unittest

import client
from case import WireCase

MIB = 1 << 20
BOUND = 16 * MIB


class StdinTest(WireCase):
    # cases.md 167
    def test_what_goes_in_comes_out_and_a_chunk_after_the_end_is_refused(self):
        helper = self.helper()
        run = self.start_shell(helper, "cat; read never; sleep 0.5; exit 4")
        helper.stdin(b"one ")
        helper.stdin(b"two", eof=True)
        helper.until_output(run, b"one two")
        late = helper.stdin(b"three")
        self.assertRefused(helper, late, "no_exec")
        self.assertEqual(helper.settle(run).code, 4)
        self.assertEqual(bytes(run.stdout), b"one two")

    def test_the_end_alone_and_empty_chunks_are_chunks(self):
        helper = self.helper()
        run = helper.start(["/bin/cat"])
        helper.stdin(b"")
        helper.stdin(None)
        helper.stdin(b"x")
        helper.stdin(b"", eof=True)
        self.assertEqual(bytes(helper.settle(run).stdout), b"x")

    # cases.md 200
    def test_without_input_the_command_waits_and_with_its_end_it_ends(self):
        helper = self.helper()
        run = self.running(helper, "echo up; cat; echo end")
        self.assertTrue(helper.silent_for(0.3))
        helper.stdin(b"", eof=True)
        self.assertEqual(bytes(helper.settle(run).stdout), b"up\nend\n")

    # cases.md 172
    def test_many_chunks_of_growing_size_arrive_in_order(self):
        helper = self.helper()
        rng = random.Random(172)
        chunks = [rng.randbytes(size * 97) for size in range(200)]
        run = helper.start(["/usr/bin/sha256sum"])
        for chunk in chunks[:-1]:
            helper.stdin(chunk)
        helper.stdin(chunks[-1], eof=True)
        expected = hashlib.sha256(b"".join(chunks)).hexdigest()
        self.assertTrue(helper.settle(run).stdout.startswith(expected.encode()))

    def test_a_chunk_as_large_as_a_frame_admits_is_taken(self):
        helper = self.helper()
        run = helper.start(["/usr/bin/wc", "-c"])
        bare = len(client.envelope(9, "exec_stdin", {"data": b"x" * 70000, "eof": True})) - 70004
        data = b"x" * (client.MAX_PAYLOAD - bare)
        frame = client.envelope(9, "exec_stdin", {"data": data, "eof": True})
        self.assertEqual(len(frame), client.MAX_PAYLOAD + 4)
        helper.send_all(frame)
        self.assertEqual(int(helper.settle(run).stdout), len(data))

    # --- refusals ----------------------------------------------------------------------------

    def test_with_no_execution_ever_it_is_refused_before_its_body_is_looked_at(self):
        helper = self.helper()
        for body in ({"data": b"x", "eof": False}, 5, {"no": "such"}, []):
            with self.subTest(body):
                self.assertRefused(helper, helper.send("exec_stdin", body), "no_exec")

    def test_after_the_execution_it_is_refused(self):
        helper = self.helper()
        self.shell(helper, "true")
        self.assertRefused(helper, helper.stdin(b"late"), "no_exec")
        self.assertEqual(self.shell(helper, "exit 3").code, 3)

    def test_a_refused_start_is_no_execution(self):
        helper = self.helper()
        self.assertRefused(
            helper, helper.send("exec_start", client.start_body([])), "malformed_frame"
        )
        self.assertRefused(helper, helper.stdin(b"x"), "no_exec")

    def test_a_body_that_does_not_decode_is_malformed_and_the_run_goes_on(self):
        helper = self.helper()
        run = self.running(helper, "echo up; cat")
        bodies = {
            "a number": 5,
            "a key more": {"data": b"", "eof": False, "more": 1},
            "data is a number": {"data": 5, "eof": False},
            "data is a list": {"data": [1], "eof": False},
            "eof is a number": {"data": b"", "eof": 1},
            "eof is text": {"data": b"", "eof": "no"},
        }
        for name, body in bodies.items():
            with self.subTest(name):
                self.assertRefused(helper, helper.send("exec_stdin", body), "malformed_frame")
        helper.stdin(b"fine", eof=True)
        self.assertEqual(bytes(helper.settle(run).stdout), b"up\nfine")

    # cases.md 175
    def test_a_failed_write_is_reported_by_the_next_chunk_and_not_by_the_one_that_failed(self):
        # Also in a jail: bubblewrap's own processes must not be what keeps the pipe open.
        helper = self.helper()
        run = self.running(helper, "exec 0<&-; echo up; exec sleep 600")
        helper.stdin(b"nobody reads this")
        helper.heartbeat()
        time.sleep(0.2)
        self.assertRefused(helper, helper.stdin(b"nor this"), "no_exec")
        helper.cancel(run)
        self.assertTrue(helper.settle(run).exit["cancelled"])

    # --- the bound ---------------------------------------------------------------------------

    def fill(self, helper, size=BOUND):
        for _ in range(size // MIB):
            helper.stdin(b"x" * MIB)

    # cases.md 173, 179
    def test_sixteen_mebibytes_are_taken_while_nobody_reads(self):
        helper = self.helper()
        run = self.running(helper)
        self.fill(helper)
        helper.heartbeat()
        helper.cancel(run)
        self.assertTrue(helper.settle(run).exit["cancelled"])

    # cases.md 173
    def test_more_makes_the_reader_wait_until_there_is_room(self):
        helper = self.helper()
        gate = self.path("gate")
        run = self.running(helper, f"echo up; until [ -e {gate} ]; do sleep 0.05; done; wc -c")
        self.fill(helper)
        helper.heartbeat()
        extra = client.envelope(900, "exec_stdin", {"data": b"y" * MIB, "eof": True})
        tick = client.envelope(901, "heartbeat", {})
        behind = client.envelope(902, "heartbeat", {}) * 40000  # more than any pipe holds
        helper.send_raw(extra + tick, timeout=1)
        taken = helper.send_raw(behind, timeout=1, reading=False)
        self.assertLess(taken, len(behind))
        self.assertTrue(helper.silent_for(0.5))
        with open(gate, "w", encoding="ascii"):
            pass
        self.assertEqual(helper.expect("heartbeat").id, 901)
        others = []
        helper.settle(run, others=others)
        self.assertEqual(int(bytes(run.stdout).split()[-1]), BOUND + MIB)

    # cases.md 178
    def test_the_wall_clock_ends_the_wait(self):
        helper = self.helper()
        base = self.policy(limits=client.limits(wall_s=1))
        run = self.running(helper, policy=base)
        began = time.monotonic()
        self.fill(helper)
        helper.send_raw(client.envelope(900, "exec_stdin", {"data": b"y" * MIB, "eof": False}), 5)
        tick = helper.send("heartbeat", {})
        others = []
        helper.settle(run, others=others)
        self.assertTrue(run.exit["timed_out"])
        self.assertLess(time.monotonic() - began, 5)
        while tick not in [frame.id for frame in others]:
            others.append(helper.receive())
        refused = [frame for frame in others if frame.kind == "error"]
        self.assertEqual([(f.id, f.body["code"]) for f in refused], [(900, "no_exec")])

    def test_a_cancel_in_progress_ends_the_wait(self):
        helper = self.helper()
        run = self.running(helper, "trap '' TERM; echo up; while :; do sleep 1; done")
        helper.cancel(run)
        began = time.monotonic()
        self.fill(helper)
        helper.send_raw(client.envelope(900, "exec_stdin", {"data": b"y" * MIB, "eof": False}), 5)
        others = []
        helper.settle(run, others=others)
        self.assertTrue(run.exit["cancelled"])
        self.assertLess(time.monotonic() - began, 5)

    # cases.md 177
    def test_a_cancel_with_a_mebibyte_queued_settles_and_the_queue_is_dropped(self):
        helper = self.helper()
        run = self.running(helper)
        helper.stdin(b"x" * MIB)
        began = time.monotonic()
        helper.cancel(run)
        self.assertTrue(helper.settle(run).exit["cancelled"])
        self.assertLess(time.monotonic() - began, 3)
        self.assertRefused(helper, helper.stdin(b"late"), "no_exec")
        second = helper.start(["/bin/cat"])
        helper.stdin(b"", eof=True)
        self.assertEqual(bytes(helper.settle(second).stdout), b"")


if __name__ == "__main__":
    unittest.main()
