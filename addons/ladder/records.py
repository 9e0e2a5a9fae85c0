"""The files of a ladder: settings, runners, claims and batches. Strangers write them, so every reader has bounds.

A claim is a line of JSON and a line with its signature. A batch has a line for each game between them. Both are named
by the SHA-256 of what is signed, and name the entries before them, so that none can be changed or left out later.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from referee.games.game import TimeControl
from referee.harness.common import toml
from referee.harness.common.errors import UsageError
from referee.harness.process.limits import Limits
from referee.protocol.errors import UNDECODABLE

SETTINGS, BOTS, RUNNERS, CLAIMS, GAMES, STRIKES = "ladder.toml", "bots", "runners", "claims", "games", "strikes"
"""The files and folders of a ladder."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""The name of a bot or a runner: also a file name on every system."""
HASH = re.compile(r"[0-9a-f]{64}")
OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?(?::[0-9]{1,5})?")
LINE = re.compile(
    rb"([1-9]{1,16}) (\d{1,7}) ([0-9a-f]{16})([0-9a-f]{8}) (\d{1,15}(?:,\d{1,15}){0,15})"
    rb"((?: [0-9]{1,2}[a-z_]{1,20}~?){0,128})"  # the first eight faults of each of up to 16 seats
)
MOST_TIPS = 64
"""The most entries that an entry names: there are more only if so many were handed in side by side."""
MOST_GAMES = 2_000
"""The most games of a claim."""
CLOCK_SLACK_S = 900
"""How far the clocks of two machines may differ."""
KINDS = ("module", "native")
T = TypeVar("T")


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `ladder.toml`."""

    game: str
    version: int | None = None
    """Of the game's rules; None = whichever a runner has."""
    rules: str = ""
    """SHA-256 of rules that are a program, of which `rules/` has a copy; empty for other games."""
    title: str = ""
    options: dict[str, Any] = {}
    """Of the game's rules."""
    time: TimeControl | None = None
    """None = the game's own."""
    memory_mib: int = 256
    seats: int | None = None
    """None = the game's smallest number."""
    kinds: tuple[str, ...] = KINDS
    """Which bots may take part: modules of WebAssembly, native programs, or both."""
    hosts: tuple[str, ...] = ()
    """The hosts of other repositories from which bots may be fetched, such as `github.com`."""
    bots_per_owner: int = 3
    bot_bytes: int = 4 << 20
    """The most bytes of a bot's folder."""
    games: int = 200
    """The most games of a claim."""
    open_claims: int = 1
    """The most claims that a runner may have open."""
    claim_hours: float = 6.0
    """How long a runner has to hand in the games of a claim."""
    lapses: int = 3
    """A runner that let so many claims lapse within `lapse_days` may not claim."""
    lapse_days: float = 7.0
    witnesses: int = 2
    """How many owners must have played a game of native programs."""
    whole: int = 20
    """The most games of modules of a batch that is played again whole, and the size of the sample of a longer one."""

    def limits(self) -> Limits:
        """Returns the limits of every bot."""
        return Limits(memory_bytes=self.memory_mib << 20)

    def problem(self) -> str:
        """Returns what is wrong with it; empty if nothing is."""
        for name, low, high in (
            *(("games", 2, MOST_GAMES), ("witnesses", 1, 9), ("open_claims", 1, 100), ("lapses", 1, 1000)),
            *(("whole", 1, MOST_GAMES), ("bots_per_owner", 1, 1000), ("memory_mib", 1, 65536)),
            *(("claim_hours", 0.01, 1000), ("lapse_days", 0.01, 1000), ("bot_bytes", 1, 1 << 30)),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                return f"{name} is {value:g}; expected {low:g} to {high:g}"
        if self.version is not None and self.version < 1:
            return f"version is {self.version}; expected that of the game, from 1 on"
        if self.rules and not HASH.fullmatch(self.rules):
            return f"rules is {self.rules[:80]!a}; expected a hash of 64 hexadecimal digits"
        if wrong := [host for host in self.hosts if not HOST.fullmatch(host)]:
            return f"hosts has {wrong[0]!r}; expected names of hosts, such as github.com"
        if not self.kinds or not {*self.kinds} <= {*KINDS}:
            return f"kinds is {list(self.kinds)}; expected some of {', '.join(KINDS)}"
        return ""


class Runner(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `runners/NAME.toml`: who may hand in games."""

    key: str
    """Its ed25519 public key, in base64."""
    owner: str
    """The owner's login at the forge."""


class Part(StrEnum):
    """The kind of a claim."""

    NEW = "new"
    """New games."""
    AGAIN = "again"
    """All games of an earlier claim: it lapsed, or they need a witness."""
    SAMPLE = "sample"
    """Some games of modules of a batch, which must repeat."""


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """The games that a runner is going to play. They follow from it; see `draw`."""

    claim: int
    """The version of the format."""
    runner: str
    owner: str
    """As `same_owner` says."""
    number: int
    """Of the runner's claims, from 1 on."""
    after: tuple[str, ...]
    """The hashes of the entries that no other one named when it was written: the head of the chain."""
    bots: str
    """The id of the folder `bots` in git: who takes part, in which version."""
    rules: str
    """The id of `ladder.toml` in git."""
    games: int
    """How many new games; 0 for others."""
    part: Part
    of: str
    """The claim whose games these are; empty for new games."""
    at: int
    """When it was written, in seconds since 1970."""


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of a batch."""

    batch: int
    """The version of the format."""
    runner: str
    number: int
    """That of its claim."""
    claim: str
    """The hash of its claim."""
    after: tuple[str, ...]
    """As in a claim."""
    at: int
    """When it was signed, in seconds since 1970."""
    courses: str
    """A hash of what every witness of deterministic programs must say of its games."""
    referee: str
    """The version that has played, and the engine of modules."""


class Fault(Struct, frozen=True):
    """A fault in a game."""

    seat: int
    kind: str
    is_noise: bool
    """The machine may have caused it."""


class GameLine(Struct, frozen=True):
    """The result of a game in a batch."""

    ranks: tuple[int, ...]
    turns: int
    course: str
    """The hash of all answers, faults and positions: equal for everybody who played the same game."""
    proof: str
    """The same with the runner's claim: only who has seen the answers can write it, so that nobody can copy a line."""
    costs: tuple[int, ...]
    """By seat: units of fuel of a module, milliseconds of other programs."""
    faults: tuple[Fault, ...] = ()

    @property
    def told(self) -> tuple[tuple[int, ...], int, str]:
        """What every witness of a deterministic game must say."""
        return self.ranks, self.turns, self.course


class Batch(Struct, frozen=True):
    """The results of a claim's games."""

    head: Head
    lines: tuple[bytes, ...]
    hash: str
    signature: bytes


# Canonical bytes and their names.


def line_of(value: Struct) -> bytes:
    """Returns the only JSON text of a record."""
    return msgspec.json.encode(value)


def hash_of(signed: bytes) -> str:
    """Returns the name of an entry."""
    return hashlib.sha256(signed).hexdigest()


def signed_file(signed: bytes, signature: bytes) -> bytes:
    """Returns the file of an entry."""
    return signed + base64.b64encode(signature) + b"\n"


def batch_text(head: Head, lines: Sequence[bytes]) -> bytes:
    """Returns what is signed of a batch."""
    return b"\n".join([line_of(head), *lines, b""])


def claim_path(runner: str, number: int) -> str:
    """Returns the place of a claim."""
    return f"{CLAIMS}/{runner}/{number:06}.json"


def batch_path(runner: str, number: int) -> str:
    """Returns the place of a batch."""
    return f"{GAMES}/{runner}/{number:06}.txt"


def read_claim(content: bytes, path: str) -> tuple[Claim, bytes, bytes]:
    """Returns a claim, what is signed of it, and the signature. UsageError if it is none."""
    signed, signature = parted(content, path)
    claim = _record(signed[:-1], Claim, path)
    _check_entry(path, claim_path(claim.runner, claim.number), claim.after, claim.at)
    if claim.claim != 1 or not 0 <= claim.games <= MOST_GAMES or not NAME.fullmatch(claim.owner):
        raise UsageError(f"{path}: version, games or owner are out of range; write it with `referee ladder play`")
    if (claim.of != "") == (claim.part is Part.NEW) or (claim.of and not HASH.fullmatch(claim.of)):
        raise UsageError(f"{path}: a claim of {claim.part} games has a wrong `of`; write it with `referee ladder play`")
    if not OBJECT.fullmatch(claim.bots) or not OBJECT.fullmatch(claim.rules):
        raise UsageError(f"{path}: `bots` and `rules` are no ids of git; write it with `referee ladder play`")
    return msgspec.structs.replace(claim, owner=same_owner(claim.owner)), signed, signature


def same_owner(login: str) -> str:
    """Returns what all ways to write a login have in common: for a forge, Ann and ann are one owner."""
    return login.lower()


def read_batch(content: bytes, path: str) -> Batch:
    """Returns a batch. Its lines are not read yet. UsageError if it is none."""
    signed, signature = parted(content, path)
    first, *lines = signed[:-1].split(b"\n")
    head = _record(first, Head, path)
    _check_entry(path, batch_path(head.runner, head.number), head.after, head.at)
    if head.batch != 1 or not HASH.fullmatch(head.claim) or len(head.referee) > 200 or len(head.courses) != 16:
        raise UsageError(f"{path}: its first line is wrong; hand in games with `referee ladder play`")
    return Batch(head, tuple(lines), hash_of(signed), signature)


def batch_lines(content: bytes) -> tuple[bytes, ...]:
    """Returns the lines of games of a batch that was read before."""
    return tuple(content.split(b"\n")[1:-2])


def parted(content: bytes, path: str) -> tuple[bytes, bytes]:
    """Returns what is signed of an entry's file, with its last newline, and the signature. UsageError if it is none."""
    signed, newline, last = content.removesuffix(b"\n").rpartition(b"\n")
    try:
        signature = base64.b64decode(last, validate=True)
    except ValueError:
        signature = b""
    if not newline or len(signature) != 64 or content != signed + newline + base64.b64encode(signature) + b"\n":
        raise UsageError(f"{path}: its last line is no signature; hand in what `referee ladder play` writes, unchanged")
    return signed + newline, signature


def _record(line: bytes, kind: type[T], path: str) -> T:
    try:
        value = msgspec.json.decode(line, type=kind)
    except UNDECODABLE as error:
        raise UsageError(f"{path}: {error}; hand in what `referee ladder play` writes, unchanged") from error
    if msgspec.json.encode(value) != line:
        raise UsageError(f"{path}: its first line is not in its one form; hand in what `referee ladder play` writes")
    return value


def _check_entry(path: str, expected: str, after: Sequence[str], at: int) -> None:
    if path != expected:
        raise UsageError(f"{path}: it says that it is {expected}; a runner hands in its own files, under their names")
    if list(after) != sorted({*after}) or len(after) > MOST_TIPS or not all(map(HASH.fullmatch, after)):
        raise UsageError(f"{path}: `after` names no entries; hand in what `referee ladder play` writes")
    if not 0 <= at < 1 << 40:
        raise UsageError(f"{path}: `at` is no time")


# The lines of games.


def game_line(line: GameLine) -> bytes:
    """Returns the text of a game."""
    faults = "".join(f" {each.seat}{each.kind}{'~' if each.is_noise else ''}" for each in line.faults)
    ranks, costs = "".join(map(str, line.ranks)), ",".join(map(str, line.costs))
    return f"{ranks} {line.turns} {line.course}{line.proof} {costs}{faults}".encode()


def read_game(line: bytes, place: str) -> GameLine:
    """Returns a game. UsageError if the line is wrong; `place` names it."""
    found = LINE.fullmatch(line)
    if found is None:
        shown = line[:60].decode(errors="replace")
        raise UsageError(f"{place} is {shown!r}; expected ranks, turns, hashes and costs")
    ranks, turns, course, proof, costs, faults = found.groups()
    return GameLine(
        tuple(digit - 48 for digit in ranks),
        int(turns),
        course.decode(),
        proof.decode(),
        tuple(map(int, costs.split(b","))),
        tuple(_fault(word.decode()) for word in faults.split()),
    )


def are_lines(lines: Sequence[bytes], seats: int) -> bool:
    """Whether all of these are games of so many seats, with ranks and faults that such a game can have.

    Only for games of up to nine seats: otherwise it says no, and `read_game` has to look at each.
    """
    if not 1 < seats < 10 or not _pattern(seats).fullmatch(b"".join([line + b"\n" for line in lines])):
        return False
    return all(are_ranks([digit - 48 for digit in ranks]) for ranks in {line[:seats] for line in lines})


@cache
def _pattern(seats: int) -> re.Pattern[bytes]:
    """Returns the pattern of a batch's lines: a hundred times faster for all than for one after the other."""
    last = seats - 1
    costs, faults = rf"\d{{1,15}}(?:,\d{{1,15}}){{{last}}}", rf"(?: 0?[0-{last}][a-z_]{{1,20}}~?){{0,128}}"
    return re.compile(rf"(?:[1-9]{{{seats}}} \d{{1,7}} [0-9a-f]{{24}} {costs}{faults}\n)+".encode())


def are_ranks(ranks: Sequence[int]) -> bool:
    """Whether these can be the ranks of a game: ties share the best one."""
    return all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)


def _fault(word: str) -> Fault:
    digits = len(word) - len(word.lstrip("0123456789"))
    return Fault(int(word[:digits]), word[digits:].rstrip("~"), word.endswith("~"))


def courses_of(lines: Iterable[bytes]) -> str:
    """Returns the hash of what every witness must say of these games: ranks, turns and courses."""
    told = (line[: line.find(b" ", line.find(b" ") + 1) + 17] for line in lines)  # up to the 16 digits of the course
    return hashlib.sha256(b"\n".join(told)).hexdigest()[:16]


# Settings and runners.


def read_settings(content: bytes) -> Settings:
    """Reads `ladder.toml`. UsageError if it is wrong."""
    settings = _toml(content, Settings, SETTINGS)
    if problem := settings.problem():
        raise UsageError(f"{SETTINGS}: {problem}")
    return settings


def read_runner(content: bytes, path: str) -> Runner:
    """Reads `runners/NAME.toml`. UsageError if it is wrong."""
    runner = _toml(content, Runner, path)
    try:
        is_key = len(base64.b64decode(runner.key, validate=True)) == 32
    except ValueError:
        is_key = False
    if not is_key or not NAME.fullmatch(runner.owner):
        raise UsageError(f"{path}: expected `key`, an ed25519 public key in base64, and `owner`, a login")
    return runner


def _toml(content: bytes, kind: type[T], path: str) -> T:
    try:
        return toml.read_as(content.decode("utf-8"), kind)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
