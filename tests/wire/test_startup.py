"""Before the hello: the command line, descriptor 3, and the platform (wire.md 3, 8.1, 10, 13)."""

import os
import subprocess
import unittest

import client
from case import WireCase

MIB = 1 << 20


class StartupTest(WireCase):
    def fails_before_hello(self, base, *args, status=1):
        """stderr of a helper that ends by itself without a frame."""
        helper = client.Helper(base, *args, hello=False)
        self.assertIsNone(helper.receive())
        self.assertEqual(helper.wait_exit(), status, helper.stderr_text())
        text = helper.stderr_text()
        helper.close()
        return text

    def test_a_valid_policy_is_answered_with_hello_before_anything_is_sent(self):
        with self.helper(hello=False) as helper:
            hello = helper.expect("hello", 1)
            self.assertEqual(hello.body["proto"], client.PROTO)
            self.assertEqual(hello.body["peer"], "exec-helper")
            self.assertEqual(hello.body["features"][:2], ["rlimits", "pgroup"])
            self.assertTrue({"bwrap", "degraded"} & set(hello.body["features"]))
            self.assertTrue(helper.silent_for(0.2))

    # cases.md 201
    def test_descriptor_3_missing_or_bad_is_one_line_and_exit_1(self):
        good = client.pack(self.policy())
        bad = {
            "not open": None,
            "empty": b"",
            "garbage": b"\xc1\xff\x00garbage",
            "a list": client.pack([1]),
            "truncated": good[:-1],
            "bytes after the map": good + b"\x00",
            "version 1": client.pack(self.policy(v=1)),
            "a key missing": client.pack({k: v for k, v in self.policy().items() if k != "limits"}),
            "a key more": client.pack(self.policy(more=1)),
            "text": b"/etc/passwd\n",
        }
        for name, base in bad.items():
            with self.subTest(name):
                text = self.fails_before_hello(base)
                self.assertEqual(text.count("\n"), 1, text)
        with self.subTest("the same policy unharmed"):
            self.helper(base=good).heartbeat()

    # cases.md 201
    def test_a_policy_of_the_wrong_version_is_refused_with_both_numbers(self):
        text = self.fails_before_hello(self.policy(v=7))
        self.assertIn("7", text)
        self.assertIn("2", text)

    def test_descriptor_3_is_read_up_to_a_mebibyte_and_no_further(self):
        def sized(total):
            bare = len(client.pack(self.policy(env_allow=["x" * 70000])))
            return client.pack(self.policy(env_allow=["x" * (70000 + total - bare)]))

        fits, longer = sized(MIB), sized(MIB + 1)
        self.assertEqual((len(fits), len(longer)), (MIB, MIB + 1))
        self.helper(base=fits).heartbeat()
        self.fails_before_hello(longer)

    # cases.md 204
    def test_an_unknown_argument_is_a_usage_error_that_quotes_it(self):
        for words in (["--bogus"], ["bogus"], ["--allow-unenforced", "--bogus"]):
            with self.subTest(words):
                text = self.fails_before_hello(None, *words, status=2)
                self.assertIn("unknown argument", text)
                self.assertIn("bogus", text)

    def test_a_flag_without_its_value_is_a_usage_error(self):
        for flag in ("--cgroup-base", "--backend", "--demand"):
            with self.subTest(flag):
                self.fails_before_hello(None, flag, status=2)

    def test_a_value_nobody_knows_is_a_usage_error(self):
        self.fails_before_hello(None, "--demand", "everything", status=2)

    def test_help_is_usage_on_stderr_and_exit_0(self):
        for word in ("--help", "-h"):
            with self.subTest(word):
                done = subprocess.run(
                    [client.helper_path(), word], stdin=subprocess.DEVNULL, capture_output=True
                )
                self.assertEqual((done.returncode, done.stdout), (0, b""))
                self.assertIn(b"loom-exec", done.stderr)

    # cases.md 203
    def test_allow_unenforced_changes_nothing_where_there_is_a_jail(self):
        with self.helper("--allow-unenforced") as helper:
            self.assertNotIn("platform-unsupported", helper.features)
            helper.heartbeat()

    # cases.md 202
    def test_the_unsupported_backend_refuses_to_serve_and_names_the_flag(self):
        text = self.fails_before_hello(self.policy(), "--backend", "unsupported")
        self.assertEqual(text.count("\n"), 1, text)
        self.assertIn("--allow-unenforced", text)

    # cases.md 105, 202
    def test_the_unsupported_backend_serves_when_told_and_every_report_leads_with_it(self):
        helper = self.helper("--backend", "unsupported", "--allow-unenforced")
        self.assertIn("platform-unsupported", helper.features)
        self.assertIn("degraded", helper.features)
        for _ in range(2):
            run = self.shell(helper, "echo out; exit 3")
            self.assertEqual((run.code, bytes(run.stdout)), (3, b"out\n"))
            self.assertTrue(run.enforcement[0].startswith("skip:jail: "), run.enforcement)
            self.assertTrue(run.exit["degraded"])
            for layer in ("bwrap", "mounts", "landlock", "seccomp-net", "no-new-privs"):
                self.assertFalse([e for e in run.enforcement if e.startswith(layer)], layer)

    def test_a_backend_that_is_not_there_is_one_line_and_no_frame(self):
        text = self.fails_before_hello(self.policy(), "--backend", "nosuchbackend")
        self.assertIn("nosuchbackend", text)

    def test_nothing_was_read_from_stdin_when_usage_was_wrong(self):
        read, write = os.pipe()
        os.write(write, b"kept")
        os.close(write)
        subprocess.run([client.helper_path(), "--bogus"], stdin=read, capture_output=True)
        self.assertEqual(os.read(read, 16), b"kept")
        os.close(read)

    def test_stage_2_started_by_hand_says_one_line_and_exits_126(self):
        where = os.path.dirname(os.path.dirname(client.helper_path()))
        stage2 = os.path.join(where, "libexec", "loom-exec", "bwrap-stage2")
        for arguments in ([], ["--", "/bin/true"]):
            with self.subTest(arguments):
                done = subprocess.run(
                    [stage2, *arguments], stdin=subprocess.DEVNULL, capture_output=True
                )
                self.assertEqual((done.returncode, done.stdout), (126, b""))
                self.assertTrue(done.stderr.startswith(b"loom-exec[stage2]: "), done.stderr)
                self.assertEqual(done.stderr.count(b"\n"), 1)


if __name__ == "__main__":
    unittest.main()
