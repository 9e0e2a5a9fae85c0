"""The rules of a contest besides those of its game: limits, languages of this machine, times, and what decides."""

import platform
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from referee.addons.host.first_bots import kits, obstacles
from referee.addons.host.versions import Quota
from referee.addons.tournament.plan import Plan
from referee.games.game import Game
from referee.games.schemas import Schema, game_schema, in_words, referred
from referee.harness.languages import toolchains
from referee.harness.languages.packages import ITEMS, KITS


class Language(Struct, frozen=True):
    """A language in which a first bot exists."""

    name: str
    versions: str
    """Of its compilers and libraries on this machine, in words."""
    obstacle: str = ""
    """Why a first bot in it is refused; empty if it is not."""


class Part(Struct, frozen=True):
    """A function, an event or a type of a game, in words."""

    name: str
    kind: str
    text: str
    members: tuple[tuple[str, str, str], ...]
    """The name of each, its type and its meaning."""
    answer: str = ""


class Description(Struct, frozen=True):
    """The description of a game, as `referee games` prints it."""

    text: str
    parts: tuple[Part, ...]


def description(game: Game) -> Description:
    """Describes a game that has no page of rules: its functions and events, the types that they name, its options."""
    schema = game_schema(game)
    types, methods = schema["$defs"], schema["methods"]
    named: list[str] = []

    def words(part: Schema) -> str:
        return in_words(part, noted).replace("`", "")

    def noted(name: str) -> str:
        if name not in named:
            named.append(name)
        return name

    def members(part: Schema) -> tuple[tuple[str, str, str], ...]:
        known = part["properties"].items() if "properties" in part else ()
        return tuple((name, words(each), each.get("description", "")) for name, each in known)

    parts = []
    for name, method in methods.items():
        if method["kind"] != "viewer":
            kind, answer = ("function", words(method["result"])) if method["kind"] == "call" else ("event", "")
            parts.append(Part(name, kind, method["description"], members(types[referred(method["params"])]), answer))
    noted("Options")
    for name in named:  # it grows
        each = types[name]
        text = [each.get("description", ""), "" if "properties" in each else words(each)]
        parts.append(Part(name, "type", " ".join(filter(None, text)), members(each)))
    return Description(schema["description"], tuple(parts))


def limits(plan: Plan, quota: Quota) -> list[tuple[str, str]]:
    """Returns the limits of bots, builds and uploads: each by its name, in words."""
    bounds, time = plan.limits, plan.time
    rows = [
        ("Memory of a bot", _size(bounds.memory_bytes)),
        ("CPU time of a bot in a match", _seconds(bounds.cpu_s)),
        ("Time of a call", _seconds(time.per_call_s)),
        ("Time of all calls of a match", _clock(plan)),
        ("Network of a bot", "none" if bounds.isolation.mode != "off" else "that of the machine"),
        ("Time of a build", _seconds(bounds.build_s)),
        ("Memory of a build", _size(bounds.build_memory_bytes)),
        ("Network of a build", "that of the machine" if bounds.build_network else "none"),
        ("Size of an upload", _size(quota.bytes)),
        ("Versions of a team", f"{quota.an_hour} an hour that are not refused; several refused ones cost a pause"),
    ]
    return [(name, text) for name, text in rows if text]


def _size(bytes: int | None) -> str:
    return "no limit" if bytes is None else f"{bytes / (1 << 20):,.0f} MiB"


def _seconds(seconds: float | None) -> str:
    return "no limit" if seconds is None else f"{seconds:g} s"


def _clock(plan: Plan) -> str:
    if plan.time.initial_s is None:
        return ""
    more = f", and {plan.time.increment_s:g} s more after each answer" if plan.time.increment_s else ""
    return f"{plan.time.initial_s:g} s{more}"


@cache
def languages(game: str, network: bool) -> tuple[Language, ...]:
    """Returns the languages of first bots with their versions here. Asks each compiler, once. `network`: of builds."""
    return tuple(_languages(game, dict(obstacles(game, network))))


def _languages(game: str, refused: dict[str, str]) -> Iterator[Language]:
    for lang, kit in kits(game).items():
        parts = [f"Python {platform.python_version()}"] if lang not in KITS else []
        for name in KITS[lang].items if lang in KITS else ():
            found = toolchains.look_up(ITEMS[name], KITS[lang].items[0])
            if found.version:
                parts.append(f"{name} {found.version}")
        yield Language(kit.name, ", ".join(parts), refused.get(kit.name, ""))
