"""Reads an answer that a person or a script has typed: in the game's notation, by some of its words, or as JSON."""

import re
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
        self._plain = [_plain(words) for words in self.words]

    def in_words(self, answer: Any) -> str:
        """Returns an answer in the game's notation, or as JSON."""
        words = self.game.presentation.in_words(self.call, answer)
        return msgspec.json.encode(answer).decode() if words is None else words

    def matching(self, text: str) -> list[int]:
        """Returns the indices of answers with these words in a row. The last word may be incomplete."""
        typed = _plain(text)
        return [index for index, words in enumerate(self._plain) if typed in words]

    def read(self, text: str) -> Any:
        """Returns the answer that a line names, which may be illegal. Unclear if there is not exactly one."""
        text = text.strip()
        if self.call.method.result is int and re.fullmatch(r"-?\d+", text):
            return int(text)
        if text[:1] in ("{", "[", '"'):
            try:
                return msgspec.json.decode(text)
            except (msgspec.DecodeError, RecursionError) as error:
                raise Unclear(f"not valid JSON: {error}") from error
        typed, matches = _plain(text), self.matching(text)
        exact = [index for index in matches if typed and self._plain[index].endswith(typed)]
        whole = [index for index in exact if self._plain[index] == typed]
        for chosen in (whole, exact, matches):
            if len(chosen) == 1:
                return self.legal[chosen[0]]
        if (read := self.game.presentation.read(self.call, text)) is not None:
            return read
        if not matches:
            raise Unclear(f"{text!r} names no legal answer")
        first = ", ".join(self.words[index] for index in matches[:4])
        raise Unclear(f"{text!r} may be {len(matches)} answers: {first} …")


def _plain(text: str) -> str:
    """Returns the words of a text in lower case, each with a blank before it."""
    return "".join(f" {word.lower()}" for word in _WORD.findall(text))
