"""The command line: argv to one call, what it prints, and the exit code. The only module that does either.

Exit codes: 0 played (or verified), 1 played, but a bot was at fault under `--strict` (or a replay differs), 2 usage,
3 the run itself failed, 130 interrupted.
"""

import os
import secrets
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import trio
from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.live import Live
from rich.text import Text

from games import registry
from games.api import Call, Event, Game, Setup, State
from harness import report
from harness.errors import RunError, UsageError
from harness.judge import Judged, Judgement, course, judge
from harness.launch import Entrant, check_seats, entrant, entrants
from harness.limits import Limits
from harness.referee import Match
from harness.replay import Difference, Replay, verify
from harness.series import Outcome, Series, play_series
from harness.units import seconds, size, time_control
from harness.verdict import Verdict
from protocol.messages import Encoding

PLAYED, AT_FAULT, USAGE, FAILED, INTERRUPTED = 0, 1, 2, 3, 130
LIVE_EVERY_S = 0.2


class _Console(Console):
    """Leaves it to `main` to end when nobody reads on: rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


out = _Console(highlight=False, soft_wrap=True)
err = Console(highlight=False, soft_wrap=True, stderr=True)

app = App(
    name="referee",
    help="A match between any two programs: fair, fast and on the record.",
    help_on_error=False,
    result_action="return_value",
)
replay_app = App(name="replay", help="Verify and read the records of matches.")
app.command(replay_app)


@app.default
def match(
    *bots: str,
    game: str,
    seed: int | None = None,
    games: int = 1,
    swap: bool = False,
    map: Path | None = None,
    set: Annotated[Sequence[str], Parameter(negative=())] = (),
    call_time: str | None = None,
    clock: str | None = None,
    startup: str = "10s",
    memory: str = "256MiB",
    cpu: str = "none",
    encoding: Encoding | None = None,
    replay: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    strict: Annotated[bool, Parameter(negative=())] = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
) -> int:
    """Plays a game between bots.

    Parameters
    ----------
    bots
        One for each seat: PATH (an executable, a folder with bot.toml, or a source file), @random (built in) or
        cmd:'COMMAND LINE'; NAME= in front names it.
    game
        The game's name; `referee games` lists them.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    games
        How many games to play, each with a seed of its own that follows from the seed.
    swap
        Exchange the seats in every second game.
    map
        A file with a map, for games that have one.
    set
        KEY=VALUE, an option of the game's rules; may be given more than once.
    call_time
        The limit of one call: 1s, 250ms, none.
    clock
        A time bank for each bot, in seconds, and what every answer in time adds to it: 60+2, none.
    startup
        The limit of start-up, from the start of the process to its greeting.
    memory
        What a bot with everything that it starts may hold: 256MiB, none.
    cpu
        CPU time that a bot may use in one game: 10s, none.
    encoding
        Offer only this encoding to the bots.
    replay
        Where the record goes; a number is added when there are several games. Default: a new file in ./replays.
    json
        Print one machine-readable object on standard output and nothing else.
    strict
        Exit with 1 if a bot was at fault.
    verbose
        Print every turn.
    """
    startup_s = seconds(startup, "--startup")
    if startup_s is None:
        raise UsageError(f"--startup {startup}: the start needs a limit")
    limits = Limits(startup_s=startup_s, memory_bytes=size(memory, "--memory"), cpu_s=seconds(cpu, "--cpu"))
    series = _series(bots, game, seed, games, swap, map, set, call_time, clock, encoding, replay)
    outcome = trio.run(_play, series, limits, _Screen(series, json, verbose))
    if json:
        sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
        sys.stdout.flush()
    elif len(outcome.matches) > 1:
        out.print(report.outcome(outcome, series.match.game.title))
    return AT_FAULT if strict and any(played.faults for played in outcome.matches) else PLAYED


@app.command
def games(name: str | None = None) -> int:
    """Lists the games with their functions and options.

    Parameters
    ----------
    name
        Only this game.
    """
    out.print(report.games([_game(name)] if name is not None else [_game(name) for name in registry.names()]))
    return PLAYED


@app.command(name="judge")
def judge_bot(
    bot: str,
    *,
    game: str,
    seed: int | None = None,
    replay: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Plays a bot against every built-in case of an Arena game: 100 points in all.

    Parameters
    ----------
    bot
        As for a match: PATH, cmd:'COMMAND LINE' or @NAME; NAME= in front names it.
    game
        The game's name.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    replay
        The folder for the records, one a case. Default: a new one in ./replays.
    json
        Print one machine-readable object on standard output and nothing else.
    """
    judged = _game(game)
    cases = len(course(judged.name).cases)
    check_seats([bot], judged.name, every_seat=True)
    seed = secrets.randbits(32) if seed is None else seed
    folder = Path("replays", _free_stem(f"{judged.name}-judged-{seed}")) if replay is None else replay
    judgement = trio.run(_judge, judged.name, entrant(bot), seed, folder, cases)
    if json:
        sys.stdout.buffer.write(msgspec.json.encode(judgement) + b"\n")
        sys.stdout.flush()
    else:
        out.print(report.judgement(judgement, judged.title))
        out.print(Text(f"replays  {folder}", style="dim"))
    return PLAYED


