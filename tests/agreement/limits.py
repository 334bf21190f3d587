"""The declared limits (guard.md 7.1), each as a question about one disagreement.

A predicate sees the judge's reading of the request and what the kernel said, and tells whether its
limit accounts for the difference. K_MORE: the kernel admits and the guard refuses. G_MORE: the other
way round.
"""

import errno
import os
from dataclasses import dataclass

import names
import programs
import viewing
import walking
from rules import Subject, subject_of

K_MORE, G_MORE = "K+", "G+"
EXCLUDED = ("excluded", "excluded_over_allowance", "support_excluded")
POLICY_REASONS = (*EXCLUDED, "not_allowed", "interpreter_not_admitted", "linker_not_admitted")


@dataclass
class Difference:
    request: object
    judge: object  # of the tree as the launch found it
    answer: object  # what the guard must say
    outcome: object  # what the kernel said
    untouched: bool  # the host has nothing of what the kernel did

    @property
    def direction(self):
        return K_MORE if self.outcome.worked else G_MORE

    @property
    def landing(self):
        return self.answer.landing

    @property
    def file(self):
        """Real path of the file that decided: the one asked for, or what it needs to start."""
        return self.answer.needed or self.landing.real

    @property
    def route(self):
        """Every real path that was looked up."""
        return [*self.answer.route, *(self.landing.route if self.landing else [])]

    @property
    def is_program(self):
        return self.request.operation in ("execute", "plant")

    def reached_another(self):
        """Whether what the command reached is the jail's own, and nothing of the host's."""
        if self.request.changes:
            return self.untouched
        there = walking.identity_of(self.landing.real) if self.landing else None
        return self.outcome.identity != there


# --- what the kernel's table comes to (guard.md 4), as far as the limits need it ----------------------


def directory_subject(real, judge):
    landing = walking.walk(real, walking.RESOLVE, judge.mounts, judge.euid)
    return Subject(real, False, landing.identity, landing.parent, landing.passed)


def write_reaches(directory, judge):
    regions = [each.region for each in judge.view.operations if each.rank in viewing.HOST_WRITABLE]
    return any(names.within(directory, region) or names.within(region, directory) for region in regions)


def is_listed(directory, judge):
    """Whether an exclusion lies somewhere beneath, so that entries are admitted one by one (4.5)."""
    folded, identity = names.folded(directory), walking.identity_of(directory)
    for rule in judge.table.deny:
        if rule.name is not None:
            if not judge.has_any() and not write_reaches(directory, judge):
                return True
        elif identity in rule.above:
            return True
        elif any(len(place.folded) > len(folded) and names.holds(folded, place.folded) for place in rule.places):
            return True
        elif any(names.beneath(alias, directory) for alias in aliases_of(rule, judge)):
            return True
    return False


def aliases_of(rule, judge):
    """Mount points of the host under which what is excluded, or a part of it, is seen again."""
    points = {mount.point for mount in judge.mounts}
    for place in rule.places:
        for name in viewing.other_names(place.real, judge.mounts):
            yield from (point for point in points if names.within(name, point) and point != "/")


def runs_whole(directory, judge):
    """Whether everything in a directory runs by a rule on it, or on one above."""
    for above in [directory, *names.ancestors(directory)]:
        if is_listed(above, judge) or not judge.view.shows(above):
            continue
        speaks, against = judge.table.evidence(directory_subject(above, judge))
        if speaks and not against:
            return True
    return False


def tree_of(judge):
    """The root of the tree: the tools lie beside it."""
    return os.path.join(names.parent(judge.policy["readable_roots"][-1]), "w")


def other_names_of(file, top):
    """Every other name of a file's inode in the tree."""
    for folder, _, files in os.walk(top):
        for name in files:
            path = os.path.join(folder, name)
            if path != file and os.path.samestat(os.lstat(path), os.lstat(file)):
                yield path


def linker_runs(judge):
    if judge.support:
        return True
    return any(judge.table.evidence(Subject(linker, True))[0] for linker in programs.LINKERS)


# --- predicates ---------------------------------------------------------------------------------------


def l2_support(case):
    """A linker runs as a program though no rule admits it."""
    return case.is_program and case.answer.reason == "not_allowed" and case.landing.real in programs.LINKERS


