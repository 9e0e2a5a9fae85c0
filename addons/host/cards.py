"""The cards of games: pictures that chats show with a link. Each is drawn when it is first asked for, and kept."""

import threading
from collections.abc import Callable
from pathlib import Path

from referee.addons.host.live import LiveSite
from referee.addons.tournament.store.ledger import Line, game_name
from referee.addons.web.link_preview import draws_cards
from referee.harness.common.errors import UsageError
from referee.harness.common.output import write_whole

FOLDER = ".cards"
"""The folder of a tournament in which they are kept. No backup has it."""
MOST_S = 20.0
"""How long a card may take."""
_drawing = threading.Lock()
"""A browser takes much memory: one at a time."""
_waiting = threading.BoundedSemaphore(3)
"""How many requests draw or wait for that. More would hold all threads that answer requests."""


class Busy(Exception):
    """Too many cards are asked for at once."""


def card(site: LiveSite, name: str, check_rate: Callable[[], None]) -> bytes | None:
    """Returns the card of a game as PNG; None if the site shows no such game, or none can be drawn here.

    `check_rate` raises an error if too many were drawn. Busy while others wait. RunError if Chromium fails.
    """
    found = site.line(name)
    if found is None or found[1].z is None or not draws_cards():
        return None
    kept = site.folder / FOLDER / f"{game_name(found[1].k)}.png"
    if not kept.exists():
        if not _waiting.acquire(blocking=False):
            raise Busy
        try:
            _draw(kept, site, found, check_rate)
        finally:
            _waiting.release()
    return kept.read_bytes() or None


def _draw(kept: Path, site: LiveSite, found: tuple[Path, Line], check_rate: Callable[[], None]) -> None:
    with _drawing:
        if not kept.exists():
            check_rate()
            kept.parent.mkdir(exist_ok=True)
            write_whole(kept, _drawn(site, found))


def _drawn(site: LiveSite, found: tuple[Path, Line]) -> bytes:
    """Returns a new card; nothing for a game that is too long for one."""
    from referee.addons.web.card import drawing  # Playwright, an extra

    with drawing(most_s=MOST_S) as draw, site.game(*found, None) as replay:
        try:
            return draw(replay, None)
        except UsageError:
            return b""
