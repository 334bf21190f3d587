"""Links on the way of an exec table's paths, where one command can replace them for the next (design 6:
no grant is derived from what a workspace holds). Each attack is two runs; beside it is the same link
where nobody can replace it, which works and of which nothing is said.
"""

import json

from jail import *
from jail import PersonRun
from test_exec import REFUSED, TRY, ExecCase, table

NOBODY = 65534


class LinksCase(ExecCase):
    USER = None  # who runs the helper; None: whoever runs the tests

    def setUp(self):
        super().setUp()
        self.reports = self.directory("reports")
        self.secret = self.file("secret", "key")
        self.tool = self.put("ws", "bin", "tool")
        self.give()

    def give(self):
        """What the test has made belongs to whoever runs the helper: no mode keeps anybody out."""
        if self.USER is None:
            return
        for folder, names, files in os.walk(self.place):
            for name in (".", *names, *files):
                os.chown(os.path.join(folder, name), self.USER, self.USER, follow_symlinks=False)

    def ran(self, policy, script, *args, options=("--demand=best-effort",), search=None):
        """A script under `loom-exec run`; the statuses of its attempts are in `said`."""
        self.give()
        document, report = self.path("policy"), self.path("reports", "report")
        with open(document, "wb") as file:
            file.write(pack(policy))
        user = {} if self.USER is None else {"user": self.USER, "group": self.USER, "extra_groups": []}
        done = subprocess.run(
            [client.helper_path(), "run", f"--policy={document}", "--report=json", f"--report-file={report}",
             *options, "--", SH, "-c", TRY + script, "sh", *args],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, cwd="/",
            env={"HOME": self.reports, "PATH": search or "/usr/local/bin:/usr/bin:/bin"}, **user,
        )
        run = PersonRun(done.returncode, done.stdout, done.stderr, json.loads(self.text(report) or "null"))
        run.said = dict(line.split(" ", 1) for line in done.stdout.decode().splitlines())
        return run

    def ok(self, policy, script, *args, said, **how):
        run = self.ran(policy, script, *args, **how)
        self.assertEqual(run.said, said, run)
        return run

    def silent(self, policy, script, *args, said, **how):
        """It runs under the demand that people have by default, and nothing is missing."""
        run = self.ok(policy, script, *args, said=said, options=(), **how)
        self.assertEqual([e for e in run.enforcement if e.startswith(("skip:", "exec-dropped"))], [], run)
        return run

    def named(self, run, what, path):
        skips = [e for e in run.enforcement if e.startswith("skip:")]
        words = f"skip:mounts: {what} program path {path} is reached through a link the command can replace"
        self.assertEqual(skips, [words], run)

    def refuses(self, policy, what, path, **how):
        """Where everything is demanded no command starts at all, and the path is named."""
        run = self.ran(policy, 'try started sh -c "exit 0"', options=(), **how)
        words = f"mounts ({what} program path {path} is reached through a link the command can replace)"
        self.assertEqual(run.status, 125, run)
        self.assertEqual(run.said, {}, run)
        self.assertIn(words.encode(), run.stderr)


