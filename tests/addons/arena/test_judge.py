"""The test run of the Arena: its cases, what each pays, what the cheats do.

Rules: tictactoe.md, quoridor.md and connectfour.md, B2, B3.
"""

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio
from scripted import RIVAL, Arena

from referee.addons.arena.judge import JUDGE_PLANS, JudgeReport, judge
from referee.games.arena import FLIP
from referee.games.contract import Result
from referee.harness.cli.main import main
from referee.harness.common.errors import RunError, UsageError
from referee.harness.isolation.plan import OFF
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.programs.built_in import check_seats
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import CHEAT
from referee.harness.programs.spec import entrant
from referee.harness.replay.lines import Injection, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions, verify

pytestmark = pytest.mark.slow

ADVANCED = entrant("@advanced")
CASES = {
    "tictactoe": "BASE_AI_O BASE_AI_X AB_AI_O AB_AI_X C_AI_OUT_OF_BOUND C_AI_DUP C_AI_X_FIRST C_AI_TWICE_A_ROW "
    "C_AI_FLIP_TABLE_RANDOMLY",
    "quoridor": "BASE_AI_FIRST BASE_AI_SECOND AB_AI_FIRST AB_AI_SECOND C_AI_TELEPORT C_AI_SECOND_FIRST "
    "C_AI_TWICE_A_ROW C_AI_WALL_OUTSIDE C_AI_PAWN_OUTSIDE C_AI_WALL_CROSS C_AI_WALL_BLOCKING C_AI_WALK_THROUGH_WALL "
    "C_AI_PUT_11_WALLS",
    "connectfour": "BASE_AI_R BASE_AI_Y AB_AI_R AB_AI_Y C_AI_OUT_OF_BOUND C_AI_OVERFLOW C_AI_Y_FIRST C_AI_TWICE_A_ROW "
    "C_AI_FLIP_TABLE_RANDOMLY C_AI_NIL C_AI_SURPRISE",
}

PERFECT = """
import os, sys
from referee.harness.opponents import advanced
from referee.harness.opponents._follow import follow
from referee.harness.opponents._quoridor import best
from referee.harness.opponents._serve import serve

FLIP, MOVE = {"action": "flipTable"}, {"action": "putSymbol", "position": "C"}

def start(match):
    handle = follow({"quoridor": best, "tictactoe": advanced.perfect_cell}[match.game])(match)
    return lambda method, params: change(handle(method, params)) if method == "play" else handle(method, params)

"""


def perfect_but(folder: Path, change: str) -> Entrant:
    """Returns a bot that plays like `@advanced`, but answers `change(answer)`."""
    script = folder / "bot.py"
    script.write_text(
        f"{PERFECT}def change(answer):\n    {change}\n\nserve('x', dict.fromkeys(('quoridor', 'tictactoe'), start))\n"
    )
    return Entrant("bot", (sys.executable, str(script)), folder)


@pytest.fixture(scope="module")
def perfect(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[JudgeReport, Path]]:
    """Plays the whole test run of a game with `@advanced`, once, and returns its report and the folder of replays."""

    @cache
    def run(game: str) -> tuple[JudgeReport, Path]:
        folder = tmp_path_factory.mktemp(game)
        report = trio.run(judge, game, ADVANCED, 1, Limits(isolation=OFF), folder)
        for case in report.cases:
            assert verify(Replay(folder / f"{case.case}.jsonl")) == case.match.result
        assert report.points == sum(case.points for case in report.cases)
        return report, folder

    return run


def keep(monkeypatch: pytest.MonkeyPatch, game: str, *names: str) -> None:
    """Leaves only these cases in the test run of a game."""
    plan = JUDGE_PLANS[game]
    cases = tuple(case for case in plan.cases if case.name in names)
    assert len(cases) == len(names)
    monkeypatch.setitem(JUDGE_PLANS, game, msgspec.structs.replace(plan, cases=cases))  # type: ignore[arg-type]


# The run.


@pytest.mark.parametrize("game", sorted(CASES))
def test_the_cases_are_in_the_documents_order_and_pay_100_together(game: str) -> None:
    assert [case.name for case in JUDGE_PLANS[game].cases] == CASES[game].split()
    assert sum(case.points for case in JUDGE_PLANS[game].cases) == 100


