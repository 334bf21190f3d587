"""Attacks that are neither about one layer nor about one path (guard 9.7). Each stands beside what must
go on working.
"""

from probing import *
from test_exec import ExecCase, table


class Attacks(ExecCase):
    # guard 9.7: 144
    def test_the_root_of_a_process_of_the_jail_is_the_jails_own(self):
        self.file("out", "secret")
        inside = self.file("ws", "open", text="control\n")
        script = """
for root in /proc/self/root /proc/1/root; do
  for f; do cat "$root$f" 2>/dev/null || echo no; done
done
exit 0
"""
        policy = self.third(None)
        words = self.output(script, policy, args=(self.path("out/secret"), inside)).split()
        # Process 1 is outside of the command's Landlock domain, and not even looked at.
        self.assertEqual(words, ["no", "control", "no", "no"])

    # guard 9.7: 145
    def test_the_mode_of_a_masked_directory_cannot_be_changed(self):
        hidden = self.directory("ws", "hidden")
        self.file("ws", "hidden", "inner")
        beside = self.directory("ws", "beside")
        os.chmod(beside, 0o500)
        script = 'for d; do chmod 700 "$d" 2>/dev/null && echo changed || echo no; ls -A "$d" 2>/dev/null; done; exit 0'
        for policy in (self.third(None, protected=[hidden]), self.policy(protected=[hidden])):
            words = self.output(script, policy, args=(hidden, beside)).split()
            self.assertEqual(words, ["no", "changed"])
            os.chmod(beside, 0o500)

    # guard 9.7: 147
    def test_a_masked_file_gets_no_second_name(self):
        key = self.file("ws", "key")
        other = self.file("ws", "other")
        script = 'for f; do ln "$f" "$f.link" 2>&1 | grep -o "Invalid cross-device link"; cat "$f.link" 2>/dev/null || echo no; done; exit 0'
        words = self.output(script, self.third(None, protected=[key]), args=(key, other)).splitlines()
        self.assertEqual(words, ["Invalid cross-device link", "no", "S3CRET"])
        self.assertFalse(os.path.exists(key + ".link"))

    # guard 9.7: 148
    def test_another_spelling_of_an_absent_denied_program_does_not_run_when_it_is_made(self):
        tools = self.directory("ws", "tools")
        exec_table = table("deny", "+dir /usr/bin", f"+dir {tools}", f"-file {tools}/evil")
        script = 'for n in EVIL evil; do cp "$2" "$1/$n"; try $n "$1/$n"; done; cp "$2" "$3/free"; try free "$3/free"'
        free = self.directory("ws", "free")
        exec_table["allow"].append({"kind": "dir", "value": free})
        policy = self.third(exec_table)
        source = self.put("ws", "free", "source")
        self.assertTried(
            policy, script, tools, source, free, said={"EVIL": "126", "evil": "126", "free": "0"}
        )
        for name in ("EVIL", "evil"):
            self.assertGuard(policy, [f"{tools}/{name}"], "excluded_over_allowance")

    # guard 9.7: 149
    def test_one_thread_starts_every_jail_and_lives_as_long_as_the_helper(self):
        with self.helper(base=self.third(None)) as helper:
            self.needs(helper, "bwrap")
            for _ in range(3):
                run = helper.until_output(helper.start([SH, "-c", "echo up; sleep 600"]), b"up\n")
                self.assertEqual(os.listdir(f"/proc/{helper.pid}/task"), [str(helper.pid)])
                helper.send("cancel", {}, run.id)
                helper.settle(run, LIMIT)
                self.assertTrue(run.exit["cancelled"], self.story(run))

    # guard 9.7: 154
    def test_a_path_that_looks_like_an_option_is_a_path(self):
        names = ("--dev", "--bind", "--ro-bind-fd", "-")
        for name in names:
            self.file("ws", name, "kept", text="control\n")
        protected = [self.path("ws", "--dev")]
        readable = [self.path("ws", "--bind"), self.path("ws", "--ro-bind-fd")]
        exec_table = table("deny", "+dir /usr/bin", f"+dir {self.path('ws', '-')}")
        policy = self.third(exec_table, protected=protected, readable_roots=readable)
        self.assertJail(
            policy,
            can=[("read", self.path("ws", name, "kept")) for name in names[1:]]
            + [("create", self.path("ws", "-", "new"))],
            cannot=[("read", self.path("ws", "--dev", "kept"))]
            + [("create", self.path("ws", name, "new")) for name in names[:3]],
        )
