"""Each declared limit in one small case of its own, beside what the limit is not about.

What a limit says is that guard and kernel differ there. So each case asks both, and the independent
judge as well; `docs/guard.md` has the table that names these tests.
"""

import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "jail"))

import agreement  # noqa: E402  (found only after the path is set)
import asking  # noqa: E402
import comparing  # noqa: E402
import limits  # noqa: E402
import world  # noqa: E402
from jail import SH, JailCase  # noqa: E402
from world import Request, Thing  # noqa: E402

NO_LIMITS = dict.fromkeys(("cpu_s", "wall_s", "mem_bytes", "pids", "fsize_bytes", "output_bytes"), 0)


def superuser_only(test):
    """Takes a test away from an ordinary user, who cannot set it up; the superuser runs it as well."""
    return test if os.geteuid() == 0 else None


def table(default, *entries, **more):
    """X[deny; +dir @/x, -file @/x/b] is table("deny", "+dir @/x", "-file @/x/b")."""
    made = {"default": default, "allow": [], "deny": [], "support": "system", "memfd": "noexec", "required": True}
    for entry in entries:
        kind, value = entry[1:].split(" ", 1)
        made["allow" if entry[0] == "+" else "deny"].append({"kind": kind, "value": value})
    return {**made, **more}


def policy(W=(), R=(), P=(), M=(), X=None, v=3):
    document = {
        "v": v,
        "writable_roots": list(W),
        "readable_roots": list(R),
        "protected": list(P),
        "network": {"mode": "full"},
        "limits": NO_LIMITS,
        "env_allow": [],
        "scratch": "tmpfs",
        "mounts": [{"path": path, "access": access, "required": True} for path, access in M],
    }
    if v == 3:
        document["exec"] = X
    return document


def tree(*specs):
    """ "d/", "f", "p*", "l -> t", "h = f", "m == d" (a bind mount), "s #! @/p"."""
    return tuple(thing_of(spec) for spec in specs)


def thing_of(spec):
    for mark, kind in ((" -> ", "link"), (" == ", "alias"), (" = ", "hard"), (" #! ", "script")):
        if mark in spec:
            path, text = spec.split(mark)
            return Thing(kind, path, text)
    if spec.endswith("/"):
        return Thing("dir", spec[:-1])
    return Thing("static", spec[:-1]) if spec.endswith("*") else Thing("data", spec, runs=False)


class BenchCase(unittest.TestCase):
    """A guard and a kernel that are asked about fixed trees."""

    @classmethod
    def setUpClass(cls):
        if os.environ.get("LOOM_SCRATCH_DIR"):
            raise unittest.SkipTest("inside a jail of our own kind: bubblewrap cannot start here")
        try:
            cls.bench = comparing.Bench(os.environ["LOOM_EXEC"], agreement.tools_in(None))
        except asking.CannotAsk as problem:
            raise unittest.SkipTest(str(problem)) from None
        cls.addClassCleanup(cls.bench.close)

    def results(self, things, document, *requests):
        case = world.Case(0, things, document, requests)
        results = self.bench.run(case)
        for result in results:
            self.assertEqual(result.problem, "", result)
        return results

    def assertLimit(self, number, things, document, differs, *agree):
        """The first request differs by that limit, the others do not differ."""
        first, *others = self.results(things, document, differs, *agree)
        self.assertIn(number, first.limits, first)
        self.assertNotEqual(first.said.admitted, first.outcome.worked)
        self.assertTrue(others, "a difference proves nothing without something that does not differ")
        for result in others:
            self.assertIn(result.kind, ("admit", "refuse"), result)
        return first, others


