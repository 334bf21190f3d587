"""Streams, the cap, the exit frame and its report (wire.md 5.4, 5.5, 6.3, 7, 8.5)."""

import contextlib
import fcntl
import os
import re
import select
import signal
import subprocess
import time
import unittest

import client
from case import SH, WireCase, for_jails

SHELLS = {os.path.basename(SH), os.path.basename(os.path.realpath(SH))}
ZEROS = "head -c {} /dev/zero"
MOUNTS = re.compile(
    r"mounts:ro=\d+,rw=\d+,mask=\d+,bind_ro=\d+,bind_rw=\d+"
    r",scratch=(tmpfs|bind),base=(minimal|host-view),plan=[0-9a-f]{16}"
)


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])


# What a pipe of `size` becomes for a user who asks for `wanted`, and then for half of it: there is an allowance (pipe(7)).
def largest_pipe(size, wanted):
    ends = os.pipe()
    try:
        while wanted > size:
            try:
                return fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, wanted)
            except PermissionError:
                wanted //= 2
        return size
    finally:
        for end in ends:
            os.close(end)


class StreamTest(WireCase):
    # cases.md 165, 166
    def test_output_arrives_on_its_stream_and_the_status_in_the_exit(self):
        helper = self.helper()
        run = self.shell(helper, "echo hello; echo problem >&2; exit 42")
        self.assertEqual((bytes(run.stdout), bytes(run.stderr)), (b"hello\n", b"problem\n"))
        self.assertEqual((run.code, run.exit["signal"]), (42, 0))
        self.assertEqual((run.exit["stdout_bytes"], run.exit["stderr_bytes"]), (6, 8))
        self.assertEqual((run.exit["timed_out"], run.exit["cancelled"]), (False, False))

    def test_any_bytes_travel_unchanged(self):
        helper = self.helper()
        data = bytes(range(256)) * 999
        with open(self.path("data"), "wb") as file:
            file.write(data)
        run = self.shell(helper, f"cat {self.path('data')}; cat {self.path('data')} >&2")
        self.assertEqual(bytes(run.stdout), data)
        self.assertEqual(bytes(run.stderr), data)

    def test_no_output_is_no_chunk(self):
        run = self.helper().execute(["/bin/true"])
        self.assertEqual((run.code, run.chunks), (0, 0))

    def test_output_comes_while_the_command_runs(self):
        helper = self.helper()
        run = self.running(helper, "echo up; read line; echo $line")
        self.assertIsNone(run.exit)
        helper.stdin(b"and on\n", eof=True)
        self.assertEqual(bytes(helper.settle(run).stdout), b"up\nand on\n")

    def test_wall_ms_is_what_the_command_took(self):
        run = self.shell(self.helper(), "sleep 0.3")
        self.assertGreaterEqual(run.exit["wall_ms"], 300)
        self.assertLess(run.exit["wall_ms"], 3000)

    # cases.md 171
    def test_a_left_behind_child_that_holds_stdout_delays_nothing(self):
        helper = self.jailing_helper()
        began = time.monotonic()
        run = self.shell(helper, "sleep 30 & echo done")
        self.assertEqual((run.code, bytes(run.stdout)), (0, b"done\n"))
        self.assertLess(time.monotonic() - began, 10)
        helper.send("shutdown", {})
        self.assertEnds(helper, 0)
        self.assertNothingLeft()

    @for_jails
    def test_a_program_that_is_not_there_is_126_with_a_whole_report(self):
        helper = self.jailing_helper()
        for argv in (["/no/such/program"], ["no-such-program"], ["/etc/passwd"]):
            with self.subTest(argv):
                run = helper.execute(argv)
                self.assertEqual(run.code, 126)
                self.assertTrue(run.stderr.startswith(b"loom-exec[stage2]: "), run.stderr)
                self.assertEqual(run.stderr.count(b"\n"), 1)
                self.assertIn("bwrap", run.enforcement)

    @for_jails
    def test_a_working_directory_that_is_not_there_is_126_and_runs_nothing(self):
        helper = self.jailing_helper()
        with open(self.path("file"), "w", encoding="ascii"):
            pass
        for cwd in (self.path("absent"), self.path("file")):
            run = helper.execute([SH, "-c", "echo ran"], cwd=cwd)
            self.assertEqual((run.code, bytes(run.stdout)), (126, b""))
            self.assertIn(os.fsencode(cwd), run.stderr)
        run = helper.execute([SH, "-c", "echo ran"], cwd=self.ws)
        self.assertEqual((run.code, bytes(run.stdout)), (0, b"ran\n"))

    def test_the_command_holds_three_descriptors(self):
        # ls itself holds the directory it reads.
        run = self.helper().execute(["/bin/ls", "/proc/self/fd"])
        self.assertEqual(run.stdout.split(), [b"0", b"1", b"2", b"3"])


