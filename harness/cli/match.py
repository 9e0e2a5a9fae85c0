"""`referee --game GAME BOT BOT`: plays a game between bots."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.text import Text

from referee.harness.cli.exit_codes import AT_FAULT, PLAYED, SoFar
from referee.harness.cli.options import Flag, LimitOptions, RuleOptions, TimeOptions, check_game_options, drawn, game_of
from referee.harness.cli.person import Hands
from referee.harness.cli.reports.text import printable
from referee.harness.cli.reports.verdict import outcome as standings
from referee.harness.cli.reproduce_with import words
from referee.harness.cli.screen import Screen, building, err, out, print_json
from referee.harness.cli.serve import remote_seats
from referee.harness.cli.signals import run
from referee.harness.cli.watch import WatchOptions, watched
from referee.harness.errors import RunError, UsageError, ungrouped
from referee.harness.match.play import Match
from referee.harness.match.rule_options import begun, check_count
from referee.harness.match.series import Outcome, People, Series, missing, numbered, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import check_seats, entrants
from referee.harness.replay.formats import exports
from referee.harness.replay.reader import Replay
from referee.harness.replay.writer import claimed
from referee.harness.seats.inside import script_of
from referee.harness.tournament.execution import core_locks
from referee.harness.tournament.execution.side_by_side import play_side_by_side
from referee.protocol.messages import Encoding

MATCH = Parameter(group="Match")
SERIES = Parameter(group="Several games")
RECORD = Parameter(group="Record", negative=())
OUTPUT = Parameter(group="Output")


def match(
    *bots: str,
    game: Annotated[str | None, MATCH] = None,
    seed: Annotated[int | None, MATCH] = None,
    games: Annotated[int, SERIES] = 1,
    swap: Annotated[Flag, SERIES] = False,
    best_of: Annotated[int | None, SERIES] = None,
    jobs: Annotated[int | None, SERIES] = None,
    rules: RuleOptions = RuleOptions(),
    times: TimeOptions = TimeOptions(),
    limit_options: LimitOptions = LimitOptions(),
    encoding: Annotated[Encoding | None, MATCH] = None,
    chaos: Annotated[Flag, MATCH] = False,
    replay: Annotated[Path | None, RECORD] = None,
    no_replay: Annotated[Flag, RECORD] = False,
    export: Annotated[tuple[str, Path] | None, RECORD] = None,
    json: Annotated[Flag, OUTPUT] = False,
    strict: Annotated[Flag, OUTPUT] = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=(), group="Output")] = False,
    debug: Annotated[Flag, MATCH] = False,
    arena: Annotated[str, MATCH] = "127.0.0.1:8080",
    pages: WatchOptions = WatchOptions(),
    **game_options: Annotated[
        str, Parameter(help="An option of the game's rules; `referee games` lists them.", group="Rules")
    ],
) -> int:
    """Plays a game between bots.

    Parameters
    ----------
    bots
        One for each seat: PATH (an executable, a folder with bot.toml, or a source file), @random (built in),
        cmd:'COMMAND LINE', human (you, in this terminal), script:FILE (an answer a line, then the first legal) or
        http://ADDRESS (a team's web service, for the Arena's games); NAME= in front names it.
    game
        The game's name; `referee games` lists them. Not needed where a bot's bot.toml names it.
    seed
        The seed of all luck. Without it one is drawn, and printed.
    games
        How many games to play, each with a seed of its own that follows from the seed.
    swap
        Exchange the seats in every second game.
    best_of
        Play one match of so many games at most: it ends when a bot has won more than half. The seats change every game.
    jobs
        Play so many of several games side by side, each on a physical core of its own. What a bot learns in a game it
        then knows in later ones of the same core only. Default: all physical cores, as long as each has two games.
    encoding
        Offer only this encoding to the bots.
    chaos
        Write to the bots in every form that the protocol allows, and draw the seats: a correct bot plays as without.
    replay
        Where the record goes; a number is added when there are several games. Default: a new file in ./replays.
    no_replay
        Keep no record, nor the bots' standard error.
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
    arena
        ADDRESS:PORT where web services that play find their battles.
    """
    played = game_of(bots, game)
    check_game_options(played, game_options)
    check_count(played, len(bots))
    limits, time, options = limit_options.limits(), times.time(played), rules.options(played, len(bots), game_options)
    games, swap, first_to = _length(games, swap, best_of, len(bots))
    check_seats(bots, played.name, every_seat=swap or chaos)
    if export is not None:
        exports.find(export[0], played.name)
    if no_replay and (replay is not None or export is not None):
        raise UsageError(f"--no-replay {'--replay' if replay is not None else '--export'}: one of the two")
    pages.check(no_replay)
    seed = drawn(seed)
    encodings = tuple(Encoding) if encoding is None else (encoding,)
    with nullcontext(replay) if replay is not None or no_replay else _claimed(played.name, games) as path:
        programs = entrants(bots, played.name, limits, people=True, progress=building)
        first = Match(played, programs, seed, options, time, encodings, path, bundles=True)
        again = words(played, (rules, times, limit_options), game_options, encoding, chaos)
        series = Series(first, games, swap, first_to, chaos, again=again, bots=bots)
        if debug:
            series = _debugged(series)
        return _played(
            series, limits, _lanes(jobs, series, verbose, pages.watch), export, json, strict, verbose, arena, pages
        )


def _lanes(jobs: int | None, series: Series, verbose: bool, watch: bool) -> int:
    """How many games to play at a time. A lane starts within half a second, so that two games each repay it."""
    alone = {
        "--best-of": series.first_to is not None,
        "--chaos": series.chaos,
        "--debug": series.debug,
        "--verbose": verbose,
        "--watch": watch,
        "human": any(bot.human or bot.script for bot in series.match.entrants),
        "http://": any(bot.remote for bot in series.match.entrants),
    }
    given = [option for option, is_given in alone.items() if is_given]
    if jobs is None:
        return 1 if given or series.games < 4 else min(len(core_locks.physical()), series.games // 2)
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: there must be one at least")
    if jobs > 1 and given:
        raise UsageError(f"--jobs {jobs} {given[0]}: one of the two")
    return min(jobs, series.games)


def _claimed(stem: str, games: int) -> AbstractContextManager[Path]:
    """The name of a new record, or of several, taken before anything is built."""
    return claimed(stem, numbered(Path("0.jsonl"), 0, games).stem[1:])


def _played(
    series: Series,
    limits: Limits,
    lanes: int,
    export: tuple[str, Path] | None,
    json: bool,
    strict: bool,
    verbose: bool,
    arena: str,
    pages: WatchOptions,
) -> int:
    """Plays it, prints it, and returns the exit code."""
    warnings = tuple(begun(series.match.game, series.match.setup).warnings)
    for warning in warnings:
        err.print(Text.assemble(("warning: ", "bold yellow"), printable(warning)))
    screen = Screen(series, json, verbose)
    try:
        outcome = _rebuilding(series, limits, lanes, screen, arena, pages)
    except BaseException as error:
        if series.games > 1 and (so_far := screen.so_far()) is not None:
            raise SoFar(error, so_far, standings(so_far, series.match.game.title, series.games)) from error
        raise
    outcome = msgspec.structs.replace(outcome, warnings=warnings)
    exported = [] if export is None else _export(*export, outcome)
    if json:
        print_json(outcome)
    else:
        if len(outcome.matches) > 1:
            out.print(standings(outcome, series.match.game.title))
        for path in exported:
            out.print(Text(f"export  {path}", style="dim"))
    return AT_FAULT if strict and any(played.faults for played in outcome.matches) else PLAYED


def _rebuilding(series: Series, limits: Limits, lanes: int, screen: Screen, arena: str, pages: WatchOptions) -> Outcome:
    """Plays a series, and builds its bots again if somebody removes their builds from the cache meanwhile."""
    played = -1
    while True:
        try:
            with ungrouped():
                return run(_play, series, limits, lanes, screen, arena, pages, interrupts=not series.debug)
        except RunError:
            match, gone = series.match, missing(series.match.entrants)
            if gone is None or len(screen.results) == played:  # it vanishes again before a match can be played
                raise
        played = len(screen.results)
        err.print(Text("the cache was cleaned: building the bots again"))
        try:
            programs = entrants(series.bots, match.game.name, limits, people=True, progress=building)
        except UsageError as error:  # their sources have changed meanwhile
            raise RunError(f"the bots cannot be built again: {error}") from error
        series = msgspec.structs.replace(series, match=msgspec.structs.replace(match, entrants=programs))


def _length(games: int, swap: bool, best_of: int | None, seats: int) -> tuple[int, bool, int | None]:
    """How many games, whether the seats change, and how many wins decide."""
    if games < 1:
        raise UsageError(f"--games {games}: there must be one at least")
    if swap and games == 1 and best_of is None:
        raise UsageError("--swap exchanges the seats in every second game: it needs --games 2 or more")
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
            err.print(Text(f"{printable(bot.name)} runs in a process of its own: no bot of the Python kit"))
    match = series.match
    endless = msgspec.structs.replace(match.time, match_s=None)
    return msgspec.structs.replace(series, match=msgspec.structs.replace(match, time=endless), debug=True)


async def _play(series: Series, limits: Limits, lanes: int, screen: Screen, arena: str, pages: WatchOptions) -> Outcome:
    async with screen.drawn():
        if lanes > 1:
            return await play_side_by_side(series, limits, lanes, screen.played, screen.results)
        async with remote_seats(series.match, arena) as services, watched(series, pages) as hands:
            if hands is None:
                people = sum(bot.human for bot in series.match.entrants)
                hands = People(Hands(series.match.game, series.match.setup.seed, people > 1))
            return await play_series(
                series, limits, screen.turned, screen.played, hands, services, tuple(screen.results)
            )


def _export(name: str, path: Path, outcome: Outcome) -> list[Path]:
    """Writes every record in another form too; where."""
    paths = [numbered(path, number, len(outcome.matches)) for number in range(len(outcome.matches))]
    for file, played in zip(paths, outcome.matches, strict=True):
        assert played.replay is not None
        exports.export(name, Replay(Path(played.replay)), file)
    return paths
