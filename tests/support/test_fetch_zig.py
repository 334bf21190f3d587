"""When the compiler for macOS is not brought: only a registry that does not answer is a reason to skip."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "cross" / "fetch_zig.sh"


class FetchZigTest(unittest.TestCase):
    def fetch(self, npm):
        """The exit status, with an npm that does this, and whether a compiler is there."""
        with tempfile.TemporaryDirectory() as place:
            tools = pathlib.Path(place, "tools")
            tools.mkdir()
            script = tools / "npm"
            script.write_text(f"#!/bin/sh\n{npm}\n", encoding="utf-8")
            script.chmod(0o755)
            env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
            done = subprocess.run([SCRIPT, place + "/zig"], env=env, stderr=subprocess.DEVNULL, timeout=60)
            return done.returncode, pathlib.Path(place, "zig/package/zig").exists()

    def test_a_registry_that_does_not_answer_is_a_skip(self):
        self.assertEqual(self.fetch("exit 1"), (77, False))

    def test_another_package_than_the_pinned_one_is_a_failure(self):
        status, there = self.fetch("echo not it > zig.tgz; echo zig.tgz")
        self.assertNotIn(status, (0, 77))
        self.assertFalse(there)

    def test_an_archive_that_is_not_there_is_a_failure(self):
        status, there = self.fetch("echo zig.tgz")
        self.assertNotIn(status, (0, 77))
        self.assertFalse(there)


if __name__ == "__main__":
    unittest.main()
