"""Writes the replay of a match while it is played, under a name that no other replay has."""

import fcntl
import os
import re
import select
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from errno import EAGAIN, ENXIO
from itertools import count
from pathlib import Path
from stat import S_ISREG
from typing import Any

import msgspec
from msgspec.structs import replace

from referee.games.contract import Event, Fault, Player, State
from referee.harness.common.errors import FOR_USERS, RunError, first_of, leaves, reason
from referee.harness.common.measures import names_in_full
from referee.harness.common.output import REPLAY
from referee.harness.common.paths import REPLAYS
from referee.harness.common.records import Cost
from referee.harness.replay.lines import Ending, Line, Turn, state_hash
from referee.protocol.text import escaped_json

FLUSH_LINES = 256
KEPT_S = 0.05
"""The age at which a line is written while a bot thinks, so that viewers see the match."""
FOLLOWED_S = 0.02
"""The greatest age of a line if a viewer is known to follow the replay."""
LOCK_TRIES = 20
READER_S = 10.0
"""How long a pipe may take no more."""
LONG_LINE_BYTES = 1 << 16
"""A line of this length is written at once: a bot may answer 1 MiB at every call."""
_NOTHING: dict[Any, Any] = {}
_open: set["ReplayWriter"] = set()
"""Recorders of this process that have a file open."""


class ReplayWriter(AbstractContextManager["ReplayWriter"]):
    """Writes a replay, or only counts turns if it has no file.

    If an exception ends the match, the replay holds what was played, and an `Ending` that says why.
    """

    keeps = False
    """Whether lines go anywhere."""

    def __init__(self, path: Path | None = None, followed: bool = False) -> None:
        """Opens the file. `followed`: a viewer reads it meanwhile; call `catch_up` often while no lines are written."""
        self.path = path
        self._followed = followed
        self._kept_s = FOLLOWED_S if followed else KEPT_S
        self._due = time.perf_counter() + self._kept_s  # when the oldest line in memory must be written
        self.turns = 0
        self._encode = msgspec.json.Encoder().encode
        self._lines: list[bytes] = []
        self._written = 0  # bytes
        self._file: int | None = None
        self._flushing = False
        self._failure: RunError | None = None  # not reported yet
        if path is not None:
            try:
                self._file = _create(path)
            except OSError as error:
                raise _unwritable(path, error) from error
            try:
                _lock(self._file)
            except BlockingIOError as error:
                os.close(self._file)
                raise _unwritable(path, error) from error
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
        """Adds a line. It is on disk some lines later, or when the match ends, however it ends."""
        if self.keeps:
            self._lines.append(self._encode(line))
            if self._file is not None:
                self._flush_if_due(self._file)

    def _flush_if_due(self, file: int) -> None:
        if self._failure is not None:
            raise self._failure
        full = len(self._lines) >= FLUSH_LINES or len(self._lines[-1]) >= LONG_LINE_BYTES
        if full or (self._followed and time.perf_counter() > self._due):
            self._flush(file)

    def idle(self) -> None:
        """Writes lines that are old enough. To be called while a bot thinks."""
        if self._lines and time.perf_counter() > self._due:
            self.catch_up()

    def catch_up(self) -> None:
        """Writes all lines. The next `write` reports a failure: open calls have nothing to do with it."""
        if self._lines and self._file is not None:
            try:
                self._flush(self._file)
            except RunError as error:
                self._failure = error

    def turn(
        self,
        answers: dict[Player, Any],
        events: Sequence[Event],
        costs: Sequence[Cost],
        state: State,
        paused_ms: int = 0,
        transcripts: bool = True,
    ) -> None:
        """Writes the line of one `apply`.

        `costs`: what the last call of each seat cost, by seat. `transcripts`: also writes what players were asked and
        have said.
        """
        self.turns += 1
        if not self.keeps:
            return
        accepted, faults = answers, _NOTHING
        for answer in answers.values():
            if type(answer) is Fault:
                accepted = {player: each for player, each in answers.items() if type(each) is not Fault}
                faults = {player: each for player, each in answers.items() if type(each) is Fault}
                break
        wall_us: dict[Player, int] = {}
        cpu_us: dict[Player, int] = {}
        waited_us = stderr = measured = _NOTHING
        for player in answers:
            cost = costs[player]
            wall_us[player] = round(cost.wall_s * 1e6)
            cpu_us[player] = round(cost.cpu_s * 1e6)
            if cost.waited_s:
                waited_us = waited_us | {player: round(cost.waited_s * 1e6)}
            if cost.stderr_bytes:
                stderr = stderr | {player: cost.stderr_bytes}
            if cost.measured:
                measured = _added(measured, player, cost.measured, transcripts)
        now = state_hash(state)
        line = Turn(self.turns, accepted, faults, events, wall_us, cpu_us, waited_us, paused_ms, now, stderr)
        if measured:
            line = replace(line, **measured)
        self._lines.append(self._encode(line))  # like `write`, without its call
        if self._file is not None:
            self._flush_if_due(self._file)

    def end_at_once(self, why: str) -> None:
        """Writes the last line of a match that a signal ends, unless the signal came in the middle of a line."""
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
        elif self.path is not None and S_ISREG(os.fstat(file).st_mode) and self._is_at_its_path(file):
            self.path.unlink(missing_ok=True)  # nothing was played

    def _is_at_its_path(self, file: int) -> bool:
        """Returns whether the file still has its name: another match may have been given the same one."""
        assert self.path is not None
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(file))
        except OSError:  # it was removed
            return False

    def _flush(self, file: int) -> None:
        self._flushing = True
        data = memoryview(escaped_json(b"\n".join([*self._lines, b""])))
        self._lines.clear()
        self._due = time.perf_counter() + self._kept_s
        assert self.path is not None
        try:
            status = os.fstat(file)  # before we write: a file that was cut short would grow to its old size again
            if S_ISREG(status.st_mode) and not (status.st_size == self._written and self._is_at_its_path(file)):
                raise RunError(f"another program changed the replay {self.path} during the match")
            while data:
                try:
                    written = os.write(file, data)
                except BlockingIOError:
                    _await_reader(file)
                    continue
                data = data[written:]
                self._written += written
        except OSError as error:
            raise _unwritable(self.path, error) from error
        finally:
            self._flushing = False


