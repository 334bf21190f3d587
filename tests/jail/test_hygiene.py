"""What leaks neither in nor out: dumps, descriptors, masks for new files, loader hooks, words."""

import resource

from probing import *

NOWHERE = "/nonexistent/loom-hook.so"  # the dynamic linker complains about it by name


def core_limit(soft, hard=None):
    now = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (soft, now if hard is None else hard))


def limits_of(pid, name):
    """Soft and hard as /proc/<pid>/limits has them."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        for line in file:
            if line.startswith(name):
                return tuple(line[len(name) :].split()[:2])
    raise AssertionError(name)


class NoCore(ProbingCase):
    def setUp(self):
        super().setUp()
        with open("/proc/sys/kernel/core_pattern", encoding="ascii") as file:
            self.pattern = file.read().strip()
        self.hard = resource.getrlimit(resource.RLIMIT_CORE)[1]

    def crash(self, prepare):
        with self.helper(prepare=prepare) as helper:
            self.needs(helper, "bwrap")
            script = "awk '/core file/ {print $5, $6}' /proc/self/limits; kill -SEGV $$"
            return self.settle(helper, helper.start([SH, "-c", script], cwd=self.ws))

    # guard 5.2: I3; field B71
    def test_a_crash_leaves_no_file_and_the_limit_also_keeps_a_handler_out(self):
        run = self.crash(lambda: core_limit(self.hard))
        self.assertEqual(self.outcome(run)["class"], "signalled")
        # One byte: less than any dump, and the one number that a piped handler is not given either.
        self.assertEqual(bytes(run.stdout), b"0 0\n" if self.hard == 0 else b"1 1\n")
        self.assertEqual(os.listdir(self.ws), [])
        named = [entry for entry in run.enforcement if entry.startswith("unheld:no-core")]
        self.assertEqual(bool(named), self.pattern.startswith("@") or (self.hard == 0 and self.pattern.startswith("|")))
        if self.hard != 0 and self.pattern[0] not in "|@/":
            # The control: without us there is one.
            subprocess.run([SH, "-c", "kill -SEGV $$"], cwd=self.out, preexec_fn=lambda: core_limit(self.hard),
                           stderr=subprocess.DEVNULL, timeout=LIMIT)
            self.assertEqual(len(os.listdir(self.out)), 1)

    def test_a_hard_limit_of_zero_stays(self):
        run = self.crash(lambda: core_limit(0, 0))
        self.assertEqual(bytes(run.stdout), b"0 0\n")
        named = [entry for entry in run.enforcement if entry.startswith("unheld:no-core")]
        self.assertEqual(bool(named), self.pattern[0] in "|@")

    def test_neither_the_helper_nor_anything_it_starts_dumps(self):
        policy = self.policy(protected=[self.path("ws/absent")])  # a caretaker makes it
        with self.helper(base=policy, prepare=lambda: core_limit(self.hard)) as helper:
            self.needs(helper, "bwrap")
            run = helper.until_output(helper.start([SH, "-c", "echo up; read line"]), b"up\n", LIMIT)
            below = client.descendants(helper.pid)
            self.assertIn("loom-caretaker", below.values())
            for pid in (helper.pid, *below):
                self.assertIn(limits_of(pid, "Max core file size")[0], ("0", "1"), below.get(pid))
            helper.stdin(b"x\n", eof=True)
            self.settle(helper, run)


class DescriptorLimit(ProbingCase):
    """The helper raises its own for jails with many mounts, and the command does not see that."""

    SCRIPT = "ulimit -Sn; ulimit -Hn"

    def set(self, soft, hard):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def printed(self, *flags, env=None):
        with self.helper(*flags, prepare=self.set(200, 600), env=env) as helper:
            self.assertEqual(limits_of(helper.pid, "Max open files"), ("600", "600"))
            return bytes(self.settle(helper, helper.start([SH, "-c", self.SCRIPT])).stdout)

    def test_the_commands_is_the_callers_with_a_jail_without_one_and_without_a_platform(self):
        self.assertEqual(self.printed(), b"200\n600\n")
        self.assertEqual(self.printed(env={**os.environ, "PATH": self.directory("nothing")}), b"200\n600\n")
        self.assertEqual(self.printed("--backend", "unsupported", "--allow-unenforced"), b"200\n600\n")

    def test_a_caller_without_a_margin_has_none_raised_and_gets_none_back(self):
        with self.helper(prepare=self.set(300, 300)) as helper:
            self.assertEqual(limits_of(helper.pid, "Max open files"), ("300", "300"))
            run = self.settle(helper, helper.start([SH, "-c", self.SCRIPT]))
            self.assertEqual(bytes(run.stdout), b"300\n300\n")


class CreationMask(ProbingCase):
    """The command has the helper's own, and nothing that the helper makes depends on it."""

    def test_whatever_it_is_the_jail_is_built_and_the_command_has_it(self):
        policy = self.policy(protected=[self.file("ws/.env"), self.path("ws/absent/deep")])
        script = "umask; : >$1/f-$2; mkdir $1/d-$2; cat $1/.env; ls -A $1/absent/deep; echo end"
        for mask in (0o000, 0o027, 0o077, 0o777):
            name = f"{mask:03o}"
            with self.subTest(mask=name), self.helper(base=policy, prepare=lambda: os.umask(mask)) as helper:
                self.needs(helper, "bwrap", "landlock")
                run = self.settle(helper, helper.start([SH, "-c", script, "sh", self.ws, name]))
                lines = bytes(run.stdout).decode().split()
                self.assertEqual((int(lines[0], 8), lines[1:]), (mask, ["end"]), self.story(run))
                self.assertNoSkips(run)
                self.assertApplied(run, "bwrap", "mounts", "landlock")
                for made, mode in ((f"ws/f-{name}", 0o666), (f"ws/d-{name}", 0o777)):
                    self.assertEqual(stat.S_IMODE(os.stat(self.path(made)).st_mode), mode & ~mask)
        self.assertFalse(os.path.exists(self.path("ws/absent")))


