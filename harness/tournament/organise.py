"""From what an organiser wants to a tournament's folder that can be played: the plan, the bots, the programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.contract import Game, TimeControl
from referee.harness.errors import RunError, UsageError
from referee.harness.match.judge import course
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import check_seats
from referee.harness.tournament.execution import worker_messages
from referee.harness.tournament.formats.schedules import NO_FURTHER, Seating
from referee.harness.tournament.model import (
    SELF,
    Entry,
    Plan,
    checked,
    default_games,
    default_seating,
    find_game,
    identified,
    read_plan,
    write_plan,
)
from referee.harness.tournament.resume import continued
from referee.harness.tournament.store.bot_archives import check_travel, finding, program, store
from referee.harness.tournament.store.ledger import PLAN, check_files, claimed, read

COPY = "@@"
"""Behind the name of a program's second self, as ReAntics has it (reantics.md 10)."""


class Request(Struct, frozen=True):
    """A tournament as it was asked for; None = as the format has it."""

    game: str
    bots: tuple[str, ...]
    """As for a match, or zip files."""
    format: str | None = None
    """None = round-robin."""
    games: int | None = None
    seed: int = 0
    seating: Seating | None = None
    first_to: int | None = None
    rounds: int | None = None
    absent: tuple[str, ...] = ()
    """The names of those that do not show up."""
    away: frozenset[int] = frozenset()
    """Likewise, by their places on the list."""
    options: Mapping[str, Any] = {}
    maps: Mapping[str, Sequence[str]] = {}
    """By stage, the maps' content."""
    time: TimeControl | None = None
    limits: Limits = Limits()
    encodings: tuple[str, ...] = ("json", "msgpack")

    def over(self, before: Plan) -> "Request":
        """What was not said is as in that plan, if its format is meant."""
        if self.format not in (None, before.format):
            return self
        names = ("format", "games", "seating", "first_to", "rounds")
        return msgspec.structs.replace(self, **{n: getattr(before, n) for n in names if getattr(self, n) is None})


@contextmanager
def arranged(
    request: Request, folder: Path, resume: bool = False, fewer: bool = False, travel: bool = False
) -> Iterator[Plan]:
    """The plan, when it and the bots are in the folder, which is claimed: for whoever plays. UsageError for what cannot
    be, RunError for a folder that cannot be written. `resume`: it goes on with the plan that is there, and `fewer`
    games may be asked for. `travel`: it is played on other machines."""
    game = find_game(request.game)
    check_seats(request.bots, game.name, every_seat=True)
    with ExitStack() as stack:
        with finding(request.bots, game.name) as found:
            plan = _plan(request, game, [each.entry for each in found])
            if travel:
                check_travel(plan.bots)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(claimed(folder))
                if resume:
                    before = read_plan(folder / PLAN)
                    check_files(folder, before)
                    plan = checked(continued(before, plan, folder, fewer))
                    if plan != before:
                        read(folder)  # a plan is not changed whose games cannot be read
                elif (folder / PLAN).exists():
                    raise UsageError(f"{folder} holds a tournament already; --resume goes on with it")
                for each in found:
                    store(each, folder)
                write_plan(plan, folder / PLAN)
            except OSError as error:
                raise RunError(f"{folder} cannot be written: {error.strerror}") from error
        yield plan


@contextmanager
def resumed(folder: Path, changes: Mapping[str, Any]) -> Iterator[Plan]:
    """The plan that is in the folder, which is claimed, with more games or rounds if the `changes`, fields of the plan,
    say so. UsageError if there is none, and for other changes."""
    read_plan(folder / PLAN)  # a folder that holds no tournament is left as it is
    with claimed(folder):
        before = read_plan(folder / PLAN)
        check_files(folder, before)
        requested = before.replaced(**changes, version=find_game(before.game).version)
        plan = checked(continued(before, checked(requested), folder))
        if plan != before:
            read(folder)  # a plan is not changed whose games cannot be read
            write_plan(plan, folder / PLAN)
        yield plan


