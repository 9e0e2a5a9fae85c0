"""The command line: argv to one call, what it prints, and the exit code. The only module that does either.

Exit codes: 0 played (or verified, or a check passed), 1 played, but a bot was at fault under `--strict` (or a replay
differs, or a check refuses the bot), 2 usage, 3 the run itself failed, 130 interrupted.
"""

import os
import secrets
import sys
import tempfile
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
from games.api import Call, Event, Game, Setup, State, TimeControl
from harness import exports, maps, new, report
from harness.check import output
from harness.check.archive import bot_in
from harness.check.course import check
from harness.check.findings import Checked, CheckReport, Level
from harness.debug import script_of
from harness.errors import RunError, UsageError
from harness.judge import Judged, Judgement, course, judge
from harness.launch import Entrant, check_seats, entrant, entrants
from harness.limits import Limits
from harness.referee import Match
from harness.replay import Difference, Replay, verify
from harness.series import Outcome, Series, numbered, play_series
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
    best_of: int | None = None,
    swap: bool = False,
    map: Annotated[str | None, Parameter(name=["--map", "-m"])] = None,
    set: Annotated[Sequence[str], Parameter(negative=())] = (),
    call_time: str | None = None,
    opening_time: str | None = None,
    clock: str | None = None,
    startup: str = "10s",
    memory: str = "256MiB",
    cpu: str = "none",
    encoding: Encoding | None = None,
    chaos: Annotated[bool, Parameter(negative=())] = False,
    replay: Path | None = None,
    export: tuple[str, Path] | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    strict: Annotated[bool, Parameter(negative=())] = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=())] = False,
    debug: Annotated[bool, Parameter(negative=())] = False,
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
    best_of
        Play one match of so many games at most: it ends when a bot has won more than half. The seats change every game.
    swap
        Exchange the seats in every second game.
    map
        A file with a map, or the name of one that comes along (`referee games` lists them), for games that have one.
    set
        KEY=VALUE, an option of the game's rules; may be given more than once.
    call_time
        The limit of one call: 1s, 250ms, none.
    opening_time
        The limit of one call in the opening, for games that grant more time there; none: the same as later.
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
    chaos
        Write to the bots in every form that the protocol allows, and draw the seats: a correct bot plays as without.
    replay
        Where the record goes; a number is added when there are several games. Default: a new file in ./replays.
    export
        FORMAT FILE: writes the record in another form too, such as aiarena21-replay; numbered likewise.
    json
        Print one machine-readable object on standard output and nothing else.
    strict
        Exit with 1 if a bot was at fault.
    verbose
        Print every turn.
    debug
        Run bots of the Python kit inside this process, without isolation and limits, so that a debugger stops in them.
    """
    startup_s = seconds(startup, "--startup")
    if startup_s is None:
        raise UsageError(f"--startup {startup}: the start needs a limit")
    limits = Limits(startup_s=startup_s, memory_bytes=size(memory, "--memory"), cpu_s=seconds(cpu, "--cpu"))
    if export is not None:
        exports.find(export[0], _game(game).name)
    if chaos:
        check_seats(bots, _game(game).name, every_seat=True)
    games, swap, first_to = _length(games, swap, best_of, len(bots))
    series = _series(bots, game, seed, games, swap, map, set, call_time, opening_time, clock, encoding, replay)
    series = msgspec.structs.replace(series, first_to=first_to, chaos=chaos)
    if debug:
        series = _debugged(series)
    warnings = _warnings(series.match)
    for warning in warnings:
        err.print(Text.assemble(("warning: ", "bold yellow"), report.printable(warning)))
    outcome = trio.run(_play, series, limits, _Screen(series, json, verbose))
    outcome = msgspec.structs.replace(outcome, warnings=warnings)
    exported = [] if export is None else _export(*export, outcome)
    if json:
        sys.stdout.buffer.write(msgspec.json.encode(outcome) + b"\n")
        sys.stdout.flush()
    elif len(outcome.matches) > 1:
        out.print(report.outcome(outcome, series.match.game.title))
    if not json:
        for path in exported:
            out.print(Text(f"export  {path}", style="dim"))
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


@app.command(name="check")
def check_bot(
    bot: str,
    *,
    game: str,
    seed: int | None = None,
    call_time: str | None = None,
    clock: str | None = None,
    startup: str = "10s",
    memory: str = "256MiB",
    chaos: Annotated[bool, Parameter(negative=())] = False,
    junit: Path | None = None,
    sarif: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
    strict: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Checks a bot before it is handed in: every call, every seat, both encodings, pipes, limits, whole matches.

    Exit codes: 0 passed, 1 refused, 2 usage, 3 the check itself failed (a build, a program that cannot be started).

    Parameters
    ----------
    bot
        As for a match, or a zip file of a bot's folder; NAME= in front names it.
    game
        The game's name.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    call_time
        The limit of one call: 1s, 250ms, none. Default: the game's own.
    clock
        A time bank in seconds, and what every answer in time adds to it: 60+2, none. Default: the game's own.
    startup
        The limit of start-up, from the start of the process to its greeting.
    memory
        What the bot with everything that it starts may hold: 256MiB, none.
    chaos
        Play the whole matches too with frames in every form that the protocol allows.
    junit
        Write the check as JUnit's XML to this file.
    sarif
        Write the findings as SARIF 2.1.0 to this file.
    json
        Print one machine-readable object on standard output and nothing else.
    strict
        Refuse the bot for warnings too.
    """
    checked = _game(game)
    startup_s = seconds(startup, "--startup")
    if startup_s is None:
        raise UsageError(f"--startup {startup}: the start needs a limit")
    limits = Limits(startup_s=startup_s, memory_bytes=size(memory, "--memory"))
    time = time_control(checked.time, clock, call_time)
    seed = secrets.randbits(32) if seed is None else seed
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        spec = bot_in(bot, Path(scratch))
        check_seats([spec], checked.name, every_seat=True)
        run = trio.run(_check, checked, entrant(spec), seed, limits, time, chaos)
    _write_check(run, bot, junit, sarif, strict)
    if json:
        sys.stdout.buffer.write(msgspec.json.encode(run) + b"\n")
        sys.stdout.flush()
    else:
        out.print(report.check(run))
    return AT_FAULT if not run.passed or (strict and run.count(Level.WARNING)) else PLAYED


