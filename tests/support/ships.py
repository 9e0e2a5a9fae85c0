"""A client of AIBG that was written from the interface's description alone, without the referee."""

import json
import random
from typing import Any

import requests

DIRECTIONS = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]


class Client:
    """One user, by the address of the server."""

    def __init__(self, url: str, name: str, password: str, prefix: str = "Bearer ") -> None:
        self.url = url
        self.name = name
        self.session = requests.Session()
        answer = self.post("/user/login", {"username": name, "password": password})
        assert answer.status_code == 202, answer.text
        self.session.headers["Authorization"] = prefix + answer.json()["token"]
        self.messages: list[str] = []
        self.turns = 0
        self.luck = random.Random(name)

    def post(self, path: str, value: Any) -> requests.Response:
        return self.session.post(self.url + path, json=value, timeout=120)

    def get(self, path: str) -> requests.Response:
        return self.session.get(self.url + path, timeout=120)

    def join(self) -> dict[str, Any]:
        answer = self.get("/game/joinGame")
        assert answer.status_code == 202, answer.text
        return dict(answer.json())

    def choose(self, state: dict[str, Any], index: int) -> str:
        """Shoots at the boss if it is near, otherwise moves towards it, and sometimes makes an illegal move."""
        me = state[f"player{index}"]
        if me is None:
            return "move,0,0"
        q, r = me["q"], me["r"]
        kinds = {(tile["q"], tile["r"]): tile["tileType"] for row in state["map"]["tiles"] for tile in row}
        types = {(tile["q"], tile["r"]): tile["entity"]["type"] for row in state["map"]["tiles"] for tile in row}
        for dq in range(-3, 4):
            for dr in range(-3, 4):
                if types.get((q + dq, r + dr)) == "BOSS" and max(abs(dq), abs(dr), abs(dq + dr)) <= 3:
                    return f"attack,{q + dq},{r + dr}"
        ways = [(q + dq, r + dr) for dq, dr in DIRECTIONS if kinds.get((q + dq, r + dr)) == "NORMAL"]
        ways.sort(key=lambda way: max(abs(way[0]), abs(way[1]), abs(sum(way))) + 2 * self.luck.random())
        return f"move,{ways[0][0]},{ways[0][1]}" if ways and self.luck.random() > 0.05 else "move,99,99"

    def play(self) -> tuple[int, dict[str, Any]]:
        """Plays a whole game, and returns the player's number and the last position."""
        joined = self.join()
        index, state = joined["playerIdx"], json.loads(joined["gameState"])
        while True:
            answer = self.post("/game/doAction", {"action": self.choose(state, index)})
            if answer.status_code != 202:
                self.messages.append(answer.json()["message"])
                return index, state
            self.turns += 1
            told = answer.json()
            state = json.loads(told["gameState"])
            if told["message"] != "null":
                self.messages.append(told["message"])
