"""Helpers for tests of the card game: positions with chosen cards, and actions."""

from collections.abc import Sequence
from typing import Any

import msgspec

from referee.games.cardgame import END_TURN, MOLE, Board, CardGame, Options, Placed, Side
from referee.games.contract import Event, Fault, FaultKind, Player, Ruling, Setup

Minions = Sequence[int | Placed]
"""A bare id is a minion that arrived two turns ago, unhurt."""


def minion(card: int, damage: int = 0, turns: int = 2, growth: int = 0, attacks: int = 0) -> Placed:
    return Placed(card, damage, growth, turns, attacks)


def fresh(card: int) -> Placed:
    """A minion that has just arrived."""
    return minion(card, turns=0)


def begun(seed: int = 1, **options: Any) -> CardGame:
    """A new game, before `start`."""
    return CardGame(Setup(seed, ("one", "two"), Options(**options)))


def started(seed: int = 1, **options: Any) -> CardGame:
    """A new game in its first turn."""
    state = begun(seed, **options)
    state.apply({0: None, 1: None})
    return state


def duel(
    hand: Sequence[int] = (),
    board: Minions = (),
    enemies: Minions = (),
    mana: int = 10,
    health: tuple[int, int] = (30, 30),
    deck: Sequence[int] = (MOLE,) * 9,
    rival_hand: Sequence[int] = (),
    rival_deck: Sequence[int] = (MOLE,) * 9,
    player: Player = 0,
    seed: int = 1,
    **options: Any,
) -> CardGame:
    """Returns a position in which `player` is to play; hand, board, deck and the first health belong to it."""
    state = started(seed, first=player, **options)
    own = Side(tuple(deck), tuple(hand), (), placed(board), health[0], mana, mana)
    rival = Side(tuple(rival_deck), tuple(rival_hand), (), placed(enemies), health[1], 10, 0)
    state.sides = (own, rival) if player == 0 else (rival, own)
    return state


def placed(minions: Minions) -> Board:
    return tuple([minion(each) if isinstance(each, int) else each for each in minions])


def act(state: CardGame, action: int, *arguments: Any) -> list[Event]:
    """Plays a valid action of the awaited player."""
    (player,) = state.awaited
    answer = [action, list(arguments)]
    assert state.check(player, answer) is None
    return state.apply({player: answer})


def end_turn(state: CardGame, times: int = 1) -> None:
    for _ in range(times):
        act(state, END_TURN)


def refused(state: CardGame, answer: Any) -> str:
    """Returns the reason against an invalid action, and checks that it only costs the turn."""
    (player,) = state.awaited
    passed, before = state.copy(), state.copy()
    fault = state.check(player, answer)
    assert fault is not None, answer
    assert fault.kind is FaultKind.ILLEGAL
    assert state.apply({player: answer}) == [
        Ruling(player, Fault(FaultKind.ILLEGAL, fault.detail, answer), "turn ends")
    ]
    passed.apply({player: [END_TURN, []]})
    assert state.key() == passed.key(), "nothing is paid or changed; the other player's turn follows"
    assert state.sides[player].hand == before.sides[player].hand
    return fault.detail


def late(state: CardGame) -> list[Event]:
    """Plays a time-out of the awaited player."""
    (player,) = state.awaited
    return state.apply({player: Fault(FaultKind.TIMEOUT, "late")})


def ids(state: CardGame, player: Player) -> list[int]:
    """The cards on a board, left to right."""
    return [each.id for each in state.sides[player].board]


def stats(state: CardGame, player: Player) -> list[tuple[int, int]]:
    """Attack and health of the minions on a board, as a view shows them."""
    return [(each["atk"], each["health"]) for each in shown(state, player)["player_target"][1:]]


def ready(state: CardGame, player: Player) -> list[bool]:
    """Which minions on a board may attack."""
    return [each["can_attack"] for each in shown(state, player)["player_target"][1:]]


def healths(state: CardGame) -> tuple[int, int]:
    """Returns the heroes' health in seat order."""
    return state.sides[0].health, state.sides[1].health


def shown(state: CardGame, player: Player) -> dict[str, Any]:
    """The state that `player` may see, as plain values."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(state.view(player)))
    return plain
