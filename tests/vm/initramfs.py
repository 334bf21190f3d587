"""The small system that the kernel matrix boots, as one cpio archive in the kernel's own format.

Everything in it comes from this machine: the build under test, the programs of a few Debian
packages, the shared libraries those need, and the part of Python's library that the guest's scripts
import. Written here rather than with cpio(1), so that it takes no superuser to put device nodes and
files of root into it.
"""

import modulefinder
import os
import py_compile
import stat
import subprocess
import sys
import sysconfig
import tempfile

GUEST_PYTHON = "usr/bin/python3"
SUITE = "opt/matrix"  # the guest's scripts
INSTALLATION = "opt/loom"  # bin/, lib/ and libexec/ of the build under test
LIBRARY = sysconfig.get_path("stdlib")
DEBIAN_MODULES = "/usr/lib/python3/dist-packages"

# Links of a system whose /usr is merged, as Debian's has been since 12.
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
DIRECTORIES = ["dev", "proc", "sys", "run", "newroot", "root", "home/loom", "srv"]
STICKY = ["tmp", "var/tmp"]
NODES = {"dev/console": (5, 1), "dev/null": (1, 3)}
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nloom:x:1000:1000:loom:/home/loom:/bin/sh\n",
    "etc/group": "root:x:0:\nloom:x:1000:\n",
    "etc/nsswitch.conf": "passwd: files\ngroup: files\n",
}
PROGRAMS = ["/usr/bin/bwrap", "/usr/bin/dash"]
# The jail's commands and the guest's own start need these; busybox has some 270 more.
APPLETS = """cat chmod chown cp cut date dd dmesg echo env false find grep head hostname id ip kill ln ls
mkdir mount mv poweroff printf ps pwd readlink rm rmdir sed seq setsid sleep sort stat stty switch_root
sysctl tail tee test timeout touch tr true umount uname wc yes""".split()
# What modules import by name only, or only in some other locale than ours.
NEVER_FOUND = ["encodings.utf_8", "encodings.ascii", "encodings.latin_1", "encodings.aliases"]
NEVER_NEEDED = """test tkinter asyncio pydoc doctest distutils email http ssl multiprocessing
_hashlib""".split()  # the last for its size: hashlib has every sum of its own


class Archive:
    """Entries of a "newc" archive; parents before children, each path once."""

    def __init__(self, file):
        self.file = file
        self.seen = set()

    def entry(self, path, mode, data=b"", device=(0, 0)):
        if path in self.seen:
            return
        self.seen.add(path)
        parent = os.path.dirname(path)
        if parent:
            self.directory(parent)
        name = path.encode() + b"\0"
        links = 2 if stat.S_ISDIR(mode) else 1
        # Fields in their order: inode, mode, uid, gid, links, mtime, size, device of the file
        # system (two), device of the node (two), length of the name, checksum.
        numbers = [len(self.seen), mode, 0, 0, links, 0, len(data), 0, 0, *device, len(name), 0]
        header = b"070701" + b"".join(b"%08x" % number for number in numbers)
        self.file.write(padded(header + name) + padded(data))

    def directory(self, path, mode=0o755):
        self.entry(path, stat.S_IFDIR | mode)

    def link(self, path, target):
        self.entry(path, stat.S_IFLNK | 0o777, target.encode())

    def text(self, path, text, mode=0o644):
        self.entry(path, stat.S_IFREG | mode, text.encode())

    def copy(self, source, path=None):
        """A file of this machine, at the same place unless told otherwise; links are followed."""
        with open(source, "rb") as file:
            mode = 0o755 if os.access(source, os.X_OK) else 0o644
            self.entry(path or merged(source), stat.S_IFREG | mode, file.read())

    def end(self):
        self.entry("TRAILER!!!", 0)


def padded(data):
    return data + b"\0" * (-len(data) % 4)


