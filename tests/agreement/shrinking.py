"""Makes a failing case small, and prints what is left so that a person can replay it."""

import copy
import json
import shlex
from dataclasses import replace

import asking
import world

LISTS = ("writable_roots", "readable_roots", "protected", "mounts")


def shrink(bench, case, request, problem):
    """The smallest case found that has the same problem with the same request."""

    def fails(candidate):
        try:
            return any(result.problem == problem for result in bench.run(candidate))
        except (asking.Unlaunchable, asking.CannotAsk, OSError):
            return False

    return smallest(replace(case, requests=(request,)), fails)


def shrink_launch(bench, case):
    """The smallest case found whose launch breaks."""

    def breaks(candidate):
        try:
            bench.place.remake(candidate.things)
            bench.kernel.ask(bench.policy(candidate), [("read", "/dev/null", "")])
        except asking.Broken:
            return True
        except (asking.Unlaunchable, OSError):
            return False
        return False

    return smallest(case, breaks)


def smallest(case, fails):
    while fails(case):
        smaller = next((each for each in smaller_cases(case) if fails(each)), None)
        if smaller is None:
            break
        case = smaller
    return case


def smaller_cases(case):
    """First without an object and what hangs on it, then without a rule."""
    for thing in reversed(case.things):
        yield replace(case, things=tuple(each for each in case.things if not hangs_on(each, thing)))
    for policy in smaller_policies(case.policy):
        yield replace(case, policy=policy)


def hangs_on(thing, other):
    if thing == other or thing.path.startswith(other.path + "/"):
        return True
    return thing.kind in ("hard", "alias") and (thing.text + "/").startswith(other.path + "/")


def smaller_policies(policy):
    for name in LISTS:
        for i in range(len(policy[name])):
            smaller = copy.deepcopy(policy)
            del smaller[name][i]
            yield smaller
    table = policy.get("exec")
    for name in ("allow", "deny") if table else ():
        for i in range(len(table[name])):
            smaller = copy.deepcopy(policy)
            del smaller["exec"][name][i]
            yield smaller
    if table:
        smaller = copy.deepcopy(policy)
        smaller["exec"] = None
        yield smaller


def describe_case(bench, case, number):
    """A policy document and a script that makes the tree."""
    return [
        f"replay:   agreement.py --seed {case.seed} --worlds 1 --operations {number}",
        "policy:   " + json.dumps(bench.policy(case), ensure_ascii=False),
        "tree:",
        world.script_of(case.things),
    ]


def describe(bench, case, result, number):
    """A failing request: what each of the three says, and how to see it again."""
    request = result.request
    words = [request.through or request.operation, request.path, request.to]
    lines = [
        f"--- {result.problem}",
        f"request:  {' '.join(shlex.quote(word) for word in words if word)}",
        f"judge:    {'admits' if result.answer.admitted else result.answer.reason}"
        + "".join(f"; {rule.list}[{rule.index}] {how}" for rule, how in result.answer.against)
        + (f"; needs {result.answer.needed}" if result.answer.needed else ""),
        f"guard:    {'admits' if result.said.admitted else result.said.reason}: {result.said.text}",
        f"kernel:   {result.outcome and ('works' if result.outcome.worked else f'errno {result.outcome.error}')}",
        *describe_case(bench, case, number),
    ]
    return "\n".join(lines)
