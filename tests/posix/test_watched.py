"""A private scratch, and processes that are watched: what the host does for a backend that asks.

The backend is watching_backend.cc: no jail, but a private scratch in the workspace, and a ledger of
every descendant that a table of the processes showed. Nothing here is particular to one host: the
suite runs with the helper of any POSIX system and with Linux' own.
"""

import os
import subprocess
import time
import unittest

from unjailed import OUTCOMES, PosixCase, client, is_alive

import leftovers  # noqa: E402, isort:skip (unjailed knows where it lies)

BACKEND = os.environ.get("LOOM_WATCHING_BACKEND", "")
NAMES = ["PATH", "LOOM_SCRATCH_DIR", "PLAN_FAILS", "RENDER_FAILS", "START_FAILS", "OBSERVE_FAILS"]
# Leaves the group and the session before the next look at the processes is over, but not before one.
ESCAPE = "setsid sh -c 'trap \"\" TERM; echo $$; exec sleep 600' & sleep 0.3; "


class WatchedCase(PosixCase):
    def policy(self, **given):
        return super().policy(**{"env_allow": NAMES, **given})

    def helper(self, *args, base=None, **how):
        how.setdefault("features", OUTCOMES)
        return client.Helper(
            base if base is not None else self.policy(),
            "--backend", BACKEND, "--allow-unenforced", *args, **how,
        )  # fmt: skip

    def scratches(self):
        return [name for name in os.listdir(self.ws) if name.startswith("scratch-")]

    def assertNoScratch(self):
        self.assertEqual(self.scratches(), [])

    def numbers(self, run):
        return [int(word) for word in run.stdout.split() if word.isdigit()]


class ScratchTest(WatchedCase):
    # cases.md 213
    def test_the_run_has_a_private_directory_and_it_is_gone_afterwards(self):
        helper = self.helper()
        seen = set()
        for _ in range(3):
            run = self.shell(
                helper,
                'echo "$LOOM_SCRATCH_DIR"; stat -c "%a %u" "$LOOM_SCRATCH_DIR";'
                ' ls -A "$LOOM_SCRATCH_DIR"; mkdir -p "$LOOM_SCRATCH_DIR/a/b";'
                ' echo x > "$LOOM_SCRATCH_DIR/a/b/c"; ln -s / "$LOOM_SCRATCH_DIR/a/root";'
                ' chmod 0 "$LOOM_SCRATCH_DIR/a/b"; ls -d "$LOOM_SCRATCH_DIR"/*',
                env={"LOOM_SCRATCH_DIR": "/callers"},
            )
            self.assertEqual(run.code, 0, bytes(run.stderr))
            place, access, made = run.stdout.decode().splitlines()
            self.assertEqual(os.path.dirname(place), self.ws)
            self.assertTrue(os.path.basename(place).startswith("scratch-"))
            self.assertEqual(access, f"700 {os.getuid()}")
            self.assertEqual(made, f"{place}/a")
            self.assertNoScratch()
            self.assertFalse([e for e in run.enforcement if e.startswith("unheld:scratch")])
            seen.add(place)
        self.assertEqual(len(seen), 3)
        self.assertTrue(os.path.isdir("/usr"))

    def test_without_the_name_in_the_policy_nobody_is_told_where_it_is(self):
        helper = self.helper(base=self.policy(env_allow=["PATH"]))
        run = self.shell(helper, 'echo "[$LOOM_SCRATCH_DIR]"; ls', cwd=self.ws)
        self.assertEqual(run.stdout.split()[0], b"[]")
        self.assertEqual(len(run.stdout.split()), 2)
        self.assertNoScratch()

    def test_a_scratch_that_the_policy_names_is_used_and_left_alone(self):
        os.mkdir(self.path("own"))
        helper = self.helper(base=self.policy(scratch=self.path("own")))
        run = self.shell(helper, 'echo x > "$LOOM_SCRATCH_DIR/kept"')
        self.assertEqual(run.code, 0, bytes(run.stderr))
        self.assertEqual(os.listdir(self.path("own")), ["kept"])

    def test_no_program_is_found_in_it(self):
        helper = self.helper()
        script = (
            'printf "#!/bin/sh\\necho planted\\n" > "$LOOM_SCRATCH_DIR/planted";'
            ' chmod +x "$LOOM_SCRATCH_DIR/planted"; "$LOOM_SCRATCH_DIR/planted"; echo "$PATH"'
        )
        run = self.shell(helper, script, env={"PATH": f"{self.ws}:/usr/bin"})
        planted, path = run.stdout.decode().splitlines()
        self.assertEqual(planted, "planted")
        self.assertFalse([each for each in path.split(":") if each.startswith(self.ws)])

    # jail-darwin.md 2.3: it is removed on every later failure
    def test_no_failure_on_the_way_leaves_it_behind(self):
        helper = self.helper()
        for verb in ("PLAN", "RENDER", "START", "OBSERVE"):
            with self.subTest(verb):
                body = client.start_body(["/bin/sleep", "600"], env={f"{verb}_FAILS": "1"})
                frame = helper.send("exec_start", body)
                self.assertRefused(helper, frame, "spawn_failed", "told to fail")
                self.assertNoScratch()
        for argv, cwd in ((["/no/such/program"], ""), (["/bin/true"], self.path("absent"))):
            self.assertEqual(helper.execute(argv, cwd=cwd).code, 126)
            self.assertNoScratch()
        self.assertEqual(self.shell(helper, "exit 4").code, 4)
        self.assertTrue(client.wait_until(lambda: not self.sleepers(helper), 5))

    def sleepers(self, helper):
        return [pid for pid, name in client.descendants(helper.pid).items() if name == "sleep"]

    def test_a_cancel_removes_it(self):
        helper = self.helper()
        for trap in ("", "trap '' TERM; "):
            run = self.running(helper, trap + "echo up; while :; do sleep 0.1; done")
            self.assertEqual(len(self.scratches()), 1)
            helper.cancel(run)
            helper.settle(run)
            self.assertNoScratch()

    def test_shutdown_and_the_end_of_input_remove_it(self):
        for ending in (lambda helper: helper.send("shutdown", {}), lambda helper: helper.end_input()):
            helper = self.helper()
            run = self.running(helper)
            self.assertEqual(len(self.scratches()), 1)
            ending(helper)
            helper.settle(run)
            self.assertNoScratch()
            self.assertEnds(helper, 0)

    def test_a_killed_helper_leaves_none(self):
        for number in range(20):
            helper = self.helper()
            helper.start(["/bin/sh", "-c", 'while :; do echo x >> "$LOOM_SCRATCH_DIR/x"; done'])
            if number == 0:
                self.assertTrue(client.wait_until(self.scratches, 5), "it is seen at all")
            time.sleep(number / 1000)
            helper.kill()
            helper.close()
        self.assertTrue(client.wait_until(lambda: not self.scratches(), 5), self.scratches())
        self.assertNothingLeft()

    def test_a_plan_that_is_only_shown_makes_none_and_says_so(self):
        done = subprocess.run(
            [client.helper_path(), "plan", "--backend", BACKEND, "--", "true"],
            cwd=self.ws, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"The private scratch {self.ws}/scratch-example is an example", done.stdout)
        self.assertNoScratch()

    def test_run_makes_it_the_home_unless_another_is_chosen(self):
        def home(*words):
            done = subprocess.run(
                [client.helper_path(), "run", "--backend", BACKEND, "--demand", "best-effort", *words]
                + ["--", "sh", "-c", 'echo "$HOME"; ls -d "$HOME"'],
                cwd=self.ws, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            )  # fmt: skip
            self.assertNoScratch()
            return done.stdout.split()

        first, again = home()
        self.assertEqual(first, again)
        self.assertTrue(first.startswith(f"{self.ws}/scratch-"), first)
        self.assertEqual(home("--env", "HOME=/usr"), ["/usr", "/usr"])


