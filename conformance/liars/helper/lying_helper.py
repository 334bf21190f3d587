#!/usr/bin/python3
"""A helper that lies, in one thing, for the conformance suite to catch: a proxy before an honest one.

  lying_helper.py LIE HELPER [ARGUMENT…]
  lying_helper.py --list
"""

import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import proxy  # noqa: E402  (no cache beside the sources)
from proxy import Frame, Honest, pack  # noqa: E402

HELLO = {"proto": 3, "peer": "broker", "features": []}


def unpack(document):
    frame = Frame(document or b"")
    return frame.map if isinstance(frame.map, dict) else None


class OnPolicies(Honest):
    """Changes every policy, the base one and those of starts."""

    def change(self, policy):
        raise NotImplementedError

    def base_policy(self, document):
        policy = unpack(document)
        return pack(self.change(policy)) if policy else document

    def to_helper(self, frame):
        if frame.kind == "exec_start" and isinstance(frame.body, dict) and isinstance(frame.body.get("policy"), dict):
            return [frame.with_body(policy=self.change(frame.body["policy"]))]
        return [frame]


class OnStarts(Honest):
    """Changes the body of every exec_start that is a map with an argv."""

    def change(self, body):
        raise NotImplementedError

    def to_helper(self, frame):
        if frame.kind == "exec_start" and isinstance(frame.body, dict) and isinstance(frame.body.get("argv"), list):
            return [Frame.of(frame.id, frame.kind, self.change(dict(frame.body)))]
        return [frame]


class OnExits(Honest):
    """Changes the body of every exec_exit."""

    def change(self, body):
        raise NotImplementedError

    def to_broker(self, frame):
        if frame.kind == "exec_exit":
            return [frame.with_body(**self.change(dict(frame.body)))]
        return [frame]


class OlderHelper(Honest):
    """No lie: ids and counts in nine bytes each, and nil for an empty list, which every broker reads."""

    COUNTS = ("bytes", "stdout_bytes", "stderr_bytes", "wall_ms")

    def to_broker(self, frame):
        body = bytes([0x80 | len(frame.body)])  # no body has more than fifteen keys
        for key, value in frame.body.items():
            body += pack(key) + (self.wide(value) if key in self.COUNTS else pack(None if value == [] else value))
        head = b"\x84\xa1v\x01\xa2id" + self.wide(frame.id) + b"\xa4kind" + pack(frame.kind)
        return [Frame(head + b"\xa4body" + body)]

    @staticmethod
    def wide(number):
        return b"\xcf" + struct.pack(">Q", number)


# --- hello -------------------------------------------------------------------------------------------


class WaitsToBeGreeted(Honest):
    """Says nothing before the broker does."""

    greeted, held = False, ()

    def to_helper(self, frame):
        for each in self.held:
            self.say(each)
        self.greeted, self.held = True, ()
        return [frame]

    def to_broker(self, frame):
        if self.greeted:
            return [frame]
        self.held = (*self.held, frame)
        return []


class SpeaksProto4(Honest):
    def to_broker(self, frame):
        return [frame.with_body(proto=4)] if frame.kind == "hello" else [frame]


class HelloTwice(Honest):
    hello = None

    def to_broker(self, frame):
        self.hello = frame if frame.kind == "hello" else self.hello
        return [frame]

    def to_helper(self, frame):
        if frame.kind == "hello":
            self.later(0.1, lambda: self.say(self.hello))
        return [frame]


class ServesStrangers(Honest):
    """Takes frames of a broker that has not said hello."""

    greeted = False

    def to_helper(self, frame):
        if frame.kind != "hello" and not self.greeted:
            self.tell(Frame.of(1, "hello", HELLO))
        self.greeted = True
        return [frame]


class TakesAnyProto(Honest):
    def to_helper(self, frame):
        sound = frame.kind == "hello" and isinstance(frame.body, dict) and type(frame.body.get("proto")) is int
        return [frame.with_body(proto=3)] if sound else [frame]


class MendsHellos(Honest):
    """Makes something of every hello."""

    def to_helper(self, frame):
        wrong = not isinstance(frame.body, dict) or type(frame.body.get("proto")) is not int
        if frame.kind == "hello" and (wrong or set(frame.body) != set(HELLO)):
            return [Frame.of(frame.id, "hello", HELLO)]
        return [frame]


