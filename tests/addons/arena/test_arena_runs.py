"""The Arena's server with real clients: whole evaluations, every client library, every fault of part C.

All tests share the servers: one for each set of options. Each test orders battles of its own.
"""

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests
import trio
from arena_servers import Server, at, until
from needs import needs
from noughts import FLIP
from serving import in_a_thread
from teams import LIBRARIES, team

from referee.addons.arena import runs
from referee.addons.arena.arena_routes import open_arena
from referee.addons.arena.arena_seat import ArenaSeat, Terms
from referee.addons.arena.judge import JUDGE_PLANS
from referee.addons.arena.kind import SERVICE
from referee.addons.arena.runs import Arena, Run, Settings, games, path_of
from referee.addons.web.serving.builtin_rivals import THINKING
from referee.games import registry
from referee.games.arena import Battle
from referee.games.contract import Setup
from referee.games.dice import Dice
from referee.harness.match.match import Match, play
from referee.harness.process import stall_clock
from referee.harness.process.limits import Limits
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.simulate import verify
from referee.harness.seats.roster import open_roster

pytestmark = pytest.mark.slow

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"compat": "original"},
    {"compat": "original", "test": True},
    {"compat": "seed", "test": True},
)


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Server]]:
    """A server for each set of options."""
    with ExitStack() as running:
        found = []
        for options in OPTIONS:
            start = partial(open_arena, "127.0.0.1:0", Settings(), **options)
            address, arena, inside = running.enter_context(in_a_thread(start))
            found.append(Server(f"http://{address}"))
            found[-1].arena, found[-1].inside = arena, inside
        yield found


