"""`referee --game GAME BOT BOT`: plays a game between bots."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter
from rich.text import Text

from referee.harness.cli.exit_codes import AT_FAULT, PLAYED, SoFar
from referee.harness.cli.options import (
    Flag,
    GameOption,
    LimitOptions,
    RuleOptions,
    TimeOptions,
    check_game_options,
    drawn,
    game_of,
)
from referee.harness.cli.person import Hands
from referee.harness.cli.reports.text import printable
from referee.harness.cli.reports.verdict import outcome as standings
from referee.harness.cli.reproduce_with import match_command
from referee.harness.cli.screen import Screen, building, err, out, print_json
from referee.harness.cli.serve import remote_seats
from referee.harness.cli.signals import run
from referee.harness.cli.watch import WatchOptions, watched
from referee.harness.errors import RunError, UsageError, ungrouped
from referee.harness.match.match import Match
from referee.harness.match.rule_options import check_count, first_position
from referee.harness.match.series import Outcome, People, Series, missing, numbered, play_series
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import check_seats, entrants
from referee.harness.replay.formats import originals
from referee.harness.replay.reader import Replay
from referee.harness.replay.writer import claim_file
from referee.harness.seats.inside import script_of
from referee.harness.tournament.execution import core_locks
from referee.harness.tournament.execution.series_games import play_side_by_side
from referee.protocol.messages import Encoding

MATCH = Parameter(group="Match")
SERIES = Parameter(group="Several games")
REPLAY = Parameter(group="Replay", negative=())
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
    replay: Annotated[Path | None, REPLAY] = None,
    no_replay: Annotated[Flag, REPLAY] = False,
    export: Annotated[tuple[str, Path] | None, REPLAY] = None,
    json: Annotated[Flag, OUTPUT] = False,
    strict: Annotated[Flag, OUTPUT] = False,
    verbose: Annotated[bool, Parameter(name=["--verbose", "-v"], negative=(), group="Output")] = False,
    debug: Annotated[Flag, MATCH] = False,
    arena: Annotated[str, MATCH] = "127.0.0.1:8080",
    pages: WatchOptions = WatchOptions(),
    **game_options: GameOption,
) -> int:
    """Plays a game between bots.

    Parameters
    ----------
    bots
        One for each seat: PATH (an executable, a folder with bot.toml, or a source file), @random (built in),
        cmd:'COMMAND LINE', human (you, in this terminal), script:FILE (an answer a line, then the first legal ones) or
        http://ADDRESS (a team's web service, for the Arena's games). NAME= before it names the bot.
    game
        The game's name; `referee games` lists them. Not needed if a bot's bot.toml names it.
    seed
        The seed of all luck. Default: drawn and printed.
    games
        How many games to play, each with its own seed, derived from the seed.
    swap
        Exchange the seats in every second game.
    best_of
        Play one match of at most N games. It ends when a bot has won more than half. The seats change every game.
    jobs
        How many games to play at the same time, each on its own physical core. A bot learns only from games on the same
        core. Default: all physical cores, if each has two games.
    encoding
        Offer only this encoding to the bots.
    chaos
        Send frames in every form that the protocol allows, and draw the seats. A correct bot plays as without.
    replay
        Where the replay goes. Several games get a number each. Default: a new file in ./replays.
    no_replay
        Keep no replay and no standard error of bots.
    export
        FORMAT FILE: write the replay in another format too, such as aiarena21-replay. Several games get a number each.
    json
        Print only one JSON object on standard output.
    strict
        Exit with 1 if a bot had a fault.
    verbose
        Print every turn.
    debug
        Run bots of the Python kit inside this process, without isolation and limits, so that breakpoints work.
    arena
        ADDRESS:PORT at which web services find their battles.
    """
    played = game_of(bots, game)
    check_game_options(played, game_options)
    check_count(played, len(bots))
    limits, time, options = limit_options.limits(), times.time(played), rules.options(played, len(bots), game_options)
    games, swap, first_to = _length(games, swap, best_of, len(bots))
    check_seats(bots, played.name, every_seat=swap or chaos)
    if export is not None:
        originals.find(export[0], played.name)
    if no_replay and (replay is not None or export is not None):
        raise UsageError(f"--no-replay cannot be combined with {'--replay' if replay is not None else '--export'}")
    pages.check(no_replay)
    seed = drawn(seed)
    encodings = tuple(Encoding) if encoding is None else (encoding,)
    with nullcontext(replay) if replay is not None or no_replay else _claimed(played.name, games) as path:
        programs = entrants(bots, played.name, limits, people=True, progress=building)
        first = Match(played, programs, seed, options, time, encodings, path, bundles=True)
        command = match_command(played, (rules, times, limit_options), game_options, encoding, chaos)
        series = Series(first, games, swap, first_to, chaos, again=command, bots=bots)
        if debug:
            series = _debugged(series)
        screen = Screen(series, json, verbose)
        workers = _workers(jobs, series, verbose, pages.watch)
        play = partial(_play, limits=limits, workers=workers, screen=screen, arena=arena, pages=pages)
        outcome = _played(series, limits, screen, play)
    exported = [] if export is None else _export(*export, outcome)
    if json:
        print_json(outcome)
    elif len(outcome.matches) > 1:
        out.print(standings(outcome, played.title))
    for file in () if json else exported:
        out.print(Text(f"export  {file}", style="dim"))
    return AT_FAULT if strict and any(match.faults for match in outcome.matches) else PLAYED


def _workers(jobs: int | None, series: Series, verbose: bool, watch: bool) -> int:
    """Returns how many workers play. A worker takes half a second to start, which two games make up for."""
    sequential = {
        "--best-of": series.first_to is not None,
        "--chaos": series.chaos,
        "--debug": series.debug,
        "--verbose": verbose,
        "--watch": watch,
        "human": any(bot.human or bot.script for bot in series.match.entrants),
        "http://": any(bot.remote for bot in series.match.entrants),
    }
    conflicts = [option for option, is_used in sequential.items() if is_used]
    if jobs is None:
        return 1 if conflicts or series.games < 4 else min(len(core_locks.physical()), series.games // 2)
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    if jobs > 1 and conflicts:
        raise UsageError(f"--jobs cannot be combined with {conflicts[0]}")
    return min(jobs, series.games)


def _claimed(stem: str, games: int) -> AbstractContextManager[Path]:
    """Claims the name of a new replay, or of several, before anything is built."""
    return claim_file(stem, numbered(Path("0.jsonl"), 0, games).stem[1:])


def _played(series: Series, limits: Limits, screen: Screen, play: Callable[[Series], Awaitable[Outcome]]) -> Outcome:
    """Plays a series, and shows warnings before it; SoFar if it fails after a match."""
    warnings = tuple(first_position(series.match.game, series.match.setup).warnings)
    for warning in warnings:
        err.print(Text.assemble(("warning: ", "bold yellow"), printable(warning)))
    try:
        return msgspec.structs.replace(_rebuilding(series, limits, screen, play), warnings=warnings)
    except BaseException as error:
        if series.games > 1 and (so_far := screen.so_far()) is not None:
            raise SoFar(error, so_far, standings(so_far, series.match.game.title, series.games)) from error
        raise


def _rebuilding(
    series: Series, limits: Limits, screen: Screen, play: Callable[[Series], Awaitable[Outcome]]
) -> Outcome:
    """Plays a series, and builds its bots again if their builds vanish from the cache."""
    played = -1
    while True:
        try:
            with ungrouped():
                return run(play, series, interrupts=not series.debug)
        except RunError:
            match, gone = series.match, missing(series.match.entrants)
            if gone is None or len(screen.results) == played:  # the build vanishes before every match
                raise
        played = len(screen.results)
        err.print(Text("the cache was cleaned: building the bots again"))
        try:
            programs = entrants(series.bots, match.game.name, limits, people=True, progress=building)
        except UsageError as error:  # their sources have changed
            raise RunError(f"the bots cannot be built again: {error}") from error
        series = msgspec.structs.replace(series, match=msgspec.structs.replace(match, entrants=programs))


def _length(games: int, swap: bool, best_of: int | None, seats: int) -> tuple[int, bool, int | None]:
    """Returns the number of games, whether the seats change, and how many wins decide."""
    if games < 1:
        raise UsageError(f"--games {games}: expected at least 1")
    if swap and games == 1 and best_of is None:
        raise UsageError("--swap exchanges the seats in every second game: it needs --games 2 or more")
    if best_of is None:
        return games, swap, None
    if games != 1:
        raise UsageError("--best-of cannot be combined with --games")
    if best_of < 1:
        raise UsageError(f"--best-of {best_of}: expected at least 1")
    if seats != 2:
        raise UsageError(f"--best-of needs two bots; {seats} are named")
    return best_of, True, best_of // 2 + 1


def _debugged(series: Series) -> Series:
    """Returns the series with its Python bots in this process, and without a time limit of the match."""
    if series.chaos:
        raise UsageError("--debug cannot be combined with --chaos")
    for bot in series.match.entrants:
        if script_of(bot) is None:
            err.print(Text(f"{printable(bot.name)} runs in its own process, since it is not a bot of the Python kit"))
    match = series.match
    unlimited = msgspec.structs.replace(match.time, match_s=None)
    return msgspec.structs.replace(series, match=msgspec.structs.replace(match, time=unlimited), debug=True)


async def _play(
    series: Series, *, limits: Limits, workers: int, screen: Screen, arena: str, pages: WatchOptions
) -> Outcome:
    async with screen.drawn():
        if workers > 1:
            return await play_side_by_side(series, limits, workers, screen.played, screen.results)
        async with remote_seats(series.match, arena) as services, watched(series, pages) as people:
            if people is None:
                several = sum(bot.human for bot in series.match.entrants) > 1
                people = People(Hands(series.match.game, series.match.setup.seed, several))
            results = tuple(screen.results)
            return await play_series(series, limits, screen.turned, screen.played, people, services, results)


def _export(name: str, path: Path, outcome: Outcome) -> list[Path]:
    """Writes every replay in another format, and returns the paths."""
    paths = [numbered(path, number, len(outcome.matches)) for number in range(len(outcome.matches))]
    for file, played in zip(paths, outcome.matches, strict=True):
        assert played.replay is not None
        originals.export(name, Replay(Path(played.replay)), file)
    return paths
