"""What --help says, the man page, docs/run.md and the completions say too, and nothing else.

LOOM_EXEC is the helper. A shell that is not installed is read instead of run."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETION = ROOT / "docs" / "packaging" / "completion"
HELPER = os.environ["LOOM_EXEC"]
SUBCOMMANDS = ("run", "plan", "why")
OPTION = re.compile(r"--[a-z][a-z-]*")

# Where the man page has the options of a mode.
SECTIONS = {
    "run": ("Policy of run, plan and why", "Other options of run, plan and why", "Options of run alone"),
    "plan": ("Policy of run, plan and why", "Other options of run, plan and why", "Options of plan alone"),
    "why": ("Policy of run, plan and why", "Other options of run, plan and why", "Options of why alone"),
    "server": ("Options of the server",),
    "--self-test": ("Options of the self-test",),
}
MODES = {"run", "plan", "why", "--self-test", "--publish-git-identity", "--help"}


def ask(*arguments):
    """Standard output and error of a call that only explains."""
    done = subprocess.run([HELPER, *arguments], capture_output=True, text=True, check=True, timeout=60)
    return done.stdout + done.stderr


def options_of_help(subcommand):
    """Each option of a subcommand, with the words it chooses among (none: any value, or no value)."""
    options = {}
    for line in ask(subcommand, "--help").splitlines():
        found = re.match(r"  (?:-\w,)?(--[a-z-]+)( .*)?$", line)
        if found:
            choices = re.search(r"\{([^}]*)\}", found[2] or "")
            options[found[1]] = frozenset(choices[1].split(",")) if choices else frozenset()
    return options


def usage():
    """The words of each line of the usage, by its mode; the server's under "server"."""
    modes = {}
    text = ask("--help").split("Each subcommand")[0].replace("usage:", "")
    for part in re.split(r"(?:^|\n) *loom-exec(?= )", text)[1:]:
        first = part.split()[0]
        modes[first if not first.startswith("[") else "server"] = part
    return modes


def known_options():
    """Every option of every mode, with its choices."""
    known = {name: options_of_help(name) for name in SUBCOMMANDS}
    known["server"] = {}
    for option, value in re.findall(r"\[(--[a-z-]+)(?:\s+([^]]+))?\]", usage()["server"]):
        choices = value.split("|") if value and value.islower() else ()
        known["server"][option] = frozenset(choices)
    known["--self-test"] = {word: frozenset() for word in re.findall(r"\[(--[a-z-]+)", usage()["--self-test"])}
    return known


class Help(unittest.TestCase):
    def test_the_usage_is_read_as_it_was_meant(self):
        self.assertEqual(set(usage()), MODES | {"server"})
        known = known_options()
        self.assertEqual(known["server"]["--demand"], {"full", "platform", "best-effort"})
        self.assertEqual(known["run"]["--network"], {"off", "full"})
        self.assertIn("--backend", known["--self-test"])
        self.assertGreater(len(known["run"]), 20)


class ManPage(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / "docs" / "man" / "loom-exec.1").read_text()
        self.items = {}
        section = None
        for line in self.text.splitlines():
            if line.startswith((".Ss ", ".Sh ")):
                section = line[4:]
            found = re.match(r"\.It Fl (?:h , )?-([a-z-]+)(.*)", line)
            if found:
                words = re.findall(r"Cm ([a-z| -]+)", found[2])
                choices = words[0].replace(" ", "").split("|") if words else ()
                self.items.setdefault(section, {})["--" + found[1]] = frozenset(choices)

    def test_each_mode_has_its_options_and_their_words(self):
        for mode, options in known_options().items():
            described = {}
            for section in SECTIONS[mode]:
                described |= self.items[section]
            with self.subTest(mode=mode):
                self.assertEqual(described, options)

    def test_no_section_of_options_is_beyond_the_comparison(self):
        named = {section for sections in SECTIONS.values() for section in sections}
        self.assertEqual(set(self.items) - named, {"DESCRIPTION"})
        self.assertEqual(set(self.items["DESCRIPTION"]), {m for m in MODES if m.startswith("--")})

    def test_no_option_is_mentioned_that_is_not_there(self):
        mentioned = {"--" + word for word in re.findall(r"\bFl -([a-z-]+)", self.text)}
        known = set().union(*known_options().values()) | MODES
        self.assertEqual(mentioned - known, set())

    def test_the_synopsis_of_the_server_is_the_usage(self):
        synopsis = self.text.split(".Sh SYNOPSIS")[1].split(".Sh")[0]
        for mode in ("server", "--self-test"):
            for option in known_options()[mode]:
                self.assertIn(f".Op Fl -{option[2:]}", synopsis)
        self.assertEqual(len(re.findall(r"^\.Nm$", synopsis, re.M)), len(usage()))


