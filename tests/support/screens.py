"""A pytest plugin for what a command prints: one file for each screen, compared as text, reviewed as text.

`pytest tests/cli/test_screens.py --rewrite-screens` writes them anew.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

OPTION = "--rewrite-screens"
MEASURED = re.compile(r"\d+(?:\.\d+)?(?= ?(?:ms|s|MiB|GiB)\b)|(?<=_ms\":)\d+|[0-9a-f]{8}-[0-9a-f-]{27}")
"""What another run does not repeat: times, sizes and ids."""
LOAD = ("machine load", "The machine ")
"""In lines that a busy machine prints."""

Screen = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption(OPTION, action="store_true", help="write the files of screens instead of comparing with them")


def stable(text: str) -> str:
    """Returns a screen without what is measured, and with columns two blanks apart."""
    lines = [MEASURED.sub("#", line).rstrip() for line in text.splitlines() if not any(words in line for words in LOAD)]
    return "\n".join(re.sub(r"(?<=\S) {2,}", "  ", line) for line in lines) + "\n"


@pytest.fixture
def screen(request: pytest.FixtureRequest) -> Screen:
    """Compares a screen with the file of its name in the folder `screens` next to the test."""

    def compare(name: str, text: str) -> None:
        file = Path(request.path).parent / "screens" / f"{name}.txt"
        if request.config.getoption(OPTION):
            file.parent.mkdir(exist_ok=True)
            file.write_text(stable(text), "utf-8")
        assert stable(text) == file.read_text("utf-8"), f"if it is meant so: pytest {request.path} {OPTION}"

    return compare
