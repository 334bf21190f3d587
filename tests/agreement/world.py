"""Random trees, policies and requests (guard.md 7.2), and how a tree is made and taken away.

Everything is named relative to the tree: "@" stands for its root wherever a path may stand, so that a
case is the same wherever it is replayed.
"""

import ctypes
import os
import random
import shlex
import shutil
from dataclasses import dataclass, replace

import walking

LINKER = "ld"  # stands for the machine's own, wherever it lies
NAMES = ("a", "A", "b", "\u00e9", "e\u0301", "\u00df", "ss", "bin", "sh")
MAX_OBJECTS = 40
STRANGER = 65534  # a user who is nobody's

MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 1 << 18
MNT_DETACH = 2
CLONE_NEWNS = 0x20000
libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Thing:
    """One object of a tree. `text` is a link's target, a script's first line, or the thing that a
    further name or a mount shows."""

    kind: str  # dir, shared, static, dynamic, script, data, link, foreign, hard, alias
    path: str  # below the root: "a/b"
    text: str = ""
    runs: bool = True  # has the mode of a program


@dataclass(frozen=True)
class Request:
    operation: str  # read, list, write, create, remove, rename, execute, plant
    path: str
    to: str = ""
    through: str = ""  # execute: linker or memory, when not by its name

    @property
    def changes(self):
        return self.operation in ("create", "remove", "rename", "plant")


def check(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def own_mounts():
    """A mount namespace for this process, so that the host never sees an alias. Whether it got one."""
    if os.geteuid() != 0 or libc.unshare(CLONE_NEWNS) != 0:
        return False
    return libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0


class Place:
    """Where trees are made: a directory with the tools beside the tree's root."""

    def __init__(self, directory, tiny, tiny_dynamic, linker):
        self.linker = linker
        self.directory = directory
        self.root = os.path.join(directory, "w")
        with open(tiny, "rb") as file:
            self.static = file.read()
        with open(tiny_dynamic, "rb") as file:
            self.dynamic = file.read()
        self.mounted = False

    def real(self, path):
        if path == LINKER:
            return self.linker
        return self.root + path[1:] if path.startswith("@") else path

    def at(self, thing):
        return os.path.join(self.root, thing.path)

    def make(self, things):
        os.mkdir(self.root)
        os.chmod(self.root, 0o755)
        for thing in things:
            self.make_thing(thing)

    def make_thing(self, thing):
        path = self.at(thing)
        if thing.kind in ("dir", "shared"):
            os.mkdir(path)
            os.chmod(path, 0o1777 if thing.kind == "shared" else 0o755)
        elif thing.kind in ("link", "foreign"):
            os.symlink(self.real(thing.text), path)
            if thing.kind == "foreign" and os.geteuid() == 0:
                os.lchown(path, STRANGER, STRANGER)
        elif thing.kind == "hard":
            os.link(os.path.join(self.root, thing.text), path, follow_symlinks=False)
        elif thing.kind == "alias":
            os.mkdir(path)
            source = os.path.join(self.root, thing.text)
            check(libc.mount(os.fsencode(source), os.fsencode(path), None, MS_BIND, None), f"mount {path}")
            self.mounted = True
        else:
            self.write(path, self.content(thing), thing.runs)

    def content(self, thing):
        if thing.kind == "static":
            return self.static
        if thing.kind == "dynamic":
            return self.dynamic
        if thing.kind == "script":
            interpreter = self.real(thing.text)
            return f"#!{interpreter}\necho ran\n".encode("utf-8", "surrogateescape")
        return b"data\n"

    @staticmethod
    def write(path, content, runs):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755 if runs else 0o644)
        try:
            os.write(handle, content)
            os.fchmod(handle, 0o755 if runs else 0o644)
        finally:
            os.close(handle)

    def clear(self):
        # A command may have moved what was mounted: a mount point moves with the directory above.
        inside = [mount.point for mount in walking.read_mounts() if mount.point.startswith(self.root + "/")]
        for path in reversed(inside if self.mounted else []):
            check(libc.umount2(os.fsencode(path), MNT_DETACH), f"umount {path}")
        self.mounted = False
        if os.path.lexists(self.root):
            shutil.rmtree(self.root)

    def remake(self, things):
        self.clear()
        self.make(things)


