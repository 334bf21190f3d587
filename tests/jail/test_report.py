"""What a report claims, skips and refuses: audit, witness, ceilings, demands, degraded, platform."""

import re
import time

from jail import *


def limits(**given):
    return client.limits(**given)


class Audit(JailCase):
    def test_a_plain_policy_has_its_counts_a_digest_and_no_skip(self):
        # cases.md 85, 101
        run = self.execute(
            ["/bin/true"],
            self.policy(readable_roots=["/usr"], protected=[self.file("ws/.env")]),
        )
        self.assertEqual(run.enforcement[0], "bwrap")
        self.assertRegex(
            run.enforcement[1],
            r"^mounts:ro=1,rw=1,mask=1,bind_ro=0,bind_rw=0,scratch=tmpfs,base=minimal,plan=[0-9a-f]{16}$",
        )
        self.assertNoSkips(run)

    def test_the_digest_is_the_plans_and_changes_with_the_kind_of_a_mask(self):
        # cases.md 95
        policy = self.policy(protected=[self.file("ws/one")])
        digests = [self.mounts_entry(self.execute(["/bin/true"], policy))["plan"] for _ in range(2)]
        os.unlink(self.path("ws/one"))
        self.directory("ws/one")
        digests.append(self.mounts_entry(self.execute(["/bin/true"], policy))["plan"])
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_every_layer_that_holds_is_named_in_order(self):
        # cases.md 97, 107
        policy = self.policy(limits=limits(cpu_s=100, fsize_bytes=1 << 20))
        run = self.execute(["/bin/true"], policy)
        tags = [entry_tag(entry) for entry in run.enforcement]
        held = ["bwrap", "mounts", "rlimit-fsize", "rlimit-cpu", "landlock", "no-new-privs", "seccomp-net"]
        self.assertEqual(tags[:7], held)
        self.assertIn("caps=none", run.enforcement)
        self.assertIn("scopes=abstract,signal", run.enforcement)
        extras = [tag for tag in tags if tag in ("caps", "seccomp-deny", "scopes", "mounts-by", "unheld")]
        self.assertEqual(extras[:4], ["caps", "seccomp-deny", "scopes", "mounts-by"])
        self.assertNoSkips(run)
        plain = [entry_tag(entry) for entry in self.execute(["/bin/true"]).enforcement]
        self.assertEqual([t for t in plain if t.startswith(("rlimit", "cgroup"))], [])

    def test_with_the_network_open_no_filter_is_claimed(self):
        run = self.execute(["/bin/true"], self.policy(network={"mode": "full"}))
        self.assertFalse([e for e in run.enforcement if "seccomp-net" in e])
        self.assertNoSkips(run)

    def test_a_proxy_that_does_not_exist_is_a_skip(self):
        # cases.md 106
        network = {"mode": "proxy", "allow": ["example.org"], "proxy": "127.0.0.1:3128"}
        run = self.execute(["/bin/true"], self.policy(network=network))
        self.assertSkips(run, "skip:network-proxy: ")
        self.assertApplied(run, "seccomp-net", "bwrap", "mounts", "landlock", "no-new-privs")


class Ceilings(JailCase):
    def test_ceilings_that_were_asked_for_are_applied_or_skipped_by_name(self):
        # cases.md 96, 99, 108; field B66
        rows = [
            ({"pids": 64}, ["pids.max"], ["memory.max"]),
            ({"mem_bytes": 1 << 30}, ["memory.max"], ["pids.max"]),
            ({"mem_bytes": 1 << 30, "pids": 64}, ["memory.max and pids.max"], []),
        ]
        for given, named, unnamed in rows:
            with self.subTest(given=given):
                run = self.execute(["/bin/true"], self.policy(limits=limits(**given)))
                skips = [e for e in run.enforcement if e.startswith("skip:cgroup-v2: ")]
                applied = run.enforcement.count("cgroup-v2")
                self.assertEqual(applied + len(skips), 1, run.enforcement)
                for text in skips:
                    for word in named:
                        self.assertIn(word, text)
                    for word in unnamed:
                        self.assertNotIn(word, text)
        self.assertNoSkips(self.execute(["/bin/true"]))


