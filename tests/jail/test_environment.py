"""What the command is given: variables, PATH, directory, descriptors, signals. And what leaks: nothing."""

from jail import *

# No shell between: what the kernel handed to the first program.
PRINT_ENVIRONMENT = [
    PYTHON,
    "-ISc",
    "import sys; sys.stdout.buffer.write(b'begin\\n' + open('/proc/self/environ', 'rb').read())",
]
FLOOR = ["/usr/local/bin", "/usr/bin", "/bin"]


class Variables(JailCase):
    def environment(self, allow, given, policy=None, **how):
        policy = {**(policy or self.policy()), "env_allow": allow}
        run = self.execute(PRINT_ENVIRONMENT, policy, env=given, **how)
        begin, _, rest = bytes(run.stdout).partition(b"\n")
        self.assertEqual(begin, b"begin", self.story(run))
        return rest.decode().split("\0")[:-1]

    def test_exactly_what_is_allowed_and_requested_arrives_sorted(self):
        # cases.md 111, 113, 114
        given = {"PATH": "/usr/bin", "HOME": "/h", "SECRET": "s", "PATH_EXTRA": "x", "A B": "odd"}
        got = self.environment(["PATH", "HOME", "UNREQUESTED"], given, helper_env=path_with())
        self.assertEqual(got, ["HOME=/h", "PATH=/usr/bin:/usr/local/bin:/bin"])
        self.assertEqual(self.environment(["A B"], given), ["A B=odd"])

    def test_allowing_nothing_leaves_nothing_and_no_pwd(self):
        # cases.md 112, 125
        env = {**path_with(), "SECRET": "s", "LANG": "C", "PWD": "/"}
        self.assertEqual(self.environment([], {"SECRET": "s"}, helper_env=env, cwd=self.ws), [])
        self.assertEqual(self.environment(["SECRET"], {"SECRET": "s"}), ["SECRET=s"])

    def test_loader_variables_of_the_helper_do_not_reach_the_jail(self):
        env = {**path_with(), "LD_PRELOAD": "", "LD_LIBRARY_PATH": self.ws, "GCONV_PATH": self.ws}
        self.assertEqual(self.environment(["LANG"], {"LANG": "C"}, helper_env=env), ["LANG=C"])

    def test_the_scratch_is_announced_and_cannot_be_forged(self):
        # cases.md 122, 123
        forged = {"LOOM_SCRATCH_DIR": "/forged"}
        self.assertEqual(
            self.environment(["LOOM_SCRATCH_DIR"], forged), ["LOOM_SCRATCH_DIR=/tmp"]
        )
        self.assertEqual(self.environment(["LOOM_SCRATCH_DIR"], {}), ["LOOM_SCRATCH_DIR=/tmp"])
        self.assertEqual(self.environment([], forged), [])
        scratch = self.directory("scratch")
        self.assertEqual(
            self.environment(["LOOM_SCRATCH_DIR"], forged, self.policy(scratch=scratch)),
            [f"LOOM_SCRATCH_DIR={scratch}"],
        )

    def test_tmpdir_is_the_callers_and_works_in_a_writable_root(self):
        # cases.md 124
        policy = self.policy(env_allow=["PATH", "TMPDIR"])
        printed = self.output('echo "$TMPDIR"; mktemp', policy, env={"TMPDIR": self.ws})
        self.assertEqual(printed.splitlines()[0], self.ws)
        self.assertTrue(printed.splitlines()[1].startswith(self.ws + "/tmp."))


