"""Protected paths in a real jail: hidden, unwritable, uncreatable, whatever else is granted."""

import socket
import threading

from jail import *

# Opens and removes as a program would, and says what the kernel answered.
ERRORS_SCRIPT = r"""
import errno, os, sys
print("begin")
def attempt(name, action):
    try:
        action()
        print(name, "OK")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
secret, other = sys.argv[1:3]
for path in (secret, other):
    attempt("read", lambda: os.read(os.open(path, os.O_RDONLY), 64))
    attempt("write", lambda: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"x"))
    attempt("remove", lambda: os.unlink(path))
"""


class ProtectedFiles(JailCase):
    def test_a_protected_file_is_neither_read_nor_written_nor_removed(self):
        # cases.md 51
        secret, other = self.file("ws/.env"), self.file("ws/other")
        run = self.execute(
            [PYTHON, "-c", ERRORS_SCRIPT, secret, other], self.policy(protected=[secret])
        )
        self.assertEqual(
            run.stdout.decode().split("\n")[:-1],
            ["begin", "read EACCES", "write EACCES", "remove EBUSY"]
            + ["read OK", "write OK", "remove OK"],
            self.story(run),
        )
        self.assertEqual(self.text(secret), "S3CRET\n")
        self.assertFalse(os.path.exists(other))
        self.assertNoSkips(run)

    # field B06
    def test_five_protected_files_in_one_jail_are_all_hidden(self):
        secrets = [self.file("ws", name) for name in "abcde"]
        open_one = self.file("ws/open")
        run = self.assertJail(
            self.policy(protected=secrets),
            cannot=[(verb, path) for path in secrets for verb in ("read", "write", "remove")],
            can=[("read", open_one), ("write", open_one)],
        )
        self.assertEqual(self.mounts_entry(run)["mask"], "5")
        self.assertEqual([self.text(path) for path in secrets], ["S3CRET\n"] * 5)

    # field B08
    def test_nothing_can_be_renamed_or_linked_onto_a_protected_file(self):
        secret, evil = self.file("ws/config"), self.file("ws/evil", text="evil\n")
        printed = self.output(
            'cd "$1"; mv -f evil config && echo moved; ln -f evil config && echo linked\n'
            "cp --remove-destination evil config && echo copied; mv evil elsewhere && echo control\n",
            self.policy(protected=[secret]),
            args=[self.ws],
        )
        self.assertEqual(printed, "control\n")
        self.assertEqual(self.text(secret), "S3CRET\n")
        self.assertEqual(self.text(evil.replace("evil", "elsewhere")), "evil\n")

    def test_another_hard_link_to_a_protected_file_is_not_passed_over_in_silence(self):
        secret, alone = self.file("ws/.env"), self.file("ws/alone")
        os.link(secret, self.path("ws/copy"))
        script = 'cat "$1/copy"'
        run = self.shell(script, self.policy(protected=[secret]), args=[self.ws])
        read = b"S3CRET" in run.stdout
        said = [entry for entry in run.enforcement if entry.startswith("mask-links=")]
        self.assertTrue(said == ["mask-links=1"] or not read, run.enforcement)
        control = self.shell(script, self.policy(protected=[alone]), args=[self.ws])
        self.assertFalse([e for e in control.enforcement if e.startswith("mask-links=")])

    def test_a_protected_fifo_or_socket_is_hidden_and_blocks_nobody(self):
        fifo, sock = self.path("ws/fifo"), self.path("ws/socket")
        os.mkfifo(fifo)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(sock)
        listener.listen()
        began = time.monotonic()
        run = self.shell(
            'for path; do stat -c %F "$path"; cat "$path" || echo unread; done',
            self.policy(protected=[fifo, sock]),
            args=[fifo, sock, self.file("ws/plain", text="control\n")],
        )
        self.assertLess(time.monotonic() - began, 10)
        device = "character special file\nunread\n"
        self.assertEqual(run.stdout.decode(), "begin\n" + device * 2 + "regular file\ncontrol\n")

    def test_an_unprotected_fifo_in_a_mount_or_root_blocks_nobody(self):
        fifo = self.path("out/fifo")
        os.mkfifo(fifo)
        mount = {"path": fifo, "access": "ro", "required": True}
        self.assertJail(
            self.policy(readable_roots=[fifo], mounts=[mount]),
            can=[("see", fifo)],
            cannot=[("see", self.file("out/beside"))],
        )


