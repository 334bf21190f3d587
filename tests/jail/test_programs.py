"""D28: bubblewrap, stage 2 and the backend cannot be turned against a later run."""

from probing import *

PLATFORM = ("--demand", "platform")

# argv: the hostile program, then the places of ours. Tries every way to put it in their place.
TAKE_OVER = r"""
evil=$1; shift
echo begin
for place; do
  ln "$place" "$place.link" 2>/dev/null && cat "$evil" 2>/dev/null >"$place.link" && echo "through a link: $place"
  cat "$evil" 2>/dev/null >"$place" && echo "in place: $place"
  cp "$evil" "$place.new" && chmod 755 "$place.new" && mv "$place.new" "$place" && echo "renamed: $place"
done
"""


class ProgramCase(ProbingCase):
    def setUp(self):
        super().setUp()
        self.evil = os.environ.get("LOOM_CARELESS_BWRAP", "")  # leaves `started` beside itself
        self.assertTrue(os.access(self.evil, os.X_OK), "LOOM_CARELESS_BWRAP must name that program")

    def own_bwrap(self):
        """A directory for PATH with a bubblewrap that whoever runs this may write to."""
        directory = self.directory("programs")
        shutil.copy2("/usr/bin/bwrap", os.path.join(directory, "bwrap"))
        os.chmod(os.path.join(directory, "bwrap"), 0o755)
        return directory

    def started(self, directory="programs"):
        """Whether the program that was put in bubblewrap's place has run."""
        return os.path.exists(self.path(directory, "started"))

    def truth(self, helper, **start):
        """A run that finds everything as it should be."""
        run = self.settle(helper, helper.start([SH, "-c", "echo ran"], **start))
        self.assertEqual((run.code, bytes(run.stdout)), (0, b"ran\n"), self.story(run))
        self.assertNoSkips(run)
        self.assertApplied(run, "bwrap", "mounts", "landlock", "launcher-pins")
        return run

    def refused(self, helper, *words):
        mark = self.path("ws/mark")
        run = helper.settle(helper.start([SH, "-c", f"echo x >{mark}"]), LIMIT)
        self.assertIsNotNone(run.error, run.exit)
        self.assertEqual(run.error["code"], "spawn_failed")
        for word in words:
            self.assertIn(word, run.error["msg"])
        self.assertFalse(os.path.exists(mark))
        self.assertEqual(client.left_of(helper.pid), {})

    def rewrite(self, place, content):
        """In place, as another process of the same user may do between two runs."""
        with open(place, "r+b") as file:
            file.write(content)
            file.truncate()