class RepeatsFeature(Honest):
    def to_broker(self, frame):
        return [frame.with_body(features=frame.body["features"] * 2)] if frame.kind == "hello" else [frame]


class ListsCredit(Honest):
    """Lists the extension that belongs to another proto."""

    def to_broker(self, frame):
        if frame.kind == "hello":
            return [frame.with_body(features=[*frame.body["features"], "protocol-credit-v1"])]
        return [frame]


class TellsOutcomeUnasked(Honest):
    def to_helper(self, frame):
        if frame.kind == "hello" and isinstance(frame.body, dict) and isinstance(frame.body.get("features"), list):
            return [frame.with_body(features=[*frame.body["features"], "exec-outcome-v1"])]
        return [frame]


# --- frames ------------------------------------------------------------------------------------------


class ExplainsKind(Honest):
    """Has words of its own where the kind is due."""

    def to_broker(self, frame):
        if frame.kind == "error" and frame.body["code"] == "unknown_kind":
            return [frame.with_body(msg="unknown kind: " + frame.body["msg"])]
        return [frame]


class WideInteger(Honest):
    """Spells exit statuses in three bytes."""

    def to_broker(self, frame):
        if frame.kind != "exec_exit":
            return [frame]
        spelled = b"\xa4code" + pack(frame.body["code"])
        wide = b"\xa4code\xcd" + struct.pack(">H", frame.body["code"])
        return [Frame(frame.payload.replace(spelled, wide, 1))]


class ShufflesEnvelope(Honest):
    def to_broker(self, frame):
        return [Frame(pack(dict(sorted(frame.map.items()))))]


class AddsKey(OnExits):
    """Knows more about an end than there are words for."""

    def change(self, body):
        return {**body, "more": 1}


class Prints(Honest):
    """Has something to say on stdout besides frames."""

    def to_broker(self, frame):
        return [frame, b"note: one run more\n"] if frame.kind == "exec_exit" else [frame]


class ForgivesMalformed(Honest):
    """Overlooks what is no frame."""

    def unsound(self, data):
        return b""


class BlamesFrame(Honest):
    """Gives an id to what has none."""

    def to_broker(self, frame):
        return [frame.with_id(9)] if frame.kind == "error" and frame.id == 0 else [frame]


class FussyReader(Honest):
    """Reads the smallest encoding only."""

    def to_helper(self, frame):
        if pack(frame.map) == frame.payload and list(frame.map) == ["v", "id", "kind", "body"]:
            return [frame]
        self.say(Frame.of(0, "error", {"code": "malformed_frame", "msg": "not the smallest encoding"}))
        self.leave(1)


class ReadsWholeFrames(Honest):
    """Takes it that a frame comes in one read."""

    keeps_pieces = False


class SmallCeiling(Honest):
    def to_helper(self, frame):
        if len(frame.payload) <= 1 << 20:
            return [frame]
        self.say(Frame.of(0, "error", {"code": "malformed_frame", "msg": "too long"}))
        self.leave(1)


class ForgivesCut(Honest):
    """Overlooks half a frame at the end."""

    def input_ended(self, rest):
        super().input_ended(b"")


class IgnoresUnknown(Honest):
    KINDS = ("hello", "exec_start", "exec_stdin", "cancel", "shutdown", "heartbeat")

    def to_helper(self, frame):
        return [frame] if frame.kind in self.KINDS else []


class NarrowIds(Honest):
    """Keeps 32 bits of an id."""

    def to_broker(self, frame):
        return [frame.with_id(frame.id & 0xFFFFFFFF)]


class EchoesRaw(Honest):
    """Echoes a kind as it came."""

    def to_helper(self, frame):
        raw = frame.kind.encode("utf-8", "surrogateescape")
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            good = Frame.of(frame.id, "error", {"code": "unknown_kind", "msg": "?" * len(raw)})
            self.say(Frame(good.payload.replace(b"?" * len(raw), raw)))
            return []
        return [frame]


# --- starts ------------------------------------------------------------------------------------------


