"""The command line in the process of a test, as on a machine without some layers."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from accounts import Run

from referee.harness.cli.main import main
from referee.harness.isolation import c_programs
from referee.harness.isolation.probe import probed


@pytest.fixture
def referee(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Run]]:
    """Runs a command line in a folder, without some layers. It must end with this exit code, if one is given."""

    def run(folder: Path, *argv: str, without: str = "", code: int | None = 0) -> Run:
        monkeypatch.chdir(folder)
        monkeypatch.setenv(c_programs.WITHOUT, without)
        probed.cache_clear()
        capsys.readouterr()
        done = Run(main(argv), *capsys.readouterr())
        assert code is None or done.code == code, done
        return done

    yield run
    probed.cache_clear()
