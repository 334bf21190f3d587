"""A waiting jail is never used when a path changed meanwhile: there, and there and back.

What the helper compares is tried alone where it can be: with the helper stopped during the change, so that
nothing but the comparison at the start can notice; and once more with the helper awake, which lets go of the
jail in time or compares as well. What is no path: test_warm_grounds.py.
"""

from warming import *

NO_RULES = {"default": "allow", "allow": [], "deny": [], "support": "system", "memfd": "any", "required": False}


class StoppedTest(StaleCase):
    """Each change between the preparation and the start, which the helper learns of at the start."""

    def assertStaleAfter(self, change, reason, policy=None, script=StaleCase.LOOK, **start):
        with self.warm(policy or self.masked()) as (helper, jail):
            return self.assertStale(helper, jail, reason, script, change=change, **start)

    def test_a_protected_file_that_was_replaced(self):
        def change():
            self.file("out/new")
            os.rename(self.path("out/new"), self.secret)

        self.assertHidden(self.assertStaleAfter(change, FILES))

    def test_a_protected_file_that_was_removed_and_made_again(self):
        def change():
            os.unlink(self.secret)
            self.file("ws/.env")

        # The mask goes with the name, and holds nothing any more: the number of the inode may be used again.
        self.assertHidden(self.assertStaleAfter(change, (FILES, JAIL_MOUNTS)))

    def test_a_protected_file_that_was_removed(self):
        script = "cat open.txt; echo x >.env; ls -A"
        run = self.assertStaleAfter(lambda: os.unlink(self.secret), MORE, script=script)
        self.assertIn(b"open\n", run.stdout)
        self.assertFalse(os.path.lexists(self.secret))

    def test_a_protected_file_that_was_exchanged_and_exchanged_back(self):
        """The mask goes with the name, and comes back with it: all facts are those of before."""

        def change():
            os.rename(self.secret, self.path("ws/away"))
            self.file("ws/.env", text="other\n")
            os.rename(self.path("ws/away"), self.secret)

        self.assertHidden(self.assertStaleAfter(change, NAMES))

    def test_a_protected_file_that_was_replaced_and_came_back(self):
        """Whoever replaces a name takes the mask off the object that had it."""

        def change():
            os.link(self.secret, self.path("ws/kept"))
            self.file("ws/other", text="other\n")
            os.rename(self.path("ws/other"), self.secret)
            os.rename(self.path("ws/kept"), self.secret)

        self.assertHidden(self.assertStaleAfter(change, JAIL_MOUNTS))

    def test_a_protected_directory_that_was_exchanged_and_exchanged_back(self):
        def change():
            os.rename(self.keys, self.path("ws/away"))
            os.mkdir(self.keys)
            os.rmdir(self.keys)
            os.rename(self.path("ws/away"), self.keys)

        self.assertHidden(self.assertStaleAfter(change, NAMES))

    def test_a_directory_above_that_was_exchanged(self):
        policy = self.policy(protected=[self.file("ws/deep/er/.env")])

        def change():
            os.rename(self.path("ws/deep"), self.path("ws/away"))
            self.file("ws/deep/er/.env")

        run = self.assertStaleAfter(change, FILES, policy, "cat open.txt; cat deep/er/.env")
        self.assertHidden(run)

    def test_a_directory_above_that_was_exchanged_and_exchanged_back(self):
        policy = self.policy(protected=[self.file("ws/deep/er/.env")])

        def change():
            os.rename(self.path("ws/deep"), self.path("ws/away"))
            os.mkdir(self.path("ws/deep"))
            os.rmdir(self.path("ws/deep"))
            os.rename(self.path("ws/away"), self.path("ws/deep"))

        run = self.assertStaleAfter(change, NAMES, policy, "cat open.txt; cat deep/er/.env")
        self.assertHidden(run)

    def test_a_directory_above_that_was_exchanged_around_what_is_granted(self):
        """The granted directory and its parent are the same; only the way there is another."""
        granted = os.path.dirname(self.file("out/deep/er/still/note", text="note\n"))

        def change():
            os.rename(self.path("out/deep"), self.path("out/away"))
            os.mkdir(self.path("out/deep"))
            os.rename(self.path("out/away/er"), self.path("out/deep/er"))

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[granted]), f"cat {granted}/note")
        self.assertIn(b"note\n", run.stdout)

    def test_a_protected_file_with_another_name(self):
        run = self.assertStaleAfter(lambda: os.link(self.secret, self.path("ws/other")), FILES)
        self.assertIn("mask-links=1", run.enforcement)

    def test_a_protected_file_that_became_a_directory(self):
        def change():
            os.unlink(self.secret)
            os.mkdir(self.secret)
            self.file("ws/.env/inner")

        run = self.assertStaleAfter(change, FILES, script="cat open.txt; cat .env/inner")
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)

    def test_a_protected_path_that_was_absent_and_is_there(self):
        absent = self.path("out/late")  # nothing shows it, so that nothing has to be made
        policy = self.policy(protected=[absent])
        run = self.assertStaleAfter(lambda: self.file("out/late"), FILES, policy, "cat open.txt; cat ../out/late")
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)

    def test_a_link_that_leads_elsewhere(self):
        self.file("out/a/note", text="first\n")
        self.file("out/b/note", text="second\n")
        link = self.link(self.path("out/a"), "link")

        def change():
            os.unlink(link)
            os.symlink(self.path("out/b"), link)

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[link]), f"cat {link}/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_link_that_leads_there_by_another_way(self):
        self.file("out/a/note", text="note\n")
        link = self.link(self.path("out/a"), "link")
        other = self.link(self.path("out/a"), "other")

        def change():
            os.unlink(link)
            os.symlink(other, link)

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[link]), f"cat {link}/note")
        self.assertIn(b"note\n", run.stdout)

    def test_a_link_that_became_a_directory(self):
        self.file("out/a/note", text="first\n")
        link = self.link(self.path("out/a"), "link")

        def change():
            os.unlink(link)
            self.file("link/note", text="second\n")

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[link]), f"cat {link}/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_workspace_that_was_exchanged(self):
        def change():
            os.rename(self.ws, self.path("away"))
            self.file("ws/open.txt", text="new\n")

        run = self.assertStaleAfter(change, FILES, self.policy(), "cat open.txt; echo mine >made")
        self.assertIn(b"new\n", run.stdout)
        self.assertTrue(os.path.exists(self.path("ws/made")))
        self.assertFalse(os.path.exists(self.path("away/made")))

    def test_a_readable_root_that_was_exchanged(self):
        self.file("out/note", text="first\n")

        def change():
            os.rename(self.out, self.path("away"))
            self.file("out/note", text="second\n")

        run = self.assertStaleAfter(change, FILES, self.policy(readable_roots=[self.out]), "cat ../out/note")
        self.assertIn(b"second\n", run.stdout)

    def test_a_file_with_a_mount_of_its_own_that_was_replaced(self):
        file = self.file("out/file", text="first\n")

        def change():
            self.file("out/new", text="second\n")
            os.rename(self.path("out/new"), file)

        policy = self.policy(mounts=[{"path": file, "access": "ro", "required": True}])
        run = self.assertStaleAfter(change, FILES, policy, f"cat {file}")
        self.assertIn(b"\nsecond\n", run.stdout)


