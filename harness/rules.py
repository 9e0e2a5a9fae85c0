"""The rules of the games as pages, `docs/rules/<game>.md`, by section: what rulings, findings and docstrings cite."""

import re
from collections.abc import Sequence

from msgspec import Struct

from referee.harness.errors import UsageError
from referee.harness.paths import RULES

_HEADING = re.compile(r"(?P<level>#{1,3}) (?:Part )?(?:(?P<number>\d+(?:\.\d+)*|[A-Z]\d*)(?:\.| —)? )?(?P<title>.+)")


class Section(Struct, frozen=True):
    """A heading with what stands below it."""

    level: int
    """1 = the page, 2 = a section or part, 3 = one inside of it."""
    number: str
    """As it is cited: `5.2`, `A4`; empty where a heading has none."""
    title: str
    text: str
    """Markdown: the heading and everything up to the next heading of its level or above."""


def sections(game: str) -> tuple[Section, ...]:
    """The page of a game, heading by heading, in order. UsageError if there is none."""
    page = RULES / f"{game}.md"
    if not page.is_file():
        known = ", ".join(sorted(path.stem for path in RULES.glob("*.md")))
        raise UsageError(f"there is no page with the rules of {game}; there are {known}")
    lines = page.read_text("utf-8").splitlines()
    headings = [(at, found) for at, line in enumerate(lines) if (found := _HEADING.fullmatch(line))]
    return tuple(_section(lines, at, headings[place + 1 :], found) for place, (at, found) in enumerate(headings))


def section(game: str, heading: str | None = None) -> Section:
    """One section by its number, a run of them (`A4-A7`) or one by words of its title; the whole page for None.

    UsageError lists what there is.
    """
    found = sections(game)
    if heading is None:
        return found[0]
    name = heading.strip(" .§").casefold()
    numbers = [part.number.casefold() for part in found]
    first, _, last = re.sub("[–—]", "-", name).partition("-")
    if name and name in numbers:
        return found[numbers.index(name)]
    if first in numbers and last in numbers[numbers.index(first) :]:
        run = found[numbers.index(first) : numbers.index(last) + 1]
        parts = [part for part in run if part.level == run[0].level]
        return Section(run[0].level, heading, run[0].title, "\n\n".join(part.text for part in parts))
    for part in found[1:]:
        if name and name in part.title.casefold():
            return part
    known = ", ".join(f"{part.number} {part.title}".strip() for part in found if part.level == 2)
    raise UsageError(f"the rules of {game} have no section {heading!r}; there are {known}")


def _section(
    lines: Sequence[str], at: int, later: Sequence[tuple[int, re.Match[str]]], heading: re.Match[str]
) -> Section:
    level = len(heading["level"])
    end = next((place for place, other in later if len(other["level"]) <= level), len(lines))
    text = "\n".join(lines[at:end]).strip().removesuffix("---").rstrip("-\n ")
    return Section(level, heading["number"] or "", heading["title"], text)
