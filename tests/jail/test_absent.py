"""Absent protected paths: the command cannot create them, and the host shows no trace afterwards."""

import contextlib
import fcntl
import functools
import threading

from probing import *

PATIENCE = 10  # seconds for what a caretaker does after its helper's death


def tree(top):
    """Name, type and mode, and a file's size, of everything below: what the host must look like again."""
    rows = []
    for folder, names, files in os.walk(top):
        for name in names + files:
            path = os.path.join(folder, name)
            try:
                about = os.lstat(path)
            except FileNotFoundError:  # removed meanwhile
                continue
            size = about.st_size if stat.S_ISREG(about.st_mode) else 0
            rows.append((os.path.relpath(path, top), oct(about.st_mode), size))
    return sorted(rows)


def caretaker_of(helper):
    """The pid of a helper's caretaker."""
    found = [pid for pid, name in client.descendants(helper.pid).items() if name == "loom-caretaker"]
    return found[0] if found else None


class AbsentCase(ProbingCase):
    def setUp(self):
        super().setUp()
        client.become_subreaper()
        self.file("ws/open.txt", text="open\n")
        self.directory("ws/src")
        self.before = tree(self.ws)

    def absent(self, *names, **more):
        """A policy that protects names in the workspace."""
        return self.policy(protected=[self.path("ws", name) for name in names], **more)

    def assertNoTrace(self, *made):
        """The workspace is as before, but for what the command was allowed to make."""
        rows = [row for row in tree(self.ws) if row[0] not in made]
        self.assertEqual(rows, self.before)
        for name in made:
            self.assertTrue(os.path.lexists(self.path("ws", name)), f"{name} is not there")

    def assertTraceGoesAway(self):
        client.wait_until(lambda: tree(self.ws) == self.before, PATIENCE)
        self.assertEqual(tree(self.ws), self.before)

    def assertNobodyLeft(self, *helpers):
        """No process of a killed helper, its caretaker included."""

        def gone():
            client.reap_adopted(set(client.Helper.live))
            return not client.descendants()

        client.wait_until(gone, PATIENCE)
        self.assertEqual(client.descendants(), {})


# argv: the workspace. What becomes of directories that are on the way, of the path and of another.
MOVER = r"""
import errno, os, sys
os.chdir(sys.argv[1])
def attempt(name, path, action):
    try: action(path); print(name, path, "OK")
    except OSError as error: print(name, path, errno.errorcode[error.errno])
def move(path): os.rename(path, path + ".moved"); os.rename(path + ".moved", path)
def use(path): open(path + "/kept", "w").close()
for path in ("a", "a/b", "a/b/c", "src"): attempt("move", path, move)
for path in ("a", "a/b", "a/b/c", "src"): attempt("remove", path, os.rmdir)
os.mkdir("src")
for path in ("a", "a/b", "a/b/c", "src"): attempt("use", path, use)
os.unlink("a/b/kept")
"""


