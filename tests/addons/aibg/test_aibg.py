"""AIBG's server with real clients: a whole event, training, viewers, and every refusal of 13.3."""

import json
import re
from collections.abc import AsyncIterator, Callable
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jwt
import pytest
import requests
import trio
from argon2 import PasswordHasher
from ships import Client

from referee.addons.aibg.aibg_routes import GAME_OVER, NO_GAME, NO_TRAINING, NOT_ON_MOVE, TRAINING_OVER, open_aibg
from referee.addons.aibg.lobby import Lobby
from referee.addons.aibg.users import Gatekeeper, TooMany, User
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify

pytestmark = [pytest.mark.trio, pytest.mark.slow]
in_thread = partial(trio.to_thread.run_sync, abandon_on_cancel=True)

TEAMS = [f"team{number}" for number in range(1, 17)]
PASSWORD = "a password of everybody"


@cache
def users() -> dict[str, User]:
    """Sixteen teams, an organiser and a viewer, with a cheap hash."""
    hashed = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
    roles = dict.fromkeys(TEAMS, "player") | {"chief": "admin", "screen": "viewer"}
    return {name: User(role, hashed) for name, role in roles.items()}  # type: ignore[arg-type]


class Server:
    def __init__(self, address: str, lobby: Lobby) -> None:
        self.url = f"http://{address}"
        self.lobby = lobby

    async def client(self, name: str, prefix: str = "Bearer ") -> Client:
        client: Client = await in_thread(Client, self.url, name, PASSWORD, prefix)
        return client

    async def create(self, names: list[str], minutes: float = 0.03, map_name: str = "first_round.txt") -> int:
        """Creates a game and returns its id."""
        chief = await self.client("chief")
        told = {"gameId": 77, "playerUsernames": names, "time": minutes, "mapName": map_name}
        answer = await in_thread(chief.post, "/game/createGame", told)
        assert answer.status_code == 201, answer.text
        return int(answer.json()["message"].rpartition(" ")[2])


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    keeper = Gatekeeper(users(), b"s" * 64)
    async with open_aibg("127.0.0.1:0", keeper, replays=tmp_path, seed=5) as (address, lobby):
        yield Server(address, lobby)


async def together(*calls: Callable[[], Any]) -> list[Any]:
    """Runs the calls in threads at the same time, and returns their results."""
    results: dict[int, Any] = {}

    async def one(place: int) -> None:
        results[place] = await in_thread(calls[place])

    async with trio.open_nursery() as nursery:
        for place in range(len(calls)):
            nursery.start_soon(one, place)
    return [results[place] for place in range(len(calls))]


async def test_sixteen_teams_play_four_groups_and_a_final(server: Server, tmp_path: Path) -> None:
    clients = {name: await server.client(name) for name in TEAMS}
    groups = [TEAMS[start : start + 4] for start in range(0, 16, 4)]
    numbers = [await server.create(group) for group in groups]
    assert numbers == [0, 1, 2, 3], "the number in the request is not looked at"
    played = await together(*(clients[name].play for name in TEAMS))
    assert [index for index, _ in played] == [1, 2, 3, 4] * 4
    winners = []
    for number, group in zip(numbers, groups, strict=True):
        game = server.lobby.games[number]
        assert (game.verdict is not None and game.verdict.faults == ()) or all(
            fault.kind == "illegal"
            for fault in game.verdict.faults  # type: ignore[union-attr]
        )
        winners.append(group[game.verdict.result.ranks.index(1)])  # type: ignore[union-attr]
    number = await server.create(winners, map_name="final")
    await together(*(clients[name].play for name in winners))
    final = server.lobby.games[number]
    assert final.map_name == "final" and final.verdict is not None
    assert sorted(final.verdict.result.ranks) == [1, 2, 3, 4]
    assert final.verdict.result.reason == "the time of the match is up"
    assert {message for name in TEAMS for message in clients[name].messages if GAME_OVER in message}
    records = sorted(tmp_path.glob("aibg-*-game-*.jsonl"))
    assert len(records) == 5
    for record in records:
        assert verify(Replay(record)) is not None