class FromInside(ProgramCase):
    def take_over(self, helper, places):
        """A command whose writable regions cover the programs, and what of it worked."""
        granted = sorted({self.place + "/" + os.path.relpath(p, self.place).split("/")[0] for p in places})
        policy = self.policy(writable_roots=[self.ws, *granted], readable_roots=[os.path.dirname(self.evil)])
        argv = [SH, "-c", TAKE_OVER, "sh", self.evil, *places]
        run = self.settle(helper, helper.start(argv, policy=policy))
        lines = bytes(run.stdout).decode().splitlines()
        self.assertEqual(lines[:1], ["begin"], self.story(run))
        return lines[1:]

    def test_a_command_that_may_write_where_they_lie_replaces_names_and_no_program(self):
        directory = self.own_bwrap()
        places = [os.path.join(directory, "bwrap"), *self.installation()]
        with self.helper(*PLATFORM, env=path_with(directory)) as helper:
            self.needs(helper, "bwrap", "landlock")
            before = self.truth(helper)
            done = self.take_over(helper, places)
            # The control: the names are another program's now.
            for place in places:
                self.assertIn(f"renamed: {place}", done)
                with open(place, "rb") as now, open(self.evil, "rb") as evil:
                    self.assertEqual(now.read(), evil.read())
            # A running image cannot be opened for writing, whatever it is called (ETXTBSY).
            launcher = [line for line in done if places[0] in line and "renamed" not in line]
            self.assertEqual(launcher, [])
            for _ in range(3):
                self.assertEqual(self.truth(helper).enforcement, before.enforcement)
            self.assertFalse(self.started())
        # The control: who asks for a name now gets the other program.
        subprocess.run([places[0], "/bin/true"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
        self.assertTrue(self.started())

    def test_a_later_helper_of_the_same_policy_takes_no_bubblewrap_from_there(self):
        directory = self.own_bwrap()
        policy = self.policy(writable_roots=[self.ws, directory])
        for _ in range(2):
            with self.helper(base=policy, env=path_with(directory)) as helper:
                self.needs(helper, "bwrap")
                self.truth(helper)
                self.take_over(helper, [os.path.join(directory, "bwrap")])
                self.truth(helper)
            self.assertFalse(self.started())
        with self.helper(env=path_with(directory)) as helper:  # the control: one of another policy does
            self.truth(helper)
        self.assertTrue(self.started())

    def test_nor_does_a_later_run_of_a_person(self):
        directory = self.own_bwrap()
        place = os.path.join(directory, "bwrap")
        env = path_with(directory)
        words = ["--write", directory, "--read", os.path.dirname(self.evil), "--", SH, "-c", TAKE_OVER, "sh"]
        run = self.person(*words, self.evil, place, env=env)
        self.assertEqual(run.status, 0, run)
        self.assertIn(f"in place: {place}".encode(), run.stdout)  # nobody runs it: the system's was taken
        for _ in range(2):
            again = self.person("--write", directory, "--", "/bin/echo", "ran", env=env)
            self.assertEqual((again.status, again.stdout), (0, b"ran\n"), again)
            self.assertFalse(self.started())
        self.assertEqual(self.person("--", "/bin/true", env=env).status, 0)  # the control
        self.assertTrue(self.started())


class FromOutside(ProgramCase):
    """Another process of the same user, between two runs of one helper."""

    def setUp(self):
        super().setUp()
        self.bwrap = os.path.join(self.own_bwrap(), "bwrap")
        with open(self.bwrap, "rb") as file:
            self.content = file.read()

    def pinned(self, *flags):
        helper = self.helper(*flags, env=path_with(os.path.dirname(self.bwrap)))
        self.needs(helper, "bwrap")
        self.truth(helper)
        return helper

    # guard 9.4: 77
    def test_a_launcher_that_was_rewritten_is_refused_by_name_until_it_is_itself_again(self):
        with open(self.evil, "rb") as file:
            evil = file.read()
        with self.pinned() as helper:
            self.rewrite(self.bwrap, evil)
            for _ in range(2):
                self.refused(helper, "pin_changed: ", self.bwrap)
            self.assertFalse(self.started())
            helper.heartbeat()
            self.rewrite(self.bwrap, self.content)
            self.truth(helper)

    def test_one_byte_under_the_old_size_and_date_is_a_rewrite(self):
        about = os.stat(self.bwrap)
        changed = self.content[:-1] + bytes([self.content[-1] ^ 1])
        with self.pinned() as helper:
            self.rewrite(self.bwrap, changed)
            os.utime(self.bwrap, ns=(about.st_atime_ns, about.st_mtime_ns))
            self.assertEqual(os.stat(self.bwrap).st_mtime_ns, about.st_mtime_ns)
            self.refused(helper, "pin_changed: ")

    # guard 9.4: 75; guard 9.7: 151
    def test_a_name_that_leads_elsewhere_a_link_and_a_date_change_nothing(self):
        with self.pinned() as helper:
            os.link(self.bwrap, self.bwrap + ".link")
            self.truth(helper)
            os.utime(self.bwrap, (1, 1))
            self.truth(helper)
            script = self.program("programs/new", text=f"#!{SH}\necho x >{self.path('programs/started')}\n")
            os.rename(script, self.bwrap)
            self.truth(helper)
            os.unlink(self.bwrap)
            os.unlink(self.bwrap + ".link")
            self.truth(helper)
            self.assertFalse(self.started())

    def test_the_files_of_backend_and_stage_2_may_go_and_only_a_new_helper_misses_them(self):
        backend, stage2, _ = self.installation()
        with self.pinned() as helper:
            self.rewrite(backend, b"no library")
            self.rewrite(stage2, b"no program")
            self.truth(helper)
            os.unlink(backend)
            os.unlink(stage2)
            self.truth(helper)
        gone = self.helper(hello=False)
        self.assertIsNone(gone.receive())
        self.assertEqual(gone.wait_exit(), 1)
        self.assertIn(backend, gone.stderr_text())
        gone.close()

    def test_a_launcher_that_its_user_may_rewrite_is_named(self):
        owned = [e for e in self.pinned_entries() if e.startswith("unheld:launcher-owner=")]
        self.assertEqual(bool(owned), os.getuid() != 0, owned)
        if owned:
            self.assertIn(self.bwrap, owned[0])
        systems = self.execute(["/bin/true"], flags=PLATFORM)
        self.assertIn("launcher-pins", systems.enforcement)
        self.assertNotUnheld(systems, "launcher-owner")

    def pinned_entries(self):
        with self.pinned() as helper:
            return self.truth(helper).enforcement

    def test_a_run_without_bubblewrap_claims_no_pins(self):
        with self.helper(env={**os.environ, "PATH": self.directory("nothing")}) as helper:
            run = self.settle(helper, helper.start(["/bin/true"]))
        self.assertFalse([e for e in run.enforcement if "launcher" in e], run.enforcement)


if __name__ == "__main__":
    unittest.main()
