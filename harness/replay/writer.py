"""Writes the record of a match while it is played, under a name that nobody else has."""

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from pathlib import Path
from stat import S_ISREG
from typing import Any

import msgspec

from referee.games.contract import Event, Fault, Player, State
from referee.harness.errors import RunError, told_to_end
from referee.harness.paths import REPLAYS
from referee.harness.replay.lines import Ending, Line, Turn, state_hash

FLUSH_LINES = 256
KEPT_S = 0.05
"""So old a line is written when a bot is waited for, so that whoever follows the record sees what is played."""
FOLLOWED_S = 0.02
"""So old a line becomes at most where somebody is known to follow it."""
LONG_LINE_BYTES = 1 << 16
"""So long a line is not kept: a bot may answer 1 MiB at every call."""
_NONE: dict[Player, Fault] = {}
_NOBODY: dict[Player, int] = {}
_open: set["Recorder"] = set()
"""Recorders of this process that have a file open."""


class Recorder(AbstractContextManager["Recorder"]):
    """Writes a replay; without a file it only counts.

    A match that is left by an exception has an `Ending` that says so: what was played is on disk all the same.
    """

    keeps = False
    """Whether lines are kept anywhere."""

    def __init__(self, path: Path | None = None, followed: bool = False) -> None:
        """`followed`: somebody looks at it as it is written. While nobody writes, `catch_up` is to be called."""
        self.path = path
        self._followed = followed
        self._kept_s = FOLLOWED_S if followed else KEPT_S
        self._due = time.perf_counter() + self._kept_s  # when the first line that is kept is old
        self.turns = 0
        self._encode = msgspec.json.Encoder().encode
        self._lines: list[bytes] = []
        self._written = 0  # bytes
        self._file: int | None = None
        self._flushing = False
        self._failure: RunError | None = None  # that nobody has been told of yet
        if path is not None:
            try:
                self._file = _create(path)
            except OSError as error:
                raise _unwritable(path, error) from error
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # no locks on this file system: readers cannot see that the match goes on
                pass
            self.keeps = True
            _open.add(self)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._file is None:
            return
        try:
            if error is None:
                if self._failure is not None:
                    raise self._failure
                self._flush(self._file)
            else:
                with suppress(RunError):  # the error that ended the match is the one to report
                    self._abort(self._file, _why(error))
        finally:
            _open.discard(self)
            os.close(self._file)

    def write(self, line: Line) -> None:
        """Adds a line. It is on disk after some more, and when the match is over, however it ends."""
        if self.keeps:
            self._lines.append(encoded := self._encode(line))
            if self._file is None:
                return
            if self._failure is not None:
                raise self._failure
            full = len(self._lines) >= FLUSH_LINES or len(encoded) >= LONG_LINE_BYTES
            if full or (self._followed and time.perf_counter() > self._due):
                self._flush(self._file)

    def idle(self) -> None:
        """Somebody is waited for: lines that were kept for more than a moment are written."""
        if self._lines and time.perf_counter() > self._due:
            self.catch_up()

    def catch_up(self) -> None:
        """All lines that are kept are written. Should that fail, the next line says so: here several calls may be open,
        of which none has to do with it."""
        if self._lines and self._file is not None:
            try:
                self._flush(self._file)
            except RunError as error:
                self._failure = error

    def turn(
        self,
        answers: dict[Player, Any],
        events: Sequence[Event],
        wall_us: dict[Player, int],
        cpu_us: dict[Player, int],
        state: State,
        waited_us: dict[Player, int] | None = None,
        paused_ms: int = 0,
        stderr: dict[Player, int] | None = None,
    ) -> None:
        """Records one `apply`."""
        self.turns += 1
        if self.keeps:
            given, faults = answers, _NONE
            for answer in answers.values():
                if type(answer) is Fault:
                    given = {player: each for player, each in answers.items() if type(each) is not Fault}
                    faults = {player: each for player, each in answers.items() if type(each) is Fault}
                    break
            waited, stderr_at, now = waited_us or _NOBODY, stderr or _NOBODY, state_hash(state)
            self.write(Turn(self.turns, given, faults, events, wall_us, cpu_us, waited, paused_ms, now, stderr_at))

    def end_at_once(self, why: str) -> None:
        """Writes the last line of a match that a signal ends in the middle. Writes nothing if the signal has come
        between two parts of a line."""
        if self._file is None or self._flushing:
            return
        if self._lines and self._lines[-1].startswith(b'{"result":'):
            self._flush(self._file)
        else:
            self._abort(self._file, why)

    def _abort(self, file: int, why: str) -> None:
        if self._lines or os.lseek(file, 0, os.SEEK_CUR):
            self._lines.append(self._encode(Ending(None, aborted=why)))
            self._flush(file)
        elif self.path is not None and S_ISREG(os.fstat(file).st_mode):
            self.path.unlink(missing_ok=True)  # nothing was played

    def _flush(self, file: int) -> None:
        self._flushing = True
        data = memoryview(b"\n".join([*self._lines, b""]))
        self._lines.clear()
        self._due = time.perf_counter() + self._kept_s
        assert self.path is not None
        try:
            found = os.fstat(file)  # before we write: a file that somebody cut short would grow to its old size again
            if S_ISREG(found.st_mode) and (found.st_size != self._written or not _is_at(self.path, found)):
                raise RunError(f"the replay {self.path} was changed by somebody else while the match was played")
            while data:
                written = os.write(file, data)
                data = data[written:]
                self._written += written
        except OSError as error:
            raise _unwritable(self.path, error) from error
        finally:
            self._flushing = False