@pytest.fixture
def server(
    request: pytest.FixtureRequest, servers: list[Server], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    found = servers[OPTIONS.index(getattr(request, "param", {}))]
    found.replays = tmp_path_factory.getbasetemp()
    found.arena.settings = Settings(callback_token="ours", replays=found.replays, seed=5)
    with team(lambda url, battle: None, lambda: "") as found.team:
        yield found


def with_options(number: int) -> pytest.MarkDecorator:
    """Runs a test with the server of these options."""
    return pytest.mark.parametrize("server", [OPTIONS[number]], indirect=True, ids=[str(number)])


original, in_test, in_test_by_the_document = map(with_options, (1, 2, 3))


def put(cell: str) -> dict[str, str]:
    return {"action": "putSymbol", "position": cell}


def pawn(square: str) -> dict[str, str]:
    return {"action": "move", "position": square}


def wall(name: str) -> dict[str, str]:
    return {"action": "putWall", "position": name}


# Whole runs.


def test_a_team_that_plays_well_and_replies_afterwards_gets_all_points(server: Server) -> None:
    with team(LIBRARIES["requests"], lambda: server.url, waits=True) as server.team:
        server.coordinate(server.team.url)
        battles = server.order()
        report = server.report()
    assert report["score"] == 100, [server.view(battle) for battle in battles]
    assert report["message"] == "\n".join(
        f"{battle}: scored {20 if number < 4 else 4}" for number, battle in enumerate(battles)
    )
    assert server.team.reports == [(report, "ours")], "the coordinator is called once, with our token"
    assert sorted(server.team.battles) == sorted(battles)
    assert all(verify(server.replay(battle)) is not None for battle in battles)
    views = [server.view(battle) for battle in battles]
    assert [view["caseType"] for view in views[:2]] == ["BASE_AI_O", "BASE_AI_X"]
    assert [view["result"] for view in views[4:]] == ["FLIPPED"] * 5


def test_a_team_that_replies_at_once_can_test_itself(server: Server) -> None:
    with team(LIBRARIES["requests"], lambda: server.url) as strong:
        answer = server.post("/tic-tac-toe/tryout", {"teamUrl": strong.url}).json()
        assert answer["errors"] == {}
        while "message" in (result := requests.get(answer["resultUrl"], timeout=30).json()):
            assert result == {"message": "no result yet"}
            time.sleep(0.05)
    assert sorted(result.values()) == ["scored 20"] * 4 + ["scored 4"] * 5
    assert strong.reports == []


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_client_library_plays_whole_battles(server: Server, library: str) -> None:
    for case in ("AB_AI_X", "C_AI_X_FIRST"):
        (battle,) = server.order(case)
        heard = LIBRARIES[library](f"{server.url}/tic-tac-toe", battle)
        assert heard[0] == {"youAre": "O", "id": battle}
        assert heard[-1] == ({"winner": "draw"} if case == "AB_AI_X" else {"player": "O", "action": FLIP})


@needs("npm")
def test_a_team_in_node_gets_all_points(server: Server, tmp_path: Path) -> None:
    """A second client, which was written from the description alone."""
    shutil.copytree(Path(__file__).parents[2] / "support" / "node", home := tmp_path / "node")
    if subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=home, timeout=120).returncode:
        pytest.skip("npm cannot install the team's packages here")
    with subprocess.Popen(["node", str(home / "team.mjs"), server.url], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            server.order(url=process.stdout.readline().strip())
            assert server.report()["score"] == 100
        finally:
            process.kill()


@pytest.mark.parametrize("name", [path_of(game) for game in games()])
def test_every_installed_arena_game_can_be_played(server: Server, name: str) -> None:
    """With random legal answers, against the first opponent of the game's run."""
    (battle, *others) = server.order(game=name)
    ordered = server.arena.battles[battle]
    course = JUDGE_PLANS[ordered.game.name]
    position = ordered.game.new(Setup(0, ("a", "b"), ordered.game.options(**course.options)))
    assert isinstance(position, Battle)
    dice, events = Dice(1), server.listen(battle, name)
    me = position.SIDES.index(events.next()["youAre"])
    while True:
        if me in position.awaited:
            legal = msgspec.to_builtins(position.sample(me, dice))
            assert server.play(battle, legal, name).status_code == 200
        event = events.next()
        if event is None or "winner" in event or "player" not in event:
            break
        answer = {key: value for key, value in event.items() if key != "player"}
        position.apply({position.SIDES.index(event["player"]): answer})
    view = until(lambda: "score" in (view := server.view(battle, name)) and view)
    assert view["result"] == "DRAW" or view["result"].endswith("_WIN")
    assert verify(server.replay(battle, name)) == position.result
    assert len(others) == len(course.cases) - 1


def test_connect_four_has_its_own_address_and_words(server: Server) -> None:
    """The original's example of a win; then an invalid column, after which the cheat flips."""
    (battle,) = server.order("BASE_AI_R", game="connect4")
    events = server.listen(battle, "connect4")
    assert events.next() == {"youAre": "🟡", "id": battle}
    for column in "CCACC":
        assert events.next() == {"player": "🔴", "action": "putToken", "column": "A"}
        server.play(battle, {"action": "putToken", "column": column}, "connect4")
        assert events.next() == {"player": "🟡", "action": "putToken", "column": column}
    assert events.rest() == [{"winner": "🟡"}]
    view = server.view(battle, "connect4")
    assert (view["result"], view["score"], view["externalPlayer"]) == ("YELLOW_WIN", 10, "🟡")
    battle, events = server.begin("C_AI_Y_FIRST", 2, "connect4")
    server.play(battle, {"action": "putToken", "column": "H"}, "connect4")
    assert events.rest()[-1] == {"player": "🟡", "action": FLIP}
    reason = server.view(battle, "connect4")["flippedReason"]
    assert reason == "H is not a valid column\nYou should have flipped the table now"


# Teams and coordinators.


def test_a_team_that_refuses_or_cannot_be_reached_ends_the_run(server: Server) -> None:
    server.coordinate(server.team.url)
    with team(lambda url, battle: None, lambda: "", status=503) as refusing:
        for url in (refusing.url, "http://127.0.0.1:9"):
            answer = server.evaluate(url, "quoridor").json()
            assert len(answer["battleIds"]) == 13
            (error,) = set(answer["errors"].values())
            assert error.startswith(f"{url}/quoridor: ")
            server.report()
            server.team.reported.clear()
    assert [(report["score"], token) for report, token in server.team.reports] == [(0, "ours")] * 2
    assert server.team.reports[0][0]["message"].endswith("/quoridor: answered with status 503")


@pytest.mark.parametrize("coordinator", ["http://127.0.0.1:1", None])
def test_only_the_coordinator_gets_our_token(server: Server, coordinator: str | None) -> None:
    """It gets one with the report of a whole run, above."""
    if coordinator is not None:
        server.coordinate(coordinator)
    (battle,) = server.order("BASE_AI_X")
    server.inside(server.arena.battles[battle].scope.cancel)
    assert server.report()["message"] == f"{battle}: the battle was broken off"
    assert server.team.reports[0][1] is None


# Runs that replace each other.


@pytest.mark.trio
async def test_the_number_of_kept_runs_is_limited_including_replaced_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "KEPT_RUNS", 2)
    arena = Arena(None, Terms(), Settings())  # type: ignore[arg-type]
    game, course = registry.game("tictactoe"), JUDGE_PLANS["tictactoe"]
    made = []
    for _ in range(6):
        run = Run("same", game, course, "", None, [arena._new_battle(game, course.cases[0])])
        arena._remember(run)
        made += run.battles
        for battle in made[:-1]:
            assert battle.scope.cancel_called
            battle.close(0)
    assert [battle.ident in arena.battles for battle in made] == [False] * 4 + [True] * 2
    assert len(arena.runs) == 2