class Uncreatable(AbsentCase):
    # field B01
    # cases.md 58, 70
    # guard 9.2: 27
    def test_nothing_can_be_made_under_an_absent_protected_name(self):
        name = self.path("ws/.profile-x")
        script = (
            'cd "$1"\n'
            "try() { if eval \"$2\" 2>/dev/null; then echo \"$1 yes\"; else echo \"$1 no\"; fi; }\n"
            "for name in .profile-x other; do\n"
            '  try write "echo x >$name"; rm -f other\n'
            '  try directory "mkdir $name"; rmdir other 2>/dev/null\n'
            '  try link "ln -s /etc/passwd $name"; rm -f other\n'
            '  try hard "ln open.txt $name"; rm -f other\n'
            '  try rename "cp open.txt tmp && mv -T tmp $name"; rm -f other tmp\n'
            '  try fifo "mkfifo $name"; rm -f other\n'
            "done\n"
        )
        run = self.shell(script, self.absent(".profile-x"), args=[self.ws])
        attempts = ["write", "directory", "link", "hard", "rename", "fifo"]
        wanted = [f"{attempt} {word}" for word in ("no", "yes") for attempt in attempts]
        self.assertEqual(run.stdout.decode().splitlines()[1:], wanted, self.story(run))
        self.assertFalse(os.path.lexists(name))
        self.assertNoTrace()
        self.assertNoSkips(run)

    # field B01
    def test_what_is_written_into_a_nested_absent_path_reaches_neither_the_host_nor_a_later_run(self):
        policy = self.absent("a/b/c", "a/d", ".env")
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            script = (
                'cd "$1"; mkdir -p a/b/c && echo there\n'
                "for place in a/b/c a/d .env src; do\n"
                '  if echo evil >$place/f 2>/dev/null; then echo "$place taken"; fi\n'
                "done; rm src/f"
            )
            run = self.settle(helper, helper.start([SH, "-c", script, "sh", self.ws]))
            self.assertEqual(run.stdout.decode(), "there\nsrc taken\n", self.story(run))
            self.assertNoTrace()
            script = 'cd "$1"; ls -A a/b/c a/d .env src'
            later = self.settle(helper, helper.start([SH, "-c", script, "sh", self.ws]))
            self.assertEqual(
                later.stdout.decode(), ".env:\n\na/b/c:\n\na/d:\n\nsrc:\n", self.story(later)
            )
        self.assertNoTrace()

    def test_directories_on_the_way_can_be_used_and_neither_moved_nor_removed(self):
        policy = self.absent("a/b/c")
        run = self.execute([PYTHON, "-ISc", MOVER, self.ws], policy)
        self.assertEqual(
            run.stdout.decode().splitlines(),
            ["move a EBUSY", "move a/b EBUSY", "move a/b/c EBUSY", "move src OK"]
            + ["remove a EBUSY", "remove a/b EBUSY", "remove a/b/c EBUSY", "remove src OK"]
            + ["use a OK", "use a/b OK", "use a/b/c EROFS", "use src OK"],
            self.story(run),
        )
        os.unlink(self.path("ws/src/kept"))
        self.assertNoTrace("a", "a/kept")
        about = os.lstat(self.path("ws/a"))
        self.assertEqual(about.st_mode & 0o7000, 0, "it still looks like a placeholder")

    def test_a_scratch_on_the_host_can_have_absent_names_too(self):
        scratch = self.directory("scratch")
        gone = os.path.join(scratch, "gone")
        self.assertJail(
            self.policy(scratch=scratch, protected=[gone]),
            cannot=[("create", gone), ("create", gone + "/x"), ("mkdir", gone)],
            can=[("create", scratch + "/other")],
        )
        self.assertEqual(os.listdir(scratch), ["other"])

    def test_a_program_that_opens_an_absent_name_meets_an_empty_directory(self):
        printed = self.output(
            'cd "$1"; stat -c %F .env; ls -A .env; cat .env 2>&1; cat open.txt',
            self.absent(".env"),
            args=[self.ws],
        )
        self.assertEqual(printed, "directory\ncat: .env: Is a directory\nopen\n")

    # field B10
    def test_git_init_says_which_path_it_may_not_make_and_works_without_it(self):
        if shutil.which("git") is None:
            self.skipTest("there is no git")
        policy = self.absent("new/.git/hooks", env_allow=["PATH", "HOME"])
        script = 'cd "$1"; export HOME=/tmp; git init -q %s new'
        run = self.execute([SH, "-c", script % "", "sh", self.ws], policy)
        said = bytes(run.stderr).decode()
        self.assertTrue(run.code == 0 or "new/.git/hooks" in said, self.story(run))
        self.assertFalse(os.path.lexists(self.path("ws/new/.git/hooks")))
        shutil.rmtree(self.path("ws/new"))
        run = self.execute([SH, "-c", script % "--template=", "sh", self.ws], policy)
        self.assertEqual(run.code, 0, self.story(run))
        self.assertFalse(os.path.lexists(self.path("ws/new/.git/hooks")))
        answer = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", self.path("ws/new"), "status", "--porcelain"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.assertEqual((answer.returncode, answer.stdout), (0, b""))


