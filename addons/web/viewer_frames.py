"""A replay as what a viewer draws: the whole first position, then what each line of the replay changed.

Frames are JSON lines, one for the header and one for each line after it: `[patch, line]`. The line of a turn
begins with `words`: by seat, the answer in the game's notation if it has one; `clicks`: by seat, those on the declared
board that mean the answer; and `highlights`: what people want to find again. Each only if there is any. The patches
build a value with the members

- `view`: everything;
- `seats`: what each seat may see; a number = the same as that seat;
- `shared`: the members of `view` that seat 0 sees too, which are null in `view`; null = all of it;
- `boards`: if the game declares one, the board of everything, then that of each seat (`games/board.py`); a number = the
  same as that one; null = not shown;
- `text`: the lines of the drawing for people, if it is drawn;
- `marks`: what follows from the position by the rules (`State.marks`); {} if not everything is shown;
- `awaited`: the function that each seat is asked for now;
- `asked`: the calls, as `ShownCall`.

A patch is one of

- `[value]`: that value replaces the old one;
- an object: its members changed, each by a patch of its own; `"-"` removes a member;
- an object for an array: the elements at those indexes changed, each by a patch; the length stays;
- `{}`: nothing changed.

`protocol/vectors/frames.json` holds what every reader of them must get right.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.contract import Call, Player, State
from referee.games.ending import headline, reason_in_words
from referee.games.game import Presentation, TimeControl
from referee.harness.match.clock import Clock, milliseconds
from referee.harness.replay.formats.originals import Original
from referee.harness.replay.highlights import Highlights
from referee.harness.replay.lines import Opening, Step, Turn
from referee.harness.replay.lines import plain as as_plain
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Simulation
from referee.protocol import messages

GONE = "-"
_UNDECLARED = Presentation()
_encode = msgspec.json.Encoder().encode


def difference(before: Any, after: Any) -> Any:
    """Returns the patch that turns `before` into `after`; both are plain JSON values.

    Python's comparison decides what is equal, so a member must not change between 0 and false. Views have no such
    members, since their members have types.
    """
    if type(before) is not type(after):
        return [after]
    if isinstance(after, dict):
        gone = {name: GONE for name in before if name not in after}
        return gone | {
            name: difference(before[name], value) if name in before else [value]
            for name, value in after.items()
            if name not in before or before[name] != value
        }
    if isinstance(after, list) and len(before) == len(after):
        changed = {at: (old, new) for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new}
        if len(changed) <= len(after) // 2 or any(isinstance(new, dict | list) for _, new in changed.values()):
            return {str(at): difference(old, new) for at, (old, new) in changed.items()}
        return [after]
    return {} if before == after else [after]


Eyes = frozenset[Player] | None
"""The seats whose views are shown; None = everything."""


class ShownCall(Struct, frozen=True):
    """A call as it was sent, without what the view of its seat says already."""

    params: dict[str, Any] | None
    """By name. None = the parameters are the seat's view."""
    same: tuple[str, ...]
    """The members that are the seat's view, which are null in `params`."""
    clock: messages.Clock
    limit_s: float | None


def shown(
    state: State,
    eyes: Eyes = None,
    drawn: bool = True,
    presentation: Presentation = _UNDECLARED,
    view: Any = None,
) -> dict[str, Any]:
    """Returns what a viewer draws of a position, as plain JSON values. What `eyes` may not see is null.

    `presentation`: of a game that may declare a board. `drawn`: with the drawing for people; a viewer that paints the
    game itself needs none. `view`: that of everything, if the caller has it.
    """
    players = range(len(state.setup.names))
    views = {
        "view": None if eyes is not None else state.view(None) if view is None else view,
        "text": str(state).split("\n") if drawn and eyes is None else [],
        "marks": state.marks() if eyes is None else {},
        "awaited": {player: method.name for player, method in state.awaited.items()},
        "seats": [state.view(player) if eyes is None or player in eyes else None for player in players],
    }
    seen = [None if eyes is not None else presentation.board(state, None)]
    seen += [presentation.board(state, player) if eyes is None or player in eyes else None for player in players]
    if any(board is not None for board in seen):
        views["boards"] = seen
    plain: dict[str, Any] = as_plain(views)
    return plain


def _merge_equal(views: list[Any]) -> list[Any]:
    """Replaces each view that an earlier seat has too by the number of that seat."""
    return [view if view is None or views.index(view) == seat else views.index(view) for seat, view in enumerate(views)]


