"""What OpenSpiel's bots share: they choose an action of every position that they are shown."""

from collections.abc import Callable
from typing import Any

import msgspec

from referee.addons.openspiel.types import ACT, Position
from referee.harness.opponents._serve import Handler, UnknownMethod, serve_matches
from referee.protocol.messages import Initialize

Choose = Callable[[Position], int]
"""Takes what the bot sees, and returns the number of a legal action."""


def serve(name: str, begin: Callable[[Initialize], Choose]) -> None:
    """Plays match after match. `begin` returns what chooses the actions of one."""

    def start(match: Initialize) -> tuple[Handler, str]:
        choose = begin(match)

        def handle(method: str, params: dict[str, Any]) -> Any:
            if method != ACT.name:
                raise UnknownMethod(method)
            return {"action": choose(msgspec.convert(params, Position))}

        return handle, name

    serve_matches(start)
