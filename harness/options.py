"""The options that commands share: what a user writes, and what it means to the referee.

Whatever is wrong with them is a UsageError, found before anything is built or started.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from games import registry
from games.api import Game, Setup, TimeControl
from harness import maps, report
from harness.errors import UsageError
from harness.limits import Limits
from harness.units import seconds, size, time_control

MAX_INTEGER = (1 << 31) - 1
"""Of an option: bots read it in languages whose integers have 32 bits."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """What the game's rules leave open."""

    map: Annotated[str | None, Parameter(name=["--map", "-m"])] = None
    """A file with a map, or the name of one that comes along (`referee games` lists them), for games that have one."""
    set: Annotated[Sequence[str], Parameter(negative=())] = ()
    """KEY=VALUE, an option of the game's rules; may be given more than once. Or as an option itself: --KEY VALUE."""

    def options(self, game: Game, seats: int, own: Mapping[str, str]) -> Any:
        """The game's options from KEY=VALUE, from `own` (those that were written as options themselves, `--rounds 300`)
        and the content of a map. A value is JSON, or else text."""
        known = own_options(game)
        given: dict[str, Any] = {}
        for setting in self.set:
            key, equals, value = setting.partition("=")
            if not equals or key not in known:
                raise UsageError(f"--set {setting}: wanted is KEY=VALUE; options of {game.name}: {', '.join(known)}")
            given[key] = _value(value, f"--set {setting}")
        for name, value in own.items():
            given[name.replace("-", "_")] = _value(value, f"--{name} {value}")
        if self.map is not None:
            if "map" not in known:
                raise UsageError(f"--map {self.map}: {game.name} has no maps")
            given["map"] = maps.read(game.name, self.map)
        try:
            options: Any = msgspec.convert(given, game.options)
            game.new(Setup(0, tuple(map(str, range(seats))), options))  # a map that the game refuses is refused here
        except ValueError as error:  # msgspec's is one too
            raise UsageError(f"options of {game.name}: {error}{_meaning(game, error)}") from error
        return options


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class TimeOptions:
    """How long a bot may think."""

    call_time: str | None = None
    """The limit of one call: 1s, 250ms, none. Default: the game's own."""
    opening_time: str | None = None
    """The limit of one call in the opening, for games that grant more time there; none: the same as later."""
    clock: str | None = None
    """A time bank for each bot, in seconds, and what every answer in time adds to it: 60+2, none. Default: the
    game's own."""

    def time(self, game: Game) -> TimeControl:
        """The game's own time control with what was asked for in its place."""
        return time_control(game.time, self.clock, self.call_time, self.opening_time)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """What a bot may use."""

    startup: str = "10s"
    """The limit of start-up, from the start of the process to its greeting."""
    memory: str = "256MiB"
    """What a bot with everything that it starts may hold: 256MiB, none."""
    cpu: str = "none"
    """CPU time that a bot may use in one game: 10s, none."""

    def limits(self) -> Limits:
        """In seconds and bytes."""
        startup_s = seconds(self.startup, "--startup")
        if startup_s is None:
            raise UsageError(f"--startup {self.startup}: the start needs a limit")
        return Limits(startup_s=startup_s, memory_bytes=size(self.memory, "--memory"), cpu_s=seconds(self.cpu, "--cpu"))


def find_game(name: str) -> Game:
    """The game of that name; UsageError lists those that there are."""
    try:
        return registry.game(name)
    except KeyError as error:
        raise UsageError(error.args[0]) from error


def own_options(game: Game) -> list[str]:
    """The names of the options that its rules have."""
    return [field.encode_name for field in msgspec.structs.fields(game.options)]


def _meaning(game: Game, error: ValueError) -> str:
    """What the option is for that a wrong value was given, in brackets; nothing if it was right for its type."""
    found = re.search(r"at `\$\.(\w+)", str(error)) if isinstance(error, msgspec.ValidationError) else None
    meanings = {name: text for name, _, text in report.options(game)}
    return f" ({meanings[found[1]]})" if found is not None else ""


def _value(text: str, where: str) -> Any:
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        raise UsageError(f"{where}: wanted is a number up to {MAX_INTEGER}")
    return value
