"""The two enforcers, asked: the guard through `loom-exec why`, the kernel through a prober in a jail."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
WIRE = os.path.join(HERE, os.pardir, "wire")
if os.path.isdir(WIRE):
    sys.path.insert(0, WIRE)

import client  # noqa: E402  (found only after the path is set)

SEARCH = "/usr/local/bin:/usr/bin:/bin"
ENVIRONMENT = {"PATH": SEARCH, "HOME": "/nonexistent"}
PATIENCE = 60  # seconds for one answer, on a machine that may be busy


class CannotAsk(Exception):
    """The helper did not answer as it must; no disagreement, a failure of the test's own."""


class Broken(CannotAsk):
    """A jail that was started and did not get as far as its command."""


class Unlaunchable(Exception):
    """A policy that no jail can be built for; args[0] says why."""


@dataclass(frozen=True)
class Outcome:
    """What came of one attempt in the jail."""

    worked: bool
    error: int
    identity: tuple
    said: bool  # a program that was started said its word


@dataclass(frozen=True)
class Said:
    """What the guard says to one request."""

    admitted: bool
    reason: str
    text: str


class Guard:
    def __init__(self, helper, directory):
        self.helper = helper
        self.policy, self.requests = os.path.join(directory, "policy"), os.path.join(directory, "requests")

    def ask(self, policy, requests):
        """One answer a request: (operation, path, to)."""
        with open(self.policy, "wb") as file:
            file.write(client.pack(policy))
        fields = [word for request in requests for word in request if word]
        with open(self.requests, "wb") as file:
            file.write("".join(f"{field}\0" for field in fields).encode("utf-8", "surrogateescape"))
        done = subprocess.run(
            [self.helper, "why", "--policy", self.policy, "--requests", self.requests],
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode == 125:
            raise Unlaunchable(done.stderr.decode("utf-8", "replace").strip())
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode != 0 or len(rows) != len(requests):
            raise CannotAsk(f"why: status {done.returncode}, {len(rows)} answers, {done.stderr!r}")
        return [self.said(row) for row in rows]

    @staticmethod
    def said(row):
        denial = row.get("denial") or {}
        return Said(row["admitted"], denial.get("reason", ""), row.get("text", ""))


class Kernel:
    """One helper process, and a jail for each question."""

    def __init__(self, prober):
        self.prober = prober
        self.start()
        missing = {"bwrap", "landlock", "seccomp"} - set(self.helper.features)
        if missing:
            raise CannotAsk(f"this machine has no {', '.join(sorted(missing))}: {self.helper.features}")

    def start(self):
        self.helper = client.Helper(client.policy(network={"mode": "full"}), env=ENVIRONMENT)

    def close(self):
        self.helper.close()

    def forget(self):
        """Another helper: one remembers what the commands of its earlier launches could write."""
        self.close()
        self.start()

    def ask(self, policy, attempts):
        """What comes of attempts (word, path, second), all in one jail."""
        words = [word for attempt in attempts for word in attempt]
        try:
            run = self.helper.execute([self.prober, *words], timeout=PATIENCE, policy=policy)
        except client.WireError:
            self.close()
            self.start()
            raise
        self.helper.runs.clear()
        if run.error is not None:
            raise Unlaunchable(run.error["msg"])
        rows = [line.split() for line in bytes(run.stdout).decode().splitlines()]
        if run.code == 126 and not rows:
            raise Broken(f"the launch ended with 126: {bytes(run.stderr).decode('utf-8', 'replace').strip()}")
        if run.code != 0 or len(rows) != len(attempts):
            raise CannotAsk(f"the prober: status {run.code}, {len(rows)} of {len(attempts)}, {bytes(run.stderr)!r}")
        return [Outcome(row[0] == "y", int(row[1]), (int(row[2]), int(row[3])), row[4] == "1") for row in rows]


def scratch_directory():
    return tempfile.mkdtemp(prefix="loom-agreement-", dir=os.environ.get("LOOM_TEST_PLACE", "/var/tmp"))
