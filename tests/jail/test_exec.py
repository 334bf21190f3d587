"""What the kernel executes under an exec table, case by case (guard 9.6, 9.7). Every denial has a twin
that is admitted in the same jail, or under the same policy without the rule in question.
"""

import ctypes
import struct

from jail import PLACE
from probing import *

# A program that needs no linker: says its name, or does one thing first.
PROGRAM = r"""
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "rename") == 0) {
    if (rename(argv[2], argv[3]) == 0) puts("renamed"); else puts(strerror(errno));
    return 0;
  }
  if (argc > 3 && strcmp(argv[1], "again") == 0) {
    if (strcmp(argv[2], argv[3]) != 0 && rename(argv[2], argv[3]) != 0) puts("not renamed");
    fflush(stdout);
    execl("/proc/self/exe", argv[0], NULL);
    puts(strerror(errno));
    return 0;
  }
  puts("ran");
  return 0;
}
"""

# try NAME COMMAND…: a line with the command's status.
TRY = """
try() { name=$1; shift; "$@" >/dev/null 2>&1 </dev/null; echo "$name $?"; }
"""
REFUSED = "126"

DENY_CALLS = r"""
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *words):
    ctypes.set_errno(0)
    answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(word) for word in words])
    print(name, "ok" if answer >= 0 else errno.errorcode[ctypes.get_errno()])
NEWUSER = 0x10000000
call("unshare-nothing", 272, 0)
call("unshare", 272, NEWUSER)
call("clone", 56, NEWUSER | 17, 0, 0, 0, 0)
call("clone3", 435, 0, 0)
call("setns", 308, -1, 0)
call("mount", 165, 0, 0, 0, 0, 0)
call("open_tree_attr", 467, -1, 0, 0, 0, 0)
call("io_uring_setup", 425, 0, 0)
call("process_vm_readv", 310, os.getpid(), 0, 0, 0, 0, 0)
call("process_vm_writev", 311, os.getpid(), 0, 0, 0, 0, 0)
call("pidfd_getfd", 438, -1, 0, 0)
name = ctypes.create_string_buffer(b"m")
call("memfd_create-sealed", 319, ctypes.addressof(name), 8)
call("memfd_create", 319, ctypes.addressof(name), 1)
call("ptrace", 101, 0, 0, 0, 0)
"""

MEMORY = r"""
import os, sys
try:
    fd = os.memfd_create("p", int(sys.argv[2]))
except OSError as error:
    sys.exit(error.strerror)
os.write(fd, open(sys.argv[1], "rb").read())
try:
    os.execve(fd, ["p"], {})
except OSError as error:
    sys.exit(error.strerror)
"""


def entry(words):
    """'+dir /x' and the like; a lone word is a bare name."""
    kind, _, value = words[1:].partition(" ")
    return {"kind": kind, "value": value} if value else {"kind": "name", "value": kind}


def table(default, *entries, **given):
    return {
        "default": default,
        "allow": [entry(each) for each in entries if each[0] == "+"],
        "deny": [entry(each) for each in entries if each[0] == "-"],
        "support": "system",
        "memfd": "noexec",
        "required": True,
        **given,
    }


