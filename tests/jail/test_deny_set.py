"""Every row of the system-call filter in a real jail, as `loom-exec plan --filter` prints it, and what
must go on beside it."""

import fcntl
import json
import re
import socket
import termios

from jail import *

# The kernel's own numbers, by call: x86-64 and the others' common table.
NUMBERS = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "fsopen": (430, 430),
    "fsmount": (432, 432),
    "fsconfig": (431, 431),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "clone": (56, 220),
    "setns": (308, 268),
    "clone3": (435, 435),
    "ioctl": (16, 29),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "getpid": (39, 172),
}
INTEL = os.uname().machine == "x86_64"

# Arguments with which a kernel that carries the call out does nothing, whoever asks.
ANY = 0xFFFFFFFF
HARMLESS = {
    "move_mount": (-1, 0, -1, 0, ANY),
    "open_tree": (-1, 0, ANY),
    "open_tree_attr": (-1, 0, ANY, 0, 0),
    "fsopen": (0, ANY),
    "fsmount": (-1, ANY, 0),
    "fsconfig": (-1, ANY, 0, 0, 0),
    "fspick": (-1, 0, ANY),
    "mount_setattr": (-1, 0, ANY, 0, 0),
    "setns": (-1, 0),
    "ioctl": (-1, 0, 0),
    "bpf": (-1, 0, 0),
    "perf_event_open": (0, 0, -1, -1, 0),
    "kexec_load": (0, 0, 0, ANY),
    "kexec_file_load": (-1, -1, 0, 0, ANY),
    "finit_module": (-1, 0, ANY),
    "swapon": (0, ANY),
    "keyctl": (0xFFFF, 0, 0, 0, 0),
    "userfaultfd": (ANY,),
    "open_by_handle_at": (-1, 0, 0),
    "io_uring_enter": (-1, 0, 0, ANY, 0, 0),
    "io_uring_register": (-1, ANY, 0, 0),
    "socket": (1, 1, 0),
    "socketpair": (1, 1, 0, 0),  # nowhere to put the ends
}
SIGCHLD = 17
ADMITTED = {"unshare": (0,), "clone": (SIGCHLD, 0, 0, 0, 0), "ioctl": (-1, 0x5413, 0)}
HIGH = (0, 1 << 32, 0xABCDEF << 40)

# argv[1]: JSON list of [number, arguments]; for each the errno by name, "ok", or the signal it ended by.
PROBER = r"""
import ctypes, errno, json, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def word(value):
    return ctypes.c_long((value + (1 << 63)) % (1 << 64) - (1 << 63))
def attempt(number, arguments):
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        me = os.getpid()
        answer = libc.syscall(word(number), *map(word, arguments))
        if os.getpid() != me:
            os._exit(0)  # what the call made is done
        os.write(into, ("ok" if answer >= 0 else errno.errorcode[ctypes.get_errno()]).encode())
        os._exit(0)
    os.close(into)
    said = b""
    while more := os.read(out, 99):
        said += more
    os.close(out)
    status = os.waitpid(child, 0)[1]
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else said.decode()
print("begin", flush=True)
print(json.dumps([attempt(*call) for call in json.loads(sys.argv[1])]))
"""

# What programs do all day, by the calls that the rows are about or that lie beside them.
ORDINARY = r"""
import ctypes, mmap, os, pty, select, socket, subprocess, sys, threading
print("begin", flush=True)
out, into = os.pipe()
poll = select.epoll()
poll.register(out, select.EPOLLIN)
os.write(into, b"x")
print("epoll", len(poll.poll(5)))
master, slave = os.openpty()
print("pty", os.isatty(slave), os.get_terminal_size(slave).columns >= 0)
child, end = pty.fork()
if child == 0:
    os.write(1, b"spoken"); os._exit(0)
print("pty.fork", os.read(end, 99).decode())
os.waitpid(child, 0)
seen = []
threads = [threading.Thread(target=seen.append, args=(i,)) for i in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("threads", len(seen))
print("spawn", subprocess.run(["/bin/echo", "child"], capture_output=True, text=True).stdout.strip())
memory = os.memfd_create("file")
os.truncate(memory, 4096)
print("memfd", len(mmap.mmap(memory, 4096)))
one, other = socket.socketpair()
one.send(b"pair")
print("socketpair", other.recv(9).decode())
"""
ORDINARY_ANSWERS = """\
epoll 1
pty True True
pty.fork spoken
threads 8
spawn child
memfd 4096
socketpair pair
"""

