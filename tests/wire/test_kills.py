"""Helpers killed at random moments of a start: no command runs on, none starts afterwards."""

import os
import random
import signal
import time
import unittest
import uuid

import client
from case import SH, WireCase

KILLS = int(os.environ.get("LOOM_KILLS", "120"))
SEED = int(os.environ.get("LOOM_SEED", "0")) or random.SystemRandom().randrange(1, 1 << 31)
BATCH = 40
LATE_S = 0.4  # when the command writes its second sign of life

# $0 is the mark, $1 the directory for signs of life, $2 the number.
COMMAND = f'echo x > "$1/$2.began"; sleep {LATE_S}; echo x > "$1/$2.late"; exec sleep 600'


def marked(mark):
    """Processes whose command line holds the mark, except ours."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                if mark.encode() in file.read():
                    found.append(int(entry))
        except OSError:
            pass
    return found


class KillTest(WireCase):
    def setUp(self):
        super().setUp()
        self.mark = f"loom-wire-mark-{uuid.uuid4()}"
        self.rng = random.Random(SEED)
        self.stuck = 0

    def begin(self, number):
        helper = self.jailing_helper()
        helper.start([SH, "-c", COMMAND, self.mark, self.ws, str(number)])
        return helper

    def signs(self, ending):
        return {name for name in os.listdir(self.ws) if name.endswith(ending)}

    def time_to_run(self):
        """How long a start takes until the command runs; the signs of life work."""
        helper, began = self.begin("control"), time.monotonic()
        self.assertTrue(client.wait_until(lambda: self.signs("control.began"), 20, 0.0005))
        took = time.monotonic() - began
        self.assertTrue(marked(self.mark), "the mark is visible while the command runs")
        self.assertTrue(client.wait_until(lambda: self.signs("control.late"), 20))
        self.end(helper)
        return took

    def end(self, helper):
        helper.kill()
        helper.close()

    def kill_at_random(self, number, span):
        helper = self.begin(number)
        deadline = time.monotonic() + self.rng.uniform(0, span)
        while time.monotonic() < deadline:
            pass  # a sleep is coarser than what is to be hit
        self.end(helper)

    def launchers_that_wait(self):
        """Launchers killed before their jail had begun: nothing of ours runs in them, ever."""
        found = client.descendants()
        return {pid for pid, name in found.items() if name == "bwrap" and pid not in marked(self.mark)}

    def assertAllDead(self):
        """No command and no stage 2 is left; what launchers are left is counted and removed.

        Between making its namespaces and arming itself to die with the helper, bubblewrap's inner
        process waits for its supervisor; one killed there leaves the other waiting for good.
        """

        def gone():
            client.reap_adopted(set(client.Helper.live))
            return not marked(self.mark) and not client.descendants()

        if client.wait_until(gone, 3, 0.02):
            return
        stuck = self.launchers_that_wait()
        self.assertEqual(set(client.descendants()), stuck, (SEED, client.descendants()))
        self.stuck += len(stuck)
        for pid in stuck:
            os.kill(pid, signal.SIGKILL)
        self.assertTrue(client.wait_until(gone, 10, 0.02), (SEED, client.descendants()))

    def test_no_command_outlives_its_helper_and_none_starts_after_it(self):
        span = 1.5 * self.time_to_run()
        self.assertAllDead()
        for first in range(0, KILLS, BATCH):
            for number in range(first, min(first + BATCH, KILLS)):
                self.kill_at_random(number, span)
            self.assertTrue(client.wait_until(lambda: not marked(self.mark), 5), f"seed {SEED}")
            began = self.signs(".began")
            time.sleep(LATE_S + 0.2)
            self.assertEqual(self.signs(".began"), began, f"seed {SEED}")
            self.assertEqual(marked(self.mark), [], f"seed {SEED}")
            self.assertAllDead()
        survivors = self.signs(".late") - {"control.late"}
        began = len(self.signs(".began")) - 1
        print(
            f"seed {SEED}: {KILLS} helpers killed within {span * 1000:.1f} ms,"
            f" {began} commands had begun, {self.stuck} launchers waited for good"
        )
        self.assertEqual(survivors, set(), f"seed {SEED}")
        if KILLS >= 100:
            self.assertGreater(began, 0, "no kill came late enough")
            self.assertLess(began, KILLS, "no kill came early enough")


if __name__ == "__main__":
    unittest.main()
