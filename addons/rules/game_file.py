"""`game.toml`: a game whose rules are a program. Its author may be a stranger. SPEC.md, 30, describes it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from referee.addons.rules.board_file import PartTable
from referee.addons.rules.board_file import Path as MemberPath
from referee.addons.rules.source import GAME_FILE, NAME
from referee.games.board import MOST_PARTS
from referee.games.game import TimeControl
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import read_limited
from referee.harness.isolation.visible_paths import is_inside
from referee.harness.opponents import OPPONENTS
from referee.harness.programs.archive import Patterns
from referee.harness.programs.folder_toml import read_folder_toml

MAX_BYTES = 1 << 20
MOST_SEATS = 64
MAX_TEXT_BYTES = 4 << 20
"""The largest page, painter and prompt."""
_CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that terminals obey, and marks that change the writing direction. Line feeds and tabs are allowed."""
UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
MOST_S = 1e9

Positive = Annotated[int, Meta(ge=1, le=1 << 31)]
Whole = Annotated[int, Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
Text = Annotated[str, Meta(max_length=10_000)]


class Time(Struct, forbid_unknown_fields=True):
    """The table `time`: limits of bots."""

    call: str | None = None
    opening: str | None = None
    closing: str | None = None
    bank: str | None = None
    increment: str | None = None
    match: str | None = None


class MethodTable(Struct, forbid_unknown_fields=True):
    """A call."""

    doc: Text
    params: Any = None
    result: Any = None
    accepts: Any = None
    time: str | None = None
    rules: Text = ""


class NoticeTable(Struct, forbid_unknown_fields=True):
    """A notice."""

    doc: Text
    params: Any = None
    viewers: bool = False


class ScoreTable(Struct, forbid_unknown_fields=True):
    """The unit of the scores of a turn."""

    unit: Text
    meaning: Text
    fewest: bool = False


class PresentationTable(Struct, forbid_unknown_fields=True):
    """How people see the game."""

    frame: Text = ""
    legend: dict[str, Text] = {}
    endings: dict[str, Text] = {}
    secret: list[str] = []
    signs: list[Text] = []
    losing: tuple[Text, ...] = ("loses",)
    score: ScoreTable | None = None
    board: Annotated[list[PartTable], Meta(max_length=MOST_PARTS)] = []
    clicks: Annotated[list[MemberPath], Meta(max_length=10)] = []


class GameFile(Struct, forbid_unknown_fields=True):
    """The content of a `game.toml`."""

    name: str
    run: list[str]
    methods: dict[str, MethodTable]
    title: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    doc: Text = ""
    version: Positive = 1
    seats: tuple[int, int] = (2, 2)
    build: str | None = None
    bundle: str = "."
    exclude: Patterns = []
    time: Time = msgspec.field(default_factory=lambda: Time(call="1s"))
    options: dict[str, dict[str, Any]] = {}
    notices: dict[str, NoticeTable] = {}
    view: Any = None
    seat_view: Any = None
    constants: dict[str, Whole | str | list[Whole | str]] = {}
    rules_page: str = ""
    painter: str = ""
    prompt: str = ""
    starters: str = ""
    opponents: dict[str, str] = {}
    presentation: PresentationTable = msgspec.field(default_factory=PresentationTable)
    fresh: bool = False
    vary: dict[str, Any] = {}
    short: dict[str, Any] = {}


def read_game_file(folder: Path, shown: str) -> GameFile:
    """Reads the `game.toml` of a folder. UsageError, which names it as `shown`, that says what is wrong."""
    missing = "is a folder without a game.toml, which says what the game is and how its rules run"
    game = read_folder_toml(folder, shown, GAME_FILE, missing, GameFile, MAX_BYTES)
    if (problem := _problem(game, folder)) is not None:
        raise UsageError(f"{shown}/{GAME_FILE}: {problem}")
    return game


def control_character(value: Any) -> str | None:
    """Returns a text of a decoded file that has a control character, as Python writes it; None = there is none."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and (found := _CONTROL.search(each)):
            return ascii(each[max(0, found.start() - 30) : found.end() + 30])
        if isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list | tuple):
            waiting += each
    return None


def _problem(game: GameFile, folder: Path) -> str | None:
    """Returns what is wrong in a `game.toml`, apart from its schemas; None = nothing."""
    if (text := control_character(msgspec.to_builtins(game))) is not None:
        return f"the text {text} has a control character"
    if not NAME.fullmatch(game.name):
        return f"name is {game.name!r}; expected lower-case letters, digits and _, a letter first, at most 50"
    if not "".join(game.run[:1]):
        return 'run is empty; expected the program and its arguments, such as ["java", "-jar", "rules.jar"]'
    if any("\0" in word for word in [*game.run, game.build or "", game.bundle, *game.exclude]):
        return "a value has a NUL, which no command and no path can hold"
    least, most = game.seats
    if not 1 <= least <= most <= MOST_SEATS:
        return f"seats is {[least, most]}; expected the fewest and the most seats, 1 to {MOST_SEATS}"
    if not game.methods:
        return "there are no methods; expected a table such as [methods.play]"
    for name in [*game.methods, *game.notices, *game.options, *game.constants]:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", name):
            return f"{name!r} is no name; expected letters, digits and _, a letter first"
    if twice := game.methods.keys() & game.notices.keys():
        return f"{min(twice)} is a method and a notice; rename one"
    if reserved := {"initialize", "exit"} & (game.methods.keys() | game.notices.keys()):
        return f"{min(reserved)} is a name of the protocol; choose another"
    for name in ("rules_page", "painter", "prompt", "starters"):
        path = getattr(game, name)
        if path and (wrong := wrong_path(folder, path) or (name != "starters" and _wrong_text(folder / path))):
            return f"{name} is {path!r}, {wrong}"
    for name, path in game.opponents.items():
        if not NAME.fullmatch(name.lower()):
            return f"opponents: {name!r} is no name"
        if name in OPPONENTS and OPPONENTS[name].any_game:
            return f"opponents: @{name} plays every game already; choose another name"
        if wrong := wrong_path(folder, path):
            return f"opponents.{name} is {path!r}, {wrong}"
    for name, default in (("vary", game.vary), ("short", game.short)):
        if strange := default.keys() - game.options.keys():
            return f"{name}: there is no option {min(strange)}"
    return None


def wrong_path(folder: Path, path: str) -> str | None:
    """Returns why a path in a `game.toml` cannot be used; None = it can."""
    try:
        real = (folder / path).resolve()
    except (OSError, ValueError):
        return "which is no path"
    if not is_inside(str(real), [str(folder)]):
        return "which leads out of the game's folder"
    return None if real.exists() else "which is not there"


def _wrong_text(file: Path) -> str | None:
    """Returns why a file cannot be shown as text; None = it can."""
    try:
        text = read_limited(file, MAX_TEXT_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        return f"which cannot be read: {getattr(error, 'strerror', None) or error}"
    if (found := control_character(text.replace("\r\n", "\n"))) is not None:
        return f"which has a control character: {found}"
    return None


def time_control(table: Time, place: str) -> TimeControl:
    """Returns the limits of bots. UsageError for a time that is none."""

    def of(name: str) -> float | None:
        return seconds(getattr(table, name), f"{place}: time.{name}")

    return TimeControl(
        initial_s=of("bank"),
        increment_s=of("increment") or 0.0,
        per_call_s=of("call"),
        match_s=of("match"),
        opening_call_s=of("opening"),
        closing_call_s=of("closing"),
    )


def seconds(text: str | None, place: str) -> float | None:
    """Returns the seconds of `1s`, `500ms` or `2m`. UsageError for anything else."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h)", text)
    amount = 0.0 if found is None else float(found[1]) * UNITS_S[found[2]]
    if not 0 < amount <= MOST_S:
        raise UsageError(f"{place} is {text!r}; expected a time above zero such as 1s, 500ms or 2m")
    return amount


def defaults(options: Mapping[str, Mapping[str, Any]], place: str) -> None:
    """Raises UsageError for an option without a default."""
    for name, schema in options.items():
        if "default" not in schema:
            raise UsageError(f"{place}: options.{name} has no default; every option has one")
