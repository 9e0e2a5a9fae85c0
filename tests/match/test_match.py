"""Whole matches: the frames and their order, the process that plays each match, and the replay."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from scripted import Arena

from referee.games import registry
from referee.games.contract import Call, Event, FaultKind, Result, State, draw
from referee.games.dice import derive_seed
from referee.games.game import TimeControl
from referee.harness.common.errors import RunError
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import play
from referee.harness.match.series import Outcome, Series, match_of, play_series
from referee.harness.process.limits import Limits
from referee.harness.process.stall_clock import STALL_AFTER_S
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.replay.writer import MemoryReplayWriter
from referee.harness.seats.roster import open_roster
from referee.protocol.messages import Encoding

pytestmark = pytest.mark.trio

O_WINS = ("NW", "W", "SW")
X_LOSES = ("C", "E")

AGAIN = """
pids = open(sys.argv[1] + ".pids", "a")
def match_after_match(cells, **hello):
    while (message := read())["method"] != "exit":
        if message["method"] == "initialize":
            left = list(cells)
            print(os.getpid(), file=pids, flush=True)
            answer(message, hello)
        elif message["method"] == "play":
            answer(message, cell(left.pop(0)))
"""
"""A bot that can play several matches, and writes down its process id."""


AT_SEAT = AGAIN.replace("list(cells)", 'list(cells[message["params"]["seat"]])')
"""The same, with cells for each seat."""


def again(arena: Arena, name: str, cells: Sequence[str], reuse: bool) -> Entrant:
    return arena.bot(AGAIN + f"match_after_match({cells}, reuse={reuse})", str(arena.folder / name), name=name)


def pids(arena: Arena, name: str) -> list[str]:
    return (arena.folder / f"{name}.pids").read_text().split()


async def series(arena: Arena, *entrants: Entrant, games: int, swap: bool = False) -> Outcome:
    return await play_series(Series(arena.match(*entrants), games, swap), Limits(isolation=OFF))


@pytest.mark.slow
@pytest.mark.parametrize("busy_s", [0.02, 1.3 * STALL_AFTER_S])
async def test_other_tasks_get_a_turn_even_if_every_answer_is_there_at_once(arena: Arena, busy_s: float) -> None:
    """Such tasks read usage and signals. Here the recorder is so slow that every answer is there at once, and that the
    stall clock stops."""

    busy = waited = longest = 0

    class Slow(MemoryReplayWriter):
        def idle(self) -> None:
            nonlocal busy, waited, longest
            time.sleep(busy_s)
            busy, waited = busy + 1, waited + 1
            longest = max(longest, waited)

    async def others() -> None:
        nonlocal waited
        while True:
            await trio.sleep(0.001)
            waited = 0

    async with open_roster(Limits(isolation=OFF)) as roster, trio.open_nursery() as nursery:
        nursery.start_soon(others)
        for number in range(4):
            bots = again(arena, f"o{number}", O_WINS, reuse=False), again(arena, f"x{number}", X_LOSES, reuse=False)
            await play(arena.match(*bots), roster, recorder=Slow())
        nursery.cancel_scope.cancel()
    assert busy >= 8 and longest <= 2, "the order of waiting tasks is random"


# The frames.


async def test_a_bot_gets_the_frames_of_a_match_in_order(arena: Arena) -> None:
    ours = arena.listener("greet(); put('NW'); put('W'); put('SW'); call()", "ours")
    theirs = arena.listener("greet(); put('C'); put('E'); call()", "theirs")
    verdict = await arena.play(arena.match(ours, theirs))
    assert (verdict.result.ranks, verdict.result.reason, verdict.turns) == ((1, 2), "O_WIN", 5)
    moves = [
        {"player": "OX"[n % 2], "action": "putSymbol", "position": c} for n, c in enumerate(("NW", "C", "W", "E", "SW"))
    ]
    assert _said(arena.heard("ours")) == [
        *["initialize", {"youAre": "O"}, "play", *moves[:2], "play", *moves[2:4], "play"],
        *[moves[4], {"winner": "O"}, "exit"],
    ]
    calls = [(frame["id"], frame["method"]) for frame in arena.heard("ours") if "id" in frame]
    assert calls == [(0, "initialize"), (1, "play"), (2, "play"), (3, "play")], "notices have no number"
    assert _said(arena.heard("theirs")) == [
        *["initialize", {"youAre": "X"}, moves[0], "play", *moves[1:3], "play", *moves[3:]],
        *[{"winner": "O"}, "exit"],
    ]


def _said(frames: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Returns calls by name, and events by their members."""
    return [
        {key: value for key, value in frame["params"].items() if key != "id"}
        if frame["method"] == "event"
        else frame["method"]
        for frame in frames
    ]


