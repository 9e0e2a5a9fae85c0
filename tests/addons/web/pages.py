"""The types of the fixtures of these tests."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from playwright.sync_api import FrameLocator, Page

Played = Callable[..., Path]
Opened = Callable[[Path, str], Page]
Viewing = Callable[..., AbstractContextManager[str]]
Visited = Callable[[str, str], Page]
Framed = Callable[[str], FrameLocator]