class SearchPath(JailCase):
    def search_path(self, requested, inherited, policy=None):
        policy = {**(policy or self.policy()), "env_allow": ["PATH"]}
        with self.helper(base=policy, env={**os.environ, "PATH": inherited}) as helper:
            return self.search_path_in(helper, requested)

    def search_path_in(self, helper, requested, **start):
        given = {} if requested is None else {"PATH": requested}
        run = self.settle(helper, helper.start(PRINT_ENVIRONMENT, env=given, **start))
        text = bytes(run.stdout).decode()
        self.assertTrue(text.startswith("begin\nPATH="), self.story(run))
        return text[len("begin\nPATH=") : -1].split(":")

    def test_inherited_entries_are_kept_when_they_are_directories_and_absolute(self):
        # cases.md 115, 119
        a, b, file = self.directory("a"), self.directory("b"), self.file("file")
        inherited = f"{a}:{b}:{a}:{self.path('missing')}:relative::{file}"
        self.assertEqual(self.search_path(None, inherited), [a, b, *FLOOR])

    def test_an_empty_or_hostile_path_leaves_the_floor(self):
        # cases.md 116
        for inherited in ("", ":::", "relative:./x", self.path("missing")):
            self.assertEqual(self.search_path("", inherited), FLOOR)

    def test_nothing_that_the_command_can_write_is_searched(self):
        # cases.md 117, 121
        self.directory("ws/bin")
        outside, tmp = self.directory("a"), self.under_tmp()
        bad = f"{self.ws}/bin/.:{self.ws}/../ws/bin:{tmp}:/tmp:{self.ws}//bin/"
        policy = self.policy(writable_roots=[self.ws + "/"])
        self.assertEqual(self.search_path(f"{bad}:{outside}", bad, policy), [outside, *FLOOR])
        scratch = self.directory("scratch/bin")
        policy = self.policy(scratch=self.path("scratch"))
        self.assertEqual(self.search_path(f"{scratch}:{tmp}", "", policy), [tmp, *FLOOR])

    def test_nothing_in_a_read_write_mount_is_searched(self):
        mounted = self.directory("mounted/bin")
        entry = {"path": self.path("mounted"), "access": "rw", "required": True}
        self.assertEqual(self.search_path(mounted, mounted, self.policy(mounts=[entry])), FLOOR)
        entry["access"] = "ro"
        self.assertEqual(
            self.search_path(mounted, "", self.policy(mounts=[entry])), [mounted, *FLOOR]
        )

    def test_requested_entries_come_first_and_nothing_twice(self):
        # cases.md 118, 120
        a, b = self.directory("a"), self.directory("b")
        self.assertEqual(
            self.search_path(f"{b}:/bin", f"{a}:/usr/bin:{b}"),
            [b, "/bin", a, "/usr/bin", "/usr/local/bin"],
        )

    def test_each_run_gets_the_directories_that_are_there_then(self):
        """What one run found is not what the next one gets: not after any of these, nor another policy."""
        a, b, ws = self.directory("a"), self.directory("b"), self.directory("ws/bin")
        policy = self.policy(env_allow=["PATH"])
        for flags in ([], ["--no-warm"]):
            with self.helper(*flags, base=policy, env=path_with()) as helper:
                self.needs(helper, "bwrap")

                def finds(*directories, requested=f"{a}:{b}", **start):
                    for _ in range(2):  # and once more what was found a moment ago
                        if not flags:  # beside a waiting jail, which is for no command yet
                            client.wait_until(lambda: client.waiting_jail(helper.pid), 0.5)
                        found = self.search_path_in(helper, requested, **start)
                        self.assertEqual(found, [*directories, *FLOOR])

                finds(a, b)
                finds(b, requested=b)
                finds(requested=None)
                finds(a, b)
                os.rename(b, self.path("c"))
                finds(a)
                os.symlink(self.path("c"), b)
                finds(a, b)
                os.unlink(b)
                os.symlink(ws, b)
                finds(a)
                os.unlink(b)
                os.rename(self.path("c"), b)
                finds(a, b)
                os.rename(a, self.path("d"))
                self.file("a")
                finds(b)
                os.unlink(a)
                os.rename(self.path("d"), a)
                finds(b, policy={**policy, "writable_roots": [self.ws, a]})
                finds(a, b)

    def test_a_program_planted_in_the_workspace_is_not_the_one_that_runs(self):
        self.program("ws/ls", text="#!/bin/sh\necho planted\n")
        policy, env = self.policy(), {"PATH": f"{self.ws}:/usr/bin"}
        run = self.execute(["ls", "/usr"], policy, env=env, cwd=self.ws)
        self.assertIn(b"bin\n", bytes(run.stdout))
        run = self.execute([self.path("ws/ls")], policy, env=env)
        self.assertEqual(bytes(run.stdout), b"planted\n")