def test_a_run_that_is_ordered_again_while_it_is_played_is_reported_once(server: Server) -> None:
    (first,) = server.order("BASE_AI_X", "same")
    (second,) = server.order("BASE_AI_X", "same")
    until(lambda: "score" in server.view(first))
    server.play(second, {"action": FLIP})
    assert server.report()["message"] == f"{second}: You are not supposed to flip the table now"
    time.sleep(0.1)
    assert len(server.team.reports) == 1


# Events and moves.


def test_each_event_is_one_chunk_and_the_head_is_sent_at_once(server: Server) -> None:
    (battle,) = server.order("BASE_AI_O")
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as raw:
        raw.settimeout(10)
        raw.sendall(f"GET /tic-tac-toe/start/{battle} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        received = b""
        while received.count(b"data: ") < 2:
            received += raw.recv(4096)
    head, _, chunks = received.partition(b"\r\n\r\n")
    assert b"text/event-stream" in head.lower() and b"access-control-allow-origin: *" in head.lower()
    greeting = b'data: {"youAre":"X","id":"%b"}\n\n' % battle.encode()
    move = b'data: {"player":"O","action":"putSymbol","position":"NW"}\n\n'
    assert chunks == b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in (greeting, move))


def test_a_move_is_echoed_and_answered_and_charged_to_the_clock(server: Server) -> None:
    (battle,) = server.order("BASE_AI_O")
    events = server.listen(battle)
    assert events.next() == {"youAre": "X", "id": battle}
    assert events.next() == {"player": "O", **put("NW")}
    answer = server.play(battle, put("C"))
    assert answer.status_code == 200 and answer.json()["message"] == "received your command"
    assert 18_000 < answer.json()["clock"] <= 20_000
    assert [events.next(), events.next()] == [{"player": "X", **put("C")}, {"player": "O", **put("N")}]
    assert server.view(battle)["clock"] == answer.json()["clock"]
    assert "result" not in server.view(battle), "what is not decided is absent"


EARLY = "send move before arena replies"
OWED = "You should have flipped the table now"
FORBIDDEN = "You are not supposed to flip the table now"


