"""Matches in which one seat gets the prompts of a language model, in this process: to measure and to test prompts."""

from collections.abc import Callable, Iterator
from types import NoneType
from typing import Any

import msgspec
from msgspec import Struct

from referee.addons.llm.functions import PREPARE, QUESTION
from referee.addons.llm.questions import match_variables, turn_variables
from referee.addons.llm.run import Prompter
from referee.games.contract import Call, Fault, Notice, Player, Setup, State
from referee.games.dice import Dice
from referee.games.game import Game

Choose = Callable[[str, str], Any]
"""Takes the first message and the question; returns an answer as plain JSON values."""


class Turn(Struct, frozen=True):
    """A call of the seat: what it was asked, what it answered, and the fault in that."""

    state: State
    call: Call
    turn: dict[str, Any]
    """The variables of the prompt, as the program gets them."""
    system: str
    question: str
    answer: Any
    fault: Fault | None


class PromptedSeat:
    """A seat for which the prompts are made as in any match."""

    def __init__(self, game: Game, setup: Setup, player: Player) -> None:
        self.game, self.player = game, player
        self._prompter, self._dice = Prompter(), Dice(setup.seed)
        variables = match_variables(game, player, len(setup.names), setup.options)
        self.system: str = self._prompter.handle(PREPARE, _plain(variables))

    def notify(self, notice: Notice) -> None:
        """Keeps a notice for the next question."""
        self._prompter.handle(notice.method, _plain(notice.params))

    def ask(self, state: State, call: Call) -> tuple[dict[str, Any], str]:
        """Returns the variables of the prompt for a call, and the question made from them."""
        turn = _plain(turn_variables(self.game, state, call, self._dice))
        return turn, self._prompter.handle(QUESTION, {**turn})


def turns(
    game: Game, setup: Setup, player: Player, choose: Choose | None, calls: int = 100_000, skip: int = 0
) -> Iterator[Turn]:
    """Plays a match between the seat and others that draw legal answers. Yields the calls of the seat.

    `choose`: None = the seat draws too. `calls`: how many at most. `skip`: how many come before, which it draws.
    """
    state, seat, dice = game.new(setup), PromptedSeat(game, setup, player), Dice(setup.seed)
    events = state.opening()
    while True:
        for event in events:
            if isinstance(event, Notice) and player in event.to:
                seat.notify(event)
        if not state.awaited or calls <= 0:
            return
        answers: dict[Player, Any] = {}
        for call in state.calls():
            if call.method.result is NoneType:
                answers[call.player] = None
            elif call.player != player or skip > 0:
                skip -= call.player == player
                answers[call.player] = state.sample(call.player, dice)
            else:
                variables, question = seat.ask(state, call)
                answer = _plain(state.sample(player, dice)) if choose is None else choose(seat.system, question)
                yield Turn(state, call, variables, seat.system, question, answer, state.check(player, answer))
                answers[player] = answer
                calls -= 1
        events = state.apply(answers)


def _plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(msgspec.to_builtins(value, str_keys=True)))
