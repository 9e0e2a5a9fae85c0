"""Turns: one as it is played, and a whole replay step by step, in the game's own notation."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

import msgspec
from rich.text import Text

from referee.games.contract import Call, Fault, Game, State
from referee.harness.cli.reports.text import as_json, cut, printable
from referee.harness.replay.lines import Forfeit, Injection, Opening, Step, Stop, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Cut, Difference, positions_to_the_end

SEAT_STYLES = ("bold blue", "bold red", "bold green", "bold magenta")
"""By seat, from the first again after the last."""
_PROSE = re.compile(r"[A-Za-z]{3}")


def title(game: Game, names: Sequence[str], seed: int | None) -> Text:
    """What is played, whose frame the moves are in, and what the board's signs mean."""
    text = Text(f"{game.title}: ").append_text(_names(names)).append("" if seed is None else f", seed {seed}")
    if game.notation is not None:
        text.append(f"\n{game.notation.frame}", style="dim")
    if game.legend:
        signs = "; ".join(f"{sign} {meaning}" for sign, meaning in game.legend.items())
        text.append(f"\n{signs}", style="dim")
    return text


def _names(names: Sequence[str]) -> Text:
    shown = [Text(printable(name), style=SEAT_STYLES[seat % 4]) for seat, name in enumerate(names)]
    return Text(" against ").join(shown)


def board(game: Game, state: State, player: int | None = None) -> Text:
    """The position, drawn, as this player may see it; pieces have their seat's colour. None: with everything."""
    return coloured(game, (str(state) if player is None else state.shown_to(player)).split("\n"))


def coloured(game: Game, lines: Sequence[str]) -> Text:
    """A drawing of the game's; pieces have their seat's colour."""
    drawing = Text()
    for line in lines:
        shown = Text(printable(line))
        if game.notation is not None and not _PROSE.search(line):
            for seat, signs in enumerate(game.notation.signs):
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
    """One turn in a line or a few: who answered what, and what came of it. Not `open`: without answers that the other
    seats do not see."""
    text = Text()
    call_of = {call.player: call for call in calls}
    secret = frozenset() if open or game.notation is None else game.notation.secret
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
    """An answer in the game's notation, or as JSON where that has no words."""
    if isinstance(answer, Fault):
        return f"{answer.kind}: {cut(answer.detail)}"
    if call is not None and call.method.result is NoneType:
        return call.method.name
    words = game.notation.in_words(call, answer) if game.notation is not None and call is not None else None
    return as_json(answer) if words is None else printable(words)


@dataclass(frozen=True)
class Window:
    """Which turns of a replay are shown; the whole position is drawn after each."""

    first: int = 0
    """The opening is turn 0."""
    last: int | None = None
    """None: to the end."""
    seat: int | None = None
    """Only turns in which this seat answered."""
    calls: bool = False
    """With every call's frame as it was sent, and the frame of its answer."""

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
    """What is wrong with a record from a line on."""
    what = (
        "the record ends before the match" if isinstance(difference, Cut) else "the replay is not what the rules give"
    )
    return Text(f"{what}: {printable(str(difference))}", style="bold red")


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
    """What a line of a record says, without the position after it. `calls`: what was asked."""
    if isinstance(line, Turn):
        return turn(game, line.turn, names, calls, line.answers | line.faults, line.events)
    if isinstance(line, Stop):
        return Text(f"stopped: {printable(line.stop)}", style="bold")
    return Text("\n".join(_between(game, line, names)))


def _between(game: Game, line: Opening | Injection | Forfeit, names: Sequence[str]) -> list[str]:
    """What was told between two turns, and why."""
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
    """An event in words; empty: the answers and the board have told it."""
    if event["event"] == "ruling":
        fault = event["fault"]
        return f"{printable(names[event['player']])}: {fault['kind']}: {cut(fault['detail'])}; {event['penalty']}"
    words = None
    if game.notation is not None:
        words = game.notation.event(event["method"], event["params"], names)
    return f"{event['method']} {as_json(event['params'])}" if words is None else printable(words)


def _frames(calls: Sequence[Call], line: Any, numbers: list[int]) -> list[str]:
    """The frames of a turn in JSON, whole, each behind its seat. `numbers`: the calls of each seat so far, greeting
    apart; counted on here. What no record has is left out of them: the clock that was shown, an answer at fault."""
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
    """What was told to seats; a replay's viewers hear more."""
    return [
        f"seat {player} -> {_json({'jsonrpc': '2.0', 'method': event['method'], 'params': event['params']})}"
        for event in events
        if event["event"] == "notice"
        for player in event["to"]
    ]


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
