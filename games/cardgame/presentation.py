"""The card game in words: `places Mole`, `Fireball at Cobra (2)`. Minions are counted from the left, from 1."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from referee.games.cardgame.board import LABELS, PRINTS
from referee.games.cardgame.types import ATTACK, END_TURN, HERO_POWER, PLACE_MINION, Hero, View
from referee.games.contract import Call
from referee.games.game import Highlight, Presentation, Score


def _answer(call: Call, answer: Any) -> str | None:
    state, arguments = call.params.state, list(answer.arguments or ())
    if answer.action == HERO_POWER:
        return "hero power"
    if answer.action == END_TURN:
        return "ends the turn"
    if not arguments or min(arguments) < 0:
        return None
    aim = ""
    if len(arguments) > 1:
        if arguments[1] >= len(state.opponent_target):
            return None
        aim = f" at {_target(state.opponent_target, arguments[1])}"
    if answer.action == ATTACK:
        known = aim and arguments[0] < len(state.player_target)
        return f"{_target(state.player_target, arguments[0])} attacks{aim.removeprefix(' at')}" if known else None
    if arguments[0] >= len(state.player_hand):
        return None
    label = LABELS[state.player_hand[arguments[0]].id]
    return f"places {label}" if answer.action == PLACE_MINION else f"{label}{aim}"


def _target(targets: Sequence[Any], index: int) -> str:
    found = targets[index]
    return "the hero" if isinstance(found, Hero) else f"{LABELS[found.id]} ({index})"


def _highlights(before: View, after: View, _: Any, names: Sequence[str]) -> list[Highlight]:
    """Names the minions that left a board."""
    found = []
    for name, was, now in zip(names, before.players, after.players, strict=True):
        died = Counter(each.id for each in was.board) - Counter(each.id for each in now.board)
        found += [Highlight("death", f"{name}'s {LABELS[card]} dies") for card in died.elements()]
    return found


ENDINGS = {
    "hero_dead": "{loser}'s hero was killed",
    "fatigue": "{loser}'s deck was empty, and fatigue killed the hero",
    "both_heroes_dead": "both heroes were killed",
}

PRESENTATION = Presentation(
    frame="minions are counted from the left, from 1, on either side",
    answer=_answer,
    highlights=_highlights,
    card_names={str(number): label for number, label in enumerate(LABELS)},
    card_texts={str(number): card.words for number, card in enumerate(PRINTS)},
    legend={"/": "between attack and health, between mana and crystals", "*": "may attack now", "-": "nothing there"},
    endings=ENDINGS,
    score=Score("health", "The health of a player's hero.", lambda state: [side.health for side in state.sides]),
)