async def test_the_greeting_has_game_seat_options_and_limits(arena: Arena) -> None:
    bots = [arena.listener("greet(); put('SE'); call()", name) for name in ("ours", "theirs")]
    match = arena.match(*bots, time=TimeControl(18.0, 2.0), flip="auto", encodings=(Encoding.JSON,))
    await arena.play(match, Limits(startup_s=3.0, memory_bytes=64 << 20, cpu_s=2.5))
    for seat, name in enumerate(("ours", "theirs")):
        initialize = arena.heard(name)[0]["params"]
        limits = initialize.pop("limits")  # the rest: test_limits_told.py
        assert (
            limits.items()
            >= {
                "startup_ms": 3000,
                "call_ms": None,
                "initial_ms": 18000,
                "increment_ms": 2000,
                "cpu_ms": 2500,
                "memory_bytes": 64 << 20,
            }.items()
        )
        assert initialize == {
            "protocol": 1,
            "game": "tictactoe",
            "options": {"flip": "auto", "opening": 0},
            "seat": seat,
            "names": ["ours", "theirs"],
            "encodings": ["json"],
            "seed": initialize["seed"],
        }


async def test_every_seat_has_a_different_seed_that_does_not_reveal_the_matchs(arena: Arena) -> None:
    bots = [arena.listener("greet(); put('SE'); call()", name) for name in ("ours", "theirs")]
    await arena.play(arena.match(*bots, seed=31415926535))
    seeds = [arena.heard(name)[0]["params"]["seed"] for name in ("ours", "theirs")]
    assert seeds == [derive_seed(31415926535, "seat", 0), derive_seed(31415926535, "seat", 1)]
    assert seeds[0] != seeds[1]
    for name in ("ours", "theirs"):
        assert b"31415926535" not in (arena.folder / f"{name}.heard").read_bytes()


async def test_every_call_shows_the_clock(arena: Arena) -> None:
    ours = arena.listener("greet(); put('NW'); put('W'); put('SW'); call()", "ours")
    rival = arena.bot("greet(); put('C'); put('E'); call()", name="rival")
    await arena.play(arena.match(ours, rival, time=TimeControl(18.0, 2.0, per_call_s=19.0)))
    clocks = [frame["params"]["clock"] for frame in arena.heard("ours") if frame["method"] == "play"]
    assert clocks[0] == {"call_ms": 19000, "remaining_ms": 18000, "last_ms": None}, "each limit apart"
    # What the first call took was less than the increment: so the bank has grown.
    assert 19000 < clocks[1]["remaining_ms"] <= 20000
    assert clocks[1]["call_ms"] == 19000
    assert clocks[1]["remaining_ms"] + clocks[1]["last_ms"] == pytest.approx(20000, abs=1)


async def test_calls_in_the_opening_have_a_limit_of_their_own(arena: Arena) -> None:
    """aiarena21.md, section 9: 30 s on the turns 0, 1 and 2, afterwards 2 s."""
    ours = arena.listener("greet()\nwhile True: answer(call(), '')", "ours")
    rival = arena.bot("greet()\nwhile True: answer(call(), '')", name="rival")
    time = registry.game("aiarena21").time
    await arena.play(arena.match(ours, rival, game="aiarena21", turns=5, time=time))
    limits = [frame["params"]["clock"]["call_ms"] for frame in arena.heard("ours") if frame["method"] == "play_powerup"]
    assert limits == [30000, 30000, 30000, 2000, 2000]


