"""Reads answers, refuses and lists them: cardgame.md, sections 5, 5.1 and 5.2."""

from collections.abc import Iterator
from typing import Any

from referee.games.cardgame import types
from referee.games.cardgame.board import AIMED_SPELLS, COST, HEALTH, LABELS, ready
from referee.games.cardgame.position import Position
from referee.games.contract import Player, in_brief

_LISTS = (list, tuple)
Move = tuple[int, int, int]
"""An action with its two indices, 0 where it has none."""


def read_move(state: Position, player: Player, answer: Any) -> Move | str:
    """Returns the valid action that `answer` names, or why it is none."""
    if isinstance(answer, types.Action):
        answer = (answer.action, answer.arguments)
    if not isinstance(answer, _LISTS) or not answer:
        return f"the answer is {in_brief(answer)}; wanted [action, [arguments]]"
    action = answer[0]
    if type(action) is not int or not types.HERO_POWER <= action <= types.END_TURN:
        return (
            f"the action is {in_brief(action)}; "
            "wanted 0 hero power, 1 place minion, 2 play spell, 3 attack or 4 end turn"
        )
    if action == types.END_TURN:
        return (types.END_TURN, 0, 0)
    if action == types.HERO_POWER:
        return _power_move(state, player)
    arguments = answer[1] if len(answer) > 1 else None
    if action == types.ATTACK:
        return _attack_move(state, player, arguments)
    return _card_move(state, player, action, arguments)


def _power_move(state: Position, player: Player) -> Move | str:
    side = state.sides[player]
    if side.power_used:
        return "the hero power was used in this turn"
    if side.mana < types.HERO_POWER_COST:
        return f"the hero power costs {types.HERO_POWER_COST} mana; you have {side.mana}"
    return (types.HERO_POWER, 0, 0)


def _card_move(state: Position, player: Player, action: int, arguments: Any) -> Move | str:
    side = state.sides[player]
    listed = isinstance(arguments, _LISTS)
    index = arguments if not listed else arguments[0] if arguments else None
    if type(index) is not int:
        return f"the hand index is {in_brief(index)}; wanted an integer"
    if not 0 <= index < len(side.hand):
        return f"the hand index is {in_brief(index)}; {_range_words(len(side.hand), 'your hand')}"
    card = side.hand[index]
    label = LABELS[card]
    if action == types.PLACE_MINION and not HEALTH[card]:
        return f"card {index} of your hand is {label}, a spell; action 1 places minions"
    if action == types.PLAY_SPELL and HEALTH[card]:
        return f"card {index} of your hand is {label}, a minion; action 2 plays spells"
    if COST[card] > side.mana:
        return f"{label} costs {COST[card]} mana; you have {side.mana}"
    if (action == types.PLACE_MINION or card == types.HOUNDS) and len(side.board) >= types.BOARD_SIZE:
        return f"no room for {label}: your board is full"
    if action == types.PLACE_MINION:
        return (types.PLACE_MINION, index, 0)
    enemies = len(state.sides[1 - player].board)
    if card not in AIMED_SPELLS:
        return (types.PLAY_SPELL, index, 0) if enemies else f"{label} needs an enemy minion; there is none"
    if not listed or len(arguments) < 2:
        return f"{label} needs a target index; wanted [hand index, target index]"
    return _target_misfit(arguments[1], enemies) or (types.PLAY_SPELL, index, arguments[1])


def _attack_move(state: Position, player: Player, arguments: Any) -> Move | str:
    if not isinstance(arguments, _LISTS) or len(arguments) < 2:
        return f"the arguments are {in_brief(arguments)}; wanted [source index, target index]"
    source, target = arguments[0], arguments[1]
    side = state.sides[player]
    if type(source) is not int:
        return f"the source index is {in_brief(source)}; wanted an integer"
    if source == 0:
        return "source index 0 is your hero, who cannot attack"
    if not 1 <= source <= len(side.board):
        return f"the source index is {in_brief(source)}; {_range_words(len(side.board), 'your board', 1)}"
    if not ready(side.board, source - 1):
        minion = side.board[source - 1]
        why = "has attacked in this turn" if minion.attacks else "has to wait for your next turn"
        return f"your minion {source}, {LABELS[minion.id]}, {why}"
    return _target_misfit(target, len(state.sides[1 - player].board)) or (types.ATTACK, source, target)


def _target_misfit(target: Any, enemies: int) -> str | None:
    if type(target) is not int:
        return f"the target index is {in_brief(target)}; wanted an integer"
    if 0 <= target <= enemies:
        return None
    return f"the target index is {in_brief(target)}; wanted 0..{enemies}, 0 is the enemy hero"


def _range_words(count: int, place: str, first: int = 0) -> str:
    return f"wanted {first}..{first + count - 1}" if count else f"{place} is empty"


def refusal(state: Position, player: Player, answer: Any) -> str | None:
    """Answers to `start` and `end` are ignored."""
    if state.awaited[player] is not types.PLAY:
        return None
    move = read_move(state, player, answer)
    return move if isinstance(move, str) else None


def legal(state: Position, player: Player) -> Iterator[Any]:
    """Yields every legal answer of `play`: each valid action once, as `[action, [indices]]`.

    The hero power, minions by hand index, spells by hand index and target, attacks by source and target, the end of
    the turn. `start` and `end`: null.
    """
    if state.awaited[player] is not types.PLAY:
        yield None
        return
    side, enemies = state.sides[player], state.sides[1 - player].board
    targets = range(len(enemies) + 1)
    if side.mana >= types.HERO_POWER_COST and not side.power_used:
        yield [types.HERO_POWER, []]
    if len(side.board) < types.BOARD_SIZE:
        for index, card in enumerate(side.hand):
            if HEALTH[card] and COST[card] <= side.mana:
                yield [types.PLACE_MINION, [index]]
    for index, card in enumerate(side.hand):
        if HEALTH[card] or COST[card] > side.mana:
            continue
        if card in AIMED_SPELLS:
            for target in targets:
                yield [types.PLAY_SPELL, [index, target]]
        elif enemies and (card != types.HOUNDS or len(side.board) < types.BOARD_SIZE):
            yield [types.PLAY_SPELL, [index]]
    for index in range(len(side.board)):
        if ready(side.board, index):
            for target in targets:
                yield [types.ATTACK, [index + 1, target]]
    yield [types.END_TURN, []]
