"""Executions of the Windows helper: streams, arguments, environment, ends."""

import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

import wine
from wine import client, texts, windows_path

HOSTILE = [
    "plain", "", " ", "two words", "\t", 'a"b', '"', '""', '"quoted"', "\\", "\\\\", "C:\\dir\\", "C:\\a b\\",
    'back\\"slash', 'back\\\\"slash', "ends in quote\"", "x\\\\\\", "a\\\\b", "%PATH%", "^&|<>()", "!x!", "*.c", "?",
    "new\nline", "ünïcödé", "日本語", "🦀 crab", "-o=v", "'single'", "@file", "a;b,c=d", "nul", "\u00a0",
]


class Streams(wine.WindowsCase):
    def test_both_streams_and_the_exit_code_come_back(self):
        run = self.run_payload("say")
        self.assertEqual((bytes(run.stdout), bytes(run.stderr), run.code),
                         (b"to stdout\n", b"to stderr\n", 0))
        for code in (1, 3, 127, 255, 256, 0x7FFFFFFF):
            with self.subTest(code):
                self.assertEqual(self.run_payload("exit", str(code)).code, code)

    def test_a_crash_has_a_small_code_and_says_which_exception(self):
        helper = self.helper(features=("exec-outcome-v1",))
        run = self.run_payload("crash", helper=helper)
        self.assertEqual(run.code, 255)
        self.assertIn("0xC0000005", run.exit["outcome"]["detail"])

    def test_input_comes_back_byte_for_byte(self):
        sent = bytes(range(256)) * 64 + b"\r\n\n\r\x1a\x1a\0" + bytes(reversed(range(256))) * 700
        helper = self.helper()
        run = helper.start([windows_path(wine.PAYLOAD), "cat"])
        for at in range(0, len(sent), 50_000):
            helper.stdin(sent[at : at + 50_000])
        helper.stdin(b"", eof=True)
        helper.settle(run, 60)
        self.assertEqual(bytes(run.stdout), sent)
        self.assertEqual(run.code, 0)

    def test_ten_megabytes_come_whole(self):
        run = self.run_payload("flood", "10485760")
        self.assertEqual(bytes(run.stdout), wine.pattern(10485760))
        self.assertFalse(run.exit["stdout_truncated"])

    def test_output_ends_at_the_cap_exactly(self):
        base = self.policy(limits=client.limits(output_bytes=65536))
        helper = self.helper(base=base)
        for mode, stream in (("flood", "stdout"), ("flood-error", "stderr")):
            with self.subTest(stream):
                run = self.run_payload(mode, "1048576", helper=helper)
                self.assertEqual(bytes(getattr(run, stream)), wine.pattern(65536))
                self.assertEqual(run.truncations[stream], 1)
                self.assertEqual(run.exit[f"{stream}_bytes"], 65536)
                self.assertEqual(run.code, 0)
        exact = self.run_payload("flood", "65536", helper=helper)
        self.assertEqual(exact.truncations["stdout"], 0)
        self.assertEqual(len(exact.stdout), 65536)

    def test_a_broker_that_does_not_read_holds_the_command_and_bounds_memory(self):
        helper = self.helper()
        self.run_payload("exit", "0", helper=helper)
        (pid,) = wine.processes_of("loom-exec.exe")

        def resident():
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        before = resident()
        run = helper.start([windows_path(wine.PAYLOAD), "flood", str(24 << 20)])
        time.sleep(3)
        self.assertLess(resident() - before, 8 << 20)
        helper.settle(run, 60)
        self.assertEqual(len(run.stdout), 24 << 20)


