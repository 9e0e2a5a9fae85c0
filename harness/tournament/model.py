"""What a tournament is: bots, conditions, format. From it follow each game's key and seed, and what is left to play.

A key is `conditions/bots/orbit/row`. It names a game by what it consists of and by nothing else, so that ledgers of
different machines and days fit together, and a changed plan leaves what was played under other conditions alone.
"""

import hashlib
import json
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from referee.games import registry
from referee.games.contract import Game, TimeControl
from referee.games.dice import derive_seed
from referee.harness.errors import UsageError
from referee.harness.match.judge import course
from referee.harness.opponents import OPPONENTS
from referee.harness.process.limits import Limits
from referee.harness.programs.spec import shown_name
from referee.harness.tournament.formats.schedules import (
    BY_NAME_FIXED,
    FINAL,
    FIRST,
    FORMATS,
    Field,
    Results,
    Seating,
    Slot,
    Slots,
    draw,
    swiss_rounds,
)

NONE = "none"
SELF = ("self", "play-self")
"""Formats in which one bot plays itself."""
NEUTRAL = (
    "stderr_bytes",
    "exit_s",
    "build_s",
    "build_memory_bytes",
    "build_processes",
    "build_network",
)
"""Limits that change no game's outcome: how much of a log is kept, how long a bot may take to end after its last match,
and what a build may use. A bot that cannot be built plays no game."""
IDENT_DIGITS = 10
"""Of a bot's hash, as many name it in keys and tables."""


class Entry(Struct, frozen=True, omit_defaults=True):
    """A bot that takes part."""

    name: str
    ident: str
    """The first digits of its hash; of equal programs the later ones have `~2`, `~3` … behind."""
    hash: str
    """SHA-256 of what it consists of, hexadecimal."""
    bot: str
    """What names it: `@random`, `cmd:…`, or the name of the file or folder that it came from."""
    inside: str = "."
    """What is started of its bundle: a file, or a folder with a bot.toml."""
    cwd: str = ""
    """Where a command line was written that stays on this machine: its paths begin there."""
    absent: bool = False
    """It does not show up."""
    guest: bool = False
    """It is played against, but has no place in the standings: the opponents of a judged run."""


