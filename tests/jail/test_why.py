"""`loom-exec why` against what then happens: fifty fixed questions, each asked by itself and in one
batch, and each done in a jail of its own under the same policy.
"""

import json

from jail import *

# argv: OPERATION PATH [TO]; "yes", or the error's name.
DOER = r"""
import errno, os, sys
operation, path, *rest = sys.argv[1:]

def execute():
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(path, [path, "-c", "exit 0"])
        except OSError as error:
            os._exit(error.errno)
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if ended != 0:
        raise OSError(ended, path)

def remove():
    if os.path.isdir(path) and not os.path.islink(path):
        return os.rmdir(path)
    return os.unlink(path)

acts = {
    "read": lambda: os.read(os.open(path, os.O_RDONLY), 1),
    "list": lambda: os.listdir(path),
    "write": lambda: os.open(path, os.O_WRONLY),
    "create": lambda: os.open(path, os.O_WRONLY | os.O_CREAT, 0o644),
    "remove": remove,
    "rename": lambda: os.rename(path, rest[0]),
    "execute": execute,
}
try:
    acts[operation]()
    print("yes")
except OSError as error:
    print(errno.errorcode.get(error.errno, error.errno))
"""

# W is the writable root, R a readable one, OUT a directory that the policy does not name.
QUESTIONS = """
read W/a                       read W/link                    read W/dangling
read W/key                     read W/secret/inner            read W/ro/a
read W/sub/../a                read W/missing                 read R/doc
read R/run                     read OUT/a                     read /etc/passwd
read /usr/bin/env              read /dev/null                 list W
list W/secret                  list W/ro                      list R
list OUT                       list /usr/bin                  write W/a
write W/link                   write W/key                    write W/ro/a
write R/doc                    write OUT/a                    write /etc/passwd
write /dev/null                create W/new                   create W/sub/new
create W/.env                  create W/ro/new                create R/new
create W/secret/new            create OUT/new                 create W/dangling
remove W/a                     remove W/link                  remove W/key
remove W/ro/a                  remove R/doc                   rename W/a W/b
rename W/a W/ro/b              rename W/key W/b               rename W/sub W/sub2
execute W/bin/yes              execute W/bin/no               execute W/bin/script
execute W/tool                 execute R/run
"""


class FiftyQuestions(JailCase):
    def questions(self):
        places = {"W": self.ws, "R": self.path("read"), "OUT": self.out}
        words = QUESTIONS.split()
        questions = []
        while words:
            taken = 3 if words[0] == "rename" else 2
            operation, *paths = words[:taken]
            del words[:taken]
            for index, path in enumerate(paths):
                head, slash, tail = path.partition("/")
                if head in places:
                    paths[index] = places[head] + slash + tail
            questions.append((operation, *paths))
        return questions

    def build(self):
        """The tree of the questions, made anew."""
        for top in ("ws", "out", "read"):
            shutil.rmtree(self.path(top), ignore_errors=True)
            self.directory(top)
        for name in ("a", "key", "secret/inner", "ro/a", "sub/a"):
            self.file("ws", *name.split("/"))
        self.link("a", "ws", "link")
        self.link("target", "ws", "dangling")
        for name in ("ws/bin/yes", "ws/bin/no", "ws/tool", "read/run"):
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            shutil.copy2("/usr/bin/true", self.path(name))
        self.program("ws", "bin", "script", text="#!/bin/sh\nexit 0\n")
        self.file("read", "doc")
        self.file("out", "a")

    def policy(self):
        return super().policy(
            v=3,
            readable_roots=[self.path("read"), self.path("ws", "ro")],
            protected=[self.path("ws", name) for name in ("key", "secret", ".env")],
            exec={
                "default": "deny",
                "allow": [
                    {"kind": "dir", "value": "/usr/bin"},
                    {"kind": "dir", "value": self.path("ws", "bin")},
                    {"kind": "file", "value": self.path("read", "run")},
                ],
                "deny": [{"kind": "file", "value": self.path("ws", "bin", "no")}],
                "support": "system",
                "memfd": "noexec",
                "required": True,
            },
        )

    def why(self, *words, stdin=None):
        policy = self.path("policy")
        with open(policy, "wb") as file:
            file.write(pack(self.policy()))
        return subprocess.run(
            [client.helper_path(), "why", "--policy", policy, *words],
            input=stdin,
            capture_output=True,
            cwd="/",
            timeout=LIMIT,
        )

    def test_each_answer_is_what_then_happens(self):
        self.build()
        questions = self.questions()
        self.assertEqual(len(questions), 50)
        single = [self.why("--json", *question) for question in questions]
        for question, asked in zip(questions, single):
            self.assertIn(asked.returncode, (0, 1), (question, asked.stderr))
        answers = [json.loads(asked.stdout) for asked in single]

        fields = b"".join(os.fsencode(word) + b"\0" for question in questions for word in question)
        batch = self.why("--requests", "-", stdin=fields)
        self.assertEqual([json.loads(line) for line in batch.stdout.splitlines()], answers)

        wrong = []
        with self.helper(base=self.policy()) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            for question, asked, answer in zip(questions, single, answers):
                self.build()
                run = self.settle(helper, helper.start([PYTHON, "-c", DOER, *question]))
                happened = run.stdout.decode().strip()
                self.assertEqual(asked.returncode == 0, answer["admitted"], asked)
                if (happened == "yes") != answer["admitted"]:
                    wrong.append((question, happened, answer["text"]))
        self.assertEqual(wrong, [])
        admitted = sum(answer["admitted"] for answer in answers)
        self.assertGreater(admitted, 15)
        self.assertGreater(50 - admitted, 15)

    def test_a_refusal_is_one_sentence_that_names_rule_and_path(self):
        self.build()
        key = self.path("ws", "key")
        told = self.why("read", key)
        self.assertEqual(told.returncode, 1, told)
        first = told.stdout.decode().splitlines()[0]
        self.assertIn(key, first)
        self.assertIn("protected[0]", first)
        told = self.why("read", self.path("ws", "a"))
        self.assertEqual(told.returncode, 0, told)
        self.assertIn("writable_roots[0]", told.stdout.decode())
