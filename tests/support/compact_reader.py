"""Reads prompts as a model does: data in the notation of `addons/llm/compact.py`, and legal answers."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]|[^\s\[\]{}"=]+|=')


def read(text: str, known: Mapping[str, Any] | None = None) -> Any:
    """Returns the value of a text."""
    return _Reader(text, known or {}).value()


def legal_answers(question: str) -> list[Any]:
    """Returns the legal answers that a prompt lists, all or a few."""
    heading = re.search(r"^(All legal answers:|There are too many legal answers to list.*)$", question, re.MULTILINE)
    lines = question[heading.end() :].split("\n") if heading else []
    return [answer for line in lines if line.startswith("- ") for answer in _answers(line[2:])]


def _answers(line: str) -> list[Any]:
    form, found, values = line.rpartition("? one of: ")
    if not found:
        return [json.JSONDecoder().raw_decode(line)[0]]
    form = form.removesuffix(" with ") or "?"
    before, _, after = re.sub(r'("(?:[^"\\]|\\.)*")|\?', lambda each: each[1] or "\0", form).partition("\0")
    return [json.loads(before + text + after) for text in _listed(values)]


def _listed(values: str) -> list[str]:
    """Returns the JSON texts of a list without blanks in its items, but in quotes."""
    found = list[str]()
    for text in _split(values, " "):
        if between := re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text):
            first, last = int(between[1]), int(between[2])
            found += map(str, range(first, last + 1) if last >= first else range(first, last - 1, -1))
        else:
            found.append(text)
    return found


class _Reader:
    def __init__(self, text: str, known: Mapping[str, Any]) -> None:
        self.known = dict(known)
        self.blocks: list[tuple[str, str, list[str]]] = []
        for line in text.split("\n"):
            if line.startswith(" "):
                self.blocks[-1][2].append(line[1:])
            else:
                path, _, rest = line.partition(": ")
                self.blocks.append((path, rest, []))

    def value(self) -> Any:
        waiting = {path.partition(".")[0] for path, _, _ in self.blocks if re.match(r"\$\d", path)}
        while waiting:
            for name in sorted(waiting):
                with suppress(KeyError):  # it has a value that is still to be read
                    self.known[name] = self.part(name)[name]
                    waiting.remove(name)
        root: dict[str, Any] = {}
        for path, rest, lines in self.blocks:
            if not re.match(r"\$\d", path):
                self.put(root, path, self.block(rest, lines))
        return root.get("$", root)

    def part(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for path, rest, lines in self.blocks:
            if path.partition(".")[0] == name:
                self.put(found, path, self.block(rest, lines))
        return found

    def put(self, root: Any, path: str, value: Any) -> None:
        *parents, last = path.split(".")
        for name in parents:
            root = root[int(name)] if isinstance(root, list) else root.setdefault(name, {})
        if isinstance(root, list):
            root[int(last)] = value
        else:
            root[last] = value

    def block(self, rest: str, lines: list[str]) -> Any:
        if found := re.fullmatch(r"(\d+) items", rest):
            return [{} for _ in range(int(found[1]))]
        if found := re.match(r"(\d+) (lists of )?records(; |$)", rest):
            return self.records(int(found[1]), found[2] is None, rest[found.end() :], lines)
        if re.fullmatch(r"\d+ texts", rest):
            rows = [line.partition(" ")[2] for line in lines]
            return [json.loads(row) if row[0] == '"' else row for row in rows]
        if found := re.match(r"(\d+) rows(?: of (\d+))?(?: in units of ([\d.e-]+))?(?:; (.*))?$", rest):
            values = self.rows(int(found[1]), found[2] and int(found[2]), found[4], lines)
            factor = round(1 / float(found[3])) if found[3] else None
            return [[each / factor for each in row] for row in values] if factor else values
        return self.inline(rest)

    def rows(self, number: int, length: int | None, notes: str | None, lines: list[str]) -> list[list[Any]]:
        parts = [line.partition(" ") for line in lines]
        if length is not None:
            usual, *legend = _split(notes or "", "; ")
            signs = self.legend(legend[0]) if legend and legend[0] else {}
            table = [[self.inline(usual.removeprefix("else "))] * length for _ in range(number)]
            for place, _, row in parts:
                for listed in row.split(" "):
                    for at in listed[1:].split(","):
                        table[int(place)][int(at)] = signs[listed[0]]
            return table
        if notes:
            signs = self.legend(notes)
            return [[signs[sign] for sign in row] for _, _, row in parts]
        return [self.inline(f"[{row}]") for _, _, row in parts]

    def legend(self, text: str) -> dict[str, Any]:
        return {pair[0]: self.inline(pair[4:]) for pair in _split(text, ", ")}

    def records(self, number: int, alone: bool, notes: str, lines: list[str]) -> Any:
        each: dict[str, str] = {}
        ranges, columns, usual = "", list[str](), list[str]()
        for note in _split(notes, "; "):
            word, _, rest = note.partition(" ")
            if word == "each":
                each = dict(self.pairs(rest))
            elif word == "columns":
                columns = rest.split(" ")
            elif word == "else":
                usual = _cells(rest)
            elif note:
                ranges = note
        parts = [(number, ranges, lines)]
        if not alone:
            parts = []
            for line in lines:
                head, *listed = _split(line.partition(" ")[2], "; ")
                count, _, own = head.partition(" ")
                parts.append((int(count), own, listed))
        tables = [self.table(count, own, listed, each, columns, usual) for count, own, listed in parts]
        return tables[0] if alone else tables

    def table(
        self, number: int, ranges: str, lines: list[str], each: dict[str, str], columns: list[str], usual: list[str]
    ) -> list[Any]:
        flat: list[dict[str, str]] = [dict(each) for _ in range(number)]
        counts: dict[str, int] = {}
        for name, text in self.pairs(ranges):
            values = [text] * number
            if found := re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text):
                step = 1 if int(found[2]) >= int(found[1]) else -1
                values = [str(int(found[1]) + step * place) for place in range(number)]
                counts[name] = int(found[1]) * step
            for record, value in zip(flat, values, strict=True):
                record[name] = value
        rows = [usual] * number if usual else [[] for _ in range(number)]
        for place, line in enumerate(lines):
            cells = _cells(line)
            if usual:
                label, *cells = cells
                name, _, value = label.partition("=")
                place = int(label[1:]) if label[0] == "#" else abs(int(value) - int(flat[0][name]))
            rows[place] = cells
        for record, row in zip(flat, rows, strict=True):
            record |= dict(zip(columns, row, strict=True))
        return [self.nested(record) for record in flat]

    def nested(self, flat: dict[str, str]) -> Any:
        found: dict[str, Any] = {}
        for path, text in flat.items():
            if text != "-":
                self.put(found, path, self.inline(text))
        return found

    def pairs(self, text: str) -> list[tuple[str, str]]:
        return [(name, rest) for name, _, rest in (pair.partition("=") for pair in _cells(text))]

    def inline(self, text: str) -> Any:
        tokens = [*_TOKEN.findall(text)]
        value, end = self.parsed(tokens, 0)
        assert end == len(tokens), text
        return value

    def parsed(self, tokens: list[str], at: int) -> tuple[Any, int]:
        token = tokens[at]
        if token == "[":
            items: list[Any] = []
            at += 1
            while tokens[at] != "]":
                if found := re.fullmatch(r"(-?\d+)\.\.(-?\d+)", tokens[at]):
                    first, last = int(found[1]), int(found[2])
                    items += range(first, last + 1) if last >= first else range(first, last - 1, -1)
                    at += 1
                    continue
                if (found := re.fullmatch(r"(.+)\*(\d+)", tokens[at])) and tokens[at][0] != '"':
                    items += [self.scalar(found[1])] * int(found[2])
                    at += 1
                    continue
                item, at = self.parsed(tokens, at)
                if found := re.fullmatch(r"\*(\d+)", tokens[at]):
                    items += [item] * int(found[1])
                    at += 1
                else:
                    items.append(item)
            return items, at + 1
        if token == "{":
            record: dict[str, Any] = {}
            at += 1
            while tokens[at] != "}":
                name = json.loads(tokens[at]) if tokens[at][0] == '"' else tokens[at]
                assert tokens[at + 1] == "="
                record[name], at = self.parsed(tokens, at + 2)
            return record, at + 1
        return self.scalar(token), at + 1

    def scalar(self, token: str) -> Any:
        if token[0] == "$":
            return self.known[token]
        if re.fullmatch(r"[A-Za-z_][\w+]*", token) and token not in ("true", "false", "null"):
            return token
        return json.loads(token)


def _cells(text: str) -> list[str]:
    return [cell for cell in _split(text, " ") if cell]


def _split(text: str, separator: str) -> list[str]:
    """Splits a text outside of quotes and brackets."""
    parts, start, depth, at, quoted = list[str](), 0, 0, 0, False
    while at < len(text):
        sign = text[at]
        if quoted:
            at += sign == "\\"
            quoted = sign != '"'
        elif sign == '"':
            quoted = True
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            start = at + len(separator)
        at += 1
    return [*parts, text[start:]]
