"""The names that a jail shows, as the judge reads them (jail-linux.md 6, design.md D3, D11)."""

from dataclasses import dataclass

import names
import walking

SYSTEM_ROOTS = """/usr /bin /sbin /lib /lib32 /lib64 /etc /opt /var/lib /run/systemd/resolve
/run/resolvconf /run/NetworkManager /run/current-system /nix/store""".split()

ROOT, SHOWN, READ, WRITE, SCRATCH, PROC, DEV, MASK, MOUNT_RW, MOUNT_RO, PIN = range(11)
GRANT_PHASE, MASK_PHASE, EXPLICIT_PHASE = range(3)
PRIVATE = (SCRATCH, PROC, DEV)
HOST_WRITABLE = (WRITE, MOUNT_RW, PIN)
HOST_BACKED = (SHOWN, READ, *HOST_WRITABLE, MOUNT_RO)


@dataclass(frozen=True)
class Operation:
    rank: int
    region: str
    identity: tuple = None  # of the host's object; None: none is shown
    own: bool = False  # a readable root of the policy's own
    phase: int = GRANT_PHASE


def order(operation):
    return operation.phase, operation.region.encode("utf-8", "surrogateescape"), operation.rank


class View:
    """Operations in order; the last one that covers a path decides."""

    def __init__(self, operations):
        self.operations = sorted(operations, key=order)

    def effective(self, path):
        found = None
        for operation in self.operations:
            if names.within(path, operation.region):
                found = operation
        return found

    def without_masks(self):
        return View([each for each in self.operations if each.rank != MASK])

    def is_mount_point(self, path, directory):
        """Whether the jail mounts something on this name, in a directory of that identity. What a
        later operation covers is a mount point still, if it lies on a name of the host's."""
        for index, operation in enumerate(self.operations):
            if operation.rank in (ROOT, MASK):
                continue
            if operation.region == path and self.effective(path) == operation:
                return True
            above = names.parent(operation.region)
            same_name = names.leaf(operation.region) == names.leaf(path) and walking.identity_of(above) == directory
            if (operation.region == path or same_name) and View(self.operations[:index]).shows(above):
                return True
        return False

    def shows(self, path):
        """Whether what the host has at this real path is seen in the jail."""
        operation = self.effective(path)
        return operation is not None and operation.rank in HOST_BACKED


def same_directories(real, mounts):
    """The names of a directory: its own, and those that the host's mounts give it."""
    around = walking.mount_around(real, mounts)
    inside = names.moved(real, around.point, around.root)
    yield real
    for mount in mounts:
        if mount is not around and mount.device == around.device and names.within(inside, mount.root):
            yield names.moved(inside, mount.root, mount.point)


def other_names(real, mounts):
    """Names that the host's mounts give to an object besides `real`; mount points that show a part."""
    around = walking.mount_around(real, mounts)
    inside = names.moved(real, around.point, around.root)
    for mount in mounts:
        if mount is around or mount.device != around.device:
            continue
        if names.within(inside, mount.root):
            name = names.moved(inside, mount.root, mount.point)
        elif names.within(mount.root, inside):
            name = mount.point
        else:
            continue
        if not names.within(name, real):
            yield name


class ViewBuilder:
    def __init__(self, policy, freezer, protected, shown):
        self.policy, self.freezer, self.protected = policy, freezer, protected
        self.shown = shown  # real paths that the exec table admits
        self.grants = {}

    def freeze(self, path):
        return self.freezer.freeze(path)

    def grant(self, rank, region, identity=None, own=False):
        there = self.grants.get(region)
        if there is None or rank > there.rank:
            self.grants[region] = Operation(rank, region, identity, own)

    def add_grants(self):
        policy = self.policy
        self.grant(ROOT, "/")
        roots = [*policy["readable_roots"], *policy["writable_roots"], policy["scratch"]]
        whole = "/" in roots
        for root in SYSTEM_ROOTS:
            frozen = self.freeze(root)
            if frozen.kind != "absent":
                self.grant(READ, frozen.real if whole else root, frozen.identity)
        for root in policy["readable_roots"]:
            frozen = self.freeze(root)
            if frozen.kind != "absent":
                self.grant(READ, frozen.real, frozen.identity, own=True)
        for root in policy["writable_roots"]:
            frozen = self.freeze(root)
            self.grant(WRITE, frozen.real, frozen.identity)
        if policy["scratch"] == "tmpfs":
            self.grant(SCRATCH, "/tmp")
        else:
            frozen = self.freeze(policy["scratch"])
            self.grant(WRITE, frozen.real, frozen.identity)

    def explicit(self):
        for mount in self.policy["mounts"] or []:
            frozen = self.freeze(mount["path"])
            if frozen.kind != "absent":
                rank = MOUNT_RW if mount["access"] == "rw" else MOUNT_RO
                yield Operation(rank, frozen.real, frozen.identity, phase=EXPLICIT_PHASE)

    def add_shown(self, explicit):
        """What the exec table admits is readable (P2), where no region has it."""
        for real in sorted(self.shown):
            around = View([*self.grants.values(), *explicit])
            if around.effective(real).rank == ROOT:
                self.grant(SHOWN, real, walking.identity_of(real))

    def masks(self, shown):
        regions = set()
        for rule in self.protected:
            real = rule.places[0].real
            regions.add(real)
            for name in other_names(real, self.freezer.mounts):
                if shown.shows(name):
                    regions.add(name)
        for region in sorted(regions):
            if not any(names.beneath(region, other) for other in regions):
                yield Operation(MASK, region, phase=MASK_PHASE)

    def pins(self, view):
        pinned = set()
        for operation in view.operations:
            if not self.has_stable_name(operation, view):
                continue
            for above in names.ancestors(operation.region):
                around = view.effective(above)
                if around.rank in HOST_WRITABLE and around.region != above and above not in pinned:
                    pinned.add(above)
                    yield Operation(PIN, above, walking.identity_of(above), phase=around.phase)

    @staticmethod
    def has_stable_name(operation, view):
        if operation.rank == MASK:
            return True
        promised = operation.rank == MOUNT_RO or (operation.rank == READ and operation.own)
        return promised and view.effective(operation.region) is operation

    def build(self):
        self.add_grants()
        explicit = list(self.explicit())
        self.add_shown(explicit)
        own = [Operation(PROC, "/proc", phase=MASK_PHASE), Operation(DEV, "/dev", phase=MASK_PHASE)]
        base = [*self.grants.values(), *own, *explicit]
        view = View([*base, *self.masks(View(base))])
        return View([*view.operations, *self.pins(view)])
