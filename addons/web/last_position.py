"""The last position of a replay as the viewer's lines, for the small boards in lists."""

from collections.abc import Iterator
from contextlib import suppress
from time import perf_counter

from referee.addons.web.page import about, encoded, is_painted
from referee.addons.web.replay_list import ReplaySource
from referee.addons.web.viewer_frames import frame_builder
from referee.harness.common.errors import RunError, UsageError
from referee.harness.replay.formats.originals import Original, read_record
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference

MOST_BYTES = 8 << 20
"""A longer replay gets no small board."""
MOST_S = 2.0
"""How long a replay is simulated for one."""


def last_position(source: ReplaySource) -> bytes:
    """Returns the lines of a replay with its last position alone; b"" if it has none, is too long or still grows."""
    try:
        content = b"" if source.grows() else source.read(0)
        if not 0 < len(content) <= MOST_BYTES:
            return b""
        return b"".join(_lines(read_record(source.path, content)))
    except (OSError, UsageError, RunError, Difference):
        return b""


def _lines(replay: Replay | Original) -> Iterator[bytes]:
    """Yields `About`, the header, the frame of the last position, and the ending."""
    until = perf_counter() + MOST_S
    builder = frame_builder(replay, drawn=not is_painted(replay.game.name))
    begun = builder.begin()
    last = len(replay.lines) - 1
    while last > 0 and not _leads_to_a_position(replay, replay.lines[last]):
        last -= 1
    for line in replay.lines[1:last]:
        if not builder.skip(line) or perf_counter() > until:
            return
    frame = builder.take(replay.lines[last]) if last > 0 else None
    if frame is None:
        return
    yield encoded(about(replay))
    yield from begun
    yield frame
    with suppress(Difference):  # an ending that is cut off or wrong is not shown
        builder.conclude(replay.lines[last + 1 :])
        yield from map(builder.last, replay.lines[last + 1 :])


def _leads_to_a_position(replay: Replay | Original, line: bytes) -> bool:
    if isinstance(replay, Original):
        return replay.form.standing(line) is not None
    return not line.startswith(b'{"result":')
