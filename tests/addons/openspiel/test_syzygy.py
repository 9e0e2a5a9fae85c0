"""Matches of chess that Syzygy tables end. Real tables are too large: the test's know only what a queen is worth."""

from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import msgspec
import pytest

from referee.addons.openspiel import syzygy
from referee.games import registry
from referee.games.contract import Setup

CHESS = registry.game("openspiel:chess")


class Queens(chess.syzygy.Tablebase):
    """Knows that a queen wins, and everything else as a draw."""

    def probe_wdl(self, board: chess.Board) -> int:
        queens = board.queens
        if not queens:
            return 0
        return 2 if board.occupied_co[board.turn] & queens else -2


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syzygy, "opened", lambda pieces: syzygy.Tables(Queens(), pieces))


def played(fen: str, move: str, **options: Any) -> Any:
    state = CHESS.new(Setup(0, ("black", "white"), msgspec.convert({"fen": fen, **options}, CHESS.options)))
    (player,) = state.awaited
    state.apply({player: {"text": move}})
    return state


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("fen", "move", "ranks"),
    [
        ("8/8/8/4k3/8/8/3Qr3/4K3 w - - 0 1", "Qxe2+", (2, 1)),
        ("4k3/3qR3/8/8/8/8/8/4K3 b - - 0 1", "Qxe7+", (1, 2)),
        ("8/8/8/4k3/8/8/4r3/4K2N w - - 0 1", "Kxe2", None),
    ],
)
def test_a_capture_into_a_known_position_ends_the_match(fen: str, move: str, ranks: tuple[int, ...] | None) -> None:
    state = played(fen, move, syzygy=3)
    if ranks is None:  # OpenSpiel knows that a knight alone is a draw
        assert state.result.ranks == (1, 1)
        return
    assert state.result.ranks == ranks
    assert state.result.reason == "ADJUDICATED: won by the Syzygy tables"


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(
    ("fen", "move", "pieces"),
    [
        ("8/8/8/4k3/8/8/3Q4/4K3 w - - 0 1", "Qd3", 3),
        ("8/8/8/4k3/7p/8/3Qr3/4K3 w - - 0 1", "Qxe2+", 3),
        ("8/8/8/4k3/8/8/3Qr3/4K3 w - - 0 1", "Qxe2+", 0),
    ],
    ids=["the last move was no capture", "too many pieces", "not asked for"],
)
def test_a_match_goes_on_where_the_tables_cannot_tell(fen: str, move: str, pieces: int) -> None:
    assert played(fen, move, syzygy=pieces).result is None


def test_tables_that_are_missing_are_named_before_the_match(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    syzygy.opened.cache_clear()
    monkeypatch.setenv(syzygy.VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=r"syzygy=3 needs all tables of up to 3 pieces; 5 are missing, such as K"):
        played("8/8/8/4k3/8/8/3Qr3/4K3 w - - 0 1", "Qxe2+", syzygy=3)
    monkeypatch.setenv(syzygy.VARIABLE, str(tmp_path / "none"))
    with pytest.raises(ValueError, match=r"SYZYGY_PATH: .*none: No such file"):
        played("8/8/8/4k3/8/8/3Qr3/4K3 w - - 0 1", "Qxe2+", syzygy=3)
