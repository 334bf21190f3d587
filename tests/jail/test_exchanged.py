"""A protected file that another process exchanges with an open one while the jail is set up."""

import sys

from jail import *

TRIES = 40

# argv: two paths. Exchanges them as fast as it can, until its stdin ends.
EXCHANGER = r"""
import ctypes, os, select, sys
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2
one, other = (os.fsencode(word) for word in sys.argv[1:])
def exchange():
    if libc.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) != 0:
        print(os.strerror(ctypes.get_errno()), flush=True)
        sys.exit(1)
exchange(); exchange()
print("begun", flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(999): exchange()
"""


class Exchanged(JailCase):
    def setUp(self):
        super().setUp()
        self.secret = self.file("ws/secret")
        self.other = self.file("ws/other", text="open\n")

    def exchanger(self):
        process = subprocess.Popen(
            [sys.executable, "-c", EXCHANGER, self.secret, self.other],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        begun = process.stdout.readline()
        if begun == b"Invalid argument\n":
            self.skipTest("this file system exchanges no names")
        self.assertEqual(begun, b"begun\n")
        return process

    def attempts(self, tries):
        script = 'echo begin; cat "$0"; exit 0'
        with self.helper(base=self.policy(protected=[self.secret])) as helper:
            self.needs(helper, "bwrap")
            for _ in range(tries):
                yield helper.settle(helper.start([SH, "-c", script, self.secret]), LIMIT)

    def judge(self, run):
        """What a run came to; a silent leak is a failure."""
        if run.error:
            return "refused before the start"
        said = [entry for entry in run.enforcement if entry.startswith("skip:mounts: protected")]
        if not bytes(run.stdout).startswith(b"begin\n"):
            self.assertEqual((self.outcome(run)["class"], bytes(run.stdout)), ("setup", b""), self.story(run))
            if bytes(run.stderr).startswith(b"bwrap: "):
                return "bubblewrap gave up"
            self.assertEqual(run.code, 126, self.story(run))
            words = f"skip:mounts: protected {self.secret} was exchanged while the jail was set up"
            self.assertTrue(said == [words] or "not masked" in self.outcome(run)["detail"], self.story(run))
            return "exchange seen" if said else "mask missed"
        self.assertTrue(said or b"S3CRET" not in run.stdout, f"open and unreported: {self.story(run)}")
        return "open and reported" if b"S3CRET" in run.stdout else "held"

    def test_a_file_exchanged_while_the_jail_is_set_up_is_hidden_refused_or_reported(self):
        process = self.exchanger()
        verdicts = [self.judge(run) for run in self.attempts(TRIES)]
        self.assertIsNone(process.poll(), "the exchanger gave up")
        counts = {verdict: verdicts.count(verdict) for verdict in set(verdicts)}
        print(counts)
        self.assertNotEqual(counts, {"held": TRIES}, "nothing was exchanged at a bad moment")

    def test_without_anybody_who_exchanges_the_mask_holds(self):
        for run in self.attempts(5):
            self.assertEqual((run.code, bytes(run.stdout)), (0, b"begin\n"), self.story(run))
            self.assertIn(b"Permission denied", bytes(run.stderr))
            self.assertNoSkips(run)


if __name__ == "__main__":
    unittest.main()
