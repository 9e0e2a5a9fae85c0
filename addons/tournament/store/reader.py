"""Reads the ledger of a tournament: every game that counts, and the replays."""

import math
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import islice, permutations
from pathlib import Path

import msgspec
from msgspec import Struct

from referee.addons.tournament.formats.games import Outcome, ScheduledGame, expelled
from referee.addons.tournament.keys import Keys
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.store.ledger import PLAN, READ_BYTES, Line, Use, files, lines, pack_path
from referee.harness.common.errors import RunError, UsageError
from referee.harness.process.core_wait import lacked_time
from referee.harness.process.machine_effects import MachineEffects
from referee.harness.replay.reader import MAX_BYTES, unpacked

ORDERS = {seats: math.factorial(seats) for seats in range(1, 7)}
"""The number of seatings of a line-up, by its size: its games have as many rows."""
MOST = 1 << 62
"""Larger than any game's number."""


SLOWED_PERCENT = 10
"""A game is slowed if the machine took this share of a bot's time, or more."""


COMPUTED_PERCENT = 50
"""A time-out may be due to a slow core if the bot computed for this share of the time, or more. SMT can halve the speed
of a core."""


class Touch(IntEnum):
    """The effect that the machine had, or may have had, on a game."""

    NONE = 0
    SLOWED = 1
    """It took a tenth of a bot's time or more."""
    COMPUTED = 2
    """A bot ran out of time while it computed. It matters only if the speed of a core changes unseen."""
    DECIDED = 3
    """A bot ran out of time and lacked more than a tenth of it, or answered within its core wait after the limit."""


class Kind(Struct, frozen=True, gc=False):
    """How a game ended. A million games have few kinds, so standings count these."""

    number: int
    """Its place in `Book.kinds`."""
    r: tuple[int, ...]
    p: tuple[float, ...]
    faults: int
    """A bit for each seat with a fault."""
    noise: int
    """A bit for each seat with a fault that machine load may have caused."""
    forfeit: bool
    judged: int = -1
    touch: Touch = Touch.NONE

    @property
    def outcome(self) -> Outcome:
        """The result, as formats look at it."""
        return Outcome(self.r, self.p, self.forfeit)

    @property
    def expelled(self) -> list[bool]:
        """For each seat, whether its bot lost without play."""
        return expelled(self.forfeit, self.p)


CONTENT = (1 << 64) - 1
"""The bits of a game's content that are kept."""
_time_and_content = struct.Struct(">dQ")


class Game(Struct, frozen=True, gc=False):
    """What standings need of a ledger line, in little memory: a million games are read at once."""

    kind: Kind
    packed: int
    """When it ended, and its content: one number takes half the memory of two."""

    @property
    def at(self) -> float:
        """When it ended, in seconds since 1970."""
        at: float = _time_and_content.unpack(self.packed.to_bytes(_time_and_content.size))[0]
        return at

    @property
    def content(self) -> int:
        """The hash of its course; 0 = unknown."""
        return self.packed & CONTENT


class _Seat(Struct, gc=False):
    seat: int
    noise: bool = False
    took: int = 0
    wait: int = 0
    ran: int = 0


class _Tournament(Struct, frozen=True, gc=False):
    """What identifies a tournament in the head of a file."""

    game: str | None = None
    seed: int | None = None


class _Brief(Struct, gc=False):
    """A ledger line or a head, with the fields that count."""

    k: str = ""
    r: tuple[int, ...] = ()
    p: tuple[float, ...] = ()
    ms: int = 0
    at: float = 0.0
    a: str = "0"
    f: tuple[_Seat, ...] = ()
    n: tuple[int, ...] = ()
    d: tuple[int, ...] = ()
    o: MachineEffects | None = None
    i: tuple[str, ...] = ()
    u: tuple[Use | None, ...] = ()
    j: int = -1
    void: bool = False
    forfeit: bool = False
    ledger: int = 0
    """Only in a head."""
    plan: _Tournament | None = None


class _Origin(Struct):
    """A head."""

    ledger: int
    plan: _Tournament = _Tournament()


