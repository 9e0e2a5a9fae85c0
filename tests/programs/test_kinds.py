"""The registry of kinds: another kind of player is one file in a folder of its own, and nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import referee
from referee.harness import adapters
from referee.harness.cli.main import main
from referee.harness.errors import UsageError
from referee.harness.programs import kinds
from referee.harness.programs.source_file import SOURCES
from referee.harness.servers.mcp.allowed import Allowed

ROOT = Path(__file__).resolve().parent.parent.parent
KIND = """
import sys
from pathlib import Path

from referee.harness.programs.entrant import Entrant
from referee.harness.programs.kinds import Kind

KINDS = (
    Kind(
        name="oracle",
        plural="oracles",
        prefixes=("oracle:",),
        help="oracle:NAME (an oracle)",
        rows=(("an oracle", "`oracle:delphi`"),),
        parse="referee.harness.adapters.oracles.kind:parse",
        in_series={in_series},
    ),
)


def parse(spec, game):
    command = (sys.executable, "-m", "referee.harness.opponents.baseline")
    return spec, lambda context: Entrant(spec, command, Path({root!r}))
"""
"""All that another kind of player needs, as `adapters/oracles/kind.py`."""


def _install(folder: Path, monkeypatch: pytest.MonkeyPatch, in_series: bool) -> None:
    (folder / "oracles").mkdir()
    (folder / "oracles" / "kind.py").write_text(KIND.format(in_series=in_series, root=str(ROOT)))
    monkeypatch.setattr(adapters, "__path__", [*adapters.__path__, str(folder)])
    kinds.kinds.cache_clear()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.startswith("referee.harness.adapters.oracles")]:
        del sys.modules[name]
    kinds.kinds.cache_clear()
    kinds.function.cache_clear()


@pytest.fixture
def oracles(registry: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    _install(tmp_path, monkeypatch, in_series=True)
    return tmp_path


def test_the_docs_have_the_table_of_the_registry() -> None:
    page = (ROOT / "docs" / "reference" / "bots-and-limits.md").read_text("utf-8")
    assert "\n".join(kinds.table(" ".join(SOURCES))) in page


def test_names_and_places_of_kinds_differ() -> None:
    found = kinds.kinds()
    assert len({kind.name for kind in found}) == len({kind.place for kind in found}) == len(found)


def test_all_functions_that_a_kind_names_exist() -> None:
    names = [getattr(kind, field) for kind in kinds.kinds() for field in kind.__struct_fields__]
    named = [name for name in names if isinstance(name, str) and name.startswith("referee.")]
    assert len(named) > 10
    for name in named:
        assert callable(kinds.function(name)), name


def test_another_kind_plays_a_match(oracles: Path) -> None:
    verdict = referee.play("tictactoe", ["oracle:delphi", "Pythia=oracle:dodona"], seed=1)
    assert [seat.name for seat in verdict.seats] == ["oracle:delphi", "Pythia"]
    assert verdict.faults == ()


def test_another_kind_is_in_the_help(oracles: Path) -> None:
    code = (
        "import sys; from referee.harness import adapters; adapters.__path__.append(sys.argv[1]); "
        "from referee.harness.cli.main import main; sys.exit(main(['play', '--help']))"
    )
    command = [sys.executable, "-c", code, str(oracles)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=60)
    assert "oracle:NAME (an oracle)" in " ".join(done.stdout.replace("│", " ").split())


def test_another_kind_is_in_the_table(oracles: Path) -> None:
    assert "| an oracle | `oracle:delphi` |" in list(kinds.table(""))


def test_another_kind_is_refused_to_clients(oracles: Path) -> None:
    with pytest.raises(UsageError, match="oracle:delphi: expected @NAME or a path"):
        Allowed(oracles).bot("oracle:delphi")


def test_another_kind_stays_out_of_packages(oracles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("export", "problem", "--game", "tictactoe", "--against", "oracle:delphi", "--into", str(oracles / "new"))
    assert main(words) == 2
    assert "oracle:delphi: cannot be copied into a package" in " ".join(capsys.readouterr().err.split())


def test_another_kind_for_single_matches_only_is_refused_elsewhere(
    registry: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _install(tmp_path, monkeypatch, in_series=False)
    assert main(("check", "oracle:delphi", "--game", "tictactoe")) == 2
    assert "oracles play single matches only" in capsys.readouterr().err
