"""Version-3 policies on the wire, and the record of a refused start."""

import msgpack

import client
from case import SH, WireCase

DENIAL_KEYS = [
    "v",
    "source",
    "op",
    "asked",
    "real",
    "reason",
    "evidence",
    "rule",
    "overridden",
    "others",
    "needed_by",
    "stopped_at",
    "errno",
    "limit",
    "hint",
    "text",
]
RULE_KEYS = ["dimension", "layer", "list", "index", "written", "real", "kind", "match"]


def table(*entries, **given):
    """'+dir /x' allows, '-name curl' denies."""
    parsed = [(each[0], dict(zip(("kind", "value"), each[1:].split(" ", 1)))) for each in entries]
    return {
        "default": "deny",
        "allow": [entry for sign, entry in parsed if sign == "+"],
        "deny": [entry for sign, entry in parsed if sign == "-"],
        "support": "system",
        "memfd": "noexec",
        "required": True,
        **given,
    }


class Documents(WireCase):
    def third(self, exec_value, **given):
        return self.policy(v=3, exec=exec_value, **given)

    def refused(self, policy, *words):
        """An inline policy is refused by name, and the helper goes on."""
        helper = self.helper()
        start = helper.send("exec_start", client.start_body([SH, "-c", "true"], policy=policy))
        self.assertRefused(helper, start, "bad_policy", *words)
        self.assertEqual(self.shell(helper, "exit 3").code, 3)
        helper.close()

    # guard 9.9: 164, 165, 167, 168, 173
    def test_an_inline_policy_that_is_none_is_refused_by_name(self):
        glob = table()
        glob["allow"].append({"kind": "glob", "value": "/x/*"})
        cases = {
            "exec in version 2": (self.policy(exec=None), "unknown keys", "exec"),
            "no exec in version 3": (self.policy(v=3), "missing required key", "exec"),
            "no map": (self.third([]), "exec", "expected map"),
            "unknown key": (self.third(table(depth=1)), "unknown keys", "depth"),
            "unknown kind": (self.third(glob), "unknown kind", "glob"),
            "version 4": (self.third(None) | {"v": 4}, "unsupported version 4", "2 and 3"),
        }
        for name, (policy, *words) in cases.items():
            with self.subTest(name):
                self.refused(policy, *words)

    # guard 9.9: 166
    def test_nil_runs_what_a_version_2_policy_runs(self):
        helper = self.helper(base=self.third(None))
        self.needs(helper, "bwrap")
        run = self.shell(helper, "echo fine; exit 4")
        self.assertEqual((run.code, bytes(run.stdout)), (4, b"fine\n"))
        self.assertFalse([e for e in run.enforcement if "exec-landlock" in e], run.enforcement)

    # guard 9.9: 176
    def test_version_2_has_the_same_report_beside_a_version_3_run(self):
        helper = self.helper()
        self.needs(helper, "bwrap")
        before = self.shell(helper, "exit 5")
        third = self.shell(helper, "exit 6", policy=self.third(None))
        after = self.shell(helper, "exit 5")
        self.assertEqual((before.code, third.code, after.code), (5, 6, 5))
        self.assertEqual(before.enforcement, after.enforcement)

    def test_the_helper_lists_what_it_reads(self):
        features = self.helper().features
        self.assertIn("policy-v3", features)
        self.assertIn("denial-v1", features)


class Records(WireCase):
    def refusal(self, exec_value, argv, features=("denial-v1",), **given):
        """The body of the error that answers a start."""
        helper = self.helper(features=features)
        self.needs(helper, "bwrap")
        policy = self.policy(v=3, exec=exec_value, **given)
        start = helper.send("exec_start", client.start_body(argv, policy=policy, env={"PATH": "/usr/bin"}))
        body = helper.expect("error", start).body
        self.assertEqual(body["code"], "spawn_failed")
        # The positive control: the same helper runs what is allowed.
        self.assertEqual(self.shell(helper, "exit 3").code, 3)
        helper.close()
        return body

    def test_a_broker_that_lists_the_feature_gets_the_whole_record(self):
        body = self.refusal(table("+dir /usr/bin", "-file /usr/bin/id"), ["/usr/bin/id", "-u"])
        record = body["denial"]
        self.assertEqual(list(record), DENIAL_KEYS)
        self.assertEqual(list(record["rule"]), RULE_KEYS)
        self.assertEqual(list(record["overridden"]), RULE_KEYS)
        self.assertEqual(
            (record["v"], record["source"], record["op"], record["asked"], record["real"]),
            (1, "guard", "execute", b"/usr/bin/id", b"/usr/bin/id"),
        )
        self.assertEqual((record["reason"], record["evidence"]), ("excluded_over_allowance", "both"))
        self.assertEqual((record["rule"]["list"], record["rule"]["index"]), ("exec.deny", 0))
        self.assertEqual(record["overridden"]["list"], "exec.allow")
        self.assertEqual(record["text"], body["msg"])
        self.assertTrue(body["msg"].startswith("excluded_over_allowance"), body["msg"])
        self.assertNotIn("-u", record["text"])

    def test_a_broker_that_does_not_list_it_gets_two_keys(self):
        body = self.refusal(table("+dir /usr/bin", "-file /usr/bin/id"), ["/usr/bin/id"], features=())
        self.assertEqual(set(body), {"code", "msg"})
        self.assertTrue(body["msg"].startswith("excluded_over_allowance"), body["msg"])

    def test_a_record_survives_another_librarys_reading_and_writing(self):
        record = self.refusal(table("+dir /usr/bin"), [b"/nowhere/\xff"])["denial"]
        again = msgpack.unpackb(msgpack.packb(record, use_bin_type=True), raw=False)
        self.assertEqual(again, record)
        self.assertEqual(list(again), DENIAL_KEYS)
        self.assertEqual((record["asked"], record["reason"]), (b"/nowhere/\xff", "not_found"))

    def test_a_huge_argv0_is_cut_in_the_record(self):
        record = self.refusal(table("+dir /usr/bin"), ["/" + "x" * 2_000_000])["denial"]
        self.assertLessEqual(len(record["asked"]), 16_384)

    # guard 9.9: 174, 175
    def test_an_inline_policy_can_only_take_away(self):
        base = self.policy(v=3, exec=table("+dir /usr/bin"))
        wide = self.policy(v=3, exec=table(default="allow"))
        helper = self.helper(base=base, features=("denial-v1",))
        self.needs(helper, "bwrap")
        for inline in (self.policy(), wide):
            for argv, code in ((["/usr/bin/env", "true"], 0), (["/usr/sbin/nologin"], None)):
                with self.subTest(inline=inline["v"], argv=argv):
                    run = helper.execute(argv, policy=inline, env={"PATH": "/usr/bin"})
                    if code is None:
                        self.assertEqual(run.error["code"], "spawn_failed")
                        self.assertEqual(run.error["denial"]["reason"], "not_allowed")
                    else:
                        self.assertIsNone(run.error)
                        self.assertEqual(run.code, code)