@pytest.mark.parametrize(
    ("game", "case", "first", "second", "reason"),
    [
        ("tic-tac-toe", "BASE_AI_X", put("N"), put("NE"), EARLY),
        ("tic-tac-toe", "BASE_AI_X", put("N"), {"action": FLIP}, f"{EARLY}\n{FORBIDDEN}"),
        ("quoridor", "BASE_AI_SECOND", None, {"something": "idk"}, "unknown action type"),
        ("quoridor", "BASE_AI_SECOND", None, {"action": FLIP}, FORBIDDEN),
        ("quoridor", "BASE_AI_SECOND", None, pawn("f9"), "Cannot move to f9"),
        ("quoridor", "BASE_AI_SECOND", None, pawn("e10"), "e10 is not a valid position"),
        ("quoridor", "BASE_AI_SECOND", None, {"action": "move"}, "undefined is not a valid position"),
        ("quoridor", "BASE_AI_SECOND", None, wall("f9v"), "Cannot put | wall at f9"),
        ("quoridor", "BASE_AI_SECOND", None, wall("i8h"), "Cannot put - wall at i8"),
        ("quoridor", "BASE_AI_FIRST", None, pawn("E2"), "Not your turn"),
        ("quoridor", "BASE_AI_FIRST", None, pawn("e8"), "Not your turn"),
        ("quoridor", "BASE_AI_FIRST", None, wall("e3h"), "Not your turn"),
        ("quoridor", "BASE_AI_FIRST", None, pawn("e5"), "Cannot move to e5\nNot your turn"),
        ("quoridor", "BASE_AI_FIRST", None, wall("a0h"), "a0h is not a valid position\nNot your turn"),
        ("quoridor", "BASE_AI_FIRST", None, {"something": "idk"}, "unknown action type\nNot your turn"),
        ("quoridor", "BASE_AI_FIRST", None, {"action": FLIP}, f"{FORBIDDEN}\nNot your turn"),
        ("quoridor", "BASE_AI_SECOND", pawn("e2"), pawn("e3"), EARLY),
        ("quoridor", "BASE_AI_SECOND", pawn("e2"), pawn("e8"), EARLY),
        ("quoridor", "BASE_AI_SECOND", pawn("e2"), pawn("e5"), f"{EARLY}\nCannot move to e5"),
    ],
    ids=str,
)  # fmt: skip
def test_the_reason_for_a_flip_has_its_order_and_words(
    server: Server, game: str, case: str, first: Any, second: Any, reason: str
) -> None:
    """In turn, before the rival's first move, and before the rival's reply (A7)."""
    (battle,) = server.order(case, game=game)
    server.inside(server.arena.pause.pause)  # the rival does not reply to a legal move
    for action in filter(None, (first, second)):
        assert server.play(battle, action, game).status_code == 200
    server.inside(server.arena.pause.play)
    _, *echoes, flip = server.listen(battle, game).rest()
    assert [{**echo, "player": ""} for echo in echoes] == [{**each, "player": ""} for each in (first, second) if each]
    assert flip["action"] == FLIP and flip["player"] != echoes[0]["player"]
    view = server.view(battle, game)
    assert (view["flippedReason"], view["flippedBy"], view["score"]) == (reason, flip["player"], 0)
    assert server.report()["score"] == 0


@pytest.mark.parametrize(
    ("case", "first", "second", "reason"),
    [("AB_AI_FIRST", None, pawn("e8"), "Not your turn"), ("AB_AI_SECOND", pawn("e2"), pawn("e3"), EARLY)],
    ids=["before its first move", "before its reply"],
)
def test_a_move_while_the_rival_thinks_is_judged_before_the_rivals_move(
    server: Server, case: str, first: Any, second: Any, reason: str
) -> None:
    (battle,) = server.order(case, game="quoridor")
    server.inside(THINKING.acquire_on_behalf_of_nowait, battle)  # the rival wants to think and cannot begin
    try:
        events = server.listen(battle, "quoridor")
        side = events.next()["youAre"]
        if first is not None:
            server.play(battle, first, "quoridor")
            assert events.next() == {"player": side, **first}
        until(lambda: THINKING.statistics().tasks_waiting)
        posting = threading.Thread(target=server.play, args=(battle, second, "quoridor"))
        posting.start()
        until(lambda: server.arena.battles[battle].client.spoke)
    finally:
        server.inside(THINKING.release_on_behalf_of, battle)
    posting.join(30)
    rival = "second" if side == "first" else "first"
    assert events.rest() == [{"player": side, **second}, {"player": rival, "action": FLIP}]
    assert server.view(battle, "quoridor")["flippedReason"] == reason