# --- trees -------------------------------------------------------------------------------------------


class TreeMaker:
    def __init__(self, chance, may_mount):
        self.chance, self.may_mount = chance, may_mount
        self.depth = chance.randint(2, 4)
        self.things = []
        self.directories = [""]
        self.taken = set()

    def room(self, folders=None):
        """A name that nothing has yet, or nothing after a few tries."""
        for _ in range(20):
            folder = self.chance.choice(folders or self.directories)
            path = os.path.join(folder, self.chance.choice(NAMES))
            if path not in self.taken and path.count("/") < self.depth:
                return path
        return None

    def files(self, *kinds):
        return [thing for thing in self.things if thing.kind in kinds]

    def add(self, thing):
        self.taken.add(thing.path)
        self.things.append(thing)

    def add_directory(self, path):
        kind = "shared" if self.chance.random() < 0.12 else "dir"
        self.add(Thing(kind, path))
        if path.count("/") < self.depth - 1:
            self.directories.append(path)

    def first_line(self, path):
        programs = self.files("static", "script", "dynamic")
        roll = self.chance.random()
        if programs and roll < 0.5:
            return "@/" + self.chance.choice(programs).path
        beside = [each for each in programs if os.path.dirname(each.path) == os.path.dirname(path)]
        if beside and roll < 0.85:
            return os.path.basename(self.chance.choice(beside).path)
        return self.chance.choice(["/bin/sh", "/usr/bin/dash", "a", "@/a/none", "@/b", "@/bin/sh\r"])

    def add_link(self, path):
        if self.shared() and self.chance.random() < 0.25:
            path = self.room(sorted(self.shared())) or path
        folder = os.path.dirname(path)
        roll = self.chance.random()
        some = self.chance.choice(self.things).path if self.things else "a"
        if roll < 0.45:
            target = os.path.relpath(some, folder or ".")
        elif roll < 0.65:
            target = "@/" + some
        elif roll < 0.75:
            directories = [each for each in self.directories if each]
            over = self.chance.choice(directories) if directories else "."
            target = os.path.join(os.path.relpath(over, folder or "."), "..", self.chance.choice(NAMES))
        elif roll < 0.85:
            target = self.chance.choice(NAMES)  # dangling, or round in a circle
        elif roll < 0.92:
            target = "@/" + os.path.join(self.chance.choice(self.directories), self.chance.choice(NAMES))
        else:
            target = self.chance.choice(["/usr/bin/dash", "/proc/self/status", "/dev/zero", "/tmp", "/dev/null"])
        kind = "foreign" if folder in self.shared() else "link"
        self.add(Thing(kind, path, target))

    def shared(self):
        return {thing.path for thing in self.things if thing.kind == "shared"}

    def add_hard(self, path):
        files = self.files("static", "script", "data", "dynamic")
        if files:
            self.add(Thing("hard", path, self.chance.choice(files).path))

    def add_one(self, path):
        roll = self.chance.random()
        if roll < 0.34:
            self.add_directory(path)
        elif roll < 0.54:
            self.add(Thing("static", path, runs=self.chance.random() < 0.93))
        elif roll < 0.61:
            self.add(Thing("dynamic", path))
        elif roll < 0.71:
            self.add(Thing("script", path, self.first_line(path), runs=self.chance.random() < 0.95))
        elif roll < 0.80:
            self.add(Thing("data", path, runs=self.chance.random() < 0.4))
        elif roll < 0.93:
            self.add_link(path)
        else:
            self.add_hard(path)

    def add_alias(self):
        sources = [thing.path for thing in self.things if thing.kind == "dir"]
        path = self.room()
        if not sources or path is None:
            return
        source = self.chance.choice(sources)
        # One that holds its own mount point would show it twice.
        if not (path + "/").startswith(source + "/"):
            self.add(Thing("alias", path, source))

    def make(self):
        for _ in range(self.chance.randint(10, MAX_OBJECTS - 1)):
            path = self.room()
            if path is not None:
                self.add_one(path)
        if self.may_mount and self.chance.random() < 0.3:
            self.add_alias()
        return self.things


