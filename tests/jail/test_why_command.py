"""The command line of `loom-exec why`: its forms, its statuses, and that it starts and changes nothing."""

import json

from jail import *

KEYS = ["op", "asked", "real", "admitted", "rule", "mount", "text", "denial"]


class WhyCommand(JailCase):
    def why(self, *words, stdin=None, cwd=None, env=None):
        return subprocess.run(
            [client.helper_path(), "why", *words],
            input=stdin,
            capture_output=True,
            cwd=cwd or self.ws,
            env={**os.environ, **(env or {})},
            timeout=LIMIT,
        )

    def answer(self, *words, **how):
        asked = self.why("--json", *words, **how)
        self.assertEqual(asked.stdout.count(b"\n"), 1, asked)
        answer = json.loads(asked.stdout)
        self.assertEqual(asked.returncode, 0 if answer["admitted"] else 1)
        return answer

    def test_the_answer_has_its_keys_in_order(self):
        file = self.file("ws", "f")
        admitted = self.answer("read", file)
        self.assertEqual(list(admitted), KEYS)
        self.assertEqual((admitted["op"], admitted["asked"], admitted["real"]), ("read", file, file))
        self.assertEqual(admitted["rule"]["list"], "writable_roots")
        self.assertEqual(admitted["mount"]["class"], "writable")
        self.assertIsNone(admitted["denial"])

        refused = self.answer("--protect", file, "read", file)
        self.assertEqual(list(refused), KEYS)
        self.assertFalse(refused["admitted"])
        self.assertEqual(refused["denial"]["reason"], refused["text"].partition(":")[0])
        self.assertEqual(refused["rule"], refused["denial"]["rule"])
        self.assertEqual(refused["rule"]["list"], "protected")

        renamed = self.answer("rename", file, self.path("ws", "g"))
        self.assertEqual(list(renamed), [*KEYS[:2], "to", *KEYS[2:]])
        self.assertTrue(renamed["admitted"])

    def test_a_relative_path_is_the_commands_own(self):
        self.file("ws", "sub", "f")
        here = self.answer("read", "f", cwd=self.path("ws", "sub"))
        self.assertEqual(here["real"], self.path("ws", "sub", "f"))
        there = self.answer("--workspace", self.ws, "--cwd", self.path("ws", "sub"), "read", "f", cwd="/")
        self.assertEqual(there["real"], self.path("ws", "sub", "f"))
        beside = self.file("ws", "g")
        up = self.answer("--workspace", self.ws, "read", "../g", cwd=self.path("ws", "sub"))
        self.assertEqual((up["admitted"], up["real"]), (True, beside))

    def test_a_program_is_looked_for_on_the_search_path(self):
        found = self.answer("execute", "env")
        self.assertEqual((found["admitted"], os.path.basename(found["real"])), (True, "env"))
        absent = self.answer("execute", "surely-no-such-program")
        self.assertEqual(absent["denial"]["reason"], "not_found")
        self.assertEqual(absent["denial"]["op"], "execute")

    def test_usage_errors_are_two_and_say_nothing_on_stdout(self):
        for words in ([], ["read"], ["read", "/a", "/b"], ["rename", "/a"], ["open", "/a"], ["--json"]):
            with self.subTest(words):
                asked = self.why(*words)
                self.assertEqual((asked.returncode, asked.stdout), (2, b""), asked)
                self.assertTrue(asked.stderr.startswith(b"loom-exec: "), asked)
        self.assertEqual(self.why("--requests", self.path("none")).returncode, 2)
        self.assertEqual(self.why("read", "/").returncode, 1)
        self.assertEqual(self.why("list", self.ws).returncode, 0)

    def test_a_policy_that_cannot_be_planned_is_125(self):
        asked = self.why("--mount", self.path("absent"), "read", self.ws)
        self.assertEqual((asked.returncode, asked.stdout), (125, b""), asked)
        self.assertIn(b"absent", asked.stderr)

    def test_without_a_launcher_there_is_nothing_to_judge_by(self):
        empty = self.directory("empty")
        asked = self.why("read", self.ws, env={"PATH": empty})
        self.assertEqual((asked.returncode, asked.stdout), (125, b""), asked)
        self.assertIn(b"bwrap", asked.stderr)

    def test_requests_are_answered_in_order_up_to_the_first_fault(self):
        self.file("ws", "f")
        good = b"read\0" + os.fsencode(self.path("ws", "f")) + b"\0rename\0f\0g\0execute\0env\0"
        asked = self.why("--requests", "-", stdin=good)
        self.assertEqual(asked.returncode, 0, asked)
        answers = [json.loads(line) for line in asked.stdout.splitlines()]
        self.assertEqual([answer["op"] for answer in answers], ["read", "rename", "execute"])
        self.assertTrue(all(answer["admitted"] for answer in answers), answers)

        file = self.path("requests")
        with open(file, "wb") as out:
            out.write(good + b"open\0/x\0read\0f\0")
        asked = self.why("--requests", file)
        self.assertEqual((asked.returncode, asked.stdout.count(b"\n")), (2, 3), asked)
        self.assertIn(b"request 4", asked.stderr)
        asked = self.why("--requests", "-", stdin=good[:-1])
        self.assertEqual((asked.returncode, asked.stdout.count(b"\n")), (2, 2), asked)

    def test_each_request_is_answered_before_the_next_is_sent(self):
        asker = subprocess.Popen(
            [client.helper_path(), "why", "--requests", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.ws,
        )
        with asker:
            for _ in range(3):
                asker.stdin.write(b"list\0.\0")
                asker.stdin.flush()
                self.assertTrue(json.loads(asker.stdout.readline())["admitted"])
            asker.stdin.close()
            self.assertEqual(asker.wait(LIMIT), 0)

    def code_of(self, asker):
        """The names of what a live process has mapped executable."""
        with open(f"/proc/{asker.pid}/maps") as maps:
            return " ".join(line.split()[5] for line in maps if " r-xp " in line and len(line.split()) > 5)

    def test_one_question_maps_the_backends_file_and_many_a_copy_that_nobody_can_write(self):
        command = [client.helper_path(), "why", "list", self.ws]
        ours, its = os.pipe()
        os.set_blocking(its, False)
        with self.assertRaises(BlockingIOError):
            while True:
                os.write(its, b"." * 4096)
        os.set_blocking(its, True)
        # It waits to print: its answer has no room in the pipe.
        one = subprocess.Popen(command, stdout=its, cwd=self.ws)
        os.close(its)
        deadline = time.monotonic() + LIMIT
        while "bwrap.so" not in self.code_of(one) and time.monotonic() < deadline:
            time.sleep(0.01)
        code = self.code_of(one)
        with open(ours, "rb") as pipe:
            self.assertTrue(pipe.read().rstrip().endswith(b'"'))
        self.assertEqual(one.wait(LIMIT), 0)
        self.assertIn("/backends/bwrap.so", code)
        self.assertNotIn("memfd", code)

        many = subprocess.Popen(
            [client.helper_path(), "why", "--requests", "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.ws,
        )
        with many:
            many.stdin.write(b"list\0.\0")
            many.stdin.flush()
            self.assertTrue(json.loads(many.stdout.readline())["admitted"])
            code = self.code_of(many)
            many.stdin.close()
            self.assertEqual(many.wait(LIMIT), 0)
        self.assertIn("memfd:loom-backend", code)
        self.assertNotIn("bwrap.so", code)

    def test_a_path_that_is_no_text_is_asked_byte_for_byte(self):
        name = os.fsencode(self.path("ws")) + b"/\xff\n"
        with open(name, "wb"):
            pass
        self.assertTrue(self.answer("read", name)["admitted"])
        self.assertEqual(self.answer("read", name + b"x")["denial"]["reason"], "missing")

    def test_nothing_is_made_for_an_absent_protected_path(self):
        absent = self.path("ws", "deep", ".env")
        before = self.listing(self.place)
        self.assertFalse(self.answer("--protect", absent, "create", absent)["admitted"])
        self.assertTrue(self.answer("--protect", absent, "create", self.path("ws", "other"))["admitted"])
        self.assertEqual(self.listing(self.place), before)
