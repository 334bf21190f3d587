"""The judge against the tables of guard.md 9: it must read them as they are written."""

import os
import shutil
import tempfile
import unittest

import names
from judge import Judge
from rules import Allowance, Exclusion, Place, Subject, Table

TINY = os.environ.get("LOOM_AGREEMENT_TINY", "")


def rule(kind, path, layer=0):
    if kind == "name":
        return Exclusion("exec.deny", layer, path, [], name=names.key(path))
    is_directory = kind == "dir"
    return Exclusion("exec.deny", layer, path, [Place(path, None)], as_directory=is_directory, as_file=not is_directory)


def table(default, *entries):
    """X[deny; +dir /x, -file /x/b] is table("deny", "+dir /x", "-file /x/b")."""
    allow, deny = [Allowance("any")] if default == "allow" else [], []
    for entry in entries:
        kind, value = entry[1:].split(" ", 1)
        if entry[0] == "+":
            allow.append(Allowance(kind, value))
        else:
            deny.append(rule(kind, value))
    return Table(allow, deny)


def said(tables, path):
    speaks, against = tables.evidence(Subject(path, True))
    if against:
        how = sorted({match for _, match in against})
        return ("both" if speaks else "against"), how
    return ("for" if speaks else "none"), []


class LawTest(unittest.TestCase):
    def test_evidence_is_what_the_tables_say(self):
        # guard 9.1: 1, 2, 3, 4, 5, 6, 7, 8, 13, 17
        cases = [
            (table("deny", "+dir /x"), "/x/t", "for"),
            (table("deny"), "/x/t", "none"),
            (table("deny", "+dir /x", "-dir /x/y"), "/x/y/t", "both"),
            (table("deny", "+dir /x", "-dir /x/y", "+file /x/y/t"), "/x/y/t", "both"),
            (table("deny", "-dir /x", "+dir /x/y"), "/x/y/t", "both"),
            (table("deny", "-dir /x"), "/x/t", "against"),
            (table("allow", "-file /usr/bin/curl"), "/usr/bin/curl", "both"),
            (table("allow", "-file /usr/bin/curl"), "/usr/bin/wget", "for"),
            (table("allow", "-name sh"), "/opt/SH", "both"),
            (table("allow", "-name sh"), "/opt/shx", "for"),
            (table("deny", "+file /u/bin/git"), "/u/bin/ls", "none"),
            (table("deny", "+dir /x/bin"), "/x/binx/t", "none"),
            (table("deny", "+dir /x/bin"), "/x/bin", "none"),
        ]
        for tables, path, evidence in cases:
            with self.subTest(path=path, evidence=evidence):
                self.assertEqual(said(tables, path)[0], evidence)

    def test_an_exclusion_holds_every_spelling_and_an_allowance_one(self):
        # guard 9.1: 15, 16, 18
        same = [("caf\u00e9", "cafe\u0301"), ("\u00df", "ss"), ("\u017f", "s"), ("\u212a", "k"), ("\ufb01", "fi")]
        same += [("\u0131", "I"), ("\u212b", "\u00e5")]
        for written, asked in same:
            tables = table("deny", "+dir /x", f"-file /x/{written}")
            self.assertEqual(said(tables, f"/x/{asked}"), ("both", ["folded"]), (written, asked))
        for written, asked in [("\uff41", "a"), ("\u0130", "i"), ("\udcff", "\udcfe")]:
            tables = table("deny", "+dir /x", f"-file /x/{written}")
            self.assertEqual(said(tables, f"/x/{asked}")[0], "for", (written, asked))
        self.assertEqual(said(table("deny", "+file /x/caf\u00e9"), "/x/cafe\u0301")[0], "none")
        self.assertEqual(said(table("deny", "+dir /x", "-file /x/\udcff"), "/x/\udcff"), ("both", ["stored"]))


