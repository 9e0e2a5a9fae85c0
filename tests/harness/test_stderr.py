"""Where a bot's standard error goes, and what a bot may do to that place."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from referee.harness.bots.stderr import StderrLog
from referee.harness.errors import RunError


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Our end and the bot's."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_what_comes_before_the_first_match_belongs_to_it(tmp_path: Path, pipe: tuple[int, int]) -> None:
    """A bot is started, and may have died with its reason, while its rival is not there yet."""
    log, path = StderrLog(10), tmp_path / "match.stderr"
    os.write(pipe[1], b"cannot open weights\n")
    log.catch_up(pipe[0])
    log.start_match(lambda: path)
    assert path.read_bytes() == b"cannot ope"
    assert log.last_words() == ("cannot open weights",)


def test_what_is_taken_before_the_next_match_belongs_to_the_one_before(tmp_path: Path, pipe: tuple[int, int]) -> None:
    log, paths = StderrLog(1000), iter([tmp_path / "1.stderr", tmp_path / "2.stderr"])
    for words in (b"first\n", b"second\n"):
        log.start_match(lambda: next(paths))
        os.write(pipe[1], words)
        log.catch_up(pipe[0])
        os.write(pipe[1], b"and its end\n")
        log.catch_up(pipe[0])
    written = [path.read_bytes() for path in sorted(tmp_path.iterdir())]
    assert written == [b"first\nand its end\n", b"second\nand its end\n"]


def test_what_comes_after_the_log_was_closed_is_kept_nowhere(tmp_path: Path, pipe: tuple[int, int]) -> None:
    log, path = StderrLog(1000), tmp_path / "match.stderr"
    log.start_match(lambda: path)
    log.close()
    os.write(pipe[1], b"too late\n")
    log.catch_up(pipe[0])
    assert not path.exists()


def test_the_folder_of_the_log_is_made_again_when_it_is_gone(tmp_path: Path, pipe: tuple[int, int]) -> None:
    log, path = StderrLog(1000), tmp_path / "replays" / "match.stderr"
    log.start_match(lambda: path)
    os.write(pipe[1], b"thinking\n")
    log.catch_up(pipe[0])
    assert path.read_bytes() == b"thinking\n"
    assert log.written == path


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_cannot_be_written_to_is_an_error_of_the_run(tmp_path: Path, pipe: tuple[int, int], make: object) -> None:
    """And nothing to wait for, which a named pipe would be."""
    log, path = StderrLog(1000), tmp_path / "match.stderr"
    assert callable(make)
    make(path)
    log.start_match(lambda: path)
    os.write(pipe[1], b"thinking\n")
    with pytest.raises(RunError, match=r"a bot's standard error cannot be written to .*match\.stderr: "):
        log.catch_up(pipe[0])