# argv: the masked path, an open one, its directory. What a user namespace of one's own could undo.
UNMASK_SCRIPT = r"""
import ctypes, errno, os, sys, tempfile
print("begin")
libc = ctypes.CDLL(None, use_errno=True)
secret, other, folder = (os.fsencode(word) for word in sys.argv[1:])
CLONE_NEWNS, CLONE_NEWUSER, MS_BIND, MS_REC, MNT_DETACH = 0x20000, 0x10000000, 4096, 16384, 2
def call(name, answer):
    print(name, "ok" if answer == 0 else errno.errorcode[ctypes.get_errno()], file=sys.stderr)
top = tempfile.mkdtemp(); a, b = top.encode() + b"/a", top.encode() + b"/b"; os.mkdir(a); os.mkdir(b)
call("unshare", libc.unshare(CLONE_NEWUSER | CLONE_NEWNS))
call("umount", libc.umount2(secret, 0))
call("detach", libc.umount2(secret, MNT_DETACH))
call("bind", libc.mount(folder, a, None, MS_BIND, None))
call("rbind", libc.mount(folder, b, None, MS_BIND | MS_REC, None))
call("detach copy", libc.umount2(b + b"/" + os.path.basename(secret), MNT_DETACH))
for path in (secret, a + b"/" + os.path.basename(secret), b + b"/" + os.path.basename(secret), other):
    try: print(open(path).read().strip())
    except OSError: print("unread")
"""


class NestedNamespaces(JailCase):
    def test_a_user_namespace_of_ones_own_lifts_no_mask(self):
        # field B81
        secret, other = self.file("ws/.env"), self.file("ws/other", text="control\n")
        argv = [PYTHON, "-ISc", UNMASK_SCRIPT, secret, other, self.ws]
        run = self.execute(argv, self.policy(protected=[secret]))
        self.assertEqual(bytes(run.stdout), b"begin\n" + b"unread\n" * 3 + b"control\n", self.story(run))

    def test_the_jails_first_process_shows_nothing_of_itself(self):
        # It was there before the rules were, so it must not be a way around them.
        names = ["environ", "maps", "mem", "fd/0", "root/etc/passwd", "cwd"]
        script = (
            "sleep 60 & for n; do for p in 1 $!; do "
            'if head -c1 "/proc/$p/$n" >/dev/null 2>&1 || ls "/proc/$p/$n/" >/dev/null 2>&1; '
            'then echo "$n of $p"; fi; done; done | sed "s/ of $!\\$/ of own/"; kill $!'
        )
        printed = self.output(script, args=names).splitlines()
        self.assertEqual([line for line in printed if line.endswith(" of 1")], [])
        for name in ("environ", "maps", "root/etc/passwd", "cwd"):
            self.assertIn(f"{name} of own", printed)


