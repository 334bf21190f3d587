"""What loom-conformance --help says, its man page, docs/conformance.md and its completions say too.

LOOM_CONFORMANCE is the program. A shell that is not installed is read instead of run."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETION = ROOT / "docs" / "packaging" / "completion"
PROGRAM = os.environ["LOOM_CONFORMANCE"]


def ask(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def known_options():
    return set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", ask("--help"), re.M))


def known_checks(*subject):
    """The checks of backends, or of the subject named, and their themes."""
    checks = {line.split()[0] for line in ask("--list", *subject).splitlines()}
    return checks | {check.split(".")[0] for check in checks}


class Documents(unittest.TestCase):
    def test_the_help_is_read_as_it_was_meant(self):
        self.assertLessEqual({"--backend", "--only", "--help"}, known_options())
        self.assertLessEqual({"manners", "manners.signals", "load.table"}, known_checks())
        self.assertFalse({"manners", "load.table"} & known_checks("--helper=/"))

    def test_the_man_page_has_every_option(self):
        page = (ROOT / "docs" / "man" / "loom-conformance.1").read_text()
        described = {"--" + word for word in re.findall(r"^\.It Fl (?:h , )?-([a-z-]+)", page, re.M)}
        self.assertEqual(described, known_options())
        mentioned = {"--" + word for word in re.findall(r"\bFl -([a-z-]+)", page)}
        self.assertEqual(mentioned, known_options())

    def test_the_table_has_every_option(self):
        section = (ROOT / "docs" / "conformance.md").read_text().split("## 1. Options")[1].split("## 2.")[0]
        rows = set(re.findall(r"^\| `(--[a-z-]+)", section, re.M))
        self.assertEqual(rows, known_options() - {"--help"})


class Completions(unittest.TestCase):
    def bash(self, line):
        words = " ".join(f"'{word}'" for word in line.split(" "))
        script = (
            f"compopt() {{ :; }}; source '{COMPLETION}/loom-conformance.bash'; COMP_WORDS=({words}); "
            f"COMP_CWORD={len(line.split(' ')) - 1}; _loom_conformance '{PROGRAM}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60,
                              env={"PATH": "/usr/bin:/bin"}, cwd="/", check=False)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_bash(self):
        self.assertEqual(self.bash("loom-conformance --"), known_options())
        self.assertEqual(self.bash("loom-conformance --list --only "), known_checks())
        self.assertEqual(self.bash("loom-conformance --helper /x --only "), known_checks("--helper=/"))
        self.assertEqual(self.bash("loom-conformance --only = manners.sig"), {"manners.signals"})
        self.assertLessEqual({"bwrap", "unsupported"}, self.bash("loom-conformance --backend "))
        self.assertEqual(self.bash("loom-conformance --backend = bw"), {"bwrap"})
        self.assertIn("/etc/passwd", self.bash("loom-conformance --helper /etc/pass"))
        self.assertEqual(self.bash("loom-conformance --output "), {"text", "junit:", "json:"})

    def test_fish(self):
        text = (COMPLETION / "loom-conformance.fish").read_text()
        self.assertEqual({"--" + word for word in re.findall(r"^complete .* -l ([a-z-]+)", text, re.M)}, known_options())

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish_offers_them(self):
        with tempfile.TemporaryDirectory() as home:
            for line, offered in (("--", known_options()), ("--only ", known_checks()),
                                  ("--helper /x --only ", known_checks("--helper=/"))):
                script = f"source {COMPLETION}/loom-conformance.fish; complete -C '{PROGRAM} {line}'"
                # fish completes a path by its last component.
                done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=60,
                                      env={"PATH": "/usr/bin:/bin", "HOME": home}, cwd="/", check=False)
                self.assertEqual(done.stderr, "")
                self.assertEqual({word.split("\t")[0] for word in done.stdout.splitlines()}, offered)

    def test_zsh(self):
        text = (COMPLETION / "_loom-conformance").read_text()
        self.assertEqual(set(re.findall(r"^  '(?:\(- \*\)'\{-h,|\*)?(--[a-z-]+)", text, re.M)), known_options())

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_reads_it(self):
        subprocess.run(["zsh", "-n", COMPLETION / "_loom-conformance"], check=True, timeout=60)


if __name__ == "__main__":
    unittest.main()
