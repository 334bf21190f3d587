"""What keeps docs/field-reports.md and the label `field`: on tables and trees that are right or wrong."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import commented_tests
import map_field_reports as tool

PYTHON_TEST = """
class Masks(JailCase):
    # field B01, B02
    def test_a_mask(self):
        pass

    def test_another(self):
        # field B03; guard 9.3: 41
        pass
"""
CC_TEST = """
// cases.md 12
// field B02
TEST_F(MaskTest, HidesAFile) {
"""


def table(tests=None, reasons=None):
    """A whole table; a report has a test and no reason unless it says otherwise."""
    tests, reasons = tests or {}, reasons or {}
    rows = [f"| {name} | title | {reasons.get(name, '–')} | {tests.get(name, '—')} |" for name in tool.REPORTS]
    return "\n".join(["# Reports", "", "| report | title | here | shown by |", "| --- |", *rows, ""])


def shown(*without):
    return {name: {"jail/test_masks.py": {"test_a_mask"}} for name in tool.REPORTS if name not in without}


class Comments(unittest.TestCase):
    def found_in(self, files):
        with tempfile.TemporaryDirectory(prefix="loom-map-") as place:
            for name, text in files.items():
                path = pathlib.Path(place, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return commented_tests.shown_by(tool.reports_of, pathlib.Path(place))

    def test_a_comment_belongs_to_the_test_below_it_or_around_it(self):
        found = self.found_in({"jail/test_masks.py": PYTHON_TEST, "unit/mask_test.cc": CC_TEST})
        self.assertEqual(
            found,
            {
                "B01": {"jail/test_masks.py": {"test_a_mask"}},
                "B02": {"jail/test_masks.py": {"test_a_mask"}, "unit/mask_test.cc": {"MaskTest.HidesAFile"}},
                "B03": {"jail/test_masks.py": {"test_another"}},
            },
        )

    def test_several_reports_are_named_in_one_comment(self):
        for text in ("field B01, B02, B30", "field B01 and B02 and B30", "field B01, B02, and B30; field x"):
            self.assertEqual(tool.reports_of(f"  // {text}"), ["B01", "B02", "B30"])
        self.assertEqual(tool.reports_of("# battlefield B01, field B1, field C01"), [])

    def test_a_comment_without_a_test_ends_the_tool(self):
        with self.assertRaisesRegex(SystemExit, "B07 without a test"):
            self.found_in({"jail/test_masks.py": "# field B07\nvalue = 1\n"})

    def test_the_tools_own_tests_show_nothing(self):
        self.assertEqual(self.found_in({"support/test_x.py": PYTHON_TEST}), {})


class Table(unittest.TestCase):
    def test_a_whole_table_has_nothing_wrong_and_names_the_tests(self):
        text, problems = tool.rewritten(table(), shown())
        self.assertEqual(problems, [])
        self.assertEqual(text.count("`jail/test_masks.py`: `test_a_mask`"), len(tool.REPORTS))
        again, problems = tool.rewritten(text, shown())
        self.assertEqual((again, problems), (text, []))

    def test_a_test_that_is_gone_leaves_the_table(self):
        text, _ = tool.rewritten(table(), shown())
        text, problems = tool.rewritten(text, shown("B02"))
        self.assertIn("| B02 | title | – | — |", text)
        self.assertEqual(problems, ["B02 has neither a test nor a reason"])

    def test_a_report_with_a_reason_needs_no_test(self):
        self.assertEqual(tool.rewritten(table(reasons={"B91": "macOS"}), shown("B91"))[1], [])

    def test_more_without_a_test_than_may_be_are_refused(self):
        names = tool.REPORTS[: tool.MOST_WITHOUT + 1]
        reasons = dict.fromkeys(names, "a reason")
        self.assertEqual(tool.rewritten(table(reasons=reasons), shown(*names[1:]))[1], [])
        problems = tool.rewritten(table(reasons=reasons), shown(*names))[1]
        self.assertEqual(len(problems), 1)
        self.assertIn("26 reports have no test", problems[0])

    def test_a_row_that_is_missing_twice_there_or_out_of_order_is_refused(self):
        rows = table().split("\n")
        for wrong in (rows[:9] + rows[10:], rows[:9] + rows[8:], rows[:8] + [rows[9], rows[8]] + rows[10:]):
            self.assertTrue(tool.rewritten("\n".join(wrong), shown())[1])

    def test_a_report_that_nobody_made_is_refused(self):
        found = {**shown(), "B95": {"jail/test_masks.py": {"test_a_mask"}}}
        self.assertEqual(tool.rewritten(table(), found)[1], ["B95, which a test names, is no report"])


class Settling(unittest.TestCase):
    def settle(self, problems, write, now="new"):
        with tempfile.TemporaryDirectory(prefix="loom-map-") as place, contextlib.redirect_stdout(io.StringIO()) as out:
            path = pathlib.Path(place, "table.md")
            path.write_text("old", encoding="utf-8")
            status = commented_tests.settle(path, now, problems, write, "tool.py")
            return status, path.read_text(encoding="utf-8"), out.getvalue()

    def test_a_stale_table_fails_unless_it_is_written(self):
        status, text, said = self.settle([], write=False)
        self.assertEqual((status, text), (1, "old"))
        self.assertIn("tests/support/tool.py --write", said)
        self.assertEqual(self.settle([], write=True), (0, "new", ""))
        self.assertEqual(self.settle([], write=False, now="old"), (0, "old", ""))

    def test_what_is_wrong_stays_wrong_when_it_is_written(self):
        status, text, said = self.settle(["no row"], write=True)
        self.assertEqual((status, text, said), (1, "new", "table.md: no row\n"))


class Labels(unittest.TestCase):
    FOUND = {
        "B01": {"jail/test_masks.py": {"test_a_mask"}, "unit/x_test.cc": {"XTest.Holds"}},
        "B68": {"vm/guest/test_ceilings.py": {"test_a_ceiling"}},
    }

    def test_modules_and_google_tests_get_the_label_and_a_machines_own_do_not(self):
        self.assertEqual(tool.ctest_names(self.FOUND), ["XTest.Holds", "jail.masks"])
        self.assertIn("jail.masks.ordinary_user", tool.labels(self.FOUND).split(";"))

    def test_a_test_that_the_label_leaves_out_is_named(self):
        names = ["XTest.Holds", "jail.masks", "other"]
        self.assertEqual(tool.unlabelled(self.FOUND, names, names), [])
        self.assertEqual(
            tool.unlabelled(self.FOUND, ["jail.masks"], names), ["`ctest -L field` does not run XTest.Holds"]
        )
        self.assertEqual(len(tool.unlabelled(self.FOUND, [], ["other"])), 2)

    def test_a_google_test_counts_when_its_program_is_built(self):
        names = ["x_test_NOT_BUILT", "jail.masks"]
        self.assertEqual(tool.unlabelled(self.FOUND, ["jail.masks"], names), [])
        self.assertEqual(len(tool.unlabelled(self.FOUND, [], names)), 1)


if __name__ == "__main__":
    unittest.main()
