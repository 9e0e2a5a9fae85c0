"""What training libraries ask of environments: states for critics, masks, and pools of opponents."""

from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import state_test

import referee

pytestmark = pytest.mark.slow

GAMES = [*referee.game_names(), "openspiel:kuhn_poker"]


@pytest.mark.parametrize("name", GAMES)
def test_the_state_passes_pettingzoos_test_and_is_what_all_seats_see(name: str) -> None:
    options = dict(referee.game(name).ending)
    env, parallel = (make(name, **options) for make in (referee.rl.aec, referee.rl.parallel))
    state_test(env, parallel)
    env.reset(seed=4)
    for _ in range(30):
        state = env.state()
        assert state in env.state_space
        for agent, part in zip(env.possible_agents, state, strict=True):
            assert np.array_equal(part, env.observe(agent)["observation"])
        if env.terminations[env.agent_selection]:
            break
        env.step(env.legal(env.agent_selection)[0])


@pytest.mark.parametrize("name", [*referee.game_names(), "openspiel:goofspiel"])
def test_masks_are_those_of_the_observation(name: str) -> None:
    """As `MaskablePPO` asks: an array of truth values, of one seat or of many matches."""
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset before action_masks"):
        referee.rl.vector(name, 2).action_masks()
    many, draw = referee.rl.vector(name, 3), np.random.default_rng(1)
    alone = referee.rl.gym(name, [lambda decision: decision.sample()] * (referee.game(name).seats.start - 1))
    together, _ = many.reset(seed=2)
    seen, _ = alone.reset(seed=2)
    for _ in range(15):
        masks = many.action_masks()
        assert masks.dtype == bool and np.array_equal(masks, together["action_mask"] == 1)
        masks[:] = False
        assert many.action_masks().any(axis=1).all(), "what is returned is a copy"
        assert np.array_equal(alone.action_masks(), seen["action_mask"] == 1)
        assert np.flatnonzero(alone.action_masks()).tolist() == sorted(alone.legal())
        together, *_ = many.step(together["action_mask"].argmax(axis=1))
        seen, _, over, *_ = alone.step(draw.choice(np.flatnonzero(alone.action_masks())))
        if over:
            seen, _ = alone.reset()
    alone.close()


def lowest(seen: Any) -> Any:
    return seen["action_mask"].argmax(axis=1)


def highest(seen: Any) -> Any:
    return seen["action_mask"].shape[1] - 1 - seen["action_mask"][:, ::-1].argmax(axis=1)


def played(pool: Any, seed: int, steps: int = 60) -> list[tuple[list[float], list[int]]]:
    """The gains of every step, and by ended match, the place of its opponent."""
    env, draw = referee.rl.vector("connectfour", 8, opponent=pool, seat=None), np.random.default_rng(5)
    seen, _ = env.reset(seed=seed)
    found = []
    for _ in range(steps):
        mask = seen["action_mask"]
        seen, gains, over, _, infos = env.step((draw.random(mask.shape) * mask).argmax(axis=1))
        told = infos["final_info"]["opponent"][over].tolist() if over.any() else []
        found.append((gains.tolist(), told))
    return found


def test_every_match_draws_an_opponent_of_the_pool_by_its_seed() -> None:
    met = Counter(place for _, told in played([lowest, highest, lowest], 3, 200) for place in told)
    assert met.keys() == {0, 1, 2} and min(met.values()) > sum(met.values()) / 5
    assert played([lowest, highest], 3) == played([lowest, highest], 3)
    assert played([lowest, highest], 3) != played([lowest, highest], 4)


def test_a_pool_of_one_is_that_opponent_and_each_keeps_to_its_matches() -> None:
    one = [gains for gains, _ in played(lowest, 3)]
    assert one == [gains for gains, _ in played([lowest], 3)] == [gains for gains, _ in played([lowest, lowest], 3)]
    assert one != [gains for gains, _ in played([highest], 3)]


def test_an_older_self_joins_the_pool_for_later_matches() -> None:
    asked: Counter[str] = Counter()

    def named(name: str) -> Any:
        def policy(seen: Any) -> Any:
            asked[name] += len(seen["action_mask"])
            return lowest(seen)

        return policy

    env = referee.rl.vector("tictactoe", 4, opponent=[named("first")])
    seen, _ = env.reset(seed=1)
    seen, *_ = env.step(highest(seen))
    env.opponents.append(named("older self"))
    before = asked.copy()
    seen, *_ = env.step(highest(seen))
    assert asked["older self"] == 0 and asked["first"] > before["first"], "the matches that are played keep theirs"
    for _ in range(40):
        seen, *_ = env.step(highest(seen))
    assert asked["older self"] > 10 and asked["first"] > 10