def l5_hard_link(case):
    """The file has another name that is admitted; rules are of inodes."""
    judge = case.judge
    if not case.is_program or case.answer.reason not in POLICY_REASONS or not os.path.lexists(case.file):
        return False
    for path in other_names_of(case.file, tree_of(judge)):
        speaks, against = judge.table.evidence(subject_of(judge.land("read", path)))
        if speaks and not against:
            return True
    return False


def l8_interpreted(case):
    """The dynamic linker runs any program that it can read."""
    return case.request.through == "linker" and can_read(case) and linker_runs(case.judge)


def can_read(case):
    return case.judge.ask("read", case.request.path).admitted


def l9_bare_name(case):
    """A bare name is excluded where a write reaches, or under a table that allows everything."""
    if not case.is_program or case.answer.reason not in EXCLUDED:
        return False
    if any(rule.list == "protected" or rule.name is None for rule, _ in case.answer.against):
        return False
    judge = case.judge
    roots = [rule.real for rule in judge.table.allow if rule.scope == "dir"]
    inside = [above for above in names.ancestors(case.file) if any(names.within(above, root) for root in roots)]
    return judge.has_any() or any(write_reaches(above, judge) for above in inside)


def l10_new_program(case):
    """Made after the launch, in a directory whose entries were admitted one by one."""
    return case.request.operation == "plant" and is_listed(names.parent(case.landing.real), case.judge)


def l12_other_spelling(case):
    """A distinct name that only folding makes equal to an excluded one."""
    if case.answer.reason not in EXCLUDED or not case.answer.against:
        return False
    there = walking.identity_of(case.file)
    above = {walking.identity_of(path) for path in names.ancestors(case.file)}
    leaf = names.leaf(case.file)
    for rule, how in case.answer.against:
        # In the same directory reached another way only the last name tells.
        inside = rule.directory is not None and rule.directory in (*above, there)
        spelled = not inside and all(names.leaf(p.real) != leaf for p in rule.places)
        if how != "folded" and not (how == "object" and rule.places and spelled):
            return False
    return True


def l13_absent_protected(case):
    """The mount point of an absent protected path is a directory during the run."""
    masked = case.landing is not None and case.judge.view.effective(case.landing.real).rank == viewing.MASK
    seen = case.answer.reason == "missing" or (case.request.operation == "list" and masked)
    if case.direction == K_MORE and not seen:
        return False
    absent = [place.real for rule in case.judge.protected if not rule.exists for place in rule.places]
    missing = [place for place in case.route if not os.path.lexists(place)]
    return any(names.within(real, place) for real in absent for place in missing)


def l15_moved_along(case):
    return case.answer.reason == "would_move_excluded"


def l17_memory_file(case):
    """A memory file runs whatever the table says, unless the filter closes it."""
    judge = case.judge
    return case.request.through == "memory" and can_read(case) and (judge.memfd == "any" or not judge.table.restrictive)


def l20_host_refuses(case):
    """What the host's own mounts refuse by themselves."""
    if case.request.operation not in ("rename", "remove") or case.outcome.error not in (errno.EXDEV, errno.EBUSY):
        return False
    points = {mount.point for mount in case.judge.mounts}
    ends = [case.landing.real]
    if case.request.operation == "rename":
        ends.append(case.judge.land("rename_to", case.request.to).real)
    around = {walking.mount_around(names.parent(end), case.judge.mounts).point for end in ends}
    return len(around) > 1 or any(end in points or carries_a_mount(end, case.judge) for end in ends)


def carries_a_mount(path, judge):
    """Whether the jail mounted something onto this very object under another name of the host's."""
    identity = walking.identity_of(path)
    return any(each.identity == identity and each.region != path for each in judge.view.operations if each.identity)


def l23_relative(case):
    return case.answer.reason == "interpreter_relative"


def l24_shared_link(case):
    return "link_untrusted" in (case.answer.reason, case.answer.stopped)


def l25_procfs(case):
    return not {case.answer.reason, case.answer.stopped}.isdisjoint(("magic_link", "pseudo_fs"))


def l33_private(case):
    """Objects of the jail's own are the kernel's alone: its root, scratch, /dev."""
    if case.landing is None:
        return False
    below = case.judge.view.without_masks().effective(case.landing.real)
    if below.rank not in (*viewing.PRIVATE, viewing.ROOT):
        return False
    if below.rank == viewing.SCRATCH and case.is_program and not scratch_runs(case.judge):
        return False
    # The nodes of the jail's /dev are the host's.
    return case.direction == G_MORE or below.rank == viewing.DEV or case.reached_another()


