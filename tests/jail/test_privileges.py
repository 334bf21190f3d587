"""What the command may ask of the kernel: capabilities, new privileges, sockets, calls, Landlock."""

import socket

from jail import *

CAPABILITY_ROWS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")
CAP_NET_BIND_SERVICE = 10

# argv: family names; prints for each what socket() and socketpair() answered.
SOCKETS = r"""
import errno, socket, sys
print("begin")
for name in sys.argv[1:]:
    family = int(name) if name.isdigit() else getattr(socket, name)
    kind = socket.SOCK_DGRAM if name in ("AF_NETLINK", "AF_PACKET") else socket.SOCK_STREAM
    kind = socket.SOCK_RAW if name in ("AF_NETLINK", "AF_PACKET") else kind
    answers = []
    for make in (socket.socket, socket.socketpair):
        try:
            make(family, kind)
            answers.append("made")
        except OSError as error:
            answers.append(errno.errorcode[error.errno])
    print(name, *answers)
"""

# argv: name=number:arg:arg…; the raw system call, its errno by name or "ok".
CALLS = r"""
import ctypes, errno, sys
libc = ctypes.CDLL(None, use_errno=True)
print("begin", flush=True)
for word in sys.argv[1:]:
    name, _, rest = word.partition("=")
    number, *args = (int(part, 0) for part in rest.split(":"))
    answer = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(arg) for arg in args))
    print(name, "ok" if answer >= 0 else errno.errorcode[ctypes.get_errno()], flush=True)
"""


def status_rows(text):
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


class PrivilegeCase(JailCase):
    def status(self, policy=None, flags=(), **how):
        run = self.execute(["/bin/cat", "/proc/self/status"], policy, flags, **how)
        self.assertEqual(run.code, 0, self.story(run))
        return status_rows(run.stdout.decode()), run

    def sockets(self, *families, policy=None):
        run = self.execute([PYTHON, "-ISc", SOCKETS, *families], policy)
        lines = run.stdout.decode().splitlines()
        self.assertEqual(lines[:1], ["begin"], self.story(run))
        return {line.split()[0]: tuple(line.split()[1:]) for line in lines[1:]}

    def calls(self, *words, policy=None):
        run = self.execute([PYTHON, "-ISc", CALLS, *words], policy)
        lines = run.stdout.decode().splitlines()
        self.assertEqual(lines[:1], ["begin"], self.story(run))
        return dict(line.split() for line in lines[1:]), run


class Capabilities(PrivilegeCase):
    def test_all_five_sets_are_empty(self):
        rows, run = self.status()
        self.assertEqual({row: int(rows[row], 16) for row in CAPABILITY_ROWS}, dict.fromkeys(CAPABILITY_ROWS, 0))
        self.assertIn("caps=none", run.enforcement)
        if os.getuid() == 0:  # the control: we ourselves have some
            with open("/proc/self/status", encoding="utf-8") as file:
                self.assertNotEqual(int(status_rows(file.read())["CapEff"], 16), 0)

    def test_the_superuser_of_the_jail_may_do_nothing_special(self):
        closed = self.directory("ws/closed")
        self.file("ws/closed/file")
        os.chmod(closed, 0)
        self.addCleanup(os.chmod, closed, 0o700)
        self.assertJail(
            self.policy(),
            cannot=[("read", closed + "/file"), ("list", closed)],
            can=[("create", self.path("ws/new"))],
        )
        script = (
            'mount -t tmpfs none "$1" || mount --bind / "$1" || unshare -m true || chroot / true || '
            'mknod "$1/d" c 1 3 || chown 12345 "$1/own" || echo none; chmod 600 "$1/own" && echo control'
        )
        self.file("ws/own")
        self.assertEqual(self.output(script, args=[self.ws]), "none\ncontrol\n")

    def test_a_kept_capability_is_held_and_the_others_are_not(self):
        if os.getuid() != 0:
            message_of = self.helper("--keep-caps", "CAP_NET_BIND_SERVICE")
            run = message_of.settle(message_of.start(["/bin/true"]))
            self.assertTrue(run.error or run.code == 126, "an ordinary user keeps what it never had")
            message_of.close()
            return
        rows, run = self.status(flags=["--keep-caps", "CAP_NET_BIND_SERVICE"])
        bit = 1 << CAP_NET_BIND_SERVICE
        self.assertEqual({row: int(rows[row], 16) for row in CAPABILITY_ROWS}, dict.fromkeys(CAPABILITY_ROWS, bit))
        self.assertIn("caps=CAP_NET_BIND_SERVICE", run.enforcement)
        self.assertNotIn("caps=none", run.enforcement)

    def test_what_is_not_held_or_not_known_cannot_be_kept(self):
        mark = self.path("ws/mark")
        for name in ("CAP_NO_SUCH", "CAP_SYS_MODULE", "63", ""):
            if name == "CAP_SYS_MODULE" and os.getuid() == 0:
                continue  # uid 0 may hold it
            with self.subTest(name=name), self.helper("--keep-caps", name, hello=False) as helper:
                hello = helper.receive()
                if hello is None:
                    self.assertIn(helper.wait_exit(), (1, 2))
                    continue
                helper.outcome = True
                helper.send("hello", {"proto": 3, "peer": "broker", "features": ["exec-outcome-v1"]})
                run = helper.settle(helper.start([SH, "-c", f"echo x >{mark}"]))
                if name == "":
                    self.assertIn("caps=none", run.enforcement)
                    os.unlink(mark)
                    continue
                self.assertTrue(run.error or run.code == 126, run.exit)
                self.assertFalse(os.path.exists(mark))

    def test_no_new_privileges_and_a_setuid_program_gains_nothing(self):
        rows, _ = self.status()
        self.assertEqual(rows["NoNewPrivs"], "1")
        self.assertEqual(rows["Seccomp"], "2")
        with open("/proc/self/status", encoding="utf-8") as file:
            self.assertEqual(status_rows(file.read())["NoNewPrivs"], "0")
        self.assertEqual(self.output("id -u").strip(), str(os.getuid()))

    def test_a_core_dump_is_not_written(self):
        # field B71
        self.assertEqual(self.output("ulimit -c").strip(), "0")
        run = self.execute([SH, "-c", "kill -SEGV $$"], cwd=self.ws)
        self.assertEqual(self.outcome(run)["class"], "signalled")
        self.assertEqual(os.listdir(self.ws), [])