@replay_app.command(name="verify")
def replay_verify(file: Path) -> int:
    """Plays a recorded match again from its setup and answers: "identical", or the first line that differs.

    Parameters
    ----------
    file
        The replay.
    """
    replay = Replay(file)
    try:
        result = verify(replay)
    except Difference as difference:
        out.print(Text(f"{file}: {report.printable(str(difference))}"))
        return AT_FAULT
    out.print(Text(f"{file}: identical, {len(replay.lines)} lines, {report.printable(result.reason)}"))
    return PLAYED


@replay_app.command(name="show")
def replay_show(file: Path) -> int:
    """Steps through a recorded match as text.

    Parameters
    ----------
    file
        The replay.
    """
    for step in report.steps(Replay(file)):
        out.print(step, end="\n\n")
    return PLAYED


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code."""
    try:
        code = app(argv, exit_on_error=False, print_error=False)
        return PLAYED if code is None else int(code)
    except CycloptsError as error:
        return _fail(" ".join(str(error).split()), USAGE)
    except UsageError as error:
        return _fail(str(error), USAGE)
    except BaseException as error:
        return _ended_by(error)


def _ended_by(error: BaseException) -> int:
    """The exit code of what the tasks of a run have raised; a bug of ours goes on with its trace."""
    if _inside(error, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    if _inside(error, BrokenPipeError):
        # Whoever read our output has had enough; so that Python does not complain at exit, there is none any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PLAYED
    if found := _inside(error, RunError):
        return _fail(str(found), FAILED)
    raise error


def _inside(error: BaseException, kind: type[BaseException]) -> BaseException | None:
    """The first exception of that kind, in however many groups it is wrapped."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, (_inside(inner, kind) for inner in error.exceptions)), None)
    return error if isinstance(error, kind) else None


def _fail(message: str, code: int) -> int:
    first, *rest = message.split("\n")
    err.print(Text.assemble(("referee: ", "bold red"), report.printable(first)))
    for line in rest:
        err.print(Text("  " + report.printable(line)))
    return code


# From options to what is to be played.


def _series(
    bots: Sequence[str],
    game_name: str,
    seed: int | None,
    games: int,
    swap: bool,
    map: Path | None,
    settings: Sequence[str],
    call_time: str | None,
    clock: str | None,
    encoding: Encoding | None,
    replay: Path | None,
) -> Series:
    """Everything is checked before anything is built or started."""
    game = _game(game_name)
    if len(bots) not in game.seats:
        wanted = " or ".join(str(count) for count in game.seats)
        raise UsageError(f"{game.name} is played by {wanted} bots; {len(bots)} were named")
    if games < 1:
        raise UsageError(f"--games {games}: there must be one at least")
    options = _options(game, settings, map)
    time = time_control(game.time, clock, call_time)
    check_seats(bots, game.name, swap)
    seed = secrets.randbits(32) if seed is None else seed
    encodings = (Encoding.JSON, Encoding.MSGPACK) if encoding is None else (encoding,)
    path = _free_replay(game, seed) if replay is None else replay
    _check_setup(game, seed, len(bots), options)
    return Series(Match(game, entrants(bots), seed, options, time, encodings, path), games, swap)


def _game(name: str) -> Game:
    try:
        return registry.game(name)
    except KeyError as error:
        raise UsageError(error.args[0]) from error


