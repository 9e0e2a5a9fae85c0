"""`replay show` on the full terminal: steps through a replay with the keys of the browser's viewer.

Needs Textual, the extra `tui`; without it `replay show` prints.
"""

from asyncio import AbstractEventLoop, get_running_loop
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Static

from referee.games.contract import Call
from referee.harness.cli.reports.text import printable, short
from referee.harness.cli.reports.turns import SEAT_STYLES, board, differing, legend, title, turn_text
from referee.harness.cli.signals import on_screen
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, positions_to_the_end

SPEEDS = (1, 2, 4, 8, 16, 32)
"""Turns a second."""
KEYS = (
    ("space", "play", "play or pause"),
    ("left", "move(-1)", "a turn back; with shift ten"),
    ("right", "move(1)", "a turn on; with shift ten"),
    ("shift+left", "move(-10)", ""),
    ("shift+right", "move(10)", ""),
    ("home", "seek(0)", "the beginning"),
    ("end", "last", "the end"),
    ("f", "fault(1)", "the next fault; with shift the one before, and from the beginning the last"),
    ("F", "fault(-1)", ""),
    ("n", "next_call", "the next call of this seat"),
    ("plus,equals_sign", "faster(1)", "faster"),
    ("minus", "faster(-1)", "slower"),
    ("s", "next_seat", "everything, or what one seat sees"),
    ("b", "side_by_side", "what all seats see, side by side"),
    ("g", "go_to", "go to a turn"),
    ("question_mark", "explain", "this help"),
    ("q,ctrl+c", "quit", "leave"),
)
"""Key, action and help text. The browser's viewer uses the same keys."""


@dataclass(frozen=True)
class Step:
    """A position, and the events that led to it."""

    turn: int
    events: Text
    whole: Text
    seen: tuple[Text, ...]
    """By seat, the position as it may see it."""
    answered: frozenset[int] = frozenset()
    fault: bool = False


def read(replay: Replay) -> Iterator[Step]:
    """Yields every position of a replay. If the replay is wrong, the last step says so."""
    game, names = replay.game, replay.header.setup.names
    calls: tuple[Call, ...] = ()
    number = 0
    whole, seen = Text(), (Text(),) * len(names)
    try:
        for _, state, line in positions_to_the_end(replay):
            answered: frozenset[int] = frozenset()
            if isinstance(line, Turn):
                number, answered = line.turn, frozenset(line.answers | line.faults)
            fault = any(event["event"] == "ruling" for event in getattr(line, "events", ()))
            whole, seen = board(game, state), tuple(board(game, state, seat) for seat in range(len(names)))
            yield Step(number, turn_text(game, line, names, calls), whole, seen, answered, fault)
            calls = state.calls()
    except Difference as difference:
        yield Step(number, differing(difference), whole, seen, fault=True)


class TurnAsked(ModalScreen[int | None]):
    """Asks for the number of a turn."""

    CSS = "TurnAsked { align: center middle; } Input { width: 30; }"
    BINDINGS: ClassVar = [Binding("escape", "leave")]

    def compose(self) -> ComposeResult:
        yield Input(placeholder="turn", type="integer")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(int(event.value) if event.value.lstrip("-").isdigit() else None)

    def action_leave(self) -> None:
        self.dismiss(None)


