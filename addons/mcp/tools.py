"""The tools of the server."""

import shlex
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import trio
from msgspec import UNSET, Struct

from referee.addons.mcp.checks import Checked, Wanted
from referee.addons.mcp.matches import RESIGNED_S, ClientMatch, MatchTable
from referee.addons.mcp.shapes import (
    Answer,
    Asked,
    CheckBot,
    Ended,
    FamilyLine,
    GameLine,
    Games,
    Happened,
    Legal,
    LegalAnswer,
    LegalAnswers,
    ListGames,
    ListMatches,
    LookAt,
    LookUpResult,
    Matches,
    MatchLine,
    NewMatch,
    Position,
    ReplayLines,
    ReplayOf,
    Resign,
    ResultOf,
    Rules,
    RulesText,
)
from referee.games import registry
from referee.games.contract import Result
from referee.games.ending import headline
from referee.games.game import Game, Listed
from referee.games.schemas import game_schema
from referee.harness.common import maps, rules
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.installed import extra_command
from referee.harness.common.known_games import find_family, find_game
from referee.harness.match import rule_options
from referee.harness.opponents import opponents
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, verify
from referee.harness.seats.answer_text import Answers, Unclear

DRAWN = 5
"""How many answers `legal` shows if there are too many to list."""


class Tool(Struct, frozen=True):
    """A tool."""

    name: str
    params: type[Struct]
    result: type[Struct]
    function: Callable[[MatchTable, Any], Awaitable[Any]]
    read_only: bool = True

    def described(self) -> dict[str, Any]:
        """Returns the tool as clients see it."""
        return {
            "name": self.name,
            "description": " ".join((self.params.__doc__ or "").split()),
            "inputSchema": object_schema(self.params),
            "outputSchema": object_schema(self.result),
            "annotations": {"readOnlyHint": self.read_only, "destructiveHint": False, "openWorldHint": False},
        }


def object_schema(kind: type[Struct]) -> dict[str, Any]:
    """Returns the JSON Schema of a type, which is an object at the top, as clients need it."""
    schema = msgspec.json.schema(kind)
    defs = schema.pop("$defs")
    top = defs.pop(kind.__name__)
    return {**top, "$defs": defs} if defs else dict(top)


async def call(matches: MatchTable, name: str, arguments: Any) -> dict[str, Any]:
    """Returns the result of a call. KeyError for an unknown tool; other errors are results that a model can read."""
    tool = TOOLS[name]
    try:
        result = await tool.function(matches, msgspec.convert(arguments, tool.params))
    except (UsageError, RunError, Unclear, msgspec.ValidationError) as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    plain = msgspec.to_builtins(result, str_keys=True)
    text = msgspec.json.encode(plain).decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": plain, "isError": False}


# The games.


async def _list_games(matches: MatchTable, asked: ListGames) -> Games:
    if asked.game is None:
        return Games([*map(_line, registry.loaded())], _families())
    if asked.game in registry.families():
        listed = find_family(asked.game).listed()
        return Games([GameLine(each.name, each.title, _traits(each), [*each.seats], []) for each in listed])
    game = find_game(asked.game)
    return Games([_line(game)], [], maps.names(game.name), _sections(game.name), game_schema(game))


def _line(game: Game) -> GameLine:
    names = [f"@{name}" for name, known in opponents(game.name).items() if known.any_game or game.name in known.seats]
    return GameLine(game.name, game.title, " ".join(game.doc.split("\n\n")[0].split()), [*game.seats], names)


def _traits(game: Listed) -> str:
    return f"{game.dynamics}, {game.information}{', with luck' if game.chance else ''}"


def _families() -> list[FamilyLine]:
    lines = []
    for name in registry.families():
        try:
            found = registry.family(name)
            lines.append(FamilyLine(name, found.title, [each.name for each in found.listed()], ""))
        except registry.NotInstalled as error:
            lines.append(FamilyLine(name, error.family.title, [], extra_command(error.family.extra)))
    return lines


async def _rules(matches: MatchTable, asked: Rules) -> RulesText:
    name = find_game(asked.game).name
    listed = _sections(name)
    if asked.section is None:
        return RulesText(f"Rules of {registry.game(name).title}", "Ask for a section by its number.", listed)
    section = rules.section(name, asked.section)
    return RulesText(f"{section.number} {section.title}".strip(), section.text, listed)


def _sections(game: str) -> list[str]:
    try:
        return [f"{part.number} {part.title}".strip() for part in rules.sections(game)]
    except UsageError:
        return []


# The match.


async def _new_match(matches: MatchTable, asked: NewMatch) -> Position:
    game = find_game(asked.game)
    return _position(await matches.start(game, asked.opponents, asked.seat, asked.seed, asked.map, asked.options))


async def _list_matches(matches: MatchTable, asked: ListMatches) -> Matches:
    lines = [
        MatchLine(each.ident, each.game.name, each.player, each.seat.asked is not None, each.ended.is_set())
        for each in matches.all()
    ]
    return Matches(lines, list(matches.allowed.bots))


async def _look_at(matches: MatchTable, asked: LookAt) -> Position:
    match = matches.find(asked.match)
    match.explained.clear()
    position = _position(match)
    view = msgspec.to_builtins(match.seat.state.view(match.player), str_keys=True) if asked.view else None
    return msgspec.structs.replace(position, view=view)


