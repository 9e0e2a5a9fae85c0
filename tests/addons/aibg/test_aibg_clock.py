"""The time of AIBG's players runs by the web process: they pay neither for busy matches nor while it is gone."""

import os
import threading
import time
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
import trio
from argon2 import PasswordHasher
from serving import next_web_process, web_process
from ships import Client

from referee.addons.aibg.aibg_routes import open_aibg
from referee.addons.aibg.lobby import AibgGame, Lobby
from referee.addons.aibg.users import Gatekeeper, User

pytestmark = [pytest.mark.trio, pytest.mark.slow]
in_thread = partial(trio.to_thread.run_sync, abandon_on_cancel=True)
PASSWORD = "a password of everybody"
TEAMS = ["team1", "team2", "team3", "team4"]
LIMIT_S = 3.0
ACTION = {"action": "move,-6,-7"}


class Begun:
    """A game whose first player is on the move."""

    def __init__(self, game: AibgGame, clients: list[Client]) -> None:
        self.game = game
        self.first = clients[0]
        self.answers: list[Any] = []

    def act(self, after_s: float = 0.0) -> None:
        """Posts the first player's action from a thread, after a while."""

        def think_and_act() -> None:
            time.sleep(after_s)
            try:
                self.answers.append(self.first.post("/game/doAction", ACTION))
            except OSError as error:
                self.answers.append(error)

        threading.Thread(target=think_and_act, daemon=True).start()

    @property
    def stood_s(self) -> float:
        """How long the players' clock has stood so far, because the machine stopped the web process."""
        return self.game.seats["team1"].link.clock.offset_s

    async def is_out(self) -> bool:
        """Waits until the second player is on the move, and tells whether the first is out."""
        with trio.fail_after(20):
            while not self.game.seats["team2"].on_move:
                await trio.sleep(0.01)
        state = self.game.state
        assert state is not None
        return state.game_state().player1 is None


@pytest.fixture
async def begun() -> AsyncIterator[Begun]:
    hashed = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1).hash(PASSWORD)
    keeper = Gatekeeper({name: User("player", hashed) for name in TEAMS}, b"s" * 64)
    lobby: Lobby
    async with open_aibg("127.0.0.1:0", keeper, seed=5) as (address, lobby):
        game = lobby.create(TEAMS, 5, "first_round")
        clients = [await in_thread(Client, f"http://{address}", name, PASSWORD) for name in TEAMS]
        async with trio.open_nursery() as nursery:
            for client in clients:
                nursery.start_soon(in_thread, client.join)
        with trio.fail_after(20):
            while not game.seats["team1"].on_move:
                await trio.sleep(0.01)
        yield Begun(game, clients)


async def test_an_action_in_time_counts_although_the_matches_were_busy_meanwhile(begun: Begun) -> None:
    """The machine may hold the client up for two seconds more. When it stops the web process, the clock stands."""
    stood_before_s = begun.stood_s
    begun.act(after_s=0.5)
    time.sleep(LIMIT_S + 0.5)  # nothing runs in this loop
    is_out, charged_s = await begun.is_out(), begun.game.seats["team1"].totals.wall_s
    assert not is_out, f"the action came in time; charged {charged_s:.3f} s, answered {begun.answers}"
    least_s = 0.4 - (begun.stood_s - stood_before_s)
    assert least_s < charged_s <= LIMIT_S, "the player was charged for our stop"


async def test_a_late_action_is_late_although_the_matches_were_busy_meanwhile(begun: Begun) -> None:
    stood_before_s = begun.stood_s
    begun.act(after_s=LIMIT_S + 0.5)
    time.sleep(LIMIT_S + 1)
    assert await begun.is_out() or begun.stood_s - stood_before_s > 0.4, "only a clock that stood lets it count"


async def test_a_player_may_act_after_the_web_process_was_gone_for_longer_than_the_limit(begun: Begun) -> None:
    first = web_process(os.getpid())
    first.kill()
    following = await next_web_process(first)
    following.suspend()
    await trio.sleep(LIMIT_S + 0.5)
    following.resume()
    begun.act()
    assert not await begun.is_out(), "the clock ran while nobody could be heard"
    assert not begun.answers, "the response comes with the next turn"


async def test_a_player_may_act_while_the_machine_has_stopped_the_web_process(begun: Begun) -> None:
    process = web_process(os.getpid())
    process.suspend()
    begun.act()
    await trio.sleep(LIMIT_S + 0.5)
    process.resume()
    assert not await begun.is_out(), "the action lay unread through no fault of the player"
    assert begun.stood_s > LIMIT_S, "the clock did not stand"
