"""The ledger: what is written counts, once, whatever was killed; what is torn or full is cut back."""

import gzip
import os
import resource
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee.addons.tournament.store import ledger, reader
from referee.addons.tournament.store.ledger import Ledger, Line
from referee.harness.common.errors import RunError, UsageError


def line(key: str, at: float = 1.0, **more: Any) -> bytes:
    return msgspec.json.encode(Line(key, ("a", "b"), 7, (1, 2), (1.0, 0.0), at=at, **more))


def opened(folder: Path) -> Ledger:
    return Ledger(folder, {"game": "tictactoe"})


def write(folder: Path, games: list[tuple[bytes, bytes | None]]) -> None:
    """Writes a file of these games."""
    with closing(opened(folder)) as book:
        book.append(games)


def test_reading_returns_what_was_appended(tmp_path: Path) -> None:
    write(tmp_path, [(line("c/a-b/0/0"), None), (line("c/a-b/0/1", a="0f", j=3), None)])
    found = reader.read(tmp_path)
    assert found.count == 2
    game = found.find("c/a-b", 0, 1)
    assert game is not None and game.kind.r == (1, 2) and game.content == 15 and game.kind.judged == 3
    assert found.find("c/a-b", 1, 0) is None


def test_a_line_finds_its_replay(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as book:
        for number in range(5):
            member = gzip.compress(b"record %d\n" % number)
            book.append([(line(f"c/a-b/{number}/0"), member), (line(f"c/a-b/{number}/1"), None)])
    found = {each.k: reader.replay(tmp_path, file, each) for file, each in reader.counted_lines(tmp_path)}
    assert found["c/a-b/3/0"] == b"record 3\n" and found["c/a-b/3/1"] is None
    (pack,) = (tmp_path / "replays").iterdir()
    assert gzip.decompress(pack.read_bytes()) == b"".join(b"record %d\n" % number for number in range(5))


def test_a_damaged_replay_is_an_error(tmp_path: Path) -> None:
    member = gzip.compress(b"record\n" * 9)
    write(tmp_path, [(line("c/a-b/0/0"), member)])
    ((file, each),) = reader.counted_lines(tmp_path)
    (pack,) = (tmp_path / "replays").iterdir()
    for damaged in (b"", member[:-1], member[:12] + b"\xff\xff\xff" + member[15:], b"x" * len(member)):
        pack.write_bytes(damaged)
        with pytest.raises(RunError, match="the replay of c/a-b/0/0 cannot be read: "):
            reader.replay(tmp_path, file, each)
    pack.write_bytes(member)
    for place in ((0, 0, -1), (0, -1, 5), (0, 0, 1 << 60)):
        with pytest.raises(RunError, match="the replay of c/a-b/0/0 cannot be read: "):
            reader.replay(tmp_path, file, msgspec.structs.replace(each, z=place))


def test_a_replay_that_unpacks_to_more_than_memory_should_hold_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.harness.replay.reader.MAX_BYTES", 1 << 20)
    member = gzip.compress(bytes(1 << 20) + b"x")
    write(tmp_path, [(line("c/a-b/0/0"), member)])
    ((file, each),) = reader.counted_lines(tmp_path)
    with pytest.raises(RunError, match="more than 1 MiB"):
        reader.replay(tmp_path, file, each)


def test_a_torn_last_line_is_ignored_and_removed_by_the_next_run(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.append([(line("c/a-b/0/0"), None)])
    first.close()
    with first.file.open("ab") as file:
        file.write(line("c/a-b/1/0")[:-20])
    assert reader.read(tmp_path).count == 1
    write(tmp_path, [(line("c/a-b/1/0"), None)])
    assert first.file.read_bytes().endswith(b"}\n")
    assert reader.read(tmp_path).count == 2


def test_two_runs_in_one_folder_are_refused(tmp_path: Path) -> None:
    with ledger.claimed(tmp_path), pytest.raises(UsageError, match="another run"), ledger.claimed(tmp_path):
        pass
    with ledger.claimed(tmp_path):
        opened(tmp_path).close()
        opened(tmp_path).close()
    assert len(ledger.files(tmp_path)) == 2


def test_the_earliest_line_of_a_key_counts(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.append([(line("c/a-b/0/0", at=5.0, why="late"), None)])
    first.close()
    write(tmp_path, [(line("c/a-b/0/0", at=4.0, why="early"), None)])
    assert reader.read(tmp_path).count == 1 and reader.read(tmp_path).doubles == 1
    assert [each.why for _, each in reader.counted_lines(tmp_path)] == ["early"]


def test_void_lines_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, [(line("c/a-b/0/0", void=True), None)])
    found = reader.read(tmp_path)
    assert (found.count, found.voids) == (0, 1) and found.find("c/a-b", 0, 0) is None


@pytest.mark.parametrize(
    "damaged",
    [
        b"rubbish",
        b'{"r":[1,2],"p":[1.0,0.0]}',
        b'{"k":"no/table"}',
        b'{"k":"c/a-b/0/x"}',
        b'{"k":"c/a-b/0/2","r":[1,2],"p":[1,0]}',
        b'{"k":"c/a-b/0/-1","r":[1,2],"p":[1,0]}',
        b'{"k":"a-b/0/0","r":[1,2],"p":[1,0]}',
        b'{"k":"c/d/a-b/0/0","r":[1,2],"p":[1,0]}',
        b'{"k":"c/a-b/999999999999999999999/0","r":[1,2],"p":[1,0]}',
        b'{"k":"c/a-b/-1/0","r":[1,2],"p":[1,0]}',
        b'{"k":"c/a-b-c/0/0","r":[1,2],"p":[1,0]}',
        b'{"k":"c/a-b/0/0","r":[1,2],"p":[1]}',
        b'{"k":"c/a-b/0/0","r":[2,3],"p":[1,0]}',
        b'{"k":"c/a-b/0/0","r":[],"p":[]}',
        b'{"k":"c/a-b/0/0","r":[1,2],"p":[1,0],"f":[{"seat":2}]}',
        b'{"k":"c/a-b/0/0","r":[1,2],"p":[1,0],"f":[{"seat":-1}]}',
    ],
)
def test_a_damaged_line_is_an_error(damaged: bytes, tmp_path: Path) -> None:
    book = opened(tmp_path)
    book.append([(line("c/a-b/0/0"), None), (damaged, None), (line("c/a-b/0/1"), None)])
    book.close()
    end = book.file.read_bytes().index(damaged) + len(damaged) + 1
    with pytest.raises(RunError, match=f"the line that ends at byte {end} is damaged"):
        reader.read(tmp_path)


@pytest.mark.parametrize(
    "damage", [{"b": ("a",)}, {"w": (1, 2, 3)}, {"c": (1,)}, {"f": (ledger.Fault(2, "crash", ""),)}, {"p": ()}]
)
def test_a_line_with_a_wrong_number_of_seats_is_an_error(damage: dict[str, Any], tmp_path: Path) -> None:
    whole = msgspec.json.decode(line("c/a-b/0/0"), type=Line)
    write(tmp_path, [(msgspec.json.encode(msgspec.structs.replace(whole, **damage)), None)])
    with pytest.raises(RunError, match=r"the line that ends at byte \d+ is damaged: it has "):
        list(reader.every_line(tmp_path))


def test_reading_continues_at_the_last_position(tmp_path: Path) -> None:
    book, ends = opened(tmp_path), dict[Path, int]()
    book.append([(line("c/a-b/0/0"), None)])
    found = reader.read(tmp_path, None, ends)
    book.append([(line("c/a-b/1/0"), None)])
    assert reader.read(tmp_path, found, ends).count == 2 and found.doubles == 0
    book.close()


FILL = """
import sys
from pathlib import Path
from referee.harness.common.errors import RunError
from referee.addons.tournament.store.ledger import Ledger
book = Ledger(Path(sys.argv[1]), {})
line = b'{"k":"c/a-b/%d/0","b":["a","b"],"s":1,"r":[1,2],"p":[1.0,0.0]}'
try:
    for number in range(100000):
        book.append([(line % (2 * number), b"m" * 30), (line % (2 * number + 1), b"m" * 30)])
except RunError as error:
    print(error)
"""


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    """A limited file size acts like a full disk: it takes a part of the last write, then fails."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_001, 10_001))

    code = "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + FILL
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, preexec_fn=limit, check=True
    )
    assert "the ledger cannot be written" in done.stdout and "make room" in done.stdout
    (file,) = ledger.files(tmp_path)
    assert file.read_bytes().endswith(b"}\n") and os.path.getsize(file) <= 10_001
    assert reader.read(tmp_path).count > 50


def test_merging_copies_files_once_and_counts_no_game_twice(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    first, second = opened(one), opened(two)
    first.append([(line("c/a-b/0/0"), gzip.compress(b"first"))])
    second.append([(line("c/a-b/0/0", at=9.0), gzip.compress(b"again")), (line("c/a-b/1/0"), gzip.compress(b"other"))])
    first.close()
    second.close()
    if first.file.name == second.file.name:  # within one second, by one process: no two runs are like that
        second.file = second.file.rename(second.file.with_name("x" + second.file.name))
        pack = next((two / "replays").iterdir())
        pack.rename(pack.with_name("x" + pack.name))
    assert ledger.merge(one, two) == 2
    assert ledger.merge(one, two) == 0
    found = reader.read(one)
    assert (found.count, found.doubles) == (2, 1)
    records = {each.k: reader.replay(one, file, each) for file, each in reader.counted_lines(one)}
    assert records == {"c/a-b/0/0": b"first", "c/a-b/1/0": b"other"}


def test_different_files_of_the_same_name_are_not_merged(tmp_path: Path) -> None:
    for name, content in (("one", b"a\n"), ("two", b"b\n")):
        (tmp_path / name / "ledger").mkdir(parents=True)
        (tmp_path / name / "ledger" / "x.jsonl").write_bytes(content)
    with pytest.raises(UsageError, match="different files with the same name"):
        ledger.merge(tmp_path / "one", tmp_path / "two")