class NoTrace(AbsentCase):
    POLICY = (".env", "a/b/c", "a/d", "src/deep/x")
    HOLD = "echo begin; echo x >src/while; echo running; exec sleep 60"

    def test_after_success_failure_cancel_and_a_full_clock_the_host_is_as_before(self):
        cases = {
            "success": ("exit 0", {}, False),
            "failure": ("exit 3", {}, False),
            "killed": ("kill -9 $$", {}, False),
            "wall clock": ("sleep 60", {"limits": client.limits(wall_s=1)}, False),
            "cancel": ("trap '' TERM; echo running; while :; do sleep 1; done", {}, True),
        }
        for name, (script, more, cancelled) in cases.items():
            with self.subTest(name), self.helper(base=self.absent(*self.POLICY, **more)) as helper:
                self.needs(helper, "bwrap")
                run = helper.start([SH, "-c", f"echo begin; {script}"])
                if cancelled:
                    helper.until_output(run, b"running", LIMIT)
                    self.assertNotEqual(tree(self.ws), self.before, "nothing was made at all")
                    helper.cancel(run)
                self.settle(helper, run)
                self.assertTrue(run.stdout.startswith(b"begin\n"), self.story(run))
                self.assertNoTrace()

    def test_a_run_that_is_refused_after_its_names_were_made_leaves_none(self):
        launcher = shutil.copy2(shutil.which("bwrap"), self.directory("fake"))
        environment = path_with(os.path.dirname(launcher))
        with self.helper(base=self.absent(*self.POLICY), env=environment) as helper:
            self.needs(helper, "bwrap")
            self.assertEqual(self.settle(helper, helper.start(["/bin/true"])).code, 0)
            with open(launcher, "ab") as file:
                file.write(b"x")
            run = helper.settle(helper.start(["/bin/true"]), LIMIT)
            self.assertIn("pin_changed", run.error["msg"])
            self.assertNoTrace()

    def test_a_run_whose_stage_2_gives_up_leaves_none(self):
        run = self.execute(["/bin/true"], self.absent(*self.POLICY), cwd=self.path("nowhere"))
        self.assertEqual((run.code, self.outcome(run)["class"]), (126, "setup"))
        self.assertNoTrace()

    def hold(self, helper):
        """A run that has begun and goes on."""
        run = helper.start([SH, "-c", self.HOLD], cwd=self.ws)
        return helper.until_output(run, b"running", LIMIT)

    # field B50
    def test_after_sigkill_of_the_helper_its_jail_is_gone_and_the_host_as_before(self):
        with self.helper(base=self.absent(*self.POLICY)) as helper:
            self.needs(helper, "bwrap")
            self.hold(helper)
            self.assertIsNotNone(caretaker_of(helper))
            self.assertTrue(os.path.lexists(self.path("ws/src/deep/x")))
            helper.kill()
            ended = helper.remaining(PATIENCE)  # up to the end of file: nobody holds the stream
            self.assertEqual([frame.kind for frame in ended], [])
        os.unlink(self.path("ws/src/while"))
        self.assertTraceGoesAway()
        self.assertNobodyLeft()

    def test_a_caretaker_that_is_killed_too_leaves_what_the_next_run_takes_away(self):
        with self.helper(base=self.absent(*self.POLICY)) as helper:
            self.needs(helper, "bwrap")
            self.hold(helper)
            os.kill(caretaker_of(helper), signal.SIGKILL)
            helper.kill()
        os.unlink(self.path("ws/src/while"))
        left = tree(self.ws)
        self.assertNotEqual(left, self.before)
        self.execute(["/bin/true"], self.absent(*self.POLICY))
        self.assertNoTrace()

    def test_a_run_that_loses_its_caretaker_is_ended_and_the_next_one_has_a_new_one(self):
        with self.helper(base=self.absent(*self.POLICY)) as helper:
            self.needs(helper, "bwrap")
            run = self.hold(helper)
            first = caretaker_of(helper)
            os.kill(first, signal.SIGKILL)
            self.settle(helper, run)
            self.assertEqual(bytes(run.stdout), b"begin\nrunning\n", self.story(run))
            self.assertEqual(self.outcome(run)["class"], "signalled", self.story(run))
            self.assertIn("caretaker of absent protected paths", self.outcome(run)["first_cause"])
            said = [entry for entry in run.enforcement if entry.startswith("unheld:placeholders=")]
            self.assertEqual(len(said), 1, self.story(run))
            self.assertIn("caretaker", helper.stderr_text())
            os.unlink(self.path("ws/src/while"))
            self.settle(helper, helper.start(["/bin/true"]))
            self.assertNotIn(caretaker_of(helper), (None, first))
            self.assertNoTrace()

    def test_at_whatever_moment_a_caretaker_is_killed_its_run_ends_and_says_so(self):
        verdicts = {}
        with self.helper(base=self.absent(".env")) as helper:
            self.needs(helper, "bwrap")
            self.settle(helper, helper.start(["/bin/true"]))
            for number in range(24):
                doomed = caretaker_of(helper)
                run = helper.start([SH, "-c", "echo begin; exec sleep 8"], cwd=self.ws)
                client.wait_until(lambda: os.path.lexists(self.path("ws/.env")), LIMIT, 0.0005)
                time.sleep(number * 0.001)
                os.kill(doomed, signal.SIGKILL)
                verdict = self.judge_loss(helper.settle(run, LIMIT), helper, doomed)
                verdicts[verdict] = verdicts.get(verdict, 0) + 1
                self.settle(helper, helper.start(["/bin/true"]))
                self.assertNoTrace()
        print(verdicts)

    def test_no_command_starts_where_the_end_and_stage_2_are_heard_of_at_once(self):
        with self.helper(base=self.absent(".env"), env=self.on()) as helper:
            self.needs(helper, "bwrap")
            self.settle(helper, helper.start(["/bin/true"]))
            self.file("choosy/slow", text="1500")
            run = helper.start([SH, "-c", "echo begin; exec sleep 60"], cwd=self.ws)
            self.assertTrue(client.wait_until(lambda: "bwrap" in client.descendants(helper.pid).values(), LIMIT))
            os.kill(helper.pid, signal.SIGSTOP)
            time.sleep(4)  # stage 2 is ready, and waits
            doomed = caretaker_of(helper)
            os.kill(doomed, signal.SIGKILL)
            # It ends in its own time, and what has not happened yet nobody hears of.
            client.wait_until(lambda: client.process_table().get(doomed, (0, "Z"))[1] == "Z", LIMIT)
            os.kill(helper.pid, signal.SIGCONT)
            self.assertEqual(self.judge_loss(helper.settle(run, LIMIT)), "setup")
            os.unlink(self.path("choosy/slow"))
            self.settle(helper, helper.start(["/bin/true"]))
        self.assertNoTrace()

    def judge_loss(self, run, helper=None, doomed=None):
        if run.error:
            self.assertIn("caretaker", run.error["msg"])
            return "refused"
        outcome = self.outcome(run)
        if doomed and outcome["class"] == "exited":
            # It had made the name and not said so yet: the run has another caretaker, which took it over.
            rows = client.process_table()
            heirs = [pid for pid in client.descendants(helper.pid) if rows.get(pid, (0, "Z"))[1:] == ("S", "loom-caretaker")]
            self.assertEqual(len(heirs), 1, self.story(run))
            self.assertNotEqual(heirs[0], doomed)
            return "taken over"
        self.assertIn("caretaker", outcome["first_cause"], self.story(run))
        self.assertIn(outcome["class"], ("setup", "signalled"), self.story(run))
        if outcome["class"] == "setup":
            self.assertEqual(bytes(run.stdout), b"", self.story(run))
        return outcome["class"]

    def test_a_caretaker_that_is_not_needed_for_a_name_may_end(self):
        with self.helper(base=self.absent(".env")) as helper:
            self.needs(helper, "bwrap")
            self.settle(helper, helper.start(["/bin/true"]))
            run = helper.start([SH, "-c", "echo running; read line; echo end"], policy=self.policy())
            helper.until_output(run, b"running", LIMIT)
            os.kill(caretaker_of(helper), signal.SIGKILL)
            helper.stdin(b"go\n")
            self.settle(helper, run)
            self.assertEqual((run.code, bytes(run.stdout)), (0, b"running\nend\n"), self.story(run))

    def test_a_helper_without_absent_paths_has_no_caretaker_and_one_that_ends_leaves_none(self):
        with self.helper(base=self.policy()) as helper:
            self.settle(helper, helper.start(["/bin/true"]))
            self.assertIsNone(caretaker_of(helper))
        with self.helper(base=self.absent(".env")) as helper:
            self.settle(helper, helper.start(["/bin/true"]))
            caretaker = caretaker_of(helper)
            self.assertIsNotNone(caretaker)
            helper.end_input()
            self.assertEqual(helper.wait_exit(), 0)
            self.assertNotIn(caretaker, client.process_table())

    def test_whatever_umask_the_helper_has_a_placeholder_is_one_for_others(self):
        policy = self.absent("a/b")
        with self.helper(base=policy, prepare=lambda: os.umask(0o777)) as odd, self.helper(
            base=policy
        ) as plain:
            self.needs(odd, "bwrap")
            run = odd.start([SH, "-c", "echo running; exec sleep 60"])
            odd.until_output(run, b"running", LIMIT)
            modes = [oct(os.lstat(self.path("ws", name)).st_mode & 0o7777) for name in ("a", "a/b")]
            self.assertEqual(modes, ["0o1755", "0o1444"])
            self.settle(plain, plain.start(["/bin/true"]))
            odd.cancel(run)
            self.settle(odd, run)
        self.assertNoTrace()

    def test_what_stays_has_the_mode_that_mkdir_gives(self):
        for mask in (0o002, 0o022, 0o077):
            for above in (0o755, 0o2755):
                with self.subTest(umask=oct(mask), above=oct(above)):
                    os.chmod(self.ws, above)
                    script = "echo x >a/kept; mkdir like; stat -c %a like; rmdir like"
                    prepare = functools.partial(os.umask, mask)
                    with self.helper(base=self.absent("a/b"), prepare=prepare) as helper:
                        self.needs(helper, "bwrap")
                        run = self.settle(helper, helper.start([SH, "-c", script], cwd=self.ws))
                    mode = format(os.lstat(self.path("ws/a")).st_mode & 0o7777, "o")
                    shutil.rmtree(self.path("ws/a"))
                    self.assertEqual(bytes(run.stdout).decode().strip(), mode, self.story(run))
        os.chmod(self.ws, 0o755)
        self.assertNoTrace()

    def test_a_person_gets_the_same_and_a_plan_makes_nothing(self):
        done = self.person(
            "--protect", self.path("ws/.env"), "--", SH, "-c", "echo x >.env || echo held; echo y >new"
        )
        self.assertEqual((done.status, done.stdout), (0, b"held\n"), done)
        self.assertNoTrace("new")
        os.unlink(self.path("ws/new"))
        exact = self.listing(self.ws)
        words = ["plan", "--protect", self.path("ws/a/.env"), "--", "/bin/true"]
        plan = subprocess.run(
            [client.helper_path(), *words], cwd=self.ws, stdout=subprocess.PIPE, timeout=LIMIT
        )
        self.assertEqual(plan.returncode, 0)
        self.assertIn(self.path("ws/a/.env").encode(), plan.stdout)
        self.assertEqual(self.listing(self.ws), exact)

    def test_where_the_helper_may_not_make_the_name_the_run_is_refused_and_says_which(self):
        locked = self.directory("ws/locked")
        os.chmod(locked, 0o555)
        policy = self.absent("locked/x", ".env")
        try:
            if os.geteuid() == 0:  # nothing is forbidden to the superuser
                self.execute(["/bin/true"], policy)
            else:
                message = self.refusal_with_caretaker(policy)
                self.assertIn(self.path("ws/locked/x"), message)
                self.assertIn("Permission denied", message)
            self.assertEqual(os.listdir(locked), [])
        finally:
            os.rmdir(locked)
        self.assertNoTrace()

    def refusal_with_caretaker(self, policy):
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            run = helper.settle(helper.start(["/bin/true"]), LIMIT)
            self.assertIsNotNone(run.error, f"it ran: {run.exit}")
            self.assertEqual(run.error["code"], "spawn_failed")
            return run.error["msg"]


