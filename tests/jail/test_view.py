"""What the jail shows: the minimal base, grants and their precedence, scratch, mounts."""

from jail import *


class Precedence(JailCase):
    def test_a_readable_root_inside_a_writable_root_is_read_only(self):
        # cases.md 19, 47
        vendored = self.file("ws/vendor/lib")
        self.assertJail(
            self.policy(readable_roots=[self.path("ws/vendor")]),
            cannot=[("write", vendored), ("create", self.path("ws/vendor/new")), ("remove", vendored)],
            can=[("read", vendored), ("create", self.path("ws/new"))],
        )
        self.assertEqual(self.text(vendored), "S3CRET\n")

    def test_the_same_root_in_both_lists_is_writable(self):
        # cases.md 20, 88
        run = self.assertJail(
            self.policy(readable_roots=[self.ws]),
            can=[("create", self.path("ws/new"))],
            cannot=[("see", self.file("out/file"))],
        )
        self.assertEqual(self.mounts_entry(run)["ro"], "1")
        self.assertNoSkips(run)

    def test_a_writable_root_in_tmp_survives_the_scratch_and_reaches_the_host(self):
        # cases.md 24, 49
        root, sibling = self.under_tmp(), self.under_tmp()
        self.assertJail(
            self.policy(writable_roots=[root]),
            can=[("create", root + "/new"), ("create", "/tmp/" + NEW)],
            cannot=[("see", sibling)],
        )
        self.assertEqual(self.text(root + "/new"), "made\n")
        self.assertFalse(os.path.exists("/tmp/" + NEW))

    def test_a_root_that_is_exactly_tmp_yields_to_the_scratch(self):
        # cases.md 26, 27
        sibling = self.under_tmp()
        run = self.assertJail(
            self.policy(writable_roots=["/tmp"]),
            can=[("create", "/tmp/" + NEW)],
            cannot=[("see", sibling)],
        )
        self.assertFalse(os.path.exists("/tmp/" + NEW))
        self.assertNoSkips(run)
        run = self.assertJail(
            self.policy(readable_roots=["/tmp"]),
            can=[("create", "/tmp/" + NEW)],
            cannot=[("see", sibling)],
        )
        self.assertIn("readable root /tmp is writable", self.assertSkips(run, "skip:mounts:"))

    def test_nested_read_only_inside_writable_inside_read_only(self):
        self.file("ws/a/b/c/file")
        self.assertJail(
            self.policy(
                writable_roots=[self.path("ws/a/b")],
                readable_roots=[self.ws, self.path("ws/a/b/c")],
            ),
            cannot=[("create", self.path("ws/new")), ("create", self.path("ws/a/b/c/new"))],
            can=[("create", self.path("ws/a/b/new")), ("read", self.path("ws/a/b/c/file"))],
        )


