"""Many matches as one vector environment of Gymnasium: for training."""

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from msgspec.structs import replace
from numpy.typing import NDArray

from referee.addons.rl.encoding import Encoding, Observation
from referee.addons.rl.episode import (
    LOST_STARTS,
    Episode,
    Rewards,
    Seeds,
    check_cycles,
    check_seed,
    result_info,
    with_seed,
)
from referee.addons.rl.match_thread import MatchThread
from referee.addons.rl.program_match import ProgramMatch
from referee.games.contract import Player, Setup
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game
from referee.harness.common.errors import RunError, UsageError
from referee.harness.match.match import Match
from referee.harness.process.limits import Limits
from referee.harness.seats.decision import Decision

Program = str | os.PathLike[str]
"""As the command line names it."""
BatchPolicy = Callable[[Observation], Any]
"""Takes the observations of several seats, each array with one more axis in front, and returns an action for each."""
Opponent = BatchPolicy | Program
Against = Callable[[str, Player], Match]
"""Makes a match in which a program has all seats but one, which stands for the learner."""
Asked = tuple[int, Player, Decision]
"""A call: the number of the match, the seat, the decision."""
Given = dict[int, dict[Player, Any]]
"""By match, the answers that its seats have given in this turn."""


class VectorMatches(VectorEnv[Observation, Any, NDArray[Any]]):
    """Matches side by side, each seen from one seat. The other seats are played by `opponents`, or at random.

    A new match draws one of the opponents: a policy, which plays in this process, or a program. A learner can add its
    older selves to the list at any time. Each match has processes of its own for each program that it draws.

    A match that ends is replaced in the same step, and `infos["final_obs"]` has its last observation.
    """

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012 - as in Gymnasium

    def __init__(
        self,
        game: Game,
        encoding: Encoding,
        setup: Setup,
        seats: Sequence[Player],
        opponents: Sequence[Opponent],
        max_cycles: int | None,
        reward: str | None,
        against: Against,
        limits: Limits,
    ) -> None:
        """`seats`: the learner's seat in each match. UsageError or RunError for a program that cannot play."""
        self.game, self.encoding, self.setup = game, encoding, setup
        self.seats, self.opponents, self.max_cycles = tuple(seats), list(opponents), check_cycles(max_cycles)
        self._rewards = Rewards(reward, encoding, len(setup.names))
        self.num_envs = len(self.seats)
        self.single_observation_space, self.single_action_space = encoding.observation_space(), encoding.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._seeds = [Seeds() for _ in self.seats]
        self._against, self._limits = cache(against), limits
        self._thread: MatchThread | None = None  # with a worker for each match, as soon as one meets a program
        for program in self.opponents:
            if not callable(program):
                self._against(os.fspath(program), self.seats[0])
        self._episodes: list[Episode | ProgramMatch] = []
        self._steps = np.zeros(self.num_envs, int)
        self._rivals = [0] * self.num_envs
        """By match, the place of its opponent in `opponents`."""
        self._numbers = np.arange(self.num_envs)
        self._mask: NDArray[np.bool_] | None = None  # a copy, since the learner may change what it is given

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins all matches again. An integer seeds match `i` with `seed + i`.

        UsageError for wrong seeds. RunError if the others always lose before the learner's first decision.
        """
        seeds = self._checked_seeds(seed)
        super().reset(seed=seeds[0])
        self._episodes = [self._new(index, each) for index, each in enumerate(seeds)]
        self._begin(range(self.num_envs))
        return self._observations(), {}

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Plays an action in every match, then the opponents up to the next decision of the learner's seat."""
        answer, episodes, seats = self.encoding.answer, self._episodes, self.seats
        if not episodes:
            raise ResetNeeded("call reset before step")
        given: Given = {}
        for index, action in enumerate(_each(self.action_space, actions, self.num_envs, "actions")):
            seat = seats[index]
            given[index] = {seat: answer(action, episodes[index].decisions[seat])}
        self._play(given, self._known_legal(actions))
        self._steps += 1
        gains, over, cut = np.zeros(self.num_envs), np.zeros(self.num_envs, bool), np.zeros(self.num_envs, bool)
        on_the_way = self._rewards.on_the_way
        for index, episode in enumerate(episodes):
            if not episode.decisions:
                over[index] = True
                gains[index] = episode.pay(self._rewards)[seats[index]]
            elif on_the_way:
                gains[index] = episode.pay(self._rewards)[seats[index]]
        if self.max_cycles is not None:
            cut = ~over & (self._steps == self.max_cycles)
        infos = self._replaced(np.flatnonzero(over | cut))
        return self._observations(), gains, over, cut, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns whether each action is legal, by match. ResetNeeded before `reset`."""
        if self._mask is None:
            raise ResetNeeded("call reset before action_masks")
        return self._mask.copy()

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the programs."""
        if self._thread is not None:
            self._thread.close()

    # Beginning and end of matches.

    def _new(self, index: int, seed: int | None = None) -> Episode | ProgramMatch:
        self._steps[index] = 0
        setup = with_seed(self.setup, self._seeds[index].next(seed))
        if len(self.opponents) > 1:
            self._rivals[index] = Dice(derive_seed(setup.seed, "opponent")).below(len(self.opponents))
        opponent = self.opponents[self._rivals[index]] if self.opponents else None
        if opponent is None or callable(opponent):
            return Episode(self.game, self.encoding, setup)
        if self._thread is None:
            self._thread = MatchThread(self._limits, self.num_envs)
        worker, seat = self._thread.workers[index], self.seats[index]
        return ProgramMatch(worker, replace(self._against(os.fspath(opponent), seat), seed=setup.seed), seat)

    def _begin(self, matches: Iterable[int]) -> None:
        """Plays new matches up to the learner's first decision, and begins another for each that ends before."""
        waiting = list(matches)
        for _ in range(LOST_STARTS):
            self._play({index: {} for index in waiting if self.seats[index] not in self._episodes[index].decisions}, ())
            waiting = [index for index in waiting if not self._episodes[index].decisions]
            if not waiting:
                return
            reason = self._episodes[waiting[0]].ending
            for index in waiting:
                self._episodes[index] = self._new(index)
        raise RunError(f"{LOST_STARTS} matches ended before the first decision of the learner: {reason}")

    def _checked_seeds(self, seed: Any) -> list[int | None]:
        """Returns a seed for each match. UsageError for another number of seeds, and for what is no seed."""
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, list | tuple | range) or (isinstance(seed, np.ndarray) and seed.ndim == 1):
            seeds = [None if each is None else check_seed(each) for each in seed]
            if len(seeds) != self.num_envs:
                raise UsageError(f"seed: expected one for each of the {self.num_envs} matches; got {len(seeds)}")
            return seeds
        first = check_seed(seed)
        return [check_seed(first + index) for index in range(self.num_envs)]

    def _replaced(self, ended: NDArray[np.intp]) -> dict[str, Any]:
        """Begins matches in place of those that have ended, whose end the returned infos tell."""
        infos: dict[str, Any] = {}
        if ended.size:
            over = [(index, self._episodes[index], self.seats[index]) for index in ended.tolist()]
            seen = [(episode.view(seat), seat, episode.decisions.get(seat)) for _, episode, seat in over]
            last = self.encoding.batch(seen)
            for row, (index, episode, seat) in enumerate(over):
                final_obs = {name: values[row] for name, values in last.items()}
                told = result_info(episode.result, seat)
                if self.opponents:
                    told["opponent"] = self._rivals[index]
                if isinstance(episode, ProgramMatch):
                    told["faults"] = episode.faults
                final = {"final_obs": final_obs, "final_info": told}
                infos = self._add_info(infos, final, index)
                self._episodes[index] = self._new(index)
            self._begin(ended.tolist())
        return infos

    # Turns.

    def _play(self, given: Given, legal: Sequence[bool]) -> None:
        """Plays matches until their learner is asked, or they are over. All programs think at the same time.

        `given`: the matches, with the learner's answers; `legal`: by match, whether that answer is known to be legal.
        """
        if self._thread is None:
            self._play_here(given, legal)
            return
        away = [(episode, index) for index in given if isinstance(episode := self._episodes[index], ProgramMatch)]
        for episode, index in away:
            for answer in given.pop(index).values():
                episode.send(answer)
        self._play_here(given, legal)
        for episode, _ in away:
            episode.wait()

    def _play_here(self, given: Given, legal: Sequence[bool]) -> None:
        """Plays matches of which all seats are in this process."""
        episodes, seats, at_random = cast("list[Episode]", self._episodes), self.seats, not self.opponents
        while given:
            if at_random:
                for index, answers in given.items():
                    for player, decision in episodes[index].decisions.items():
                        if player not in answers:
                            answers[player] = decision.sample()
            else:
                self._ask_opponent(given)
            rest: Given = {}
            for index, answers in given.items():
                episode, seat = episodes[index], seats[index]
                if seat in answers:
                    episode.play(answers, legal[index] and (at_random or len(answers) == 1))
                else:
                    episode.play(answers, at_random)
                if seat not in episode.decisions and episode.decisions:
                    rest[index] = {}
            given = rest

    def _ask_opponent(self, given: Given) -> None:
        """Adds the answers of the opponents, those of each from one batch."""
        calls = [(index, *call) for index in given for call in self._episodes[index].decisions.items()]
        asked_of: dict[int, list[Asked]] = {}
        for call in calls:
            if call[1] not in given[call[0]]:
                asked_of.setdefault(self._rivals[call[0]], []).append(call)
        for rival, asked in asked_of.items():
            policy = cast(BatchPolicy, self.opponents[rival])
            actions = policy(self._batch(asked))
            space = batch_space(self.single_action_space, len(asked))
            chosen = _each(space, actions, len(asked), "actions of the opponent")
            for (index, player, decision), action in zip(asked, chosen, strict=True):
                given[index][player] = self.encoding.answer(action, decision)

    def _known_legal(self, actions: Any) -> list[bool]:
        """Returns for which matches the mask of the last observations says that an action is legal."""
        if self._mask is None:
            return [False] * self.num_envs
        numbers = np.asarray(actions)
        if numbers.shape != (self.num_envs,):
            return [False] * self.num_envs
        if numbers.dtype.kind not in "iu":
            numbers = numbers.astype(int)  # as `FiniteEncoding.answer` reads them
        chosen: list[bool] = self._mask[self._numbers, numbers].tolist()
        return chosen

    # Observations.

    def _observations(self) -> Observation:
        seats, episodes = self.seats, self._episodes
        seen = self._batch([(index, seat, episodes[index].decisions[seat]) for index, seat in enumerate(seats)])
        self._mask = seen["action_mask"] == 1
        return seen

    def _batch(self, asked: Sequence[Asked]) -> Observation:
        """Returns the observations of several seats."""
        return self.encoding.batch([(decision.view, player, decision) for _, player, decision in asked])


def _each(space: Any, actions: Any, count: int, what: str) -> list[Any]:
    """Returns the actions of a batch one by one. UsageError unless there are `count`."""
    try:
        found = list(iterate(space, actions))
    except (TypeError, ValueError, KeyError, IndexError) as error:
        raise UsageError(f"{what}: expected {count}, as in the action space: {error!r}") from error
    if len(found) != count:
        raise UsageError(f"{what}: expected {count}, one for each seat that is asked; got {len(found)}")
    return found