class CapTest(WireCase):
    def capped(self, cap, script):
        helper = self.helper()
        base = self.policy(limits=client.limits(output_bytes=cap))
        return self.shell(helper, script, policy=base)

    # cases.md 168
    def test_a_flood_is_cut_at_the_cap_and_the_other_stream_is_not(self):
        run = self.capped(4096, ZEROS.format(100000) + "; echo line >&2")
        self.assertEqual((len(run.stdout), bytes(run.stderr)), (4096, b"line\n"))
        self.assertTrue(run.exit["stdout_truncated"])
        self.assertFalse(run.exit["stderr_truncated"])
        self.assertEqual(run.code, 0)

    # cases.md 169
    def test_output_of_exactly_the_cap_is_whole(self):
        run = self.capped(4096, ZEROS.format(4096))
        self.assertEqual((len(run.stdout), run.truncations["stdout"]), (4096, 0))
        self.assertFalse(run.exit["stdout_truncated"])

    # cases.md 169
    def test_one_byte_later_is_one_empty_truncated_chunk(self):
        helper = self.helper()
        base = self.policy(limits=client.limits(output_bytes=4096))
        run = self.start_shell(
            helper, ZEROS.format(4096) + "; read line; printf x; printf y; exit 5", policy=base
        )
        while len(run.stdout) < 4096:
            run.take(helper.expect("exec_out", run.id))
        helper.stdin(b"", eof=True)
        last = helper.expect("exec_out", run.id)
        self.assertEqual(
            last.body, {"stream": "stdout", "data": b"", "bytes": 4096, "truncated": True}
        )
        run.take(last)
        helper.settle(run)
        self.assertEqual((run.code, run.exit["stdout_bytes"]), (5, 4096))

    def test_the_cap_is_per_stream(self):
        run = self.capped(1000, f"{ZEROS.format(5000)}; {ZEROS.format(5000)} >&2")
        self.assertEqual((len(run.stdout), len(run.stderr)), (1000, 1000))
        self.assertEqual(run.truncations, {"stdout": 1, "stderr": 1})

    def test_a_cut_command_goes_on_and_is_never_blocked(self):
        run = self.capped(10, f"{ZEROS.format(20000000)}; touch {self.path('ended')}; exit 6")
        self.assertEqual((run.code, len(run.stdout)), (6, 10))
        self.assertTrue(os.path.exists(self.path("ended")))

    def test_no_cap_is_no_cut(self):
        run = self.capped(0, ZEROS.format(3000000))
        self.assertEqual((len(run.stdout), run.truncations["stdout"]), (3000000, 0))


