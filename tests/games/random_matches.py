"""Random matches for tests of every game. They use only the contract."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from referee.games import registry
from referee.games.contract import Event, Fault, FaultKind, Player, Setup, State
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game

LONGEST = 20_000  # calls; a random match that takes more does not end


def started(game: Game, seed: int, seats: int | None = None, options: Any = None) -> State:
    """A new match with default options, or short ones; the least number of seats unless told."""
    names = tuple(f"bot {seat}" for seat in range(seats or game.seats[0]))
    short = game.options(**game.ending)
    return game.new(Setup(seed, names, short if options is None else options))


def random_answers(state: State, dice: Dice, faults: bool = False) -> dict[Player, Any]:
    """A legal answer for every awaited seat; with `faults`, one in thirty is a fault instead."""
    answers = {}
    for player in state.awaited:
        if faults and dice.below(30) == 0:
            answers[player] = dice.choice([Fault(FaultKind.TIMEOUT, "late"), Fault(FaultKind.CRASH, "gone"), "junk"])
        else:
            answers[player] = state.sample(player, dice)
    return answers


def moments(state: State, seed: int, faults: bool = False) -> Iterator[tuple[dict[Player, Any], list[Event]]]:
    """Plays `state` to its end with random answers; yields the answers and the events of each `apply`."""
    dice = Dice(derive_seed(seed, "random match"))
    for _ in range(LONGEST):
        if not state.awaited:
            return
        answers = random_answers(state, dice, faults)
        yield answers, state.apply(answers)
    raise AssertionError(f"no end after {LONGEST} calls")


def reached(game: Game, kind: int, nth: int) -> State:
    """A position out of random matches. Any two numbers will do; `kind` chooses evenly who is asked for what."""
    kinds = _kinds(game.name)
    of_kind = kinds[kind % len(kinds)]
    return of_kind[nth % len(of_kind)].copy()


@lru_cache
def _kinds(name: str) -> list[list[State]]:
    """Positions of random matches, a third of them with faults, grouped by the seats and functions awaited."""
    game, dice = registry.game(name), Dice(0)
    kinds: dict[tuple[Any, ...], list[State]] = {}
    for seed in range(24):
        state = started(game, seed, seats=game.seats[seed % len(game.seats)])
        positions = [state.copy()]
        positions += [state.copy() for _ in moments(state, seed, faults=seed % 3 == 0) if state.awaited]
        for position in dice.sample(positions, min(60, len(positions))) + positions[-3:]:
            kind = tuple((player, method.name) for player, method in position.awaited.items())
            kinds.setdefault(kind, []).append(position)
    return list(kinds.values())


def plain(value: Any) -> Any:
    """`value` as it comes off the wire: lists for tuples, dicts for Structs. Faults stay."""
    return value if isinstance(value, Fault) else msgspec.json.decode(msgspec.json.encode(value))


def plain_answers(answers: Mapping[Player, Any]) -> dict[Player, Any]:
    return {player: plain(answer) for player, answer in answers.items()}


def everything(state: State) -> tuple[Any, ...]:
    """All that can be seen of a position, as comparable values."""
    players = range(len(state.setup.names))
    return (
        state.key(),
        str(state),
        state.result,
        msgspec.json.encode([(call.player, call.method.name, call.params) for call in state.calls()]),
        msgspec.json.encode([state.view(player) for player in (None, *players)]),
    )
