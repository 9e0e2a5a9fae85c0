"""Turns as text, in the game's own notation: one as it is played, or a whole replay."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.text import Text

from referee.games.contract import Call, Fault, State
from referee.games.ending import headline
from referee.games.game import Game, TimeControl
from referee.harness.cli.reports.board_text import SEAT_STYLES, board_text
from referee.harness.cli.reports.text import as_json, cut, printable
from referee.harness.common.errors import UsageError
from referee.harness.common.measures import measures
from referee.harness.match.clock import Clock, milliseconds
from referee.harness.replay.assessment import kept
from referee.harness.replay.lines import Forfeit, Injection, Opening, Step, Stop, Turn, plain
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Cut, Difference, positions_to_the_end
from referee.protocol import messages

_PROSE = re.compile(r"[A-Za-z]{3}")


def title(game: Game, names: Sequence[str], seed: int | None) -> Text:
    """Returns the players and the frame of reference of the moves."""
    text = Text(f"{game.title}: ").append_text(_names(names)).append("" if seed is None else f", seed {seed}")
    if game.presentation.frame:
        text.append(f"\n{game.presentation.frame}", style="dim")
    return text


def _names(names: Sequence[str]) -> Text:
    shown = [Text(printable(name), style=SEAT_STYLES[seat % 4]) for seat, name in enumerate(names)]
    return Text(" against ").join(shown)


def board(game: Game, state: State, player: int | None = None) -> Text:
    """Draws the position as a player may see it (None = everything), with pieces in their seat's colour."""
    if (declared := game.presentation.board(state, player)) is not None:
        return board_text(declared)
    return coloured(game, (str(state) if player is None else state.shown_to(player)).split("\n"))


def legend(game: Game) -> list[Text]:
    """Returns the meaning of the board's signs in a line, if the game has any."""
    line = game.presentation.legend_line()
    return [Text(line, style="dim")] if line else []


def coloured(game: Game, lines: Sequence[str]) -> Text:
    """Returns the game's drawing with pieces in their seat's colour."""
    drawing = Text()
    for line in lines:
        shown = Text(printable(line))
        if not _PROSE.search(line):
            for seat, signs in enumerate(game.presentation.signs):
                shown.highlight_regex(signs, SEAT_STYLES[seat % 4])
        drawing.append_text(shown).append("\n")
    drawing.right_crop(1)
    return drawing


def turn(
    game: Game,
    number: int,
    names: Sequence[str],
    calls: Sequence[Call],
    answers: Mapping[int, Any],
    events: Any,
    open: bool = True,
) -> Text:
    """Returns one turn: the answers, and the events they led to.

    Unless it is `open`, answers that the other seats do not see are left out.
    """
    text = Text()
    call_of = {call.player: call for call in calls}
    answered = set()
    for player, answer in answers.items():
        call = call_of.get(player)
        hidden = not open and call is not None and call.method.name in game.presentation.secret
        words = "answers" if hidden else _answer_text(game, call, answer)
        answered.add(words)
        text.append(f"{number:>5}  ", style="dim")
        text.append(printable(names[player]), style=SEAT_STYLES[player % 4]).append(f"  {words}\n")
    for event in events:
        words = _event(game, msgspec.to_builtins(event), names)
        if words and words not in answered:
            text.append(f"       {words}\n", style="dim")
    text.right_crop(1)
    return text


def _answer_text(game: Game, call: Call | None, answer: Any) -> str:
    """Returns an answer in the game's notation, or as JSON if that has no words for it."""
    if isinstance(answer, Fault):
        return f"{answer.kind}: {cut(answer.detail)}"
    words = None if call is None else game.presentation.in_words(call, answer)
    return as_json(answer) if words is None else printable(words)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Window:
    """The part of a match to show. The whole position is drawn after each turn."""

    turn: int | None = None
    """Only this turn; 0 is the opening."""
    first: Annotated[int | None, Parameter(name="--from")] = None
    """The first turn to show."""
    to: int | None = None
    """The last turn to show."""
    last: int | None = None
    """Only this many turns at the end."""
    seat: int | None = None
    """Only turns in which this seat answered."""
    calls: bool = False
    """Show calls and answers as JSON frames, and kept prompts."""

    def within(self, turns: int) -> "Window":
        """Returns this part of a match of so many turns as `first` and `to`. UsageError for turns it does not have."""
        first, to = self.first, self.to
        if sum((self.turn is not None, first is not None or to is not None, self.last is not None)) > 1:
            raise UsageError("--turn, --last and --from/--to cannot be combined")
        for option, given in (("--turn", self.turn), ("--from", first)):
            if given is not None and given not in range(turns + 1):
                raise UsageError(f"{option} {given}: the match has turns 0 to {turns}")
        if to is not None and to < (first or 0):
            raise UsageError(f"--to {to}: expected a turn from {first or 0} on")
        if self.turn is not None:
            first = to = self.turn
        if self.last is not None:
            if self.last < 1:
                raise UsageError(f"--last {self.last}: expected a number from 1 on")
            first = max(turns - self.last + 1, 0)
        return Window(first=first, to=to, seat=self.seat, calls=self.calls)

    def holds(self, turn: int, seats: Collection[int]) -> bool:
        """Returns whether a turn in which these seats answered is shown."""
        in_time = (self.first or 0) <= turn and (self.to is None or turn <= self.to)
        return in_time and (self.seat is None or self.seat in seats)