class ProtectedDirectories(JailCase):
    def test_a_protected_directory_is_empty_and_takes_nothing(self):
        secret = self.file("ws/.git/config")
        vault = self.path("ws/.git")
        self.assertJail(
            self.policy(protected=[vault]),
            cannot=[
                ("read", secret),
                ("list", vault),
                ("create", vault + "/new"),
                ("mkdir", vault + "/d"),
                ("remove", vault),
                ("rename", vault),
            ],
            can=[("see", vault), ("create", self.path("ws/new"))],
        )
        self.assertEqual(os.listdir(vault), ["config"])

    def test_a_protected_directory_and_a_protected_file_in_it_start_and_hide_both(self):
        # cases.md 50
        key = self.file("ws/.ssh/id")
        run = self.assertJail(
            self.policy(protected=[self.path("ws/.ssh"), key]),
            cannot=[("read", key), ("list", self.path("ws/.ssh"))],
            can=[("read", self.file("ws/beside"))],
        )
        self.assertEqual(self.mounts_entry(run)["mask"], "2")

    def test_the_same_path_protected_twice_is_masked_once_and_counted_twice(self):
        # cases.md 41
        secret = self.file("ws/.env")
        run = self.assertJail(
            self.policy(protected=[secret, secret]),
            cannot=[("read", secret)],
            can=[("read", self.file("ws/beside"))],
        )
        self.assertEqual(self.mounts_entry(run)["mask"], "2")

    def test_a_vault_in_a_host_scratch_is_hidden_and_keeps_its_bytes(self):
        # cases.md 45, 23
        token = self.file("scratch/vault/token")
        self.assertJail(
            self.policy(scratch=self.path("scratch"), protected=[self.path("scratch/vault")]),
            cannot=[("read", token), ("write", token), ("create", self.path("scratch/vault/new"))],
            can=[("create", self.path("scratch/new"))],
        )
        self.assertEqual(self.text(token), "S3CRET\n")
        self.assertEqual(self.text(self.path("scratch/new")), "made\n")

    def test_a_protected_directory_in_tmp_stays_hidden_above_the_scratch(self):
        # cases.md 22, 48
        vault = self.under_tmp()
        self.assertJail(
            self.policy(protected=[vault]),
            cannot=[("create", vault + "/new"), ("list", vault)],
            can=[("create", "/tmp/" + NEW), ("see", vault)],
        )
        self.assertEqual(os.listdir(vault), [])

    def test_a_writable_root_inside_a_protected_directory_stays_masked(self):
        # cases.md 25
        secret = self.file("ws/.git/objects/pack")
        objects = self.path("ws/.git/objects")
        self.assertJail(
            self.policy(writable_roots=[self.ws, objects], protected=[self.path("ws/.git")]),
            cannot=[("read", secret), ("see", objects), ("create", objects + "/new")],
            can=[("create", self.path("ws/new"))],
        )
        self.assertEqual(os.listdir(objects), ["pack"])

    def test_trailing_slashes_name_the_same_regions(self):
        # cases.md 21
        self.file("ws/.git/config")
        self.assertJail(
            self.policy(readable_roots=[self.ws + "/"], protected=[self.path("ws/.git") + "/"]),
            cannot=[("list", self.path("ws/.git"))],
            can=[("create", self.path("ws/new"))],
        )

    def test_an_existing_directory_nobody_granted_may_be_protected(self):
        # cases.md 71
        secret = self.file("out/vault/key")
        run = self.assertJail(
            self.policy(protected=[self.path("out/vault")]),
            cannot=[("read", secret), ("create", self.path("out/vault/new"))],
            can=[("create", self.path("ws/new"))],
        )
        self.assertNoSkips(run)


class Links(JailCase):
    def test_a_protected_link_that_lies_elsewhere_hides_its_target_under_both_names(self):
        # cases.md 52
        key = self.file("ws/vault/key")
        link = self.link(self.path("ws/vault"), "out/alias")
        run = self.assertJail(
            self.policy(readable_roots=[self.out], protected=[link]),
            cannot=[("read", key), ("read", link + "/key"), ("create", link + "/new")],
            can=[("read", self.file("ws/beside")), ("see", link)],
        )
        self.assertEqual(self.mounts_entry(run)["mask"], "1")
        self.assertNoSkips(run)

    def test_a_link_the_command_can_replace_has_its_target_masked_and_is_named(self):
        secret = self.file("ws/shared/hook")
        link = self.link("shared", "ws/hooks")
        run = self.assertJail(
            self.policy(protected=[link]),
            cannot=[("read", secret), ("read", link + "/hook"), ("create", link + "/new")],
            can=[("create", self.path("ws/new"))],
        )
        skip = self.assertSkips(run, "skip:mounts:")
        self.assertIn(link, skip)
        self.assertIn("is reached through a link the command can replace", skip)

    def test_every_kind_of_path_behind_a_replaceable_link_is_named(self):
        target = self.directory("out/target")
        link = self.link(target, "ws/link")
        mount = {"path": link, "access": "ro", "required": True}
        rows = [
            ("readable root", {"readable_roots": [link]}),
            ("writable root", {"writable_roots": [self.ws, link]}),
            ("mount", {"mounts": [mount]}),
            ("scratch", {"scratch": link}),
        ]
        for what, given in rows:
            with self.subTest(what=what):
                run = self.shell("true", self.policy(**given))
                skip = self.assertSkips(run, "skip:mounts:")
                self.assertIn(f"{what} {link} is reached through a link", skip)
                self.assertIn("mounts", self.refusal(self.policy(**given), flags=["--demand", "platform"]))
        moved = self.link(target, "out/link")
        for what, given in rows[:2]:
            given = {key: [moved if path == link else path for path in value] for key, value in given.items()}
            self.assertNoSkips(self.shell("true", self.policy(**given)))

    def test_demand_platform_refuses_a_replaceable_link_before_anything_runs(self):
        self.file("ws/shared/hook")
        link = self.link("shared", "ws/hooks")
        policy = self.policy(protected=[link])
        message = self.refusal(policy, flags=["--demand", "platform"])
        self.assertIn("mounts", message)
        direct = self.policy(protected=[self.path("ws/shared")])
        self.assertEqual(self.execute(["/bin/true"], direct, ["--demand", "platform"]).code, 0)

    def test_an_absent_target_behind_a_replaceable_link_is_refused_by_name(self):
        for given, link in (("protected", "gone"), ("readable_roots", "gone2")):
            path = self.link(self.path("ws/nowhere"), "ws", link)
            message = self.refusal(self.policy(**{given: [path]}))
            self.assertIn(path, message)
            self.assertIn("link", message)
        self.assertEqual(self.execute(["/bin/true"]).code, 0)

    def test_a_link_out_of_the_workspace_hides_the_file_it_leads_to(self):
        secret = self.file("out/secret.txt")
        self.link(self.out, "ws/out")
        policy = self.policy(readable_roots=[self.out], protected=[self.path("ws/out/secret.txt")])
        run = self.assertJail(
            policy,
            cannot=[("read", self.path("ws/out/secret.txt")), ("read", secret)],
            can=[("read", self.file("out/beside")), ("read", self.path("ws/out/beside"))],
        )
        self.assertIn("secret.txt", self.assertSkips(run, "skip:mounts:"))