def _plan(request: Request, game: Game, entries: list[Entry]) -> Plan:
    """What was asked for, with these bots. UsageError for what cannot be."""
    seats = game.seats.start
    format = request.format or "round-robin"
    if format in SELF:
        if len(entries) != 1:
            raise UsageError(f"{format} takes one bot, played against itself; {len(entries)} were named")
        one = entries[0]
        entries += [msgspec.structs.replace(one, name=one.name + COPY * number) for number in range(1, seats)]
    if format == "judged":
        entries += [_guest(case.name, game.name) for case in course(game.name).cases]
    bots = identified(entries)
    unknown = set(request.absent) - {entry.name for entry in bots}
    if unknown:
        raise UsageError(f"--absent {', '.join(sorted(unknown))}: there is no bot of that name")
    bots = tuple(
        msgspec.structs.replace(entry, absent=place in request.away or entry.name in request.absent)
        for place, entry in enumerate(bots)
    )
    options = dict(request.options)
    if format == "judged":
        options = dict(course(game.name).options) | options
    return checked(
        Plan(
            game=game.name,
            format=format,
            seed=request.seed,
            bots=bots,
            games=default_games(format, seats) if request.games is None else request.games,
            seats=seats,
            seating=default_seating(format) if request.seating is None else request.seating,
            first_to=request.first_to,
            rounds=request.rounds,
            options=options,
            maps={stage: list(maps) for stage, maps in request.maps.items()},
            time=game.time if request.time is None else request.time,
            limits=request.limits,
            encodings=request.encodings,
            version=game.version,
        )
    )


def _guest(case: str, game: str) -> Entry:
    with finding([f"@{case}"], game) as (found,):
        return msgspec.structs.replace(found.entry, guest=True)


def add(folder: Path, specs: Sequence[str]) -> Plan:
    """Puts further bots on the list of a tournament; one that was absent shows up. Nobody's games change by it.
    RunError where its ledger is damaged, with the list as it was."""
    plan = read_plan(folder / PLAN)
    read(folder)
    if plan.format in NO_FURTHER:
        raise UsageError(f"{plan.format} takes no further bots")
    with finding(specs, plan.game) as found:
        guests = [entry for entry in plan.bots if entry.guest]
        late = {each.entry.hash for each in found}
        bots = [
            msgspec.structs.replace(entry, absent=entry.absent and entry.hash not in late)
            for entry in plan.bots
            if not entry.guest
        ]
        absent = {entry.hash for entry in plan.bots if entry.absent}
        new = identified([*bots, *(each.entry for each in found if each.entry.hash not in absent)])
        for each in found:
            store(each, folder)
        plan = checked(plan.replaced(bots=(*new, *guests)))
        write_plan(plan, folder / PLAN)
    return plan


def programs(
    plan: Plan, folder: Path, forfeit: bool | None = None, progress: Callable[[str], None] = lambda text: None
) -> tuple[Plan, list[worker_messages.Program]]:
    """The bots' programs, built where they say how, and the plan: with `forfeit` those that cannot be built are
    absent. RunError, with all of them, otherwise; None: it cannot be played without them."""
    ready, failures, entries = [], [], []
    for number, entry in enumerate(plan.bots, start=1):
        progress(f"bot {number}/{len(plan.bots)}: {entry.name}")
        if not entry.absent:
            try:
                ready.append(program(entry, folder, plan.game, plan.limits))
            except (RunError, UsageError) as error:
                failures.append((entry.name, str(error).removeprefix(f"{entry.name}: ")))
                entry = msgspec.structs.replace(entry, absent=True)
        entries.append(entry)
    if failures and not forfeit:
        lines = "\n".join(f"{name}: {why}" for name, why in failures)
        what = "a bot cannot be played" if len(failures) == 1 else f"{len(failures)} bots cannot be played"
        raise RunError(f"{what}{'' if forfeit is None else '; --forfeit plays without'}\n{lines}")
    if failures:
        for name, why in failures:
            progress(f"{name} does not show up: {why}")
        plan = checked(plan.replaced(bots=tuple(entries)))
        write_plan(plan, folder / PLAN)
    return plan, ready
