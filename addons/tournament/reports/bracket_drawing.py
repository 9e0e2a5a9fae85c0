"""Places for the drawing of a bracket: `bracket.html` draws it on a page, `viewer/src/bracket.tsx` for a hall."""

from msgspec import Struct

from referee.addons.tournament.reports.bracket import Box, Drawn

BOX, COLUMN, ROW = (200, 44), 240, 62
"""Width and height of a match, and the distances of columns and rows, in points."""


class Place(Struct, frozen=True):
    """A match and its upper left corner, or a text if `match` is None."""

    x: float
    y: float
    match: Box | None = None
    text: str = ""
    heavy: bool = False


class Drawing(Struct, frozen=True):
    """Everything to draw, in points."""

    title: str
    width: float
    height: float
    places: list[Place]
    connections: list[str]
    """Points of polylines."""


def drawing(bracket: Drawn) -> Drawing:
    """Returns the places of all matches and titles: its parts below each other, its rounds side by side."""
    places: list[Place] = []
    connections: list[str] = []
    top = width = 0.0
    for part in bracket.parts:
        if part.title:
            places.append(Place(0, top + 16, text=part.title, heavy=True))
            top += 26
        least = min(box.height for column in part.columns for box in column.boxes)
        bottom = top
        for number, column in enumerate(part.columns):
            x = number * COLUMN
            if column.title != part.title:
                places.append(Place(x, top + 14, text=column.title))
            for box in column.boxes:
                y = top + 32 + (box.height - least) * ROW
                places.append(Place(x, y, match=box))
                for height in box.follows:
                    start = top + 32 + (height - least) * ROW + BOX[1] / 2
                    middle, end = x - (COLUMN - BOX[0]) / 2, y + BOX[1] / 2
                    connections.append(f"{x - COLUMN + BOX[0]},{start} {middle},{start} {middle},{end} {x},{end}")
                bottom = max(bottom, y + BOX[1])
            width = max(width, x + BOX[0])
        top = bottom + 24
    return Drawing(bracket.title, width, top, places, connections)
