"""The checker itself: what it accepts, and that no liar gets past it."""

import glob
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import check_self_test as check  # noqa: E402

NAMES = ["walls hold", "network is cut", "ceiling ends it"]
DECLARED = "# a machine\n\nrequired|walls hold\nrequired|network is cut\nknown-gap|ceiling ends it|no group\n"
GOOD = """loom-exec self-test
  features: rlimits, bwrap

  ENFORCED  walls hold
  ENFORCED  network is cut
  SKIPPED   ceiling ends it (cgroup-v2: none (here))

==== enforcement summary ====
enforced (2):
  + walls hold
  + network is cut
skipped (1) — not verified here
  - ceiling ends it: cgroup-v2: none (here)

RESULT: OK (skips come from the environment and are not passes)
"""
NOT_RUN = """loom-exec self-test
  features: rlimits

  NOT RUN   every probe (inside a jail already)

==== enforcement summary ====
enforced (0):
nothing was attempted

RESULT: NOT RUN (not a pass)
"""


def failing(name):
    """GOOD with one probe that failed instead, told consistently."""
    text = GOOD.replace(f"  ENFORCED  {name}\n", f"  FAILED    {name} (it did not)\n")
    text = text.replace(f"  + {name}\n", "").replace("enforced (2)", "enforced (1)")
    return text.replace(check.OK, "RESULT: FAIL (1 of 3 probes failed)")


def skipping(name):
    text = GOOD.replace(f"  ENFORCED  {name}\n", f"  SKIPPED   {name} (not here)\n")
    text = text.replace(f"  + {name}\n", "").replace("enforced (2)", "enforced (1)")
    text = text.replace("skipped (1)", "skipped (2)")
    return text.replace("not verified here\n", f"not verified here\n  - {name}: not here\n")


class CheckCase(unittest.TestCase):
    def found(self, text, declared=DECLARED, status=None):
        return check.problems(check.Output(text), check.parse_declaration(declared, "d"), status)

    def refuses(self, text, *words):
        with self.assertRaises(check.Wrong) as caught:
            check.Output(text)
        for word in words:
            self.assertIn(word, str(caught.exception))


class DeclarationTest(CheckCase):
    def test_what_is_as_declared_passes_with_its_status(self):
        self.assertEqual(self.found(GOOD, status=0), [])
        self.assertIn("exit status 1", self.found(GOOD, status=1)[0])

    def test_a_required_probe_that_is_skipped_or_failed_is_found(self):
        self.assertIn("network is cut: required, and FAILED", self.found(failing("network is cut"))[0])
        self.assertIn("walls hold: required, and SKIPPED", self.found(skipping("walls hold"))[0])

    def test_a_known_gap_that_is_enforced_is_found(self):
        declared = DECLARED.replace("required|walls hold", "known-gap|walls hold|no walls")
        self.assertIn("walls hold: declared a known gap", self.found(GOOD, declared)[0])

    # cases.md 241
    def test_the_two_sets_of_names_must_be_equal(self):
        self.assertIn("one more: declared, and not probed", self.found(GOOD, DECLARED + "required|one more\n"))
        fewer = DECLARED.replace("required|walls hold\n", "")
        self.assertIn("walls hold: probed, and not declared", self.found(GOOD, fewer))

    def test_nothing_run_is_no_pass(self):
        self.assertIn("no probe was run: inside a jail already", self.found(NOT_RUN))
        self.assertEqual(check.Output(NOT_RUN).status, 1)

    def test_an_interrupted_run_is_no_pass(self):
        text = GOOD.replace(check.OK, "RESULT: FAIL (interrupted after 3 probes)")
        self.assertIn("not all probes were run", self.found(text)[0])

    def test_a_declaration_says_each_probe_once_and_in_full(self):
        for wrong in ("", "required|a|b\n", "known-gap|a\n", "known-gap|a| \n", "optional|a\n", "required|\n",
                      "required|a\nrequired|a\n"):
            with self.assertRaises(check.Wrong, msg=wrong):
                check.parse_declaration(wrong, "d")

    def test_several_kinds_require_what_all_of_them_require(self):
        other = DECLARED.replace("required|walls hold", "known-gap|walls hold|no walls")
        merged = check.merge([check.parse_declaration(text, "d") for text in (DECLARED, other)])
        self.assertEqual(merged, {"walls hold": "no walls", "network is cut": None, "ceiling ends it": "no group"})
        with self.assertRaises(check.Wrong):
            check.merge([merged, {"walls hold": None}])


