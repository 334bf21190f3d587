"""A broker's side of the wire, written from docs/wire.md with a stock msgpack library.

It shares no code with the helper. Everything it reads is judged by the broker's strict rules
(docs/wire.md 2, 4, 5): a frame that a broker would kill the helper for fails the test.
"""

import ctypes
import itertools
import os
import select
import signal
import struct
import subprocess
import tempfile
import time

import msgpack

PROTO = 3
MAX_PAYLOAD = 1 << 24
PATIENCE = float(os.environ.get("LOOM_WIRE_PATIENCE", "20"))  # seconds until silence is a failure

# Opens the policy as descriptor 3 and becomes the helper, as wire.md 10 says a broker does.
SPAWN_SCRIPT = 'helper=$1; policy=$2; shift 2; exec 3<"$policy"; exec "$helper" "$@"'
BARE_SCRIPT = 'helper=$1; shift 2; exec 3<&-; exec "$helper" "$@"'

EXIT_KEYS = {
    "code": int,
    "signal": int,
    "stdout_bytes": int,
    "stderr_bytes": int,
    "stdout_truncated": bool,
    "stderr_truncated": bool,
    "enforcement": list,
    "degraded": bool,
    "wall_ms": int,
    "timed_out": bool,
    "cancelled": bool,
}
BODY_KEYS = {
    "hello": {"proto": int, "peer": str, "features": list},
    "exec_out": {"stream": str, "data": bytes, "bytes": int, "truncated": bool},
    "exec_exit": EXIT_KEYS,
    "error": {"code": str, "msg": str},
    "heartbeat": {},
}


class WireError(AssertionError):
    """The helper sent something a broker kills it for, or went silent."""


def pack(value):
    return msgpack.packb(value, use_bin_type=True)


def frame_of(payload):
    """Any bytes as one frame; the length is the only thing added."""
    return struct.pack(">I", len(payload)) + payload


def envelope(frame_id, kind, body, v=1):
    return frame_of(pack({"v": v, "id": frame_id, "kind": kind, "body": body}))


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise WireError(f"a map with equal keys: {keys}")
    return dict(pairs)


def refuse_ext(code, data):
    raise WireError(f"an ext value of type {code}, {len(data)} bytes")


def strict_unpack(payload):
    try:
        return msgpack.unpackb(
            payload,
            raw=False,
            strict_map_key=True,
            object_pairs_hook=no_duplicates,
            ext_hook=refuse_ext,
            unicode_errors="strict",
            max_str_len=MAX_PAYLOAD,
            max_bin_len=MAX_PAYLOAD,
        )
    except WireError:
        raise
    except Exception as problem:  # every way this library has to say "not msgpack"
        raise WireError(f"undecodable payload {payload[:64].hex()}…: {problem!r}") from problem


def is_a(value, kind):
    """bool is an int to Python and not to msgpack."""
    return type(value) is kind


class Frame:
    def __init__(self, payload):
        value = strict_unpack(payload)
        if not isinstance(value, dict) or set(value) != {"v", "id", "kind", "body"}:
            raise WireError(f"not an envelope: {value!r}")
        if list(value) != ["v", "id", "kind", "body"]:
            raise WireError(f"envelope keys in the order {list(value)}")
        if not is_a(value["v"], int) or value["v"] != 1:
            raise WireError(f"v is {value['v']!r}")
        if not is_a(value["id"], int) or value["id"] < 0:
            raise WireError(f"id is {value['id']!r}")
        if not is_a(value["kind"], str) or not isinstance(value["body"], dict):
            raise WireError(f"kind or body of the wrong type: {value!r}")
        self.id, self.kind, self.body = value["id"], value["kind"], value["body"]

    def __repr__(self):
        text = repr(self.body)
        return f"<{self.kind} id={self.id} {text if len(text) < 300 else text[:300] + '…'}>"


def check_body(frame, outcome_allowed, denial_allowed=False):
    wanted = dict(BODY_KEYS.get(frame.kind) or {})
    if frame.kind not in BODY_KEYS:
        raise WireError(f"a helper never sends {frame!r}")
    if frame.kind == "exec_exit" and outcome_allowed:
        wanted["outcome"] = dict
    if frame.kind == "error" and denial_allowed and "denial" in frame.body:
        wanted["denial"] = dict
    if set(frame.body) != set(wanted):
        raise WireError(f"keys of {frame.kind}: {sorted(frame.body)}, due {sorted(wanted)}")
    for key, kind in wanted.items():
        value = frame.body[key]
        if value is None and kind is list:
            frame.body[key] = []
        elif not is_a(value, kind):
            raise WireError(f"{frame.kind}.{key} is {value!r}")
        elif kind is int and value < 0:
            raise WireError(f"{frame.kind}.{key} is negative: {value}")
    if frame.kind == "exec_out":
        check_chunk(frame)