# --- policies ----------------------------------------------------------------------------------------


class PolicyMaker:
    def __init__(self, chance, things):
        self.chance, self.things = chance, things

    def directories(self):
        return ["@"] + ["@/" + thing.path for thing in self.things if thing.kind in ("dir", "shared", "alias")]

    def any_path(self):
        roll = self.chance.random()
        if roll < 0.5 or not self.things:
            return self.chance.choice(self.directories())
        if roll < 0.85:
            return "@/" + self.chance.choice(self.things).path
        return self.chance.choice(self.directories()) + "/" + self.chance.choice(NAMES)

    def roots(self, often):
        count = self.chance.choices((0, 1, 2, 3), often)[0]
        return sorted({self.any_path() for _ in range(count)})

    def wide(self, roots, often):
        """The same, now and then with the whole tree."""
        return sorted({*roots, "@"}) if self.chance.random() < often else roots

    def protected(self):
        """Now and then something that is not there."""
        absent = self.chance.choice(self.directories()) + "/" + self.chance.choice(NAMES)
        chosen = self.roots((35, 35, 20, 10))
        return sorted({*chosen, absent}) if self.chance.random() < 0.2 else chosen

    def writable(self):
        count = self.chance.choices((0, 1, 2, 3), (15, 45, 30, 10))[0]
        return sorted({self.chance.choice(self.directories()) for _ in range(count)})

    def mounts(self):
        chosen = {self.any_path() for _ in range(self.chance.choices((0, 1, 2), (60, 30, 10))[0])}
        access = ("ro", "rw")
        return [
            {"path": path, "access": self.chance.choice(access), "required": self.chance.random() < 0.3}
            for path in sorted(chosen)
        ]

    def denied(self):
        """An exclusion: as an allowance, or of what is not there, is support, or has two names."""
        roll = self.chance.random()
        aliases = [thing for thing in self.things if thing.kind == "alias"]
        if aliases and roll < 0.4:
            alias = self.chance.choice(aliases)
            top = "@/" + self.chance.choice((alias.path, alias.text))
            beneath = [f"@/{each.path}" for each in self.things if each.path.startswith(alias.text + "/")]
            return {"kind": self.chance.choice(("dir", "file")), "value": self.chance.choice([top, *beneath])}
        if roll < 0.52:
            value = self.chance.choice(self.directories()) + "/" + self.chance.choice(NAMES)
            return {"kind": self.chance.choice(("dir", "file")), "value": value}
        if roll < 0.58:
            return {"kind": "file", "value": self.chance.choice((LINKER, LINKER, "/tmp/q"))}
        programs = [each for each in self.things if each.kind in ("static", "script")]
        if programs and roll < 0.75:
            return {"kind": "name", "value": os.path.basename(self.chance.choice(programs).path)}
        return self.entry()

    def entry(self):
        roll = self.chance.random()
        if roll < 0.2:
            return {"kind": "name", "value": self.chance.choice(NAMES)}
        programs = [f"@/{each.path}" for each in self.things if each.kind in ("static", "dynamic", "script", "hard")]
        if roll < 0.6 and programs:
            return {"kind": "file", "value": self.chance.choice(programs)}
        if roll < 0.9:
            return {"kind": "dir", "value": self.chance.choice(self.directories())}
        return {"kind": self.chance.choice(("dir", "file")), "value": self.any_path()}

    def entries(self, often, entry_of=None):
        count = self.chance.choices(range(len(often)), often)[0]
        chosen = []
        for _ in range(count):
            entry = (entry_of or self.entry)()
            if entry not in chosen:
                chosen.append(entry)
        return chosen

    def exec_table(self):
        default = self.chance.choice(("deny", "deny", "allow"))
        if default == "deny":
            allow, deny = self.entries((5, 35, 35, 25)), self.entries((35, 35, 20, 10), self.denied)
            if self.chance.random() < 0.35:
                allow.append({"kind": "dir", "value": "@"})
        else:
            allow, deny = self.entries((80, 15, 5)), self.entries((8, 40, 32, 20), self.denied)
        return {
            "default": default,
            "allow": allow,
            "deny": [entry for entry in deny if entry not in allow],
            "support": self.chance.choice(("system", "system", "none")),
            "memfd": self.chance.choice(("noexec", "noexec", "any")),
            "required": True,
        }

    def make(self):
        policy = {
            "v": 2,
            "writable_roots": self.wide(self.writable(), 0.3),
            "readable_roots": self.wide(self.roots((25, 45, 20, 10)), 0.45),
            "protected": self.protected(),
            "network": {"mode": "full"},
            "limits": dict.fromkeys(("cpu_s", "wall_s", "mem_bytes", "pids", "fsize_bytes", "output_bytes"), 0),
            "env_allow": [],
            "scratch": "tmpfs",
            "mounts": self.mounts(),
        }
        if self.chance.random() < 0.04:
            policy["readable_roots"] = ["/"]
        roll = self.chance.random()
        if roll < 0.85:
            policy["v"] = 3
            policy["exec"] = self.exec_table() if roll < 0.78 else None
        return policy


