"""A seat of a match as an environment of Gymnasium. The other seats are bots in any language."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from msgspec.structs import replace
from numpy.typing import NDArray

from referee.addons.rl.encoding import Encoding, Observation
from referee.addons.rl.episode import (
    LOST_STARTS,
    Rewards,
    Seeds,
    check_cycles,
    check_render_mode,
    check_seed,
    result_info,
)
from referee.addons.rl.match_thread import MatchThread
from referee.addons.rl.program_match import ProgramMatch
from referee.addons.rl.rendering import METADATA, rendered
from referee.games.contract import Player
from referee.harness.common.errors import RunError
from referee.harness.match.match import Match
from referee.harness.match.verdict import Verdict
from referee.harness.process.limits import Limits
from referee.harness.replay.drawing import Pictures


class SeatEnv(gymnasium.Env[Observation, Any]):
    """Plays one seat against bots, which are processes with the usual limits and live on between episodes.

    `max_cycles`: cut off after that many steps. `close` ends the bots.
    """

    metadata = METADATA

    def __init__(
        self,
        match: Match,
        encoding: Encoding,
        seat: Player,
        limits: Limits,
        max_cycles: int | None,
        render_mode: str | None,
        reward: str | None,
        pictures: Pictures | None = None,
    ) -> None:
        """`match`: the entrant of `seat` stands for the learner."""
        self.encoding, self.seat = encoding, seat
        self.max_cycles, self.render_mode = check_cycles(max_cycles), check_render_mode(render_mode)
        self._pictures = pictures
        self.observation_space, self.action_space = encoding.observation_space(), encoding.action_space()
        self._thread = MatchThread(limits)
        (self._worker,) = self._thread.workers
        self._match, self._rewards = match, Rewards(reward, encoding, len(match.entrants))
        self._seeds = Seeds()
        self.verdict: Verdict | None = None
        """The last match that was played to its end, with the faults of the bots."""
        self._episode: ProgramMatch | None = None
        self._mask: NDArray[np.bool_] | None = None
        self._over = True
        self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins a match. RunError if a bot cannot be started, or always loses before the first decision."""
        super().reset(seed=None if seed is None else check_seed(seed))
        self._steps = 0
        for _ in range(LOST_STARTS):
            episode = ProgramMatch(self._worker, replace(self._match, seed=self._seeds.next(seed)), self.seat)
            episode.wait()
            seed = None
            if episode.decisions:
                self._episode, self._over = episode, False
                return self._observation(episode), {}
        raise RunError(f"{LOST_STARTS} matches ended before the first decision: {episode.ending}")

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Plays an action, then the opponents up to the next decision. An exception of the match is raised."""
        episode = self._episode
        if episode is None or self._over:
            raise ResetNeeded("call reset before step")
        episode.send(self.encoding.answer(action, episode.decisions[self.seat]))
        episode.wait()
        self._steps += 1
        over, gain = not episode.decisions, episode.pay(self._rewards)[self.seat]
        cut = not over and self._steps == self.max_cycles
        self._over = over or cut
        if over:
            self.verdict = episode.verdict
        return self._observation(episode), gain, over, cut, result_info(episode.result, self.seat)

    def legal(self) -> list[Any]:
        """Returns all legal actions; none after the end."""
        return [] if self._over or self._episode is None else self.encoding.legal(self._episode.decisions[self.seat])

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns whether each action is legal, as `MaskablePPO` of sb3-contrib asks. ResetNeeded before `reset`."""
        if self._mask is None:
            raise ResetNeeded("call reset before action_masks")
        return self._mask.copy()

    def render(self) -> Any:
        """Returns what the seat may see: as text with `ansi`, as an array with `rgb_array`; None before `reset`."""
        if self._episode is None:
            return None
        return rendered(self.render_mode, self._pictures, self._episode.state, self.seat)

    def close(self) -> None:
        """Ends the bots, and the browser that draws pictures."""
        self._thread.close()
        if self._pictures is not None:
            self._pictures.close()

    def _observation(self, episode: ProgramMatch) -> Observation:
        seen = self.encoding.observation(episode.view(self.seat), self.seat, episode.decisions.get(self.seat))
        self._mask = seen["action_mask"] == 1
        return seen
