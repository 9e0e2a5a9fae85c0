"""The documented numbers and shapes of AIBG 5.0: aibg5.md, sections 2 to 10 and 13."""

from collections.abc import Sequence
from types import NoneType
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.contract import Method, Standing

# Sections 2 to 10: the document's numbers.
SEATS = 4
RADIUS = 14
SIZE = 2 * RADIUS + 1
START_TILES = ((-7, -7), (14, -7), (-14, 7), (7, 7))
TILES_ABOVE = ((-6, -8), (14, -8), (-14, 6), (8, 6))  # section 11
TILES_BELOW = ((-8, -6), (14, -6), (-14, 8), (6, 8))
MAX_HEALTH = (1000, 1300, 1600, 1900, 2200)  # by level, from 1 on
POWER = (150, 200, 250, 300, 350)
LEVEL_XP = 1000
ASTEROID_XP, EXPERIENCE_XP, HIT_XP, KILL_XP = 20, 100, 30, 100
KILL_SCORE = 50
ASTEROID_HEALTH = 350
ATTACK_RANGE = 3
TRAP_TURNS = 2
PENALTY_DIVISOR = 10
BOSS_RINGS, DIRECT_RINGS = range(2), range(2, 5)
HEALTH_RINGS, EXPERIENCE_RINGS = range(2, 11), range(2, 15)
BOSS_POWER = 250
PAUSES = (3, 4, 5, 6, 7)


# The wire (section 13).
EntityType = Literal["EMPTY", "BLACKHOLE", "WORMHOLE", "HEALTH", "EXPERIENCE", "ASTEROID", "BOSS"]
TileType = Literal["NORMAL", "FULL"]
Q = Annotated[int, Meta(ge=-14, le=14, description="column, slanting: the first axial coordinate")]
R = Annotated[int, Meta(ge=-14, le=14, description="row: the second axial coordinate")]


class Terrain(Struct, frozen=True, omit_defaults=True):
    """The content of a tile that the boss has attacked: never the boss."""

    type: Annotated[EntityType, Meta(description="its kind")]
    id: Annotated[int | UnsetType, Meta(description="of a WORMHOLE: the pair")] = UNSET
    health: Annotated[int | UnsetType, Meta(description="of an ASTEROID")] = UNSET


class AttackedTile(Struct, frozen=True):
    """A tile that the boss has attacked, as it is now."""

    q: Q
    r: R
    entity: Terrain
    tileType: Annotated[TileType, Meta(description="FULL: cannot be entered")]


class Entity(Terrain, frozen=True, omit_defaults=True):
    """The content of a tile. Players are not part of the map."""

    bossAction: Annotated[bool | UnsetType, Meta(description="of a BOSS: see Boss")] = UNSET
    bossAttackedTiles: Annotated[Sequence[AttackedTile] | UnsetType, Meta(description="of a BOSS: see Boss")] = UNSET


class Tile(Struct, frozen=True):
    """A cell of the map."""

    q: Q
    r: R
    entity: Entity
    tileType: Annotated[TileType, Meta(description="FULL: cannot be entered")]


class Map(Struct, frozen=True):
    """The board."""

    size: Annotated[int, Meta(description="rows")]
    tiles: Annotated[Sequence[Sequence[Tile]], Meta(description="by r from -14 on, each row by q from its least on")]


class Player(Struct, frozen=True):
    """A player, without its experience points."""

    type: Annotated[Literal["PLAYER"], Meta(description="always that")]
    r: R
    q: Q
    playerIdx: Annotated[int, Meta(ge=1, le=4, description="the player's number: its seat + 1")]
    name: Annotated[str, Meta(description="as on the command line")]
    health: Annotated[int, Meta(description="health left")]
    power: Annotated[int, Meta(description="the health that its attack takes")]
    level: Annotated[int, Meta(ge=1, le=5, description="decides power and maximum health")]
    kills: Annotated[int, Meta(ge=0, description="players killed")]
    deaths: Annotated[int, Meta(ge=0, description="times it died")]
    score: Annotated[int, Meta(ge=0, description="points")]
    trapped: Annotated[bool, Meta(description="sits in a black hole")]
    trapDuration: Annotated[int, Meta(description="turns that it still loses")]
    kd: Annotated[float, Meta(description="kills / deaths; kills, if there are no deaths")]


class Boss(Struct, frozen=True):
    """The boss. Its seven tiles repeat this."""

    type: Annotated[Literal["BOSS"], Meta(description="always that")]
    bossAction: Annotated[bool, Meta(description="whether it has acted since the last player")]
    bossAttackedTiles: Annotated[Sequence[AttackedTile], Meta(description="of its last turn: direct hits, the pattern")]


class ScoreBoard(Struct, frozen=True):
    """The ranking."""

    players: Annotated[Sequence[Player], Meta(description="all four, best first")]


