"""The Windows helper under wine, driven by the broker's side that the wire suites use.

LOOM_WINDOWS_BUILD is the build directory. Every process runs with a prefix of its own in there, and
what is started here is ended here, by number.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "wire"))

import client  # noqa: E402

BUILD = os.path.abspath(os.environ.get("LOOM_WINDOWS_BUILD", "build/cross/x86_64-windows"))
WINE = os.environ.get("LOOM_WINE", "/usr/lib/wine/wine64")
PREFIX = os.path.join(BUILD, "wine-prefix")
HELPER = os.path.join(BUILD, "bin", "loom-exec.exe")
LAUNCHER = os.path.join(BUILD, "tests", "launch_with_policy.exe")
PAYLOAD = os.path.join(BUILD, "tests", "payload.exe")
REASON = "windows has no jail in this build; not held: "


def environment(**more):
    """What wine needs and no more: a command's variables must not come from here by accident."""
    home = os.environ.get("HOME", "")
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": home if os.path.isdir(home) else "/tmp",
        "WINEPREFIX": PREFIX,
        "WINEDEBUG": "-all",
        "LANG": "C.UTF-8",
        **more,
    }


def windows_path(path):
    """Where wine shows a file of this system."""
    return "Z:" + path.replace("/", "\\")


def run_helper(*arguments, policy="-"):
    """The helper to its end, without input; policy "-" is no descriptor 3."""
    command = [WINE, windows_path(LAUNCHER), policy, windows_path(HELPER), *arguments]
    return subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120, check=False)


def processes_of(name):
    """Numbers of this system of the Windows processes of our prefix that run a program."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            with open(f"/proc/{entry}/environ", "rb") as file:
                ours = f"WINEPREFIX={PREFIX}".encode() in file.read().split(b"\0")
        except OSError:
            continue
        # The launcher's own command line names the helper too, but not first.
        if ours and words[0].replace(b"\\", b"/").endswith(b"/" + name.encode()):
            found.append(int(entry))
    return found


class Helper(client.Helper):
    """One helper, spawned as a broker on Windows does it: descriptor 3 by the C runtime."""

    def __init__(self, policy, *args, **how):
        self.lines = []  # the transcript
        self.output = None  # its last line, when that is output: whose, and what
        super().__init__(policy, "--allow-unenforced", *args, **how)

    def spawn(self, policy, args, env):
        handle, self.policy_path = tempfile.mkstemp(prefix="loom-windows-policy-")
        os.write(handle, client.pack(policy))
        os.close(handle)
        self.process = subprocess.Popen(
            [WINE, windows_path(LAUNCHER), windows_path(self.policy_path), windows_path(HELPER), *args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr_file,
            env=environment(**(env or {})),
            bufsize=0,
        )
        self.to_helper = self.process.stdin.fileno()
        self.from_helper = self.process.stdout.fileno()
        os.set_blocking(self.to_helper, False)
        os.set_blocking(self.from_helper, False)
        client.Helper.live[self.pid] = self

    def close(self):
        for pid in processes_of("loom-exec.exe"):
            os.kill(pid, signal.SIGKILL)
        super().close()

    def kill_helper(self):
        """The helper itself, as a broker does it; the launcher ends by that."""
        (pid,) = processes_of("loom-exec.exe")
        os.kill(pid, signal.SIGKILL)
        self.process.wait(30)

    # --- the transcript ----------------------------------------------------------------------

    def send(self, kind, body, frame_id=None):
        sent = super().send(kind, body, frame_id)
        self.output = None
        self.lines.append(f"broker > {kind} {sent} {in_words(body)}")
        return sent

    def receive(self, timeout=client.PATIENCE):
        frame = super().receive(timeout)
        if frame and frame.kind == "exec_out":
            return self.note_output(frame)
        self.output = None
        words = f"{frame.kind} {frame.id} {in_words(frame.body)}" if frame else "end of file"
        self.lines.append(f"helper < {words}")
        return frame

    def note_output(self, frame):
        """Chunks of one stream as one line: where they end is the pipe's to say."""
        body, key = dict(frame.body), (frame.id, frame.body["stream"])
        head, size = b"", 0
        if self.output and self.output[0] == key:
            self.lines.pop()
            _, head, size = self.output
        # Megabytes come in chunks of a few hundred bytes: no more is kept than a line shows.
        head, size = (head + body["data"])[:64], size + len(body["data"])
        self.output = (key, head, size)
        body["data"] = head if size == len(head) else Shortened(head, size)
        self.lines.append(f"helper < exec_out {frame.id} {in_words(body)}")
        return frame


class Shortened:
    """Bytes of which only the first 64 are here."""

    def __init__(self, head, size):
        self.head, self.size = head, size


def shortened(head, size):
    text = head.decode("ascii", "backslashreplace")
    return text if len(text) <= 60 else f"{text[:40]}… ({size} bytes)"


def in_words(value):
    """A body, one line, the parts that differ from run to run replaced."""

    def plain(each):
        if isinstance(each, bytes):
            return shortened(each, len(each))
        if isinstance(each, Shortened):
            return shortened(each.head, each.size)
        if isinstance(each, dict):
            return {key: "MS" if key == "wall_ms" else plain(item) for key, item in each.items()}
        if isinstance(each, (list, tuple)):
            return [plain(item) for item in each]
        return each

    return json.dumps(plain(value), ensure_ascii=False)


class WindowsCase(unittest.TestCase):
    """A test with a directory of its own, and helpers that are gone when it ends."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="loom-windows-")
        self.addCleanup(subprocess.run, ["rm", "-rf", self.place], check=False)
        self.addCleanup(self.end_helpers)

    def end_helpers(self):
        for helper in list(client.Helper.live.values()):
            helper.close()

    def policy(self, **given):
        return client.policy(**given)

    def helper(self, *args, base=None, **how):
        return Helper(base if base is not None else self.policy(), *args, **how)

    def run_payload(self, *words, helper=None, **more):
        """One payload's whole run."""
        return (helper or self.helper()).execute([windows_path(PAYLOAD), *words], timeout=60, **more)

    def still_grows(self, path, seconds=0.6):
        """Whether somebody writes into a file."""
        before = os.path.getsize(path) if os.path.exists(path) else 0
        time.sleep(seconds)
        return (os.path.getsize(path) if os.path.exists(path) else 0) > before


def texts(output):
    """What a payload printed as LENGTH:TEXT lines; a text may hold newlines."""
    found, rest = [], output
    while rest:
        size, _, rest = rest.partition(b":")
        found.append(rest[: int(size)].decode())
        rest = rest[int(size) + 1 :]
    return found


def pattern(size):
    """What "flood SIZE" prints."""
    return bytes(((at * 31 + (at >> 8)) & 0xFF) for at in range(size))


