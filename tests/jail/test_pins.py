"""D11: no directory above a protected path, a readable root or a read-only mount can be moved away."""

import shlex

from jail import *

# argv: a directory that must not be moved, and beside it one that may be, and an empty one. For each
# attempt the kernel's answer: for the first, then for the second.
MOVE_SCRIPT = r"""
import ctypes, errno, os, sys
print("begin")
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2
fixed, free, empty = sys.argv[1:4]
def exchange(one, other):
    if libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "exchange")
def answer(action, *names):
    try:
        action(*names)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
def replace(name):
    os.mkdir(name + ".new"); os.rename(name + ".new", name)
def away(name):
    os.rename(name, name + ".away"); os.rename(name + ".away", name)
def swap(name):
    exchange(name, empty); exchange(name, empty)
def link_over(name):
    os.symlink("/etc", name + ".link"); exchange(name, name + ".link"); exchange(name, name + ".link")
print("rename", answer(away, fixed), answer(away, free))
print("exchange", answer(swap, fixed), answer(swap, free))
print("exchange with a link", answer(link_over, fixed), answer(link_over, free))
print("replace", answer(replace, fixed))
print("build anew", answer(os.mkdir, fixed))
print("rmdir", answer(os.rmdir, fixed), answer(os.rmdir, empty))
"""

EXPECTED = [
    "begin",
    "rename EBUSY ok",
    "exchange EBUSY ok",
    "exchange with a link EBUSY ok",
    "replace EBUSY",
    "build anew EEXIST",
    "rmdir EBUSY ok",
]


def pins(run):
    """The number that the report gives; 0 when it says nothing."""
    said = [entry for entry in run.enforcement if entry.startswith("pins=")]
    assert len(said) < 2, run.enforcement
    return int(said[0].split("=")[1]) if said else 0


