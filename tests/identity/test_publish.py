"""What is published, where, and what stays as it was."""

import os
import shutil
import socket
import stat
import subprocess
import tempfile
import threading

from identity import *


class Published(IdentityCase):
    def test_the_file_is_written_byte_for_byte_and_belongs_to_its_owner_alone(self):
        # cases.md 221
        for umask in (0o000, 0o777):
            done = publish(self.granting(), self.ws, ADA, preexec_fn=lambda mask=umask: os.umask(mask))
            self.assertPublished(done, ADA_FILE)
            about = os.lstat(self.target)
            self.assertEqual(about.st_mode, stat.S_IFREG | 0o600)
            self.assertEqual(about.st_uid, os.geteuid())
            self.assertEqual(os.listdir(self.home), ["gitconfig"])

    def test_the_last_of_two_values_wins_and_no_entries_are_a_file_too(self):
        # cases.md 221, 229
        twice = [["user.name", "one"], ["user.email", "e"], ["user.name", "two"]]
        self.assertPublished(
            publish(self.granting(), self.ws, twice), HEAD + '\tname = "two"\n\temail = "e"\n'
        )
        self.assertPublished(publish(self.granting(), self.ws, "[]"), HEAD)

    def test_absent_protected_files_in_the_workspace_are_neither_in_the_way_nor_made(self):
        # cases.md 222
        absent = [
            self.path("ws/state.db-wal"),
            self.path("ws/state.db-shm"),
            self.path("ws/.codemode/state.db-journal"),
            self.path("ws/.codemode/home/history.db-wal"),
            self.path("ws/deep/er/x"),
        ]
        before = self.listing(self.place)
        done = publish(self.granting(protected=[self.path("ws/state.db"), *absent]), self.ws, ADA)
        self.assertPublished(done, ADA_FILE)
        os.unlink(self.target)
        names = [row[0] for row in self.listing(self.place)]
        self.assertEqual(names, [row[0] for row in before])

    def test_present_protected_files_beside_it_stay_as_they_are(self):
        secret = self.file("ws/.env")
        sibling = self.file("ws/.codemode/home/history.db")
        done = publish(self.granting(protected=[secret, sibling]), self.ws, ADA)
        self.assertPublished(done, ADA_FILE)
        self.assertEqual((self.text(secret), self.text(sibling)), ("untouched", "untouched"))

    def test_what_stood_under_the_name_is_replaced_and_never_opened(self):
        # cases.md 224
        other = self.file("out/other")

        def listen():
            with socket.socket(socket.AF_UNIX) as end:
                here = os.getcwd()
                os.chdir(self.home)  # the name of a socket may have 107 bytes
                try:
                    end.bind("gitconfig")
                finally:
                    os.chdir(here)

        makers = {
            "symlink": lambda: os.symlink(other, self.target),
            "dangling symlink": lambda: os.symlink(self.path("out/nowhere"), self.target),
            "hard link": lambda: os.link(other, self.target),
            "FIFO": lambda: os.mkfifo(self.target),
            "socket": listen,
            "unreadable file": lambda: os.close(os.open(self.target, os.O_CREAT, 0)),
        }
        for kind, make in makers.items():
            with self.subTest(kind=kind):
                if os.path.lexists(self.target):
                    os.unlink(self.target)
                make()
                self.assertPublished(publish(self.granting(), self.ws, ADA), ADA_FILE)
                self.assertTrue(stat.S_ISREG(os.lstat(self.target).st_mode))
                self.assertEqual(os.lstat(self.target).st_nlink, 1)
                self.assertEqual((self.text(other), os.lstat(other).st_nlink), ("untouched", 1))
                self.assertEqual(os.listdir(self.home), ["gitconfig"])
        self.assertFalse(os.path.exists(self.path("out/nowhere")))

    def test_readers_see_one_whole_version_at_every_moment(self):
        # cases.md 228
        versions = []
        for i in range(30):
            name = f"version {i} " + "x" * (i * 1000)
            versions.append(HEAD + f'\tname = "{name}"\n')
        self.assertPublished(publish(self.granting(), self.ws, [["user.name", "first"]]))
        first = self.text(self.target)
        seen, over = set(), threading.Event()

        def read():
            while not over.is_set():
                seen.add(self.text(self.target))

        readers = [threading.Thread(target=read) for _ in range(2)]
        with open(self.target, encoding="utf-8") as old_reader:
            for reader in readers:
                reader.start()
            try:
                for version in versions:
                    name = version[len(HEAD) + len('\tname = "') : -2]
                    self.assertPublished(publish(self.granting(), self.ws, [["user.name", name]]), version)
            finally:
                over.set()
                for reader in readers:
                    reader.join()
            self.assertEqual(old_reader.read(), first)
        self.assertLessEqual(seen, {first, *versions})
        self.assertGreater(len(seen), 1, "the readers saw no replacement: they prove nothing")
        self.assertEqual(os.listdir(self.home), ["gitconfig"])


