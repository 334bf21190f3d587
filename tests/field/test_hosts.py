"""Field reports C: hosts on which jails cannot be built as they should, or are said to be.

Unless a demand is made, a helper on such a host runs the command with what is left and says so
(D21, D24); what a report calls a refusal is the answer to STRICT.
"""

import errno

from field import *
from world import World, bind, mount, tmpfs

EPERM, EAGAIN, EINVAL = errno.EPERM, errno.EAGAIN, errno.EINVAL
NEW_USER = 0x10000000  # CLONE_NEWUSER
SHARED, RECURSIVE = 1 << 20, 1 << 14  # MS_SHARED, MS_REC
NO_USER_NAMESPACES = [(name, EINVAL, (0, NEW_USER, False)) for name in ("clone", "unshare")]

# Prints what a jail's process table shows, and tries what another process of the user's could lose.
LOOK_AROUND = r"""
echo begin
sleep 60 & own=$!
for p in /proc/[0-9]*; do p=${p#/proc/}
  test "$p" = $$ || test "$p" = "$own" || ! kill -0 "$p" 2>/dev/null || echo "reached $p"
done
kill -0 $own && echo "reached own"
cat /proc/[0-9]*/environ /proc/[0-9]*/task/*/environ 2>/dev/null | tr '\0' '\n' >/tmp/seen
grep -E 'SHOWN|TOKEN' /tmp/seen | sort -u
ls -d /proc/[0-9]* | wc -l
kill $own
"""


class HostCase(FieldCase):
    def setUp(self):
        super().setUp()
        self.mark = self.path("ws/ran")
        self.command = f"echo x >{self.mark}; echo ran"

    def assertNothingRan(self, attempt, *words):
        self.assertRefused(attempt, *words)
        self.assertFalse(os.path.exists(self.mark), attempt)
        return attempt

    def assertItRan(self, attempt):
        self.assertRan(attempt)
        self.assertEqual(attempt.lines, ["ran"], attempt)
        os.unlink(self.mark)
        return attempt

    def assertWeaker(self, attempt, *words):
        """It ran without a jail, and says so in these words."""
        self.assertItRan(attempt)
        self.assertTrue(attempt.exit["degraded"], attempt)
        said = "".join(attempt.entries("skip:bwrap:"))
        for word in words:
            self.assertIn(word, said, attempt)
        self.assertEqual(attempt.entries("mounts:") + attempt.entries("bwrap"), [], attempt)

    def run_it(self, flags=STRICT, policy=None, **how):
        return self.attempt(self.command, policy, flags, jails=False, **how)


class Restricted(HostCase):
    """User namespaces that are made and are powerless, as Ubuntu's AppArmor rules make them."""

    def setUp(self):
        super().setUp()
        self.needs_our_calls()

    @staticmethod
    def no_map(uid):
        """Rules for the calls that write a map ("0 UID 1" or "UID UID 1", as bubblewrap may need),
        told by their lengths: nothing else that is written on the way has one of them."""
        return [("write", EPERM, (2, len(f"{inner} {uid} 1\n"), True)) for inner in (0, uid)]

    def restricted(self, uid):
        """A container of an ordinary user where the sysctl is on."""
        sysctls = self.directory("sysctl")
        for name in os.listdir("/proc/sys/kernel"):
            try:
                self.file("sysctl", name, text=self.text(f"/proc/sys/kernel/{name}"))
            except OSError:
                pass
        self.file("sysctl/apparmor_restrict_unprivileged_userns", text="1\n")
        user = ["--unshare-user", "--uid", str(uid), "--gid", str(uid)]
        return [BWRAP, *user, "--dev-bind", "/", "/", "--bind", sysctls, "/proc/sys/kernel", "--"]

    # field B34
    def test_b34_a_powerless_user_namespace_is_refused_with_the_sysctl_and_the_profile(self):
        uid = os.getuid() or 1000
        container = self.restricted(uid)
        strict = self.run_it(before=[*container, *under(*self.no_map(uid))])
        self.assertNothingRan(
            strict,
            "setting up uid map: Operation not permitted",
            "kernel.apparmor_restrict_unprivileged_userns",
            "/etc/apparmor.d/bwrap",
        )
        for weakening in ("sysctl -w", "=0", "best-effort", "setuid"):
            self.assertNotIn(weakening, strict.reasons)
        self.assertItRan(self.run_it(before=container))

    # field B34
    def test_b34_what_the_probe_found_is_what_every_execution_says(self):
        fault = self.filtered(*self.no_map(os.getuid()))
        with self.field_helper(None, STRICT, prepare=fault) as helper:
            answers = [self.attempt_on(helper, self.command) for _ in range(3)]
        for answer in answers:
            self.assertNothingRan(answer, "setting up uid map: Operation not permitted")
        self.assertEqual(len({answer.reasons for answer in answers}), 1)
        weak = self.run_it(DEGRADED, prepare=fault)
        self.assertWeaker(weak, "setting up uid map: Operation not permitted")
        self.assertItRan(self.run_it())

    # field B34
    def test_b34_a_loopback_that_cannot_be_set_up_is_refused_where_the_network_is_to_be_cut(self):
        netlink = 12  # bytes of such an address; what is sent within pairs has none
        fault = self.filtered(("sendto", EPERM, (5, netlink, True)))
        self.assertNothingRan(self.run_it(prepare=fault), "network", "loopback: Failed RTM_NEWADDR")
        opened = self.run_it(policy=self.base(network={"mode": "full"}), prepare=fault)
        self.assertItRan(opened)