class OddNames(JailCase):
    ODD = ["a b", "tab\there", "new\nline", "back\\slash\\x2de", "quote'\"`$(x)", "-dash", "\udcff\udcfe"]

    # field B31
    def test_every_rule_holds_for_names_with_unusual_bytes(self):
        for name in self.ODD:
            with self.subTest(name=name):
                secret, sibling = self.file("ws", name, "secret"), self.file("ws", name, "sibling")
                grants = self.policy(
                    writable_roots=[self.path("ws", name)],
                    readable_roots=[self.directory("out", name)],
                    protected=[secret],
                )
                readable = self.file("out", name, "file")
                run = self.assertJail(
                    grants,
                    cannot=[("read", secret), ("write", readable), ("create", readable + "2")],
                    can=[("read", sibling), ("write", sibling), ("read", readable)],
                    cwd=self.path("ws", name),
                )
                self.assertNoSkips(run)
                self.assertEqual(self.text(secret), "S3CRET\n")

    def test_the_working_directory_may_have_an_unusual_name(self):
        for name in self.ODD:
            with self.subTest(name=name):
                self.directory("ws", name)
                printed = self.output("pwd", cwd=self.path("ws", name))
                self.assertEqual(printed, self.path("ws", name) + "\n")


class HostUntouched(JailCase):
    def test_a_run_leaves_everything_outside_the_workspace_as_it_was(self):
        self.file("out/deep/file")
        self.file("ws/.env")
        self.file("ws/.git/config")
        vault = self.under_tmp()
        policy = self.policy(
            readable_roots=[self.out],
            protected=[self.path("ws/.env"), self.path("ws/.git"), self.path("out/deep"), vault],
        )
        before = [self.listing(top) for top in (self.ws, self.out, vault)]
        self.shell('ls -laR "$1" /tmp >/dev/null; cat "$1/.env"; echo x >"/tmp/$2"', policy, args=[self.ws, NEW])
        self.assertEqual([self.listing(top) for top in (self.ws, self.out, vault)], before)
        self.shell('echo x >"$1/made"', policy, args=[self.ws])
        self.assertNotEqual(self.listing(self.ws), before[0])
        self.assertEqual([self.listing(top) for top in (self.out, vault)], before[1:])

    def test_what_the_command_makes_follows_its_own_umask_not_the_helpers(self):
        run = self.output('umask; umask 077; touch "$1/f"', args=[self.ws])
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(int(run, 8), mask)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("ws/f")).st_mode), 0o600)


