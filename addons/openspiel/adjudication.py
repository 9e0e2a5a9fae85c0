"""Ends a match early by what the players report of their search, as programs for testing engines do.

The rules are those of cutechess and fastchess, and are written as there: `movenumber=40 movecount=8 score=10`.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct

from referee.addons.openspiel.types import search_of
from referee.games.contract import Player, Result, draw, win

REASON = "ADJUDICATED"
MATE = 1_000_000
"""Counts as so many centipawns, which no engine reports otherwise."""


class DrawRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A draw: from `movenumber` on, both report at most `score` from zero for `movecount` moves each."""

    movenumber: int = 40
    movecount: int = 8
    score: int = 10


class ResignRule(Struct, frozen=True, forbid_unknown_fields=True):
    """A win: a player reports at least `score` below zero for `movecount` moves in a row."""

    movecount: int = 3
    score: int = 600
    twosided: bool = False
    """The opponent must report as much above zero."""


Draw = Annotated[str, Meta(max_length=100, description="adjudicate a draw: movenumber=40 movecount=8 score=10")]
Resign = Annotated[str, Meta(max_length=100, description="adjudicate a win: movecount=3 score=600 twosided=true")]
Most = Annotated[
    int, Meta(ge=0, le=100_000, description="adjudicate a draw after so many moves of each side; 0 = never")
]
"""The options, as games list them."""


def parsed(option: str, text: str, rule: Any) -> Any:
    """Returns the rule that a text describes; None for an empty one. ValueError if it describes none."""
    if not text:
        return None
    known = ", ".join(rule.__struct_fields__)
    values: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not equals or name not in rule.__struct_fields__ or name in values:
            raise ValueError(f"{option}: expected words such as {word.partition('=')[0]}=3 of {known}, each once")
        values[name] = value
    try:
        made = msgspec.convert(values, rule, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{option} {text!r}: {error}") from error
    if min(int(value) for value in msgspec.structs.astuple(made)) < 0 or made.movecount < 1:
        raise ValueError(f"{option} {text!r}: expected numbers from 0 on, and a movecount from 1 on")
    return made


class Adjudication:
    """The counts of one match with two players who move in turn."""

    def __init__(self, draw: str, resign: str, most: int) -> None:
        """The options of the game. ValueError for a rule that is written wrong."""
        self.draw: DrawRule | None = parsed("draw", draw, DrawRule)
        self.resign: ResignRule | None = parsed("resign", resign, ResignRule)
        self.most = most
        self.counts = [0, 0, 0, 0, 0, 0]
        """Moves played; those in a row near zero, of both; of each player in a row far below and far above zero."""

    def copy(self) -> "Adjudication":
        """Returns a copy that counts by itself."""
        twin = object.__new__(Adjudication)
        twin.__dict__.update(self.__dict__)
        twin.counts = list(self.counts)
        return twin

    def resume(self, counts: Sequence[int]) -> None:
        """Goes on from the counts of a view. ValueError if these are none."""
        if len(counts) != len(self.counts) or min(counts) < 0:
            raise ValueError("the counts of an adjudication are missing or wrong")
        self.counts = list(counts)

    def moved(self, player: Player, answer: Any) -> Result | None:
        """Counts a move, and returns the result if the match is to end there."""
        self.counts[0] += 1
        score = reported(answer)
        return self._drawn(score) or self._resigned(player, score) or self._too_long()

    def _drawn(self, score: int | None) -> Result | None:
        rule, counts = self.draw, self.counts
        if rule is None:
            return None
        counts[1] = counts[1] + 1 if score is not None and abs(score) <= rule.score else 0
        if counts[1] < 2 * rule.movecount or counts[0] < 2 * rule.movenumber:
            return None
        return draw(f"{REASON}: both within {rule.score} centipawns of zero for {_moves(rule.movecount)}")

    def _resigned(self, player: Player, score: int | None) -> Result | None:
        rule, counts = self.resign, self.counts
        if rule is None:
            return None
        below, above = 2 + player, 4 + player
        counts[below] = counts[below] + 1 if score is not None and score <= -rule.score else 0
        counts[above] = counts[above] + 1 if score is not None and score >= rule.score else 0
        for loser in (player, 1 - player):
            agreed = not rule.twosided or counts[5 - loser] >= rule.movecount
            if counts[2 + loser] >= rule.movecount and agreed and (rule.twosided or loser == player):
                why = f"{rule.score} centipawns behind for {_moves(rule.movecount)}"
                return win(1 - loser, f"{REASON}: {why}{', as both report' if rule.twosided else ''}")
        return None

    def _too_long(self) -> Result | None:
        if not self.most or self.counts[0] < 2 * self.most:
            return None
        return draw(f"{REASON}: {_moves(self.most)} of each side")


def reported(answer: Any) -> int | None:
    """Returns the score that an answer reports, in centipawns from its player's side; None = it reports none."""
    search = search_of(answer)
    if search.mate is not UNSET:
        return MATE if search.mate > 0 else -MATE
    return None if search.score is UNSET else search.score


def _moves(count: int) -> str:
    return "1 move" if count == 1 else f"{count} moves"
