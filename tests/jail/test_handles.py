"""D4: what is mounted is what was judged, whatever its name leads to by then."""

from jail import *


class Handles(JailCase):
    def test_an_ordinary_run_says_so(self):
        run = self.shell("true", self.policy(readable_roots=[self.out]))
        self.assertIn("mounts-by=handle", run.enforcement)
        self.assertNotIn("mounts-by=name", run.enforcement)
        self.assertNoSkips(run)

    def exchanged(self, policy, one, other, script, *args):
        """A run whose launcher finds the names of the two exchanged."""
        self.careless_bwrap()
        with open(self.path("fake/exchange"), "w", encoding="utf-8") as file:
            file.write(f"{one}\n{other}\n")
        return self.execute(
            [SH, "-c", "echo begin\n" + script, "sh", *args],
            policy,
            flags=["--no-warm"],  # a second launcher would exchange them back
            helper_env=path_with(self.path("fake")),
        )

    def test_a_source_whose_name_changed_hands_is_still_the_one_that_was_judged(self):
        # guard 9.7: 129
        self.file("src/file", text="judged\n"), self.file("evil/file", text="evil\n")
        src, evil = self.path("src"), self.path("evil")
        for requirement in ("root", "mount"):
            with self.subTest(requirement):
                policy = (
                    self.policy(readable_roots=[src])
                    if requirement == "root"
                    else self.policy(mounts=[{"path": src, "access": "ro", "required": True}])
                )
                run = self.exchanged(policy, src, evil, 'cat "$1/file"', src)
                self.assertEqual(bytes(run.stdout), b"begin\njudged\n", self.story(run))
                # It really was exchanged: by name the launcher would have found the other.
                self.assertEqual(self.text(f"{src}/file"), "evil\n")
                os.rename(src, src + ".now"), os.rename(evil, src), os.rename(src + ".now", evil)

    def test_a_source_exchanged_for_a_link_is_still_the_one_that_was_judged(self):
        self.file("src/file", text="judged\n"), self.file("evil/file", text="evil\n")
        src, link = self.path("src"), self.link(self.path("evil"), "link")
        run = self.exchanged(self.policy(readable_roots=[src]), src, link, 'cat "$1/file"', src)
        self.assertEqual(bytes(run.stdout), b"begin\njudged\n", self.story(run))
        self.assertTrue(os.path.islink(src))

    def test_a_file_is_lent_like_a_directory(self):
        one, other = self.file("one", text="judged\n"), self.file("other", text="evil\n")
        run = self.exchanged(self.policy(readable_roots=[one]), one, other, 'cat "$1"', one)
        self.assertEqual(bytes(run.stdout), b"begin\njudged\n", self.story(run))
        self.assertEqual(self.text(one), "evil\n")

    def test_hundreds_of_roots_have_a_descriptor_each_and_none_of_them_in_the_jail(self):
        roots = [self.file("many", str(number), "file", text=f"{number}\n") for number in range(300)]
        policy = self.policy(readable_roots=[os.path.dirname(root) for root in roots])
        run = self.shell('cat "$@" | tail -n 1; ls /proc/self/fd', policy, roots)
        words = run.stdout.decode().split()
        self.assertEqual(words[:2], ["begin", "299"], self.story(run))
        # ls itself holds 3.
        self.assertEqual(words[2:], ["0", "1", "2", "3"], self.story(run))

    def test_more_sources_than_descriptors_are_refused_with_both_numbers(self):
        roots = [self.directory("many", str(number)) for number in range(200)]

        def few():
            import resource

            resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

        with self.helper(base=self.policy(readable_roots=roots), prepare=few) as helper:
            self.needs(helper, "bwrap")
            run = helper.settle(helper.start(["/bin/true"]), LIMIT)
            self.assertIsNotNone(run.error, "it ran")
            self.assertIn("256", run.error["msg"])
        with self.helper(base=self.policy(readable_roots=roots[:20]), prepare=few) as helper:
            self.settle(helper, helper.start(["/bin/true"]))

    def test_a_socket_and_a_fifo_can_be_roots(self):
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        run = self.shell('test -p "$1" && echo there', self.policy(readable_roots=[fifo]), [fifo])
        self.assertEqual(bytes(run.stdout), b"begin\nthere\n", self.story(run))


if __name__ == "__main__":
    unittest.main()
