"""What every test module of the seatbelt suite stands on.

These tests claim nothing about Seatbelt: there is none on this machine. They drive the helper of any
POSIX system with the real seatbelt backend and its real stage 2 (built for this machine), while the
launcher is fake_sandbox_exec, which checks its arguments and becomes stage 2. What they show is all
that lies around the profile: prepare, report and commit over the stream socket, the private scratch,
the watched processes, ends, refusals, and how a report is judged by macOS' rules.
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "wire"))
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "posix"))

import client  # noqa: E402
from case import WireCase  # noqa: E402
from unjailed import OUTCOMES, is_alive  # noqa: E402, F401

BACKEND = "tried_seatbelt"
SCRATCH_PARENT = "/var/tmp"
NAMES = ["PATH", "LOOM_SCRATCH_DIR"]


class SeatbeltCase(WireCase):
    def policy(self, **given):
        return super().policy(**{"env_allow": NAMES, **given})

    def limited(self, **given):
        return self.policy(limits=client.limits(**given))

    def helper(self, *args, base=None, launcher=None, backend=BACKEND, **how):
        how.setdefault("features", OUTCOMES)
        how["env"] = {**os.environ, **(launcher or {})}
        return super().helper("--backend", backend, *args, base=base, **how)

    def outcome(self, run):
        return run.exit["outcome"]["class"], run.exit["outcome"]["detail"]

    def refused_start(self, helper, *words, argv=("/bin/true",), **more):
        body = client.start_body(list(argv), **more)
        return self.assertRefused(helper, helper.send("exec_start", body), "spawn_failed", *words)

    def numbers(self, run):
        return [int(word) for word in run.stdout.split() if word.isdigit()]

    def calls(self):
        """What the launcher logged: (form, profile's size, definitions, directory, program)."""
        with open(self.path("calls"), encoding="utf-8") as file:
            return [line.split() for line in file]

    def logging(self):
        return {"LOOM_LAUNCHER_LOG": self.path("calls")}
