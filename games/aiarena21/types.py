"""The documented names, numbers and shapes of AI Arena 21: aiarena21.md, sections 2 to 9."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from referee.games.contract import FaultKind, Method, Standing

# Sections 2 to 7: the document's own names and numbers.
FREE_CHAR, BLOCK_CHAR, SPAWN_CHAR = ".", "#", "S"
ONION, STRAWBERRY, DRAGON_FRUIT = 2, 10, 30
START_SCORE = 100
DEPLOYMENT_TURNS = 20
BIKE, PORTAL_GUN = "bike", "portal gun"
BIKE_COST, BIKE_TURNS, BIKE_STEPS = 30, 3, 3
PORTAL_GUN_COST, PORTAL_GUN_TURNS = 100, 1
AUCTION_TURNS = 30
AUCTIONS_A_TURN = 10
OPENING_TURNS = 3
HEAT_REACH = 9


# The wire (section 9).
Row = Annotated[int, Meta(ge=0, title="row")]
Col = Annotated[int, Meta(ge=0, title="col")]
Location = Annotated[tuple[Row, Col], Meta(description="[row, col]: row 0 at the top, column 0 at the left")]
Item = Literal["Onion", "Strawberry", "DragonFruit"]
PowerUp = Literal["", "bike", "portal gun"]


class Map(Struct, frozen=True):
    """The grid."""

    rows: Annotated[int, Meta(ge=1, description="number of rows")]
    cols: Annotated[int, Meta(ge=1, description="number of columns")]
    cells: Annotated[Sequence[str], Meta(description="one text a row: . free, # blocked, S spawn (free too)")]


class Player(Struct, frozen=True):
    """A player, without its bids."""

    name: Annotated[str, Meta(description="as on the command line")]
    score: Annotated[int, Meta(ge=0, description="points")]
    location: Location
    bike: Annotated[bool, Meta(description="a bike is running in this turn")]
    portal_gun: Annotated[bool, Meta(description="a portal gun was bought in this turn")]


class Situation(Struct, frozen=True):
    """Parameters of every function. Lists are rows × cols, row first."""

    game_map: Map
    me: Player
    opponent: Player
    items: Annotated[Sequence[Sequence[int]], Meta(description="the points that lie on each cell")]
    new_items: Annotated[
        Sequence[Sequence[Sequence[Item]]], Meta(description="fruit put down at the start of this turn")
    ]
    heatmap: Annotated[
        Sequence[Sequence[float]],
        Meta(description="how near the fruit of the next deployment is", extra={"decimals": 1}),
    ]
    remaining_turns: Annotated[int, Meta(description="this turn included: 1 in the last")]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Rule options of AI Arena 21."""

    map: Annotated[str, Meta(description="the content of a map file; empty: the map 1.txt")] = ""
    turns: Annotated[int, Meta(ge=1, description="the length of the game")] = 100


# Events for viewers; bots never get them.


class Spawned(Struct, frozen=True):
    """Where the players start, by seat."""

    locations: Annotated[tuple[Location, Location], Meta(description="by seat")]


class Pile(Struct, frozen=True):
    """Fruit on a cell."""

    location: Location
    items: Annotated[Sequence[Item], Meta(description="the fruit on it")]


class Deployed(Struct, frozen=True):
    """A batch was put down. Piles in row-major order."""

    turn: Annotated[int, Meta(ge=0, description="the first is 0")]
    piles: Annotated[Sequence[Pile], Meta(description="row by row")]


class Purchase(Struct, frozen=True):
    """A player asked for a power-up. Not `bought`: it did not have the points, and paid nothing."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    power_up: Annotated[PowerUp, Meta(description="what it asked for")]
    bought: Annotated[bool, Meta(description="it had the points")]
    score: Annotated[int, Meta(ge=0, description="its points afterwards")]


class Moved(Struct, frozen=True):
    """Where the players stand after their moves and how they got there, by seat."""

    locations: Annotated[tuple[Location, Location], Meta(description="by seat")]
    deltas: Annotated[
        tuple[tuple[int, int], tuple[int, int]], Meta(description="[rows, cols] that each has moved by, by seat")
    ]


class Auction(Struct, frozen=True):
    """Both players have bid. No winner: a tie, and nobody pays."""

    cause: Annotated[Literal["meeting", "clock"], Meta(description="they met, or 30 turns have passed")]
    bids: Annotated[tuple[int, int], Meta(description="by seat; an answer that is no bid is 0")]
    winner: Annotated[int | None, Meta(description="a seat; null: a tie")]
    price: Annotated[int, Meta(ge=0, description="points that the winner pays")]


class Teleported(Struct, frozen=True):
    """An auction moved a player. Not `chosen`: to a random cell."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    location: Location
    chosen: Annotated[bool, Meta(description="whether the winner named the cell; else it is random")]


