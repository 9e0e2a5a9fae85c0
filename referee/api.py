"""The functions of `import referee`: games, setups, matches and replays. Documented in docs/reference/api.md."""

import os
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack

import msgspec
import trio

from referee import notebook
from referee.games import registry
from referee.games.contract import Setup, State
from referee.games.game import Game, TimeControl
from referee.harness.common import maps
from referee.harness.common.errors import FOR_USERS, RunError, UsageError, first_of, leaves
from referee.harness.common.known_games import typed_game
from referee.harness.common.type_errors import in_words
from referee.harness.match import rule_options
from referee.harness.match.match import Match, Watcher
from referee.harness.match.series import Outcome, Series, play_series
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.build_process import Progress
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant, with_unique_names
from referee.harness.programs.spec import entrants
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import positions, verify
from referee.harness.seats.function import Function, function_entrant
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

# Notebooks ask values to show themselves. Matches and replays must not import pages, so they get these methods here.
setattr(Verdict, "_repr_html_", notebook.verdict_html)  # noqa: B010 - their types have no such attribute
setattr(Replay, "_repr_html_", notebook.replay_html)  # noqa: B010
for _kind in (UsageError, RunError):
    setattr(_kind, "_render_traceback_", notebook.error_lines)  # noqa: B010 - IPython asks for it

Bot = str | os.PathLike[str] | Function
"""As on the command line: a path, a built-in bot such as `@random`, or `cmd:COMMAND LINE`; `NAME=` may precede it. Or a
Python function that takes a `Decision` and returns an answer."""
P = ParamSpec("P")
R = TypeVar("R")


def game_names() -> list[str]:
    """Returns the names of all installed games, sorted."""
    return registry.names()


def game(name: str) -> Game:
    """Returns the game of that name, or of the folder with that path.

    UsageError if there is none, RunError if its package is not installed.
    """
    return typed_game(name)


def setup(
    name: str, *, seed: int = 0, names: Sequence[str] | None = None, map: str | None = None, **options: Any
) -> Setup:
    """Returns the setup that determines a match of that game. UsageError for invalid arguments.

    Args:
        name: The game.
        seed: An unsigned integer of 64 bits, for all random draws.
        names: One for each seat. Default: as many as the game needs at least.
        map: A file, or the name of a bundled map.
        options: The options of the rules, by name.
    """
    return setup_of(game(name), seed=seed, names=names, map=map, **options)


def setup_of(
    found: Game, *, seed: int = 0, names: Sequence[str] | None = None, map: str | None = None, **options: Any
) -> Setup:
    """As `setup`, for a game that is known already."""
    _check("seed", seed, int)
    seats = tuple(f"player {player}" for player in range(found.seats.start)) if names is None else tuple(names)
    rule_options.check_count(found, len(seats))
    return Setup(rule_options.checked_seed(seed), seats, _options(found, map, options, len(seats)))


def new(name: str, **arguments: Any) -> State:
    """Returns the first position of a match, with the arguments of `setup`."""
    return game(name).new(setup(name, **arguments))


def read_replay(path: str | os.PathLike[str]) -> Replay:
    """Returns a replay. UsageError if the file is none, or belongs to another version of the rules."""
    return Replay(Path(path))


class Conditions(TypedDict, total=False):
    """The keyword arguments that `play` and `play_games` share."""

    seed: int | None
    """An unsigned integer of 64 bits, for all random draws. Default: drawn."""
    map: str | None
    """As for `setup`."""
    options: Mapping[str, Any] | None
    """As for `setup`."""
    time: TimeControl | None
    """How long a bot may think. Default: the game's time control."""
    limits: Limits | None
    """The resources that a bot may use. Default: `Limits()`."""
    encodings: Sequence[Encoding]
    """The encodings that bots may choose from. Default: all."""
    replay: str | os.PathLike[str] | None
    """The replay's path; an existing file is replaced. Default: no replay, and the bots' standard error is not kept."""
    watcher: Watcher | None
    """Called after every turn. It must be quick: the match waits for it."""


Played = Callable[[Verdict, tuple[int, ...]], None]
"""Called after every game, with the verdict and, by seat, the bot's index in the list."""


def play(name: str, bots: Sequence[Bot], **conditions: Unpack[Conditions]) -> Verdict:
    """Plays one match between bots, one for each seat, and returns the verdict.

    The optional keyword arguments are the `Conditions`: `seed`, `map`, `options`, `time`, `limits`, `encodings`,
    `replay` and `watcher`.

    A Python function plays in this process, without a clock, limits or isolation, which the verdict says.

    A bot's faults are in the verdict. UsageError, before anything is started, for invalid arguments; RunError if the
    run itself fails: a build, the start of a program, a replay that cannot be written. An exception of the watcher ends
    the match and is raised unchanged.
    """
    return _run(play_async, name, bots, **conditions)


async def play_async(name: str, bots: Sequence[Bot], **conditions: Unpack[Conditions]) -> Verdict:
    """As `play`, for callers that run trio already."""
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

    With `swap`, the seats rotate by one in every second game. `played` is called after each game. Replays are numbered,
    as in `match-07.jsonl`.
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
    """As `play_games`, for callers that run trio already."""
    with _unwrapped():
        return await _play_games(name, bots, games, swap, played, conditions)


