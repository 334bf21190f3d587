"""Stands between a broker and an honest helper, so that a lie can be told about single frames.

Forwards bytes as it got them, wherever no lie touches them, and holds up its sources when a destination
does not read, as the helper itself does.
"""

import heapq
import os
import select
import struct
import subprocess
import sys
import time

import msgpack

MAX_PAYLOAD = 1 << 24
MAX_WAITING = 1 << 18  # bytes for one destination, until its source is not read any more
READ = 1 << 16


def pack(value):
    return msgpack.packb(value, use_bin_type=True)


class Frame:
    """One frame: the payload as it came, and as a map where it is one."""

    def __init__(self, payload):
        self.payload = payload
        try:
            self.map = msgpack.unpackb(payload, raw=False, unicode_errors="surrogateescape", strict_map_key=False)
        except Exception:  # every way the library has to say that it is none
            self.map = None

    @staticmethod
    def of(frame_id, kind, body):
        return Frame(pack({"v": 1, "id": frame_id, "kind": kind, "body": body}))

    @property
    def sound(self):
        """Whether it is an envelope that can be looked into."""
        return (
            isinstance(self.map, dict)
            and set(self.map) == {"v", "id", "kind", "body"}
            and self.map["v"] == 1
            and type(self.map["v"]) is int
            and type(self.map["id"]) is int
            and isinstance(self.map["kind"], str)
            and self.map["kind"] != ""
            and self.map["body"] is not None
        )

    @property
    def kind(self):
        return self.map["kind"] if self.sound else ""

    @property
    def id(self):
        return self.map["id"]

    @property
    def body(self):
        return self.map["body"]

    def with_body(self, **change):
        return Frame.of(self.id, self.kind, {**self.body, **change})

    def with_id(self, frame_id):
        return Frame.of(frame_id, self.kind, self.body)

    def bytes(self):
        return struct.pack(">I", len(self.payload)) + self.payload