class Loader(ProbingCase):
    """A hook in the launcher would run before anything is confined."""

    COMPLAINT = NOWHERE.encode()

    def complaints(self, policy, helper_env=None, **start):
        """How often the dynamic linker tried the hook, as far as the run's stderr tells."""
        with self.helper(base=policy, env=helper_env) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", "echo up; read line"], **start)
            helper.until_output(run, b"up\n", LIMIT)
            for pid, name in client.descendants(helper.pid).items():
                if name == "bwrap":
                    with open(f"/proc/{pid}/environ", "rb") as file:
                        self.assertEqual(file.read(), b"")
            helper.stdin(b"x\n", eof=True)
            self.settle(helper, run)
            return bytes(run.stderr).count(self.COMPLAINT), run

    # guard 9.7: 136
    def test_a_hook_that_the_policy_lets_through_is_the_commands_own_affair(self):
        # Version 2 scrubs nothing (D5): the command asked for it, and is the first to load it.
        hook = {"LD_PRELOAD": NOWHERE}
        allowed = self.policy(env_allow=["PATH", "LD_PRELOAD"])
        count, run = self.complaints(allowed, env=hook)
        self.assertEqual(count, 1, self.story(run))
        count, run = self.complaints(self.policy(), env=hook)
        self.assertEqual(count, 0, self.story(run))

    # guard 9.7: 137
    def test_a_hook_in_the_helpers_own_environment_reaches_nothing_that_it_starts(self):
        allowed = self.policy(env_allow=["PATH", "LD_PRELOAD"])
        env = {**path_with(), "LD_PRELOAD": NOWHERE, "LD_LIBRARY_PATH": self.ws, "GLIBC_TUNABLES": "x"}
        count, run = self.complaints(allowed, helper_env=env)
        self.assertEqual(count, 0, self.story(run))
        control = subprocess.run(["/usr/bin/bwrap", "--version"], env=env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, timeout=LIMIT)
        self.assertIn(self.COMPLAINT, control.stderr)


