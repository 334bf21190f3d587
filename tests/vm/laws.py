"""What holds of every observation, whatever its expectation says: a lie that was accepted once would
otherwise be expected for ever."""

import re

import variations

BOMB = "a fork bomb of 32 under 8 processes"
ALLOCATION = "256 MiB used under 64 MiB of memory"
# What each case asks for, as the report names it.
CEILINGS = {
    "memory and processes": "memory.max and pids.max",
    "memory alone": "memory.max",
    "processes alone": "pids.max",
    BOMB: "pids.max",
    ALLOCATION: "memory.max",
}
STOPPED = {BOMB: "limit: pids: ", ALLOCATION: "limit: mem_bytes: out of memory"}
# What a command without mounts around it may do to a file outside, and how its report says so.
EVERYTHING = "writable roots (all can be written)"
ADMITTED = {
    "create outside": (EVERYTHING,),
    "open outside for writing": (EVERYTHING,),
    "truncate outside": ("unheld:truncate", EVERYTHING),
    "change a mode outside": ("modes and times of files",),
}
WENT_THROUGH = {BOMB: "stdout: all 32 started", ALLOCATION: "stdout: 256 MiB used"}


def sections(text):
    """Title -> what stands below it."""
    parts = re.split(r"(?m)^== (.*)\n", text)
    return dict(zip(parts[1::2], parts[2::2]))


def everywhere(text):
    for line in re.findall(r"(?m)^.*BROKEN:.*$", text):
        yield line
    if not re.search(r"(?m)^left on the host: nothing$", text):
        yield "something was left on the host"
    if not re.search(r"(?m)^== self-test: exit [01]$", text):
        yield "the self-test did not run"


def of_self_test(text):
    """A layer that is there works."""
    yield from re.findall(r"(?m)^  FAILED .*$", text)


def of_ceilings(variation, cases):
    """Held and claimed, or reported by name as not held: exactly one of the two."""
    for title, names in CEILINGS.items():
        body = cases.get(title, "")
        claimed = re.search(r"(?m)^    (.* )?cgroup-v2( .*)?$", re.sub(r"(?m)^    skip:.*\n", "", body))
        skipped = re.findall(r"(?m)^    skip:cgroup-v2: .*; (.*) NOT applied$", body)
        if bool(claimed) != variation.claims_ceilings or skipped != (
            [] if variation.claims_ceilings else [names]
        ):
            yield f"{title}: claimed {bool(claimed)}, skipped {skipped}, due is {names}"


def of_commands(variation, cases):
    """What should be stopped is, and what is not stopped shows that it could have gone on."""
    due = STOPPED if variation.has_groups else WENT_THROUGH
    for title, words in due.items():
        if words not in cases.get(title, ""):
            yield f"{title}: no {words!r}"


def of_jails(variation, cases):
    """Claimed exactly where it can be built, and where it cannot no demand is met."""
    for title, body in cases.items():
        claimed = re.search(r"(?m)^    (.* )?bwrap( .*)?$", re.sub(r"(?m)^    skip:.*\n", "", body))
        if claimed and not variation.builds_jails:
            yield f"{title}: a jail was claimed"
        if "--demand" in title and not variation.builds_jails and "  stdout: " in body:
            yield f"{title}: a command ran without the jail that was demanded"


def of_the_outside(variation, cases):
    """A jail keeps a command inside; nothing keeps it from its own workspace. What is not held is said."""
    body = cases.get("what lies outside", "")
    if "stdout: write inside: done\n" not in body:
        yield "the workspace could not be written"
    if variation.builds_jails:
        yield from re.findall(r"(?m)^  stdout: .* outside.*: done$", body)
        return
    for act, words in ADMITTED.items():
        if f"stdout: {act}: done\n" in body and not any(word in body for word in words):
            yield f"{act}: done, and the report does not say that it can be"


def of_deny_set(variation, cases):
    """These kernels take filters, so whatever ran was refused the dangerous calls. In a jail without
    Landlock it reaches bubblewrap's process 1, which is not, and the report says so instead."""
    reachable = variation.builds_jails and not variation.landlock
    for title, body in cases.items():
        if not re.search(r"(?m)^    .*\bno-new-privs\b", body):
            continue
        claimed = re.search(r"(?m)^    .* seccomp-deny( |$)", body)
        named = re.search(r"(?m)^    unheld:seccomp-deny=", body)
        if bool(claimed) == reachable or bool(named) != reachable:
            yield f"{title}: seccomp-deny claimed {bool(claimed)}, named as not held {bool(named)}"


def broken(variation, text):
    """Sentences about what is wrong with an observation."""
    cases = sections(text)
    found = [*everywhere(text), *of_self_test(text)]
    found += [*of_ceilings(variation, cases), *of_commands(variation, cases)]
    found += of_deny_set(variation, cases)
    return [*found, *of_jails(variation, cases), *of_the_outside(variation, cases)]


def ending(text, title):
    """How a case ended, without its report."""
    return sections(text).get(title, "not seen").splitlines()[0].strip()


def named(name):
    return next(each for each in variations.variations() if each.name == name)