class Containers(HostCase):
    """A container runtime that masks parts of /proc: nobody inside may mount another one."""

    def look_around(self, before, flags=STRICT, **how):
        env = {**os.environ, "TOKEN": "loom-canary"}
        policy = self.base(env_allow=["PATH", "SHOWN"])
        how = {"before": before, "helper_env": env, "env": {"SHOWN": "own"}, **how}
        run = self.attempt(LOOK_AROUND, policy, flags, **how)
        self.assertEqual(self.assertRan(run).lines[:1], ["begin"], run)
        return run

    # field B35
    def test_b35_a_masked_proc_costs_the_private_process_table_and_the_report_says_so(self):
        # Not a refusal: the process table is an invariant, never promised (guard 5.1, I6).
        for flags in (STRICT, DEGRADED):
            with self.subTest(flags=flags):
                run = self.look_around(masked_proc(), flags)
                said = "".join(run.entries("unheld:pid-namespace="))
                self.assertIn("mount proc", said, run)
                self.assertIn("masks parts of /proc", said, run)
                self.assertEqual(run.skips, [], run)
        control = self.look_around([BWRAP, "--unshare-user", "--dev-bind", "/", "/", "--"])
        self.assertEqual(control.entries("unheld:pid-namespace"), [], control)
        self.assertLessEqual(int(control.lines[-1]), 8, control)

    # field B36
    def test_b36_the_containers_processes_may_be_seen_then_and_neither_read_nor_signalled(self):
        run = self.look_around(masked_proc())
        self.assertEqual(run.lines[1:3], ["reached own", "SHOWN=own"], run)
        self.assertEqual(len(run.lines), 4, run)
        self.assertIn("scopes=abstract,signal", run.report, run)
        unjailed = subprocess.run(  # the control: without a jail the token is there for all to read
            [*masked_proc(), SH, "-c", "cat /proc/[0-9]*/environ; true"],
            env={**os.environ, "TOKEN": "loom-canary"}, stdout=subprocess.PIPE, check=True,
        )
        self.assertIn(b"TOKEN=loom-canary", unjailed.stdout)

    # field B36
    def test_b36_without_landlock_nothing_would_keep_them_apart_and_the_run_is_refused(self):
        self.needs_our_calls()
        blind = under(("landlock_create_ruleset", errno.EOPNOTSUPP))
        both = masked_proc() + blind
        self.assertNothingRan(self.run_it(STRICT, before=both), "andlock")
        self.assertNothingRan(self.run_it(DEGRADED, before=both), "process table", "Landlock")
        self.assertItRan(self.run_it(DEGRADED, before=blind))


class Root(HostCase):
    # field B37
    def test_b37_uid_0_keeps_no_capability_and_remounts_nothing(self):
        script = (
            'grep Cap /proc/self/status; mount -o remount,bind,rw /usr 2>/dev/null && echo remounted\n'
            'mknod "$1/x" c 1 3 2>/dev/null && echo made; touch "$1/plain" && echo control\n'
            'touch "/usr/$2" 2>/dev/null && echo wrote; true'
        )
        run = self.assertHeld(self.attempt(script, flags=STRICT, args=[self.ws, NEW]))
        sets = dict(line.split(":\t") for line in run.lines[:5])
        self.assertEqual(set(sets), {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}, run)
        self.assertEqual({int(value, 16) for value in sets.values()}, {0}, run)
        self.assertEqual(run.lines[5:], ["control"], run)
        self.assertIn("caps=none", run.report)
        self.assertFalse(os.path.exists("/usr/" + NEW))