@pytest.mark.parametrize(
    ("game", "missed"),
    [("tictactoe", ""), ("quoridor", "AB_AI_FIRST AB_AI_SECOND"), ("connectfour", "AB_AI_R AB_AI_Y")],
)
def test_a_strong_bot_that_notices_every_cheat_misses_points_against_a_strong_rival_alone(
    game: str, missed: str, perfect: Callable[[str], tuple[JudgeReport, Path]]
) -> None:
    report, folder = perfect(game)
    assert {case.case for case in report.cases if case.points < case.out_of} <= {*missed.split()}
    if game == "tictactoe":  # the seats are the bot's own, next to the case's
        assert report.points == 100 and [case.seat for case in report.cases] == [1, 0, 1, 0, 0, 0, 0, 1, 0]
    if game == "quoridor":
        header = Replay(folder / "AB_AI_FIRST.jsonl").header
        assert (header.setup.options.max_turns, header.time.initial_s, header.time.increment_s) == (40, 60.0, 2.0)


STILL = "return answer if 'position' in answer else"
FLIPPED = "lost after 2 turns: the table was flipped after bot's fault: {}"
NO_FLIP, WRONG_FLIP = "You should have flipped the table now", "You are not supposed to flip the table now"


@pytest.mark.trio
@pytest.mark.parametrize(
    ("game", "change", "paid", "why"),
    [
        ("tictactoe", f"{STILL} MOVE", {"BASE_AI_O": 20, "C_AI_DUP": 0}, FLIPPED.format(NO_FLIP)),
        ("tictactoe", "return FLIP if 'position' in answer else MOVE", {"BASE_AI_O": 0}, FLIPPED.format(WRONG_FLIP)),
        ("tictactoe", "return FLIP", {"BASE_AI_O": 0, "C_AI_X_FIRST": 4}, ""),
        ("tictactoe", "os._exit(3)", {"BASE_AI_O": 0}, "bot's fault: crashed; exited with code 3 before answering"),
        ("quoridor", f"{STILL} {{'action': 'move', 'position': 'e2'}}", {"C_AI_TELEPORT": 0}, NO_FLIP),
        ("quoridor", "return FLIP", {"C_AI_TELEPORT": 0, "C_AI_SECOND_FIRST": 2, "C_AI_WALL_OUTSIDE": 2}, ""),
    ],
    ids=["never flips", "flips without cause", "only flips", "crashes", "never flips a board", "only flips a board"],
)
async def test_a_bot_with_a_weakness_misses_the_points_of_it_and_no_others(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, game: str, change: str, paid: dict[str, int], why: str
) -> None:
    keep(monkeypatch, game, *paid)
    report = await judge(game, perfect_but(arena.folder, change), 1, Limits(isolation=OFF), arena.folder)
    assert arena.alive() == []
    assert {case.case: case.points for case in report.cases} == paid
    assert why in report.cases[-1].why


@pytest.mark.trio
async def test_a_failing_opponent_earns_the_bot_no_points(arena: Arena) -> None:
    """8 MiB are too few for any Python; the opponent has the first seat."""
    with pytest.raises(RunError, match=r"^@BASE_AI_O failed in seat 0: memory: "):
        await judge("tictactoe", ADVANCED, 1, Limits(memory_bytes=8 << 20, isolation=OFF))


# Points.


def ended(ranks: tuple[int, int], reason: str, turns: int) -> Verdict:
    return Verdict("quoridor", 1, Result(ranks, (0.0, 0.0), reason), (), (), turns, 0.0, None)


def test_a_lost_battle_against_advanced_pays_by_the_number_of_firsts_answers() -> None:
    table = {**dict.fromkeys(range(8), 0), **dict.fromkeys(range(8, 14), 1), **dict.fromkeys(range(14, 18), 3)}
    table |= dict.fromkeys(range(18, 22), 6)
    table |= dict(enumerate([10, 10, 11, 12, 13, 14, 15, 15, 16, 17, 18, 19, 20, 20, 21, 22, 23, 24, 25], start=22))
    case = next(case for case in JUDGE_PLANS["quoridor"].cases if case.name == "AB_AI_FIRST")
    for answers, paid in table.items():
        for plies in {max(0, 2 * answers - 1), 2 * answers}:
            assert case.pay(ended((1, 2), "FIRST_WIN", plies), 1, 25) == paid, plies
            assert case.pay(ended((1, 2), "FLIPPED: You ran out of time", plies), 1, 25) == 0
    assert case.pay(ended((2, 1), "SECOND_WIN", 16), 1, 25) == 25
    assert case.pay(ended((1, 1), "DRAW", 79), 1, 25) == 25


