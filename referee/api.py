"""What `import referee` offers, beside the types: games, setups, matches, records. Documented in docs/api.md."""

import os
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack

import msgspec
import trio

from referee.games import registry
from referee.games.contract import Game, Setup, State, TimeControl
from referee.harness.errors import RunError, UsageError
from referee.harness.match import maps, rule_options
from referee.harness.match.play import Match, Watcher
from referee.harness.match.series import Outcome, Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import Entrant, check_seats, entrants
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions, verify
from referee.harness.web import notebook
from referee.protocol.messages import Encoding

__all__ = [
    "Conditions",
    "game",
    "game_names",
    "new",
    "play",
    "play_async",
    "play_games",
    "play_games_async",
    "positions",
    "read_replay",
    "setup",
    "verify",
]

# Notebooks ask values to show themselves. The page stands above matches and records, so it is given to them from here.
setattr(Verdict, "_repr_html_", notebook.verdict_html)  # noqa: B010 - no attribute that their types have
setattr(Replay, "_repr_html_", notebook.replay_html)  # noqa: B010
for _kind in (UsageError, RunError):
    setattr(_kind, "_render_traceback_", notebook.error_lines)  # noqa: B010 - IPython asks for it

Bot = str | os.PathLike[str]
"""As on the command line: a path, `@random` and the like, `cmd:COMMAND LINE`; `NAME=` in front names it."""
P = ParamSpec("P")
R = TypeVar("R")


def game_names() -> list[str]:
    """The names of all installed games, sorted."""
    return registry.names()


def game(name: str) -> Game:
    """The game of that name. UsageError, with the names there are, for any other."""
    try:
        return registry.game(name)
    except KeyError as error:
        raise UsageError(error.args[0]) from error


def setup(
    name: str, *, seed: int = 0, names: Sequence[str] | None = None, map: str | None = None, **options: Any
) -> Setup:
    """What a match of that game follows from.

    `seed`: of all luck, an unsigned integer of 64 bits. `names`: one a seat; as many as the game needs at least unless
    given. `map`: a file, or the name of a map that comes along. `options`: those of the rules, by name. UsageError for
    whatever cannot be.
    """
    found = game(name)
    _check("seed", seed, int)
    seats = tuple(f"player {player}" for player in range(found.seats.start)) if names is None else tuple(names)
    rule_options.check_count(found, len(seats))
    return Setup(rule_options.checked_seed(seed), seats, _options(found, map, options, len(seats)))


def new(name: str, **given: Any) -> State:
    """The first position of a match: `setup` with these arguments, and the engine on it."""
    return game(name).new(setup(name, **given))


def read_replay(path: str | os.PathLike[str]) -> Replay:
    """The record of a match. UsageError if it is none, or of other rules than ours."""
    return Replay(Path(path))


class Conditions(TypedDict, total=False):
    """Under which conditions matches are played: what `play` and `play_games` take by name beside their own."""

    seed: int | None
    """Of all luck, an unsigned integer of 64 bits; drawn unless given."""
    map: str | None
    """As for `setup`."""
    options: Mapping[str, Any] | None
    """As for `setup`."""
    time: TimeControl | None
    """How long a bot may think; the game's own unless given."""
    limits: Limits | None
    """What a bot may use; the referee's own unless given."""
    encodings: Sequence[Encoding]
    """What bots may speak; all unless given."""
    replay: str | os.PathLike[str] | None
    """Where the record goes, written over if it is there; without it there is none, and standard error of the bots is
    not kept either."""
    watcher: Watcher | None
    """Is told of every turn when it has been played, and must be quick: the clocks wait for it."""


Played = Callable[[Verdict, tuple[int, ...]], None]
"""Is told of a game when it is over, with the place on the list of the bot at each seat."""


def play(name: str, bots: Sequence[Bot], **conditions: Unpack[Conditions]) -> Verdict:
    """Plays one match between programs, one for each seat, and gives what became of it.

    By name, all of them optional, the `Conditions`: `seed`, `map`, `options`, `time`, `limits`, `encodings`, `replay`
    and `watcher`.

    A bot's fault stands in the verdict. UsageError for what cannot be, before anything is started; RunError if the run
    itself fails: a build, a program that cannot be started, a record that cannot be written. What the watcher raises
    ends the match and comes out as it is.
    """
    return _run(play_async, name, bots, **conditions)


async def play_async(name: str, bots: Sequence[Bot], **conditions: Unpack[Conditions]) -> Verdict:
    """As `play`, for whoever runs trio already."""
    outcome = await play_games_async(name, bots, **conditions)
    return outcome.matches[0]


