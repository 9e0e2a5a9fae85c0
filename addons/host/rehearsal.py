"""A rehearsal of a contest: first bots of every language are checked, and dummies hand in and play as on the day.

It uses the queue of checks and the play process of a real contest, in a folder that is removed afterwards. So what it
refuses would be refused, and what it measures would be waited for.
"""

import io
import math
import shutil
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import trio
from msgspec import Struct

from referee.addons.host import check_queue, rehearsal_dummies, submissions, versions
from referee.addons.host.contest import Note, keep_playing, opened
from referee.addons.host.first_bots import kits, obstacles, packed
from referee.addons.host.play import PlaySettings
from referee.addons.host.rehearsal_dummies import Deadline
from referee.addons.host.room import LEAST_BYTES
from referee.addons.host.store import Store
from referee.addons.host.versions import Version
from referee.addons.tournament.intake.intake import Written
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.rows import Standings
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.ledger import LINES, PACKS, PLAN
from referee.harness.isolation.probe import probe
from referee.protocol.text import printable

DAY_S = 86_400.0
WEEKEND_S = 2 * DAY_S
ISOLATION = ("linux", "launcher", "namespaces", "landlock", "seccomp")
"""The layers without which bots of strangers are dangerous."""


class Checked(Struct, frozen=True):
    """A first bot, as the queue decided."""

    language: str
    lang: str
    """As `referee new --lang` takes it."""
    build: str
    """Its build command; empty without one."""
    accepted: bool
    reason: str
    seconds: float
    is_undecided: bool = False
    """The machine was too busy to decide, or the rehearsal too short."""


class Facts(Struct, frozen=True):
    """The findings of a rehearsal."""

    game: str
    checks: list[Checked]
    obstacles: dict[str, str]
    """Why first bots are refused, by language, where that is known without a build."""
    deadline: Deadline
    teams: int
    """How many are expected."""
    jobs: int
    """Checks at a time."""
    played: int
    played_s: float
    """How many games were played in so many seconds."""
    half_width: float | None
    """Half of the widest interval, in Elo, after `games_a_bot` games."""
    games_a_bot: float
    free_bytes: int
    ledger_bytes: int
    """Of the games that were played."""
    lacking: list[str]
    """Isolation layers that this machine has not."""


def report(facts: Facts) -> Iterator[str]:
    """Yields what an organiser has to know, a line each."""
    refused = [each for each in facts.checks if not (each.accepted or each.is_undecided)]
    for each in facts.checks:
        if each.accepted:
            yield f"{each.language}: accepted in {each.seconds:.0f} s"
        elif each.is_undecided:
            yield f"{each.language}: {each.reason}; rehearse again while the machine does nothing else"
    for each in refused:
        yield f"{each.language}: REFUSED: {each.reason}"
        if why := facts.obstacles.get(each.language):
            yield f"  {why}"
        if each.build:
            yield (
                f"  to prepare the machine, build one by hand, with the network: referee new {facts.game} --lang "
                f"{each.lang} first && cd first && {each.build}"
            )
    yield f"{len(refused)} of {len(facts.checks)} languages are refused"
    yield from facts.deadline.report(facts.teams)
    accepted = [each.seconds for each in facts.checks if each.accepted]
    if accepted and not facts.deadline.waits:
        last_s = fmean(accepted) * facts.teams / facts.jobs
        yield (
            f"at the deadline: if {facts.teams} teams hand in at once, the last verdict comes after about "
            f"{last_s / 60:.0f} minutes ({facts.jobs} at a time, {fmean(accepted):.1f} s each)"
        )
    if facts.played:
        a_day = facts.played * DAY_S / facts.played_s
        yield f"games: about {a_day:,.0f} a day"
        if facts.half_width is not None:
            a_bot = 2 * a_day * (WEEKEND_S / DAY_S) / facts.teams
            width = facts.half_width * math.sqrt(facts.games_a_bot / a_bot)
            yield f"after two days with {facts.teams} teams: intervals of about ±{width:.0f} Elo"
        room = facts.free_bytes - LEAST_BYTES
        days = room / (facts.ledger_bytes / facts.played * a_day)
        yield f"disk: {facts.free_bytes >> 30} GiB free, full after about {days:,.0f} days of games"
    else:
        yield "games: none was played, because fewer than two bots were accepted"
    for name in facts.lacking:
        yield f"isolation: this machine lacks {name}; see `referee doctor`"


