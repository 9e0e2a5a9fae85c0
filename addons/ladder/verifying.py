"""Checks a whole ladder: its chain, its signatures, its draws, and as many games as somebody wants to play again."""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from referee.addons.ladder.chain import Chain, in_order
from referee.addons.ladder.change import STALE, Refused, check_batch, refusal_of_claim
from referee.addons.ladder.draw import BotVersion, is_of_modules
from referee.addons.ladder.games import Opened, origin_of
from referee.addons.ladder.keys import signature_is_right
from referee.addons.ladder.proof import differences, words_of
from referee.addons.ladder.reading import ADDED, Ladder, Strike, claim_of_strike, strike_path
from referee.addons.ladder.records import (
    CLAIMS,
    GAMES,
    STRIKES,
    Claim,
    batch_lines,
    claim_path,
    game_line,
    parted,
    read_batch,
)
from referee.addons.ladder.workshop import unpacked
from referee.addons.tournament.intake.fetching import Unavailable
from referee.harness.common.errors import UsageError

Merges = Sequence[Sequence[tuple[str, str]]]
"""For each merge its changes: status and path."""


def problems(ladder: Ladder, old: str | None = None) -> Iterator[str]:
    """Yields what is wrong with the files of a ladder. `old`: a commit that somebody has seen before."""
    merges = ladder.merges()
    yield from _changed_history(ladder, merges, old)
    for hash in sorted({*ladder.chain.missing()}):
        yield f"the entry {hash[:12]} is missing: others name it, so that somebody has removed it; ask for it"
    yield from _gaps(ladder)
    yield from _wrong_entries(ladder, merges)
    yield from _wrong_draws(ladder, merges)


def _changed_history(ladder: Ladder, merges: Merges, old: str | None) -> Iterator[str]:
    """Yields files that were handed in and changed later, in the history or since a commit that somebody has seen."""
    repository = ladder.repository
    for path in sorted({path for merge in merges for status, path in merge if status != ADDED}):
        yield f"{path} was changed or removed after it was handed in; nothing in {CLAIMS}/ and {GAMES}/ ever changes"
    if old is not None:
        compare = ("diff-tree", "-r", "--no-renames", "--diff-filter=MDT", "--name-only", "-z", old, ladder.commit)
        for path in sorted({*repository.text(*compare, "--", CLAIMS, GAMES, STRIKES).split("\0")} - {""}):
            yield f"{path} is not what it was in {old[:12]}: the chain was rewritten; keep your clone, and tell others"


def _gaps(ladder: Ladder) -> Iterator[str]:
    for runner, hashes in sorted(ladder.chain.of_runner.items()):
        numbers = [ladder.chain.claims[hash].number for hash in hashes]
        if numbers != [*range(1, len(numbers) + 1)]:
            yield f"the claims of {runner} have gaps: {', '.join(map(str, numbers[:20]))}"


def _wrong_entries(ladder: Ladder, merges: Merges) -> Iterator[str]:
    """Yields claims and batches that cannot be right, and signatures that are not the runner's."""
    ids = {each.path: each.id for each in ladder.entries if each.path.startswith((f"{CLAIMS}/", f"{GAMES}/"))}
    order = dict.fromkeys(path for merge in merges for _, path in merge if path in ids)  # near games are in the cache
    paths = [*order, *(path for path in ids if path not in order)]
    for path, text in zip(paths, ladder.repository.read(ids[path] for path in paths), strict=True):
        signed, signature = parted(text, path)
        if path.startswith(f"{CLAIMS}/"):
            yield from _wrong_signature(ladder, path.split("/")[1], signed, signature, path)
            continue
        batch = read_batch(text, path)
        yield from _wrong_signature(ladder, batch.head.runner, signed, signature, path)
        claimed = ladder.chain.claims.get(batch.head.claim)
        if claimed is None:
            yield f"{path}: its claim is missing"
            continue
        try:
            check_batch(ladder, batch, claimed, path)
        except (Refused, UsageError) as error:
            yield str(error)


def _wrong_signature(ladder: Ladder, runner: str, signed: bytes, signature: bytes, path: str) -> Iterator[str]:
    known = ladder.runners.get(runner)
    if known is None:
        yield f"{path}: there is no runner {runner}"
    elif not signature_is_right(known.key, signed, signature):
        yield f"{path}: it was not signed with the key of runner {runner}"