class LiarTest(CheckCase):
    def test_the_good_output_is_read_as_it_stands(self):
        output = check.Output(GOOD)
        self.assertEqual(list(output.verdicts), NAMES)
        self.assertEqual(output.verdicts["ceiling ends it"], ("SKIPPED", "cgroup-v2: none (here)"))
        self.assertEqual(output.features, ["rlimits", "bwrap"])

    def test_a_failure_under_an_ok_is_found(self):
        self.refuses(failing("walls hold").replace("RESULT: FAIL (1 of 3 probes failed)", check.OK), "walls hold")

    def test_a_fail_without_a_failure_is_found(self):
        self.refuses(GOOD.replace(check.OK, "RESULT: FAIL (1 of 3 probes failed)"), "nothing failed")

    def test_a_summary_that_claims_more_than_the_verdicts_is_found(self):
        self.refuses(skipping("walls hold").replace("enforced (1):\n", "enforced (2):\n  + walls hold\n"))
        self.refuses(GOOD.replace("skipped (1)", "skipped (0)"))
        self.refuses(GOOD.replace("  - ceiling ends it: cgroup-v2: none (here)\n", ""))
        self.refuses(GOOD.replace("  - ceiling ends it: cgroup-v2: none (here)", "  - ceiling ends it: another"))

    def test_two_verdicts_on_one_probe_are_found(self):
        self.refuses(GOOD.replace("  ENFORCED  network is cut", "  ENFORCED  walls hold"), "second verdict")

    def test_a_verdict_in_another_form_is_found(self):
        for wrong in ("  PASSED    walls hold", "  ENFORCED walls hold", " ENFORCED  walls hold",
                      "  ENFORCED  walls hold (mostly)", "  SKIPPED   walls hold", "  ENFORCED   walls hold"):
            self.refuses(GOOD.replace("  ENFORCED  walls hold", wrong))

    def test_an_output_that_ends_early_or_goes_on_is_found(self):
        lines = GOOD.splitlines(keepends=True)
        for count in range(len(lines)):
            self.refuses("".join(lines[:count]))
        self.refuses(GOOD + "RESULT: OK\n")
        self.refuses(GOOD[:-1])

    def test_nothing_run_under_an_ok_is_found(self):
        self.refuses(NOT_RUN.replace(check.NOT_A_PASS, check.OK))
        self.refuses(NOT_RUN.replace("enforced (0):", "enforced (1):"))


class FilesTest(unittest.TestCase):
    def declarations(self):
        paths = sorted(glob.glob(os.path.join(HERE, "expected", "*.txt")))
        self.assertGreater(len(paths), 3)
        return {os.path.basename(path): check.read_declaration(path) for path in paths}

    # cases.md 241
    def test_every_declaration_names_the_same_probes_in_the_same_order(self):
        declared = self.declarations()
        for name, each in declared.items():
            self.assertEqual(list(each), list(declared["delegated.txt"]), name)

    # cases.md 241
    def test_a_machine_with_everything_has_no_gap(self):
        self.assertEqual(set(self.declarations()["delegated.txt"].values()), {None})

    def test_the_program_says_what_is_wrong_and_exits_with_it(self):
        with tempfile.TemporaryDirectory() as place:
            declared = os.path.join(place, "declared")
            with open(declared, "w", encoding="utf-8") as file:
                file.write(DECLARED)
            for text, words, status in ((GOOD, ["--status", "0"], 0), (skipping("walls hold"), [], 1),
                                        ("nonsense", [], 1)):
                done = subprocess.run([sys.executable, os.path.join(HERE, "check_self_test.py"), *words, "-", declared],
                                      input=text, stdout=subprocess.PIPE, encoding="utf-8", timeout=60)
                self.assertEqual(done.returncode, status, done.stdout)
                self.assertTrue(done.stdout.startswith("check_self_test: "), done.stdout)


if __name__ == "__main__":
    unittest.main()
