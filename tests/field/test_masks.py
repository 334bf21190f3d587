"""Field reports A: masks and protected paths. B06 and B08 are shown by tests/jail/test_masks.py."""

import errno
import re
import sys

from field import *

SOON = 10  # seconds within which what a killed helper left behind is gone

# argv: a directory. Makes `b` with a token in it and takes both away, until its stdin ends. The pauses
# are of every length, so that on any machine whole runs lie within one state and others across two.
COME_AND_GO = r"""
import os, random, select, shutil, sys
folder = sys.argv[1]
file = os.path.join(folder, "b")
def told(least, most):
    return select.select([0], [], [], least * (most / least) ** random.random())[0]
print("begun", flush=True)
while not told(0.0001, 0.03):
    try:
        os.makedirs(folder, exist_ok=True)
        with open(file, "w") as out: out.write("S3CRET\n")
    except OSError: pass
    if told(0.001, 0.6): break
    shutil.rmtree(folder, ignore_errors=True)
"""


class MaskCase(FieldCase):
    def plan(self, policy, flags=()):
        """`loom-exec plan` for this policy: what would be done, and nothing is started."""
        file = self.path("policy")
        with open(file, "wb") as out:
            out.write(pack(policy))
        return subprocess.run(
            [client.helper_path(), "plan", "--policy", file, *flags, "--", "/bin/true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.ws,
            timeout=LIMIT,
        )


class Absent(MaskCase):
    """Names that do not exist. They are there as masks while the jail is, so `mkdir -p` may succeed;
    nothing that the command writes reaches them (D12, D25)."""

    SCRIPT = (
        'ls -la "$1" >/dev/null; touch "$1/.profile-x"; mkdir -p "$1/a/b/c"\n'
        'for n in .profile-x a/b/c; do echo evil 2>/dev/null >"$1/$n" || echo "no file $n"\n'
        'echo evil 2>/dev/null >"$1/$n/x" || echo "nothing in $n"; rm -rf "$1/$n" 2>/dev/null; done\n'
        'echo control >"$1/new" && cat "$1/new"'
    )
    SAID = ["no file .profile-x", "nothing in .profile-x", "no file a/b/c", "nothing in a/b/c", "control"]

    def absent(self):
        return self.base(protected=[self.path("ws/.profile-x"), self.path("ws/a/b/c")])

    # field B01
    def test_b01_absent_protected_names_are_uncreatable_and_leave_nothing_on_the_host(self):
        self.file("ws/kept")
        before, outside = self.names(), self.host()
        for ending, code in (("", 0), ("; exit 3", 3), ("; kill -9 $$", 137)):
            with self.subTest(ending=ending):
                run = self.attempt(self.SCRIPT + ending, self.absent(), args=[self.ws])
                self.assertEqual(self.assertHeld(run).lines, self.SAID, run)
                self.assertEqual(run.code, code, run)
                os.unlink(self.path("ws/new"))
                self.assertEqual(self.names(), before)
                self.assertHostUntouched(outside)

    # field B01
    def test_b01_a_name_that_was_protected_can_be_made_by_a_later_run(self):
        self.assertHeld(self.attempt("true", self.absent()))
        script = 'echo mine >"$1/.profile-x" && mkdir -p "$1/a/b" && echo mine >"$1/a/b/c" && echo made'
        self.assertEqual(self.attempt(script, args=[self.ws]).lines, ["made"])
        self.assertEqual(self.text(self.path("ws/.profile-x")), "mine\n")

    # field B01
    def test_b01_a_helper_killed_in_the_middle_leaves_nothing_either(self):
        self.file("ws/kept")
        before, outside = self.names(), self.host()
        mark = f"61.{os.getpid()}"
        helper = self.field_helper(self.absent())
        self.needs(helper, "bwrap")
        script = 'echo evil 2>/dev/null >"$1/.profile-x/x"; echo up; sleep "$2"'
        run = helper.start([SH, "-c", script, "sh", self.ws, mark])
        helper.until_output(run, b"up\n")
        self.assertTrue(self.marked(mark.encode()))
        helper.kill()
        client.wait_until(lambda: self.names() == before, SOON)
        self.assertEqual(self.names(), before)
        self.assertHostUntouched(outside)
        self.assertTrue(client.wait_until(lambda: not self.marked(mark.encode()), SOON))

    # field B02
    def test_b02_an_absent_name_below_a_read_only_directory_is_refused_by_name(self):
        # Not held and not an abort: no mount point can be made there, so the policy is refused (guard 5).
        file, outside = self.file("out/there.json"), self.host()
        grants = {"readable_roots": [self.out]}
        missing = self.path("out/missing.json")
        refused = self.attempt(["/bin/true"], self.base(protected=[missing], **grants))
        self.assertRefused(refused, "protected", missing)
        self.assertNotIn("bwrap:", refused.errors)
        held = self.attempt(["/bin/true"], self.base(protected=[file], **grants))
        self.assertEqual(self.assertHeld(held).code, 0, held)
        self.assertHostUntouched(outside)

    # field B10
    def test_b10_git_init_around_protected_hooks_works_or_names_them(self):
        self.git("--version")
        hooks = self.path("ws/new/.git/hooks")
        script = (
            'echo begin; export GIT_CONFIG_NOSYSTEM=1\n'
            'git init -q "$1/new" && echo inited; echo evil >"$1/new/.git/hooks/x"\n'
            'git init -q "$1/other" && test -d "$1/other/.git/hooks" && echo control'
        )
        run = self.attempt(script, self.base(protected=[hooks]), args=[self.ws])
        self.assertHeld(run)
        self.assertEqual((run.lines[0], run.lines[-1]), ("begin", "control"), run)
        if "inited" not in run.lines:
            self.assertIn(hooks, run.errors, run)
        self.assertFalse(os.path.exists(hooks), "the mask's name stayed on the host")

    # field B10
    def test_b10_without_templates_the_repository_is_whole_and_has_no_hooks(self):
        hooks = self.path("ws/new/.git/hooks")
        script = (
            'cd "$1" && export GIT_CONFIG_NOSYSTEM=1\n'
            "git init -q --template= new && cd new && echo x >f && git add f &&\n"
            "git -c user.name=a -c user.email=a@example.test commit -q -m x && git log --format=%s"
        )
        run = self.attempt(script, self.base(protected=[hooks]), args=[self.ws], env={"HOME": self.ws})
        self.assertEqual(self.assertHeld(run).lines, ["x"], run)
        self.assertFalse(os.path.exists(hooks))
        self.assertEqual(self.git("log", "--format=%s", cwd=self.path("ws/new")).stdout, "x\n")


class Links(MaskCase):
    SCRIPT = (
        'cd "$1"; for f in hooks/p shared/p; do (echo evil >"$f") 2>/dev/null && echo "$f"; done\n'
        "cat hooks/hook shared/hook 2>/dev/null; rm -f hooks; ln -sfn /tmp hooks\n"
        "echo control >new && cat new"
    )

    # field B03
    def test_b03_a_protected_link_to_a_directory_hides_the_directory_and_strict_refuses_it_by_name(self):
        hook = self.file("ws/shared/hook")
        link = self.link("shared", "ws/hooks")
        policy = self.base(protected=[link])
        run = self.attempt(self.SCRIPT, policy, DEGRADED, args=[self.ws])
        self.assertEqual(self.assertRan(run).lines, ["control"], run)
        self.assertEqual(os.listdir(self.path("ws/shared")), ["hook"])
        self.assertEqual(self.text(hook), "S3CRET\n")
        # The link lies in W, so the command can replace it: said, and refused under a demand (D13).
        said = f"skip:mounts: protected path {link} is reached through a link the command can replace"
        self.assertEqual(run.skips, [said], run)
        self.link("shared", "ws/again")
        again = self.base(protected=[self.path("ws/again")])
        strict = self.attempt(self.SCRIPT, again, STRICT, args=[self.ws])
        self.assertRefused(strict, "mounts", self.path("ws/again"))
        os.unlink(link)
        os.symlink("shared", link)
        direct = self.base(protected=[self.path("ws/shared")])
        run = self.attempt(self.SCRIPT, direct, STRICT, args=[self.ws])
        self.assertEqual(self.assertHeld(run).lines, ["control"], run)

    # field B04
    def test_b04_a_protected_file_behind_a_link_out_of_the_workspace_is_masked_where_it_is(self):
        secret = self.file("out/secret.txt")
        self.link(self.out, "ws/out")
        written = self.path("ws/out/secret.txt")
        plain = self.file("ws/open", text="open\n")
        script = 'cat "$1" "$2" 2>/dev/null; cat "$3"; echo ok'
        for grants in ({}, {"readable_roots": [self.out]}):
            with self.subTest(grants=grants):
                policy = self.base(protected=[written], **grants)
                run = self.attempt(script, policy, DEGRADED, args=[written, secret, plain])
                self.assertEqual(self.assertRan(run).lines, ["open", "ok"], run)
                self.assertIn(written, "".join(run.skips), run)
                shown = self.plan(policy, DEGRADED)
                self.assertEqual(shown.returncode, 0, shown)
                lines = shown.stdout.decode().splitlines()  # one has the resolved path and the written one
                self.assertTrue([line for line in lines if secret in line and written in line], lines)


class Many(MaskCase):
    # field B05
    def test_b05_five_thousand_protected_files_are_refused_with_the_limit_and_no_raw_error(self):
        names = [self.file("ws/many", str(number), text="") for number in range(5000)]
        command_env = {"A": "x" * 100_000, "B": "x" * 100_000, "C": "x" * 100_000}
        allowed = ["PATH", *command_env]
        run = self.attempt(
            "echo hello", self.base(protected=names, env_allow=allowed), env=command_env
        )
        self.assertRefused(run, "8900")
        self.assertEqual(run.refused_as, "spawn_failed")
        few = self.base(protected=names[:300], env_allow=allowed, limits={"wall_s": 0})
        script = 'echo hello ${#A}${#B}${#C}; cat "$1" || echo hidden'
        run = self.attempt(script, few, args=names[299:300], env=command_env)
        self.assertEqual(self.assertHeld(run).lines, ["hello 100000100000100000", "hidden"], run)
        self.assertLess(run.exit["wall_ms"], 20_000, "the set-up is part of it")

    # field B05
    def test_b05_a_plan_just_under_the_limit_works(self):
        # Filled up with roots that are links to one directory: an argument list as long as any, and
        # not a thousand mounts, for which bubblewrap alone takes seconds.
        secrets = [self.file("ws/many", str(number)) for number in range(100)]
        self.file("out/shown", text="shown\n")
        links = self.directory("links")
        roots = [self.link(self.out, "links", f"{number:04}") for number in range(3000)]

        def policy(count):
            return self.base(protected=secrets, readable_roots=[self.out, *roots[:count]])

        refused = self.attempt(["/bin/true"], policy(len(roots)))
        said = re.search(r"needs (\d+) bubblewrap arguments, and at most (\d+) ", refused.refused)
        self.assertTrue(said, refused)
        fitting = len(roots) - -(-(int(said[1]) - int(said[2])) // 3)  # three arguments for each
        self.assertRefused(self.attempt(["/bin/true"], policy(fitting + 1)), "8900")
        last = f"{links}/{fitting - 1:04}/shown"
        script = 'cat "$1" "$2" 2>/dev/null; cat "$3"'
        run = self.attempt(script, policy(fitting), STRICT, args=[secrets[0], secrets[-1], last])
        self.assertEqual(self.assertHeld(run).lines, ["shown"], run)

class OtherNames(MaskCase):
    # field B07
    def test_b07_hard_link_is_reported(self):
        secret, plain = self.file("ws/.env"), self.file("ws/plain")
        os.link(secret, self.path("ws/copy"))
        script = 'cat "$1" 2>/dev/null; echo end'
        run = self.attempt(script, self.base(protected=[secret]), args=[self.path("ws/copy")])
        self.assertRan(run)
        if run.lines != ["end"]:  # the other name is no part of the policy; silence is the fault
            self.assertEqual(run.lines, ["S3CRET", "end"], run)
            self.assertIn("mask-links=1", run.report, run)
        alone = self.attempt(script, self.base(protected=[plain]), args=[plain])
        self.assertEqual(alone.lines, ["end"], alone)
        self.assertEqual(alone.entries("mask-links"), [], alone)

    # field B09
    def test_b09_protected_children_survive_a_destroyed_parent_and_nothing_else_does(self):
        # "May edit" is "may destroy" for what is not protected: the mask of `.git` itself is the answer.
        self.git("init", "-q")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        hooks, config = self.path("ws/.git/hooks"), self.path("ws/.git/config")
        self.file("ws/.git/hooks/kept", text="hook\n")
        kept = self.text(config)
        script = (
            'rm -rf "$1/.git" 2>/dev/null; mv "$1/.git" "$1/moved" 2>/dev/null && echo moved\n'
            'ls -A "$1/.git"'
        )
        whole = self.attempt(script, self.base(protected=[self.path("ws/.git")]), args=[self.ws])
        self.assertEqual(self.assertHeld(whole).lines, [], whole)
        self.assertEqual(self.git("log", "--format=%s").stdout, "first\n")
        parts = self.attempt(script, self.base(protected=[hooks, config]), args=[self.ws])
        self.assertEqual(sorted(self.assertHeld(parts).lines), ["config", "hooks"], parts)
        self.assertEqual((self.text(config), self.text(hooks + "/kept")), (kept, "hook\n"))
        self.assertEqual(sorted(os.listdir(self.path("ws/.git"))), ["config", "hooks"])
        self.assertNotEqual(self.git("log", check=False).returncode, 0)

    # field B11
    def test_b11_a_masked_file_has_documented_answers_and_git_shows_it_at_most(self):
        self.git("init", "-q")
        secret, other = self.file("ws/.env"), self.file("ws/other", text="open\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "both")
        script = (
            'cd "$1"; stat -c %F .env; git status --porcelain\n'
            'cat .env; echo "read $?"; rm .env; echo "rm $?"\n'
            "stat -c %F other; cat other; rm other; git status --porcelain other"
        )
        run = self.attempt(script, self.base(protected=[secret]), args=[self.ws], env={"HOME": self.ws})
        self.assertHeld(run)
        self.assertEqual(run.lines[0], "character special file", run)
        shown = run.lines[1 : run.lines.index("read 1")]
        self.assertIn(shown, ([], [" T .env"], [" M .env"], [" D .env"]), run)
        rest = ["read 1", "rm 1", "regular file", "open", " D other"]
        self.assertEqual(run.lines[1 + len(shown) :], rest, run)
        self.assertIn("Permission denied", run.errors)
        self.assertIn("Device or resource busy", run.errors)
        self.assertEqual(self.text(secret), "S3CRET\n")
        self.assertFalse(os.path.exists(other))


class HelperUnderAMask(MaskCase):
    def install_below(self, *parts):
        """The helper and all its pieces below that directory; its path."""
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(client.helper_path())))
        for part in ("bin/loom-exec", "lib/loom-exec", "libexec/loom-exec"):
            source, target = os.path.join(prefix, part), self.path(*parts, part)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copytree(source, target) if os.path.isdir(source) else shutil.copy2(source, target)
        return self.path(*parts, "bin/loom-exec")

    # field B12
    def test_b12_a_helper_below_a_protected_home_starts_jails_that_cannot_see_it(self):
        # The proxy of the report is of a later issue: the mode is planned, and said not to be there.
        program = self.install_below("home")
        home = self.path("home")
        network = {"mode": "proxy", "allow": ["allowed.test"], "proxy": "127.0.0.1:9"}
        policy = self.base(protected=[home, "/tmp"], network=network)
        script = (
            'echo begin; ls -A "$1" /tmp; head -c1 "$2"\n'
            'for p in /proc/[0-9]*; do readlink "$p/exe"; done | grep -E "loom|stage2"; cat "$3"'
        )
        args = [home, program, self.file("ws/open", text="control\n")]
        for choice in (program, None):
            with self.subTest(program=choice):
                run = self.attempt(script, policy, DEGRADED, args=args, program=choice)
                # Both directories are there and empty, and no process shows a program of the helper's.
                empty = sorted(["/tmp:", f"{home}:"])
                self.assertEqual([line for line in run.lines if line], ["begin", *empty, "control"], run)
                said = ["skip:mounts: tmpfs scratch /tmp is not in place", "skip:network-proxy: "]
                self.assertEqual(len(run.skips), len(said), run)
                for skip, start in zip(run.skips, said):
                    self.assertTrue(skip.startswith(start), run)


class NoMounts(MaskCase):
    # field B13
    def test_b13_a_backend_without_mounts_refuses_what_it_cannot_take_away_or_says_so(self):
        # The conformance suite's must-refuse case comes later; this is the helper without bubblewrap.
        secret = self.file("ws/secret")
        policy = self.base(protected=[secret])
        nowhere = {**os.environ, "PATH": self.directory("nothing")}
        script = 'cat "$1" 2>/dev/null; echo control'
        how = {"args": [secret], "helper_env": nowhere, "jails": False}
        self.assertRefused(self.attempt(script, policy, STRICT, **how), "bwrap", "mounts")
        weak = self.assertRan(self.attempt(script, policy, DEGRADED, **how))
        self.assertTrue(weak.exit["degraded"])
        self.assertIn("protected paths", "".join(weak.entries("skip:bwrap:")), weak)
        self.assertEqual(weak.entries("mounts:"), [], weak)
        jailed = self.attempt(script, policy, STRICT, args=[secret])
        self.assertEqual(self.assertHeld(jailed).lines, ["control"], jailed)


class Races(MaskCase):
    TRIES = min(200, int(os.environ.get("LOOM_FIELD_RUNS", "200")))

    # field B14
    def test_b14_a_parent_that_comes_and_goes_never_lets_a_run_be_silently_unmasked(self):
        folder, token = self.path("ws/a"), self.path("ws/a/b")
        policy = self.base(protected=[token])
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        racer = subprocess.Popen([sys.executable, "-c", COME_AND_GO, folder], **pipes)
        self.addCleanup(racer.stdout.close)
        self.addCleanup(racer.wait)
        self.addCleanup(racer.kill)
        self.assertEqual(racer.stdout.readline(), b"begun\n")
        script = 'echo begin; for i in 1 2 3 4 5 6 7 8 9; do cat "$1" 2>/dev/null; done; exit 0'
        counts = {"refused": 0, "not run": 0, "held": 0, "open and reported": 0}
        with self.field_helper(policy) as helper:
            self.needs(helper, "bwrap")
            for _ in range(self.TRIES):
                counts[self.judge(self.attempt_on(helper, script, [token]), token)] += 1
        print(counts)
        self.assertIsNone(racer.poll(), "nothing came and went any more")
        self.assertGreater(counts["held"] + counts["open and reported"], 0, "no command ever ran")
        racer.communicate(b"")
        shutil.rmtree(folder, ignore_errors=True)
        self.file("ws/a/b")
        run = self.attempt(script, policy, args=[token])
        self.assertEqual(self.assertHeld(run).lines, ["begin"], run)

    def judge(self, run, token):
        if run.refused:
            self.assertEqual(run.refused_as, "spawn_failed", run)
            self.assertIn(self.ws, run.refused, run)
            return "refused"
        if run.lines[:1] != ["begin"]:
            self.assertEqual((run.outcome["class"], run.output), ("setup", ""), run)
            return "not run"
        if "S3CRET" not in run.output:
            return "held"
        self.assertIn(f"skip:mounts: protected {token} was replaced during the run", run.report, run)
        return "open and reported"


class OlderKernel(MaskCase):
    # pidfd's questions for the namespaces of mounts, of the network and of pids (Linux 6.11).
    NAMESPACES = (0xFF03, 0xFF04, 0xFF05)

    def test_what_only_newer_kernels_tell_at_once_is_seen_without_it(self):
        secret, fresh = self.file("ws/.env"), [self.file("out/one"), self.file("out/two")]
        older = self.filtered(
            ("openat2", errno.ENOSYS), *[("ioctl", errno.ENOTTY, (1, number, True)) for number in self.NAMESPACES]
        )
        for other, prepare in zip(fresh, (None, older)):
            with self.field_helper(self.base(protected=[secret]), prepare=prepare) as helper:
                self.needs(helper, "bwrap", "landlock", "seccomp")
                held = self.assertHeld(self.attempt_on(helper, 'cat "$1" || echo no', [secret]))
                self.assertEqual(held.lines, ["no"], held)
                run = helper.start([SH, "-c", "echo up; read line; exit 0"], cwd=self.ws)
                helper.until_output(run, b"up\n")
                os.rename(other, secret)
                helper.stdin(b"go\n", eof=True)
                replaced = Attempt(helper.settle(run, LIMIT), helper.features)
                self.assertIn(f"skip:mounts: protected {secret} was replaced during the run", replaced.report)


if __name__ == "__main__":
    unittest.main()