@app.command(name="new")
def new_bot(game: str | None = None, folder: Path | None = None, *, lang: str | None = None) -> int:
    """Writes a bot to begin with: it builds, plays and is tested as it is. Without a game: lists what there is.

    Parameters
    ----------
    game
        The game's name.
    folder
        Where the bot goes, a new or an empty folder. Default: my_GAME_LANG.
    lang
        The language.
    """
    if game is None:
        out.print(report.kits({lang: new.games(lang, kit) for lang, kit in new.kits().items()}))
        return PLAYED
    if lang is None:
        raise UsageError(f"new {game}: needs --lang; there are {', '.join(new.kits())}")
    written = _game(game)
    folder = Path(f"my_{written.name}_{lang}") if folder is None else folder
    new.write(written, lang, folder)
    out.print(report.written(folder, written.name))
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


@replay_app.command(name="export")
def replay_export(format: str, replay: Path, file: Path) -> int:
    """Writes a recorded match in another form.

    Parameters
    ----------
    format
        aiarena21-replay: AI Arena 21's own replay.txt, for its viewer.
    replay
        The replay; nothing is written unless it verifies.
    file
        Where the other form goes.
    """
    try:
        exports.export(format, Replay(replay), file)
    except Difference as difference:
        out.print(Text(f"{replay}: {report.printable(str(difference))}"))
        return AT_FAULT
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
    map: str | None,
    settings: Sequence[str],
    call_time: str | None,
    opening_time: str | None,
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
    time = time_control(game.time, clock, call_time, opening_time)
    check_seats(bots, game.name, swap)
    seed = secrets.randbits(32) if seed is None else seed
    encodings = (Encoding.JSON, Encoding.MSGPACK) if encoding is None else (encoding,)
    path = _free_replay(game, seed) if replay is None else replay
    _check_setup(game, seed, len(bots), options)
    return Series(Match(game, entrants(bots), seed, options, time, encodings, path), games, swap)


def _length(games: int, swap: bool, best_of: int | None, seats: int) -> tuple[int, bool, int | None]:
    """How many games, whether the seats change, and how many wins decide."""
    if best_of is None:
        return games, swap, None
    if games != 1:
        raise UsageError(f"--best-of {best_of} --games {games}: one of the two")
    if best_of < 1:
        raise UsageError(f"--best-of {best_of}: there must be one game at least")
    if seats != 2:
        raise UsageError(f"--best-of {best_of}: that is for two bots; {seats} were named")
    return best_of, True, best_of // 2 + 1


def _debugged(series: Series) -> Series:
    """The series with its Python bots inside; a breakpoint must not run into the end of the match."""
    if series.chaos:
        raise UsageError("--debug --chaos: one of the two")
    for bot in series.match.entrants:
        if script_of(bot) is None:
            err.print(Text(f"{report.printable(bot.name)} runs in a process of its own: no bot of the Python kit"))
    match = series.match
    endless = msgspec.structs.replace(match.time, match_s=None)
    return msgspec.structs.replace(series, match=msgspec.structs.replace(match, time=endless), debug=True)


def _game(name: str) -> Game:
    try:
        return registry.game(name)
    except KeyError as error:
        raise UsageError(error.args[0]) from error


def _options(game: Game, settings: Sequence[str], map: str | None) -> Any:
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
        given["map"] = maps.read(game.name, map)
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


def _warnings(match: Match) -> tuple[str, ...]:
    """What the game says about its options, a map for example, though it plays with them."""
    return tuple(match.game.new(match.setup).warnings)


def _export(name: str, path: Path, outcome: Outcome) -> list[Path]:
    """Writes every record in another form too; where."""
    paths = [numbered(path, number, len(outcome.matches)) for number in range(len(outcome.matches))]
    for file, played in zip(paths, outcome.matches, strict=True):
        assert played.replay is not None
        exports.export(name, Replay(Path(played.replay)), file)
    return paths


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


async def _check(game: Game, bot: Entrant, seed: int, limits: Limits, time: TimeControl, chaos: bool) -> CheckReport:
    with Live(console=err, auto_refresh=False, transient=True) as live:

        def told(checked: Checked) -> None:
            live.update(Text(f"{checked.rule} {checked.status}", style="cyan"), refresh=err.is_terminal)

        return await check(game, bot, seed, limits, time, chaos, told)


def _write_check(run: CheckReport, bot: str, junit: Path | None, sarif: Path | None, strict: bool) -> None:
    """The files that were asked for; on GitHub the annotations, by standard error."""
    if junit is not None:
        output.write(junit, output.junit(run, strict))
    if sarif is not None:
        output.write(sarif, output.sarif(run, bot))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in output.annotations(run):
            err.print(Text(line))


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
        if not self.quiet and not self.series.debug and err.is_terminal:  # a debugger has the terminal to itself
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
