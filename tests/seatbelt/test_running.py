"""One execution: streams, directory, environment, scratch, limits, ends (see trying.py)."""

import os
import signal
import unittest

from trying import SCRATCH_PARENT, SeatbeltCase, client

MIB = 1 << 20


class RunningTest(SeatbeltCase):
    def test_a_command_has_its_streams_and_its_status(self):
        helper = self.helper()
        for status in (0, 3, 126, 127, 143, 255):
            run = self.shell(helper, 'echo out; echo err >&2; exit "$0"', str(status))
            self.assertEqual((run.code, run.exit["signal"]), (status, 0))
            self.assertEqual((bytes(run.stdout), bytes(run.stderr)), (b"out\n", b"err\n"))
            # Launcher, stage 2 and command are one process: nothing is ambiguous.
            self.assertEqual(self.outcome(run), ("exited", f"exit {status}"))

    def test_input_and_a_flood_go_through(self):
        helper = self.helper()
        run = helper.start(["/bin/cat"])
        sent = b"".join(b"%07d\n" % number for number in range(100_000))
        for first in range(0, len(sent), 1 << 16):
            helper.stdin(sent[first : first + (1 << 16)])
        helper.stdin(b"", eof=True)
        helper.settle(run)
        self.assertEqual((run.code, bytes(run.stdout)), (0, sent))
        self.assertEqual(len(self.shell(helper, "head -c 33554432 /dev/zero").stdout), 32 * MIB)

    def test_it_inherits_three_descriptors_no_signal_state_and_leads_a_session(self):
        script = "ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status; cut -d' ' -f1,5,6 /proc/$$/stat"
        words = self.shell(self.helper(), script).stdout.decode().split()
        self.assertEqual(words[:8], ["0", "1", "2", "3", "SigBlk:", "0" * 16, "SigIgn:", "0" * 16])
        self.assertEqual(len(set(words[8:])), 1)

    # jail-darwin.md 2.7
    def test_everything_starts_in_the_directory_that_was_asked_for(self):
        os.mkdir(self.path("inner"))
        helper = self.helper(launcher=self.logging())
        run = self.shell(helper, "/bin/pwd -P", cwd=self.path("inner"))
        self.assertEqual(bytes(run.stdout), self.path("inner").encode() + b"\n")
        run = self.shell(helper, "/bin/pwd -P", cwd=self.ws)
        self.assertEqual(bytes(run.stdout), self.ws.encode() + b"\n")
        # Of the directories below a root nobody asked, so for them the launcher begins in "/".
        self.assertEqual([call[3] for call in self.calls()[-2:]], ["/", self.ws])

    def test_a_directory_that_is_not_there_is_exit_126_and_named(self):
        helper = self.helper()
        run = self.shell(helper, "true", cwd=self.path("absent"))
        self.assertEqual((run.code, self.outcome(run)[0]), (126, "setup"))
        self.assertIn(self.path("absent"), self.outcome(run)[1])
        self.assertEqual(self.shell(helper, "true", cwd=self.ws).code, 0)

    def test_a_program_that_is_not_there_and_one_that_may_not_run_are_told_apart(self):
        helper = self.helper()
        missing = helper.execute(["/no/such/program"])
        self.assertEqual((missing.code, self.outcome(missing)[0]), (126, "exec"))
        self.assertIn("not found", self.outcome(missing)[1])
        forbidden = helper.execute([self.ws])
        self.assertEqual((forbidden.code, self.outcome(forbidden)[0]), (126, "exec"))
        self.assertIn("Permission denied", self.outcome(forbidden)[1])

    # cases.md 205
    def test_paths_of_every_kind_travel_beside_the_profile(self):
        odd = self.path("a b\"c'\n(d)")
        os.mkdir(odd)
        helper = self.helper(base=self.policy(writable_roots=[self.ws, odd]))
        run = self.shell(helper, 'cd "$0" && echo x > made && /bin/pwd -P', odd)
        self.assertEqual((run.code, bytes(run.stdout)), (0, odd.encode() + b"\n"))
        self.assertEqual(os.listdir(odd), ["made"])

    def test_a_long_profile_travels_as_a_file_and_leaves_no_descriptor(self):
        roots = [self.path(f"root-{number}") for number in range(400)]
        for root in roots:
            os.mkdir(root)
        base = self.policy(readable_roots=roots)
        helper = self.helper(launcher=self.logging())
        short = self.shell(helper, "ls /proc/self/fd")
        long = self.shell(helper, "ls /proc/self/fd", policy=base)
        self.assertEqual((short.code, long.code), (0, 0), bytes(long.stderr))
        self.assertEqual(long.stdout, short.stdout)
        forms = [(call[0], int(call[1]) > 32_768) for call in self.calls()[-2:]]
        self.assertEqual(forms, [("-p", False), ("-f", True)])

    # cases.md 213
    def test_the_scratch_is_private_named_and_gone_afterwards(self):
        helper = self.helper()
        script = 'echo "$LOOM_SCRATCH_DIR"; stat -c %a "$LOOM_SCRATCH_DIR"; echo x > "$LOOM_SCRATCH_DIR/x"'
        places = set()
        for _ in range(3):
            run = self.shell(helper, script, env={"LOOM_SCRATCH_DIR": "/callers"})
            place, mode = run.stdout.decode().split()
            self.assertEqual((run.code, mode), (0, "700"))
            self.assertTrue(place.startswith(f"{SCRATCH_PARENT}/loom-exec-scratch-"), place)
            self.assertFalse(os.path.exists(place))
            places.add(place)
        self.assertEqual(len(places), 3)

    def test_limits_are_in_force(self):
        helper = self.helper(base=self.limited(fsize_bytes=65_536, cpu_s=1))
        place = self.path("grown")
        self.assertEqual(self.shell(helper, 'head -c 65536 /dev/zero > "$0"', place).code, 0)
        more = self.shell(helper, 'exec head -c 65537 /dev/zero > "$0"', place)
        self.assertEqual((more.exit["signal"], self.outcome(more)[0]), (signal.SIGXFSZ, "limit"))
        busy = self.shell(helper, "while :; do :; done")
        self.assertEqual((busy.exit["signal"], self.outcome(busy)[0]), (signal.SIGXCPU, "limit"))
        self.assertEqual(self.shell(helper, "sleep 1.2; exit 6").code, 6)


if __name__ == "__main__":
    unittest.main()
