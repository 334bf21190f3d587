"""Everything the Windows helper does besides serving: exit codes and words."""

import unittest

import wine

UNSUPPORTED = """\
loom-exec self-test
  features: pgroup, degraded, platform-unsupported

  NOT RUN   every probe (no jail is built for Windows)

==== enforcement summary ====
enforced (0):
nothing was attempted on Windows: there is no layer to probe

RESULT: UNSUPPORTED PLATFORM (no jail for Windows; not a pass)
"""


class Modes(wine.WindowsCase):
    def ended(self, status, *arguments, **how):
        done = wine.run_helper(*arguments, **how)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done.stdout.decode(errors="backslashreplace"), done.stderr.decode()

    def policy_file(self, content):
        path = f"{self.place}/policy"
        with open(path, "wb") as file:
            file.write(content)
        return wine.windows_path(path)

    def sound_policy(self):
        return self.policy_file(wine.client.pack(self.policy()))

    def test_server_without_the_flag_names_it_and_exits_1(self):
        out, err = self.ended(1, policy=self.sound_policy())
        self.assertEqual(out, "")
        self.assertRegex(err, r"\Aloom-exec: windows has no jail.*--allow-unenforced.*\n\Z")

    def test_server_with_the_flag_serves_until_the_end_of_its_input(self):
        out, err = self.ended(0, "--allow-unenforced", policy=self.sound_policy())
        self.assertIn("platform-unsupported", out)
        self.assertEqual(err, "")

    def test_descriptor_3_is_needed_and_judged(self):
        for content, words in ((None, "descriptor 3: not open"), (b"", "descriptor 3: empty"),
                               (b"\x80", "policy: "), (b"\x80" * (1 << 20) + b"\x80", "policy: ")):
            with self.subTest(words):
                given = "-" if content is None else self.policy_file(content)
                out, err = self.ended(1, "--allow-unenforced", policy=given)
                self.assertEqual(out, "")
                self.assertRegex(err, rf"\Aloom-exec: {words}.*\n\Z")

    def test_paths_of_a_policy_hide_no_components(self):
        def served(**given):
            return self.ended(0, "--allow-unenforced", policy=self.policy_file(wine.client.pack(self.policy(**given))))

        def refusal(**given):
            return self.ended(1, "--allow-unenforced", policy=self.policy_file(wine.client.pack(self.policy(**given))))[1]

        def mounts(*paths):
            return [{"path": path, "access": "rw", "required": False} for path in paths]

        served(writable_roots=["C:\\a\\..\\b", "/c:/a/../b"], mounts=mounts("C:\\m", "/c:/n"))
        self.assertIn("policy: writable_roots[0]: ", refusal(writable_roots=["/C:\\a\\..\\b"]))
        self.assertIn("backslash", refusal(writable_roots=["/C:\\a\\..\\b"]))
        self.assertIn("is not absolute", refusal(protected=["//server/share"]))
        self.assertIn("mounts: path ", refusal(mounts=mounts("C:\\m", "/c:/m")))
        self.assertIn("overlaps protected path", refusal(protected=["D:\\..\\m"], mounts=mounts("/d:/m")))
        self.assertIn("\"..\" segment", refusal(mounts=mounts("C:\\x\\..\\m")))

    def test_usage_errors_exit_2_and_quote_the_word(self):
        # Nothing was read from descriptor 3: there is none.
        for words in (["--frobnicate"], ["--allow-unenforced", "--frobnicate"]):
            out, err = self.ended(2, *words)
            self.assertEqual(out, "")
            self.assertRegex(err, r'\Aloom-exec: unknown argument "--frobnicate"\nusage: ')
        self.assertIn('"--demand" needs a value', self.ended(2, "--demand")[1])
        self.assertIn("none of", self.ended(2, "--demand", "most")[1])
        self.assertIn('unknown argument "x"', self.ended(2, "--self-test", "x")[1])

    def test_help(self):
        for word in ("--help", "-h"):
            out, err = self.ended(0, word)
            self.assertEqual(out, "")
            self.assertTrue(err.startswith("usage: loom-exec "), err)

    def test_self_test_says_that_the_platform_is_unsupported(self):
        out, err = self.ended(1, "--self-test")
        self.assertEqual(out, UNSUPPORTED)
        self.assertEqual(err, "")

    def test_git_identity_is_refused_on_both_streams(self):
        line = "loom-exec: a git identity is published on Linux and macOS only\n"
        self.assertEqual(self.ended(1, "--publish-git-identity", "eA==", "C:\\w", "[]"), (line, line))

    def test_subcommands_for_people_say_what_is_missing(self):
        for word in ("run", "plan", "why"):
            out, err = self.ended(125, word, "--", "x")
            self.assertEqual(out, "")
            self.assertRegex(err, rf"\Aloom-exec: '{word}' is not part of the Windows build: .*\n\Z")
        self.assertRegex(self.ended(126, "--exec")[1], r"\Aloom-exec\[stage2\]: ")

    def test_a_backend_is_a_name_or_a_full_path(self):
        for name in ("..\\x", "sub/x", ".hidden"):
            err = self.ended(1, "--allow-unenforced", "--backend", name, policy=self.sound_policy())[1]
            self.assertIn("neither a name nor a path", err)
        err = self.ended(1, "--allow-unenforced", "--backend", "seatbelt", policy=self.sound_policy())[1]
        self.assertIn("seatbelt.dll", err)


if __name__ == "__main__":
    unittest.main()