# argv: file for the answers. On descriptor 0, on /dev/tty and on a terminal of its own: what typing
# into it is answered, and what can then be read from that.
TYPING = r"""
import fcntl, os, pty, select, struct, sys, termios
TIOCSTI, TIOCLINUX, HIGH = 0x5412, 0x541C, 1 << 32
answers = open(sys.argv[1], "w")
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def type_into(fd, request, text):
    answer = libc.ioctl(fd, ctypes.c_ulong(request), ctypes.c_char_p(text))
    return "ok" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
def say(*words):
    print(*words, file=answers, flush=True)
say("begin")
def try_all(name, fd):
    for what, request, text in (("TIOCSTI", TIOCSTI, b"x"), ("high", TIOCSTI | HIGH, b"x"),
                                ("TIOCLINUX", TIOCLINUX, b"\3"), ("paste", TIOCLINUX | HIGH, b"\3")):
        say(name, what, type_into(fd, request, text))
try_all("stdin", 0)
try:
    try_all("tty", os.open("/dev/tty", os.O_RDWR))
except OSError as error:
    say("tty", "open", errno.errorcode[error.errno])
child, master = pty.fork()
if child == 0:
    settings = termios.tcgetattr(0)
    settings[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(0, termios.TCSANOW, settings)
    try_all("own", 0)
    try_all("owntty", os.open("/dev/tty", os.O_RDWR))
    say("size", len(fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8))))
    say("typed", os.read(0, 99).decode() if select.select([0], [], [], 0)[0] else "nothing")
    os._exit(0)
os.waitpid(child, 0)
"""
REQUESTS = ("TIOCSTI", "high", "TIOCLINUX", "paste")

# argv: paths of a stream, a datagram and a sequence socket of the host; what of AF_UNIX reaches them.
UNIX = r"""
import errno, socket, sys
print("begin", flush=True)
stream, datagram, sequence = sys.argv[1:]
def attempt(name, act):
    try:
        act()
        print(name, "done")
    except OSError as error:
        print(name, errno.errorcode[error.errno])
def connect(kind, path):
    made = socket.socket(socket.AF_UNIX, kind)
    made.connect(path)
    made.send(b"connected")
def send(kind, path):
    socket.socket(socket.AF_UNIX, kind).sendto(b"sent", path)
def send_from_pair(kind, path):
    socket.socketpair(socket.AF_UNIX, kind)[0].sendto(b"pair", path)
attempt("stream", lambda: connect(socket.SOCK_STREAM, stream))
attempt("sequence", lambda: connect(socket.SOCK_SEQPACKET, sequence))
attempt("datagram", lambda: send(socket.SOCK_DGRAM, datagram))
attempt("raw", lambda: send(socket.SOCK_RAW, datagram))
attempt("datagram pair", lambda: send_from_pair(socket.SOCK_DGRAM, datagram))
attempt("raw pair", lambda: send_from_pair(socket.SOCK_RAW, datagram))
attempt("own listener", lambda: socket.socket(socket.AF_UNIX).bind("/tmp/own"))
for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    one.send(b"pair")
    print("pair", kind.name, other.recv(9).decode())
"""
REACHING = ("stream", "sequence", "datagram", "raw", "datagram pair", "raw pair")

