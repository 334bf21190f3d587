"""What one variation of the host looks like from outside the helper. Prints the text that
tests/vm/expected/ holds: the hello's features, what a fixed set of policies led to, the self-test.

Runs as the variation's user, in its setting. Speaks to the helper by the broker's client, which
shares no code with it.
"""

import os
import re
import subprocess
import sys

import client

LIMIT = 60  # seconds after which one execution counts as hung
PLACE = "/srv/case"
WS = f"{PLACE}/ws"
OUTCOME = ("exec-outcome-v1",)
MIB = 1 << 20

SAY_SO = ["/bin/sh", "-c", "echo ran"]
FORK_BOMB = 'i=0; while [ $i -lt 32 ]; do sleep 1 & i=$((i + 1)); done; wait; echo "all 32 started"'
# dd reads into one buffer of that size, so that all of it is touched.
ALLOCATION = "dd if=/dev/zero of=/dev/null bs=256M count=1 2>/dev/null && echo '256 MiB used'"
# What Landlock of this kernel's age does not know (truncate(2)) or never handles (modes) shows here
# where there is no bubblewrap to hide the file.
OUTSIDE = """
import os
victim, inside = %r, %r
for name, act in (
    ("write inside", lambda: open(inside, "w").close()),
    ("create outside", lambda: os.unlink(open(victim + ".new", "w").name)),
    ("open outside for writing", lambda: open(victim, "r+").close()),
    ("truncate outside", lambda: os.truncate(victim, 0)),
    ("change a mode outside", lambda: os.chmod(victim, 0o600)),
):
    try:
        act()
        print(name + ": done")
    except OSError as problem:
        print(name + ": " + problem.strerror)
""" % (f"{PLACE}/outside/victim", f"{WS}/secrets/key")


def sh(script):
    return ["/bin/sh", "-c", script]


def limits(**given):
    return {"limits": client.limits(**given)}


def bind(name, access, required=True):
    return {"path": f"{PLACE}/{name}", "access": access, "required": required}


# Title, what the policy has beyond the workspace default, command.
CASES = (
    ("workspace default", {}, SAY_SO),
    ("memory and processes", limits(mem_bytes=64 * MIB, pids=64), SAY_SO),
    ("memory alone", limits(mem_bytes=64 * MIB), SAY_SO),
    ("processes alone", limits(pids=64), SAY_SO),
    ("a fork bomb of 32 under 8 processes", limits(pids=8), sh(FORK_BOMB)),
    ("256 MiB used under 64 MiB of memory", limits(mem_bytes=64 * MIB), sh(ALLOCATION)),
    ("what lies outside", {}, ["/usr/bin/python3", "-I", "-S", "-c", OUTSIDE]),
    ("processor time and file size", limits(cpu_s=30, fsize_bytes=MIB), SAY_SO),
    ("network full", {"network": {"mode": "full"}}, SAY_SO),
    (
        "network proxy",
        {"network": {"mode": "proxy", "allow": ["*.example"], "proxy": "127.0.0.1:3128"}},
        SAY_SO,
    ),
    ("protected file and directory", {"protected": [f"{WS}/secret.env", f"{WS}/secrets"]}, SAY_SO),
    ("scratch on the host", {"scratch": f"{PLACE}/scratch"}, SAY_SO),
    ("readable root", {"readable_roots": [f"{PLACE}/library"]}, SAY_SO),
    (
        "explicit mounts",
        {"mounts": [bind("tool", "ro"), bind("cache", "rw"), bind("absent", "ro", required=False)]},
        SAY_SO,
    ),
)
# The same under --demand platform: what is refused before the command runs.
DEMANDED = ("workspace default", "memory and processes")

