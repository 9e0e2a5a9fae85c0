"""Reads a viewer's frames, as a page does."""

from collections.abc import Iterator
from typing import Any

from referee.addons.web.viewer_frames import GONE, FrameBuilder
from referee.harness.replay.reader import Replay


def patched(before: Any, patch: Any) -> Any:
    """Returns what a patch makes of a value. Unchanged parts are shared with `before`, which stays as it is."""
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


def frames(replay: Replay) -> Iterator[bytes]:
    """Yields the frames of a replay, header first."""
    builder = FrameBuilder(replay)
    yield from builder.begin()
    for number, line in enumerate(replay.lines[1:], start=1):
        frame = builder.take(line)
        if frame is None:
            yield from map(builder.last, replay.lines[number:])
            return
        yield frame
