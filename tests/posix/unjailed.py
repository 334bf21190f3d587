"""What every test module of the posix suite stands on.

The helper here is the one that any POSIX system gets (LOOM_HOST=posix), built on this machine: no
pidfd, no parent-death signal, no control group, images by path. Its backend is "unsupported", so the
command runs with every right of this user, and the report says so; what is tested is the rest of the
contract, which holds everywhere.
"""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "wire"))

# The wire suite's client, which says what any broker says.
import client  # noqa: E402
from case import WireCase  # noqa: E402

BARE = ("--backend", "unsupported", "--allow-unenforced")
OUTCOMES = ("exec-outcome-v1",)


class PosixCase(WireCase):
    """Helpers that serve unjailed and tell outcomes."""

    def helper(self, *args, base=None, **how):
        how.setdefault("features", OUTCOMES)
        return super().helper(*BARE, *args, base=base, **how)

    def outcome(self, run):
        return run.exit["outcome"]["class"], run.exit["outcome"]["detail"]

    def limited(self, **given):
        return self.policy(limits=client.limits(**given))

    def processes_of(self, session):
        """Living processes of a session, by the number of its leader."""
        return [pid for pid, row in session_table().items() if row == session]


def session_table():
    """pid -> session, zombies aside."""
    table = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        if words[0] not in "ZX":
            table[int(entry)] = int(words[3])
    return table


def is_alive(pid):
    return pid in session_table()