@pytest.mark.parametrize("game", ["tictactoe", "reantics"])
async def test_random_bots_play_the_same_in_either_encoding(arena: Arena, game: str) -> None:
    """Each bot picks the first encoding that it is offered; the two seats need not agree."""
    options = {"draw_after": 20} if game == "reantics" else {}
    played = []
    for encodings in (["json", "json"], ["msgpack", "msgpack"], ["json", "msgpack"]):
        match = arena.match(*map(_speaking, encodings), game=game, **options)
        verdict = await arena.play(match, granted_s=10.0)
        assert [seat.encoding for seat in verdict.seats] == encodings
        assert [seat.program for seat in verdict.seats] == ["random", "random"]
        assert verdict.faults == ()
        played.append((verdict.result, verdict.turns))
    assert len({*played}) == 1


def _speaking(encoding: str) -> Entrant:
    """`@random`, knowing one encoding only."""
    random = entrant("@random")
    program = (
        "import referee.protocol.connection as c; from referee.protocol.messages import Encoding\n"
        "pick = c.BotConnection.choose_encoding\n"
        f"c.BotConnection.choose_encoding = lambda wire, offered: pick(wire, offered, [Encoding('{encoding}')])\n"
        "from referee.harness.opponents import random, _serve; _serve.serve('random', random.GAMES)"
    )
    return msgspec.structs.replace(random, name=encoding, argv=(random.argv[0], "-c", program))


# Several calls at once.


async def test_all_seats_of_a_turn_are_asked_at_once(arena: Arena) -> None:
    """Each bot answers only after it has seen that the other was asked too."""
    pipes = [arena.folder / "first", arena.folder / "second"]
    for pipe in pipes:
        os.mkfifo(pipe)
    meet = [f"open({str(pipes[0])!r}, 'w').close(); open({str(pipes[1])!r}).read()"]
    meet.append(f"open({str(pipes[0])!r}).read(); open({str(pipes[1])!r}, 'w').close()")
    bots = [
        arena.bot(f"greet(); asked = call(); {meet[seat]}; answer(asked, '{throw}'); call()", name=f"bot{seat}")
        for seat, throw in enumerate(("rock", "scissors"))
    ]
    verdict = await arena.play(arena.match(*bots, game="rounds", rounds=1))
    assert verdict.result.scores == (1.0, 0.0)
    assert [fault.method for fault in verdict.faults] == ["over", "over"], "they left before the closing call"


async def test_a_late_answer_is_dropped_and_counted_but_is_no_further_fault(arena: Arena) -> None:
    """The bot answers its first call after it has read the second, so that the first answer is late."""
    late = "greet(); first = call(); second = call(); answer(first, 'rock'); answer(second, 'rock')\nthrow('rock'); "
    rival = "greet(); throw('paper'); throw('scissors'); throw('scissors'); answer(call(), None); call()"
    match = arena.match(
        arena.bot(late + "answer(call(), None); call()"),
        arena.bot(rival, name="rival"),
        game="rounds",
        time=TimeControl(per_call_s=0.4),
    )
    verdict = await arena.play(match, granted_s=0.4)
    assert [(fault.player, fault.kind, fault.turn) for fault in verdict.faults] == [(0, FaultKind.TIMEOUT, 1)]
    assert verdict.result.scores == (1.0, 0.0), "two rounds against one"
    assert [seat.late_answers for seat in verdict.seats] == [1, 0]


