"""A tournament of metered bots has the same ledger on any machine, however busy, and can be played again."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from modules import SPIN, bot, saved

from referee.addons.tournament.plan import read_plan
from referee.addons.tournament.store import ledger, reader
from referee.addons.wasm import transport
from referee.harness.cli.main import main

pytestmark = pytest.mark.slow

MEASURED = ("at", "by", "ms", "c", "z", "o")
"""Members of a ledger's line that are measured, or say where something is."""
RANDOM = """(drop (call $random_get (i32.const 512) (i32.const 1)))
    (local.set $i (i32.mul (i32.add (i32.load8_u (i32.const 512)) (i32.const 1)) (i32.const 100)))
    (loop $more (local.set $i (i32.sub (local.get $i) (i32.const 1))) (br_if $more (local.get $i)))"""


def token(column: str) -> str:
    return json.dumps({"action": "putToken", "column": column})


def played(folder: Path, seed: int, workers: int) -> Path:
    """Plays a tournament of three bots, of which one runs out of fuel in some calls."""
    slow = f"{RANDOM} (if (i32.lt_u (i32.load8_u (i32.const 512)) (i32.const 40)) (then {SPIN}))"
    bots = [("c", bot(token("C"), RANDOM)), ("d", bot(token("D"))), ("slow", bot(token("E"), slow))]
    files = [str(saved(folder, name, content)) for name, content in bots]
    where = folder / f"cup{workers}"
    words = ["--game", "connectfour", "--games", "2", "--seed", str(seed), "--call-time", "20ms"]
    assert main(["tournament", "run", *files, *words, "--ledger", str(where), "--jobs", str(workers)]) == 0
    return where


def lines(folder: Path) -> dict[str, Any]:
    """Returns what must repeat, by key."""
    found = {}
    for _, line in reader.counted_lines(folder):
        members = msgspec.to_builtins(line)
        found[line.k] = {name: value for name, value in members.items() if name not in MEASURED}
    return found


@pytest.fixture
def busy() -> Iterator[None]:
    """Keeps every core busy."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


@pytest.mark.slow
def test_the_ledger_is_the_same_alone_and_on_a_busy_machine(
    tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = lines(played(tmp_path, 5, workers=1))
    request.getfixturevalue("busy")
    assert lines(played(tmp_path, 5, workers=2)) == alone
    assert any("f" in line for line in alone.values())
    assert all(line["w"] for line in alone.values())


def test_a_tournament_is_played_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = played(tmp_path, 3, workers=1)
    games = len(lines(folder))
    assert main(["tournament", "verify", str(folder)]) == 0
    assert f"{games} games verified, 0 differ" in " ".join(capsys.readouterr().out.split())
    assert main(["tournament", "verify", str(folder), "--play", "--sample", "50%"]) == 0
    assert "games played again, 0 differ" in " ".join(capsys.readouterr().out.split())
    file = ledger.files(folder)[0]
    head, first, *rest = file.read_text().splitlines()
    line = json.loads(first)
    file.write_text("\n".join([head, json.dumps(line | {"r": line["r"][::-1]}), *rest, ""]))
    assert main(["tournament", "verify", str(folder)]) == 1
    assert "in the ledger" in " ".join(capsys.readouterr().out.split())


def test_a_build_of_somebody_elses_tournament_reads_no_file_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the folder says about isolation; and without a layer that hides files, nothing is built."""
    marker, secret = tmp_path / "out" / "read", tmp_path / "secret"
    marker.parent.mkdir()
    marker.parent.chmod(0o777)
    secret.write_text("secret")
    for name, column in (("one", "C"), ("two", "D")):
        made = saved(tmp_path, name, bot(token(column)))
        (tmp_path / f"bot_{name}").mkdir()
        made.rename(tmp_path / f"bot_{name}" / "source.wasm")
        build = f"cp source.wasm bot.wasm; cp {secret} {marker} || true"
        (tmp_path / f"bot_{name}" / "bot.toml").write_text(f'run = ["bot.wasm"]\nbuild = "{build}"\n')
    folder = tmp_path / "cup"
    words = ["--game", "connectfour", "--games", "2", "--ledger", str(folder), "--jobs", "1"]
    assert main(["tournament", "run", str(tmp_path / "bot_one"), str(tmp_path / "bot_two"), *words]) == 0
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # a machine on which nothing is built yet
    plan = folder / ledger.PLAN
    text = plan.read_text().replace('"mode" = "auto"', '"mode" = "off"')
    text = text.replace('"readable" = []', f'"readable" = ["{tmp_path}"]')
    plan.write_text(text.replace('"writable" = []', f'"writable" = ["{marker.parent}"]'))
    assert read_plan(plan).limits.isolation.mode == "off"
    assert main(["tournament", "verify", str(folder), "--play"]) == 0, capsys.readouterr().err
    assert not marker.exists()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    command = [sys.executable, "-m", "referee.harness.cli.main", "tournament", "verify", str(folder), "--play"]
    without = os.environ | {"REFEREE_WITHOUT": "linux"}
    done = subprocess.run(command, capture_output=True, text=True, env=without)
    assert done.returncode == 5, done.stderr
    assert "is not built: files (" in " ".join(done.stderr.split())
    assert not marker.exists()


def test_without_metered_bots_nothing_is_played_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["@random", "@random", "--game", "connectfour", "--games", "1", "--ledger", str(tmp_path / "cup")]
    assert main(["tournament", "run", *words]) == 0
    assert main(["tournament", "verify", str(tmp_path / "cup"), "--play"]) == 2
    assert "no bot is metered" in capsys.readouterr().err
    assert main(["tournament", "verify", str(tmp_path / "cup"), "--engine", "pulley"]) == 2
    assert "--engine pulley needs --play" in capsys.readouterr().err


def test_a_bot_that_meets_the_guard_loses_and_stops_no_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from referee.addons.wasm import transport\ntransport.GUARD_S = 0.2\ntransport.GUARD_FACTOR = 0\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    bots = [str(saved(tmp_path, "heavy", bot(token("C"), SPIN))), str(saved(tmp_path, "light", bot(token("D"))))]
    folder = tmp_path / "cup"
    words = ["--game", "connectfour", "--games", "2", "--call-time", "1s", "--ledger", str(folder), "--jobs", "1"]
    assert main(["tournament", "run", *bots, *words]) == 0
    found = [line for _, line in reader.counted_lines(folder)]
    assert len(found) >= 2
    for line in found:
        heavy = line.f[0].seat
        assert line.r[heavy] == 2 and line.r[1 - heavy] == 1
        assert line.f[0].kind == "cpu" and "CPU time that fuel does not see" in line.f[0].detail
    assert transport.GUARD_S == 10
    assert main(["tournament", "verify", str(folder), "--play"]) == 0
