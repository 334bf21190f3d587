"""The helper publishes exactly where a jailed command could have written the file itself."""

import itertools
import os
import random
import subprocess

from identity import *

SEED = 20
SAMPLES = 40
KINDS = ("", "writable", "readable", "protected", "rw", "ro")
WRITE = 'echo jailed >"$1/.probe" && mv "$1/.probe" "$1/gitconfig"'


class Agreement(IdentityCase):
    def document(self, kinds):
        """A policy that says one thing, or nothing, about each directory on the way."""
        levels = (self.ws, self.path("ws/.codemode"), self.home)
        lists = {kind: [at for at, said in zip(levels, kinds) if said == kind] for kind in KINDS}
        return policy(
            writable_roots=lists["writable"],
            readable_roots=lists["readable"],
            protected=lists["protected"],
            mounts=[mount(at, "rw") for at in lists["rw"]] + [mount(at, "ro") for at in lists["ro"]],
        )

    def jailed_command_writes(self, document):
        """True or false; None when the document cannot be run at all."""
        file = self.file("policy.json", text=json.dumps(document))
        run = subprocess.run(
            [helper(), "run", "--policy", file, "--demand", "best-effort", "--report", "none", "--"]
            + ["/bin/sh", "-c", WRITE, "sh", self.home],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        os.unlink(file)
        if run.returncode == 125:
            return None
        written = os.path.exists(self.target)
        for name in os.listdir(self.home):
            os.unlink(os.path.join(self.home, name))
        return written

    def helper_publishes(self, document):
        done = publish(document, self.ws, ADA)
        if done.returncode == 0:
            self.assertPublished(done, ADA_FILE)
            os.unlink(self.target)
            return True
        self.assertRefused(done)
        self.assertEqual(os.listdir(self.home), [])
        return False

    def needs_a_jail(self):
        told = subprocess.run(
            [helper(), "run", "--workspace", self.ws, "--demand", "platform", "--report", "none", "--", "/bin/true"],
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        if told.returncode != 0:
            self.skipTest(f"no jail on this machine: {told.stderr.decode()}")

    def test_the_helper_and_a_jail_answer_alike(self):
        self.needs_a_jail()
        every = list(itertools.product(KINDS, repeat=3))
        answers = []
        for kinds in random.Random(SEED).sample(every, SAMPLES):
            with self.subTest(kinds=kinds):
                document = self.document(kinds)
                jailed = self.jailed_command_writes(document)
                published = self.helper_publishes(document)
                self.assertEqual(published, bool(jailed))
                answers.append(published)
        self.assertIn(True, answers)
        self.assertIn(False, answers)
