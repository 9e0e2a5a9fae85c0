"""The files of a ladder: settings, runners, claims, seals and batches. Strangers write them: every reader has bounds.

An entry is a line of JSON and a line with its signature; a batch has a line for each game between them. It is named by
the SHA-256 of what is signed.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from referee.addons.ladder.beacon import BeaconSettings
from referee.games.game import TimeControl
from referee.harness.common import toml
from referee.harness.common.errors import UsageError
from referee.harness.process.limits import Limits
from referee.protocol.errors import UNDECODABLE

SETTINGS, WITNESSES, BOTS, RUNNERS = "ladder.toml", "witnesses.toml", "bots", "runners"
CLAIMS, SEALS, GAMES, STRIKES, CHECKPOINTS = "claims", "seals", "games", "strikes", "checkpoints"
"""The files and folders of a ladder."""
ENTRIES = (CLAIMS, SEALS, GAMES, STRIKES, CHECKPOINTS)
"""The folders in which nothing ever changes."""
FORMAT = 2
"""The version of all records."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
"""The name of a bot or a runner: also a file name on every system."""
HASH = re.compile(r"[0-9a-f]{64}")
OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SIGNATURE = re.compile(r"(?:[0-9a-f]{2}){1,128}")
"""Of a round of a beacon."""
COST = rb"(?:0|[1-9]\d{0,14})"
LINE = re.compile(
    rb"([1-9]{1,16}) (0|[1-9]\d{0,6}) ([0-9a-f]{32})(?::([0-9a-f]{8}))? (COST(?:,COST){0,15})"
    rb"((?: (?:0|[1-9]\d?)[a-z_]{1,20}~?){0,128})".replace(b"COST", COST)  # eight faults of each of up to 16 seats
)
COURSE = 32
"""The hexadecimal digits of a course."""
TOLD = re.compile(rb"^[1-9]+ \d+ [0-9a-f]{%d}" % COURSE, re.MULTILINE)
MOST_GAMES = 2_000
"""The most games of a claim."""
MOST_STAGES = 100
"""The most draws of owners for one claim."""
CLOCK_SLACK_S = 900
"""How far the clocks of two machines may differ."""
KINDS = ("module", "native")
SIGNED_BY_PLAY = "hand in what `referee ladder play` writes, unchanged"
T = TypeVar("T")


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `ladder.toml`."""

    ladder: int
    """The version of the format."""
    game: str
    versions: str
    """The versions of referee, engine of modules and prices of fuel. Games by other versions are refused."""
    version: int | None = None
    """Of the game's rules; None = whichever a runner has."""
    rules: str = ""
    """SHA-256 of rules that are a program, of which `rules/` has a copy; empty for other games."""
    title: str = ""
    install: str = ""
    """What pip installs to get these versions."""
    options: dict[str, Any] = {}
    """Of the game's rules."""
    time: TimeControl | None = None
    """None = the game's own."""
    memory_mib: int = 256
    seats: int | None = None
    """None = the game's smallest number."""
    kinds: tuple[str, ...] = KINDS
    """Which bots may take part: modules of WebAssembly, deterministic native programs, or both."""
    bots_per_owner: int = 3
    bot_bytes: int = 4 << 20
    """The most bytes of a bot's folder."""
    beacon: BeaconSettings | Literal["merge"] = BeaconSettings()
    ahead: int = 300
    """A claim names a round of the beacon that is at least so many seconds in its future."""
    games: int = 200
    """The most games of a claim."""
    open_claims: int = 1
    """The most claims that a runner may have open."""
    claim_hours: float = 6.0
    """How long an owner has for a batch of modules, from the round on."""
    seal_hours: float = 6.0
    """How long an owner has for a seal, from the round on, and to open it."""
    active_days: float = 3.0
    """Owners are drawn from those who handed in something within this time."""
    lapses: int = 3
    """An owner who let so many claims lapse within `lapse_days` may not claim."""
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
            *(("whole", 1, MOST_GAMES), ("bots_per_owner", 1, 1000), ("memory_mib", 1, 65536), ("ahead", 1, 86_400)),
            *(("claim_hours", 0.001, 1000), ("seal_hours", 0.001, 1000), ("active_days", 0.001, 1000)),
            *(("lapse_days", 0.001, 1000), ("bot_bytes", 1, 1 << 30)),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                return f"{name} is {value:g}; expected {low:g} to {high:g}"
        if self.version is not None and self.version < 1:
            return f"version is {self.version}; expected that of the game, from 1 on"
        if self.rules and not HASH.fullmatch(self.rules):
            return f"rules is {self.rules[:80]!a}; expected a hash of 64 hexadecimal digits"
        if not self.kinds or not {*self.kinds} <= {*KINDS}:
            return f"kinds is {list(self.kinds)}; expected some of {', '.join(KINDS)}"
        return self.beacon.problem() if isinstance(self.beacon, BeaconSettings) else ""


