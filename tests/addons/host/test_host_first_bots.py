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
    refused = dict(obstacles("tictactoe", network=True))
    assert "cargo" in refused["Rust"] and "Python" not in refused
    for name in ("java", "javac", "mvn", "cargo", "rustc", "cc", "go", "node", "npm", "tsc"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    forget()
    assert "Java" not in dict(obstacles("tictactoe", network=True))
    line = dict(obstacles("tictactoe", network=False))["Java"]
    assert "builds have no network" in line and "mvn" in line
    (tmp_path / ".m2" / "repository" / "org").mkdir(parents=True)
    assert "Java" not in dict(obstacles("tictactoe", network=False))
