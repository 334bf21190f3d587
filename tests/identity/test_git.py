"""git reads back what was published, to the byte."""

import os
import shutil
import subprocess
import unittest

from identity import *

AWKWARD = {
    "plain": "Ada",
    "empty": "",
    "double quotes": 'a "b" c"',
    "only a quote": '"',
    "single quotes": "O'Neill",
    "backslashes": "a\\b\\\\c",
    "a backslash at the end": "end\\",
    "what looks like an escape": "\\n\\t\\x41\\u0041",
    "newline": "two\nlines\n",
    "tab": "a\tb\t",
    "backspace": "a\bb",
    "comment signs": "a # b ; c",
    "a leading comment sign": "#a",
    "leading and trailing spaces": "  a  ",
    "only spaces": "   ",
    "carriage return": "a\rb",
    "carriage return at the end": "a\r",
    "carriage return and newline": "a\r\nb\r\n",
    "a section": "[core]\n\tpager = !sh",
    "an equals sign": "a = b = c",
    "percent": "100% %s %n",
    "dollar and backquote": "$HOME `id` $(id)",
    "accents": "Zoë Łukasz",
    "emoji": "👩\u200d💻 🧵",
    "byte order mark": "\ufeffa",
    "line and paragraph separator": "a\u2028b\u2029c\u0085d",
    "the last code point": "a\U0010ffff\ufffe",
    "control characters": "".join(chr(code) for code in range(1, 32)) + "\x7f\x80\x9f",
    "very long": "long " * 12000,
    "very many quotes": '"\\' * 10000,
    "shell continuation": "a \\\n b",
}


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Git(IdentityCase):
    def git(self, *arguments, **variables):
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": self.out,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": self.target,
            **variables,
        }
        return subprocess.run(
            ["git", *arguments],
            cwd=self.out,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )

    def value(self, key):
        read = self.git("config", "--null", "--file", self.target, "--get-all", key)
        self.assertEqual(read.returncode, 0, read)
        return read.stdout.decode()

    def test_awkward_values_come_back_the_same(self):
        # cases.md 221
        for kind, value in AWKWARD.items():
            with self.subTest(kind=kind):
                entries = json.dumps([["user.name", value], ["user.email", value[:5000]]], ensure_ascii=False)
                self.assertPublished(publish(self.granting(), self.ws, entries))
                self.assertEqual(self.value("user.name"), value + "\0")
                self.assertEqual(self.value("user.email"), value[:5000] + "\0")
                self.assertEqual(self.value("user.useConfigOnly"), "true\0")

    def test_the_file_holds_the_published_variables_and_no_others(self):
        entries = [["user.name", AWKWARD["a section"]], ["user.email", AWKWARD["control characters"]]]
        self.assertPublished(publish(self.granting(), self.ws, entries))
        listed = self.git("config", "--null", "--file", self.target, "--list", "--name-only")
        self.assertEqual(listed.stdout.decode().split("\0")[:-1], ["user.useconfigonly", "user.name", "user.email"])

    def test_git_signs_with_the_identity_and_guesses_none(self):
        self.assertPublished(publish(self.granting(), self.ws, ADA))
        known = self.git("var", "GIT_AUTHOR_IDENT")
        self.assertTrue(known.stdout.startswith(b"Ada Sesame <ada@sesame.example> "), known)
        self.assertPublished(publish(self.granting(), self.ws, [["user.name", "Ada Sesame"]]))
        guessed = self.git("var", "GIT_AUTHOR_IDENT")
        self.assertNotEqual(guessed.returncode, 0, guessed)
