"""Field reports B: mount construction and odd file systems."""

import json
import struct

import world
from field import *
from world import World, only_as_root, plain

MERGED_USR = os.path.islink("/bin")
SOON = 10  # seconds: a dead mount delays for ever, a busy machine does not


class OddHost(FieldCase):
    """A test on a host whose /etc, /run, /mnt and /nix are its own."""

    def setUp(self):
        super().setUp()
        self.etc, self.run_tree = self.directory("host/etc"), self.directory("host/run")
        self.mnt, self.nix = self.directory("host/mnt"), self.directory("host/nix")
        for name in ("passwd", "group", "ld.so.cache", "ld.so.conf"):
            if os.path.exists("/etc/" + name):
                shutil.copy("/etc/" + name, self.etc)
        plain(self.etc, "nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
        plain(self.etc, "hosts", "127.0.0.1 localhost\n")

    def host_like_that(self, **more):
        entries = {"etc": self.etc, "run": self.run_tree, "mnt": self.mnt, "nix": self.nix, **more}
        return World(self, lambda: world.new_root(**entries))

    def open_network(self, **given):
        return self.base(network={"mode": "full"}, **given)


RESOLVER = "nameserver 192.0.2.7\n"


class Resolver(OddHost):
    """B15, B16: /etc/resolv.conf is a link into some other tree."""

    SCRIPT = "echo begin; cat /etc/resolv.conf; getent hosts localhost; exit 0"

    def looked_up(self, policy=None):
        policy = policy or self.open_network()
        attempt = self.attempt(self.SCRIPT, policy, before=self.host_like_that().enter)
        self.assertHeld(attempt)
        self.assertEqual(attempt.lines[0], "begin", attempt)
        self.assertIn("localhost", attempt.lines[-1], attempt)
        return RESOLVER in attempt.output

    def link(self, target):
        path = os.path.join(self.etc, "resolv.conf")
        if os.path.lexists(path):
            os.unlink(path)
        os.symlink(target, path)

    # field B15
    def test_b15_a_resolver_file_is_read_through_every_chain_that_ends_in_a_system_directory(self):
        plain(self.etc, "resolv.conf", RESOLVER)
        self.assertTrue(self.looked_up(), "the control: no link at all")
        for tree in ("systemd/resolve/stub-resolv.conf", "NetworkManager/resolv.conf", "resolvconf/resolv.conf"):
            plain(self.run_tree, tree, RESOLVER)
            for target in ("/run/" + tree, "../run/" + tree):
                with self.subTest(target=target):
                    self.link(target)
                    self.assertTrue(self.looked_up())

    # field B15
    def test_b15_a_resolver_file_is_read_through_three_links(self):
        plain(self.run_tree, "systemd/resolve/resolv.conf", RESOLVER)
        os.makedirs(os.path.join(self.nix, "store/x-etc/etc"))
        os.symlink("/run/systemd/resolve/resolv.conf", os.path.join(self.nix, "store/x-etc/etc/resolv.conf"))
        os.symlink("/nix/store/x-etc/etc", os.path.join(self.etc, "static"))
        self.link("/etc/static/resolv.conf")
        self.assertTrue(self.looked_up())

    # field B15
    def test_b15_a_resolver_file_elsewhere_or_nowhere_stops_no_start_and_is_read_where_it_is_granted(self):
        # No note says that the target is not granted: the report's vocabulary has none.
        plain(self.mnt, "wsl/resolv.conf", RESOLVER)
        self.link("/mnt/wsl/resolv.conf")
        self.assertFalse(self.looked_up())
        self.assertTrue(self.looked_up(self.open_network(readable_roots=["/mnt/wsl"])))
        self.link("/run/nowhere/resolv.conf")
        self.assertFalse(self.looked_up())

    def read_after_replacing(self, target, policy=None):
        """What a command reads after the host renamed another file over that one, and a second jail."""
        here = self.host_like_that()
        with self.field_helper(policy or self.open_network(), before=here.enter) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", "echo up; read line; cat /etc/resolv.conf"])
            helper.until_output(run, b"up\n", LIMIT)
            os.rename(plain(self.place, "fresh", "nameserver 192.0.2.8\n"), target)
            second = self.attempt("cat /etc/resolv.conf", policy or self.open_network(), before=here.enter)
            self.assertRan(second)
            self.assertEqual(second.output, "nameserver 192.0.2.8\n")
            helper.stdin(b"go\n", eof=True)
            self.settle(helper, run)
            self.assertEqual(run.code, 0, self.story(run))
            return bytes(run.stdout)[len(b"up\n") :].decode()

    # field B16
    def test_b16_a_resolver_file_replaced_on_the_host_stays_readable_in_a_jail_that_lives(self):
        target = plain(self.run_tree, "systemd/resolve/stub-resolv.conf", RESOLVER)
        self.link("../run/systemd/resolve/stub-resolv.conf")
        self.assertIn(self.read_after_replacing(target), (RESOLVER, "nameserver 192.0.2.8\n"))

    # field B16
    def test_b16_a_resolver_file_that_is_a_mount_of_its_own_stays_readable_when_it_is_replaced(self):
        target = plain(self.mnt, "wsl/resolv.conf", RESOLVER)
        self.link("/mnt/wsl/resolv.conf")
        mount = {"path": "/mnt/wsl/resolv.conf", "access": "ro", "required": True}
        policy = self.open_network(mounts=[mount])
        self.assertIn(self.read_after_replacing(target, policy), (RESOLVER, "nameserver 192.0.2.8\n"))


class Spellings(FieldCase):
    """B17 to B19 and B30 to B33: what a path in a policy means."""

    def plan(self, policy):
        path = self.file("policy.json", text=json.dumps(policy))
        done = subprocess.run(
            [client.helper_path(), "plan", "--policy", path, "--", "/bin/true"],
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        view = done.stdout.split("claimed once")[0].splitlines()
        return [line.strip() for line in view if self.place in line]

    # field B17
    def test_b17_a_workspace_in_a_symlinked_home_works_in_both_spellings(self):
        # Which path was asked for and which was meant stands in `loom-exec plan`, not in the report.
        self.directory("var/home/u/ws")
        self.link("var/home", "home")
        real, asked = self.path("var/home/u/ws"), self.path("home/u/ws")
        script = 'cd; pwd -P; pwd; cd ws; touch x "$1/y"; echo >z; ls; touch ../x 2>/dev/null || echo none'
        for workspace in (asked, real):
            with self.subTest(workspace=workspace):
                policy = self.base(writable_roots=[workspace])
                home = os.path.dirname(workspace)
                attempt = self.attempt(script, policy, args=[real], env={"HOME": home}, cwd=workspace)
                self.assertHeld(attempt)
                self.assertEqual(attempt.lines, [os.path.dirname(real), home, "x", "y", "z", "none"])
                for name in os.listdir(real):
                    os.unlink(os.path.join(real, name))
        lines = self.plan(self.base(writable_roots=[asked]))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(real, lines[0])
        self.assertTrue(lines[0].endswith("written " + asked), lines)

    # field B18
    def test_b18_a_root_that_is_a_symlink_and_its_target_are_one_writable_directory(self):
        self.directory("real/tmp")
        self.link("real/tmp", "T")
        asked, real = self.path("T"), self.path("real/tmp")
        script = 'touch "$1/x" && touch "$2/y" && ls "$1"; touch "$2/../z" 2>/dev/null || echo none'
        attempt = self.attempt(script, self.base(writable_roots=[asked]), args=[asked, real])
        self.assertHeld(attempt)
        self.assertEqual(attempt.lines, ["x", "y", "none"])
        self.assertEqual(sorted(os.listdir(real)), ["x", "y"])
        for roots in ([asked], [asked, real]):
            lines = self.plan(self.base(writable_roots=roots))
            self.assertEqual([line.split()[1] for line in lines], [real], "the resolved root stands once")

    # field B19
    def test_b19_a_workspace_below_tmp_is_there_and_a_temporary_file_is_not_the_hosts(self):
        top = self.under_tmp()
        workspace = os.path.join(top, "ws")
        os.mkdir(workspace)
        plain(workspace, "mine", "")
        os.mkdir(os.path.join(top, "other"))
        script = 'pwd; ls; echo x >new; t=$(mktemp) && echo "$t"; ls -A ../other 2>/dev/null; exit 0'

        def run(**how):
            attempt = self.attempt(script, self.base(writable_roots=[workspace]), cwd=workspace, **how)
            self.assertHeld(attempt)
            self.assertEqual(attempt.lines[:2], [workspace, "mine"], attempt)
            made = attempt.lines[-1]
            self.assertTrue(made.startswith("/tmp/tmp."), attempt)
            self.assertFalse(os.path.exists(made))
            self.assertEqual(sorted(os.listdir(workspace)), ["mine", "new"])
            os.unlink(os.path.join(workspace, "new"))

        run()
        mounted = World(self, lambda: world.tmpfs(os.path.join(top, "other")))
        run(before=mounted.enter)

    # field B30
    def test_b30_a_name_that_is_not_utf_8_is_that_name_and_no_other(self):
        # policy.md 2 takes a str as it takes a bin, whatever its bytes: no decode error (D25).
        odd, lossy = self.directory("\udcff\udcfe"), self.directory("\ufffd\ufffd")
        name = os.fsencode(odd)
        script = (
            'cd "$1" && touch ok && ls; ls "$2" 2>/dev/null || echo hidden\n'
            'touch "$2/x" 2>/dev/null || echo none'
        )
        for spelled in (name, name.decode("utf-8", "surrogateescape")):
            with self.subTest(kind=type(spelled).__name__):
                attempt = self.attempt(script, self.base(writable_roots=[spelled]), args=[odd, lossy], cwd=odd)
                self.assertHeld(attempt)
                self.assertEqual(attempt.lines, ["ok", "hidden", "none"])
                os.unlink(os.path.join(odd, "ok"))
        secret = self.file("\udcff\udcfe", ".env\udcff")
        policy = self.base(writable_roots=[name], protected=[os.fsencode(secret)])
        attempt = self.attempt('cat "$1"; echo end', policy, args=[secret])
        self.assertEqual(self.assertHeld(attempt).output, "end\n")
        self.assertEqual(os.listdir(lossy), [])

    # field B31
    def test_b31_a_report_shows_an_unusual_name_so_that_its_bytes_can_be_told(self):
        # That the rules hold for such names: tests/jail/test_masks.py. A report is UTF-8 and one line an
        # entry, so bytes that cannot stand in it are shown as numbers (enforcement-tags.md 2).
        names = {
            "a b": "a b",
            "a\tb": "a\\x09b",
            "a\nb": "a\\x0ab",
            "a\\x2de": "a\\x2de",
            "a\udcffb": "a\\xffb",
            "\u00e4\u2603": "\u00e4\u2603",
        }
        for name, shown in names.items():
            with self.subTest(name=name):
                link = self.link(self.file("ws", name, "secret"), "ws", name, "link")
                policy = self.base(protected=[link])
                attempt = self.attempt("cat link; echo end", policy, cwd=os.path.dirname(link))
                self.assertEqual(self.assertRan(attempt).output, "end\n")
                self.assertEqual(
                    attempt.skips,
                    [f"skip:mounts: protected path {self.path('ws', shown, 'link')} is reached through a link"
                     " the command can replace"],  # fmt: skip
                )

    # field B32
    def test_b32_dots_and_slashes_are_cleaned_in_the_text_and_a_relative_path_is_refused(self):
        # The report wants `..` refused; policy.md 2 resolves it in the text of the three lists, and
        # refuses it, like a trailing slash, in a mount (rules 29, 30).
        script = 'touch "$1/x" && echo made; ls "$2" 2>/dev/null || echo hidden; rm "$1/x"'
        name = os.path.basename(self.ws)
        for roots in ([f"{self.ws}/../{name}"], [self.ws + "//"], [self.ws + "/"], [self.ws, self.ws]):
            with self.subTest(roots=roots):
                attempt = self.attempt(script, self.base(writable_roots=roots), args=[self.ws, self.out])
                self.assertHeld(attempt)
                self.assertEqual(attempt.lines, ["made", "hidden"])
        mount = {"access": "ro", "required": True}
        refused = [
            (self.base(writable_roots=[name]), "not absolute"),
            (self.base(readable_roots=["./" + name]), "not absolute"),
            (self.base(mounts=[{"path": f"{self.out}/../out", **mount}]), ".."),
            (self.base(mounts=[{"path": self.out + "/", **mount}]), "slash"),
            (self.base(mounts=[{"path": name, **mount}]), "not absolute"),
        ]
        for policy, word in refused:
            with self.subTest(word=word):
                attempt = self.attempt("echo ran", self.base(), inline=policy)
                self.assertEqual(attempt.refused_as, "bad_policy", attempt)
                self.assertIn(word, attempt.refused)

    # field B32
    def test_b32_of_nested_roots_the_deepest_decides_and_the_plan_shows_them_in_order(self):
        self.directory("ws/sub/rw")
        policy = self.base(
            writable_roots=[self.path("ws/sub/rw"), self.ws, self.ws], readable_roots=[self.path("ws/sub")]
        )
        run = self.assertJail(
            policy,
            cannot=[("create", self.path("ws/sub/no"))],
            can=[("create", self.path("ws/yes")), ("create", self.path("ws/sub/rw/yes"))],
        )
        self.assertNoSkips(run)
        lines = [line.split() for line in self.plan(policy)]
        decided = [(line[0], line[1]) for line in lines if line[0] in ("readable", "writable")]
        self.assertEqual(
            decided,
            [
                ("writable", self.ws),
                ("readable", self.path("ws/sub")),
                ("writable", self.path("ws/sub/rw")),
            ],
        )

    # field B33
    def test_b33_a_tilde_is_refused_and_a_star_is_a_letter_of_a_name(self):
        # An absolute path with a star in it is literal (policy.md 3.3): it covers one name, and is not refused.
        for path in ("~/.bashrc", "*.env", "**/.bashrc"):
            with self.subTest(path=path):
                attempt = self.attempt("echo ran", self.base(), inline=self.base(protected=[path]))
                self.assertEqual(attempt.refused_as, "bad_policy", attempt)
                self.assertIn(path, attempt.refused)
                self.assertIn("not absolute", attempt.refused)
        star, tilde = self.file("ws/*.env"), self.file("ws/~")
        attempt = self.attempt(
            'for f in "*.env" "~" a.env; do cat "$f" 2>/dev/null || echo hidden; done',
            self.base(protected=[star, tilde]),
            cwd=os.path.dirname(self.file("ws/a.env", text="open\n")),
        )
        self.assertEqual(self.assertHeld(attempt).lines, ["hidden", "hidden", "open"])


class DeadMounts(FieldCase):
    """B20, B21: file systems that answer nobody, or not us."""

    def setUp(self):
        super().setUp()
        self.mounted = self.directory("out/dead")
        self.file("out/beside", text="alive\n")

    def fuse_that_hangs(self, at):
        there = World(self, lambda: world.fuse(at))
        self.assertEqual(there.run(["/bin/cat", at + "/served"]).stdout, world.TEXT)
        server = int(there.result)
        os.kill(server, signal.SIGSTOP)
        # Until it has stopped it may take one more question, and whoever asked that cannot be killed.
        stops = client.wait_until(lambda: client.process_table()[server][1] == "T", SOON)
        self.assertTrue(stops, "the server goes on")
        return there

    def kinds(self):
        """What this machine has of file systems that somebody else answers for, each as if nobody did."""
        kinds = {}
        if world.has_fuse():
            kinds["fuse"] = self.fuse_that_hangs
        if world.has("autofs"):
            kinds["autofs, direct"] = lambda at: World(self, lambda: world.autofs(at, "direct"))
            kinds["autofs, indirect"] = lambda at: World(self, lambda: world.autofs(at, "indirect"))
        if not kinds:
            self.skipTest("this machine has neither FUSE nor autofs")
        return kinds.items()

    def assertDead(self, there):
        """The control: whoever looks into it waits."""
        looking = there.run(["/usr/bin/timeout", "-s", "KILL", "0.3", "/bin/ls", self.mounted + "/x"])
        self.assertEqual(looking.returncode, -signal.SIGKILL, looking)

    def started(self, there, policy):
        began = time.monotonic()
        script = 'echo begin; cat "$1/beside"; exit 0'
        attempt = self.attempt(script, policy, args=[self.out], before=there.enter)
        self.assertLess(time.monotonic() - began, SOON, attempt)
        return attempt

    # field B20
    @only_as_root
    def test_b20_a_dead_mount_outside_every_root_delays_no_start(self):
        for kind, make in self.kinds():
            with self.subTest(kind=kind):
                there = make(self.mounted)
                self.assertDead(there)
                attempt = self.started(there, self.base(protected=[self.file("ws/.env")]))
                self.assertEqual(self.assertHeld(attempt).output, "begin\n")
                there.end()

    # field B20
    @only_as_root
    def test_b20_a_dead_mount_inside_a_root_hangs_nobody_but_who_looks_into_it(self):
        # The report would have such a policy refused. Nothing looks into the mount but the command, so
        # the jail starts, and what lies beside the mount is there.
        for kind, make in self.kinds():
            with self.subTest(kind=kind):
                there = make(self.mounted)
                self.assertDead(there)
                for given in ({"readable_roots": [self.out]}, {"writable_roots": [self.ws, self.out]}):
                    attempt = self.started(there, self.base(**given))
                    self.assertEqual(self.assertHeld(attempt).output, "begin\nalive\n")
                there.end()

    # field B21
    @only_as_root
    def test_b21_a_mount_that_is_not_ours_to_read_stops_no_start(self):
        # It is carried, and refuses whoever is not its owner, as outside.
        if not world.has_fuse():
            self.skipTest("this machine has no FUSE")
        script = 'ls "$1" && cat "$1/beside"; ls "$1/dead" || echo refused; exit 0'
        policy = self.base(readable_roots=[self.out])
        for owner, last in ((os.getuid() + 54321, "refused"), (os.getuid(), "served")):
            with self.subTest(owner=owner):
                there = World(self, lambda: world.fuse(self.mounted, owner))
                attempt = self.attempt(script, policy, args=[self.out], before=there.enter)
                self.assertHeld(attempt)
                self.assertEqual(attempt.lines, ["beside", "dead", "alive", last], attempt)
                there.end()


class Flags(FieldCase):
    """B22, B23: what a mount below or around the jail allows."""

    def flags_of(self, attempt):
        """{mount point: its flags}, from a mountinfo the command printed."""
        rows = [line.split() for line in attempt.lines if line.count(" ") >= 8]
        return {row[4]: row[5].split(",") for row in rows}

    # field B22
    def test_b22_a_mount_below_a_readable_root_is_read_only_too(self):
        self.directory("out/sub/deep")

        def mounted():
            world.tmpfs(self.path("out/sub"))
            os.mkdir(self.path("out/sub/deep"))
            world.tmpfs(self.path("out/sub/deep"))

        there = World(self, mounted)
        places = [self.out, self.path("out/sub"), self.path("out/sub/deep")]
        script = (
            'for d; do echo x >"$d/x" && rm "$d/x" && echo written || echo refused; done\n'
            "cat /proc/self/mountinfo"
        )
        read = self.attempt(script, self.base(readable_roots=[self.out]), args=places, before=there.enter)
        self.assertHeld(read)
        self.assertEqual(read.lines[:3], ["refused"] * 3)
        for place in places:
            self.assertIn("ro", self.flags_of(read)[place])
        write = self.attempt(script, self.base(writable_roots=[self.out]), args=places, before=there.enter)
        self.assertEqual(self.assertHeld(write).lines[:3], ["written"] * 3)

    # field B22
    def test_b22_a_mount_below_a_protected_directory_is_hidden_with_it(self):
        self.directory("out/sub")

        def mounted():
            world.tmpfs(self.path("out/sub"))
            plain(self.path("out/sub"), "key", "S3CRET\n")

        there = World(self, mounted)
        script = 'ls "$1/sub"; cat "$1/sub/key"; echo end'
        hidden = self.base(writable_roots=[self.ws, self.out], protected=[self.out])
        attempt = self.attempt(script, hidden, args=[self.out], before=there.enter)
        self.assertEqual(self.assertHeld(attempt).output, "end\n")
        shown = self.base(readable_roots=[self.out])
        attempt = self.attempt(script, shown, args=[self.out], before=there.enter)
        self.assertEqual(self.assertHeld(attempt).output, "key\nS3CRET\nend\n")

    NESTED = r"""
echo begin
for d; do echo x 2>/dev/null >"$d/x" && echo "writes $d" || echo "does not write $d"; done
for d; do "$d/tool" 2>/dev/null || echo "does not run $d"; done
cat /proc/self/mountinfo
"""

    def outer_jail(self, fixed, loose):
        """Words for a jail of somebody else's, around mounts with flags that nobody inside may drop."""

        def mounted():
            for place in (fixed, loose):
                world.tmpfs(place, world.NOSUID | world.NODEV | world.NOEXEC)
                path = plain(place, "tool", f"#!/bin/sh\necho runs {place}\n")
                os.chmod(path, 0o755)
            world.mount(None, fixed, None, world.BIND | world.REMOUNT | world.RDONLY | world.NOSUID
                        | world.NODEV | world.NOEXEC)  # fmt: skip

        # Its /proc is the host's: what a masked one leads to is a report of its own (C).
        return [*World(self, mounted).enter, BWRAP, "--unshare-user", "--dev-bind", "/", "/", "--"]

    # field B23
    def test_b23_a_jail_in_a_jail_keeps_the_flags_of_the_outer_mounts(self):
        fixed, loose = self.directory("out/fixed"), self.directory("out/loose")
        self.program("ws/tool", text=f"#!/bin/sh\necho runs {self.ws}\n")
        before = self.outer_jail(fixed, loose)
        attempt = self.attempt(
            self.NESTED,
            self.base(writable_roots=[self.ws, fixed, loose]),
            args=[fixed, loose, self.ws],
            before=before,
        )
        self.assertRan(attempt)
        self.assertEqual(
            attempt.lines[:7],
            [
                "begin",
                f"does not write {fixed}",
                f"writes {loose}",
                f"writes {self.ws}",
                f"does not run {fixed}",
                f"does not run {loose}",
                f"runs {self.ws}",
            ],
            attempt,
        )
        flags = self.flags_of(attempt)
        self.assertLessEqual({"ro", "nosuid", "nodev", "noexec"}, set(flags[fixed]))
        self.assertLessEqual({"rw", "nosuid", "nodev", "noexec"}, set(flags[loose]))
        self.assertNotIn("noexec", flags[self.ws])

    # field B23
    def test_b23_masks_and_read_only_roots_hold_in_a_jail_in_a_jail(self):
        fixed, loose = self.directory("out/fixed"), self.directory("out/loose")
        before = self.outer_jail(fixed, loose)
        policy = self.base(readable_roots=[loose], protected=[fixed + "/tool", self.file("ws/.env")])
        policy["readable_roots"].append(fixed)
        run = self.attempt(
            'cat "$1/tool" "$3/.env"; echo x >"$2/x"; cat "$2/tool"; echo x >"$3/x" && cat "$3/x"',
            policy,
            args=[fixed, loose, self.ws],
            before=before,
        )
        self.assertHeld(run)
        self.assertEqual(run.output, f"#!/bin/sh\necho runs {loose}\nx\n", run)


class Names(FieldCase):
    # field B24
    def test_b24_a_protected_program_is_gone_under_every_name_of_a_merged_usr(self):
        if not MERGED_USR:
            self.skipTest("/bin is no link on this system: there is no second name")
        for protected in ("/bin/id", "/usr/bin/id"):
            with self.subTest(protected=protected):
                attempt = self.attempt(
                    "echo begin; /bin/id; /usr/bin/id; cat /bin/id /usr/bin/id\n"
                    "/bin/true && /usr/bin/true && echo end",
                    self.base(protected=[protected]),
                )
                self.assertHeld(attempt)
                self.assertEqual(attempt.output, "begin\nend\n")
        self.assertIn("uid=", self.attempt("/bin/id", self.base()).output)


class StoreHost(OddHost):
    """B25: programs lie in a store, and what names them is made of links."""

    STORE = "/nix/store/x-tools/bin"
    CURRENT = "/run/current-system/sw/bin"

    def setUp(self):
        super().setUp()
        tools = self.directory("host/nix/store/x-tools/bin")
        os.makedirs(os.path.join(self.nix, "store/x-system"))
        self.usr = self.directory("host/usr")
        for name in os.listdir("/usr"):
            if name.startswith("lib"):
                os.mkdir(os.path.join(self.usr, name))
        for program in ("/bin/dash", "/bin/ls", "/bin/cat", BWRAP):
            shutil.copy(program, tools)
        os.rename(os.path.join(tools, "dash"), os.path.join(tools, "sh"))
        os.symlink("/nix/store/x-tools", os.path.join(self.nix, "store/x-system/sw"))
        os.symlink("/nix/store/x-system", os.path.join(self.run_tree, "current-system"))

    def host(self):
        def made():
            for name in os.listdir(self.usr):
                world.bind("/usr/" + name, os.path.join(self.usr, name))
            world.new_root(
                etc=self.etc, run=self.run_tree, nix=self.nix, mnt=None, usr=self.usr, bin=False, sbin=False
            )

        return World(self, made)

    def in_store(self, argv, policy, **how):
        env = {"PATH": self.CURRENT}
        return self.attempt(argv, policy, helper_env=env, env=env, before=self.host().enter, **how)

    # field B25
    def test_b25_a_shell_that_only_a_store_has_runs(self):
        there = self.host()
        self.assertNotEqual(there.run(["/bin/sh", "-c", ":"]).returncode, 0)
        granted = [self.base(), self.base(readable_roots=["/run/current-system", "/nix/store"])]
        for policy in granted:
            attempt = self.in_store(["sh", "-c", "command -v sh; ls -d /usr/bin /bin"], policy)
            self.assertRan(attempt, code=None)
            self.assertEqual(attempt.skips, [], attempt)
            self.assertEqual(attempt.output, self.CURRENT + "/sh\n", attempt)

    # field B25
    def test_b25_an_interpreter_that_is_not_granted_is_named_and_is_no_failure_of_the_command(self):
        # Both of the report's trees are system roots and always granted: a third one stands for /run.
        # The class is `exec`, which design.md D16 has for it, and not `setup`.
        store = os.path.join(self.run_tree, "other-system")
        shutil.copytree(os.path.join(self.nix, "store/x-tools"), store)
        script = self.program("ws/tool", text="#!/run/other-system/bin/sh\necho ran\n")
        attempt = self.in_store([script], self.base())
        self.assertEqual((attempt.code, attempt.outcome["class"]), (126, "exec"), attempt)
        for word in ("interpreter", script):
            self.assertIn(word, attempt.outcome["detail"])
        granted = self.in_store([script], self.base(readable_roots=["/run/other-system"]))
        self.assertEqual(self.assertRan(granted).output, "ran\n")


class OwnFileSystems(FieldCase):
    # field B26
    def test_b26_shared_memory_works_and_is_not_the_hosts(self):
        # bubblewrap makes the directory for the jail's only user, so 755 allows what 1777 would.
        def mounted():
            world.tmpfs("/dev/shm", mode="1777")
            plain("/dev/shm", "canary", "S3CRET\n")

        there = World(self, mounted)
        self.assertEqual(there.run(["/bin/ls", "/dev/shm"]).stdout, b"canary\n")
        script = (
            'python3 -c "import multiprocessing as m; m.Lock(); print(\'ok\')"\n'
            "echo x >/dev/shm/own && ls /dev/shm && stat -c %a /dev/shm\n"
        )
        attempt = self.attempt(script, self.base(), env={"PATH": "/usr/bin"}, before=there.enter)
        self.assertHeld(attempt)
        self.assertEqual(attempt.lines[:-1], ["ok", "own"], attempt)
        self.assertIn(attempt.lines[-1], ("755", "1777"))
        self.assertEqual(there.run(["/bin/ls", "/dev/shm"]).stdout, b"canary\n")

    # field B27
    def test_b27_a_proc_that_hides_other_peoples_processes_keeps_no_jail_from_working(self):
        there = World(self, lambda: world.mount("proc", "/proc", "proc", 0, "hidepid=2"), pids=True)
        self.assertIn(b"hidepid=", there.run(["/bin/grep", " /proc proc ", "/proc/mounts"]).stdout)
        with self.field_helper(flags=["--no-warm"], before=there.enter) as helper:
            self.needs(helper, "bwrap")
            attempt = self.attempt_on(helper, "echo begin; ls -d /proc/1")
            self.assertHeld(attempt)
            self.assertEqual(attempt.output, "begin\n/proc/1\n")
            # The stop ladder reads that /proc too: a handler gets its say, so the right ones were told.
            script = "trap 'echo told; exit 7' TERM; echo up; while :; do sleep 0.05; done"
            run = helper.start([SH, "-c", script])
            helper.until_output(run, b"up\n", LIMIT)
            helper.cancel(run)
            self.settle(helper, run)
            self.assertEqual((run.code, bytes(run.stdout)), (7, b"up\ntold\n"), self.story(run))
            below = set(client.left_of(helper.pid, 0).values())
            self.assertLessEqual(below, {"loom-exec"}, "nothing of the jail is left, dead or alive")

    # argv: a directory; tries renames in it, and says what each came to.
    RENAMES = r"""
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, NOREPLACE, EXCHANGE = -100, 1, 2
os.chdir(sys.argv[1])
def attempt(name, one, other, flags):
    answer = libc.renameat2(AT_FDCWD, one.encode(), AT_FDCWD, other.encode(), flags)
    print(name, "ok" if answer == 0 else errno.errorcode[ctypes.get_errno()])
open("a/made", "w").close()
attempt("file of the upper layer", "a/made", "b/made", NOREPLACE)
attempt("file of the lower layer", "a/below", "b/moved", NOREPLACE)
attempt("onto another", "b/made", "b/moved", NOREPLACE)
attempt("plain", "b/made", "a/back", 0)
attempt("directory of the lower layer", "a/dir", "b/dir", NOREPLACE)
os.mkdir("a/new")
attempt("directory of the upper layer", "a/new", "b/new", NOREPLACE)
attempt("exchange", "a/back", "b/moved", EXCHANGE)
"""

    def overlay(self, at):
        """In a set-up: two equal overlay file systems."""

        def mounted():
            top = self.path("layers")
            world.tmpfs(top)
            for name in at:
                for part in ("lower/a/dir", "lower/b", "upper", "work", "shown"):
                    os.makedirs(os.path.join(top, name, part))
                plain(os.path.join(top, name), "lower/a/below", "x")
                here = os.path.join(top, name)
                data = f"lowerdir={here}/lower,upperdir={here}/upper,workdir={here}/work"
                data += "" if world.ROOT else ",userxattr"
                world.mount("loom-test", here + "/shown", "overlay", 0, data)

        self.directory("layers")
        return World(self, mounted)

    # field B28
    def test_b28_renames_on_an_overlay_end_as_they_do_without_a_jail(self):
        there = self.overlay(("free", "jailed"))
        free = there.run([PYTHON, "-ISc", self.RENAMES, self.path("layers/free/shown")])
        self.assertEqual(free.returncode, 0, free.stderr)
        self.assertIn(b"file of the upper layer ok\n", free.stdout)
        self.assertIn(b"onto another EEXIST\n", free.stdout)
        shown = self.path("layers/jailed/shown")
        attempt = self.attempt(
            [PYTHON, "-ISc", self.RENAMES, shown], self.base(writable_roots=[shown]), before=there.enter
        )
        self.assertHeld(attempt)
        self.assertEqual(attempt.output, free.stdout.decode())
        self.assertEqual(attempt.outcome["detail"], "exit 0")  # nothing is blamed on a policy


def zone(name, hours):
    """A time zone file without any change of the clock: RFC 8536, version 1."""
    text = name.encode() + b"\0"
    head = b"TZif" + bytes(16) + struct.pack(">6I", 0, 0, 0, 0, 1, len(text))
    return head + struct.pack(">iBB", hours * 3600, 0, 0) + text


class TimeZones(OddHost):
    """B29: /etc/localtime is a link, a copy, or not there."""

    def setUp(self):
        super().setUp()
        for name, hours in (("HERE", 5), ("THERE", -3)):
            path = plain(self.etc, "zones/" + name, "")
            with open(path, "wb") as file:
                file.write(zone(name, hours))

    def zones(self, **env):
        """What `date` says outside and inside."""
        there = self.host_like_that()
        outside = there.run(["/bin/date", "+%Z"], env={"PATH": "/bin", **env})
        policy = self.base(env_allow=["PATH", "TZ"])
        attempt = self.attempt(["/bin/date", "+%Z"], policy, env=env, before=there.enter)
        self.assertHeld(attempt)
        self.assertEqual(outside.returncode, 0)
        return outside.stdout.decode().strip(), attempt.output.strip()

    # field B29
    def test_b29_the_time_zone_is_the_hosts_whatever_localtime_is(self):
        localtime, named = os.path.join(self.etc, "localtime"), ":/etc/zones/THERE"
        os.symlink("zones/HERE", localtime)
        self.assertEqual(self.zones(), ("HERE", "HERE"))
        self.assertEqual(self.zones(TZ=named), ("THERE", "THERE"))
        os.unlink(localtime)
        os.symlink("/etc/zones/HERE", localtime)
        self.assertEqual(self.zones(), ("HERE", "HERE"))
        os.unlink(localtime)
        shutil.copy(os.path.join(self.etc, "zones/HERE"), localtime)
        self.assertEqual(self.zones(), ("HERE", "HERE"))
        os.unlink(localtime)
        self.assertEqual(self.zones(), ("UTC", "UTC"))
        self.assertEqual(self.zones(TZ=named), ("THERE", "THERE"))


if __name__ == "__main__":
    unittest.main()