@pytest.mark.parametrize(
    ("case", "paid"),
    [("BASE_AI_O", (20, 0, 0, 0)), ("AB_AI_O", (20, 20, 0, 0)), ("C_AI_DUP", (4, 4, 4, 0))],
)
def test_a_win_a_draw_a_loss_and_a_flip_against_the_bot(case: str, paid: tuple[int, ...]) -> None:
    found = next(known for known in JUDGE_PLANS["tictactoe"].cases if known.name == case)
    endings = [((2, 1), "X_WIN"), ((1, 1), "DRAW"), ((1, 2), "O_WIN"), ((1, 2), "FLIPPED: unknown action type")]
    assert tuple(found.pay(ended(ranks, reason, 9), 1, found.points) for ranks, reason in endings) == paid


# The cheats.


def shown(folder: Path, case: str) -> list[tuple[str, Any]]:
    """Returns (player, position, column or action) of every move that was shown."""
    events = []
    for _, _, line in positions(Replay(folder / f"{case}.jsonl")):
        if isinstance(line, Turn | Injection):
            events += [event["params"] for event in line.events if event["event"] == "notice"]
    acts = [event for event in events if "player" in event]
    return [(event["player"], event.get("column", event.get("position", event["action"]))) for event in acts]


CHEATS = {
    "tictactoe": {
        "C_AI_OUT_OF_BOUND": [""],
        "C_AI_DUP": ["NW"],
        "C_AI_X_FIRST": ["NW"],
        "C_AI_TWICE_A_ROW": ["NW", "W", "N"],
        "C_AI_FLIP_TABLE_RANDOMLY": [FLIP],
    },
    "quoridor": {
        "C_AI_TELEPORT": ["e5"],
        "C_AI_SECOND_FIRST": ["e8"],
        "C_AI_TWICE_A_ROW": ["e8", "e7"],
        "C_AI_WALL_OUTSIDE": ["i4h"],
        "C_AI_PAWN_OUTSIDE": ["e10"],
        "C_AI_WALL_CROSS": ["e4h", "e4v"],
        "C_AI_WALK_THROUGH_WALL": ["e1h", "e2"],
    },
    "connectfour": {
        "C_AI_OUT_OF_BOUND": ["H"],
        "C_AI_OVERFLOW": ["D"] * 4,
        "C_AI_Y_FIRST": ["D"],
        "C_AI_TWICE_A_ROW": ["D"] * 3,
        "C_AI_FLIP_TABLE_RANDOMLY": [FLIP],
        "C_AI_NIL": ["putToken"],
        "C_AI_SURPRISE": ["SUPRISE! 😁"],
    },
}
"""What each cheat plays. Two at Quoridor wait for a chance, which `@random` gives them."""
SIDES = {"tictactoe": ("O", "X"), "quoridor": ("first", "second"), "connectfour": ("🔴", "🟡")}


@pytest.mark.parametrize("game", CHEATS)
def test_every_cheat_does_what_its_name_says_and_the_rival_flips(
    game: str, perfect: Callable[[str], tuple[JudgeReport, Path]]
) -> None:
    report, folder = perfect(game)
    waits = {"C_AI_WALL_BLOCKING", "C_AI_PUT_11_WALLS"}
    assert {case.case for case in report.cases if case.case.startswith("C_AI")} == CHEATS[game].keys() | (
        waits if game == "quoridor" else set()
    )
    for case in report.cases:
        if case.case in CHEATS[game]:
            me, rival = SIDES[game][case.seat], SIDES[game][1 - case.seat]
            events = shown(folder, case.case)
            assert [what for who, what in events if who == rival] == CHEATS[game][case.case], case.case
            assert events[-1] == (me, FLIP)


@pytest.mark.trio
async def test_twice_a_row_plays_e_then_n_when_the_player_is_on_w(arena: Arena) -> None:
    """The document's example."""
    rival = arena.bot("greet(); put('W'); throw({'action': 'flipTable'}); call()")
    verdict = await arena.play(arena.match(entrant("@C_AI_TWICE_A_ROW"), rival), granted_s=5.0)
    assert (verdict.result.ranks, verdict.result.reason) == ((2, 1), "FLIPPED: Not your turn")
    assert shown(arena.folder, "match")[2:] == [("O", "E"), ("O", "N"), ("X", FLIP)]


