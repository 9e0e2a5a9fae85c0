"""Chaos changes the form of frames but not their meaning: a correct bot plays the same match."""

import json
from typing import Any

import msgspec
import pytest
from defects import bot
from scripted import HEARD, PREAMBLE, Arena

from referee.games.dice import Dice, derive_seed
from referee.games.game import TimeControl
from referee.harness.cli.main import main
from referee.harness.isolation.plan import OFF
from referee.harness.match.match import Match, play
from referee.harness.match.series import Series, match_of
from referee.harness.process.bot_process import BotProcess
from referee.harness.process.limits import Limits
from referee.harness.process.pipes import Pipes
from referee.harness.programs.spec import entrant
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import verify
from referee.harness.seats.chaos import CHAOS, Chaos, Manner, _cuts, _reordered
from referee.harness.seats.roster import MakePipes, open_roster
from referee.protocol.messages import Encoding

pytestmark = pytest.mark.slow

SERVE = bot("def lines():\n    while True: yield json.dumps(read())").removeprefix(PREAMBLE)
"""The correct bot, with a `read` that logs every frame."""


async def answers(arena: Arena, match: Match, carrier: MakePipes) -> list[Any]:
    """Returns everything in the replay of a match except measured values."""
    async with open_roster(Limits(isolation=OFF), carrier) as roster:
        verdict = await play(match, roster)
    assert verdict.faults == ()
    assert match.replay is not None
    assert verify(Replay(match.replay)) == verdict.result
    lines = [json.loads(line) for line in match.replay.read_text().splitlines()]
    return [{key: line[key] for key in ("answers", "events", "hash") if key in line} for line in lines]


@pytest.mark.trio
@pytest.mark.parametrize(
    ("game", "encoding", "options"),
    [("connectfour", Encoding.JSON, {}), ("reantics", Encoding.MSGPACK, {"draw_after": 15})],
)
async def test_a_match_under_chaos_has_the_same_answers(
    arena: Arena, game: str, encoding: Encoding, options: dict[str, int]
) -> None:
    match = arena.match(entrant("@random"), entrant("@random"), game=game, encodings=(encoding,), **options)
    assert await answers(arena, match, Chaos) == await answers(arena, match, Pipes)


@pytest.mark.trio
async def test_chaos_writes_unknown_members_in_any_order_and_size(arena: Arena) -> None:
    log = str(arena.folder / "listener.heard")
    listener = arena.bot(f"{HEARD}\n{SERVE}", log, name="listener")
    match = arena.match(listener, entrant("@random"))
    async with open_roster(Limits(isolation=OFF), Chaos) as roster:
        for seed in range(8):
            assert (await play(msgspec.structs.replace(match, seed=seed), roster)).faults == ()
    heard = [frame for frame in arena.heard("listener") if isinstance(frame, dict)]
    assert all(
        any(name.startswith("unknown") for name in frame) for frame in heard if frame["method"] != "unknownNotice"
    )
    assert any(frame["method"] == "unknownNotice" for frame in heard)
    assert len({tuple(name for name in frame if not name.startswith("unknown")) for frame in heard}) > 4
    sizes = [len(json.dumps(frame)) for frame in heard]
    assert any(1_000_000 < size < 1 << 20 for size in sizes)


@pytest.mark.trio
async def test_with_short_calls_no_frame_takes_much_of_the_limit_to_read(arena: Arena) -> None:
    listener = arena.bot(f"{HEARD}\n{SERVE}", str(arena.folder / "listener.heard"), name="listener")
    match = arena.match(listener, entrant("@random"), time=TimeControl(per_call_s=0.02))
    padded = Manner(padded=1)
    async with open_roster(Limits(isolation=OFF), lambda process: Chaos(process, padded)) as roster:
        await play(match, roster)
    sizes = [len(json.dumps(frame)) for frame in arena.heard("listener") if "padding" in frame.get("params", {})]
    assert sizes and max(sizes) < 202_000


@pytest.mark.trio
async def test_pieces_and_pauses_are_not_charged(arena: Arena) -> None:
    match = arena.match(arena.bot(bot("")), entrant("@random"))
    slow = msgspec.structs.replace(CHAOS, cuts=9, pause_s=0.02)
    async with open_roster(Limits(isolation=OFF), lambda process: Chaos(process, slow)) as roster:
        verdict = await play(match, roster)
    assert verdict.faults == ()
    assert verdict.duration_s > 0.3 > verdict.seats[0].wall_s


@pytest.mark.trio
async def test_a_bot_reads_the_longest_last_frames_to_their_end(arena: Arena) -> None:
    """The last notification may be longer than a pipe; `exit` comes after it."""
    pipes: list[Chaos] = []

    def carrier(process: BotProcess) -> Chaos:
        pipes.append(Chaos(process, Manner(padded=1)))
        return pipes[-1]

    plain = arena.bot(bot('hello["reuse"] = False'))
    async with open_roster(Limits(isolation=OFF), carrier) as roster:
        await play(arena.match(plain, plain), roster)
    assert [ended.process.exit_code for ended in pipes] == [0, 0]


def test_cuts_are_inside_of_the_frame() -> None:
    for size in (1, 2, 3, 8, 5000):
        for seed in range(50):
            assert all(0 < cut < size for cut in _cuts(size, 9, Dice(seed)))
    assert _cuts(5000, 9, Dice(1)) == _cuts(5000, 9, Dice(1)) != _cuts(5000, 9, Dice(2))


def test_reordered_members_are_the_same_members() -> None:
    value = {"a": [{"b": 1, "c": {"d": None, "e": 2}}], "f": 0.5, "g": {"h": [], "i": {}}}
    shuffled = [json.dumps(_reordered(value, Dice(seed))) for seed in range(20)]
    assert all(json.loads(text) == value for text in shuffled)
    assert len(set(shuffled)) > 10


def test_chaos_draws_the_seats_of_every_match_of_a_series(arena: Arena) -> None:
    first = arena.match(entrant("@random"), entrant("@random"), seed=3)
    orders = [match_of(Series(first, 40, chaos=True), number)[1] for number in range(40)]
    assert 10 < orders.count((0, 1)) < 30
    assert orders.count((0, 1)) + orders.count((1, 0)) == 40
    assert orders == [match_of(Series(first, 40, chaos=True), number)[1] for number in range(40)]
    assert orders[0] == ((0, 1), (1, 0))[derive_seed(3, "seats") % 2]


def test_a_match_can_be_played_under_chaos_from_the_command_line(
    arena: Arena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(arena.folder)
    assert main(["--game", "tictactoe", "@random", "@random", "--chaos", "--games", "2", "--strict", "--json"]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert len(outcome["matches"]) == 2
    assert main(["--game", "tictactoe", "@BASE_AI_O", "@random", "--chaos"]) == 2
    assert "@BASE_AI_O plays tictactoe at seat 0 only" in capsys.readouterr().err
