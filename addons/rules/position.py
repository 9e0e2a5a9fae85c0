"""A position of a game whose rules are a program: what it consists of, and how it is shown."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, ClassVar, Self

import msgspec
from msgspec import Struct

from referee.addons.rules.messages import Asked, Turn
from referee.addons.rules.program import Position, RulesProgram, luck_of
from referee.addons.rules.turns import Reading
from referee.games.contract import FATAL, Event, Fault, Player, Setup, State
from referee.games.dice import Dice

MOST_TURNS = 100_000
"""Turns of a game before it must have a result: no other limit ends a match whose rules never do."""
MOST_CLOSING_TURNS = 100
"""Turns after the result."""


class Saved(Struct, frozen=True):
    """The members of a view from which a position is rebuilt."""

    position: Any
    calls: dict[str, Asked]
    text: str
    scores: tuple[float, ...]
    marks: dict[str, Any]
    opening: bool


class ProgramPosition(State):
    """A position: the turn that led to it, which copies share and which never changes."""

    RULES: ClassVar[RulesProgram]
    GAME: ClassVar[str]
    FULL_VIEW: ClassVar[type[Struct]]
    """The members of the game's view, `saved` and `standing`."""
    SEAT_VIEW: ClassVar[type[Struct]]
    UNTYPED: ClassVar[type[Struct] | None]
    """The view of a game that does not say what its views are: a member `position`."""

    _turns = 0
    """Of this game, or since its result; a position that is made from a view begins at 0."""

    def __init__(self, setup: Setup, dice: Dice | None = None) -> None:
        super().__init__(setup, dice)
        self._ahead: tuple[Mapping[Player, Any], Turn] | None = None  # the turn that follows from judged answers
        turn = self.RULES.start(msgspec.to_builtins(setup.options), len(setup.names), self._luck())
        self._opening = self._take(turn, {}, "start")
        self.warnings = turn.warnings
        if not self.awaited:
            raise self.RULES.broken("start", "nobody is awaited in the first position")

    # What a turn says.

    def _luck(self) -> str:
        """Draws 64 bits for a request."""
        luck = luck_of(self.dice.state)
        self.dice.bits()
        return luck

    def _reading(self, request: str) -> Reading:
        return Reading(self.RULES, self.METHODS, self._seats, request)

    def _take(self, turn: Turn, faults: Mapping[Player, Any], method: str) -> list[Event]:
        """Goes to the position of a turn, and returns what happened. RunError if the turn is no turn.

        `faults`: what the rulings are about; a ruling on another answer is illegal.
        """
        place, reading = self.RULES.position(turn, method), self._reading(method)
        out = frozenset(self.out)  # `forfeit` may have made it a set that changes in place
        if turn.out:
            out |= {reading.seat(seat) for seat in turn.out}
        for player, fault in faults.items():
            if type(fault) is Fault and fault.kind in FATAL:
                out |= {player}
        calls = reading.calls(turn, out)
        result = reading.result(turn.result, self.result)
        events = reading.events(turn, faults, self.out, out)
        self._turns = 0 if result is not None and self.result is None else self._turns + 1
        if result is None and self._turns > MOST_TURNS:
            raise reading.broken(
                f"the game has no result after {MOST_TURNS:,} turns; expected rules that end it, such as with a draw"
            )
        if calls and result is not None and self._turns > MOST_CLOSING_TURNS:
            raise reading.broken(
                f"it still calls bots {MOST_CLOSING_TURNS} turns after the result; expected a turn without calls"
            )
        self._turn, self._position, self.out, self.result = turn, place, out, result
        self._calls = calls
        self.awaited = {player: call.method for player, call in calls.items()}
        self.in_opening = turn.opening
        self._views: dict[Player | None, tuple[Any, str | None]] = {}
        self._ahead = None
        return events

    # What a check of the rules looks at.

    @property
    def position(self) -> Position:
        """The position as the rules know it."""
        return self._position

    @property
    def next_luck(self) -> str:
        """The luck of the next step."""
        return luck_of(self.dice.state)

    @property
    def turn_ahead(self) -> Turn | None:
        """The turn that follows from the answers that were judged last."""
        return None if self._ahead is None else self._ahead[1]

    # What it shows.

    @property
    def deals_again(self) -> bool:  # type: ignore[override]
        """Whether `copy(seed)` draws again what is hidden, or nothing is."""
        return "deal" in self.RULES.requests or "view" not in self.RULES.requests

    def _seen(self, player: Player | None) -> tuple[Any, str | None]:
        """Returns the view of a seat and its drawing, requested once."""
        if player not in self._views:
            if "view" in self.RULES.requests:
                seen = self.RULES.view(self._position, player)
                self._views[player] = seen.view, seen.text
            else:
                value = self._position.value
                self._views[player] = {"position": value} if self.SEAT_VIEW is self.UNTYPED else value, None
        return self._views[player]

    def _view(self, player: Player) -> Any:
        return self._reading("view").fitting(self._seen(player)[0], self.SEAT_VIEW, "the view of a seat does")

    def _full_view(self) -> Any:
        turn, view = self._turn, self._seen(None)[0]
        saved = Saved(self._position.value, turn.calls, turn.text, turn.scores, turn.marks, turn.opening)
        parts = {"saved": msgspec.to_builtins(saved), "standing": msgspec.to_builtins(self.standing())}
        if not isinstance(view, dict):
            raise self.RULES.broken("view", "the whole view is no object")
        return self._reading("view").fitting({**view, **parts}, self.FULL_VIEW, "the whole view does")

    @classmethod
    def rebuilt(cls, setup: Setup, view: Any) -> Self:
        """Returns the position that a full view shows. ValueError if it shows none."""
        seats = range(len(setup.names))
        if any(player not in seats for player in view.standing.awaited):
            raise ValueError("the view awaits a seat that is not there")
        state = object.__new__(cls)
        State.__init__(state, setup)
        state._opening, state._ahead = [], None
        saved = view.saved
        state.result, state.out = view.standing.result, frozenset()
        position = msgspec.Raw(msgspec.json.encode(saved.position))
        turn = Turn(position, saved.calls, text=saved.text, scores=saved.scores, marks=saved.marks)
        turn = msgspec.structs.replace(turn, opening=saved.opening, result=view.standing.result)
        if not saved.calls and turn.result is None:
            raise ValueError("the view awaits nobody, and has no result")
        state._take(turn, {}, "start")
        state.resume(view.standing)
        return state

    def key(self) -> bytes:
        awaited = [(player, method.name) for player, method in self.awaited.items()]
        rest = msgspec.json.encode((awaited, sorted(self.out), self.result, self.dice.state))
        return blake2b(self._position.canonical, digest_size=16).digest() + rest

    def copy(self, seed: int | None = None) -> Self:
        twin = self._twin()
        twin._views = dict(self._views)
        twin.dice = self.dice.copy() if seed is None else Dice(seed)
        if seed is not None and "deal" in self.RULES.requests:
            twin._deal()
        return twin

    def dealt_for(self, player: Player, seed: int) -> Self:
        """Returns a copy in which all is drawn again that is hidden from an awaited seat."""
        twin = self.copy()
        twin.dice = Dice(seed)
        twin._deal(**({"seat": player} if len(self.awaited) > 1 else {}))
        return twin

    def _deal(self, **params: Player) -> None:
        self._take(self.RULES.turn("deal", self._position, luck=self._luck(), **params), {}, "deal")

    def standings(self) -> tuple[float, ...]:
        """Returns how well each seat stands, as the rules count it."""
        return self._turn.scores or (0.0,) * len(self._seats)

    def marks(self) -> Mapping[str, Any]:
        return self._turn.marks

    def shown_to(self, player: Player) -> str:
        view, text = self._seen(player)
        return str(self) if "view" not in self.RULES.requests else text or _as_json(view)

    def __str__(self) -> str:
        return self._turn.text or _as_json(self._position.value)

    def __reduce__(self) -> tuple[Any, ...]:
        setup = self.setup  # the types are made when the game is loaded
        options = msgspec.to_builtins(setup.options)
        return _unpickled, (self.GAME, setup.seed, setup.names, options, msgspec.to_builtins(self._full_view()))


def _as_json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def _unpickled(name: str, seed: int, names: tuple[str, ...], options: dict[str, Any], view: Any) -> ProgramPosition:
    from referee.addons.rules.source import SOURCE

    game = SOURCE.game(name)
    assert game is not None
    state = game.position(Setup(seed, names, msgspec.convert(options, game.options)), view)
    assert isinstance(state, ProgramPosition)
    return state
