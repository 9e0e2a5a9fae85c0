"""The kits' example bots for AI Arena 21."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import NAMES, Bot, Rival, play, rank, seated
from kits import example
from test_matches import assert_clean, matches, named

from referee.games.aiarena21 import GAME, AIArena21, Ground, Map, Options, Player, load
from referee.games.contract import Setup
from referee.harness.common import maps
from referee.protocol.messages import Encoding, ErrorObject

SMALLEST = Options(map=maps.read("aiarena21", "7"), turns=100)
LARGEST = Options(map=maps.read("aiarena21", "1"), turns=60)


# The examples.


def call_params(ground: Ground, me: Player, opponent: Player) -> dict[str, Any]:
    """Returns the parameters of a call on an empty board."""
    bare = Map(ground.rows, ground.cols, ground.map.cells)
    rows = {"items": ground.bare.points, "new_items": ground.no_items, "heatmap": ground.cold}
    params = {"game_map": bare, "me": me, "opponent": opponent, **rows}
    plain: dict[str, Any] = json.loads(msgspec.json.encode(params))
    return plain


def test_picker_always_beats_random_play(tmp_path: Path) -> None:
    """Tests one language, like the next test. `play` asserts that every answer of the bot is legal."""
    with Bot(example("python", "aiarena21"), Encoding.MSGPACK, tmp_path / "log") as bot:
        states = [play(GAME, seated(seed % 2, bot, Rival()), seed, SMALLEST) for seed in range(6)]
        assert bot.stderr() == ""
    assert [rank(state, seed % 2) for seed, state in enumerate(states)] == [1] * 6


def test_picker_buys_bikes_and_they_do_not_ruin_it(tmp_path: Path) -> None:
    """The next test compares the other language with it."""
    with Bot(example("python", "aiarena21"), Encoding.MSGPACK, tmp_path / "log") as bot:
        bought, score = compare(bot, bot)
    assert bought["play_powerup", "bike"] > 0
    assert bought["play_powerup", "portal gun"] == 0
    assert min(score) > 100


def test_picker_thinks_alike_in_cpp_and_python(cpp_kit: None, tmp_path: Path) -> None:
    with (
        Bot(example("cpp", "aiarena21"), Encoding.MSGPACK, tmp_path / "log") as bot,
        Bot(example("python", "aiarena21"), Encoding.JSON, tmp_path / "python.log") as model,
    ):
        answered, _ = compare(bot, model)
    assert {method for method, _ in answered} == {"play_powerup", "play_turn", "play_auction", "play_transport"}


def compare(bot: Bot, model: Bot) -> tuple[Counter[tuple[str, str]], list[int]]:
    """Plays a match in which `bot` answers for both seats, and `model` must give the same answers.

    Returns how often each method had each answer (of power-ups only), and the scores.
    """
    options = Options(map=SMALLEST.map, turns=130)
    state, answered = AIArena21(Setup(4, NAMES, options)), Counter[tuple[str, str]]()
    for each in {bot, model}:
        assert not isinstance(each.initialize("aiarena21", options=options), ErrorObject)
    while state.awaited:
        answers = {}
        for call in state.calls():
            params = msgspec.to_builtins(call.params)
            answers[call.player] = answer = bot.call(call.method.name, params)
            assert bot is model or answer == model.call(call.method.name, params)
            answered[call.method.name, answer if call.method.name == "play_powerup" else ""] += 1
        state.apply(answers)
    assert state.faults == ({}, {})
    return answered, state.score


def test_the_template_plays_by_the_rules(kit: str, kit_encoding: Encoding, tmp_path: Path) -> None:
    with Bot(example(kit, "my_aiarena21"), kit_encoding, tmp_path / "log") as bot:
        for seed in range(3):
            play(GAME, seated(seed % 2, bot, Rival()), seed, Options(map="S....\n..#..\n.#...\n....S\n"))
        assert bot.exit() == 0


def test_the_templates_luck_comes_from_the_matchs_seed(kit: str, tmp_path: Path) -> None:
    """Its first step is the same for the same seed, and differs between seeds."""
    ground = load(SMALLEST.map)
    me, opponent = (Player(name, 100, ground.location[ground.free[99]], False, True) for name in NAMES)
    params = {**call_params(ground, me, opponent), "remaining_turns": 1}
    with Bot(example(kit, "my_aiarena21"), Encoding.MSGPACK, tmp_path / "log") as bot:
        went = []
        for seed in (1, 2, 3, 1, 2, 3):
            bot.initialize("aiarena21", seed=seed)
            went.append(bot.call("play_turn", params))
    assert went[:3] == went[3:]
    assert len(set(went)) > 1


# A match under the real referee.


@pytest.mark.trio
async def test_sixty_turns_on_the_largest_map_between_cpp_and_python(cpp_kit: None, tmp_path: Path) -> None:
    pair = named("cpp", example("cpp", "aiarena21")), named("python", example("python", "aiarena21"))
    options = msgspec.structs.asdict(LARGEST)
    (verdict,) = (await matches(pair, "aiarena21", Encoding.MSGPACK, tmp_path, games=1, **options)).matches
    assert_clean(verdict, Encoding.MSGPACK)
    assert verdict.turns >= 180
    assert min(verdict.result.scores) > 60