class Directory(JailCase):
    def test_the_command_starts_where_it_was_told_and_in_the_root_when_not(self):
        for cwd, seen in ((self.ws, self.ws), ("", "/"), ("/tmp", "/tmp"), (self.ws + "/", self.ws)):
            self.assertEqual(self.output("/bin/pwd -P", cwd=cwd), seen + "\n")

    def assertNotRun(self, cwd, *words):
        mark = self.path("ws/mark")
        run = self.execute([SH, "-c", f"echo x >{mark}"], cwd=cwd)
        self.assertEqual(run.code, 126, self.story(run))
        self.assertFalse(os.path.exists(mark))
        self.assertEqual(self.outcome(run)["class"], "setup")
        for word in (cwd, *words):
            self.assertIn(word, self.outcome(run)["detail"])
        self.assertApplied(run, "bwrap", "mounts", "landlock")

    def test_a_directory_that_is_not_there_is_named_and_nothing_runs(self):
        self.assertNotRun(self.path("ws/missing"), "No such file or directory")

    def test_a_directory_that_exists_only_on_the_host_is_not_in_the_jail(self):
        self.assertNotRun(self.out, "No such file or directory")

    def test_a_file_is_no_directory_to_start_in(self):
        self.assertNotRun(self.file("ws/file"), "Not a directory")

    def test_a_directory_that_cannot_be_searched_is_named(self):
        closed = self.directory("ws/closed")
        os.chmod(closed, 0o600)
        self.addCleanup(os.chmod, closed, 0o700)
        # No capability is left to step over it, not even for uid 0.
        self.assertNotRun(closed, "Permission denied")

    def test_a_masked_directory_is_empty_to_start_in(self):
        self.file("ws/vault/key")
        policy = self.policy(protected=[self.path("ws/vault")])
        self.assertEqual(self.output("ls -A; echo end", policy, cwd=self.path("ws/vault")), "end\n")

    def test_a_directory_that_is_no_absolute_path_is_refused_before_the_start(self):
        for cwd in ("relative", "./x", "/a\0b", "/" + "x" * 4095):
            with self.subTest(cwd=cwd[:20]):
                self.refusal(cwd=cwd)


class Descriptors(JailCase):
    LIST = [PYTHON, "-ISc", "import os; print('begin', sorted(map(int, os.listdir('/proc/self/fd'))))"]

    def leak(self):
        """What a careless broker does: descriptors 4 to 63 open on a secret, none close-on-exec."""
        fd = os.open(self.path("out/secret"), os.O_RDONLY)
        for number in range(4, 64):
            os.dup2(fd, number, inheritable=True)

    def setUp(self):
        super().setUp()
        secret = self.file("out/secret")
        # Control: any other program is given them.
        listed = subprocess.run(
            ["/bin/readlink", "/proc/self/fd/40"],
            stdout=subprocess.PIPE,
            close_fds=False,
            preexec_fn=self.leak,
        )
        self.assertEqual(listed.stdout.decode(), secret + "\n")

    def test_the_command_has_three_descriptors_whatever_the_broker_left_open(self):
        # cases.md 160
        with self.helper(prepare=self.leak) as helper:
            self.needs(helper, "bwrap")
            for policy in (None, self.policy(network={"mode": "full"}, scratch=self.ws)):
                run = self.settle(helper, helper.start(self.LIST, policy=policy))
                # One more, by which the list itself is read.
                self.assertEqual(bytes(run.stdout), b"begin [0, 1, 2, 3]\n", self.story(run))
            run = self.settle(helper, helper.start([SH, "-c", "echo begin; cat <&7"]))
            self.assertEqual(bytes(run.stdout), b"begin\n")

    def test_a_command_of_a_degraded_run_has_three_descriptors_too(self):
        env = {**os.environ, "PATH": self.directory("nothing")}
        with self.helper(prepare=self.leak, env=env) as helper:
            self.assertIn("degraded", helper.features)
            run = self.settle(helper, helper.start(self.LIST))
            self.assertEqual(bytes(run.stdout), b"begin [0, 1, 2, 3]\n", self.story(run))

    def test_the_processes_of_the_jail_keep_none_of_the_helpers_descriptors(self):
        with self.helper(prepare=self.leak) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", "echo up; read line"])
            helper.until_output(run, b"up\n")
            for pid, name in client.descendants(helper.pid).items():
                with self.subTest(process=name):
                    targets = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
                    self.assertNotIn(self.path("out/secret"), targets)
                    self.assertFalse([t for t in targets if "policy" in t or "socket" in t], targets)
            helper.stdin(b"x\n", eof=True)
            self.settle(helper, run)

    def test_the_descriptor_limit_is_the_callers(self):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        printed = self.output("ulimit -Sn; ulimit -Hn").split()
        names = ["unlimited" if value == resource.RLIM_INFINITY else str(value) for value in (soft, hard)]
        self.assertEqual(printed, names)


