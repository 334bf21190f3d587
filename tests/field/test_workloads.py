"""Ordinary work beside protected paths, and what must not work there: to rename a directory above one
away and build its name anew."""

from field import *

# argv: a tree, words `keep` (its own directories must stay) or `free` (a control); tries each act on
# every directory above `leaf`, innermost first, and tells what worked.
REBUILD = r"""
import ctypes, os, shutil, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, EXCHANGE, RENAMEAT2 = -100, 2, 316
if os.uname().machine == "aarch64":
    RENAMEAT2 = 276
def exchange(one, other):
    return libc.syscall(RENAMEAT2, AT_FDCWD, one.encode(), AT_FDCWD, other.encode(), EXCHANGE) == 0
def by_tool(*words):
    return subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0
def rename(old, new):
    try:
        os.rename(old, new)
        return True
    except OSError:
        return False
print("begin")
top, chain, leaf = sys.argv[1], sys.argv[2].split("/"), sys.argv[3]
for depth in range(len(chain), 0, -1):
    target = "/".join([top, *chain[:depth]])
    below = "/".join(chain[depth:] + [leaf])
    other = top + "/other"
    os.makedirs(other + "/" + "/".join(chain[depth:]))
    open(other + "/" + below, "w").write("FORGED\n")
    worked = []
    for name, act in (
        ("mv", lambda: by_tool("mv", "-T", target, top + "/away") and by_tool("mv", "-T", top + "/away", target)),
        ("rename", lambda: rename(target, top + "/away") and rename(top + "/away", target)),
        ("exchange", lambda: exchange(other, target) and exchange(other, target)),
        ("exchange from here", lambda: exchange(target, other) and exchange(target, other)),
        ("rebuild", lambda: rename(target, top + "/away") and rename(other, target)),
        ("rmdir", lambda: by_tool("rm", "-rf", target) and not os.path.exists(target)),
    ):
        if act():
            worked.append(name)
    print("/".join(chain[:depth]), *worked, sep="|")
    shutil.rmtree(other, ignore_errors=True)
"""

# An editor's ways to save. argv: the file, what it shall hold.
SAVE = r"""
import os, sys
path, text = sys.argv[1], sys.argv[2].encode()
folder = os.path.dirname(path)
def write(name):
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    os.write(file, text)
    os.fsync(file)
    os.close(file)
def settle():
    file = os.open(folder, os.O_RDONLY)
    os.fsync(file)
    os.close(file)
write(path + ".new")  # beside it, then over it
os.rename(path + ".new", path)
settle()
os.rename(path, path + "~")  # the old one becomes the backup, then a new file
write(path)
settle()
os.link(path, path + ".kept")  # the backup is a second name, then over it
write(path + ".new")
os.rename(path + ".new", path)
os.unlink(path + ".kept")
settle()
print("saved", path)
"""

MAKEFILE = """
all: report.txt
report.txt: one.part two.part
\tcat one.part two.part >$@.tmp && mv -f $@.tmp $@
%.part: %.txt
\tmkdir made-$* && sort $< >made-$*/$@ && mv made-$*/$@ $@ && rmdir made-$*
clean:
\trm -f *.part report.txt
"""

# A day's work with git, in a repository with one commit on main. $1: where a second file lies.
GIT_WORK = """
set -e
status() { test -z "$(git status --porcelain)" || { echo dirty; git status; exit 3; }; }
git init -q --template= .
status
echo one >>"$1" && git add -A && git commit -qm 'main one' && status
git checkout -qb topic HEAD~1
echo topic >topic.txt && git add topic.txt && git commit -qm 'topic'
git checkout -q main && echo two >>"$1" && git commit -qam 'main two'
git rebase -q main topic && status
git stash -q 2>/dev/null || true
git worktree add -q wt main~1
(cd wt && git checkout -qb side && echo side >side.txt && git add side.txt && git commit -qm side)
git worktree remove wt
git gc -q --prune=now && git fsck --strict && status
git init -q nested && (cd nested && echo x >f && git add f && git commit -qm nested) && rm -rf nested
git log --format=%s topic side
"""


class Ancestors(FieldCase):
    """D11: what lies above a protected path, a readable root or a read-only mount keeps its name."""

    CHAIN, LEAF = "a/b/c", "leaf"

    def tree(self, name):
        """A tree of three directories in W with a file at their end; the tree and that file."""
        return self.path("ws", name), self.file("ws", name, self.CHAIN, self.LEAF)

    def rebuilt(self, top, policy):
        """Which acts worked, by the directory they were tried on."""
        argv = [PYTHON, "-ISc", REBUILD, top, self.CHAIN, self.LEAF]
        seen = self.assertRan(self.attempt(argv, policy))
        self.assertEqual(seen.lines[:1], ["begin"], seen)
        return {line.split("|")[0]: line.split("|")[1:] for line in seen.lines[1:]}, seen

    def test_nothing_above_a_path_that_must_stay_can_be_renamed_removed_or_built_anew(self):
        forms = {
            "protected file": lambda top, leaf: {"protected": [leaf]},
            "protected directory": lambda top, leaf: {"protected": [os.path.dirname(leaf)]},
            "readable root": lambda top, leaf: {"readable_roots": [os.path.dirname(leaf)]},
            "read-only mount": lambda top, leaf: {
                "mounts": [{"path": leaf, "access": "ro", "required": True}]
            },
        }
        for name, form in forms.items():
            with self.subTest(name):
                top, leaf = self.tree(name.replace(" ", "-"))
                before = os.stat(leaf).st_ino
                worked, seen = self.rebuilt(top, self.base(**form(top, leaf)))
                self.assertEqual(worked, {"a/b/c": [], "a/b": [], "a": []}, seen)
                self.assertEqual((self.text(leaf), os.stat(leaf).st_ino), ("S3CRET\n", before))
                self.assertHeld(seen)

    def test_where_nothing_must_stay_all_of_it_works(self):
        top, leaf = self.tree("free")
        worked, seen = self.rebuilt(top, self.base(protected=[self.file("ws/elsewhere/leaf")]))
        always = ["mv", "rename", "exchange", "exchange from here", "rebuild", "rmdir"]
        self.assertEqual(worked["a/b/c"], always, seen)
        self.assertFalse(os.path.exists(leaf))