class Stdin(wine.WindowsCase):
    def refused(self, helper, frame_id, words):
        frame = helper.expect("error", frame_id)
        self.assertEqual(frame.body["code"], "no_exec")
        self.assertIn(words, frame.body["msg"])

    def test_refusals(self):
        helper = self.helper()
        self.refused(helper, helper.stdin(b"x"), "ever")
        run = helper.start([windows_path(wine.PAYLOAD), "sleep", "3000"])
        helper.until_output(run, b"asleep")
        helper.stdin(b"x", eof=True)
        self.refused(helper, helper.stdin(b"y"), "earlier eof")
        helper.settle(run, 60)
        self.refused(helper, helper.stdin(b"z"), "ended")

    def test_a_full_queue_waits_and_a_heartbeat_does_not(self):
        helper = self.helper()
        run = helper.start([windows_path(wine.PAYLOAD), "sleep", "60000"])
        helper.until_output(run, b"asleep")
        helper.stdin(b"a" * (12 << 20))
        helper.heartbeat()  # 12 MiB are queued, and frames go on
        helper.cancel(run)
        helper.settle(run)
        self.assertTrue(run.exit["cancelled"])

    def test_a_broker_that_leaves_behind_a_full_queue_is_noticed(self):
        helper = self.helper(base=self.policy(limits=client.limits(wall_s=30)))
        run = helper.start([windows_path(wine.PAYLOAD), "sleep", "60000"])
        helper.until_output(run, b"asleep")
        helper.stdin(b"a" * (12 << 20))
        helper.stdin(b"b" * (12 << 20))  # does not fit: the reader waits
        helper.end_input()
        helper.settle(run, 60, others=[])
        self.assertEqual((run.exit["cancelled"], run.exit["timed_out"]), (True, False))
        self.assertEqual(helper.wait_exit(), 0)

    def test_bytes_behind_a_full_queue_hide_the_end_until_the_wall_clock(self):
        # Windows would tell (PeekNamedPipe); wine does not for a pipe of this system.
        helper = self.helper(base=self.policy(limits=client.limits(wall_s=3)))
        run = helper.start([windows_path(wine.PAYLOAD), "sleep", "60000"])
        helper.until_output(run, b"asleep")
        helper.stdin(b"a" * (12 << 20))
        beat = client.envelope(91, "heartbeat", {})
        # More than the reader takes at once, less than it and the pipe hold.
        helper.send_all(client.envelope(90, "exec_stdin", {"data": b"b" * (12 << 20), "eof": False}) +
                        beat * (100_000 // len(beat)))
        helper.end_input()
        helper.settle(run, 60, others=[])
        self.assertTrue(run.exit["timed_out"])
        helper.remaining()
        self.assertEqual(helper.wait_exit(), 0)


class Arguments(wine.WindowsCase):
    def test_hostile_arguments_arrive_as_they_are(self):
        run = self.run_payload("arguments", *HOSTILE)
        self.assertEqual(texts(bytes(run.stdout)), HOSTILE)

    def test_text_that_is_no_utf8_is_refused_by_name(self):
        helper = self.helper()
        body = {"argv": [windows_path(wine.PAYLOAD), "arguments", "@@"], "env": {}, "cwd": "", "token": b"t"}
        payload = client.pack({"v": 1, "id": 7, "kind": "exec_start", "body": body})
        helper.send_all(client.frame_of(payload.replace(b"@@", b"\xff\xfe")))
        frame = helper.expect("error", 7)
        self.assertEqual(frame.body["code"], "spawn_failed")
        self.assertIn("not valid UTF-8", frame.body["msg"])

    def test_batch_files_are_refused(self):
        for name in ("innocent.bat", "copy.cmd"):
            with open(f"{self.place}/{name}", "w", encoding="ascii") as file:
                file.write(f"echo ran > {windows_path(self.place)}\\proof\r\n")
        helper = self.helper()
        for name in ("innocent.bat", "copy.cmd", "innocent.bat.", "INNOCENT.BAT ", ".\\copy.cmd"):
            with self.subTest(name):
                program = name if name.startswith(".") else windows_path(f"{self.place}/{name}")
                run = helper.execute([program, "&calc"], cwd=windows_path(self.place))
                self.assertIsNotNone(run.error, run.exit)
                self.assertEqual(run.error["code"], "spawn_failed")
                self.assertIn("only .exe and .com files are started", run.error["msg"])
        self.assertFalse(os.path.exists(f"{self.place}/proof"))

    def test_a_file_that_is_no_program_fails_as_one(self):
        with open(f"{self.place}/text.exe", "w", encoding="ascii") as file:
            file.write("no program\n")
        helper = self.helper(features=("exec-outcome-v1",))
        run = helper.execute([windows_path(f"{self.place}/text.exe")])
        self.assertEqual((run.code, run.exit["outcome"]["class"]), (126, "exec"))

    def test_programs_are_found_on_the_path_alone(self):
        shutil.copy(wine.PAYLOAD, f"{self.place}/found.exe")
        path = {"PATH": windows_path(self.place) + ";relative;C:\\windows"}
        for name in ("found", "found.exe"):
            self.assertEqual(self.run_named(name, env=path).code, 0)
        here = windows_path(self.place)
        self.assertEqual(self.run_named(".\\found.exe", cwd=here).code, 0)
        # The current directory is no part of the search.
        lost = self.run_named("found", cwd=here, features=True)
        self.assertEqual(lost.code, 126)
        self.assertEqual(lost.exit["outcome"]["class"], "exec")
        self.assertTrue(lost.enforcement[0].startswith("skip:jail: "))

    def test_a_program_in_a_writable_region_is_not_found_by_name(self):
        shutil.copy(wine.PAYLOAD, f"{self.place}/found.exe")
        base = self.policy(writable_roots=[windows_path(self.place).replace("Z:", "z:")])
        path = {"PATH": windows_path(self.place)}
        helper = self.helper(base=base)
        self.assertEqual(helper.execute(["found", "exit", "0"], env=path).code, 126)

    def run_named(self, name, features=False, **more):
        helper = self.helper(features=("exec-outcome-v1",) if features else ())
        return helper.execute([name, "exit", "0"], timeout=60, **more)


class Surroundings(wine.WindowsCase):
    def test_the_environment_is_what_the_policy_yields_and_nothing_else(self):
        base = self.policy(env_allow=["PATH", "NÄME", "EMPTY", "LOOM_SCRATCH_DIR"], scratch="C:\\temp")
        given = {"NÄME": "wért 日本", "EMPTY": "", "SECRET": "x", "PATH": "C:\\windows"}
        helper = self.helper(base=base, env={"LOOM_SECRET_OF_THE_HELPER": "y"})
        found = texts(bytes(self.run_payload("environment", helper=helper, env=given).stdout))
        # Wine adds variables of its own to every process; none of ours or of the helper's is there.
        names = {each.partition("=")[0] for each in found}
        self.assertIn("NÄME=wért 日本", found)
        self.assertIn("EMPTY=", found)
        self.assertIn("LOOM_SCRATCH_DIR=C:\\temp", found)
        self.assertFalse(names & {"SECRET", "LOOM_SECRET_OF_THE_HELPER"})
        (path,) = [each for each in found if each.startswith("PATH=")]
        self.assertEqual(path.split(";")[0], "PATH=C:\\windows")
        self.assertIn("c:\\windows\\system32", path.lower())

    def test_names_that_windows_takes_for_one_are_refused(self):
        base = self.policy(env_allow=["Name", "NAME"])
        run = self.run_payload("environment", helper=self.helper(base=base), env={"Name": "1", "NAME": "2"})
        self.assertEqual(run.error["code"], "spawn_failed")
        self.assertIn("one name to Windows", run.error["msg"])

    def test_directories(self):
        os.mkdir(f"{self.place}/sub dir")
        for cwd, there in ((windows_path(f"{self.place}/sub dir"), windows_path(f"{self.place}/sub dir")),
                           ("/Z:" + self.place, windows_path(self.place)),
                           ("Z:" + self.place, windows_path(self.place)),
                           ("", "C:\\"), ("/", "C:\\")):
            with self.subTest(cwd):
                run = self.run_payload("directory", cwd=cwd)
                self.assertEqual(texts(bytes(run.stdout)), [there])

    def test_a_directory_that_is_none(self):
        helper = self.helper(features=("exec-outcome-v1",))
        run = self.run_payload("exit", "0", helper=helper, cwd="C:\\no\\such")
        self.assertEqual((run.code, run.exit["outcome"]["class"]), (126, "setup"))
        self.assertIn("C:\\no\\such", run.exit["outcome"]["detail"])
        for cwd in ("relative", "C:relative", "\\rooted", "\\\\server\\share", "\\\\.\\pipe", "//server/x", "x\0y",
                    "/C:\\windows", "/C:\\x\\..\\windows"):
            with self.subTest(cwd):
                run = self.run_payload("exit", "0", helper=helper, cwd=cwd)
                self.assertEqual(run.error["code"], "spawn_failed")

    def test_only_the_three_streams_are_inherited(self):
        lines = bytes(self.run_payload("handles").stdout).decode().splitlines()
        self.assertEqual(lines.count("inheritable pipe"), 3, lines)
        self.assertNotIn("inheritable disk", lines)
        self.assertIn("descriptor 3: none", lines)

    def test_a_required_mount_that_is_absent_is_refused_by_name(self):
        mount = {"path": "C:\\no\\such", "access": "ro", "required": True}
        helper = self.helper(base=self.policy(mounts=[mount]))
        run = self.run_payload("exit", "0", helper=helper)
        self.assertEqual(run.error["code"], "spawn_failed")
        self.assertIn("/C:/no/such", run.error["msg"])
        mount["path"] = "C:\\windows"
        self.assertEqual(self.run_payload("exit", "0", helper=self.helper(base=self.policy(mounts=[mount]))).code, 0)


class Reports(wine.WindowsCase):
    def test_hello_and_report_claim_nothing(self):
        base = self.policy(protected=["C:\\secret"],
                           limits=client.limits(cpu_s=1, fsize_bytes=1, mem_bytes=1 << 30, pids=5))
        helper = self.helper(base=base)
        self.assertIn("degraded", helper.features)
        self.assertIn("platform-unsupported", helper.features)
        self.assertNotIn("rlimits", helper.features)
        run = self.run_payload("exit", "0", helper=helper)
        self.assertEqual(run.enforcement, [
            "skip:jail: " + wine.REASON + "filesystem view, protected paths, private scratch, network cut, "
            "memory ceiling, process ceiling, CPU-time ceiling, file-size ceiling",
            "skip:platform-restrictions: the inner stage has nothing to apply on windows"])
        self.assertTrue(run.exit["degraded"])

    def test_a_demand_refuses_before_the_start(self):
        for demand in ("platform", "full"):
            helper = self.helper("--demand", demand)
            run = self.run_payload("exit", "0", helper=helper)
            self.assertEqual(run.error["code"], "spawn_failed")
            self.assertIn("bwrap, mounts", run.error["msg"])
        self.assertEqual(self.run_payload("exit", "0", helper=self.helper("--demand", "best-effort")).code, 0)

    def test_version_3_is_refused(self):
        exec_table = {"default": "deny", "allow": [], "deny": [], "support": "system", "memfd": "noexec",
                      "required": True}
        helper = self.helper(base=self.policy(v=3, exec=exec_table))
        run = self.run_payload("exit", "0", helper=helper)
        self.assertEqual(run.error["code"], "spawn_failed")
        self.assertIn("confinement_unavailable", run.error["msg"])


class Endings(wine.WindowsCase):
    def ticking(self, helper, mode="tree"):
        file = f"{self.place}/t"
        run = helper.start([windows_path(wine.PAYLOAD), mode, windows_path(file)])
        helper.until_output(run, b"tree")
        names = [f"{file}.child"] + ([f"{file}.own"] if mode == "tree" else [])
        for name in names:
            self.assertTrue(client.wait_until(lambda: os.path.exists(name) and os.path.getsize(name) > 2, 20), name)
        return run, names

    def test_cancel_ends_the_tree(self):
        helper = self.helper()
        run, names = self.ticking(helper)
        for name in names:
            self.assertTrue(self.still_grows(name), name)
        began = time.monotonic()
        helper.cancel(run)
        helper.settle(run)
        self.assertLess(time.monotonic() - began, 3)
        self.assertEqual((run.exit["cancelled"], run.exit["timed_out"], run.code), (True, False, 137))
        for name in names:
            self.assertFalse(self.still_grows(name), name)
        self.assertEqual(self.run_payload("exit", "4", helper=helper).code, 4)

    def test_what_outlives_the_command_is_ended(self):
        helper = self.helper()
        run, names = self.ticking(helper, "orphan")
        helper.settle(run)
        self.assertEqual((run.code, run.exit["cancelled"]), (0, False))
        self.assertFalse(self.still_grows(names[0]))

    def test_a_stream_that_somebody_outside_keeps_open_does_not_keep_the_run(self):
        outside = subprocess.Popen([wine.WINE, windows_path(wine.PAYLOAD), "outside"], env=wine.environment(),
                                   stdout=subprocess.PIPE)
        self.addCleanup(outside.stdout.close)
        self.addCleanup(outside.wait)
        self.addCleanup(outside.kill)
        helper = self.helper()
        run = self.run_payload("lend", outside.stdout.readline().decode().strip(), helper=helper)
        self.assertEqual((bytes(run.stdout), run.code), (b"lent\n", 0))
        # Nothing but that kept it, for as long as streams are waited for.
        self.assertGreaterEqual(run.exit["wall_ms"], 500)
        self.assertIsNone(outside.poll())
        self.assertEqual(self.run_payload("exit", "4", helper=helper).code, 4)

    def test_a_killed_helper_takes_the_tree_with_it(self):
        helper = self.helper()
        _, names = self.ticking(helper)
        helper.kill_helper()
        time.sleep(0.5)
        for name in names:
            self.assertFalse(self.still_grows(name), name)

    def test_nothing_leaves_the_job(self):
        self.assertEqual(bytes(self.run_payload("break-away").stdout), b"kept\n")

    def test_wall_clock(self):
        helper = self.helper(base=self.policy(limits=client.limits(wall_s=1)))
        run = self.run_payload("sleep", "60000", helper=helper)
        self.assertEqual((run.exit["timed_out"], run.exit["cancelled"]), (True, True))
        self.assertLess(run.exit["wall_ms"], 10_000)
        quick = self.run_payload("exit", "0", helper=helper)
        self.assertEqual((quick.exit["timed_out"], quick.exit["cancelled"]), (False, False))

    def test_end_of_input_ends_the_run_and_then_the_helper(self):
        helper = self.helper()
        run, names = self.ticking(helper)
        helper.end_input()
        helper.settle(run)
        self.assertTrue(run.exit["cancelled"])
        self.assertEqual(helper.wait_exit(), 0)
        self.assertFalse(self.still_grows(names[0]))

    def test_shutdown(self):
        helper = self.helper()
        run, _ = self.ticking(helper)
        helper.send_all(client.envelope(90, "shutdown", {}) + client.envelope(91, "heartbeat", {}))
        helper.settle(run)
        self.assertEqual(helper.remaining(), [])
        self.assertEqual(helper.wait_exit(), 0)

    def test_a_malformed_frame_is_answered_and_ends_everything(self):
        helper = self.helper()
        run, names = self.ticking(helper)
        helper.send_all(struct.pack(">I", 0))
        others = []
        helper.settle(run, others=others)
        self.assertEqual([(each.kind, each.id, each.body["code"]) for each in others],
                         [("error", 0, "malformed_frame")])
        self.assertEqual(helper.wait_exit(), 1)
        self.assertFalse(self.still_grows(names[0]))

    def test_busy_unknown_and_mismatch(self):
        helper = self.helper()
        run = helper.start([windows_path(wine.PAYLOAD), "sleep", "60000"])
        helper.until_output(run, b"asleep")
        second = helper.send("exec_start", {"rubbish": 1})
        self.assertEqual(helper.expect("error", second).body["code"], "busy")
        unknown = helper.send("cap_call", {})
        self.assertEqual(helper.expect("error", unknown).body["code"], "unknown_kind")
        helper.heartbeat()
        helper.cancel(run)
        helper.settle(run)
        other = self.helper(hello=False)
        other.expect("hello")
        other.send("hello", {"proto": 4, "peer": "broker", "features": []}, 1)
        self.assertEqual(other.expect("error", 1).body["code"], "proto_mismatch")
        self.assertEqual(other.wait_exit(), 1)

    def test_twenty_in_a_row_leave_nothing_behind(self):
        helper = self.helper()
        self.run_payload("exit", "0", helper=helper)
        (pid,) = wine.processes_of("loom-exec.exe")

        def held():
            return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))

        def held_at_rest():
            # A thread that ended with its run is still there for a moment, with four descriptors of wine's.
            seen = []
            for _ in range(20):
                seen.append(held())
                time.sleep(0.05)
            return min(seen)

        before = held_at_rest()
        for number in range(20):
            self.assertEqual(self.run_payload("exit", str(number), helper=helper).code, number)
        after = held_at_rest()
        self.assertLessEqual(after[0], before[0] + 2)
        self.assertLessEqual(after[1], before[1] + 1)
        self.assertEqual(wine.processes_of("payload.exe"), [])


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    unittest.main()
