"""The tools of the server. Their parameters and results are types, from which the schemas for clients are made."""

import shlex
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import msgspec
import trio
from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games import registry
from referee.games.contract import Result
from referee.games.ending import headline
from referee.games.game import Game
from referee.games.schemas import game_schema
from referee.harness import maps, rules
from referee.harness.errors import RunError, UsageError
from referee.harness.known_games import find_game
from referee.harness.opponents import opponents
from referee.harness.replay.lines import FaultReport
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, verify
from referee.harness.seats.answer_text import Answers, Unclear
from referee.harness.servers.mcp.matches import RESIGNED_S, ClientMatch, MatchTable

DRAWN = 5
"""How many answers `legal` shows if there are too many to list."""
MAX_LISTED = 2000
"""Most answers that `legal` lists, and most lines that `replay` shows."""

MatchId = Annotated[str, Meta(description="the match, as new_match named it")]
GameName = Annotated[str, Meta(description="the game's name, as list_games shows it")]


# Parameters.


class ListGames(Struct, frozen=True, forbid_unknown_fields=True):
    """Lists the games with their numbers of seats and built-in opponents, or shows one of them in full."""

    game: Annotated[str | None, Meta(description="show only this game, with its options, functions and types")] = None


class Rules(Struct, frozen=True, forbid_unknown_fields=True):
    """Shows the rules of a game: the list of its sections, or the text of one."""

    game: GameName
    section: Annotated[str | None, Meta(description="a section's number, such as A4, or words of its title")] = None


class NewMatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Starts a match in which you have a seat, and waits for your first turn. Returns the position.

    You have no clock. The opponents are under the limits and the isolation that the user chose for the server.
    """

    game: GameName
    opponents: Annotated[
        Sequence[str],
        Meta(
            description="a bot for each of the other seats, in seat order: a built-in one such as @random, a path "
            "in the server's folder, or a bot of `matches`; default: @random everywhere"
        ),
    ] = ()
    seat: Annotated[int, Meta(ge=0, description="your seat; seat 0 moves first")] = 0
    seed: Annotated[
        Annotated[int, Meta(ge=0)] | None, Meta(description="the seed of all luck, to repeat a match; default: drawn")
    ] = None
    map: Annotated[
        str | None, Meta(description="a map's name or a path in the server's folder, for games that have maps")
    ] = None
    options: Annotated[dict[str, Any], Meta(description="options of the rules, which list_games shows")] = {}


class ListMatches(Struct, frozen=True, forbid_unknown_fields=True):
    """Lists the matches that go on and the latest that are over, and the bots that the user added for you."""


class LookAt(Struct, frozen=True, forbid_unknown_fields=True):
    """Shows the position of a match from your seat, and what you are asked."""

    match: MatchId
    view: Annotated[bool, Meta(description="also return the game's data of the position, which may be long")] = False


class Legal(Struct, frozen=True, forbid_unknown_fields=True):
    """Lists your legal answers, or draws a few if there are too many."""

    match: MatchId
    words: Annotated[str, Meta(description="list only answers with these words, such as e4")] = ""
    limit: Annotated[int, Meta(ge=1, le=MAX_LISTED, description="most answers to list")] = 200


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """Answers the call, and waits until it is your turn again or the match is over. Returns the position.

    Give the answer itself or words for it. After an illegal answer you are asked again.
    """

    match: MatchId
    answer: Annotated[Any, Meta(description="the answer, as the answer_schema of the position describes it")] = UNSET
    words: Annotated[str | UnsetType, Meta(description="instead: words of exactly one legal answer")] = UNSET


class Resign(Struct, frozen=True, forbid_unknown_fields=True):
    """Leaves a match, which you lose. Returns the result."""

    match: MatchId


class LookUpResult(Struct, frozen=True, forbid_unknown_fields=True):
    """Shows how a match ended: the winner, the reason and every fault of a program."""

    match: MatchId


class ReplayOf(Struct, frozen=True, forbid_unknown_fields=True):
    """Verifies the replay of a match that is over, and shows its lines."""

    match: MatchId
    first: Annotated[int, Meta(ge=1, description="the first line to show; line 1 is the header")] = 1
    count: Annotated[int, Meta(ge=0, le=MAX_LISTED, description="how many lines to show")] = 20


# Results.


class GameLine(Struct, frozen=True):
    """A game in a few words."""

    game: str
    title: str
    description: str
    seats: Annotated[list[int], Meta(description="the numbers of seats that it can be played with")]
    opponents: Annotated[list[str], Meta(description="the built-in bots")]


class Games(Struct, frozen=True, omit_defaults=True):
    """The games."""

    games: list[GameLine]
    maps: Annotated[list[str], Meta(description="the maps of the game that was asked for")] = []
    rules: Annotated[list[str], Meta(description="the sections of its rules, for the tool rules")] = []
    schema: Annotated[
        Any, Meta(description="its options, functions and types as JSON Schema; positions and answers have these types")
    ] = None


class RulesText(Struct, frozen=True):
    """A part of the rules."""

    title: str
    text: Annotated[str, Meta(description="Markdown")]
    sections: Annotated[list[str], Meta(description="the numbers and titles of all sections")]


class Asked(Struct, frozen=True):
    """What you are asked."""

    function: str
    description: str
    rules: Annotated[str | None, Meta(description="the section that says which answers are legal")]
    params: Any
    answer_schema: Annotated[Any, Meta(description="the JSON Schema of an answer")]


class Happened(Struct, frozen=True):
    """A notice to your seat."""

    function: str
    params: Any
    words: str | None


class MatchLine(Struct, frozen=True):
    """A match in a few words."""

    match: str
    game: str
    seat: Annotated[int, Meta(description="your seat")]
    your_turn: bool
    over: bool


class Matches(Struct, frozen=True):
    """The matches."""

    matches: Annotated[list[MatchLine], Meta(description="in the order in which they began")]
    bots: Annotated[list[str], Meta(description="opponents for new_match besides built-in ones and paths")]


class Ended(Struct, frozen=True):
    """How a match ended."""

    headline: Annotated[str, Meta(description="who won and why, in words")]
    reason: str
    ranks: Annotated[list[int], Meta(description="by seat; 1 = best")]
    scores: Annotated[list[float], Meta(description="by seat")]


class Position(Struct, frozen=True):
    """A position as your seat sees it."""

    match: str
    game: str
    names: Annotated[list[str], Meta(description="the bots, by seat")]
    seat: Annotated[int, Meta(description="your seat")]
    your_turn: bool
    board: Annotated[list[str], Meta(description="the lines of a drawing")]
    legend: str
    asked: Annotated[Asked | None, Meta(description="what waits for your answer; null if it is not your turn")]
    events: Annotated[list[Happened], Meta(description="the notices to your seat since your last answer")]
    ended: Annotated[Ended | None, Meta(description="null while the match goes on")]
    view: Annotated[Any, Meta(description="the game's data of the position, if you asked for it")] = None


class LegalAnswer(Struct, frozen=True):
    """An answer, and words for it."""

    answer: Any
    words: str


class LegalAnswers(Struct, frozen=True):
    """Legal answers."""

    complete: Annotated[bool, Meta(description="these are all legal answers with the words that you asked for")]
    answers: list[LegalAnswer]


class ResultOf(Struct, frozen=True):
    """The outcome of a match."""

    match: str
    over: bool
    ended: Ended | None = None
    seed: int | None = None
    faults: Sequence[FaultReport] = ()
    replay: Annotated[str | None, Meta(description="the replay's file")] = None
    again: Annotated[str, Meta(description="the command that plays it again, with a person at your seat")] = ""


class ReplayLines(Struct, frozen=True):
    """A replay."""

    path: str
    verified: Annotated[bool, Meta(description="the recorded answers lead to the recorded result")]
    total: Annotated[int, Meta(description="how many lines it has")]
    lines: list[Any]


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
        return Games([_line(registry.game(name)) for name in registry.names()])
    game = find_game(asked.game)
    return Games([_line(game)], maps.names(game.name), _sections(game.name), game_schema(game))


def _line(game: Game) -> GameLine:
    names = [f"@{name}" for name, known in opponents(game.name).items() if known.any_game or game.name in known.seats]
    return GameLine(game.name, game.title, " ".join(game.doc.split("\n\n")[0].split()), [*game.seats], names)


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
    position = _position(match)
    view = msgspec.to_builtins(match.seat.state.view(match.player), str_keys=True) if asked.view else None
    return msgspec.structs.replace(position, view=view)


def _position(match: ClientMatch) -> Position:
    seat, player, names = match.seat, match.player, match.seat.state.setup.names
    call, presentation = seat.asked, match.game.presentation
    asked = None
    if call is not None:
        schema = msgspec.json.schema(call.method.result)
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
    )
}