def steps(replay: Replay, window: Window = Window()) -> Iterator[Text]:
    """A replay as text: the setup, each turn with the position after it, the signs of the last one, and the result."""
    game, setup = replay.game, replay.header.setup
    yield title(game, setup.names, setup.seed)
    state: State | None = None
    made = _Calls(replay)
    number = 0
    calls: tuple[Call, ...] = ()
    in_opening = False
    try:
        for _, state, line in positions_to_the_end(replay):
            number = line.turn if isinstance(line, Turn) else number
            frames = made.frames(calls, line, in_opening) if window.calls else []
            if window.holds(number, line.answers | line.faults if isinstance(line, Turn) else ()):
                text = Text().append("".join(f"{printable(frame)}\n" for frame in frames), style="dim")
                text.append_text(turn_text(game, line, setup.names, calls))
                yield text.append("\n" if text else "").append_text(board(game, state))
            if window.calls or window.holds(number + 1, range(len(setup.names))):
                calls, in_opening = state.calls(), state.in_opening
    except Difference as difference:
        yield differing(difference)
    yield from legend(game)
    if state is not None and state.result is not None:
        yield Text(printable(headline(game.presentation.endings, state.result, setup.names)), style="bold")
    yield from _moments(replay, window)


def _moments(replay: Replay, window: Window) -> Iterator[Text]:
    """Yields where the match turned, if an add-on has kept that next to the replay."""
    found, seats = kept(replay.path, replay.sha256), range(len(replay.header.setup.names))
    shown = [each.words for each in found.moments if window.holds(each.turn, seats)] if found else []
    if found and shown:
        lines = [f"Where it turned, by {found.by}:", *shown]
        yield Text("\n".join(map(printable, lines)))


def differing(difference: Difference) -> Text:
    """Says from which line on a replay is wrong."""
    error = "ends before the match" if isinstance(difference, Cut) else "does not follow the rules"
    return Text(f"the replay {error}: {printable(str(difference))}", style="bold red")


def turn_text(game: Game, line: Step, names: Sequence[str], calls: Sequence[Call]) -> Text:
    """Returns a line of a replay as text, without the position after it. `calls` are those that it answers."""
    if isinstance(line, Turn):
        return turn(game, line.turn, names, calls, line.answers | line.faults, line.events)
    if isinstance(line, Stop):
        return Text(f"stopped: {printable(line.stop)}", style="bold")
    shown = []
    if isinstance(line, Injection):
        shown.append(f"{printable(names[line.inject])} acts out of turn:")
    if isinstance(line, Forfeit):
        shown.append(f"{' and '.join(printable(names[player]) for player in line.forfeit)} cannot play:")
    events = line.opening if isinstance(line, Opening) else line.events
    shown += [f"       {words}" for event in events if (words := _event(game, event, names))]
    return Text("\n".join(shown))


def _event(game: Game, event: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns an event in words; empty = the answers and the board show it already."""
    if event["event"] == "ruling":
        fault = event["fault"]
        return f"{printable(names[event['player']])}: {fault['kind']}: {cut(fault['detail'])}; {event['penalty']}"
    words = game.presentation.event(event["method"], event["params"], names)
    return f"{event['method']} {as_json(event['params'])}" if words is None else printable(words)


class _Calls:
    """The calls of a replay, with the numbers and clocks that bots were shown."""

    def __init__(self, replay: Replay) -> None:
        header = replay.header
        self._time, self._numbers = header.time, [0] * len(header.setup.names)
        untimed = {*header.people, *header.functions}
        self._clocks = [Clock(TimeControl() if p in untimed else header.time) for p in range(len(self._numbers))]
        self._header = header

    def frames(self, calls: Sequence[Call], line: Any, in_opening: bool) -> list[str]:
        """Returns the frames of a turn as JSON.

        A replay has no answers at fault, so they are missing. The notices are those to seats; viewers get more.
        """
        shown = []
        for call in calls if isinstance(line, Turn) else ():
            player, method = call.player, call.method.name
            self._numbers[player] += 1
            number = self._numbers[player]
            params = {**plain(call.params), "clock": self._clock(call, line, in_opening)}
            shown.append(f"seat {player} -> {_frame(id=number, method=method, params=params)}")
            shown += [f"       {each}" for measure in measures() for each in measure.asked_and_said(line, player)]
            if player in line.answers:
                shown.append(f"seat {player} <- {_frame(id=number, result=line.answers[player])}")
            else:
                shown.append(f"seat {player} <- no answer that counts: {line.faults[player].detail}")
        for event in line.opening if isinstance(line, Opening) else line.events:
            if event["event"] == "notice":
                frame = _frame(method=event["method"], params=event["params"])
                shown += [f"seat {player} -> {frame}" for player in event["to"]]
        return shown

    def _clock(self, call: Call, line: Turn, in_opening: bool) -> messages.Clock:
        """Returns the clock that a bot was shown, and charges the call."""
        clock, own_s = self._clocks[call.player], self._time.own_s(call.method)
        call_ms = milliseconds(own_s if own_s is not None else clock.per_call_s(in_opening))
        for measure in measures():
            call_ms = measure.shown_call_ms(self._header, call.player, call_ms)
        shown = clock.shown(call_ms)
        clock.charge(line.wall_us.get(call.player, 0) / 1e6, own_s, in_opening)
        return shown


def _frame(**members: Any) -> str:
    return msgspec.json.encode({"jsonrpc": "2.0"} | members).decode()
