"""The types of the fixtures of these tests."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from playwright.sync_api import FrameLocator, Page

AXE = Path(__file__).parents[2] / "viewer" / "node_modules" / "axe-core" / "axe.min.js"

Played = Callable[..., Path]
Opened = Callable[[Path, str], Page]
Viewing = Callable[..., AbstractContextManager[str]]
Visited = Callable[[str, str], Page]
Framed = Callable[[str], FrameLocator]


def barriers(page: Page) -> list[str]:
    """Returns what axe-core finds."""
    page.evaluate(AXE.read_text("utf-8"))  # not as a script element, which the page's policy refuses
    labels = "{'label-content-name-mismatch': {enabled: true}}"
    found: Any = page.evaluate(f"axe.run(document, {{resultTypes: ['violations'], rules: {labels}}})")
    return [f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found["violations"]]
