"""Turns as text, in the game's own notation: one as it is played, or a whole replay."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import msgspec
from rich.text import Text

from referee.games.contract import Call, Fault, State
from referee.games.game import Game
from referee.harness.cli.reports.text import as_json, cut, printable
from referee.harness.replay.lines import Forfeit, Injection, Opening, Step, Stop, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Cut, Difference, positions_to_the_end

SEAT_STYLES = ("bold blue", "bold red", "bold green", "bold magenta")
"""By seat, from the first again after the last."""
_PROSE = re.compile(r"[A-Za-z]{3}")


def title(game: Game, names: Sequence[str], seed: int | None) -> Text:
    """Returns the players, the frame of reference of the moves, and the meaning of the board's signs."""
    text = Text(f"{game.title}: ").append_text(_names(names)).append("" if seed is None else f", seed {seed}")
    if game.presentation.frame:
        text.append(f"\n{game.presentation.frame}", style="dim")
    if game.presentation.legend:
        signs = "; ".join(f"{sign} {meaning}" for sign, meaning in game.presentation.legend.items())
        text.append(f"\n{signs}", style="dim")
    return text


def _names(names: Sequence[str]) -> Text:
    shown = [Text(printable(name), style=SEAT_STYLES[seat % 4]) for seat, name in enumerate(names)]
    return Text(" against ").join(shown)


def board(game: Game, state: State, player: int | None = None) -> Text:
    """Draws the position as a player may see it (None = everything), with pieces in their seat's colour."""
    return coloured(game, (str(state) if player is None else state.shown_to(player)).split("\n"))


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
    secret = frozenset() if open else game.presentation.secret
    texts = {}
    for player, answer in answers.items():
        call = call_of.get(player)
        texts[player] = (
            "answers" if call is not None and call.method.name in secret else _answer_text(game, call, answer)
        )
    for player, words in texts.items():
        text.append(f"{number:>5}  ", style="dim")
        text.append(printable(names[player]), style=SEAT_STYLES[player % 4]).append(f"  {words}\n")
    notices = [_event(game, msgspec.to_builtins(event), names) for event in events]
    for words in notices:
        if words and words not in texts.values():
            text.append(f"       {words}\n", style="dim")
    text.right_crop(1)
    return text


def _answer_text(game: Game, call: Call | None, answer: Any) -> str:
    """Returns an answer in the game's notation, or as JSON if that has no words for it."""
    if isinstance(answer, Fault):
        return f"{answer.kind}: {cut(answer.detail)}"
    if call is not None and call.method.result is NoneType:
        return call.method.name
    words = None if call is None else game.presentation.in_words(call, answer)
    return as_json(answer) if words is None else printable(words)


@dataclass(frozen=True)
class Window:
    """The turns of a replay to show. The whole position is drawn after each."""

    first: int = 0
    """0 = the opening."""
    last: int | None = None
    """None = to the end."""
    seat: int | None = None
    """Only turns in which this seat answered."""
    calls: bool = False
    """Show every call and its answer as JSON frames."""

    def holds(self, turn: int, seats: Collection[int]) -> bool:
        in_time = self.first <= turn and (self.last is None or turn <= self.last)
        return in_time and (self.seat is None or self.seat in seats)


def steps(replay: Replay, window: Window = Window()) -> Iterator[Text]:
    """A replay as text: the setup, then each turn with the position after it, at last the result."""
    game, setup = replay.game, replay.header.setup
    yield title(game, setup.names, setup.seed)
    state: State | None = None
    numbers = [0] * len(setup.names)
    number = 0
    calls: tuple[Call, ...] = ()
    try:
        for _, state, line in positions_to_the_end(replay):
            number = line.turn if isinstance(line, Turn) else number
            frames = _frames(calls, line, numbers) if window.calls else []
            if window.holds(number, line.answers | line.faults if isinstance(line, Turn) else ()):
                yield _step(game, line, state, setup.names, calls, frames)
            if window.calls or window.holds(number + 1, range(len(setup.names))):
                calls = state.calls()
    except Difference as difference:
        yield differing(difference)
    if state is not None and state.result is not None:
        yield Text(f"result: {printable(state.result.reason)}, ranks {state.result.ranks}", style="bold")