def _added(
    columns: Mapping[str, Mapping[Player, Any]], player: Player, measured: Mapping[str, Any], in_full: bool
) -> dict[str, Mapping[Player, Any]]:
    """Returns the columns of measures with what a call of one more seat has cost."""
    kept = {name: value for name, value in measured.items() if in_full or name not in names_in_full()}
    return {**columns, **{name: {**columns.get(name, {}), player: value} for name, value in kept.items()}}


def end_all_writers(why: str) -> None:
    """Writes the last line of every open replay, before this process ends."""
    for writer in tuple(_open):
        with suppress(OSError, RunError):
            writer.end_at_once(why)


def is_being_written(path: Path) -> bool:
    """Returns whether a process is still writing that replay."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    return False


class MemoryReplayWriter(ReplayWriter):
    """Keeps the lines in memory: a file for every game would cost a small game a tenth of its time."""

    keeps = True

    @property
    def lines(self) -> list[bytes]:
        """The lines so far, without LF."""
        return escaped_json(b"\n".join(self._lines)).splitlines()


def _create(path: Path) -> int:
    """Creates a file. It replaces an old one, because truncating it costs 0.3 ms a match on ext4.

    An empty file stays and is filled, because its name may have been reserved. RunError for a file that is no replay.
    """
    if not REPLAY.fits(path):
        raise RunError(f"the replay {path} cannot be written: a file is there that is no replay; name another file")
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK  # a bot may have made a pipe that nobody reads
    try:
        return os.open(path, flags | os.O_EXCL, 0o666)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        if path.is_file() and not path.is_symlink():  # not /dev/null or /dev/stdout
            status = path.stat()
            if is_being_written(path):
                raise BlockingIOError(EAGAIN, os.strerror(EAGAIN)) from None
            if status.st_size or status.st_nlink > 1:  # a bot may be able to read it under another name
                path.unlink()
    return os.open(path, flags | os.O_TRUNC, 0o666)


def _lock(file: int) -> None:
    """Locks a file, so that readers see that the match goes on. BlockingIOError if another match has locked it."""
    for remaining in reversed(range(LOCK_TRIES)):
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # perhaps a reader that has a look
            if not remaining:
                raise
            time.sleep(0.005)
        except OSError:  # no locks on this file system
            return None
    return None


def _await_reader(file: int) -> None:
    """Waits until a pipe takes more. OSError if its reader does not read for `READER_S`."""
    waiting = select.poll()
    waiting.register(file, select.POLLOUT)
    if not waiting.poll(READER_S * 1000):
        raise OSError(f"its reader has not read for {READER_S:g} s")


def _why(error: BaseException) -> str:
    """Returns, in a few words, what ended a match early."""
    error = first_of(error, *FOR_USERS, KeyboardInterrupt) or next(leaves(error))
    if isinstance(error, FOR_USERS):
        return str(error).partition("\n")[0]
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, Exception):
        return f"the referee failed: {error!r}"
    return getattr(error, "reason", None) or "ended from outside"  # trio's Cancelled has a reason


def _unwritable(path: Path, error: OSError) -> RunError:
    known = {ENXIO: "it is a pipe that nobody reads", EAGAIN: "another match is writing it"}
    why = known.get(error.errno or 0) or reason(error)
    return RunError(f"the replay {path} cannot be written: {why}")


# Names.


@contextmanager
def claim_file(stem: str, suffix: str = "") -> Iterator[Path]:
    """Creates a file in ./replays, and removes it after the block if it is still empty.

    Its name is `stem` and `suffix`, with a number in between if there are replays of that stem. The file is created at
    once, so that no other run takes the name. `suffix` is for the first replay of several; the path comes without it.
    """
    with _claimed(stem, f"{suffix}.jsonl", lambda path: path.touch(exist_ok=False)) as path:
        try:
            yield path.with_name(path.name.removesuffix(f"{suffix}.jsonl") + ".jsonl")
        finally:
            with suppress(OSError):
                if path.stat().st_size == 0:
                    path.unlink()


@contextmanager
def claim_folder(stem: str) -> Iterator[Path]:
    """Creates a folder in ./replays, named likewise, and removes it after the block if it is still empty."""
    with _claimed(stem, "", Path.mkdir) as folder:
        try:
            yield folder
        finally:
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def _claimed(stem: str, ending: str, make: Callable[[Path], None]) -> Iterator[Path]:
    """Creates ./replays and, by `make`, the first name in it that no replay has.

    Removes ./replays after the block if it is new and still empty.
    """
    existed = REPLAYS.exists()
    try:
        try:
            REPLAYS.mkdir(parents=True, exist_ok=True)
            pattern = re.compile(rf"{re.escape(stem)}(?:\.(\d+))?(?:\..*|-.*\.jsonl)?", re.DOTALL)
            taken = {int(match[1] or 1) for name in os.listdir(REPLAYS) if (match := pattern.fullmatch(name))}
            for number in count(1):
                path = REPLAYS / f"{stem if number == 1 else f'{stem}.{number}'}{ending}"
                try:
                    if number not in taken:
                        make(path)
                        break
                except FileExistsError:
                    pass  # another process took the name
        except OSError as error:
            raise _unwritable(Path(error.filename), error) from error
        yield path
    finally:
        if not existed:
            with suppress(OSError):
                REPLAYS.rmdir()
