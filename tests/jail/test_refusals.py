"""What is refused before anything runs, by name; and what looks alike and is accepted."""

from jail import *


class Missing(JailCase):
    def accepted(self, policy):
        run = self.execute([SH, "-c", "echo begin"], policy)
        self.assertEqual((bytes(run.stdout), run.code), (b"begin\n", 0), self.story(run))
        return run

    def test_an_absent_protected_path_in_a_system_directory_is_refused_by_name(self):
        # cases.md 68
        path = f"/usr/share/loom-{os.getpid()}"
        self.assertIn(path, self.refusal(self.policy(protected=[path])))
        self.accepted(self.policy())

    def test_an_absent_protected_path_where_nothing_is_granted_is_accepted(self):
        # cases.md 69
        absent = self.path("out/.ssh/id")
        run = self.assertJail(
            self.policy(protected=[absent]),
            cannot=[("create", absent), ("create", absent + "/x")],
            can=[("create", self.path("ws/new"))],
        )
        self.assertNoSkips(run)
        self.assertEqual(os.listdir(self.out), [])

    def test_absent_files_inside_a_protected_directory_need_no_mask_of_their_own(self):
        # cases.md 72
        vault = self.directory("out/state/d")
        protected = [vault + "/", vault + "/x/one", vault + "/x/two"]
        run = self.accepted(self.policy(readable_roots=["/"], protected=protected))
        self.assertNoSkips(run)

    def test_absent_files_under_a_read_only_view_are_all_refused_in_one_message(self):
        # cases.md 73
        one, two = self.path("out/b-gone"), self.path("out/a-gone")
        message = self.refusal(self.policy(readable_roots=["/"], protected=[one, two]))
        self.assertIn(f"{two}, {one}", message)

    def test_a_protected_path_at_or_above_or_in_proc_is_refused(self):
        # cases.md 30, 74
        for path in ("/proc", "/", "/proc/loom-new"):
            with self.subTest(path=path):
                self.assertIn(path, self.refusal(self.policy(protected=[path])))
        self.accepted(self.policy(protected=[self.file("ws/.env")]))

    def test_an_absent_writable_root_is_refused_and_the_present_one_not_named(self):
        # cases.md 75
        absent = self.path("gone")
        message = self.refusal(self.policy(writable_roots=[self.ws, absent]))
        self.assertIn(absent, message)
        self.assertIn("writable_roots", message)
        self.assertIn("No such file or directory", message)
        self.assertNotIn(self.ws, message)

    def test_an_absent_scratch_is_blamed_on_scratch(self):
        # cases.md 76
        absent = self.path("gone")
        message = self.refusal(self.policy(scratch=absent))
        self.assertIn(absent, message)
        self.assertIn("scratch", message)
        self.assertNotIn("writable_roots", message)
        self.accepted(self.policy(scratch=self.directory("there")))

    def test_an_absent_readable_root_is_accepted(self):
        # cases.md 77
        self.assertNoSkips(self.accepted(self.policy(readable_roots=[self.path("gone")])))

    def test_a_root_that_cannot_be_looked_at_is_refused_with_the_kernels_reason(self):
        # cases.md 78
        message = self.refusal(self.policy(writable_roots=[self.file("file") + "/below"]))
        self.assertIn("Not a directory", message)
        if os.getuid() != 0:
            closed = self.directory("closed/inner")
            os.chmod(self.path("closed"), 0)
            self.addCleanup(os.chmod, self.path("closed"), 0o700)
            message = self.refusal(self.policy(writable_roots=[closed]))
            self.assertIn("Permission denied", message)

    def test_an_absent_required_mount_is_refused_and_the_present_one_not_named(self):
        # cases.md 79
        absent, present = self.path("gone"), self.directory("there")
        mounts = [{"path": path, "access": "ro", "required": True} for path in (present, absent)]
        without = path_with()
        without["PATH"] = self.directory("nothing")
        for env in (None, without):
            message = self.refusal(self.policy(mounts=mounts), helper_env=env)
            self.assertIn(absent, message)
            self.assertIn("mounts", message)
            self.assertNotIn(present, message)
        self.accepted(self.policy(mounts=mounts[:1]))

    def test_an_absent_mount_is_blamed_before_an_absent_root(self):
        # cases.md 81
        mount = {"path": self.path("gone-mount"), "access": "rw", "required": True}
        message = self.refusal(self.policy(mounts=[mount], writable_roots=[self.path("gone-root")]))
        self.assertIn("gone-mount", message)
        self.assertNotIn("gone-root", message)