class MinimalBase(JailCase):
    def test_nothing_of_the_host_is_seen_but_the_system_and_the_grants(self):
        # cases.md 9
        readable = self.file("granted/file")
        self.assertJail(
            self.policy(readable_roots=[self.path("granted")]),
            cannot=[
                ("see", self.file("out/file")),
                ("see", "/home"),
                ("see", "/root"),
                ("see", "/boot"),
                ("see", "/sys"),
                ("see", "/run/lock"),
                ("create", self.path("granted/new")),
                ("write", readable),
            ],
            can=[("read", readable), ("read", "/etc/passwd"), ("run", "/usr/bin/true")],
        )

    def test_the_root_and_the_directories_above_mount_points_refuse_new_files(self):
        # cases.md 56
        names = [f"{folder}/{NEW}" for folder in ("", "/var", PLACE_OF_MOUNT_POINTS, self.place)]
        script = "import os,sys\nprint('begin')\nfor p in sys.argv[1:]:\n" + (
            " try: open(p, 'x'); print('made')\n"
            " except OSError as e: print(os.strerror(e.errno))\n"
        )
        run = self.execute([PYTHON, "-c", script, *names, "/tmp/" + NEW, self.path("ws/new")])
        lines = run.stdout.decode().splitlines()
        # Landlock answers before the read-only root does where the mount point lies in no grant.
        self.assertEqual(lines[0], "begin")
        for line in lines[1:-2]:
            self.assertIn(line, ("Read-only file system", "Permission denied"))
        self.assertEqual(lines[-2:], ["made", "made"])

    def test_the_directories_above_mount_points_can_be_seen(self):
        self.assertJail(
            self.policy(),
            can=[("see", self.place), ("list", self.place)],
            cannot=[("see", self.file("out/file")), ("see", self.out)],
        )

    def test_the_scratch_is_fresh_each_time_and_gone_afterwards(self):
        with self.helper() as helper:
            self.needs(helper, "bwrap")
            script = f"echo begin; ls -A /tmp; echo x >/tmp/{NEW}; ls -A /tmp"
            for _ in range(2):
                run = self.settle(helper, helper.start([SH, "-c", script]))
                self.assertEqual(bytes(run.stdout), f"begin\n{NEW}\n".encode())
        self.assertFalse(os.path.exists("/tmp/" + NEW))

    def test_with_a_host_scratch_there_is_no_tmp(self):
        # cases.md 14
        scratch = self.directory("scratch")
        run = self.assertJail(
            self.policy(scratch=scratch),
            cannot=[("see", "/tmp"), ("mkdir", "/tmp")],
            can=[("create", scratch + "/new")],
        )
        self.assertEqual(self.mounts_entry(run)["scratch"], "bind")

    def test_processes_are_the_jails_own(self):
        mark = f"sleep 60.{os.getpid()}"
        outsider = subprocess.Popen(["/bin/sleep", mark.split()[1]])
        self.addCleanup(outsider.wait)
        self.addCleanup(outsider.kill)
        script = (
            "sleep 61 & cat /proc/[0-9]*/cmdline | tr '\\0' ' '; echo; ls -d /proc/[0-9]* | wc -l; kill %1"
        )
        printed = self.output(script)
        self.assertNotIn(mark, printed)
        self.assertIn("sleep 61", printed)
        self.assertLessEqual(int(printed.split()[-1]), 16)

    def test_the_devices_are_the_harmless_ones(self):
        # cases.md 126, 131 as changed by D10
        script = r"""
for d in null zero full random urandom; do head -c1 /dev/$d >/dev/null && echo "read $d"; done
echo x >/dev/null && echo wrote null
echo x >/dev/full || echo full is full
echo x >/dev/shm/"$1" && cat /dev/shm/"$1"
python3 -c 'import pty,os; m,s=pty.openpty(); os.write(s,b"y\n"); print(os.read(m,9).decode().strip(), "pty")'
python3 -c 'import multiprocessing as m; m.Lock(); print("semaphore")'
ls /dev | grep -E '^(sd|vd|nvme|kvm|mem|fuse|loop)' ; echo x 2>/dev/null >/dev/"$1" || echo end
"""
        names = ["null", "zero", "full", "random", "urandom"]
        expected = [f"read {name}" for name in names if name != "null"]
        printed = self.output(script, args=[NEW], env={"PATH": "/usr/bin"}).splitlines()
        self.assertEqual(
            [line for line in printed if line != "read null"],
            expected + ["wrote null", "full is full", "x", "y pty", "semaphore", "end"],
        )


class WholeHost(JailCase):
    def test_a_readable_root_shows_the_host_but_not_its_processes_nor_its_knobs(self):
        # cases.md 10, 55
        run = self.assertJail(
            self.policy(readable_roots=["/"]),
            can=[("read", self.file("out/file")), ("create", self.path("ws/new")), ("write", "/dev/null")],
            cannot=[
                ("write", self.path("out/file")),
                ("create", self.path("out/new")),
                ("write", "/proc/self/oom_score_adj"),
                ("write", "/proc/sys/kernel/randomize_va_space"),
            ],
        )
        self.assertEqual(self.mounts_entry(run)["base"], "host-view")
        pids = int(self.output("ls -d /proc/[0-9]* | wc -l", self.policy(readable_roots=["/"])))
        self.assertLessEqual(pids, 16)
        self.assertLess(pids, len([name for name in os.listdir("/proc") if name.isdigit()]))

    # A writable `/` comes with the execution: in the base policy it would make every directory of the
    # search path a writable one, and then no bubblewrap is trusted (D28).

    def test_system_directories_stay_read_only_under_every_name(self):
        # cases.md 35, 54
        for given in ({"readable_roots": ["/"]}, {"writable_roots": [self.ws, "/"]}):
            with self.subTest(given=given):
                self.assertJail(
                    self.policy(),
                    inline=self.policy(**given),
                    can=[("create", self.path("ws", f"new{len(str(given))}")), ("read", "/bin/sh")],
                    cannot=[("create", f"{place}/{NEW}") for place in SYSTEM],
                )
        for place in SYSTEM:
            self.assertFalse(os.path.exists(f"{place}/{NEW}"))

    def test_a_writable_root_of_the_whole_system_comes_out_read_only_but_for_own_binds(self):
        # cases.md 57
        if os.stat(self.place).st_dev != os.stat("/").st_dev:
            self.skipTest(f"{PLACE_OF_MOUNT_POINTS} is a file system of its own here")
        self.assertJail(
            self.policy(),
            inline=self.policy(writable_roots=["/", self.ws]),
            can=[("create", self.path("ws/new")), ("read", self.file("out/file"))],
            cannot=[("create", self.path("out/new")), ("create", "/" + NEW)],
        )

    def test_a_masked_path_stays_masked_under_the_whole_host(self):
        # cases.md 11, 13
        secret = self.file("out/vault/key")
        run = self.assertJail(
            self.policy(readable_roots=["/"], protected=[self.path("out/vault")]),
            cannot=[("read", secret), ("list", self.path("out/vault"))],
            can=[("read", self.file("out/beside"))],
        )
        self.assertNoSkips(run)


