"""The plan of a tournament: bots, conditions, format. Each game's key and seed follow from it; see `keys`."""

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from referee.addons.tournament.format_options import check_counts, check_options, check_seats, options_of
from referee.addons.tournament.formats.games import FINAL, FIRST, Field, Results, ScheduledGames, Seating
from referee.addons.tournament.formats.groups import draw
from referee.addons.tournament.formats.schedules import BRACKETS, FORMATS, drawn_groups, size_of_round_robin
from referee.addons.tournament.stage_settings import Stage, check_stages
from referee.addons.tournament.test_runs import test_run
from referee.addons.tournament.ties import SCORE, Tie
from referee.games.game import Stakes, TimeControl
from referee.harness.common import toml
from referee.harness.common.errors import UsageError, reason
from referee.harness.common.game_files import Openings
from referee.harness.common.installed import extra_command
from referee.harness.common.kept_rules import kept_rules
from referee.harness.common.known_games import find_game
from referee.harness.common.paths import read_limited, replace_file
from referee.harness.match.rule_options import with_seats
from referee.harness.opponents import OPPONENTS
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import shown_name

NONE = "none"
PAIRING = 2
"""The version of the pairings, with which a tournament stays; its file names it."""
NEUTRAL = (
    *("stderr_bytes", "exit_s", "build_s", "build_memory_bytes", "build_processes", "build_disk_bytes"),
    "build_network",
)
"""Limits that change no game's outcome: a bot that cannot be built plays no game."""
IDENT_DIGITS = 10
"""How many digits of its hash identify a bot in keys."""
SHOWN_DIGITS = 6
"""How many digits of its hash follow the name of an older version."""


class Entry(Struct, frozen=True, omit_defaults=True):
    """A bot that takes part. Its file may be a stranger's, and some values become parts of paths."""

    name: str
    ident: Annotated[str, Meta(pattern=rf"\A([0-9a-f]{{{IDENT_DIGITS}}}(~[0-9]+)?)?\Z")]
    """The first digits of its hash; a second entry of the same program has `~2` behind it, the third `~3` …"""
    hash: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    """SHA-256 of its content, hexadecimal."""
    bot: Annotated[str, Meta(pattern=r"\A[^\0]+\Z")]
    """`@random`, `cmd:…`, or the name of its file or folder."""
    inside: Annotated[str, Meta(pattern=r"\A(?!/)(?!(.*/)?\.\.(/|\Z))[^\0]*\Z")] = "."
    """The file in its archive to start, or the folder with its bot.toml."""
    cwd: Annotated[str, Meta(pattern=r"\A[^\0]*\Z")] = ""
    """The folder in which a command line starts."""
    absent: bool = False
    """It does not take part for now."""
    withdrawn: bool = False
    """It is absent until the organiser adds it again, also if a new version is handed in."""
    void: bool = False
    """Its games count for nobody."""
    walkover: bool = False
    """It is absent, and keeps its place in a bracket that had begun: its opponents have walk-overs."""
    guest: bool = False
    """It has no place in the standings: the opponents of a test run."""
    reference: bool = False
    """It is the organiser's: it plays as the others do, and has no place in the standings."""
    changes: tuple[int, ...] = ()  # of a Swiss, as in `formats.games.Field`
    predecessor: str = ""  # in a Swiss: the ident of the earlier version whose place and points it has
    copy_of: str = ""
    """The name of the bot for which it fills a further seat. Its results are those of that bot."""