def _position(match: ClientMatch) -> Position:
    seat, player, names = match.seat, match.player, match.seat.state.setup.names
    call, presentation = seat.asked, match.game.presentation
    asked = None
    if call is not None:
        is_new = call.method.name not in match.explained
        match.explained.add(call.method.name)
        schema = msgspec.json.schema(call.method.result) if is_new else None
        params = msgspec.to_builtins(call.params, str_keys=True)
        asked = Asked(call.method.name, call.method.doc, call.method.rules or None, params, schema)
    events = []
    for notice in seat.events:
        params = msgspec.to_builtins(notice.params, str_keys=True)
        events.append(Happened(notice.method, params, presentation.event(notice.method, params, names) or None))
    return Position(
        match=match.ident,
        game=match.game.name,
        names=[*names],
        seat=player,
        your_turn=call is not None,
        board=seat.state.shown_to(player).split("\n"),
        legend=presentation.legend_line(),
        asked=asked,
        events=events,
        ended=_ended(match, seat.state.result),
    )


def _ended(match: ClientMatch, result: Result | None) -> Ended | None:
    if result is None:
        return None
    words = headline(match.game.presentation.endings, result, match.seat.state.setup.names)
    return Ended(words, result.reason, [*result.ranks], [*result.scores])


def _on_turn(match: ClientMatch) -> None:
    """Raises UsageError if the client is not asked."""
    if match.ended.is_set():
        raise UsageError(f"{match.ident} is over; `result` shows how it ended")
    if match.seat.asked is None:
        raise UsageError(f"{match.ident}: it is not your turn; look at `position` again a little later")


async def _legal(matches: MatchTable, asked: Legal) -> LegalAnswers:
    match = matches.find(asked.match)
    _on_turn(match)
    seat, player = match.seat, match.player
    answers = Answers(match.game, seat.state, player)
    if not answers.complete and not asked.words:
        drawn = [seat.state.sample(player, match.examples) for _ in range(DRAWN)]
        return LegalAnswers(False, [_in_words(answers, answer) for answer in drawn])
    found = answers.matching(asked.words) if asked.words else range(len(answers.legal))
    listed = [_in_words(answers, answers.legal[index]) for index in islice(found, asked.limit)]
    return LegalAnswers(answers.complete and len(found) == len(listed), listed)


def _in_words(answers: Answers, answer: Any) -> LegalAnswer:
    return LegalAnswer(msgspec.to_builtins(answer, str_keys=True), answers.in_words(answer))


async def _answer(matches: MatchTable, asked: Answer) -> Position:
    match = matches.find(asked.match)
    _on_turn(match)
    if (asked.answer is UNSET) == (asked.words is UNSET):
        raise UsageError("expected either answer or words")
    read = asked.answer
    if isinstance(asked.words, str):
        read = Answers(match.game, match.seat.state, match.player).read(asked.words)
    match.seat.give(read)
    await match.settled()
    if match.seat.refusal is not None:
        raise UsageError(f"not legal: {match.seat.refusal}; answer again, `legal` lists what is")
    return _position(match)


async def _resign(matches: MatchTable, asked: Resign) -> ResultOf:
    match = matches.find(asked.match)
    match.seat.resign()
    with trio.move_on_after(RESIGNED_S):
        await match.ended.wait()
    return _result_of(match)


async def _result(matches: MatchTable, asked: LookUpResult) -> ResultOf:
    return _result_of(matches.find(asked.match))


def _result_of(match: ClientMatch) -> ResultOf:
    verdict = match.verdict
    if match.failure is not None:
        raise RunError(match.failure)
    if verdict is None:
        return ResultOf(match.ident, over=False)
    ended, again = _ended(match, verdict.result), shlex.join(verdict.again)
    return ResultOf(match.ident, True, ended, verdict.seed, verdict.faults, verdict.replay, again)


async def _replay(matches: MatchTable, asked: ReplayOf) -> ReplayLines:
    match = matches.find(asked.match)
    if match.verdict is None:
        raise UsageError(f"{match.ident} is not over; its replay would show what your seat may not see")
    if match.verdict.replay is None:
        raise UsageError("no replays are kept: `referee mcp` was started with --replay none")
    return await trio.to_thread.run_sync(_verified, match.verdict.replay, asked.first, asked.count)


def _verified(path: str, first: int, count: int) -> ReplayLines:
    replay = Replay(Path(path))
    try:
        verified = verify(replay) is not None
    except Difference:
        verified = False
    shown = replay.lines[first - 1 : first - 1 + count]
    return ReplayLines(path, verified, len(replay.lines), [msgspec.json.decode(line) for line in shown])


# Bots.


async def _check(matches: MatchTable, asked: CheckBot) -> Checked:
    game, seed = find_game(asked.game), rule_options.checked_seed(asked.seed)
    wanted = Wanted(asked.bot, game, seed, asked.map, asked.options, frozenset(asked.only))
    return await matches.check(wanted)


TOOLS: dict[str, Tool] = {
    tool.name: tool
    for tool in (
        Tool("list_games", ListGames, Games, _list_games),
        Tool("rules", Rules, RulesText, _rules),
        Tool("new_match", NewMatch, Position, _new_match, read_only=False),
        Tool("matches", ListMatches, Matches, _list_matches),
        Tool("position", LookAt, Position, _look_at),
        Tool("legal", Legal, LegalAnswers, _legal),
        Tool("answer", Answer, Position, _answer, read_only=False),
        Tool("resign", Resign, ResultOf, _resign, read_only=False),
        Tool("result", LookUpResult, ResultOf, _result),
        Tool("replay", ReplayOf, ReplayLines, _replay),
        Tool("check", CheckBot, Checked, _check, read_only=False),
    )
}
