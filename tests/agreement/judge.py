"""An independent reading of the guard: what it must answer, from the policy and the tree alone.

It shares no code with the helper and asks it nothing. The tree must not change between a judge's
making and its last answer.
"""

import os

import names
import viewing
import walking
from answers import Answer, Refused
from programs import Programs
from rules import Allowance, Freezer, Table, subject_of
from walking import AS_NAMED, RESOLVE, Stopped

WRITING = ("write", "create", "remove", "rename_from", "rename_to")
LEAF = {"remove": AS_NAMED, "rename_from": AS_NAMED, "rename_to": AS_NAMED}
SEARCH = "/usr/local/bin:/usr/bin:/bin"
NO_OPINION = {"default": "allow", "allow": [], "deny": [], "support": "system"}


def search_path(text, mounts, euid):
    directories = []
    for entry in text.split(":"):
        frozen = walking.freeze(entry, mounts, euid)
        if frozen.kind == "dir" and frozen.real not in directories:
            directories.append(frozen.real)
    return directories


class Judge:
    def __init__(self, policy, path=SEARCH, euid=None):
        self.policy = policy
        self.euid = os.geteuid() if euid is None else euid
        self.mounts = walking.read_mounts()
        self.freezer = Freezer(self.mounts, self.euid, search_path(path, self.mounts, self.euid))
        self.protected = self.freezer.protected(policy["protected"])
        table = policy.get("exec") or NO_OPINION
        written = self.freezer.written_regions(policy)
        self.table = Table(self.freezer.allowed(table, written), self.freezer.denied(table["deny"]))
        self.support = table["support"] == "system"
        self.memfd = table.get("memfd", "any")
        builder = viewing.ViewBuilder(policy, self.freezer, self.protected, self.shown())
        self.view = builder.build()
        self.programs = Programs(self)

    def shown(self):
        """Real paths that must be readable because the table admits them."""
        return [rule.real for rule in self.table.allow if rule.scope != "any" and self.is_live(rule)]

    def is_live(self, rule):
        landing = walking.walk(rule.real, RESOLVE, self.mounts, self.euid)
        speaks, against = self.table.evidence(subject_of(landing))
        return speaks and not against

    # --- the file system -----------------------------------------------------------------------

    def excluded_by(self, landing):
        subject = subject_of(landing)
        return [(rule, how) for rule in self.protected if (how := rule.match(subject))]

    def check_files(self, operation, landing):
        """Evidence of the file system dimension (1.8)."""
        against = self.excluded_by(landing)
        below = self.view.without_masks().effective(landing.real)
        # A mask also lies where the host's mounts show only a part of what is protected.
        if against or self.view.effective(landing.real).rank == viewing.MASK:
            held = below.rank in (viewing.HOST_WRITABLE if operation in WRITING else viewing.HOST_BACKED)
            raise Refused("excluded_over_allowance" if held else "excluded", landing, against)
        if below.rank in viewing.PRIVATE:
            raise Refused("not_a_host_object", landing)
        if below.rank == viewing.ROOT:
            raise Refused("not_allowed", landing)
        if operation in WRITING and below.rank not in viewing.HOST_WRITABLE:
            raise Refused("read_only", landing)

    def check_move(self, operation, landing):
        names_it = operation in ("remove", "rename_from", "rename_to")
        if names_it and self.view.is_mount_point(landing.real, landing.parent):
            raise Refused("mount_point", landing)
        if operation not in ("remove", "rename_from") or landing.kind != "dir":
            return
        moved = [(rule, "") for rule in [*self.protected, *self.table.deny] if rule.lies_beneath(landing)]
        if moved:
            raise Refused("would_move_excluded", landing, moved)

    def check_object(self, operation, landing):
        """Whether there is something to do the operation to (2.9, 2.10)."""
        if operation == "create":
            if landing.must_be_directory:
                raise Refused("is_a_directory", landing)
            # Also a directory that is made for an absent protected path below.
            if landing.exists or self.view.effective(landing.real).region == landing.real:
                raise Refused("exists", landing)
        elif operation != "rename_to" and not landing.exists:
            raise Refused("missing", landing)
        elif operation in ("read", "write") and landing.kind != "file":
            raise Refused("is_a_directory" if landing.kind == "dir" else "not_regular", landing)
        elif operation == "list" and landing.kind != "dir":
            raise Refused("not_a_directory", landing)

    def land(self, operation, path):
        try:
            return walking.walk(path, LEAF.get(operation, RESOLVE), self.mounts, self.euid)
        except Stopped as stop:
            raise Refused(stop.reason, route=stop.route) from None

    def check(self, operation, path):
        landing = self.land(operation, path)
        if path == "/dev/null" and operation in ("read", "write"):
            return landing
        if landing.real == "/" and operation != "list":
            raise Refused("bad_path", landing)
        self.check_files(operation, landing)
        self.check_move(operation, landing)
        self.check_object(operation, landing)
        return landing

    # --- questions -----------------------------------------------------------------------------

    def ask(self, operation, path, to=None):
        """The answer to one request."""
        try:
            if operation == "execute":
                return self.ask_execute(path)
            if operation == "rename":
                source, target = self.check_rename(path, to)
                return Answer(True, landing=source, route=target.route)
            return Answer(True, landing=self.check(operation, path))
        except Refused as refused:
            return refused.answer

    def ask_execute(self, path):
        try:
            answer = Answer(True, landing=self.programs.admit(path))
        except Refused as refused:
            answer = refused.answer
        answer.route = self.programs.route
        answer.landing = answer.landing or self.programs.located
        return answer

    def check_rename(self, path, to):
        source = self.check("rename_from", path)
        target = self.check("rename_to", to)
        if self.view.effective(source.real) != self.view.effective(target.real):
            raise Refused("crosses_mounts", source)
        return source, target

    def payload_writes(self, landing):
        """Whether the command may write the object or a directory on its real path."""
        for path in [landing.real, *names.ancestors(landing.real)]:
            if self.view.effective(path).rank in viewing.HOST_WRITABLE:
                return True
        writable = {each.identity for each in self.view.operations if each.rank in viewing.HOST_WRITABLE}
        return any(identity in writable for identity in [landing.identity, *landing.passed])

    def has_any(self):
        return Allowance("any") in self.table.allow
