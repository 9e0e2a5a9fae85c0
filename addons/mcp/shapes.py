"""The parameters and results of the tools, from which the schemas for clients are made."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.harness.replay.lines import FaultReport

MAX_LISTED = 2000
"""Most answers that `legal` lists, and most lines that `replay` shows."""

MatchId = Annotated[str, Meta(description="the match, as new_match named it")]
GameName = Annotated[str, Meta(description="the game's name, as list_games shows it")]


# Parameters.


class ListGames(Struct, frozen=True, forbid_unknown_fields=True):
    """Lists the games with their numbers of seats and built-in opponents, or shows one of them in full.

    Families such as openspiel have many games; name a family to list its games.
    """

    game: Annotated[
        str | None, Meta(description="show only this game, with its options, functions and types; or a family's games")
    ] = None


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


class CheckBot(Struct, frozen=True, forbid_unknown_fields=True):
    """Checks a bot as `referee check` does: every call, seat and encoding, pipes, limits and whole matches.

    A check may take minutes. If the result says that it is not over, call this again with the same arguments.
    """

    bot: Annotated[
        str, Meta(description="a path in the server's folder, also of a zip file, or a program of `matches`")
    ]
    game: GameName
    seed: Annotated[int, Meta(ge=0, description="the seed of all luck")] = 1
    map: Annotated[str | None, Meta(description="a map's name or a path in the server's folder")] = None
    options: Annotated[dict[str, Any], Meta(description="options of the rules, which list_games shows")] = {}
    only: Annotated[Sequence[str], Meta(description="try only these rules, such as many-games")] = ()


# Results.


class GameLine(Struct, frozen=True):
    """A game in a few words."""

    game: str
    title: str
    description: str
    seats: Annotated[list[int], Meta(description="the numbers of seats that it can be played with")]
    opponents: Annotated[list[str], Meta(description="the built-in bots")]


class FamilyLine(Struct, frozen=True):
    """A family of games."""

    family: str
    title: str
    games: Annotated[list[str], Meta(description="the names of its games; empty if its package is not installed")]
    missing: Annotated[str, Meta(description="how to install its package; empty if it is installed")]


class Games(Struct, frozen=True, omit_defaults=True):
    """The games."""

    games: list[GameLine]
    families: Annotated[list[FamilyLine], Meta(description="families of games, such as those of OpenSpiel")] = []
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


class Asked(Struct, frozen=True, omit_defaults=True):
    """What you are asked."""

    function: str
    description: str
    rules: Annotated[str | None, Meta(description="the section that says which answers are legal")]
    params: Any
    answer_schema: Annotated[
        Any,
        Meta(description="the JSON Schema of an answer; only when a function is asked first, and in the tool position"),
    ] = None


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
