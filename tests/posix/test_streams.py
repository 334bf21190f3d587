"""Standard input, output and its cap, and the limits that the host's own child sets."""

import signal
import unittest

from unjailed import PosixCase, client

MIB = 1 << 20


class StdinTest(PosixCase):
    def test_what_is_sent_arrives_and_the_end_too(self):
        helper = self.helper()
        run = helper.start(["/bin/cat"])
        sent = b"".join(b"%07d\n" % number for number in range(100_000))
        for first in range(0, len(sent), 1 << 16):
            helper.stdin(sent[first : first + (1 << 16)])
        helper.stdin(b"", eof=True)
        helper.settle(run)
        self.assertEqual((run.code, bytes(run.stdout)), (0, sent))

    def test_a_command_that_does_not_read_holds_up_nothing_but_its_own_input(self):
        helper = self.helper()
        run = self.running(helper)
        helper.stdin(b"x" * MIB)
        helper.cancel(run)
        self.assertTrue(helper.settle(run).exit["cancelled"])
        self.assertEqual(self.shell(helper, "exit 4").code, 4)


class OutputTest(PosixCase):
    def test_each_stream_is_cut_at_the_cap_to_the_byte(self):
        helper = self.helper(base=self.limited(output_bytes=65_536))
        run = self.shell(helper, "head -c 1048576 /dev/zero; head -c 65536 /dev/zero >&2")
        self.assertEqual((len(run.stdout), run.exit["stdout_truncated"]), (65_536, True))
        self.assertEqual((len(run.stderr), run.exit["stderr_truncated"]), (65_536, False))

    def test_a_flood_arrives_whole(self):
        run = self.shell(self.helper(), "head -c 67108864 /dev/zero")
        self.assertEqual((run.code, len(run.stdout)), (0, 64 * MIB))

    def test_the_last_words_come_before_the_end(self):
        helper = self.helper()
        for number in range(50):
            run = self.shell(helper, f"echo {number}; echo end >&2")
            self.assertEqual((bytes(run.stdout), bytes(run.stderr)), (b"%d\n" % number, b"end\n"))


class LimitTest(PosixCase):
    def test_a_file_grows_to_the_limit_and_no_further(self):
        helper = self.helper(base=self.limited(fsize_bytes=65_536))
        place = self.path("grown")
        fits = self.shell(helper, 'head -c 65536 /dev/zero > "$0"', place)
        self.assertEqual((fits.code, self.size(place)), (0, 65_536))
        # By the builtin: the shell itself is hit.
        more = self.shell(helper, 'exec head -c 65537 /dev/zero > "$0"', place)
        self.assertEqual(more.exit["signal"], signal.SIGXFSZ)
        self.assertEqual(self.outcome(more)[0], "limit")
        self.assertIn("fsize_bytes", self.outcome(more)[1])
        self.assertEqual(self.size(place), 65_536)
        self.assertIn("rlimit-fsize", more.enforcement)
        without = self.shell(helper, 'head -c 65537 /dev/zero > "$0"', place, policy=self.policy())
        self.assertEqual((without.code, self.size(place)), (0, 65_537))

    def size(self, place):
        with open(place, "rb") as file:
            return len(file.read())

    def test_cpu_time_runs_out_for_those_who_use_it(self):
        helper = self.helper(base=self.limited(cpu_s=1))
        busy = self.shell(helper, "while :; do :; done")
        self.assertEqual(busy.exit["signal"], signal.SIGXCPU)
        self.assertEqual(self.outcome(busy)[0], "limit")
        self.assertIn("cpu_s", self.outcome(busy)[1])
        self.assertGreaterEqual(busy.exit["wall_ms"], 900)
        self.assertIn("rlimit-cpu", busy.enforcement)
        idle = self.shell(helper, "sleep 1.5; exit 6")
        self.assertEqual(idle.code, 6)

    def test_a_command_that_never_ran_had_no_limit_set_that_is_claimed(self):
        helper = self.helper(base=self.limited(cpu_s=1))
        run = self.shell(helper, "true", cwd=self.path("absent"))
        self.assertNotIn("rlimit-cpu", run.enforcement)
        self.assertIn("rlimit-cpu", self.shell(helper, "true").enforcement)


if __name__ == "__main__":
    unittest.main()