class AwakeTest(StoppedTest):
    """The same under the eyes of the helper."""

    def assertStaleAfter(self, change, reason, policy=None, script=StaleCase.LOOK, **start):
        with self.warm(policy or self.masked()) as (helper, jail):
            return self.assertStale(helper, jail, None, script, meanwhile=change, **start)

    def test_a_protected_name_that_is_touched_lets_go_of_the_jail_at_once(self):
        with self.warm(self.masked()) as (helper, jail):
            os.rename(self.secret, self.path("ws/away"))
            os.rename(self.path("ws/away"), self.secret)
            gone = client.wait_until(lambda: state(jail) is None, PATIENCE)
            self.assertTrue(gone, "a jail is kept that nobody can get any more")
            self.assertHidden(self.assertStale(helper, jail, None, self.LOOK))


class UnchangedTest(StaleCase):
    def test_it_is_used(self):
        with self.warm(self.masked()) as (helper, jail):
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK))

    def test_a_helper_that_was_stopped_uses_it(self):
        with self.warm(self.masked()) as (helper, jail):
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK, change=lambda: None))

    def test_a_name_beside_a_protected_one_is_nothing_to_it(self):
        with self.warm(self.masked()) as (helper, jail):
            self.file("ws/new")
            os.rename(self.path("ws/new"), self.path("ws/newer"))
            self.assertHidden(self.assertUsed(helper, jail, self.LOOK))

    def test_a_workspace_that_was_exchanged_and_exchanged_back_is_the_workspace(self):
        with self.warm(self.policy()) as (helper, _):
            os.rename(self.ws, self.path("away"))
            os.mkdir(self.ws)
            os.rmdir(self.ws)
            os.rename(self.path("away"), self.ws)
            run, _ = self.run_held(helper, "cat open.txt; echo mine >made")
            self.assertIn(b"open\n", run.stdout)
            self.assertEqual(self.text(self.path("ws/made")), "mine\n")


class RequestTest(StaleCase):
    """Starts that come with something else."""

    def test_a_policy_that_differs_in_what_no_jail_is_made_by(self):
        """What the helper counts itself is in no launch, and begins with the jail."""
        policy = self.masked(limits=client.limits(output_bytes=100))
        with self.warm(policy) as (helper, jail):
            script = "i=0; while [ $i -lt 50 ]; do echo 0123456789; i=$((i + 1)); done"
            run = self.assertStale(helper, jail, POLICY, script, policy=self.masked())
            self.assertEqual(run.truncations["stdout"], 0)

    def test_a_policy_of_version_3_that_restricts_nothing(self):
        with self.warm(self.policy()) as (helper, jail):
            run = self.assertStale(helper, jail, POLICY, "cat open.txt", policy=self.policy(v=3, exec=NO_RULES))
            self.assertIn(b"open\n", run.stdout)


if __name__ == "__main__":
    unittest.main()