class GameState(Struct, frozen=True):
    """The position, as everybody sees it."""

    map: Map
    player1: Annotated[Player | None, Meta(description="null: disqualified")]
    player2: Annotated[Player | None, Meta(description="null: disqualified")]
    player3: Annotated[Player | None, Meta(description="null: disqualified")]
    player4: Annotated[Player | None, Meta(description="null: disqualified")]
    boss: Boss
    scoreBoard: ScoreBoard


class Action(Struct, frozen=True):
    """An answer to `doAction`."""

    action: Annotated[str, Meta(description='"move,Q,R" or "attack,Q,R"')]


class JoinGame(Struct, frozen=True):
    """Parameters of `joinGame`."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="which player you are")]
    gameState: GameState


class DoAction(Struct, frozen=True):
    """Parameters of `doAction`."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="which player you are")]
    gameState: GameState
    message: Annotated[str | None, Meta(description="what was wrong with your last action: a code, a colon, words")]


class GameOver(Struct, frozen=True):
    """The end."""

    reason: Annotated[str, Meta(description="why it ended")]
    players: Annotated[Sequence[Player], Meta(description="all four, best first")]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of AIBG 5.0."""

    map: Annotated[str, Meta(description="the content of a map file; empty: the map practice1.txt")] = ""
    rounds: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(description="the length of the game; null: only the clock ends it"),
    ] = None
    trapped_penalty: Annotated[bool, Meta(description="a turn in a black hole costs a tenth of the health")] = True


# Events for viewers; bots never get them.


class Shot(Struct, frozen=True):
    """An attack, with the cell that it hit."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="the shooter")]
    q: Q
    r: R
    hit: Annotated[Literal["PLAYER", "ASTEROID", "BOSS"], Meta(description="what it hit")]


class Died(Struct, frozen=True):
    """A player died and starts again on (q, r)."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="the player who died")]
    by: Annotated[int | None, Meta(description="the player who killed it; null: the boss")]
    q: Q
    r: R


class PickedUp(Struct, frozen=True):
    """A player took an item."""

    playerIdx: Annotated[int, Meta(ge=1, le=4, description="the player")]
    item: Annotated[Literal["HEALTH", "EXPERIENCE"], Meta(description="the item")]


class BossAttack(Struct, frozen=True):
    """The boss's turn."""

    pattern: Annotated[
        Literal["A", "B", "C", "ring 6", "ring 8", "ring 10"] | None,
        Meta(description="null: none in this turn"),
    ]
    direct: Annotated[Sequence[int], Meta(description="players hit because they were near")]
    struck: Annotated[Sequence[int], Meta(description="players hit by the pattern")]


JOIN_GAME = Method(
    "joinGame",
    JoinGame,
    NoneType,
    "The game begins. The referee asks all four players at once, and ignores the answers.",
    accepts=Any,
    shared=("gameState",),
    rules="aibg5.md, 12",
)
DO_ACTION = Method(
    "doAction",
    DoAction,
    Action,
    "Your turn: move to a cell next to yours, or attack a player, an asteroid or the boss at most 3 cells away.",
    accepts=Any,  # anything that is no action is an illegal one, and only costs health (section 5)
    shared=("gameState",),
    rules="aibg5.md, 5",
)
EVENTS = (
    Method("gameOver", GameOver, None, "The game is over."),
    Method("shot", Shot, None, "An attack.", viewers=True),
    Method("died", Died, None, "A player died and starts again.", viewers=True),
    Method("pickedUp", PickedUp, None, "A player took an item.", viewers=True),
    Method("bossAttack", BossAttack, None, "The boss had its turn.", viewers=True),
)
METHODS = {method.name: method for method in (JOIN_GAME, DO_ACTION, *EVENTS)}


class View(Struct, frozen=True):
    """Everything, for viewers. Lists are by seat."""

    gameState: GameState
    xp: Annotated[Sequence[int], Meta(description="experience points; the next level takes 1,000 (section 4)")]
    messages: Annotated[Sequence[str | None], Meta(description="on each player's last action, sent or still due")]
    awaited: Annotated[Sequence[int], Meta(description="the `playerIdx` of the players to move")]
    rounds: Annotated[int, Meta(description="the number of finished rounds")]
    nextPattern: Annotated[str, Meta(description="the boss's next pattern: A, B, C or a ring (section 10)")]
    pause: Annotated[int, Meta(description="the turns of the boss without a pattern before that")]
    bossStep: Annotated[int, Meta(description="the place of `nextPattern` in the boss's cycle, from 0")]
    idle: Annotated[int, Meta(description="turns of the boss without a pattern since the last one")]
    pauseLength: Annotated[int, Meta(description="how many there will be in all")]
    standing: Standing