# argv: families. One ring of io_uring, and a socket of each family made by it: its errno, or "made".
RING = r"""
import ctypes, errno, mmap, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
SETUP, ENTER, OP_SOCKET, SQES = 425, 426, 45, 0x10000000
print("begin", flush=True)
parameters = ctypes.create_string_buffer(120)
ring = libc.syscall(ctypes.c_long(SETUP), ctypes.c_long(4), parameters)
if ring < 0:
    print("setup", errno.errorcode[ctypes.get_errno()])
    sys.exit()
print("setup ok")
submission = struct.unpack_from("=8I", parameters, 40)
completion = struct.unpack_from("=8I", parameters, 80)
size = max(submission[6] + 16, completion[5] + 16 * 8)
memory, entries = mmap.mmap(ring, size), mmap.mmap(ring, 64 * 4, offset=SQES)
for turn, family in enumerate(map(int, sys.argv[1:])):
    slot = turn % 4
    struct.pack_into("=BBHiQQIIQ24x", entries, 64 * slot, OP_SOCKET, 0, 0, family, 1, 0, 0, 0, 7)
    struct.pack_into("=I", memory, submission[6] + 4 * slot, slot)
    struct.pack_into("=I", memory, submission[1], turn + 1)
    libc.syscall(*map(ctypes.c_long, (ENTER, ring, 1, 1, 1, 0, 0)))
    result = struct.unpack_from("=Qi", memory, completion[5] + 16 * (turn % struct.unpack_from("=I", memory, completion[3])[0]))[1]
    print(family, "made" if result >= 0 else errno.errorcode[-result])
"""
AF_VSOCK, AF_UNIX, AF_INET = 40, 1, 2

# For each family and type: what socket() answers.
FAMILIES = r"""
import ctypes, errno, os, sys
if len(sys.argv) > 1:
    os.setgroups([])
    os.setresuid(*3 * [int(sys.argv[1])])
libc = ctypes.CDLL(None, use_errno=True)
print("begin", flush=True)
for family in range(46):
    answers = []
    for kind in (1, 2, 3, 5):
        made = libc.socket(family, kind, 0)
        answers.append("made" if made >= 0 else errno.errorcode[ctypes.get_errno()])
        if made >= 0:
            os.close(made)
    print(family, *answers)
"""
UNUSUAL = (17, 30, 38, 40, 44)

# A call of the 32-bit table by its gate, getpid, on a page of its own.
GATE = r"""
import ctypes, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
page = libc.mmap(None, 4096, 7, 0x62, -1, 0)
code = bytes.fromhex("b814000000" "cd80" "c3")  # mov eax, 20; int 0x80; ret
ctypes.memmove(page, code, len(code))
print("begin", flush=True)
print(ctypes.CFUNCTYPE(ctypes.c_int)(page)() > 0)
"""

NETWORKS = {
    "off": {"mode": "off"},
    "proxy": {"mode": "proxy", "allow": [], "proxy": "127.0.0.1:3128"},
    "full": {"mode": "full"},
}
DENY = ("--unix-sockets", "deny")


def number_of(call):
    return NUMBERS[call][0 if INTEL else 1]


class Row:
    """One row of the printed table."""

    def __init__(self, cells):
        self.id, self.answer, calls, self.condition, self.why = cells
        self.calls = calls.split()

    def refused_values(self):
        """(argument, value) pairs that the row names, and whether it refuses all but these."""
        found = re.fullmatch(r"arg(\d)( & \d+)? (has|is not|is) (.+)", self.condition)
        if not found:
            return []
        values = [int(number, 0) for number in re.findall(r"\((\w+)\)", found[4])]
        if found[3] == "is not":
            values = [value for value in (0, 2, 16, 17, 40, 0x80000001) if value not in values]
        return [(int(found[1]), value) for value in values]

    def refused_calls(self):
        """(call, arguments) of every way to be refused that the row describes."""
        for call in self.calls:
            base = list(HARMLESS.get(call, (0, 0, 0, 0, 0)))
            if self.condition == "any arguments":
                yield call, base
            for argument, value in self.refused_values():
                for high in HIGH:
                    yield call, base[:argument] + [value | high] + base[argument + 1 :]


def parse_table(text):
    """The rows, from what stands below the headings; a long cell goes on in the next line."""
    heading, *lines = text.splitlines()
    starts = [heading.index(word) for word in ("row", "answer", "system calls", "refused with", "why")]
    cells = []
    for line in lines:
        ends = starts[1:] + [len(line)]
        words = [line[start:end].strip() for start, end in zip(starts, ends)]
        if words[0]:
            cells.append(words)
        else:
            cells[-1] = [f"{old} {new}".strip() for old, new in zip(cells[-1], words)]
    return [Row(row) for row in cells]