class Allowances(LinksCase):
    def put_back(self):
        planted = self.path("ws/bin")
        if os.path.islink(planted):
            os.unlink(planted)
        else:
            shutil.rmtree(planted)
        os.rename(self.path("ws/b2"), planted)

    def test_a_command_cannot_aim_its_own_allowance_at_everything(self):
        bin_, ws = self.path("ws/bin"), self.ws
        policy = self.third(table("deny", "+sh", "+mv", "+ln", "+rm", "+mkdir", f"+dir {bin_}"))
        attempts = 'try tool "$1/bin/tool"; try id /usr/bin/id; try shell sh -c "exit 0"\n'
        for target in ("/", "/usr/bin", "/usr", ".."):
            with self.subTest(target):
                self.silent(policy, attempts + 'cd "$1"; mv bin b2; ln -s "$2" bin', ws, target,
                            said={"tool": "0", "id": REFUSED, "shell": "0"})
                run = self.ok(policy, 'try id /usr/bin/id; try shell sh -c "exit 0"', ws,
                              said={"id": REFUSED, "shell": "0"})
                self.named(run, "allowed", bin_)
                self.assertIn("exec-dropped=1", run.enforcement)
                self.refuses(policy, "allowed", bin_)
                self.put_back()
        self.silent(policy, attempts, ws, said={"tool": "0", "id": REFUSED, "shell": "0"})

    def test_nor_show_itself_what_the_operators_own_link_leads_to_by_way_of_the_workspace(self):
        for entry, start, name in (
            ("+dir " + self.link(self.path("ws/bin"), "x", "l"), 'mv bin b2; ln -s "$2" bin', "x/l"),
            ("+file " + self.link(self.tool, "x", "f"), 'mv bin b2; mkdir bin; ln -s "$2/key" bin/tool', "x/f"),
        ):
            with self.subTest(entry):
                policy = self.third(table("deny", "+sh", "+mv", "+ln", "+mkdir", "+cat", entry))
                reads = 'try tool "$1/bin/tool"; try key cat "$2/key"\n'
                self.silent(policy, reads + f'cd "$1"; {start}', self.ws, self.path("secret"),
                            said={"tool": "0", "key": "1"})
                run = self.ok(policy, 'try key cat "$1/key"; try beside cat "$2"', self.path("secret"),
                              self.file("ws/beside"), said={"key": "1", "beside": "0"})
                self.named(run, "allowed", self.path(name))
                self.refuses(policy, "allowed", self.path(name))
                self.put_back()

    def test_nor_choose_the_program_of_a_bare_name(self):
        searched = self.directory("searched")
        self.link(self.tool, "searched", "zz")
        os.chmod(self.secret, 0o755)
        search = f"{searched}:/usr/bin:/bin"
        policy = self.third(table("deny", "+sh", "+mv", "+ln", "+cat", "+zz"))
        script = 'try tool "$1/bin/$3"; try key cat "$2"\n'
        self.silent(policy, script + 'cd "$1/bin"; mv tool t2; ln -s "$2" tool', self.ws, self.secret, "tool",
                    said={"tool": "0", "key": "1"}, search=search)
        run = self.ok(policy, script, self.ws, self.secret, "t2", said={"tool": REFUSED, "key": "1"}, search=search)
        self.named(run, "allowed", "zz")
        self.refuses(policy, "allowed", "zz", search=search)

    def test_nor_the_directory_in_which_a_bare_name_is_looked_for(self):
        self.put("good", "zz")
        other = self.put("other", "zz")
        self.link(self.path("good"), "ws", "hop")
        searched = self.link(self.path("ws/hop"), "searched")
        policy = self.third(table("deny", "+sh", "+zz"), readable_roots=[self.path("good"), self.path("other")])
        script = 'try good "$1"; try other "$2"'
        paths = (self.path("good/zz"), other)
        for target in ("good", "other"):
            os.unlink(self.path("ws/hop"))
            self.link(self.path(target), "ws", "hop")
            run = self.ok(policy, script, *paths, said={"good": REFUSED, "other": REFUSED},
                          search=f"{searched}:/usr/bin:/bin")
            self.assertIn("exec-dropped=1", run.enforcement)
        # The control: a link that nobody can replace leads there.
        os.unlink(searched)
        self.link(self.path("good"), "searched")
        self.silent(policy, script, *paths, said={"good": "0", "other": REFUSED}, search=f"{searched}:/usr/bin:/bin")

    def test_a_read_only_region_that_was_absent_keeps_nothing_that_was_made_in_its_place(self):
        planted = self.path("ws/ro")
        exec_table = table("deny", "+sh", "+mkdir", "+ln", f"+dir {planted}/l")
        for given in (
            {"readable_roots": [planted]},
            {"mounts": [{"path": planted, "access": "ro", "required": False}]},
        ):
            with self.subTest(given):
                policy = self.third(exec_table, **given)
                self.silent_but_dropped(policy, 'try id /usr/bin/id; mkdir "$1"; ln -s /usr/bin "$1/l"', planted,
                                        said={"id": REFUSED})
                run = self.ok(policy, 'try id /usr/bin/id; try shell sh -c "exit 0"',
                              said={"id": REFUSED, "shell": "0"})
                self.named(run, "allowed", f"{planted}/l")
                self.refuses(policy, "allowed", f"{planted}/l")
                shutil.rmtree(planted)

    def silent_but_dropped(self, policy, script, *args, said):
        run = self.ok(policy, script, *args, said=said, options=())
        self.assertEqual([e for e in run.enforcement if e.startswith("skip:")], [], run)
        self.assertIn("exec-dropped=1", run.enforcement)

    def test_whoever_asks_why_is_told_of_the_allowance_that_was_dropped(self):
        link = self.link("/usr/bin", "ws", "l")
        document = self.path("policy")
        with open(document, "wb") as file:
            file.write(pack(self.third(table("deny", "+sh", f"+dir {link}"))))
        note = f"allowed program path {link} is reached through a link the command can replace, and allows nothing"
        for question, told in (("/usr/bin/id", True), (self.secret, False), (SH, False)):
            done = subprocess.run([client.helper_path(), "why", f"--policy={document}", "execute", question],
                                  capture_output=True, timeout=LIMIT)
            self.assertEqual(f"note: mounts: {note}\n" in done.stdout.decode(), told, done)
            self.assertEqual(done.returncode, 0 if question == SH else 1, done)

    def test_a_link_that_nobody_can_replace_is_followed_and_nothing_is_said(self):
        real = os.path.dirname(self.put("real", "t"))
        policy = self.third(table("deny", "+sh", f"+dir {self.link(real, 'x', 'l')}"))
        self.silent(policy, 'try t "$1/t"', real, said={"t": "0"})
        shown = self.directory("shown")
        policy = self.third(table("deny", "+sh", f"+dir {self.link(real, 'shown', 'l')}"),
                            readable_roots=[shown])
        self.silent(policy, 'try t "$1/t"; try replace sh -c "echo >\\"$2/new\\""', real, shown,
                    said={"t": "0", "replace": "2"})


