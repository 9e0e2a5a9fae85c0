"""A position of the card game: what it consists of, and how it is shown (cardgame.md, sections 2, 11.1 and 11.2)."""

from collections.abc import Sequence
from copy import copy as twin_of
from typing import Self

import msgspec
from msgspec.structs import asdict

from referee.games.cardgame import types
from referee.games.cardgame.board import DECK, HEROES, IN_HAND, LABELS, OPENING_HAND, Side, minions_shown
from referee.games.cardgame.presentation import ENDINGS
from referee.games.contract import Player, Setup, State
from referee.games.dice import Dice
from referee.games.ending import headline

_encode = msgspec.json.Encoder().encode


class Position(State):
    """A position."""

    METHODS = types.METHODS
    CLOSING = types.END

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.options: types.Options = setup.options
        self.turn = 0
        self.active: Player = self.options.first
        """The player whose turn it is, or will be before the first turn."""
        self.awaited = {0: types.START, 1: types.START}
        sides = [self._dealt(count) for count in OPENING_HAND]
        self.sides = (sides[0], sides[1]) if self.active == 0 else (sides[1], sides[0])

    @property
    def starting(self) -> bool:
        """Whether both players are still asked to start."""
        return next(iter(self.awaited.values()), None) is types.START

    def plays(self, player: Player) -> bool:
        """Returns whether it is this player's turn."""
        return self.awaited.get(player) is types.PLAY

    def params(self, player: Player) -> types.Start | types.Play | types.End:
        method = self.awaited[player]
        if method is types.PLAY:
            return types.Play(self._view(player))
        if method is types.START:
            return types.Start()
        return types.End(self.result is not None and self.result.scores[player] == 1.0)

    def _view(self, player: Player) -> types.GameState:
        """Follows 11.2, even out of the player's turn."""
        side, rival = self.sides[player], self.sides[1 - player]
        own_turn = self.plays(player)
        return types.GameState(
            [IN_HAND[card][index] for index, card in enumerate(side.hand)],
            [HEROES[side.health], *minions_shown(side.board, own_turn)],
            [HEROES[rival.health], *minions_shown(rival.board, False)],
            side.health,
            side.health,
            rival.health,
            side.mana,
            rival.mana,
            len(rival.hand),
        )

    def _full_view(self) -> types.View:
        return types.View(self.turn, self.active, (self._owned(0), self._owned(1)), self.standing())

    def copy(self, seed: int | None = None) -> Self:
        """A seed also deals again what the player to move cannot know.

        That is the order of its deck, and the rival's hand and deck, with burnt cards, which nobody saw. Played cards
        count as seen. The number of cards stays the same everywhere. Outside a turn both hands stay as they are.
        """
        twin = self._twin()
        twin.sides = (twin_of(self.sides[0]), twin_of(self.sides[1]))
        if seed is None:
            twin.dice = self.dice.copy()
            return twin
        twin.dice = Dice(seed)
        for player, side in enumerate(twin.sides):
            _deal_anew(side, twin.dice, hand_too=self.plays(1 - player))
        return twin

    def key(self) -> bytes:
        """JSON."""
        asked = [(player, method.name) for player, method in self.awaited.items()]
        return _encode((self.active, self.sides, self.dice.state, asked, self.result and self.result.scores))

    def __str__(self) -> str:
        """Minions are drawn as attack/health, `*` may attack now; decks top first."""
        return self._drawing(None)

    def shown_to(self, player: Player) -> str:
        """Of the rival's hand and both decks, it shows the number of cards (11.2)."""
        return self._drawing(player)

    def _drawing(self, seen_by: Player | None) -> str:
        lines = [f"turn {self.turn}, {self._situation()}"]
        for player, (side, name) in enumerate(zip(self.sides, self.setup.names, strict=True)):
            power = ", power used" if side.power_used else ""
            fatigue = f", fatigue {side.fatigue}" if side.fatigue else ""
            lines.append(f"{player} {name}: health {side.health}, mana {side.mana}/{side.max_mana}{power}{fatigue}")
            lines.append(f"  board {', '.join(self._drawn(player)) or '-'}")
            hand = _labels(side.hand) if seen_by in (None, player) else f"{len(side.hand)} cards"
            deck = _labels(side.deck) if seen_by is None else f"{len(side.deck)} cards"
            lines += [f"  hand  {hand}", f"  deck  {deck}"]
        return "\n".join(lines)

    def _situation(self) -> str:
        if self.result is not None:
            return headline(ENDINGS, self.result, self.setup.names)
        return "both to start" if self.starting else f"seat {self.active} to play"

    def _drawn(self, player: Player) -> list[str]:
        minions = minions_shown(self.sides[player].board, self.plays(player))
        return [f"{LABELS[m.id]} {m.atk}/{m.health}{'*' if m.can_attack else ''}" for m in minions]

    def _dealt(self, hand: int) -> Side:
        """Returns a side with its deck shuffled and `hand` cards drawn."""
        deck = list(DECK)
        self.dice.shuffle(deck, "deck")
        return Side(deck=tuple(deck[hand:]), hand=tuple(deck[:hand]))

    def _owned(self, player: Player) -> types.Owned:
        side = self.sides[player]
        minions, attacks = minions_shown(side.board, self.plays(player)), [minion.attacks for minion in side.board]
        return types.Owned(**{**asdict(side), "board": minions, "attacks": attacks})


def _labels(cards: Sequence[int]) -> str:
    return ", ".join([LABELS[card] for card in cards]) or "-"


def _deal_anew(side: Side, dice: Dice, hand_too: bool) -> None:
    """Deals the hidden cards of a side again. Sorts them first, so that their places do not influence the deal."""
    hand, deck = len(side.hand), len(side.deck)
    hidden = sorted(side.deck + side.burnt + (side.hand if hand_too else ()))
    dice.shuffle(hidden)
    if hand_too:
        side.hand, hidden = tuple(hidden[:hand]), hidden[hand:]
    side.deck, side.burnt = tuple(hidden[:deck]), tuple(hidden[deck:])