class Sockets(PrivilegeCase):
    FAMILIES = ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_PACKET", "AF_UNIX")

    def test_with_the_network_cut_only_unix_sockets_are_made(self):
        # cases.md 134, 138; field B73
        for network in ({"mode": "off"}, {"mode": "proxy", "allow": [], "proxy": "x"}):
            made = self.sockets(*self.FAMILIES, policy=self.policy(network=network))
            self.assertEqual(made.pop("AF_UNIX"), ("made", "made"))
            self.assertEqual(made, dict.fromkeys(self.FAMILIES[:-1], ("EPERM", "EPERM")))

    def test_with_the_network_open_the_usual_families_are_made(self):
        # cases.md 138
        made = self.sockets(*self.FAMILIES, policy=self.policy(network={"mode": "full"}))
        for family in ("AF_INET", "AF_INET6", "AF_NETLINK", "AF_UNIX"):
            self.assertEqual(made[family][0], "made", family)
        self.assertEqual(made["AF_PACKET"][0], "EPERM")

    def test_rare_families_are_refused_even_with_the_network_open(self):
        # field B73
        rare = {"AF_ALG": 38, "AF_VSOCK": 40, "AF_XDP": 44, "AF_TIPC": 30}
        words = [f"{name}=41:{number}:3:0" for name, number in rare.items()]
        answers, _ = self.calls(*words, "AF_INET=41:2:1:0", policy=self.policy(network={"mode": "full"}))
        self.assertEqual(answers.pop("AF_INET"), "ok")
        self.assertEqual(answers, dict.fromkeys(rare, "EPERM"))

    def test_only_the_low_word_of_a_family_counts(self):
        # cases.md 134
        high = 1 << 32
        answers, _ = self.calls(
            f"unix=41:{1 + high}:1:0",
            f"pair={53}:{2 + high}:1:0:0",
            f"inet=41:{2 + high}:1:0",
            "plain_unix=41:1:1:0",
        )
        self.assertEqual(
            answers, {"unix": "ok", "plain_unix": "ok", "inet": "EPERM", "pair": "EPERM"}
        )

    def test_a_call_of_the_x32_table_kills_the_caller(self):
        # cases.md 134; field B72
        for number in (41, 0):
            run = self.execute([PYTHON, "-ISc", CALLS, f"x32={number | 1 << 30}:1:1:0"])
            self.assertEqual(bytes(run.stdout), b"begin\n", self.story(run))
            self.assertEqual(run.code, 128 + signal.SIGSYS, self.story(run))
        answers, _ = self.calls("getpid=39")
        self.assertEqual(answers, {"getpid": "ok"})

    def test_minus_one_is_no_call_and_kills_nobody(self):
        answers, _ = self.calls("none=-1:0", "getpid=39")
        self.assertEqual(answers, {"none": "ENOSYS", "getpid": "ok"})

    def test_a_listener_of_the_host_is_out_of_reach_unless_the_network_is_open(self):
        # field B87
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        port = listener.getsockname()[1]
        connect = f"import socket; print('begin'); socket.create_connection(('127.0.0.1', {port}), 5); print('in')"
        cut = self.execute([PYTHON, "-ISc", connect])
        self.assertEqual(bytes(cut.stdout), b"begin\n")
        opened = self.execute([PYTHON, "-ISc", connect], self.policy(network={"mode": "full"}))
        self.assertEqual(bytes(opened.stdout), b"begin\nin\n", self.story(opened))

    def test_an_abstract_socket_of_the_host_is_out_of_reach_and_one_of_the_jail_is_not(self):
        # field B74
        name = f"loom-{os.getpid()}"
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind("\0" + name)
        listener.listen()
        script = (
            "import socket\nprint('begin')\n"
            "own = socket.socket(socket.AF_UNIX); own.bind('\\0own'); own.listen()\n"
            f"for name in ('own', '{name}'):\n"
            " try: socket.socket(socket.AF_UNIX).connect('\\0' + name); print('in')\n"
            " except OSError: print('refused')\n"
        )
        for mode in ("off", "full"):  # with "full" only the scope of the rule set is between them
            run = self.execute([PYTHON, "-ISc", script], self.policy(network={"mode": mode}))
            self.assertEqual(bytes(run.stdout), b"begin\nin\nrefused\n", self.story(run))
            self.assertIn("scopes=abstract,signal", run.enforcement)

    def test_a_pathname_socket_that_the_view_shows_is_named_as_not_held(self):
        # field B75
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.path("out/socket"))
        listener.listen()
        script = "import socket,sys; print('begin'); socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('in')"
        argv = [PYTHON, "-ISc", script, self.path("out/socket")]
        run = self.execute(argv, self.policy(readable_roots=[self.out]))
        reached = b"in\n" in bytes(run.stdout)
        self.assertEqual(reached, "unheld:unix-path" in run.enforcement, self.story(run))
        hidden = self.execute(argv)
        self.assertEqual(bytes(hidden.stdout), b"begin\n")


