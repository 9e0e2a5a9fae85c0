"""Plays games of a ladder on the workers of this machine, and writes their lines."""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager

import msgspec
from msgspec import Struct

from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import Claim, Fault, GameLine, Part
from referee.addons.ladder.workshop import programs, sandboxed
from referee.addons.tournament.execution.runner import End, Runner
from referee.addons.tournament.execution.worker import content
from referee.addons.tournament.execution.worker_messages import Assignment, Contest, PlayedGame
from referee.addons.tournament.execution.worker_pool import WorkerPool
from referee.games.game import Game
from referee.harness.common.errors import RunError, UsageError
from referee.harness.common.measures import measured
from referee.harness.replay.lines import Ending
from referee.protocol.messages import Encoding

PROOF_BYTES = 4
US_PER_MS = 1_000
Opened = Callable[[Contest], AbstractAsyncContextManager[WorkerPool]]
"""Opens the workers."""


class _Turn(Struct, gc=False):
    turn: int = 0


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
                line_of_game(gzip.decompress(each.replay).splitlines(), self.game, self.claim, is_module), each.replay
            )
            self.on_game(len(self.played))

    def describe(self, game: Assignment) -> str:
        place = int(game.key.rpartition("/")[2])
        return f"game {place + 1} ({', '.join(self.bots[bot].name for bot in self.games[place].bots)})"


def line_of_game(replay: Sequence[bytes], game: Game, claim: str, is_module: Sequence[bool]) -> GameLine:
    """Returns the line of a game. The replay has the summary of a match that was played to its end."""
    ending = msgspec.json.decode(replay[-1], type=Ending)
    assert ending.result is not None
    costs = [
        (measured(seat, "fuel") or 0) if module else round(seat.wall_s * 1e6) // US_PER_MS
        for seat, module in zip(ending.seats, is_module, strict=True)
    ]
    return GameLine(
        ranks=ending.result.ranks,
        turns=max((each.turn for each in _decode_turns(b"\n".join(replay[1:-1]))), default=0),
        course=content(replay, game),
        proof=proof(replay, game, claim),
        costs=tuple(costs),
        faults=tuple(Fault(each.player, str(each.kind), each.host_noise) for each in ending.faults),
    )


def proof(replay: Sequence[bytes], game: Game, claim: str) -> str:
    """Returns what only somebody who has seen a game can write for a claim."""
    return content(replay, game, bytes.fromhex(claim), PROOF_BYTES)


def origin_of(ladder: Ladder, claim: Claim) -> Claim:
    """Returns the claim of the new games that a claim is about."""
    return claim if claim.part is Part.NEW else ladder.chain.claims[claim.of]


async def play_games(
    ladder: Ladder,
    claim: Claim,
    hash: str,
    opened: Opened,
    places: Sequence[int] | None = None,
    on_game: Callable[[int], None] = lambda count: None,
    progress: Callable[[str], None] = lambda text: None,
) -> dict[int, Played]:
    """Plays the games of a claim, or those at some places. Returns them by place. RunError if one is left."""
    bots, _, drawn = ladder.games_of(claim)
    games = {place: drawn[place] for place in (range(len(drawn)) if places is None else places)}
    rules = ladder.rules_of(origin_of(ladder, claim).rules)
    if why := ladder.other_version(rules):
        raise UsageError(why)
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
