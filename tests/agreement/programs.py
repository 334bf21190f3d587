"""Which program a request would start, and whether it may: the judge's reading of guard.md 3."""

import os
import platform
import struct

import names
import viewing
import walking
from answers import Refused
from rules import subject_of
from walking import RESOLVE, Stopped

BUFFER = 256
MAX_SCRIPTS = 5
MACHINES = {"x86_64": 62, "aarch64": 183}
LINKER_PLACES = "/lib /lib64 /lib32 /usr/lib /usr/lib64 /usr/lib32".split()
PT_INTERP = 3


def first_bytes(path):
    with open(path, "rb") as file:
        return file.read(BUFFER)


def interpreter_of(head):
    """What a script's first line names; None where the kernel finds no script."""
    line = head[2:].ljust(BUFFER - 2, b"\0")
    end = line.find(b"\n")
    if end < 0:
        rest = line.lstrip(b" \t")
        if not any(byte in rest for byte in b" \t\0"):
            return None
    else:
        line = line[:end]
    line = line.lstrip(b" \t")
    for mark in (b"\0", b" ", b"\t"):
        line = line.split(mark)[0]
    return os.fsdecode(line) if line else None


def linker_of(path):
    """The program's PT_INTERP; None for a static one. ValueError: no program of this machine."""
    with open(path, "rb") as file:
        head = file.read(64)
        if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
            raise ValueError
        kind, machine = struct.unpack_from("<HH", head, 16)
        if kind not in (2, 3) or machine != MACHINES.get(platform.machine()):
            raise ValueError
        (offset,) = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        for i in range(count):
            file.seek(offset + i * size)
            row = file.read(size)
            if struct.unpack_from("<I", row)[0] == PT_INTERP:
                at, length = struct.unpack_from("<Q", row, 8)[0], struct.unpack_from("<Q", row, 32)[0]
                file.seek(at)
                return os.fsdecode(file.read(length).rstrip(b"\0"))
    return None


def is_linker_name(name):
    return name.startswith("ld") and ".so" in name


def system_linkers():
    """Real paths of the host's dynamic linkers (3.7)."""
    found = set()
    for place in LINKER_PLACES:
        deeper = []
        if place in ("/lib", "/usr/lib") and os.path.isdir(place):
            deeper = [f"{place}/{name}" for name in os.listdir(place)]
        for directory in [place, *deeper]:
            if os.path.isdir(directory):
                paths = [f"{directory}/{name}" for name in os.listdir(directory) if is_linker_name(name)]
                found |= {os.path.realpath(path) for path in paths if os.path.isfile(path)}
    return found


LINKERS = system_linkers()


class Programs:
    def __init__(self, judge):
        self.judge = judge
        # Of the last question: every real path that was looked up, and the file that would run.
        self.route, self.located = [], None

    def refuse(self, reason, landing=None, against=(), needed="", stopped=""):
        raise Refused(reason, landing, against, needed, stopped)

    def land(self, path, missing, always=False):
        """Where a path leads; `missing` is said when nothing is there, or always."""
        try:
            landing = walking.walk(path, RESOLVE, self.judge.mounts, self.judge.euid)
        except Stopped as stop:
            known = ("missing", "not_a_directory")
            self.route += stop.route
            reason = missing if always or stop.reason in known else stop.reason
            return self.refuse(reason, stopped=stop.reason)
        self.route += landing.route
        return landing

    def locate(self, path):
        """The file that would run (3.3). What it is comes before what is said about it."""
        landing = self.land(path, "not_found")
        if not landing.exists:
            self.refuse("not_found", landing)
        if landing.kind != "file" or not os.access(landing.real, os.X_OK, effective_ids=True):
            self.refuse("not_executable", landing)
        head = first_bytes(landing.real)
        if head[:2] == b"#!":
            if interpreter_of(head) is None:
                self.refuse("not_executable", landing)
            return landing
        try:
            linker_of(landing.real)
        except ValueError:
            self.refuse("not_executable", landing)
        return landing

    def admit(self, path):
        self.route, self.located = [], None
        landing = self.located = self.locate(path)
        self.judge.check_files("execute", landing)
        speaks, against = self.judge.table.evidence(subject_of(landing))
        if against:
            self.refuse("excluded_over_allowance" if speaks else "excluded", landing, against)
        if not speaks:
            self.refuse("not_allowed", landing)
        self.check_chain(landing)
        return landing

    def check_chain(self, landing):
        """The interpreters of a script, one after the other, and the linker of the last one."""
        program = landing
        for hop in range(MAX_SCRIPTS + 1):
            head = first_bytes(program.real)
            if head[:2] != b"#!":
                return self.check_linker(program)
            if hop == MAX_SCRIPTS:
                break
            written = interpreter_of(head)
            if written is None:
                self.refuse("interpreter_not_admitted", landing, needed=program.real)
            if not written.startswith("/"):
                self.refuse("interpreter_relative", landing, needed=written)
            interpreter = self.land(written, "interpreter_not_admitted", always=True)
            if not interpreter.exists:
                self.refuse("interpreter_not_admitted", landing, needed=written)
            self.check_support(landing, interpreter, "interpreter_not_admitted", self.is_authored(program))
            if interpreter.kind != "file" or not os.access(interpreter.real, os.X_OK, effective_ids=True):
                self.refuse("interpreter_not_admitted", landing, needed=interpreter.real)
            program = interpreter
        return self.refuse("too_many_interpreters", landing)

    def check_support(self, landing, file, reason, may_support):
        """One file that is needed besides (3.6, steps 1 to 4)."""
        against = self.judge.excluded_by(file)
        speaks, excluded = self.judge.table.evidence(subject_of(file))
        if against or excluded:
            self.refuse("support_excluded", landing, [*against, *excluded], file.real)
        if not self.judge.view.shows(file.real):
            self.refuse(reason, landing, needed=file.real)
        if not speaks and not (self.judge.support and may_support and self.is_authored(file)):
            self.refuse(reason, landing, needed=file.real)

    def check_linker(self, program):
        try:
            written = linker_of(program.real)
        except ValueError:
            return self.refuse("interpreter_not_admitted", program)
        if written is None:
            return None
        linker = self.land(written, "linker_not_admitted", always=True)
        if linker.kind != "file":
            self.refuse("linker_not_admitted", program, needed=written)
        known = linker.real in LINKERS or self.is_authored(program)
        against = self.judge.excluded_by(linker)
        speaks, excluded = self.judge.table.evidence(subject_of(linker))
        if against or excluded:
            self.refuse("support_excluded", program, [*against, *excluded], linker.real)
        supported = self.judge.support and known
        if not self.judge.view.shows(linker.real) or not (speaks or supported):
            self.refuse("linker_not_admitted", program, needed=linker.real)
        return None

    def is_authored(self, landing):
        """System-authored (3.6; chapter 0, ruling 6)."""
        if self.judge.payload_writes(landing):
            return False
        if self.judge.euid == 0:
            return any(names.within(landing.real, root) for root in viewing.SYSTEM_ROOTS)
        for path in [landing.real, *names.ancestors(landing.real)]:
            about = os.stat(path)
            if about.st_uid == self.judge.euid or os.access(path, os.W_OK, effective_ids=True):
                return False
        return all(os.lstat(link).st_uid != self.judge.euid for link in landing.links)