class Pins(JailCase):
    def assertFixed(self, name, policy):
        """Nothing moves the directory `ws/<name>`, and one beside it is moved at will."""
        fixed = self.path("ws", name)
        free, empty = self.directory(f"{fixed}.free"), self.directory(f"{fixed}.empty")
        self.file(f"{fixed}.free/file", text="control\n")
        before = os.stat(fixed).st_ino
        run = self.execute([PYTHON, "-ISc", MOVE_SCRIPT, fixed, free, empty], policy)
        self.assertEqual(run.stdout.decode().splitlines(), EXPECTED, self.story(run))
        self.assertEqual(os.stat(fixed).st_ino, before)
        self.assertTrue(os.path.isfile(os.path.join(free, "file")))
        self.assertFalse(os.path.exists(empty))
        self.assertNoSkips(run)
        return run

    def test_no_directory_above_a_protected_path_can_be_moved(self):
        # guard 9.2: 39, 40; 9.7: 146
        secret = self.file("ws/a/b/c/secret")
        policy = self.policy(protected=[secret])
        for name in ("a", "a/b", "a/b/c"):
            run = self.assertFixed(name, policy)
            self.assertEqual(pins(run), 3)
        self.assertEqual(self.text(secret), "S3CRET\n")

    def test_the_name_of_a_protected_path_cannot_be_built_anew(self):
        secret = self.file("ws/a/b/secret")
        other = self.file("ws/x/y/other")
        script = (
            'cd "$1" && for top in a x; do mv "$top" gone; mkdir -p "$top/b" "$top/y"; '
            'echo EVIL >"$top/b/secret"; echo EVIL >"$top/y/other"; done; cat a/b/secret gone/b/secret; exit 0'
        )
        run = self.shell(script, self.policy(protected=[secret]), [self.ws])
        self.assertEqual(bytes(run.stdout), b"begin\n", self.story(run))
        self.assertEqual(self.text(secret), "S3CRET\n")
        self.assertFalse(os.path.exists(self.path("ws/gone/b")))
        self.assertEqual(self.text(other), "EVIL\n")  # what is not protected was moved and built anew
        self.assertEqual(self.text(self.path("ws/gone/y/other")), "S3CRET\n")

    def test_no_directory_above_a_readable_root_can_be_moved(self):
        self.file("ws/a/b/root/file")
        policy = self.policy(readable_roots=[self.path("ws/a/b/root")])
        for name in ("a", "a/b"):
            self.assertEqual(pins(self.assertFixed(name, policy)), 2)

    def test_no_directory_above_a_read_only_mount_can_be_moved(self):
        self.file("ws/a/b/mount/file")
        mounts = [{"path": self.path("ws/a/b/mount"), "access": "ro", "required": True}]
        policy = self.policy(mounts=mounts)
        for name in ("a", "a/b"):
            self.assertEqual(pins(self.assertFixed(name, policy)), 2)

    def test_what_lies_in_a_read_write_mount_is_held_there_too(self):
        self.file("out/a/b/mount/file")
        mounts = [
            {"path": self.out, "access": "rw", "required": True},
            {"path": self.path("out/a/b/mount"), "access": "ro", "required": True},
        ]
        script = 'mv "$1/a" "$1/gone" && echo moved; echo x >"$1/a/new" && echo written; exit 0'
        run = self.shell(script, self.policy(mounts=mounts), [self.out])
        self.assertEqual(bytes(run.stdout), b"begin\nwritten\n", self.story(run))
        self.assertEqual(pins(run), 2)

    def test_a_plan_without_such_a_directory_has_no_pin(self):
        secret = self.file("ws/secret")
        run = self.shell("true", self.policy(protected=[secret], readable_roots=[self.out]))
        self.assertEqual(pins(run), 0)
        self.assertFalse([e for e in run.enforcement if e.startswith("pins")])

    def test_a_pinned_directory_is_written_like_any_other(self):
        secret = self.file("ws/a/b/secret")
        self.file("ws/a/old")
        script = (
            'cd "$1/a" && echo new >file && mv file b/file && echo more >>b/file && cp b/file c && '
            "mkdir -p d/e && mv d/e f && rm -r d old && ls -A . b"
        )
        printed = self.output(script, self.policy(protected=[secret]), args=[self.ws])
        self.assertEqual(printed, ".:\nb\nc\nf\n\nb:\nfile\nsecret\n")
        self.assertEqual(self.text(self.path("ws/a/b/file")), "new\nmore\n")

    def test_renaming_and_linking_across_a_pin_is_the_price(self):
        # docs/jail.md 18: EXDEV, for which mv and its like copy.
        secret = self.file("ws/a/secret")
        self.file("ws/file"), self.file("ws/a/inside")
        script = r"""
import errno, os, sys
print("begin")
os.chdir(sys.argv[1])
def answer(action, one, other):
    try:
        action(one, other)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]
print(answer(os.rename, "file", "a/file"), answer(os.rename, "a/inside", "inside"))
print(answer(os.link, "file", "a/file"), answer(os.link, "a/inside", "inside"))
print(answer(os.rename, "file", "renamed"), answer(os.rename, "a/inside", "a/renamed"))
print(answer(os.link, "renamed", "linked"), answer(os.link, "a/renamed", "a/linked"))
"""
        run = self.execute([PYTHON, "-ISc", script, self.ws], self.policy(protected=[secret]))
        self.assertEqual(
            run.stdout.decode().splitlines(),
            ["begin", "EXDEV EXDEV", "EXDEV EXDEV", "ok ok", "ok ok"],
            self.story(run),
        )
        printed = self.output('cd "$1" && mv renamed a/moved && ls a', self.policy(protected=[secret]), args=[self.ws])
        self.assertEqual(printed, "linked\nmoved\nrenamed\nsecret\n")

    def test_forty_levels_of_nesting(self):
        names = [f"d{level}" for level in range(40)]
        secret = self.file("ws", *names, "secret")
        other = self.file("ws", *names, "other", text="control\n")
        run = self.shell('cat "$1"; cat "$2"; exit 0', self.policy(protected=[secret]), [secret, other])
        self.assertEqual(bytes(run.stdout), b"begin\ncontrol\n", self.story(run))
        self.assertEqual(pins(run), 40)

    def test_names_of_all_kinds_are_pinned(self):
        for name in ("with space", "new\nline", "--bind", "t\u00e4st", "bytes\udcff", "a\\b"):
            secret = self.file("ws", name, "secret")
            script = 'mv "$1" "$1.away" && echo moved; cat "$1/secret"; cat "$1/other"; exit 0'
            self.file("ws", name, "other", text="control\n")
            with self.subTest(name):
                run = self.shell(script, self.policy(protected=[secret]), [self.path("ws", name)])
                self.assertEqual(bytes(run.stdout), b"begin\ncontrol\n", self.story(run))

    def test_a_pin_that_was_lost_stops_the_run(self):
        secret = self.file("ws/a/b/secret")
        policy = self.policy(protected=[secret])
        for lost in ("ws/a", "ws/a/b"):
            with self.subTest(lost):
                self.lose_and_expect(self.path(lost), policy, "not pinned")

    def test_a_readable_root_that_was_lost_in_a_writable_one_stops_the_run(self):
        self.file("ws/ro/file")
        policy = self.policy(readable_roots=[self.path("ws/ro")])
        self.lose_and_expect(self.path("ws/ro"), policy, "not mounted read-only")

    def lose_and_expect(self, path, policy, words):
        fake = self.careless_bwrap()
        drop = os.path.join(fake, "drop")
        if os.path.exists(drop):
            os.unlink(drop)
        self.assertEqual(self.attempt(policy).code, 0)
        with open(drop, "w", encoding="utf-8") as file:
            file.write(path)
        run = self.attempt(policy)
        self.assertEqual((run.code, bytes(run.stdout)), (126, b""), self.story(run))
        self.assertIn(f"{path}: {words}", self.outcome(run)["detail"])
        self.assertSkips(run, "skip:bwrap:")

    def attempt(self, policy):
        return self.execute([SH, "-c", "echo ran"], policy, helper_env=path_with(self.path("fake")))


