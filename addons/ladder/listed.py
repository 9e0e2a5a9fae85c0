"""The newest games of each bot, as the pages list them: a pure function of a commit, and of the replays in a folder."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from referee.addons.ladder import replays
from referee.addons.ladder.chain import Result
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import GameLine, StageKind, batch_lines, read_game
from referee.addons.tournament.reports.readers import published
from referee.addons.web import page as viewer
from referee.harness.replay.reader import Replay

GAMES = 20
"""How many games of each bot are listed."""
VIEWED = 10
"""How many of these have a page with the viewer."""
LOOKED_AT = 1_000
"""How many claims are looked at: a bot that has not played for so long lists fewer games."""


class Listed(Struct, frozen=True):
    """A game on a bot's page."""

    claim: str
    """The hash of the claim that drew it."""
    number: int
    """Its place in that claim, from 1 on."""
    at: int
    """When its claim was merged, in seconds since 1970."""
    seed: int
    bots: tuple[str, ...]
    """By seat."""
    line: GameLine
    runners: tuple[str, ...]
    """The runners that have played it, in the order in which they handed it in."""

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.claim[:16]}-{self.number}"


def newest_games(ladder: Ladder) -> dict[str, list[Listed]]:
    """Returns the newest games of each bot in its version of now, newest first."""
    chain, found = ladder.chain, {bot.name: list[Listed]() for bot in ladder.bots}
    current = {(bot.name, bot.version) for bot in ladder.bots}
    for hash in sorted(chain.results, key=lambda hash: (chain.merged.get(hash, 0), hash), reverse=True)[:LOOKED_AT]:
        players = _players(ladder, hash)
        if not players:
            continue
        lines = batch_lines(next(ladder.repository.read([players[0].blob])))
        bots, games = ladder.games_of(hash)
        for number, (game, line) in enumerate(zip(games, lines, strict=False), 1):
            seats = [bots[place] for place in game.bots]
            lists = [found[bot.name] for bot in seats if (bot.name, bot.version) in current]
            if len(lists) == len(seats) and any(len(each) < GAMES for each in lists):
                names, runners = tuple(bot.name for bot in seats), tuple(each.head.runner for each in players)
                listed = Listed(hash, number, chain.merged[hash], game.seed, names, read_game(line, "a game"), runners)
                for each in lists:
                    each.append(listed)
        if all(len(each) >= GAMES for each in found.values()):
            break
    return {name: games[:GAMES] for name, games in found.items()}


def _players(ladder: Ladder, hash: str) -> list[Result]:
    """Returns the batches with all games of a claim of owners that did not lie, in the order of their merges."""
    chain = ladder.chain
    if hash not in chain.claims:
        return []
    stages = [each for each in chain.stages(hash, chain.now) if each.kind in (StageKind.PLAY, StageKind.OPEN)]
    owners = {owner for stage in stages for owner in stage.owners if not chain.is_struck(owner, chain.now)}
    found = [result for owner, result in chain.results[hash].items() if owner in owners]
    return sorted(found, key=lambda each: (each.at, each.hash))


def kept(ladder: Ladder, folder: Path, games: list[Listed]) -> Iterator[tuple[Listed, bytes]]:
    """Yields the games whose replays are in a folder, with the replay as everybody may see it.

    A pack with a wrong replay is left out, since nobody could tell which of its games it shows.
    """
    by_claim: dict[str, list[Listed]] = {}
    for game in games:
        by_claim.setdefault(game.claim, []).append(game)
    for hash, listed in by_claim.items():
        stages = {owner: stage for stage in ladder.chain.stages(hash, ladder.chain.now) for owner in stage.owners}
        for result in _players(ladder, hash):
            try:
                pack = replays.kept(folder, result.hash)
            except OSError:  # `verify --replays` says why
                continue
            if pack is None:
                continue
            lines = batch_lines(next(ladder.repository.read([result.blob])))
            if any(replays.problems_of(ladder, hash, stages[result.head.owner], lines, pack)):
                continue
            texts = replays.unpacked(pack)
            yield from ((game, published(texts[game.number - 1])) for game in listed)
            break


def viewer_page(replay: bytes) -> bytes:
    """Returns the page with the viewer for a game."""
    with TemporaryDirectory(prefix="referee-") as scratch:
        path = Path(scratch, "game.jsonl")
        path.write_bytes(replay)
        return viewer.page(Replay(path), "../index.html")


def result_of(line: GameLine, names: tuple[str, ...]) -> str:
    """Says how a game ended."""
    first = [name for name, rank in zip(names, line.ranks, strict=True) if rank == 1]
    return f"{first[0]} won" if len(first) == 1 else "draw" if len(first) == len(names) else f"{', '.join(first)} share"
