"""Writes data for language models: a tenth as long as JSON, and nothing is lost.

One notation serves all games. `KEY` explains it to the model, and `tests/support/compact_reader.py` reads it.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from string import ascii_letters
from typing import Any, NamedTuple

KEY = """\
- `a.b: 3` is the member `b` of `a`. `{a=1 b=2}` is a record, `[1 2]` a list, counted from 0.
- `x*5` stands for five times `x`, and `3..6` for `3 4 5 6`.
- Texts without blanks stand without quotes. `-` is a member that is not there.
- `$1` is the value that the line `$1:` gives.
- `records` are one to a line, with the values of `columns` in order. All have what follows `each`, and count up or down
  in what has a range. Those that are not listed have what follows `else`. `#2` or `q=2` says which one is listed.
- In `rows`, every line is a list. With signs such as `. = 0`, every character is an item. In `rows of 9` with `else 0`,
  `a3,5` is the sign `a` for items 3 and 5; all others, also those of rows that are left out, have what follows `else`.
- The lines of `rows`, `texts` and `lists` begin with their number."""
"""The notation, for a prompt."""

INLINE, FLAT = 72, 240
"""Most characters of a value on one line: of any one, and of a record without lists and records."""
SHARED = 100
"""Characters from which on a value that occurs again is written once."""
CELL = 60
"""Most characters of a value in a table, or in a row."""
LEAST = 4
"""Fewest items in a row that are written as a run or a range, and fewest items of a row of signs."""
SIGNS = ascii_letters + "0123456789"
ABSENT = "-"
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BARE = re.compile(r"[A-Za-z_][\w+]*", re.ASCII)
_RESERVED = ("true", "false", "null")


def compact(value: Any, known: Mapping[str, Any] | None = None) -> str:
    """Returns the text of a JSON value, in lines. `known`: values that the reader has, by the names to use for them."""
    return _Writer(value, known).text()


def in_line(value: Any) -> str:
    """Returns the text of a JSON value on one line."""
    return _joined(value, in_line) if isinstance(value, dict | list | tuple) else _scalar(value)


class _Range(NamedTuple):
    """A column of whole numbers that go up or down by one."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.first}..{self.last}"


