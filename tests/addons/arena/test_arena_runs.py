"""The Arena's server with real clients: whole evaluations, every client library, every fault of part C."""

import json
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests
import trio
from needs import needs
from noughts import FLIP
from teams import LIBRARIES, Team, lines, team

from referee.addons.arena import runs
from referee.addons.arena.arena_routes import open_arena
from referee.addons.arena.arena_seat import ArenaSeat, Terms
from referee.addons.arena.callbacks import Coordinator
from referee.addons.arena.judge import JUDGE_PLANS
from referee.addons.arena.kind import SERVICE
from referee.addons.arena.runs import Arena, Settings, games, path_of
from referee.addons.web.serving.builtin_rivals import THINKING
from referee.games import registry
from referee.games.arena import Battle
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.match.match import Match, play
from referee.harness.process import stall_clock
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.seats.roster import open_roster

pytestmark = [pytest.mark.trio, pytest.mark.slow]
in_thread = trio.to_thread.run_sync


class Server:
    """A running Arena, and a team that does nothing."""

    def __init__(self, address: str, arena: Arena, team: Team) -> None:
        self.url = f"http://{address}"
        self.address = address
        self.arena = arena
        self.team = team

    async def post(self, path: str, value: Any = None, **options: Any) -> requests.Response:
        send = partial(requests.post, self.url + path, timeout=30, **({"json": value} | options))
        return await in_thread(send)

    async def get(self, path: str) -> requests.Response:
        return await in_thread(partial(requests.get, self.url + path, timeout=30))

    async def order(self, case: str | None = None, run: str = "run", game: str = "tic-tac-toe") -> list[str]:
        """Orders a run and returns its battles."""
        told = {"runId": run, "teamUrl": self.team.url, "callbackUrl": f"{self.team.url}/callback", "caseType": case}
        answer = await self.post(f"/{game}/evaluate", told)
        assert answer.status_code == 200, answer.text
        assert answer.json()["errors"] == {}
        return list(answer.json()["battleIds"])

    def coordinate(self, url: str) -> None:
        """Makes this the coordinator's address, as `--coordinator` does."""
        known = Coordinator(url)
        self.arena.settings = msgspec.structs.replace(self.arena.settings, coordinator=known)

    async def view(self, battle: str, game: str = "tic-tac-toe") -> dict[str, Any]:
        answer = await self.get(f"/{game}/admin/view/{battle}")
        return dict(answer.json() or {})

    async def play(self, battle: str, action: Any, **options: Any) -> requests.Response:
        return await self.post(f"/tic-tac-toe/play/{battle}", action, **options)

    async def listen(self, battle: str, game: str = "tic-tac-toe") -> "Events":
        """Opens a stream."""
        return Events(partial(lines, f"{self.url}/{game}/start/{battle}"))

    async def report(self) -> dict[str, Any]:
        """Returns the coordinator's report."""
        assert await in_thread(self.team.reported.wait, 30)
        return self.team.reports[0][0]


class Events:
    """Reads a stream one event at a time."""

    def __init__(self, open_stream: Any) -> None:
        self._lines = open_stream()

    async def next(self) -> Any:
        """Returns the next event; None if the stream was closed."""
        line = await in_thread(partial(next, self._lines, None))
        return None if line is None else json.loads(line)

    async def rest(self) -> list[Any]:
        found = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found


@pytest.fixture
async def server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Server]:
    options = getattr(request, "param", {})
    settings = Settings(callback_token="ours", replays=tmp_path, seed=5)
    with team(lambda url, battle: None, lambda: "") as idle:
        async with open_arena("127.0.0.1:0", settings, **options) as (address, arena):
            yield Server(address, arena, idle)


def put(cell: str) -> dict[str, str]:
    return {"action": "putSymbol", "position": cell}


def pawn(square: str) -> dict[str, str]:
    return {"action": "move", "position": square}


def wall(name: str) -> dict[str, str]:
    return {"action": "putWall", "position": name}


original = pytest.mark.parametrize("server", [{"compat": "original"}], indirect=True, ids=["original"])
in_test = pytest.mark.parametrize("server", [{"compat": "original", "test": True}], indirect=True, ids=["test"])
in_test_by_the_document = pytest.mark.parametrize(
    "server", [{"compat": "seed", "test": True}], indirect=True, ids=["test"]
)


@pytest.mark.parametrize("waits", [False, True], ids=["replies at once", "replies when it has played"])
async def test_a_team_that_plays_well_gets_all_points(server: Server, tmp_path: Path, waits: bool) -> None:
    with team(LIBRARIES["requests"], lambda: server.url, waits) as strong:
        server.team = strong
        server.coordinate(strong.url)
        battles = await server.order()
        report = await server.report()
    assert (report["runId"], report["score"]) == ("run", 100), [(await server.view(battle)) for battle in battles]
    assert report["message"] == "\n".join(
        f"{battle}: scored {20 if number < 4 else 4}" for number, battle in enumerate(battles)
    )
    assert strong.reports == [(report, "ours")], "the coordinator is called once, with our token"
    assert sorted(strong.battles) == sorted(battles)
    for battle in battles:
        assert verify(Replay(tmp_path / f"tic-tac-toe-{battle}.jsonl")) is not None
    views = [await server.view(battle) for battle in battles]
    assert [view["caseType"] for view in views[:2]] == ["BASE_AI_O", "BASE_AI_X"]
    assert [view["result"] for view in views[4:]] == ["FLIPPED"] * 5