class DropsKeys(Honest):
    """Overlooks keys that it does not know."""

    KNOWN = ("argv", "env", "cwd", "token", "policy", "limits")

    def to_helper(self, frame):
        if frame.kind == "exec_start" and isinstance(frame.body, dict):
            return [Frame.of(frame.id, frame.kind, {key: frame.body[key] for key in frame.body if key in self.KNOWN})]
        return [frame]


class DecodesFirst(Honest):
    """Looks at a start before it looks whether it is busy."""

    def to_helper(self, frame):
        if frame.kind == "exec_start" and self.running is not None and not isinstance(frame.body, dict):
            self.say(Frame.of(frame.id, "error", {"code": "malformed_frame", "msg": "no map"}))
            return []
        return [frame]


class QueuesStarts(Honest):
    """Keeps a start for later when it is busy."""

    queue = ()

    def to_helper(self, frame):
        if frame.kind == "exec_start" and self.running is not None:
            self.queue = (*self.queue, frame)
            return []
        return [frame]

    def to_broker(self, frame):
        if frame.kind == "exec_exit" and self.queue:
            first, *self.queue = self.queue
            self.tell(first)
        return [frame]


class MendsDirectories(OnStarts):
    """Runs in the root where it cannot run where it was told."""

    def change(self, body):
        if not str(body.get("cwd", "")).startswith("/"):
            body["cwd"] = "/"
        return body


class HidesReason(Honest):
    """Refuses without a name."""

    def to_broker(self, frame):
        if frame.kind == "error" and frame.body["code"] in ("spawn_failed", "bad_policy"):
            return [frame.with_body(msg="refused")]
        return [frame]


class DropsEmptyWords(OnStarts):
    def change(self, body):
        body["argv"] = [word for word in body["argv"] if word != ""]
        return body


class KeepsHome(OnPolicies):
    """Allows a variable that the policy does not."""

    def change(self, policy):
        if isinstance(policy.get("env_allow"), list):
            policy["env_allow"] = [*policy["env_allow"], "HOME"]
        return policy


class HandsDownDescriptor(OnStarts):
    def change(self, body):
        if body["argv"]:
            body["argv"] = ["/bin/sh", "-c", 'exec 9</dev/null; exec "$@"', "sh", *body["argv"]]
        return body


class RestsBetween(Honest):
    """Is busy for a moment after each run."""

    resting = False

    def to_helper(self, frame):
        if frame.kind == "exec_start" and self.resting:
            self.say(Frame.of(frame.id, "error", {"code": "busy", "msg": "resting"}))
            return []
        return [frame]

    def to_broker(self, frame):
        if frame.kind == "exec_exit":
            self.resting = True
            self.later(0.05, self.rested)
        return [frame]

    def rested(self):
        self.resting = False


# --- policies ----------------------------------------------------------------------------------------


class LenientPolicy(OnPolicies):
    """Overlooks keys that it does not know."""

    KNOWN = (
        "env_allow", "limits", "mounts", "network", "protected", "readable_roots", "scratch", "v", "writable_roots",
    )

    def change(self, policy):
        return {key: policy[key] for key in policy if key in self.KNOWN or policy.get("v") == 3}


class TakesLastKey(Honest):
    """Takes the last of two equal keys."""

    def to_helper(self, frame):
        return [Frame(pack(frame.map))] if frame.kind == "exec_start" else [frame]


class BringsOwnPolicy(Honest):
    """Has a policy ready where it gets none, or none that is sound."""

    KINDS = ("cpu_s", "wall_s", "mem_bytes", "pids", "fsize_bytes", "output_bytes")

    def base_policy(self, document):
        return pack(
            {
                "env_allow": ["PATH"],
                "limits": dict.fromkeys(self.KINDS, 0),
                "mounts": [],
                "network": {"mode": "off"},
                "protected": [],
                "readable_roots": [],
                "scratch": "tmpfs",
                "v": 2,
                "writable_roots": [],
            }
        )


class IgnoresInline(OnStarts):
    """Runs everything under the base policy."""

    def change(self, body):
        body.pop("policy", None)
        return body


class InventsExec(OnPolicies):
    """Has an opinion where a policy of version 3 gives none."""

    def change(self, policy):
        return {**policy, "exec": policy.get("exec")} if policy.get("v") == 3 else policy


# --- output ------------------------------------------------------------------------------------------