class MetAtRandomTest(BenchCase):
    def test_a_linker_is_support_and_no_program(self):
        # guard 7.1: L2
        X = table("deny", "+dir @/x")
        first, _ = self.assertLimit("L2", tree("x/", "x/p*"), policy(X=X), run(world.LINKER), run("@/x/p"))
        self.assertEqual(first.said.reason, "not_allowed")
        without = table("deny", "+dir @/x", support="none")
        (same, _) = self.results(tree("x/", "x/p*"), policy(X=without), run(world.LINKER), run("@/x/p"))
        self.assertEqual(same.kind, "refuse")

    def test_another_hard_link_admits_an_excluded_file(self):
        # guard 7.1: L5
        X = table("deny", "+dir @/x", "-file @/x/b")
        things = tree("x/", "x/b*", "x/h = x/b", "x/c*")
        self.assertLimit("L5", things, policy(X=X), run("@/x/b"), run("@/x/h"), run("@/x/c"))

    def test_the_linker_runs_what_it_can_read(self):
        # guard 7.1: L8
        X = table("deny", "+dir @/y")
        things = (*tree("x/", "y/"), Thing("dynamic", "x/p"), Thing("dynamic", "y/p"))
        by_linker = Request("execute", "@/x/p", through="linker")
        self.assertLimit("L8", things, policy(R=["@/x"], X=X), by_linker, run("@/x/p"), run("@/y/p"))
        (hidden,) = self.results(things, policy(X=X), by_linker)
        self.assertEqual(hidden.kind, "refuse")

    def test_a_bare_name_says_nothing_to_the_kernel_where_a_write_reaches(self):
        # guard 7.1: L9
        things = tree("x/", "x/sh*", "x/a*")
        X = table("deny", "+dir @/x", "-name sh")
        self.assertLimit("L9", things, policy(W=["@/x"], X=X), run("@/x/sh"), run("@/x/a"))
        (held,) = self.results(things, policy(X=X), run("@/x/sh"))
        self.assertEqual(held.kind, "refuse")

    def test_what_is_made_in_a_listed_directory_does_not_run(self):
        # guard 7.1: L10
        X = table("deny", "+dir @/x", "-file @/x/b")
        things = tree("x/", "x/b*", "x/s/", "x/a*")
        new = Request("plant", "@/x/new")
        self.assertLimit("L10", things, policy(W=["@/x"], X=X), new, Request("plant", "@/x/s/new"), run("@/x/a"))

    def test_nothing_in_the_scratch_runs_with_an_exclusion_in_it(self):
        # guard 7.1: L11; 9.6: 114, 115
        for denied, works in (("/usr/bin/id", True), ("/tmp/q", False)):
            X = table("allow", f"-file {denied}")
            planted, _ = self.results(tree("a"), policy(R=["@"], X=X), Request("plant", "/tmp/p"), read("@/a"))
            self.assertEqual(planted.said.reason, "not_a_host_object")
            self.assertEqual(planted.outcome.worked, works, denied)

    def test_another_spelling_is_excluded_for_the_guard_alone(self):
        # guard 7.1: L12
        things = tree("w/", "w/Secrets", "w/secrets", "w/Secretsx")
        document = policy(W=["@/w"], P=["@/w/Secrets"])
        self.assertLimit("L12", things, document, read("@/w/secrets"), read("@/w/Secrets"), read("@/w/Secretsx"))

    def test_an_absent_protected_path_is_a_directory_during_the_run(self):
        # guard 7.1: L13
        document = policy(W=["@/w"], P=["@/w/a/b"])
        made = Request("list", "@/w/a")
        same = (Request("create", "@/w/a"), Request("create", "@/w/b"))
        self.assertLimit("L13", tree("w/"), document, made, *same)
        self.assertFalse(os.path.exists(self.bench.place.real("@/w/a")))

    def test_a_directory_above_an_excluded_program_moves_with_it(self):
        # guard 7.1: L15
        X = table("allow", "-file @/w/a/t")
        things = tree("w/", "w/a/", "w/a/t*", "w/c/")
        moved = Request("rename", "@/w/a", "@/w/b")
        first, _ = self.assertLimit("L15", things, policy(W=["@/w"], X=X), moved, Request("rename", "@/w/c", "@/w/d"))
        self.assertEqual(first.said.reason, "would_move_excluded")

    def test_memory_files_run_unless_the_filter_closes_them(self):
        # guard 7.1: L17
        in_memory = Request("execute", "@/x/p", through="memory")
        things = tree("x/", "x/p*", "y/", "y/p*")
        X = table("deny", "+dir @/y", memfd="any")
        self.assertLimit("L17", things, policy(R=["@/x"], X=X), in_memory, run("@/x/p"), run("@/y/p"))
        closed = policy(R=["@/x"], X=table("deny", "+dir @/y"))
        results = self.results(things, closed, in_memory, run("@/y/p"))
        self.assertEqual([each.kind for each in results], ["refuse", "admit"])

    @superuser_only
    def test_the_hosts_own_mount_points_stay(self):
        # guard 7.1: L20
        things = tree("w/", "w/d/", "w/d/f", "w/m == w/d", "w/e/")
        across = Request("rename", "@/w/m/f", "@/w/g")
        self.assertLimit("L20", things, policy(W=["@/w"]), across, Request("remove", "@/w/e"))

    def test_permission_bits_refuse_on_their_own(self):
        # guard 7.1: L20
        things = tree("w/", "w/f", "w/g")
        self.bench.place.remake(things)
        os.chmod(self.bench.place.real("@/w/f"), 0)
        document = self.bench.policy(world.Case(0, things, policy(R=["@/w"]), ()))
        paths = [self.bench.place.real(path) for path in ("@/w/f", "@/w/g")]
        said = self.bench.guard.ask(document, [("read", path, "") for path in paths])
        tried = self.bench.kernel.ask(document, [("read", path, "") for path in paths])
        self.assertEqual([each.admitted for each in said], [True, True])
        self.assertEqual([each.worked for each in tried], [False, True])

    def test_a_relative_interpreter_is_refused_by_the_guard_alone(self):
        # guard 7.1: L23
        things = tree("x/", "x/i*", "x/s #! i", "x/t #! @/x/i")
        self.assertLimit("L23", things, policy(R=["@/x"]), run("@/x/s"), run("@/x/t"))

    @superuser_only
    def test_somebody_elses_link_in_a_shared_directory_is_followed_by_the_kernel_alone(self):
        # guard 7.1: L24
        things = (Thing("shared", "s"), *tree("f"), Thing("foreign", "s/l", "../f"), Thing("link", "s/own", "../f"))
        if limits.protects_links():
            kinds = [each.kind for each in self.results(things, policy(R=["@"]), read("@/s/l"), read("@/s/own"))]
            self.assertEqual(kinds, ["refuse", "admit"])
            return
        self.assertLimit("L24", things, policy(R=["@"]), read("@/s/l"), read("@/s/own"))

    def test_procfs_is_the_jails_own(self):
        # guard 7.1: L25
        things = tree("l -> /proc/self/status", "f")
        self.assertLimit("L25", things, policy(R=["@"]), read("/proc/self/status"), read("@/f"))
        self.assertLimit("L25", things, policy(R=["@"]), read("@/l"), read("@/f"))

    def test_scratch_and_devices_are_the_jails_own(self):
        # guard 7.1: L33
        document = policy(R=["@"])
        self.assertLimit("L33", tree("f"), document, read("/dev/zero"), read("/dev/null"), read("@/f"))
        self.assertLimit("L33", tree("f"), document, Request("create", "/tmp/loom"), Request("create", "@/new"))
        self.assertFalse(os.path.exists("/tmp/loom"))

    def test_the_guard_walks_what_the_jail_does_not_show(self):
        # guard 7.1: L34
        things = tree("w/", "w/f", "o/", "o/l -> ../w/f")
        first, _ = self.assertLimit("L34", things, policy(W=["@/w"]), read("@/o/l"), read("@/w/f"), read("@/o"))
        self.assertTrue(first.said.admitted)

    def test_the_guard_does_not_pass_what_it_excludes(self):
        # guard 7.1: L34
        things = tree("w/", "w/p/", "w/f")
        document = policy(W=["@/w"], P=["@/w/p"], v=2)
        self.assertLimit("L34", things, document, read("@/w/p/../f"), read("@/w/f"), read("@/w/p/x"))

    def test_nothing_is_moved_to_where_it_would_run(self):
        # guard 9.6: 110
        X = table("deny", "+dir @/w/ok")
        things = tree("w/", "w/ok/", "w/ok/p*", "w/n/", "w/n/p*", "w/m/")
        gain = Request("rename", "@/w/n/p", "@/w/ok/q")
        same = Request("rename", "@/w/n/p", "@/w/m/q")
        away = Request("rename", "@/w/ok/p", "@/w/m/q")
        self.assertLimit("L37", things, policy(W=["@/w"], X=X), gain, same, away)


    def test_a_protected_link_is_masked_where_it_leads(self):
        # guard 9.2: 33
        things = tree("w/", "w/key", "w/l -> key", "w/m -> key")
        document = policy(W=["@/w"], P=["@/w/l"])
        removed = Request("remove", "@/w/l")
        self.assertLimit("L38", things, document, removed, read("@/w/key"), Request("remove", "@/w/m"))