class WithoutProcessOne(AbsentCase):
    """No pid namespace: the end of the launcher ends nobody who left its group."""

    # Leaves the group and its parents, and tries for as long as it lives.
    ESCAPE = (
        "setsid sh -c 'exec >/dev/null 2>&1 </dev/null; echo x >src/up;"
        " while :; do mkdir .env a/b; echo x >.env; done' &\n"
        "until test -e src/up; do sleep 0.01; done; rm src/up; echo running; "
    )

    def assertEscapeeIsGone(self):
        self.assertNoTrace()
        time.sleep(0.3)  # for one that lives on
        self.assertNoTrace()

    def test_who_left_the_group_is_ended_before_the_names_are_removed(self):
        policy, environment = self.absent(".env", "a/b"), self.on(PIDS)
        with self.helper(base=policy, env=environment) as helper:
            self.needs(helper, "bwrap")
            run = self.settle(helper, helper.start([SH, "-c", self.ESCAPE + "exit 0"], cwd=self.ws))
            self.assertEqual(bytes(run.stdout), b"running\n", self.story(run))
            self.unheld(run, "pid-namespace")
            self.assertEscapeeIsGone()

    def test_nor_does_it_outlive_a_killed_helper(self):
        policy, environment = self.absent(".env", "a/b"), self.on(PIDS)
        with self.helper(base=policy, env=environment) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", self.ESCAPE + "exec sleep 60"], cwd=self.ws)
            helper.until_output(run, b"running", LIMIT)
            helper.kill()
        self.assertTraceGoesAway()
        self.assertEscapeeIsGone()
        self.assertNobodyLeft()