def play_games(
    name: str,
    bots: Sequence[Bot],
    *,
    games: int = 1,
    swap: bool = False,
    played: Played | None = None,
    **conditions: Unpack[Conditions],
) -> Outcome:
    """Plays several games between the same bots, under the same conditions as `play`.

    `swap`: the seats are turned by one in every second game. `played` is told of each game. Records are numbered, as in
    `match-07.jsonl`.
    """
    return _run(play_games_async, name, bots, games=games, swap=swap, played=played, **conditions)


async def play_games_async(
    name: str,
    bots: Sequence[Bot],
    *,
    games: int = 1,
    swap: bool = False,
    played: Played | None = None,
    **conditions: Unpack[Conditions],
) -> Outcome:
    """As `play_games`, for whoever runs trio already."""
    if unknown := conditions.keys() - Conditions.__annotations__.keys():
        raise TypeError(f"unknown {', '.join(sorted(unknown))}; there are {', '.join(Conditions.__annotations__)}")
    found, limits = game(name), conditions.get("limits") or Limits()
    if isinstance(bots, str | os.PathLike):
        raise UsageError(f"bots={bots!r}: wanted is a list, with one for each seat")
    specs = [os.fspath(bot) for bot in bots]
    rule_options.check_count(found, len(specs))
    for argument, kind in KINDS.items():
        if conditions.get(argument) is not None:
            _check(argument, conditions.get(argument), kind)
    _check("games", games, int)
    if games < 1:
        raise UsageError(f"games={games}: there must be one at least")
    check_seats(specs, found.name, every_seat=swap)
    seed, time, replay = conditions.get("seed"), conditions.get("time"), conditions.get("replay")
    match = Match(
        game=found,
        entrants=await _built(specs, found.name, limits),
        seed=secrets.randbits(64) if seed is None else rule_options.checked_seed(seed),
        options=_options(found, conditions.get("map"), conditions.get("options") or {}, len(specs)),
        time=found.time if time is None else time,
        encodings=_encodings(conditions.get("encodings", tuple(Encoding))),
        replay=None if replay is None else Path(replay),
    )
    return await play_series(Series(match, games, swap), limits, conditions.get("watcher"), played)


KINDS: dict[str, Any] = {
    "seed": int,
    "options": Mapping,
    "time": TimeControl,
    "limits": Limits,
    "watcher": Callable,
}
"""Of which type an argument must be, for those that would fail in the middle of a match otherwise."""


def _check(name: str, value: Any, kind: Any) -> None:
    """UsageError unless it is of that type, with numbers that can be."""
    if not isinstance(value, kind) or isinstance(value, bool):
        expected = {int: "an integer", Mapping: "a mapping", Callable: "a function"}.get(kind, f"a {kind.__name__}")
        raise UsageError(f"{name}={value!r}: wanted is {expected}")
    if isinstance(value, TimeControl | Limits):
        try:
            msgspec.convert(msgspec.to_builtins(value), kind)
        except msgspec.ValidationError as error:
            raise UsageError(f"{name}: {error}") from error
        for field, number in msgspec.structs.asdict(value).items():
            if isinstance(number, int | float) and not number >= 0:
                raise UsageError(f"{name}: {field}={number}: it cannot be below zero")


def _encodings(given: Sequence[Encoding]) -> tuple[Encoding, ...]:
    """UsageError for one that there is not, and for none."""
    known = tuple(Encoding)
    if isinstance(given, str) or not given or any(each not in known for each in given):
        raise UsageError(f"encodings={given!r}: wanted is a list of {' and '.join(known)}, or of one of them")
    return tuple(map(Encoding, given))


def _options(found: Game, map: str | None, given: Mapping[str, Any], seats: int) -> Any:
    if map is not None:
        if "map" not in rule_options.option_names(found):
            raise UsageError(f"map={map!r}: {found.name} has no maps")
        given = {**given, "map": maps.read(found.name, map)}
    return rule_options.options(found, given, seats)


async def _built(specs: Sequence[str], game: str, limits: Limits) -> tuple[Entrant, ...]:
    """Builds beside the loop, so that whoever shares it is not held up."""
    return await trio.to_thread.run_sync(entrants, specs, game, limits)


def _run(function: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
    """`trio.run`; an error of ours, or one alone, comes out as it is, not in a group."""

    async def main() -> R:
        return await function(*args, **kwargs)

    try:
        return trio.run(main)
    except BaseExceptionGroup as group:
        raise (_ours(group) or _single(group)) from None  # the group says nothing more, in many lines


def _single(error: BaseException) -> BaseException:
    """What is in a group, and in groups in it, if it is one alone: such as what a watcher raised."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _ours(error: BaseException) -> BaseException | None:
    """The first of our errors, in however many groups it is wrapped."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(_ours, error.exceptions)), None)
    return error if isinstance(error, RunError | UsageError) else None