class ObservedTest(WatchedCase):
    def assertGone(self, pids):
        self.assertEqual(len(pids), 1)
        self.assertTrue(client.wait_until(lambda: not any(map(is_alive, pids)), 5), pids)

    def test_who_left_the_session_is_ended_when_the_command_has(self):
        run = self.shell(self.helper(), ESCAPE + "exit 3")
        self.assertEqual(run.code, 3)
        self.assertGone(self.numbers(run))
        self.assertLess(run.exit["wall_ms"], 5000)

    def test_who_left_the_session_is_ended_by_a_cancel(self):
        helper = self.helper()
        for trap in ("", "trap '' TERM; "):
            with self.subTest(trap):
                run = self.running(helper, trap + ESCAPE + "echo up; while :; do sleep 0.1; done")
                pids = self.numbers(run)
                self.assertTrue(is_alive(pids[0]))
                helper.cancel(run)
                helper.settle(run)
                self.assertGone(pids)

    # jail-darwin.md 6: on the first rung too, and before the group
    def test_who_left_the_session_hears_the_first_rung(self):
        helper = self.helper()
        heard = self.path("heard")
        script = (
            f"setsid sh -c 'trap \"echo x > {heard}; exit 7\" TERM; echo $$; while :; do sleep 0.1; done' &"
            " sleep 0.3; trap 'sleep 0.5; exit 9' TERM; echo up; while :; do sleep 0.1; done"
        )
        run = self.running(helper, script)
        helper.cancel(run)
        helper.settle(run)
        self.assertEqual(run.code, 9)
        self.assertTrue(os.path.exists(heard))
        self.assertGone(self.numbers(run))

    def test_processes_of_others_are_left_alone(self):
        other = subprocess.Popen(["/bin/sleep", "600"], start_new_session=True)
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        helper = self.helper()
        run = self.running(helper, ESCAPE + "echo up; sleep 600")
        helper.cancel(run)
        helper.settle(run)
        self.assertTrue(is_alive(other.pid))
        self.assertIsNone(other.poll())
        helper.heartbeat()

    # jail-darwin.md 2.6
    def test_a_run_that_cannot_be_observed_is_refused_and_nothing_of_it_is_left(self):
        helper = self.helper()
        body = client.start_body(["/bin/sleep", "600"], env={"OBSERVE_FAILS": "1"})
        text = self.assertRefused(helper, helper.send("exec_start", body), "spawn_failed")
        self.assertIn("cannot be observed", text)
        self.assertTrue(
            client.wait_until(lambda: "sleep" not in client.descendants(helper.pid).values(), 5)
        )
        self.assertEqual(self.shell(helper, "exit 4").code, 4)

    def test_many_runs_leave_nothing(self):
        helper = self.helper()
        for _ in range(3):
            self.shell(helper, "true")
        time.sleep(0.3)  # the last run's own go right behind its exit frame
        before = leftovers.descriptors(helper.pid)
        for number in range(100):
            self.assertEqual(self.shell(helper, f"exit {number}").code, number)
        self.assertNoScratch()
        self.assertTrue(
            client.wait_until(lambda: leftovers.descriptors(helper.pid) == before, 5)
        )
        helper.send("shutdown", {})
        self.assertEnds(helper, 0)
        self.assertNothingLeft()


if __name__ == "__main__":
    unittest.main()