class NoDifferenceTest(BenchCase):
    """Limits by which nothing differs, but a reader may expect less or more."""

    def test_a_hard_link_inside_is_the_file_outside(self):
        # guard 7.1: L6
        things = tree("o/", "o/key", "w/", "w/h = o/key")
        document = policy(W=["@/w"], P=["@/o/key"])
        kinds = [each.kind for each in self.results(things, document, read("@/w/h"), read("@/o/key"))]
        self.assertEqual(kinds, ["admit", "refuse"])

    def test_what_may_be_written_and_run_is_written_and_run(self):
        # guard 7.1: L7
        X = table("deny", "+dir @/w")
        things = tree("w/", "o/", "o/p*")
        new, refused = self.results(things, policy(W=["@/w"], X=X), Request("plant", "@/w/p"), run("@/o/p"))
        self.assertEqual([new.kind, refused.kind], ["admit", "refuse"])


class MaskedRegionTest(BenchCase):
    """Regions that nothing can be seen of: the launch goes on, and they stay out of sight."""

    def test_a_region_inside_a_protected_directory_stays_masked(self):
        things = tree("p/", "p/r/", "p/r/f", "p/w/", "w/", "w/f")
        for version in (2, 3):
            document = policy(W=["@/p/w", "@/w"], R=["@/p/r"], P=["@/p"], v=version)
            requests = [read("@/p/r/f"), Request("create", "@/p/w/n"), read("@/w/f")]
            kinds = [each.kind for each in self.results(things, document, *requests)]
            self.assertEqual(kinds, ["refuse", "refuse", "admit"], version)

    def test_a_root_that_leads_into_procfs_shows_nothing(self):
        things = tree("l -> /proc/self/status", "w/", "w/f")
        (seen,) = self.results(things, policy(W=["@/w"], R=["@/l"]), read("@/w/f"))
        self.assertEqual(seen.kind, "admit")


    @superuser_only
    def test_a_part_of_a_protected_directory_is_masked_where_the_host_mounts_it_again(self):
        things = tree("p/", "p/part/", "p/part/f", "w/", "w/m == p/part", "w/f")
        document = policy(W=["@/w"], P=["@/p"])
        requests = [read("@/w/m/f"), Request("list", "@/w/m"), Request("create", "@/w/m/n"), read("@/w/f")]
        results = self.results(things, document, *requests)
        self.assertEqual([each.kind for each in results], ["refuse", "refuse", "refuse", "admit"])

    def test_a_mount_point_that_a_later_mount_covers_is_none(self):
        things = tree("w/", "w/m/", "w/n/")
        document = policy(W=["@/w/m"], M=[("@/w", "rw")])
        results = self.results(things, document, Request("remove", "@/w/m"), Request("remove", "@/w/n"))
        self.assertEqual([each.kind for each in results], ["admit", "admit"])
        # On a name of the host's it is one all the same, for the kernel.
        document = policy(W=["@/w/a"], R=["@/w/a/m"], M=[("@/w", "rw")])
        things = tree("w/", "w/a/", "w/a/m/", "w/a/n/")
        results = self.results(things, document, Request("remove", "@/w/a/m"), Request("remove", "@/w/a/n"))
        self.assertEqual([each.kind for each in results], ["refuse", "admit"])
        things = tree("w/", "w/m/", "w/n/")
        document = policy(W=["@/w/m", "@/w"])
        results = self.results(things, document, Request("remove", "@/w/m"), Request("remove", "@/w/n"))
        self.assertEqual([each.kind for each in results], ["refuse", "admit"])