class Book:
    """Every game that counts: by line-up (`conditions/bots`), then by seed group and row."""

    ROWS = 1024
    """More than the rows of any line-up: a game's number is seed group × ROWS + row."""

    def __init__(self) -> None:
        self.line_ups: dict[str, dict[int, Game]] = {}
        self.kinds: list[Kind] = []
        self.spent_ms: Counter[str] = Counter()
        """By line-up, how long its games took."""
        self.count = 0
        self.doubles = 0
        self.voids = 0
        self.models: dict[tuple[str, int], tuple[Use | None, ...]] = {}
        """By line-up and number of a game with language models: their tokens and cost, in seat order."""
        self.machines: set[MachineEffects] = set()
        """Those of the workers."""
        self.lost_layers: Counter[str] = Counter()
        """By isolation layer, the number of games without it although the machine may have it."""
        self.origins: set[_Tournament] = set()
        """The tournaments that the heads name."""
        self._kinds: dict[tuple[object, ...], Kind] = {}
        self._decode = msgspec.json.Decoder(_Brief).decode
        self._decode_lines = msgspec.json.Decoder(_Brief).decode_lines

    def add(self, line: bytes) -> bool:
        """Adds a line. Returns whether its game is new. Raises ValueError for a damaged line.

        Lines may come in any order: of equal keys the earliest counts, but a game lost without play before all others.
        """
        return self._add([self._decode(line)]) == 1

    def add_lines(self, block: bytes) -> None:
        """Adds many whole lines and heads at a third of the cost. After a ValueError some of them may be in."""
        self._add(self._decode_lines(block))

    def _add(self, briefs: list[_Brief]) -> int:
        """Returns how many games are new. One long loop, because it runs a million times."""
        line_ups, kinds, before, packed = self.line_ups, self._kinds, self.count, _time_and_content.pack
        for brief in briefs:
            if brief.o is not None:
                self.machines.add(brief.o)
            if brief.void:
                self.voids += 1
                continue
            if not brief.k:
                if brief.ledger:
                    if brief.plan is not None:
                        self.origins.add(brief.plan)
                    continue
                raise ValueError("it has no key `k`")
            seats = len(brief.r)
            faults = noise = 0
            for fault in brief.f:
                if not 0 <= fault.seat < seats:
                    raise ValueError(f"it has a fault of seat {fault.seat}, and {seats} seats")
                faults |= 1 << fault.seat
                noise |= fault.noise << fault.seat
            for seat, noisy in enumerate(brief.n[:seats]):
                noise |= (noisy > 0) << seat
            touch = _touch(brief) if brief.f or brief.d or brief.n else Touch.NONE
            ending = brief.r, brief.p, faults, noise, brief.forfeit, brief.j, touch
            kind = kinds.get(ending)
            if kind is None:
                ranks_fit = seats in ORDERS and min(brief.r) == 1 and max(brief.r) <= seats
                if not ranks_fit or len(brief.p) != seats:
                    raise ValueError(f"it has ranks {brief.r} and points {brief.p}")
                kind = kinds[ending] = Kind(len(self.kinds), *ending)
                self.kinds.append(kind)
            line_up, seed_group, row = brief.k.rsplit("/", 2)
            games = line_ups.get(line_up)
            if games is None:
                if line_up.count("/") != 1:
                    raise ValueError(f"its key {brief.k!r} is not `conditions/bots/seed-group/row`")
                games = line_ups[line_up] = {}
            place = int(row)
            number = int(seed_group) * self.ROWS + place
            known = games.get(number)
            if known is None:
                if not 0 <= number < MOST or not 0 <= place < ORDERS[seats] or line_up.count("-") != seats - 1:
                    raise ValueError(f"its key {brief.k!r} does not fit a game with {seats} seats")
                self.count += 1
                self.spent_ms[line_up] += brief.ms
                self.lost_layers.update(brief.i)
            else:
                self.doubles += 1
                if (not known.kind.forfeit, known.at) <= (not brief.forfeit, brief.at):
                    continue
            games[number] = Game(kind, int.from_bytes(packed(brief.at, int(brief.a or "0", 16) & CONTENT)))
            if brief.u:
                self.models[line_up, number] = brief.u
        return self.count - before

    def of(self, line_ups: dict[str, dict[int, Game]]) -> "Book":
        """Returns a read-only book with some of its games."""
        part = Book()
        part.line_ups, part.kinds, part.doubles, part.voids = line_ups, self.kinds, self.doubles, self.voids
        part.count = sum(map(len, line_ups.values()))
        part.machines, part.models, part.lost_layers = self.machines, self.models, self.lost_layers
        part.spent_ms = self.spent_ms
        return part

    def copy(self) -> "Book":
        """Returns the games so far as a read-only book. Another thread may call it while games are added."""
        part = self.of({line_up: games.copy() for line_up, games in self.line_ups.copy().items()})
        part.kinds, part.models, part.machines = self.kinds.copy(), self.models.copy(), self.machines.copy()
        part.lost_layers = Counter(self.lost_layers.copy())
        return part

    @property
    def cost(self) -> float:
        """The cost of all language models in dollars."""
        return sum(use.cost or 0.0 for uses in self.models.values() for use in uses if use is not None)

    def find(self, line_up: str, seed_group: int, row: int) -> Game | None:
        """Returns the game with these parts of a key."""
        games = self.line_ups.get(line_up)
        return None if games is None else games.get(seed_group * self.ROWS + row)

    def game(self, key: str) -> Game | None:
        """Returns the game with that key."""
        line_up, seed_group, row = key.rsplit("/", 2)
        return self.find(line_up, int(seed_group), int(row))