class Demands(JailCase):
    def test_a_ceiling_that_cannot_be_held_is_refused_before_the_start_where_it_is_demanded(self):
        # field B66
        policy = self.policy(limits=limits(mem_bytes=1 << 30))
        with self.helper() as helper:
            if "cgroup-v2" in helper.features:
                return  # this machine can hold it; the other tests of demands still refuse
        for demand in ("platform", "full"):
            message = self.refusal(policy, flags=["--demand", demand])
            self.assertIn("cgroup-v2", message)
        run = self.execute([SH, "-c", "echo begin"], policy, ["--demand", "best-effort"])
        self.assertEqual(bytes(run.stdout), b"begin\n")

    def test_what_holds_passes_every_demand(self):
        policy = self.policy(limits=limits(cpu_s=100, fsize_bytes=1 << 20))
        for demand in ("best-effort", "platform", "full"):
            run = self.execute([SH, "-c", "echo begin"], policy, ["--demand", demand])
            self.assertEqual((bytes(run.stdout), run.code), (b"begin\n", 0), self.story(run))

    def test_a_proxy_never_passes_a_demand(self):
        network = {"mode": "proxy", "allow": [], "proxy": "127.0.0.1:3128"}
        policy = self.policy(network=network)
        self.assertIn("network-proxy", self.refusal(policy, flags=["--demand", "platform"]))
        self.assertEqual(self.execute(["/bin/true"], policy).code, 0)


class Degraded(JailCase):
    """No bubblewrap: what is left holds, and the rest is named."""

    def without_bwrap(self, *flags, **how):
        env = {**os.environ, "PATH": self.directory("nothing")}
        helper = self.helper(*flags, env=env, **how)
        self.assertIn("degraded", helper.features)
        self.assertNotIn("bwrap", helper.features)
        return helper

    def run_without_bwrap(self, script, policy=None, args=(), **start):
        with self.without_bwrap(base=policy or self.policy()) as helper:
            self.needs(helper, "landlock", "seccomp")
            argv = [SH, "-c", "echo begin\n" + script, "sh", *args]
            run = self.settle(helper, helper.start(argv, **start))
            self.assertTrue(run.stdout.startswith(b"begin\n"), self.story(run))
            return run

    def test_the_report_names_everything_that_is_not_held(self):
        # cases.md 98 as changed by D24
        policy = self.policy(readable_roots=[self.out], protected=[self.file("ws/.env")])
        run = self.run_without_bwrap("true", policy)
        self.assertTrue(run.exit["degraded"])
        skip = self.assertSkips(run, "skip:bwrap: ")
        for word in ("namespaces", "minimal view", "readable roots", "protected", "tmpfs scratch"):
            self.assertIn(word, skip)
        self.assertFalse([e for e in run.enforcement if e.startswith(("mounts:", "bwrap"))])
        self.assertApplied(run, "landlock", "no-new-privs", "seccomp-net")
        # An ordinary user cannot empty the bounding set, which no namespace emptied either.
        held = "caps=none" if os.getuid() == 0 else "unheld:caps=bounding"
        self.assertIn(held, run.enforcement)

    def test_writes_are_held_to_the_writable_roots_and_the_hosts_tmp_is_not_one(self):
        # cases.md 128, 133, 139
        outside, tmp = self.path("out/new"), self.under_tmp() + "/new"
        script = 'for f; do echo x >"$f" && echo "made $f"; done; cat /dev/null; echo x >/dev/null && echo null'
        run = self.run_without_bwrap(script, args=[outside, tmp, self.path("ws/new")])
        made = [line for line in run.stdout.decode().splitlines() if line.startswith("made")]
        self.assertEqual(made, ["made " + self.path("ws/new")])
        self.assertIn(b"null\n", bytes(run.stdout))
        self.assertFalse(os.path.exists(outside) or os.path.exists(tmp))

    def test_the_network_stays_cut(self):
        probe = "import socket\nfor f in (socket.AF_INET, socket.AF_UNIX):\n" + (
            " try: socket.socket(f); print('made')\n except OSError as e: print(e.errno)\n"
        )
        script = f'{PYTHON} -c "$1"'
        cut = self.run_without_bwrap(script, args=[probe])
        self.assertEqual(bytes(cut.stdout), b"begin\n1\nmade\n")
        full = self.run_without_bwrap(script, self.policy(network={"mode": "full"}), args=[probe])
        self.assertEqual(bytes(full.stdout), b"begin\nmade\nmade\n")

    def test_a_demand_refuses_and_names_the_jail_and_the_mounts(self):
        mark = self.path("ws/mark")
        for demand in ("platform", "full"):
            with self.without_bwrap("--demand", demand) as helper:
                run = helper.settle(helper.start([SH, "-c", f"echo x >{mark}"]))
                self.assertIsNotNone(run.error, run.exit)
                self.assertEqual(run.error["code"], "spawn_failed")
                self.assertIn("bwrap", run.error["msg"])
                self.assertIn("mounts", run.error["msg"])
                self.assertEqual(client.left_of(helper.pid), {})
                self.assertFalse(os.path.exists(mark))
        with self.without_bwrap("--demand", "best-effort") as helper:
            self.settle(helper, helper.start([SH, "-c", f"echo x >{mark}"]))
            self.assertTrue(os.path.exists(mark))

    def test_the_scratch_is_not_announced_where_there_is_none(self):
        # cases.md 122, 123
        policy = self.policy(env_allow=["PATH", "LOOM_SCRATCH_DIR"])
        run = self.run_without_bwrap("env", policy, env={"LOOM_SCRATCH_DIR": "/forged"})
        self.assertNotIn(b"LOOM_SCRATCH_DIR", bytes(run.stdout))
        policy["scratch"] = self.directory("scratch")
        run = self.run_without_bwrap("env", policy)
        self.assertIn(f"LOOM_SCRATCH_DIR={self.path('scratch')}\n".encode(), bytes(run.stdout))

    def test_a_cancel_stops_the_whole_group(self):
        with self.without_bwrap() as helper:
            run = helper.start([SH, "-c", "echo up; sleep 100 & sleep 100"])
            helper.until_output(run, b"up\n")
            helper.cancel(run)
            self.settle(helper, run)
            self.assertEqual((run.code, run.exit["signal"]), (143, 15))
            self.assertTrue(run.exit["cancelled"])
            self.assertEqual(client.left_of(helper.pid), {})