class OldOnes(HostCase):
    def old(self, option):
        """The environment of a helper that finds a bubblewrap without that option."""
        self.file("fake/unknown", text=option)
        return path_with(self.path("fake"))

    def setUp(self):
        super().setUp()
        self.careless_bwrap()

    # field B38
    def test_b38_a_bubblewrap_too_old_for_any_jail_is_refused_with_the_option_it_lacks(self):
        # Its version is not looked at: options come and go by distribution, so they are tried (D4).
        for option in ("--args", "--die-with-parent"):
            with self.subTest(option=option):
                env = self.old(option)
                self.assertNothingRan(self.run_it(helper_env=env), "Unknown option " + option)
                self.assertWeaker(self.run_it(DEGRADED, helper_env=env), "Unknown option " + option)
        os.unlink(self.path("fake/unknown"))
        self.assertItRan(self.run_it(helper_env=path_with(self.path("fake"))))

    # field B38
    def test_b38_a_bubblewrap_that_only_binds_by_name_is_used_and_the_report_says_so(self):
        run = self.assertItRan(self.run_it(helper_env=self.old("--ro-bind-fd")))
        self.assertIn("mounts-by=name", run.report, run)
        self.assertEqual(run.skips, [], run)
        os.unlink(self.path("fake/unknown"))
        run = self.assertItRan(self.run_it(helper_env=path_with(self.path("fake"))))
        self.assertIn("mounts-by=handle", run.report, run)

    # field B38
    def test_b38_a_kernel_without_user_namespaces_is_refused_before_any_command(self):
        fault = self.filtered(*NO_USER_NAMESPACES)
        words = "Creating new namespace failed"
        self.assertNothingRan(self.run_it(prepare=fault), words)
        self.assertWeaker(self.run_it(DEGRADED, prepare=fault), words)
        self.assertItRan(self.run_it())


class Aliases(HostCase):
    # field B39
    def test_b39_a_shared_mount_that_holds_itself_outside_the_roots_is_no_matter(self):
        place = self.directory("alias")

        def nest():
            tmpfs(place)
            mount(None, place, flags=SHARED)
            os.makedirs(place + "/x/y")
            bind(place, place + "/x/y")
            with open("/proc/self/mountinfo", encoding="utf-8") as file:
                return sum(place in line for line in file)

        world = World(self, nest)
        self.assertGreaterEqual(int(world.result), 2)
        run = self.assertItRan(self.run_it(before=world.enter))
        self.assertEqual(run.skips, [], run)
        shown = self.attempt('ls "$1/x/y"; echo end', before=world.enter, args=[place], flags=STRICT)
        self.assertEqual(shown.lines, ["end"], shown)
        granted = self.base(readable_roots=[place])  # the control: it is there
        shown = self.attempt('ls "$1/x"', granted, before=world.enter, args=[place], flags=STRICT)
        self.assertEqual(shown.lines, ["y"], shown)


class Search(HostCase):
    # field B40
    def test_b40_a_bubblewrap_in_the_workspace_is_never_started_and_the_systems_is_found(self):
        fake = self.careless_bwrap()
        self.directory("ws/bin")
        shutil.copy2(os.path.join(fake, "bwrap"), self.path("ws/bin/bwrap"))
        trace = self.path("ws/bin/started")
        bin_of_ws = self.path("ws/bin")
        rows = [(bin_of_ws, self.ws), (bin_of_ws, "/"), ("bin", self.ws), (".", bin_of_ws)]
        for entry, where in rows:
            with self.subTest(entry=entry, cwd=where):
                env = {**os.environ, "PATH": f"{entry}:/usr/bin:/bin"}
                run = self.run_it(helper_env=env, prepare=lambda where=where: os.chdir(where), cwd=where)
                self.assertEqual(self.assertItRan(run).skips, [], run)
                self.assertIn("bwrap", run.report, run)
                self.assertFalse(os.path.exists(trace))
        env = {**os.environ, "PATH": f"{fake}:/usr/bin:/bin"}  # the control: it would have left its trace
        self.assertItRan(self.run_it(helper_env=env))
        self.assertTrue(os.path.exists(os.path.join(fake, "started")))


class Nested(HostCase):
    # field B41
    def test_b41_inside_a_landlock_domain_no_mount_is_possible_and_that_is_said(self):
        outside = self.path("out/new")
        self.command = f"echo x >{self.mark}; echo x 2>/dev/null >{outside}; echo ran"
        domain = landlocked()
        words = ("Failed to make / slave", "Landlock domain", "mounts")
        self.assertNothingRan(self.run_it(prepare=domain), *words)
        self.assertWeaker(self.run_it(DEGRADED, prepare=domain), "Landlock domain")
        self.assertFalse(os.path.exists(outside))
        control = self.run_it(prepare=landlocked(files=False))  # a domain that has no opinion about files
        self.assertEqual(self.assertItRan(control).skips, [], control)


