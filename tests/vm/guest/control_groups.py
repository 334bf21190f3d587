"""Control groups as the variations want them, below /sys/fs/cgroup/matrix. Runs as uid 0.

    matrix/            memory and pids passed on
      delegated/       the user's; passes both on and holds no process itself
        runner/        the helper and who drives it
        runs/          the base
      session/         the system's: a login session as it is without delegation
      meagre/          the user's; passes on pids only
        runs/          a base without the memory controller
"""

import os
import subprocess
import time

import variations

MOUNT = "/sys/fs/cgroup"
TOP = f"{MOUNT}/matrix"
V1 = "/srv/cgroup-v1"  # a hierarchy of the first version, as its only controller a name
OWN_FILES = ("cgroup.procs", "cgroup.threads", "cgroup.subtree_control")


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def make(path, owner=0, passes_on=""):
    os.makedirs(path, exist_ok=True)
    if passes_on:
        write(f"{path}/cgroup.subtree_control", passes_on)
    for name in ("", *OWN_FILES):
        os.chown(os.path.join(path, name), owner, owner)


def set_up(variation):
    """The group the helper starts in and the base to name (or nothing), having made both."""
    write(f"{MOUNT}/cgroup.subtree_control", "+memory +pids")
    make(TOP, passes_on="+memory +pids")
    make(f"{TOP}/session")
    make(f"{TOP}/delegated", variation.uid, "+memory +pids")
    make(f"{TOP}/delegated/runner", variation.uid)
    make(f"{TOP}/delegated/runs", variation.uid)
    make(f"{TOP}/meagre", variation.uid, "+pids")
    make(f"{TOP}/meagre/runner", variation.uid)
    make(f"{TOP}/meagre/runs", variation.uid)
    if variation.groups == variations.VERSION_1:
        os.makedirs(V1, exist_ok=True)
        subprocess.run(["mount", "-t", "cgroup", "-o", "none,name=matrix", "cgroup", V1], check=True)
    return {
        variations.DELEGATED: (f"{TOP}/delegated/runner", f"{TOP}/delegated/runs"),
        variations.UNDELEGATED: (f"{TOP}/session", None),
        variations.ROOT_GROUP: (MOUNT, None),
        variations.POPULATED: (f"{TOP}/delegated/runner", f"{TOP}/delegated/runner"),
        variations.WITHOUT_MEMORY: (f"{TOP}/meagre/runner", f"{TOP}/meagre/runs"),
        variations.OUT_OF_REACH: (f"{TOP}/session", f"{TOP}/delegated/runs"),
        variations.VERSION_1: (f"{TOP}/session", V1),
    }[variation.groups]


def groups_below(top):
    """Every directory below `top`, innermost first."""
    return [folder for folder, _, _ in os.walk(top, topdown=False) if folder != top]


def strangers(base):
    """What runs left: groups that no variation makes."""
    known = {TOP} | {f"{TOP}/{name}" for name in ("session", "delegated", "meagre")}
    known |= {f"{TOP}/{name}/{leaf}" for name in ("delegated", "meagre") for leaf in ("runner", "runs")}
    return sorted(set(groups_below(base or MOUNT) + groups_below(TOP)) - known)


def processes():
    """Those that still live in groups of a variation; the true root group's are everybody's."""
    groups = [TOP, *groups_below(TOP)]
    return [pid for group in groups for pid in read(f"{group}/cgroup.procs").split()]


def tear_down():
    """Ends and removes everything below the top, so that the next variation begins alike."""
    if os.path.ismount(V1):
        subprocess.run(["umount", V1], check=True)
    write(f"{TOP}/cgroup.kill", "1")
    deadline = time.monotonic() + 10
    while "populated 1" in read(f"{TOP}/cgroup.events") and time.monotonic() < deadline:
        time.sleep(0.02)
    for group in [*groups_below(TOP), TOP]:
        os.rmdir(group)
