"""What a person or a script writes, read as an answer: in the game's own notation, by words of it, or as JSON."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import msgspec

from referee.games.contract import Game, Player, State

MOST = 2000
"""So many legal answers are put into words; of more only the first."""
_WORD = re.compile(r"-?\w+")


class Unclear(ValueError):
    """A text that names no answer, or more than one; the message says so in a line."""


class Answers:
    """The legal answers of an awaited seat, in words."""

    def __init__(self, game: Game, state: State, player: Player) -> None:
        (self.call,) = [call for call in state.calls() if call.player == player]
        self.game, self.legal = game, list(islice(state.legal(player), MOST + 1))
        self.all = len(self.legal) <= MOST
        """Every legal answer is among them."""
        del self.legal[MOST:]
        self.words = [self.in_words(answer) for answer in self.legal]
        self._split = [_split(words) for words in self.words]

    def in_words(self, answer: Any) -> str:
        """An answer in words, or as JSON where the game has none for it."""
        words = self.game.notation.in_words(self.call, answer) if self.game.notation is not None else None
        return msgspec.json.encode(answer).decode() if words is None else words

    def matching(self, text: str) -> list[int]:
        """Which of them have these words in a row, the last of them perhaps not whole."""
        typed = _split(text)
        return [index for index, words in enumerate(self._split) if _has(words, typed)]

    def read(self, text: str) -> Any:
        """The answer that a line names: JSON, or enough words of its notation. It may break the rules. Unclear."""
        text = text.strip()
        if self.call.method.result is int and re.fullmatch(r"-?\d+", text):
            return int(text)
        if text[:1] in ("{", "[", '"'):
            try:
                return msgspec.json.decode(text)
            except msgspec.DecodeError as error:
                raise Unclear(f"that is no JSON: {error}") from error
        typed = _split(text)
        found = self.matching(text)
        exact = [index for index in found if _ends(self._split[index], typed)]
        whole = [index for index in exact if self._split[index] == typed]
        for chosen in (whole, exact, found):
            if len(chosen) == 1:
                return self.legal[chosen[0]]
        if self.game.notation is not None and self.game.notation.read is not None:
            read = self.game.notation.read(self.call, text)
            if read is not None:
                return read
        if not found:
            raise Unclear(f"{text!r} names no legal answer")
        raise Unclear(f"{text!r} may be {len(found)} answers: {', '.join(self.words[index] for index in found[:4])} …")


def _split(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _has(words: Sequence[str], typed: Sequence[str]) -> bool:
    """Whether `typed` stands somewhere in `words`; its last one may be the beginning of a word."""
    if not typed:
        return True
    *first, last = typed
    size = len(typed)
    return any(
        list(words[at : at + size - 1]) == first and words[at + size - 1].startswith(last)
        for at in range(len(words) - size + 1)
    )


def _ends(words: Sequence[str], typed: Sequence[str]) -> bool:
    return bool(typed) and list(words[-len(typed) :]) == list(typed)