# Named rules: what differs between two runs of one build on one machine.
RULES = (
    ("digest of a plan", re.compile(r"plan=[0-9a-f]{16}"), "plan=<digest>"),
    ("peak memory", re.compile(r"peak memory [0-9.]+ \w+"), "peak memory <size>"),
    ("processes killed", re.compile(r"[0-9]+ process(es)? killed"), "<n> processes killed"),
    ("forks refused", re.compile(r"[0-9]+ forks? refused"), "<n> forks refused"),
    ("name of a temporary directory", re.compile(r"loom-selftest-[A-Za-z0-9_]+"), "loom-selftest-<name>"),
    ("name of a run's group", re.compile(r"exec-[0-9]+-[0-9]+"), "exec-<id>-<pid>"),
)


def normalised(text):
    for _, pattern, instead in RULES:
        text = pattern.sub(instead, text)
    return text


def say(line=""):
    print(normalised(line), flush=True)


def lines_of(name, data):
    for line in bytes(data).decode("utf-8", "replace").splitlines():
        say(f"  {name}: {line}")


def show_report(entries):
    """In their order: applied entries beside each other; each one that holds a space, as skips do, on a line."""
    applied = []
    for entry in [*entries, ""]:
        if (not entry or " " in entry) and applied:
            say(f"    {' '.join(applied)}")
            applied = []
        if " " in entry:
            say(f"    {entry}")
        elif entry:
            applied.append(entry)


def show_exit(run):
    body = run.exit
    outcome = body.get("outcome", {})
    ended = f"code {body['code']}, signal {body['signal']}" + (", degraded" if body["degraded"] else "")
    say(f"  {ended}, {outcome.get('class')}: {outcome.get('detail')}")
    if outcome.get("first_cause"):
        say(f"  first cause: {outcome['first_cause']}")
    lines_of("stdout", run.stdout)
    lines_of("stderr", run.stderr)
    show_report(run.enforcement)


def show_case(helper, title, more, command):
    print(f"\n== {title}")
    document = client.policy(writable_roots=[WS], **more)
    run = helper.settle(helper.start(command, env={"PATH": "/usr/bin"}, cwd=WS, policy=document), LIMIT)
    if run.exit is None:
        say(f"  refused, {run.error['code']}: {run.error['msg']}")
    else:
        show_exit(run)


def show_helper(cases, *flags):
    base = client.policy(writable_roots=[WS])
    with client.Helper(base, *flags, features=OUTCOME) as helper:
        if not flags:
            say(f"features: {' '.join(helper.features)}")
        for title, more, command in cases:
            show_case(helper, " ".join((title, *flags)), more, command)
        # A helper that is killed leaves a group to the next one's sweep; one that is told goes clean.
        helper.end_input()
        status = helper.wait_exit()
        if status != 0:
            say(f"BROKEN: the helper ended with {status}: {helper.stderr_text()}")


def show_self_test():
    """The verdicts in their order. Its words are an interface; only the reasons may be reworded."""
    done = subprocess.run(
        [client.helper_path(), "--self-test"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )
    say()
    say(f"== self-test: exit {done.returncode}")
    body, _, summary = done.stdout.partition("==== enforcement summary ====")
    for line in body.splitlines():
        if re.match(r"  (ENFORCED|SKIPPED|FAILED|NOT RUN) ", line):
            say(line)
    for line in summary.splitlines():
        if line.startswith("RESULT:"):
            say(f"  {line}")
    for line in done.stderr.splitlines()[:10]:
        say(f"  stderr: {line}")


def guarded(part, *arguments):
    """A part that breaks is itself an observation; the others still count."""
    try:
        part(*arguments)
    except (client.WireError, OSError, subprocess.SubprocessError) as problem:
        say(f"  BROKEN: {type(problem).__name__}: {problem}")


def main():
    os.chdir(PLACE)
    guarded(show_helper, CASES)
    guarded(show_helper, [case for case in CASES if case[0] in DEMANDED], "--demand", "platform")
    guarded(show_self_test)


if __name__ == "__main__":
    sys.exit(main())