class _Writer:
    """Writes one value."""

    def __init__(self, value: Any, known: Mapping[str, Any] | None) -> None:
        self._value = value
        self._texts: dict[int, str] = {}
        """The full text of each list and record, by its identity: `value` keeps them alive."""
        self._short: dict[int, str] = {}
        """The same, with names."""
        self._names: dict[str, str] = {}
        """The names of values that are written once, by their texts."""
        self._lines: list[str] = []
        if known is None:
            times = Counter[str]()
            self._count(value, times)
            shared = [text for text, number in times.items() if number > 1]
            self._names = {text: f"${number}" for number, text in enumerate(shared, 1)}
        else:
            self._names = {self._full(each): name for name, each in known.items()}
        self._known = known is not None

    def text(self) -> str:
        if not self._known:
            for text, value in [*self._defined(self._value)]:
                name = self._names.pop(text)
                self._short.clear()
                self._block(name, value)
                self._names[text] = name
            self._short.clear()
        if self._value and _is_record(self._value) and self._full(self._value) not in self._names:
            for name, value in self._value.items():
                self._block(name, value)
        else:
            self._block("$", self._value)
        return "\n".join(self._lines)

    # Values that occur again.

    def _full(self, value: Any) -> str:
        """Returns a text without names, by which equal values are recognised."""
        if not isinstance(value, dict | list | tuple):
            return _scalar(value)
        text = self._texts.get(id(value))
        if text is None:
            text = self._texts[id(value)] = _joined(value, self._full)
        return text

    def _count(self, value: Any, times: Counter[str]) -> None:
        """Counts the long values, but not what is in one that has been seen."""
        if isinstance(value, dict | list | tuple):
            text = self._full(value)
            if len(text) >= SHARED:
                times[text] += 1
                if times[text] > 1:
                    return
            for each in _items(value):
                self._count(each, times)

    def _defined(self, value: Any) -> Iterator[tuple[str, Any]]:
        """Yields the values that have a name, in the order of their numbers."""
        found = dict[str, Any]()

        def search(value: Any) -> None:
            if isinstance(value, dict | list | tuple):
                text = self._full(value)
                if text in self._names:
                    if text in found:
                        return
                    found[text] = value
                for each in _items(value):
                    search(each)

        search(value)
        yield from sorted(found.items(), key=lambda pair: int(self._names[pair[0]][1:]))

    # Text.

    def _inline(self, value: Any) -> str:
        if not isinstance(value, dict | list | tuple):
            return _scalar(value)
        text = self._short.get(id(value))
        if text is None:
            text = self._short[id(value)] = self._names.get(self._full(value)) or _joined(value, self._inline)
        return text

    def _block(self, path: str, value: Any) -> None:
        """Writes the lines of a value."""
        text = self._inline(value)
        is_flat = isinstance(value, dict) and not any(isinstance(each, dict | list | tuple) for each in value.values())
        if len(text) <= (FLAT if is_flat else INLINE) or not isinstance(value, dict | list | tuple) or text[0] == "$":
            self._lines.append(f"{path}: {text}")
        elif isinstance(value, dict):
            if _is_record(value):
                for name, each in value.items():
                    self._block(f"{path}.{name}", each)
            else:
                self._lines.append(f"{path}: {text}")
        elif not (self._table(path, [value], True) or self._tables(path, value) or self._rows(path, value)):
            if all(not isinstance(each, dict | list | tuple) for each in value):
                self._lines.append(f"{path}: {text}")
            else:
                self._lines.append(f"{path}: {len(value)} items")
                for number, each in enumerate(value):
                    self._block(f"{path}.{number}", each)

    # Lists of records.

    def _tables(self, path: str, value: Sequence[Any]) -> bool:
        """Writes a list of lists of records. Returns whether it is one."""
        return all(isinstance(part, list | tuple) for part in value) and self._table(path, value, False)

    def _table(self, path: str, parts: Sequence[Any], alone: bool) -> bool:
        """Writes lists of records: one that is `alone`, or the items of a list. Returns whether they are that."""
        tables = [[self._flat(each) for each in part] for part in parts]
        records = [each for table in tables for each in table]
        if len(records) < 2 or not all(tables) or None in records:
            return False
        columns = list(dict.fromkeys(name for each in records for name in each or ()))
        cells = [[[(each or {}).get(name, ABSENT) for name in columns] for each in table] for table in tables]
        every = [row for table in cells for row in table]
        constant = [number for number in range(len(columns)) if len({row[number] for row in every}) == 1]
        varied = [number for number in range(len(columns)) if number not in constant]
        regular = [[_regular([row[number] for row in table], not alone) for number in varied] for table in cells]
        own = [number for place, number in enumerate(varied) if all(found[place] is not None for found in regular)]
        listed = [number for number in varied if number not in own]
        picked = [[tuple(row[number] for number in listed) for row in table] for table in cells]
        usual, times = Counter(row for table in picked for row in table).most_common(1)[0]
        if times < 3 or 2 * times <= len(every) or not listed:
            usual = ()
        head = f"{len(parts[0])} records" if alone else f"{len(parts)} lists of records"
        fixed = [f"{columns[number]}={every[0][number]}" for number in constant if every[0][number] != ABSENT]
        ranges = [
            [f"{columns[number]}={found[place]}" for place, number in enumerate(varied) if number in own]
            for found in regular
        ]
        notes = [f"each {' '.join(fixed)}"] * bool(fixed) + [" ".join(ranges[0])] * bool(alone and ranges[0])
        notes += [f"columns {' '.join(columns[number] for number in listed)}"] * bool(listed)
        notes += [f"else {' '.join(usual)}"] * bool(usual)
        self._lines.append(f"{path}: {'; '.join([head, *notes])}")
        for at, rows in enumerate(picked):
            keys = [
                (columns[number], found)
                for number, found in zip(varied, regular[at], strict=True)
                if isinstance(found, _Range) and number in own
            ]
            lines = [
                " ".join([*([_label(keys, place)] if usual else []), *row])
                for place, row in enumerate(rows)
                if row != usual and row
            ]
            if alone:
                self._lines += [f" {line}" for line in lines]
            else:
                self._lines.append("; ".join([f" {at} {' '.join([str(len(rows)), *ranges[at]])}", *lines]))
        return True

    def _flat(self, value: Any) -> dict[str, str] | None:
        """Returns the texts of a record by the path of each member; None if it does not fit into a line of a table."""
        if not _is_record(value):
            return None
        found = dict[str, str]()
        for name, each in value.items():
            text = self._inline(each)
            inner = self._flat(each) if _is_record(each) and each and not text.startswith("$") else None
            if inner is not None:
                found |= {f"{name}.{path}": text for path, text in inner.items()}
            elif len(text) <= CELL:
                found[name] = text
            else:
                return None
        return found

    # Lists of rows.

    def _rows(self, path: str, value: Sequence[Any]) -> bool:
        """Writes a list of long lists, or of long texts. Returns whether it is one."""
        if all(isinstance(row, str) for row in value) and max(map(len, value)) >= 10:
            self._lines.append(f"{path}: {len(value)} texts")
            self._lines += [f" {number} {_row(row)}" for number, row in enumerate(value)]
            return True
        if not all(isinstance(row, list | tuple) for row in value) or max(map(len, value), default=0) < LEAST:
            return False
        unit, scaled = _scaled(value)
        cells = [[self._inline(each) for each in row] for row in scaled]
        if any(len(cell) > CELL for row in cells for cell in row):
            return False
        forms = [(f"{path}: {len(value)} rows{unit}", [*enumerate(" ".join(runs(row)) for row in cells)])]
        kinds = [text for text, _ in Counter(cell for row in cells for cell in row).most_common()]
        if len(kinds) <= len(SIGNS) and all(cells):
            signs = _signs(kinds)
            legend = [f"{sign} = {text}" for text, sign in signs.items()]
            drawn = [*enumerate("".join(signs[cell] for cell in row) for row in cells)]
            forms.append((f"{forms[0][0]}; {', '.join(legend)}", drawn))
            if len({len(row) for row in cells}) == 1:
                few = [_places(row, signs, kinds[0]) for row in cells]
                head = f"{path}: {len(value)} rows of {len(cells[0])}{unit}; else {kinds[0]}; {', '.join(legend[1:])}"
                forms.append((head, [(number, line) for number, line in enumerate(few) if line]))
        head, lines = min(forms, key=lambda form: len(form[0]) + sum(len(line) + 4 for _, line in form[1]))
        self._lines.append(head)
        self._lines += [f" {number} {line}" for number, line in lines]
        return True


