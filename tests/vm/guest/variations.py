"""The host variations of the kernel matrix, and which boot of the kernel goes through which.

A variation is a machine as an operator may find it: who runs the helper, what of control groups is
delegated to them, and which layers the machine withholds. guest/setting.py makes it so.
"""

from dataclasses import dataclass

ROOT = 0
ORDINARY = 1000

# What of control groups the helper finds (guest/control_groups.py makes it):
DELEGATED = "delegated"  # a base of the helper's own user, named by LOOM_CGROUP_BASE
UNDELEGATED = "undelegated"  # no base named; the helper's own group is the system's, with processes
ROOT_GROUP = "root group"  # no base named; the helper is in the true root group
POPULATED = "populated"  # the named base is the helper's own group (Delegate=yes and nothing else)
WITHOUT_MEMORY = "without memory"  # the named base was not given the memory controller
OUT_OF_REACH = "out of reach"  # the named base is fine, but the helper may not leave its own group
VERSION_1 = "version 1"  # the named base is in a tree of control groups of the first version


@dataclass(frozen=True)
class Variation:
    name: str
    title: str
    uid: int
    groups: str
    namespaces: bool = True  # user.max_user_namespaces is not 0
    container: bool = False  # /proc masked and capabilities kept as container runtimes do it
    bwrap: bool = True  # bubblewrap is on the helper's PATH
    landlock: bool = True  # the kernel of this boot has it
    ceilings: bool = False  # guest/test_ceilings.py runs here as well

    @property
    def builds_jails(self):
        """Whether there is a bubblewrap that can. In a container it does so without a process table
        of the jail's own; where it cannot, a command runs degraded unless that is refused."""
        return self.bwrap and (self.namespaces or self.uid == ROOT)

    @property
    def has_groups(self):
        """Whether a run can get a control group of its own."""
        return self.groups in (DELEGATED, ROOT_GROUP)

    @property
    def claims_ceilings(self):
        """Whether its group also keeps a command that wants to leave it."""
        return self.has_groups and (self.builds_jails or self.landlock)


@dataclass(frozen=True)
class Boot:
    name: str
    variations: tuple
    kernel: str = ""  # further kernel parameters


# Debian's own list without Landlock.
NO_LANDLOCK = "lsm=lockdown,yama,loadpin,safesetid,integrity,apparmor,bpf"

BOOTS = (
    Boot(
        "first",
        (
            Variation("root-delegated", "uid 0 with a delegated base", ROOT, DELEGATED, ceilings=True),
            Variation("root-undelegated", "uid 0 without delegation", ROOT, UNDELEGATED),
            Variation("root-root-group", "uid 0 in the true root group, no base named", ROOT, ROOT_GROUP),
            Variation("root-version-1", "uid 0, control groups of version 1", ROOT, VERSION_1),
            Variation(
                "root-no-namespaces", "uid 0, user namespaces off", ROOT, DELEGATED, namespaces=False
            ),
            Variation("root-no-bwrap", "uid 0, bubblewrap absent", ROOT, DELEGATED, bwrap=False),
            Variation("container", "uid 0 as in a container", ROOT, UNDELEGATED, container=True),
        ),
    ),
    Boot(
        "second",
        (
            Variation(
                "user-delegated", "an ordinary user with a delegated base", ORDINARY, DELEGATED, ceilings=True
            ),
            Variation("user-undelegated", "an ordinary user without delegation", ORDINARY, UNDELEGATED),
            Variation("user-populated", "an ordinary user, base with processes", ORDINARY, POPULATED),
            Variation("user-no-memory", "an ordinary user, base without memory", ORDINARY, WITHOUT_MEMORY),
            Variation("user-out-of-reach", "an ordinary user, base out of reach", ORDINARY, OUT_OF_REACH),
            Variation(
                "user-no-namespaces",
                "an ordinary user, user namespaces off",
                ORDINARY,
                DELEGATED,
                namespaces=False,
            ),
            Variation(
                "container-user", "an ordinary user as in a container", ORDINARY, UNDELEGATED, container=True
            ),
            Variation("user-no-bwrap", "an ordinary user, bubblewrap absent", ORDINARY, UNDELEGATED, bwrap=False),
        ),
    ),
    Boot(
        "no-landlock",
        (
            Variation("no-landlock-root", "uid 0, Landlock off", ROOT, DELEGATED, landlock=False),
            Variation(
                "no-landlock-user", "an ordinary user, Landlock off", ORDINARY, UNDELEGATED, landlock=False
            ),
            Variation(
                "no-landlock-no-bwrap",
                "an ordinary user, neither Landlock nor bubblewrap",
                ORDINARY,
                DELEGATED,
                bwrap=False,
                landlock=False,
            ),
        ),
        kernel=NO_LANDLOCK,
    ),
)


def variations():
    return [variation for boot in BOOTS for variation in boot.variations]


def boot_named(name):
    return next(boot for boot in BOOTS if boot.name == name)
