"""Makes a tournament's folder ready to play: the plan, the bots' archives, the programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from referee.addons.tournament.format_options import check_options, default_games, default_seating, default_ties
from referee.addons.tournament.formats.games import Seating
from referee.addons.tournament.formats.play_off import PLAY_OFF
from referee.addons.tournament.inbox import Enter, hand_in, settle
from referee.addons.tournament.intake.record import read_record
from referee.addons.tournament.plan import Entry, Plan, checked, identified, read_plan, write_plan
from referee.addons.tournament.plan_changes import check_conditions, continued, keeping_places, submitted, withdrawn
from referee.addons.tournament.stage_settings import Stage
from referee.addons.tournament.store.bot_archives import check_travel, finding, program, store
from referee.addons.tournament.store.ledger import PLAN, claimed, discard_heads, make_tournament_folder
from referee.addons.tournament.store.reader import check_files, has_games, idents_of, played_idents, read
from referee.addons.tournament.swiss_changes import with_points_kept, with_rounds
from referee.addons.tournament.test_runs import test_run
from referee.addons.tournament.ties import SCORE, Tie
from referee.games.game import Game, Stakes, TimeControl
from referee.harness.common.errors import NotIsolated, RunError, UsageError, writing
from referee.harness.common.game_files import Openings
from referee.harness.common.known_games import find_game
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant
from referee.protocol.text import listed

COPY = "@@"
"""Behind the name of a bot's copy, as in ReAntics (reantics.md 10)."""


class Request(Struct, frozen=True):
    """A tournament as the user describes it; None = the format's default."""

    game: str
    bots: tuple[str, ...]
    """As for a match, or zip files."""
    format: str | None = None
    """None = round-robin."""
    games: int | None = None
    seats: int | None = None
    """Of every game; None = the fewest that the game has."""
    seed: int = 0
    seating: Seating | None = None
    first_to: int | None = None
    rounds: int | None = None
    ties: tuple[Tie, ...] | None = None
    late_points: float | None = None
    play_off: int | None = None
    rank_by: Literal["points", "score"] | None = None
    expel: int | None = None
    groups: int | None = None
    """Of a round robin."""
    stages: tuple[Stage, ...] | None = None
    """Those that follow the first one."""
    absent: tuple[str, ...] = ()
    """Names of absent bots."""
    seeds: tuple[str, ...] = ()
    """Of a bracket: names of bots, best first. Those of other names follow, in the order of the list."""
    absent_places: frozenset[int] = frozenset()
    """Places of absent bots on the list."""
    options: Mapping[str, Any] = {}
    maps: Mapping[str, Sequence[str]] = {}
    """The maps' content, by stage."""
    openings: Openings | None = None
    time: TimeControl | None = None
    limits: Limits = Limits()
    encodings: tuple[str, ...] = ("json", "msgpack")
    title: str | None = None
    """The contest's name."""
    start: Path = Path()
    """The folder at which the paths in `bots` start."""

    def over(self, before: Plan) -> "Request":
        """Fills what is None from a plan of the same format."""
        if self.format not in (None, before.format):
            return self
        names = (
            "format",
            "games",
            "seating",
            "first_to",
            "rounds",
            "late_points",
            "groups",
            "stages",
            "expel",
            "title",
            "play_off",
            "rank_by",
            "ties",
        )
        known = {name: getattr(before, name) for name in names}
        return msgspec.structs.replace(self, **{n: value for n, value in known.items() if getattr(self, n) is None})


@contextmanager
def arranged(
    request: Request,
    folder: Path,
    resume: bool = False,
    fewer: bool = False,
    travel: bool = False,
    on_note: Callable[[str], None] = lambda text: None,
    forfeit: bool = False,
) -> Iterator[Plan]:
    """Claims the folder, stores bots and plan in it, and yields the plan.

    With `resume`, continues the plan in the folder; `fewer` also allows fewer games. With `travel`, the bots have to
    play on other machines. With `forfeit`, a folder that does not say what to run is an absent bot. Raises UsageError
    for an impossible request, RunError if the folder cannot be written.
    """
    game = find_game(request.game)
    check_seats(request.bots, game.name, every_seat=True)
    with ExitStack() as stack:
        readable, on_absent = request.limits.isolation.readable, on_note if forfeit else None
        with finding(request.bots, game.name, readable, request.start, on_absent) as found:
            plan = _plan(request, game, [each.entry for each in found])
            if travel:
                check_travel(plan.bots)
            with writing(folder):
                make_tournament_folder(folder)
                stack.enter_context(claimed(folder))
                if resume:
                    before = settle(folder, lambda: read(folder), on_note)
                    plan = _continued(before, plan, folder, fewer)
                elif (folder / PLAN).exists():
                    read_plan(folder / PLAN)  # nor is a file that the user has written replaced
                    if has_games(folder) or read_record(folder) is not None:
                        raise UsageError(
                            f"{folder} already holds a tournament; name another folder, or continue: a gate with "
                            f"--resume, a tournament with `referee tournament run {folder}`"
                        )
                    discard_heads(folder)
                for each in found:
                    store(each, folder)
                write_plan(plan, folder / PLAN)
        yield plan