@pytest.mark.parametrize(
    ("then", "kind"),
    [
        ("sys.exit(1)", FaultKind.CRASH),
        ("write(b'hello\\n')", FaultKind.PROTOCOL),
        ("write(frame(first['id'], result='rock')[:-1] + frame(second['id'], result='rock'))", FaultKind.PROTOCOL),
    ],
    ids=["crash", "protocol", "no end of line"],
)
async def test_a_bot_that_owes_an_answer_and_fails_at_the_next_has_both_faults(
    arena: Arena, then: str, kind: FaultKind
) -> None:
    match = arena.match(
        arena.bot(f"greet(); first = call(); second = call(); {then}; signal.pause()"),
        arena.bot("greet()\nfor _ in range(3): throw('rock')\nanswer(call(), None); call()", name="rival"),
        game="rounds",
        time=TimeControl(per_call_s=0.4),
    )
    verdict = await arena.play(match, granted_s=0.4)
    assert [(fault.kind, fault.turn) for fault in verdict.faults] == [(FaultKind.TIMEOUT, 1), (kind, 2)]
    assert verdict.result.ranks == (2, 1)


async def test_a_bot_that_crashed_loses_its_further_rounds_without_waiting(arena: Arena) -> None:
    match = arena.match(
        arena.bot("greet(); throw('rock'); sys.exit(1)"),
        arena.bot("greet()\nfor _ in range(9): throw('scissors')\nanswer(call(), None); call()", name="rival"),
        game="rounds",
        rounds=9,
    )
    verdict = await arena.play(match)
    (fault,) = verdict.faults
    assert (fault.kind, fault.method, fault.turn) == (FaultKind.CRASH, "throw", 2), (
        "told once; the rest follows from it"
    )
    assert verdict.result.ranks == (2, 1)
    assert verdict.seats[1].calls == 10


# The start.


async def test_a_bot_that_fails_to_start_loses_and_the_other_is_notified(arena: Arena) -> None:
    ours = arena.listener("greet(); put('NW'); call()", "ours")
    verdict = await arena.play(arena.match(ours, arena.bot("sys.exit(9)", name="rival")))
    (fault,) = verdict.faults
    assert (fault.player, fault.kind, fault.detail) == (1, FaultKind.CRASH, "exited with code 9 before answering")
    assert verdict.result.ranks == (1, 2)
    assert arena.heard("ours")[-2]["params"] == {"winner": "O"}


async def test_when_both_fail_to_start_nobody_is_asked_and_nobody_wins(arena: Arena) -> None:
    verdict = await arena.play(arena.match(arena.bot("sys.exit(1)", name="a"), arena.bot("sys.exit(2)", name="b")))
    assert verdict.result.ranks == (1, 1)
    assert [(fault.player, fault.call, fault.method) for fault in verdict.faults] == [
        (0, 0, "initialize"),
        (1, 0, "initialize"),
    ]
    assert verdict.turns == 0


REFUSES = "write(frame(call()['id'], error={'code': -32602, 'message': 'only chess'})); call()"


@pytest.mark.parametrize("game", [*registry.names(), "rounds"])
async def test_a_bot_that_refuses_the_game_has_lost_before_the_first_call_and_is_never_asked(
    arena: Arena, game: str
) -> None:
    """In every game; the replay says so, and verifies."""
    seats = max(2, registry.game(game).seats.start)
    bots = [arena.listener(REFUSES, f"bot{seat}") for seat in range(seats)]
    verdict = await arena.play(arena.match(*bots, game=game))
    assert verdict.turns == 0
    assert [seat.calls for seat in verdict.seats] == [0] * seats
    assert [fault.method for fault in verdict.faults] == ["initialize"] * seats
    for seat in range(seats):
        assert [frame["method"] for frame in arena.heard(f"bot{seat}")] == ["initialize"]


@pytest.mark.parametrize("game", registry.names())
async def test_a_bot_that_greets_ranks_above_one_that_died_in_its_greeting(arena: Arena, game: str) -> None:
    seats = registry.game(game).seats.start
    match = arena.match(arena.bot("sys.exit(1)"), *[entrant("@random")] * (seats - 1), game=game)
    short = msgspec.structs.replace(match, time=msgspec.structs.replace(match.time, match_s=0.3))
    verdict = await arena.play(short, granted_s=3.0)
    assert verdict.result.ranks[0] == seats
    assert verdict.seats[0].calls == 0
    (fault,) = verdict.faults
    assert (fault.player, fault.kind, fault.method, fault.call) == (0, FaultKind.CRASH, "initialize", 0)


