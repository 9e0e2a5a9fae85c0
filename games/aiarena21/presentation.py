"""AI Arena 21 in words: `to (6,11)`, `buys a bike`, `bids 12`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from referee.games.aiarena21.types import PLAY_AUCTION, PLAY_POWERUP, PLAY_TRANSPORT
from referee.games.contract import Call
from referee.games.game import Presentation, Score

_CELL = re.compile(r"(\d{1,4}),(\d{1,4})")
_FRUIT = {"Onion": "an onion", "Strawberry": "a strawberry", "DragonFruit": "a dragon fruit"}
_SHOWN_BY_THE_BOARD = ("spawned", "moved", "turn_ended", "game_ended")


def _answer(call: Call, answer: Any) -> str | None:
    if call.method is PLAY_POWERUP:
        return f"buys a {answer}" if answer else "buys nothing"
    if call.method is PLAY_AUCTION:
        return f"bids {answer}"
    found = _CELL.fullmatch(answer)
    if found is None:
        return None
    cell = f"({int(found[1])},{int(found[2])})"
    return f"sends the opponent to {cell}" if call.method is PLAY_TRANSPORT else f"to {cell}"


def _event(method: str, params: Mapping[str, Any], names: Sequence[str]) -> str | None:
    if method in _SHOWN_BY_THE_BOARD:
        return ""
    if method == "deployed":
        piles = params["piles"]
        return f"fruit is put down on {len(piles)} cell{'' if len(piles) == 1 else 's'}"
    if method == "auction":
        won = "a tie" if params["winner"] is None else f"{names[params['winner']]} wins and pays {params['price']}"
        cause = "they met" if params["cause"] == "meeting" else "30 turns have passed"
        return f"auction, {cause}: bids {params['bids'][0]} and {params['bids'][1]}, {won}"
    name = names[params["player"]]
    if method == "purchase":
        return (
            "" if params["bought"] or not params["power_up"] else f"{name} lacks the points for a {params['power_up']}"
        )
    row, col = params["location"]
    if method == "teleported":
        return f"{name} is put on ({row},{col})" + ("" if params["chosen"] else ", drawn")
    fruit = ", ".join(_FRUIT[item] for item in params["items"])
    return f"{name} collects {fruit} at ({row},{col}): {params['score']} points"


ENDINGS = {
    "points": "{scores} points",
    "equal_points": "{scores} points",
    "nobody_left": "both players crashed, {scores} points",
}

PRESENTATION = Presentation(
    frame="(row,col) from the top left, for both players",
    answer=_answer,
    event=_event,
    secret=frozenset({"play_auction"}),
    signs=(r"(?<!\w)0(?= )|(?<=[.#OSD])0|0(?=[.#OSD])", r"(?<!\w)1(?= )|(?<=[.#OSD])1|1(?=[.#OSD])"),
    legend={
        "0": "player 0",
        "1": "player 1",
        "X": "both players",
        "O": "an onion",
        "S": "a strawberry",
        "D": "a dragon fruit; of a pile the fruit worth most is shown",
        "#": "blocked",
        ".": "free",
    },
    endings=ENDINGS,
    score=Score("points", "The points of a player.", lambda state: state.score),
)