class PlannedPins(JailCase):
    def test_the_plan_names_them_and_what_would_be_made(self):
        self.file("ws/a/secret")
        policy = self.file("policy", text="")
        with open(policy, "wb") as file:
            file.write(
                pack(self.policy(protected=[self.path("ws/a/secret"), self.path("ws/b/c/absent")]))
            )
        before = self.listing(self.ws)
        printed = subprocess.run(
            [client.helper_path(), "plan", f"--policy={policy}", "--", "true"],
            cwd=self.ws, stdout=subprocess.PIPE, check=True,
        ).stdout.decode()
        self.assertIn(f"  pin              {self.path('ws/a')}  (read and write; its name cannot be moved)\n", printed)
        self.assertIn("made for the run, removed after it:\n", printed)
        self.assertIn(f"  {self.path('ws/b')}  (a directory on the way)\n", printed)
        self.assertIn(f"  {self.path('ws/b/c/absent')}  (to be hidden)\n", printed)
        self.assertIn("  pins=3\n", printed)
        self.assertEqual(self.listing(self.ws), before)


class OrdinaryWork(JailCase):
    """Shows 2: pins are in nobody's way."""

    GIT = r"""
set -e
cd "$1"
export HOME="$LOOM_SCRATCH_DIR" GIT_CONFIG_NOSYSTEM=1
git config --global user.name t; git config --global user.email t@example.org
git status --short
echo one >file; git add .; git commit -qm one
git branch side; echo two >>file; git commit -qam two
git checkout -q side; echo three >other; git add other; git commit -qm three
git rebase -q master; git gc -q --prune=now
git worktree add -q ../ws/tree HEAD~1; git worktree remove tree
git log --format=%s
"""

    def test_git_works_beside_protected_hooks(self):
        if not shutil.which("git"):
            self.skipTest("no git")
        subprocess.run(["git", "init", "-q", "-b", "master", self.ws], check=True)
        hooks = self.path("ws/.git/hooks")
        policy = self.policy(protected=[hooks], env_allow=["PATH", "LOOM_SCRATCH_DIR"])
        script = self.GIT + 'echo EVIL >.git/hooks/pre-commit || echo "hooks are closed"'
        printed = self.output(script, policy, args=[self.ws], env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(printed, "three\ntwo\none\nhooks are closed\n")
        self.assertFalse(os.path.exists(os.path.join(hooks, "pre-commit")))

    def test_make_and_an_editors_atomic_save_work_three_levels_above_a_protected_path(self):
        secret = self.file("ws/src/lib/deep/secret")
        self.file("ws/src/lib/Makefile", text="out: deep/in\n\tcp deep/in out.tmp && mv out.tmp out\n")
        self.file("ws/src/lib/deep/in", text="in\n")
        have_make = shutil.which("make")
        build = "make -s" if have_make else "cp deep/in out.tmp && mv out.tmp out"
        save = "for d in . deep ..; do echo saved >$d/.x.swp && mv $d/.x.swp $d/x; done"
        script = f"cd {shlex.quote(self.path('ws/src/lib'))} && {build} && {save} && cat out x deep/x ../x"
        printed = self.output(script, self.policy(protected=[secret]))
        self.assertEqual(printed, "in\nsaved\nsaved\nsaved\n")


if __name__ == "__main__":
    unittest.main()