class InnerReport(JailCase):
    """The helper does not watch the report's pipe from the start: what comes late, or does not fit."""

    def setUp(self):
        super().setUp()
        self.fake = self.careless_bwrap()

    def attempt(self):
        mark = self.path("ws/mark")
        began = time.monotonic()
        run = self.execute([SH, "-c", f"echo x >{mark}; echo ran"], helper_env=path_with(self.fake))
        return os.path.exists(mark), run, time.monotonic() - began

    def test_a_report_whose_end_comes_after_the_word_is_waited_for(self):
        self.file("fake/hold", text="400")
        ran, run, _ = self.attempt()
        self.assertEqual((ran, bytes(run.stdout)), (True, b"ran\n"), self.story(run))
        self.assertApplied(run, "bwrap", "mounts", "landlock")
        self.assertNoSkips(run)
        self.assertGreaterEqual(run.exit["wall_ms"], 400, "nobody held the report")

    def test_a_report_that_its_pipe_does_not_hold_is_read_and_refused(self):
        self.file("fake/report", text="200000")
        ran, run, took = self.attempt()
        self.assertEqual((ran, bytes(run.stdout)), (False, b""), self.story(run))
        self.assertEqual(run.code, 94, "all of it was read")
        self.assertEqual(self.outcome(run)["class"], "setup")
        self.assertIn("the report is longer than 65536 bytes", " ".join(run.enforcement))
        self.assertLess(took, 20, "only the limit of the set-up ended it")


class Platform(JailCase):
    def test_an_unsupported_platform_serves_only_when_told_and_leads_every_report_with_it(self):
        # cases.md 105, 202
        refused = self.helper("--backend", "unsupported", hello=False)
        self.assertIsNone(refused.receive())
        self.assertEqual(refused.wait_exit(), 1)
        self.assertIn("--allow-unenforced", refused.stderr_text())
        refused.close()
        with self.helper("--backend", "unsupported", "--allow-unenforced") as helper:
            self.assertIn("platform-unsupported", helper.features)
            self.assertIn("degraded", helper.features)
            run = self.settle(helper, helper.start([SH, "-c", "echo begin"]))
        self.assertEqual(bytes(run.stdout), b"begin\n")
        self.assertTrue(run.enforcement[0].startswith("skip:jail: "), run.enforcement)
        self.assertTrue(run.exit["degraded"])
        self.assertFalse([e for e in run.enforcement if not re.match("skip:|rlimit|unheld", e)])

    def test_on_linux_the_flag_changes_nothing(self):
        # cases.md 203
        with self.helper("--allow-unenforced") as helper:
            self.assertNotIn("platform-unsupported", helper.features)
            plain = self.settle(helper, helper.start(["/bin/true"]))
        self.assertEqual(plain.enforcement, self.execute(["/bin/true"]).enforcement)

    def test_an_unknown_argument_is_a_usage_error(self):
        # cases.md 204
        for words in (["--no-such-flag"], ["--demand", "some"], ["--demand"], ["nonsense"]):
            done = subprocess.run(
                [client.helper_path(), *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=20
            )
            self.assertEqual((done.returncode, done.stdout), (2, b""), done)
            self.assertIn(words[-1].encode(), done.stderr)
        self.assertIn(b"unknown argument", done.stderr)


if __name__ == "__main__":
    unittest.main()