class TwoHelpers(AbsentCase):
    """Two helpers in one workspace."""

    def begin(self, helper, script="echo running; read line; for p in $PATHS; do mkdir $p/x; done 2>/dev/null; ls -A $PATHS"):
        run = helper.start([SH, "-c", script], cwd=self.ws)
        return helper.until_output(run, b"running", LIMIT)

    def test_whoever_ends_first_takes_nothing_away_from_the_other(self):
        policy = self.absent(".env", "a/b")
        check = 'echo running; read line; mkdir .env/x a/b/x; rmdir .env a/b; echo z >.env; ls -A .env a/b; mkdir a/mine && rmdir a/mine && echo control'
        for first, second in ((0, 1), (1, 0)):
            with self.subTest(first=first), self.helper(base=policy) as one, self.helper(base=policy) as other:
                self.needs(one, "bwrap")
                helpers = (one, other)
                runs = [self.begin(helper, check) for helper in helpers]
                for i in (first, second):
                    helpers[i].stdin(b"go\n")
                    self.settle(helpers[i], runs[i])
                    said = bytes(runs[i].stdout)
                    self.assertEqual(said, b"running\n.env:\n\na/b:\ncontrol\n", self.story(runs[i]))
                    self.assertNoSkips(runs[i])
                    if i == first:
                        self.assertTrue(os.path.lexists(self.path("ws/a/b")))
                self.assertNoTrace()

    def test_shared_ways_go_with_the_last_who_needs_them(self):
        with self.helper(base=self.absent("a/b/c")) as one, self.helper(base=self.absent("a/d")) as other:
            self.needs(one, "bwrap")
            script = "echo running; read line"
            runs = [self.begin(helper, script) for helper in (one, other)]
            one.stdin(b"go\n")
            self.settle(one, runs[0])
            self.assertEqual([row[0] for row in tree(self.ws) if row not in self.before], ["a", "a/d"])
            other.stdin(b"go\n")
            self.settle(other, runs[1])
        self.assertNoTrace()

    def test_one_runs_protected_path_may_lie_on_the_way_to_anothers(self):
        with self.helper(base=self.absent("a")) as whole, self.helper(base=self.absent("a/b/c")) as part:
            self.needs(whole, "bwrap")
            script = "echo running; read line; mkdir a/b/c/x a/x 2>/dev/null; ls -A a; rmdir a/x; exit 0"
            for first, second in ((whole, part), (part, whole)):
                runs = {helper: self.begin(helper, script) for helper in (first, second)}
                for helper in (first, second):
                    helper.stdin(b"go\n")
                    self.settle(helper, runs[helper])
                self.assertEqual(bytes(runs[whole].stdout), b"running\n", self.story(runs[whole]))
                self.assertEqual(bytes(runs[part].stdout), b"running\nb\nx\n", self.story(runs[part]))
                self.assertNoTrace()

    def test_a_killed_helper_leaves_the_names_that_another_run_still_needs(self):
        policy = self.absent(".env", "a/b")
        with self.helper(base=policy) as one, self.helper(base=policy) as other:
            self.needs(one, "bwrap")
            script = "echo running; read line; mkdir .env/x a/b/x; ls -A .env a/b"
            self.begin(one, script)
            run = self.begin(other, script)
            caretaker = caretaker_of(one)
            one.kill()
            self.assertTrue(
                client.wait_until(lambda: client.process_table().get(caretaker, (0, "Z"))[1] == "Z", PATIENCE)
            )
            self.assertTrue(os.path.lexists(self.path("ws/a/b")))
            other.stdin(b"go\n")
            self.settle(other, run)
            self.assertEqual(bytes(run.stdout), b"running\n.env:\n\na/b:\n", self.story(run))
            self.assertNoSkips(run)
        self.assertNoTrace()

    def test_a_jail_that_does_not_protect_the_name_sees_the_placeholder_and_its_removal_is_reported(self):
        # A documented limit: the other policy may write there.
        name = self.path("ws/.env")
        with self.helper(base=self.absent(".env")) as one, self.helper(base=self.policy()) as other:
            self.needs(one, "bwrap")
            run = self.begin(one, "echo running; read line")
            script = "stat -c %F .env && rmdir .env && echo theirs >.env"
            theirs = self.settle(other, other.start([SH, "-c", script], cwd=self.ws))
            self.assertEqual(bytes(theirs.stdout), b"directory\n", self.story(theirs))
            one.stdin(b"go\n")
            self.settle(one, run)
            self.assertSkips(run, f"skip:mounts: protected {name} was replaced during the run")
        self.assertEqual(self.text(name), "theirs\n")

    def test_what_another_run_left_on_the_way_stays(self):
        with self.helper(base=self.absent("a/b")) as one, self.helper(base=self.policy()) as other:
            self.needs(one, "bwrap")
            run = self.begin(one, "echo running; read line")
            self.settle(other, other.start([SH, "-c", "echo x >a/theirs"], cwd=self.ws))
            one.stdin(b"go\n")
            self.settle(one, run)
        self.assertNoTrace("a", "a/theirs")
        self.assertEqual(os.lstat(self.path("ws/a")).st_mode & 0o7000, 0)


