"""`referee play --game GAME BOT BOT`: plays a game between bots."""

import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from referee.games.game import Game, Stakes
from referee.harness.cli.added import Added, added
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED, SoFar
from referee.harness.cli.options import (
    MORE,
    NO_REPLAY,
    POSITIVE,
    Json,
    OpeningOptions,
    Seed,
    SetupOptions,
    Strict,
    Verbose,
    drawn,
    game_of,
    one_of,
)
from referee.harness.cli.person import Hands
from referee.harness.cli.reports.verdict import outcome as standings
from referee.harness.cli.screen import Screen, building, err, out, print_json, warn
from referee.harness.cli.signals import run
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.game_files import Book, Occasion, OpenedBook, Openings
from referee.harness.common.nurseries import ungrouped
from referee.harness.common.output import REPLAY
from referee.harness.match.match import Match
from referee.harness.match.rule_options import check_count, first_position
from referee.harness.match.series import Outcome, People, Series, missing, numbered, play_series, side_by_side
from referee.harness.process import core_locks
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.kinds import bots_help, called, keep
from referee.harness.programs.spec import entrants
from referee.harness.replay.formats import records
from referee.harness.replay.reader import Replay
from referee.harness.replay.writer import claim_file
from referee.protocol.messages import Encoding

if TYPE_CHECKING:
    PlayAdded = Added
else:
    PlayAdded = added("play")

MATCH = Parameter(group="Match")
OUTPUT = Parameter(group="Output")
SEVERAL = "Several games"
LENGTH = one_of("length")


