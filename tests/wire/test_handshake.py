"""The handshake, rules 1 to 6 of wire.md 3."""

import unittest

import client
from case import WireCase

KINDS = ("exec_start", "exec_stdin", "cancel", "shutdown", "heartbeat", "error", "no_such_kind")


def hello_body(**change):
    return {"proto": client.PROTO, "peer": "broker", "features": [], **change}


class HandshakeTest(WireCase):
    def greeted(self):
        """A helper whose hello was read and not answered."""
        helper = self.helper(hello=False)
        helper.expect("hello")
        return helper

    def assertCloses(self, helper, code, frame_id, *words):
        error = helper.expect("error", frame_id)
        self.assertEqual(error.body["code"], code, error)
        for word in words:
            self.assertIn(word, error.body["msg"])
        self.assertEqual(helper.remaining(), [])
        self.assertEnds(helper, 1)

    def test_any_other_kind_first_is_a_proto_mismatch_under_its_id(self):
        for number, kind in enumerate(KINDS, 40):
            with self.subTest(kind), self.greeted() as helper:
                helper.send(kind, {}, number)
                self.assertCloses(helper, "proto_mismatch", number)

    def test_frames_behind_a_refused_first_frame_get_no_answer(self):
        with self.greeted() as helper:
            helper.send_all(
                client.envelope(7, "heartbeat", {})
                + client.envelope(8, "hello", hello_body())
                + client.envelope(9, "heartbeat", {})
            )
            self.assertCloses(helper, "proto_mismatch", 7)

    def test_another_proto_is_refused_with_both_numbers(self):
        for proto in (2, 4, 0):
            with self.subTest(proto), self.greeted() as helper:
                helper.send("hello", hello_body(proto=proto), 11)
                self.assertCloses(helper, "proto_mismatch", 11, str(proto), str(client.PROTO))

    def test_a_hello_that_does_not_decode_is_malformed_under_its_id(self):
        bodies = {
            "proto is text": hello_body(proto="3"),
            "proto is a float": hello_body(proto=3.0),
            "peer is a number": hello_body(peer=5),
            "features is a map": hello_body(features={}),
            "a feature is a number": hello_body(features=[1]),
            "a key more": hello_body(more=1),
            "a list": [client.PROTO, "broker", []],
            "a number": 5,
            "text": "hello",
        }
        for name, body in bodies.items():
            with self.subTest(name), self.greeted() as helper:
                helper.send("hello", body, 12)
                self.assertCloses(helper, "malformed_frame", 12)

    def test_a_bad_hello_during_a_run_ends_the_run_and_then_the_helper(self):
        helper = self.helper()
        run = self.running(helper)
        helper.send("hello", hello_body(proto=[]), 77)
        frames = helper.remaining()
        self.assertEqual(sorted(f.kind for f in frames), ["error", "exec_exit"])
        for frame in frames:
            self.assertEqual(frame.id, 77 if frame.kind == "error" else run.id)
            if frame.kind == "exec_exit":
                self.assertTrue(frame.body["cancelled"])
            else:
                self.assertEqual(frame.body["code"], "malformed_frame")
        self.assertEnds(helper, 1)

    def test_a_further_valid_hello_is_harmless(self):
        helper = self.helper()
        helper.send("hello", hello_body(features=["exec-outcome-v9"]))
        helper.heartbeat()
        run = self.running(helper)
        helper.send("hello", hello_body())
        helper.heartbeat()
        helper.cancel(run)
        self.assertTrue(helper.settle(run).exit["cancelled"])

    def test_a_further_hello_takes_no_feature_away_and_gives_none(self):
        outcome = "exec-outcome-v1"
        for first, second in (([outcome], []), ([], [outcome])):
            with self.subTest(first=first), self.helper(features=first) as helper:
                helper.send("hello", hello_body(features=second))
                run = helper.execute(["/bin/true"])  # the client knows which keys are due
                self.assertEqual("outcome" in run.exit, bool(first))

    def test_a_further_hello_with_another_proto_closes(self):
        helper = self.helper()
        helper.send("hello", hello_body(proto=2), 31)
        self.assertCloses(helper, "proto_mismatch", 31)

    def test_lists_that_are_nil_count_as_empty(self):
        with self.greeted() as helper:
            helper.send("hello", hello_body(features=None))
            helper.heartbeat()

    def test_features_nobody_knows_are_harmless(self):
        with self.greeted() as helper:
            helper.send("hello", hello_body(features=["x", "protocol-credit-v1", "ünï"]))
            helper.heartbeat()
            self.assertNotIn("protocol-credit-v1", helper.features)

    def test_the_reply_may_come_before_the_hello_was_read(self):
        with self.helper(hello=False) as helper:
            helper.send("hello", hello_body(), 1)
            helper.send("heartbeat", {}, 2)
            helper.expect("hello")
            helper.expect("heartbeat", 2)


if __name__ == "__main__":
    unittest.main()
