"""A person's turn while it is thought over: what may be answered, and answers that are taken back until they count.

A draft is played on copies of the position. It ends, and its answers are handed over, as soon as somebody else is to
answer, or luck or something hidden would show: two copies with different luck tell.
"""

from collections.abc import Iterator
from itertools import islice
from types import NoneType
from typing import Any

from msgspec import Struct

from referee.games import registry
from referee.games.contract import Fault, Player, State
from referee.games.dice import Dice
from referee.harness.replay.lines import plain
from referee.harness.seats.answer_text import MOST

_LUCKS = (1, 2)


class Choice(Struct, frozen=True):
    """What a person at a seat is asked."""

    seat: Player
    method: str
    number: int
    """Grows with every question, so that no click answers a question that it was not meant for."""
    view: Any
    """The position as that seat sees it, with what was drafted."""
    answers: list[Any] | None = None
    """All legal answers; None: there are too many, and one is tried by `check`."""
    words: list[str | None] | None = None
    """For each answer what people call it; null = there are no words."""
    least: int | None = None
    most: int | None = None
    """Any whole number from `least` to `most`, in place of `answers`."""
    drafted: int = 0
    """So many answers can be taken back."""
    wrong: str = ""
    """Why the last answer was refused."""


class Draft:
    """What a seat does in its turn."""

    def __init__(self, game: str, state: State, player: Player) -> None:
        self._game = game
        self._start = state.copy()
        self.player = player
        self.answers: list[Any] = []
        self._copies = [self._start.copy(luck) for luck in _LUCKS]
        self.wrong = ""

    @property
    def position(self) -> State:
        return self._copies[0]

    def choice(self, number: int) -> Choice:
        state = self.position
        method = state.awaited[self.player].name
        answers: list[Any] | None = [plain(each) for each in islice(self._legal(), MOST + 1)]
        least = most = None
        if answers and all(type(each) is int for each in answers):
            least, most, answers = min(answers), max(answers), None
        elif answers is not None and len(answers) > MOST:
            answers = None
        view = plain(state.view(self.player))
        words = None if answers is None else self._words(answers)
        return Choice(self.player, method, number, view, answers, words, least, most, len(self.answers), self.wrong)

    def play(self, answer: Any) -> list[Any] | None:
        """Takes an answer. All answers of the turn, when it is over; None: it goes on, or the answer is `wrong`."""
        fault = self.position.check(self.player, answer)
        self.wrong = fault.detail if isinstance(fault, Fault) else ""
        if self.wrong:
            return None
        self.answers.append(answer)
        if self.position.awaited.keys() != {self.player}:
            return self.answers
        for copy in self._copies:
            copy.apply({self.player: answer})
        return None if self._goes_on() else self.answers

    def sample(self, luck: int) -> Any:
        """A legal answer that is drawn."""
        return plain(self.position.sample(self.player, Dice(luck)))

    def undo(self) -> None:
        """Takes the last answer back."""
        kept = self.answers[:-1]
        self.answers, self.wrong = [], ""
        self._copies = [self._start.copy(luck) for luck in _LUCKS]
        for answer in kept:
            self.play(answer)

    def _words(self, answers: list[Any]) -> list[str | None] | None:
        call = next(call for call in self.position.calls() if call.player == self.player)
        notation = registry.game(self._game).notation
        return None if notation is None else [notation.in_words(call, answer) for answer in answers]

    def _goes_on(self) -> bool:
        first, second = self._copies
        awaited = first.awaited.get(self.player)
        if awaited is None or awaited.result is NoneType or first.awaited.keys() != {self.player}:
            return False
        if second.awaited.keys() != {self.player} or first.result is not None:
            return False
        return bool(plain(first.view(self.player)) == plain(second.view(self.player)))

    def _legal(self) -> Iterator[Any]:
        return self.position.legal(self.player)
