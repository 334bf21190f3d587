"""The greeting, what is refused before anything runs, and the report (see trying.py)."""

import os
import subprocess
import unittest

from trying import BACKEND, SeatbeltCase, client


class GreetingTest(SeatbeltCase):
    def test_the_hello_offers_seatbelt_and_needs_no_opt_out(self):
        helper = self.helper()
        self.assertEqual(helper.features[:3], ["rlimits", "pgroup", "seatbelt"])
        self.assertNotIn("degraded", helper.features)

    # cases.md 214
    def test_without_the_launcher_every_start_is_refused_and_names_it(self):
        helper = self.helper(backend="seatbelt")
        self.assertIn("degraded", helper.features)
        self.assertNotIn("seatbelt", helper.features)
        place = self.path("ran")
        self.refused_start(helper, "/usr/bin/sandbox-exec", argv=["/bin/sh", "-c", 'echo x > "$0"', place])
        self.assertFalse(os.path.exists(place))
        self.assertEqual(self.shell(self.helper(), 'echo x > "$0"', place).code, 0)
        self.assertTrue(os.path.exists(place))

    # guard.md 158
    def test_a_helper_inside_a_profile_refuses_by_name(self):
        helper = self.helper(launcher={"LOOM_LAUNCHER_STATUS": "71"})
        for _ in range(2):
            self.refused_start(helper, "already_profiled", "Operation not permitted")

    def test_a_launcher_that_fails_otherwise_is_quoted(self):
        helper = self.helper(launcher={"LOOM_LAUNCHER_STATUS": "3"})
        self.refused_start(helper, "ended with status 3", "sandbox_apply")

    def test_the_profile_is_tried_once_and_then_each_run_gets_its_own(self):
        helper = self.helper(launcher=self.logging())
        for _ in range(3):
            self.assertEqual(self.shell(helper, "true").code, 0)
        programs = [os.path.basename(call[4]) for call in self.calls()]
        self.assertEqual(programs, ["true"] + ["seatbelt-stage2"] * 3)


class ReportTest(SeatbeltCase):
    LIMITS = {"cpu_s": 10, "fsize_bytes": 1 << 20, "mem_bytes": 1 << 36}

    def names(self, run):
        names = [entry.partition(": ")[0].partition("=")[0].partition(":rw")[0] for entry in run.enforcement]
        # Said where whoever runs this could rewrite the launcher.
        return [name for name in names if name != "unheld:launcher-owner"]

    # cases.md 219
    def test_the_entries_come_in_the_order_of_the_tags(self):
        run = self.shell(self.helper(base=self.limited(**self.LIMITS)), "true")
        self.assertEqual(
            self.names(run),
            ["seatbelt", "seatbelt-fs", "seatbelt-net"]
            + ["rlimit-fsize", "rlimit-cpu", "rlimit-address-space"]
            + ["launcher-pins", "unheld:unix-path"]
            + ["skip:darwin-process-lifecycle"],
        )
        self.assertIn(",scratch=private-dir,base=minimal,plan=", run.enforcement[1])
        self.assertFalse(run.exit["degraded"])

    def test_what_was_not_asked_for_is_not_spoken_of(self):
        base = self.policy(network={"mode": "full"})
        names = self.names(self.shell(self.helper(base=base), "true"))
        self.assertEqual(names[:2], ["seatbelt", "seatbelt-fs"])
        for absent in ("seatbelt-net", "rlimit-cpu", "rlimit-fsize", "skip:cgroup-v2"):
            self.assertNotIn(absent, names)
        self.assertEqual(names[-1], "skip:darwin-process-lifecycle")

    def test_platform_tolerates_what_macos_cannot_hold_and_full_never_does(self):
        base = self.limited(**self.LIMITS)
        helper = self.helper("--demand", "platform", base=base)
        self.assertEqual(self.shell(helper, "exit 4").code, 4)
        strict = self.helper("--demand", "full", base=base)
        place = self.path("ran")
        self.refused_start(
            strict, "darwin-process-lifecycle", argv=["/bin/sh", "-c", 'echo x > "$0"', place]
        )
        self.assertFalse(os.path.exists(place))

    def test_a_proxy_is_not_tolerated(self):
        base = self.policy(network={"mode": "proxy", "allow": ["example.org"], "proxy": "127.0.0.1:9"})
        self.refused_start(self.helper("--demand", "platform", base=base), "network-proxy")
        run = self.shell(self.helper(base=base), "true")
        self.assertIn("seatbelt-net", run.enforcement)
        self.assertTrue(run.enforcement[-1].startswith("skip:network-proxy: "), run.enforcement)


class PersonTest(SeatbeltCase):
    def run_helper(self, *words):
        return subprocess.run(
            [client.helper_path(), *words],
            cwd=self.ws, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    def test_run_meets_the_platforms_demand_and_shows_a_shells_status(self):
        words = ("run", "--backend", BACKEND, "--")
        done = self.run_helper(*words, "sh", "-c", 'pwd; echo "$HOME"; exit 5')
        self.assertEqual(done.returncode, 5, done.stderr)
        where, home = done.stdout.split()
        self.assertEqual(where, self.ws)
        self.assertTrue(home.startswith("/var/tmp/loom-exec-scratch-"), home)
        self.assertFalse(os.path.exists(home))
        self.assertEqual(self.run_helper(*words, "no-such-program").returncode, 127)
        self.assertEqual(self.run_helper(*words, self.ws).returncode, 126)
        self.assertEqual(self.run_helper(*words, "sh", "-c", "kill -TERM $$").returncode, 143)
        strict = self.run_helper("run", "--backend", BACKEND, "--demand", "full", "--", "true")
        self.assertEqual(strict.returncode, 125)
        self.assertIn("darwin-process-lifecycle", strict.stderr)

    def test_plan_shows_the_rules_and_makes_nothing(self):
        before = set(os.listdir("/var/tmp"))
        done = self.run_helper("plan", "--backend", BACKEND, "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/var/tmp/loom-exec-scratch-example is an example", done.stdout)
        # What stands in the place of sandbox-exec here, and its profile in lines of its own.
        self.assertIn("\nfake_sandbox_exec options:\n  -p\n    (version 1)\n    (deny default)\n", done.stdout)
        self.assertRegex(done.stdout, r"(?m)^  -DWRITABLE_ROOT_0=/")
        self.assertNotIn("bubblewrap", done.stdout)
        made = {name for name in set(os.listdir("/var/tmp")) - before if name.endswith("example")}
        self.assertEqual(made, set())


if __name__ == "__main__":
    unittest.main()