class RunDocument(unittest.TestCase):
    def test_the_table_has_every_option_of_the_subcommands(self):
        section = (ROOT / "docs" / "run.md").read_text().split("## 2. Options")[1].split("## 3.")[0]
        rows = set(re.findall(r"^\| `(--[a-z-]+)", section, re.M))
        known = set().union(*(options_of_help(name) for name in SUBCOMMANDS)) - {"--help"}
        self.assertEqual(rows, known)


class Bash(unittest.TestCase):
    def complete(self, line):
        """What bash offers at the end of the line, split at white space."""
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        script = (
            f"compopt() {{ :; }}; source '{COMPLETION}/loom-exec.bash'; COMP_WORDS=({quoted}); "
            f"COMP_CWORD={len(words) - 1}; _loom_exec; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=60,
                              env={"PATH": "/usr/bin:/bin", "LOOM_SHOWN": "1"}, cwd="/", check=False)
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_every_option_is_offered_and_nothing_else(self):
        for mode, options in known_options().items():
            line = "loom-exec --" if mode == "server" else f"loom-exec {mode} --"
            beside = {"--"} if mode in ("run", "plan") else set()
            beside |= {m for m in MODES if m.startswith("--")} if mode == "server" else set()
            with self.subTest(mode=mode):
                self.assertEqual(self.complete(line), set(options) | beside)

    def test_the_words_of_an_option_are_offered(self):
        for mode, options in known_options().items():
            prefix = "loom-exec" if mode == "server" else f"loom-exec {mode}"
            for option, choices in options.items():
                if choices:
                    with self.subTest(mode=mode, option=option):
                        self.assertEqual(self.complete(f"{prefix} {option} "), choices)
                        self.assertEqual(self.complete(f"{prefix} {option} = "), choices)

    def test_modes_come_first(self):
        self.assertLessEqual(MODES, self.complete("loom-exec "))

    def test_paths_are_offered_where_one_is_wanted(self):
        self.assertIn("/etc/passwd", self.complete("loom-exec run --read /etc/pass"))
        self.assertNotIn("/etc/passwd", self.complete("loom-exec run --workspace /etc/pass"))
        self.assertIn("/etc", self.complete("loom-exec run --workspace /et"))
        self.assertIn("/etc/passwd", self.complete("loom-exec why --protect /srv read /etc/pass"))

    def test_operations_are_offered_once(self):
        self.assertIn("rename", self.complete("loom-exec why --protect /srv "))
        self.assertNotIn("rename", self.complete("loom-exec why --json read "))

    def test_behind_the_mark_stands_a_command(self):
        self.assertIn("env", self.complete("loom-exec run --pids 5 -- en"))
        self.assertIn("/etc/passwd", self.complete("loom-exec run -- cat /etc/pass"))
        self.assertEqual(self.complete("loom-exec run -- cat --netw"), set())

    def test_variables_and_modes_of_a_mount(self):
        self.assertEqual(self.complete("loom-exec run --env LOOM_SH"), {"LOOM_SHOWN"})
        self.assertEqual(self.complete("loom-exec run --mount /etc :"), {"ro", "rw"})

    def test_every_operation_that_why_knows_is_offered(self):
        known = re.search(r"((?:[a-z]+\|)+[a-z]+) PATH", ask("why", "--help"))[1].split("|")
        self.assertEqual(self.complete("loom-exec why "), set(known))


class Fish(unittest.TestCase):
    """Each line `complete … -n CONDITION … -l OPTION … -a 'WORDS'`."""

    CONDITIONS = {"__loom_exec_serves": ("server",), "__loom_exec_starts": ("modes",)}

    def test_every_option_is_there_with_its_words(self):
        offered = {}
        for line in (COMPLETION / "loom-exec.fish").read_text().splitlines():
            found = re.match(r"complete -c loom-exec -n (?:'__loom_exec_in ([^']*)'|(\w+)) .*?-l ([a-z-]+)(.*)", line)
            if not found:
                continue
            words = re.search(r"-x -a '([^(']*)'", found[4])
            for mode in found[1].split() if found[1] else self.CONDITIONS[found[2]]:
                offered.setdefault(mode, {})["--" + found[3]] = frozenset(words[1].split() if words else ())
        self.assertEqual(set(offered.pop("modes")), {m for m in MODES if m.startswith("--")})
        self.assertEqual(offered, known_options())

    @unittest.skipUnless(shutil.which("fish"), "no fish here")
    def test_fish_offers_them(self):
        with tempfile.TemporaryDirectory() as home:
            for mode, options in known_options().items():
                line = "loom-exec --" if mode == "server" else f"loom-exec {mode} --"
                script = f"source {COMPLETION}/loom-exec.fish; complete -C '{line}'"
                done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=60,
                                      env={"PATH": "/usr/bin:/bin", "HOME": home}, cwd="/", check=False)
                self.assertEqual(done.stderr, "")
                offered = {word.split("\t")[0] for word in done.stdout.splitlines()}
                if mode == "server":
                    offered -= MODES
                self.assertEqual(offered, set(options), mode)


