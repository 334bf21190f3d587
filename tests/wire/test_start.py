"""exec_start: the order of its checks (wire.md 6.1), and what each refusal names."""

import os
import unittest

import client
import msgpack
from case import SH, WireCase, for_jails

TRUE = ["/bin/true"]


class StartTest(WireCase):
    def refuse(self, helper, body, code, *words):
        return self.assertRefused(helper, helper.send("exec_start", body), code, *words)

    def start_body(self, argv=None, **more):
        return client.start_body(TRUE if argv is None else argv, **more)

    def assertStillRuns(self, helper):
        """The positive control of every refusal: the same helper runs what is allowed."""
        run = self.shell(helper, "echo fine")
        self.assertIsNone(run.error)
        self.assertEqual((run.code, bytes(run.stdout)), (0, b"fine\n"))

    # --- row 1 -------------------------------------------------------------------------------

    # cases.md 197
    def test_a_start_during_a_run_is_busy_and_the_run_goes_on(self):
        helper = self.helper()
        run = self.running(helper, "echo up; read line; exit 9")
        self.refuse(helper, self.start_body(), "busy")
        helper.stdin(b"", eof=True)
        self.assertEqual(helper.settle(run).code, 9)
        self.assertStillRuns(helper)

    def test_busy_comes_before_the_body_is_looked_at(self):
        helper = self.helper()
        self.running(helper)
        for body in (5, "x", [], {"no": "such"}, self.start_body([]), self.start_body(token=b"")):
            with self.subTest(body):
                self.refuse(helper, body, "busy")

    # --- row 2 -------------------------------------------------------------------------------

    def test_a_body_that_does_not_decode_is_malformed_under_the_start_id(self):
        helper = self.helper()
        bodies = {
            "a number": 5,
            "a list": [TRUE, {}, "", b"t"],
            "a key more": self.start_body(more=1),
            "argv is text": self.start_body("/bin/true"),
            "argv is a map": self.start_body({}),
            "a word of argv is a number": self.start_body(["/bin/true", 1]),
            "a word of argv is nil": self.start_body(["/bin/true", None]),
            "env is a list": {**self.start_body(), "env": ["A=1"]},
            "a value of env is a number": self.start_body(env={"A": 1}),
            "a name of env is a number": self.start_body(env={1: "A"}),
            "cwd is a number": self.start_body(cwd=5),
            "cwd is a list": self.start_body(cwd=[]),
            "token is a number": self.start_body(token=5),
            "token is an ext": self.start_body(token=msgpack.ExtType(5, b"t")),
            "a word of argv is an ext": self.start_body(["/bin/true", msgpack.ExtType(1, b"")]),
        }
        for name, body in bodies.items():
            with self.subTest(name):
                self.refuse(helper, body, "malformed_frame")
        self.assertStillRuns(helper)

    def test_an_unknown_key_counts_before_an_argv_or_policy_that_is_wrong(self):
        helper = self.helper()
        message = self.refuse(helper, self.start_body([], more=1), "malformed_frame")
        self.assertIn("more", message)
        self.refuse(helper, self.start_body(policy={"v": 9}, more=1), "malformed_frame")

    # --- rows 3 and 4 ------------------------------------------------------------------------

    def test_an_empty_argv_is_malformed(self):
        helper = self.helper()
        for argv in ([], None):
            body = {**self.start_body(), "argv": argv}
            self.refuse(helper, body, "malformed_frame", "argv")
        self.assertStillRuns(helper)

    def test_an_empty_token_is_malformed(self):
        helper = self.helper()
        for token in (b"", None):
            self.refuse(helper, self.start_body(token=token), "malformed_frame", "token")
        self.refuse(helper, self.start_body([], token=b""), "malformed_frame", "argv")
        self.assertStillRuns(helper)

    def test_an_empty_token_counts_before_a_policy_that_is_wrong(self):
        helper = self.helper()
        body = self.start_body(token=b"", policy={"v": 9})
        self.refuse(helper, body, "malformed_frame", "token")

    # --- row 5 -------------------------------------------------------------------------------

    def test_an_inline_policy_that_is_wrong_is_bad_policy_and_says_where(self):
        helper = self.helper()
        good = self.policy()

        def mount(**change):
            return [{"path": "/usr", "access": "ro", "required": True, **change}]

        bad = {
            "expected map": 5,
            "unknown keys": {**good, "zz": 1, "aa": 2},
            "missing required key": {k: v for k, v in good.items() if k != "network"},
            "v:": {**good, "v": "2"},
            "unsupported version": {**good, "v": 1},
            "expected array": {**good, "readable_roots": "/usr"},
            "expected string": {**good, "env_allow": [1]},
            "unexpected key": {**good, "network": {"mode": "off", "allow": []}},
            "unknown network mode": {**good, "network": {"mode": "half"}},
            "unknown key": {**good, "limits": {**client.limits(), "more": 1}},
            "missing key": {**good, "limits": {"cpu_s": 1}},
            "negative": {**good, "limits": client.limits(cpu_s=-1)},
            "expected integer": {**good, "limits": client.limits(pids=1.0)},
            "scratch": {**good, "scratch": ""},
            "neither": {**good, "scratch": "ramdisk"},
            "mounts: expected array": {**good, "mounts": {}},
            "not absolute": {**good, "protected": ["etc"]},
            "expected bool": {**good, "mounts": mount(required=1)},
            "ends in a slash": {**good, "mounts": mount(path="/usr/")},
            "segment": {**good, "mounts": mount(path="/usr/../etc")},
            "named twice": {**good, "mounts": mount() * 2},
            "overlaps protected path": {**good, "mounts": mount(), "protected": ["/usr/share"]},
            f'read-only path "{self.ws}" covers writable root "{self.ws}"': {
                **good,
                "mounts": mount(path=self.ws),
            },
        }
        for token, document in bad.items():
            with self.subTest(token):
                self.refuse(helper, self.start_body(policy=document), "bad_policy", token)
        run = helper.execute(TRUE, policy=good)
        self.assertEqual((run.error, run.code), (None, 0))

    def test_a_policy_that_is_wrong_counts_before_a_start_that_cannot_be(self):
        helper = self.helper()
        body = self.start_body(cwd="relative", policy={**self.policy(), "v": 9})
        self.refuse(helper, body, "bad_policy")

    @for_jails
    def test_the_inline_policy_is_in_force_and_a_nil_one_is_the_base(self):
        helper = self.jailing_helper()
        script = f"echo x > {self.path('file')}"
        inline = self.policy(writable_roots=[], readable_roots=[self.ws])
        self.assertNotEqual(self.shell(helper, script, policy=inline).code, 0)
        self.assertFalse(os.path.exists(self.path("file")))
        self.assertEqual(self.shell(helper, script, policy=None).code, 0)
        self.assertTrue(os.path.exists(self.path("file")))
        self.assertEqual(self.shell(helper, script).code, 0)

    # --- row 6 -------------------------------------------------------------------------------

    def spawn_fails(self, helper, base, *words, **more):
        body = client.start_body([SH, "-c", "echo ran"], policy=base, **more)
        return self.refuse(helper, body, "spawn_failed", *words)

    # cases.md 79, 80, 82
    def test_a_required_mount_that_is_absent_is_named(self):
        helper = self.helper()
        absent = self.path("absent")
        present = {"path": "/usr", "access": "ro", "required": True}
        mount = {"path": absent, "access": "ro", "required": True}
        base = self.policy(writable_roots=[], mounts=[present, mount])
        message = self.spawn_fails(helper, base, "mounts", absent, "No such file")
        self.assertNotIn('"/usr"', message)
        base["mounts"] = [present, {**mount, "required": False}]
        self.assertEqual(helper.execute(TRUE, policy=base).code, 0)

    # cases.md 75, 82
    @for_jails
    def test_a_writable_root_that_is_absent_is_named(self):
        helper = self.jailing_helper()
        absent = self.path("absent")
        message = self.spawn_fails(
            helper, self.policy(writable_roots=[self.ws, absent]), "writable_roots", absent, "No such"
        )
        self.assertEqual(message.count(self.ws), message.count(absent))
        self.assertStillRuns(helper)

    # cases.md 76, 77
    @for_jails
    def test_a_scratch_that_is_absent_is_named_and_a_readable_root_may_be(self):
        helper = self.jailing_helper()
        absent = self.path("absent")
        message = self.spawn_fails(helper, self.policy(scratch=absent), "scratch", absent, "No such")
        self.assertNotIn("writable_roots", message)
        self.assertEqual(helper.execute(TRUE, policy=self.policy(readable_roots=[absent])).code, 0)

    # cases.md 68, 69
    @for_jails
    def test_a_protected_path_that_cannot_be_made_is_named(self):
        helper = self.jailing_helper()
        absent = "/usr/share/loom-wire-absent"
        self.spawn_fails(helper, self.policy(protected=[absent]), absent)
        elsewhere = "/nowhere-at-all/loom-wire-absent"
        run = helper.execute(TRUE, policy=self.policy(protected=[elsewhere]))
        self.assertEqual((run.error, run.code), (None, 0))

    # cases.md 74
    @for_jails
    def test_a_protected_entry_at_or_above_proc_is_named(self):
        helper = self.jailing_helper()
        for entry in ("/proc", "/"):
            with self.subTest(entry):
                base = self.policy(writable_roots=[], protected=[entry])
                self.spawn_fails(helper, base, entry)
        run = helper.execute(TRUE, policy=self.policy(protected=["/etc/passwd"]))
        self.assertEqual((run.error, run.code), (None, 0))

    def test_a_working_directory_that_cannot_be_one_is_refused_before_anything_runs(self):
        helper = self.jailing_helper()
        long = self.ws + "/" + "d" * 4096
        for cwd in ("relative", ".", f"{self.ws}\0x", long):
            with self.subTest(cwd[:40]):
                self.spawn_fails(helper, self.policy(), cwd=cwd)
        self.assertStillRuns(helper)

    # cases.md 82
    @for_jails
    def test_a_refused_start_leaves_no_process(self):
        for flags in ((), ("--no-warm",)):
            with self.subTest(flags=flags), self.jailing_helper(*flags) as helper:
                self.shell(helper, "true")
                for _ in range(5):
                    self.spawn_fails(helper, self.policy(scratch=self.path("absent")))
                self.assertEqual(client.left_of(helper.pid), {})

    # --- what is accepted --------------------------------------------------------------------

    def test_limits_are_reserved_and_ignored_whatever_they_are(self):
        helper = self.helper()
        for given in (5, {}, {"cpu_s": "x"}, [1], None, "x"):
            with self.subTest(given):
                self.assertEqual(helper.execute(TRUE, limits=given).code, 0)

    def test_an_absent_environment_and_working_directory_have_their_defaults(self):
        helper = self.jailing_helper()
        run = helper.execute([SH, "-c", "pwd"], env=None, cwd="")
        self.assertEqual(bytes(run.stdout), b"/\n")
        run = helper.execute([SH, "-c", "pwd"], cwd=self.ws)
        self.assertEqual(bytes(run.stdout).decode(), self.ws + "\n")

    def test_a_start_under_id_0_or_an_id_used_before_is_answered_under_it(self):
        helper = self.helper()
        for start_id in (0, 1, 1, 2**64 - 1):
            helper.send("exec_start", self.start_body(), start_id)
            run = helper.settle(client.Run(start_id))
            self.assertEqual(run.code, 0)

    # design D21
    @for_jails
    def test_a_demand_is_refused_before_the_command_runs(self):
        proxy = {"mode": "proxy", "allow": ["*"], "proxy": "127.0.0.1:9"}
        script = f"touch {self.path('ran')}"
        for demand in ("full", "platform"):
            with self.subTest(demand):
                helper = self.jailing_helper("--demand", demand)
                base = self.policy(network=proxy)
                run = self.shell(helper, script, policy=base)
                if run.error:
                    self.assertEqual(run.error["code"], "spawn_failed")
                    self.assertIn("network-proxy", run.error["msg"])
                else:
                    self.assertEqual(run.code, 126)
                self.assertFalse(os.path.exists(self.path("ran")))
                self.assertEqual(self.shell(helper, script).code, 0)
                self.assertTrue(os.path.exists(self.path("ran")))
                os.unlink(self.path("ran"))
        helper = self.jailing_helper("--demand", "best-effort")
        self.assertEqual(self.shell(helper, script, policy=self.policy(network=proxy)).code, 0)


if __name__ == "__main__":
    unittest.main()
