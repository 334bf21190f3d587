"""Field reports D: repositories whose parts lie in several places, some of them planted."""

from field import *

# argv: the worktree, the repository's own directory (.git, or a bare one).
WORK = r"""
cd "$1" && echo begin
echo more >>file && git add -A && git commit -q -m second && git log --format=%s
git config core.hooksPath /tmp || echo "config refused"
touch "$2/hooks/x" 2>/dev/null || echo "hooks refused"
touch "$2/info/x" 2>/dev/null || echo "info refused"
git branch side && git checkout -q side && git status --porcelain && echo clean
"""
DONE = ["begin", "second", "first", "config refused", "hooks refused", "info refused", "clean"]


class GitCase(FieldCase):
    def setUp(self):
        super().setUp()
        self.git("--version")
        os.rmdir(self.ws)  # `git worktree add` makes it

    def repository(self, *words):
        """OUT/repo with one commit, and W as a linked worktree of it. Its git directory."""
        repo = self.path("out/repo")
        self.git("init", "-q", "-b", "main", repo, cwd=self.out)
        self.file("out/repo/file", text="text\n")
        self.git("add", "-A", cwd=repo)
        self.git("commit", "-q", "-m", "first", cwd=repo)
        self.git(*words, "worktree", "add", "-q", "-b", "w", self.ws, cwd=repo)
        return os.path.join(repo, ".git")

    def grants(self, common, **given):
        """W, and of the repository what a commit writes; the rest of it can be read."""
        parts = [os.path.join(common, name) for name in ("objects", "refs", "logs", "worktrees/ws")]
        os.makedirs(os.path.join(common, "logs"), exist_ok=True)  # a bare repository has none at first
        return self.base(**{"writable_roots": [self.ws, *parts], "readable_roots": [common], **given})

    def work(self, common, **given):
        before = {name: self.names(os.path.join(common, name)) for name in ("hooks", "info")}
        config = self.text(common + "/config")
        hidden = [os.path.join(common, name) for name in ("hooks", "info")]
        policy = self.grants(common, protected=hidden, **given)
        env = {"HOME": self.ws, "GIT_CONFIG_NOSYSTEM": "1", **GIT_PERSON}
        policy["env_allow"] = ["PATH", *env]
        run = self.assertHeld(self.attempt(WORK, policy, STRICT, args=[self.ws, common], env=env))
        self.assertEqual(run.lines, DONE, run)
        self.assertEqual(self.text(common + "/config"), config)
        after = {name: self.names(os.path.join(common, name)) for name in ("hooks", "info")}
        self.assertEqual(after, before)
        self.assertEqual(self.git("log", "--format=%s", "w").stdout, "second\nfirst\n")
        self.git("fsck", "--strict", cwd=common)
        return run


class Worktrees(GitCase):
    # field B45
    def test_b45_a_linked_worktree_commits_and_cannot_touch_config_hooks_or_info(self):
        # `protected` takes contents away (a hidden config stops git by name), so what must only stay
        # as it is is readable and not protected.
        self.work(self.repository())

    # field B45
    def test_b45_a_worktree_with_relative_paths_does_so_too(self):
        common = self.repository()
        self.file("ws/.git", text="gitdir: ../out/repo/.git/worktrees/ws\n")
        self.file("out/repo/.git/worktrees/ws/gitdir", text="../../../../../ws/.git\n")
        self.work(common)

    # field B45
    def test_b45_a_worktree_of_a_bare_repository_does_so_too(self):
        self.repository()
        bare = self.path("out/bare.git")
        self.git("clone", "-q", "--bare", self.path("out/repo"), bare, cwd=self.out)
        shutil.rmtree(self.ws)
        self.git("worktree", "add", "-q", "-B", "w", self.ws, "main", cwd=bare)
        self.work(bare)

    # field B45
    def test_b45_a_protected_config_is_named_by_git_and_not_rewritten(self):
        common = self.repository()
        config = common + "/config"
        text = self.text(config)
        policy = self.grants(common, protected=[config])
        script = 'cd "$1" && git status; git config core.hooksPath /tmp; cat file'
        run = self.attempt(script, policy, STRICT, args=[self.ws], env={"HOME": self.ws})
        self.assertEqual(self.assertHeld(run).lines, ["text"], run)
        self.assertIn(config, run.errors, run)
        self.assertEqual(self.text(config), text)


class Planted(GitCase):
    # field B46
    def test_b46_what_a_workspace_says_about_itself_grants_nothing(self):
        key = self.file("out/home/.ssh/id")
        vault = os.path.dirname(key)
        self.directory("ws")
        self.git("init", "-q", "-b", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        script = (
            'cd "$1"; git log --format=%s 2>/dev/null; git add -A 2>/dev/null\n'
            'cat "$2" objects/id .git/objects/id 2>/dev/null\n'
            'touch "$2.new" objects/new 2>/dev/null; echo end'
        )
        before = self.host()
        policy = self.base(env_allow=["PATH", "HOME", "GIT_CONFIG_NOSYSTEM"])
        env = {"HOME": "/tmp", "GIT_CONFIG_NOSYSTEM": "1"}
        plain = self.attempt(script, policy, STRICT, args=[self.ws, key], env=env)
        self.assertEqual(self.assertHeld(plain).lines, ["first", "end"], plain)
        shutil.rmtree(self.path("ws/.git/objects"))
        os.symlink(vault, self.path("ws/.git/objects"))
        self.link(vault, "ws/objects")
        planted = self.attempt(script, policy, STRICT, args=[self.ws, key], env=env)
        os.rename(self.path("ws/.git"), self.path("ws/dot-git"))
        self.file("ws/.git", text=f"gitdir: {vault}\n")
        redirected = self.attempt(script, policy, STRICT, args=[self.ws, key], env=env)
        for run in (planted, redirected):
            self.assertEqual(self.assertHeld(run).lines, ["end"], run)
            self.assertEqual(run.report, plain.report, run)  # the plan's digest is in it
        self.assertHostUntouched(before)
        granted = self.base(readable_roots=[vault])
        self.assertEqual(self.attempt('cat "$1"', granted, args=[key]).lines, ["S3CRET"])


if __name__ == "__main__":
    unittest.main()