def differing(difference: Difference) -> Text:
    """Says from which line on a replay is wrong."""
    error = (
        "the replay ends before the match" if isinstance(difference, Cut) else "the replay does not follow the rules"
    )
    return Text(f"{error}: {printable(str(difference))}", style="bold red")


def _step(
    game: Game,
    line: Step,
    state: State,
    names: Sequence[str],
    calls: Sequence[Call],
    frames: Sequence[str],
) -> Text:
    text = Text()
    for frame in frames:
        text.append(printable(frame) + "\n", style="dim")
    text.append_text(turn_text(game, line, names, calls))
    return text.append("\n" if text else "").append_text(board(game, state))


def turn_text(game: Game, line: Step, names: Sequence[str], calls: Sequence[Call]) -> Text:
    """Returns a line of a replay as text, without the position after it. `calls` are those that it answers."""
    if isinstance(line, Turn):
        return turn(game, line.turn, names, calls, line.answers | line.faults, line.events)
    if isinstance(line, Stop):
        return Text(f"stopped: {printable(line.stop)}", style="bold")
    return Text("\n".join(_between(game, line, names)))


def _between(game: Game, line: Opening | Injection | Forfeit, names: Sequence[str]) -> list[str]:
    """Returns the events between two turns, and their cause."""
    if isinstance(line, Opening):
        return _events(game, line.opening, names)
    if isinstance(line, Injection):
        what = f"{printable(names[line.inject])} acts out of turn:"
    else:
        what = f"{' and '.join(printable(names[player]) for player in line.forfeit)} cannot play:"
    return [what, *_events(game, line.events, names)]


def _events(game: Game, events: Sequence[Any], names: Sequence[str]) -> list[str]:
    return [f"       {words}" for event in events if (words := _event(game, event, names))]


def _event(game: Game, event: Mapping[str, Any], names: Sequence[str]) -> str:
    """Returns an event in words; empty = the answers and the board show it already."""
    if event["event"] == "ruling":
        fault = event["fault"]
        return f"{printable(names[event['player']])}: {fault['kind']}: {cut(fault['detail'])}; {event['penalty']}"
    words = game.presentation.event(event["method"], event["params"], names)
    return f"{event['method']} {as_json(event['params'])}" if words is None else printable(words)


def _frames(calls: Sequence[Call], line: Any, numbers: list[int]) -> list[str]:
    """Returns the frames of a turn as JSON. `numbers` counts the calls of each seat, and grows.

    A replay has neither the clocks that bots were shown nor answers at fault, so they are missing.
    """
    if not isinstance(line, Turn):
        return _notices(line.opening if isinstance(line, Opening) else line.events)
    shown = []
    for call in calls:
        player = call.player
        numbers[player] += 1
        number = numbers[player]
        request = {"jsonrpc": "2.0", "id": number, "method": call.method.name, "params": call.params}
        shown.append(f"seat {player} -> {_json(request)}")
        if player in line.answers:
            shown.append(f"seat {player} <- {_json({'jsonrpc': '2.0', 'id': number, 'result': line.answers[player]})}")
        else:
            shown.append(f"seat {player} <- no answer that counts: {line.faults[player].detail}")
    return shown + _notices(line.events)


def _notices(events: Sequence[Any]) -> list[str]:
    """Returns the notices to seats. Viewers get more notices."""
    return [
        f"seat {player} -> {_json({'jsonrpc': '2.0', 'method': event['method'], 'params': event['params']})}"
        for event in events
        if event["event"] == "notice"
        for player in event["to"]
    ]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