class ExecCase(ProbingCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.made = tempfile.mkdtemp(prefix="loom-exec-", dir=PLACE)
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        source = os.path.join(cls.made, "program.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        cls.built = os.path.join(cls.made, "program")
        subprocess.run(["cc", "-static", "-o", cls.built, source], check=True)
        cls.dynamic = os.path.join(cls.made, "dynamic")
        subprocess.run(["cc", "-o", cls.dynamic, source], check=True)

    def setUp(self):
        super().setUp()
        self.x = self.directory("x")

    def put(self, *parts, program=None):
        """A program at that place."""
        path = self.path(*parts)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy2(program or self.built, path)
        os.chmod(path, 0o755)
        return path

    def third(self, exec_table, **given):
        return self.policy(**{"v": 3, "exec": exec_table, **given})

    def tried(self, policy, script, *args, **how):
        """The status of each attempt, by its name, and the run."""
        run = self.shell(TRY + script, policy, args=args, **how)
        lines = bytes(run.stdout).decode().splitlines()[1:]
        return dict(line.split(" ", 1) for line in lines), run

    def assertTried(self, policy, script, *args, said, **how):
        lines, run = self.tried(policy, script, *args, **how)
        self.assertEqual(lines, said, self.story(run))
        return run

    def assertGuard(self, policy, argv, reason, **how):
        """The same request, put to the helper: refused with that reason, or admitted (None)."""
        if reason is None:
            run = self.execute(argv, policy, **how)
            self.assertEqual(run.code, 0, self.story(run))
            return
        message = self.refusal(policy, argv, **how)
        self.assertTrue(message.startswith(reason), message)

    def claim(self, run):
        """The fields of the one exec-landlock entry."""
        found = [e for e in run.enforcement if e.startswith("exec-landlock:")]
        self.assertEqual(len(found), 1, run.enforcement)
        fields = found[0].partition(":")[2].split(",")
        return {name: int(number) for name, number in (field.split("=") for field in fields)}


class WhatRuns(ExecCase):
    # guard 9.6: 102, 103
    def test_what_no_allowance_holds_is_refused_at_any_depth(self):
        p = self.put("x", "p")
        policy = self.third(table("deny", "+sh"), readable_roots=[self.x])
        self.assertTried(
            policy, 'try shell sh -c "exit 0"; try p "$1"; try nested sh -c "sh -c \\"$1\\""', p,
            said={"shell": "0", "p": REFUSED, "nested": REFUSED},
        )
        self.assertGuard(policy, [p], "not_allowed")
        admitted = self.third(table("deny", "+sh", f"+file {p}"), readable_roots=[self.x])
        self.assertTried(admitted, 'try p "$1"; try nested sh -c "sh -c \\"$1\\""', p,
                         said={"p": "0", "nested": "0"})
        self.assertGuard(admitted, [p], None)

    # guard 9.6: 104
    def test_an_exclusion_inside_an_allowed_directory_holds(self):
        a, b = self.put("x", "a"), self.put("x", "b")
        policy = self.third(table("deny", f"+dir {self.x}", f"-file {b}", "+sh"))
        run = self.assertTried(policy, 'try a "$1"; try b "$2"', a, b, said={"a": "0", "b": REFUSED})
        self.assertEqual(self.claim(run)["listed"], 1)
        self.assertGuard(policy, [b], "excluded_over_allowance")
        self.assertGuard(policy, [a], None)

    # guard 9.6: 105
    def test_only_what_lies_on_the_way_to_an_exclusion_is_listed(self):
        f, g = self.put("x", "s", "f"), self.put("x", "s", "g")
        h, a = self.put("x", "sub", "h"), self.put("x", "a")
        policy = self.third(table("deny", f"+dir {self.x}", f"-file {f}", "+sh", "+cp"), writable_roots=[self.x])
        run = self.assertTried(
            policy,
            'try f "$1"; try g "$2"; try h "$3"; try a "$4"; cp "$4" "$5/sub/new"; cp "$4" "$5/s/new"\n'
            'try whole "$5/sub/new"; try spine "$5/s/new"',
            f, g, h, a, self.x,
            said={"f": REFUSED, "g": "0", "h": "0", "a": "0", "whole": "0", "spine": REFUSED},
        )
        self.assertEqual(self.claim(run)["listed"], 2)

    # guard 9.6: 106
    def test_a_name_in_another_case_is_the_excluded_name(self):
        upper, other = self.put("x", "X"), self.put("x", "other")
        policy = self.third(table("deny", f"+dir {self.x}", f"-file {self.x}/x", "+sh"))
        self.assertTried(policy, 'try upper "$1"; try other "$2"', upper, other,
                         said={"upper": REFUSED, "other": "0"})
        self.assertGuard(policy, [upper], "excluded_over_allowance")

    # guard 9.6: 112
    def test_a_rule_above_what_a_policy_shows_reaches_it(self):
        t = self.put("a", "b", "t")
        policy = self.third(table("deny", f"+dir {self.path('a')}", "+sh"), readable_roots=[self.path("a/b")])
        self.assertTried(policy, 'try t "$1"', t, said={"t": "0"})
        self.assertTried(self.third(table("deny", "+sh"), readable_roots=[self.path("a/b")]),
                         'try t "$1"', t, said={"t": REFUSED})
        self.assertGuard(policy, [t], None)

    # guard 9.6: 113
    def test_a_table_that_allows_by_default_refuses_what_it_excludes(self):
        excluded = os.path.realpath("/usr/bin/id")
        policy = self.third(table("allow", f"-file {excluded}"))
        self.assertTried(policy, "try id id; try true true", said={"id": REFUSED, "true": "0"})
        self.assertGuard(policy, [excluded], "excluded_over_allowance")
        self.assertGuard(policy, ["true"], None)

    # guard 9.6: 116
    def test_a_writable_root_inside_an_excluded_directory_is_excluded_too(self):
        t, u = self.put("x", "y", "w", "t"), self.put("x", "z", "u")
        policy = self.third(table("allow", f"-dir {self.path('x/y')}"),
                            writable_roots=[self.path("x/y/w"), self.path("x/z")])
        self.assertTried(policy, 'try t "$1"; try u "$2"', t, u, said={"t": REFUSED, "u": "0"})
        self.assertGuard(policy, [t], "excluded_over_allowance")
        self.assertGuard(policy, [u], None)

    # guard 9.6: 123
    def test_a_directory_that_cannot_be_listed_fails_closed(self):
        t, u = self.put("x", "d", "t"), self.put("x", "d", "u")
        policy = self.third(table("deny", f"+dir {self.x}", f"-file {u}", "+sh"))
        self.assertTried(policy, 'try t "$1"; try u "$2"', t, u, said={"t": "0", "u": REFUSED})
        os.chmod(self.path("x/d"), 0o311)
        self.addCleanup(os.chmod, self.path("x/d"), 0o755)
        listed = os.geteuid() == 0  # the superuser is not kept from it
        self.assertTried(policy, 'try t "$1"; try u "$2"', t, u, said={"t": "0" if listed else REFUSED, "u": REFUSED})
        # The guard has no word against it, so the kernel's is the one that is heard.
        run = self.execute([t], policy)
        self.assertEqual(run.code, 0 if listed else 126, self.story(run))
        self.assertEqual(self.outcome(run)["class"], "exited" if listed else "exec")

    # guard 9.6: 124
    def test_a_link_to_what_is_not_allowed_does_not_run(self):
        q, a, t = self.put("x", "q"), self.put("x", "a"), self.put("y", "t")
        self.link(t, "x", "tool")
        self.link(a, "x", "good")
        policy = self.third(table("deny", f"+dir {self.x}", f"-file {q}", "+sh"),
                            readable_roots=[self.path("y")])
        self.assertTried(policy, 'try tool "$1/tool"; try good "$1/good"', self.x,
                         said={"tool": REFUSED, "good": "0"})
        self.assertGuard(policy, [self.path("x/tool")], "not_allowed")
        self.assertGuard(policy, [self.path("x/good")], None)


class CreatedLater(ExecCase):
    CP = "+cp"

    # guard 9.6: 107
    def test_in_a_listed_directory_nothing_new_runs_until_the_next_launch(self):
        """L10."""
        a, b = self.put("x", "a"), self.put("x", "b")
        policy = self.third(table("deny", f"+dir {self.x}", f"-file {b}", "+sh", self.CP),
                            writable_roots=[self.x])
        new = self.path("x/new")
        self.assertTried(policy, 'try a "$1"; try copy cp "$1" "$2"; try new "$2"', a, new,
                         said={"a": "0", "copy": "0", "new": REFUSED})
        self.assertTried(policy, 'try new "$1"', new, said={"new": "0"})
        self.assertGuard(policy, [new], None)

    # guard 9.6: 108
    def test_in_a_directory_without_exclusions_it_runs_at_once(self):
        y, new = self.directory("y"), self.path("y/new")
        policy = self.third(table("deny", f"+dir {y}", "+sh", self.CP), writable_roots=[y],
                            readable_roots=[self.made])
        self.assertTried(policy, 'try old "$1"; try copy cp "$1" "$2"; try new "$2"', self.built, new,
                         said={"old": REFUSED, "copy": "0", "new": "0"})
        self.assertGuard(policy, [new], None)

    # guard 9.6: 109
    def test_an_excluded_name_stays_excluded_when_it_is_made(self):
        y = self.directory("y")
        self.put("y", "there")
        policy = self.third(table("deny", f"+dir {y}", f"-file {y}/evil", "+sh", self.CP), writable_roots=[y])
        self.assertTried(policy, 'try there "$1/there"; try copy cp "$1/there" "$1/evil"; try evil "$1/evil"', y,
                         said={"there": "0", "copy": "0", "evil": REFUSED})
        self.assertGuard(policy, [f"{y}/evil"], "excluded")

    # guard 9.6: 110
    def test_no_program_is_moved_to_where_it_would_run(self):
        ok = self.directory("ok")
        self.put("u", "n", "p")
        mover = self.put("mover")
        policy = self.third(table("deny", f"+dir {ok}", "+sh", self.CP, f"+file {mover}"),
                            writable_roots=[self.path("u"), ok])
        script = '"$3" rename "$1/n/p" "$2/p"; cp "$1/n/p" "$2/p"; "$2/p"; "$1/n/p" 2>/dev/null || echo $?'
        run = self.shell(script, policy, args=(self.path("u"), ok, mover))
        self.assertEqual(bytes(run.stdout), b"begin\nInvalid cross-device link\nran\n126\n", self.story(run))

    # guard 9.6: 111
    def test_other_renames_between_directories_work(self):
        self.file("u", "a", "f")
        b = self.directory("u", "b")
        mover = self.put("mover")
        policy = self.third(table("deny", "+sh", f"+file {mover}"), writable_roots=[self.path("u")])
        run = self.shell('"$2" rename "$1/a/f" "$1/b/f"', policy, args=(self.path("u"), mover))
        if "unheld:refer" in run.enforcement:
            self.skipTest("Landlock ABI 1 cannot grant it")
        self.assertEqual(bytes(run.stdout), b"begin\nrenamed\n", self.story(run))
        self.assertEqual(os.listdir(b), ["f"])

    SCRATCH = 'cp "$1" /tmp/p; try p /tmp/p; mkdir /tmp/q; cp "$1" /tmp/q/p; try q /tmp/q/p; try true true'

    # guard 9.6: 114
    def test_what_is_built_in_the_private_scratch_runs_where_everything_may(self):
        policy = self.third(table("allow", "-file " + os.path.realpath("/usr/bin/id")),
                            readable_roots=[self.made])
        self.assertTried(policy, self.SCRATCH + "; try id id", self.built,
                         said={"p": "0", "q": "0", "true": "0", "id": REFUSED})
        hosts = shutil.copy2(self.built, self.under_tmp())
        self.assertGuard(policy, [hosts], "not_a_host_object")
        self.assertGuard(policy, [self.built], None)

    # guard 9.6: 115
    def test_an_exclusion_in_the_scratch_closes_all_of_it(self):
        """L11."""
        policy = self.third(table("allow", "-dir /tmp/q"), readable_roots=[self.made])
        self.assertTried(policy, self.SCRATCH, self.built, said={"p": REFUSED, "q": REFUSED, "true": "0"})

    # guard 9.7: 143
    def test_a_running_program_that_is_no_longer_admitted_cannot_start_itself_again(self):
        y, p = self.directory("ws", "y"), self.put("ws", "y", "p")
        moved = self.path("ws/p")
        policy = self.third(table("deny", f"+dir {y}", "+sh"))
        run = self.shell('"$1" again "$1" "$1"; "$1" again "$1" "$2"', policy, args=(p, moved))
        if "unheld:refer" in run.enforcement:
            self.skipTest("Landlock ABI 1 cannot move it")
        self.assertEqual(bytes(run.stdout), b"begin\nran\nPermission denied\n", self.story(run))
        self.assertTrue(os.path.exists(moved))


class Limits(ExecCase):
    """What the kernel cannot hold; each has its number in the guard's list."""

    # guard 9.6: 117
    def test_another_hard_link_admits_the_excluded_file_and_the_report_counts_it(self):
        """L5."""
        b = self.put("x", "b")
        policy = self.third(table("deny", f"+dir {self.x}", f"-file {b}", "+sh"))
        run = self.assertTried(policy, 'try b "$1"', b, said={"b": REFUSED})
        self.assertFalse([e for e in run.enforcement if e.startswith("exec-links=")])
        os.link(b, self.path("x/h"))
        run = self.assertTried(policy, 'try b "$1"', b, said={"b": "0"})
        self.assertIn("exec-links=1", run.enforcement)
        self.assertGuard(policy, [b], "excluded_over_allowance")

    # guard 9.6: 118
    def test_the_linker_loads_what_it_can_read(self):
        """L8."""
        p = self.put("x", "p", program=self.dynamic)
        linker = next(path for path in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
                      if os.path.exists(path))
        policy = self.third(table("deny", "+sh"), readable_roots=[self.x])
        self.assertTried(policy, 'try p "$1"; try linker "$2" "$1"', p, linker,
                         said={"p": REFUSED, "linker": "0"})
        # Without support the linker is no program: nothing dynamic starts at all.
        alone = self.third(table("deny", f"+file {self.put('static')}", support="none"))
        self.assertGuard(alone, [self.path("static")], None)
        self.assertGuard(self.third(table("deny", "+sh", support="none")), [SH, "-c", "exit 0"],
                         "linker_not_admitted")

    # guard 9.6: 119, 120
    def test_memory_files_run_only_where_the_policy_lets_them(self):
        """L17."""
        python = os.path.realpath(PYTHON)
        for memfd, flags, said in (("noexec", 0, b"Permission denied"), ("noexec", 8, b"Permission denied"),
                                   ("any", 0, b"ran\n")):
            policy = self.third(table("deny", "+sh", f"+file {python}", memfd=memfd), readable_roots=[self.made])
            run = self.execute([python, "-ISc", MEMORY, self.built, str(flags)], policy)
            if b"Invalid argument" in run.stderr:
                self.skipTest("this kernel has no sealed memory files (6.3)")
            self.assertIn(said, bytes(run.stdout) + bytes(run.stderr), self.story(run))

    # guard 9.6: 121, 122
    def test_the_helpers_own_image_is_a_program_like_any_other(self):
        """L1."""
        helper = os.path.realpath(client.helper_path())
        where = os.path.dirname(os.path.dirname(helper))
        script = 'try helper "$1" --help; try shell sh -c "exit 0"'
        confined = self.third(table("deny", "+sh"), readable_roots=[where])
        self.assertTried(confined, script, helper, said={"helper": REFUSED, "shell": "0"})
        self.assertGuard(confined, [helper, "--help"], "not_allowed")
        for policy in (self.third(None, readable_roots=[where]), self.policy(readable_roots=[where])):
            self.assertTried(policy, script, helper, said={"helper": "0", "shell": "0"})


class Shown(ExecCase):
    # guard 1.8, 5.2: P2
    def test_what_is_allowed_is_readable_and_what_lies_beside_it_is_not(self):
        t, secret = self.put("x", "bin", "t"), self.file("x", "secret")
        inside = self.file("x", "bin", "data")
        policy = self.third(table("deny", f"+dir {self.path('x/bin')}", "+sh", "+cat", "+test"))
        run = self.assertTried(policy,
                               'try t "$1"; try data cat "$2"; try secret cat "$3"; echo x 2>/dev/null >"$2" || '
                               "echo write no",
                               t, inside, secret,
                               said={"t": "0", "data": "0", "secret": "1", "write": "no"})
        self.assertNoSkips(run)
        self.assertIn("mounts-by=handle", run.enforcement)

    def test_a_protected_path_inside_is_masked(self):
        t, key = self.put("x", "t"), self.file("x", "key")
        os.makedirs(self.path("x/hidden"))
        self.put("x", "hidden", "t")
        policy = self.third(table("deny", f"+dir {self.x}", "+sh", "+cat"),
                            protected=[key, self.path("x/hidden")])
        self.assertTried(policy, 'try t "$1/t"; try key test -n "$(cat "$1/key")"; try hidden "$1/hidden/t"',
                         self.x, said={"t": "0", "key": "1", "hidden": REFUSED})

    # guard 5.4.7; 9.7: 145
    def test_masks_of_directories_cannot_be_listed_under_version_3(self):
        git = self.directory("ws", ".git")
        self.file("ws", ".git", "config")
        script = ('try list ls "$1"; try open sh -c "chmod 700 \\"$1\\"" sh "$1"; try again ls "$1"; '
                  'try read cat "$1/config"; try beside ls "${1%/*}"')
        closed = {"list": "2", "open": "1", "again": "2", "read": "1", "beside": "0"}
        self.assertTried(self.third(None, protected=[git]), script, git, said=closed)
        self.assertTried(self.policy(protected=[git]), script, git, said={**closed, "list": "0", "again": "0"})


    def test_roots_that_nobody_can_reach_keep_no_command_from_running(self):
        inner = self.directory("ws", "hidden", "out")
        circle = self.link("circle", "circle")
        given = {"writable_roots": [self.ws, inner], "protected": [self.path("ws/hidden")],
                 "readable_roots": [circle]}
        for policy in (self.policy(**given), self.third(None, **given)):
            with self.subTest(policy["v"]):
                self.assertTried(policy, 'try root test -w "$1"; try inner test -e "$2"', self.ws, inner,
                                 said={"root": "0", "inner": "1"})


class Around(ExecCase):
    # guard 9.7: 136
    def test_loader_variables_do_not_reach_a_confined_command(self):
        hooks = {"LD_PRELOAD": "/x.so", "LD_AUDIT": "/y.so", "GLIBC_TUNABLES": "a=b", "KEPT": "1"}
        names = "PATH LD_PRELOAD LD_AUDIT GLIBC_TUNABLES KEPT".split()
        confined = self.third(table("deny", "+sh", "+env"), env_allow=names)
        run = self.execute(["env"], confined, env=hooks)
        given = dict(line.split("=", 1) for line in bytes(run.stdout).decode().splitlines())
        self.assertEqual(given.get("KEPT"), "1", self.story(run))
        self.assertFalse(set(given) & {"LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES"}, given)
        for name in ("LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES"):
            self.assertIn(f"scrubbed:env={name}", run.enforcement)
        self.assertNotIn("scrubbed:env=KEPT", run.enforcement)
        # The control: a table that restricts nothing scrubs nothing.
        run = self.execute(["env"], self.third(table("allow"), env_allow=names), env={**hooks, "LD_PRELOAD": ""})
        self.assertIn(b"LD_AUDIT=/y.so", bytes(run.stdout), self.story(run))
        self.assertFalse([e for e in run.enforcement if e.startswith("scrubbed:")])

    # guard 9.7: 137
    def test_the_helpers_own_hooks_reach_no_process_of_a_launch(self):
        env = {**os.environ, "LD_BIND_NOT": "loom-mark"}
        with self.helper(base=self.third(table("deny", "+sh", "+sleep")), env=env) as helper:
            self.needs(helper, "bwrap", "exec-landlock")
            helper.until_output(helper.start([SH, "-c", "echo up; sleep 600"]), b"up\n")
            with open(f"/proc/{helper.pid}/environ", "rb") as own:
                self.assertIn(b"loom-mark", own.read())
            seen = 0
            for pid in client.descendants(helper.pid):
                try:
                    with open(f"/proc/{pid}/environ", "rb") as environment:
                        self.assertNotIn(b"loom-mark", environment.read())
                        seen += 1
                except OSError:
                    continue
            self.assertGreater(seen, 0)

    # guard 9.7: 138; 5.5: S7, S14, S15
    def test_the_calls_that_could_undo_it_are_refused(self):
        python = os.path.realpath(PYTHON)
        if os.uname().machine != "x86_64":
            self.skipTest("the numbers are x86-64's")

        def answers(policy):
            run = self.execute([python, "-ISc", DENY_CALLS], policy)
            return dict(line.split() for line in bytes(run.stdout).decode().splitlines()), run

        said, run = answers(self.third(table("deny", "+sh", f"+file {python}"), network={"mode": "full"}))
        if said.get("memfd_create-sealed") == "EINVAL":
            self.skipTest("this kernel has no sealed memory files (6.3)")
        self.assertEqual(
            said,
            {"unshare-nothing": "ok", "unshare": "EPERM", "clone": "EPERM", "clone3": "ENOSYS",
             "setns": "EPERM", "mount": "EPERM", "open_tree_attr": "EPERM", "io_uring_setup": "ENOSYS",
             "process_vm_readv": "EPERM", "process_vm_writev": "EPERM", "pidfd_getfd": "EPERM",
             "memfd_create-sealed": "ok", "memfd_create": "EACCES", "ptrace": "EPERM"},
            self.story(run),
        )
        self.assertIn("seccomp-deny", run.enforcement)
        # The control: without an exec table these are ordinary calls.
        said, run = answers(self.third(None, network={"mode": "full"}))
        for name in ("process_vm_readv", "memfd_create", "ptrace", "memfd_create-sealed"):
            self.assertEqual(said[name], "ok", self.story(run))
        self.assertEqual(said["pidfd_getfd"], "EBADF")
        self.assertEqual(said["unshare"], "EPERM")

    # guard 5.2: I2, I7; 5.8
    def test_a_launch_has_a_session_and_no_further_user_namespaces(self):
        env = self.on()
        script = "read -r _ _ _ _ pgrp sid _ </proc/$$/stat; test $pgrp = $sid && echo leads"
        run = self.shell(script, self.third(table("deny", "+sh")), helper_env=env)
        self.assertEqual(bytes(run.stdout), b"begin\nleads\n", self.story(run))
        self.shell("true", self.policy(), helper_env=env)
        third, second = [line for line in self.starts() if " /null " not in line]
        self.assertIn(" --new-session --unshare-user --disable-userns ", third)
        self.assertIn(" --unshare-user-try ", second)
        for word in ("--new-session", "--disable-userns"):
            self.assertNotIn(word, second)

    # guard 5.2: I7
    def test_a_bubblewrap_that_cannot_forbid_user_namespaces_goes_without_and_says_so(self):
        words = "--disable-userns is not supported in setuid mode"
        env = self.on(("--disable-userns", words))
        run = self.shell("true", self.third(table("deny", "+sh")), helper_env=env)
        self.assertEqual(self.unheld(run, "disable-userns"), words)
        self.assertApplied(run, "exec-landlock", "bwrap", "seccomp-deny")
        self.assertNoSkips(run)
        self.assertNotUnheld(self.shell("true", self.policy(), helper_env=env), "disable-userns")

    # guard 5.1, 5.2: P1, P3
    def test_what_bubblewrap_cannot_promise_refuses_version_3_and_not_version_2(self):
        third = self.third(table("deny", "+sh"))
        for rule in (HANDLES, NETWORK, EVERYTHING):
            with self.subTest(rule[0]):
                message = self.refusal(third, [SH, "-c", "exit 0"], helper_env=self.on(rule))
                self.assertTrue(message.startswith("confinement_unavailable: "), message)
                self.assertIn(rule[1].split(":")[0], message)
        self.shell("true", third, helper_env=self.on())
        run = self.shell("true", self.policy(), helper_env=self.on(HANDLES))
        self.assertIn("mounts-by=name", run.enforcement)


def answer(error):
    """For `prepare`: from here on, landlock_create_ruleset fails with that error."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def statement(code, yes, no, value):
        return struct.pack("HBBI", code, yes, no, value)

    program = b"".join((
        statement(0x20, 0, 0, 0),                      # load the number
        statement(0x15, 0, 1, 444),                    # landlock_create_ruleset everywhere
        statement(0x06, 0, 0, 0x00050000 | error),     # SECCOMP_RET_ERRNO
        statement(0x06, 0, 0, 0x7FFF0000),             # SECCOMP_RET_ALLOW
    ))
    buffer = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", 4, ctypes.addressof(buffer))

    def prepare():
        assert buffer is not None
        if prctl(38, 1, 0, 0, 0) != 0 or prctl(22, 2, header, 0, 0) != 0:
            os._exit(97)

    return prepare


class WithoutLandlock(ExecCase):
    ENOSYS, EPERM = 38, 1

    def started(self, error, policy, argv):
        with self.helper(base=policy, prepare=answer(error)) as helper:
            self.needs(helper, "bwrap", "seccomp")
            self.assertNotIn("landlock", helper.features)
            self.assertNotIn("exec-landlock", helper.features)
            return helper.settle(helper.start(argv), LIMIT)

    # guard 9.6: 125
    def test_a_confining_table_refuses_unless_it_is_not_required(self):
        p = self.put("x", "p")
        command = [SH, "-c", f"{p}; exit 0"]
        given = {"readable_roots": [self.x]}
        run = self.started(self.ENOSYS, self.third(table("deny", "+sh"), **given), command)
        self.assertIsNotNone(run.error, run.exit)
        self.assertEqual(run.error["code"], "spawn_failed")
        self.assertTrue(run.error["msg"].startswith("confinement_unavailable: "), run.error)
        run = self.started(self.ENOSYS, self.third(table("deny", "+sh", required=False), **given), command)
        self.assertIsNone(run.error, run.error)
        self.assertEqual(bytes(run.stdout), b"ran\n", self.story(run))
        self.assertTrue(self.unheld(run, "exec-landlock"))
        self.assertFalse([e for e in run.enforcement if e.startswith("exec-landlock")])
        # The guard holds it all the same.
        run = self.started(self.ENOSYS, self.third(table("deny", "+sh", required=False), **given), [p])
        self.assertTrue(run.error["msg"].startswith("not_allowed"), run.error)

    # guard 4.1
    def test_an_answer_that_is_not_absence_refuses_every_launch_of_version_3(self):
        for policy in (self.third(None), self.third(table("deny", "+sh", required=False))):
            run = self.started(self.EPERM, policy, [SH, "-c", "exit 0"])
            self.assertIsNotNone(run.error, run.exit)
            self.assertTrue(run.error["msg"].startswith("confinement_unavailable: "), run.error)
            run = self.started(self.ENOSYS, policy, [SH, "-c", "exit 0"])
            self.assertIsNone(run.error, run.error)
        run = self.started(self.EPERM, self.policy(), [SH, "-c", "exit 0"])
        self.assertIsNone(run.error, run.error)
