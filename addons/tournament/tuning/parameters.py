"""The parameters of a bot that is tuned: their ranges, and how the bot gets their values."""

import math
import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from referee.games.dice import Dice
from referee.harness.common.errors import UsageError
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import SETTINGS, VARIABLES

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
WHOLE = re.compile(r"[-+]?[0-9]+", re.ASCII)
LARGEST = 1e15
"""The largest bound. A double holds whole numbers up to about nine times as much."""
DIGITS = 6
UNIT = 1 << 30
Values = Mapping[str, str]
"""By name, the value as the bot gets it."""


class Parameter(Struct, frozen=True):
    """A number that is tuned."""

    name: str
    low: float
    high: float
    start: float
    is_whole: bool

    @property
    def place(self) -> float:
        """The start as a share of the range."""
        return (self.start - self.low) / (self.high - self.low)

    def value(self, place: float, luck: float = 0.5) -> str:
        """Returns the value at a share of the range. `luck`, from 0 to 1, decides how a whole number is rounded."""
        value = self.low + place * (self.high - self.low)
        if self.is_whole:
            return str(int(min(self.high, max(self.low, math.floor(value + luck)))))
        return f"{value:.{DIGITS}g}"


def parsed(text: str) -> Parameter:
    """Reads `NAME=LOW:HIGH` or `NAME=LOW:HIGH:START`; whole bounds make a whole number. UsageError if it is wrong."""
    name, _, rest = text.partition("=")
    bounds = rest.split(":")
    where = f"--param {text}"
    if not NAME.fullmatch(name) or len(bounds) not in (2, 3):
        raise UsageError(f"{where}: expected NAME=LOW:HIGH or NAME=LOW:HIGH:START, such as depth=1:8")
    if name in (*VARIABLES, *SETTINGS, "HOME", "TMPDIR", "PYTHONPATH"):
        raise UsageError(f"{where}: {name} is an environment variable with another meaning; choose another name")
    try:
        low, high, *start = map(float, bounds)
    except ValueError:
        raise UsageError(f"{where}: expected numbers") from None
    is_whole = all(WHOLE.fullmatch(bound) for bound in bounds)
    first = start[0] if start else (low + high) / 2
    first = float(round(first)) if is_whole else first
    if not -LARGEST <= low < high <= LARGEST or not low <= first <= high:
        raise UsageError(f"{where}: expected the lower bound first, and the start between the bounds")
    return Parameter(name, low, high, first, is_whole)


def all_parsed(texts: Sequence[str]) -> tuple[Parameter, ...]:
    """Reads all parameters. UsageError if one is wrong, or if two have the same name."""
    parameters = tuple(map(parsed, texts))
    if not parameters:
        raise UsageError("no parameter is named: add --param NAME=LOW:HIGH")
    names = [each.name for each in parameters]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--param {name}: it is named twice")
    return parameters


def values(parameters: Sequence[Parameter], places: Sequence[float], dice: Dice | None = None) -> Values:
    """Returns the values at these shares of the ranges. With `dice`, whole numbers are rounded at random."""
    luck = 0.5 if dice is None else dice.below(UNIT, "rounding") / UNIT
    return {each.name: each.value(place, luck) for each, place in zip(parameters, places, strict=True)}


def spec_with(spec: str, values: Values) -> str:
    """Returns a bot spec with each `{NAME}` replaced by its value."""
    for name, value in values.items():
        spec = spec.replace(f"{{{name}}}", value)
    return spec


def bot_with(bot: Entrant, spec: str, values: Values) -> Entrant:
    """Returns a bot with the values that its spec does not have as environment variables."""
    variables = tuple((name, value) for name, value in values.items() if f"{{{name}}}" not in spec)
    return msgspec.structs.replace(bot, variables=variables)


def shown(values: Values) -> str:
    """Returns, for example, `aggression=0.734 depth=5`."""
    return " ".join(f"{name}={value}" for name, value in values.items())