class Deceived(AbsentCase):
    """What a command does with modes makes a helper remove nothing else, and leave nothing behind."""

    def run_absent(self, script, *names, **how):
        return self.shell(script, self.absent(*names), cwd=self.ws, **how)

    def test_a_directory_that_a_command_marks_is_not_removed_above_a_placeholder(self):
        os.chmod(self.place, 0o1755)
        self.addCleanup(os.chmod, self.place, 0o711)
        self.file("ws/d/e/file")
        script = "rm open.txt d/e/file; rmdir src; chmod 1755 d d/e .; ls -A d/e"
        run = self.run_absent(script, ".env", "d/e/.env")
        self.assertEqual(bytes(run.stdout), b"begin\n.env\n", self.story(run))  # made, and gone below
        self.assertEqual([row[0] for row in tree(self.ws)], ["d", "d/e"])

    def test_a_command_that_locks_the_directory_above_keeps_nobody_from_removing(self):
        for name, script in (
            ("chmod", "chmod 500 ."),
            ("chmod below", "chmod 0 a; chmod 500 ."),
        ):
            with self.subTest(name):
                run = self.run_absent(script, ".env", "a/b/c")
                mode = os.lstat(self.ws).st_mode & 0o7777
                os.chmod(self.ws, 0o755)
                self.assertEqual(mode, 0o500, self.story(run))
                self.assertNoTrace()
                self.assertEqual([e for e in run.enforcement if "placeholders" in e], [])

    def test_what_a_command_leaves_in_a_marked_form_makes_no_placeholder_of_the_way(self):
        run = self.run_absent("mkdir -m 1755 a/x a/b/y; mkdir -m 1444 a/b/z", "a/b/.env")
        self.assertEqual(
            [row[0] for row in tree(self.ws) if row not in self.before], ["a", "a/b", "a/b/y", "a/b/z", "a/x"]
        )
        for name in ("a", "a/b"):
            self.assertEqual(os.lstat(self.path("ws", name)).st_mode & 0o7000, 0, self.story(run))

    def test_a_run_that_is_refused_takes_back_what_it_made_and_nothing_else(self):
        if os.geteuid() == 0:
            return  # nothing is forbidden to the superuser
        marked = self.directory("ws/src/marked")
        os.chmod(marked, 0o1755)
        os.chmod(self.directory("ws/z"), 0o555)
        try:
            self.assertIn(self.path("ws/z"), self.refusal_with_names("src/marked/private", "z/x"))
            self.assertEqual(os.listdir(self.path("ws/src")), ["marked"])
            self.assertEqual(os.listdir(marked), [])
        finally:
            os.chmod(self.path("ws/z"), 0o755)

    def refusal_with_names(self, *names):
        with self.helper(base=self.absent(*names)) as helper:
            self.needs(helper, "bwrap")
            run = helper.settle(helper.start(["/bin/true"]), LIMIT)
            self.assertIsNotNone(run.error, f"it ran: {run.exit}")
            return run.error["msg"]

    def test_a_mode_that_hides_a_masked_file_is_no_replacement(self):
        self.file("ws/d/secret")
        run = self.run_absent("cat d/secret || echo masked; chmod 0 d", "d/secret")
        os.chmod(self.path("ws/d"), 0o755)
        self.assertIn(b"masked", run.stdout, self.story(run))
        self.assertNoSkips(run)

    def test_a_policy_that_needs_too_many_or_too_deep_names_is_refused_at_once(self):
        deep = "/".join(["d"] * 260)
        self.assertIn("more than 250 directories deep", self.refusal_with_names(deep))
        limit = f"ulimit -Sn 256; ulimit -Hn 256; exec {client.helper_path()} run"
        words = [word for number in range(200) for word in ("--protect", f"x{number}/y")]
        done = subprocess.run(
            [SH, "-c", limit + ' "$@"', "sh", *words, "--", "/bin/true"],
            cwd=self.ws, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT,
        )
        self.assertNotEqual(done.returncode, 0, done)
        self.assertIn(b"placeholders for absent protected paths", done.stderr, done)
        self.assertNoTrace()