def test_a_client_that_posts_at_its_greeting_is_never_too_soon(server: Server) -> None:
    """The client has not moved yet, so the rival owes no reply, whether it thinks or moves at once."""
    for case in ("AB_AI_FIRST", "BASE_AI_FIRST") * 3:
        (battle,) = server.order(case, game="quoridor")
        events = server.listen(battle, "quoridor")
        assert events.next() == {"youAre": "second", "id": battle}
        server.play(battle, pawn("e8"), "quoridor")
        shown = events.next()
        if shown["player"] == "first":  # the rival's move was on its way before the client's move was here
            shown = events.next()
        assert shown == {"player": "second", **pawn("e8")}
        assert not server.view(battle, "quoridor").get("flippedReason", "").startswith(EARLY)
        server.inside(server.arena.battles[battle].scope.cancel)


@pytest.mark.trio
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


UNKNOWN = "unknown action type"
ODD = {"action": "putSymbol", "position": "N", "youAre": "X", "winner": "X", "id": "1", "player": "X"}


@pytest.mark.parametrize(
    ("case", "body", "echo", "reason"),
    [
        ("BASE_AI_X", {"data": "some text", "headers": FORM}, {"some text": ""}, UNKNOWN),
        ("BASE_AI_X", {"json": ["a", {"b": "C"}]}, {"0": "a", "1": {"b": "C"}}, UNKNOWN),
        ("BASE_AI_X", {"json": {"action": "flipTable"}}, {"action": "flipTable"}, UNKNOWN),
        ("C_AI_X_FIRST", {"json": {"action": "flipTable"}}, {"action": "flipTable"}, f"{UNKNOWN}\n{OWED}"),
        ("BASE_AI_O", {"json": {"action": "flipTable"}}, {"action": "flipTable"}, f"{UNKNOWN}\nNot your turn"),
        ("BASE_AI_X", {"json": {"a": [{"é": []}], "player": 1, "": 10**9}}, {"a": [{"é": []}], "": 10**9}, UNKNOWN),
    ],
    ids=["a form with plain text", "an array", "a flip", "a flip that is due", "a flip out of turn", "strange JSON"],
)  # fmt: skip
def test_an_unknown_action_is_echoed_as_it_was_sent_and_judged(
    server: Server, case: str, body: dict[str, Any], echo: dict[str, Any], reason: str
) -> None:
    """Unknown actions get 200 (C3). `flipTable` is the flip's alias for standard input and output alone (A4)."""
    (battle,) = server.order(case)
    me, rival = ("X", "O") if case == "BASE_AI_O" else ("O", "X")
    answers = [server.play(battle, None, **body)] if me == "X" else []  # out of turn, before the rival's first move
    events = server.listen(battle)
    assert events.next() == {"youAre": me, "id": battle}
    if case == "C_AI_X_FIRST":
        assert events.next() == {"player": "X", **put("NW")}
    answers += [] if answers else [server.play(battle, None, **body)]
    assert answers[0].status_code == 200
    assert events.rest() == [{**echo, "player": me}, {"player": rival, "action": FLIP}]
    view = server.view(battle)
    assert (view["flippedReason"], view["score"]) == (reason, 0)
    assert verify(server.replay(battle)) is not None
    ended = server.play(battle, put("C"))
    assert (ended.status_code, ended.json()) == (423, {"error": "Battle already ended"})
    assert server.listen(battle).rest() == [{"youAre": me, "id": battle}], "also when all is over"


def test_invalid_json_and_lone_values_are_no_move(server: Server) -> None:
    """The messages for bots would speak of lines and standard output."""
    (battle,) = server.order("BASE_AI_X")
    values = "NaN, Infinity, a number out of range, a lone surrogate, or too many levels"
    quotes = "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"
    wrong = [
        (b"{'action': 1}", quotes),
        (b"{", quotes),
        (b"hello", "Expecting value: line 1 column 1 (char 0)"),
        (b"\xff", "it is not UTF-8"),
        (b"\xef\xbb\xbf{}", "it starts with a byte order mark"),
        (b'{"a": NaN}', f"it contains {values}"),
        (b'{"a": ' + b"[" * 9000 + b"]" * 9000 + b"}", f"it contains {values}"),
    ]
    errors = {body: f"the body is not a JSON object: {why}" for body, why in wrong}
    errors |= dict.fromkeys((b"1", b"null", b"true", b'"putSymbol"'), "the body is JSON, but not an object")
    for body, error in errors.items():
        answer = server.play(battle, None, data=body, headers=JSON)
        assert (answer.status_code, answer.json()) == (400, {"error": error})