class Landlock(PrivilegeCase):
    def test_the_rule_set_of_this_kernel_is_in_force(self):
        _, run = self.status()
        entry = [e for e in run.enforcement if e.startswith("landlock:abi=")]
        self.assertEqual(len(entry), 1, run.enforcement)
        self.assertGreaterEqual(int(entry[0].split("=")[1]), 1)

    def test_files_are_made_in_the_scratch_and_in_the_roots_and_nowhere_else(self):
        # cases.md 132, 139
        self.assertJail(
            self.policy(readable_roots=[self.out]),
            can=[("create", "/tmp/" + NEW), ("create", self.path("ws/new")), ("mkdir", self.path("ws/d"))],
            cannot=[("create", self.path("out/new")), ("create", "/etc/" + NEW), ("create", "/dev/" + NEW)],
        )
        self.assertFalse(os.path.exists(self.path("out/new")))
        self.assertTrue(os.path.exists(self.path("ws/new")))

    def test_renames_and_links_between_directories_of_a_root_work(self):
        # An older rule set without the right to refer would answer EXDEV.
        script = (
            'cd "$1"; mkdir a b; echo x >a/f; mv a/f b/f && ln b/f a/g && cat a/g; '
            "mkfifo p && ln -s b l && truncate -s 9 b/f && stat -c %s a/g"
        )
        self.assertEqual(self.output(script, args=[self.ws]), "x\n9\n")

    def test_a_process_of_the_host_cannot_be_signalled(self):
        outsider = subprocess.Popen(["/bin/sleep", "60"])
        self.addCleanup(outsider.wait)
        self.addCleanup(outsider.kill)
        script = 'sleep 60 & kill $! && echo own; kill -9 "$1" 2>/dev/null || echo stranger'
        self.assertEqual(self.output(script, args=[str(outsider.pid)]), "own\nstranger\n")
        self.assertIsNone(outsider.poll())

    def test_neither_the_helper_nor_the_jails_first_process_can_be_signalled(self):
        # guard 9.7: 142
        script = (
            "import errno, os, signal, sys\nprint('begin', flush=True)\n"
            "def kill(pid, number):\n"
            "    try: os.kill(pid, number); return 'sent'\n"
            "    except OSError as error: return errno.errorcode[error.errno]\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    signal.pause()\n"
            "print(kill(1, 9), kill(1, 15), kill(int(sys.argv[1]), 9), kill(child, 9), flush=True)\n"
            "os.waitpid(child, 0)\n"
        )
        for mode in ("off", "full"):
            with self.helper(base=self.policy(network={"mode": mode})) as helper:
                self.needs(helper, "bwrap", "landlock")
                run = self.settle(helper, helper.start([PYTHON, "-ISc", script, str(helper.pid)]))
                self.assertIn("scopes=abstract,signal", run.enforcement)
                self.assertEqual(bytes(run.stdout), b"begin\nEPERM EPERM ESRCH sent\n", self.story(run))
                helper.heartbeat()


if __name__ == "__main__":
    unittest.main()