class Grants(IdentityCase):
    def test_a_read_write_mount_of_the_workspace_is_a_grant(self):
        # cases.md 231
        self.assertPublished(publish(policy(mounts=[mount(self.ws, "rw")]), self.ws, ADA), ADA_FILE)

    def test_a_root_or_a_mount_of_the_directory_alone_is_a_grant(self):
        for document in (policy(writable_roots=[self.home]), policy(mounts=[mount(self.home, "rw")])):
            self.assertPublished(publish(document, self.ws, ADA), ADA_FILE)
            os.unlink(self.target)

    def test_an_exec_table_is_nothing_to_a_file_that_the_helper_writes(self):
        table = {
            "default": "deny",
            "allow": [{"kind": "dir", "value": "/usr/bin"}],
            "deny": [{"kind": "name", "value": "git"}],
            "support": "system",
            "memfd": "noexec",
            "required": True,
        }
        for exec_table in (None, table):
            document = policy(v=3, writable_roots=[self.ws], exec=exec_table)
            self.assertPublished(publish(document, self.ws, ADA), ADA_FILE)
        self.assertRefused(publish(policy(v=3, readable_roots=[self.ws], exec=table), self.ws, ADA))

    def test_workspace_and_root_may_be_named_through_a_linked_parent(self):
        # cases.md 233
        os.symlink(self.place, self.path("out/link"))
        linked = self.path("out/link/ws")
        absent = linked + "/state.db-wal"
        for root, workspace in ((linked, linked), (linked, self.ws), (self.ws, linked)):
            with self.subTest(root=root, workspace=workspace):
                done = publish(policy(writable_roots=[root], protected=[absent]), workspace, ADA)
                self.assertPublished(done, ADA_FILE)
                os.unlink(self.target)
        self.assertRefused(publish(policy(writable_roots=[self.out]), linked, ADA))

    def test_under_tmp_only_a_read_write_mount_publishes(self):
        # cases.md 232
        top = tempfile.mkdtemp(prefix="loom-identity-", dir="/tmp")
        self.addCleanup(shutil.rmtree, top, ignore_errors=True)
        os.makedirs(top + "/.codemode/home")
        target = top + "/.codemode/home/gitconfig"
        private = "the directory of the file lies under the private scratch of the jail"
        self.assertRefused(publish(policy(writable_roots=["/tmp"]), "/tmp", ADA), private)
        self.assertRefused(publish(policy(writable_roots=["/tmp"]), top, ADA), private)
        self.assertRefused(publish(policy(writable_roots=[top]), top, ADA), private)
        self.assertEqual(os.listdir(top + "/.codemode/home"), [])
        self.assertPublished(publish(policy(mounts=[mount(top, "rw")]), top, ADA), ADA_FILE, target)
        os.unlink(target)
        host_scratch = policy(writable_roots=[top], scratch=self.out)
        self.assertPublished(publish(host_scratch, top, ADA), ADA_FILE, target)

    def test_bubblewrap_need_not_be_installed(self):
        done = publish(self.granting(), self.ws, ADA, env={"PATH": "/nonexistent"})
        self.assertPublished(done, ADA_FILE)

    def test_a_helper_without_its_backend_refuses(self):
        bare = self.directory("bare/bin") + "/loom-exec"
        shutil.copy(helper(), bare)
        done = publish(self.granting(), self.ws, ADA, program=bare)
        self.assertRefused(done, "the backend of this platform cannot be used")
        self.assertEqual(os.listdir(self.home), [])
        backends = os.path.join(os.path.dirname(helper()), "../lib/loom-exec/backends")
        shutil.copytree(backends, self.path("bare/lib/loom-exec/backends"))
        self.assertPublished(publish(self.granting(), self.ws, ADA, program=bare), ADA_FILE)

    def test_two_publications_at_once_leave_one_whole_file(self):
        arguments = [helper(), OPTION, encoded(self.granting()), self.ws]
        running = [
            subprocess.Popen([*arguments, json.dumps([["user.name", str(i) * 2000]])]) for i in range(6)
        ]
        self.assertEqual([process.wait(PATIENCE) for process in running], [0] * 6)
        whole = [HEAD + f'\tname = "{str(i) * 2000}"\n' for i in range(6)]
        self.assertIn(self.text(self.target), whole)
        self.assertEqual(os.listdir(self.home), ["gitconfig"])