async def rehearse(
    beside: Path,
    plan: Plan,
    options: tuple[str, ...],
    games: PlaySettings,
    jobs: int,
    expected: int,
    minutes: float,
    write: Written,
    note: Note,
) -> list[str]:
    """Rehearses a contest in a folder next to `beside`. Returns the report.

    `games`: where it plays. `jobs`: checks at a time. `expected`: the number of teams. `minutes`: how long games are
    played, while dummies hand in and are checked. First bots are checked before, for at most as long.
    """
    folder = Path(tempfile.mkdtemp(prefix=".rehearsal-", dir=beside.resolve().parent))
    try:
        store = opened(folder / "cup", plan, options)
        handed_in = await trio.to_thread.run_sync(lambda: [*_hand_in(store, plan.game)])
        note(f"{len(handed_in)} first bots are built and checked, as those of teams will be")
        with trio.move_on_after(60 * minutes):
            await _decided(store, handed_in, jobs, games.spare_cores, write, note)
        content = _base(store, handed_in)
        count = max(0, expected - len(handed_in)) if content else 0
        dummies = await trio.to_thread.run_sync(rehearsal_dummies.hand_in, store, content, count)
        note(f"{len(dummies)} dummies have handed in at once; the accepted bots play for {minutes:g} minutes")
        began = trio.current_time()
        with trio.move_on_after(60 * minutes):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keep_playing, store, games, note)
                nursery.start_soon(submissions.Queue(store, jobs, write, spare=games.spare_cores).run)
        seconds = trio.current_time() - began
        deadline = rehearsal_dummies.outcome(store, dummies, seconds)
        return [*report(_facts(store, handed_in, deadline, expected, jobs, seconds))]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class HandedIn(Struct, frozen=True):
    """A first bot that was handed in."""

    language: str
    lang: str
    build: str
    version: Version


def _hand_in(store: Store, game: str) -> Iterator[HandedIn]:
    """Hands in a first bot of every language, each for a team of its own."""
    for lang, kit in kits(game).items():
        content = packed(game, lang)
        yield HandedIn(kit.name, lang, _build(content), rehearsal_dummies.uploaded(store, kit.name, content))


def _base(store: Store, ones: Sequence[HandedIn]) -> bytes:
    """Returns the accepted first bot whose check was the shortest; empty if none was accepted."""
    found = [now for each in ones if (now := versions.by_id(store, each.version.id)) and now.status == "accepted"]
    best = min(found, key=lambda one: submissions.seconds(one) or 0, default=None)
    return b"" if best is None else (store.folder / best.path).read_bytes()


def _build(content: bytes) -> str:
    """Returns the build command of a first bot."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith("/bot.toml")]
        return str(tomllib.loads(archive.read(names[0]).decode()).get("build", "")) if names else ""


async def _decided(store: Store, ones: Sequence[HandedIn], jobs: int, spare: int, write: Written, note: Note) -> None:
    def decided(one: Version) -> None:
        language = next(each.language for each in ones if each.version.id == one.id)
        note(f"{language}: {one.status}{': ' + printable(one.reason) if one.reason else ''}")

    queue = submissions.Queue(store, jobs, write, decided, spare)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(queue.run)
        while check_queue.queue(store):
            await trio.sleep(submissions.LOOK_S)
        nursery.cancel_scope.cancel()


def _facts(
    store: Store, ones: Sequence[HandedIn], deadline: Deadline, expected: int, jobs: int, played_s: float
) -> Facts:
    plan = read_plan(store.folder / PLAN)
    found = [versions.by_id(store, each.version.id) for each in ones]
    checks = [
        Checked(
            each.language,
            each.lang,
            each.build,
            one.status == "accepted",
            printable(one.reason) if one.is_decided else "not decided within the minutes given",
            submissions.seconds(one) or 0,
            versions.is_undecided(one) or not one.is_decided,
        )
        for each, one in zip(ones, found, strict=True)
        if one is not None
    ]
    result = all_standings(plan, reader.read(store.folder, plan=plan), chances=False)
    size = sum(path.stat().st_size for part in (LINES, PACKS) for path in (store.folder / part).rglob("*"))
    machine = probe()
    return Facts(
        plan.game, checks, dict(obstacles(plan.game, plan.limits.build_network)), deadline, expected, jobs,
        result.played, played_s,
        *_interval(result), shutil.disk_usage(store.folder).free, size,
        [name for name in ISOLATION if name in machine.missing],
    )  # fmt: skip


def _interval(result: Standings) -> tuple[float | None, float]:
    """Returns half of the widest interval, and the games of its bot."""
    found = [
        ((row.elo.high - row.elo.low) / 2, float(row.games))
        for row in result.rows
        if row.elo is not None and row.elo.low is not None and row.elo.high is not None and row.games
    ]
    return max(found, default=(None, 0.0), key=lambda each: each[0] or 0.0)
