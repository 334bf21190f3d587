"""Envelope rules (wire.md 2, 8.3) and kinds nobody handles (wire.md 9)."""

import struct
import unittest

import client
import msgpack
from case import WireCase

GOOD = {"v": 1, "id": 5, "kind": "heartbeat", "body": {}}


def payload(**change):
    return client.pack({**GOOD, **change})


def without(key):
    return client.pack({k: v for k, v in GOOD.items() if k != key})


def nested(depth):
    return b"\x91" * (depth - 1) + b"\x90"


def raw_body(body):
    """The good envelope around bytes that are no body a packer would make."""
    return payload()[:-1] + body


def as_frame(data):
    return client.frame_of(data)


TWICE = b"\x85\xa1v\x01" + client.pack(GOOD)[1:]

MALFORMED = {
    "length 0": struct.pack(">I", 0),
    "length one over the bound": struct.pack(">I", client.MAX_PAYLOAD + 1),
    "length of all ones": b"\xff\xff\xff\xff",
    "a number": as_frame(b"\x05"),
    "text": as_frame(client.pack("hello")),
    "nil": as_frame(b"\xc0"),
    "an empty list": as_frame(b"\x90"),
    "the envelope as a list": as_frame(client.pack([1, 5, "heartbeat", {}])),
    "an empty map": as_frame(b"\x80"),
    "never a byte of msgpack": as_frame(b"\xc1"),
    "cut inside": as_frame(payload()[:-3]),
    "a byte after the map": as_frame(payload() + b"\x00"),
    "a map after the map": as_frame(payload() + payload()),
    "a key more": as_frame(client.pack({**GOOD, "more": 1})),
    "a key that is a number": as_frame(client.pack({**GOOD, 7: 1})),
    "a key twice": as_frame(TWICE),
    "v missing": as_frame(without("v")),
    "v nil": as_frame(payload(v=None)),
    "v 0": as_frame(payload(v=0)),
    "v 2": as_frame(payload(v=2)),
    "v negative": as_frame(payload(v=-1)),
    "v text": as_frame(payload(v="1")),
    "v a float": as_frame(payload(v=1.0)),
    "v true": as_frame(payload(v=True)),
    "id a float": as_frame(payload(id=5.0)),
    "id text": as_frame(payload(id="5")),
    "kind missing": as_frame(without("kind")),
    "kind nil": as_frame(payload(kind=None)),
    "kind empty": as_frame(payload(kind="")),
    "kind a number": as_frame(payload(kind=5)),
    "kind an ext": as_frame(payload(kind=msgpack.ExtType(4, b"heartbeat"))),
    "body missing": as_frame(without("body")),
    "body nil": as_frame(payload(body=None)),
    "nested over the bound": as_frame(raw_body(nested(300))),
    "nested without end": as_frame(raw_body(b"\x91" * 100000)),
    "a list longer than the frame": as_frame(raw_body(b"\xdd\xff\xff\xff\xff")),
    "text longer than the frame": as_frame(raw_body(b"\xdb\xff\xff\xff\xff")),
    "a map longer than the frame": as_frame(raw_body(b"\xdf\xff\xff\xff\xff")),
}

# The same heartbeat, spelled otherwise.
WIDE = (
    b"\xdf\x00\x00\x00\x04"
    b"\xd9\x01v\xcf\x00\x00\x00\x00\x00\x00\x00\x01"
    b"\xda\x00\x02id\xce\x00\x00\x00\x05"
    b"\xdb\x00\x00\x00\x04kind\xda\x00\x09heartbeat"
    b"\xa4body\xde\x00\x00"
)
WELL_FORMED = {
    "as a broker sends it": as_frame(payload()),
    "headers wider than needed": as_frame(WIDE),
    "keys in another order": as_frame(
        client.pack({"body": {}, "kind": "heartbeat", "id": 5, "v": 1})
    ),
    "signed forms": as_frame(b"\x84\xa1v\xd0\x01\xa2id\xd3" + (5).to_bytes(8, "big") + payload()[8:]),
    "a body that nobody looks at: number": as_frame(payload(body=7)),
    "a body that nobody looks at: text": as_frame(payload(body="x")),
    "a body that nobody looks at: full map": as_frame(payload(body={"a": 1})),
    "nested within the bound": as_frame(raw_body(nested(200))),
}


