"""What is refused, in which words, and that a refusal leaves everything as it was."""

import os
import subprocess

from identity import *

NOT_WRITABLE = "the policy does not let the file be written in its directory"
PROTECTED = "a protected path covers the file, or leads through it or to it"
FORM = "the entries are not one JSON array of pairs of strings"


class Refused(IdentityCase):
    def refused(self, document, reason, workspace=None, entries=ADA):
        before = self.listing(self.place)
        self.assertRefused(publish(document, workspace or self.ws, entries), reason)
        self.assertNothingWritten(before)

    def tearDown(self):
        """The control of every refusal above: the same place takes the file when nothing is wrong."""
        if os.path.isdir(self.home) and not os.path.islink(self.home) and not os.path.isdir(self.target):
            self.assertPublished(publish(self.granting(), self.ws, ADA), ADA_FILE)

    def test_without_a_grant_nothing_is_written(self):
        # cases.md 225
        self.refused(policy(), NOT_WRITABLE)
        self.refused(policy(readable_roots=[self.ws]), NOT_WRITABLE)
        self.refused(policy(writable_roots=[self.out]), NOT_WRITABLE)
        self.refused(policy(mounts=[mount(self.ws, "ro")]), NOT_WRITABLE)

    def test_nobody_writes_what_a_command_without_capabilities_could_not(self):
        """In a jail root has none either: a closed directory, another user's, and sticky files."""
        os.chmod(self.home, 0o555)
        self.refused(self.granting(), "the temporary file cannot be created")
        if os.geteuid() == 0:
            stranger = 1234
            os.chown(self.home, stranger, stranger)
            os.chmod(self.home, 0o755)
            self.refused(self.granting(), "the temporary file cannot be created")
            os.chmod(self.home, 0o1777)
            self.file("ws/.codemode/home/gitconfig")
            os.chown(self.target, stranger + 1, stranger + 1)
            self.assertRefused(
                publish(self.granting(), self.ws, ADA),
                "the temporary file cannot be put in the place of the file",
            )
            self.assertEqual((os.listdir(self.home), self.text(self.target)), (["gitconfig"], "untouched"))
            os.remove(self.target)
            os.chown(self.home, 0, 0)
        os.chmod(self.home, 0o755)

    def test_a_read_only_place_inside_the_grant_is_refused(self):
        # cases.md 225
        self.refused(self.granting(mounts=[mount(self.home, "ro")]), NOT_WRITABLE)
        self.refused(self.granting(readable_roots=[self.home]), NOT_WRITABLE)
        self.refused(self.granting(readable_roots=[self.path("ws/.codemode")]), NOT_WRITABLE)

    def test_a_protected_directory_or_file_is_refused_present_or_not(self):
        # cases.md 225
        for path in (self.ws, self.path("ws/.codemode"), self.home, self.target, self.target + "/x"):
            self.refused(self.granting(protected=[path]), PROTECTED)
        self.file("ws/.codemode/home/gitconfig")
        self.refused(self.granting(protected=[self.target]), PROTECTED)
        self.assertEqual(self.text(self.target), "untouched")

    def test_a_protected_path_that_leads_to_the_directory_through_a_link_is_refused(self):
        # cases.md 226
        os.symlink(self.home, self.path("out/link"))
        self.refused(self.granting(protected=[self.path("out/link")]), PROTECTED)
        self.refused(self.granting(protected=[self.path("out/link/gitconfig")]), PROTECTED)
        os.symlink(self.home, self.path("ws/link"))
        self.refused(self.granting(protected=[self.path("ws/link")]), PROTECTED)

    def test_a_protected_path_that_leads_through_the_old_file_is_refused(self):
        self.file("out/other")
        os.symlink(self.path("out/other"), self.target)
        os.symlink(self.ws, self.path("out/link"))
        self.refused(
            self.granting(protected=[self.path("out/link/.codemode/home/gitconfig")]), PROTECTED
        )
        self.assertTrue(os.path.islink(self.target))

    if os.geteuid() == 0:  # others could mount only in a user namespace, where files change owners

        def test_a_protected_directory_that_is_mounted_there_under_another_name_is_refused(self):
            secret = self.directory("out/secret")
            for protected, status in (([secret], 1), ([], 0)):
                script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
                done = subprocess.run(
                    ["unshare", "--mount", "/bin/sh", "-c", script, "sh", secret, self.home, helper(), OPTION]
                    + [encoded(self.granting(protected=protected)), self.ws, json.dumps(ADA)],
                    capture_output=True,
                    timeout=PATIENCE,
                    check=False,
                )
                self.assertEqual(done.returncode, status, done)
                if protected:
                    self.assertRefused(done, PROTECTED)
                self.assertEqual(os.listdir(secret), [] if protected else ["gitconfig"])

    def test_the_file_size_of_the_policy_holds(self):
        # cases.md 225
        reason = "the file would be longer than the policy lets a file become"
        for size in (1, len(ADA_FILE) - 1):
            self.refused(self.granting(limits=limits(fsize_bytes=size)), reason)
        done = publish(self.granting(limits=limits(fsize_bytes=len(ADA_FILE))), self.ws, ADA)
        self.assertPublished(done, ADA_FILE)

    def test_a_mount_that_names_the_file_is_refused(self):
        self.file("ws/.codemode/home/gitconfig")
        for access in ("rw", "ro"):
            self.refused(
                self.granting(mounts=[mount(self.target, access)]), "a mount of the policy names the file itself"
            )

    def test_a_link_on_the_fixed_way_is_refused_and_its_target_untouched(self):
        # cases.md 223
        real = self.directory("out/real/home")
        reasons = ("a component of the directory of the file is a link or no directory",)
        os.rename(self.path("ws/.codemode"), self.path("aside"))
        os.symlink(self.path("out/real"), self.path("ws/.codemode"))
        everything = policy(writable_roots=[self.ws, self.out])
        self.refused(everything, *reasons)
        os.unlink(self.path("ws/.codemode"))
        os.mkdir(self.path("ws/.codemode"))
        os.symlink(real, self.home)
        self.refused(everything, *reasons)
        os.unlink(self.home)
        os.symlink(self.path("aside"), self.home)
        self.refused(everything, *reasons)
        self.assertEqual(os.listdir(real), [])
        os.unlink(self.home)
        os.mkdir(self.home)

    def test_missing_directories_are_not_made(self):
        # cases.md 230
        os.rmdir(self.home)
        self.refused(self.granting(), "the directory of the file does not exist")
        os.rmdir(self.path("ws/.codemode"))
        self.refused(self.granting(), "the directory of the file does not exist")

    def test_a_directory_in_the_place_of_the_file_is_refused(self):
        # cases.md 230
        os.mkdir(self.target)
        done = publish(self.granting(), self.ws, ADA)
        self.assertRefused(done, "the temporary file cannot be put in the place of the file")
        self.assertEqual(os.listdir(self.home), ["gitconfig"])
        self.assertEqual(os.listdir(self.target), [])

    def test_a_workspace_that_is_not_absolute_or_not_there_is_refused(self):
        form = "the workspace is not an absolute path without parent segments"
        missing = "the workspace is not an existing directory"
        before = self.listing(self.place)
        for workspace, reason in (
            ("", form),
            ("ws", form),
            ("./ws", form),
            (self.ws + "/../ws", form),
            (self.path("gone"), missing),
            (self.file("out/file"), missing),
        ):
            done = call(encoded(self.granting()), workspace, json.dumps(ADA), cwd=self.place)
            self.assertRefused(done, reason)
        os.unlink(self.path("out/file"))
        self.assertEqual([r[0] for r in self.listing(self.place)], [r[0] for r in before])

    def test_a_policy_that_no_jail_could_have_is_refused(self):
        reason = "no jail can be planned for the policy on this machine"
        self.refused(self.granting(writable_roots=[self.ws, self.path("gone")]), reason)
        self.refused(self.granting(mounts=[mount(self.path("gone"), "rw")]), reason)
        self.refused(self.granting(protected=["/proc"]), reason)

    def test_a_policy_path_with_a_parent_segment_is_refused(self):
        reason = "a path of the policy has a parent segment"
        dotted = self.ws + "/../ws"
        for given in (
            {"writable_roots": [dotted]},
            {"readable_roots": [dotted]},
            {"protected": [dotted + "/x"]},
            {"scratch": dotted},
        ):
            self.refused(self.granting(**given), reason)
        self.refused(self.granting(mounts=[mount(dotted, "rw")]), "the policy document is not valid")

    def test_a_policy_that_is_not_strict_base64_or_not_a_policy_is_refused(self):
        encoding = "the policy is not padded standard base64 of at most 1 MiB"
        invalid = "the policy document is not valid"
        sound = encoded(self.granting())
        for operand, reason in (
            ("", invalid),
            ("!", encoding),
            (sound + "\n", encoding),
            (" " + sound, encoding),
            (sound + "=", encoding),
            (sound.rstrip("=") + "-", encoding),
            (encoded({}), invalid),
            (encoded({**self.granting(), "v": 3}), invalid),
            (encoded({**self.granting(), "sesame": 1}), invalid),
        ):
            self.assertRefused(call(operand, self.ws, json.dumps(ADA)), reason)

    def test_three_operands_are_due(self):
        operands = [encoded(self.granting()), self.ws, json.dumps(ADA)]
        reason = "exactly three operands are due: policy, workspace, entries"
        for count in (0, 1, 2):
            self.assertRefused(call(*operands[:count]), reason)
        self.assertRefused(call(*operands, "more"), reason)
        self.assertRefused(call("--help"), reason)
        self.assertEqual(os.listdir(self.home), [])

    def test_entries_that_are_not_pairs_of_the_two_keys_are_refused(self):
        # cases.md 229
        for entries, reason in (
            ("null", FORM),
            ("{}", FORM),
            ("", FORM),
            ("[[]]", FORM),
            ('[["user.name"]]', FORM),
            ('[["user.name","sesame","sesame"]]', FORM),
            ('[["user.name",null]]', FORM),
            ('[["user.name","sesame"]] sesame', FORM),
            ('[["user.name","sesame"]]//', FORM),
            ("[" * 65536, FORM),
            ('[["user.name","sesame\\u0000"]]', "an entry has a NUL in its value"),
            ('[["user.name","\\ud800"]]', FORM),
            ('[["user.sesame","x"]]', "an entry has a key other than the two that are published"),
            (b'[["user.name","sesame\xff"]]', "the entries are not valid UTF-8"),
            (json.dumps([["user.name", "sesame" * 11000]]), "the entries are longer than 65536 bytes"),
            (" " * 65535 + "[]", "the entries are longer than 65536 bytes"),
            (json.dumps([["user.name", "s" * 65510]]), "the file would be longer than 65536 bytes"),
        ):
            with self.subTest(entries=entries[:40]):
                self.refused(self.granting(), reason, entries=entries)
        self.assertPublished(publish(self.granting(), self.ws, " " * 65534 + "[]"), HEAD)

    def test_a_reader_that_is_gone_changes_no_status(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run(
            [helper(), OPTION], stdout=write_end, stderr=subprocess.PIPE, timeout=PATIENCE, check=False
        )
        os.close(write_end)
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith(PREFIX.encode()))