@pytest.mark.parametrize("library", LIBRARIES)
async def test_every_client_library_plays_whole_battles(server: Server, library: str) -> None:
    for case in ("AB_AI_X", "C_AI_X_FIRST"):
        (battle,) = await server.order(case, run=case)
        with trio.fail_after(30):
            heard = await in_thread(LIBRARIES[library], f"{server.url}/tic-tac-toe", battle, abandon_on_cancel=True)
        assert heard[0] == {"youAre": "O", "id": battle}
        assert heard[-1] == ({"winner": "draw"} if case == "AB_AI_X" else {"player": "O", "action": FLIP})


@pytest.fixture(scope="module")
def node_team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The team's program, with its packages installed."""
    folder = tmp_path_factory.mktemp("node")
    for file in (Path(__file__).parents[2] / "support" / "node").iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    installed = subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=folder, timeout=120)
    if installed.returncode:
        pytest.skip("npm cannot install the team's packages here")
    return folder / "team.mjs"


@pytest.mark.slow
@needs("npm")
async def test_a_team_in_node_gets_all_points_with_the_same_moves_as_one_in_python(
    server: Server, node_team: Path
) -> None:
    moves = []
    with subprocess.Popen(["node", str(node_team), server.url], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            in_node = Team((await in_thread(process.stdout.readline)).strip())
            with team(LIBRARIES["requests"], lambda: server.url) as in_python:
                for service in (in_node, in_python):
                    service.reported = server.team.reported
                    server.team.reported.clear()
                    told = {"runId": service.url, "teamUrl": service.url, "callbackUrl": f"{server.team.url}/callback"}
                    battles = (await server.post("/tic-tac-toe/evaluate", told)).json()["battleIds"]
                    assert await in_thread(server.team.reported.wait, 60)
                    moves.append([(await server.view(battle))["moves"] for battle in battles])
        finally:
            process.kill()
    assert [report["score"] for report, _ in server.team.reports] == [100, 100]
    assert moves[0] == moves[1], "two clients from one description behave alike"


@pytest.mark.parametrize("name", [path_of(game) for game in games()])
async def test_every_installed_arena_game_can_be_played(server: Server, tmp_path: Path, name: str) -> None:
    """With random legal answers, against the first opponent of the game's run."""
    (battle, *others) = await server.order(game=name)
    ordered = server.arena.battles[battle]
    course = JUDGE_PLANS[ordered.game.name]
    position = ordered.game.new(Setup(0, ("a", "b"), ordered.game.options(**course.options)))
    assert isinstance(position, Battle)
    dice, events = Dice(1), await server.listen(battle, name)
    me = position.SIDES.index((await events.next())["youAre"])
    with trio.fail_after(100):
        while True:
            if me in position.awaited:
                legal = msgspec.to_builtins(position.sample(me, dice))
                answer = await server.post(f"/{name}/play/{battle}", legal)
                assert answer.status_code == 200
            event = await events.next()
            if event is None or "winner" in event or "player" not in event:
                break
            answer = {key: value for key, value in event.items() if key != "player"}
            position.apply({position.SIDES.index(event["player"]): answer})
    while "score" not in (view := await server.view(battle, name)):
        await trio.sleep(0.01)
    assert view["result"] == "DRAW" or view["result"].endswith("_WIN")
    assert verify(Replay(tmp_path / f"{name}-{battle}.jsonl")) == position.result
    assert len(others) == len(course.cases) - 1


@pytest.mark.parametrize(
    "server",
    [{"names": ["Arena.Example.org", "ports.example.org:8080", "web.example.org:80", "tls.example.org:443"]}],
    indirect=True,
    ids=["aliases"],
)
async def test_an_alias_matches_a_host_with_any_port_or_with_one(server: Server) -> None:
    """A Host without a port means port 80, or 443 of a proxy that speaks TLS."""
    hosts = {
        "arena.example.org": 200,
        "ARENA.example.org:1234": 200,
        "arena.example.org.": 200,
        "ports.example.org:8080": 200,
        "Ports.Example.Org:8080": 200,
        "ports.example.org:08080": 200,
        "ports.example.org:8081": 403,
        "ports.example.org": 403,
        "web.example.org": 200,
        "web.example.org:": 200,
        "web.example.org:80": 200,
        "web.example.org:443": 403,
        "tls.example.org": 200,
        "tls.example.org:443": 200,
        "[::1]:8080": 200,
        "other.example.org": 403,
        "other.example.org:8080": 403,
    }
    found = {}
    for host in hosts:
        ask = partial(requests.get, f"{server.url}/quoridor/hi", headers={"Host": host}, timeout=30)
        found[host] = (await in_thread(ask)).status_code
    assert found == hosts


async def test_missing_and_unknown_things_get_the_originals_messages(server: Server) -> None:
    answers = [
        (await server.post("/tic-tac-toe/evaluate", {"runId": "r", "teamUrl": "http://127.0.0.1"}), 400),
        (await server.get("/tic-tac-toe/start/nothing"), 404),
        (await server.play("nothing", put("C")), 404),
        (await server.post("/quoridor/tryout", {}), 400),
        (await server.get("/quoridor/result/nothing"), 404),
    ]
    assert [(answer.status_code, answer.json()) for answer, _ in answers] == [
        (status, {"error": text})
        for (_, status), text in zip(
            answers,
            (
                "missing runId, callbackUrl or teamUrl",
                "battle not found",
                "Battle not found",
                "missing teamUrl",
                "run not found",
            ),
            strict=True,
        )
    ]
    assert (await server.get("/quoridor/admin/view/nothing")).json() is None
    assert (await server.get("/tic-tac-toe/hi")).json() == {"hi": "hi"}
    assert (await server.post("/quoridor")).text == "OK"
    assert (await server.get("/quoridor")).url == f"{server.url}/"


async def test_the_number_of_kept_runs_is_limited_including_replaced_ones(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "KEPT_RUNS", 2)
    battles: list[str] = []
    for _ in range(6):
        battles += await server.order("BASE_AI_X", run="same")
        with trio.fail_after(20):
            while any("score" not in view for view in [await server.view(battle) for battle in battles[:-1]] if view):
                await trio.sleep(0.01)
    assert [battle in server.arena.battles for battle in battles] == [False] * 4 + [True] * 2
    assert len(server.arena.runs) == 2


async def test_each_event_is_one_chunk_and_the_head_is_sent_at_once(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_O")
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as raw:
        raw.settimeout(10)
        raw.sendall(f"GET /tic-tac-toe/start/{battle} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        received = b""
        while received.count(b"data: ") < 2:
            received += await in_thread(raw.recv, 4096)
        head, _, chunks = received.partition(b"\r\n\r\n")
        assert b"text/event-stream" in head.lower() and b"access-control-allow-origin: *" in head.lower()
        greeting = b'data: {"youAre":"X","id":"%b"}\n\n' % battle.encode()
        move = b'data: {"player":"O","action":"putSymbol","position":"NW"}\n\n'
        assert chunks == b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in (greeting, move))


async def test_a_move_is_echoed_and_answered_and_charged_to_the_clock(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_O")
    events = await server.listen(battle)
    assert await events.next() == {"youAre": "X", "id": battle}
    assert await events.next() == {"player": "O", **put("NW")}
    answer = await server.play(battle, put("C"))
    assert answer.status_code == 200 and answer.json()["message"] == "received your command"
    assert 18_000 < answer.json()["clock"] <= 20_000
    assert [await events.next(), await events.next()] == [{"player": "X", **put("C")}, {"player": "O", **put("N")}]
    assert (await server.view(battle))["clock"] == answer.json()["clock"]
    assert "result" not in await server.view(battle), "what is not decided is absent"


async def test_two_moves_in_a_row_come_too_soon(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_O")
    events = await server.listen(battle)
    await events.next(), await events.next()
    answers: list[requests.Response] = []

    async def post(cell: str) -> None:
        answers.append(await server.play(battle, put(cell)))

    server.arena.pause.pause()  # however slow this machine is just now
    async with trio.open_nursery() as nursery:
        nursery.start_soon(post, "N")
        nursery.start_soon(post, "NE")
    assert [answer.status_code for answer in answers] == [200, 200]
    server.arena.pause.play()
    *echoes, flip = await events.rest()
    assert sorted(echo["position"] for echo in echoes) == ["N", "NE"] and flip == {"player": "O", "action": FLIP}
    assert (await server.report())["score"] == 0
    view = await server.view(battle)
    assert (view["flippedBy"], view["flippedReason"]) == ("O", "send move before arena replies")


async def test_the_reason_names_a_move_that_came_too_soon_before_its_other_faults(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_X")
    events = await server.listen(battle)
    await events.next()
    server.arena.pause.pause()
    await server.play(battle, put("N"))
    await server.play(battle, {"action": FLIP})
    server.arena.pause.play()
    await events.rest()
    reason = (await server.view(battle))["flippedReason"]
    assert reason == "send move before arena replies\nYou are not supposed to flip the table now"


@pytest.mark.parametrize(
    ("case", "first", "second", "reason"),
    [
        ("BASE_AI_SECOND", None, {"something": "idk"}, "unknown action type"),
        ("BASE_AI_SECOND", None, {"action": FLIP}, "You are not supposed to flip the table now"),
        ("BASE_AI_SECOND", None, pawn("f9"), "Cannot move to f9"),
        ("BASE_AI_SECOND", None, pawn("e10"), "e10 is not a valid position"),
        ("BASE_AI_SECOND", None, {"action": "move"}, "undefined is not a valid position"),
        ("BASE_AI_SECOND", None, wall("f9v"), "Cannot put | wall at f9"),
        ("BASE_AI_SECOND", None, wall("i8h"), "Cannot put - wall at i8"),
        ("BASE_AI_FIRST", None, pawn("E2"), "Not your turn"),
        ("BASE_AI_FIRST", None, pawn("e8"), "Not your turn"),
        ("BASE_AI_FIRST", None, wall("e3h"), "Not your turn"),
        ("BASE_AI_FIRST", None, pawn("e5"), "Cannot move to e5\nNot your turn"),
        ("BASE_AI_FIRST", None, wall("a0h"), "a0h is not a valid position\nNot your turn"),
        ("BASE_AI_FIRST", None, {"something": "idk"}, "unknown action type\nNot your turn"),
        ("BASE_AI_FIRST", None, {"action": FLIP}, "You are not supposed to flip the table now\nNot your turn"),
        ("BASE_AI_SECOND", pawn("e2"), pawn("e3"), "send move before arena replies"),
        ("BASE_AI_SECOND", pawn("e2"), pawn("e8"), "send move before arena replies"),
        ("BASE_AI_SECOND", pawn("e2"), pawn("e5"), "send move before arena replies\nCannot move to e5"),
    ],
    ids=str,
)
async def test_the_reason_for_a_flip_at_quoridor_has_its_order_and_words(
    server: Server, case: str, first: Any, second: Any, reason: str
) -> None:
    """In turn, before the rival's first move, and before the rival's reply (quoridor.md, A7)."""
    (battle,) = await server.order(case, game="quoridor")
    server.arena.pause.pause()  # the rival does not reply to a legal move
    for action in filter(None, (first, second)):
        assert (await server.post(f"/quoridor/play/{battle}", action)).status_code == 200
    server.arena.pause.play()
    await (await server.listen(battle, "quoridor")).rest()
    assert (await server.view(battle, "quoridor"))["flippedReason"] == reason


@pytest.mark.parametrize(
    ("case", "first", "second", "reason"),
    [
        ("AB_AI_FIRST", None, pawn("e8"), "Not your turn"),
        ("AB_AI_SECOND", pawn("e2"), pawn("e3"), "send move before arena replies"),
    ],
    ids=["before its first move", "before its reply"],
)
async def test_a_move_while_the_rival_thinks_is_judged_before_the_rivals_move(
    server: Server, case: str, first: Any, second: Any, reason: str
) -> None:
    (battle,) = await server.order(case, game="quoridor")
    client = server.arena.battles[battle].client
    with trio.fail_after(20):
        async with trio.open_nursery() as nursery, THINKING:  # the rival wants to think and cannot begin
            events = await server.listen(battle, "quoridor")
            side = (await events.next())["youAre"]
            if first is not None:
                await server.post(f"/quoridor/play/{battle}", first)
                assert await events.next() == {"player": side, **first}
            while not THINKING.statistics().tasks_waiting:
                await trio.sleep(0.01)
            nursery.start_soon(server.post, f"/quoridor/play/{battle}", second)
            while not client.spoke:
                await trio.sleep(0.01)
    rival = "second" if side == "first" else "first"
    assert await events.rest() == [{"player": side, **second}, {"player": rival, "action": FLIP}]
    assert (await server.view(battle, "quoridor"))["flippedReason"] == reason


async def test_a_client_that_posts_at_its_greeting_is_never_too_soon(server: Server) -> None:
    """The client has not moved yet, so the rival owes no reply, whether it thinks or moves at once."""
    reasons = []
    for number, case in enumerate(("AB_AI_FIRST", "BASE_AI_FIRST") * 8):
        (battle,) = await server.order(case, run=str(number), game="quoridor")
        events = await server.listen(battle, "quoridor")
        assert await events.next() == {"youAre": "second", "id": battle}
        await server.post(f"/quoridor/play/{battle}", pawn("e8"))
        shown = await events.next()
        if shown == {"player": "second", **pawn("e8")}:
            assert await events.rest() == [{"player": "first", "action": FLIP}]
        else:  # the rival's move was on its way to the client before the client's move was here
            assert shown["player"] == "first"
            assert await events.next() == {"player": "second", **pawn("e8")}
        reasons.append((await server.view(battle, "quoridor")).get("flippedReason"))
    assert set(reasons) <= {"Not your turn", None}


async def test_a_client_that_posts_before_another_clients_first_move_is_out_of_turn() -> None:
    first, second = ArenaSeat("one", Terms()), ArenaSeat("two", Terms())
    seats = {Entrant(client.ident, (client.ident,), Path(), SERVICE.name): client for client in (first, second)}
    game = registry.game("quoridor")
    match = Match(game, tuple(seats), 1, game.options(), game.time)

    async def listen(client: ArenaSeat) -> None:
        async def send(line: bytes) -> float:
            return stall_clock.now()

        await client.stream(send)

    async def post_in_order() -> None:
        while not first.totals.calls:  # the first player is asked
            await trio.sleep(0.01)
        nursery.start_soon(second.post, pawn("e8"), stall_clock.now())
        while not first.events.lines:  # the move is shown
            await trio.sleep(0.01)
        await first.post({"action": FLIP}, stall_clock.now())

    with trio.fail_after(20):
        async with (
            open_roster(Limits(), make_seat=lambda entrant, limits: seats[entrant]) as roster,
            trio.open_nursery() as nursery,
        ):
            nursery.start_soon(listen, first)
            nursery.start_soon(listen, second)
            nursery.start_soon(post_in_order)
            verdict = await play(match, roster)
    assert verdict.result.reason == "FLIPPED: Not your turn"


async def test_a_form_with_plain_text_is_an_unknown_action(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_O")
    events = await server.listen(battle)
    await events.next(), await events.next()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    broken = await server.play(battle, None, data="{no json", headers={"Content-Type": "application/json"})
    assert broken.status_code == 400, "no move"
    assert (await server.play(battle, None, data="some text", headers=form)).status_code == 200
    assert await events.rest() == [{"player": "X", "some text": ""}, {"player": "O", "action": FLIP}]
    assert (await server.view(battle))["flippedReason"] == "unknown action type"
    ended = await server.play(battle, put("C"))
    assert (ended.status_code, ended.json()) == (423, {"error": "Battle already ended"})
    again = await server.listen(battle)
    assert await again.rest() == [{"youAre": "X", "id": battle}], "also when all is over"


async def test_an_array_is_an_unknown_action_and_a_lone_value_is_refused(server: Server) -> None:
    """Unknown actions get 200 and are judged (C3). The original's parser accepted only arrays and objects."""
    (battle,) = await server.order("BASE_AI_X")
    events = await server.listen(battle)
    await events.next()
    headers = {"Content-Type": "application/json"}
    for body in ("1", "null", "true", '"putSymbol"'):
        answer = await server.play(battle, None, data=body, headers=headers)
        assert (answer.status_code, answer.json()) == (400, {"error": "the body is JSON, but not an object"}), body
    assert (await server.play(battle, ["putSymbol", {"position": "C"}])).status_code == 200
    echo = {"player": "O", "0": "putSymbol", "1": {"position": "C"}}
    assert await events.rest() == [echo, {"player": "X", "action": FLIP}]
    assert (await server.view(battle))["flippedReason"] == "unknown action type"


async def test_the_alias_of_the_flip_is_an_unknown_action_over_http(server: Server) -> None:
    """The alias is for standard input and output (A4). It is echoed as it was sent."""
    for case, reason in (
        ("BASE_AI_X", "unknown action type"),
        ("C_AI_X_FIRST", "unknown action type\nYou should have flipped the table now"),
        ("BASE_AI_O", "unknown action type\nNot your turn"),
    ):
        (battle,) = await server.order(case, run=case)
        me, rival = ("X", "O") if case == "BASE_AI_O" else ("O", "X")
        if me == "X":  # out of turn, before the rival's first move
            assert (await server.play(battle, {"action": "flipTable"})).status_code == 200
        events = await server.listen(battle)
        await events.next()
        if case == "C_AI_X_FIRST":
            assert await events.next() == {"player": "X", **put("NW")}
        if me == "O":
            assert (await server.play(battle, {"action": "flipTable"})).status_code == 200
        assert await events.next() == {"player": me, "action": "flipTable"}
        assert await events.rest() == [{"player": rival, "action": FLIP}]
        view = await server.view(battle)
        assert (view["flippedReason"], view["score"]) == (reason, 0)
        assert verify(Replay(server.arena.settings.replays / f"tic-tac-toe-{battle}.jsonl")) is not None  # type: ignore[operator]


@pytest.mark.parametrize("server", [{"compat": "original"}, {"compat": "seed"}], indirect=True, ids=str)
async def test_a_move_before_the_start_is_free_and_earns_the_increment(server: Server) -> None:
    """No event was sent, so no clock runs (C4); the increment is kept."""
    (battle,) = await server.order("BASE_AI_X")
    assert (await server.play(battle, put("C"))).json()["clock"] == 20_000
    events = await server.listen(battle)
    assert await events.next() == {"youAre": "O", "id": battle}
    while (await server.view(battle))["clock"] != 20_000 or len(server.arena.battles[battle].client.events.lines) < 2:
        await trio.sleep(0.01)
    left_ms = (await server.play(battle, put("E"))).json()["clock"]
    assert 20_000 < left_ms <= 22_000


async def test_members_of_a_body_never_change_who_the_players_are(server: Server) -> None:
    """Members of events have no meaning in an answer: it is echoed with them and judged without."""
    (battle,) = await server.order("BASE_AI_X")
    events = await server.listen(battle)
    await events.next()
    odd = {"action": "putSymbol", "position": "N", "youAre": "X", "winner": "X", "id": "1", "player": "X"}
    assert (await server.play(battle, odd)).status_code == 200
    assert await events.next() == {**odd, "player": "O"}
    assert await events.next() == {"player": "X", **put("NW")}
    assert (await server.view(battle))["externalPlayer"] == "O"


async def test_the_score_is_known_when_the_last_event_is_sent(server: Server) -> None:
    """Even while another stream is open, which the battle's end waits for."""
    (battle,) = await server.order("BASE_AI_X")
    events = await server.listen(battle)
    await events.next()
    with server.arena.battles[battle].client.events.listening():
        await server.play(battle, {})
        assert await events.rest() == [{"player": "O"}, {"player": "X", "action": FLIP}]
        assert (await server.view(battle))["score"] == 0


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"{'action': 1}", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"{", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (b"hello", "Expecting value: line 1 column 1 (char 0)"),
        (b"\xff", "it is not UTF-8"),
        (b"\xef\xbb\xbf{}", "it starts with a byte order mark"),
        (
            b'{"a": NaN}',
            "it contains NaN, Infinity, a number out of range, a lone surrogate, or too many levels",
        ),
        (
            b'{"a": ' + b"[" * 9000 + b"]" * 9000 + b"}",
            "it contains NaN, Infinity, a number out of range, a lone surrogate, or too many levels",
        ),
    ],
)
async def test_invalid_json_is_refused_with_the_reason(server: Server, body: bytes, why: str) -> None:
    """The messages for bots would speak of lines and standard output."""
    (battle,) = await server.order("BASE_AI_X")
    headers = {"Content-Type": "application/json"}
    answer = await server.play(battle, None, data=body, headers=headers)
    assert (answer.status_code, answer.json()) == (400, {"error": f"the body is not a JSON object: {why}"})


async def test_connect_four_has_its_own_address_and_words(server: Server) -> None:
    """The original's example of a win; then an invalid column, after which the cheat flips."""
    (battle,) = await server.order("BASE_AI_R", game="connect4")
    events = await server.listen(battle, "connect4")
    assert await events.next() == {"youAre": "🟡", "id": battle}
    for column in "CCACC":
        assert await events.next() == {"player": "🔴", "action": "putToken", "column": "A"}
        await server.post(f"/connect4/play/{battle}", {"action": "putToken", "column": column})
        assert await events.next() == {"player": "🟡", "action": "putToken", "column": column}
    assert await events.rest() == [{"winner": "🟡"}]
    view = await server.view(battle, "connect4")
    assert (view["result"], view["score"], view["externalPlayer"]) == ("YELLOW_WIN", 10, "🟡")
    (battle,) = await server.order("C_AI_Y_FIRST", run="second", game="connect4")
    events = await server.listen(battle, "connect4")
    assert await events.next() == {"youAre": "🔴", "id": battle}
    assert await events.next() == {"player": "🟡", "action": "putToken", "column": "D"}
    await server.post(f"/connect4/play/{battle}", {"action": "putToken", "column": "H"})
    *_, flip = await events.rest()
    assert flip == {"player": "🟡", "action": FLIP}
    view = await server.view(battle, "connect4")
    assert view["flippedReason"] == "H is not a valid column\nYou should have flipped the table now"


async def test_a_move_is_judged_even_if_no_stream_is_open(server: Server) -> None:
    battles = await server.order()
    for battle in battles:
        assert (await server.play(battle, {"action": FLIP})).status_code == 200
    report = await server.report()
    assert report["score"] == 0
    views = [await server.view(battle) for battle in battles]
    assert {view["flippedReason"] for view in views[1:2]} == {"You are not supposed to flip the table now"}
    assert views[0]["flippedReason"] == "You are not supposed to flip the table now\nNot your turn"


async def test_starting_again_is_a_fault_only_after_a_move(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_X")
    first, second = await server.listen(battle), await server.listen(battle)
    assert await first.next() == await second.next() == {"youAre": "O", "id": battle}
    await server.play(battle, put("C"))
    assert [await first.next(), await first.next()] == [await second.next(), await second.next()]
    third = await server.listen(battle)
    assert await third.rest() == [{"youAre": "O", "id": battle}, {"player": "X", "action": FLIP}]
    view = await server.view(battle)
    assert (view["flippedReason"], view["score"]) == ("game already started", 0)
    assert verify(Replay(server.arena.settings.replays / f"tic-tac-toe-{battle}.jsonl")) is not None  # type: ignore[operator]


async def test_a_head_request_does_not_start_the_battle(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_O")
    head = await in_thread(partial(requests.head, f"{server.url}/tic-tac-toe/start/{battle}", timeout=5))
    assert (head.status_code, head.headers["Content-Type"]) == (200, "text/event-stream")
    assert (await server.view(battle))["moves"] == []
    events = await server.listen(battle)
    assert [await events.next(), await events.next()] == [
        {"youAre": "X", "id": battle},
        {"player": "O", **put("NW")},
    ]


@original
async def test_in_original_mode_the_winner_is_in_capitals_and_the_first_move_is_free(server: Server) -> None:
    (battle,) = await server.order("AB_AI_X")
    heard = await in_thread(LIBRARIES["requests"], f"{server.url}/tic-tac-toe", battle)
    assert heard[-1] == {"winner": "DRAW"}
    (battle,) = await server.order("AB_AI_X", run="again")
    events = await server.listen(battle)
    await events.next()
    await trio.sleep(0.3)
    assert (await server.play(battle, put("C"))).json()["clock"] == 20_000


@in_test
async def test_in_test_mode_requests_set_the_time(server: Server) -> None:
    now = 1_700_000_000_000

    def at(ms: int) -> dict[str, str]:
        return {"X-Referee-Now": str(now + ms)}

    async def sweep(battle: str, ms: int) -> Any:
        return (await server.post(f"/test/sweep/tic-tac-toe/{battle}", headers=at(ms))).json()

    await server.post("/test/resume", headers=at(0))
    (battle,) = await server.order("BASE_AI_O")
    assert await sweep(battle, 299_999) == {}
    assert await sweep(battle, 300_000) == {battle: "didnt start game with 300000"}
    while "score" not in (view := await server.view(battle)):
        await trio.sleep(0.01)
    assert (view["clock"], view["flippedReason"], view["score"]) == (18_000, "didnt start game with 300000", 0)

    await server.post("/test/resume", headers=at(0))
    (battle,) = await server.order("BASE_AI_O", run="second")
    events = await server.listen(battle)
    await events.next(), await events.next()
    assert (await server.play(battle, put("C"), headers=at(18_000))).json()["clock"] == 2_000, "exactly 0 is in time"
    await events.next(), await events.next()
    assert (await server.play(battle, put("SE"), headers=at(20_001))).json()["clock"] == -1
    assert await events.rest() == [{"player": "X", **put("SE")}, {"player": "O", "action": FLIP}]
    assert (await server.view(battle))["flippedReason"] == "You ran out of time"

    (battle,) = await server.order("BASE_AI_O", run="third")
    events = await server.listen(battle)
    await events.next(), await events.next()
    assert await sweep(battle, 20_001 + 18_000) == {}
    assert await sweep(battle, 20_001 + 18_001) == {battle: "You ran out of time"}
    assert await events.rest() == [{"player": "O", "action": FLIP}]
    assert (await server.view(battle))["clock"] == 18_000, "left as it was"


@in_test
async def test_the_reason_for_a_late_move_names_an_invalid_position_first(server: Server) -> None:
    """An invalid position comes before the clock, everything else after it (A4)."""
    now = 1_700_000_000_000
    for action, reason in (
        (put("A"), "A is not a valid position\nYou ran out of time"),
        ({"action": "putSymbol"}, "undefined is not a valid position\nYou ran out of time"),
        (put("NW"), "You ran out of time"),
        ({"action": "pass"}, "You ran out of time"),
        ({"action": FLIP}, "You ran out of time"),
    ):
        await server.post("/test/resume", headers={"X-Referee-Now": str(now)})
        (battle,) = await server.order("BASE_AI_O", run=str(action))
        events = await server.listen(battle)
        await events.next(), await events.next()
        await server.play(battle, action, headers={"X-Referee-Now": str(now + 18_001)})
        assert await events.rest() == [{"player": "X", **action}, {"player": "O", "action": FLIP}]
        assert (await server.view(battle))["flippedReason"] == reason
        assert verify(Replay(server.arena.settings.replays / f"tic-tac-toe-{battle}.jsonl")) is not None  # type: ignore[operator]


@in_test_by_the_document
async def test_no_clock_runs_before_the_first_start(server: Server) -> None:
    now = 1_700_000_000_000

    async def sweep(battle: str, ms: int) -> Any:
        headers = {"X-Referee-Now": str(now + ms)}
        return (await server.post(f"/test/sweep/tic-tac-toe/{battle}", headers=headers)).json()

    await server.post("/test/resume", headers={"X-Referee-Now": str(now)})
    (battle,) = await server.order("BASE_AI_X")
    assert await sweep(battle, 18_001) == {}
    assert await sweep(battle, 299_999) == {}
    assert await sweep(battle, 300_000) == {battle: "didnt start game with 300000"}


@in_test_by_the_document
async def test_a_sweep_gives_the_same_reason_as_the_battles_record(server: Server) -> None:
    """A started battle without a move is over by either limit; the first one counts."""
    now = 1_700_000_000_000
    await server.post("/test/resume", headers={"X-Referee-Now": str(now)})
    (battle,) = await server.order("BASE_AI_X")
    events = await server.listen(battle)
    await events.next()
    swept = await server.post(f"/test/sweep/tic-tac-toe/{battle}", headers={"X-Referee-Now": str(now + 300_000)})
    assert swept.json() == {battle: "didnt start game with 300000"}
    assert await events.rest() == [{"player": "X", "action": FLIP}]
    assert (await server.view(battle))["flippedReason"] == "didnt start game with 300000"


@in_test_by_the_document
@pytest.mark.parametrize("spent_ms", [4_402, 7_097, 15_986, 16_234])
async def test_a_move_with_exactly_nothing_left_is_in_time(server: Server, spent_ms: int) -> None:
    now = 1_700_000_000_000

    def at(ms: int) -> dict[str, str]:
        return {"X-Referee-Now": str(now + ms)}

    await server.post("/test/resume", headers=at(0))
    (battle,) = await server.order("BASE_AI_O")
    events = await server.listen(battle)
    await events.next(), await events.next()
    first = await server.play(battle, put("C"), headers=at(spent_ms))
    assert first.json()["clock"] == 18_000 - spent_ms + 2_000
    await events.next(), await events.next()
    second = await server.play(battle, put("NE"), headers=at(20_000))
    assert second.json()["clock"] == 2_000
    await events.next(), await events.next()
    third = await server.play(battle, put("SW"), headers=at(20_500))
    assert third.json()["clock"] == 2_000 - 500 + 2_000, "the increment was given to keep"


async def test_without_test_mode_requests_cannot_set_the_time(server: Server) -> None:
    for path in ("/test/sweep/tic-tac-toe/x", "/test/pause", "/test/resume"):
        assert (await server.post(path)).status_code == 404
    (battle,) = await server.order("BASE_AI_X")
    await server.play(battle, put("C"), headers={"X-Referee-Now": "1"})
    assert server.arena.terms.real


async def test_a_team_that_refuses_or_cannot_be_reached_ends_the_run(server: Server) -> None:
    server.coordinate(server.team.url)
    with team(lambda url, battle: None, lambda: "", status=503) as refusing:
        for url in (refusing.url, "http://127.0.0.1:9"):
            told = {"runId": url, "teamUrl": url, "callbackUrl": f"{server.team.url}/callback"}
            answer = (await server.post("/quoridor/evaluate", told)).json()
            assert len(answer["battleIds"]) == 13
            (error,) = set(answer["errors"].values())
            assert error.startswith(f"{url}/quoridor: ")
            assert await in_thread(server.team.reported.wait, 30)
            server.team.reported.clear()
    assert [(report["score"], token) for report, token in server.team.reports] == [(0, "ours")] * 2
    assert server.team.reports[0][0]["message"].endswith("/quoridor: answered with status 503")


async def test_a_run_that_is_ordered_again_while_it_is_played_is_reported_once(server: Server) -> None:
    (first,) = await server.order("BASE_AI_X")
    (second,) = await server.order("BASE_AI_X")
    while "score" not in await server.view(first):
        await trio.sleep(0.01)
    await server.play(second, {"action": FLIP})
    report = await server.report()
    assert report["message"] == f"{second}: You are not supposed to flip the table now"
    await trio.sleep(0.1)
    assert len(server.team.reports) == 1


async def test_a_cancelled_battle_is_reported_as_broken_off(server: Server) -> None:
    (battle,) = await server.order("BASE_AI_X")
    server.arena.battles[battle].scope.cancel()
    assert (await server.report())["message"] == f"{battle}: the battle was broken off"


COORDINATORS = [
    ("http://127.0.0.1:{port}", "ours"),
    ("http://127.0.0.1:{port}/", "ours"),
    ("HTTP://127.0.0.1:{port}/callback", "ours"),
    ("http://127.0.0.1:{port}/call", None),
    ("http://127.0.0.1:{port}/callback/more", None),
    ("http://localhost:{port}", None),
    ("http://127.0.0.1:1", None),
    ("https://127.0.0.1:{port}", None),
    (None, None),
]


@pytest.mark.parametrize(("coordinator", "token"), COORDINATORS)
async def test_only_the_coordinator_gets_our_token(server: Server, coordinator: str | None, token: str | None) -> None:
    if coordinator is not None:
        server.coordinate(coordinator.format(port=server.team.url.rpartition(":")[2]))
    (battle,) = await server.order("BASE_AI_X")
    server.arena.battles[battle].scope.cancel()
    await server.report()
    assert server.team.reports[0][1] == token


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("http://c/a", True),
        ("http://c:80/a/b?run=1", True),
        ("http://c/ab", False),
        ("http://c/a/../b", False),
        ("http://c/a/%2e%2e/b", False),
        ("http://c/a\\..\\b", False),
        ("http://c@d/a", False),
        ("http://c\\@d/a", False),
        ("http://u:p@c/a", False),
        ("http://c.d/a", False),
        ("http://c:81/a", False),
        ("http://\0/a", False),
    ],
)
async def test_the_coordinator_is_an_address_and_all_below_it(url: str, inside: bool) -> None:
    assert Coordinator("http://C/a").has(url) is inside


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize("origin", ["http://evil.example", "https://evil.example:8080", "null", "http://127.0.0.1:1"])
async def test_a_foreign_page_orders_nothing(server: Server, origin: str) -> None:
    """A browser sends a form without asking first."""
    body = f"runId=r&teamUrl={server.team.url}&callbackUrl={server.team.url}/callback"
    for kind in (FORM, "text/plain", "application/json"):
        for path in ("evaluate", "tryout"):
            headers = {"Content-Type": kind, "Origin": origin}
            answer = await server.post(f"/tic-tac-toe/{path}", None, data=body, headers=headers)
            assert (answer.status_code, answer.json()["error"]) == (
                403,
                "pages of another origin may not send requests here",
            )
    assert server.arena.runs == {}
    own = {"Content-Type": FORM, "Origin": server.url}
    assert (await server.post("/tic-tac-toe/evaluate", None, data=body, headers=own)).status_code == 200
    (battle,) = await server.order("BASE_AI_X", "other")
    assert (await server.play(battle, put("C"), headers={"Origin": origin})).status_code == 200, "any page may play"


async def test_a_team_whose_name_or_port_cannot_be_looked_up_is_an_error_of_its_run(server: Server) -> None:
    server.arena.settings = Settings(allow=frozenset({"*"}))
    for url in (f"http://{'x' * 70}.example", "http://a..b", f"http://{'é' * 70}", "http://%"):
        told = {"runId": url, "teamUrl": url, "callbackUrl": url}
        answer = await server.post("/tic-tac-toe/evaluate", told)
        assert answer.status_code == 400 or answer.json()["errors"], url
    for url in ("http://a:0", "http://a:99999", "http://a:-1", "http:///x"):
        assert (await server.post("/tic-tac-toe/evaluate", {**told, "teamUrl": url})).status_code == 400, url


async def test_only_allowed_hosts_are_called(server: Server) -> None:
    for url in (
        "http://example.org",
        "http://169.254.169.254/x",
        "file:///etc/passwd",
        "http://u:p@127.0.0.1",
        "x",
        "http://[::",
    ):
        for told in (
            {"teamUrl": url, "callbackUrl": server.team.url},
            {"teamUrl": server.team.url, "callbackUrl": url},
        ):
            answer = await server.post("/tic-tac-toe/evaluate", {"runId": "r", **told})
            assert answer.status_code == 400, url
    assert server.team.battles == []


async def test_a_team_can_test_itself(server: Server) -> None:
    with team(LIBRARIES["requests"], lambda: server.url) as strong:
        answer = (await server.post("/tic-tac-toe/tryout", {"teamUrl": strong.url})).json()
        assert answer["errors"] == {}
        with trio.fail_after(30):
            while "message" in (result := (await in_thread(requests.get, answer["resultUrl"])).json()):
                assert result == {"message": "no result yet"}
                await trio.sleep(0.05)
    assert sorted(result.values()) == ["scored 20"] * 4 + ["scored 4"] * 5
    assert strong.reports == []