@Parameter(name="*", group=SEVERAL)
@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """How many games are played."""

    games: Annotated[int, Parameter(group=(SEVERAL, LENGTH), validator=POSITIVE)] = 1
    """How many games to play, each with its own seed, derived from the seed."""
    swap: bool = False
    """Exchange the seats in every second game."""
    best_of: Annotated[int | None, Parameter(group=(SEVERAL, LENGTH), validator=POSITIVE)] = None
    """Play one match of at most N games. It ends when a bot has won more than half. The seats change every game."""
    jobs: Annotated[int | None, Parameter(validator=POSITIVE)] = None
    """How many games to play at the same time, each on its own physical core. A bot learns only from games on the same
    core. Default: all physical cores, if each has two games."""

    def length(self, seats: int) -> tuple[int, bool, int | None]:
        """Returns the number of games, whether the seats change, and how many wins decide."""
        if self.best_of is None:
            if self.swap and self.games == 1:
                raise UsageError("--swap exchanges the seats in every second game: it needs --games 2 or more")
            return self.games, self.swap, None
        if seats != 2:
            raise UsageError(f"--best-of needs two bots; {seats} are named")
        return self.best_of, True, self.best_of // 2 + 1

    def workers(self, series: Series, verbose: bool, others: Sequence[str]) -> int:
        """Returns how many workers play. A worker takes half a second to start, which two games make up for."""
        playing = [called(bot.kind) for bot in series.match.entrants]
        sequential = {
            "--best-of": series.first_to is not None,
            "--chaos": series.chaos,
            "--verbose": verbose,
            **{option: True for option in others if option},
            **{kind.word or kind.prefixes[0]: True for kind in playing if not kind.in_series},
        }
        conflicts = [option for option, is_used in sequential.items() if is_used]
        if side_by_side() is None:
            if (self.jobs or 1) > 1:
                raise UsageError("--jobs: this installation lacks the add-on that plays games side by side")
            return 1
        if self.jobs is None:
            return 1 if conflicts or series.games < 4 else min(len(core_locks.physical()), series.games // 2)
        if self.jobs > 1 and conflicts:
            raise UsageError(f"--jobs cannot be combined with {conflicts[0]}")
        return min(self.jobs, series.games)


@Parameter(name="*", group="Replay")
@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """Where replays go."""

    replay: Path | None = None
    """Where the replay goes; none: keep no replay and no standard error of bots. Several games get a number each.
    Default: a new file in ./replays."""
    keep_bots: Annotated[bool, MORE] = False
    """Put the modules of metered bots next to the replay, so that `referee replay verify --play` finds them."""
    transcripts: Annotated[bool, MORE] = False
    """Keep the prompts and completions of language models in the replay."""
    export: Annotated[tuple[str, Path] | None, MORE] = None
    """FORMAT FILE: write the replay in another format too: pgn, sgf or aiarena21-replay. Of the last, several games get
    a number each."""

    def check(self, game: Game, openings: Path | None = None) -> None:
        """Raises UsageError for an unknown format, for a folder, and for options that cannot be combined.

        Also for files that may not be replaced, such as `openings`, which is read.
        """
        for option, path in (("--replay", self.replay), ("--export", self.export and self.export[1])):
            if path is not None and path != NO_REPLAY and os.path.isdir(path):
                raise UsageError(f"{option} {path}: it is a folder; expected a file")
        if self.export is not None:
            records.check(self.export[0], game)
            records.check_place(self.export[0], game, self.export[1], openings)
            if self.replay == NO_REPLAY:
                raise UsageError("--replay none cannot be combined with --export, which writes the replay")
        if self.replay is not None and self.replay != NO_REPLAY:
            REPLAY.check_place(self.replay, openings)
        if self.keep_bots and self.replay == NO_REPLAY:
            raise UsageError("--replay none cannot be combined with --keep-bots, which puts bots next to the replay")
        if self.transcripts and self.replay == NO_REPLAY:
            raise UsageError("--replay none cannot be combined with --transcripts, which are in the replay")
        read_again = self.keep_bots or self.export is not None
        if read_again and self.replay is not None and self.replay.exists() and not self.replay.is_file():
            raise UsageError(f"--replay {self.replay}: --export and --keep-bots need a file, which is read again")

    def claimed(self, stem: str, games: int) -> AbstractContextManager[Path | None]:
        """Returns a block with the path of the replay. The names of new ones are claimed before anything is built."""
        if self.replay is not None:
            return nullcontext(None if self.replay == NO_REPLAY else self.replay)
        return claim_file(stem, numbered(Path("0.jsonl"), 0, games).stem[1:])

    def keep(self, outcome: Outcome) -> None:
        """Puts the modules of metered bots next to the replays, if that was asked for."""
        if self.keep_bots:
            for played in outcome.matches:
                assert played.replay is not None
                keep(Replay(Path(played.replay)))

    def exported(self, outcome: Outcome, game: Game) -> list[Path]:
        """Writes the replays in the other format, in one file if it can hold them, and returns the paths."""
        if self.export is None:
            return []
        form, path = self.export
        event = " against ".join(row.name for row in outcome.standings)
        today, site = date.today().strftime("%Y.%m.%d"), socket.gethostname()
        replays = [
            (Replay(Path(str(played.replay))), Occasion(event, site, str(number), today))
            for number, played in enumerate(outcome.matches, 1)
        ]
        if records.check(form, game):
            records.export_all(form, replays, game, path)
            return [path]
        paths = [numbered(path, number, len(replays)) for number in range(len(replays))]
        for file, (replay, occasion) in zip(paths, replays, strict=True):
            records.export(form, replay, file, occasion)
        return paths


def match(
    *bots: Annotated[str, Parameter(help=bots_help())],
    game: Annotated[str | None, MATCH] = None,
    seed: Annotated[Seed, MATCH] = None,
    length: SeriesOptions = SeriesOptions(),
    setup: SetupOptions = SetupOptions(),
    book: OpeningOptions = OpeningOptions(),
    encoding: Annotated[Encoding | None, MORE] = None,
    chaos: Annotated[bool, MORE] = False,
    replays: ReplayOptions = ReplayOptions(),
    json: Annotated[Json, OUTPUT] = False,
    strict: Annotated[Strict, OUTPUT] = False,
    verbose: Annotated[Verbose, OUTPUT] = False,
    more: PlayAdded = PlayAdded(),  # noqa: B008
) -> int:
    """Plays a game between bots.

    Args:
        game: GAME: the game's name; `referee games` lists them. Not needed if a bot's bot.toml names it.
        encoding: Offer only this encoding to the bots.
        chaos: Send frames in every form that the protocol allows, and draw the seats. A correct bot plays as without.
    """
    played = game_of(bots, game)
    check_count(played, len(bots))
    limits, time, options = setup.resolved(played, len(bots))
    games, swap, first_to = length.length(len(bots))
    check_seats(bots, played.name, every_seat=swap or chaos)
    replays.check(played, book.openings)
    for each in more.each():
        each.check(replays.replay == NO_REPLAY)
    seed = drawn(seed)
    starts = _starts(book.read(played, msgspec.to_builtins(options)), seed, games, len(bots) if swap else 1)
    encodings = tuple(Encoding) if encoding is None else (encoding,)
    with replays.claimed(played.name, games) as path:
        programs = entrants(bots, played.name, limits, people=True, progress=building)
        first = Match(played, programs, seed, options, time, encodings, path, fault_reports=True)
        first = msgspec.structs.replace(first, transcripts=replays.transcripts)
        command = setup.command(played, encoding=encoding, chaos=chaos)
        series = Series(first, games, swap, first_to, chaos, again=command, bots=bots, starts=starts)
        screen = Screen(series, json, verbose)
        workers = length.workers(series, verbose, [each.one_by_one for each in more.each()])
        play = partial(_play, limits=limits, workers=workers, screen=screen, more=more)
        outcome = _played(series, limits, screen, play)
    replays.keep(outcome)
    exported = replays.exported(outcome, played)
    if json:
        print_json(outcome)
    else:
        if len(outcome.matches) > 1:
            out.print(standings(outcome, played.title, stakes=_stakes(series)))
        for file in exported:
            out.print(f"export  {file}", style="dim")
    return AT_FAULT if strict and any(match.faults for match in outcome.matches) else PLAYED


def _starts(read: tuple[Openings, Book] | None, seed: int, games: int, each: int) -> tuple[Mapping[str, Any], ...]:
    """Returns the openings of a series, in which `each` games in a row begin alike."""
    if read is None:
        return ()
    opened = OpenedBook(*read, seed)
    return tuple(opened.options(number) for number in range(-(-games // each)))


def _stakes(series: Series) -> Stakes | None:
    return series.match.game.stakes(series.match.options, len(series.match.entrants))


def _played(series: Series, limits: Limits, screen: Screen, play: Callable[[Series], Awaitable[Outcome]]) -> Outcome:
    """Plays a series, and shows warnings before it; SoFar if it fails after a match."""
    warnings = tuple(first_position(series.match.game, series.match.setup).warnings)
    for warning in warnings:
        warn(warning)
    try:
        return msgspec.structs.replace(_rebuilding(series, limits, screen, play), warnings=warnings)
    except BaseException as error:
        if series.games > 1 and (so_far := screen.so_far()) is not None:
            raise SoFar(
                error, so_far, standings(so_far, series.match.game.title, series.games, _stakes(series))
            ) from error
        raise


def _rebuilding(
    series: Series, limits: Limits, screen: Screen, play: Callable[[Series], Awaitable[Outcome]]
) -> Outcome:
    """Plays a series, and builds its bots again if their builds vanish from the cache."""
    played = -1
    while True:
        try:
            with ungrouped():
                return run(play, series)
        except RunError:
            match, gone = series.match, missing(series.match.entrants)
            if gone is None or len(screen.results) == played:  # the build vanishes before every match
                raise
        played = len(screen.results)
        err.print("the cache was cleaned: building the bots again")
        try:
            programs = entrants(series.bots, match.game.name, limits, people=True, progress=building)
        except UsageError as error:  # their sources have changed
            raise RunError(f"the bots cannot be built again: {error}") from error
        series = msgspec.structs.replace(series, match=msgspec.structs.replace(match, entrants=programs))


async def _play(series: Series, *, limits: Limits, workers: int, screen: Screen, more: Added) -> Outcome:
    async with screen.drawn():
        if workers > 1 and (play := side_by_side()) is not None:
            return await play(series, limits, workers, screen.played, screen.results)
        async with more.seats(series.match) as services, more.people(series) as people:
            people = people or People(Hands(series.match))
            results = tuple(screen.results)
            return await play_series(series, limits, screen.turned, screen.played, people, services, results)
