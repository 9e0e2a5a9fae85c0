"""`referee tournament page`: writes a web site of plain files."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from referee.addons.tournament.cli.table import files_handed_in
from referee.addons.tournament.inbox import Retitle, hand_in
from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.reports.author_links import write_links
from referee.addons.tournament.reports.past_tables import freeze as freeze_table
from referee.addons.tournament.reports.readers import Reader
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.web.link_preview import draws_cards
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import NOT_NEGATIVE
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import out, warn
from referee.harness.common.addresses import typed_address
from referee.harness.common.errors import RunError, UsageError
from referee.protocol.text import counted

if TYPE_CHECKING:
    from referee.addons.web.card import Draw


def write_page(
    folder: Path,
    *,
    to: Path | None = None,
    reader: Reader = Reader.PUBLIC,
    viewed: Annotated[int | None, Parameter(validator=NOT_NEGATIVE)] = None,
    title: str | None = None,
    organiser: str = "",
    freeze: str | None = None,
    analyse: Annotated[int, Parameter(validator=NOT_NEGATIVE)] = 0,
    address: str | None = None,
) -> int:
    """Writes a web site of plain files: standings, a page per bot and per pair, games and replays.

    Args:
        folder: The tournament's folder.
        to: Where to write the site. Default: a folder in the tournament's, named after the reader.
        reader: public: without the bots' standard error and commands, and with a page for each author that has the own
            bot's. Its link is secret: this command prints it, and writes all to author-links.csv in the tournament's
            folder. organiser: everything.
        viewed: How many of each bot's last games get a page with the viewer. Default: 10 where the viewer is installed.
        title: The contest's name, which `show` then prints too. Default: the title in tournament.toml, else the game
            and the format.
        organiser: Who organises it.
        analyse: How many of the closest games say where they turned, as a built-in bot sees it. Each takes about 10
            seconds the first time. Default: none.
        address: URL: where the site will be, such as https://cup.example.org. The secret links then begin with it. With
            the extra `pictures` and Chromium, each page of a game gets a card: a picture that chats show with a link.
        freeze: NAME: keep the table of this moment on a page of its own, such as WEEK-3, whatever is played later.
    """
    from referee.addons.tournament.reports import site  # a template engine takes 60 ms to load

    if address is not None:
        _check_address(address)
    plan = read_plan(folder / PLAN)
    if title is not None and title != plan.title:
        plan, _ = hand_in(folder, Retitle(title))
    if freeze is not None:
        freeze_table(folder, plan, freeze)
    where = folder / f"page-{reader}" if to is None else to
    with _cards(address) as draw:
        written = site.write(plan, folder, where, reader, viewed, organiser, analyse, address or "", draw)
    print_written(where, written.files, written.kept)
    if written.authors:
        out.print("secret pages, each for the author of one bot:")
        start = "" if address is None else f"{address.rstrip('/')}/"
        links = {name: start + page.as_posix() for name, page in written.authors.items()}
        for name, link in links.items():
            out.print(printable(f"  {name}: {link}"))
        files = {entry.name: entry.bot for entry in plan.bots}
        files |= {name: each.file for name, each in files_handed_in(folder).items() if each.file}
        merged = write_links(folder, ((name, files.get(name, ""), link) for name, link in links.items()))
        out.print(f"for a mail merge: {merged}")
    return PLAYED


def _check_address(address: str) -> None:
    expected = "expected an address such as https://cup.example.org"
    parts = typed_address(address, f"--address {address}", expected)
    if parts.scheme not in ("https", "http") or not parts.hostname or not address.isprintable():
        raise UsageError(f"--address {address}: {expected}")


@contextmanager
def _cards(address: str | None) -> Iterator["Draw | None"]:
    """Yields what draws cards; None if that cannot be done here, or nobody knows the address that chats need."""
    if address is None or not draws_cards():
        yield None
        return
    from referee.addons.web.card import drawing  # Playwright, an extra

    with ExitStack() as opened:
        try:
            draw = opened.enter_context(drawing())
        except RunError as error:
            warn(f"the games get no cards: {error}")
            draw = None
        yield draw


def print_written(site: Path, files: int, kept: Sequence[str]) -> None:
    """Prints how many files a site has, and warns of those in its folder that are not of it."""
    from referee.addons.tournament.reports.site_folder import what_stays

    if kept:
        warn(what_stays(site, kept))
    out.print(f"{counted(files, 'file')} in {site}")