def _scalar(value: Any) -> str:
    if type(value) is int:
        return str(value)
    return _text(value) if type(value) is str else json.dumps(value, ensure_ascii=False)


@lru_cache(1000)
def _text(value: str) -> str:
    bare = _BARE.fullmatch(value) and value not in _RESERVED
    return value if bare else json.dumps(value, ensure_ascii=False)


def _joined(value: Any, text: Any) -> str:
    """Returns a list or a record on one line. `text` gives that of each item."""
    if isinstance(value, dict):
        return "{" + " ".join(f"{_scalar(str(name))}={text(each)}" for name, each in value.items()) + "}"
    return "[" + " ".join(runs([text(each) for each in value])) + "]"


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(name, str) and _NAME.fullmatch(name) for name in value)


def _items(value: Any) -> Sequence[Any]:
    return [*value.values()] if isinstance(value, dict) else value


def runs(texts: Sequence[str]) -> list[str]:
    """Returns the items of a list, with runs and ranges in a shorter form."""
    found, singles = list[str](), list[str]()

    def flush() -> None:
        at = 0
        while at < len(singles):
            end = _range_end(singles, at)
            if end - at >= LEAST:
                found.append(f"{singles[at]}..{singles[end - 1]}")
                at = end
            else:
                found.append(singles[at])
                at += 1
        singles.clear()

    for text, group in groupby(texts):
        number = len([*group])
        if number >= LEAST:
            flush()
            found.append(f"{text}*{number}")
        else:
            singles.extend([text] * number)
    flush()
    return found


def _range_end(texts: Sequence[str], at: int) -> int:
    """Returns where the range ends that begins at an item."""
    number = _whole(texts[at])
    step, end = 0, at + 1
    while number is not None and end < len(texts):
        following = _whole(texts[end])
        if following is None or abs(following - number) != 1 or following - number == -step:
            break
        step, number, end = following - number, following, end + 1
    return end


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else None


def _regular(texts: Sequence[str], may_be_one: bool) -> _Range | str | None:
    """Returns the range of a column, or its one value if `may_be_one`; None if it has neither."""
    if may_be_one and len({*texts}) == 1:
        return texts[0]
    if len(texts) < (2 if may_be_one else LEAST) or _range_end(texts, 0) < len(texts):
        return None
    return _Range(int(texts[0]), int(texts[-1]))


def _label(keys: Sequence[tuple[str, _Range]], place: int) -> str:
    """Returns what says which record is listed: its value in a column that counts, or its number."""
    if not keys:
        return f"#{place}"
    name, found = keys[0]
    return f"{name}={found.first + (place if found.last >= found.first else -place)}"


def _signs(texts: Sequence[str]) -> dict[str, str]:
    """Returns a character for each text. Those that are one stand for themselves."""
    signs = {texts[0]: "."} | {text: text for text in texts[1:] if len(text) == 1 and text in SIGNS}
    free = iter([sign for sign in SIGNS if sign not in signs.values()])
    return {text: signs[text] if text in signs else next(free) for text in texts}


def _places(row: Sequence[str], signs: Mapping[str, str], usual: str) -> str:
    """Returns where the unusual items of a row are: `a3,5 b4`."""
    found: dict[str, list[str]] = {}
    for at, cell in enumerate(row):
        if cell != usual:
            found.setdefault(signs[cell], []).append(str(at))
    return " ".join(f"{sign}{','.join(places)}" for sign, places in found.items())


def _row(text: str) -> str:
    """Returns a text that has its own line."""
    return text if re.fullmatch(r"[!-~][ -~]*[!-~]", text) and text[0] != '"' else json.dumps(text, ensure_ascii=False)


def _scaled(rows: Sequence[Sequence[Any]]) -> tuple[str, Sequence[Sequence[Any]]]:
    """Returns the unit of numbers with decimals, and the rows in whole numbers of it; or the rows as they are."""
    numbers = [each for row in rows for each in row]
    fractions = any(isinstance(each, float) for each in numbers)
    if fractions and all(type(each) in (int, float) and abs(each) < 1e9 for each in numbers):
        for places in (1, 2, 3):
            factor = 10**places
            whole = [[round(each * factor) for each in row] for row in rows]
            if [[each / factor for each in row] for row in whole] == [[*row] for row in rows]:
                return f" in units of {1 / factor:g}", whole
    return "", rows
