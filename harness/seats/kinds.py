"""The kinds of players that need no program: a person, a script, a Python function, the random player."""

from typing import TYPE_CHECKING

from referee.harness.programs.built_in import RANDOM
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.programs.kinds import Kind

if TYPE_CHECKING:
    from referee.harness.seats.seat import Seat


class InPerson(Kind):
    """A person, in the terminal or on a page."""

    name, plural, place = "person", "people", 40
    word = "human"
    help = "human (you, in this terminal)"
    rows = (("you, in the terminal or on a page", "`human`"),)
    absent = "no person can play here; `referee play` takes people"
    has_process = has_clock = hears_prefix = in_series = False

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.harness.seats.person import parse

        return parse(spec)


class Script(Kind):
    """`script:FILE`."""

    name, plural, place = "script", "scripts", 50
    prefixes = ("script:",)
    help = "script:FILE (an answer a line, then the first legal ones)"
    rows = (("a file with one answer on each line", "`script:opening.txt`"),)
    has_process = hears_prefix = in_series = False

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.harness.seats.script import parse

        return parse(spec)

    def seat(self, entrant: Entrant) -> "Seat":
        from referee.harness.seats.script import seat

        return seat(entrant)


class Function(Kind):
    """A Python function, which no user can name."""

    name, plural, place = "Python function", "Python functions", 910
    prefixes = ("function:",)
    has_process = has_clock = in_series = False

    def seat(self, entrant: Entrant) -> "Seat":
        from referee.harness.seats.function import FunctionSeat

        return FunctionSeat(entrant)


class Random(Kind):
    """`@random` in most games."""

    name, plural, place = RANDOM, "random players", 930
    has_process = takes_variables = False

    def seat(self, entrant: Entrant) -> "Seat":
        from referee.harness.seats.random_seat import RandomSeat

        return RandomSeat()


PERSON, SCRIPT, FUNCTION = InPerson(), Script(), Function()
KINDS = (PERSON, SCRIPT, FUNCTION, Random())
