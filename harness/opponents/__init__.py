"""The built-in opponents: ordinary programs, started as `python -m referee.harness.opponents.<module>`.

`OPPONENTS` lists their names (without the `@`), programs, games and seats. The names in capitals are the Arena's cases
(tictactoe.md, quoridor.md and connectfour.md, B2), each of which has a fixed seat.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from referee.games import registry

DIGITS = 7
"""The most digits of an opponent's number."""


class Opponent(Struct, frozen=True):
    """A built-in opponent."""

    module: str
    """The name of its module in this package."""
    seats: Mapping[str, int | None]
    """The games that it plays, each with its seat; None: any seat."""
    args: tuple[str, ...] = ()
    """The arguments of the program."""
    any_game: bool = False
    """The engine itself plays games that the program does not know (`referee.harness.programs.built_in`)."""
    package: str = __name__
    """The package of the module; empty: `module` is the whole name of one, or the absolute path of a bot."""
    injects: bool = False
    """It acts out of turn: the referee calls `inject`, as for no other bot (`referee.harness.match.interventions`)."""
    number: int | None = None
    """The last argument, which `@NAME:NUMBER` sets; None: it takes none."""
    thinks: tuple[str, ...] = ()
    """The games in which an answer takes it more than a fraction of a millisecond."""

    @property
    def path(self) -> str:
        """The module that `python -m` runs."""
        return f"{self.package}.{self.module}" if self.package else self.module


_GAMES = ("aiarena21", "aibg5", "cardgame", "connectfour", "quoridor", "reantics", "tictactoe")
_CHEATS = {
    "C_AI_OUT_OF_BOUND": {"tictactoe": 1, "connectfour": 1},
    "C_AI_DUP": {"tictactoe": 1},
    "C_AI_X_FIRST": {"tictactoe": 1},
    "C_AI_TWICE_A_ROW": {"tictactoe": 0, "quoridor": 1, "connectfour": 0},
    "C_AI_FLIP_TABLE_RANDOMLY": {"tictactoe": 1, "connectfour": 1},
    "C_AI_TELEPORT": {"quoridor": 1},
    "C_AI_SECOND_FIRST": {"quoridor": 1},
    "C_AI_WALL_OUTSIDE": {"quoridor": 0},
    "C_AI_PAWN_OUTSIDE": {"quoridor": 1},
    "C_AI_WALL_CROSS": {"quoridor": 0},
    "C_AI_WALL_BLOCKING": {"quoridor": 1},
    "C_AI_WALK_THROUGH_WALL": {"quoridor": 0},
    "C_AI_PUT_11_WALLS": {"quoridor": 1},
    "C_AI_OVERFLOW": {"connectfour": 0},
    "C_AI_Y_FIRST": {"connectfour": 1},
    "C_AI_NIL": {"connectfour": 1},
    "C_AI_SURPRISE": {"connectfour": 1},
}
"""The seats of the cheats in each game."""
_OUT_OF_TURN = ("C_AI_X_FIRST", "C_AI_TWICE_A_ROW", "C_AI_SECOND_FIRST", "C_AI_Y_FIRST")

OPPONENTS: Mapping[str, Opponent] = {  # those of a game from the weakest to the strongest
    "random": Opponent("random", dict.fromkeys(_GAMES), any_game=True),
    "greedy": Opponent("greedy", {"aiarena21": None}),
    "planner": Opponent("planner", {"aiarena21": None}, thinks=("aiarena21",)),
    "aggressive": Opponent("aggressive", {"cardgame": None}),
    "trader": Opponent("trader", {"cardgame": None}),
    "forager": Opponent("forager", {"reantics": None}),
    "raider": Opponent("raider", {"reantics": None}, thinks=("reantics",)),
    "trainer": Opponent("trainer", {"aibg5": None}, thinks=("aibg5",)),
    "gunner": Opponent("gunner", {"aibg5": None}, thinks=("aibg5",)),
    "baseline": Opponent("baseline", {"connectfour": None, "quoridor": None, "tictactoe": None}),
    "blocker": Opponent("blocker", {"connectfour": None, "tictactoe": None}),
    "runner": Opponent("runner", {"quoridor": None}),
    "advanced": Opponent(
        "advanced", {"connectfour": None, "quoridor": None, "tictactoe": None}, thinks=("connectfour", "quoridor")
    ),
    "BASE_AI_O": Opponent("baseline", {"tictactoe": 0}),
    "BASE_AI_X": Opponent("baseline", {"tictactoe": 1}),
    "AB_AI_O": Opponent("advanced", {"tictactoe": 0}),
    "AB_AI_X": Opponent("advanced", {"tictactoe": 1}),
    "BASE_AI_FIRST": Opponent("baseline", {"quoridor": 0}),
    "BASE_AI_SECOND": Opponent("baseline", {"quoridor": 1}),
    "AB_AI_FIRST": Opponent("advanced", {"quoridor": 0}, thinks=("quoridor",)),
    "AB_AI_SECOND": Opponent("advanced", {"quoridor": 1}, thinks=("quoridor",)),
    "BASE_AI_R": Opponent("baseline", {"connectfour": 0}),
    "BASE_AI_Y": Opponent("baseline", {"connectfour": 1}),
    "AB_AI_R": Opponent("advanced", {"connectfour": 0}, thinks=("connectfour",)),
    "AB_AI_Y": Opponent("advanced", {"connectfour": 1}, thinks=("connectfour",)),
    **{
        name: Opponent("cheat", seats, (name,), injects=name in _OUT_OF_TURN, thinks=("quoridor",))
        for name, seats in _CHEATS.items()
    },
}


def opponents(game: str | None) -> Mapping[str, Opponent]:
    """Returns all built-in opponents, including those that the game's own package brings."""
    if game is None:
        return OPPONENTS
    found = dict(OPPONENTS)
    for text, module in registry.game(game).opponents.items():
        name, _, number = text.partition(":")
        found[name] = Opponent(module, {game: None}, package="", number=int(number) if number else None)
    return found


def opponent_named(spec: str, game: str | None) -> Opponent | None:
    """Returns the built-in opponent of `@NAME` or `@NAME:NUMBER`; None if there is none. ValueError for its number."""
    name, colon, number = spec.removeprefix("@").partition(":")
    opponent = opponents(game).get(name)
    if opponent is None or not colon:
        return opponent
    if opponent.number is None:
        raise ValueError(f"@{name} takes no number")
    if not (number.isascii() and number.isdigit() and 1 <= len(number) <= DIGITS and int(number)):
        raise ValueError(f"{spec}: expected a number from 1 to {10**DIGITS - 1:,} after the colon")
    return replace(opponent, number=int(number))


def levels(game: str) -> list[str]:
    """Returns the names of the opponents that play a game at any seat, from the weakest to the strongest."""
    return [name for name, known in opponents(game).items() if known.any_game or known.seats.get(game, -1) is None]