def _options(game: Game, settings: Sequence[str], map: Path | None) -> Any:
    """The game's options from KEY=VALUE (a value is JSON, or else text) and the content of a map."""
    given: dict[str, Any] = {}
    known = [field.encode_name for field in msgspec.structs.fields(game.options)]
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in known:
            wanted = ", ".join(known) or "none"
            raise UsageError(f"--set {setting}: wanted is KEY=VALUE; options of {game.name}: {wanted}")
        given[key] = _value(value)
    if map is not None:
        if "map" not in known:
            raise UsageError(f"--map {map}: {game.name} has no maps")
        try:
            given["map"] = map.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--map {map}: {error}") from error
    try:
        return msgspec.convert(given, game.options)
    except msgspec.ValidationError as error:
        raise UsageError(f"options of {game.name}: {error}") from error


def _check_setup(game: Game, seed: int, seats: int, options: Any) -> None:
    """Makes the first position, so that a map which the game refuses is refused before anything is built."""
    try:
        game.new(Setup(seed, tuple(map(str, range(seats))), options))
    except ValueError as error:
        raise UsageError(f"options of {game.name}: {error}") from error


def _value(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _free_replay(game: Game, seed: int) -> Path:
    """A file in ./replays that is not there yet: a record is never written over unless it was asked for by name."""
    return Path("replays", _free_stem(f"{game.name}-{seed}") + ".jsonl")


def _free_stem(stem: str) -> str:
    """`stem`, or that with a number where ./replays has records of that name."""
    folder = Path("replays")
    free, number = stem, 1
    while (folder / free).exists() or list(folder.glob(f"{free}.*")) or list(folder.glob(f"{free}-*.jsonl")):
        number += 1
        free = f"{stem}.{number}"
    return free


# What is shown while it plays.


async def _play(series: Series, limits: Limits, screen: "_Screen") -> Outcome:
    with screen:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(screen.refresh)
            try:
                return await play_series(series, limits, screen.turned, screen.played)
            finally:
                nursery.cancel_scope.cancel()


async def _judge(game: str, bot: Entrant, seed: int, folder: Path, cases: int) -> Judgement:
    done: list[Judged] = []
    with Live(console=err, auto_refresh=False, transient=True) as live:

        def judged(case: Judged) -> None:
            done.append(case)
            points = sum(case.points for case in done)
            live.update(Text(f"case {len(done)}/{cases}  {points} points", style="cyan"), refresh=err.is_terminal)

        return await judge(game, bot, seed, Limits(), folder, judged)


class _Screen:
    """A live line on standard error, if that is a terminal; verdicts, and turns if asked for, on standard output."""

    def __init__(self, series: Series, quiet: bool, verbose: bool) -> None:
        self.series = series
        self.quiet = quiet
        self.verbose = verbose
        self.started = time.monotonic()
        self.turn = 0
        self.matches: list[Verdict] = []
        self.points = [0.0] * len(series.match.entrants)
        # Refreshed by our own task: a thread of rich's would take the interpreter in the middle of somebody's call.
        self.live = Live(console=err, auto_refresh=False, transient=True)

    def __enter__(self) -> "_Screen":
        if not self.quiet and err.is_terminal:
            self.live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.stop()

    async def refresh(self) -> None:
        """Draws the live line, a few times a second."""
        while self.live.is_started:
            self.live.update(self._line(), refresh=True)
            await trio.sleep(LIVE_EVERY_S)

    def turned(self, state: State, calls: Sequence[Call], answers: Mapping[int, Any], events: Sequence[Event]) -> None:
        """A turn was played."""
        self.turn += 1
        if self.verbose and not self.quiet:
            out.print(report.turn(self.turn, state.setup.names, answers, events))

    def played(self, match: Verdict, order: tuple[int, ...]) -> None:
        """A match was played."""
        self.matches.append(match)
        self.turn = 0
        for player, index in enumerate(order):
            self.points[index] += match.result.scores[player]
        if not self.quiet:
            title = self.series.match.game.title
            several = self.series.games > 1 and not match.faults
            out.print(report.headline(match, title) if several else report.verdict(match, title))

    def _line(self) -> Text:
        series = self.series
        score = "  ".join(
            f"{report.printable(entrant.name)} {points:g}"
            for entrant, points in zip(series.match.entrants, self.points, strict=True)
        )
        number = min(len(self.matches) + 1, series.games)
        elapsed = time.monotonic() - self.started
        return Text(f"game {number}/{series.games}  turn {self.turn}  {score}  {elapsed:.1f} s", style="cyan")


if __name__ == "__main__":
    sys.exit(main())
