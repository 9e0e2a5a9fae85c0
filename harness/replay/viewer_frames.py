"""A record as what a viewer draws: the first position whole, then what each line of the record changed.

Frames are JSON lines, one for the header and one for each line after it: `[patch, line]`. The value that the patches
make has the members

- `view`: everything;
- `seats`, where asked for: what each seat may see; a number: the same as that seat;
- `shared`: the members of `view` that are what seat 0 sees, null stands in their place; null: all of it is;
- `text`: the lines of the drawing for people, where it is drawn;
- `marks`: what follows from the position by the rules (`State.marks`); {} where not everything is shown;
- `awaited`: the function that each seat is asked for now;
- `asked`, beside `seats`: the calls, as `Asked`.

A patch is one of

- `[value]`: that, in place of what was there;
- an object: its members changed, each by a patch of its own; `"-"` takes a member away;
- an object for an array: the elements at those indexes changed, each by a patch; the length stays;
- `{}`: nothing changed.

`protocol/vectors/frames.json` holds what every reader of them must get right.
"""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any

import msgspec
from msgspec import Struct

from referee.games.contract import Player, State, TimeControl
from referee.harness.match.clock import Clock, milliseconds
from referee.harness.replay.lines import Step, Turn
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Simulation
from referee.protocol import messages

GONE = "-"
_encode = msgspec.json.Encoder().encode


def difference(before: Any, after: Any) -> Any:
    """The patch that makes `after` of `before`; both are plain JSON values.

    Python's own comparison decides what is equal, so that a member must not be 0 at one time and false at another: no
    view has such a one, as their members have types.
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


def patched(before: Any, patch: Any) -> Any:
    """What a patch makes of a value. Whatever it leaves alone is shared with `before`, which does not change."""
    if isinstance(patch, list):
        return patch[0]
    if not patch:
        return before
    if isinstance(before, list):
        changed = list(before)
        for at, inner in patch.items():
            changed[int(at)] = patched(before[int(at)], inner)
        return changed
    members = {name: value for name, value in before.items() if patch.get(name) != GONE}
    return members | {name: patched(before.get(name), inner) for name, inner in patch.items() if inner != GONE}


Eyes = frozenset[Player] | None
"""The seats whose views are shown; None = everything is."""


class Asked(Struct, frozen=True):
    """A call as it was sent, all but what the view of its seat says already."""

    params: dict[str, Any] | None
    """By name. None: the seat's view are the parameters."""
    same: tuple[str, ...]
    """The members that are the seat's view; null stands in their place."""
    clock: messages.Clock
    limit_s: float | None


def shown(state: State, seats: bool, eyes: Eyes = None, drawn: bool = True) -> dict[str, Any]:
    """What is drawn of a position, as plain JSON values. Where somebody's eyes are meant the rest is null.

    `drawn`: with the drawing for people; a viewer that paints the game itself needs none.
    """
    views: dict[str, Any] = {
        "view": None if eyes is not None else state.view(None),
        "text": str(state).split("\n") if drawn and eyes is None else [],
        "marks": state.marks() if eyes is None else {},
        "awaited": {player: method.name for player, method in state.awaited.items()},
    }
    if seats:
        players = range(len(state.setup.names))
        views["seats"] = [state.view(player) if eyes is None or player in eyes else None for player in players]
    plain: dict[str, Any] = msgspec.json.decode(_encode(views))
    return plain


def alike(views: list[Any]) -> list[Any]:
    """In place of a view that an earlier seat has too the number of that seat."""
    return [view if view is None or views.index(view) == seat else views.index(view) for seat, view in enumerate(views)]


def without(view: Any, seen: Any) -> tuple[Any, list[str] | None]:
    """A view of everything without what a seat sees too, and its members that are that; None: all of it is."""
    if view == seen:
        return None, None
    if not isinstance(view, dict):
        return view, []
    shared = [name for name, each in view.items() if each == seen]
    return view | dict.fromkeys(shared), shared


