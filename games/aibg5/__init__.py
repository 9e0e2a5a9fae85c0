"""AIBG 5.0: four ships on a board of hexagons fight each other and the boss in its middle. Rules: aibg5.md.

Seat 0 is `playerIdx` 1 on the wire. A cell is (q, r) there; the engine numbers cells by r, then q
(`referee.games.hexgrid`).
"""

from referee.games.aibg5 import types
from referee.games.aibg5.answers import *
from referee.games.aibg5.board import *
from referee.games.aibg5.position import *
from referee.games.aibg5.presentation import PRESENTATION
from referee.games.aibg5.rules import *
from referee.games.aibg5.rules import AIBG5, rebuilt
from referee.games.aibg5.types import *
from referee.games.aibg5.types import METHODS, SEATS, GameState, Options, View
from referee.games.game import Game, TimeControl, named

GAME = Game(
    name="aibg5",
    title="AIBG 5",
    seats=range(SEATS, SEATS + 1),
    methods=METHODS,
    options=Options,
    time=TimeControl(per_call_s=3.0, match_s=180.0),
    new=AIBG5,
    view=View,
    seat_view=GameState,
    rebuild=rebuilt,
    presentation=PRESENTATION,
    doc=__doc__ or "",
    constants=named(
        vars(types), "SEATS RADIUS SIZE ATTACK_RANGE ASTEROID_HEALTH TRAP_TURNS BOSS_POWER LEVEL_XP MAX_HEALTH POWER"
    ),
    short={"rounds": 40},
)