class TreeCase(unittest.TestCase):
    """A tree of its own, in which /w, /x, … of the tables are made."""

    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="loom-judge-", dir=os.environ.get("LOOM_TEST_PLACE", "/var/tmp"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)

    def at(self, path):
        return self.top + path

    def make(self, *specs):
        """"/w/d/", "/w/f", "/w/l -> t", "/w/h = /o/f", "/x/p*", "/x/s #! /x/p"."""
        for spec in specs:
            path = self.at(spec.split(" ")[0].rstrip("*").rstrip("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if " -> " in spec:
                target = spec.split(" -> ")[1]
                os.symlink(self.at(target) if target.startswith("/") else target, path)
            elif " = " in spec:
                os.link(self.at(spec.split(" = ")[1]), path)
            elif spec.endswith("/"):
                os.makedirs(path, exist_ok=True)
            else:
                self.make_file(path, spec)

    def make_file(self, path, spec):
        content, mode = b"data\n", 0o644
        if " #! " in spec:
            line = spec.split(" #! ")[1]
            content, mode = f"#!{self.at(line) if line.startswith('/') else line}\n".encode(), 0o755
        elif spec.split(" ")[0].endswith("*"):
            with open(TINY, "rb") as file:
                content, mode = file.read(), 0o755
        with open(path, "wb") as file:
            file.write(content)
        os.chmod(path, mode)

    def judge(self, W=(), R=(), P=(), M=(), X=None, support="none", v=3):
        policy = {
            "v": v,
            "writable_roots": [self.at(path) for path in W],
            "readable_roots": [self.at(path) for path in R],
            "protected": [self.at(path) for path in P],
            "mounts": [{"path": self.at(path), "access": access, "required": False} for path, access in M],
            "scratch": "tmpfs",
            "exec": X and self.table(X, support),
        }
        return Judge(policy)

    def table(self, words, support):
        default, *entries = words
        made = {"default": default, "allow": [], "deny": [], "support": support, "memfd": "noexec"}
        for entry in entries:
            kind, value = entry[1:].split(" ", 1)
            where = made["allow" if entry[0] == "+" else "deny"]
            where.append({"kind": kind, "value": value if kind == "name" else self.at(value)})
        return made

    def expect(self, judge, *rows):
        """(operation, path, reason or "admit")."""
        for operation, path, wanted in rows:
            ends = [self.at(each) for each in path.split(" > ")]
            answer = judge.ask(operation, *ends)
            got = "admit" if answer.admitted else answer.reason
            self.assertEqual(got, wanted, (operation, path))


class ViewTest(TreeCase):
    def test_the_deepest_region_sets_the_level(self):
        # guard 9.2: 21, 22, 23
        self.make("/w/a", "/w/ro/a", "/r/w/a", "/r/b")
        judge = self.judge(W=["/w", "/r/w"], R=["/w/ro", "/r"])
        self.expect(judge, ("write", "/w/a", "admit"), ("write", "/w/ro/a", "read_only"), ("write", "/r/w/a", "admit"))
        self.expect(judge, ("write", "/r/b", "read_only"), ("read", "/w/ro/a", "admit"))

    def test_what_is_protected_is_excluded_by_every_way(self):
        # guard 9.2: 24, 25, 26, 32, 33, 34
        self.make("/w/key", "/w/.ssh/id", "/w/l -> key", "/o/key", "/w/h = /o/key", "/w/plain")
        judge = self.judge(W=["/w"], P=["/w/key", "/w/.ssh", "/o/key"])
        excluded = "excluded_over_allowance"
        self.expect(
            judge,
            ("read", "/w/key", excluded),
            ("read", "/w/.ssh/id", excluded),
            ("list", "/w/.ssh", excluded),
        )
        self.expect(judge, ("create", "/w/.ssh/n", excluded), ("read", "/w/l", excluded), ("read", "/w/h", "admit"))
        self.expect(judge, ("read", "/w/plain", "admit"), ("read", "/o/key", "excluded"))
        judge = self.judge(W=["/w"], P=["/w/l"])
        self.expect(judge, ("read", "/w/key", excluded), ("remove", "/w/l", excluded), ("read", "/w/plain", "admit"))

    def test_other_spellings_are_excluded_and_longer_names_are_not(self):
        # guard 9.2: 28, 30, 31
        self.make("/w/Secrets", "/w/secrets", "/w/Secretsx")
        judge = self.judge(W=["/w"], P=["/w/Secrets", "/w/.env"])
        self.expect(judge, ("read", "/w/secrets", "excluded_over_allowance"), ("read", "/w/Secretsx", "admit"))
        self.expect(judge, ("create", "/w/.ENV", "excluded_over_allowance"), ("create", "/w/.enw", "admit"))

    def test_the_null_device_is_admitted_and_private_objects_are_not(self):
        # guard 9.2: 35, 36
        judge = self.judge()
        for path, wanted in [("/dev/null", ""), ("/dev/zero", "not_a_host_object"), ("/tmp/x", "not_a_host_object")]:
            self.assertEqual(judge.ask("create" if path == "/tmp/x" else "read", path).reason, wanted, path)

    def test_what_may_run_is_readable(self):
        # guard 9.2: 37, 38
        self.make("/x/tools/t*", "/x/tools/readme")
        self.expect(self.judge(X=["deny", "+dir /x/tools"]), ("read", "/x/tools/readme", "admit"))
        self.expect(self.judge(X=["deny"]), ("read", "/x/tools/readme", "not_allowed"))

    def test_nothing_excluded_is_moved_along(self):
        # guard 9.2: 39, 40
        self.make("/w/a/key", "/w/c/d/t*", "/w/free/f")
        judge = self.judge(W=["/w"], X=["allow", "-file /w/c/d/t"])
        self.expect(judge, ("rename", "/w/c > /w/b", "would_move_excluded"), ("rename", "/w/free > /w/b", "admit"))
        self.expect(judge, ("remove", "/w/c/d", "would_move_excluded"), ("remove", "/w/free", "admit"))
        judge = self.judge(W=["/w"], P=["/w/a/key"])
        self.expect(judge, ("rename", "/w/a > /w/b", "mount_point"), ("remove", "/w/a/key", "excluded_over_allowance"))

    def test_a_rename_stays_in_one_region(self):
        # guard chapter 0, ruling 3
        self.make("/w/a/f", "/w/b/", "/w/b/in/", "/v/")
        judge = self.judge(W=["/w", "/v", "/w/b/in"])
        self.expect(judge, ("rename", "/w/a/f > /w/b/f", "admit"), ("rename", "/w/a/f > /v/f", "crosses_mounts"))
        self.expect(judge, ("rename", "/w/a/f > /w/b/in/f", "crosses_mounts"), ("remove", "/w/b/in", "mount_point"))


class WalkTest(TreeCase):
    def test_links_lead_where_the_kernel_goes(self):
        # guard 9.3: 41, 42, 43, 45, 46, 47
        self.make("/o/f", "/o/sub/", "/w/work/d -> ../../o/m", "/w/in/", "/w/l -> in/x", "/w/a -> b", "/w/b -> a")
        self.make("/w/t/deep/f", "/w/al -> t/deep", "/w/real/sub/", "/w/real/f", "/w/r -> real/sub", "/w/o -> /o/sub")
        judge = self.judge(W=["/w"])
        self.expect(
            judge,
            ("create", "/w/work/d", "not_allowed"),
            ("create", "/w/l", "admit"),
            ("read", "/w/a", "too_many_links"),
        )
        self.expect(
            judge,
            ("read", "/w/al/f", "admit"),
            ("read", "/w/r/../f", "admit"),
            ("read", "/w/o/../f", "not_allowed"),
        )
        self.assertEqual(judge.ask("read", self.at("/w/r/../f")).landing.real, self.at("/w/real/f"))

    def test_forty_links_are_followed(self):
        # guard 9.3: 44
        self.make("/w/0", *[f"/w/{i + 1} -> {i}" for i in range(41)])
        self.expect(self.judge(W=["/w"]), ("read", "/w/40", "admit"), ("read", "/w/41", "too_many_links"))

    def test_spellings_of_one_name(self):
        # guard 9.3: 48, 49, 50, 56, 57
        self.make("/w/f", "/w/d/", "/w/l -> d")
        judge = self.judge(W=["/w"])
        self.expect(
            judge,
            ("read", "/w/f/", "not_a_directory"),
            ("list", "/w/l/", "admit"),
            ("create", "/w/n/", "is_a_directory"),
        )
        self.expect(judge, ("read", "/w/../w/./f", "admit"))
        self.assertTrue(judge.ask("read", "/../.." + self.at("/w/f")).admitted)

    def test_procfs_and_what_is_no_path(self):
        # guard 9.3: 54, 55, 58, 59
        self.make("/w/l -> ../../../../proc/self/cwd", "/w/f")
        os.unlink(self.at("/w/l"))
        os.symlink("/proc/self/cwd", self.at("/w/l"))
        judge = self.judge(W=["/w"])
        self.expect(
            judge,
            ("read", "/w/l/f", "magic_link"),
            ("read", "/w/f\0", "bad_path"),
            ("read", "/w/" + "n" * 256, "too_long"),
        )
        self.assertEqual(judge.ask("read", "/proc/self/root/f").reason, "magic_link")
        for path in ("", "w", "/" * 4096):
            self.assertEqual(judge.ask("read", path).reason, "bad_path")
        self.assertEqual(judge.ask("read", "/proc/1/stat").reason, "pseudo_fs")

    def test_links_of_others_in_a_shared_directory_are_not_followed(self):
        # guard 9.3: 60
        self.make("/w/st/", "/w/f", "/w/st/l -> ../f", "/w/st/own -> ../f")
        os.chmod(self.at("/w/st"), 0o1777)
        judge = self.judge(W=["/w"])
        if os.geteuid() == 0:  # nobody else can make a link that is somebody else's
            os.lchown(self.at("/w/st/l"), 65534, 65534)
            self.expect(judge, ("read", "/w/st/l", "link_untrusted"))
        self.expect(judge, ("read", "/w/st/own", "admit"))

    def test_a_last_link_is_itself_where_it_is_named(self):
        # guard 9.3: 61, 62, 63
        self.make("/w/f", "/w/l -> f", "/w/dang -> nope")
        os.mkfifo(self.at("/w/fifo"))
        judge = self.judge(W=["/w"])
        self.expect(
            judge,
            ("read", "/w/fifo", "not_regular"),
            ("remove", "/w/l", "admit"),
            ("remove", "/w/dang", "admit"),
        )
        self.assertEqual(judge.ask("remove", self.at("/w/l")).landing.kind, "link")


class AdmissionTest(TreeCase):
    def test_the_file_that_runs_is_judged(self):
        # guard 9.5: 78, 79, 80, 82, 83, 98
        self.make("/x/bin/t*", "/y/l -> /x/bin/t", "/y/t*", "/x/bin/l -> /y/t", "/x/bin/text", "/x/bin/data")
        os.chmod(self.at("/x/bin/text"), 0o755)
        judge = self.judge(X=["deny", "+dir /x/bin"])
        self.expect(
            judge,
            ("execute", "/x/bin/t", "admit"),
            ("execute", "/y/l", "admit"),
            ("execute", "/x/bin/l", "not_allowed"),
        )
        self.expect(judge, ("execute", "/x/bin/t/", "not_found"), ("execute", "/x/bin/data", "not_executable"))
        self.expect(judge, ("execute", "/x/bin/text", "not_executable"))

    def test_names_are_excluded_wherever_they_are(self):
        # guard 9.5: 87
        self.make("/x/bash*", "/y/b -> /x/bash", "/x/t*")
        judge = self.judge(X=["deny", "+dir /x", "+dir /y", "-name bash"])
        self.expect(judge, ("execute", "/y/b", "excluded_over_allowance"), ("execute", "/x/t", "admit"))

    def test_interpreters_are_judged_like_programs(self):
        # guard 9.5: 90, 91, 92, 94, 95, 97
        self.make("/x/i*", "/x/s #! /x/i", "/x/1 #! /x/i", *[f"/x/{i + 1} #! /x/{i}" for i in range(1, 6)])
        self.make("/x/rel #! i", "/x/cr #! /x/i\r")
        self.expect(self.judge(X=["deny", "+file /x/s"]), ("execute", "/x/s", "interpreter_not_admitted"))
        self.expect(self.judge(X=["deny", "+file /x/s", "-file /x/i"]), ("execute", "/x/s", "support_excluded"))
        self.expect(self.judge(X=["deny", "+file /x/s"], P=["/x/i"]), ("execute", "/x/s", "support_excluded"))
        judge = self.judge(R=["/x"], X=["allow", "-file /z"])
        self.expect(judge, ("execute", "/x/5", "admit"), ("execute", "/x/6", "too_many_interpreters"))
        self.expect(
            judge,
            ("execute", "/x/rel", "interpreter_relative"),
            ("execute", "/x/cr", "interpreter_not_admitted"),
        )

    def test_a_dynamic_program_needs_its_linker(self):
        # guard 9.5: 99
        self.make("/x/")
        shutil.copy("/bin/true", self.at("/x/t"))
        self.expect(self.judge(X=["deny", "+file /x/t"]), ("execute", "/x/t", "linker_not_admitted"))
        self.expect(self.judge(X=["deny", "+file /x/t"], support="system"), ("execute", "/x/t", "admit"))

    def test_exclusions_beat_every_allowance(self):
        # guard 9.6: 102, 104, 106, 108, 109, 113, 116, 117, 124
        self.make("/x/a*", "/x/b*", "/x/X*", "/x/h = /x/b", "/y/t*", "/x/tool -> /y/t", "/y/w/t*")
        both = "excluded_over_allowance"
        self.expect(self.judge(X=["deny"], R=["/x"]), ("execute", "/x/a", "not_allowed"))
        judge = self.judge(X=["deny", "+dir /x", "-file /x/b", "-file /x/x"])
        self.expect(judge, ("execute", "/x/a", "admit"), ("execute", "/x/b", both), ("execute", "/x/X", both))
        self.expect(judge, ("execute", "/x/h", "admit"), ("execute", "/x/tool", "not_allowed"))
        judge = self.judge(W=["/y/w"], X=["allow", "-dir /y"])
        self.expect(judge, ("execute", "/y/w/t", both))


if __name__ == "__main__":
    unittest.main()
