"""What executions could leave behind on a machine, as one value that can be compared."""

import os
import re

import client

SHARED = ("/tmp", "/var/tmp", "/dev/shm", "/run")


def descriptors(pid):
    """What the helper's descriptors are, without numbers in the kernel or of processes."""
    found = []
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            name = os.readlink(f"/proc/{pid}/fd/{number}").split(":")[0]
            found.append(re.sub(r"^/proc/\d+(/task/\d+)?", "/proc/N", name))
        except OSError:
            pass
    return sorted(found)


def litter():
    """Names where programs leave things that sound like ours."""
    found = set()
    for place in SHARED:
        if os.path.isdir(place):
            found |= {f"{place}/{name}" for name in os.listdir(place) if "loom-exec" in name}
    return found


def control_groups():
    found = set()
    for root, directories, _ in os.walk("/sys/fs/cgroup"):
        found |= {os.path.join(root, name) for name in directories if name.startswith("exec-")}
    return found


def state(helper, *own):
    """Of a helper, by its pid, and of the machine: `own` are directories that are ours alone."""
    return {
        "processes": sorted(client.descendants(helper).values()),
        "descriptors": descriptors(helper),
        "litter": litter(),
        "groups": control_groups(),
        "own": [sorted(os.listdir(place)) for place in own],
    }
