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


class Planted(JailCase):
    """Links that lie there before the start, towards the names that bubblewrap has for the host and
    for the jail while it builds one."""

    def setUp(self):
        super().setUp()
        self.before = self.listing(self.out)
        self.targets = {
            "host": f"/oldroot{self.out}",
            "jail": f"/newroot{self.out}",
            "relative": "../" * 20 + f"oldroot{self.out}",
            "host root": "/oldroot",
            "jail root": "/newroot",
        }

    def assertUntouched(self):
        self.assertEqual(self.listing(self.out), self.before)
        for name in ("/oldroot", "/newroot"):
            self.assertFalse(os.path.lexists(name), f"{name} is on the host")

    def test_a_path_of_any_list_through_such_a_link_in_the_workspace_is_refused_by_name(self):
        for name, target in self.targets.items():
            link = self.link(target, "ws", name)
            below = f"{link}/new"
            for policy in (
                self.policy(protected=[below]),
                self.policy(protected=[link]),
                self.policy(readable_roots=[below]),
                self.policy(writable_roots=[self.ws, below]),
                self.policy(mounts=[{"path": below, "access": "ro", "required": False}]),
            ):
                with self.subTest(name, policy=policy):
                    self.assertIn(link, self.refusal(policy))
            # The link does no harm where the policy does not go through it.
            secret = self.file("ws/secret")
            run = self.shell('cat "$1"; ls "$2/"; exit 0', self.policy(protected=[secret]), [secret, link])
            self.assertEqual(bytes(run.stdout), b"begin\n", self.story(run))
        self.assertUntouched()

    def test_outside_the_workspace_such_a_link_leads_into_the_jail_and_nowhere_else(self):
        for name, target in self.targets.items():
            link = self.link(target, name)
            policy = self.policy(protected=[f"{link}/new/er"], readable_roots=[f"{link}/root"])
            with self.subTest(name):
                run = self.shell('ls "$1/new/er"; echo x >"$2/control"', policy, [link, self.ws])
                self.assertEqual((run.code, bytes(run.stdout)), (0, b"begin\n"), self.story(run))
        self.assertUntouched()


class ExchangedBeforeTheLauncher(JailCase):
    """A protected file whose name becomes a link towards bubblewrap's own name for the host, after the
    helper looked and before bubblewrap does."""

    def setUp(self):
        super().setUp()
        self.careless_bwrap()
        self.secret = self.file("ws/secret")
        self.link(f"/oldroot{self.out}/made", "ws/link")

    def attempt(self):
        with open(self.path("fake/exchange"), "w", encoding="utf-8") as file:
            file.write(f"{self.secret}\n{self.path('ws/link')}\n")
        mark = self.path("ws/mark")
        argv = [SH, "-c", 'echo x >"$1"; cat "$2"', "sh", mark, self.path("ws/link")]
        run = self.execute(
            argv,
            self.policy(protected=[self.secret]),
            flags=["--no-warm"],  # a second launcher would exchange them back
            helper_env=path_with(self.path("fake")),
        )
        self.assertTrue(os.path.islink(self.secret), "it was not exchanged")
        self.assertFalse(os.path.exists(mark), self.story(run))
        self.assertEqual(bytes(run.stdout), b"", self.story(run))
        self.assertEqual(self.outcome(run)["class"], "setup")
        return run

    def test_nothing_appears_where_the_link_leads(self):
        self.attempt()
        self.assertEqual(os.listdir(self.out), [])

    def test_without_a_cover_over_the_host_it_would(self):
        self.file("fake/unknown", text="/../oldroot")
        self.attempt()
        self.assertEqual(os.listdir(self.out), ["made"])

    def test_without_a_cover_the_report_says_so_and_with_one_it_says_nothing(self):
        policy = self.policy(protected=[self.secret])
        run = self.execute([SH, "-c", "echo ran"], policy, helper_env=path_with(self.path("fake")))
        self.assertFalse([e for e in run.enforcement if e.startswith("unheld:mount-points")])
        self.file("fake/unknown", text="/../oldroot")
        run = self.execute([SH, "-c", "echo ran"], policy, helper_env=path_with(self.path("fake")))
        self.assertEqual(bytes(run.stdout), b"ran\n", self.story(run))
        self.assertTrue([e for e in run.enforcement if e.startswith("unheld:mount-points=")], run.enforcement)
        self.assertNoSkips(run)


class Vanished(JailCase):
    """A name in the workspace that somebody removes after the helper looked and before bubblewrap does.
    bubblewrap makes the mount point that it does not find."""

    def setUp(self):
        super().setUp()
        self.fake = self.careless_bwrap()
        self.kept = self.file("ws/kept")

    def launch(self, policy):
        return self.execute([SH, "-c", "echo ran"], policy, flags=["--no-warm"], helper_env=path_with(self.fake))

    def assertGone(self, path, policy):
        run = self.launch(policy)
        self.assertEqual(bytes(run.stdout), b"ran\n", self.story(run))
        self.assertNoSkips(run)
        self.file("fake/remove", text=path)
        run = self.launch(policy)
        self.assertEqual(bytes(run.stdout), b"", self.story(run))
        self.assertEqual(self.outcome(run)["class"], "setup", self.story(run))
        self.assertEqual(os.listdir(self.ws), ["kept"], self.story(run))
        return run

    def test_a_protected_file_does_not_come_back_as_an_empty_one(self):
        secret = self.file("ws/.env")
        run = self.assertGone(secret, self.policy(protected=[secret, self.kept]))
        self.assertSkips(run, f"skip:mounts: protected {secret} was exchanged while the jail was set up")

    def test_nor_does_a_protected_directory(self):
        secret = self.directory("ws/.git")
        run = self.assertGone(secret, self.policy(protected=[secret, self.kept]))
        self.assertSkips(run, f"skip:mounts: protected {secret} was exchanged while the jail was set up")
        self.assertIn(b"/.git: No such file or directory", bytes(run.stderr))

    def test_nor_a_directory_of_another_list(self):
        for place, policy in (
            ("ws/root", lambda path: self.policy(readable_roots=[path])),
            ("ws/mount", lambda path: self.policy(mounts=[{"path": path, "access": "ro", "required": True}])),
        ):
            with self.subTest(place):
                path = self.directory(place)
                self.assertGone(path, policy(path))
                os.unlink(self.path("fake/remove"))

    def test_without_links_that_lead_to_it_a_directory_would(self):
        self.file("fake/unknown", text="/../oldroot")
        secret = self.directory("ws/.git")
        self.file("fake/remove", text=secret)
        self.launch(self.policy(protected=[secret]))
        self.assertEqual(os.listdir(secret), [])


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