def _without(view: Any, seen: Any) -> tuple[Any, list[str] | None]:
    """Returns a view without what a seat sees too, and the members that are left out; None = all of it."""
    if view == seen:
        return None, None
    if not isinstance(view, dict):
        return view, []
    shared = [name for name, each in view.items() if each == seen]
    return view | dict.fromkeys(shared), shared


_ADDED = (b'"words":', b'"clicks":', b'"highlights":')
"""The members that `FrameBuilder` adds to a line."""


class _Answers(Struct):
    """The member of a replay's line that says what was answered."""

    answers: dict[Player, Any] = {}


class FrameBuilder:
    """Makes the frames of a replay, also while it is still written: `begin`, `take` line by line, `last`."""

    def __init__(self, replay: Replay, eyes: Eyes = None, drawn: bool = True) -> None:
        self.simulation = Simulation(replay.new())
        self._header = replay.lines[0]
        self._eyes = eyes
        self._drawn = drawn
        self._before: Any = None
        self._game = replay.game
        self._asked: dict[Player, Call] = {}
        self._highlights = Highlights(replay.game, replay.header.setup.names)
        people = replay.header.people
        self._clocks = [
            Clock(TimeControl() if player in people else replay.header.time)
            for player, _ in enumerate(replay.header.setup.names)
        ]

    def begin(self) -> list[bytes]:
        """Returns the header's frame. A viewer who sees only some seats must not learn the seed."""
        if self._eyes is None:
            return [framed({}, self._header)]
        header = msgspec.json.decode(self._header)
        header["setup"]["seed"] = None
        public = {name: header[name] for name in ("replay", "game", "game_version", "setup", "time", "people")}
        return [framed({}, _encode(public))]

    def take(self, line: bytes) -> bytes | None:
        """Returns the frame of the next line; None = the line leads to no position. Raises Difference."""
        in_opening, awaited = self.simulation.state.in_opening, dict(self.simulation.state.awaited)
        clicks = self._clicks(line)
        step = self.simulation.take(line)
        if step is None:
            return None
        if isinstance(step, Turn):
            for player, us in step.wall_us.items():
                self._clocks[player].charge(us / 1e6, awaited[player].time_s, in_opening)
        added: dict[str, Any] = {"words": self._words(step)} if isinstance(step, Turn) else {}
        added["clicks"] = clicks
        view = self.simulation.state.view(None) if self._eyes is None else None
        if self._eyes is None:
            events = step.opening if isinstance(step, Opening) else step.events
            added["highlights"] = self._highlights.take(self.simulation.state, view, events)
        after = shown(self.simulation.state, self._eyes, self._drawn, self._game.presentation, view)
        after["asked"] = self._calls(after["seats"])
        if self._eyes is None:
            after["view"], after["shared"] = _without(after["view"], after["seats"][0])
        after["seats"] = _merge_equal(after["seats"])
        if "boards" in after:
            after["boards"] = _merge_equal(after["boards"])
        patch, self._before = difference(self._before, after), after
        if self._eyes is not None:
            seen = _encode(_seen(step, self._eyes))
        else:  # a stranger's replay may contain members that are not its own
            seen = _encode(step) if any(name in line for name in _ADDED) else line
        parts = b"".join(b'"%b":%b,' % (name.encode(), _encode(each)) for name, each in added.items() if each)
        return framed(patch, b"{%b%b" % (parts, seen[1:]))

    def skip(self, line: bytes) -> bool:
        """Plays the next line without a frame. False = the line leads to no position. Raises Difference."""
        return self.simulation.take(line) is not None

    def conclude(self, rest: Sequence[bytes]) -> str:
        """Returns the verdict on the replay, from the lines after its last position. Raises Difference."""
        return "identical" if self.simulation.conclude(rest) is not None else "aborted; identical so far"

    def last(self, line: bytes) -> bytes:
        """Returns the frame of a line that leads to no position. The ending gets result and reason in words too."""
        result, setup = self.simulation.state.result, self.simulation.state.setup
        if result is None or not line.startswith(b'{"result":{'):
            return framed({}, line)
        words = [each(self._game.presentation.endings, result, setup.names) for each in (headline, reason_in_words)]
        return framed({}, b'{"headline":%b,"why":%b,%b' % (*map(_encode, words), line[1:]))

    def _clicks(self, line: bytes) -> dict[Player, list[str]]:
        """Returns the clicks for the answers of a line before they count.

        Those of the seats whose views are shown, and those for functions whose answers all seats see.
        """
        state, presentation = self.simulation.state, self._game.presentation
        if presentation.clicks is _UNDECLARED.clicks or not line.startswith(b'{"turn":'):
            return {}
        answers = msgspec.json.decode(line, type=_Answers).answers
        return {
            player: presentation.keys(state, player, answer)
            for player, answer in answers.items()
            if player in state.awaited
            and (player in self._asked or state.awaited[player].name not in presentation.secret)
            and state.check(player, answer) is None
        }

    def _words(self, turn: Turn) -> dict[Player, str]:
        """Returns the answers of a turn in the game's notation, of the seats whose views are shown."""
        in_words = self._game.presentation.in_words
        asked = ((self._asked[player], answer) for player, answer in turn.answers.items() if player in self._asked)
        return {call.player: words for call, answer in asked if (words := in_words(call, answer)) is not None}

    def _calls(self, views: list[Any]) -> Any:
        """Returns the calls of the seats whose views are shown."""
        state = self.simulation.state
        self._asked = {call.player: call for call in state.calls() if views[call.player] is not None}
        calls = {}
        for call in self._asked.values():
            view = views[call.player]
            clock, params = self._clocks[call.player], as_plain(call.params)
            limit_s = clock.limit_s(call.method.time_s, state.in_opening)
            per_call_s = call.method.time_s or clock.per_call_s(state.in_opening)
            same = tuple(name for name, each in params.items() if each == view)
            calls[call.player] = ShownCall(
                None if params == view else params | dict.fromkeys(same),
                same,
                clock.shown(milliseconds(per_call_s)),
                limit_s if isfinite(limit_s) else None,
            )
        return as_plain(calls)