class Zsh(unittest.TestCase):
    """The specifications of _arguments, by the list or the branch they stand in."""

    def setUp(self):
        self.text = (COMPLETION / "_loom-exec").read_text()
        self.lists = {}
        for name, body in re.findall(r"^(policy|common|server)=\(\n(.*?)^\)", self.text, re.M | re.S):
            self.lists[name] = self.specifications(body)
        self.lists["common"] |= self.lists["policy"]

    def specifications(self, text):
        found = {}
        for line in text.splitlines():
            option = re.match(r" +'(?:\(- \*\)'\{-h,|\*)?(--[a-z-]+)", line)
            if option:
                words = re.search(r":\(([^)]*)\)'", line)
                found[option[1]] = frozenset(words[1].split() if words else ())
        return found

    def test_every_option_is_there_with_its_words(self):
        for mode, options in known_options().items():
            offered = self.lists["server"] if mode == "server" else {}
            if mode != "server":
                branch = re.search(rf"^  {mode}\)\n(.*?)^    ;;", self.text, re.M | re.S)[1]
                offered = self.specifications(branch) | (self.lists["common"] if "$common" in branch else {})
            with self.subTest(mode=mode):
                self.assertEqual(offered, options)

    def test_modes(self):
        self.assertEqual(set(re.findall(r"^    '([a-z-]+):", self.text, re.M)), MODES)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh here")
    def test_zsh_reads_it(self):
        subprocess.run(["zsh", "-n", COMPLETION / "_loom-exec"], check=True, timeout=60)


class PolicyPage(unittest.TestCase):
    def test_the_example_does_what_the_page_says(self):
        page = (ROOT / "docs" / "man" / "loom-exec-policy.5").read_text()
        text = re.search(r'^\{"v": 3.*?\n\.Ed', page, re.M | re.S)[0][: -len("\n.Ed")]
        with tempfile.TemporaryDirectory(dir="/var/tmp") as home:
            (pathlib.Path(home) / "tools").mkdir()
            document = pathlib.Path(home) / "policy.json"
            document.write_text(json.dumps(json.loads(text.replace("/home/me/app", home))))

            def why(*question):
                return subprocess.run([HELPER, "why", "--policy", document, *question], cwd=home, timeout=60,
                                      capture_output=True, text=True, check=False)

            admitted = why("execute", "/usr/bin/env")
            refused_by_machine = admitted.returncode == 125 and "policy:" not in admitted.stderr
            if refused_by_machine and "LOOM_JAIL_MUST_WORK" not in os.environ:
                self.skipTest(admitted.stderr)
            self.assertEqual(admitted.returncode, 0, admitted.stderr)
            self.assertEqual(why("execute", "python3").returncode, 1)
            self.assertEqual(why("create", "made").returncode, 0)

    def test_every_key_of_a_document_has_its_place(self):
        page = (ROOT / "docs" / "man" / "loom-exec-policy.5").read_text()
        document = (ROOT / "docs" / "policy.md").read_text().split("## 2. Types")[0]
        keys = set(re.findall(r"^\| `([a-z_]+)` \|", document, re.M)) - {"off", "full", "proxy", "dir", "file", "name"}
        self.assertGreater(len(keys), 20)
        listed = set()
        for line in re.findall(r"^\.It Li (.*)", page, re.M):
            listed |= set(re.findall(r"[a-z_]+", line.split(" Pq ")[0]))
        self.assertEqual(keys - listed - {"kind", "value"}, set())


class Pages(unittest.TestCase):
    def pages(self):
        found = sorted((ROOT / "docs" / "man").glob("*.[1-9]"))
        self.assertGreaterEqual(len(found), 4)
        return found

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc here")
    def test_mandoc_finds_nothing(self):
        done = subprocess.run(["mandoc", "-T", "lint", "-W", "all", *self.pages()], capture_output=True, text=True,
                              timeout=60, check=False)
        # Whether other pages are installed is this machine's affair.
        lines = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
        self.assertEqual(lines, [])

    @unittest.skipUnless(shutil.which("man"), "no man here")
    def test_man_warns_of_nothing(self):
        for page in self.pages():
            done = subprocess.run(["man", "--warnings", "--local-file", page], timeout=60, check=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            self.assertEqual(done.stderr, "")
            self.assertGreater(len(done.stdout), 1000)

    def test_pages_refer_to_pages_that_are_there(self):
        ours = {page.name for page in self.pages()}
        for page in self.pages():
            for name, section in re.findall(r"^\.Xr (loom[a-z-]*) (\d)", page.read_text(), re.M):
                self.assertIn(f"{name}.{section}", ours)


if __name__ == "__main__":
    unittest.main()
