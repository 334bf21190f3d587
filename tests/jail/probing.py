"""Machines whose bubblewrap cannot do everything."""

from jail import *

NO_PROC = "Can't mount proc on /newroot/proc: Operation not permitted"
NO_NAMESPACE = "Creating new namespace failed: Operation not permitted"
NO_DEVICES = "Can't mount devpts on /newroot/dev/pts: Operation not permitted"
NO_LOOPBACK = "loopback: Failed RTM_NEWADDR: Operation not permitted"
SHORTAGE = "Creating new namespace failed: Resource temporarily unavailable"

# Rules of the choosy bubblewrap: what it refuses, and its words.
HANDLES = ("--ro-bind-fd", "Unknown option --ro-bind-fd")
PIDS = ("--proc", NO_PROC)
CGROUP = ("--unshare-cgroup-try", NO_NAMESPACE)
DEVICES = ("--dev", NO_DEVICES)
NETWORK = ("--unshare-net", NO_LOOPBACK)
EVERYTHING = ("*", NO_NAMESPACE)
BUSY = ("*", SHORTAGE)


class ProbingCase(JailCase):
    def choosy_bwrap(self, *rules):
        """A directory for PATH whose `bwrap` refuses what the rules say."""
        program = os.environ.get("LOOM_CHOOSY_BWRAP", "")
        self.assertTrue(os.access(program, os.X_OK), "LOOM_CHOOSY_BWRAP must name that program")
        directory = self.directory("choosy")
        if not os.path.exists(os.path.join(directory, "bwrap")):
            shutil.copy2(program, os.path.join(directory, "bwrap"))
        self.refuse(*rules)
        return directory

    def refuse(self, *rules):
        self.file("choosy/refuse", text="".join(f"{option} {words}\n" for option, words in rules))

    def starts(self):
        """The options of each start of the choosy bubblewrap."""
        trace = self.path("choosy/starts")
        return self.text(trace).splitlines() if os.path.exists(trace) else []

    def on(self, *rules):
        """The environment of a helper on a machine with such a bubblewrap."""
        return path_with(self.choosy_bwrap(*rules))

    def installation(self):
        """The helper once more, with its backend and its stage 2, owned by whoever runs this; it becomes
        LOOM_EXEC for this test. The three files."""
        prefix = os.path.dirname(os.path.dirname(client.helper_path()))
        names = ("lib/loom-exec/backends/bwrap.so", "libexec/loom-exec/bwrap-stage2", "bin/loom-exec")
        for name in names:
            os.makedirs(os.path.dirname(self.path("installed", name)), exist_ok=True)
            shutil.copy2(os.path.join(prefix, name), self.path("installed", name))
        self.become_helper(self.path("installed/bin/loom-exec"))
        return [self.path("installed", name) for name in names]

    def become_helper(self, program):
        """That program is LOOM_EXEC for the rest of this test."""
        saved = os.environ["LOOM_EXEC"]
        self.addCleanup(os.environ.__setitem__, "LOOM_EXEC", saved)
        os.environ["LOOM_EXEC"] = program

    def unheld(self, run, name):
        """The reason of the one entry that says this is not held."""
        start = f"unheld:{name}="
        found = [entry[len(start) :] for entry in run.enforcement if entry.startswith(start)]
        self.assertEqual(len(found), 1, run.enforcement)
        return found[0]

    def assertNotUnheld(self, run, *names):
        for name in names:
            self.assertEqual([e for e in run.enforcement if e.startswith(f"unheld:{name}")], [])


__all__ = [name for name in dir() if not name.startswith("_")]