def check_chunk(frame):
    body = frame.body
    if body["stream"] not in ("stdout", "stderr"):
        raise WireError(f"stream {body['stream']!r}")
    if len(body["data"]) > 32768:
        raise WireError(f"a chunk of {len(body['data'])} bytes")
    if not body["data"] and not body["truncated"]:
        raise WireError("an empty chunk that is no truncation")


class Run:
    """What one accepted exec_start led to."""

    def __init__(self, start_id):
        self.id = start_id
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.truncations = {"stdout": 0, "stderr": 0}
        self.exit = None
        self.error = None
        self.chunks = 0

    @property
    def code(self):
        if self.exit is None:
            raise WireError(f"execution {self.id} did not run: {self.error}")
        return self.exit["code"]

    @property
    def enforcement(self):
        if self.exit is None:
            raise WireError(f"execution {self.id} did not run: {self.error}")
        return self.exit["enforcement"]

    def settled(self):
        return self.exit is not None or self.error is not None

    def take(self, frame):
        if self.settled():
            raise WireError(f"after the end of execution {self.id}: {frame!r}")
        if frame.kind == "exec_out":
            self.take_chunk(frame.body)
        elif frame.kind == "exec_exit":
            self.take_exit(frame.body)
        elif frame.kind == "error":
            self.error = frame.body
        else:
            raise WireError(f"under the id of an execution: {frame!r}")

    def take_chunk(self, body):
        stream = body["stream"]
        if self.truncations[stream]:
            raise WireError(f"{stream} spoke after its truncation")
        into = self.stdout if stream == "stdout" else self.stderr
        into += body["data"]
        self.chunks += 1
        self.truncations[stream] += body["truncated"]
        if body["bytes"] != len(into):
            raise WireError(f"{stream} says {body['bytes']} bytes, got {len(into)}")

    def take_exit(self, body):
        for stream, got in (("stdout", self.stdout), ("stderr", self.stderr)):
            if body[f"{stream}_bytes"] != len(got):
                raise WireError(f"exit says {body[f'{stream}_bytes']} on {stream}, got {len(got)}")
            if body[f"{stream}_truncated"] != bool(self.truncations[stream]):
                raise WireError(f"exit and chunks disagree whether {stream} was cut")
        self.exit = body


def become_subreaper():
    """Orphans of a killed helper become ours, so that none of them can hide."""
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def process_table():
    """pid -> (parent, state, name), of the processes that still had a status when looked at."""
    table = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                head, _, tail = file.read().rpartition(")")
        except OSError:
            continue
        state, parent = tail.split()[:2]
        table[int(entry)] = (int(parent), state, head.partition("(")[2])
    return table


def descendants(root=None):
    """pid -> name of everything below a process (this one by default)."""
    table = process_table()
    found, frontier = {}, {root or os.getpid()}
    while frontier:
        frontier = {pid for pid, row in table.items() if row[0] in frontier and pid not in found}
        found.update({pid: table[pid][2] for pid in frontier})
    return found


WAITS = "loom-stage2"  # what the process in a jail is called that waits for its command


def waiting_jail(helper):
    """The launcher of the jail that waits for its command in a helper, by its pid; None without one."""
    table = process_table()
    for pid in descendants(helper):
        if pid not in table or table[pid][2] != WAITS:
            continue
        while pid in table and table[pid][0] != helper:
            pid = table[pid][0]
        return pid if pid in table else None
    return None


def keeps_jails(helper):
    """Whether a helper, by its pid, may have a jail that waits. One that has ended has none."""
    try:
        with open(f"/proc/{helper}/cmdline", "rb") as file:
            return b"--no-warm" not in file.read().split(b"\0")
    except OSError:
        return False


def left_of(helper, seconds=5):
    """What is below a helper, by its pid, after some time: no run's process, and no jail but one that waits.

    A jail that a refused start left behind looks like one that waits, so a helper that keeps none is the one to ask.
    """
    left, keeps = {}, keeps_jails(helper)

    def look():
        waiting = waiting_jail(helper) if keeps else None
        spared = {waiting, *descendants(waiting)} if waiting else set()
        left.clear()
        left.update({pid: name for pid, name in descendants(helper).items() if pid not in spared})
        return not left

    wait_until(look, seconds)
    return left


def rest(helper):
    """Until a jail waits in a helper that keeps one, which is soon."""
    wait_until(lambda: waiting_jail(helper.pid), 1)
    time.sleep(0.05)