async def test_all_join_together_and_only_one_player_is_on_the_move(server: Server) -> None:
    names = TEAMS[:4]
    await server.create(names, minutes=1)
    clients = [
        await server.client(name, prefix)
        for name, prefix in zip(names, ("Bearer ", "Bearer: ", "", "bearer "), strict=True)
    ]
    early = await in_thread(clients[0].post, "/game/doAction", {"action": "move,-6,-7"})
    assert (early.status_code, early.json()) == (400, {"message": NO_GAME}), "not joined"
    joins: list[dict[str, Any]] = []

    async def join(client: Client) -> None:
        joins.append(await in_thread(client.join))

    async with trio.open_nursery() as nursery:
        for client in (clients[0], *clients[:3]):  # one of them twice: it still counts once
            nursery.start_soon(join, client)
        await trio.sleep(0.2)
        assert joins == [], "three are there, and wait"
        nursery.start_soon(join, clients[3])
    assert sorted(joined["playerIdx"] for joined in joins) == [1, 1, 2, 3, 4]
    state = json.loads(joins[0]["gameState"])
    assert list(state) == ["map", "player1", "player2", "player3", "player4", "boss", "scoreBoard"]
    assert state["player2"]["name"] == "team2" and state["player1"]["type"] == "PLAYER"

    waiting = await in_thread(clients[1].post, "/game/doAction", {"action": "move,13,-7"})
    assert (waiting.status_code, waiting.json()["message"]) == (202, NOT_ON_MOVE)
    assert json.loads(waiting.json()["gameState"])["player2"]["health"] == 1000, "and no harm is done"
    for bad in ({}, {"action": ""}, {"action": None}, {"action": ["move"]}):
        refused = await in_thread(clients[0].post, "/game/doAction", bad)
        assert refused.status_code == 400 and refused.json()["path"] == "/game/doAction"

    replies: dict[int, dict[str, Any]] = {}

    async def act(index: int, action: str) -> None:
        replies[index] = (await in_thread(clients[index - 1].post, "/game/doAction", {"action": action})).json()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(act, 1, "move,99,0")
        while server.lobby.games[0].seats["team1"].on_move:
            await trio.sleep(0.01)
        twice = await in_thread(clients[0].post, "/game/doAction", {"action": "move,-6,-7"})
        assert twice.json()["message"] == NOT_ON_MOVE, "its first action waits for the others"
        for index, action in ((2, "move,13,-7"), (3, "move,-13,7"), (4, "move,6,7")):
            while not server.lobby.games[0].seats[f"team{index}"].on_move:
                await trio.sleep(0.01)
            nursery.start_soon(act, index, action)
        while 1 not in replies:
            await trio.sleep(0.01)
        assert set(replies) == {1}, "the others wait for their own next turn"
        server.lobby.delete(0, training=False)
    assert replies[1]["message"].startswith("off_map")
    seen = json.loads(replies[1]["gameState"])
    assert (seen["player1"]["health"], seen["player2"]["q"], seen["boss"]["bossAction"]) == (900, 13, True)
    assert [replies[index] for index in (2, 3, 4)] == [{"message": GAME_OVER}] * 3


