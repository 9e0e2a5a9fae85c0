"""Link previews (Open Graph): title, sentence and card, which chats show of a match's page."""

import html
import shutil

from msgspec import Struct

WIDTH, HEIGHT = 1200, 630
"""Pixels of a card: what chats show."""


class Preview(Struct, frozen=True):
    """The parts of a link preview besides the page's title."""

    sentence: str
    address: str = ""
    """Of the page; empty if nobody knows where the site is. Chats take no relative one."""
    card: str = ""
    """The address of the match's card; empty if it has none."""


def tags(title: str, preview: Preview) -> str:
    """Returns the elements for the page's head."""
    found = {"og:title": title, "og:type": "website", "og:description": preview.sentence}
    if preview.address:
        found["og:url"] = preview.address
    if preview.card:
        found |= {"og:image": preview.card, "og:image:width": f"{WIDTH}", "og:image:height": f"{HEIGHT}"}
    lines = [f'<meta property="{name}" content="{html.escape(value)}">\n' for name, value in found.items()]
    large = '<meta name="twitter:card" content="summary_large_image">\n' if preview.card else ""
    return "".join(lines) + large


def draws_cards() -> bool:
    """Tells whether this installation draws cards: it has the viewer, Playwright and the system's Chromium."""
    from referee.addons.web.page import is_there

    try:
        from referee.addons.web.browser import BROWSERS  # Playwright, an extra
    except ImportError:
        return False
    return is_there() and any(map(shutil.which, BROWSERS))