async def test_a_match_in_which_nobody_can_answer_any_more_ends_at_once(arena: Arena) -> None:
    """Even if the rules would go on: in `rounds` a fault costs only the round."""
    bots = [arena.bot(f"greet(); throw('rock'); sys.exit({code})", name=f"bot{code}") for code in (1, 2)]
    verdict = await arena.play(arena.match(*bots, game="rounds", rounds=100_000))
    assert verdict.turns <= 3
    assert {fault.kind for fault in verdict.faults} == {FaultKind.CRASH}
    assert verdict.result.ranks == (1, 1)


async def test_bots_start_side_by_side(arena: Arena) -> None:
    """Neither greets before the other has been started."""
    pipes = [arena.folder / "first", arena.folder / "second"]
    for pipe in pipes:
        os.mkfifo(pipe)
    first, second = (repr(str(pipe)) for pipe in pipes)
    ours = arena.bot(f"open({first}, 'w').close(); open({second}).read(); greet(); put('SE'); call()", name="ours")
    theirs = arena.bot(f"open({first}).read(); open({second}, 'w').close(); greet(); put('NW'); call()", name="theirs")
    verdict = await arena.play(arena.match(ours, theirs))
    assert not any(fault.detail.startswith("initialize") for fault in verdict.faults)
    assert verdict.seats[1].calls > 0


@pytest.mark.parametrize(("place", "why"), [("file/match.jsonl", "Not a directory"), ("/dev/full", "No space left")])
async def test_a_replay_that_cannot_be_written_fails_the_run_and_leaves_no_bot(
    arena: Arena, place: str, why: str
) -> None:
    bots = [arena.bot("greet(); put('NW'); put('W'); put('SW'); call()", name=name) for name in "ab"]
    (arena.folder / "file").write_text("")
    match = msgspec.structs.replace(arena.match(*bots), replay=arena.folder / place)
    with pytest.raises(RunError, match=rf"^the replay .*{place} cannot be written: .*{why}"):
        async with open_roster(Limits(isolation=OFF)) as roster:
            await play(match, roster)
    assert arena.alive() == []
    assert Path("/dev/full").is_char_device(), "and it is still there"


# The end.


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        ("sys.exit(3)", FaultKind.CRASH),
        ("call(); signal.pause()", FaultKind.TIMEOUT),
        ("call(); write(b'bye\\n'); signal.pause()", FaultKind.PROTOCOL),
        ("write(frame(call()['id'], error={'code': 1, 'message': 'no'})); call()", FaultKind.ERROR),
    ],
)
async def test_a_fault_in_a_closing_call_changes_nothing(arena: Arena, last: str, kind: FaultKind) -> None:
    winner = arena.bot(f"greet(); throw('rock'); {last}")
    loser = arena.listener("greet(); throw('scissors'); answer(call(), None); call()")
    verdict = await arena.play(arena.match(winner, loser, game="rounds", rounds=1), granted_s=0.5)
    assert verdict.result == Result((1, 2), (1.0, 0.0), "all rounds are played")
    (fault,) = verdict.faults
    assert (fault.player, fault.kind, fault.method, fault.penalty) == (0, kind, "over", "none")
    assert arena.heard()[-1]["method"] == "exit"


async def test_what_a_closing_call_answers_is_ignored(arena: Arena) -> None:
    bots = [arena.bot(f"greet(); throw('rock'); answer(call(), {a}); call()", name=f"bot{a}") for a in (5, "[True]")]
    verdict = await arena.play(arena.match(*bots, game="rounds", rounds=1))
    assert verdict.faults == ()


@pytest.mark.parametrize("game", ["tictactoe", "reantics", "rounds"])
async def test_a_match_whose_time_is_up_is_stopped_between_two_turns(arena: Arena, game: str) -> None:
    """The game's rules rank it. Closing calls are still made, and the replay says that it was stopped."""
    bots = [arena.listener("greet()\nwhile True: answer(call(), None)", name) for name in ("ours", "theirs")]
    verdict = await arena.play(arena.match(*bots, game=game, time=TimeControl(match_s=0.0)))
    assert verdict.result == draw("the time of the match is up")
    assert verdict.faults == ()
    closing = {"tictactoe": [], "reantics": ["registerWin"], "rounds": ["over"]}[game]
    assert [frame["method"] for frame in arena.heard("ours") if "id" in frame][1:] == closing