class FloodTest(WireCase):
    FLOOD = 200_000_000
    HEARTBEATS = 600_000  # three times what the helper keeps
    MOST_RESIDENT = (400 if os.environ.get("LOOM_WIRE_SANITIZED") else 40) * 1024  # KiB
    EVERY = 8  # chunks from an echo to the next heartbeat: without a pause they leave the flood no processor
    # Bytes that may lie between a heartbeat and its echo: four reads of one wake-up (1 MiB) before it is read, of which
    # the last may wait, the broker's pipe (512 KiB), what is read here.
    BEHIND = 1 << 21

    def touch(self, name):
        with open(self.path(name), "wb"):
            pass

    def fill(self, helper, go, full):
        """A helper that is quicker than the command finds less than a whole read."""
        os.kill(helper.pid, signal.SIGSTOP)
        self.touch(go)
        filled = client.wait_until(lambda: os.path.exists(self.path(full)), client.PATIENCE)
        os.kill(helper.pid, signal.SIGCONT)
        self.assertTrue(filled)

    WAIT = "until [ -e {} ]; do sleep 0.02; done"

    def test_heartbeats_are_echoed_during_a_flood_of_200_mb(self):
        helper = self.helper()
        run = self.start_shell(helper, ZEROS.format(self.FLOOD))
        total = chunks = echoed = sent_at_chunk = sent_at_byte = 0
        waiting, sent_at = None, 0.0
        slowest, farthest = 0.0, 0
        while True:
            frame = helper.receive()
            if frame.kind == "exec_out":
                total += len(frame.body["data"])
                chunks += 1
            elif frame.kind == "heartbeat":
                self.assertEqual(frame.id, waiting)
                slowest = max(slowest, time.monotonic() - sent_at)
                farthest = max(farthest, total - sent_at_byte)
                waiting, echoed = None, echoed + 1
            else:
                break
            rested = chunks - sent_at_chunk >= self.EVERY
            if waiting is None and rested and total < self.FLOOD * 0.9:
                sent_at_chunk, sent_at_byte = chunks, total
                waiting, sent_at = helper.send("heartbeat", {}), time.monotonic()
        self.assertEqual((frame.kind, frame.id, frame.body["code"]), ("exec_exit", run.id, 0))
        self.assertEqual(total, self.FLOOD)
        self.assertGreater(echoed, 20)
        self.assertLess(farthest, self.BEHIND)
        self.assertLess(slowest, 5)
        print(f"{echoed} echoes, slowest {slowest * 1000:.0f} ms, farthest {farthest // 1024} KiB")

    @for_jails  # elsewhere no pipe's size can be asked for
    def test_the_pipe_of_a_stream_that_floods_grows_and_the_other_stays(self):
        size = f"fcntl.fcntl({{}}, {fcntl.F_GETPIPE_SZ})"
        show = f"import fcntl, sys; print({size.format(1)}, {size.format(2)}, file=sys.stderr)"
        tell = f"/usr/bin/python3 -c '{show}'"
        size = 60_000  # more than one read takes, less than a pipe holds
        script = (
            f"echo up; {tell}; {self.WAIT.format('go')}; {ZEROS.format(size)}; : >full; {self.WAIT.format('read')}; {tell}"
        )
        helper = self.helper()
        run = self.running(helper, script, cwd=self.ws)
        self.fill(helper, "go", "full")
        helper.until_output(run, b"\0" * size)
        self.touch("read")
        helper.settle(run)
        before, after = (line.split() for line in run.stderr.decode().splitlines())
        self.assertEqual(before[0], before[1])
        self.assertEqual(after, [str(largest_pipe(int(before[0]), 512 * 1024)), before[1]])

    @for_jails  # elsewhere a pipe's size is another
    def test_a_cap_within_a_read_of_several_frames_cuts_there(self):
        chunk, first, behind = 32_768, 60_000, 70_000
        cap = len("up\n") + first + chunk + behind
        second = chunk + 100_000  # a read that finds a whole chunk, and then one of the rest
        script = (
            f"echo up; {self.WAIT.format('one')}; {ZEROS.format(first)}; : >grown; "
            f"{self.WAIT.format('two')}; {ZEROS.format(second)}; : >full"
        )
        helper = self.helper()
        policy = self.policy(limits=client.limits(output_bytes=cap))
        run = self.running(helper, script, cwd=self.ws, policy=policy)
        self.fill(helper, "one", "grown")
        helper.until_output(run, b"\0" * first)
        whole = largest_pipe(1 << 16, 512 * 1024) >= second
        if whole:
            self.fill(helper, "two", "full")
        self.touch("two")
        chunks = []
        while (frame := helper.expect_any(run)).kind == "exec_out":
            run.take(frame)
            chunks.append(len(frame.body["data"]))
        run.take(frame)
        self.assertEqual((run.code, len(run.stdout), run.truncations["stdout"]), (0, cap, 1))
        if whole:
            self.assertEqual(chunks, [chunk, chunk, chunk, behind - 2 * chunk])

    # A packet's page keeps its mark wherever it is spliced to, and whoever reads less than all of it never sees
    # the rest (pipe(7), O_DIRECT): a broker would lose its place among the frames.
    @for_jails  # elsewhere a pipe has no packets
    def test_a_command_that_makes_its_stdout_a_pipe_of_packets_breaks_no_frame(self):
        rounds = 500
        flood = (
            "import fcntl, os; flags = fcntl.fcntl(1, fcntl.F_GETFL); page = b'n' * 4096; send = os.write\n"
            "def part(data):\n"
            "    while data: data = data[send(1, data):]\n"
            "part(page * 512)\n"
            f"for _ in range({rounds}):\n"
            "    fcntl.fcntl(1, fcntl.F_SETFL, flags); part(page)\n"
            "    fcntl.fcntl(1, fcntl.F_SETFL, flags | os.O_DIRECT); part(page)\n"
        )
        helper = self.helper()
        helper.read_size = 8192  # what a buffered reader asks for
        run = helper.execute(["/usr/bin/python3", "-c", flood])
        self.assertEqual(run.code, 0, bytes(run.stderr))
        self.assertEqual(run.exit["stdout_bytes"], len(run.stdout))
        # What the helper itself does not get of a packet was never counted.
        self.assertGreater(len(run.stdout), 512 * 4096)
        self.assertLessEqual(len(run.stdout), (512 + 2 * rounds) * 4096)
        helper.heartbeat()

    def test_a_flood_does_not_keep_the_other_stream_from_a_slow_broker(self):
        for flood, lines in ((1, 2), (2, 1)):
            with self.subTest(flooded=flood):
                helper = self.helper()
                helper.read_size = 1 << 16
                script = f"cat /dev/zero >&{flood} & while sleep 0.02; do echo line >&{lines}; done"
                run = self.start_shell(helper, script)
                name = "stdout" if lines == 1 else "stderr"
                heard = flooded = 0
                until = time.monotonic() + client.PATIENCE
                while heard < 10 and time.monotonic() < until:
                    frame = helper.receive()
                    self.assertEqual(frame.kind, "exec_out")
                    if frame.body["stream"] == name:
                        heard += frame.body["data"].count(b"\n")
                    else:
                        flooded += len(frame.body["data"])
                    time.sleep(0.0005)
                self.assertGreaterEqual(heard, 10)
                self.assertGreater(flooded, 1 << 20)
                helper.cancel(run)
                while helper.receive().kind != "exec_exit":
                    pass

    def assertQueued(self, first, read=0):
        """What comes on stderr after this flood on stdout, of which the broker reads so much, is queued."""
        count = self.path("count")
        script = (
            f"import os, time; {first}; taken = 0\n"
            f"count = os.open({count!r}, os.O_CREAT | os.O_WRONLY)\n"
            "while not os.path.exists('go'): time.sleep(0.02)\n"
            "while True:\n"
            "    taken += os.write(2, b'e' * 2000); os.pwrite(count, b'%-12d' % taken, 0)\n"
            "    time.sleep(0.005)\n"  # no flood itself
        )
        helper = self.helper()
        run = helper.start(["/usr/bin/python3", "-c", script], cwd=self.ws)

        def taken():
            with contextlib.suppress(OSError, ValueError), open(count, "rb") as file:
                return int(file.read())
            return 0

        self.assertTrue(client.wait_until(lambda: os.path.exists(count), client.PATIENCE))
        time.sleep(0.2)  # it has read what it may
        while len(run.stdout) < read:
            run.take(helper.expect("exec_out", run.id))
        self.touch("go")
        # More than both pipes hold, 512 and 64 KiB, and one read: what is above it waits in the helper.
        self.assertTrue(client.wait_until(lambda: taken() > 800_000, client.PATIENCE), taken())
        helper.cancel(run)
        helper.settle(run)

    # As long as it floods nothing more is read while anything waits; afterwards the other one may queue again.
    # bubblewrap's own processes keep the stream open.
    @for_jails  # elsewhere a pipe's size is another
    def test_a_stream_that_ended_in_a_flood_leaves_the_other_its_queue(self):
        self.assertQueued("os.write(1, b'x' * 32768); os.close(1)")

    @for_jails  # elsewhere a pipe's size is another
    def test_a_stream_that_rests_after_a_flood_leaves_the_other_its_queue(self):
        # With their frames they are more than the broker's pipe holds, so that the last one is no more followed by a
        # read that finds nothing.
        chunks = 512 // 32
        one = "os.write(1, b'x' * 32768); time.sleep(0.01)"
        self.assertQueued(f"[({one.replace('; ', ', ')}) for _ in range({chunks})]", read=chunks * 32768)

    def test_a_broker_that_does_not_read_fills_no_memory(self):
        helper = self.helper()
        self.shell(helper, "true")
        before = resident_kib(helper.pid)
        run = self.start_shell(helper, ZEROS.format(self.FLOOD))
        time.sleep(1.5)
        grown = resident_kib(helper.pid) - before
        self.assertLess(grown, 64 * 1024)
        helper.cancel(run)
        while (frame := helper.receive()).kind != "exec_exit":
            self.assertEqual(frame.kind, "exec_out")
        self.assertTrue(frame.body["cancelled"])


    # A piece that was spliced from a socket may be larger than a page: the pipe holds more than its size.
    @for_jails  # elsewhere nothing is spliced
    def test_what_is_in_the_pipe_at_the_end_is_whole(self):
        script = (
            "import fcntl, os, socket, sys, time\n"
            "print('up', flush=True)\n"
            "while not os.path.exists('go'): time.sleep(0.02)\n"
            f"fcntl.fcntl(1, {fcntl.F_SETPIPE_SZ}, 1 << 20)\n"
            "near, far = socket.socketpair()\n"
            "near.setblocking(False)\n"
            "total = 0\n"
            "os.set_blocking(1, False)\n"
            "try:\n"
            "    while True:\n"
            "        sent = near.send(b's' * 65536)\n"
            "        while sent:\n"
            "            moved = os.splice(far.fileno(), 1, sent); sent -= moved; total += moved\n"
            "except BlockingIOError: pass\n"
            "open('full', 'w').write(str(total))\n"
        )
        helper = self.helper()
        run = helper.until_output(helper.start(["/usr/bin/python3", "-c", script], cwd=self.ws), b"up\n")
        os.kill(helper.pid, signal.SIGSTOP)
        self.touch("go")
        filled = client.wait_until(lambda: os.path.exists(self.path("full")), client.PATIENCE)
        time.sleep(0.3)  # the command has ended, too
        os.kill(helper.pid, signal.SIGCONT)
        self.assertTrue(filled)
        helper.settle(run)
        with open(self.path("full"), encoding="ascii") as file:
            total = int(file.read())
        print(f"{total} bytes in a pipe of 1 MiB")
        self.assertEqual((run.code, bytes(run.stderr)), (0, b""))
        self.assertGreater(total, 1 << 20)
        self.assertEqual(len(run.stdout), len("up\n") + total)

    # Who writes is the other end of the command's stdout, outside of its jail: nobody of the run's to be killed.
    @for_jails  # elsewhere nobody opens another process's descriptor by its name
    def test_who_writes_on_after_the_end_fills_no_memory(self):
        helper = self.jailing_helper()
        self.shell(helper, "true")
        run = self.running(helper, "echo up; read line")
        own = client.descendants(helper.pid)
        commands = [pid for pid, name in own.items() if name in SHELLS and client.process_table()[pid][1] != "Z"]
        self.assertEqual(len(commands), 1, own)
        try:
            end = os.open(f"/proc/{commands[0]}/fd/1", os.O_WRONLY)
        except PermissionError:
            self.skipTest("this user may not open the command's stdout")
        writer = subprocess.Popen(["/bin/cat", "/dev/zero"], stdout=end, stderr=subprocess.DEVNULL)
        os.close(end)
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        time.sleep(0.3)  # all that may wait waits
        before = most = resident_kib(helper.pid)
        helper.send_raw(client.envelope(next(helper.ids), "exec_stdin", {"data": b"", "eof": True}), reading=False)
        until = time.monotonic() + client.PATIENCE
        while writer.poll() is None and time.monotonic() < until:
            most = max(most, resident_kib(helper.pid))
        self.assertIsNotNone(writer.poll(), "who writes on has not been let go")
        self.assertLess(most - before, 16 * 1024)
        helper.settle(run)
        self.assertEqual(run.code, 1)  # read(1) found no line
        self.assertGreater(len(run.stdout), 1 << 16)  # it did write
        self.assertLess(len(run.stdout), 8 << 20)
        helper.heartbeat()

    def test_a_cancel_arrives_behind_output_that_nobody_reads(self):
        helper = self.jailing_helper()
        self.shell(helper, "true")
        client.rest(helper)
        idle = len(client.left_of(helper.pid, 0))
        run = self.start_shell(helper, ZEROS.format(self.FLOOD))
        self.assertTrue(client.wait_until(lambda: len(client.left_of(helper.pid, 0)) > idle, 10))
        time.sleep(0.5)
        self.assertGreater(len(client.left_of(helper.pid, 0)), idle, "the flood waits for its reader")
        frame = client.envelope(run.id, "cancel", {})
        self.assertEqual(helper.send_raw(frame, reading=False), len(frame))
        self.assertTrue(client.wait_until(lambda: len(client.left_of(helper.pid, 0)) <= idle, 10))
        helper.settle(run)
        self.assertTrue(run.exit["cancelled"])
        helper.heartbeat()

    def unread(self, frames):
        """Sends heartbeats without reading an answer: how many, and the memory that it took."""
        helper = self.helper()
        data = b"".join(client.envelope(number, "heartbeat", {}) for number in range(1000, 1000 + frames))
        sent, most, quiet = 0, 0, time.monotonic()
        while sent < len(data) and time.monotonic() - quiet < 1.5:
            taken = helper.send_raw(data[sent : sent + (1 << 18)], timeout=0.2, reading=False)
            if taken:
                sent, quiet = sent + taken, time.monotonic()
            most = max(most, resident_kib(helper.pid))
        print(f"{sent} of {len(data)} bytes taken, {most} KiB resident")
        return helper, data, sent, most

    def test_a_broker_that_reads_no_reply_fills_no_memory_and_is_served_once_it_reads(self):
        helper, data, sent, most = self.unread(self.HEARTBEATS)
        self.assertLess(most, self.MOST_RESIDENT)
        self.assertLess(sent, len(data), "nothing held it back")
        self.assertEqual(helper.send_raw(data[sent:]), len(data) - sent)
        while len(helper.inbox) < len(data):
            self.assertTrue(select.select([helper.from_helper], [], [], client.PATIENCE)[0])
            self.assertTrue(helper.pull())
        self.assertTrue(helper.inbox == data, "the echoes are not what was sent")
        helper.inbox.clear()
        self.assertEqual(self.shell(helper, "exit 4").code, 4)


