"""What the identity tests stand on: the client's side of the call, written without the helper's code."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import msgpack

PLACE = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")  # never /tmp, which the scratch covers
PATIENCE = 60  # seconds after which a call counts as hung; the client gives it 8 on a machine of its own
PREFIX = "loom-exec: "
OPTION = "--publish-git-identity"
HEAD = "[user]\n\tuseConfigOnly = true\n"
ADA = [["user.name", "Ada Sesame"], ["user.email", "ada@sesame.example"]]
ADA_FILE = HEAD + '\tname = "Ada Sesame"\n\temail = "ada@sesame.example"\n'


def helper():
    return os.environ["LOOM_EXEC"]


def limits(**given):
    names = ("cpu_s", "wall_s", "mem_bytes", "pids", "fsize_bytes", "output_bytes")
    return {name: given.get(name, 0) for name in names}


def policy(**given):
    document = {
        "v": 2,
        "writable_roots": [],
        "readable_roots": [],
        "protected": [],
        "network": {"mode": "off"},
        "limits": limits(),
        "env_allow": ["PATH"],
        "scratch": "tmpfs",
        "mounts": [],
    }
    document.update(given)
    return document


def mount(path, access):
    return {"path": path, "access": access, "required": True}


def encoded(document):
    return base64.b64encode(msgpack.packb(document, use_bin_type=True)).decode()


def call(*operands, program=None, **how):
    """The helper with these operands, whatever they are."""
    return subprocess.run(
        [program or helper(), OPTION, *operands],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
        **how,
    )


def publish(document, workspace, entries, **how):
    text = entries if isinstance(entries, (str, bytes)) else json.dumps(entries)
    return call(encoded(document), workspace, text, **how)


class IdentityCase(unittest.TestCase):
    """A test with a workspace `ws` that has the directory, and a stranger `out` beside it."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if os.environ.get("LOOM_SCRATCH_DIR"):
            raise unittest.SkipTest("inside a jail of our own kind: nothing outside it may be written")

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="loom-identity-", dir=PLACE)
        os.chmod(self.place, 0o711)
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.ws = self.directory("ws")
        self.home = self.directory("ws/.codemode/home")
        self.target = os.path.join(self.home, "gitconfig")
        self.out = self.directory("out")

    def path(self, *parts):
        return os.path.join(self.place, *parts)

    def directory(self, *parts):
        path = self.path(*parts)
        os.makedirs(path, exist_ok=True)
        return path

    def file(self, *parts, text="untouched"):
        path = self.path(*parts)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def granting(self, **given):
        return policy(**{"writable_roots": [self.ws], **given})

    @staticmethod
    def text(path):
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()

    @staticmethod
    def listing(top):
        """Name, mode, size and time of everything below: what a refusal must leave as it was."""
        rows = []
        for folder, names, files in os.walk(top):
            for name in names + files:
                about = os.lstat(os.path.join(folder, name))
                rows.append((os.path.join(folder, name), about.st_mode, about.st_size, about.st_mtime_ns))
        return sorted(rows)

    def assertPublished(self, done, content=None, target=None):
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"", b"", 0))
        if content is not None:
            self.assertEqual(self.text(target or self.target), content)

    def assertRefused(self, done, reason=None, secret=()):
        """One line of a fixed text, the same on both streams, that repeats nothing it was given."""
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout, done.stderr)
        line = done.stdout.decode("ascii")
        self.assertTrue(line.startswith(PREFIX) and line.endswith("\n") and line.count("\n") == 1, line)
        self.assertLess(len(line), 160)
        self.assertTrue(line[:-1].isprintable(), line)
        for word in (self.place, os.path.basename(self.place), "sesame", "Sesame", *secret):
            self.assertNotIn(word, line)
        if reason is not None:
            self.assertEqual(line, f"{PREFIX}{reason}\n")

    def assertNothingWritten(self, before):
        self.assertEqual(self.listing(self.place), before)