class Exclusions(LinksCase):
    def test_what_is_denied_by_way_of_a_link_of_the_workspace_is_denied_and_reported(self):
        denied, beside = self.put("real", "t"), self.put("real", "u")
        link = self.link(self.path("real"), "ws", "l")
        for entry, name, others in ((f"-file {link}/t", f"{link}/t", "0"), (f"-dir {link}", link, REFUSED)):
            with self.subTest(entry):
                policy = self.third(table("allow", entry), readable_roots=[self.path("real")])
                script = 'try t "$1"; try u "$2"; try sh sh -c "exit 0"\n'
                run = self.ok(policy, script + 'cd "$3"; rm l; mkdir l', denied, beside, self.ws,
                              said={"t": REFUSED, "u": others, "sh": "0"})
                self.named(run, "denied", name)
                os.rmdir(link)
                self.link(self.path("real"), "ws", "l")
                self.refuses(policy, "denied", name)

    def test_of_a_link_that_nobody_can_replace_nothing_is_said(self):
        denied, beside = self.put("real", "t"), self.put("real", "u")
        link = self.link(self.path("real"), "x", "l")
        policy = self.third(table("allow", f"-file {link}/t"), readable_roots=[self.path("real")])
        self.silent(policy, 'try t "$1"; try u "$2"', denied, beside, said={"t": REFUSED, "u": "0"})


