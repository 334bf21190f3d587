"""The greeting, one execution, and the command line."""

import os
import subprocess
import unittest

import unjailed
from unjailed import PosixCase, client
from test_policy3 import table


class GreetingTest(PosixCase):
    def test_the_hello_offers_limits_and_process_groups_and_says_that_there_is_no_jail(self):
        helper = self.helper()
        self.assertEqual(
            helper.features,
            ["rlimits", "pgroup", "degraded", "platform-unsupported"]
            + ["exec-outcome-v1", "policy-v3", "denial-v1"],
        )

    def test_it_serves_only_when_told(self):
        refused = client.Helper(self.policy(), *unjailed.BARE[:2], hello=False)
        self.assertIsNone(refused.receive())
        self.assertEqual(refused.wait_exit(), 1)
        self.assertIn("--allow-unenforced", refused.stderr_text())
        self.helper().heartbeat()

    def test_usage_errors_are_exit_2_and_help_is_0(self):
        for words, status in ((["--bogus"], 2), (["--backend"], 2), (["--demand", "some"], 2), (["--help"], 0)):
            with self.subTest(words):
                done = subprocess.run(
                    [client.helper_path(), *words], stdin=subprocess.DEVNULL, capture_output=True
                )
                self.assertEqual((done.returncode, done.stdout), (status, b""))
                self.assertIn(b"usage", done.stderr)


class ExecutionTest(PosixCase):
    def test_a_command_runs_and_the_report_leads_with_what_is_not_held(self):
        helper = self.helper()
        for status in (0, 3, 126, 127, 255):
            run = self.shell(helper, 'echo out; echo err >&2; exit "$0"', str(status))
            self.assertEqual((run.code, run.exit["signal"]), (status, 0))
            self.assertEqual((bytes(run.stdout), bytes(run.stderr)), (b"out\n", b"err\n"))
            self.assertEqual(self.outcome(run), ("exited", f"exit {status}"))
            self.assertTrue(run.exit["degraded"])
            lead, follows = run.enforcement
            self.assertTrue(lead.startswith("skip:jail: "), run.enforcement)
            self.assertTrue(follows.startswith("skip:platform-restrictions: "), run.enforcement)

    def test_limits_that_were_set_are_claimed_and_those_that_were_not_are_named(self):
        limits = {"cpu_s": 10, "fsize_bytes": 1 << 20, "mem_bytes": 1 << 30}
        run = self.shell(self.helper(base=self.limited(**limits)), "true")
        self.assertEqual(
            [entry.partition(": ")[0] for entry in run.enforcement],
            ["skip:jail", "skip:platform-restrictions", "rlimit-fsize", "rlimit-cpu", "skip:cgroup-v2"],
        )
        self.assertIn("memory ceiling", run.enforcement[0])
        self.assertIn("control group", run.enforcement[4])

    def test_the_environment_is_the_policys_and_the_path_is_built(self):
        base = self.policy(env_allow=["PATH", "KEPT"])
        run = self.helper(base=base).execute(
            ["/usr/bin/env"], env={"KEPT": "1", "DROPPED": "2", "PATH": self.ws}
        )
        variables = dict(line.split("=", 1) for line in run.stdout.decode().splitlines())
        self.assertEqual(set(variables), {"KEPT", "PATH"})
        self.assertNotIn(self.ws, variables["PATH"].split(":"))
        self.assertIn("/usr/bin", variables["PATH"].split(":"))

    def test_it_starts_where_it_was_told_and_in_a_session_of_its_own(self):
        helper = self.helper()
        run = self.shell(helper, "pwd; echo $$; cut -d' ' -f1,5,6 /proc/$$/stat", cwd=self.ws)
        where, pid, ids = run.stdout.decode().splitlines()
        self.assertEqual(where, self.ws)
        self.assertEqual(ids.split(), [pid] * 3)

    def test_it_inherits_three_descriptors_and_no_signal_state(self):
        helper = self.helper()
        run = self.shell(helper, "ls /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status")
        words = run.stdout.decode().split()
        # ls itself has its directory open.
        self.assertEqual(words[:4], ["0", "1", "2", "3"])
        self.assertEqual(words[4:], ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16])

    def test_a_program_that_is_not_there_and_one_that_may_not_run_are_told_apart(self):
        helper = self.helper()
        with open(self.path("plain"), "w", encoding="ascii") as file:
            file.write("no program")
        os.chmod(self.path("plain"), 0o644)
        missing = helper.execute(["/no/such/program"])
        self.assertEqual((missing.code, self.outcome(missing)[0]), (126, "exec"))
        self.assertIn("No such file", self.outcome(missing)[1])
        bare = helper.execute(["no-such-program"])
        self.assertEqual((bare.code, self.outcome(bare)[0]), (126, "exec"))
        forbidden = helper.execute([self.path("plain")])
        self.assertEqual((forbidden.code, self.outcome(forbidden)[0]), (126, "exec"))
        self.assertIn("Permission denied", self.outcome(forbidden)[1])
        # A limit that was not set is not claimed either.
        self.assertEqual(helper.execute(["/bin/true"]).code, 0)

    def test_a_directory_that_is_not_there_is_exit_126_and_named(self):
        helper = self.helper()
        run = self.shell(helper, "true", cwd=self.path("absent"))
        self.assertEqual((run.code, self.outcome(run)[0]), (126, "setup"))
        self.assertIn(self.path("absent"), self.outcome(run)[1])
        self.assertEqual(self.shell(helper, "true", cwd=self.ws).code, 0)

    def test_a_policy_with_an_exec_table_is_refused(self):
        third = self.policy(v=3, exec=table("+dir /bin", "+dir /usr/bin"))
        helper = self.helper()
        frame = helper.send("exec_start", client.start_body(["/bin/true"], policy=third))
        self.assertRefused(helper, frame, "spawn_failed", "no jail in this build")
        self.assertEqual(helper.execute(["/bin/true"]).code, 0)

    def test_a_signal_is_the_commands_own(self):
        helper = self.helper()
        run = self.shell(helper, "kill -SEGV $$")
        self.assertEqual((run.code, run.exit["signal"]), (139, 11))
        self.assertEqual(self.outcome(run), ("signalled", "killed by SIGSEGV"))
        # The same number as an exit status is one.
        run = self.shell(helper, "exit 139")
        self.assertEqual((run.code, run.exit["signal"]), (139, 0))
        self.assertEqual(self.outcome(run), ("exited", "exit 139"))