class Framer:
    """Makes the frames of a record, also while it is still written: `begin`, `take` line by line, `rest`."""

    def __init__(self, replay: Replay, seats: bool = False, eyes: Eyes = None, drawn: bool = True) -> None:
        self.simulation = Simulation(replay.new())
        self._header = replay.lines[0]
        self._seats = seats
        self._eyes = eyes
        self._drawn = drawn
        self._before: Any = None
        self._time = replay.header.time
        people = replay.header.people
        self._clocks = [
            Clock(TimeControl() if player in people else replay.header.time)
            for player, _ in enumerate(replay.header.setup.names)
        ]

    def begin(self) -> list[bytes]:
        """The header's frame. Who sees one seat only is not told what luck follows from."""
        if self._eyes is None:
            return [framed({}, self._header)]
        header = msgspec.json.decode(self._header)
        header["setup"]["seed"] = None
        kept = {name: header[name] for name in ("replay", "game", "game_version", "setup", "time", "people")}
        return [framed({}, _encode(kept))]

    def take(self, line: bytes) -> bytes | None:
        """The frame of the next line; None = it is the ending, or none of a record. Raises Difference."""
        in_opening, awaited = self.simulation.state.in_opening, dict(self.simulation.state.awaited)
        step = self.simulation.take(line)
        if step is None:
            return None
        if isinstance(step, Turn):
            for player, us in step.wall_us.items():
                self._clocks[player].charge(us / 1e6, awaited[player].time_s, in_opening)
        after = shown(self.simulation.state, self._seats, self._eyes, self._drawn)
        if self._seats:
            after["asked"] = self._questions(after["seats"])
            if self._eyes is None:
                after["view"], after["shared"] = without(after["view"], after["seats"][0])
            after["seats"] = alike(after["seats"])
        patch = [after] if self._before is None else difference(self._before, after)
        self._before = after
        return framed(patch, line if self._eyes is None else _encode(_seen(step, self._eyes)))

    def conclude(self, rest: Sequence[bytes]) -> str:
        """What there is to say of the record, by the lines after its last position. Raises Difference."""
        return "identical" if self.simulation.conclude(rest) is not None else "aborted; identical so far"

    def last(self, line: bytes) -> bytes:
        """The frame of a line that leads to no position."""
        return framed({}, line)

    def _questions(self, views: list[Any]) -> Any:
        state = self.simulation.state
        asked = {}
        for call in state.calls():
            view = views[call.player]
            if view is None:
                continue
            clock, params = self._clocks[call.player], msgspec.json.decode(_encode(call.params))
            limit_s = clock.limit_s(call.method.time_s, state.in_opening)
            per_call_s = call.method.time_s or clock.per_call_s(state.in_opening)
            same = tuple(name for name, each in params.items() if each == view)
            asked[call.player] = Asked(
                None if params == view else params | dict.fromkeys(same),
                same,
                messages.Clock(milliseconds(per_call_s), milliseconds(clock.remaining_s), milliseconds(clock.last_s)),
                limit_s if isfinite(limit_s) else None,
            )
        return msgspec.json.decode(_encode(asked))


def _seen(step: Step, eyes: frozenset[Player]) -> dict[str, Any]:
    """A line of the record as somebody at those seats may know it: what they answered, and what they were told."""
    line: dict[str, Any] = msgspec.to_builtins(step, str_keys=False)
    for name in ("answers", "faults"):
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


def frames(replay: Replay, seats: bool = False) -> Iterator[bytes]:
    """The frames of a record, header first, made as they are asked for. Raises Difference where the record is wrong.

    The last line, with the result, changes no position.
    """
    framer = Framer(replay, seats)
    yield from framer.begin()
    for number, line in enumerate(replay.lines[1:], start=1):
        frame = framer.take(line)
        if frame is None:
            yield from (framed({}, each) for each in replay.lines[number:])
            return
        yield frame


def framed(patch: Any, line: bytes) -> bytes:
    """One frame: a line of JSON."""
    return b"[" + _encode(patch) + b"," + line + b"]\n"