class Work(FieldCase):
    def setUp(self):
        super().setUp()
        if not shutil.which("make", path="/usr/bin:/bin"):
            self.skipTest("make is not installed")
        self.git("init", "-q", "-b", "main", ".")
        self.file("ws/Makefile", text=MAKEFILE)
        self.file("ws/.gitignore", text="*.part\nreport.txt\n*~\n")

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "start")

    def work(self, script, policy, *args):
        """Scripts in one jail, in W; what they printed."""
        names = ["PATH", "HOME", *GIT_PERSON]
        env = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", **GIT_PERSON}
        seen = self.attempt(script, {**policy, "env_allow": names}, env=env, cwd=self.ws, args=args)
        self.assertHeld(self.assertRan(seen))
        return seen

    SUBJECTS = ("side", "topic", "main two", "main one", "start")

    def assertSubjects(self, text):
        self.assertEqual(sorted(text.splitlines()[-len(self.SUBJECTS) :]), sorted(self.SUBJECTS))

    def check_repository(self):
        """Read by git on the host, outside of every jail."""
        self.git("fsck", "--full", "--strict")
        self.assertEqual(self.git("status", "--porcelain").stdout, "")
        self.assertSubjects(self.git("log", "--format=%s", "topic", "side").stdout)
        self.assertEqual(self.git("worktree", "list").stdout.count("\n"), 1)

    def test_three_directories_above_a_protected_file_git_make_and_editors_work(self):
        secret, beside = self.file("ws/srv/app/keys/secret.pem"), self.file("ws/srv/app/keys/app.conf")
        for name in ("one", "two"):
            self.file(f"ws/srv/app/{name}.txt", text="b\na\n")
        self.file("ws/srv/app/Makefile", text=MAKEFILE)
        self.file("ws/.gitignore", text="*.part\nreport.txt\n*~\nsecret.pem\n")
        self.commit()
        policy = self.base(protected=[secret])

        seen = self.work(GIT_WORK, policy, "srv/app/keys/app.conf")
        self.assertSubjects(seen.output)
        self.check_repository()

        seen = self.work("make -s -j2 -C srv/app && cat srv/app/report.txt && rm -r srv/app/report.txt", policy)
        self.assertEqual(seen.lines, ["a", "b", "a", "b"])
        # Across a directory that is held in its place a rename is a copy, as between file systems.
        self.work("mv srv/app/one.part srv/moved && mv srv/moved srv/app/keys/moved && rm srv/app/keys/moved", policy)

        for path in (beside, self.file("ws/srv/plain"), self.file("ws/plain")):
            seen = self.work(f'{PYTHON} -ISc "$1" "$2" "$3"', policy, SAVE, path, "SAVED\n")
            self.assertEqual(seen.lines, [f"saved {path}"])
            self.assertEqual((self.text(path), self.text(path + "~")), ("SAVED\n", "SAVED\n"))
            self.assertFalse([name for name in os.listdir(os.path.dirname(path)) if name.endswith((".new", ".kept"))])
        self.assertEqual(self.text(secret), "S3CRET\n")

    def test_with_protected_hooks_git_make_and_editors_work_and_no_hook_is_made_or_run(self):
        for name in ("one", "two"):
            self.file(f"ws/{name}.txt", text="b\na\n")
        self.file("ws/file")
        self.commit()
        shutil.rmtree(self.path("ws/.git/hooks"), ignore_errors=True)
        hook = self.program("ws/.git/hooks/pre-commit", text="#!/bin/sh\ntouch hook-ran\nexit 1\n")
        policy = self.base(protected=[os.path.dirname(hook)])

        self.assertSubjects(self.work(GIT_WORK, policy, "file").output)
        self.assertFalse(os.path.exists(self.path("ws/hook-ran")))
        self.check_repository()
        self.assertEqual(os.listdir(os.path.dirname(hook)), ["pre-commit"])

        forge = "echo x >.git/hooks/post-commit || mv .git/hooks away || mv .git gone || echo refused"
        refused = self.work(forge, policy)
        self.assertEqual(refused.lines, ["refused"])
        # A plain `git init` wants to copy its sample hooks, and says where it may not.
        self.assertIn(".git/hooks", self.work("git init -q . && echo done; true", policy).errors)

        seen = self.work("make -s -j2 && cat report.txt && make -s clean", policy)
        self.assertEqual(seen.lines, ["a", "b", "a", "b"])
        config = self.path("ws/.git/config")
        kept = self.text(config)
        seen = self.work(f'{PYTHON} -ISc "$1" "$2" "$3" && git status --short', policy, SAVE, config, kept)
        self.assertEqual(seen.lines, [f"saved {config}"])
        self.assertEqual(self.text(config), kept)
        self.check_repository()


if __name__ == "__main__":
    unittest.main()