def test_members_of_a_body_never_change_who_the_players_are(server: Server) -> None:
    """Members of events have no meaning in an answer: it is echoed with them and judged without."""
    battle, events = server.begin("BASE_AI_X")
    assert server.play(battle, ODD).status_code == 200
    assert events.next() == {**ODD, "player": "O"}
    assert events.next() == {"player": "X", **put("NW")}
    assert server.view(battle)["externalPlayer"] == "O"


def test_the_score_is_known_when_the_last_event_is_sent(server: Server) -> None:
    """Even while another stream is open, which the battle's end waits for."""
    battle, events = server.begin("BASE_AI_X")
    another = server.arena.battles[battle].client.events.listening()
    server.inside(another.__enter__)
    server.play(battle, {})
    assert events.rest() == [{"player": "O"}, {"player": "X", "action": FLIP}]
    assert server.view(battle)["score"] == 0
    server.inside(another.__exit__, None, None, None)


def test_moves_are_judged_even_if_no_stream_is_open(server: Server) -> None:
    battles = server.order()
    for battle in battles:
        assert server.play(battle, {"action": FLIP}).status_code == 200
    assert server.report()["score"] == 0
    reasons = [server.view(battle)["flippedReason"] for battle in battles[:2]]
    assert reasons == [f"{FORBIDDEN}\nNot your turn", FORBIDDEN]


def test_starting_again_is_a_fault_only_after_a_move(server: Server) -> None:
    (battle,) = server.order("BASE_AI_X")
    first, second = server.listen(battle), server.listen(battle)
    assert first.next() == second.next() == {"youAre": "O", "id": battle}
    server.play(battle, put("C"))
    assert [first.next(), first.next()] == [second.next(), second.next()]
    assert server.listen(battle).rest() == [{"youAre": "O", "id": battle}, {"player": "X", "action": FLIP}]
    view = server.view(battle)
    assert (view["flippedReason"], view["score"]) == ("game already started", 0)
    assert verify(server.replay(battle)) is not None


def test_a_head_request_does_not_start_the_battle(server: Server) -> None:
    (battle,) = server.order("BASE_AI_O")
    head = requests.head(f"{server.url}/tic-tac-toe/start/{battle}", timeout=5)
    assert (head.status_code, head.headers["Content-Type"]) == (200, "text/event-stream")
    assert server.view(battle)["moves"] == []
    events = server.listen(battle)
    assert [events.next(), events.next()] == [{"youAre": "X", "id": battle}, {"player": "O", **put("NW")}]


# Clocks.


@pytest.mark.parametrize("server", OPTIONS[:2], indirect=True, ids=str)
def test_a_move_before_the_start_is_free_and_earns_the_increment(server: Server) -> None:
    """No event was sent, so no clock runs (C4); the increment is kept."""
    (battle,) = server.order("BASE_AI_X")
    assert server.play(battle, put("C")).json()["clock"] == 20_000
    events = server.listen(battle)
    assert events.next() == {"youAre": "O", "id": battle}
    until(lambda: server.view(battle)["clock"] == 20_000)
    until(lambda: len(server.arena.battles[battle].client.events.lines) >= 2)
    assert 20_000 < server.play(battle, put("E")).json()["clock"] <= 22_000


@original
def test_in_original_mode_the_winner_is_in_capitals_and_the_first_move_is_free(server: Server) -> None:
    (battle,) = server.order("AB_AI_X")
    assert LIBRARIES["requests"](f"{server.url}/tic-tac-toe", battle)[-1] == {"winner": "DRAW"}
    battle, _ = server.begin("AB_AI_X")
    time.sleep(0.3)
    assert server.play(battle, put("C")).json()["clock"] == 20_000


