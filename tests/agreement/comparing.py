"""One case, from its tree to its disagreements."""

import os
import shutil
from dataclasses import dataclass

import asking
import limits
import programs
import world
from judge import Judge

MAX_POLICIES = 40  # tried for one tree until a jail can be built for one
PLANTED = "plant"


@dataclass
class Result:
    """What was seen about one request."""

    request: world.Request
    answer: object  # the judge's
    said: asking.Said  # the guard's
    outcome: asking.Outcome  # the kernel's
    limits: list  # that account for a difference between guard and kernel
    problem: str = ""  # what is wrong; empty: nothing

    @property
    def kind(self):
        if self.problem:
            return "unexplained"
        if self.said.admitted == self.outcome.worked:
            return "admit" if self.said.admitted else "refuse"
        return self.limits[0]


class Bench:
    """Where cases are carried out: a place, a guard and a kernel."""

    def __init__(self, helper, tools):
        os.environ["LOOM_EXEC"] = helper
        self.directory = asking.scratch_directory()
        try:
            self.set_up(helper, tools)
        except BaseException:
            shutil.rmtree(self.directory)
            raise

    def set_up(self, helper, tools):
        os.chmod(self.directory, 0o755)
        self.tools = os.path.join(self.directory, "tools")
        os.mkdir(self.tools, 0o755)
        self.prober, self.tiny = (shutil.copy(path, self.tools) for path in (tools.prober, tools.tiny))
        self.may_mount = world.own_mounts()
        self.linker = programs.linker_of(tools.tiny_dynamic)
        self.place = world.Place(self.directory, tools.tiny, tools.tiny_dynamic, self.linker)
        self.guard = asking.Guard(helper, self.directory)
        self.kernel = asking.Kernel(self.prober)

    def close(self):
        self.kernel.close()
        self.place.clear()
        shutil.rmtree(self.directory)

    def policy(self, case):
        """The case's policy for this place, under which the prober itself is shown and runs."""
        policy = world.placed(case.policy, self.place)
        policy["readable_roots"] = [*policy["readable_roots"], self.tools]
        table = policy.get("exec")
        if table and table["default"] == "deny":
            table["allow"] = [*table["allow"], {"kind": "file", "value": self.prober}]
        return policy

    def real(self, request):
        return world.replace(request, path=self.place.real(request.path), to=self.place.real(request.to))

    # --- one case ------------------------------------------------------------------------------

    def launchable(self, case):
        """The case with the first of its policies that a jail can be built for; how many had none."""
        self.place.remake(case.things)
        for attempt in range(MAX_POLICIES):
            tried = case.with_policy(attempt) if attempt else case
            policy = self.policy(tried)
            try:
                self.guard.ask(policy, [("read", "/dev/null", "")])
                self.kernel.ask(policy, [("read", "/dev/null", "")])
                return tried, attempt
            except asking.Unlaunchable:
                continue
            except asking.Broken as broken:
                broken.case = tried
                raise
        return None, MAX_POLICIES

    def run(self, case):
        """The results of all requests of a case whose policy can be launched."""
        policy = self.policy(case)
        self.kernel.forget()
        self.place.remake(case.things)
        requests = [self.fitting(self.real(request)) for request in case.requests]
        judge = Judge(policy, asking.SEARCH)
        answers = [self.judged(judge, request) for request in requests]
        requests = [self.plain_if_admitted(*pair) for pair in zip(requests, answers)]
        said = self.guard.ask(policy, [self.question(request) for request in requests])
        results = [Result(*row, None, []) for row in zip(requests, answers, said)]
        self.try_in_one_jail(policy, results)
        for result in results:
            if not result.request.changes:
                self.compare(judge, result, True)
        for result in results:
            if result.request.changes:
                self.try_alone(case, policy, result)
        return results

    @staticmethod
    def fitting(request):
        """A request that asks what its words say: only what is not there is created."""
        there = os.path.exists(request.path)
        if request.operation in ("create", PLANTED) and there:
            kind = "list" if os.path.isdir(request.path) else "write"
            return world.replace(request, operation=kind)
        if request.operation == "rename" and (entangled(request) or differ_in_kind(request)):
            request = world.replace(request, operation="remove", to="")
        if request.operation in ("remove", "rename") and names_nothing(request):
            request = world.replace(request, operation="list", to="")
        return request

    @staticmethod
    def judged(judge, request):
        operation = "create" if request.operation == PLANTED else request.operation
        return judge.ask(operation, request.path, request.to or None)

    @staticmethod
    def plain_if_admitted(request, answer):
        """What may run is started by its name; the other ways are for what may not."""
        return world.replace(request, through="") if answer.admitted else request

    @staticmethod
    def question(request):
        operation = "create" if request.operation == PLANTED else request.operation
        return operation, request.path, request.to

    def attempt(self, request):
        second = request.to
        if request.operation == PLANTED:
            second = self.tiny
        elif request.through == "linker":
            second = self.linker
        return request.through or request.operation, request.path, second

    def try_in_one_jail(self, policy, results):
        together = [result for result in results if not result.request.changes]
        outcomes = self.kernel.ask(policy, [self.attempt(result.request) for result in together])
        for result, outcome in zip(together, outcomes):
            result.outcome = outcome

    # --- what changes the tree ------------------------------------------------------------------

    def try_alone(self, case, policy, result):
        """A new tree and a jail of its own."""
        request = result.request
        self.place.remake(case.things)
        judge = Judge(policy, asking.SEARCH)
        result.answer = self.judged(judge, request)
        before = self.seen(request, result.answer)
        (result.outcome,) = self.kernel.ask(policy, [self.attempt(request)])
        untouched = self.seen(request, result.answer) == before
        if request.operation == PLANTED and result.said.admitted and result.answer.admitted:
            self.ask_about_planted(case, policy, judge, result)
            untouched = False
        self.compare(judge, result, untouched)
        if not result.problem and result.kind == "admit" and untouched and result.outcome.error == 0:
            self.expect_effect(result)

    @staticmethod
    def seen(request, answer):
        """What the host has at the names of a request."""
        landing = answer.landing
        names = [request.path, request.to, landing.real if landing else ""]
        return [lstat(name) for name in names if name]

    @staticmethod
    def expect_effect(result):
        same = result.request.operation == "rename" and os.path.lexists(result.request.to)
        emptied = result.request.operation == "remove" and os.path.isdir(result.request.path)
        if not same and not emptied:
            result.problem = "it worked in the jail and the host has nothing of it"

    def ask_about_planted(self, case, policy, judge, result):
        """Whether the new program may run: a question about a tree that has it."""
        request = result.request
        self.place.remake(case.things)
        shutil.copyfile(self.tiny, request.path)
        os.chmod(request.path, 0o755)
        later = Judge(policy, asking.SEARCH)
        # An allowance keeps what it froze to; `why` can only ask with a new launch's.
        if later.table.allow != judge.table.allow:
            result.said = asking.Said(result.outcome.worked, "", "not comparable")
            result.answer.admitted = result.outcome.worked
            return
        result.answer = later.ask("execute", request.path)
        (result.said,) = self.guard.ask(policy, [("execute", request.path, "")])

    # --- the comparison -------------------------------------------------------------------------

    @staticmethod
    def compare(judge, result, untouched):
        if result.said.admitted != result.answer.admitted:
            result.problem = "guard and judge disagree"
        elif not same_reason(result.said.reason, result.answer.reason):
            result.problem = "guard and judge refuse for different reasons"
        elif result.said.admitted != result.outcome.worked:
            difference = limits.Difference(result.request, judge, result.answer, result.outcome, untouched)
            result.limits = limits.explanations(difference)
            if not result.limits:
                result.problem = "guard and kernel disagree, and no limit accounts for it"
        elif result.request.operation == "execute" and result.answer.admitted and not result.outcome.said:
            if result.answer.landing.real.startswith(os.path.dirname(judge.policy["readable_roots"][-1])):
                result.problem = "another program ran than the one that was asked for"