class ExitTest(WireCase):
    # The client checks the eleven keys of every exit it reads.
    def test_the_exit_has_eleven_keys_and_no_other(self):
        run = self.helper().execute(["/bin/true"])
        self.assertEqual(set(run.exit), set(client.EXIT_KEYS))
        self.assertEqual(len(run.exit), 11)

    # design D16
    def test_the_outcome_is_there_exactly_when_both_hellos_list_it(self):
        helper = self.helper(features=["exec-outcome-v1"])
        self.assertIn("exec-outcome-v1", helper.features)
        for script, status, name in (("exit 0", 0, "exited"), ("exit 7", 7, "exited")):
            run = self.shell(helper, script)
            self.assertEqual((run.code, run.exit["outcome"]["class"]), (status, name))
            self.assertEqual(set(run.exit["outcome"]), {"class", "detail", "first_cause"})
        run = helper.execute(["/no/such/program"])
        self.assertEqual((run.code, run.exit["outcome"]["class"]), (126, "exec"))
        run = helper.execute(["/bin/true"], cwd=self.path("absent"))
        self.assertEqual((run.code, run.exit["outcome"]["class"]), (126, "setup"))

    # design D16
    def test_the_outcome_tells_a_cancel_from_a_timeout(self):
        helper = self.helper(features=["exec-outcome-v1"])
        run = self.running(helper)
        helper.cancel(run)
        self.assertEqual(helper.settle(run).exit["outcome"]["class"], "cancelled")
        base = self.policy(limits=client.limits(wall_s=1))
        run = self.shell(helper, "sleep 30", policy=base)
        self.assertEqual(run.exit["outcome"]["class"], "timeout")