@pytest.mark.trio
async def test_the_eleventh_wall_and_the_wall_that_shuts_in_come_when_they_can(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a bot that only puts walls aside, both cheats get their chance."""
    keep(monkeypatch, "quoridor", "C_AI_WALL_BLOCKING", "C_AI_PUT_11_WALLS")
    judgement = await judge("quoridor", entrant("@random"), 3, Limits(isolation=OFF), arena.folder)
    reasons = {case.case: case.match.result.reason for case in judgement.cases}
    assert reasons["C_AI_PUT_11_WALLS"] == "FLIPPED: You have used up your walls"
    assert reasons["C_AI_WALL_BLOCKING"].startswith("FLIPPED: Cannot put ")
    events = shown(arena.folder, "C_AI_PUT_11_WALLS")
    assert [len(what) for who, what in events if who == "second"] == [3] * 11


@pytest.mark.trio
@pytest.mark.parametrize("case", ["C_AI_X_FIRST", "C_AI_DUP"])
async def test_where_the_referee_flips_a_cheat_loses_at_once(arena: Arena, case: str) -> None:
    match = arena.match(arena.bot("greet(); put('C'); call()"), entrant(f"@{case}"), flip="auto")
    verdict = await arena.play(match, granted_s=5.0)
    assert verdict.result.ranks == (1, 2)


# Acting out of turn.


@pytest.mark.trio
async def test_no_ordinary_bot_is_asked_for_a_cheat_or_can_answer_one(arena: Arena) -> None:
    bot = arena.bot("greet(); throw({'inject': [cell('NW')]}); call()")
    rival = arena.listener("greet(); throw({'action': 'flipTable'}); call()")
    verdict = await arena.play(arena.match(bot, rival))
    assert (verdict.result.ranks, verdict.result.reason) == ((2, 1), "FLIPPED: unknown action type")
    assert "inject" not in {frame["method"] for frame in arena.heard()}


@pytest.mark.trio
async def test_a_cheat_is_asked_before_every_turn_until_it_has_cheated(arena: Arena) -> None:
    body = "greet(); throw([]); throw([]); put('N'); throw([cell('NW')]); call()"
    cheat = msgspec.structs.replace(arena.listener(body, name="cheat"), kind=CHEAT.name)
    await arena.play(arena.match(arena.bot("greet(); put('C'); throw({'action': 'flipTable'}); call()"), cheat))
    methods = [frame["method"] for frame in arena.heard("cheat") if "id" in frame]
    assert methods == ["initialize", "inject", "inject", "play", "inject"]


@pytest.mark.trio
@pytest.mark.parametrize("body", ["throw({})", "throw('NW')", "os._exit(1)"])
async def test_a_cheat_that_fails_ends_the_run_and_charges_no_bot(arena: Arena, body: str) -> None:
    cheat = msgspec.structs.replace(arena.bot(f"greet(); {body}; call()", name="cheat"), kind=CHEAT.name)
    with pytest.raises(RunError, match=r"^cheat cannot act out of turn in tictactoe: "):
        await arena.play(arena.match(arena.bot(RIVAL, str(arena.folder / "heard"), name="rival"), cheat))


def test_an_impossible_injection_is_a_difference(
    perfect: Callable[[str], tuple[JudgeReport, Path]], tmp_path: Path
) -> None:
    lines = (perfect("tictactoe")[1] / "C_AI_X_FIRST.jsonl").read_bytes().splitlines()
    assert lines[2].startswith(b'{"inject":1,')
    changed = {
        lines[2].replace(b'"inject":1', b'"inject":7'): "line 3: there is no seat 7",
        lines[2] + b"\n" + lines[2]: "line 4: seat 1 cannot inject: the battle is over or a flip is due",
        lines[2].replace(b'"NW"', b'"SE"', 1): 'line 3: events .*"SE".* expected, .*"NW".* recorded',
    }
    for line, words in changed.items():
        path = tmp_path / "changed.jsonl"
        path.write_bytes(b"\n".join([*lines[:2], line, *lines[3:], b""]))
        with pytest.raises(Difference, match=words):
            verify(Replay(path))


# Seats.


@pytest.mark.parametrize(
    ("game", "specs", "swap", "words"),
    [
        (
            "tictactoe",
            ("bot", "@BASE_AI_O"),
            False,
            "@BASE_AI_O plays tictactoe at seat 0 only; it was named for seat 1",
        ),
        (
            "tictactoe",
            ("@BASE_AI_O", "bot"),
            True,
            "@BASE_AI_O plays tictactoe at seat 0 only; here it ",
        ),
        ("quoridor", ("A=@C_AI_TWICE_A_ROW", "bot"), False, "@C_AI_TWICE_A_ROW plays quoridor at seat 1 only"),
        ("tictactoe", ("@C_AI_TELEPORT", "bot"), False, "@C_AI_TELEPORT plays quoridor, not tictactoe"),
        (
            "reantics",
            ("bot", "@advanced"),
            False,
            "@advanced plays connectfour, quoridor, tictactoe, not reantics; there are @random, @forager, @raider$",
        ),
    ],
)
def test_a_seat_that_an_opponent_does_not_take_is_a_usage_error(
    game: str, specs: tuple[str, str], swap: bool, words: str
) -> None:
    with pytest.raises(UsageError, match=f"^{words}"):
        check_seats(specs, game, swap)


@pytest.mark.parametrize("specs", [("@C_AI_TWICE_A_ROW", "bot"), ("bot", "@BASE_AI_X"), ("@advanced", "@baseline")])
def test_a_seat_that_an_opponent_takes_is_accepted(specs: tuple[str, str]) -> None:
    check_seats(specs, "tictactoe")


# The command.


def judged(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(["judge", *argv])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_judge_prints_a_table_or_one_object_and_keeps_the_replays(
    arena: Arena, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(monkeypatch, "tictactoe", "BASE_AI_O", "C_AI_X_FIRST")
    monkeypatch.chdir(arena.folder)
    code, out, err = judged(capsys, "--game", "tictactoe", "Mine=@baseline", "--seed", "5")
    assert (code, err) == (0, "")
    title, columns, first, *_, total, replays = out.splitlines()
    assert title.rstrip() == "Tic-tac-toe: test run of Mine, seed 5"
    assert columns.split() == ["case", "seat", "points", "why"]
    assert first.split()[:5] == ["BASE_AI_O", "1", "0", "of", "20"]
    assert " lost after 4 turns: the rival has" in first, "in words, not O_WIN"
    assert "_WIN" not in out and "FLIPPED" not in out
    assert total.split()[0] == "sum" and total.split()[2:] == ["of", "24"]
    assert replays == "replays  replays/tictactoe-judged"
    assert len(list(Path(replays.split()[1]).glob("*.jsonl"))) == 2

    code, out, err = judged(capsys, "--game", "tictactoe", "@advanced", "--json", "--replay", "records")
    assert (code, err, out.count("\n")) == (0, "", 1)
    run = json.loads(out)
    assert (run["game"], run["name"], run["points"]) == ("tictactoe", "@advanced", 24)
    assert [case["case"] for case in run["cases"]] == ["BASE_AI_O", "C_AI_X_FIRST"]
    assert run["cases"][0]["match"]["result"]["reason"] == "X_WIN"
    assert {path.stem for path in Path("records").glob("*.jsonl")} == {"BASE_AI_O", "C_AI_X_FIRST"}

    before = sorted(Path().rglob("*"))
    code, out, err = judged(capsys, "--game", "tictactoe", "@advanced", "--replay", "none")
    assert (code, err) == (0, "") and out.splitlines()[-1].split()[0] == "sum"
    assert sorted(Path().rglob("*")) == before


@pytest.mark.parametrize(
    ("game", "bot", "words"),
    [
        ("reantics", "@random", "the games that have one are connectfour, quoridor, tictactoe"),
        ("chess", "@random", "chess"),
        ("tictactoe", "missing", "no bot at 'missing'"),
        ("tictactoe", "@C_AI_DUP", "@C_AI_DUP plays tictactoe at seat 1 only; here it would"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(
    capsys: pytest.CaptureFixture[str], game: str, bot: str, words: str
) -> None:
    code, out, err = judged(capsys, "--game", game, bot)
    assert (code, out) == (2, "") and words in err
