"""What the judge reads out of a policy: its exclusions and allowances, frozen (guard.md 1)."""

import os
from dataclasses import dataclass, field

import names
import viewing
import walking


@dataclass
class Subject:
    """What a rule is asked about: a file, or the inside of a directory."""

    real: str
    is_file: bool
    identity: tuple = None  # of a directory
    parent: tuple = None
    passed: list = field(default_factory=list)

    @property
    def folded(self):
        return names.folded(self.real)

    def touches(self, identity):
        return identity is not None and (identity in self.passed or identity == self.identity)


def subject_of(landing):
    is_directory = landing.kind == "dir"
    return Subject(
        real=landing.real,
        is_file=not is_directory,
        identity=landing.identity if is_directory else None,
        parent=landing.parent,
        passed=landing.passed,
    )


@dataclass
class Place:
    """One name under which an exclusion holds."""

    real: str
    parent: tuple  # identity of the directory that holds it

    @property
    def folded(self):
        return names.folded(self.real)


@dataclass
class Exclusion:
    list: str  # protected or exec.deny
    index: int
    written: str
    places: list
    as_directory: bool = True
    as_file: bool = True
    itself: bool = False  # protected: the directory counts as in itself
    name: str = None  # key of a bare name
    exists: bool = False
    directory: tuple = None  # identity, if it is an existing directory
    above: set = field(default_factory=set)  # identities of the directories above

    def match(self, subject):
        """How it holds the subject: stored, folded, object, or not at all."""
        if self.name is not None:
            return "stored" if subject.is_file and names.key(names.leaf(subject.real)) == self.name else None
        found = [self.match_place(place, subject) for place in self.places]
        if "stored" in found:
            return "stored"
        if "folded" in found:
            return "folded"
        if self.as_directory and subject.touches(self.directory):
            return "object"
        return "object" if self.match_alias(subject) else None

    def match_place(self, place, subject):
        if self.holds(names.parts(place.real), names.parts(subject.real), subject.is_file):
            return "stored"
        if self.holds(place.folded, subject.folded, subject.is_file):
            return "folded"
        return None

    def holds(self, above, path, is_file):
        above, path = tuple(above), tuple(path)
        if path == above:
            return self.itself or (self.as_file if is_file else self.as_directory)
        return self.as_directory and names.holds(above, path)

    def match_alias(self, subject):
        """The same directory reached another way holds the same name (chapter 0, ruling 1)."""
        if not (self.as_file or self.itself) or (not subject.is_file and not self.itself):
            return False
        leaf = names.key(names.leaf(subject.real))
        return any(
            place.parent is not None and place.parent == subject.parent and names.key(names.leaf(place.real)) == leaf
            for place in self.places
        )

    def lies_beneath(self, landing):
        """Whether moving this directory would move what is excluded along (1.10, 5)."""
        if self.name is not None:
            return False
        above = names.folded(landing.real)
        for place in self.places:
            if len(place.folded) > len(above) and names.holds(above, place.folded):
                return True
        return landing.identity in self.above


@dataclass(frozen=True)
class Allowance:
    scope: str  # any, dir or file
    real: str = "/"

    def holds(self, subject):
        if self.scope == "any":
            return True
        if self.scope == "file":
            return subject.is_file and subject.real == self.real
        if subject.is_file:
            return names.beneath(subject.real, self.real)
        return names.within(subject.real, self.real)


class Freezer:
    """Turns the paths of one policy into rules."""

    def __init__(self, mounts, euid, search):
        self.mounts, self.euid, self.search = mounts, euid, search

    def freeze(self, path, mode=walking.RESOLVE):
        return walking.freeze(path, self.mounts, self.euid, mode)

    def places(self, written):
        """The target of the path, and its last link where it ends in one."""
        found = [self.freeze(written)]
        named = self.freeze(written, walking.AS_NAMED)
        if named.kind == "link":
            found.append(named)
        return found

    def exclusion(self, written, **how):
        frozen = self.places(written)
        target = frozen[0]
        above = set()
        for each in frozen:
            above |= {walking.identity_of(path) for path in names.ancestors(each.real)} - {None}
        return target, Exclusion(
            written=written,
            places=[Place(each.real, walking.identity_of(names.parent(each.real))) for each in frozen],
            exists=target.kind != "absent",
            directory=target.identity if target.kind == "dir" else None,
            above=above,
            **how,
        )

    def protected(self, paths):
        return [self.exclusion(path, list="protected", index=i, itself=True)[1] for i, path in enumerate(paths)]

    def denied(self, entries):
        rules = []
        for i, entry in enumerate(entries):
            if entry["kind"] == "name":
                rules += self.denied_name(i, entry["value"])
                continue
            target, rule = self.exclusion(entry["value"], list="exec.deny", index=i)
            wrong = target.kind not in ("absent", entry["kind"])
            rule.as_directory = wrong or entry["kind"] == "dir"
            rule.as_file = wrong or entry["kind"] == "file"
            rules.append(rule)
            rules += self.other_names(i, entry["value"], target.real)
        return rules

    def other_names(self, index, written, real):
        """What the host's mounts show of an excluded object is excluded there as well: to the kernel
        it is the same object."""
        for name in viewing.other_names(real, self.mounts):
            rule = self.exclusion(name, list="exec.deny", index=index)[1]
            rule.written = written
            yield rule

    def denied_name(self, index, name):
        yield Exclusion("exec.deny", index, name, [], name=names.key(name))
        for directory in self.search:
            path = f"{directory}/{name}"
            if os.path.isfile(path):
                rule = self.exclusion(path, list="exec.deny", index=index)[1]
                rule.as_directory, rule.written = False, name
                yield rule
                yield from self.other_names(index, name, rule.places[0].real)

    def is_grantable(self, frozen, written):
        """Nothing is granted by way of a link that the command can replace, nor the root by any. What
        is read-only further in says nothing: it may have been absent before."""
        return frozen.real != "/" and not any(
            names.within(folder, region)
            for link in frozen.links
            for folder in viewing.same_directories(names.parent(link), self.mounts)
            for region in written
        )

    def written_regions(self, policy):
        mounts = [mount["path"] for mount in policy["mounts"] or [] if mount["access"] == "rw"]
        scratch = [policy["scratch"]] if policy["scratch"] != "tmpfs" else []
        return [self.freeze(path).real for path in [*policy["writable_roots"], *mounts, *scratch]]

    def allowed(self, table, written):
        rules = [Allowance("any")] if table["default"] == "allow" else []
        for entry in table["allow"]:
            if entry["kind"] == "name":
                rules += self.allowed_name(entry["value"], written)
                continue
            target = self.freeze(entry["value"])
            if target.kind == entry["kind"] and self.is_grantable(target, written):
                rules.append(Allowance(entry["kind"], target.real))
        return rules

    def allowed_name(self, name, written):
        for directory in self.search:
            path = f"{directory}/{name}"
            if os.path.isfile(path) and os.access(path, os.X_OK, effective_ids=True):
                frozen = self.freeze(path)
                return [Allowance("file", frozen.real)] if self.is_grantable(frozen, written) else []
        return []


@dataclass
class Table:
    """An exec table. No opinion is a table that allows everything."""

    allow: list
    deny: list

    @property
    def restrictive(self):
        return bool(self.deny) or Allowance("any") not in self.allow

    def evidence(self, subject):
        """Whether something speaks for it, and which exclusions against it, with how."""
        speaks = any(rule.holds(subject) for rule in self.allow)
        against = [(rule, how) for rule in self.deny if (how := rule.match(subject))]
        return speaks, against