def merged(path):
    """Where a file of this machine lies in the archive: /lib/x is /usr/lib/x."""
    parts = path.lstrip("/").split("/")
    return "/".join([MERGED.get(parts[0], parts[0]), *parts[1:]])


def libraries(program):
    """What the loader maps for a program or shared object, itself included; nothing for a static one."""
    shown = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    words = [word for line in shown.stdout.splitlines() for word in line.split()]
    if "not" in words and "found" in words:
        raise SystemExit(f"initramfs: {program} lacks a library:\n{shown.stdout}")
    return sorted({word for word in words if word.startswith("/") and not word.endswith(":")})


def add_program(archive, source, path=None):
    archive.copy(source, path)
    for library in libraries(source):
        archive.copy(library)


def add_installation(archive, build):
    """The build under test, laid out as an installation is."""
    helper = os.path.join(build, "bin/loom-exec")
    add_program(archive, helper, f"{INSTALLATION}/bin/loom-exec")
    stage2 = "libexec/loom-exec/bwrap-stage2"
    archive.copy(os.path.join(build, stage2), f"{INSTALLATION}/{stage2}")
    backends = "lib/loom-exec/backends"
    for name in sorted(os.listdir(os.path.join(build, backends))):
        if name.endswith(".so"):
            source = os.path.join(build, backends, name)
            add_program(archive, source, f"{INSTALLATION}/{backends}/{name}")


def imported(scripts):
    """Every module that these scripts can come to import, as files of this machine."""
    search = [os.path.dirname(script) for script in scripts]
    search += [LIBRARY, os.path.join(LIBRARY, "lib-dynload"), DEBIAN_MODULES]
    finder = modulefinder.ModuleFinder(path=search, excludes=NEVER_NEEDED)
    for name in NEVER_FOUND:
        finder.import_hook(name)
    for script in scripts:
        finder.import_hook(os.path.splitext(os.path.basename(script))[0])
    return sorted({module.__file__ for module in finder.modules.values() if module.__file__})


def add_module(archive, source, path):
    """A module's text beside its compiled form: compiling is what a slow processor does worst."""
    archive.copy(source, path)
    if not source.endswith(".py"):
        for library in libraries(source):
            archive.copy(library)
        return
    with tempfile.NamedTemporaryFile(suffix=".pyc") as compiled:
        py_compile.compile(
            source,
            compiled.name,
            dfile="/" + path,
            doraise=True,
            invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
        )
        folder, name = os.path.split(path)
        tag = sys.implementation.cache_tag
        archive.copy(compiled.name, f"{folder}/__pycache__/{name[:-3]}.{tag}.pyc")


def add_python(archive, scripts):
    add_program(archive, os.path.realpath("/usr/bin/python3"), GUEST_PYTHON)
    for module in imported(scripts):
        ours = f"{SUITE}/{os.path.basename(module)}"
        add_module(archive, module, ours if module in scripts else merged(module))


def add_system(archive, busybox, init):
    for link, target in MERGED.items():
        archive.link(link, target)
    for path in DIRECTORIES:
        archive.directory(path)
    for path in STICKY:
        archive.directory(path, 0o1777)
    for path, device in NODES.items():
        archive.entry(path, stat.S_IFCHR | 0o666, device=device)
    for path, text in TEXTS.items():
        archive.text(path, text)
    archive.copy(busybox, "usr/bin/busybox")
    for applet in APPLETS:
        archive.link(f"usr/bin/{applet}", "busybox")
    for program in PROGRAMS:
        add_program(archive, program)
    archive.link("usr/bin/sh", "dash")
    archive.copy(init, "init")


def write(target, build, busybox, init, scripts):
    """The archive for `build` at `target`, its size in bytes. `scripts` are the guest's, and what of
    ours they import."""
    with open(target, "wb") as file:
        archive = Archive(file)
        add_system(archive, busybox, init)
        add_installation(archive, build)
        add_python(archive, scripts)
        archive.end()
    return os.path.getsize(target)
