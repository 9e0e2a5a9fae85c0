"""An original replay file as text, turn by turn."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.text import Text

from referee.harness.cli.reports.text import as_json, printable
from referee.harness.cli.reports.turns import Window, coloured, title
from referee.harness.replay.formats.aiarena21 import SeenEvent
from referee.harness.replay.formats.originals import Original
from referee.harness.replay.simulate import Difference


def steps(original: Original, window: Window) -> Iterator[Text]:
    """Yields the title and what the file holds, each turn with the position after it, and at last any error."""
    game, lines = original.game, original.lines
    holds = f"a file of the original competition: {original.form.contents}"
    yield title(game, original.names, None).append(f"\n{holds}", style="bold")
    reader = original.reader()
    if window.holds(0, ()):
        yield coloured(game, reader.drawing)
    try:
        for line in lines[1:]:
            notices = reader.take(line)
            if notices is None:
                break
            if window.holds(reader.turns, ()):
                yield _turn(reader.turns, notices).append_text(coloured(game, reader.drawing))
        reader.conclude(lines[reader.turns + 1 :])
    except Difference as difference:
        yield Text(f"the file is damaged: {printable(str(difference))}", style="bold red")


def _turn(number: int, notices: Sequence[SeenEvent]) -> Text:
    text = Text()
    for name, params in notices:
        text.append(f"{number:>5}  ", style="dim").append(f"{name} {printable(as_json(msgspec.to_builtins(params)))}\n")
    return text