class DropsLastOutput(Honest):
    """Forgets the last chunk of stdout, and counts accordingly."""

    last = None

    def to_broker(self, frame):
        if frame.kind == "exec_out" and frame.body["stream"] == "stdout":
            before, self.last = self.last, frame
            return [before] if before else []
        if frame.kind == "exec_exit" and self.last:
            count = frame.body["stdout_bytes"] - len(self.last.body["data"])
            self.last = None
            return [frame.with_body(stdout_bytes=count)]
        return [frame]


class SwapsChunks(Honest):
    """Takes the order of two chunks for unimportant, and counts accordingly."""

    held = None

    def to_broker(self, frame):
        if frame.kind != "exec_out" or frame.body["stream"] != "stdout":
            held, self.held = self.held, None
            return [held, frame] if held else [frame]
        if not self.held:
            self.held = frame
            return []
        first, self.held = self.held, None
        count = first.body["bytes"] - len(first.body["data"]) + len(frame.body["data"])
        return [frame.with_body(bytes=count), first.with_body(bytes=frame.body["bytes"])]


class TextMode(Honest):
    """Takes output for text."""

    def to_broker(self, frame):
        if frame.kind == "exec_out":
            return [frame.with_body(data=frame.body["data"].replace(b"\r", b"\n"))]
        return [frame]


class SwapsStreams(Honest):
    def to_broker(self, frame):
        if frame.kind == "exec_out":
            return [frame.with_body(stream="stderr" if frame.body["stream"] == "stdout" else "stdout")]
        if frame.kind == "exec_exit":
            body = frame.body
            return [
                frame.with_body(
                    **{"stdout_" + key: body["stderr_" + key] for key in ("bytes", "truncated")},
                    **{"stderr_" + key: body["stdout_" + key] for key in ("bytes", "truncated")},
                )
            ]
        return [frame]


class HoardsUntilExit(Honest):
    """Sends output when it is complete."""

    held = ()

    def to_broker(self, frame):
        if frame.kind == "exec_out":
            self.held = (*self.held, frame)
            return []
        if frame.kind == "exec_exit":
            held, self.held = self.held, ()
            return [*held, frame]
        return [frame]


class ForgetsCap(OnPolicies):
    def change(self, policy):
        if isinstance(policy.get("limits"), dict) and "output_bytes" in policy["limits"]:
            policy["limits"] = {**policy["limits"], "output_bytes": 0}
        return policy


class HoardsOutput(Honest):
    """Reads a command's output as fast as it comes, whoever takes it."""

    most_for_broker = 1 << 40


class StarvesHeartbeats(Honest):
    """Echoes when there is nothing else to do."""

    held = ()

    def to_broker(self, frame):
        if frame.kind == "heartbeat" and self.running is not None:
            self.held = (*self.held, frame)
            return []
        if frame.kind == "exec_exit":
            held, self.held = self.held, ()
            return [frame, *held]
        return [frame]


class ExitTwice(Honest):
    def to_broker(self, frame):
        return [frame, frame] if frame.kind == "exec_exit" else [frame]


class ExitBeforeOutput(Honest):
    """Is quicker with the end than with what was said last."""

    last = None

    def to_broker(self, frame):
        if frame.kind == "exec_out":
            before, self.last = self.last, frame
            return [before] if before else []
        if frame.kind == "exec_exit" and self.last:
            last, self.last = self.last, None
            return [frame, last]
        return [frame]


class LateError(Honest):
    """Has second thoughts about a start that succeeded."""

    def to_broker(self, frame):
        late = [Frame.of(frame.id, "error", {"code": "spawn_failed", "msg": "after all"})]
        return [frame, *late] if frame.kind == "exec_exit" else [frame]


class WaitsForEverybody(Honest):
    """Waits with the end for whoever may still hold the streams."""

    def to_broker(self, frame):
        if frame.kind != "exec_exit":
            return [frame]
        self.later(15, lambda: self.say(frame))
        return []


# --- input -------------------------------------------------------------------------------------------


class LosesInput(Honest):
    """Loses the last byte of a long chunk."""

    def to_helper(self, frame):
        if frame.kind == "exec_stdin" and isinstance(frame.body, dict) and len(frame.body.get("data") or b"") > 4096:
            return [frame.with_body(data=frame.body["data"][:-1])]
        return [frame]


