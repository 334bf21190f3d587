"""What the judge answers."""

from dataclasses import dataclass, field


@dataclass
class Answer:
    admitted: bool
    reason: str = ""
    landing: object = None  # walking.Landing, where the walk landed
    against: list = field(default_factory=list)  # exclusions that hold, each with how
    needed: str = ""  # the support file that was refused
    stopped: str = ""  # why the walk to that file did not land
    route: list = field(default_factory=list)  # every real path that was looked up on the way


class Refused(Exception):
    def __init__(self, reason, landing=None, against=(), needed="", stopped="", route=()):
        super().__init__(reason)
        self.answer = Answer(False, reason, landing, list(against), needed, stopped, list(route))