class Signals(JailCase):
    STATUS = ["/bin/cat", "/proc/self/status"]

    # field B51
    def test_dispositions_and_mask_are_the_defaults_whatever_the_broker_did(self):
        def meddle():
            for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(
                signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1, signal.SIGINT}
            )

        with self.helper(prepare=meddle) as helper:
            self.needs(helper, "bwrap")
            for policy in (None, self.policy(network={"mode": "full"})):
                run = self.settle(helper, helper.start(self.STATUS, policy=policy))
                rows = dict(line.split(":\t", 1) for line in run.stdout.decode().splitlines() if ":\t" in line)
                for row in ("SigBlk", "SigIgn", "SigCgt", "ShdPnd", "SigPnd"):
                    self.assertEqual(int(rows[row], 16), 0, f"{row} {rows[row]}")

    # field B51
    def test_a_command_whose_reader_left_dies_of_the_broken_pipe(self):
        def ignore():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)

        with self.helper(prepare=ignore) as helper:
            run = self.settle(helper, helper.start([SH, "-c", "(yes; echo status $? >&2) | head -1"]))
            self.assertEqual((bytes(run.stdout), bytes(run.stderr)), (b"y\n", b"status 141\n"))

    def test_the_command_leads_a_session_without_a_terminal(self):
        printed = self.output("cut -d' ' -f6 /proc/$$/stat; echo $$; (echo </dev/tty) 2>/dev/null || echo none")
        session, own, terminal = printed.split()
        self.assertEqual((session, terminal), (own, "none"))


class NoLeaks(JailCase):
    def sightings(self, canary, root="/proc"):
        """(pid, file, name) of every process whose command line or environment shows the canary."""
        found = []
        for pid in filter(str.isdigit, os.listdir(root)):
            for name in ("cmdline", "environ"):
                try:
                    with open(f"{root}/{pid}/{name}", "rb") as file:
                        if canary in file.read():
                            found.append((int(pid), name))
                except OSError:
                    continue
        return found

    # field B62
    def test_policy_and_variables_stand_in_no_process_but_the_commands_own(self):
        canary = "c4nary" + os.urandom(6).hex()
        secret_dir = self.directory("ws", canary + "-dir")
        secret = self.file("ws", canary + "-file")
        policy = self.policy(
            writable_roots=[self.ws, secret_dir],
            readable_roots=[self.directory("out", canary)],
            protected=[secret],
            env_allow=["PATH", "CANARY"],
        )
        env = {**path_with(), "HELPER_SECRET": "h" + canary}
        script = (
            "echo up; for f in /proc/[0-9]*/cmdline /proc/[0-9]*/environ; do"
            ' case $(tr "\\0" "\\n" <$f 2>/dev/null) in *"$1"*) echo "$f";; esac; done;'
            " echo done; read line"
        )
        with self.helper(base=policy, env=env) as helper:
            self.needs(helper, "bwrap")
            start = {"env": {"CANARY": canary}}
            # The command gets only half of the canary as an argument, or its own line would show it.
            run = helper.start([SH, "-c", script, "sh", canary[1:]], **start)
            helper.until_output(run, b"done\n")
            below = client.descendants(helper.pid)
            outside = self.sightings(canary.encode())
            shells = [pid for pid, name in below.items() if name == "sh"]
            self.assertTrue(shells, below)
            mine = {helper.pid, os.getpid()}
            rest = [row for row in outside if row[0] not in mine and row[1] == "environ"]
            self.assertEqual({pid for pid, _ in rest}, set(shells))  # the control, and nobody else
            self.assertEqual([row for row in outside if row[1] == "cmdline"], [])
            inside = bytes(run.stdout).decode().splitlines()[1:-1]
            bwraps = [pid for pid, name in below.items() if name == "bwrap"]
            self.assertEqual(len(bwraps), 2, below)
            for pid in bwraps:
                with open(f"/proc/{pid}/environ", "rb") as file:
                    self.assertEqual(file.read(), b"")
            self.assertNotIn("/proc/1/environ", inside)
            self.assertNotIn("/proc/1/cmdline", inside)
            helper.stdin(b"x\n", eof=True)
            self.settle(helper, run)


if __name__ == "__main__":
    unittest.main()