class Stream:
    """Where bytes come from, or go to."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.waiting = bytearray()  # read and not looked at, or due and not written
        self.open = True
        os.set_blocking(descriptor, False)

    def read(self):
        """What is there; empty at the end."""
        try:
            return os.read(self.descriptor, READ)
        except BlockingIOError:
            return None

    def write(self):
        try:
            del self.waiting[: os.write(self.descriptor, self.waiting[:READ])]
        except BlockingIOError:
            pass
        except OSError:  # nobody is there to read it
            self.waiting.clear()
            self.open = False

    def next_frame(self):
        """A Frame; bytes that are none, when the length is no length; or None."""
        if len(self.waiting) < 4:
            return None
        (length,) = struct.unpack(">I", self.waiting[:4])
        if not 0 < length <= MAX_PAYLOAD:
            rest = bytes(self.waiting)
            self.waiting.clear()
            return rest
        if len(self.waiting) < 4 + length:
            return None
        payload = bytes(self.waiting[4 : 4 + length])
        del self.waiting[: 4 + length]
        return Frame(payload)


class Honest:
    """Tells no lie. Each lie overrides what it needs."""

    keeps_pieces = True  # what has come of a frame waits for the rest of it
    most_for_helper = MAX_WAITING
    most_for_broker = MAX_WAITING

    def __init__(self, helper):
        self.timers = []
        self.running = None  # the id of the execution under way
        self.policy = self.read_policy()
        self.launch(helper)

    # --- what a lie overrides ---

    def base_policy(self, document):
        """The bytes on descriptor 3; None where it is not open."""
        return document

    def to_helper(self, frame):
        """What the helper gets in place of a sound frame of the broker's."""
        return [frame]

    def to_broker(self, frame):
        """What the broker gets in place of a frame of the helper's."""
        return [frame]

    def unsound(self, data):
        """What the helper gets in place of bytes that are no frame, or of a frame that is no envelope."""
        return data

    def input_ended(self, rest):
        """The broker's end of input; `rest` is what came of a last frame."""
        self.helper_in.waiting += rest
        self.helper_in_ends = True

    def ending(self, status):
        return status

    # --- what a lie uses ---

    def say(self, frame):
        """To the broker."""
        self.broker_out.waiting += frame if isinstance(frame, bytes) else frame.bytes()

    def tell(self, frame):
        """To the helper."""
        self.helper_in.waiting += frame if isinstance(frame, bytes) else frame.bytes()

    def later(self, seconds, act):
        heapq.heappush(self.timers, (time.monotonic() + seconds, len(self.timers), act))

    def leave(self, status):
        """Ends at once with what was said so far."""
        os.set_blocking(self.broker_out.descriptor, True)
        while self.broker_out.waiting and self.broker_out.open:
            self.broker_out.write()
        os._exit(status)

    # --- the machinery ---

    def read_policy(self):
        document = b""
        try:
            while data := os.read(3, READ):
                document += data
            os.close(3)
        except OSError:
            return self.base_policy(None)
        return self.base_policy(document)

    def launch(self, words):
        inherited = ()
        if self.policy is not None:
            file = os.memfd_create("policy")
            os.write(file, self.policy)
            os.lseek(file, 0, os.SEEK_SET)
            os.dup2(file, 3)
            inherited = (3,)
        self.child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, pass_fds=inherited
        )
        if inherited:
            os.close(3)
            if file != 3:
                os.close(file)
        self.broker_in, self.broker_out = Stream(0), Stream(1)
        self.helper_in, self.helper_out = Stream(self.child.stdin.fileno()), Stream(self.child.stdout.fileno())
        self.helper_in_ends = False

    def run(self):
        while self.helper_out.open or self.broker_out.waiting:
            self.step()
            while self.timers and self.timers[0][0] <= time.monotonic():
                heapq.heappop(self.timers)[2]()
            if self.helper_in_ends and not self.helper_in.waiting and not self.child.stdin.closed:
                self.child.stdin.close()
                self.helper_in.open = False
        return self.ending(self.child.wait())

    def step(self):
        readable, writable = [], []
        if self.broker_in.open and len(self.helper_in.waiting) < self.most_for_helper:
            readable.append(self.broker_in.descriptor)
        if self.helper_out.open and len(self.broker_out.waiting) < self.most_for_broker:
            readable.append(self.helper_out.descriptor)
        for stream in (self.helper_in, self.broker_out):
            if stream.waiting and not stream.open:
                stream.waiting.clear()
            elif stream.waiting:
                writable.append(stream.descriptor)
        patience = max(0, self.timers[0][0] - time.monotonic()) if self.timers else None
        readable, writable, _ = select.select(readable, writable, [], patience)
        if self.broker_in.descriptor in readable:
            self.pull_from_broker()
        if self.helper_out.descriptor in readable:
            self.pull_from_helper()
        for stream in (self.helper_in, self.broker_out):
            if stream.descriptor in writable:
                stream.write()

    def pull_from_broker(self):
        data = self.broker_in.read()
        if data is None:
            return
        self.broker_in.waiting += data
        while (frame := self.broker_in.next_frame()) is not None:
            if isinstance(frame, bytes):
                self.tell(self.unsound(frame))
            elif not frame.sound:
                self.tell(self.unsound(frame.bytes()))
            else:
                for each in self.to_helper(frame):
                    self.tell(each)
                if frame.kind == "exec_start" and self.running is None:
                    self.running = frame.id
        if data and not self.keeps_pieces:
            self.broker_in.waiting.clear()
        if not data:
            self.broker_in.open = False
            self.input_ended(bytes(self.broker_in.waiting))

    def pull_from_helper(self):
        data = self.helper_out.read()
        if data is None:
            return
        if not data:
            self.helper_out.open = False
        self.helper_out.waiting += data
        while (frame := self.helper_out.next_frame()) is not None:
            for each in self.to_broker(frame):
                self.say(each)
            if frame.kind in ("exec_exit", "error") and frame.id == self.running:
                self.running = None


def leaves(kind):
    below = kind.__subclasses__()
    return [leaf for each in below for leaf in leaves(each)] if below else [kind]


def named(lie):
    """ForgetsCap is forgets_cap."""
    return "".join("_" + c.lower() if c.isupper() else c for c in lie.__name__).lstrip("_")


def main(kind):
    lies = {"honest": kind, **{named(lie): lie for lie in leaves(kind)}}
    if sys.argv[1:] == ["--list"]:
        print("\n".join(sorted(lies)))
        return 0
    return lies[sys.argv[1]](sys.argv[2:]).run()
