"""AIBG 5 in words: `move (1,-10)`, `attack (-7,-4)`. Events name players instead of `playerIdx`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.contract import LOSES, Call
from referee.games.game import Highlight, Presentation, Score

_ACTION = re.compile(r"(move|attack),(-?\d{1,3}),(-?\d{1,3})")
_HIT = {"PLAYER": "a player", "ASTEROID": "an asteroid", "BOSS": "the boss"}


def _answer(call: Call, answer: Any) -> str | None:
    found = _ACTION.fullmatch(answer.action)
    if found is not None:
        return f"{found[1]} ({found[2]},{found[3]})"
    return "sits in the black hole" if not answer.action else None


def _event(method: str, params: Mapping[str, Any], names: Sequence[str]) -> str | None:
    def name(index: int) -> str:
        return names[index - 1]

    def at() -> str:
        return f"({params['q']},{params['r']})"

    if method == "shot":
        return f"{name(params['playerIdx'])} hits {_HIT[params['hit']]} at {at()}"
    if method == "died":
        by = "the boss" if params["by"] is None else name(params["by"])
        return f"{name(params['playerIdx'])} is killed by {by} and starts again at {at()}"
    if method == "pickedUp":
        return f"{name(params['playerIdx'])} picks up {params['item'].lower()}"
    if method == "bossAttack":
        hit = [f"{how} on {', '.join(map(name, params[key]))}" for key, how in _BLOWS.items() if params[key]]
        pattern = "no pattern" if params["pattern"] is None else f"pattern {params['pattern']}"
        return f"the boss: {'; '.join([pattern, *hit])}" if hit or params["pattern"] is not None else ""
    return f"the game is over: {params['reason']}" if method == "gameOver" else None


def _highlights(_: Any, __: Any, events: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Sequence[Highlight]:
    died = [each["params"] for each in events if each.get("method") == "died"]
    return [Highlight("death", _event("died", params, names) or "") for params in died]


_BLOWS = {"direct": "a direct hit", "struck": "the pattern"}

DISQUALIFIED = "disqualified"
"""The penalty of a player that gives no answer (section 12)."""
ENDINGS = {
    "rounds": "all rounds were played, {scores} points",
    "last_one_left": "only one player was left, {scores} points",
    "nobody_left": "all players were disqualified, {scores} points",
}

PRESENTATION = Presentation(
    frame="(q,r): r is the row, 0 in the middle and negative above it; "
    "q is the column, which slants to the lower right; a player is drawn as its seat; its playerIdx is the seat + 1",
    answer=_answer,
    event=_event,
    highlights=_highlights,
    signs=tuple(rf"(?<![\w-]){seat}(?![\w-])" for seat in range(4)),
    legend={
        "0123": "the players, by seat",
        "#": "an asteroid",
        "o": "a black hole",
        "w": "a wormhole",
        "+": "health",
        "*": "experience",
        "B": "the boss",
        ".": "empty",
    },
    endings=ENDINGS,
    score=Score("points", "The points of a player.", lambda state: [ship.score for ship in state.ships]),
    losing=frozenset({LOSES, DISQUALIFIED}),
)
