"""What every test module of the wire suite stands on."""

import os
import shutil
import tempfile
import unittest

import client

SH = "/bin/sh"
# The suite without a jail: what it asks of the wire holds there too.
UNJAILED = os.environ.get("LOOM_WIRE_UNJAILED") == "1"
UNJAILED_ARGUMENTS = ("--backend", "unsupported", "--allow-unenforced") if UNJAILED else ()


def for_jails(test):
    """A test of what only a jail holds: without one it is none."""
    return None if UNJAILED else test


def jail_must_work():
    return os.environ.get("LOOM_JAIL_MUST_WORK") == "1"


class WireCase(unittest.TestCase):
    """A test with a workspace of its own, and helpers that are gone when it ends."""

    @classmethod
    def setUpClass(cls):
        if os.environ.get("LOOM_SCRATCH_DIR"):
            raise unittest.SkipTest("inside a jail of our own kind: bubblewrap cannot start here")
        client.helper_path()
        client.become_subreaper()

    def setUp(self):
        base = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")
        self.ws = tempfile.mkdtemp(prefix="loom-wire-", dir=base)
        self.addCleanup(shutil.rmtree, self.ws, ignore_errors=True)
        self.addCleanup(self.end_helpers)

    def end_helpers(self):
        for helper in list(client.Helper.live.values()):
            helper.close()

    def policy(self, **given):
        return client.policy(**{"writable_roots": [self.ws], **given})

    def helper(self, *args, base=None, **how):
        """A helper that has shaken hands, unless told otherwise."""
        if "--backend" not in args:
            args = (*UNJAILED_ARGUMENTS, *args)
        return client.Helper(base if base is not None else self.policy(), *args, **how)

    def jailing_helper(self, *args, **how):
        """A helper whose jail is the real one, or a skip with the reason."""
        helper = self.helper(*args, **how)
        if not UNJAILED:
            self.needs(helper, "bwrap")
        return helper

    def needs(self, helper, *layers):
        for layer in layers:
            if layer not in helper.features:
                self.skipTest(f"this machine has no {layer}: {helper.features}")

    def shell(self, helper, script, *args, **more):
        return helper.execute([SH, "-c", script, *args], **more)

    def start_shell(self, helper, script, *args, **more):
        return helper.start([SH, "-c", script, *args], **more)

    def running(self, helper, script="echo up; sleep 600", *args, **more):
        """An execution whose command has spoken and now waits."""
        return helper.until_output(self.start_shell(helper, script, *args, **more), b"up\n")

    def path(self, *parts):
        return os.path.join(self.ws, *parts)

    def assertRefused(self, helper, frame_id, code, *words):
        """One error under that id, and the channel kept."""
        error = helper.expect("error", frame_id)
        self.assertEqual(error.body["code"], code, error)
        for word in words:
            self.assertIn(word, error.body["msg"])
        helper.heartbeat()
        return error.body["msg"]

    def assertEnds(self, helper, status):
        """The helper ends by itself with that status, its input still open."""
        self.assertEqual(helper.wait_exit(), status, helper.stderr_text())

    def assertNothingLeft(self, seconds=5):
        """No process of ours is left but helpers that are known to live."""

        def clean():
            client.reap_adopted(set(client.Helper.live))
            return not set(client.descendants()) - set(client.Helper.live)

        self.assertTrue(client.wait_until(clean, seconds), client.descendants())