# Processes.


async def test_a_bot_plays_all_matches_in_one_process_if_it_allows_that(arena: Arena) -> None:
    ours, theirs = again(arena, "ours", O_WINS, reuse=False), again(arena, "theirs", X_LOSES, reuse=True)
    outcome = await series(arena, ours, theirs, games=3)
    assert [match.result.ranks for match in outcome.matches] == [(1, 2)] * 3
    assert [match.seats[1].calls for match in outcome.matches] == [2] * 3, "counted match by match"
    assert len(set(pids(arena, "ours"))) == len(pids(arena, "theirs")) == 3
    assert len(set(pids(arena, "theirs"))) == 1


async def test_a_bot_can_play_itself_and_keeps_both_processes(arena: Arena) -> None:
    body = AT_SEAT + f"match_after_match({(O_WINS, X_LOSES)}, reuse=True)"
    ours = arena.bot(body, str(arena.folder / "ours"), name="ours")
    await series(arena, ours, ours, games=3, swap=True)
    assert len(pids(arena, "ours")) == 6
    assert len(set(pids(arena, "ours"))) == 2


async def test_a_reused_bot_keeps_its_encoding(arena: Arena) -> None:
    outcome = await series(arena, _speaking("msgpack"), _speaking("json"), games=3)
    assert [[seat.encoding for seat in match.seats] for match in outcome.matches] == [["msgpack", "json"]] * 3
    assert not any(match.faults for match in outcome.matches)


async def test_after_a_fault_the_next_match_has_a_new_process(arena: Arena) -> None:
    """Even after a fault that leaves the process alive."""
    ours = again(arena, "ours", ("C", "E"), reuse=True)  # its first move is refused: the rival has taken the centre
    theirs = again(arena, "theirs", ("C", "E", "W"), reuse=True)
    outcome = await series(arena, theirs, ours, games=2)
    assert [[fault.kind for fault in match.faults if fault.player == 1] for match in outcome.matches] == [
        ["illegal"]
    ] * 2
    assert len(set(pids(arena, "ours"))) == 2


async def test_a_second_answer_to_the_last_call_is_a_recorded_fault_of_its_own_match(arena: Arena) -> None:
    twice = AGAIN.replace(
        "answer(message, cell(left.pop(0)))",
        "write(frame(message['id'], result=cell(left.pop(0))) * (1 if left else 2))",
    )
    ours = arena.bot(twice + f"match_after_match({O_WINS}, reuse=True)", str(arena.folder / "ours"), name="ours")
    outcome = await series(arena, ours, again(arena, "theirs", X_LOSES, reuse=True), games=2)
    for match in outcome.matches:
        assert match.result.ranks == (1, 2), "it changes nothing"
        (fault,) = match.faults
        assert (fault.player, fault.kind, fault.penalty) == (0, FaultKind.PROTOCOL, "none: the game was over")
        assert fault.method == "exit"
        assert fault.detail.startswith("a second answer to call 3: ")
    assert len(set(pids(arena, "ours"))) == 2, "it is not used again"


async def test_what_is_written_after_the_last_answer_belongs_to_that_match(arena: Arena) -> None:
    """At the notice about the winner, and at `exit`."""
    await _write_what_is_read(arena, games=3)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins nothing to a core")
