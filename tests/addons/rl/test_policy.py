"""A policy at a seat: in this process and as a program, in every game."""

import json
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import referee

pytestmark = pytest.mark.slow

GAMES = referee.game_names()
QUICK = ("aiarena21", "cardgame")
"""One game with a list of legal answers and one with a mask and hidden cards. The others differ by their encoding."""
DAILY = [pytest.param(name, marks=() if name in QUICK else pytest.mark.nightly) for name in GAMES]
TIMES = ("wall_us", "cpu_us", "waited_us", "stderr")
"""The members of a turn's line that are measured."""


def mixed(seen: dict[str, Any]) -> Any:
    """A policy whose choice depends on every number that it sees."""
    luck = zlib.crc32(seen["observation"].tobytes())
    legal = np.flatnonzero(seen["action_mask"])
    return legal[luck % len(legal)]


def turns(replay: Path) -> list[Any]:
    """The lines of a replay between the header and the ending, without what was measured."""
    lines = [json.loads(line) for line in replay.read_text("utf-8").splitlines()[1:-1]]
    return [{name: value for name, value in line.items() if name not in TIMES} for line in lines]


@pytest.mark.parametrize("name", DAILY)
def test_a_policy_plays_the_same_match_in_the_process_and_as_a_program(name: str, tmp_path: Path) -> None:
    game = referee.game(name)
    both_ways(name, tmp_path, {**game.ending, **({"draw_after": 40} if name == "reantics" else {})})


def both_ways(name: str, tmp_path: Path, options: dict[str, Any], seats: int | None = None, **trained: Any) -> None:
    """Plays a match with the policy at every seat, inside and as programs. `trained`: its options."""
    program = tmp_path / "bot.py"
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "support")]
    program.write_text(
        f"import sys; sys.path[:0] = {folders!r}\n"
        f"import referee, test_policy\nreferee.rl.policy_bot(test_policy.mixed, {name!r}, **{trained!r}).run()\n"
    )
    seats = seats or referee.game(name).seats.start
    inside = referee.rl.policy_bot(mixed, name, **trained)
    one = referee.play(name, [inside] * seats, seed=3, options=options, replay=tmp_path / "inside.jsonl")
    command = f"mixed=cmd:{sys.executable} {program}"
    limits = referee.Limits(startup_s=60.0)
    two = referee.play(
        name, [command] * seats, seed=3, options=options, limits=limits, replay=tmp_path / "program.jsonl"
    )
    assert one.seats[0].function and not two.seats[0].function
    assert len(turns(tmp_path / "inside.jsonl")) > 1
    assert turns(tmp_path / "inside.jsonl") == turns(tmp_path / "program.jsonl")
    assert one.result == two.result


@pytest.mark.parametrize(
    ("name", "options", "seats"),
    [
        ("leduc_poker", {"observation": "information_state"}, 3),
        ("goofspiel", {"num_cards": 4, "imp_info": True}, 2),
        pytest.param("go", {"board_size": 5, "observation": "observation"}, 2, marks=pytest.mark.nightly),
        pytest.param("hearts", {"observation": "information_state"}, 4, marks=pytest.mark.nightly),
        pytest.param("kuhn_poker", {}, 4, marks=pytest.mark.nightly),
        pytest.param("tic_tac_toe", {}, 2, marks=pytest.mark.nightly),
    ],
)
def test_a_policy_plays_openspiel_with_tensors_options_and_more_seats(
    name: str, options: dict[str, Any], seats: int, tmp_path: Path
) -> None:
    both_ways(f"openspiel:{name}", tmp_path, options, seats, **options)


def test_a_policy_refuses_a_match_without_its_options_with_a_line(tmp_path: Path) -> None:
    bot = referee.rl.policy_bot(mixed, "openspiel:leduc_poker", observation="information_state")
    said = (
        'this policy plays matches with observation="information_state" only; this one has "": start it with '
        "--set observation=information_state"
    )
    (fault,) = referee.play("openspiel:leduc_poker", [bot, "@random"], seed=1).faults
    assert said in fault.detail
    program = tmp_path / "bot.py"
    program.write_text(
        "import referee\n"
        "bot = referee.rl.policy_bot(max, 'openspiel:leduc_poker', observation='information_state')\nbot.run()\n"
    )
    limits = referee.Limits(startup_s=60.0)
    (fault,) = referee.play("openspiel:leduc_poker", [program, "@random"], seed=1, limits=limits).faults
    assert said in fault.detail and fault.method == "initialize"


def test_a_policy_bot_has_the_name_of_its_policy_and_plays_under_other_options() -> None:
    bot = referee.rl.policy_bot(lambda seen: 0, "aiarena21")
    for rows in (3, 4):
        board = "\n".join(["S...S"] * rows)
        verdict = referee.play("aiarena21", [bot, "@random"], seed=1, options={"map": board, "turns": 3})
        assert verdict.seats[0].name == "<lambda>" and verdict.turns > 5


def test_a_policy_of_another_game_says_so() -> None:
    verdict = referee.play("connectfour", [referee.rl.policy_bot(mixed, "tictactoe"), "@random"], seed=1)
    assert "this policy plays tictactoe only" in verdict.faults[0].detail


def test_a_policy_of_a_game_of_another_package_is_no_program() -> None:
    bot = referee.rl.policy_bot(mixed, "tictactoe")
    bot.game = bot.game.__class__("noughts", "", range(2, 3), {}, dict, referee.TimeControl(), referee.State)
    with pytest.raises(referee.UsageError, match=r"^noughts: a policy plays it inside `referee.play` only"):
        bot.run()
