"""Helpers that keep a jail waiting, and what became of it.

Which jail a command got is told by its launcher: the one that waited, or another. A helper that says
at the level of debugging why it did not take a jail is held to the reason, too.
"""

import contextlib
import select

from probing import *
from test_aliases import ROOT, own_mounts

PATIENCE = max(30, client.PATIENCE)  # seconds until a jail waits, or is gone
LEAVE = "/bin/true"
TRIES = 3  # where others may mount something on this host
SHELLS = (os.path.basename(SH), os.path.basename(os.path.realpath(SH)))
NOT_USED = "the waiting jail is not used: "
LET_IT_SAY = {"LOOM_LOG": "debug"}

# What is told of a jail that was not taken (core/app/warm_grounds.cc, core/app/execution_ahead.cc).
FAILED, ENDED = "its jail failed", "its jail ended"
POLICY, MORE = "another policy", "a run that needs more than a jail"
FILES, NAMES = "the host's files changed", "a protected name was touched"
HOST_MOUNTS, JAIL_MOUNTS = "the host's mounts changed", "the jail's mounts changed"
INHERITED, PROGRAM = "what a child inherits changed", "a program was rewritten"


def state(pid):
    """As ps(1) says it; None when it is gone."""
    row = client.process_table().get(pid)
    return row[1] if row else None