@contextmanager
def resumed(
    folder: Path,
    changes: Mapping[str, Any],
    absent: Sequence[str] = (),
    on_note: Callable[[str], None] = lambda text: None,
) -> Iterator[Plan]:
    """Claims the folder and yields its plan, with more games or rounds if `changes` has them.

    Bots that are named in `absent` are withdrawn.
    Raises UsageError for a folder without a plan, and for other changes. `on_note` is called with a sentence for each
    change in the inbox that is no longer possible.
    """
    read_plan(folder / PLAN)  # before the lock makes a file in a folder that holds no tournament
    with claimed(folder):
        before = settle(folder, lambda: read(folder), on_note)
        if absent:
            gone = withdrawn(before, absent, False, lambda: played_idents(folder))
            before = keeping_places(before, gone, lambda: read(folder))
            write_plan(before, folder / PLAN)
        if (format := changes.get("format", before.format)) != before.format:  # whose ties are its own
            ties = default_ties(format, before.seats, changes.get("rank_by", before.rank_by))
            before = before.replaced(ties=ties)
        game = find_game(before.game)
        requested = before.replaced(**changes, version=game.version)
        if requested.rank_by != before.rank_by:
            paid = stakes_of(game, before.options, before.seats) if requested.rank_by == SCORE else None
            requested = requested.replaced(stakes=paid)
        plan = _continued(before, checked(requested), folder)
        if plan != before:
            write_plan(plan, folder / PLAN)
        yield plan


def _continued(before: Plan, requested: Plan, folder: Path, fewer: bool = False) -> Plan:
    """Returns the plan to continue with. A plan whose games cannot be read does not change.

    As long as no game was played, everything may change.
    """
    check_files(folder, before)
    if not has_games(folder):
        discard_heads(folder)
        return checked(requested)
    plan = checked(with_rounds(before, continued(before, requested, folder, fewer), folder))
    if plan != before:
        read(folder)
    return plan


def prepared(requested: Plan, entries: Sequence[Entry], folder: Path, keep_points: bool = False) -> Plan:
    """Writes and returns the plan of a claimed folder, with the accepted submissions added to its bots.

    Raises UsageError if games were played under other conditions.
    """
    book = read(folder)
    played = idents_of(book.line_ups)
    before = settle(folder, lambda: book) if (folder / PLAN).exists() else requested
    if played:
        check_conditions(before, requested.replaced(bots=before.bots), folder)
    else:
        discard_heads(folder)
    expel, applied = requested.expel or before.expel, before.applied
    requested = requested.replaced(bots=before.bots, expel=expel, applied=applied)
    plan = submitted(requested, entries, played)
    if keep_points:
        plan = with_points_kept(before, plan)
    plan = with_rounds(before, keeping_places(requested, plan, lambda: book), folder)
    write_plan(plan, folder / PLAN)
    return plan


def plan_without_bots(request: Request) -> Plan:
    """Returns the plan of a tournament whose bots will come later."""
    return _plan(request, find_game(request.game), [], is_whole=False)


def _plan(request: Request, game: Game, entries: list[Entry], is_whole: bool = True) -> Plan:
    seats = game.seats.start if request.seats is None else request.seats
    format = request.format or "round-robin"
    options = dict(request.options)
    if format == "self":
        if len(entries) != 1:
            raise UsageError(f"{format} takes one bot, which plays itself; {len(entries)} were named")
        one = entries[0]
        entries += [msgspec.structs.replace(one, name=one.name + COPY * number) for number in range(1, seats)]
    if format == "judged":
        entries += [_guest(case.name, game.name) for case in test_run(game.name).cases]
        options = dict(test_run(game.name).options) | options
    bots = identified(entries)
    if format == "two-player" and len({entry.hash for entry in bots[1:]}) == 1:  # the second one has all other seats
        bots = (*bots[:2], *(msgspec.structs.replace(entry, copy_of=bots[1].name) for entry in bots[2:]))
    unknown = set(request.absent) - {entry.name for entry in bots}
    if unknown:
        known = listed([entry.name for entry in bots], 20)
        raise UsageError(f"--absent {listed(sorted(unknown))}: there is no bot of that name; there are {known}")
    bots = tuple(
        msgspec.structs.replace(entry, absent=gone or entry.absent, withdrawn=gone)
        for place, entry in enumerate(bots)
        for gone in (place in request.absent_places or entry.name in request.absent,)
    )
    if request.seeds:
        bots = _by_seeds(bots, request.seeds, format)
    plan = Plan(
        game=game.name,
        format=format,
        seed=request.seed,
        bots=bots,
        games=default_games(format, seats) if request.games is None else request.games,
        seats=seats,
        seating=default_seating(format) if request.seating is None else request.seating,
        first_to=request.first_to,
        rounds=request.rounds,
        late_points=request.late_points or 0.0,
        play_off=request.play_off or 0,
        rank_by=request.rank_by or "points",
        stakes=stakes_of(game, options, seats) if request.rank_by == SCORE else None,
        groups=1 if request.groups is None else request.groups,
        stages=request.stages or (),
        ties=default_ties(format, seats, request.rank_by or "points") if request.ties is None else request.ties,
        expel=request.expel,
        options=options,
        maps={stage: list(maps) for stage, maps in request.maps.items()},
        openings=request.openings,
        time=game.time if request.time is None else request.time,
        limits=request.limits,
        encodings=request.encodings,
        version=game.version,
        rules=game.sha256,
        title=request.title or "",
    )
    _check_stages_of_maps(plan)
    return checked(plan) if is_whole else plan


