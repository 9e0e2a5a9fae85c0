"""One whole match of every game as text, so that a change of any rule, event or seed shows line by line.

python tests/games/playthrough_text.py        writes tests/games/playthroughs/<game>.txt anew: read the difference
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from random_matches import moments, started

from referee.games import registry
from referee.games.contract import Event
from referee.games.game import Game

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 92  # a short match of ReAntics
DRAWN_EVERY = 25  # calls


def playthrough(game: Game) -> Iterator[str]:
    """The lines of a random match with default options: positions, answers, events, state hashes, the result."""
    state = started(game, SEED)
    yield f"{game.name} version {game.version}, seed {SEED}, options {_text(state.setup.options)}"
    yield from _told(state.opening())
    yield from str(state).splitlines()
    shown: set[str] = set()
    for number, (answers, events) in enumerate(moments(state, SEED), 1):
        given = "; ".join(f"seat {player} {_text(answer)}" for player, answer in answers.items())
        yield f"{number} {given} -> {hashlib.blake2b(state.key(), digest_size=8).hexdigest()}"
        yield from _told(events)
        new = [call for call in state.calls() if call.method.name not in shown]
        for call in new:  # each function's parameters once
            shown.add(call.method.name)
            yield f"    {call.method.name} asks seat {call.player} {_text(call.params)}"
        if number % DRAWN_EVERY == 0 or not state.awaited:
            yield from str(state).splitlines()
    yield f"result {_text(state.result)}"


def _told(events: list[Event]) -> list[str]:
    return [f"    {_text(event)}" for event in events]


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


if __name__ == "__main__":
    for name in registry.names():
        (FOLDER / f"{name}.txt").write_text("\n".join(playthrough(registry.game(name))) + "\n", encoding="utf-8")
        print(FOLDER / f"{name}.txt")
