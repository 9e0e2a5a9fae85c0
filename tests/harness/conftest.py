"""What the tests of the harness share."""

import sys
import tempfile
from pathlib import Path

import pytest
from scripted import Arena

SITE = Path(__file__).parent / "site"
sys.path.append(str(SITE))


@pytest.fixture
def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Arena:
    """A place for matches; the scratch folders of their bots lie in it, which marks their processes."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return Arena(tmp_path)