# argv: a directory on the way. Leaves a lock on it in a message that only this message could still receive.
LOCK_IN_TRANSIT = r"""
import array, fcntl, os, socket, sys
directory = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
fcntl.flock(directory, fcntl.LOCK_SH)
ends = socket.socketpair()
sent = array.array("i", [directory, ends[0].fileno(), ends[1].fileno()])
ends[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, sent)])
print("running", flush=True)
if sys.argv[2:]: import time; time.sleep(60)
"""


class Locked(AbsentCase):
    """A lock of the command's own makes no placeholder stay."""

    # Not at once everywhere: the kernel closes what is lost in transit when it comes to it.
    def test_a_lock_that_a_command_leaves_in_transit_keeps_no_name(self):
        with self.helper(base=self.absent("a/b", ".env")) as helper:
            self.needs(helper, "bwrap")
            for _ in range(3):
                run = self.settle(helper, helper.start([PYTHON, "-ISc", LOCK_IN_TRANSIT, self.path("ws/a")]))
                self.assertEqual(bytes(run.stdout), b"running\n", self.story(run))
                self.assertTraceGoesAway()

    def test_nor_after_sigkill_of_the_helper(self):
        with self.helper(base=self.absent("a/b", ".env")) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([PYTHON, "-ISc", LOCK_IN_TRANSIT, self.path("ws/a"), "wait"])
            helper.until_output(run, b"running", LIMIT)
            helper.kill()
        self.assertTraceGoesAway()
        self.assertNobodyLeft()

    def test_a_lock_that_somebody_keeps_keeps_the_name_and_no_process(self):
        with self.helper(base=self.absent("a/b")) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", "echo running; read line"])
            helper.until_output(run, b"running", LIMIT)
            lock = os.open(self.path("ws/a"), os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_SH)
                helper.stdin(b"go\n")
                self.settle(helper, run)
                helper.end_input()
                self.assertEqual(helper.wait_exit(), 0)
                self.assertNobodyLeft()
                self.assertNoTrace("a")
            finally:
                os.close(lock)
        self.execute(["/bin/true"], self.absent("a/b"))
        self.assertNoTrace()