class NeverClosesStdin(Honest):
    def to_helper(self, frame):
        if frame.kind == "exec_stdin" and isinstance(frame.body, dict) and frame.body.get("eof") is True:
            return [frame.with_body(eof=False)]
        return [frame]


class SwallowsNoExec(Honest):
    """Is silent about input that nobody gets."""

    def to_broker(self, frame):
        return [] if frame.kind == "error" and frame.body["code"] == "no_exec" else [frame]


class MendsInput(Honest):
    """Makes something of all input."""

    def to_helper(self, frame):
        body = frame.body
        if frame.kind != "exec_stdin" or self.running is None:
            return [frame]
        sound = isinstance(body, dict) and set(body) == {"data", "eof"}
        sound = sound and isinstance(body["data"], bytes) and isinstance(body["eof"], bool)
        return [frame if sound else Frame.of(frame.id, frame.kind, {"data": b"", "eof": False})]


class ChokesOnInput(Honest):
    """Reads no frame more while input waits for its command."""

    fed = 0

    def to_helper(self, frame):
        if frame.kind == "exec_start":
            self.fed = 0
        if frame.kind == "exec_stdin" and isinstance(frame.body, dict):
            self.fed += len(frame.body.get("data") or b"")
        return [frame] if self.fed < 4 << 20 or frame.kind == "exec_stdin" else []


class KeepsInput(Honest):
    """Gives what a command did not read to the next one."""

    kept = None

    def to_helper(self, frame):
        if frame.kind == "exec_stdin" and isinstance(frame.body, dict) and not frame.body.get("eof"):
            self.kept = frame
        if frame.kind == "exec_start" and self.kept:
            kept, self.kept = self.kept, None
            return [frame, kept]
        return [frame]


class TakesAllInput(Honest):
    """Takes input without bound."""

    most_for_helper = 1 << 40


# --- exits -------------------------------------------------------------------------------------------


class SevenBits(OnExits):
    """Keeps seven bits of an exit status."""

    def change(self, body):
        return {**body, "code": body["code"] & 127}


class LosesSignals(OnExits):
    def change(self, body):
        return {**body, "code": 1} if body["code"] in (128 + 9, 128 + 11, 128 + 15) else body


class NotFoundIs127(OnExits):
    def change(self, body):
        return {**body, "code": 127} if body["code"] == 126 else body


class StoppedClock(OnExits):
    def change(self, body):
        return {**body, "wall_ms": 0}


class EmptyReport(OnExits):
    def change(self, body):
        return {**body, "enforcement": []}


class DegradedJail(OnExits):
    """Says that the jail is missing, under a report that claims it."""

    def change(self, body):
        return {**body, "degraded": not body["degraded"]}


class SloppySkips(OnExits):
    """Skips without a reason."""

    def change(self, body):
        return {**body, "enforcement": [e.split(": ")[0] for e in body["enforcement"]]}


class OneClass(OnExits):
    def change(self, body):
        return {**body, "outcome": {**body["outcome"], "class": "exited"}} if "outcome" in body else body


class ShortDenial(Honest):
    def to_broker(self, frame):
        if frame.kind == "error" and "denial" in frame.body:
            denial = {key: value for key, value in frame.body["denial"].items() if key != "hint"}
            return [frame.with_body(denial=denial)]
        return [frame]


# --- stopping ----------------------------------------------------------------------------------------


class IgnoresCancel(Honest):
    def to_helper(self, frame):
        return [] if frame.kind == "cancel" else [frame]


class HesitatesToCancel(Honest):
    """Asks a second and a half later than it was asked."""

    def to_helper(self, frame):
        if frame.kind != "cancel":
            return [frame]
        self.later(1.5, lambda: self.tell(frame))
        return []


class StartsAgain(Honest):
    """Begins the ladder anew with each cancel."""

    asked = 0

    def to_helper(self, frame):
        if frame.kind != "cancel":
            return [frame]
        self.asked += 1
        asked = self.asked
        self.later(0.5, lambda: self.tell(frame) if asked == self.asked else None)
        return []


class AnswersCancel(Honest):
    def to_helper(self, frame):
        if frame.kind == "cancel" and self.running is None:
            self.say(Frame.of(frame.id, "error", {"code": "no_exec", "msg": "nothing runs"}))
        return [frame]