def _wrong_draws(ladder: Ladder, merges: Merges) -> Iterator[str]:
    """Yields claims that are not what the chain drew when they were made. Nobody chooses games.

    Merges the entries again, in their order, and draws at every head what was claimed there.
    """
    whole = ladder.chain
    hashes = {whole.path(hash): hash for hash in whole.hashes}
    waiting: dict[tuple[str, ...], dict[str, str]] = {}
    for hash, claim in whole.claims.items():
        path = claim_path(claim.runner, claim.number)
        waiting.setdefault(claim.after, {})[hash] = f"{path}: it was drawn from a head that the ladder never had"
    chain, struck, liars = Chain({}, {}), set[str](), set[str]()
    heads: dict[str, int] = {}

    def draw() -> None:
        claims = waiting.get(chain.tips(), {})
        for hash in [each for each in claims if each not in heads]:
            claim = whole.claims[hash]
            path = claim_path(claim.runner, claim.number)
            try:
                why = refusal_of_claim(ladder, chain, struck, claim, path)
            except UsageError as error:
                why = f"{path}: {error}"
            if why:
                claims[hash] = why
            else:
                heads[hash] = len(chain)

    draw()
    for merge in merges:
        added = [path for status, path in merge if status == ADDED]
        for hash in in_order(whole, [hashes[path] for path in added if path in hashes]):
            if hash not in whole.claims:
                chain.add_result(whole.results[whole.claim_of(hash)])
            else:
                claim = whole.claims[hash]
                if hash in heads and len(chain) - heads[hash] > STALE:
                    yield f"{whole.path(hash)}: it was drawn from a head that is none of the last {STALE} merges"
                if hash not in heads:
                    yield waiting[claim.after][hash]
                chain.add_claim(hash, claim)
                struck |= {hash} if claim.runner in liars else set()
            draw()
        for strike in [ladder.strikes[hash] for path in added if (hash := claim_of_strike(path)) in ladder.strikes]:
            if (accused := chain.claims.get(strike.claim)) is not None:
                liars.add(accused.runner)
                struck |= {*chain.of_runner[accused.runner]}
            draw()


# Games.


def drawn_games(
    ladder: Ladder, share: float, luck: Callable[[], float]
) -> Iterator[tuple[str, Claim, list[int], tuple[bytes, ...]]]:
    """Yields batches with the places of those games of modules that were drawn, and all their lines."""
    for hash, result in sorted(ladder.chain.results.items()):
        claim = ladder.chain.claims.get(hash)
        if claim is None:
            continue
        bots, _, games = ladder.games_of(claim)
        places = [at for at, game in enumerate(games) if is_of_modules(game, bots) and luck() < share]
        if places:
            yield hash, claim, places, batch_lines(next(ladder.repository.read([result.blob])))


async def play_again(
    ladder: Ladder, share: float, luck: Callable[[], float], opened: Opened, progress: Callable[[str], None]
) -> tuple[int, list[tuple[str, Strike]], list[str]]:
    """Plays a share of the games of modules again.

    Returns their number, a strike for each batch that lies, and what says why other games were not played.
    """
    count, strikes, vanished = 0, [], dict[str, str]()
    for hash, claim, drawn, lines in drawn_games(ladder, share, luck):
        rules = origin_of(ladder, claim).rules
        if rules not in vanished and (why := ladder.other_version(ladder.rules_of(rules))):
            vanished[rules] = f"{why}; they were not played again"
        if vanished.get(rules):
            continue
        bots, _, games = ladder.games_of(claim)
        for bot in {bots[bot] for place in drawn for bot in games[place].bots}:
            if bot.git and bot.version not in vanished:
                vanished[bot.version] = _why_vanished(ladder, bot)
        places = [at for at in drawn if not any(vanished.get(bots[bot].version) for bot in games[at].bots)]
        wrong = await differences(ladder, claim, hash, lines, places, opened, progress)
        count += len(places)
        for place, played in list(wrong.items())[:1]:
            words = f"{claim.runner}, claim {claim.number}: {words_of(ladder, claim, place, lines[place], played)}"
            strikes.append((words, Strike(1, hash, place, lines[place].decode(), game_line(played).decode())))
    return count, strikes, sorted(why for why in vanished.values() if why)


def _why_vanished(ladder: Ladder, bot: BotVersion) -> str:
    """Returns why the files of a bot of another repository cannot be had; empty if they are here."""
    try:
        unpacked(ladder.repository, bot, ladder.settings.bot_bytes)
    except Unavailable as error:
        return f"{error}; they were not played again"
    return ""


def strike_files(strikes: Sequence[tuple[str, Strike]]) -> Iterator[tuple[str, bytes]]:
    """Yields the files of strikes with their paths."""
    for _, strike in strikes:
        yield strike_path(strike.claim), msgspec.json.encode(strike) + b"\n"