class Plan(Struct, frozen=True, omit_defaults=True):
    """A tournament. What is written in `tournament.toml` of its folder."""

    game: str
    format: str
    seed: int
    bots: tuple[Entry, ...]
    games: int = 2
    """Of every pairing or table; of the ladder: in all, 0 = without end."""
    seats: int = 2
    seating: Seating = Seating.ORBIT
    first_to: int | None = None
    rounds: int | None = None
    options: dict[str, Any] = {}
    """Of the game's rules."""
    maps: dict[str, list[str]] = {}
    """By stage, the content of the maps that orbits take in turn; "" = any other stage."""
    time: TimeControl = TimeControl()
    limits: Limits = Limits()
    encodings: tuple[str, ...] = ("json", "msgpack")
    version: int = 1
    """Of the game's rules."""

    @property
    def programs(self) -> tuple[int, ...]:
        """For every bot the place of the first that is the same program: its own, unless one is listed twice."""
        first: dict[str, int] = {}
        return tuple(first.setdefault(entry.hash, place) for place, entry in enumerate(self.bots))

    @property
    def field(self) -> Field:
        """What the format sees of it."""
        bots = [entry for entry in self.bots if not entry.guest]
        cases: tuple[tuple[int, int], ...] = ()
        if self.format == "judged":
            names = [f"@{case.name}" for case in course(self.game).cases]
            at = {entry.bot: place for place, entry in enumerate(self.bots) if entry.guest}
            cases = tuple((at[name], OPPONENTS[name[1:]].seats[self.game] or 0) for name in names)
        return Field(
            bots=len(bots),
            seats=self.seats,
            games=self.games,
            seed=self.seed,
            seating=self.seating,
            first_to=self.first_to,
            rounds=self.rounds,
            absent=tuple(place for place, entry in enumerate(bots) if entry.absent),
            cases=cases,
        )

    def slots(self, results: Results) -> Slots:
        """What is due, in order; see `formats`."""
        return FORMATS[self.format](self.field, results)

    @property
    def stages(self) -> tuple[str, ...]:
        """The sets of conditions that it is played under."""
        return (FIRST, FINAL) if self.format == "groups" else ("",)

    def maps_of(self, stage: str) -> list[str]:
        """The maps that a stage's orbits take in turn; none for a game without."""
        return self.maps.get(stage) or self.maps.get("", [])

    def conditions(self, stage: str) -> str:
        """What a stage is played under, as 8 hexadecimal digits; in other conditions every game has another key."""
        limits = [_changed(self.time), _changed(deciding(self.limits))]
        what = [self.game, self.version, self.options, self.maps_of(stage), *limits, self.encodings]
        text = json.dumps(msgspec.to_builtins(what), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def replaced(self, **changes: Any) -> "Plan":
        """The same with some fields changed."""
        return msgspec.structs.replace(self, **changes)


def deciding(limits: Limits) -> Limits:
    """The limits that can change a game's outcome, with all others at their defaults.

    Visible paths are left out: they belong to a machine, like its system files, and differ from one to the next.
    """
    default = Limits()
    neutral = {name: getattr(default, name) for name in NEUTRAL}
    isolation = msgspec.structs.replace(limits.isolation, readable=())
    return msgspec.structs.replace(limits, isolation=isolation, **neutral)


def _changed(value: Struct) -> dict[str, Any]:
    """What is not as by default: so a limit that a later version adds changes no key."""
    default = type(value)()
    return {name: of for name, of in msgspec.structs.asdict(value).items() if of != getattr(default, name)}


class Keys:
    """The keys and seeds of a plan's games, and back."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.conditions = {stage: plan.conditions(stage) for stage in plan.stages}
        self.idents = tuple(entry.ident for entry in plan.bots)
        self._tables: dict[tuple[tuple[int, ...], str], tuple[str, int]] = {}

    def table_row(self, slot: Slot) -> tuple[str, int]:
        """`conditions/bots`, the bots sorted, and which order of them sits at the table (0 = as sorted)."""
        known = self._tables.get((slot.seats, slot.stage))
        if known is None:
            idents = tuple(self.idents[bot] for bot in slot.seats)
            table = f"{self.conditions[slot.stage]}/{'-'.join(sorted(idents))}"
            row = list(permutations(sorted(idents))).index(idents)
            known = self._tables[slot.seats, slot.stage] = (table, row)
        return known

    def key(self, slot: Slot) -> str:
        """`conditions/bots/orbit/row`."""
        table, row = self.table_row(slot)
        return f"{table}/{slot.orbit}/{row}"

    def seed(self, slot: Slot) -> int:
        """Of all luck in the game. Another bot in the tournament changes nobody's."""
        table, _ = self.table_row(slot)
        return derive_seed(self.plan.seed, table, slot.orbit)

    def map(self, slot: Slot) -> str | None:
        """The map it is played on."""
        maps = self.plan.maps_of(slot.stage)
        return maps[slot.orbit % len(maps)] if maps else None


def find_game(name: str) -> Game:
    """The game of that name. UsageError lists those that there are."""
    try:
        return registry.game(name)
    except KeyError as error:
        raise UsageError(error.args[0]) from error


def default_games(format: str, seats: int) -> int:
    """What `--games` is where it is not given."""
    if format == "series":
        return 101
    if format in ("groups", "judged", "two-player", "play-all", "play-self", "list-order"):
        return 1
    return 0 if format == "ladder" else seats


def default_seating(format: str) -> Seating:
    """What `--seating` is where it is not given."""
    if format in BY_NAME_FIXED:
        return Seating.FIXED
    return Seating.ALTERNATE if format == "series" else Seating.ORBIT


def checked(plan: Plan) -> Plan:
    """The plan, if it can be played. UsageError says what is wrong with it."""
    bots = [entry for entry in plan.bots if not entry.guest]
    there = sum(not entry.absent for entry in bots)
    if plan.format not in FORMATS:
        raise UsageError(f"there is no format {plan.format!r}; there are {', '.join(FORMATS)}")
    if plan.games < 1 and plan.format != "ladder":
        raise UsageError(f"--games {plan.games}: there must be one at least")
    if plan.seats not in find_game(plan.game).seats:
        raise UsageError(f"{plan.game} is not played by {plan.seats} bots")
    if plan.format == "two-player" and there != plan.seats:
        raise UsageError(f"two-player takes {plan.seats} bots; there {_are(there)}")
    for option, value in (("--first-to", plan.first_to), ("--tables (rounds in a file)", plan.rounds)):
        if value is not None and value < 1:
            raise UsageError(f"{option} {value}: there must be one at least")
    if plan.first_to is not None and plan.format != "series":
        raise UsageError(f"--first-to {plan.first_to}: only a series is decided by wins, and {plan.format} is none")
    if plan.format in ("ladder", "swiss", "series", "judged", "list-order") and plan.seats != 2:
        raise UsageError(f"{plan.format} is for games of two; {plan.game} is played by {plan.seats}")
    if plan.format != "judged" and there < plan.seats:
        raise UsageError(f"{plan.format} of {plan.game} takes {plan.seats} bots at least; there {_are(there)}")
    if plan.format == "groups":
        try:
            draw(plan.field)
        except ValueError as error:
            raise UsageError(str(error)) from error
    return plan


def differences(plan: Plan, part: Plan) -> Iterator[str]:
    """Why games of `part` cannot be counted among those of `plan`: by another seed or under other conditions a game of
    one key is another game, and a bot that is not on the list has no place in the table."""
    for name in ("game", "format", "seed", "seating"):
        expected, found = getattr(plan, name), getattr(part, name)
        if expected != found:
            yield f"its {name} is {found}, not {expected}"
    if any(plan.conditions(stage) != part.conditions(stage) for stage in plan.stages):
        yield "it is played under other options, maps, times, limits or rules"
    known = {entry.ident for entry in plan.bots}
    for entry in part.bots:
        if entry.ident not in known:
            yield f"it has {entry.name}@{entry.ident[:6]}, which is to be added first"


def _are(count: int) -> str:
    return f"{'is' if count == 1 else 'are'} {count}"


def identified(bots: Sequence[Entry]) -> tuple[Entry, ...]:
    """The bots with names and idents that tell them apart. UsageError for nobody; equal programs are allowed."""
    names: set[str] = set()
    idents: set[str] = set()
    found = []
    for entry in bots:
        name = _free(shown_name(entry.name), names, " {}")
        ident = _free(entry.hash[:IDENT_DIGITS], idents, "~{}")
        found.append(msgspec.structs.replace(entry, name=name, ident=ident))
    return tuple(found)


def remarks(plan: Plan) -> Iterator[str]:
    """What whoever starts it may not expect, a sentence each."""
    yield from same_programs(plan)
    absent = [entry.name for entry in plan.bots if entry.absent]
    if absent:
        yield f"{', '.join(absent)} {'does' if len(absent) == 1 else 'do'} not show up"
    if plan.rounds is not None:
        field = plan.field
        there = field.bots - len(field.absent)
        if plan.format == "swiss":
            played = swiss_rounds(there, plan.rounds)
            if played < plan.rounds:
                yield f"{played} rounds are played, not {plan.rounds}: {there} bots have no opponents for more"
        elif plan.seats == 2 or plan.format != "round-robin":
            yield f"--tables {plan.rounds} changes nothing: it is for a swiss and for round-robin at four seats"


def same_programs(plan: Plan) -> list[str]:
    """Who is the same program as whom, a sentence each; not where one is to play itself, and not of guests."""
    if plan.format in SELF:
        return []
    alike: dict[int, list[str]] = {}
    for entry, program in zip(plan.bots, plan.programs, strict=True):
        if not entry.guest:
            alike.setdefault(program, []).append(entry.name)
    return [f"{', '.join(names)} and {last} are the same program" for *names, last in alike.values() if names]


def _free(preferred: str, taken: set[str], number: str) -> str:
    free, count = preferred, 1
    while free in taken:
        count += 1
        free = preferred + number.format(count)
    taken.add(free)
    return free


def due_games(plan: Plan) -> int | None:
    """How many games there will be; None where that depends on results."""
    field = plan.field
    if plan.format in ("ladder", "swiss", "series"):
        if plan.format == "swiss":
            bots = field.bots - len(field.absent)
            return swiss_rounds(bots, field.rounds) * (bots // 2) * field.games
        return field.games or None if plan.format == "ladder" else None
    if plan.format == "groups":
        return (len(draw(field)) + 1) * field.games
    one = plan.replaced(games=1)
    tables = sum(1 for _ in one.slots({}))
    return tables * field.games


# tournament.toml


def write_plan(plan: Plan, path: Path) -> None:
    """Writes it at once or not at all."""
    lines = ["# Written by `referee tournament`; from this file and the ledger every table comes.", ""]
    values = msgspec.to_builtins(plan)
    for name, value in values.items():
        if name != "bots" and value is not None:
            lines.append(f"{name} = {_toml(value)}")
    for bot in values["bots"]:
        lines += ["", "[[bots]]", *(f"{name} = {_toml(value)}" for name, value in bot.items())]
    beside = path.with_suffix(".toml.new")
    beside.write_text("\n".join([*lines, ""]), "utf-8")
    beside.replace(path)


def read_plan(path: Path) -> Plan:
    """UsageError if there is none."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
        for part in ("time", "limits"):
            values[part] = {name: None if of == NONE else of for name, of in values.get(part, {}).items()}
        return msgspec.convert(values, Plan)
    except FileNotFoundError as error:
        raise UsageError(f"{path.parent} holds no tournament: there is no {path.name}") from error
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}") from error


def _toml(value: Any) -> str:
    if value is None:
        return f'"{NONE}"'  # TOML has no null
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml(str(name))} = {_toml(of)}" for name, of in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return "inf" if value > 0 else "-inf"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