class FrameTest(WireCase):
    def assertMalformed(self, helper, run=None):
        error = helper.expect("error", 0)
        self.assertEqual(error.body["code"], "malformed_frame")
        rest = helper.remaining()
        if run is None:
            self.assertEqual(rest, [])
        else:
            self.assertEqual([(f.kind, f.id) for f in rest], [("exec_exit", run.id)])
            self.assertTrue(rest[0].body["cancelled"])
            self.assertFalse(rest[0].body["timed_out"])
        self.assertEnds(helper, 1)

    def test_every_malformed_frame_is_error_id_0_and_exit_1(self):
        for name, data in MALFORMED.items():
            with self.subTest(name), self.helper() as helper:
                helper.send_raw(data)
                self.assertMalformed(helper)

    def test_every_malformed_frame_during_a_run_is_followed_by_its_exit(self):
        for name, data in MALFORMED.items():
            with self.subTest(name), self.helper() as helper:
                run = self.running(helper)
                helper.send_raw(data)
                self.assertMalformed(helper, run)
        self.assertNothingLeft()

    def test_every_well_formed_spelling_is_answered(self):
        helper = self.helper()
        for name, data in WELL_FORMED.items():
            with self.subTest(name):
                helper.send_all(data)
                self.assertEqual(helper.expect("heartbeat", 5).body, {})

    def test_frames_behind_a_malformed_one_are_never_handled(self):
        with self.helper() as helper:
            start = client.envelope(8, "exec_start", client.start_body(["/bin/true"]))
            helper.send_raw(as_frame(b"\xc1") + client.envelope(9, "heartbeat", {}) + start)
            self.assertMalformed(helper)

    def test_a_frame_in_single_bytes_and_many_frames_in_one_write_are_read_alike(self):
        helper = self.helper()
        for byte in client.envelope(100, "heartbeat", {}):
            helper.send_all(bytes([byte]))
        helper.expect("heartbeat", 100)
        many = range(200, 1200)
        helper.send_all(b"".join(client.envelope(n, "heartbeat", {}) for n in many))
        for number in many:
            helper.expect("heartbeat", number)

    def test_an_id_is_64_bits_wide(self):
        helper = self.helper()
        for number in (0, 2**31, 2**63, 2**64 - 1):
            helper.send("heartbeat", {}, number)
            helper.expect("heartbeat", number)

    def test_a_payload_of_exactly_the_bound_is_read(self):
        helper = self.helper()
        empty = len(payload(body=b"x" * 70000)) - 70000
        data = payload(body=b"x" * (client.MAX_PAYLOAD - empty))
        self.assertEqual(len(data), client.MAX_PAYLOAD)
        helper.send_all(as_frame(data))
        helper.expect("heartbeat", 5)

    def test_an_oversized_prefix_closes_without_its_payload(self):
        with self.helper() as helper:
            helper.send_all(struct.pack(">I", client.MAX_PAYLOAD + 1))
            self.assertMalformed(helper)

    def test_end_of_input_inside_a_frame_is_malformed(self):
        whole = as_frame(payload())
        for cut in (1, 3, 4, 5, len(whole) - 1):
            with self.subTest(cut=cut), self.helper() as helper:
                helper.send_all(whole[:cut])
                helper.end_input()
                self.assertMalformed(helper)

    def test_end_of_input_inside_a_frame_during_a_run_joins_it(self):
        helper = self.helper()
        run = self.running(helper)
        helper.send_all(b"\x00\x00")
        helper.end_input()
        self.assertMalformed(helper, run)

    def test_an_unknown_kind_is_named_and_the_channel_kept(self):
        helper = self.helper()
        kinds = (
            "error", "exec_out", "exec_exit", "cap_call", "cap_result", "hook_call", "hook_result",
            "protocol_start", "protocol_input", "protocol_output_consumed", "Hello", "é", "exec_start\0",
        )
        for kind in kinds:
            for body in ({}, {"a": [1]}, 7, []):
                with self.subTest(kind=kind, body=body):
                    error = self.assertRefused(helper, helper.send(kind, body), "unknown_kind")
                    if kind.isprintable():
                        self.assertEqual(error, kind)

    def test_a_kind_that_is_no_text_is_never_echoed_raw(self):
        bad = client.pack({**GOOD, "kind": "AB"}).replace(b"\xa2AB", b"\xa2\xff\xfe")
        with self.helper() as helper:
            helper.send_all(as_frame(bad))
            error = helper.expect("error")  # the client refuses a str that is not UTF-8
            self.assertIn(error.body["code"], ("unknown_kind", "malformed_frame"))

    def test_an_unknown_kind_during_a_run_leaves_the_run_alone(self):
        helper = self.helper()
        run = self.running(helper, "echo up; read line; echo got $line")
        self.assertRefused(helper, helper.send("cap_call", {}), "unknown_kind")
        helper.stdin(b"text\n", eof=True)
        self.assertIn(b"got text", helper.settle(run).stdout)

    def test_every_frame_of_a_whole_conversation_is_a_frame_and_nothing_else(self):
        helper = self.helper()
        self.shell(helper, "echo out; echo err >&2; exit 3")
        self.assertRefused(helper, helper.send("nonsense", {}), "unknown_kind")
        helper.send("shutdown", {})
        self.assertEqual(helper.remaining(), [])
        self.assertEnds(helper, 0)


if __name__ == "__main__":
    unittest.main()
