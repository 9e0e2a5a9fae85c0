"""Makes positions of the card game from views."""

from collections.abc import Sequence

from referee.games.cardgame.board import DECK, Board, Placed, Side
from referee.games.cardgame.rules import CardGame
from referee.games.cardgame.types import HOUND, PLAY, SCAVENGER, GameState, Minion, Options, Target, View
from referee.games.contract import Player, Setup
from referee.games.dice import Dice


def from_view(view: GameState, player: Player, power_used: bool = False, seed: int = 0) -> CardGame:
    """Returns the position of a call to `player`, so that a bot can search in its turn.

    Facts that no view has are assumed: `seed` deals the rival's hand and both decks from all cards out of sight, played
    ones included; crystals equal the mana shown, and there was no fatigue or time-out. The bot has to remember
    whether it used the hero power in this turn.
    """
    position = CardGame(Setup(seed, ("0", "1"), Options()))
    position.turn, position.active, position.awaited = 1, player, {player: PLAY}
    own, rival = position.sides[player], position.sides[1 - player]
    own.hand = tuple([card.id for card in view.player_hand])
    own.board, rival.board = _board(view.player_target, True), _board(view.opponent_target, False)
    own.health, rival.health = view.hero_health, view.opponent_health
    own.mana = own.max_mana = view.player_mana
    rival.mana = rival.max_mana = view.opponent_mana
    own.power_used = power_used
    own.deck = _unseen(own.hand, own.board, position.dice)
    hidden = _unseen((), rival.board, position.dice)
    rival.hand, rival.deck = hidden[: view.n_opponent_hand], hidden[view.n_opponent_hand :]
    return position


def _board(targets: Sequence[Target], own: bool) -> Board:
    minions = [target for target in targets if isinstance(target, Minion)]
    return tuple([_seen(minion, own) for minion in minions])


def _seen(minion: Minion, own: bool) -> Placed:
    """The player's own minion that need not wait and may not attack has attacked."""
    charge = minion.id == HOUND or any([buff.charge for buff in minion.buffs])
    attacks = int(own and not minion.can_attack and (minion.turns_in_play > 0 or charge))
    growth = sum([buff.id == SCAVENGER for buff in minion.buffs])
    return Placed(minion.id, minion.max_health - minion.health, growth, minion.turns_in_play, attacks)


def _unseen(hand: Sequence[int], board: Board, dice: Dice) -> tuple[int, ...]:
    """Returns the 25 cards without those of a hand and a board, in random order."""
    cards = list(DECK)
    for card in (*hand, *[minion.id for minion in board]):
        if card in cards:  # a token is not among the 25 cards
            cards.remove(card)
    dice.shuffle(cards)
    return tuple(cards)


def position(setup: Setup, view: View) -> CardGame:
    """Returns the position of a full view."""
    state = CardGame(setup)
    state.turn, state.active = view.turn, view.active
    one, two = [
        Side(
            deck=owned.deck,
            hand=owned.hand,
            burnt=owned.burnt,
            board=tuple([_whole(minion, n) for minion, n in zip(owned.board, owned.attacks, strict=True)]),
            health=owned.health,
            max_mana=owned.max_mana,
            mana=owned.mana,
            power_used=owned.power_used,
            fatigue=owned.fatigue,
            timeouts=owned.timeouts,
        )
        for owned in view.players
    ]
    state.sides = (one, two)
    state.resume(view.standing)
    return state


def _whole(minion: Minion, attacks: int) -> Placed:
    growth = sum([buff.id == SCAVENGER for buff in minion.buffs])
    return Placed(minion.id, minion.max_health - minion.health, growth, minion.turns_in_play, attacks)