class Busy(HostCase):
    """Each helper probes for itself, and ten do so at once: more than there are processors for."""

    PROBES, AT_ONCE = 50, 10

    def probe_together(self):
        """What that many helpers, started at once, say of the same run."""
        policy = self.base(limits={"wall_s": 0, "cpu_s": 0})
        helpers = [self.field_helper(policy, STRICT) for _ in range(self.AT_ONCE)]
        for helper in helpers:
            self.needs(helper, "bwrap", "landlock", "seccomp")
        runs = [helper.start(["/bin/true"], cwd=self.ws) for helper in helpers]
        for helper, run in zip(helpers, runs):
            attempt = self.assertHeld(Attempt(helper.settle(run, LIMIT), helper.features))
            yield tuple(attempt.features), tuple(attempt.report)
            helper.close()

    # field B42
    def test_b42_a_busy_host_finds_the_same_jail_every_time(self):
        answers = set()
        for _ in range(self.PROBES // self.AT_ONCE):
            answers.update(self.probe_together())
        self.assertEqual(len(answers), 1, answers)

    # field B42
    def test_b42_what_cannot_be_known_now_is_no_reason_for_a_weaker_jail(self):
        fault = self.filtered(*[(name, EAGAIN, *where) for name, _, *where in NO_USER_NAMESPACES])
        for flags in (STRICT, DEGRADED):
            self.assertNothingRan(self.run_it(flags, prepare=fault), "Resource temporarily unavailable")
        self.assertItRan(self.run_it(DEGRADED))


class Broken(HostCase):
    def breakers(self):
        """What each broken layer is called, and how it is broken."""
        memory = self.base(limits={"mem_bytes": 512 << 20, "pids": 128})
        read_only = [BWRAP, "--dev-bind", "/", "/", "--ro-bind", "/sys/fs/cgroup", "/sys/fs/cgroup", "--"]
        rulesets = "landlock_create_ruleset"
        filters = [("prctl", EINVAL, (0, 22, True)), ("seccomp", EINVAL)]  # 22: PR_SET_SECCOMP
        return [
            ("bwrap", {"helper_env": {**os.environ, "PATH": self.directory("nothing")}}),
            ("seccomp", {"prepare": self.filtered(*filters)}),
            ("landlock", {"prepare": self.filtered((rulesets, errno.ENOSYS))}),
            ("landlock", {"prepare": self.filtered((rulesets, errno.EOPNOTSUPP))}),
            ("cgroup-v2", {"before": read_only, "policy": memory}),
        ]

    # field B43
    def test_b43_with_any_layer_broken_a_strict_command_does_not_run_and_the_layer_is_named(self):
        for layer, how in self.breakers():
            with self.subTest(layer=layer):
                self.assertNothingRan(self.run_it(**how), layer)
                weak = self.assertItRan(self.run_it(DEGRADED, **how))
                self.assertTrue(weak.entries("skip:" + layer), weak)
        whole = self.assertItRan(self.run_it())
        self.assertEqual(whole.skips, [], whole)


class Forged(HostCase):
    MARKS = ("container=docker", "IS_SANDBOX=1", "FLATPAK_ID=x", "LOOM_DEGRADED=1", "LOOM_SCRATCH_DIR=/tmp")
    FILES = (".dockerenv", "run/.containerenv", ".flatpak-info", "proc/1/cgroup", "nothing")

    # field B44
    def test_b44_no_mark_that_a_command_can_leave_changes_the_next_jail(self):
        forge = 'cd "$1"; shift; mkdir -p run proc/1; for f; do echo docker >"$f"; done; echo forged'
        names = [mark.partition("=")[0] for mark in self.MARKS]
        policy = self.base(env_allow=["PATH", *names])
        env = dict(mark.split("=") for mark in self.MARKS)
        view = 'set -- /proc/[0-9]*; echo "$#"; ls -A / /run 2>&1; wc -l </proc/self/mountinfo'
        with self.field_helper(policy, STRICT) as helper:
            self.needs(helper, "bwrap", "landlock", "seccomp")
            first = self.attempt_on(helper, view, [self.ws])
            forged = self.attempt_on(helper, forge, [self.ws, *self.FILES], env=env)
            self.assertEqual(forged.lines, ["forged"], forged)
            again = self.attempt_on(helper, view, [self.ws], env=env)
        self.assertTrue(os.path.exists(self.path("ws/.dockerenv")))
        later = self.attempt(
            view, policy, STRICT, args=[self.ws], helper_env={**os.environ, **env}, cwd=self.ws,
            prepare=lambda: os.chdir(self.ws),
        )
        self.assertHeld(first)
        for run in (again, later):
            self.assertEqual((run.report, run.output), (first.report, first.output), run)


if __name__ == "__main__":
    unittest.main()