class ReplacedDuringTheRun(JailCase):
    """D23: a mask holds the object and the name of the launch."""

    def run_while(self, action, protected):
        with self.helper(base=self.policy(protected=protected)) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", "echo up; read line; echo end"], cwd=self.ws)
            helper.until_output(run, b"up\n")
            action()
            helper.stdin(b"go\n", eof=True)
            self.settle(helper, run)
            self.assertEqual(bytes(run.stdout), b"up\nend\n")
            return run

    def test_a_protected_file_replaced_from_outside_is_named_in_the_report(self):
        secret, fresh = self.file("ws/.env"), self.file("out/fresh", text="FRESH\n")
        run = self.run_while(lambda: os.rename(fresh, secret), [secret])
        self.assertEqual(
            self.assertSkips(run, "skip:mounts:"),
            f"skip:mounts: protected {secret} was replaced during the run",
        )

    def test_a_protected_file_left_alone_or_rewritten_in_place_is_not_named(self):
        secret = self.file("ws/.env")

        def rewrite():
            with open(secret, "w", encoding="utf-8") as file:
                file.write("NEW\n")

        self.assertNoSkips(self.run_while(lambda: None, [secret]))
        self.assertNoSkips(self.run_while(rewrite, [secret]))

    def test_a_protected_directory_replaced_from_outside_is_named_in_the_report(self):
        self.file("ws/.git/config")
        vault = self.path("ws/.git")

        def exchange():
            os.rename(vault, self.path("out/old"))
            os.mkdir(vault)

        run = self.run_while(exchange, [vault])
        self.assertIn(vault, self.assertSkips(run, "skip:mounts: protected"))

    def test_what_has_its_name_where_the_jail_shows_nothing_of_the_host_is_not_named(self):
        # The mask lies on the jail's own tmpfs, and the mask above hides the rest.
        far, fresh, inner = self.file("out/netrc"), self.file("out/fresh"), self.file("ws/.git/config")
        vault, absent = self.path("ws/.git"), self.path("out/absent")

        def replace():
            os.rename(fresh, far)
            os.mkdir(absent)
            os.rename(self.file("ws/.git/config.lock"), inner)

        self.assertNoSkips(self.run_while(replace, [far, absent, inner, vault]))
        fresh, other = self.file("out/fresh"), self.file("ws/.env")
        run = self.run_while(lambda: os.rename(fresh, other), [far, other])
        self.assertIn(other, self.assertSkips(run, "skip:mounts: protected"))  # the control

    def test_a_protected_file_that_is_a_readable_root_itself_is_named_when_it_is_replaced(self):
        # The mask goes with the name, and the root's own mount lies under it.
        key = self.file("out/sec/key")
        policy = self.policy(readable_roots=[key], protected=[key])
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            run = helper.start([SH, "-c", 'cat "$1"; echo up; read line; cat "$1" >/dev/null; true', "sh", key])
            helper.until_output(run, b"up\n")
            os.rename(self.file("out/sec/new"), key)
            helper.stdin(b"go\n", eof=True)
            self.settle(helper, run)
            self.assertEqual(bytes(run.stdout), b"up\n")
            self.assertIn(key, self.assertSkips(run, "skip:mounts: protected"))

    def test_the_command_may_move_what_is_its_own_above_a_mask_in_the_scratch(self):
        # Nothing of the host is there to be hidden.
        run = self.shell("mv /tmp/far /tmp/away && ls -A /tmp/away/b", self.policy(protected=["/tmp/far/b"]))
        self.assertEqual((run.code, bytes(run.stdout)), (0, b"begin\n"), self.story(run))
        self.assertNoSkips(run)

    def test_a_list_of_two_projects_is_no_trouble_for_a_run_in_the_other(self):
        names = [os.path.join(self.directory(f"ws/{project}"), ".env") for project in ("one", "two")]
        spaces = [os.path.dirname(name) for name in names]
        policies = [self.policy(writable_roots=[space], protected=names) for space in spaces]
        with self.helper(base=policies[0]) as one, self.helper(base=policies[1]) as two:
            self.needs(one, "bwrap")
            script = "echo up; read line; mkdir .env/x; ls -A .env; echo end"
            long = one.start([SH, "-c", script], cwd=spaces[0])
            one.until_output(long, b"up\n")
            self.settle(two, two.start([SH, "-c", "true"], cwd=spaces[1]))  # begins and ends meanwhile
            short = two.start([SH, "-c", script], cwd=spaces[1])
            two.until_output(short, b"up\n")
            one.stdin(b"go\n", eof=True)
            self.settle(one, long)  # ends while the other's placeholder is there
            two.stdin(b"go\n", eof=True)
            self.settle(two, short)
            for run in (long, short):
                self.assertEqual(bytes(run.stdout), b"up\nend\n", self.story(run))
                self.assertNoSkips(run)
        self.assertEqual([os.listdir(space) for space in spaces], [[], []])

    def test_a_replaced_protected_file_is_named_even_when_the_old_one_came_back_under_its_lost_mask(self):
        secret, fresh = self.file("ws/.env"), self.file("out/fresh")

        def there_and_back():
            os.link(secret, self.path("out/kept"))
            os.rename(fresh, secret)
            os.rename(self.path("out/kept"), secret)

        run = self.run_while(there_and_back, [secret])
        self.assertIn(secret, self.assertSkips(run, "skip:mounts: protected"))


    def test_a_mask_that_went_along_with_a_name_is_missed_where_the_name_came_back_without_it(self):
        secret, inner = self.file("ws/.env"), self.file("ws/sub/key")

        def name():
            os.rename(secret, self.path("ws/away"))
            os.link(self.path("ws/away"), secret)

        def directory():
            os.rename(self.path("ws/sub"), self.path("ws/gone"))
            os.mkdir(self.path("ws/sub"))
            os.link(self.path("ws/gone/key"), inner)

        for path, action in ((secret, name), (inner, directory)):
            with self.subTest(path):
                run = self.run_while(action, [path])
                self.assertIn(path, self.assertSkips(run, "skip:mounts: protected"))


