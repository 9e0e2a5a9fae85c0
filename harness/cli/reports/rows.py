"""A table, with fewer columns or a few lines for each row if the terminal is too narrow."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Table
from rich.text import Text

GAP = 2
MIN_PROSE = 16
"""The least width of a column of sentences."""


@dataclass
class Sheet:
    """A table that never cuts a number or a name."""

    names: Sequence[str]
    """The first columns, aligned left."""
    numbers: Sequence[str]
    """The next columns, aligned right."""
    prose: Sequence[str] = ()
    """The last columns, which are wrapped."""
    title: str = ""
    """A line above the table."""
    dropped: Sequence[str] = ()
    """Number columns that a narrow terminal leaves out, the first of these first."""
    rows: list[tuple[list[Text], str]] = field(default_factory=list)

    def add(self, *cells: str | Text, style: str = "") -> None:
        """Adds a row."""
        self.rows.append(([cell if isinstance(cell, Text) else Text(cell) for cell in cells], style))

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.names, *self.numbers, *self.prose)

    def width(self) -> int:
        """Returns the width of the table."""
        cells = zip(*([cell.plain for cell in row] for row, _ in self.rows), strict=True) if self.rows else ()
        widths = [max(map(cell_len, (*column, name))) for column, name in zip(cells, self.columns, strict=False)]
        prose = len(self.names) + len(self.numbers)
        return sum(widths[:prose]) + sum(min(width, MIN_PROSE) for width in widths[prose:]) + GAP * (len(widths) - 1)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        fitting, gone = self._fitting(options.max_width)
        if fitting is not None:
            yield fitting._table()
            if gone:
                yield Text(f"not shown at this width: {', '.join(gone)}", style="dim")
        else:
            if self.title:
                yield from Text(self.title, style="italic").wrap(console, options.max_width)
            for row, style in self.rows:
                yield from self._lines(row, style, console, options.max_width)

    def _fitting(self, width: int) -> tuple["Sheet | None", list[str]]:
        """Returns the sheet with as many columns as fit and the names of the others; None if too few would be left."""
        sheet, gone = self, list[str]()
        for name in ("", *self.dropped):
            if name in sheet.numbers:
                sheet = sheet._without(name)
                gone.append(name)
            if sheet.width() <= width:
                return sheet, [each for each in self.columns if each in gone]
        return None, []

    def _without(self, name: str) -> "Sheet":
        place = self.columns.index(name)
        numbers = [each for each in self.numbers if each != name]
        rows = [([*row[:place], *row[place + 1 :]], style) for row, style in self.rows]
        return replace(self, numbers=numbers, rows=rows)

    def _table(self) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim", title=self.title or None, title_justify="left")
        for name in self.names:
            table.add_column(Text(name), no_wrap=True)
        for name in self.numbers:
            table.add_column(Text(name), justify="right", no_wrap=True)
        for name in self.prose:
            table.add_column(Text(name), overflow="fold")
        for row, style in self.rows:
            table.add_row(*row, style=style or None)
        return table

    def _lines(self, row: Sequence[Text], style: str, console: Console, width: int) -> Iterator[Text]:
        """Yields a line with the names, then the numbers, each after its heading."""
        head = Text("  ").join([cell for cell in row[: len(self.names)] if cell.plain])
        yield from Text("", style=style).append_text(head).wrap(console, width, overflow="fold")
        line = Text(" " * GAP)
        for name, cell in zip(self.columns[len(self.names) :], row[len(self.names) :], strict=True):
            if not cell.plain:
                continue
            item = Text(f"{name} ", style="dim").append_text(cell)
            if line.plain.strip() and cell_len(line.plain) + cell_len(item.plain) + 3 > width:
                yield line.append(",")
                line = Text(" " * GAP)
            elif line.plain.strip():
                line.append(", ")
            line.append_text(item)
        for part in line.wrap(console, width) if line.plain.strip() else ():
            part.rstrip()
            yield part