def reap_adopted(own):
    """Collects orphans that ended; own are the processes somebody else waits for."""
    for pid, (parent, state, _) in process_table().items():
        if parent == os.getpid() and state == "Z" and pid not in own:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def wait_until(condition, seconds, pause=0.01):
    """Whether condition came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def helper_path():
    path = os.environ.get("LOOM_EXEC", "")
    if not os.access(path, os.X_OK):
        raise AssertionError(f"LOOM_EXEC must name the helper; it is {path!r}")
    return path


class Helper:
    """One helper process, spawned and driven as a broker does it."""

    live = {}  # pid -> Helper

    def __init__(self, policy, *args, env=None, hello=True, features=()):
        self.ids = itertools.count(1)
        self.inbox = bytearray()
        self.read_size = 1 << 20
        self.features = []
        self.outcome = False
        self.denial = False
        self.stderr_file = tempfile.TemporaryFile()
        self.status = None
        self.runs = {}
        self.spawn(policy, args, env)
        if hello:
            self.shake_hands(features)

    def spawn(self, policy, args, env):
        args = [*args, *os.environ.get("LOOM_HELPER_FLAGS", "").split()]
        script, path = SPAWN_SCRIPT, "/nonexistent"
        if policy is None:
            script = BARE_SCRIPT
        else:
            handle, path = tempfile.mkstemp(prefix="loom-wire-policy-")
            os.write(handle, policy if isinstance(policy, bytes) else pack(policy))
            os.close(handle)
        command = ["/bin/sh", "-c", script, "sh", helper_path(), path, *args]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr_file,
            env=env,
            bufsize=0,
        )
        self.policy_path = path
        self.to_helper = self.process.stdin.fileno()
        self.from_helper = self.process.stdout.fileno()
        os.set_blocking(self.to_helper, False)
        os.set_blocking(self.from_helper, False)
        Helper.live[self.pid] = self

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        Helper.live.pop(self.pid, None)
        for stream in (self.process.stdin, self.process.stdout, self.stderr_file):
            if not stream.closed:
                stream.close()
        self.drop_policy()

    def drop_policy(self):
        if os.path.exists(self.policy_path):
            os.unlink(self.policy_path)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    # --- bytes -------------------------------------------------------------------------------

    def pull(self):
        """Reads what is there. False at end of file."""
        try:
            data = os.read(self.from_helper, self.read_size)
        except BlockingIOError:
            return True
        self.inbox += data
        return bool(data)

    def send_raw(self, data, timeout=PATIENCE, reading=True):
        """Writes all of data, reading along so that nobody waits for us. How much was taken."""
        view, deadline = memoryview(data), time.monotonic() + timeout
        watched = [self.from_helper] if reading else []
        while view:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            readable, writable, _ = select.select(watched, [self.to_helper], [], left)
            if readable and not self.pull():
                watched = []
            if writable:
                try:
                    view = view[os.write(self.to_helper, view[: 1 << 18]) :]
                except BlockingIOError:
                    pass
        return len(data) - len(view)

    def send(self, kind, body, frame_id=None):
        frame_id = next(self.ids) if frame_id is None else frame_id
        self.send_all(envelope(frame_id, kind, body))
        return frame_id

    def send_all(self, data):
        taken = self.send_raw(data)
        if taken != len(data):
            raise WireError(f"the helper took {taken} of {len(data)} bytes")

    def end_input(self):
        self.process.stdin.close()

    # --- frames ------------------------------------------------------------------------------

    def buffered_frame(self):
        if len(self.inbox) < 4:
            return None
        (length,) = struct.unpack(">I", self.inbox[:4])
        if not 0 < length <= MAX_PAYLOAD:
            raise WireError(f"a length prefix of {length}: {bytes(self.inbox[:80])!r}")
        if len(self.inbox) < 4 + length:
            return None
        frame = Frame(bytes(self.inbox[4 : 4 + length]))
        del self.inbox[: 4 + length]
        check_body(frame, self.outcome, self.denial)
        return frame

    def receive(self, timeout=PATIENCE):
        """The next frame; None at end of file."""
        deadline = time.monotonic() + timeout
        while True:
            frame = self.buffered_frame()
            if frame:
                return frame
            left = deadline - time.monotonic()
            if left <= 0:
                raise WireError(f"silence for {timeout} s; stderr: {self.stderr_text()!r}")
            if select.select([self.from_helper], [], [], left)[0] and not self.pull():
                if self.inbox:
                    raise WireError(f"end of file inside a frame: {bytes(self.inbox[:80])!r}")
                return None

    def silent_for(self, seconds):
        """Whether no frame arrives for a while."""
        deadline = time.monotonic() + seconds
        while not self.buffered_bytes() and time.monotonic() < deadline:
            left = max(0, deadline - time.monotonic())
            if select.select([self.from_helper], [], [], left)[0] and not self.pull():
                break
        return not self.buffered_bytes()

    def buffered_bytes(self):
        return len(self.inbox)

    def remaining(self, timeout=PATIENCE):
        """Every frame up to end of file."""
        frames = []
        while (frame := self.receive(timeout)) is not None:
            frames.append(frame)
        return frames

    def wait_exit(self, timeout=PATIENCE):
        """The exit status, having read and returned nothing more."""
        return self.process.wait(timeout)

    def stderr_text(self):
        self.stderr_file.seek(0)
        return self.stderr_file.read().decode("utf-8", "replace")

    # --- conversations -----------------------------------------------------------------------

    def expect(self, kind, frame_id=None, timeout=PATIENCE):
        frame = self.receive(timeout)
        if frame is None:
            raise WireError(f"end of file, {kind} due; stderr: {self.stderr_text()!r}")
        if frame.kind != kind or (frame_id is not None and frame.id != frame_id):
            raise WireError(f"{kind} id={frame_id} due, got {frame!r}")
        return frame

    def expect_any(self, run, timeout=PATIENCE):
        """The next frame of a run, whatever it is."""
        frame = self.receive(timeout)
        if frame is None or frame.id != run.id:
            raise WireError(f"a frame of {run.id} due, got {frame!r}; {self.stderr_text()!r}")
        return frame

    def shake_hands(self, features=()):
        hello = self.expect("hello")
        self.drop_policy()
        self.features = hello.body["features"]
        self.outcome = "exec-outcome-v1" in features and "exec-outcome-v1" in self.features
        self.denial = "denial-v1" in features and "denial-v1" in self.features
        self.send("hello", {"proto": PROTO, "peer": "broker", "features": list(features)})
        return hello

    def start(self, argv, **more):
        """Sends exec_start; the run's frames are read by settle."""
        run = Run(next(self.ids))
        self.send("exec_start", start_body(argv, **more), run.id)
        self.runs[run.id] = run
        return run

    def settle(self, run, timeout=PATIENCE, others=None):
        """Reads until the run has ended; frames of other ids go to others, or are a failure."""
        deadline = time.monotonic() + timeout
        while not run.settled():
            frame = self.receive(max(0.001, deadline - time.monotonic()))
            if frame is None:
                raise WireError(f"end of file during {run.id}; stderr: {self.stderr_text()!r}")
            if frame.id == run.id:
                run.take(frame)
            elif others is not None:
                others.append(frame)
            else:
                raise WireError(f"during execution {run.id}: {frame!r}")
        return run

    def until_output(self, run, marker, timeout=PATIENCE):
        """Reads until the command said so: the command is running."""
        deadline = time.monotonic() + timeout
        while marker not in run.stdout:
            frame = self.receive(max(0.001, deadline - time.monotonic()))
            if frame is None or frame.id != run.id:
                raise WireError(f"waiting for {marker!r}: {frame!r}; {self.stderr_text()!r}")
            run.take(frame)
            if run.settled():
                raise WireError(f"ended before it said {marker!r}: {run.exit or run.error}")
        return run

    def execute(self, argv, timeout=PATIENCE, **more):
        """One whole execution."""
        return self.settle(self.start(argv, **more), timeout)

    def stdin(self, data, eof=False):
        return self.send("exec_stdin", {"data": data, "eof": eof})

    def cancel(self, run):
        self.send("cancel", {}, run.id)

    def heartbeat(self):
        """Proves that the channel lives and that nothing was waiting in it."""
        frame_id = self.send("heartbeat", {})
        return self.expect("heartbeat", frame_id)


def start_body(argv, env=None, cwd="", token=b"t" * 32, **more):
    return {"argv": argv, "env": env or {}, "cwd": cwd, "token": token, **more}


def limits(**given):
    names = ("cpu_s", "wall_s", "mem_bytes", "pids", "fsize_bytes", "output_bytes")
    return {name: given.get(name, 0) for name in names}


def policy(**given):
    """A complete version 2 document; keyword arguments replace whole keys."""
    document = {
        "env_allow": ["PATH"],
        "limits": limits(),
        "mounts": [],
        "network": {"mode": "off"},
        "protected": [],
        "readable_roots": [],
        "scratch": "tmpfs",
        "v": 2,
        "writable_roots": [],
    }
    document.update(given)
    return document
