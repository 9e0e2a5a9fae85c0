"""AI Arena 21: two players collect fruit on a grid, buy power-ups and bid for cells. Rules: aiarena21.md.

Seat 0 is `Team 1`, the first bot on the command line. A cell is (row, col) on the wire, row 0 at the top. The engine
uses one number, row * cols + col.
"""

from referee.games.aiarena21 import types
from referee.games.aiarena21.answers import *
from referee.games.aiarena21.board import *
from referee.games.aiarena21.position import *
from referee.games.aiarena21.presentation import PRESENTATION
from referee.games.aiarena21.rules import *
from referee.games.aiarena21.rules import AIArena21, rebuilt
from referee.games.aiarena21.types import *
from referee.games.aiarena21.types import METHODS, Options, Situation, View
from referee.games.game import Game, TimeControl, named

GAME = Game(
    name="aiarena21",
    title="AI Arena 21",
    seats=range(2, 3),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=2.0, opening_call_s=30.0),
    new=AIArena21,
    view=View,
    seat_view=Situation,
    rebuild=rebuilt,
    short={"turns": 12},
    presentation=PRESENTATION,
    doc=__doc__ or "",
    constants=named(
        vars(types),
        "FREE_CHAR BLOCK_CHAR SPAWN_CHAR ONION STRAWBERRY DRAGON_FRUIT DEPLOYMENT_TURNS BIKE BIKE_COST BIKE_TURNS "
        "BIKE_STEPS PORTAL_GUN PORTAL_GUN_COST AUCTION_TURNS",
    ),
    version=2,
)