class Runner(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `runners/NAME.toml`: who may hand in games."""

    key: str
    """Its ed25519 public key, in base64."""
    owner: str
    """The owner's login at the forge."""


class Claim(Struct, frozen=True, forbid_unknown_fields=True):
    """New games, which a round of the beacon draws. Its bytes are fixed before anybody knows that round."""

    claim: int
    """The version of the format."""
    runner: str
    owner: str
    """As `same_owner` says."""
    number: int
    """Of the runner's claims, from 1 on."""
    bots: str
    """The id of the folder `bots` in git: who takes part, in which version."""
    rules: str
    """The id of `ladder.toml` in git."""
    games: int
    at: int
    """When it was written, in seconds since 1970."""
    round: int
    """The round of the beacon that draws; 0 = that of the merge."""


class Seal(Struct, frozen=True, forbid_unknown_fields=True):
    """A commitment of an owner to its results, before anybody shows any."""

    seal: int
    """The version of the format."""
    runner: str
    owner: str
    claim: str
    """The hash of the claim whose games were played."""
    root: str
    """See `root_of`."""
    signatures: tuple[str, ...]
    """Those of the rounds of the claim's draws up to the one that drew this owner."""


class Head(Struct, frozen=True, forbid_unknown_fields=True):
    """The first line of a batch."""

    batch: int
    """The version of the format."""
    runner: str
    owner: str
    claim: str
    """The hash of the claim whose games were played."""
    signatures: tuple[str, ...]
    """As in a seal; empty if it opens one."""
    salt: str
    """Of the seal that it opens; empty for games of modules."""
    courses: str
    """A hash of what everybody must say of these games."""
    played: str
    """The versions of referee, engine of modules and prices."""


class StageKind(StrEnum):
    """What owners do for a claim."""

    PLAY = "play"
    """Play games of modules and hand them in."""
    SEAL = "seal"
    """Play games of native programs and seal the results."""
    OPEN = "open"
    """Open the seals."""
    SAMPLE = "sample"
    """Play some games of modules again."""


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
    times: str
    """A hash of the times of all calls, in microseconds, which no two machines share; empty for games of modules."""
    costs: tuple[int, ...]
    """By seat: units of fuel of a module, milliseconds of other programs."""
    faults: tuple[Fault, ...] = ()


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


def root_of(salt: bytes, runner: str, lines: Iterable[bytes]) -> str:
    """Returns the root of a seal: the SHA-256 of the SHA-256 of (salt, runner, line) of every game.

    A line has the hash of the game's transcript. Nobody can guess what is sealed, or seal it for another runner.
    """
    start = salt + runner.encode() + b"\n"
    return hashlib.sha256(b"".join(hashlib.sha256(start + line).digest() for line in lines)).hexdigest()


def claim_path(runner: str, number: int) -> str:
    """Returns the place of a claim."""
    return f"{CLAIMS}/{runner}/{number:06}.json"


def seal_path(claim: Claim, runner: str) -> str:
    """Returns the place of a runner's seal."""
    return f"{SEALS}/{claim.runner}/{claim.number:06}/{runner}.json"


def batch_path(claim: Claim, runner: str) -> str:
    """Returns the place of a runner's batch."""
    return f"{GAMES}/{claim.runner}/{claim.number:06}/{runner}.txt"


def read_claim(content: bytes, path: str) -> tuple[Claim, bytes, bytes]:
    """Returns a claim, what is signed of it, and the signature. UsageError if it is none."""
    signed, signature = parted(content, path)
    claim = record_of(signed[:-1], Claim, path)
    if path != claim_path(claim.runner, claim.number) or not NAME.fullmatch(claim.runner):
        raise UsageError(f"{path}: it says that it is claim {claim.number} of {claim.runner!a}; {SIGNED_BY_PLAY}")
    if claim.claim != FORMAT or not 0 < claim.games <= MOST_GAMES or claim.owner != same_owner(claim.owner):
        raise UsageError(f"{path}: version, games or owner are out of range; {SIGNED_BY_PLAY}")
    if not OBJECT.fullmatch(claim.bots) or not OBJECT.fullmatch(claim.rules) or not NAME.fullmatch(claim.owner):
        raise UsageError(f"{path}: `bots`, `rules` or `owner` are wrong; {SIGNED_BY_PLAY}")
    if not 0 <= claim.at < 1 << 40 or not 0 <= claim.round < 1 << 40:
        raise UsageError(f"{path}: `at` is no time, or `round` no round; {SIGNED_BY_PLAY}")
    return claim, signed, signature


def same_owner(login: str) -> str:
    """Returns what all ways to write a login have in common: for a forge, Ann and ann are one owner."""
    return login.lower()


def read_seal(content: bytes, path: str) -> tuple[Seal, bytes, bytes]:
    """Returns a seal, what is signed of it, and the signature. UsageError if it is none."""
    signed, signature = parted(content, path)
    seal = record_of(signed[:-1], Seal, path)
    _check_entry(path, seal.seal, seal)
    if not HASH.fullmatch(seal.root):
        raise UsageError(f"{path}: `root` is no hash; {SIGNED_BY_PLAY}")
    return seal, signed, signature


def read_batch(content: bytes, path: str) -> Batch:
    """Returns a batch. Its lines are not read yet. UsageError if it is none."""
    signed, signature = parted(content, path)
    first, *lines = signed[:-1].split(b"\n")
    head = record_of(first, Head, path)
    _check_entry(path, head.batch, head)
    if len(head.played) > 200 or len(head.courses) != COURSE or (head.salt and not HASH.fullmatch(head.salt)):
        raise UsageError(f"{path}: its first line is wrong; {SIGNED_BY_PLAY}")
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
        raise UsageError(f"{path}: its last line is no signature; {SIGNED_BY_PLAY}")
    return signed + newline, signature


def record_of(line: bytes, kind: type[T], path: str) -> T:
    """Reads the line of a record. UsageError if it is wrong, or written in another way than ours."""
    try:
        value = msgspec.json.decode(line, type=kind)
    except UNDECODABLE as error:
        raise UsageError(f"{path}: {error}; {SIGNED_BY_PLAY}") from error
    if msgspec.json.encode(value) != line:
        raise UsageError(f"{path}: its first line is not in its one form; {SIGNED_BY_PLAY}")
    return value


def _check_entry(path: str, version: int, entry: Seal | Head) -> None:
    name = path.rpartition("/")[2].rpartition(".")[0]
    if version != FORMAT or entry.runner != name or not NAME.fullmatch(name) or not HASH.fullmatch(entry.claim):
        raise UsageError(f"{path}: version, runner or claim are wrong; {SIGNED_BY_PLAY}")
    if not NAME.fullmatch(entry.owner) or entry.owner != same_owner(entry.owner):
        raise UsageError(f"{path}: `owner` is no login in small letters; {SIGNED_BY_PLAY}")
    if len(entry.signatures) > MOST_STAGES or not all(map(SIGNATURE.fullmatch, entry.signatures)):
        raise UsageError(f"{path}: `signatures` are none of a beacon; {SIGNED_BY_PLAY}")


# The lines of games.


def game_line(line: GameLine) -> bytes:
    """Returns the text of a game."""
    faults = "".join(f" {each.seat}{each.kind}{'~' if each.is_noise else ''}" for each in line.faults)
    ranks, costs = "".join(map(str, line.ranks)), ",".join(map(str, line.costs))
    return f"{ranks} {line.turns} {line.course}{':' if line.times else ''}{line.times} {costs}{faults}".encode()


def read_game(line: bytes, place: str) -> GameLine:
    """Returns a game. UsageError if the line is wrong; `place` names it."""
    found = LINE.fullmatch(line)
    if found is None:
        shown = line[:60].decode(errors="replace")
        raise UsageError(f"{place} is {shown!r}; expected ranks, turns, hashes and costs")
    ranks, turns, course, times, costs, faults = found.groups()
    return GameLine(
        tuple(digit - 48 for digit in ranks),
        int(turns),
        course.decode(),
        (times or b"").decode(),
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
    costs, faults = COST.decode() + rf"(?:,{COST.decode()}){{{last}}}", rf"(?: [0-{last}][a-z_]{{1,20}}~?){{0,128}}"
    hashes = "[0-9a-f]{32}(?::[0-9a-f]{8})?"
    return re.compile(rf"(?:[1-9]{{{seats}}} (?:0|[1-9]\d{{0,6}}) {hashes} {costs}{faults}\n)+".encode())


def are_ranks(ranks: Sequence[int]) -> bool:
    """Whether these can be the ranks of a game: ties share the best one."""
    return all(rank == 1 + sum(other < rank for other in ranks) for rank in ranks)


def _fault(word: str) -> Fault:
    digits = len(word) - len(word.lstrip("0123456789"))
    return Fault(int(word[:digits]), word[digits:].rstrip("~"), word.endswith("~"))


def told(line: bytes) -> bytes:
    """Returns what everybody must say of a game: ranks, turns and course."""
    return line[: line.find(b" ", line.find(b" ") + 1) + 1 + COURSE]


def courses_of(lines: Iterable[bytes]) -> str:
    """Returns the hash of what everybody must say of these games."""
    return hashlib.sha256(b"\n".join(TOLD.findall(b"\n".join(lines)))).hexdigest()[:COURSE]


# Settings and runners.


def read_settings(content: bytes) -> Settings:
    """Reads `ladder.toml`. UsageError if it is wrong."""
    if not re.search(rb"^ladder\s*=", content, re.MULTILINE):
        raise UsageError(f"{SETTINGS}: this ladder is of the first edition, which nobody can prove; make a new one")
    settings = toml_of(content, Settings, SETTINGS)
    problem = f"ladder is {settings.ladder}; expected {FORMAT}" if settings.ladder != FORMAT else settings.problem()
    if problem:
        raise UsageError(f"{SETTINGS}: {problem}")
    return settings


def read_runner(content: bytes, path: str) -> Runner:
    """Reads `runners/NAME.toml`. UsageError if it is wrong."""
    runner = toml_of(content, Runner, path)
    if not is_key(runner.key) or not NAME.fullmatch(runner.owner):
        raise UsageError(f"{path}: expected `key`, an ed25519 public key in base64, and `owner`, a login")
    return runner


def is_key(text: str) -> bool:
    """Whether a text is an ed25519 public key in base64, in its only form: a witness with two names has one key."""
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        return False
    return len(key) == 32 and base64.b64encode(key).decode() == text


def toml_of(content: bytes, kind: type[T], path: str) -> T:
    """Reads a file of settings. UsageError if it is wrong."""
    try:
        return toml.read_as(content.decode("utf-8"), kind)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
