"""D22: a planned mask is not a mask in place, and a jail whose mask was lost runs nothing."""

from jail import *


class LostMasks(JailCase):
    def setUp(self):
        super().setUp()
        self.careless_bwrap()

    def lose(self, path):
        with open(self.path("fake/drop"), "w", encoding="utf-8") as file:
            file.write(path)

    def attempt(self, policy, secret):
        """Whether the command ran, what it read, and the run."""
        script = 'echo x >"$1"; cat "$2"'
        mark = self.path("ws/mark")
        run = self.execute(
            [SH, "-c", script, "sh", mark, secret],
            policy,
            helper_env=path_with(self.path("fake")),
        )
        ran = os.path.exists(mark)
        if ran:
            os.unlink(mark)
        return ran, run

    def assertStopped(self, policy, secret):
        ran, run = self.attempt(policy, secret)
        self.assertFalse(ran, self.story(run))
        self.assertEqual(run.code, 126, self.story(run))
        self.assertNotIn(b"S3CRET", bytes(run.stdout))
        self.assertFalse([e for e in run.enforcement if e.startswith("mounts:") or e == "bwrap"])
        self.assertSkips(run, "skip:bwrap:")
        self.assertSkips(run, "skip:stage2:")
        self.assertEqual(self.outcome(run)["class"], "setup")
        self.assertIn(os.path.dirname(secret), self.outcome(run)["detail"])
        self.assertIn(b"loom-exec[stage2]: ", bytes(run.stderr))

    def assertRuns(self, policy, secret):
        ran, run = self.attempt(policy, secret)
        self.assertTrue(ran, self.story(run))
        self.assertNotIn(b"S3CRET", bytes(run.stdout))
        self.assertApplied(run, "bwrap", "mounts")
        self.assertNoSkips(run)

    def test_a_lost_mask_of_a_file_stops_the_run(self):
        secret = self.file("ws/.env")
        policy = self.policy(protected=[secret, self.file("ws/other")])
        self.assertRuns(policy, secret)
        self.lose(secret)
        self.assertStopped(policy, secret)

    def test_a_lost_mask_of_a_directory_stops_the_run(self):
        secret = self.file("ws/.git/config")
        policy = self.policy(protected=[self.path("ws/.git")])
        self.assertRuns(policy, secret)
        self.lose(self.path("ws/.git"))
        self.assertStopped(policy, secret)

    def test_a_lost_mask_in_a_read_only_region_stops_the_run(self):
        # There the unmasked file is on a read-only mount as its mask would be.
        secret = self.file("out/key")
        vault = self.file("out/vault/key")
        policy = self.policy(readable_roots=[self.out], protected=[secret, self.path("out/vault")])
        self.assertRuns(policy, secret)
        self.lose(secret)
        self.assertStopped(policy, secret)
        self.lose(self.path("out/vault"))
        self.assertStopped(policy, vault)

    def test_a_root_left_writable_stops_the_run(self):
        policy = self.policy(protected=[self.file("ws/.env")])
        self.lose("/")
        self.assertStopped(policy, "/")
        self.lose(self.path("ws/elsewhere"))
        self.assertRuns(policy, self.path("ws/.env"))


class NoNamespaces(JailCase):
    """A launcher that makes no jail at all, on a machine where its absence does not show inside."""

    # argv: the writable place, then the helper. The root is read-only here, as it is in a jail.
    READ_ONLY_ROOT = (
        'mount --bind "$1" "$1" && mount -o remount,bind,ro / && ! touch "$2" 2>/dev/null && shift 2 && exec "$@"'
    )

    def setUp(self):
        super().setUp()
        self.fake = self.careless_bwrap()
        # Only the superuser can make the root read-only for the helper.
        root = f"unshare -m {SH} -c '{self.READ_ONLY_ROOT}' sh {self.ws} {self.path('probe')}"
        before = root if os.getuid() == 0 else ""
        self.wrapper = self.program("wrapper", text=f'#!{SH}\nexec {before} {client.helper_path()} "$@"\n')

    def attempt(self):
        saved = os.environ["LOOM_EXEC"]
        os.environ["LOOM_EXEC"] = self.wrapper
        try:
            mark = self.path("ws/mark")
            run = self.execute([SH, "-c", f"echo x >{mark}; echo ran"], helper_env=path_with(self.fake))
        finally:
            os.environ["LOOM_EXEC"] = saved
        ran = os.path.exists(mark)
        if ran:
            os.unlink(mark)
        return ran, run

    def test_a_launcher_that_makes_no_namespaces_never_gets_the_command(self):
        ran, run = self.attempt()
        self.assertEqual((ran, bytes(run.stdout)), (True, b"ran\n"), self.story(run))
        self.assertApplied(run, "bwrap", "mounts")
        self.assertNoSkips(run)
        self.file("fake/bare", text="")
        ran, run = self.attempt()
        self.assertEqual((ran, bytes(run.stdout)), (False, b""), self.story(run))
        self.assertNotEqual(run.code, 0)
        outcome = self.outcome(run)
        self.assertEqual(outcome["class"], "setup")
        self.assertIn("namespaces", outcome["detail"] + outcome["first_cause"])


class BrokenLauncher(JailCase):
    def test_a_bubblewrap_that_fails_claims_nothing_and_the_command_never_runs(self):
        # cases.md 100, 110
        shutil.copy2("/bin/false", os.path.join(self.directory("fake"), "bwrap"))
        mark = self.path("ws/mark")
        run = self.execute(
            [SH, "-c", f"echo x >{mark}"], helper_env=path_with(self.path("fake"))
        )
        self.assertEqual((run.code, run.exit["signal"]), (1, 0))
        self.assertFalse(os.path.exists(mark))
        self.assertFalse([e for e in run.enforcement if not e.startswith("skip:")], run.enforcement)
        self.assertSkips(run, "skip:bwrap:")
        self.assertSkips(run, "skip:stage2:")
        self.assertEqual(self.outcome(run)["class"], "setup")
        control = self.execute([SH, "-c", f"echo x >{mark}"], helper_env=path_with())
        self.assertEqual(control.code, 0)
        self.assertTrue(os.path.exists(mark))

    def test_a_bubblewrap_in_a_writable_region_is_not_trusted(self):
        shutil.copy2("/bin/false", os.path.join(self.directory("ws/bin"), "bwrap"))
        for directory in (self.path("ws/bin"), self.link(self.path("ws/bin"), "alias")):
            run = self.execute([SH, "-c", "echo begin"], helper_env=path_with(directory))
            self.assertEqual((run.code, bytes(run.stdout)), (0, b"begin\n"), self.story(run))
            self.assertApplied(run, "bwrap")


if __name__ == "__main__":
    unittest.main()