@for_jails
class ReportTest(WireCase):
    def whole(self, **given):
        """The report of a jail in which everything is in force."""
        helper = self.jailing_helper()
        self.needs(helper, "landlock", "seccomp")
        return helper.execute(["/bin/true"], policy=self.policy(**given)).enforcement

    # cases.md 97, 101, 107
    def test_the_base_layers_are_there_in_order_and_nothing_is_skipped(self):
        report = self.whole()
        self.assertEqual(report[0], "bwrap")
        self.assertRegex(report[1], MOUNTS)
        self.assertRegex(report[2], r"^landlock:abi=\d+$")
        self.assertEqual(report[3:5], ["no-new-privs", "seccomp-net"])
        self.assertFalse([entry for entry in report if entry.startswith("skip:")])

    def test_what_was_asked_for_is_there_and_what_was_not_is_absent(self):
        report = self.whole(limits=client.limits(cpu_s=30, fsize_bytes=1 << 20))
        self.assertEqual(report[2:4], ["rlimit-fsize", "rlimit-cpu"])
        report = self.whole()
        self.assertFalse([entry for entry in report if entry.startswith("rlimit-")])

    def test_full_network_claims_no_filter_of_it(self):
        self.assertNotIn("seccomp-net", self.whole(network={"mode": "full"}))
        self.assertIn("seccomp-net", self.whole(network={"mode": "off"}))

    # cases.md 106
    def test_a_proxy_is_cut_and_skipped_by_name(self):
        proxy = {"mode": "proxy", "allow": ["example.org"], "proxy": "127.0.0.1:9"}
        report = self.whole(network=proxy)
        self.assertIn("seccomp-net", report)
        skips = [entry for entry in report if entry.startswith("skip:")]
        self.assertEqual([entry.partition(": ")[0] for entry in skips], ["skip:network-proxy"])

    # cases.md 99, 108
    def test_a_ceiling_is_in_force_or_skipped_by_its_name(self):
        for name, file in (("mem_bytes", "memory.max"), ("pids", "pids.max")):
            with self.subTest(name):
                report = self.whole(limits=client.limits(**{name: 1 << 30}))
                skips = [e for e in report if e.startswith("skip:cgroup-v2: ")]
                self.assertEqual(len(skips) + report.count("cgroup-v2"), 1, report)
                for skip in skips:
                    self.assertIn(file, skip)
                    self.assertEqual("memory.max" in skip, name == "mem_bytes")
                    self.assertEqual("pids.max" in skip, name == "pids")

    def test_applied_entries_come_before_skips(self):
        proxy = {"mode": "proxy", "allow": [], "proxy": "127.0.0.1:9"}
        report = self.whole(network=proxy, limits=client.limits(mem_bytes=1 << 30))
        kinds = [entry.startswith("skip:") for entry in report]
        self.assertEqual(kinds, sorted(kinds))
        self.assertIn(True, kinds)

    def test_the_counts_are_those_of_the_policy(self):
        os.mkdir(self.path("secret"))
        report = self.whole(
            readable_roots=["/usr"],
            protected=[self.path("secret")],
            mounts=[{"path": "/etc", "access": "ro", "required": True}],
        )
        self.assertIn("mounts:ro=1,rw=1,mask=1,bind_ro=1,bind_rw=0,scratch=tmpfs", report[1])

    # cases.md 138
    def test_the_report_is_true_of_the_network(self):
        helper = self.jailing_helper()
        self.needs(helper, "seccomp")
        ask = "import socket; socket.socket(socket.AF_INET); print('made')"
        argv = ["/usr/bin/python3", "-c", ask]
        self.assertNotEqual(helper.execute(argv).code, 0)
        run = helper.execute(argv, policy=self.policy(network={"mode": "full"}))
        self.assertEqual((run.code, bytes(run.stdout)), (0, b"made\n"))

    # cases.md 139
    def test_the_report_is_true_of_the_files(self):
        helper = self.jailing_helper()
        other = self.path("other")
        os.mkdir(other)
        os.mkdir(self.path("own"))
        base = self.policy(writable_roots=[self.path("own")])
        script = "echo began; echo x > $0/x"
        run = helper.execute([SH, "-c", script, other], policy=base)
        self.assertEqual(bytes(run.stdout), b"began\n")
        self.assertNotEqual(run.code, 0)
        self.assertEqual(os.listdir(other), [])
        self.assertEqual(helper.execute([SH, "-c", script, self.path("own")], policy=base).code, 0)
        self.assertEqual(os.listdir(self.path("own")), ["x"])