class Plan(Struct, frozen=True, omit_defaults=True):
    """A tournament, as `tournament.toml` of its folder describes it."""

    game: str
    format: str
    seed: int
    bots: tuple[Entry, ...]
    games: int = 2
    """Of every line-up; of the ladder in all, 0 = without end."""
    seats: int = 2
    seating: Seating = Seating.SEED_GROUP
    first_to: int | None = None
    rounds: int | None = None
    ties: tuple[Tie, ...] = ()
    """What decides between bots with equal points, in order."""
    play_off: int = 0
    """The number of first places for which bots with equal points have a play-off; see `formats.play_off`."""
    rank_by: Literal["points", "score"] = "points"
    """`score`: the mean of what the game itself paid, such as chips."""
    stakes: Stakes | None = None
    """Where the game has stakes and scores rank the bots: what a game counts that a fault has decided."""
    expel: int | None = None
    """After this many games with a fault in a row, a bot loses its later games without play."""
    groups: int = 1
    """Of a round robin: all bots of a group meet, and the table has the first of all groups before the second ones."""
    stages: tuple[Stage, ...] = ()
    """Those that follow the first one, which `format`, `games`, `first_to` and `rounds` describe."""
    options: dict[str, Any] = {}
    """Of the game's rules."""
    maps: dict[str, list[str]] = {}
    """The content of the maps that seed groups use in turn, by stage; "" = any other stage."""
    openings: Openings | None = None
    """The book whose openings seed groups use in turn."""
    time: TimeControl = TimeControl()
    limits: Limits = Limits()
    encodings: tuple[str, ...] = ("json", "msgpack")
    version: int = 1
    """Of the game's rules."""
    rules: str = ""
    """SHA-256 of the files of rules that are a program, hexadecimal; the folder has a copy. Empty for other games."""
    late_points: float = 0.0  # of a Swiss; see `formats.games.Field`
    title: str = ""
    """The contest's name, above the standings; empty = the game and the format."""
    applied: tuple[str, ...] = ()
    """The files of the changes that were applied last; see `inbox`."""

    @property
    def heading(self) -> str:
        """The contest's name, or the game and the format."""
        return self.title or self.description

    @property
    def description(self) -> str:
        """The game and the format."""
        return f"{find_game(self.game).title}, {self.formats}"

    @property
    def formats(self) -> str:
        """The formats of all stages."""
        return ", then ".join([self.format, *(stage.title for stage in self.stages)])

    @property
    def rare_options(self) -> dict[str, object]:
        """Options that only some formats take, and that decide the plan; None = not asked for."""
        return {
            "first_to": self.first_to,
            "groups": self.groups if self.groups > 1 else None,
            "ties": self.ties or None,
            "rank_by": self.rank_by if self.rank_by == SCORE else None,
            "play_off": self.play_off or None,
        }

    @property
    def older(self) -> frozenset[str]:
        """The idents of older versions: of bots with one name, all but the one that takes part or was entered last."""
        latest: dict[str, Entry] = {}
        for entry in self.bots:
            known = latest.get(entry.name)
            if known is None or known.absent or not entry.absent:
                latest[entry.name] = entry
        current = {entry.ident for entry in latest.values()}
        return frozenset(entry.ident for entry in self.bots if entry.ident not in current)

    @property
    def void(self) -> frozenset[str]:
        """The idents of bots whose games count for nobody, although they have no newer version."""
        return frozenset(entry.ident for entry in self.bots if entry.void) - self.older

    @property
    def labels(self) -> dict[str, str]:
        """By ident, the name to show. An older version has the beginning of its hash behind it."""
        older = self.older
        return {
            entry.ident: f"{entry.name}@{entry.ident[:SHOWN_DIGITS]}" if entry.ident in older else entry.name
            for entry in self.bots
        }

    @property
    def programs(self) -> tuple[int, ...]:
        """For every bot, the place of the first bot that is the same program."""
        first: dict[str, int] = {}
        return tuple(first.setdefault(entry.hash, place) for place, entry in enumerate(self.bots))

    @property
    def places(self) -> dict[str, int]:
        """By ident, the place of the bot whose results they are: of a copy its bot, else its newest version."""
        named = {entry.name: place for place, entry in enumerate(self.bots) if not entry.copy_of}
        places = {entry.ident: named.get(entry.copy_of, place) for place, entry in enumerate(self.bots)}
        if any(entry.predecessor for entry in self.bots):
            older, players = self.older, self.field.players_of_bots
            newest = {players[place]: place for place, entry in enumerate(self.bots) if entry.ident not in older}
            places |= {entry.ident: newest.get(players[at], at) for at, entry in enumerate(self.bots)}
        return places

    @property
    def field(self) -> Field:
        """The part of the plan that the format needs."""
        bots = [entry for entry in self.bots if not entry.guest]
        idents = {entry.ident: place for place, entry in enumerate(bots)}
        cases: tuple[tuple[int, int], ...] = ()
        if self.format == "judged":
            names = [f"@{case.name}" for case in test_run(self.game).cases]
            places = {entry.bot: place for place, entry in enumerate(self.bots) if entry.guest}
            cases = tuple((places[name], OPPONENTS[name[1:]].seats[self.game] or 0) for name in names)
        return Field(
            bots=len(bots),
            seats=self.seats,
            games=self.games,
            seed=self.seed,
            seating=self.seating,
            first_to=self.first_to,
            rounds=self.rounds,
            absent=tuple(place for place, entry in enumerate(bots) if entry.absent and not self._stays(entry)),
            withdrawn=tuple(place for place, entry in enumerate(bots) if entry.absent and self._stays(entry)),
            cases=cases,
            changes=tuple(entry.changes for entry in bots),
            predecessors=tuple(idents.get(entry.predecessor, place) for place, entry in enumerate(bots)),
            late_points=self.late_points,
            groups=drawn_groups(range(len(bots)), self.groups, self.seed),
        )

    def scheduled_games(self, results: Results) -> ScheduledGames:
        """Yields the games in order; see `formats.games`."""
        _need_library(self)
        return FORMATS[self.format](self.field, results)

    def _stays(self, entry: Entry) -> bool:
        """Whether an absent bot keeps its place."""
        return entry.walkover and self.format in BRACKETS

    @property
    def condition_names(self) -> tuple[str, ...]:
        """The sets of conditions: each stage has its own, and `groups` has two."""
        first = (FIRST, FINAL) if self.format == "groups" else ("",)
        return (*first, *(stage.title for stage in self.stages))

    @property
    def bracket_conditions(self) -> list[str]:
        """The conditions of all stages that are brackets."""
        stages = [("", self.format), *((stage.title, stage.format) for stage in self.stages)]
        return [self.conditions(name) for name, format in stages if format in BRACKETS]

    def maps_of(self, stage: str) -> list[str]:
        """Returns the maps that a stage's seed groups use in turn; none for a game without maps."""
        return self.maps.get(stage) or self.maps.get("", [])

    def conditions(self, stage: str) -> str:
        """Returns 8 hexadecimal digits that identify a stage's conditions, so that other conditions give other keys."""
        limits = [_changed(self.time), _changed(deciding(self.limits))]
        is_first = not stage or (self.format == "groups" and stage in (FIRST, FINAL))
        further = [] if is_first else [stage]
        parts = [self.game, self.version, self.options, self.maps_of(stage), *limits, self.encodings, *further]
        parts += [] if self.openings is None else [self.openings.conditions]
        parts += [self.rules] if self.rules else []
        text = json.dumps(msgspec.to_builtins(parts), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def replaced(self, **changes: Any) -> "Plan":
        """Returns a copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)


def _need_library(plan: Plan) -> None:
    if "swiss" in {plan.format, *(stage.format for stage in plan.stages)} and find_spec("rustworkx") is None:
        raise UsageError(f"a Swiss needs the extra `tournament`; to install it: {extra_command('tournament')}")


def deciding(limits: Limits) -> Limits:
    """Returns the limits that can change a game's outcome, with all others at their defaults.

    Visible paths are left out: they differ from machine to machine, like system files.
    """
    default = Limits()
    neutral = {name: getattr(default, name) for name in NEUTRAL}
    isolation = msgspec.structs.replace(limits.isolation, readable=())
    return msgspec.structs.replace(limits, isolation=isolation, **neutral)


def _changed(value: Struct) -> dict[str, Any]:
    """Returns what differs from the defaults, so that a new limit in a later version changes no key."""
    default = type(value)()
    return {name: of for name, of in msgspec.structs.asdict(value).items() if of != getattr(default, name)}


def checked(plan: Plan) -> Plan:
    """Returns the plan if it can be played, else raises UsageError."""
    bots = [entry for entry in plan.bots if not entry.guest]
    present = sum(not entry.absent for entry in bots)
    options_of(plan.format)
    check_counts("--", plan.format, plan)
    for stage in plan.stages:
        check_counts("stages: ", stage.format, stage)
    with_seats(find_game(plan.game), plan.seats)
    if plan.format == "two-player" and present != plan.seats:
        raise UsageError(f"two-player takes {plan.seats} bots; there {_are(present)}")
    check_seats(plan.format, plan.seats)
    check_options(plan.format, plan.seats, plan.rare_options)
    check_stages(plan.format, plan.games, plan.seats, plan.replaced(stages=()).condition_names, plan.stages)
    _check_groups(plan, len(bots))
    _check_ranking(plan)
    if not bots and plan.format != "judged":
        raise UsageError("the tournament has no bot yet: hand in again with `referee tournament prepare`, or add bots")
    if plan.format != "judged" and present < plan.seats:
        raise UsageError(f"{plan.format} of {plan.game} takes at least {plan.seats} bots; there {_are(present)}")
    _need_library(plan)
    if plan.format == "groups":
        try:
            draw(plan.field)
        except ValueError as error:
            raise UsageError(str(error)) from error
    return plan


def _check_groups(plan: Plan, bots: int) -> None:
    """Raises UsageError for groups that are too small to play."""
    if plan.groups < 1:
        raise UsageError(f"groups = {plan.groups}: expected 1 or more")
    if plan.groups > 1 and 0 < bots < plan.groups * plan.seats:
        least = plan.groups * plan.seats
        raise UsageError(
            f"groups = {plan.groups}: expected at least {least} bots, {plan.seats} each; there {_are(bots)}"
        )


def _check_ranking(plan: Plan) -> None:
    """Raises UsageError for a ranking by score or a play-off where other things rank the bots."""
    is_parted = bool(plan.stages) or plan.groups > 1
    if plan.rank_by == SCORE and (plan.play_off or is_parted):
        what = "a play-off, which goes" if plan.play_off else "stages or groups, which go"
        raise UsageError(f"--rank-by {plan.rank_by} cannot be combined with {what} by points")
    if plan.play_off and is_parted:
        raise UsageError(f"--play-off {plan.play_off}: the next stage decides the places; leave the option out")


def _are(count: int) -> str:
    return f"{'is' if count == 1 else 'are'} {count}"


def differences(plan: Plan, part: Plan) -> Iterator[str]:
    """Yields the reasons why games of `part` cannot be merged into `plan`.

    With another seed or other conditions, the game of a key is another game. A bot that is not on the list has no place
    in the standings.
    """
    if plan.seats != part.seats:
        yield f"its games have {part.seats} seats, not {plan.seats}"
    for name in ("game", "formats", "seed", "seating", "groups"):
        expected, value = getattr(plan, name), getattr(part, name)
        if expected != value:
            yield f"its {name} is {value}, not {expected}"
    if plan.rules != part.rules:
        yield f"its rules have the hash {part.rules[:10]}…, not {plan.rules[:10]}…"
    elif any(plan.conditions(stage) != part.conditions(stage) for stage in plan.condition_names):
        yield "it is played under other options, maps, times, limits or rules"
    known = {entry.ident for entry in plan.bots}
    for entry in part.bots:
        if entry.ident not in known:
            yield f"it has {entry.name}@{entry.ident[:6]}; add it first with `referee tournament add`"


def identified(bots: Sequence[Entry], entered: Sequence[Entry] = ()) -> tuple[Entry, ...]:
    """Returns the bots with unique names and idents. Equal programs are allowed.

    A bot with the name of one that is `entered` already, and with other content, is a newer version: it keeps the name.
    """
    names = {entry.name for entry in entered}
    idents = {entry.ident for entry in entered}
    versions = {(entry.name, entry.hash) for entry in entered}
    open_names = set(names)
    new = []
    for entry in bots:
        name = shown_name(entry.name)
        if name in open_names and (name, entry.hash) not in versions:
            open_names.remove(name)
        else:
            name = free(name, names, " {}")
        ident = free(entry.hash[:IDENT_DIGITS], idents, "~{}")
        new.append(msgspec.structs.replace(entry, name=name, ident=ident))
    return tuple(new)


def with_versions(bots: Sequence[Entry], entries: Iterable[Entry], played: Set[str]) -> tuple[Entry, ...]:
    """Returns the bots with new ones, and with new versions of those that have the same name.

    `played`: the idents of bots that have games. Their earlier versions stay and are absent. A withdrawn bot gets no
    new version.
    """
    withdrawn = {entry.name for entry in bots if entry.withdrawn}
    newest = {entry.name: entry for entry in entries if entry.name not in withdrawn}
    taken = {entry.ident for entry in bots}
    known = {entry.name for entry in bots if entry.name in newest and newest[entry.name].hash == entry.hash}
    result: list[Entry] = []

    def add(new: Entry) -> None:
        known.add(new.name)
        result.append(msgspec.structs.replace(new, ident=free(new.hash[:IDENT_DIGITS], taken, "~{}")))

    for entry in bots:
        new = newest.get(entry.name)
        if new is None or new.hash == entry.hash:
            result.append(entry if new is None else msgspec.structs.replace(entry, absent=False))
        elif entry.ident in played:
            result.append(msgspec.structs.replace(entry, absent=True))
        elif entry.name not in known:
            add(new)
    for new in newest.values():
        if new.name not in known:
            add(new)
    return tuple(result)


def free(preferred: str, taken: set[str], number: str) -> str:
    """Returns a text that is not taken, if need be with a number from 2 on behind it, and adds it to `taken`."""
    free, count = preferred, 1
    while free in taken:
        count += 1
        free = preferred + number.format(count)
    taken.add(free)
    return free


def number_of_games(plan: Plan) -> int | None:
    """Returns the number of games, without a play-off; None if it depends on results."""
    field = plan.field
    if plan.format == "ladder":
        return field.games or None
    if plan.format in ("series", "swiss", *BRACKETS) or plan.stages:
        return None
    if plan.format == "groups":
        return (len(draw(field)) + 1) * field.games
    if plan.format == "round-robin":
        return size_of_round_robin(field)
    return sum(1 for _ in plan.replaced(games=1).scheduled_games({})) * field.games


# tournament.toml


def write_plan(plan: Plan, path: Path) -> None:
    """Writes the file at once or not at all, after a copy of rules that are a program."""
    if plan.rules:
        kept_rules().keep(plan.game, plan.version, plan.rules, path.parent)
    lines = ["# Written by `referee tournament`. All standings come from this file and the ledger.", ""]
    lines.append(f"pairing = {PAIRING}")
    values = msgspec.to_builtins(plan)
    for name, value in values.items():
        if name != "bots" and value is not None:
            lines.append(f"{name} = {_toml(value)}")
    for bot in values["bots"]:
        lines += ["", "[[bots]]", *(f"{name} = {_toml(value)}" for name, value in bot.items())]
    replace_file(path, "\n".join([*lines, ""]).encode())


def read_plan(path: Path) -> Plan:
    """Reads the file, and finds its game by the copy of the rules. UsageError if one is missing or wrong."""
    try:
        values = toml.parsed(read_limited(path).decode("utf-8"))
        for part in ("time", "limits"):
            values[part] = {name: None if of == NONE else of for name, of in values.get(part, {}).items()}
        values.setdefault("bots", [])  # of an intake that accepted none
        plan = toml.converted(values, Plan)
        if values.get("pairing") != PAIRING:
            raise ValueError("a version of Referee that pairs otherwise wrote this plan; begin a new tournament")
    except FileNotFoundError as error:
        raise UsageError(f"{path.parent} holds no tournament: there is no {path.name}") from error
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {reason(error)}") from error
    open_rules(plan, path.parent)
    return plan


def open_rules(plan: Plan, folder: Path, over_typed: bool = False) -> None:
    """Finds the plan's game by the folder's copy of its rules from now on; see `KeptRules.open_kept`."""
    if plan.rules:
        kept_rules().open_kept(plan.game, plan.version, plan.rules, folder, over_typed)


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
