"""Reads an answer that a person or a script has typed: in the game's notation, by some of its words, or as JSON."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import msgspec

from referee.games.contract import Player, State
from referee.games.game import Game

MOST = 2000
"""Most legal answers that are put into words."""
_WORD = re.compile(r"-?\w+")


class Unclear(ValueError):
    """A text names no answer, or more than one. The message is one line."""


class Answers:
    """The legal answers of an awaited seat, in words."""

    def __init__(self, game: Game, state: State, player: Player) -> None:
        (self.call,) = [call for call in state.calls() if call.player == player]
        self.game, self.legal = game, list(islice(state.legal(player), MOST + 1))
        self.complete = len(self.legal) <= MOST
        """`legal` has every legal answer."""
        del self.legal[MOST:]
        self.words = [self.in_words(answer) for answer in self.legal]
        self._split = [_split(words) for words in self.words]

    def in_words(self, answer: Any) -> str:
        """Returns an answer in the game's notation, or as JSON."""
        words = self.game.presentation.in_words(self.call, answer)
        return msgspec.json.encode(answer).decode() if words is None else words

    def matching(self, text: str) -> list[int]:
        """Returns the indices of answers with these words in a row. The last word may be incomplete."""
        typed = _split(text)
        return [index for index, words in enumerate(self._split) if _contains(words, typed)]

    def read(self, text: str) -> Any:
        """Returns the answer that a line names, which may be illegal. Unclear if there is not exactly one."""
        text = text.strip()
        if self.call.method.result is int and re.fullmatch(r"-?\d+", text):
            return int(text)
        if text[:1] in ("{", "[", '"'):
            try:
                return msgspec.json.decode(text)
            except msgspec.DecodeError as error:
                raise Unclear(f"not valid JSON: {error}") from error
        typed = _split(text)
        matches = self.matching(text)
        exact = [index for index in matches if _ends_with(self._split[index], typed)]
        whole = [index for index in exact if self._split[index] == typed]
        for chosen in (whole, exact, matches):
            if len(chosen) == 1:
                return self.legal[chosen[0]]
        if (read := self.game.presentation.read(self.call, text)) is not None:
            return read
        if not matches:
            raise Unclear(f"{text!r} names no legal answer")
        raise Unclear(
            f"{text!r} may be {len(matches)} answers: {', '.join(self.words[index] for index in matches[:4])} …"
        )


def _split(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _contains(words: Sequence[str], typed: Sequence[str]) -> bool:
    """Returns whether `words` has `typed` in a row. The last one may be the beginning of a word."""
    if not typed:
        return True
    *first, last = typed
    size = len(typed)
    return any(
        list(words[at : at + size - 1]) == first and words[at + size - 1].startswith(last)
        for at in range(len(words) - size + 1)
    )


def _ends_with(words: Sequence[str], typed: Sequence[str]) -> bool:
    return bool(typed) and list(words[-len(typed) :]) == list(typed)