async def test_what_a_bot_on_our_core_writes_last_belongs_to_that_match(arena: Arena) -> None:
    """It runs only when we do not, and may be stopped between reading the end of a match and writing."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        await _write_what_is_read(arena, games=12, first=f"os.sched_setaffinity(0, [{min(cores)}])\n", thinks=9000)
    finally:
        os.sched_setaffinity(0, cores)


async def _write_what_is_read(arena: Arena, games: int, first: str = "", thinks: int = 0) -> None:
    """Plays matches of bots that write the name of each message, after adding so many numbers."""
    write = f"sum(range({thinks})); os.write(2, message['method'].encode() + b'\\n')"
    heard = first + AGAIN.replace("        if message", f"        {write}\n        if message", 1)
    bots = [
        arena.bot(
            heard + f"match_after_match({cells}, reuse=True); os.write(2, b'bye\\n')",
            str(arena.folder / name),
            name=name,
        )
        for name, cells in (("ours", O_WINS), ("theirs", X_LOSES))
    ]
    outcome = await series(arena, *bots, games=games)
    for number, match in enumerate(outcome.matches, start=1):
        for seat in match.seats:
            assert seat.stderr is not None
            lines = Path(seat.stderr).read_text().split()
            assert lines[0] == "initialize"
            assert lines.count("initialize") == 1
            assert lines.count("event") == 7, "its symbol, five moves and the winner"
            assert lines[-1] == ("bye" if number == games else "event")


async def test_a_bot_that_dies_between_two_matches_crashes_in_the_second(arena: Arena) -> None:
    """Its greeting allowed reuse."""
    ours = arena.bot("greet(reuse=True); put('NW'); put('W'); put('SW'); read(); read(); sys.exit(8)", name="ours")
    theirs = again(arena, "theirs", X_LOSES, reuse=True)
    outcome = await series(arena, ours, theirs, games=2)
    assert outcome.matches[0].faults == ()
    (fault,) = outcome.matches[1].faults
    assert (fault.player, fault.kind) == (0, FaultKind.CRASH)
    assert fault.detail == "exited with code 8 before answering"


async def test_standard_error_between_two_matches_harms_nobody(arena: Arena) -> None:
    noisy = AGAIN.replace("while (message", "os.write(2, b'started\\n')\n    while (message", 1)
    noisy = noisy.replace(
        "            answer(message, cell", "            os.write(2, b'thinking\\n'); answer(message, cell"
    )
    noisy = noisy.replace('["method"] != "exit":', '["method"] != "exit":\n        os.write(2, b"heard\\n")')
    ours = arena.bot(noisy + f"match_after_match({O_WINS}, reuse=True)", str(arena.folder / "ours"), name="ours")
    outcome = await series(arena, ours, again(arena, "theirs", X_LOSES, reuse=True), games=4)
    assert len(set(pids(arena, "ours"))) == 1
    logs = [match.seats[0].stderr for match in outcome.matches]
    assert logs == [str(arena.folder / f"match-{number}.seat0.stderr") for number in range(1, 5)]
    assert all(Path(log).read_text().count("thinking") == 3 for log in logs if log)


# A series.


async def test_a_best_of_ends_with_the_win_that_decides_it(arena: Arena) -> None:
    """cardgame.md, section 10: best of N, first to N // 2 + 1; games that were not played count for nobody."""
    winner = arena.bot("while True:\n    greet(); put('NW'); put('W'); put('SW'); call()", name="winner")
    ours = arena.bot("greet(); sys.exit(1)", name="quits")
    plan = Series(arena.match(winner, ours, game="tictactoe"), games=9, swap=True, first_to=5)
    outcome = await play_series(plan, Limits(isolation=OFF))
    assert [line.wins for line in outcome.standings] == [5, 0]
    assert (len(outcome.matches), outcome.best_of) == (5, 9)
    assert len({verdict.replay for verdict in outcome.matches}) == 5


async def test_a_game_that_wants_it_has_new_processes_for_every_match(arena: Arena) -> None:
    """cardgame.md, section 10; even for bots that allow reuse."""
    body = "greet(reuse=True); print(os.getpid(), file=open('pids', 'a'))\nwhile True: answer(call(), [4, []])"
    ours = arena.bot(body, name="ours")
    await play_series(Series(arena.match(ours, ours, game="cardgame"), games=3), Limits(isolation=OFF))
    pids = (arena.folder / "pids").read_text().split()
    assert len(pids) == len(set(pids)) == 6


