"""PettingZoo environments: one seat after the other (AEC), and all seats at once (parallel)."""

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv

from referee.addons.rl.encoding import Encoding, Observation
from referee.addons.rl.episode import (
    Episode,
    Rewards,
    Seeds,
    agent_names,
    check_cycles,
    check_render_mode,
    result_info,
    with_seed,
)
from referee.addons.rl.rendering import METADATA, rendered
from referee.games.contract import Player, Setup
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.harness.replay.drawing import Pictures

Agent = str
Spaces = dict[Agent, spaces.Space[Any]]


class _Table:
    """What both kinds of environments have: spaces, seeds and the match."""

    def __init__(
        self,
        game: Game,
        encoding: Encoding,
        setup: Setup,
        max_cycles: int | None,
        render_mode: str | None,
        reward: str | None,
        pictures: Pictures | None = None,
    ) -> None:
        self.game, self.encoding, self.setup = game, encoding, setup
        self.max_cycles = check_cycles(max_cycles)
        self.render_mode, self._pictures = check_render_mode(render_mode), pictures
        self.metadata: dict[str, Any] = {
            "name": f"{game.name}_v{game.version}",
            **METADATA,
            "is_parallelizable": False,  # not every seat is asked in every turn; `MatchParallel` copes with that
        }
        self.possible_agents = agent_names(len(setup.names))
        self.agents: list[Agent] = []
        self.seats: dict[Agent, Player] = {agent: player for player, agent in enumerate(self.possible_agents)}
        self.observation_spaces: Spaces = {agent: encoding.observation_space() for agent in self.possible_agents}
        self.action_spaces: Spaces = {agent: encoding.action_space() for agent in self.possible_agents}
        self.state_space = batch_space(encoding.observation_space()["observation"], len(setup.names))
        self._rewards = Rewards(reward, encoding, len(setup.names))
        self._seeds = Seeds()
        self._episode: Episode | None = None

    @property
    def episode(self) -> Episode:
        """The match. ResetNeeded before the first."""
        if self._episode is None:
            raise ResetNeeded("call reset before anything else")
        return self._episode

    def observation_space(self, agent: Agent) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: Agent) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def state(self) -> NDArray[Any]:
        """Returns what all seats see together, by seat, for critics that see more than a player may."""
        state, observe = self.episode.state, self.encoding.observe
        return np.stack([observe(state.view(player), player) for player in self.seats.values()])

    def legal(self, agent: Agent) -> list[Any]:
        """Returns all legal actions of an agent; none if it is not asked now, or has answered."""
        decision = self.episode.decisions.get(self.seats[agent])
        return [] if decision is None else self.encoding.legal(decision)

    def render(self) -> str | NDArray[np.uint8] | None:
        """Returns the whole position, hidden parts too: as text with `ansi`, as an array with `rgb_array`."""
        return rendered(self.render_mode, self._pictures, self.episode.state)

    def close(self) -> None:
        """Ends the browser that draws pictures, if there is one."""
        if self._pictures is not None:
            self._pictures.close()

    def _begin(self, seed: int | None) -> None:
        self._episode = Episode(self.game, self.encoding, with_seed(self.setup, self._seeds.next(seed)))
        self.agents = self.possible_agents[:]


class MatchAEC(_Table, AECEnv[Agent, Observation, Any]):
    """A match as PettingZoo's AEC environment. Seats that are asked at once act in the order of seats.

    `max_cycles`: cut off when every agent has acted that often.
    """

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        self._begin(seed)
        agents = self.agents
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos = {agent: {} for agent in agents}
        self._acted = dict.fromkeys(agents, 0)
        self._answers: dict[Player, Any] = {}
        self._skip_agent_selection: Agent | None = None  # type: ignore[assignment] # as in `_was_dead_step`
        self._select()

    def observe(self, agent: Agent) -> Observation:
        episode, player = self.episode, self.seats[agent]
        return episode.observation(player, answered=player in self._answers)

    def legal(self, agent: Agent) -> list[Any]:
        legal = super().legal(agent)
        return [] if self.seats[agent] in self._answers else legal

    def step(self, action: Any) -> None:
        episode, agent = self.episode, self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        player = self.seats[agent]
        self._answers[player] = self.encoding.answer(action, episode.decisions[player])
        self._cumulative_rewards[agent] = 0.0
        self._acted[agent] += 1
        if len(self._answers) == len(episode.decisions):
            episode.play(self._answers)
            self._answers = {}
            over = episode.state.result is not None
            if over or self._rewards.on_the_way:
                self._pay()
            if over:
                self._finish()
        elif self._rewards.on_the_way:
            self.rewards = dict.fromkeys(self.agents, 0.0)
        if self.max_cycles is not None and min(self._acted.values()) >= self.max_cycles:
            self.truncations = {each: not self.terminations[each] for each in self.agents}
        self._select()

    def _pay(self) -> None:
        for agent, reward in zip(self.agents, self.episode.pay(self._rewards), strict=True):
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward

    def _finish(self) -> None:
        result = self.episode.state.result
        assert result is not None
        for agent in self.agents:
            self.terminations[agent] = True
            self.infos[agent] = result_info(result, self.seats[agent])

    def _select(self) -> None:
        """Selects the first agent that has not answered yet; after the end, the first of all."""
        for player in self.episode.decisions:
            if player not in self._answers:
                self.agent_selection = self.possible_agents[player]
                return
        self.agent_selection = self.agents[0]


class MatchParallel(_Table, ParallelEnv[Agent, Observation, Any]):
    """A match as PettingZoo's parallel environment. Actions of seats that are not asked are ignored.

    `max_cycles`: cut off after that many steps.
    """

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[Agent, Observation], dict[Agent, dict[str, Any]]]:
        self._begin(seed)
        self._steps = 0
        return self._observations(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[Agent, Any]
    ) -> tuple[
        dict[Agent, Observation],
        dict[Agent, float],
        dict[Agent, bool],
        dict[Agent, bool],
        dict[Agent, dict[str, Any]],
    ]:
        episode, agents, answer = self.episode, self.agents, self.encoding.answer
        names = self.possible_agents
        if not agents:
            raise ResetNeeded("the match is over: call reset before step")
        if missing := [names[player] for player in episode.decisions if names[player] not in actions]:
            raise UsageError(f"there is no action for {', '.join(missing)}; expected one for every agent that is asked")
        episode.play({player: answer(actions[names[player]], each) for player, each in episode.decisions.items()})
        self._steps += 1
        result = episode.state.result
        over, cut = result is not None, result is None and self._steps == self.max_cycles
        paid = over or self._rewards.on_the_way
        gains = episode.pay(self._rewards) if paid else [0.0] * len(agents)
        outcome = (
            self._observations(),
            dict(zip(agents, gains, strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, cut),
            {agent: result_info(result, self.seats[agent]) for agent in agents},
        )
        if over or cut:
            self.agents = []
        return outcome

    def _observations(self) -> dict[Agent, Observation]:
        return {agent: self.episode.observation(self.seats[agent]) for agent in self.agents}
