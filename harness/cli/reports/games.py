"""Lists of games with their functions and options, and of the languages for a new bot."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from referee.games.game import Family, Game
from referee.games.schemas import Schema, game_schema, in_words, referred, time_in_words
from referee.harness.cli.reports.rows import Sheet
from referee.harness.common import maps
from referee.harness.common.rules import rules_page
from referee.harness.languages import packages
from referee.harness.match.rule_options import option_descriptions


def games(all_games: Sequence[Game]) -> RenderableType:
    """Returns all games, each with its functions, options and time control."""
    return Group(*(part for game in all_games for part in _game(game)))


def family(family: Family) -> RenderableType:
    """Returns the games of a family, one a line."""
    listed = family.listed()
    sheet = Sheet(("game", "moves", "information"), ("seats", "luck"), ("title",))
    for each in listed:
        seats = str(each.seats.start) if len(each.seats) == 1 else f"{each.seats.start} to {each.seats.stop - 1}"
        sheet.add(each.name, each.dynamics, each.information, seats, "yes" if each.chance else "no", each.title)
    return Group(Text(f"{family.title}: {len(listed)}", style="bold"), sheet)


def _game(game: Game) -> Iterator[RenderableType]:
    yield _headline(game)
    table = Table(box=None, show_header=False, pad_edge=False)
    for method in game.methods.values():
        kind = "viewers" if method.viewers else "event" if method.result is None else "function"
        table.add_row(f"  {kind}", method.name, Text(method.doc))
    for name, default, text in option_descriptions(game):
        table.add_row("  option", Text(f"{name}={default}"), Text(text))
    if names := maps.names(game.name):
        table.add_row("  maps", Text(" ".join(names)), "for --map, or the path of a file")
    yield table


def _headline(game: Game) -> Text:
    seats = game.seats
    count = str(seats.start) if len(seats) == 1 else f"{seats.start} to {seats.stop - 1}"
    text = Text(f"{game.name}", style="bold")
    return text.append(f"  {game.title}, {count} seats, {time_in_words(game) or 'no time limit'}", style="none")


def detailed(game: Game) -> RenderableType:
    """Returns a game in full: functions and events with types and ranges, options, maps, and where its rules are."""
    schema = game_schema(game)
    parts: list[RenderableType] = [_headline(game), Text(schema["description"])]
    for name, method in schema["methods"].items():
        parts += ["", *_function(game, name, method, schema["$defs"])]
    shown = {referred(method["params"]) for method in schema["methods"].values()} | {"Options"}
    for name, part in schema["$defs"].items():
        if name not in shown:
            parts += ["", Text.assemble((name, "bold"), f"  {part.get('description', '')}"), *_members(part)]
    parts += ["", Text("options", style="bold"), *_members(schema["$defs"]["Options"])]
    if names := maps.names(game.name):
        parts += ["", Text.assemble(("maps", "bold"), f"  {' '.join(names)}, for --map, or the path of a file")]
    if game.presentation.frame:
        parts += ["", Text.assemble(("coordinates", "bold"), f"  {game.presentation.frame}")]
    if rules_page(game.name).is_file():
        parts += ["", Text.assemble(("rules", "bold"), f"  referee rules {game.name} [SECTION]")]
    return Group(*parts)


def _function(game: Game, name: str, method: Schema, defs: Schema) -> Iterator[RenderableType]:
    kind = {"call": "function", "event": "event", "viewer": "for viewers"}[method["kind"]]
    yield Text.assemble((name, "bold"), f"  {kind}: {method['description']}")
    yield from _members(defs[referred(method["params"])])
    if method["kind"] == "call":
        limit = "" if method["time_ms"] is None else f"; its own limit is {method['time_ms'] / 1000:g} s"
        page, _, section = (method["rules"] or "").partition(", ")
        rules = f"; rules: referee rules {game.name} {section}" if page else ""
        yield Text(f"  answer: {in_words(method['result'])}{limit}{rules}")


def _members(part: Schema) -> Iterator[RenderableType]:
    """Yields the members of a record with type and range, or another type in words."""
    if "properties" not in part:
        words = in_words({key: value for key, value in part.items() if key != "description"})
        yield Text(f"  {words}")
        return
    for name, member in part["properties"].items():
        default = ""
        if name not in part["required"]:
            known = member.get("default") is not None
            default = f"; default {json.dumps(member['default'], ensure_ascii=False)}" if known else "; may be absent"
        meaning = f"  {member['description']}" if member.get("description") else ""
        yield Text.assemble(f"  {name}: ", (in_words(member) + default, "cyan"), meaning)


def kits(games_by_kit: Mapping[str, Sequence[str]]) -> RenderableType:
    """Returns the languages for a new bot, each with its games."""
    table = Table("--lang", "games", box=None, pad_edge=False, header_style="dim")
    for lang, names in games_by_kit.items():
        table.add_row(lang, " ".join(names))
    return Group(table, Text("referee new GAME --lang LANG [FOLDER]", style="dim"))


def created(folder: Path, first_match: str, missing: Mapping[str, str]) -> Text:
    """Returns what to do next with a new bot. `missing`: what it needs and this machine lacks, each with the reason."""
    text = Text(f"Created {folder}. ")
    if missing:
        text.append("It cannot be built on this machine yet:\n", style="yellow")
        text.append("".join(f"  {name} {reason}\n" for name, reason in missing.items()))
        lines = packages.install_lines(packages.ITEMS[name] for name in missing)
        text.append("To install it:\n" + "".join(f"  {line}\n" for line in lines))
    text.append(f"Next: see {folder / 'README.md'}, or play a match:\n")
    return text.append(first_match, style="bold")
