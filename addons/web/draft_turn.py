"""A person's turn before it counts: what they may answer, and answers that they can take back.

A draft is played on copies of the position. It ends when somebody else is to answer, or when luck or hidden information
would show: the two copies then differ, since they have different luck. At the end its answers are handed over.
"""

from collections import Counter
from itertools import islice
from types import NoneType
from typing import Any

from msgspec import Struct

from referee.games import registry
from referee.games.contract import Fault, Player, State, in_json
from referee.games.dice import Dice
from referee.games.game import Presentation
from referee.harness.replay.lines import plain
from referee.harness.seats.answer_text import MOST

_SEEDS = (1, 2)


class Choice(Struct, frozen=True):
    """A question to a person at a seat."""

    seat: Player
    method: str
    number: int
    """Increases with every question, so that no click answers a later one."""
    view: Any
    """The position as that seat sees it, including the draft."""
    answers: list[Any] | None = None
    """All legal answers; None if there are too many, in which case the page tries one."""
    words: list[str | None] | None = None
    """The words for each answer; null if it has none."""
    least: int | None = None
    most: int | None = None
    """If set, any whole number from `least` to `most` is legal, and `answers` is None."""
    clicks: list[list[str]] | None = None
    """The clicks on the declared board for each answer; None if the game declares none."""
    board: Any = None
    """The declared board as that seat sees it."""
    drafted: int = 0
    """How many answers can be taken back."""
    wrong: str = ""
    """Why the last answer was refused."""


class Draft:
    """The answers of a seat in its turn so far."""

    def __init__(self, game: str, state: State, player: Player) -> None:
        self._game = game
        self._start = state.copy()
        self.player = player
        self.answers: list[Any] = []
        self._copies = [self._start.copy(seed) for seed in _SEEDS]
        self.wrong = ""

    @property
    def position(self) -> State:
        return self._copies[0]

    def choice(self, number: int) -> Choice:
        state = self.position
        method = state.awaited[self.player].name
        answers: list[Any] | None = [plain(each) for each in islice(self.position.legal(self.player), MOST + 1)]
        least = most = None
        if answers and all(type(each) is int for each in answers):
            least, most, answers = min(answers), max(answers), None
        elif answers is not None and len(answers) > MOST:
            answers = None
        view = plain(state.view(self.player))
        words = None if answers is None else self._words(answers)
        return Choice(
            seat=self.player,
            method=method,
            number=number,
            view=view,
            answers=answers,
            words=words,
            least=least,
            most=most,
            clicks=self._clicks(answers, words),
            board=plain(registry.game(self._game).presentation.board(state, self.player)),
            drafted=len(self.answers),
            wrong=self.wrong,
        )

    def play(self, answer: Any) -> list[Any] | None:
        """Adds an answer. Returns all answers if the turn is over; None if it goes on, or the answer is `wrong`."""
        fault = self.position.check(self.player, answer)
        self.wrong = fault.detail if isinstance(fault, Fault) else ""
        if self.wrong:
            return None
        self.answers.append(answer)
        if self.position.awaited.keys() != {self.player}:
            return self.answers
        for copy in self._copies:
            copy.apply({self.player: answer})
        return None if self._continues() else self.answers

    def sample(self, seed: int) -> Any:
        """Returns a random legal answer."""
        return plain(self.position.sample(self.player, Dice(seed)))

    def undo(self) -> None:
        """Takes back the last answer."""
        kept = self.answers[:-1]
        self.answers, self.wrong = [], ""
        self._copies = [self._start.copy(seed) for seed in _SEEDS]
        for answer in kept:
            self.play(answer)

    def _words(self, answers: list[Any]) -> list[str | None]:
        call = next(call for call in self.position.calls() if call.player == self.player)
        presentation = registry.game(self._game).presentation
        return [presentation.in_words(call, answer) for answer in answers]

    def _clicks(self, answers: list[Any] | None, words: list[str | None] | None) -> list[list[str]] | None:
        """Returns the clicks for each answer. One whose clicks begin those of another ends with a button."""
        presentation = registry.game(self._game).presentation
        if answers is None or presentation.clicks is Presentation().clicks:
            return None
        keys = [presentation.keys(self.position, self.player, answer) for answer in answers]
        begun = Counter(tuple(each[:length]) for each in keys for length in range(1, len(each) + 1))
        named = zip(keys, words or [None] * len(keys), answers, strict=True)
        return [
            each if each and begun[tuple(each)] == 1 else [*each, f"!{word or in_json(answer)}"]
            for each, word, answer in named
        ]

    def _continues(self) -> bool:
        first, second = self._copies
        if not first.deals_again:  # else a person could look at what an answer uncovers, and take it back
            return False
        awaited = first.awaited.get(self.player)
        if awaited is None or awaited.result is NoneType or first.awaited.keys() != {self.player}:
            return False
        if second.awaited.keys() != {self.player} or first.result is not None:
            return False
        return bool(plain(first.view(self.player)) == plain(second.view(self.player)))
