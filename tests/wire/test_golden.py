"""The client itself, against the golden encodings: a client that is wrong proves nothing."""

import json
import os
import unittest

import client

FIXTURES = os.environ.get("LOOM_FIXTURES", "")


def fixtures():
    with open(FIXTURES, encoding="utf-8") as file:
        return json.load(file)


def from_json(value):
    """JSON has no bytes: the samples spell them {"bin": hex}."""
    if isinstance(value, dict):
        if set(value) == {"bin"}:
            return bytes.fromhex(value["bin"])
        return {key: from_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [from_json(item) for item in value]
    return value


def is_envelope(sample):
    return isinstance(sample["value"], dict) and set(sample["value"]) == {"v", "id", "kind", "body"}


class GoldenTest(unittest.TestCase):
    def setUp(self):
        self.assertTrue(os.path.exists(FIXTURES), "LOOM_FIXTURES must name the golden encodings")
        self.samples = fixtures()
        self.assertGreater(len(self.samples), 20)

    def test_every_sample_unpacks_to_its_value(self):
        for sample in self.samples:
            if sample["exact"]:
                with self.subTest(sample["name"]):
                    data = bytes.fromhex(sample["hex"])
                    self.assertEqual(client.strict_unpack(data), from_json(sample["value"]))

    def test_what_a_broker_emits_packs_to_the_golden_bytes(self):
        compared = 0
        for sample in self.samples:
            if not sample["exact"] or sample["name"].startswith("derived/helper-"):
                continue
            with self.subTest(sample["name"]):
                self.assertEqual(client.pack(from_json(sample["value"])).hex(), sample["hex"])
                compared += 1
        self.assertGreater(compared, 35)

    def test_every_frame_of_a_helper_is_one_the_client_admits(self):
        admitted = 0
        for sample in self.samples:
            if not is_envelope(sample) or "helper" not in sample["name"]:
                continue
            with self.subTest(sample["name"]):
                client.check_body(client.Frame(bytes.fromhex(sample["hex"])), False)
                admitted += 1
        self.assertGreater(admitted, 6)

    def test_a_policy_made_here_has_the_keys_of_the_golden_ones(self):
        golden = [s for s in self.samples if s["name"].startswith("sandbox_policy_3")][0]["value"]
        made = client.policy()
        self.assertEqual(set(made), set(golden))
        self.assertEqual(set(made["limits"]), set(golden["limits"]))

    def test_the_clients_checks_can_refuse(self):
        good = {"v": 1, "id": 1, "kind": "heartbeat", "body": {}}
        client.check_body(client.Frame(client.pack(good)), False)
        for change in ({"v": 2}, {"id": -1}, {"kind": 5}, {"body": []}, {"more": 1}):
            with self.subTest(change), self.assertRaises(client.WireError):
                client.Frame(client.pack({**good, **change}))
        for bad in (b"\x80\x80", b"\xc1", b"\x82\xa1a\x01\xa1a\x01", b"\xa1\xff", b"\xd4\x01\x00"):
            with self.subTest(bad.hex()), self.assertRaises(client.WireError):
                client.strict_unpack(bad)
        chunk = {"stream": "stdout", "data": b"", "bytes": 0, "truncated": False}
        frame = client.Frame(client.pack({**good, "kind": "exec_out", "body": chunk}))
        with self.assertRaises(client.WireError):
            client.check_body(frame, False)


if __name__ == "__main__":
    unittest.main()
