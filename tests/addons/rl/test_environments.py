"""Environments of every game, by the tests of PettingZoo and Gymnasium."""

import subprocess
import sys
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.utils import aec_to_parallel

import referee
from referee.addons.rl.episode import rewards
from referee.games.contract import Result

pytestmark = pytest.mark.slow

GAMES = referee.game_names()
CYCLES = 50


def options(name: str) -> dict[str, Any]:
    return dict(referee.game(name).ending)


@pytest.mark.parametrize("name", GAMES)
def test_the_aec_environment_passes_pettingzoos_tests(name: str) -> None:
    api_test(referee.rl.aec(name, **options(name)), num_cycles=CYCLES)  # type: ignore[no-untyped-call]
    seed_test(lambda: referee.rl.aec(name, **options(name)), num_cycles=CYCLES)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("name", GAMES)
def test_the_parallel_environment_passes_pettingzoos_tests(name: str) -> None:
    parallel_api_test(referee.rl.parallel(name, **options(name)), num_cycles=CYCLES)
    parallel_seed_test(lambda: referee.rl.parallel(name, **options(name)), num_cycles=CYCLES)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("name", GAMES)
def test_the_gymnasium_environment_passes_gymnasiums_test(name: str) -> None:
    opponents = [lambda decision: decision.sample()] * (referee.game(name).seats.start - 1)
    check_env(env := referee.rl.gym(name, opponents, **options(name)), skip_render_check=True)
    env.close()


@pytest.mark.parametrize("name", ["aiarena21", "aibg5"])
def test_max_cycles_cuts_an_episode_off(name: str) -> None:
    """The two games in which no random action ends the match."""
    max_cycles_test(SimpleNamespace(env=_aec_of(name), parallel_env=_parallel_of(name)))  # type: ignore[no-untyped-call]
    with pytest.raises(referee.UsageError, match="max_cycles=0: expected a number from 1 on, or None"):
        referee.rl.aec(name, max_cycles=0)


def _aec_of(name: str) -> Any:
    return lambda max_cycles: referee.rl.aec(name, max_cycles=max_cycles)


def _parallel_of(name: str) -> Any:
    return lambda max_cycles: referee.rl.parallel(name, max_cycles=max_cycles)


@pytest.mark.parametrize("name", GAMES)
def test_a_vector_environment_repeats_with_its_seed(name: str) -> None:
    def played(seed: int) -> list[Any]:
        env = referee.rl.vector(name, 3, seat=None, max_cycles=25, **options(name))
        env.action_space.seed(5)
        seen, _ = env.reset(seed=seed)
        history: list[Any] = []
        for _ in range(30):
            assert env.observation_space.contains(seen)
            seen, gains, over, cut, _ = env.step(env.action_space.sample())
            history.append((seen["observation"].tobytes(), gains.tolist(), over.tolist(), cut.tolist()))
        return history

    first = played(3)
    assert first == played(3)
    assert any(any(over) or any(cut) for _, _, over, cut in first)


def test_matches_of_a_vector_environment_are_those_of_single_ones() -> None:
    """Match `i` has the seed `seed + i`, and its opponents the luck that they have in any match."""
    vector = referee.rl.vector("connectfour", 4, seat=1)
    single = referee.rl.gym("connectfour", [lambda decision: decision.sample()], seat=1)
    seen, _ = vector.reset(seed=10)
    alone = [single.reset(seed=10 + index)[0]["observation"] for index in range(4)]
    single.close()
    assert seen["observation"].tolist() == np.stack(alone).tolist()


def test_a_vector_environment_shows_the_end_of_a_match_and_begins_another() -> None:
    env = referee.rl.vector("tictactoe", 2, opponent=lambda seen: seen["action_mask"].argmax(axis=1))
    seen, _ = env.reset(seed=1)
    for _ in range(5):
        chosen = seen["action_mask"].shape[1] - 1 - seen["action_mask"][:, ::-1].argmax(axis=1)
        seen, gains, over, _, infos = env.step(chosen)
        if over.any():
            break
    assert over.all() and gains.tolist() == [1.0, 1.0]  # C, E and W: a column of the opponent's is one short
    assert seen["observation"].sum() == 0, "the boards of new matches"
    assert all(final["observation"][0].sum() == 3 for final in infos["final_obs"])
    assert infos["final_info"]["reason"].tolist() == ["O_WIN", "O_WIN"]


