"""The judge's own walk (guard.md 2), by names: nobody else touches the tree meanwhile."""

import os
import stat
from dataclasses import dataclass, field

import names

MAX_LINKS = 40
MAX_PATH = 4095
MAX_COMPONENT = 255
MAX_PENDING = 65536
MAX_DEPTH = 256

RESOLVE, AS_NAMED, REFUSE_LINK = "resolve", "as named", "refuse link"


class Stopped(Exception):
    """The walk did not land."""

    def __init__(self, reason, route=()):
        super().__init__(reason)
        self.reason, self.route = reason, list(route)


@dataclass(frozen=True)
class Mount:
    point: str
    root: str  # what it shows, as a path in its file system
    device: str  # MAJOR:MINOR
    kind: str


@dataclass
class Landing:
    real: str
    kind: str  # absent, dir, file, link, other
    identity: tuple = None  # (device, inode)
    parent: tuple = None  # of the directory that holds the last name
    passed: list = field(default_factory=list)  # identities of directories, popped ones as well
    route: list = field(default_factory=list)  # real paths of all that was looked up, in order
    links: list = field(default_factory=list)  # real paths of links followed
    about: os.stat_result = None
    must_be_directory: bool = False

    @property
    def exists(self):
        return self.kind != "absent"


def unescaped(text):
    """A field of mountinfo."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def read_mounts():
    """The host's mounts as this process sees them, in the order in which they were made."""
    mounts = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as table:
        for line in table:
            words = line.split()
            kind = words[words.index("-") + 1]
            mounts.append(Mount(unescaped(words[4]), unescaped(words[3]), words[2], kind))
    return mounts


def mount_around(path, mounts):
    best = None
    for mount in mounts:
        if names.within(path, mount.point) and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def identity_of(path):
    """Of what has this name, links not followed; None where nothing has."""
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino


def kind_of(about):
    if stat.S_ISDIR(about.st_mode):
        return "dir"
    if stat.S_ISREG(about.st_mode):
        return "file"
    return "link" if stat.S_ISLNK(about.st_mode) else "other"


def split_request(path):
    """The components of a request's path, and whether a directory is due."""
    if not path or "\0" in path or len(os.fsencode(path)) > MAX_PATH or not path.startswith("/"):
        raise Stopped("bad_path")
    words = [word for word in path.split("/") if word]
    if any(len(os.fsencode(word)) > MAX_COMPONENT for word in words):
        raise Stopped("too_long")
    must = path.endswith("/") or path.endswith("/.")
    return [word for word in words if word != "."], must


class Walk:
    def __init__(self, mounts, euid):
        self.mounts, self.euid = mounts, euid
        self.stack = []
        self.passed = [identity_of("/")]
        self.route, self.links = [], []
        self.must = False

    def here(self):
        return names.joined(self.stack)

    def on_procfs(self, path):
        around = mount_around(path, self.mounts)
        return around is not None and around.kind == "proc"

    def check_link(self, place, about):
        """Whether a link may be followed at all (2.5, steps 2 to 4)."""
        directory = os.lstat(self.here())
        if self.on_procfs(self.here()):
            raise Stopped("magic_link")
        shared = directory.st_mode & stat.S_ISVTX and directory.st_mode & stat.S_IWOTH
        if shared and about.st_uid not in (self.euid, directory.st_uid):
            raise Stopped("link_untrusted")
        if len(self.links) >= MAX_LINKS:
            raise Stopped("too_many_links")
        self.links.append(place)

    def splice(self, place, about, pending):
        self.check_link(place, about)
        target = os.readlink(place)
        if not target:
            raise Stopped("missing")
        if not pending and (target.endswith("/") or target.endswith("/.")):
            self.must = True
        if target.startswith("/"):
            self.stack = []
        pending[:0] = [word for word in target.split("/") if word and word != "."]
        if sum(len(os.fsencode(word)) + 1 for word in pending) > MAX_PENDING:
            raise Stopped("too_many_links")

    def landing(self, real, kind, about):
        identity = (about.st_dev, about.st_ino) if about else None
        if self.on_procfs(real):
            raise Stopped("pseudo_fs")
        return Landing(
            real=real,
            kind=kind,
            identity=identity,
            parent=identity_of(names.parent(real)) if real != "/" else None,
            passed=self.passed,
            route=self.route,
            links=self.links,
            about=about,
            must_be_directory=self.must,
        )

    def look_up(self, place, last):
        try:
            return os.lstat(place)
        except FileNotFoundError:
            if last:
                return None
            raise Stopped("missing") from None
        except PermissionError:
            raise Stopped("search_denied") from None

    def run(self, path, mode):
        pending, self.must = split_request(path)
        while pending:
            word = pending.pop(0)
            if word == "..":
                del self.stack[-1:]
                continue
            place = names.joined([*self.stack, word])
            self.route.append(place)
            about = self.look_up(place, not pending)
            if about is None:
                return self.landing(place, "absent", None)
            kind = kind_of(about)
            if kind == "link":
                last = not pending and not self.must
                if last and mode == AS_NAMED:
                    return self.landing(place, "link", about)
                if last and mode == REFUSE_LINK:
                    raise Stopped("link_refused")
                self.splice(place, about, pending)
            elif kind == "dir":
                self.push(word, about)
            elif pending or self.must:
                raise Stopped("not_a_directory")
            else:
                return self.landing(place, kind, about)
        return self.landing(self.here(), "dir", os.lstat(self.here()))

    def push(self, word, about):
        if len(self.stack) >= MAX_DEPTH:
            raise Stopped("too_deep")
        self.stack.append(word)
        self.passed.append((about.st_dev, about.st_ino))


def walk(path, mode, mounts, euid):
    walking = Walk(mounts, euid)
    try:
        return walking.run(path, mode)
    except Stopped as stop:
        raise Stopped(stop.reason, walking.route) from None


@dataclass(frozen=True)
class Frozen:
    """A policy's path, walked once: the deepest existing directory, and what is not there."""

    written: str
    real: str
    kind: str  # absent, dir, file, link, other
    identity: tuple
    links: tuple


def freeze(written, mounts, euid, mode=RESOLVE):
    """Nothing refuses here. Where the walk stops, the rest of the text is appended."""
    pending = names.parts(names.clean(written))
    links = []
    stack = []
    while pending:
        word = pending.pop(0)
        if word == "..":
            del stack[-1:]
            continue
        if word == ".":
            continue
        place = names.joined([*stack, word])
        try:
            about = os.lstat(place)
        except OSError:
            about = None
        if about is None or (pending and kind_of(about) not in ("dir", "link")):
            return Frozen(written, names.clean(names.joined([*stack, word, *pending])), "absent", None, tuple(links))
        if kind_of(about) == "link" and (pending or mode == RESOLVE):
            probe = Walk(mounts, euid)
            probe.stack, probe.links = list(stack), list(links)
            try:
                probe.check_link(place, about)
            except Stopped:
                return Frozen(written, names.joined([*stack, word, *pending]), "absent", None, tuple(links))
            links.append(place)
            target = os.readlink(place)
            if target.startswith("/"):
                stack = []
            pending[:0] = names.parts(target)
            continue
        if pending:
            stack.append(word)
            continue
        return Frozen(written, place, kind_of(about), (about.st_dev, about.st_ino), tuple(links))
    here = names.joined(stack)
    return Frozen(written, here, "dir", identity_of(here), tuple(links))