def l34_not_shown(case):
    """On the way is a name that the jail does not show, or shows masked."""
    view = case.judge.view
    hidden = any(is_hidden(place, view) for place in case.route)
    if case.direction == G_MORE:
        return hidden
    real = case.landing.real if case.landing else None
    if real and view.without_masks().effective(real).rank in (*viewing.PRIVATE, viewing.ROOT):
        return False  # L33
    if case.answer.reason in ("excluded", "excluded_over_allowance"):
        # Version 2 shows an empty directory in the place of a masked one.
        empty = case.request.operation == "list" and view.effective(real).rank == viewing.MASK
        return case.reached_another() if empty else not is_inside(case)
    return hidden and case.reached_another()


def scratch_runs(judge):
    """Whether what is made in the private scratch may run (4.8, L11)."""
    if not judge.table.restrictive:
        return True
    speaks, against = judge.table.evidence(directory_subject("/tmp", judge))
    beneath = any(names.within(place.real, "/tmp") for rule in judge.table.deny for place in rule.places)
    return speaks and not against and not beneath


def is_inside(case):
    """Whether what is excluded holds where the walk ended, and not only what it came through."""
    landing = case.landing
    above = {walking.identity_of(path) for path in [landing.real, *names.ancestors(landing.real)]}
    subject = subject_of(landing)

    def holds(rule):
        if rule.name is not None or rule.directory in above or rule.match_alias(subject):
            return True
        return any(rule.match_place(place, subject) for place in rule.places)

    return any(holds(rule) for rule, _ in case.answer.against)


def is_hidden(place, view):
    if view.effective(place).rank == viewing.MASK:
        return True
    above_a_region = any(names.within(operation.region, place) for operation in view.operations)
    return not view.shows(place) and not above_a_region


def l37_would_gain(case):
    """The kernel moves nothing to where it would become a program that runs."""
    if case.request.operation != "rename" or case.outcome.error != errno.EXDEV or not case.judge.table.restrictive:
        return False
    source = names.parent(case.landing.real)
    target = names.parent(case.judge.land("rename_to", case.request.to).real)
    return source != target and runs_whole(target, case.judge) and not runs_whole(source, case.judge)


def l38_excluded_link(case):
    """A protected path that is a link: the kernel masks what it leads to, the guard holds its name too."""
    changes = case.request.operation in ("remove", "rename")
    return changes and case.answer.reason in EXCLUDED and case.landing.kind == "link"


BOTH = (K_MORE, G_MORE)
# Number, direction, predicate; the lowest number that accounts for a difference is counted.
LIMITS = (
    ("L2", (K_MORE,), l2_support),
    ("L5", (K_MORE,), l5_hard_link),
    ("L8", (K_MORE,), l8_interpreted),
    ("L9", (K_MORE,), l9_bare_name),
    ("L10", (G_MORE,), l10_new_program),
    ("L12", (K_MORE,), l12_other_spelling),
    ("L13", BOTH, l13_absent_protected),
    ("L15", (K_MORE,), l15_moved_along),
    ("L17", (K_MORE,), l17_memory_file),
    ("L20", (G_MORE,), l20_host_refuses),
    ("L23", (K_MORE,), l23_relative),
    ("L24", (K_MORE,), l24_shared_link),
    ("L25", (K_MORE,), l25_procfs),
    ("L33", BOTH, l33_private),
    ("L34", BOTH, l34_not_shown),
    ("L37", (G_MORE,), l37_would_gain),
    ("L38", (K_MORE,), l38_excluded_link),
)


def explanations(difference):
    return [
        number
        for number, directions, predicate in LIMITS
        if difference.direction in directions and predicate(difference)
    ]


def met_at_random():
    """Limits that a run of ten thousand operations must meet on this machine."""
    for number, _, _ in LIMITS:
        if number == "L24" and (os.geteuid() != 0 or protects_links()):
            continue
        if number not in SELDOM:
            yield number


def protects_links():
    with open("/proc/sys/fs/protected_symlinks", encoding="ascii") as file:
        return file.read().strip() == "1"


# Met by chance, and too seldom to be demanded.
SELDOM = ("L13", "L20", "L37", "L38")