def losing(count: int) -> Any:
    """A policy with an illegal first action in its first matches, which then gives legal ones."""
    left = [count]

    def play(seen: Any) -> Any:
        chosen = seen["action_mask"].argmax(axis=1)
        for row in range(len(chosen)):
            if left[0] > 0:
                left[0] -= 1
                chosen[row] = seen["action_mask"][row].argmin() if not seen["action_mask"][row].all() else 99
        return chosen

    return play


def test_a_match_that_the_opponent_loses_before_the_first_decision_is_replaced() -> None:
    """At seat 1 of OpenSpiel's games, an illegal first move of seat 0 ends the match."""
    make = lambda policy: referee.rl.vector("openspiel:leduc_poker", 3, seat=1, opponent=policy)  # noqa: E731
    env = make(losing(5))
    seen, _ = env.reset(seed=1)
    assert seen["action_mask"].any(axis=1).all()
    for _ in range(20):
        seen, *_ = env.step(seen["action_mask"].argmax(axis=1))
        assert seen["action_mask"].any(axis=1).all()
    with pytest.raises(referee.RunError, match="10 matches ended before the first decision of the learner"):
        make(losing(10**9)).reset(seed=1)


def test_a_seat_that_has_answered_is_not_asked_any_more() -> None:
    env = referee.rl.aec("openspiel:goofspiel")
    env.reset(seed=1)
    assert env.observe("player_0")["action_mask"].any() and env.legal("player_0")
    env.step(env.legal("player_0")[0])
    assert env.agent_selection == "player_1"
    assert not env.observe("player_0")["action_mask"].any() and env.legal("player_0") == []
    assert env.observe("player_1")["action_mask"].any() and env.legal("player_1")
    env.step(env.legal("player_1")[0])
    assert env.observe("player_0")["action_mask"].any()


def test_an_environment_of_one_seat_after_the_other_is_not_called_parallelizable() -> None:
    """`aec_to_parallel` would ask every seat in every turn."""
    with pytest.raises(AssertionError, match="parallelizable"):
        aec_to_parallel(referee.rl.aec("connectfour"))


SEEDS = [
    -1,
    1 << 64,
    1.5,
    "1",
    b"12",
    [1],
    [[1], [2, 3]],
    np.ones((1, 2), int),
    [1, 2, 3],
    [1, -2],
    [1, "2"],
    np.array([1, 2, 3]),
    np.array([0.5, 1]),
    {},
    np.nan,
]


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_a_wrong_seed_is_refused_in_a_line(seed: Any) -> None:
    with pytest.raises(referee.UsageError, match="seed"):
        referee.rl.vector("tictactoe", 2).reset(seed=seed)
    for env in (
        referee.rl.aec("tictactoe"),
        referee.rl.parallel("tictactoe"),
        referee.rl.gym("tictactoe", ["@random"]),
    ):
        with pytest.raises(referee.UsageError, match="seed"):
            env.reset(seed=seed)
        env.close()


def test_seeds_may_be_numbers_of_numpy() -> None:
    env = referee.rl.vector("connectfour", 2, seat=1)
    same = [env.reset(seed=seed)[0]["observation"].tolist() for seed in (5, np.int64(5), [5, 6], np.array([5, 6]))]
    assert same == [same[0]] * 4


@pytest.mark.parametrize("actions", [[0], [0, 1, 2], 0, [], None, np.zeros(1, int)], ids=repr)
def test_another_number_of_actions_is_refused_in_a_line(actions: Any) -> None:
    env = referee.rl.vector("tictactoe", 2)
    env.reset(seed=1)
    with pytest.raises(referee.UsageError, match="actions: expected 2"):
        env.step(actions)
    env = referee.rl.vector("tictactoe", 2, opponent=lambda seen: actions, seat=1)
    with pytest.raises(referee.UsageError, match="actions of the opponent: expected 2"):
        env.reset(seed=1)
    table = referee.rl.parallel("tictactoe")
    table.reset(seed=1)
    with pytest.raises(referee.UsageError, match="there is no action for player_0"):
        table.step({})


@pytest.mark.parametrize("action", [-1, 10_000, np.nan, np.inf, 1e300, "C"], ids=repr)
@pytest.mark.parametrize("name", ["tictactoe", "reantics"])
def test_a_number_that_is_no_action_is_a_value_error(name: str, action: Any) -> None:
    env = referee.rl.vector(name, 1)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=f"expected 0 to {env.encoding.actions - 1}"):
        env.step([action])


def test_actions_in_another_shape_are_judged_too() -> None:
    env = referee.rl.vector("tictactoe", 2)
    env.reset(seed=1)
    for actions in ([[9], [9]], iter([9, 9])):  # the flip is illegal now
        with suppress(ValueError):  # recent versions of numpy take no array for a number
            _, gains, *_ = env.step(actions)
            assert gains.tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("make", [referee.rl.aec, referee.rl.parallel])