class Mounts(JailCase):
    def mount(self, path, access="ro", required=True):
        return {"path": path, "access": access, "required": required}

    def test_mounts_are_shown_with_their_access_and_counted(self):
        # cases.md 31, 89
        fixed, open_one = self.file("out/fixed/f"), self.file("out/open/f")
        run = self.assertJail(
            self.policy(
                mounts=[self.mount(self.path("out/fixed")), self.mount(self.path("out/open"), "rw")]
            ),
            can=[("read", fixed), ("write", open_one), ("create", open_one + "2")],
            cannot=[("write", fixed), ("create", fixed + "2"), ("see", self.file("out/beside"))],
        )
        counts = self.mounts_entry(run)
        self.assertEqual((counts["bind_ro"], counts["bind_rw"]), ("1", "1"))
        self.assertNoSkips(run)

    def test_mounts_in_tmp_survive_the_scratch(self):
        shown, hidden = self.under_tmp(), self.under_tmp()
        for access, verbs in (("ro", ("can", "cannot")), ("rw", ("can", "can"))):
            with self.subTest(access=access):
                attempts = {"can": [("see", shown)], "cannot": [("see", hidden)]}
                attempts[verbs[1]].append(("create", f"{shown}/new-{access}"))
                self.assertJail(self.policy(mounts=[self.mount(shown, access)]), **attempts)

    def test_an_optional_mount_that_is_absent_leaves_no_trace(self):
        # cases.md 59, 80
        absent = self.under_tmp() + "/absent"
        policy = self.policy(mounts=[self.mount(absent, "rw", required=False)])
        run = self.assertJail(policy, can=[("create", "/tmp/" + NEW)], cannot=[("see", absent)])
        self.assertNoSkips(run)
        os.mkdir(absent)
        self.assertJail(policy, can=[("create", absent + "/new")], cannot=[("see", self.out)])

    def test_a_read_only_mount_inside_a_writable_root_is_read_only(self):
        seed = self.file("ws/seed/file")
        self.assertJail(
            self.policy(mounts=[self.mount(self.path("ws/seed"))]),
            can=[("read", seed), ("create", self.path("ws/new"))],
            cannot=[("write", seed), ("create", self.path("ws/seed/new"))],
        )

    def test_a_single_file_can_be_mounted_into_the_scratch(self):
        token = self.under_tmp() + "/token"
        with open(token, "w", encoding="utf-8") as file:
            file.write("S3CRET\n")
        self.assertJail(
            self.policy(mounts=[self.mount(token)]),
            can=[("read", token), ("create", "/tmp/" + NEW)],
            cannot=[("write", token), ("remove", token)],
        )


class LinksOfTheHost(JailCase):
    def test_a_workspace_given_through_a_link_works_under_both_names(self):
        link = self.link(self.ws, "alias")
        self.assertJail(
            self.policy(writable_roots=[link]),
            can=[("create", self.path("ws/one")), ("create", link + "/two"), ("see", link)],
            cannot=[("see", self.file("out/file"))],
            cwd=link,
        )
        self.assertEqual(sorted(os.listdir(self.ws)), ["one", "two"])


PLACE_OF_MOUNT_POINTS = os.environ.get("LOOM_TEST_PLACE", "/var/tmp")
SYSTEM = ("/bin", "/usr/bin", "/usr", "/etc", "/lib", "/usr/lib", "/var/lib")

if __name__ == "__main__":
    unittest.main()