def _touch(brief: _Brief) -> Touch:
    """Returns what the machine did to a game. Faults that the line does not report are judged by their seats."""
    late = any(fault.noise or lacked_time(fault.took, fault.wait) for fault in brief.f)
    if late or any(brief.n) or (brief.n and brief.d):
        return Touch.DECIDED
    if any(0 < fault.took * COMPUTED_PERCENT <= 100 * fault.ran for fault in brief.f):
        return Touch.COMPUTED
    return Touch.SLOWED if max(brief.d, default=0) >= SLOWED_PERCENT else Touch.NONE


class LedgerResults:
    """The results that formats look at, from a book."""

    def __init__(self, keys: Keys, book: Book) -> None:
        self.keys, self.book = keys, book
        self._places = {ident: place for place, ident in enumerate(keys.idents)}
        self._stages = {conditions: stage for stage, conditions in keys.conditions.items()}

    def played(self, game: ScheduledGame) -> Game | None:
        """Returns the played game of a scheduled one."""
        line_up, row = self.keys.line_up_row(game)
        return self.book.find(line_up, game.seed_group, row)

    def scheduled(self, key: str) -> ScheduledGame | None:
        """Returns the game with a key; None if its conditions or bots are not the plan's."""
        conditions, bots, seed_group, row = key.split("/")
        idents = bots.split("-")
        if conditions not in self._stages or not self._places.keys() >= set(idents):
            return None
        order = next(islice(permutations(idents), int(row), None))
        return ScheduledGame(tuple(self._places[each] for each in order), int(seed_group), self._stages[conditions])

    def in_order(self) -> Iterator[ScheduledGame]:
        """Yields the games that were played, in the order in which they ended."""
        played = (
            (game.at, line_up, number)
            for line_up, games in self.book.line_ups.items()
            for number, game in games.items()
        )
        for _, line_up, number in sorted(played):
            seed_group, row = divmod(number, Book.ROWS)
            if game := self.scheduled(f"{line_up}/{seed_group}/{row}"):
                yield game

    def begun(self, stage: str) -> Iterator[ScheduledGame]:
        """Yields the games of a stage that were played."""
        return (game for game in self.in_order() if game.stage == stage)

    def spent_s(self, bots: tuple[int, ...], stage: str) -> float:
        """Returns how long all games of these bots in a stage took."""
        line_up, _ = self.keys.line_up_row(ScheduledGame(bots, 0, stage))
        return self.book.spent_ms[line_up] / 1000

    def get(self, game: ScheduledGame) -> Outcome | None:
        """Returns the outcome of a scheduled game that was played."""
        played = self.played(game)
        return None if played is None else played.kind.outcome


def read(folder: Path, book: Book | None = None, ends: dict[Path, int] | None = None, plan: Plan | None = None) -> Book:
    """Reads every game of a tournament's folder; with the `book` and `ends` of an earlier call only what is new.

    The games must be those of `plan`, by default the folder's own. Raises RunError for a damaged line and UsageError
    for a file with lines of another tournament: nothing is left out silently.
    """
    book = Book() if book is None else book
    ends = {} if ends is None else ends
    if plan is None and (folder / PLAN).exists():
        plan = read_plan(folder / PLAN)
    if plan is not None:
        check_files(folder, plan)
    for file in files(folder):
        for end, block in _blocks(file, ends.get(file, 0)):
            try:
                book.add_lines(block)
            except ValueError:  # includes msgspec's errors
                _name_damaged(file, end - len(block) - 1)  # a block comes without its last newline
                raise
            if plan is not None:
                for origin in book.origins:
                    _check_origin(file, origin, plan)
            ends[file] = end
    return book


