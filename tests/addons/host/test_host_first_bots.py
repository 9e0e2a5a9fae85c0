"""The lines for an organiser about first bots that this machine cannot build."""

from pathlib import Path

import pytest

from referee.addons.host.first_bots import obstacles
from referee.harness.languages.toolchains import forget


def test_missing_programs_and_packages_are_named_before_a_team_hands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    forget()
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CARGO_HOME", "GOPATH", "GOMODCACHE", "npm_config_cache"):
        monkeypatch.delenv(variable, raising=False)
    lines = [*obstacles("tictactoe", network=True)]
    assert any(line.startswith("first bots in Rust will be refused: ") and "cargo" in line for line in lines)
    assert not [line for line in lines if "Python" in line]
    for name in ("java", "javac", "mvn", "cargo", "rustc", "cc", "go", "node", "npm", "tsc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    forget()
    assert not [line for line in obstacles("tictactoe", network=True) if "Java " in line]
    (line,) = [line for line in obstacles("tictactoe", network=False) if "Java " in line]
    assert "builds have no network" in line and "mvn" in line
    (tmp_path / ".m2" / "repository" / "org").mkdir(parents=True)
    assert not [line for line in obstacles("tictactoe", network=False) if "Java " in line]
