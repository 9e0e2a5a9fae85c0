"""Environments of OpenSpiel's games: tensors, masks, rewards and returns are those of OpenSpiel itself."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyspiel
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from openspiel_games import few_and_many, follow
from pettingzoo.test import api_test, parallel_api_test, seed_test

import referee
from referee.addons.openspiel.family import environment_of
from referee.addons.openspiel.state import KINDS

pytestmark = pytest.mark.slow

SOLO = ["2048", *(pytest.param(name, marks=pytest.mark.nightly) for name in (
    "blackjack", "catch", "cliff_walking", "coop_to_1p", "deep_sea", "solitaire"
))]  # fmt: skip
PAYING = ("2048", "cliff_walking", "coop_box_pushing", "coop_to_1p", "cribbage", "deep_sea", "hanabi", "laser_tag")
"""Games that pay on the way."""
QUICK: dict[str, dict[str, Any]] = {"bridge": {"use_double_dummy_result": False}}
STEPS = 40


def with_tensors() -> Iterator[tuple[str, str]]:
    """Every game and kind of tensor. A game that draws luck itself is left out: a second state is dealt other cards."""
    for name, kind in sorted(KINDS.items()):
        for tensor in ("observation", "information_state"):
            try:
                sampled = kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
                if getattr(kind, f"provides_{tensor}_tensor") and not sampled and environment_of(name):
                    yield name, tensor
            except KeyError:
                pass


def bare(name: str, **options: Any) -> Any:
    return pyspiel.load_game(name, options)


@pytest.mark.parametrize(("name", "tensor", "many"), few_and_many(with_tensors()))
def test_tensors_masks_and_returns_are_openspiels(name: str, tensor: str, many: bool) -> None:
    options = QUICK.get(name, {})
    env = referee.rl.parallel("openspiel:" + name, observation=tensor, reward="score", **options)
    players = len(env.possible_agents)
    game = bare(name, **options, **({"players": players} if "players" in KINDS[name].parameter_specification else {}))
    shape = tuple(getattr(game, f"{tensor}_tensor_shape")())
    luck = np.random.default_rng(7)
    for seed in range(20 if many else 1):
        seen, _ = env.reset(seed=seed)
        paid = np.zeros(game.num_players())
        for _ in range(1000 if many else STEPS):
            own = follow(game.new_initial_state(), env.episode.state.view(None).history)
            for player, agent in enumerate(env.agents):
                assert seen[agent]["observation"].shape == shape
                expected = np.array(getattr(own, f"{tensor}_tensor")(player), np.float32).reshape(shape)
                assert np.array_equal(seen[agent]["observation"], expected)
                legal = [] if own.is_terminal() else own.legal_actions(player)
                assert np.flatnonzero(seen[agent]["action_mask"]).tolist() == legal
            assert np.array_equal(env.state(), np.stack([seen[agent]["observation"] for agent in seen]))
            actions = {agent: luck.choice(np.flatnonzero(seen[agent]["action_mask"])) for agent in _asked(seen)}
            seen, gains, over, _, _ = env.step(actions)
            paid += np.array(list(gains.values()))
            if any(over.values()):
                own = follow(game.new_initial_state(), env.episode.state.view(None).history)
                assert own.is_terminal()
                assert paid == pytest.approx(own.returns())
                break


def _asked(seen: Any) -> list[str]:
    return [agent for agent, each in seen.items() if each["action_mask"].any()]


@settings(max_examples=16, deadline=None)
@given(name=st.sampled_from(PAYING), seed=st.integers(0, 2**63), luck=st.integers(0, 2**32))
def test_rewards_come_when_openspiel_pays_them(name: str, seed: int, luck: int) -> None:
    """In each step, what OpenSpiel's own rewards add up to since the last one."""
    game, env = bare(name), referee.rl.aec("openspiel:" + name, reward="score")
    env.reset(seed=seed)
    draw, before = np.random.default_rng(luck), [0.0] * game.num_players()
    for _ in range(STEPS):
        env.step(draw.choice(env.legal(env.agent_selection)))
        own = follow(game.new_initial_state(), env.episode.state.view(None).history)
        if not env._answers:  # all have answered
            returns = own.returns()
            assert list(env.rewards.values()) == pytest.approx([a - b for a, b in zip(returns, before, strict=True)])
            before = returns
        else:
            assert set(env.rewards.values()) == {0.0}
        if any(env.terminations.values()):
            break