def test_an_environment_of_pettingzoo_asks_for_reset_before_and_after_a_match(make: Any) -> None:
    env = make("tictactoe", max_cycles=1, render_mode="ansi")
    for act in (lambda: env.step(0), lambda: env.legal("player_0"), env.render):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            act()
    if make is referee.rl.parallel:
        env.reset(seed=1)
        env.step({"player_0": 0})
        with pytest.raises(gymnasium.error.ResetNeeded, match="the match is over: call reset"):
            env.step({"player_0": 0, "player_1": 1})


def test_an_illegal_action_is_judged_by_the_rules() -> None:
    env = referee.rl.aec("connectfour")
    env.reset(seed=1)
    env.step(7)  # nobody has done anything wrong
    assert env.legal("player_1") == [7]
    assert env.observe("player_1")["observation"][2].all()
    env.step(7)
    assert env.terminations == {"player_0": True, "player_1": True}
    assert (env.rewards["player_0"], env.rewards["player_1"]) == (-1.0, 1.0)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action 8: expected 0 to 7"):
        env.step(8)


def test_the_same_seed_is_the_same_match_as_in_play() -> None:
    shown: list[str] = []
    watch = lambda state, calls, answers, events: shown.append(str(state))  # noqa: E731
    referee.play("cardgame", [lambda decision: next(decision.legal())] * 2, seed=9, watcher=watch)
    env = referee.rl.aec("cardgame", render_mode="ansi")
    env.reset(seed=9)
    drawn = []
    for agent in env.agent_iter():
        if env.terminations[agent]:
            break
        env.step(env.legal(agent)[0])
        drawn.append(env.render())
    names = [line for line in shown[1:-1]]
    assert len(drawn) == len(names)
    assert [line.split("\n")[0] for line in drawn[:-1] if line] == [line.split("\n")[0] for line in names[:-1]]


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ((1, 2), [1.0, -1.0]),
        ((1, 1), [0.0, 0.0]),
        ((2, 1, 4, 3), [1 / 3, 1.0, -1.0, -1 / 3]),
        ((1, 3, 1, 3), [2 / 3, -2 / 3, 2 / 3, -2 / 3]),
    ],
)
def test_rewards_follow_from_ranks(ranks: tuple[int, ...], expected: list[float]) -> None:
    assert rewards(Result(ranks, (0.0,) * len(ranks), "")) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: referee.rl.aec("chess"), "unknown game 'chess'"),
        (lambda: referee.rl.aec("connectfour", flop=1), "there is no flop"),
        (
            lambda: referee.rl.aec("connectfour", render_mode="human"),
            "render_mode='human': expected 'ansi', 'rgb_array'",
        ),
        (lambda: referee.rl.gym("connectfour", ["@random"], seat=2), "seat=2: expected 0 to 1"),
        (lambda: referee.rl.gym("connectfour", []), "connectfour is played by 2 bots; 1 was named"),
        (lambda: referee.rl.gym("connectfour", "@random"), "opponents='@random': expected a list"),
        (lambda: referee.rl.vector("connectfour", 2, 5), "opponent=5: expected a function of observations, or a bot"),  # type: ignore[arg-type]
        (lambda: referee.rl.policy_bot(3, "connectfour"), "policy=3: expected a function"),  # type: ignore[arg-type]
        (lambda: referee.rl.vector("connectfour", 0), "num_envs=0: expected a number from 1 on"),
    ],
)
def test_wrong_arguments_are_refused_in_a_line(make: Any, words: str) -> None:
    with pytest.raises(referee.UsageError, match=words):
        make()


def test_a_vector_environment_is_reset_before_its_first_step() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset before step"):
        referee.rl.vector("connectfour", 2).step([0, 0])


WITHOUT = """
import sys; sys.modules.update(dict.fromkeys(("numpy", "gymnasium", "pettingzoo")))
import referee
for make in (lambda: referee.rl.aec("tictactoe"), lambda: referee.rl.gym("tictactoe", ["@random"]),
             lambda: referee.rl.policy_bot(max, "tictactoe")):
    try:
        make()
    except referee.RunError as error:
        print(error)
"""


def test_without_the_extra_a_line_says_what_to_install() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3, done.stderr
    for line in lines:
        assert line.startswith("referee.rl needs the extra `rl` (") and "; to install it: " in line and "[rl]" in line