SPELLINGS = (
    ("a", "A"),
    ("b", "B"),
    ("\u00e9", "e\u0301", "\u00c9"),
    ("\u00df", "ss", "SS"),
    ("bin", "BIN"),
    ("sh", "Sh"),
)

# --- requests ----------------------------------------------------------------------------------------

OUTSIDE = ("/usr/bin/dash", "/bin/sh", "/etc/passwd", "/dev/null", "/dev/zero", "/proc/self/status", "/proc/1/stat")
OUTSIDE_DIRECTORIES = ("/", "/usr", "/tmp", "/proc", "/dev", "/var/tmp")
PRIVATE = ("/tmp/a", "/tmp/sh", "/tmp/bin")


def seen_again(things):
    """What bind mounts show of the tree, under its further names."""
    for alias in things:
        for thing in things if alias.kind == "alias" else ():
            if thing.path.startswith(alias.text + "/"):
                yield replace(thing, path=alias.path + thing.path[len(alias.text) :])


class RequestMaker:
    def __init__(self, chance, things, policy):
        self.chance, self.things = chance, [*things, *seen_again(things)]
        table = policy.get("exec") or {"allow": [], "deny": []}
        mounts = [mount["path"] for mount in policy["mounts"]]
        rules = [entry["value"] for entry in table["allow"] + table["deny"] if entry["kind"] != "name"]
        lists = [policy["readable_roots"], policy["writable_roots"], policy["protected"], mounts, rules]
        self.named = sorted({path for each in lists for path in each if path.startswith("@")})

    def existing(self, *kinds):
        fitting = [thing.path for thing in self.things if not kinds or thing.kind in kinds]
        return "@/" + self.chance.choice(fitting) if fitting else "@"

    def absent(self):
        if self.named and self.chance.random() < 0.25:
            return self.of_policy()
        directories = ["@"] + [f"@/{t.path}" for t in self.things if t.kind in ("dir", "shared", "alias", "link")]
        return self.chance.choice(directories) + "/" + self.chance.choice(NAMES)

    def of_policy(self):
        """A path that the policy names, or one right beneath it."""
        path = self.chance.choice(self.named)
        return path if self.chance.random() < 0.5 else path + "/" + self.chance.choice(NAMES)

    def spelled(self, path):
        """The same name, or nearly, in another spelling."""
        words = path.split("/")
        index = self.chance.randrange(1, len(words)) if len(words) > 1 else 0
        roll = self.chance.random()
        if roll < 0.45 and index:
            words[index] = self.variant(words[index])
        elif roll < 0.6:
            words.insert(index + 1, self.chance.choice(("", ".")))
        elif roll < 0.8:
            words[index + 1 : index + 1] = [self.chance.choice(NAMES), ".."]
        elif roll < 0.9:
            words.append("..")
            words.append(self.chance.choice(NAMES))
        else:
            words.append(self.chance.choice(("", ".")))
        return "/".join(words)

    def variant(self, name):
        fitting = [group for group in SPELLINGS if name in group]
        return self.chance.choice(fitting[0]) if fitting else name

    def path(self, *kinds):
        roll = self.chance.random()
        if roll < 0.62:
            return self.existing(*kinds)
        if roll < 0.72:
            return self.existing()
        if roll < 0.78:
            return self.of_policy() if self.named else self.existing()
        if roll < 0.86:
            return self.absent()
        return self.spelled(self.existing(*kinds))

    def outside(self, choices):
        return self.chance.choice(choices) if self.chance.random() < 0.07 else None

    def request(self, operation):
        if operation == "list":
            directories = ("dir", "shared", "alias", "link")
            return Request(operation, self.outside(OUTSIDE_DIRECTORIES) or self.path(*directories))
        if operation in ("read", "write"):
            return Request(operation, self.outside(OUTSIDE) or self.path("static", "script", "data", "hard", "link"))
        if self.named and operation in ("rename", "remove") and self.chance.random() < 0.15:
            return Request(operation, self.of_policy(), self.absent() if operation == "rename" else "")
        if operation == "rename":
            return Request(operation, self.path(), self.path() if self.chance.random() < 0.3 else self.absent())
        if operation == "remove":
            return Request(operation, self.path())
        if operation in ("create", "plant"):
            return Request(operation, self.outside(PRIVATE) or self.absent())
        through = self.chance.choices(("", "linker", "memory"), (74, 13, 13))[0]
        kinds = ("static", "script", "dynamic", "hard", "link")
        path = self.outside((*OUTSIDE[:2], LINKER)) or self.path(*kinds)
        return Request("execute", path, through=through)

    def make(self, count):
        operations = self.chance.choices(
            ("read", "list", "write", "execute", "create", "remove", "rename", "plant"),
            (6, 4, 6, 13, 3, 3, 3, 2),
            k=count,
        )
        return [self.request(operation) for operation in operations]