@pytest.mark.parametrize("name", ["leduc_poker", "matrix_pd", "goofspiel"])
def test_every_kind_of_environment_pays_openspiels_returns(name: str) -> None:
    game, draw = bare(name), np.random.default_rng(3)
    full = "openspiel:" + name
    alone = referee.rl.gym(full, [lambda decision: decision.sample()], reward="score", seat=1)
    many = referee.rl.vector(full, 4, reward="score", seat=1)
    watched: list[Any] = []
    for seed in range(6):
        histories = []
        seen, _ = alone.reset(seed=seed)
        together, _ = many.reset(seed=seed)
        over = False
        while not over:
            action = draw.choice(np.flatnonzero(seen["action_mask"]))
            state = alone._episode.state
            seen, gain, over, *_ = alone.step(action)
            histories.append(action)
        own = follow(game.new_initial_state(), state.view(None).history)
        assert own.is_terminal() and gain == own.returns()[1]
        assert game.min_utility() <= gain <= game.max_utility()
        for action in histories:  # match 0 has the same seed, and its opponent the same luck
            rest = together["action_mask"].argmax(axis=1)
            together, gains, *_ = many.step(np.array([action, *rest[1:]]))
        watched.append(gains[0])
        assert gains[0] == gain
    assert len(set(watched)) > 1
    alone.close()


@pytest.mark.parametrize(
    ("name", "expected"), [("leduc_poker", [-13.0, 13.0]), ("tic_tac_toe", [-1.0, 1.0]), ("2048", [0.0])]
)
def test_an_illegal_action_is_never_better_than_losing(name: str, expected: list[float]) -> None:
    env = referee.rl.aec("openspiel:" + name, reward="score")
    env.reset(seed=1)
    paid = dict.fromkeys(env.agents, 0.0)
    for _ in range(20):
        at_fault = env.agent_selection
        illegal = np.flatnonzero(env.observe(at_fault)["action_mask"] == 0)
        env.step(illegal[0] if illegal.size else env.legal(at_fault)[0])
        paid = {agent: before + env.rewards[agent] for agent, before in paid.items()}
        if illegal.size:
            break
    assert paid[at_fault] == bare(name).min_utility() == min(expected)
    assert sorted(paid.values()) == expected


def test_a_game_of_several_seats_has_the_arrays_of_as_many() -> None:
    """Kuhn poker of three has 10 numbers an observation, and of two 7."""
    three = referee.rl.gym("openspiel:kuhn_poker", ["@random", "@random"], observation="observation", reward="score")
    seen, _ = three.reset(seed=1)
    assert seen["observation"].shape == tuple(bare("kuhn_poker", players=3).observation_tensor_shape()) == (10,)
    three.close()
    table = referee.rl.aec("openspiel:kuhn_poker", names=["a", "b", "c"], observation="observation")
    table.reset(seed=1)
    assert table.agents == ["player_0", "player_1", "player_2"] and table.state().shape == (3, 10)


@pytest.mark.parametrize("name", SOLO)
def test_a_game_for_one_player_is_an_environment(name: str) -> None:
    api_test(referee.rl.aec("openspiel:" + name), num_cycles=60)  # type: ignore[no-untyped-call]
    parallel_api_test(referee.rl.parallel("openspiel:" + name), num_cycles=60)
    seed_test(lambda: referee.rl.aec("openspiel:" + name), num_cycles=60)  # type: ignore[no-untyped-call]
    env = referee.rl.gym("openspiel:" + name, [], max_cycles=100)
    check_env(env, skip_render_check=True)
    env.close()


def test_2048_pays_its_points_as_they_come_and_no_match_of_it_can_be_played() -> None:
    env = referee.rl.gym("openspiel:2048", [])
    seen, _ = env.reset(seed=1)
    gains, over = [], False
    while not over:
        seen, gain, over, _, info = env.step(np.flatnonzero(seen["action_mask"])[0])
        gains.append(gain)
    env.close()
    assert math.fsum(gains) == info["score"] > 100
    assert sum(gain > 0 for gain in gains) > 10
    with pytest.raises(referee.UsageError, match="is for one player; two or more are needed"):
        referee.play("openspiel:2048", ["@random"])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: referee.rl.aec("openspiel:chess", observation="information_state"), "the tensor that calls carry"),
        (lambda: referee.rl.aec("openspiel:tarok", observation="observation"), "there is no observation"),
        (lambda: referee.rl.aec("openspiel:chess", reward="chips"), "reward='chips': expected 'rank' or 'score'"),
        (lambda: referee.rl.aec("openspiel:crossword"), "openspiel:crossword cannot be loaded"),
        (lambda: referee.rl.aec("openspiel:2049"), "did you mean openspiel:2048"),
        (lambda: referee.rl.gym("openspiel:2048", ["@random"]), "is played by 1 bots; 2 were named"),
    ],
)
def test_wrong_arguments_are_refused_in_a_line(make: Any, words: str) -> None:
    with pytest.raises(referee.UsageError, match=words):
        make()
