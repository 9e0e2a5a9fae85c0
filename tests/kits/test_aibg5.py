"""The kits' example bots for AIBG 5."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from driving import Bot
from kits import example
from msgspec import Struct
from test_matches import assert_clean, matches, named

from referee.games.aibg5 import AIBG5, Options
from referee.games.contract import Player, Setup
from referee.games.dice import Dice
from referee.harness.common import maps
from referee.harness.opponents.trainer import hunt
from referee.harness.programs.spec import entrant
from referee.protocol.messages import Encoding, ErrorObject

NAMES = ("a", "b", "c", "d")
ROUNDS = 40
MAPS = ("practice1", "practice2", "first_round", "final")


# Matches, one step at a time.

Choose = Callable[[AIBG5, Player, Dice], Any]
"""Takes a position, the player and the dice; returns the answer."""


def at_random(state: AIBG5, player: Player, dice: Dice) -> Any:
    return state.sample(player, dice)


def play(players: list[Choose], seed: int, name: str, rounds: int) -> AIBG5:
    """Plays a whole match on the named map. An illegal answer fails the test."""
    state = AIBG5(Setup(seed, NAMES, Options(map=maps.read("aibg5", name), rounds=rounds)))
    dice = Dice(seed)
    state.apply({player: None for player in range(4)})
    while state.awaited:
        (player,) = state.awaited
        answer = players[player](state, player, dice)
        assert state.check(player, answer) is None
        state.apply({player: answer})
    return state


def seated(bot: Choose, seat: Player, rivals: Choose) -> list[Choose]:
    return [bot if player == seat else rivals for player in range(4)]


def chosen_by(bot: Bot, calls: list[tuple[Any, Any]] | None = None) -> Choose:
    """Lets a bot choose. Parameters and answers are added to `calls`."""

    def answer(state: AIBG5, player: Player, dice: Dice) -> Any:
        params = msgspec.to_builtins(state.calls()[0].params)
        action = bot.call("doAction", params)
        if calls is not None:
            calls.append((params, action))
        return action

    return answer


def begin(bot: Bot, rounds: int | None) -> None:
    assert not isinstance(bot.initialize("aibg5", options={"rounds": rounds}), ErrorObject)


# The examples.


class Duel(Struct):
    """A match of the Python kit's example."""

    rank: int
    rounds: int | None
    """The option that the bot was given."""
    calls: list[tuple[Any, Any]]
    """The parameters of each `doAction`, and the answer."""


@pytest.fixture(scope="module")
def duels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Duel]]:
    """Matches, each on another map and from another seat, against three trainers and against three random bots."""
    duels: dict[str, list[Duel]] = {"trainer": [], "random": []}
    with Bot(example("python", "aibg5"), Encoding.MSGPACK, tmp_path_factory.mktemp("duels") / "log") as bot:
        for rivals, choose, rounds in (("trainer", hunt, ROUNDS), ("random", at_random, None)):
            for seat, name in enumerate(MAPS if rivals == "trainer" else MAPS[:2]):
                calls: list[tuple[Any, Any]] = []
                begin(bot, rounds)
                state = play(seated(chosen_by(bot, calls), seat, choose), seat, name, ROUNDS)
                duels[rivals].append(Duel(state.result.ranks[seat], rounds, calls))
        assert bot.stderr() == ""
    return duels


def test_duellist_always_beats_random_play_and_mostly_three_trainers(duels: dict[str, list[Duel]]) -> None:
    assert [duel.rank for duel in duels["random"]] == [1, 1]
    assert [duel.rank for duel in duels["trainer"]].count(1) >= 3


def test_duellist_thinks_alike_in_cpp_and_python(cpp_kit: None, duels: dict[str, list[Duel]], tmp_path: Path) -> None:
    with Bot(example("cpp", "aibg5"), Encoding.JSON, tmp_path / "log") as bot:
        for duel in duels["trainer"] + duels["random"][:1]:
            begin(bot, duel.rounds)
            for number, (params, action) in enumerate(duel.calls):
                assert bot.call("doAction", params) == action, number
        assert bot.stderr() == ""


def test_the_template_plays_by_the_rules(kit: str, kit_encoding: Encoding, tmp_path: Path) -> None:
    with Bot(example(kit, "my_aibg5"), kit_encoding, tmp_path / "log") as bot:
        for seat, name in enumerate(MAPS):
            begin(bot, 8)
            play(seated(chosen_by(bot), seat, hunt), seat, name, rounds=8)
        assert bot.exit() == 0


# A match under the real referee.


@pytest.mark.trio
async def test_a_match_of_bots_in_two_languages_can_be_verified(cpp_kit: None, tmp_path: Path) -> None:
    bots = [named(kit, example(kit, "aibg5")) for kit in ("cpp", "python")]
    seats = (*bots, entrant("@trainer"), entrant("@trainer"))
    (verdict,) = (await matches(seats, "aibg5", Encoding.MSGPACK, tmp_path, games=1, rounds=20)).matches
    assert_clean(verdict, Encoding.MSGPACK)
    assert (verdict.result.reason, verdict.turns) == ("rounds", 1 + 4 * 20)
    assert min(verdict.result.scores[:2]) > 0