class NothingRuns(JailCase):
    def test_a_refusal_comes_in_band_starts_no_process_and_leaves_the_helper_in_service(self):
        # cases.md 82
        for flags in ((), ("--no-warm",)):
            with self.subTest(flags=flags), self.helper(*flags, base=self.policy()) as helper:
                self.needs(helper, "bwrap")
                mark = self.path("ws/mark")
                bad = self.policy(protected=[f"/usr/share/{NEW}"])
                start = helper.start([SH, "-c", f"echo x >{mark}"], policy=bad)
                run = helper.settle(start)
                self.assertEqual(run.error["code"], "spawn_failed")
                self.assertEqual(client.left_of(helper.pid), {})
                self.assertFalse(os.path.exists(mark))
                run = self.settle(helper, helper.start([SH, "-c", f"echo x >{mark}"]))
                self.assertEqual(run.code, 0)
                self.assertTrue(os.path.exists(mark))
                os.unlink(mark)

    def test_a_policy_with_a_mount_over_a_mask_or_over_a_root_is_no_policy(self):
        # cases.md 83, 84
        def mount(path, access="ro"):
            return {"path": path, "access": access, "required": False}

        home, work, seed = self.place, self.ws, self.directory("ws/seed")
        secret = self.file("ws/.env")
        bad = [
            {"mounts": [mount(secret)], "protected": [secret]},
            {"mounts": [mount(work, "rw")], "protected": [secret]},
            {"mounts": [mount(seed + "/x")], "protected": [seed]},
            {"mounts": [mount(seed), mount(seed, "rw")]},
            {"mounts": [mount(seed + "/")]},
            {"mounts": [mount(seed + "/../seed")]},
            {"mounts": [mount(home)]},
            {"mounts": [mount("/")]},
            {"scratch": "/"},
        ]
        with self.helper() as helper:
            for given in bad:
                with self.subTest(given=given):
                    run = helper.settle(helper.start(["/bin/true"], policy=self.policy(**given)))
                    self.assertEqual(run.error["code"], "bad_policy", run.error)
            for given in ({"mounts": [mount(seed)]}, {"mounts": [mount(home, "rw")]}):
                run = helper.settle(helper.start(["/bin/true"], policy=self.policy(**given)))
                self.assertEqual((run.error, run.code), (None, 0), given)

    def test_more_arguments_than_bubblewrap_takes_are_refused_with_the_limit(self):
        names = [self.file("ws/many", str(number)) for number in range(3000)]
        message = self.refusal(self.policy(protected=names))
        self.assertIn("8900", message)
        run = self.execute([SH, "-c", f"cat {names[0]} || echo begin"], self.policy(protected=names[:200]))
        self.assertEqual(bytes(run.stdout), b"begin\n", self.story(run))

    def test_a_large_environment_is_passed_and_not_a_raw_error(self):
        value = "x" * 100_000
        policy = self.policy(env_allow=["PATH", "A", "B", "C"])
        run = self.execute(
            [SH, "-c", "echo begin ${#A} ${#B} ${#C}"], policy, env={"A": value, "B": value, "C": value}
        )
        self.assertEqual(bytes(run.stdout), b"begin 100000 100000 100000\n", self.story(run))


class HelperInTheWorkspace(JailCase):
    def test_a_jailed_build_can_replace_the_helper_that_runs_it(self):
        # cases.md 67
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(client.helper_path())))
        for part in ("bin/loom-exec", "lib/loom-exec", "libexec/loom-exec"):
            source, target = os.path.join(prefix, part), self.path("ws", part)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copytree(source, target) if os.path.isdir(source) else shutil.copy2(source, target)
        helper, stage2 = self.path("ws/bin/loom-exec"), self.path("ws/libexec/loom-exec/bwrap-stage2")
        script = 'echo begin; for f; do echo new >"$f.new" && mv "$f.new" "$f" && echo replaced; done'
        done = subprocess.run(
            [helper, "run", "--report=none", "--", SH, "-c", script, "sh", helper, stage2],
            cwd=self.ws,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=LIMIT,
        )
        self.assertEqual(done.stdout, b"begin\nreplaced\nreplaced\n")
        self.assertEqual(self.text(helper), "new\n")


if __name__ == "__main__":
    unittest.main()