def _seen(step: Step, eyes: frozenset[Player]) -> dict[str, Any]:
    """Returns a line of the replay with what those seats may know: their answers, prompts and notices."""
    line: dict[str, Any] = msgspec.to_builtins(step, str_keys=False)
    for name in ("answers", "faults", "transcript"):
        if isinstance(line.get(name), dict):
            line[name] = {player: each for player, each in line[name].items() if int(player) in eyes}
    for name in ("events", "opening"):
        if name in line:
            line[name] = [seen for event in line[name] if (seen := _event_seen(event, eyes)) is not None]
    if "inject" in line:
        line["answers"] = []
    line.pop("hash", None)
    return line


def _event_seen(event: dict[str, Any], eyes: frozenset[Player]) -> dict[str, Any] | None:
    if event["event"] == "notice":
        return event if eyes.intersection(event.get("to", ())) else None
    return event if event["player"] in eyes else {**event, "fault": {"kind": event["fault"]["kind"], "detail": ""}}


class OriginalFrameBuilder:
    """Makes the frames of an original replay file as `FrameBuilder` does those of a replay."""

    def __init__(self, original: Original, drawn: bool = True) -> None:
        self._reader = original.reader()
        self._drawn = drawn
        self._before: Any = None

    def begin(self) -> list[bytes]:
        """Returns a header, and the first position, which is in the same line of the file."""
        header = {"replay": 0, "time": {"per_call_s": None}, "setup": {"seed": None, "options": None}}
        return [framed({}, _encode(header)), self._frame({"opening": []})]

    def take(self, line: bytes) -> bytes | None:
        """Returns the frame of the next line; None = it ends the file. Raises Difference."""
        notices = self._reader.take(line)
        if notices is None:
            return None
        events = [{"event": "notice", "method": name, "params": params, "to": []} for name, params in notices]
        return self._frame({"turn": self._reader.turns, "events": events})

    def skip(self, line: bytes) -> bool:
        """See `FrameBuilder`."""
        return self._reader.take(line) is not None

    def conclude(self, rest: Sequence[bytes]) -> str:
        """See `FrameBuilder`."""
        self._reader.conclude(rest)
        return "as recorded"

    def last(self, line: bytes) -> bytes:
        """See `FrameBuilder`."""
        return framed({}, b'{"result":null}')

    def _frame(self, line: Mapping[str, Any]) -> bytes:
        reader = self._reader
        text = reader.drawing if self._drawn else []
        after = as_plain({"view": reader.view, "text": text, "marks": {}, "awaited": {}})
        patch, self._before = difference(self._before, after), after
        return framed(patch, _encode(line))


def frame_builder(
    record: Replay | Original, eyes: Eyes = None, drawn: bool = True
) -> FrameBuilder | OriginalFrameBuilder:
    """Returns the builder for a replay, with what each seat may see, or for an original replay file."""
    if isinstance(record, Original):
        return OriginalFrameBuilder(record, drawn)
    return FrameBuilder(record, eyes, drawn)


def framed(patch: Any, line: bytes) -> bytes:
    """Returns one frame: a line of JSON."""
    return b"[" + _encode(patch) + b"," + line + b"]\n"
