"""A Python function at a seat. It runs in the referee's process, without a clock, limits or isolation."""

import inspect
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from referee.games.contract import Call, Fault, FaultKind
from referee.games.dice import Dice
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.decision import Decision
from referee.harness.seats.kinds import FUNCTION
from referee.harness.seats.seat import LocalSeat, MatchContext, Reply
from referee.protocol.messages import Initialize

Function = Callable[[Decision], Any | Awaitable[Any]]
"""Returns an answer, as a value of the method's type or as plain JSON values. It may be async, in trio."""


def function_entrant(function: Function) -> Entrant:
    """Returns the entrant of a function, with the function's name."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    module = getattr(function, "__module__", None) or type(function).__module__
    shown = getattr(function, "__name__", type(function).__name__)
    return Entrant(shown, (f"{FUNCTION.prefixes[0]}{module}.{name}",), Path.cwd(), FUNCTION.name, _Same(function))


class _Same:
    """A function that is equal to itself only, so that entrants can be hashed."""

    def __init__(self, function: Function) -> None:
        self.call = function


class FunctionSeat(LocalSeat):
    """Answers with what a function returns.

    An exception is a fault of kind `error`, and so is a value that JSON does not have. Its traceback goes to the
    standard error of the referee.
    """

    def __init__(self, entrant: Entrant) -> None:
        super().__init__(entrant.argv[0])
        self._function: Function = entrant.settings.call

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        self._dice = Dice(match.seed)
        return await super().greet(match, context)

    async def answer(self, call: Call) -> Any:
        context = self.context
        if context.several:
            await context.all_read()  # the function may think for long, and the clocks of the other seats run
        context.flush()
        try:
            answer = self._function(Decision(context.state, call, self._dice))
            if inspect.isawaitable(answer):
                answer = await answer
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            return Fault(FaultKind.ERROR, f"{type(error).__name__}: {error}")
        try:
            return msgspec.json.decode(msgspec.json.encode(answer))
        except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
            return Fault(FaultKind.ERROR, f"the answer is no JSON value: {error}")