class KeepsCancel(Honest):
    """Has a cancel in store for the next run."""

    kept = False

    def to_helper(self, frame):
        if frame.kind == "cancel" and self.running is None:
            self.kept = True
            return []
        if frame.kind == "exec_start" and self.kept:
            self.kept = False
            return [frame, Frame.of(frame.id, "cancel", {})]
        return [frame]


class LosesEarlyCancel(Honest):
    """Hears no cancel while it starts."""

    starting = False

    def to_helper(self, frame):
        if frame.kind == "exec_start":
            self.starting = True
            self.later(0.2, self.started)
        return [] if frame.kind == "cancel" and self.starting else [frame]

    def started(self):
        self.starting = False


class ReadsCancels(Honest):
    """Takes no cancel with a body."""

    def to_helper(self, frame):
        return [] if frame.kind == "cancel" and frame.body != {} else [frame]


class HidesTimeout(OnExits):
    """Calls the wall clock a cancel."""

    def change(self, body):
        return {**body, "timed_out": False}


# --- the end -----------------------------------------------------------------------------------------


class WaitsForInputToEnd(Honest):
    """Takes a shutdown for an announcement."""

    def to_helper(self, frame):
        return [] if frame.kind == "shutdown" else [frame]


class ForgetsToJoin(Honest):
    """Leaves at once, whatever runs."""

    def to_helper(self, frame):
        if frame.kind == "shutdown" and frame.body == {}:
            self.leave(0)
        return [frame]

    def input_ended(self, rest):
        if not rest:
            self.leave(0)
        super().input_ended(rest)


class AnswersBehindShutdown(Honest):
    closing = False

    def to_helper(self, frame):
        if self.closing and frame.kind == "heartbeat":
            self.say(frame)
        self.closing = self.closing or frame.kind == "shutdown"
        return [frame]


class TakesAnyShutdown(Honest):
    def to_helper(self, frame):
        return [Frame.of(frame.id, "shutdown", {})] if frame.kind == "shutdown" else [frame]


class EndsBadly(Honest):
    """Takes an end of input for a failure."""

    ended = False

    def input_ended(self, rest):
        self.ended = True
        super().input_ended(rest)

    def ending(self, status):
        return 1 if self.ended else status


class ForgetsRunWhenClosing(Honest):
    """Has no word about the run after a malformed frame."""

    closing = False

    def to_broker(self, frame):
        if self.closing:
            return []
        self.closing = frame.kind == "error" and frame.id == 0
        return [frame]


# --- what is left ------------------------------------------------------------------------------------