async def _play_games(
    name: str, bots: Sequence[Bot], games: int, swap: bool, played: Played | None, conditions: Conditions
) -> Outcome:
    if unknown := conditions.keys() - Conditions.__annotations__.keys():
        raise TypeError(f"unknown {', '.join(sorted(unknown))}; there are {', '.join(Conditions.__annotations__)}")
    found, limits = game(name), conditions.get("limits") or Limits()
    specs = checked_bots(found, bots, every_seat=swap)
    for argument, kind in KINDS.items():
        if conditions.get(argument) is not None:
            _check(argument, conditions.get(argument), kind)
    _check("games", games, int)
    if games < 1:
        raise UsageError(f"games={games}: expected a number from 1 on")
    seed, time, replay = conditions.get("seed"), conditions.get("time"), conditions.get("replay")
    match = Match(
        game=found,
        entrants=await trio.to_thread.run_sync(_built, specs, found, limits, abandon_on_cancel=True),
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
"""The types of the arguments that would otherwise fail in the middle of a match."""


def _check(name: str, value: Any, kind: Any) -> None:
    """Raises UsageError unless the value has that type, with valid numbers."""
    if not isinstance(value, kind) or isinstance(value, bool):
        expected = {int: "an integer", Mapping: "a mapping", Callable: "a function"}.get(kind, f"a {kind.__name__}")
        raise UsageError(f"{name}={value!r}: expected {expected}")
    if isinstance(value, TimeControl | Limits):
        for field, number in msgspec.structs.asdict(value).items():
            if isinstance(number, int | float) and not number >= 0:
                raise UsageError(f"{name}: {field}={number}: expected a number from 0 on")
        try:
            msgspec.convert(msgspec.to_builtins(value), kind)
        except msgspec.ValidationError as error:
            raise UsageError(f"{name}: {in_words(error, kind)}") from error


def _encodings(given: Sequence[Encoding]) -> tuple[Encoding, ...]:
    """Raises UsageError for an unknown encoding, and for an empty list."""
    known = tuple(Encoding)
    if isinstance(given, str) or not given or any(each not in known for each in given):
        raise UsageError(f"encodings={given!r}: expected a list of {' and '.join(known)}, or of one of them")
    return tuple(map(Encoding, given))


def _options(found: Game, map: str | None, given: Mapping[str, Any], seats: int) -> Any:
    if map is not None:
        if "map" not in rule_options.option_names(found):
            raise UsageError(f"map={map!r}: {found.name} has no maps; leave it out")
        given = {**given, "map": maps.read(found.name, map)}
    return rule_options.options(found, given, seats)


def checked_bots(found: Game, bots: Sequence[Bot], every_seat: bool = False) -> list[str | Function]:
    """Returns bot specs and functions. UsageError unless they can play. `every_seat`: each will take every seat."""
    if isinstance(bots, str | os.PathLike) or not isinstance(bots, Iterable):
        raise UsageError(f"bots={bots!r}: expected a list, with one bot for each seat")
    for place, bot in enumerate(bots := list(bots)):
        if not callable(bot) and not isinstance(bot, str | os.PathLike):
            raise UsageError(f"bots[{place}]={bot!r}: expected a path, a name such as '@random', or a function")
    specs = [bot if callable(bot) else os.fspath(bot) for bot in bots]
    rule_options.check_count(found, len(specs))
    check_seats(["" if callable(spec) else spec for spec in specs], found.name, every_seat)
    return specs


def seated(
    specs: Sequence[str | Function], found: Game, limits: Limits, progress: Progress | None = None
) -> tuple[Entrant, ...]:
    """Returns the entrants of bots, built. RunError for a failed build."""
    programs = iter(entrants([spec for spec in specs if isinstance(spec, str)], found.name, limits, progress=progress))
    both = [next(programs) if isinstance(spec, str) else function_entrant(spec) for spec in specs]
    return tuple(with_unique_names(both))


def _built(specs: Sequence[str | Function], found: Game, limits: Limits) -> tuple[Entrant, ...]:
    """As `seated`, in a thread of trio's: Ctrl-C, or the end of the caller's scope, ends the builds."""
    return seated(specs, found, limits, lambda *_: trio.from_thread.check_cancelled())


def _run(function: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
    """Runs an async function with these arguments in trio."""

    async def main() -> R:
        return await function(*args, **kwargs)

    return trio.run(main)


@contextmanager
def _unwrapped() -> Iterator[None]:
    """Raises our errors, and single ones such as a watcher's, without the groups and cancelled tasks around them."""
    try:
        yield
    except BaseExceptionGroup as group:
        alone = [leaf for leaf in leaves(group) if not isinstance(leaf, trio.Cancelled)] or [*leaves(group)]
        # A group says nothing more, in many lines.
        raise (first_of(group, *FOR_USERS) or (alone[0] if len(alone) == 1 else group)) from None
