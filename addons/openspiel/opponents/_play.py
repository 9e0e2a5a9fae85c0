"""What OpenSpiel's bots share: they choose an action of every position that they are shown."""

from collections.abc import Callable
from typing import Any

import msgspec

from referee.addons.openspiel.types import ACT, Position
from referee.harness.opponents._serve import Handler, UnknownMethod, serve_matches
from referee.protocol.messages import Initialize

Choose = Callable[[Position], int]
"""Takes what the bot sees, and returns the number of a legal action."""


def chosen_by(choose: Choose) -> Handler:
    """Returns what answers calls by the choice of a bot."""

    def handle(method: str, params: dict[str, Any]) -> Any:
        if method != ACT.name:
            raise UnknownMethod(method)
        return {"action": choose(msgspec.convert(params, Position))}

    return handle


def serve(name: str, handler: Callable[[Initialize, int | None], Handler], number: int | None = None) -> None:
    """Plays match after match. `handler` begins one, with the bot's number, and returns what answers its calls."""
    serve_matches(lambda match: (handler(match, number), name))