def lstat(path):
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_nlink, about.st_mtime_ns


def entangled(request):
    """A name moved into itself, or onto a directory above: refused by every kernel, for no policy."""
    ends = [
        os.path.join(os.path.realpath(os.path.dirname(path.rstrip("/"))), os.path.basename(path.rstrip("/")))
        for path in (request.path, request.to)
    ]
    return any((a + "/").startswith(b.rstrip("/") + "/") for a in ends for b in ends if a is not b)


def differ_in_kind(request):
    """A directory moved onto something else, or the other way round."""
    if not os.path.lexists(request.path) or not os.path.lexists(request.to):
        return False
    one, other = (os.path.isdir(path) and not os.path.islink(path) for path in (request.path, request.to))
    return one != other


def names_nothing(request):
    """What the kernel takes for the name of nothing that could go away: ".", "..", a link with "/"."""
    for path in (request.path, request.to):
        if path.endswith(("/.", "/..")) or (path.endswith("/") and os.path.islink(path.rstrip("/"))):
            return True
    return False


# Reasons of one family. Which of two comes first where both hold is nobody's promise.
FAMILIES = (
    # said about what is there, not about what is allowed
    frozenset(
        """bad_path too_long too_deep missing not_a_directory is_a_directory exists system not_regular
        not_found not_executable search_denied""".split()
    ),
    # said about the region: both ends must lie in one that may be written, and neither be its top
    frozenset(("read_only", "mount_point", "crosses_mounts")),
    frozenset(("mount_point", "would_move_excluded")),
    frozenset(("mount_point", "not_allowed")),
)


def same_reason(one, other):
    return one == other or any(one in family and other in family for family in FAMILIES)