def has_games(folder: Path) -> bool:
    """Returns whether a folder holds a game, without reading all of them."""
    return any(next(islice(lines(file), 1, None), None) is not None for file in files(folder))


def played_idents(folder: Path) -> set[str]:
    """Returns the idents of all bots that have a game."""
    return idents_of(read(folder).line_ups)


def idents_of(line_ups: Iterable[str]) -> set[str]:
    """Returns the idents of all bots in line-ups."""
    return {ident for line_up in line_ups for ident in line_up.partition("/")[2].split("-")}


def check_files(folder: Path, plan: Plan) -> None:
    """Raises UsageError for a file of another tournament, RunError for one that does not say whose it is.

    Another tournament, with another seed or game, may have games with the same keys.
    """
    decode = msgspec.json.Decoder(_Origin).decode
    for file in files(folder):
        first = next(lines(file), None)  # None if its run was killed before it wrote a line
        if first is not None:
            try:
                origin = decode(first[1])
            except ValueError as error:
                problem = "its first line, which says what tournament it is of, is damaged or missing"
                raise RunError(f"{file}: {problem}: {error}") from error
            _check_origin(file, origin.plan, plan)


def _check_origin(file: Path, origin: _Tournament, plan: Plan) -> None:
    for name in ("game", "seed"):
        value, expected = getattr(origin, name), getattr(plan, name)
        if value not in (None, expected):
            raise UsageError(f"{file} is of another tournament: its {name} is {value}, not {expected}; move it away")


def _blocks(file: Path, start: int) -> Iterator[tuple[int, bytes]]:
    """Like `lines`, but yields many lines at once."""
    with file.open("rb") as source:
        source.seek(start)
        rest, end = b"", start
        while block := source.read(READ_BYTES):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            if newline:
                end += len(whole) + 1
                yield end, whole


def _name_damaged(file: Path, start: int) -> None:
    book = Book()
    for end, line in lines(file, start):
        try:
            book.add_lines(line)
        except ValueError as error:
            raise _damaged(file, end, error) from error


def _damaged(file: Path, end: int, error: ValueError) -> RunError:
    return RunError(f"{file}: the line that ends at byte {end} is damaged: {error}")


def every_line(folder: Path) -> Iterator[tuple[Path, Line]]:
    """Yields all lines in full with their file, also those that do not count."""
    decode = msgspec.json.Decoder(Line).decode
    for file in files(folder):
        for end, text in lines(file):
            if text and not text.startswith(b'{"ledger":'):
                try:
                    line = decode(text)
                    _check_seats(line)
                except ValueError as error:
                    raise _damaged(file, end, error) from error
                yield file, line


def _check_seats(line: Line) -> None:
    seats = len(line.b)
    optional = (line.w, line.c, line.m, line.n, line.d, line.u)
    if not len(line.r) == len(line.p) == seats or any(len(each) not in (0, seats) for each in optional):
        raise ValueError(f"it has {seats} bots and other numbers of ranks, points, times or faults")
    if any(not 0 <= fault.seat < seats for fault in line.f):
        raise ValueError(f"it has a fault of a seat beyond its {seats}")


def counted_lines(folder: Path, book: Book | None = None) -> Iterator[tuple[Path, Line]]:
    """Yields all lines that count, in full: no void ones, one per key, and only games of the `book` if one is given."""
    book = read(folder) if book is None else book
    yielded: set[str] = set()
    for file, line in every_line(folder):
        game = None if line.void or line.k in yielded else book.game(line.k)
        if game is not None and (game.at, game.kind.forfeit) == (line.at, line.forfeit):
            yielded.add(line.k)
            yield file, line


def replay(folder: Path, file: Path, line: Line) -> bytes | None:
    """Returns a game's replay as it was written; None if it was not kept. Raises RunError for a damaged pack."""
    if line.z is None:
        return None
    number, offset, size = line.z
    pack = pack_path(folder, file.stem, number)
    try:
        with pack.open("rb") as source:
            source.seek(offset)
            member = source.read(min(max(size, 0), MAX_BYTES))
            if len(member) != size:
                raise EOFError("the file ends too early")
            return unpacked(member)
    except (OSError, EOFError, zlib.error) as error:
        raise RunError(f"{pack}: the replay of {line.k} cannot be read: {error}") from error