def end_all_at_once(why: str) -> None:
    """Writes the last line of every replay that this process still writes, for a process that is about to end."""
    for recorder in tuple(_open):
        with suppress(OSError, RunError):
            recorder.end_at_once(why)


def is_written(path: Path) -> bool:
    """Whether somebody is still writing that record; one that was killed is not."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


class InMemory(Recorder):
    """A record that is nowhere but here: a file for every game would cost a small game a tenth of its time."""

    keeps = True

    @property
    def lines(self) -> list[bytes]:
        """What was written, without the ends of lines."""
        return self._lines


def _is_at(path: Path, file: os.stat_result) -> bool:
    """Whether a file that we have open is still the one of that name."""
    try:
        return os.path.samestat(os.stat(path), file)
    except FileNotFoundError:
        return False


def _create(path: Path) -> int:
    """A new file, in place of an old one: to cut an old one short makes ext4 write it out at once, 0.3 ms a match.

    An empty one is not replaced but filled: it may be a name that was claimed.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags | os.O_EXCL, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        if path.is_file() and not path.is_symlink():  # /dev/null and /dev/stdout are to stay
            there = path.stat()
            if there.st_size or there.st_nlink > 1:  # under its other name it may lie where a bot can read it
                path.unlink()
    return os.open(path, flags | os.O_TRUNC, 0o666)


def _why(error: BaseException) -> str:
    """What ended a match before its time, in a few words."""
    while isinstance(error, BaseExceptionGroup):
        known = error.subgroup((RunError, KeyboardInterrupt))
        error = (known or error).exceptions[0]
    if isinstance(error, RunError):
        return str(error).partition("\n")[0]
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, Exception):
        return f"the referee failed: {error!r}"
    if signalled := told_to_end.get():
        return signalled[0]
    return getattr(error, "reason", None) or "ended from outside"  # trio's Cancelled has a reason


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(f"the replay {path} cannot be written: {error.strerror or error}")


# Names.


@contextmanager
def claimed(stem: str, suffix: str = "") -> Iterator[Path]:
    """A new file in ./replays for the length of the block, which then has the record of a match or is gone again.

    Its name is `stem` and `suffix`, with a number between them where there are records of that stem. The file is made
    at once, so that no other run takes the name; `suffix` is for the first record of several.
    """
    with _folder():
        path = _claim(stem, lambda name: _new_file(REPLAYS / f"{name}{suffix}.jsonl"))
        try:
            yield path.with_name(path.name.removesuffix(f"{suffix}.jsonl") + ".jsonl")
        finally:
            with suppress(OSError):
                if path.stat().st_size == 0:
                    path.unlink()


@contextmanager
def claimed_folder(stem: str) -> Iterator[Path]:
    """A new folder in ./replays, named likewise; it is gone again after the block if nothing was put there."""
    with _folder():
        folder = _claim(stem, lambda name: _new_folder(REPLAYS / name))
        try:
            yield folder
        finally:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def _folder() -> Iterator[None]:
    """./replays; if it is new and stays empty, it goes again."""
    there = REPLAYS.exists()
    try:
        REPLAYS.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(REPLAYS, error) from error
    try:
        yield
    finally:
        if not there:
            with suppress(OSError):
                REPLAYS.rmdir()


def _claim(stem: str, make: Callable[[str], Path]) -> Path:
    """What `make` makes under the first name that no record of ./replays has."""
    for name in _unused(stem):
        try:
            return make(name)
        except FileExistsError:
            continue  # another process was quicker
        except OSError as error:
            raise _unwritable(REPLAYS / stem, error) from error
    raise AssertionError("there is always another number")


def _new_file(path: Path) -> Path:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    return path


def _new_folder(path: Path) -> Path:
    path.mkdir()
    return path


def _unused(stem: str) -> Iterator[str]:
    """`stem`, then the same with numbers behind it, those left out of which there are records in ./replays."""
    named = re.compile(rf"{re.escape(stem)}(?:\.(\d+))?(?:\..*|-.*\.jsonl)?", re.DOTALL)
    taken = {int(found[1] or 1) for name in os.listdir(REPLAYS) if (found := named.fullmatch(name))}
    for number in count(1):
        if number not in taken:
            yield stem if number == 1 else f"{stem}.{number}"