async def test_a_client_that_retries_joining_stays_joined_when_its_first_request_ends(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.addons.aibg.lobby.JOIN_S", 1.0)
    await server.create(TEAMS[:4])
    clients = [await server.client(name) for name in TEAMS[:4]]
    answers: dict[int, Any] = {}

    async def join(place: int, after_s: float) -> None:
        await trio.sleep(after_s)
        answers[place] = await in_thread(clients[place % 10].get, "/game/joinGame")

    async with trio.open_nursery() as nursery:
        for place, after_s in ((0, 0), (10, 0.6), (1, 1.3), (2, 1.3), (3, 1.3)):
            nursery.start_soon(join, place, after_s)
    assert answers.pop(0).json() == {"message": "You have waited too long for the others."}
    assert {place: answer.status_code for place, answer in answers.items()} == dict.fromkeys((10, 1, 2, 3), 202)


async def test_a_player_silent_for_three_seconds_is_out_and_the_others_play_on(server: Server) -> None:
    names = TEAMS[:4]
    await server.create(names, minutes=0.1)
    clients = [await server.client(name) for name in names]
    results = await together(*(client.play for client in clients[:3]), clients[3].join)
    game = server.lobby.games[0]
    assert game.verdict is not None
    timeouts = [(fault.player, fault.kind) for fault in game.verdict.faults if fault.kind != "illegal"]
    assert timeouts == [(3, "timeout")]
    assert results[0][1]["player4"] is None and results[0][1]["player3"] is not None
    late = await in_thread(clients[3].post, "/game/doAction", {"action": "move,6,7"})
    assert (late.status_code, late.json()) == (400, {"message": GAME_OVER})


async def test_a_client_can_parse_the_number_of_its_training_game(server: Server) -> None:
    """As a client of the competition does, which then watches the game as a viewer."""
    client = await server.client("team1", "")
    begun = await in_thread(client.post, "/game/train", {"mapName": "test1.txt", "playerIdx": 1, "time": 1})
    assert (begun.status_code, begun.headers["Content-Type"]) == (202, "application/json")
    message = json.loads(begun.content.decode("utf-8"))["message"]
    found = re.fullmatch("TrainingGame sa id-ijem: ([0-9]+) uspešno napravljen[.]", message)
    assert found is not None, message
    viewer = {"gameId": found[1], "password": PASSWORD}
    seen = await in_thread(partial(requests.get, f"{server.url}/game", params=viewer, timeout=30))
    assert seen.status_code == 202
    assert json.loads(seen.json()["gameState"])["player1"]["name"] == "team1"


async def test_each_training_call_plays_a_round_against_three_bots(server: Server) -> None:
    client = await server.client("team1", "")
    none = await in_thread(client.post, "/game/actionTrain", {"action": "move,0,0"})
    assert (none.status_code, none.json()) == (400, {"message": NO_TRAINING})
    for wrong in (
        {"mapName": "../maps/aibg5/final.txt", "playerIdx": 1, "time": 1},
        {"mapName": "/etc/passwd", "playerIdx": 1, "time": 1},
        {"mapName": "final", "playerIdx": 5, "time": 1},
        {"mapName": "final", "playerIdx": 1, "time": 10.5},
        {"mapName": "final", "playerIdx": 1.5, "time": 1},
        {"mapName": "final", "playerIdx": True, "time": 1},
        {"mapName": "final", "playerIdx": 1},
    ):
        assert (await in_thread(client.post, "/game/train", wrong)).status_code == 400, wrong
    begun = await in_thread(client.post, "/game/train", {"mapName": "practice1.txt", "playerIdx": "2", "time": "0.03"})
    assert begun.status_code == 202 and begun.json()["message"] == "TrainingGame sa id-ijem: 1000 uspešno napravljen."
    state = json.loads(begun.json()["gameState"])
    assert [state[f"player{n}"]["type"] for n in (1, 2, 3, 4)] == ["BOT", "PLAYER", "BOT", "BOT"]
    assert [state[f"player{n}"]["name"] for n in (1, 2, 3)] == ["Bot1", "team1", "Bot3"]
    again = await in_thread(client.post, "/game/train", {"mapName": "final", "playerIdx": 1, "time": 1})
    assert again.status_code == 400
    moved = await in_thread(client.post, "/game/actionTrain", {"action": "move,13,-7"})
    assert moved.status_code == 202 and list(moved.json()) == ["gameState"]
    assert json.loads(moved.json()["gameState"])["player2"]["q"] == 13
    illegal = await in_thread(client.post, "/game/actionTrain", {"action": "jump,13,-7"})
    assert illegal.status_code == 400 and illegal.json()["message"].startswith("unknown_action")
    with trio.fail_after(20):
        while (answer := await in_thread(client.post, "/game/actionTrain", {"action": "move,99,9"})).json() != {
            "message": TRAINING_OVER
        }:
            assert answer.status_code == 400
    more = await in_thread(client.post, "/game/train", {"mapName": "final", "playerIdx": 3, "time": 0.05})
    assert more.status_code == 202, "after the first is over"


async def test_requests_need_a_valid_token(server: Server) -> None:
    url = f"{server.url}/game/joinGame"

    async def status(token: str | None, path: str = "/game/joinGame", method: str = "GET") -> int:
        headers = {} if token is None else {"Authorization": token}
        send = partial(requests.request, method, server.url + path, headers=headers, json={}, timeout=30)
        return int((await in_thread(send)).status_code)

    secret = "s" * 64
    ended = jwt.encode({"sub": "team1", "exp": 1_600_000_000}, secret, "HS512")
    eternal = jwt.encode({"sub": "team1"}, secret, "HS512")
    unsigned = jwt.encode({"sub": "team1", "exp": 4_000_000_000}, None, "none")
    forged = jwt.encode({"sub": "team1", "exp": 4_000_000_000}, "x" * 64, "HS512")
    stranger = jwt.encode({"sub": "nobody", "exp": 4_000_000_000}, secret, "HS512")
    assert await status(None) == 400
    for token in ("", "Bearer", "Bearer a b", "nonsense", ended, eternal, unsigned, forged):
        assert await status(token) == 401, token
    assert await status(stranger) == 400
    assert await status("nonsense", "/game/train", "POST") == 500, "as in the original"
    player, chief = await server.client("team1"), await server.client("chief")
    assert (await in_thread(player.post, "/game/createGame", {})).status_code == 403
    assert (await in_thread(chief.get, "/game/joinGame")).status_code == 403
    assert (await in_thread(player.get, "/game/joinGame")).json() == {"message": NO_GAME}
    token = str(player.session.headers["Authorization"])[7:]
    claims = jwt.decode(token, options={"verify_signature": False})
    assert set(claims) == {"sub", "iat", "exp"} and claims["exp"] - claims["iat"] == 12 * 3600
    assert url.startswith("http://127.0.0.1")


async def test_a_missing_token_and_a_wrong_host_are_explained_in_the_message(server: Server) -> None:
    none = await in_thread(partial(requests.get, f"{server.url}/game/joinGame", timeout=30))
    assert none.status_code == 400
    assert none.json()["message"].startswith("no header Authorization; expected: Bearer TOKEN")
    other = await in_thread(partial(requests.get, f"{server.url}/game", headers={"Host": "a.example"}, timeout=30))
    assert other.status_code == 403
    assert other.json()["message"] == "this server does not have that name; --alias adds one"


async def test_a_token_may_be_quoted(server: Server) -> None:
    """Some clients pass on the JSON text of the response."""
    player = await server.client("team1")
    token = str(player.session.headers["Authorization"])[7:]
    for header in (f'Bearer "{token}"', f'"{token}"', f"Bearer: '{token}'"):
        player.session.headers["Authorization"] = header
        assert (await in_thread(player.get, "/game/joinGame")).json() == {"message": NO_GAME}, header
    player.session.headers["Authorization"] = f'Bearer "{token}'
    assert (await in_thread(player.get, "/game/joinGame")).status_code == 401


STRANGE = ["NaN", "nan", "Infinity", "-inf", "1e400", 1e308, -1, 0, 10**30, "²", "٣", "", [], {}, None, True]


async def test_a_strange_number_is_a_bad_request_and_no_error_of_ours(server: Server) -> None:
    player, chief = await server.client("team1"), await server.client("chief")
    training = {"mapName": "final", "playerIdx": 1, "time": 1}
    game, deleted = {"playerUsernames": TEAMS[:4], "mapName": "final"}, {"gameId": 5, "training": False}
    for value in STRANGE:
        for client, path, told in (
            (player, "/game/train", {**training, "playerIdx": value}),
            (player, "/game/train", {**training, "time": value}),
            (chief, "/game/createGame", {**game, "time": value}),
            (chief, "/game/deleteGame", {**deleted, "gameId": value}),
            (chief, "/game/deleteGame", {**deleted, "training": value}),
        ):
            answer = await in_thread(client.post, path, told)
            assert answer.status_code == 400, (told, answer.text)
        look = {"gameId": str(value), "password": PASSWORD}
        seen = await in_thread(partial(requests.get, f"{server.url}/game", look))
        assert seen.status_code in (200, 400), (value, seen.text)


async def test_a_foreign_page_may_not_log_in(server: Server) -> None:
    body = {"username": "team1", "password": PASSWORD}
    for origin, status in (("http://evil.example", 403), ("null", 403), (server.url, 202)):
        send = partial(requests.post, f"{server.url}/user/login", json=body, headers={"Origin": origin}, timeout=30)
        assert (await in_thread(send)).status_code == status


MISSING = {
    "/user/login": "expected username and password, both as text",
    "/game/train": "expected mapName, playerIdx (1 to 4) and time (minutes)",
    "/game/actionTrain": 'expected action: "move,Q,R" or "attack,Q,R"',
    "/game/doAction": 'expected action: "move,Q,R" or "attack,Q,R"',
    "/game/createGame": "expected playerUsernames (a list), time (minutes) and mapName",
    "/game/deleteGame": "expected gameId, and training (true or false)",
}


async def test_a_refusal_names_the_missing_members(server: Server) -> None:
    player, chief = await server.client("team1"), await server.client("chief")
    for path, why in MISSING.items():
        refused = await in_thread((chief if "Game" in path else player).post, path, {})
        assert refused.status_code == 400
        assert (refused.json()["message"], refused.json()["path"]) == (why, path)


async def test_maps_also_have_the_names_that_clients_know(server: Server) -> None:
    for number, (told, map_name) in enumerate(
        {
            "test1.txt": "practice1",
            "test2": "practice2",
            "FirstRoundTopicAIBGaziBre.txt": "first_round",
            "FinalMapTopicAIBGaziBre.txt": "final",
        }.items()
    ):
        await server.create(TEAMS[4 * number : 4 * number + 4], map_name=told)
        assert server.lobby.games[number].map_name == map_name


async def test_five_wrong_passwords_a_minute_are_allowed(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    async def log_in(name: str, password: str) -> requests.Response:
        told = {"username": name, "password": password}
        return await in_thread(partial(requests.post, f"{server.url}/user/login", json=told, timeout=30))

    assert (
        await in_thread(partial(requests.post, f"{server.url}/user/login", json={"username": "x"}))
    ).status_code == 400
    statuses = [(await log_in("team1", f"wrong secret {n}")).status_code for n in range(6)]
    assert statuses == [404] * 5 + [429]
    assert (await log_in("team1", PASSWORD)).status_code == 429, "nor is the right one heard"
    assert (await log_in("team2", PASSWORD)).status_code == 202
    assert [(await log_in("nobody", "x")).status_code for _ in range(6)] == [404] * 5 + [429]
    assert "secret" not in "".join(capfd.readouterr())


async def test_the_limit_on_wrong_passwords_holds_for_concurrent_requests() -> None:
    keeper = Gatekeeper({"team1": User("player", PasswordHasher(1, 8, 1).hash(PASSWORD))}, b"s" * 64)
    heard: list[str | None] = []
    refused: list[int] = []

    async def guess(number: int) -> None:
        try:
            heard.append(await keeper.log_in("team1", f"guess {number}", "10.0.0.1"))
        except TooMany:
            refused.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(40):
            nursery.start_soon(guess, number)
    assert heard == [None] * 5 and len(refused) == 35
    assert await keeper.log_in("team1", PASSWORD, "10.0.0.2") is not None, "from elsewhere it is another count"


async def test_games_are_created_for_users_and_deleting_answers_400(server: Server) -> None:
    chief = await server.client("chief")
    good = {"playerUsernames": TEAMS[:4], "time": 3, "mapName": "final.txt"}
    for change in (
        {"playerUsernames": TEAMS[:3]},
        {"playerUsernames": [*TEAMS[:3], "team1"]},
        {"playerUsernames": [*TEAMS[:3], "chief"]},
        {"playerUsernames": [*TEAMS[:3], 4]},
        {"time": 0},
        {"time": "soon"},
        {"mapName": "nowhere.txt"},
        {"mapName": "..\\final"},
    ):
        assert (await in_thread(chief.post, "/game/createGame", good | change)).status_code == 400, change
    assert await server.create(TEAMS[:4]) == 0
    assert (await in_thread(chief.post, "/game/createGame", good)).status_code == 400, "they are in a game"
    deleted = await in_thread(chief.post, "/game/deleteGame", {"gameId": 0, "training": False})
    assert (deleted.status_code, deleted.json()) == (400, {"message": "game 0 is deleted"})
    assert await server.create(TEAMS[:4]) == 0, "the lowest that is free"


async def test_viewers_see_every_action_and_the_clock(server: Server) -> None:
    from websockets.sync.client import connect

    await server.create(TEAMS[:4])
    look = f"{server.url}/game?gameId=0&password="
    wrong = await in_thread(requests.get, f"{look}wrong")
    assert (wrong.status_code, wrong.content) == (200, b"")
    assert (await in_thread(requests.get, f"{server.url}/game?gameId=9&password={PASSWORD}")).status_code == 400
    seen = await in_thread(requests.get, look + PASSWORD)
    assert (seen.status_code, seen.json()) == (202, {"gameState": "null", "time": 1800, "playerAttack": "null"})
    stream = f"{server.url.replace('http', 'ws')}/streaming?gameId=0&password="

    def watch() -> list[dict[str, Any]]:
        with connect(stream + quote(PASSWORD)) as socket:
            return [json.loads(text) for text in socket]

    def refused() -> Any:
        with connect(f"{stream}wrong") as socket:
            return json.loads(socket.recv())

    assert await in_thread(refused) == {"message": "the password is wrong"}
    clients = [await server.client(name) for name in TEAMS[:4]]
    frames, *_ = await together(watch, *(client.play for client in clients))
    states = [json.loads(frame["gameState"]) for frame in frames if frame["gameState"] != "null"]
    assert len(states) > 8
    times = [frame["time"] for frame in frames if frame["gameState"] != "null"]
    assert times == sorted(times, reverse=True) and times[0] <= 1800
    hits = [json.loads(frame["playerAttack"]) for frame in frames if frame["playerAttack"] != "null"]
    assert all(set(hit) == {"playerIdx", "q", "r"} for hit in hits)
