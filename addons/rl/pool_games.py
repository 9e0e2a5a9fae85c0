"""Games of a pool of opponents against each other, from which a tournament's statistics make ratings."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from referee.addons.rl.vector_env import BatchPolicy, Opponent, VectorMatches
from referee.games.dice import derive_seed
from referee.harness.match.ratings import RatedGame

MATCHES = 64
"""The most matches that are played side by side."""


def pool_games(
    make: Callable[[Opponent, int], VectorMatches], seats: int, pool: Sequence[Opponent], groups: int, seed: int
) -> Iterator[list[RatedGame]]:
    """Yields the seed groups of every two, unless both are programs: the first plays once at every seat.

    `make` returns an environment of so many matches against an opponent, with the learner's seats in turn.
    """
    for number, pair in enumerate(combinations(range(len(pool)), 2)):
        first, second = pair if callable(pool[pair[0]]) else reversed(pair)
        policy = pool[first]
        if callable(policy):
            at_once = min(groups, max(1, MATCHES // seats))
            env = make(pool[second], seats * at_once)
            line_ups = [tuple([first if seat == own else second for seat in range(seats)]) for own in range(seats)]
            try:
                for start in range(0, groups, at_once):
                    seeds = [derive_seed(seed, f"pair {number}", start + place) for place in range(at_once)]
                    ended = _first_games(env, policy, [each for each in seeds for _ in range(seats)])
                    for place in range(min(at_once, groups - start)):
                        own = ended[place * seats : (place + 1) * seats]
                        yield [RatedGame(bots, *each) for bots, each in zip(line_ups, own, strict=True)]
            finally:
                env.close()


def _first_games(env: VectorMatches, policy: BatchPolicy, seeds: Sequence[int]) -> list[tuple[tuple[int, ...], int]]:
    """Plays the first match of each place. Returns the ranks and the course. One that is cut off is a tie."""
    courses, ended = [0] * env.num_envs, dict[int, tuple[tuple[int, ...], int]]()
    seen: Any
    seen, _ = env.reset(seed=seeds)
    while len(ended) < env.num_envs:
        for index, shown in enumerate(seen["observation"]):
            courses[index] = hash((courses[index], shown.tobytes()))
        seen, _, over, cut, infos = env.step(policy(seen))
        for index in np.flatnonzero(over | cut).tolist():
            ranks = infos["final_info"]["ranks"][index] if over[index] else (1,) * len(env.setup.names)
            last = hash((courses[index], infos["final_obs"][index]["observation"].tobytes()))
            ended.setdefault(index, (ranks, last or 1))
    return [ended[index] for index in range(env.num_envs)]