class DenyCase(JailCase):
    printed = {}

    def plan_filter(self, *words):
        done = subprocess.run(
            [client.helper_path(), "plan", "--filter", *words],
            cwd=self.ws,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def rows(self, *words):
        if words not in self.printed:
            self.printed[words] = self.plan_filter(*words)
        return parse_table(self.printed[words])

    def inside(self, script, *args, network="off", flags=(), **how):
        """The lines that a script printed in a jail behind its first, and the run."""
        policy, argv = self.policy(network=NETWORKS[network]), [PYTHON, "-ISc", script, *args]
        run = self.without_bwrap(argv, policy) if "degraded" in how else self.execute(argv, policy, flags, **how)
        lines = run.stdout.decode().splitlines()
        self.assertEqual(lines[:1], ["begin"], self.story(run))
        return lines[1:], run

    def without_bwrap(self, argv, policy):
        with self.helper(base=policy, env={**os.environ, "PATH": self.directory("nothing")}) as helper:
            self.needs(helper, "degraded", "seccomp")
            return self.settle(helper, helper.start(argv))

    @staticmethod
    def outside(script, *args, **how):
        done = subprocess.run([PYTHON, "-ISc", script, *args], capture_output=True, text=True, timeout=LIMIT, **how)
        return done.stdout.splitlines()[1:]

    def probe_calls(self, calls, **how):
        words = json.dumps([[number_of(call), list(arguments)] for call, arguments in calls])
        lines, run = self.inside(PROBER, words, **how)
        answers = json.loads(lines[0])
        self.assertEqual(len(answers), len(calls))
        return answers, run


class Table(DenyCase):
    # guard 5.5, 9.7: 138, 139, 141; field B72, B80, B81
    def test_every_row_refuses_what_it_names_in_every_network_mode(self):
        for network in NETWORKS:
            for flags in ((), DENY):
                words = () if network == "proxy" else ("--network", network)  # a plan has "off" by itself
                with self.subTest(network=network, flags=flags):
                    self.check_rows(self.rows(*words, *flags), network, flags)

    def check_rows(self, rows, network, flags, **how):
        due, calls = [], []
        for row in rows:
            for call, arguments in row.refused_calls():
                calls.append((call, arguments))
                due.append((row.id, call, arguments, row.answer))
        controls = [("getpid", ()), *ADMITTED.items()]
        answers, run = self.probe_calls(calls + controls, network=network, flags=flags, **how)
        wrong = [(*row, answer) for row, answer in zip(due, answers) if row[3] != answer]
        self.assertEqual(wrong, [])
        self.assertGreater(len(due), 45)
        self.assertEqual(answers[len(due) :], ["ok", "ok", "ok", "EBADF"], "what no row names is carried out")
        self.assertIn("seccomp-deny", run.enforcement)
        self.assertFalse([entry for entry in run.enforcement if entry.startswith("unheld:seccomp-deny")])

    # guard 5.5
    def test_the_kernel_alone_would_answer_otherwise(self):
        calls = [(row, call, arguments) for row in self.rows() for call, arguments in row.refused_calls()]
        words = json.dumps([[number_of(call), list(arguments)] for _, call, arguments in calls])
        answers = json.loads(self.outside(PROBER, words)[0])
        same = {}
        for (row, call, _), answer in zip(calls, answers):
            same.setdefault(row.id, []).append(answer == row.answer)
        # Without privilege the kernel says EPERM itself to much of it.
        unseen = {row for row, equal in same.items() if all(equal)}
        self.assertLessEqual(unseen, set() if os.getuid() == 0 else {"S9", "S10", "S13"})

    # design D24
    def test_without_bubblewrap_the_rows_are_the_same(self):
        for network in ("off", "full"):
            self.check_rows(self.rows("--network", network), network, (), degraded=True)

    def test_the_printed_table_has_a_reason_in_every_row_and_only_numbers_that_are_known(self):
        for words in ((), ("--network", "full"), DENY, ("--network", "full", *DENY)):
            for row in self.rows(*words):
                self.assertGreater(len(row.why), 15, row.id)
                self.assertIn(row.answer, ("EPERM", "ENOSYS", "kill"))
                self.assertLessEqual(set(row.calls) - {"every", "call"}, set(NUMBERS), row.id)
                if row.id != "S16":
                    self.assertTrue(list(row.refused_calls()), row.id)

    def test_the_table_depends_on_the_network_and_on_unix_sockets_only(self):
        def ids(*words):
            return {row.id for row in self.rows(*words)}

        always = {"S1", "S2", "S3", "S4", "S5", "S6", "S8", "S9", "S10", "S11", "S12", "S13", "S16"}
        self.assertEqual(ids(), always | {"S14", "N1"})
        self.assertEqual(ids("--network", "full"), always | {"N2"})
        self.assertEqual(ids(*DENY), always | {"S14", "N1", "N3", "N4"})
        self.assertEqual(ids("--network", "full", *DENY), always | {"S14", "N2", "N3", "N4"})
        self.assertEqual(self.plan_filter("--", "some", "command"), self.plan_filter())

    def test_a_backend_without_a_filter_says_so(self):
        self.assertIn("no system call would be refused: ", self.plan_filter("--backend", "unsupported"))


class Ordinary(DenyCase):
    # field B72, B76
    def test_what_programs_do_all_day_goes_on(self):
        for network in NETWORKS:
            for flags in ((), DENY):
                with self.subTest(network=network, flags=flags):
                    lines, run = self.inside(ORDINARY, network=network, flags=flags)
                    self.assertEqual("".join(line + "\n" for line in lines), ORDINARY_ANSWERS, self.story(run))

    # guard 9.7: 140; field B72
    def test_foreign_numbers_kill_and_minus_one_does_not(self):
        getpid = number_of("getpid")
        for network in ("off", "full"):
            lines, _ = self.inside(PROBER, json.dumps([[-1, [0]], [getpid, []]]), network=network)
            self.assertEqual(json.loads(lines[0]), ["ENOSYS", "ok"])
            if not INTEL:
                continue  # x86-64 alone has tables beside its own
            numbers = (0, 16, 39, 41, 56, 520)
            words = json.dumps([*([number | 1 << 30, [0]] for number in numbers), [getpid, []]])
            lines, _ = self.inside(PROBER, words, network=network)
            self.assertEqual(json.loads(lines[0]), ["SIGSYS"] * len(numbers) + ["ok"])
            gate, run = self.inside(GATE, network=network)
            # A kernel without that table faults the instruction.
            due = signal.SIGSYS if self.outside(GATE) == ["True"] else signal.SIGSEGV
            self.assertEqual((gate, run.code), ([], 128 + due), self.story(run))

    # guard 9.7: 138; field B81
    def test_unshare_makes_no_user_namespace_and_says_why(self):
        script = "for how in -U -Ur -Urm -n -m -p; do unshare $how true 2>&1 || echo refused; done; unshare true && echo plain"
        for network in NETWORKS:
            said = self.output(script, self.policy(network=NETWORKS[network]))
            self.assertEqual(said.count("refused\n"), 6, said)
            self.assertEqual(said.count("Operation not permitted"), 6, said)
            self.assertTrue(said.endswith("plain\n"), said)


class Terminals(DenyCase):
    def answers(self, path):
        lines = [line.rsplit(" ", 1) for line in self.text(path).splitlines()]
        self.assertEqual(lines[0], ["begin"])
        return dict(lines[1:])

    # guard 9.7: 139; field B60
    def test_nothing_is_typed_into_a_terminal_of_the_jails_own(self):
        for network in ("off", "full"):
            run = self.execute(
                [PYTHON, "-ISc", TYPING, self.path("ws/said")], self.policy(network=NETWORKS[network])
            )
            said = self.answers(self.path("ws/said"))
            self.assertEqual(run.code, 0, self.story(run))
            for place in ("own", "owntty"):
                for request in REQUESTS:
                    self.assertEqual(said[f"{place} {request}"], "EPERM", said)
            self.assertEqual((said["size"], said["typed"]), ("8", "nothing"), said)

    def test_outside_the_same_program_types_where_the_system_lets_it(self):
        subprocess.run([PYTHON, "-ISc", TYPING, self.path("out/said")], check=True, timeout=LIMIT)
        said = self.answers(self.path("out/said"))
        try:
            legacy = self.text("/proc/sys/dev/tty/legacy_tiocsti").strip() == "1"
        except FileNotFoundError:
            legacy = True  # before Linux 6.2 nobody asks
        if legacy:
            self.assertEqual((said["own TIOCSTI"], said["typed"]), ("ok", "xxxx"), said)
        self.assertNotEqual(said["own TIOCLINUX"], "EPERM", said)

    # field B60
    def test_the_callers_terminal_gets_nothing_typed(self):
        master, slave = os.openpty()
        self.addCleanup(os.close, master)
        done = subprocess.run(
            [client.helper_path(), "run", "--", PYTHON, "-ISc", TYPING, self.path("ws/said")],
            cwd=self.ws,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            timeout=LIMIT,
        )
        self.assertEqual(done.returncode, 0, os.read(master, 4096))
        said = self.answers(self.path("ws/said"))
        for request in REQUESTS:
            self.assertEqual(said[f"stdin {request}"], "EPERM", said)
        self.assertEqual(said.get("tty open"), "ENXIO", "the command has no terminal")
        os.set_blocking(slave, False)
        with self.assertRaises(BlockingIOError):
            os.read(slave, 99)
        os.close(slave)


class Families(DenyCase):
    def golden(self, lines):
        return {int(line.split()[0]): line.split()[1:] for line in lines}

    # field B73
    def test_every_family_and_type_answers_as_the_mode_says(self):
        for network in ("off", "proxy"):
            lines, _ = self.inside(FAMILIES, network=network)
            due = {family: ["EPERM"] * 4 for family in range(46)}
            due[AF_UNIX] = ["made"] * 4
            self.assertEqual(self.golden(lines), due, network)

    # field B73
    def test_with_the_network_open_five_families_are_refused_and_the_rest_is_the_kernels(self):
        lines, _ = self.inside(FAMILIES, network="full")
        words = [str(NOBODY)] if os.getuid() == 0 else []  # who has no capabilities outside either
        due = self.golden(self.outside(FAMILIES, *words))
        self.assertEqual(due[AF_INET][:2], ["made", "made"])
        for family in UNUSUAL:
            due[family] = ["EPERM"] * 4
        self.assertEqual(self.golden(lines), due)

    def test_without_unix_sockets_the_other_families_stay_as_they_were(self):
        lines, _ = self.inside(FAMILIES, network="off", flags=DENY)
        self.assertEqual(self.golden(lines), {family: ["EPERM"] * 4 for family in range(46)})
        plain, _ = self.inside(FAMILIES, network="full")
        denied, _ = self.inside(FAMILIES, network="full", flags=DENY)
        due = self.golden(plain)
        self.assertEqual(due[AF_UNIX], ["made"] * 4)
        due[AF_UNIX] = ["EPERM"] * 4
        self.assertEqual(self.golden(denied), due)


NOBODY = 65534


class UnixSockets(DenyCase):
    def listeners(self):
        """A stream, a datagram and a sequence socket of the host in a directory that can be read."""
        kinds = {"stream": socket.SOCK_STREAM, "datagram": socket.SOCK_DGRAM, "sequence": socket.SOCK_SEQPACKET}
        made = {}
        for name, kind in kinds.items():
            made[name] = socket.socket(socket.AF_UNIX, kind)
            self.addCleanup(made[name].close)
            made[name].bind(self.path("out", name))
            os.chmod(self.path("out", name), 0o777)
            made[name].setblocking(False)
            if name != "datagram":
                made[name].listen()
        return made

    def arrived(self, listeners):
        """What came to the host's sockets."""
        found = []
        for name, made in listeners.items():
            try:
                while True:
                    found.append((name, made.recv(99) if name == "datagram" else made.accept()[0].recv(99)))
            except BlockingIOError:
                pass
        return found

    def reach(self, network, flags):
        listeners = self.listeners()
        paths = [self.path("out", name) for name in listeners]
        policy = self.policy(network=NETWORKS[network], readable_roots=[self.out])
        run = self.execute([PYTHON, "-ISc", UNIX, *paths], policy, flags)
        lines = run.stdout.decode().splitlines()
        self.assertEqual(lines[:1], ["begin"], self.story(run))
        answers = dict(line.rsplit(" ", 1) for line in lines[1:])
        self.assertEqual(answers["pair SOCK_STREAM"], "pair", answers)
        self.assertEqual(answers["pair SOCK_SEQPACKET"], "pair", answers)
        found = self.arrived(listeners)
        for name, made in listeners.items():
            made.close()
            os.unlink(self.path("out", name))
        return answers, found, run

    # field B75
    def test_sockets_that_the_view_shows_are_reached_and_that_is_said(self):
        for network in ("off", "full"):
            answers, found, run = self.reach(network, ())
            self.assertEqual({answers[way] for way in REACHING}, {"done"}, answers)
            self.assertEqual(len(found), len(REACHING), found)
            self.assertIn("unheld:unix-path", run.enforcement)
            self.assertNotIn("unix-sockets=denied", run.enforcement)

    # field B75; design D26
    def test_denied_none_of_them_is_reached_by_any_kind_and_that_is_claimed(self):
        for network in NETWORKS:
            answers, found, run = self.reach(network, DENY)
            self.assertEqual({answers[way] for way in (*REACHING, "own listener")}, {"EPERM"}, answers)
            self.assertEqual(found, [])
            self.assertIn("unix-sockets=denied", run.enforcement)
            self.assertNotIn("unheld:unix-path", run.enforcement)
            self.assertIn("seccomp-deny", run.enforcement)

    # field B76
    def test_denied_loops_and_pipes_between_processes_go_on(self):
        script = (
            "import asyncio, multiprocessing\n"
            "print('begin', flush=True)\n"
            "async def main():\n"
            "    made = await asyncio.create_subprocess_exec('/bin/echo', 'child', stdout=-1)\n"
            "    print((await made.communicate())[0].decode().strip())\n"
            "asyncio.run(main())\n"
            "one, other = multiprocessing.Pipe()\n"
            "process = multiprocessing.get_context('fork').Process(target=lambda: other.send('sent'))\n"
            "process.start(); process.join(); print(one.recv())\n"
        )
        for flags in ((), DENY):
            lines, run = self.inside(script, flags=flags)
            self.assertEqual(lines, ["child", "sent"], self.story(run))

    # field B72
    def test_a_ring_makes_sockets_past_the_rows_so_it_goes_where_sockets_are_denied(self):
        words = [str(family) for family in (AF_UNIX, AF_VSOCK)]
        for network, flags in (("off", ()), ("proxy", ()), ("off", DENY), ("full", DENY)):
            lines, _ = self.inside(RING, *words, network=network, flags=flags)
            self.assertEqual(lines, ["setup ENOSYS"], (network, flags))
        # The limit of docs/jail.md 10: with the network open a ring is admitted, and what it makes.
        lines, _ = self.inside(RING, *words, network="full")
        self.assertEqual(lines, self.outside(RING, *words))

    def test_a_person_can_deny_them_too_and_the_word_is_checked_everywhere(self):
        run = self.person("--unix-sockets", "deny", "--", PYTHON, "-c", "import socket; socket.socket(socket.AF_UNIX)")
        self.assertEqual(run.status, 1, run)
        self.assertIn(b"PermissionError", run.stderr)
        self.assertIn("unix-sockets=denied", run.enforcement)
        allowed = self.person("--unix-sockets", "allow", "--", PYTHON, "-c", "import socket; socket.socket(socket.AF_UNIX)")
        self.assertEqual(allowed.status, 0, allowed)
        self.assertIn("unheld:unix-path", allowed.enforcement)
        for words in (["run", "--unix-sockets", "some", "--", "true"], ["--unix-sockets", "some"], ["--unix-sockets"]):
            done = subprocess.run([client.helper_path(), *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (2, b""), done)
            self.assertIn(b"--unix-sockets", done.stderr)


if __name__ == "__main__":
    unittest.main()