def _check_stages_of_maps(plan: Plan) -> None:
    """Raises UsageError for a map of a stage that the plan does not have."""
    known = [name for name in (*plan.condition_names, PLAY_OFF if plan.play_off else "") if name]
    if unknown := [stage for stage in plan.maps if stage not in ("", *known)]:
        expected = listed([*(f'"{name}"' for name in known), '"", which is every other stage'])
        raise UsageError(f"maps: there is no stage {listed(unknown)}; expected {expected}")


def stakes_of(game: Game, options: Mapping[str, Any], seats: int) -> Stakes | None:
    """Returns what matches with these options are played for; None: scores are no amounts."""
    return game.stakes(msgspec.convert(dict(options), game.options), seats)


def _by_seeds(bots: tuple[Entry, ...], seeds: Sequence[str], format: str) -> tuple[Entry, ...]:
    places = {name: place for place, name in enumerate(seeds)}
    check_options(format, 2, {"seeds_from": seeds})
    if places.keys().isdisjoint(entry.name for entry in bots):
        raise UsageError(f"--seeds-from: none of the bots is in that table; expected names such as {seeds[0]}")
    return tuple(sorted(bots, key=lambda entry: places.get(entry.name, len(places))))


def _guest(case: str, game: str) -> Entry:
    with finding([f"@{case}"], game) as (found,):
        return msgspec.structs.replace(found.entry, guest=True)


def add(folder: Path, specs: Sequence[str], keep_points: bool = False) -> tuple[Plan, bool]:
    """Adds bots to a tournament, also while it is played; see `inbox.hand_in` and `plan_changes.entered`.

    The name of a withdrawn bot takes it back. Raises RunError if the ledger is damaged, and then changes nothing.
    """
    plan = read_plan(folder / PLAN)
    read(folder)
    names = {entry.name for entry in plan.bots if entry.withdrawn}
    back = tuple(spec for spec in specs if spec in names and not Path(spec).exists())
    with finding([spec for spec in specs if spec not in back], plan.game, plan.limits.isolation.readable) as found:
        for each in found:
            store(each, folder)
        return hand_in(folder, Enter(tuple(each.entry for each in found), back, keep_points))


def programs(
    plan: Plan,
    folder: Path,
    forfeit: bool | None = None,
    progress: Callable[[str], None] = lambda text: None,
    on_absent: Callable[[str], None] | None = None,
) -> tuple[Plan, dict[str, Entrant]]:
    """Builds the bots. Returns the plan and the programs by ident.

    With `forfeit`, bots that cannot be built become absent, and `on_absent` gets a sentence about each. Otherwise
    raises RunError that names all of them, and `--forfeit` unless that is None.
    """
    ready: dict[str, Entrant] = {}
    failures, entries = [], []
    for number, entry in enumerate(plan.bots, start=1):
        progress(f"bot {number}/{len(plan.bots)}: {entry.name}")
        if not entry.absent:
            try:
                ready[entry.ident] = program(entry, folder, plan.game, plan.limits)
            except NotIsolated:
                raise  # the machine lacks something, and no bot
            except (RunError, UsageError) as error:
                failures.append((entry.name, str(error).removeprefix(f"{entry.name}: ")))
                entry = msgspec.structs.replace(entry, absent=True)
        entries.append(entry)
    if failures and not forfeit:
        lines = "\n".join(f"{name}: {why}" for name, why in failures)
        count = "a bot cannot be played" if len(failures) == 1 else f"{len(failures)} bots cannot be played"
        advice = "" if forfeit is None else "; fix them and repeat the command, or play without them: --forfeit"
        raise RunError(f"{count}{advice}\n{lines}")
    if failures:
        for name, why in failures:
            (on_absent or progress)(f"{name} is absent: {why}")
        absent = keeping_places(plan, plan.replaced(bots=tuple(entries)), lambda: read(folder))
        plan = checked(with_rounds(plan, absent, folder))
        write_plan(plan, folder / PLAN)
    return plan, ready