async def test_a_series_swaps_the_seats_and_draws_its_seeds_from_the_first(arena: Arena) -> None:
    plan = Series(arena.match(entrant("a=@random"), entrant("b=@random"), seed=5), games=3, swap=True)
    matches = [match_of(plan, number) for number in range(3)]
    assert [order for _, order in matches] == [(0, 1), (1, 0), (0, 1)]
    assert [[bot.name for bot in match.entrants] for match, _ in matches] == [["a", "b"], ["b", "a"], ["a", "b"]]
    assert [match.seed for match, _ in matches] == [5, derive_seed(5, "game", 1), derive_seed(5, "game", 2)]
    assert [match.replay and match.replay.name for match, _ in matches] == [f"match-{n}.jsonl" for n in (1, 2, 3)]


async def test_the_standings_follow_the_bots_over_both_seats(arena: Arena) -> None:
    """The first to move wins here."""
    body = AT_SEAT + f"match_after_match({(O_WINS, X_LOSES)}, reuse=True)"
    bots = [arena.bot(body, str(arena.folder / name), name=name) for name in ("a", "b")]
    outcome = await series(arena, *bots, games=3, swap=True)
    table = [(line.name, line.played, line.wins, line.losses, line.points) for line in outcome.standings]
    assert table == [("a", 3, 2, 1, 2.0), ("b", 3, 1, 2, 1.0)]


# The replay.


async def test_the_same_seed_gives_the_same_replay_except_for_times(arena: Arena) -> None:
    records = []
    for _ in range(2):
        match = arena.match(entrant("@random"), entrant("@random"), game="reantics", draw_after=10)
        await arena.play(match, granted_s=10.0)
        records.append([_untimed(line) for line in (arena.folder / "match.jsonl").read_text().splitlines()])
    assert records[0] == records[1]
    assert len(records[0]) > 10


def _untimed(line: str) -> Any:
    value = json.loads(line)
    for key in ("wall_us", "cpu_us", "waited_us", "seats", "faults"):
        value.pop(key, None)
    return value


async def test_the_watcher_is_called_after_every_turn(arena: Arena) -> None:
    told: list[tuple[str, list[int], str]] = []

    def watcher(state: State, calls: Sequence[Call], answers: Mapping[int, Any], events: Sequence[Event]) -> None:
        told.append((str(state), [call.player for call in calls], answers[calls[0].player]["position"]))

    bots = [arena.bot("greet(); put('NW'); put('W'); put('SW'); call()", name="a")]
    bots.append(arena.bot("greet(); put('C'); put('E'); call()", name="b"))
    async with open_roster(Limits(isolation=OFF)) as roster:
        await play(arena.match(*bots), roster, watcher)
    assert told[0] == ("O..\n...\n...", [0], "NW")
    assert told[4] == ("O..\nOXX\nO..", [0], "SW")


async def test_a_run_that_ends_as_soon_as_a_bot_was_started_leaves_no_bot(arena: Arena) -> None:
    """The tasks that watch the bot have not run yet."""
    async with open_roster(Limits(isolation=OFF)) as roster:
        await roster.take(arena.bot("greet(); call()"))
        assert arena.running() != []
    assert arena.alive() == []


async def test_a_cancelled_match_leaves_no_bot_and_a_replay_up_to_there(arena: Arena) -> None:
    asked = arena.folder / "asked"
    bots = [
        arena.bot(f"greet(); call(); open({str(asked)!r}, 'w'); signal.pause()", name="a"),
        arena.bot("greet(); call()"),
    ]
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            async def cancel() -> None:
                while not asked.exists():
                    await trio.sleep(0.001)
                scope.cancel()

            nursery.start_soon(cancel)
            await arena.play(arena.match(*bots))
    assert scope.cancelled_caught
    assert arena.alive() == []
    replay = Replay(arena.folder / "match.jsonl")
    assert len(replay.lines) == 3
    assert replay.ending is not None
    assert replay.ending.aborted == "ended from outside"
    assert verify(replay) is None