class Words(ProbingCase):
    """Whatever stands where others can read it."""

    # argv: two halves of the canary. Which files show it, of the processes that this one sees.
    LOOK = (
        'printf %s "$1$2" >/tmp/words; grep -alFf /tmp/words /proc/[0-9]*/cmdline /proc/[0-9]*/environ'
        " /proc/[0-9]*/task/*/environ /proc/mounts >/tmp/seen 2>/dev/null & echo $$; echo $!; wait; cat /tmp/seen;"
        " echo looked; read line"
    )

    def sightings(self, canary):
        """(pid, file) of every process of the machine that shows it."""
        found = set()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            for name in ("cmdline", "environ", "comm"):
                try:
                    with open(f"/proc/{pid}/{name}", "rb") as file:
                        if canary in file.read():
                            found.add((int(pid), name))
                except OSError:
                    continue
        return found

    def look(self, rules=()):
        """A run whose every word is a canary, seen from inside and from outside."""
        canary = "c4nary" + os.urandom(6).hex()
        secret = self.file("ws", canary + "-file")
        policy = self.policy(
            readable_roots=[self.directory("out", canary)],
            protected=[secret, self.path("ws", canary + "-absent")],
            env_allow=["PATH", "SECRET"],
        )
        env = {**self.on(*rules), "TOKEN": canary}
        with self.helper(base=policy, env=env) as helper:
            self.needs(helper, "bwrap", "landlock")
            start = {"env": {"SECRET": canary}}
            run = helper.start([SH, "-c", self.LOOK, "sh", canary[:9], canary[9:]], **start)
            helper.until_output(run, b"looked\n")
            below = client.descendants(helper.pid)
            outside = self.sightings(canary.encode()) - {(helper.pid, "environ")}
            helper.stdin(b"x\n", eof=True)
            self.settle(helper, run)
        shells = {pid for pid, name in below.items() if name == "sh"}
        shell, grep, *inside = bytes(run.stdout).decode().splitlines()[:-1]
        return shells, below, outside, {shell, grep}, inside

    # field B61, B62
    def test_the_commands_variable_stands_in_its_own_environment_and_no_other_word_anywhere(self):
        for rules in ((), (PIDS,)):  # also where the jail shows the host's process table
            with self.subTest(rules=rules):
                shells, below, outside, ours, inside = self.look(rules)
                self.assertEqual(outside, {(pid, "environ") for pid in shells}, below)
                self.assertEqual(len(shells), 1)
                self.assertIn("loom-caretaker", below.values())
                own = {path for path in inside if "/environ" in path}
                self.assertEqual({path.split("/")[2] for path in own}, ours)  # the control, and nobody else
                # The view shows where the masks are; no command line does.
                self.assertEqual(set(inside) - own, {"/proc/mounts"})

    # field B62
    def test_process_1_of_the_jail_says_nothing_of_the_policy(self):
        script = "tr '\\0' ' ' </proc/1/cmdline; echo; (cat /proc/1/environ) 2>/dev/null || echo shut"
        line, environment = self.output(script, self.policy(protected=[self.file("ws/.env")])).splitlines()
        self.assertEqual(line.split(), ["bwrap", "--args", "10", "/proc/self/fd/11"])
        self.assertEqual(environment, "shut")


class Inherited(ProbingCase):
    # guard 9.7: 150; field B51
    def test_a_helper_that_was_started_with_signals_ignored_and_blocked_ends_runs_and_passes_nothing_on(self):
        def meddle():
            for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1})

        script = "grep -E '^Sig(Ign|Blk)' /proc/self/status; (yes; echo $? >&2) | head -1"
        with self.helper(prepare=meddle) as helper:
            self.needs(helper, "bwrap")
            for _ in range(3):
                run = self.settle(helper, helper.start(["/bin/bash", "-c", script]))
                *rows, last = bytes(run.stdout).decode().splitlines()
                self.assertEqual([int(row.split()[1], 16) for row in rows], [0, 0], self.story(run))
                self.assertEqual((last, bytes(run.stderr)), ("y", b"141\n"))

    # field B52
    def test_a_signal_that_the_broker_had_blocked_is_heard(self):
        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})

        with self.helper(prepare=block) as helper:
            run = self.settle(helper, helper.start([SH, "-c", "trap 'echo T' TERM; kill -TERM $$; wait"]))
            self.assertEqual(bytes(run.stdout), b"T\n")


if __name__ == "__main__":
    unittest.main()
