"""A base for games in which two players move in turn.

A game defines `MOVE`, `start`, `_legal`, `play`, `_view` and `__str__`. It annotates the members that make up its
position in the class body: copies, keys, `view(None)` and positions from views come from these, luck included. A fault
loses the match.
"""

from abc import abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar, Self, get_origin, get_type_hints

from msgspec import Struct, defstruct

from referee.games.contract import LOSES, Event, Fault, Method, Player, Result, Setup, Standing, State, win
from referee.games.dice import Dice
from referee.games.game import Game, TimeControl

A_SECOND = TimeControl(per_call_s=1.0)


class TurnGame(State):
    """A position of a game in which two players move in turn; seat 0 begins."""

    MOVE: ClassVar[Method]
    """The function that asks for a move. Its `params` are what `_view` shows, its `result` is a move."""
    FULL_VIEW: ClassVar[type[Struct]]
    """The annotated members and the standing. Made by `game`."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self.give_turn(0)
        self.start()

    @classmethod
    def game(
        cls, name: str, title: str, *, options: type | None = None, time: TimeControl = A_SECOND, **rest: Any
    ) -> Game:
        """Returns the registration of this game. `rest`: more members of `Game`."""
        cls.METHODS = {cls.MOVE.name: cls.MOVE}
        cls.FULL_VIEW = defstruct(
            "FullView",
            [*cls._members().items(), ("standing", Standing)],
            namespace={"__doc__": "The whole position.", "__qualname__": f"{cls.__qualname__}.FULL_VIEW"},
            module=cls.__module__,
            frozen=True,
        )
        if options is None:
            options = defstruct("Options", [], module=cls.__module__, frozen=True, forbid_unknown_fields=True)
        return cls._registered(name, title, options=options, time=time, seat_view=cls.MOVE.params, **rest)

    @classmethod
    def _registered(cls, name: str, title: str, **rest: Any) -> Game:
        rest |= {"new": cls, "view": cls.FULL_VIEW, "rebuild": cls.rebuilt}
        return Game(name, title, range(2, 3), cls.METHODS, **rest)

    # For games to define.

    @abstractmethod
    def start(self) -> None:
        """Sets up the first position from `self.setup.options` and `self.dice`. ValueError if they make no match."""

    @abstractmethod
    def play(self, player: Player, move: Any) -> Result | None:
        """Plays a legal move. Returns the result if it ends the match. `give_turn` lets the same player move again."""

    # The contract of every engine.

    def give_turn(self, player: Player) -> None:
        """Makes `player` the next to move."""
        self.awaited = {player: self.MOVE}

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        ((player, answer),) = answers.items()
        faulty = isinstance(answer, Fault)
        self.give_turn(1 - player)
        result = win(1 - player, answer.kind.value) if faulty else self.play(player, answer)
        if result is not None:
            self.finish(result)
        return [self.rule(player, answer, LOSES)] if faulty else []

    def _full_view(self) -> Any:
        *names, _ = self.FULL_VIEW.__struct_fields__
        return self.FULL_VIEW(*[deepcopy(getattr(self, name)) for name in names], self.standing())

    @classmethod
    def rebuilt(cls, setup: Setup, view: Any) -> Self:
        """Returns the position that a full view shows."""
        state = cls(setup)
        *names, _ = cls.FULL_VIEW.__struct_fields__
        for name in names:
            setattr(state, name, deepcopy(getattr(view, name)))
        state.resume(view.standing)
        return state

    @classmethod
    def _members(cls) -> dict[str, Any]:
        """The annotated members with their types."""
        hints, inherited = get_type_hints(cls, include_extras=True), get_type_hints(TurnGame)
        return {
            name: hint for name, hint in hints.items() if name not in inherited and get_origin(hint) is not ClassVar
        }