class EnvironmentTest(WireCase):
    def printed(self, helper, allow, env):
        run = helper.execute(["/usr/bin/env"], env=env, policy=self.policy(env_allow=allow))
        return run.stdout.decode().splitlines()

    # cases.md 111, 112, 114
    def test_only_allowed_names_arrive_and_nothing_is_inherited(self):
        helper = self.jailing_helper(env={**os.environ, "INHERITED": "1"})
        given = {"HOME": "/h", "SECRET": "s", "HOMER": "x"}
        self.assertEqual(self.printed(helper, ["HOME", "INHERITED"], given), ["HOME=/h"])
        self.assertEqual(self.printed(helper, [], given), [])

    # cases.md 117, 118
    def test_the_search_path_is_rebuilt_without_writable_directories(self):
        helper = self.jailing_helper()
        os.mkdir(self.path("bin"))
        (line,) = self.printed(helper, ["PATH"], {"PATH": f"{self.path('bin')}:/usr/games:rel:/bin"})
        entries = line.removeprefix("PATH=").split(":")
        self.assertNotIn(self.path("bin"), entries)
        self.assertNotIn("rel", entries)
        self.assertTrue({"/usr/bin", "/bin"} <= set(entries))
        self.assertEqual(len(entries), len(set(entries)))

    # cases.md 122, 123
    @for_jails
    def test_the_scratch_is_named_truthfully(self):
        helper = self.jailing_helper()
        forged = {"LOOM_SCRATCH_DIR": "/forged"}
        self.assertEqual(self.printed(helper, ["LOOM_SCRATCH_DIR"], forged), ["LOOM_SCRATCH_DIR=/tmp"])
        self.assertEqual(self.printed(helper, [], forged), [])


if __name__ == "__main__":
    unittest.main()