class LeavesProcess(Honest):
    def to_helper(self, frame):
        if frame.kind == "exec_start":
            subprocess.Popen(["/bin/sleep", "100"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return [frame]


class SurvivesKill(Honest):
    """Keeps the helper's channels open when it is killed, and so the helper and its jail alive."""

    def launch(self, helper):
        super().launch(helper)
        held = (self.helper_in.descriptor, self.helper_out.descriptor)
        subprocess.Popen(
            ["/bin/sleep", "100"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=held
        )


class OutlivesBroker(Honest):
    """Waits for a broker that is gone."""

    def input_ended(self, rest):
        pass

    def ending(self, status):
        time.sleep(100)
        return status


class KeepsDescriptors(Honest):
    def to_broker(self, frame):
        if frame.kind == "exec_exit":
            os.open("/dev/null", os.O_RDONLY)
        return [frame]


class Litters(Honest):
    """Leaves a file in the workspace."""

    def to_broker(self, frame):
        roots = (unpack(self.policy) or {}).get("writable_roots")
        if frame.kind == "exec_exit" and roots:
            with open(os.path.join(roots[0], ".litter"), "w", encoding="ascii"):
                pass
        return [frame]


class LittersElsewhere(Honest):
    """Leaves a file where nobody looks."""

    def to_broker(self, frame):
        roots = (unpack(self.policy) or {}).get("writable_roots")
        if frame.kind == "exec_exit" and roots:
            name = os.path.basename(os.path.dirname(roots[0]))
            with open(os.path.join("/tmp", name + "-kept"), "w", encoding="ascii"):
                pass
        return [frame]


# --- jails -------------------------------------------------------------------------------------------


class Unmasks(OnPolicies):
    def change(self, policy):
        return {**policy, "protected": []} if "protected" in policy else policy


class WidensRoots(OnPolicies):
    """Lets be written what may be read."""

    def change(self, policy):
        if isinstance(policy.get("readable_roots"), list) and isinstance(policy.get("writable_roots"), list):
            policy["writable_roots"] = [*policy["writable_roots"], *policy["readable_roots"]]
        return policy


class ShowsEverything(OnPolicies):
    def change(self, policy):
        return {**policy, "readable_roots": ["/"]} if "readable_roots" in policy else policy


class NetworkOn(OnPolicies):
    def change(self, policy):
        return {**policy, "network": {"mode": "full"}} if policy.get("network") == {"mode": "off"} else policy


class ForgetsLimits(OnPolicies):
    """Runs every command without ceilings but for those that the helper itself holds."""

    OWN = ("wall_s", "output_bytes")

    def change(self, policy):
        if isinstance(policy.get("limits"), dict):
            policy["limits"] = {key: each if key in self.OWN else 0 for key, each in policy["limits"].items()}
        return policy


class SharesTmp(OnPolicies):
    """Takes the host's /tmp for a scratch."""

    def change(self, policy):
        return {**policy, "scratch": "/tmp"} if policy.get("scratch") == "tmpfs" else policy


class KeepsScratch(OnPolicies):
    """Has one scratch for all runs that bring a policy."""

    scratch = None

    def base_policy(self, document):
        return document

    def change(self, policy):
        self.scratch = self.scratch or tempfile.mkdtemp(prefix="lying-helper-", dir="/var/tmp")
        return {**policy, "scratch": self.scratch} if policy.get("scratch") == "tmpfs" else policy

    def ending(self, status):
        if self.scratch:
            shutil.rmtree(self.scratch, ignore_errors=True)
        return status


class Refuses(Honest):
    """Refuses what no rule that only adds rights can hold, and ceilings."""

    CEILINGS = ("cpu_s", "fsize_bytes", "mem_bytes", "pids")

    def reason(self, policy):
        for path in policy["protected"]:
            for root in policy["writable_roots"] + policy["readable_roots"]:
                if path.startswith(root + "/"):
                    return f"protected path {path} lies inside {root}"
        if policy["network"]["mode"] == "proxy":
            return "network proxy: there is no way to a proxy that leads nowhere else"
        held = [name for name in self.CEILINGS if policy["limits"][name] > 0]
        return f"no ceiling {held[0]}" if held else ""

    def words(self, reason):
        raise NotImplementedError

    def to_helper(self, frame):
        inline = isinstance(frame.body, dict) and frame.body.get("policy")
        reason = self.reason(inline) if frame.kind == "exec_start" and inline else ""
        if not reason:
            return [frame]
        self.say(Frame.of(frame.id, "error", {"code": "spawn_failed", "msg": self.words(reason)}))
        return []


class RefusesByName(Refuses):
    """No lie: whoever cannot hold a clause may say so."""

    def words(self, reason):
        return reason


class RefusesSilently(Refuses):
    def words(self, reason):
        return "not here"


class Unjailed(OnExits):
    """Runs everything without a jail."""

    def launch(self, helper):
        super().launch([*helper, "--backend", "unsupported", "--allow-unenforced"])


class ForgesReport(Unjailed):
    """Reports the best of jails."""

    REPORT = (
        "bwrap", "mounts:ro=0,rw=1,mask=1,bind_ro=0,bind_rw=0,scratch=tmpfs,base=minimal,plan=0123456789abcdef",
        "cgroup-v2", "rlimit-fsize", "rlimit-cpu", "landlock:abi=7", "no-new-privs", "seccomp-net", "caps=none",
        "seccomp-deny", "scopes=abstract,signal",
    )

    def change(self, body):
        return {**body, "enforcement": list(self.REPORT), "degraded": False}


class ForgetsRunaways(Unjailed):
    """Names all that is not held but for this: who left the command's session goes on."""

    def change(self, body):
        return {**body, "enforcement": ["skip:bwrap: no bubblewrap; not held: filesystem view, private scratch"]}


if __name__ == "__main__":
    sys.exit(proxy.main(Honest))