def spent(pid):
    """Nanoseconds on a processor."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


@contextlib.contextmanager
def stopped(pid):
    """A process that notices nothing meanwhile, and then everything at once."""
    os.kill(pid, signal.SIGSTOP)
    try:
        assert client.wait_until(lambda: state(pid) == "T", PATIENCE), "it does not stop"
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # it may have ended as well
            os.kill(pid, signal.SIGCONT)


class MountEvents:
    """Whether a mount came or went in the namespace of a process since this was made."""

    def __init__(self, pid):
        self.table = open(f"/proc/{pid}/mountinfo", "rb")
        self.events = select.poll()
        self.events.register(self.table, select.POLLPRI)

    def close(self):
        self.table.close()

    def came(self):
        return bool(self.events.poll(0))


class WarmCase(ProbingCase):
    tells = None  # whether helpers say why they do not take a jail; None: nobody has tried

    def setUp(self):
        super().setUp()
        client.become_subreaper()
        self.mounts = {}  # the helper's pid: what happened to its mounts since its jail waits

    @contextlib.contextmanager
    def warm(self, policy=None, *flags, env=None, prepare=own_mounts if ROOT else None, **how):
        """A helper, and the launcher of the jail that waits in it.

        It has mounts of its own, so that its jail does not become stale by those of others. An ordinary
        user's has not, who would get another kind of jail then.
        """
        env = {**(os.environ if env is None else env), **LET_IT_SAY}
        with self.helper(*flags, base=policy or self.policy(), env=env, prepare=prepare, **how) as helper:
            self.needs(helper, "bwrap", "landlock", "seccomp")
            yield helper, self.until_warm(helper)

    def until_warm(self, helper):
        found = []

        def look():
            found[:] = [client.waiting_jail(helper.pid)]
            return found[0] is not None

        self.assertTrue(client.wait_until(look, PATIENCE), "no jail waits")
        self.mounts[helper.pid] = MountEvents(helper.pid)
        self.addCleanup(self.mounts[helper.pid].close)
        # Its name is older than its word to the helper: both are said once nobody does anything.
        self.assertTrue(client.wait_until(lambda: self.rests(helper.pid, found[0]), PATIENCE), "they do not rest")
        return found[0]

    @staticmethod
    def rests(helper, jail):
        """Whether nobody of them uses a processor, or wants to, for a moment."""
        pids = [helper, jail, *client.descendants(jail)]
        with contextlib.suppress(OSError):  # one of them ended
            before = {pid: spent(pid) for pid in pids}
            time.sleep(0.05)
            return {pid: spent(pid) for pid in pids} == before and {state(pid) for pid in pids} == {"S"}
        return False

    def stage2_of(self, jail):
        """The process of a waiting jail that becomes the command."""
        found = [pid for pid, name in client.descendants(jail).items() if name == client.WAITS]
        self.assertEqual(len(found), 1, client.descendants(jail))
        return found[0]

    def one_that_prepares(self, helper):
        """The launcher of the jail that is made now, which does not wait yet."""
        found = []

        def look():
            found[:] = self.launchers(helper)
            return found

        self.assertTrue(client.wait_until(look, PATIENCE), "no jail is made")
        self.assertIsNone(client.waiting_jail(helper.pid))
        return found[0]

    def launchers(self, helper):
        """The jails of a helper, whatever they do."""
        table = client.process_table()
        return {pid for pid, row in table.items() if row[0] == helper.pid and row[2] == "bwrap" and row[1] != "Z"}

    def launcher_of_the_command(self, helper):
        """Whose jail the shell of a run is in."""
        table = client.process_table()
        found = set()
        for pid in client.descendants(helper.pid):
            if pid not in table or table[pid][2] not in SHELLS:
                continue
            while pid in table and table[pid][0] != helper.pid:
                pid = table[pid][0]
            found.add(pid)
        self.assertEqual(len(found), 1, client.descendants(helper.pid))
        return found.pop()

    def run_held(self, helper, script="", change=None, meanwhile=None, **start):
        """A run that says what it sees and waits to be told to end: the run, and its launcher.

        `change` happens while the helper is stopped, `meanwhile` while it is not.
        """
        with stopped(helper.pid) if change else contextlib.nullcontext():
            for action in (change, meanwhile):
                if action:
                    action()
            run = helper.start([SH, "-c", f"echo begin; {script}\necho seen; read line"], cwd=self.ws, **start)
        helper.until_output(run, b"seen", LIMIT)
        used = self.launcher_of_the_command(helper)
        helper.stdin(b"go\n")
        self.settle(helper, run)
        return run, used

    # --- why -----------------------------------------------------------------------------------

    @staticmethod
    def reasons(helper):
        """Why it did not take a jail that waited, each time."""
        lines = helper.stderr_text().splitlines()
        return [line.partition(NOT_USED)[2] for line in lines if NOT_USED in line]

    def tells_reasons(self):
        if WarmCase.tells is None:
            with self.warm() as (helper, _):
                self.run_held(helper, policy=self.policy(readable_roots=[self.out]))
                told = self.reasons(helper)
            self.assertIn(told, ([], ["another policy"]))
            WarmCase.tells = bool(told)
        return WarmCase.tells

    # --- which ---------------------------------------------------------------------------------

    def assertUsed(self, helper, jail, script="", **start):
        for _ in range(TRIES):
            told = len(self.reasons(helper))
            run, used = self.run_held(helper, script, **start)
            if used == jail:
                return run
            # What somebody else mounts on this host makes every jail stale; nothing else may.
            why = ", ".join(self.reasons(helper)[told:]) or "no reason was told"
            self.assertTrue(self.mounts[helper.pid].came(), f"the waiting jail was not used ({why}): {self.story(run)}")
            jail = self.until_warm(helper)
        return self.fail(f"{TRIES} times somebody mounted something on this host")

    def assertStale(self, helper, jail, reason, script="", **start):
        """`reason`: what it says if it says something, or one of several; None where it may have let go of the
        jail before."""
        tells = self.tells_reasons()
        told = len(self.reasons(helper))
        run, used = self.run_held(helper, script, **start)
        self.assertNotEqual(used, jail, "a stale jail was used: " + self.story(run))
        if tells and reason:
            due = (reason,) if isinstance(reason, str) else reason
            self.assertIn(self.reasons(helper)[told:], [[each] for each in due], self.story(run))
        return run


class StaleCase(WarmCase):
    def setUp(self):
        super().setUp()
        self.secret = self.file("ws/.env")
        self.keys = self.directory("ws/keys")
        self.file("ws/keys/id", text="S3CRET\n")
        self.file("ws/open.txt", text="open\n")

    def masked(self, **more):
        return self.policy(protected=[self.secret, self.keys], **more)

    LOOK = "cat open.txt; cat .env; cat keys/id; ls keys"

    def assertHidden(self, run):
        self.assertIn(b"open\n", run.stdout)
        self.assertNotIn(b"S3CRET", run.stdout)
        self.assertNotIn(b"id\n", run.stdout)


__all__ = [name for name in dir() if not name.startswith("_")]