# argv: a directory. Makes it with a token inside and removes it again, until its stdin ends.
MAKER = r"""
import os, random, select, shutil, sys
place = sys.argv[1]
def done(): return select.select([0], [], [], random.choice((0, 0.01, 0.2)) * random.random())[0]
print("begun", flush=True)
while not done():
    try:
        os.mkdir(place)
        if random.random() < 0.5: done()
        with open(place + "/b", "w") as file: file.write("TOKEN\n")
        if random.random() < 0.5: done()
    except OSError:
        pass
    shutil.rmtree(place, ignore_errors=True)
"""


class Races(AbsentCase):
    TRIES = 60

    @contextlib.contextmanager
    def maker(self, place):
        process = subprocess.Popen(
            [PYTHON, "-ISc", MAKER, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        try:
            self.assertEqual(process.stdout.readline(), b"begun\n")
            yield
        finally:
            process.stdin.close()
            process.wait(LIMIT)
            process.stdout.close()

    # field B14
    def test_a_directory_that_comes_and_goes_above_never_leaves_the_path_open_unsaid(self):
        verdicts = {}
        policy = self.absent("a/b")
        with self.maker(self.path("ws/a")), self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            for _ in range(self.TRIES):
                run = helper.settle(helper.start([SH, "-c", "echo begin; cat a/b"], cwd=self.ws), LIMIT)
                verdict = self.judge(run)
                verdicts[verdict] = verdicts.get(verdict, 0) + 1
        print(verdicts)
        shutil.rmtree(self.path("ws/a"), ignore_errors=True)
        control = self.shell('cat "$1"', args=[self.file("ws/a/b", text="TOKEN\n")])
        self.assertIn(b"TOKEN", control.stdout)
        shutil.rmtree(self.path("ws/a"))
        self.assertNoTrace()

    def judge(self, run):
        """Held, refused or reported; anything else is a leak."""
        if run.error:
            self.assertEqual(run.error["code"], "spawn_failed")
            self.assertIn(self.path("ws/a"), run.error["msg"])
            return "refused"
        said = [entry for entry in run.enforcement if entry.startswith("skip:mounts: ")]
        if b"TOKEN" in run.stdout:
            self.assertTrue(said, f"open and unreported: {self.story(run)}")
            return "open and reported"
        if run.stdout.startswith(b"begin"):
            return "held and reported" if said else "held"
        self.assertEqual(self.outcome(run)["class"], "setup", self.story(run))
        return "set-up refused"

    def test_two_helpers_that_start_and_end_at_once_lose_no_mask_and_leave_no_name(self):
        rounds = 30
        wishes = ((".env", "a/b/c"), ("a/b/d", ".env"))
        errors = []

        def drive(names):
            try:
                script = "mkdir .env/x; echo y >.env; ls -A .env; echo end"
                with self.helper(base=self.absent(*names)) as helper:
                    for _ in range(rounds):
                        run = self.settle(helper, helper.start([SH, "-c", script], cwd=self.ws))
                        self.assertEqual(bytes(run.stdout), b"end\n", self.story(run))
                        self.assertNoSkips(run)
            except Exception as problem:  # of a thread; told below
                errors.append(problem)

        drivers = [threading.Thread(target=drive, args=(names,)) for names in wishes]
        for driver in drivers:
            driver.start()
        for driver in drivers:
            driver.join()
        self.assertEqual(errors, [])
        self.assertNoTrace()


if __name__ == "__main__":
    unittest.main()
