"""Plays games of a ladder on the workers of this machine, and writes their lines."""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from hashlib import blake2b
from importlib import metadata

import msgspec
from msgspec import Struct

from referee.addons.ladder.change import versions_wanted
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import COURSE, Fault, GameLine, Settings
from referee.addons.ladder.workshop import programs, sandboxed
from referee.addons.tournament.execution.runner import End, Runner
from referee.addons.tournament.execution.worker import content
from referee.addons.tournament.execution.worker_messages import Assignment, Contest, PlayedGame
from referee.addons.tournament.execution.worker_pool import WorkerPool
from referee.addons.wasm.prices import PRICES
from referee.games.game import Game
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.installed import version
from referee.harness.common.measures import measured
from referee.harness.replay.lines import Ending
from referee.protocol.messages import Encoding

TIMES_BYTES = 4
US_PER_MS = 1_000
Opened = Callable[[Contest], AbstractAsyncContextManager[WorkerPool]]
"""Opens the workers."""


class _Turn(Struct, gc=False):
    turn: int = 0
    wall_us: dict[int, int] = {}


_decode_turns = msgspec.json.Decoder(_Turn).decode_lines


class Played(Struct, frozen=True):
    """A game of a claim that was played."""

    line: GameLine
    replay: bytes
    """As a gzip member."""


class ClaimedGames(Runner):
    """The games of a claim, or some of them."""

    def __init__(self, game: Game, claim: str, games: Mapping[int, DrawnGame], bots: Sequence[BotVersion]) -> None:
        """`claim`: its hash. `games`: by their places in the claim."""
        self.game = game
        self.claim, self.games, self.bots = claim, games, bots
        self.played: dict[int, Played] = {}
        self.on_game: Callable[[int], None] = lambda count: None
        super().__init__()

    def assignments(self) -> Iterator[Assignment | None]:
        for place, game in self.games.items():
            versions = tuple(self.bots[bot].version for bot in game.bots)
            line_up = "-".join(sorted(version[:10] for version in versions))
            yield Assignment(f"{self.claim[:8]}/{line_up}/{game.group}/{place}", versions, game.seed)

    def take(self, games: Sequence[PlayedGame]) -> None:
        for each in games:
            place = int(each.key.rpartition("/")[2])
            if each.void or place in self.played or each.replay is None:
                continue
            is_module = [self.bots[bot].is_module for bot in self.games[place].bots]
            self.played[place] = Played(
                line_of_game(gzip.decompress(each.replay).splitlines(), self.game, is_module), each.replay
            )
            self.on_game(len(self.played))

    def describe(self, game: Assignment) -> str:
        place = int(game.key.rpartition("/")[2])
        return f"game {place + 1} ({', '.join(self.bots[bot].name for bot in self.games[place].bots)})"


def line_of_game(replay: Sequence[bytes], game: Game, is_module: Sequence[bool]) -> GameLine:
    """Returns the line of a game. The replay has the summary of a match that was played to its end."""
    ending = msgspec.json.decode(replay[-1], type=Ending)
    assert ending.result is not None
    costs = [
        (measured(seat, "fuel") or 0) if module else round(seat.wall_s * 1e6) // US_PER_MS
        for seat, module in zip(ending.seats, is_module, strict=True)
    ]
    turns = _decode_turns(b"\n".join(replay[1:-1]))
    return GameLine(
        ranks=ending.result.ranks,
        turns=max((each.turn for each in turns), default=0),
        course=content(replay, game, digest_bytes=COURSE // 2),
        times="" if all(is_module) else _times(turns),
        costs=tuple(costs),
        faults=tuple(Fault(each.player, str(each.kind), each.host_noise) for each in ending.faults),
    )


def _times(turns: Sequence[_Turn]) -> str:
    """Returns a hash of the times of all calls, in microseconds."""
    times = msgspec.json.encode([sorted(each.wall_us.items()) for each in turns])
    return blake2b(times, digest_size=TIMES_BYTES).hexdigest()


def played_by() -> str:
    """Returns the versions of the referee, of the engine of modules and of the prices of fuel."""
    try:
        engine = metadata.version("wasmtime")
    except metadata.PackageNotFoundError:
        engine = "none"
    return f"referee {version()}, wasmtime {engine}, prices {PRICES}"


def check_versions(rules: Settings) -> None:
    """UsageError if this machine has other versions than a ladder's games are played by."""
    if played_by() != rules.versions:
        raise UsageError(f"this machine has {played_by()!a}; {versions_wanted(rules)}")


async def play_games(
    ladder: Ladder,
    hash: str,
    opened: Opened,
    places: Sequence[int],
    on_game: Callable[[int], None] = lambda count: None,
    progress: Callable[[str], None] = lambda text: None,
    now: int | None = None,
) -> dict[int, Played]:
    """Plays games of a claim, given its hash and their places. Returns them by place. RunError if one is left."""
    bots, drawn = ladder.games_of(hash, now)
    games = {place: drawn[place] for place in places}
    rules = ladder.rules_of(ladder.chain.claims[hash].rules)
    if why := ladder.other_version(rules):
        raise UsageError(why)
    check_versions(rules)
    ladder.open_rules()  # that of an older commit may have the name
    limits = sandboxed(rules.limits())
    used = sorted({bot for game in games.values() for bot in game.bots})
    ready = programs(ladder.repository, [bots[bot] for bot in used], rules.game, limits, rules.bot_bytes, progress)
    game = ladder.game
    contest = Contest(
        rules.game,
        dict(rules.options),
        game.time if rules.time is None else rules.time,
        limits,
        (Encoding.JSON, Encoding.MSGPACK),
        ready,
        bots_kept=0,  # a program that plays several games could remember some, and others play them in another order
    )
    runner = ClaimedGames(game, hash, games, bots)
    runner.on_game = on_game
    async with opened(contest) as pool:
        end = await runner.play(pool)
    if end is not End.FINISHED or len(runner.played) < len(games):
        raise RunError(
            f"{len(runner.played)} of {len(games)} games were played; repeat the command before the claim lapses"
        )
    return runner.played
