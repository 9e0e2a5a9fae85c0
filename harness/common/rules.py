"""The sections of the rules' pages, `docs/reference/rules/<game>.md`, which faults, findings and docstrings cite."""

import re
from functools import cache
from pathlib import Path

from msgspec import Struct

from referee.games import registry
from referee.harness.common.errors import UsageError
from referee.harness.common.paths import RULES, game_file

_HEADING = re.compile(r"(?P<level>#{1,3}) (?:Part )?(?:(?P<number>\d+(?:\.\d+)*|[A-Z]\d*)(?:\.| —)? )?(?P<title>.+)")


_SKIP, _READ_ON = "<!-- players skip this -->", "<!-- players read on -->"
"""Lines around what concerns judging, originals and cheats, but not how one plays: a text for players leaves it out."""


class Section(Struct, frozen=True):
    """A heading with the text below it."""

    level: int
    """1 = the page, 2 = a section or part, 3 = a subsection."""
    number: str
    """As it is cited: `5.2`, `A4`; empty = the heading has none."""
    title: str
    text: str
    """Markdown, from the heading to the next heading of the same or a higher level."""


def rules_page(game: str) -> Path:
    """Returns where the page of a game is, or would be if there were one."""
    is_known = game in registry.names() or game.partition(":")[0] in registry.families()
    brought = registry.game(game).rules_page if is_known else ""
    return game_file(registry.game(game), brought) if brought else RULES / f"{game.partition(':')[0]}.md"


def page_text(game: str) -> str:
    """Returns the page as people read it, and behind it that of the game's family; empty if there is none."""
    pages = dict.fromkeys((rules_page(game), RULES / f"{game.partition(':')[0]}.md"))
    texts = [page.read_text("utf-8") for page in pages if page.is_file()]
    lines = "\n".join(texts).splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() not in (_SKIP, _READ_ON))


@cache
def for_players(game: str) -> str:
    """Returns what a player must know of the page. All of it, if its author has marked nothing."""
    page = rules_page(game)
    kept, is_kept = list[str](), True
    for line in page.read_text("utf-8").splitlines() if page.is_file() else []:
        is_kept = (is_kept or line.strip() == _READ_ON) and line.strip() != _SKIP
        if is_kept and line.strip() != _READ_ON:
            kept.append(line)
    return re.sub(r"\n(?:\s*(?:-{3,})?\n){2,}", "\n\n", "\n".join(kept)).strip()


def sections(game: str) -> tuple[Section, ...]:
    """Returns the sections of a game's page, in order. UsageError if there is no page."""
    page = rules_page(game)
    if not page.is_file():
        known = ", ".join(name for name in registry.names() if rules_page(name).is_file())
        raise UsageError(f"there is no page with the rules of {game}; there are {known}")
    lines = page_text(game).splitlines()
    headings = [(at, found) for at, line in enumerate(lines) if (found := _HEADING.fullmatch(line))]
    parts = []
    for place, (at, heading) in enumerate(headings, 1):
        level = len(heading["level"])
        end = next((later for later, other in headings[place:] if len(other["level"]) <= level), len(lines))
        text = "\n".join(lines[at:end]).strip().removesuffix("---").rstrip("-\n ")
        parts.append(Section(level, heading["number"] or "", heading["title"], text))
    return tuple(parts)


def section(game: str, heading: str | None = None) -> Section:
    """Returns a section by its number, a range of them (`A4-A7`), or one by words of its title; None = the whole page.

    UsageError lists the sections.
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
