"""The card game: a mirror match of two heroes with the same 25 cards. Rules: cardgame.md.

Seat 0 moves first unless the option `first` says otherwise. A player is asked for one action at a time, with the
current state, until it ends its turn. The state contains nothing that the player may not see.
"""

from referee.games.cardgame import types
from referee.games.cardgame.answers import *
from referee.games.cardgame.board import *
from referee.games.cardgame.position import *
from referee.games.cardgame.presentation import PRESENTATION
from referee.games.cardgame.rules import *
from referee.games.cardgame.rules import CardGame, rebuilt
from referee.games.cardgame.types import *
from referee.games.cardgame.types import METHODS, GameState, Options, View
from referee.games.game import Game, TimeControl, named

GAME = Game(
    name="cardgame",
    title="Card game",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=1.0),  # assumed: the document leaves the limit to the harness (section 12, row 29)
    new=CardGame,
    view=View,
    seat_view=GameState,
    rebuild=rebuilt,
    presentation=PRESENTATION,
    doc=__doc__ or "",
    constants=named(
        vars(types),
        "HERO_POWER PLACE_MINION PLAY_SPELL ATTACK END_TURN MOLE COBRA DEADLY_SHOT ARCANE_SHOT HATCHLING RHINO "
        "SNAPJAW TIMBER_WOLF RAPTOR FIREBALL ULTRASAUR SCAVENGER KILL_COMMAND HOUNDS HIGHMANE ALPHA HOUND CUB "
        "BOARD_SIZE HAND_SIZE START_HEALTH MAX_MANA HERO_POWER_COST HERO_POWER_DAMAGE",
    ),
    fresh=True,  # section 10
    version=2,
)
