"""Guard 5.4.6: a mask is laid at every name under which the jail shows what is protected.

The bind mounts of the host are made in a mount namespace of the helper's own; an ordinary user makes
that in a user namespace of their own.
"""

import ctypes

from jail import *

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
ROOT = os.getuid() == 0
libc = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind=None, flags=0, data=None):
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, data)]
    if libc.mount(words[0], words[1], words[2], flags, words[3]) != 0:
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


def own_mounts():
    """Gives this process mounts of its own, under its own user and group."""
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS | (0 if ROOT else CLONE_NEWUSER)) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    if not ROOT:
        for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    mount("none", "/", flags=MS_REC | MS_PRIVATE)


def among_the_mounts_of(pid, action):
    """Runs an action in a child of ours that has the namespaces of another process."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            namespaces = [os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY) for name in ("user", "mnt")]
            for namespace in namespaces[ROOT:]:
                if libc.setns(namespace, 0) != 0:
                    raise OSError(ctypes.get_errno(), "setns")
            action()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, "nothing was done among the mounts of the helper"


class Aliases(JailCase):
    def setUp(self):
        super().setUp()
        alone = [] if ROOT else ["--user"]
        if subprocess.run(["unshare", *alone, "--mount", "true"], stderr=subprocess.DEVNULL, check=False).returncode:
            self.skipTest("no mount namespaces can be made here")
        self.file("x/k")
        self.file("x/open", text="control\n")

    def mounted(self, *binds, more=None):
        """What a helper does before it starts: a mount namespace with these binds in it."""

        def prepare():
            own_mounts()
            for source, target in binds:
                mount(source, target, flags=MS_BIND)
            if more:
                more()

        return prepare

    def read(self, policy, *paths, binds=(), more=None, script='for f; do cat "$f" || echo no; done; exit 0'):
        """One word for each path: what was read there, or no. And the run."""
        with self.helper(base=policy, prepare=self.mounted(*binds, more=more)) as helper:
            self.needs(helper, "bwrap")
            run = self.settle(helper, helper.start([SH, "-c", script, "sh", *paths]))
        self.assertEqual(run.code, 0, self.story(run))
        return run.stdout.decode().split(), run

    def test_a_protected_file_is_masked_where_a_bind_mount_shows_it_again(self):
        # guard 9.7: 130
        x, y = self.path("x"), self.directory("y")
        policy = self.policy(protected=[f"{x}/k"], readable_roots=[y])
        words, run = self.read(policy, f"{y}/k", f"{y}/open", binds=[(x, y)])
        self.assertEqual(words, ["no", "control"], self.story(run))
        self.assertNoSkips(run)
        self.assertEqual(self.mounts_entry(run)["mask"], "1")
        without, run = self.read(self.policy(readable_roots=[y]), f"{y}/k", binds=[(x, y)])
        self.assertEqual(without, ["S3CRET"], self.story(run))

    def test_what_an_exec_table_denies_stays_denied_where_the_scratch_shows_it_again(self):
        """A rule for /tmp would be one for whatever is mounted beneath."""
        denied = self.program("x", "bin", "run", text="#!/bin/sh\nexit 0\n")
        admitted = self.program("x", "ok", text="#!/bin/sh\nexit 0\n")
        self.assertTrue(os.access(denied, os.X_OK) and os.access(admitted, os.X_OK))
        shown = self.under_tmp()
        script = 'for f; do "$f" >/dev/null 2>&1 && echo ran || echo no; done; exit 0'
        for kind, value in (("dir", self.path("x/bin")), ("file", denied)):
            table = {
                "default": "allow",
                "allow": [],
                "deny": [{"kind": kind, "value": value}],
                "support": "system",
                "memfd": "noexec",
                "required": True,
            }
            policy = self.policy(v=3, readable_roots=[shown], exec=table)
            names = (f"{shown}/bin/run", f"{shown}/ok")
            words, run = self.read(policy, *names, binds=[(self.path("x"), shown)], script=script)
            self.assertEqual(words, ["no", "ran"], self.story(run))

    def test_a_part_of_what_is_denied_that_a_mount_shows_runs_under_no_name(self):
        """A rule is of the object: what admits it under one name admits it under all."""
        run_it = "#!/bin/sh\nexit 0\n"
        inner, beside = self.program("x", "d", "run", text=run_it), self.program("x", "ok", text=run_it)
        shown, other = self.directory("shown"), self.program("shown", "other", text=run_it)
        alone = self.program("alone", text=run_it)
        mounted = self.directory("shown", "m")
        script = 'for f; do "$f" >/dev/null 2>&1 && echo ran || echo no; done; exit 0'
        binds = [(self.path("x/d"), mounted), (beside, alone)]
        names = (f"{mounted}/run", inner, alone, beside, other)
        for default in ("allow", "deny"):
            table = {
                "default": default,
                "allow": [
                    {"kind": "dir", "value": "/usr/bin"},
                    {"kind": "dir", "value": shown},
                    {"kind": "file", "value": alone},
                ],
                "deny": [{"kind": "dir", "value": self.path("x")}],
                "support": "system",
                "memfd": "noexec",
                "required": True,
            }
            policy = self.policy(v=3, readable_roots=[self.path("x"), shown, alone], exec=table)
            words, run = self.read(policy, *names, binds=binds, script=script)
            self.assertEqual(words, ["no", "no", "no", "no", "ran"], self.story(run))
            table["deny"] = [{"kind": "file", "value": beside}]
            words, run = self.read(policy, *names, binds=binds, script=script)
            within = "ran" if default == "allow" else "no"
            self.assertEqual(words, ["ran", within, "no", "no", "ran"], self.story(run))

    def test_both_names_are_masked_whichever_is_protected(self):
        x, y = self.path("x"), self.directory("y")
        for hidden in (x, y):
            policy = self.policy(protected=[f"{hidden}/k"], readable_roots=[x, y])
            words, run = self.read(policy, f"{x}/k", f"{y}/k", f"{x}/open", f"{y}/open", binds=[(x, y)])
            self.assertEqual(words, ["no", "no", "control", "control"], self.story(run))

    def test_a_bind_mount_inside_a_shown_region_is_masked_there(self):
        # guard 9.7: 132
        x, m = self.path("x"), self.directory("ws/d/m")
        policy = self.policy(protected=[f"{x}/k"])
        words, run = self.read(policy, f"{m}/k", f"{m}/open", binds=[(x, m)])
        self.assertEqual(words, ["no", "control"], self.story(run))

    def test_a_bind_mount_of_a_part_of_a_protected_directory_is_masked_whole(self):
        self.file("x/sub/inner")
        m, f = self.directory("ws/m"), self.file("ws/f", text="mount point\n")
        policy = self.policy(protected=[self.path("x")])
        binds = [(self.path("x/sub"), m), (self.path("x/open"), f)]
        words, run = self.read(policy, f"{m}/inner", f, self.file("ws/beside", text="control\n"), binds=binds)
        self.assertEqual(words, ["no", "no", "control"], self.story(run))
        words, run = self.read(self.policy(), f"{m}/inner", f, binds=binds)
        self.assertEqual(words, ["S3CRET", "control"], self.story(run))

    def test_a_root_behind_a_link_is_masked_at_both_names(self):
        # guard 9.7: 133
        self.file("w/real/k"), self.file("w/real/open", text="control\n")
        link = self.link("w/real", "l")
        policy = self.policy(readable_roots=[link], protected=[self.path("w/real/k")])
        paths = [f"{link}/k", self.path("w/real/k"), f"{link}/open"]
        words, run = self.read(policy, *paths)
        self.assertEqual(words, ["no", "no", "control"], self.story(run))

    def test_an_absent_path_cannot_be_made_under_its_other_name(self):
        x, y = self.path("x"), self.directory("y")
        policy = self.policy(protected=[f"{x}/none", f"{x}/deep/er/none"], writable_roots=[y])
        script = 'for f; do mkdir -p "${f%/*}"; if echo EVIL >"$f"; then echo made; else echo no; fi; done; exit 0'
        paths = [f"{y}/none", f"{y}/deep/er/none", f"{y}/new"]
        words, run = self.read(policy, *paths, binds=[(x, y)], script=script)
        self.assertEqual(words, ["no", "no", "made"], self.story(run))
        self.assertEqual(sorted(os.listdir(x)), ["k", "new", "open"])

    def test_the_name_cannot_be_built_anew_through_the_other_one(self):
        x, y = self.path("x"), self.directory("y")
        secret = self.file("x/d/e/secret")
        self.file("x/free/f/file")
        script = 'for d in d/e d free; do if mv "$1/$d" "$1/$d.away"; then echo moved; else echo no; fi; done; exit 0'
        policy = self.policy(protected=[secret], writable_roots=[y])
        words, run = self.read(policy, y, binds=[(x, y)], script=script)
        self.assertEqual(words, ["no", "no", "moved"], self.story(run))
        self.assertIn("pins=2", run.enforcement)
        self.assertEqual(self.text(secret), "S3CRET\n")

    def test_a_mount_of_the_policy_over_another_name_is_refused(self):
        x, y = self.path("x"), self.directory("y")
        for access in ("ro", "rw"):
            mounts = [{"path": y, "access": access, "required": True}]
            policy = self.policy(protected=[f"{x}/k"], mounts=mounts)
            with self.helper(base=policy, prepare=self.mounted((x, y))) as helper:
                self.needs(helper, "bwrap")
                run = helper.settle(helper.start(["/bin/true"]), LIMIT)
                self.assertIsNotNone(run.error, "it ran")
                self.assertIn(f"{y}/k", run.error["msg"])
            with self.helper(base=policy, prepare=self.mounted()) as helper:
                self.settle(helper, helper.start(["/bin/true"]))

    def test_a_mount_made_between_two_runs_is_noticed(self):
        x, y = self.path("x"), self.directory("y")
        policy = self.policy(protected=[f"{x}/k"], readable_roots=[y])
        argv = [SH, "-c", 'cat "$1/k" "$1/open"; exit 0', "sh", y]

        def unmount():
            if libc.umount2(os.fsencode(y), 0) != 0:
                raise OSError(ctypes.get_errno(), "umount")

        actions = [lambda: mount(x, y, flags=MS_BIND), None, unmount]
        with self.helper(base=policy, prepare=self.mounted()) as helper:
            self.needs(helper, "bwrap")
            printed = []
            for action in actions:
                client.rest(helper)  # while a jail is made, or runs, its sources are in use
                if action:
                    among_the_mounts_of(helper.pid, action)
                printed.append(bytes(self.settle(helper, helper.start(argv)).stdout))
        self.assertEqual(printed, [b"control\n", b"control\n", b""])

    def test_a_mask_lost_from_a_file_that_the_host_mounts_there_is_named(self):
        # Below the mask there is a mount at the same place, which stays.
        secret, source = self.file("ws/.env"), self.file("out/source")
        policy = self.policy(protected=[secret])
        with self.helper(base=policy, prepare=self.mounted((source, secret))) as helper:
            self.needs(helper, "bwrap")
            for fresh in (None, self.file("out/fresh", text="FRESH\n")):
                with self.subTest(fresh):
                    run = helper.start([SH, "-c", "echo up; read line; cat .env || true"], cwd=self.ws)
                    helper.until_output(run, b"up\n")
                    if fresh:
                        os.rename(fresh, source)
                    helper.stdin(b"go\n", eof=True)
                    self.settle(helper, run)
                    if fresh:
                        self.assertIn(secret, self.assertSkips(run, "skip:mounts: protected"))
                    else:
                        self.assertNoSkips(run)

    def test_another_mount_over_the_other_name_hides_it_and_is_left_alone(self):
        x, y = self.path("x"), self.directory("y")
        self.file("x/d/secret")

        def cover():
            mount("none", f"{y}/d", "tmpfs")
            with open(f"{y}/d/own", "w", encoding="utf-8") as file:
                file.write("control\n")

        policy = self.policy(protected=[f"{x}/d/secret"], readable_roots=[y])
        words, run = self.read(policy, f"{y}/d/secret", f"{y}/d/own", binds=[(x, y)], more=cover)
        self.assertEqual(words, ["no", "control"], self.story(run))

    def test_a_loop_of_mounts_ends_and_is_masked_at_every_turn(self):
        # field B39
        a, b = self.directory("x/a"), self.directory("ws/b")
        policy = self.policy(protected=[self.path("x/k")], readable_roots=[self.path("x")])
        paths = [self.path("x/k"), f"{a}/k", f"{b}/k", f"{a}/open", f"{b}/open"]
        words, run = self.read(policy, *paths, binds=[(self.path("x"), a), (self.path("x"), b)])
        self.assertEqual(words, ["no", "no", "no", "control", "control"], self.story(run))

    if os.access("/dev/fuse", os.R_OK | os.W_OK):

        def dead_mount(self, target):
            """Mounts what nobody answers for: whoever looks at it waits for ever."""
            device = os.open("/dev/fuse", os.O_RDWR)
            self.addCleanup(os.close, device)
            options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
            return lambda: mount("none", target, "fuse", 0, options)

        def test_a_dead_mount_on_the_host_holds_nobody_up(self):
            # field B20
            x, y = self.path("x"), self.directory("y")
            hang = self.dead_mount(self.directory("shown/dead"))
            self.file("shown/file", text="control\n")
            policy = self.policy(protected=[f"{x}/k"], readable_roots=[y, self.path("shown")])
            paths = [f"{y}/k", f"{y}/open", self.path("shown/file")]
            words, run = self.read(policy, *paths, binds=[(x, y)], more=hang)
            self.assertEqual(words, ["no", "control", "control"], self.story(run))

        def test_a_mount_that_came_between_two_starts_and_is_dead_holds_nobody_up(self):
            x, again = self.path("x"), self.directory("y/again")
            self.file("y/open", text="control\n")
            hang = self.dead_mount(again)
            policy = self.policy(protected=[f"{x}/k"], readable_roots=[self.path("y")])
            with self.helper("--no-warm", base=policy, prepare=self.mounted((x, again))) as helper:
                self.needs(helper, "bwrap")

                def sees(*paths):
                    script = 'for f; do cat "$f" || echo no; done; exit 0'
                    run = self.settle(helper, helper.start([SH, "-c", script, "sh", *paths]))
                    return run.stdout.decode().split()

                for _ in range(2):
                    shown = sees(self.path("y/open"), f"{again}/open", f"{again}/k")
                    self.assertEqual(shown, ["control", "control", "no"])
                among_the_mounts_of(helper.pid, hang)
                self.assertEqual(sees(self.path("y/open")), ["control"])


if __name__ == "__main__":
    unittest.main()