class Viewer(App[None]):
    """Shows a replay step by step."""

    CSS = "#title { height: auto; } #status { dock: bottom; height: auto; } #board { height: 1fr; }"
    BINDINGS: ClassVar = [Binding(key, action, words, show=False) for key, action, words in KEYS]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self.replay, setup = replay, replay.header.setup
        self.names = setup.names
        nothing = Step(0, Text("nothing was played"), Text(), (Text(),) * len(self.names))
        self.steps = list(read(replay)) or [nothing]
        self.heading = title(replay.game, setup.names, setup.seed)
        self.at = 0
        self.seat: int | None = None
        """The seat whose view is shown; None = everything."""
        self.all_seats = False
        self.shows_help = False
        self.speed = 1
        self._clock: Timer | None = None
        self._loop: AbstractEventLoop | None = None
        self._leaves = False

    def compose(self) -> ComposeResult:
        yield Static(self.heading, id="title")
        with VerticalScroll(id="board"):
            yield Static(id="position")
        yield Static(id="status")

    def on_mount(self) -> None:
        self._loop = get_running_loop()
        if self._leaves:
            self.exit()
        self._show()

    def leave(self) -> None:
        """Ends the viewer soon, from any code. For signal handlers."""
        self._leaves = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.exit)

    def _show(self) -> None:
        self.query_one("#position", Static).update(self.position())
        self.query_one("#status", Static).update(self.status())

    def position(self) -> RenderableType:
        """Returns the current position, or the help."""
        if self.shows_help:
            return Text("\n".join(f"{key:20}{words}" for key, _, words in KEYS if words))
        step = self.steps[self.at]
        drawn: RenderableType = step.whole
        if self.all_seats:
            drawn = Columns(map(self._seen, range(len(self.names))), padding=(0, 4))
        elif self.seat is not None:
            drawn = self._seen(self.seat)
        return Group(step.events, Text(), drawn, *legend(self.replay.game))

    def _seen(self, seat: int) -> Group:
        name = Text(printable(self.names[seat]), style=SEAT_STYLES[seat % 4])
        return Group(name, self.steps[self.at].seen[seat])

    def status(self) -> Text:
        """Returns the place in the match, and a time line with a mark for every fault."""
        width = max(10, self.size.width - 2)
        marks = ["─"] * width
        last = max(1, len(self.steps) - 1)
        for index, step in enumerate(self.steps):
            if step.fault:
                marks[index * (width - 1) // last] = "×"
        line = Text("".join(marks), style="dim")
        place = self.at * (width - 1) // last
        line.stylize("bold reverse", place, place + 1)
        seen = "everything" if self.seat is None else f"what {short([printable(self.names[self.seat])], 20)[0]} sees"
        pace = "playing" if self._clock is not None else "paused"
        turn = f"turn {self.steps[self.at].turn} of {self.steps[-1].turn}"
        return Text(f"{turn}  {seen}  {pace}, {self.speed} a second  ? help\n").append_text(line)

    # The keys.

    def action_seek(self, at: int) -> None:
        self._pause()
        self.at = max(0, min(len(self.steps) - 1, at))
        self.shows_help = False
        self._show()

    def action_move(self, by: int) -> None:
        self.action_seek(self.at + by)

    def action_last(self) -> None:
        self.action_seek(len(self.steps) - 1)

    def action_play(self) -> None:
        if self._clock is not None:
            self._pause()
        else:
            if self.at == len(self.steps) - 1:
                self.at = 0
            self._clock = self.set_interval(1 / self.speed, self._on)
        self._show()

    def _on(self) -> None:
        self.at = min(self.at + 1, len(self.steps) - 1)
        if self.at == len(self.steps) - 1:
            self._pause()
        self._show()

    def _pause(self) -> None:
        if self._clock is not None:
            self._clock.stop()
            self._clock = None

    def action_faster(self, by: int) -> None:
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, SPEEDS.index(self.speed) + by))]
        if self._clock is not None:
            self._pause()
            self._clock = self.set_interval(1 / self.speed, self._on)
        self._show()

    def action_fault(self, by: int) -> None:
        """Goes to the next fault in a direction; after the last, to the first again."""
        faults = [index for index, step in enumerate(self.steps) if step.fault][::by]
        if faults:
            self.action_seek(next((index for index in faults if (index - self.at) * by > 0), faults[0]))

    def action_next_call(self) -> None:
        seat = min(self.steps[self.at].answered, default=0) if self.seat is None else self.seat
        later = range(self.at + 1, len(self.steps))
        self.action_seek(next((index for index in later if seat in self.steps[index].answered), self.at))

    def action_next_seat(self) -> None:
        views = [None, *range(len(self.names))]
        self.seat = views[(views.index(self.seat) + 1) % len(views)]
        self.all_seats = False
        self._show()

    def action_side_by_side(self) -> None:
        self.all_seats = not self.all_seats
        self._show()

    def action_explain(self) -> None:
        self.shows_help = not self.shows_help
        self._show()

    def action_go_to(self) -> None:
        def go(turn: int | None) -> None:
            if turn is not None:
                later = (index for index, step in enumerate(self.steps) if step.turn >= turn)
                self.action_seek(next(later, len(self.steps)))

        self.push_screen(TurnAsked(), go)


def show(replay: Replay) -> None:
    """Takes the terminal until the user leaves. Raises `Ended` if a signal ends the viewer."""
    viewer = Viewer(replay)
    with on_screen(viewer.leave):
        viewer.run()