class PersonTest(PosixCase):
    def run_helper(self, *words, **how):
        return subprocess.run(
            [client.helper_path(), *words],
            cwd=self.ws,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            **how,
        )

    def test_run_needs_a_demand_that_can_be_met(self):
        words = ("run", "--backend", "unsupported")
        done = self.run_helper(*words, "--demand", "best-effort", "--", "sh", "-c", "echo hi; exit 5")
        self.assertEqual((done.returncode, done.stdout), (5, b"hi\n"), done.stderr)
        refused = self.run_helper(*words, "--", "sh", "-c", "echo hi; touch ran")
        self.assertEqual((refused.returncode, refused.stdout), (125, b""))
        self.assertIn(b"jail", refused.stderr)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_run_shows_what_a_shell_would(self):
        words = ("run", "--backend", "unsupported", "--demand", "best-effort", "--")
        self.assertEqual(self.run_helper(*words, "no-such-program").returncode, 127)
        self.assertEqual(self.run_helper(*words, self.ws).returncode, 126)
        self.assertEqual(self.run_helper(*words, "sh", "-c", "kill -TERM $$").returncode, 143)
        self.assertEqual(self.run_helper("run", "--bogus").returncode, 2)

    def test_plan_says_that_there_is_no_jail(self):
        done = self.run_helper("plan", "--backend", "unsupported", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"skip:jail: ", done.stdout)


if __name__ == "__main__":
    unittest.main()