class PickedUp(Struct, frozen=True):
    """A player collected the fruit on its cell."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    location: Location
    items: Annotated[Sequence[Item], Meta(description="the fruit collected")]
    score: Annotated[int, Meta(ge=0, description="its points afterwards")]


class TurnEnded(Struct, frozen=True):
    """The turn with this index is over; pairs by seat."""

    turn: Annotated[int, Meta(ge=0, description="the first is 0")]
    locations: Annotated[tuple[Location, Location], Meta(description="by seat")]
    scores: Annotated[tuple[int, int], Meta(description="by seat")]


class FaultCount(Struct, frozen=True):
    """How many faults of one kind a player has."""

    player: Annotated[int, Meta(ge=0, le=1, description="the seat")]
    kind: FaultKind
    count: Annotated[int, Meta(ge=1, description="how often")]


class GameEnded(Struct, frozen=True):
    """The game is over. No winner: a draw."""

    winner: Annotated[int | None, Meta(description="a seat; null: a draw")]
    scores: Annotated[tuple[int, int], Meta(description="by seat")]
    faults: Annotated[Sequence[FaultCount], Meta(description="by seat, then by first occurrence")]


SHARED = ("game_map", "items", "new_items", "heatmap")


def _call(name: str, result: Any, doc: str, section: int) -> Method:
    return Method(name, Situation, result, doc, accepts=Any, shared=SHARED, rules=f"aiarena21.md, {section}")


PLAY_POWERUP = _call(
    "play_powerup",
    PowerUp,
    "Buy a power-up: `bike` (30 points, 3 turns, 3 steps a turn), `portal gun` (100 points, 1 turn, any free cell) or "
    "nothing. Player 1 sees what player 0 has bought.",
    5,
)
PLAY_TURN = _call("play_turn", str, 'Where to go: "row,col" in digits, nothing else. Staying is allowed.', 5)
PLAY_AUCTION = _call("play_auction", int, "Your bid, 0 up to your score.", 6)
PLAY_TRANSPORT = _call("play_transport", str, 'You won the auction: the free cell for your opponent, "row,col".', 6)
EVENTS = (
    Method("spawned", Spawned, None, "Where the players start.", viewers=True),
    Method("deployed", Deployed, None, "Fruit was put down.", viewers=True),
    Method("purchase", Purchase, None, "A player bought a power-up, or could not pay for it.", viewers=True),
    Method("moved", Moved, None, "Both players have moved.", viewers=True),
    Method("auction", Auction, None, "Both players have bid.", viewers=True),
    Method("teleported", Teleported, None, "An auction moved a player.", viewers=True),
    Method("picked_up", PickedUp, None, "A player collected fruit.", viewers=True),
    Method("turn_ended", TurnEnded, None, "A turn is over.", viewers=True),
    Method("game_ended", GameEnded, None, "The game is over.", viewers=True),
)
METHODS = {method.name: method for method in (PLAY_POWERUP, PLAY_TURN, PLAY_AUCTION, PLAY_TRANSPORT, *EVENTS)}


class View(Struct, frozen=True):
    """Everything, for viewers. Pairs are by seat, lists rows × cols."""

    turn: Annotated[int, Meta(description="the current turn, from 0; at the end, `turns`")]
    turns: Annotated[int, Meta(description="the number of turns in the game")]
    game_map: Map
    players: Annotated[tuple[Player, Player], Meta(description="by seat")]
    bike_turns: Annotated[tuple[int, int], Meta(description="turns left with a bike, this one included (section 5)")]
    items: Annotated[Sequence[Sequence[str]], Meta(description="the fruit on each cell as letters O, S and D")]
    incoming: Annotated[Sequence[Pile], Meta(description="the fruit of the next deployment")]
    heatmap: Annotated[Sequence[Sequence[float]], Meta(description="points with two decimals; 0 on blocked cells")]
    last_auction: Annotated[int, Meta(description="its turn, else 0; the clock causes one after 30 turns (section 6)")]
    portal_gun_turns: Annotated[tuple[int, int], Meta(description="1 in the turn in which it was bought, else 0")]
    spawns: Annotated[tuple[Location, Location], Meta(description="the starting cells, by seat")]
    deployed: Annotated[Sequence[Pile], Meta(description="the fruit put down in this turn")]
    auctions: Annotated[int, Meta(description="the number of auctions in this turn")]
    bids: Annotated[tuple[int, int], Meta(description="the bids of the last auction")]
    faults: Annotated[Sequence[FaultCount], Meta(description="by seat, then by first occurrence")]
    standing: Standing


POWER_UPS: tuple[PowerUp, ...] = ("", "bike", "portal gun")
