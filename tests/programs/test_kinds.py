"""The registry of kinds: a new kind needs one entry, and nothing else."""

import sys
from pathlib import Path

import msgspec
import pytest

import referee
from referee.harness.cli.main import main
from referee.harness.errors import UsageError
from referee.harness.programs import kinds
from referee.harness.programs.entrant import Entrant, Parsed
from referee.harness.servers.mcp.allowed import Allowed

ROOT = Path(__file__).resolve().parent.parent.parent


def _first_legal(spec: str, game: str | None) -> Parsed:
    module = "referee.harness.opponents.baseline"
    return spec, lambda context: Entrant(spec, (sys.executable, "-m", module), ROOT)


THIRTEENTH = kinds.Kind(
    name="oracles",
    prefixes=("oracle:",),
    parse=_first_legal,
    help="oracle:NAME (an oracle)",
    rows=(("an oracle", "`oracle:delphi`"),),
)


@pytest.fixture
def thirteenth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "KINDS", [*kinds.KINDS, THIRTEENTH])


def test_the_docs_have_the_table_of_the_registry() -> None:
    page = (ROOT / "docs" / "reference" / "bots-and-limits.md").read_text("utf-8")
    assert "\n".join(kinds.table()) in page


def test_another_kind_plays_with_one_entry_in_the_registry(thirteenth: None, tmp_path: Path) -> None:
    verdict = referee.play("tictactoe", ["oracle:delphi", "Pythia=oracle:dodona"], seed=1)
    assert [seat.name for seat in verdict.seats] == ["oracle:delphi", "Pythia"]
    assert verdict.faults == ()


def test_another_kind_is_in_help_and_in_the_table(thirteenth: None) -> None:
    assert "oracle:NAME (an oracle)" in kinds.bots_help()
    assert "| an oracle | `oracle:delphi` |" in list(kinds.table())


def test_another_kind_is_refused_to_clients(thirteenth: None, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="oracle:delphi: expected @NAME or a path"):
        Allowed(tmp_path).bot("oracle:delphi")


def test_another_kind_stays_out_of_packages(
    thirteenth: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("export", "problem", "--game", "tictactoe", "--against", "oracle:delphi", "--into", str(tmp_path / "new"))
    assert main(words) == 2
    assert "oracle:delphi: cannot be copied into a package" in " ".join(capsys.readouterr().err.split())


def test_another_kind_for_single_matches_only_is_refused_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kinds, "KINDS", [*kinds.KINDS, msgspec.structs.replace(THIRTEENTH, in_series=False)])
    assert main(("check", "oracle:delphi", "--game", "tictactoe")) == 2
    assert "oracles play single matches only" in capsys.readouterr().err