# --- cases -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One world: a tree, a policy and what is asked."""

    seed: int
    things: tuple
    policy: dict
    requests: tuple

    def with_policy(self, attempt, count=None):
        """The same tree under another policy, for one that no jail can be built for."""
        policy = PolicyMaker(random.Random(f"{self.seed} policy {attempt}"), self.things).make()
        chance = random.Random(f"{self.seed} requests {attempt}")
        requests = RequestMaker(chance, self.things, policy).make(count or len(self.requests))
        return replace(self, policy=policy, requests=tuple(requests))


def make_case(seed, count, may_mount):
    things = tuple(TreeMaker(random.Random(f"{seed} tree"), may_mount).make())
    return Case(seed, things, {}, ()).with_policy(0, count)


def placed(value, place):
    """A policy with real paths."""
    if isinstance(value, str):
        return place.real(value)
    if isinstance(value, list):
        return [placed(each, place) for each in value]
    if isinstance(value, dict):
        return {key: placed(each, place) for key, each in value.items()}
    return value


def script_of(things):
    """The tree as a shell script that makes it in the current directory."""
    lines = ["set -eu", "root=$PWD", 'static=$TINY dynamic=$TINY_DYNAMIC']
    for thing in things:
        lines += script_lines(thing, shlex.quote(thing.path), "0755" if thing.runs else "0644")
    return "\n".join(lines) + "\n"


def script_lines(thing, path, mode):
    text = f'"$root"{shlex.quote(thing.text[1:])}' if thing.text.startswith("@") else shlex.quote(thing.text)
    if thing.kind in ("dir", "shared"):
        return [f"mkdir {path}", f"chmod {'1777' if thing.kind == 'shared' else '0755'} {path}"]
    if thing.kind in ("link", "foreign"):
        owner = [f"chown -h {STRANGER}:{STRANGER} {path}"] if thing.kind == "foreign" else []
        return [f"ln -s {text} {path}", *owner]
    if thing.kind == "hard":
        return [f"ln {text} {path}"]
    if thing.kind == "alias":
        return [f"mkdir {path}", f"mount --bind {text} {path}"]
    if thing.kind == "script":
        return [f"{{ printf '#!'; printf %s {text}; printf '\\necho ran\\n'; }} >{path}", f"chmod {mode} {path}"]
    if thing.kind == "data":
        return [f"echo data >{path}", f"chmod {mode} {path}"]
    return [f'cp "${thing.kind}" {path}', f"chmod {mode} {path}"]
