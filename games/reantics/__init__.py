"""ReAntics: two colonies of ants on a 10 × 10 board. Rules: reantics.md.

Seat 0 is player one. The engine uses absolute coordinates; on the wire each player sees itself on top (section 2).
"""

from referee.games.game import Game, TimeControl, named
from referee.games.reantics import types
from referee.games.reantics.answers import *
from referee.games.reantics.board import *
from referee.games.reantics.position import *
from referee.games.reantics.presentation import PRESENTATION
from referee.games.reantics.rules import *
from referee.games.reantics.rules import ReAntics, rebuilt
from referee.games.reantics.types import *
from referee.games.reantics.types import METHODS, GameState, Options, View

GAME = Game(
    name="reantics",
    title="ReAntics",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=1.0),
    new=ReAntics,
    view=View,
    seat_view=GameState,
    rebuild=rebuilt,
    short={"draw_after": 30},
    set_up=("getPlacement",),
    leaves_out={"random_layout": "the referee draws placements, and asks no bot for them"},
    presentation=PRESENTATION,
    doc=__doc__ or "",
    constants=named(
        vars(types),
        "BOARD_LENGTH SETUP_PHASE_1 SETUP_PHASE_2 PLAY_PHASE FOOD_GOAL QUEEN WORKER DRONE SOLDIER R_SOLDIER "
        "ANTHILL TUNNEL GRASS FOOD MOVE_ANT BUILD END UNDO",
    ),
    version=2,
)
