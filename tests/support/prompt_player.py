"""Plays the seven games by what a prompt says, and nothing else: a stand-in for a language model that reads it all.

It imports nothing of the project. Simple rules from the first message win against random answers.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from compact_reader import legal_answers, read

Cell = tuple[int, int]


class Prompt:
    """The messages that a model reads before it answers."""

    def __init__(self, system: str, question: str) -> None:
        self.title = _found(r"You play ([^.]+)", system)
        self.seat = int(_found(r"You have seat (\d+) of", system))
        self.function = _found(r"The question is `(\w+)`", question)
        self.view = read(_between(question, "The position as data:\n\n", "\n\nThe question is `"))
        given = _between(question, "Its parameters, where `$view` is the data above:\n\n", "\n\nJSON Schema")
        self.params = read(given, {"$view": self.view}) if given else self.view
        self.legal = legal_answers(question)


def answer(system: str, question: str) -> Any:
    """Returns the answer to a question."""
    prompt = Prompt(system, question)
    return GAMES[prompt.title](prompt)


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, pattern
    return found[1]


def _between(text: str, before: str, after: str) -> str:
    return text.partition(before)[2].partition(after)[0]


# Games of lines.


def _line_game(rows: int, columns: int, length: int, cell: Callable[[str, Any], int | None]) -> Callable[[Prompt], Any]:
    """Returns a player that completes its lines, then prevents those of the other, then takes the middle."""
    lines = [
        [(row + at * down) * columns + column + at * right for at in range(length)]
        for row, column, (down, right) in product(range(rows), range(columns), [(0, 1), (1, 0), (1, 1), (1, -1)])
        if row + (length - 1) * down < rows and 0 <= column + (length - 1) * right < columns
    ]

    def choose(prompt: Prompt) -> Any:
        board, mine = prompt.view["board"], _sign(prompt.view["to_move"])

        def value(move: Any) -> float:
            at = cell(board, move)
            if at is None:
                return 99  # the table is flipped, which is legal only when it wins
            best = -abs(at % columns - columns // 2) / 9 - abs(at // columns - rows // 2) / 99
            for line in lines:
                if at in line:
                    others = [board[each] for each in line if each != at]
                    if len({*others}) == 1 and others[0] != ".":
                        best = max(best, 9 if others[0] == mine else 8)
            return best

        return max(prompt.legal, key=value)

    return choose


def _sign(side: str) -> str:
    return {"🔴": "R", "🟡": "Y"}.get(side, side)


def _compass(board: str, move: Any) -> int | None:
    return ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"].index(move["position"]) if "position" in move else None


def _column(board: str, move: Any) -> int | None:
    if "column" not in move:
        return None
    column = "ABCDEFG".index(move["column"])
    return max(at for at in range(column, 42, 7) if board[at] == ".")


# Quoridor: the shortest way.


def _quoridor(prompt: Prompt) -> Any:
    walls, goal = {*prompt.view["walls"]}, "91"[prompt.seat]
    flips = [move for move in prompt.legal if "position" not in move]
    moves = [move for move in prompt.legal if move["action"] == "move"]
    return flips[0] if flips else min(moves, key=lambda move: _steps(move["position"], goal, walls))


def _steps(start: str, goal: str, walls: set[str]) -> int:
    known, waiting = {start: 0}, deque([start])
    while waiting:
        square = waiting.popleft()
        if square[1] == goal:
            return known[square]
        for other in _neighbours(square, walls):
            if other not in known:
                known[other] = known[square] + 1
                waiting.append(other)
    return 99


def _neighbours(square: str, walls: set[str]) -> Iterator[str]:
    column, row = ord(square[0]), int(square[1])
    for right, up in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        if 1 <= row + up <= 9 and "a" <= chr(column + right) <= "i":
            low_column, low_row = min(column, column + right), min(row, row + up)
            name = "h" if up else "v"
            ends = [(low_column - (each if up else 0), low_row - (0 if up else each)) for each in (0, 1)]
            if not any(f"{chr(x)}{y}{name}" in walls for x, y in ends):
                yield f"{chr(column + right)}{row + up}"


# The card game: minions first, then everything at the enemy hero.


def _cardgame(prompt: Prompt) -> Any:
    hand = prompt.view["player_hand"]

    def value(action: Any) -> float:
        kind, arguments = action[0], action[1] if len(action) > 1 else None
        if kind == 1:
            return 50 + float(hand[arguments[0]]["cost"])
        if kind == 3:
            return 40 - float(arguments[1])
        if kind == 2:
            return 30 - float(arguments[1] if len(arguments) > 1 else 0)
        return 20.0 if kind == 0 else 0.0

    return max(prompt.legal, key=value)


# ReAntics: workers carry food.


def _reantics(prompt: Prompt) -> Any:
    if prompt.function == "getPlacement":
        return prompt.legal[0]
    if prompt.function == "getAttack":
        return prompt.params["enemyLocations"][0]
    state = prompt.view
    own, neutral = state["inventories"][state["whoseTurn"]], state["inventories"][2]
    homes = [each["coords"] for each in own["constrs"]]
    food = [each["coords"] for each in neutral["constrs"] if each["type"] == -1]
    end = next(move for move in prompt.legal if move["moveType"] == 2)
    builds = [move for move in prompt.legal if move["moveType"] == 1 and move["buildType"] == 1]
    workers = [ant for ant in own["ants"] if ant["type"] == 1]
    if builds and len(workers) < 2:
        return builds[0]
    for ant in own["ants"]:
        moves = [move for move in prompt.legal if move["moveType"] == 0 and move["coordList"][0] == ant["coords"]]
        if ant["type"] == 1:
            goals = homes if ant["carrying"] else food
            if moves and _nearest(ant["coords"], goals):
                best = min(moves, key=lambda move: _nearest(move["coordList"][-1], goals))
                if len(best["coordList"]) > 1:
                    return best
        elif ant["coords"] in homes:
            off = [move for move in moves if move["coordList"][-1] not in homes + food]
            if off:
                return off[-1]
    return end


def _nearest(cell: Any, goals: list[Any]) -> int:
    return min(abs(cell[0] - x) + abs(cell[1] - y) for x, y in goals)


# AI Arena 21: towards the fruit.


def _aiarena21(prompt: Prompt) -> Any:
    if prompt.function != "play_turn":
        return prompt.legal[0]
    piles = [
        (row, column, points)
        for row, points_of in enumerate(prompt.view["items"])
        for column, points in enumerate(points_of)
        if points
    ] or [
        (row, column, heat)
        for row, heats in enumerate(prompt.view["heatmap"])
        for column, heat in enumerate(heats)
        if heat >= 2
    ]

    def value(move: str) -> float:
        row, column = map(int, move.split(","))
        return sum(points / (abs(row - r) + abs(column - c) + 0.3) ** 2 for r, c, points in piles)

    return max(prompt.legal, key=value)


# AIBG 5: to the boss, and shoot at it.


def _aibg5(prompt: Prompt) -> Any:
    boss = {(tile["q"], tile["r"]) for row in prompt.view["map"]["tiles"] for tile in row if _is_boss(tile)}
    ships = [prompt.view[f"player{number}"] for number in range(1, 5)]
    others = {(each["q"], each["r"]) for each in ships if each}
    me = ships[prompt.params["playerIdx"] - 1]

    def value(move: Any) -> float:
        kind, q, r = move["action"].split(",")
        cell = int(q), int(r)
        if kind == "attack":
            return 100.0 if cell in boss else 50.0 if cell in others else -_ring((me["q"], me["r"]))
        return -_ring(cell)

    return max(prompt.legal, key=value, default={"action": "move,0,0"})


def _ring(cell: Cell) -> float:
    return float(max(abs(cell[0]), abs(cell[1]), abs(sum(cell))))


def _is_boss(tile: Any) -> bool:
    return bool(tile["entity"]["type"] == "BOSS")


GAMES: dict[str, Callable[[Prompt], Any]] = {
    "Tic-tac-toe": _line_game(3, 3, 3, _compass),
    "Connect Four": _line_game(6, 7, 4, _column),
    "Quoridor": _quoridor,
    "Card game": _cardgame,
    "ReAntics": _reantics,
    "AI Arena 21": _aiarena21,
    "AIBG 5": _aibg5,
}
"""The players, by the title in the first message."""
