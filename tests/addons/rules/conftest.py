"""Every test has its own installed games, and leaves no rules program behind."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.addons.rules.source import SOURCE


@pytest.fixture(autouse=True)
def _no_rules_are_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    yield
    SOURCE.forget()