class AloneTest(JailCase):
    """Limits about what only the kernel, or only a running command, can see."""

    def exec_policy(self, *entries, default="allow", memfd="noexec", **given):
        X = table(default, *[entry.replace("@", self.ws) for entry in entries], memfd=memfd)
        return self.policy(v=3, exec=X, **given)

    def test_a_program_reads_its_own_image(self):
        # guard 7.1: L4
        document = self.exec_policy("+file /bin/sh", "+file /usr/bin/cat", default="deny")
        script = 'cat </proc/self/exe >/dev/null && echo read; (exec /usr/bin/id) 2>/dev/null || echo refused'
        self.assertEqual(self.output(script, document).split(), ["read", "refused"])

    def test_a_helper_inside_has_the_kernels_rules_and_none_of_the_guards(self):
        # guard 7.1: L3
        helper = os.environ["LOOM_EXEC"]
        top = os.path.dirname(os.path.dirname(helper))
        installation = [os.path.join(top, part) for part in ("bin", "lib", "libexec")]
        self.program("ws", "t", text="#!/bin/sh\necho ran\n")
        self.program("ws", "u", text="#!/bin/sh\necho ran\n")
        inner = self.path("ws", "inner")
        with open(inner, "wb") as file:
            file.write(asking.client.pack(self.policy(v=3, exec=None)))
        # A sanitized build looks for leaks by ptrace, which is refused here.
        script = """export ASAN_OPTIONS=detect_leaks=0
        for p in t u; do
          "$1" why --policy "$2" execute "$3/$p" >&2 && echo admitted
          "$3/$p" || echo refused
        done"""
        # Its backend comes out of a memory file.
        document = self.exec_policy("-file @/t", memfd="any", readable_roots=installation)
        said = self.output(script, document, args=(helper, inner, self.ws)).split()
        self.assertEqual(said, ["admitted", "refused", "admitted", "ran"])

    def test_an_admitted_program_runs_with_any_words(self):
        # guard 7.1: L16
        document = self.exec_policy("+file /bin/sh", default="deny")
        self.assertEqual(self.output('sh -c "echo harm"; /usr/bin/id || echo refused', document), "harm\nrefused\n")

    def test_an_exclusion_that_a_link_leads_to_is_the_kernels_as_it_was_at_launch(self):
        # guard 7.1: L22
        for name in ("a", "b"):
            self.program("ws", name, text="#!/bin/sh\necho ran\n")
        link = self.link("a", "ws", "l")
        document = self.exec_policy("-file @/l")
        script = 'ln -sf b "$1/l"; "$1/a" || echo refused; "$1/b" || echo refused'
        self.assertEqual(self.output(script, document, args=(self.ws,)), "refused\nran\n")
        self.assertEqual(os.readlink(link), "b")
        message = self.refusal(document, [self.path("ws", "b")])
        self.assertTrue(message.startswith("excluded"), message)

    def test_processes_of_one_jail_signal_each_other(self):
        # guard 7.1: L27
        script = 'sleep 60 & kill $! && wait $!; echo $?; kill -0 "$1" 2>/dev/null || echo refused'
        self.assertEqual(self.output(script, args=(str(os.getpid()),)).split(), ["143", "refused"])

    def test_a_script_found_through_a_link_sees_its_real_path(self):
        # guard 7.1: L35
        real = self.program("ws", "real", text='#!/bin/sh\necho "$0"\n')
        link = self.link("real", "ws", "l")
        for version, name in ((3, real), (2, link)):
            document = self.policy(v=version, **({"exec": None} if version == 3 else {}))
            run = self.execute([link], document)
            self.assertEqual(bytes(run.stdout).decode(), f"{name}\n", version)

    @superuser_only
    def test_what_the_host_mounts_later_can_reach_a_shown_region(self):
        # guard 7.1: L36
        self.file("ws", "late", "before")
        self.file("out", "after")
        worker = 'touch "$1/up"; while ! test -e "$1/go"; do sleep 0.02; done; ls "$1/late"'
        for propagation, seen in (("--make-shared", "after\n"), ("--make-private", "before\n")):
            text = self.mounted_later(propagation, worker)
            self.assertEqual(text, seen, propagation)

    def mounted_later(self, propagation, worker):
        """What a command sees of a directory that the host mounts something onto meanwhile."""
        for name in ("up", "go"):
            if os.path.exists(self.path("ws", name)):
                os.unlink(self.path("ws", name))
        script = """
        mount --bind "$1" "$1" && mount "$2" "$1" || exit 9
        "$3" run --workspace "$1" --report=none -- /bin/sh -c "$4" sh "$1" & job=$!
        while ! test -e "$1/up"; do sleep 0.02; done
        mount --bind "$5" "$1/late" && touch "$1/go" && wait $job
        """
        words = [self.ws, propagation, os.environ["LOOM_EXEC"], worker, self.out]
        done = subprocess.run(
            ["unshare", "-m", "--propagation", "private", SH, "-c", script, "sh", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()


class FormatTest(JailCase):
    HANDLER = r"""
    mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit 9
    printf ':loomtest:M::LOOMTEST::%s:F' "$1" >/proc/sys/fs/binfmt_misc/register || exit 9
    "$2" run --policy "$4" --report=none --demand=best-effort -- /bin/sh -c '"$1"/odd; "$1"/plain' sh "$3"
    """

    @superuser_only
    def test_a_format_that_a_handler_runs_is_none_to_the_guard(self):
        # guard 7.1: L18
        self.program("ws", "odd", text="LOOMTEST\n")
        self.program("ws", "plain", text="#!/bin/sh\necho plain\n")
        document = self.path("policy")
        with open(document, "wb") as file:
            file.write(asking.client.pack(self.policy(v=3, exec=None)))
        words = [os.environ["LOOM_AGREEMENT_TINY"], os.environ["LOOM_EXEC"], self.ws, document]
        done = subprocess.run(
            ["unshare", "-r", "-m", SH, "-c", self.HANDLER, "sh", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        if done.returncode != 9:  # before Linux 6.7 a namespace has no handlers of its own
            self.assertEqual(done.stdout.decode().splitlines()[:2], ["ran", "plain"], done)
        message = self.refusal(self.policy(v=3, exec=None), [self.path("ws", "odd")])
        self.assertTrue(message.startswith("not_executable"), message)


def run(path):
    return Request("execute", path)


def read(path):
    return Request("read", path)


if __name__ == "__main__":
    unittest.main()