class RebuiltNames(JailCase):
    def test_a_command_cannot_rebuild_the_name_of_what_is_protected(self):
        # D11: the directory above is pinned. More of that in test_pins.py.
        secret, other = self.file("ws/sub/config"), self.file("ws/free/config")
        script = 'cd "$1" && for d in sub free; do mv $d away && mkdir $d && echo evil >$d/config && rm -r away; done; true'
        run = self.shell(script, self.policy(protected=[secret]), args=[self.ws])
        self.assertNoSkips(run)
        self.assertEqual(self.text(secret), "S3CRET\n")
        self.assertEqual(self.text(other), "evil\n")


class OddForms(JailCase):
    """Of what stands where a policy names something."""

    def test_a_path_below_a_file_is_refused_and_the_file_is_named(self):
        # A worktree of git has such a `.git`, and a command could make a directory of it.
        file = self.file("ws/.git", text="gitdir: /elsewhere\n")
        self.assertIn(f"protect {file}", self.refusal(self.policy(protected=[file + "/hooks"])))
        control = self.shell("cat .git", self.policy(protected=[file]), cwd=self.ws)
        self.assertEqual(bytes(control.stdout), b"begin\n", self.story(control))
        self.assertNoSkips(control)

    def test_a_mode_that_an_earlier_run_left_takes_no_readable_root_from_a_policy(self):
        # An empty directory of this mode is a placeholder for a policy that protects it.
        place = self.directory("ws/ro")
        self.shell('chmod 1755 "$1"', self.policy(), args=[place])
        reading = self.policy(readable_roots=[place])
        run = self.shell('touch "$1/x" "$2/x"; ls -A "$1"', reading, args=[place, self.ws])
        self.assertNoSkips(run)
        self.assertEqual(bytes(run.stdout), b"begin\n", self.story(run))
        self.assertEqual((os.listdir(place), os.path.exists(self.path("ws/x"))), ([], True))


class Races(JailCase):
    def test_a_vault_that_comes_and_goes_is_refused_or_held_and_never_open(self):
        vault, token = self.path("ws/a"), self.path("ws/a/b")
        stop = threading.Event()

        def come_and_go():
            while not stop.is_set():
                try:
                    self.file("ws/a/b")
                except OSError:
                    pass  # a helper's placeholder is there just now
                shutil.rmtree(vault, ignore_errors=True)

        thread = threading.Thread(target=come_and_go)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(stop.set)
        policy, outcomes = self.policy(protected=[vault]), {"refused": 0, "ran": 0, "not run": 0}
        with self.helper(base=policy) as helper:
            self.needs(helper, "bwrap")
            for _ in range(60):
                script = 'echo begin; for i in 1 2 3 4 5 6 7 8 9; do cat "$0" 2>/dev/null; done; exit 0'
                run = helper.settle(helper.start([SH, "-c", script, token]), LIMIT)
                if run.error:
                    outcomes["refused"] += 1
                    self.assertEqual(run.error["code"], "spawn_failed")
                    continue
                ran = bytes(run.stdout).startswith(b"begin\n")
                outcomes["ran" if ran else "not run"] += 1
                replaced = [e for e in run.enforcement if "was replaced during the run" in e]
                if b"S3CRET" in run.stdout:
                    self.assertTrue(replaced, f"open and unreported: {self.story(run)}")
                if not ran:
                    self.assertIn(self.outcome(run)["class"], ("setup",), self.story(run))
        stop.set()
        thread.join()
        os.makedirs(vault, exist_ok=True)
        self.file("ws/a/b")
        self.assertJail(policy, cannot=[("read", token)], can=[("create", self.path("ws/new"))])


if __name__ == "__main__":
    unittest.main()