@in_test
def test_in_test_mode_requests_set_the_time(server: Server) -> None:
    server.post("/test/resume", **at(0))
    (battle,) = server.order("BASE_AI_O")
    assert server.sweep(battle, 299_999) == {}
    assert server.sweep(battle, 300_000) == {battle: "didnt start game with 300000"}
    view = until(lambda: "score" in (view := server.view(battle)) and view)
    assert (view["clock"], view["flippedReason"], view["score"]) == (18_000, "didnt start game with 300000", 0)

    server.post("/test/resume", **at(0))
    battle, events = server.begin("BASE_AI_O", 2)
    assert server.play(battle, put("C"), **at(18_000)).json()["clock"] == 2_000, "exactly 0 is in time"
    events.next(), events.next()
    assert server.play(battle, put("SE"), **at(20_001)).json()["clock"] == -1
    assert events.rest() == [{"player": "X", **put("SE")}, {"player": "O", "action": FLIP}]
    assert server.view(battle)["flippedReason"] == "You ran out of time"

    battle, events = server.begin("BASE_AI_O", 2)
    assert server.sweep(battle, 20_001 + 18_000) == {}
    assert server.sweep(battle, 20_001 + 18_001) == {battle: "You ran out of time"}
    assert events.rest() == [{"player": "O", "action": FLIP}]
    assert server.view(battle)["clock"] == 18_000, "left as it was"


@in_test
def test_the_reason_for_a_late_move_names_an_invalid_position_first(server: Server) -> None:
    """An invalid position comes before the clock, everything else after it (A4)."""
    for action, reason in (
        (put("A"), "A is not a valid position\nYou ran out of time"),
        ({"action": "putSymbol"}, "undefined is not a valid position\nYou ran out of time"),
        (put("NW"), "You ran out of time"),
        ({"action": "pass"}, "You ran out of time"),
        ({"action": FLIP}, "You ran out of time"),
    ):
        server.post("/test/resume", **at(0))
        battle, events = server.begin("BASE_AI_O", 2)
        server.play(battle, action, **at(18_001))
        assert events.rest() == [{"player": "X", **action}, {"player": "O", "action": FLIP}]
        assert server.view(battle)["flippedReason"] == reason
        assert verify(server.replay(battle)) is not None


@in_test_by_the_document
def test_no_clock_runs_before_the_first_start_and_a_sweep_gives_the_first_reason(server: Server) -> None:
    """A started battle without a move is over by either limit; the first one counts."""
    server.post("/test/resume", **at(0))
    (battle,) = server.order("BASE_AI_X")
    assert [server.sweep(battle, ms) for ms in (18_001, 299_999)] == [{}, {}]
    assert server.sweep(battle, 300_000) == {battle: "didnt start game with 300000"}
    server.post("/test/resume", **at(0))
    battle, events = server.begin("BASE_AI_X")
    assert server.sweep(battle, 300_000) == {battle: "didnt start game with 300000"}
    assert events.rest() == [{"player": "X", "action": FLIP}]
    assert server.view(battle)["flippedReason"] == "didnt start game with 300000"


@in_test_by_the_document
@pytest.mark.parametrize("spent_ms", [4_402, 7_097, 15_986, 16_234])
def test_a_move_with_exactly_nothing_left_is_in_time(server: Server, spent_ms: int) -> None:
    server.post("/test/resume", **at(0))
    battle, events = server.begin("BASE_AI_O", 2)
    for cell, ms, left_ms in (
        ("C", spent_ms, 18_000 - spent_ms + 2_000),
        ("NE", 20_000, 2_000),
        ("SW", 20_500, 2_000 - 500 + 2_000),  # the increment was given to keep
    ):
        assert server.play(battle, put(cell), **at(ms)).json()["clock"] == left_ms
        events.next(), events.next()


def test_without_test_mode_requests_cannot_set_the_time(server: Server) -> None:
    for path in ("/test/sweep/tic-tac-toe/x", "/test/pause", "/test/resume"):
        assert server.post(path).status_code == 404
    (battle,) = server.order("BASE_AI_X")
    server.play(battle, put("C"), **at(1))
    assert server.arena.terms.real