class Served(LinksCase):
    def test_what_a_run_under_the_base_policy_planted_grants_nothing_to_one_under_an_inline_policy(self):
        bin_ = self.path("ws/bin")
        base = self.third(table("deny", "+sh", "+mv", "+ln", f"+dir {bin_}"))
        reading = self.third(None, writable_roots=[], readable_roots=[self.ws])
        attempts = TRY + 'try tool "$1/bin/tool"; try id /usr/bin/id\n'
        with self.helper(base=base) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            said = []
            for script, inline in (
                (attempts, reading),
                (attempts + 'cd "$1"; mv bin b2; ln -s "$2" bin', None),
                (attempts, reading),
            ):
                given = {} if inline is None else {"policy": inline}
                run = self.settle(helper, helper.start([SH, "-c", script, "sh", self.ws, "/usr/bin"], **given))
                said.append(bytes(run.stdout))
            self.assertEqual(said[0], b"tool 0\nid 126\n")
            self.assertEqual(said[1], b"tool 0\nid 126\n")
            self.assertEqual(said[2], b"tool 127\nid 126\n")
            self.named(run, "allowed", bin_)

    def test_nor_what_one_under_an_inline_policy_planted_to_one_under_the_base_policy(self):
        bin_, other = self.path("ws/bin"), self.directory("other")
        entries = table("deny", "+sh", "+mv", "+ln", f"+dir {bin_}")
        base = self.third(entries, writable_roots=[other], readable_roots=[self.ws])
        attempts = TRY + 'try tool "$1/bin/tool"; try id /usr/bin/id\n'
        plants = 'cd "$1"; mv bin b2; ln -s "$2" bin'
        with self.helper(base=base) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            said = []
            for script, given in (
                (attempts, {}),
                (attempts + plants, {"policy": self.third(None)}),
                (attempts, {}),
            ):
                run = self.settle(helper, helper.start([SH, "-c", script, "sh", self.ws, "/usr/bin"], **given))
                said.append(bytes(run.stdout))
            self.assertEqual(said, [b"tool 0\nid 126\n"] * 2 + [b"tool 127\nid 126\n"])
            self.named(run, "allowed", bin_)

    def test_nor_a_program_where_a_bare_name_is_looked_for(self):
        bin_, other = self.path("ws/bin"), self.directory("other")
        base = self.third(table("deny", "+sh", "+cp", "+zz"))
        reading = self.third(None, writable_roots=[other], readable_roots=[self.ws])
        with self.helper(base=base, env={"PATH": f"{bin_}:/usr/bin:/bin"}) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            plants, seed = 'cp "$2" "$1/zz"', self.put("ws", "seed")
            for script, given in ((plants, {}), (TRY + 'try zz "$1/zz"; try cp cp "$2" /tmp', {"policy": reading})):
                run = self.settle(helper, helper.start([SH, "-c", script, "sh", bin_, seed], **given))
            self.assertEqual(bytes(run.stdout), b"zz 126\ncp 0\n", self.story(run))

    def test_a_start_that_was_refused_wrote_nothing(self):
        with self.helper(base=self.third(table("deny", "+dir /usr/bin"))) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            refused = helper.settle(
                helper.start(["/nope"], policy=self.third(None, writable_roots=["/usr"])), LIMIT)
            self.assertIsNotNone(refused.error)
            run = self.settle(helper, helper.start(["sed", "--version"]))
            self.assertEqual(run.code, 0, self.story(run))

    def test_beyond_what_is_remembered_everything_may_have_been_written(self):
        self.directory("late")
        link = self.link("/usr/bin/true", "late", "l")
        policy = self.third(table("deny", "+sh", f"+file {link}"))
        attempts = TRY + 'try true /usr/bin/true; try shell sh -c "exit 0"'
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            before = self.settle(helper, helper.start([SH, "-c", attempts]))
            for first in range(0, 1080, 60):
                roots = [self.directory("many", str(first + i)) for i in range(60)]
                self.settle(helper, helper.start([SH, "-c", "exit 0"], policy=self.third(None, writable_roots=roots)))
            after = self.settle(helper, helper.start([SH, "-c", attempts]))
        self.assertEqual(bytes(before.stdout), b"true 0\nshell 0\n", self.story(before))
        self.assertEqual(bytes(after.stdout), b"true 126\nshell 0\n", self.story(after))
        self.named(after, "allowed", link)

    def test_the_server_refuses_by_name_what_is_demanded(self):
        link = self.link("/usr/bin", "ws", "l")
        policy = self.third(table("deny", "+sh", f"+dir {link}"))
        message = self.refusal(policy, [SH, "-c", "exit 0"], flags=("--demand", "platform"))
        self.assertIn(f"mounts (allowed program path {link} is reached through a link", message)
        os.unlink(link)
        self.directory("ws", "l")
        run = self.execute([SH, "-c", "exit 0"], policy, flags=("--demand", "platform"))
        self.assertEqual(run.code, 0, self.story(run))


if os.geteuid() == 0:  # whoever else runs this is an ordinary user already

    class OrdinaryUser:
        USER = NOBODY

        @classmethod
        def setUpClass(cls):
            super().setUpClass()
            os.chmod(cls.made, 0o755)
            reached = subprocess.run([client.helper_path(), "--help"], user=NOBODY, group=NOBODY,
                                     extra_groups=[], capture_output=True)
            if reached.returncode != 0:
                raise unittest.SkipTest("no ordinary user can reach this build")

    class AllowancesOfAnOrdinaryUser(OrdinaryUser, Allowances):
        pass

    class ExclusionsOfAnOrdinaryUser(OrdinaryUser, Exclusions):
        pass


if __name__ == "__main__":
    unittest.main()
