"""Checks a whole ladder: its chain, its signatures, its draws, and as many games as somebody wants to play again."""

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from referee.harness.errors import UsageError
from referee.harness.ladder.change import Refused, check_batch
from referee.harness.ladder.draw import DrawnGame, due, is_of_modules
from referee.harness.ladder.games import Opened, origin_of, proof
from referee.harness.ladder.keys import signature_is_right
from referee.harness.ladder.proof import differences, words_of
from referee.harness.ladder.reading import Ladder, Strike, strike_path
from referee.harness.ladder.records import (
    CLAIMS,
    GAMES,
    STRIKES,
    Claim,
    Part,
    batch_lines,
    claim_path,
    game_line,
    read_claim,
    read_game,
)
from referee.harness.paths import open_file
from referee.harness.replay.reader import HEADER, MAX_BYTES, Replay
from referee.harness.replay.simulate import Difference, verify
from referee.harness.tournament.execution.worker import content

REDRAWN = 500
"""How many of the newest claims are drawn again where the chain is not a single line: each looks at all others."""


def problems(ladder: Ladder, old: str | None = None) -> Iterator[str]:
    """Yields what is wrong with the files of a ladder. `old`: a commit that somebody has seen before."""
    yield from _changed_history(ladder, old)
    chain = ladder.chain
    for hash in sorted({*chain.missing()}):
        yield f"the entry {hash[:12]} is missing: others name it, so that somebody has removed it; ask for it"
    paths = [each for each in ladder.entries if each.path.startswith(f"{CLAIMS}/")]
    for file, content_ in zip(paths, ladder.repository.read(each.id for each in paths), strict=True):
        claim, signed, signature = read_claim(content_, file.path)
        yield from _wrong_signature(ladder, claim.runner, signed, signature, file.path)
    yield from _gaps(ladder)
    for file, batch in ladder.batches():
        claimed = chain.claims.get(batch.head.claim)
        if claimed is None:
            yield f"{file.path}: its claim is missing"
            continue
        whole = next(ladder.repository.read([file.id]))
        signed = whole[: whole.rstrip(b"\n").rfind(b"\n") + 1]
        yield from _wrong_signature(ladder, batch.head.runner, signed, batch.signature, file.path)
        try:
            check_batch(ladder, batch, claimed, file.path)
        except (Refused, UsageError) as error:
            yield str(error)
    yield from _wrong_draws(ladder)


def _changed_history(ladder: Ladder, old: str | None) -> Iterator[str]:
    """Yields files that were handed in and changed later, in the history or since a commit that somebody has seen."""
    repository, folders = ladder.repository, ("--", CLAIMS, GAMES, STRIKES)
    words = ("log", "--first-parent", "-m", "--no-renames", "--diff-filter=MDT", "--name-only", "--format=", "-z")
    for path in sorted({*repository.text(*words, ladder.commit, *folders).replace("\n", "").split("\0")} - {""}):
        yield f"{path} was changed or removed after it was handed in; nothing in {CLAIMS}/ and {GAMES}/ ever changes"
    if old is not None:
        compare = ("diff-tree", "-r", "--no-renames", "--diff-filter=MDT", "--name-only", "-z")
        for path in sorted({*repository.text(*compare, old, ladder.commit, *folders).split("\0")} - {""}):
            yield f"{path} is not what it was in {old[:12]}: the chain was rewritten; keep your clone, and tell others"


def _wrong_signature(ladder: Ladder, runner: str, signed: bytes, signature: bytes, path: str) -> Iterator[str]:
    known = ladder.runners.get(runner)
    if known is None:
        yield f"{path}: there is no runner {runner}"
    elif not signature_is_right(known.key, signed, signature):
        yield f"{path}: it was not signed with the key of runner {runner}"


def _gaps(ladder: Ladder) -> Iterator[str]:
    for runner, hashes in sorted(ladder.chain.of_runner.items()):
        numbers = [ladder.chain.claims[hash].number for hash in hashes]
        if numbers != [*range(1, len(numbers) + 1)]:
            yield f"the claims of {runner} have gaps: {', '.join(map(str, numbers[:20]))}"


def _wrong_draws(ladder: Ladder) -> Iterator[str]:
    """Yields claims that are not what the chain draws. Nobody chooses games."""
    chain = ladder.chain
    newest = sorted(chain.claims.items(), key=lambda each: (each[1].at, each[0]))[-REDRAWN:]
    for hash, claim in newest:
        path = claim_path(claim.runner, claim.number)
        try:
            known = chain.part(chain.before(claim.after))
        except KeyError:
            continue  # named as missing above
        if hash in known:
            yield f"{path}: it names itself"
            continue
        rules = ladder.rules_of(claim.rules)
        need = due(known, claim.runner, claim.owner, rules, ladder.nature, ladder.struck & known.claims.keys())
        of, part = ("", Part.NEW) if need is None else (need.of, need.part)
        if (claim.of, claim.part) != (of, part) and not ladder.struck:
            yield f"{path}: it is of {claim.part} games {claim.of[:12]}, and the chain draws {part} games {of[:12]}"


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
) -> tuple[int, list[tuple[str, Strike]]]:
    """Plays a share of the games of modules again. Returns their number, and a strike for each batch that lies."""
    count, strikes = 0, []
    for hash, claim, places, lines in drawn_games(ladder, share, luck):
        wrong = await differences(ladder, claim, hash, lines, places, opened, progress)
        count += len(places)
        for place, played in list(wrong.items())[:1]:
            words = f"{claim.runner}, claim {claim.number}: {words_of(ladder, claim, place, lines[place], played)}"
            strikes.append((words, Strike(1, hash, place, lines[place].decode(), game_line(played).decode())))
    return count, strikes


def strike_files(strikes: Sequence[tuple[str, Strike]]) -> Iterator[tuple[str, bytes]]:
    """Yields the files of strikes with their paths."""
    for _, strike in strikes:
        yield strike_path(strike.claim), msgspec.json.encode(strike) + b"\n"


# Replays.


def replay_problems(ladder: Ladder, folder: Path) -> Iterator[tuple[int, str]]:
    """Yields for every batch whose replays are in a folder the number of games, and what is wrong; empty if nothing is.

    A replay must obey the rules, be of the drawn bots and seed, and give the line. The proof shows that the runner has
    seen the answers: who copies another's line cannot write it.
    """
    for hash, result in sorted(ladder.chain.results.items()):
        path, claim = folder / f"{hash}.jsonl.gz", ladder.chain.claims.get(hash)
        if claim is None or not path.is_file():
            continue
        lines = batch_lines(next(ladder.repository.read([result.blob])))
        name = f"{claim.runner}, claim {claim.number}"
        try:
            replays = _replays(path)
        except (OSError, EOFError, zlib.error) as error:
            yield 0, f"{name}: {path.name} cannot be read: {error}"
            continue
        bots, _, games = ladder.games_of(claim)
        if len(replays) != len(games):
            yield 0, f"{name}: {path.name} has {len(replays)} replays; expected {len(games)}"
            continue
        for number, (text, line, game) in enumerate(zip(replays, lines, games, strict=True), 1):
            names = tuple(bots[bot].name for bot in game.bots)
            what = _wrong_replay(ladder, claim, hash, text, line, game, names)
            yield 1, f"{name}: game {number} ({', '.join(names)}): {what}" if what else ""


def _replays(path: Path) -> list[bytes]:
    """Returns the replays of a pack. OSError if it is larger than a replay may be."""
    with open_file(path) as file, gzip.GzipFile(fileobj=file) as packed:
        text = packed.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise OSError(f"it has more than {MAX_BYTES >> 20} MiB")
    starts = list(_found(text, HEADER))
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _found(text: bytes, what: bytes) -> Iterator[int]:
    at = text.find(what)
    while at >= 0:
        if at == 0 or text[at - 1] == 10:
            yield at
        at = text.find(what, at + 1)


def _wrong_replay(
    ladder: Ladder, claim: Claim, hash: str, text: bytes, line: bytes, game: DrawnGame, names: Sequence[str]
) -> str:
    said = read_game(line, "the line")
    try:
        replay = Replay(Path("replay"), text)
        setup, result = replay.header.setup, verify(replay)
    except (Difference, UsageError) as error:
        return f"its replay is wrong: {error}"
    options: Any = msgspec.convert(ladder.rules_of(origin_of(ladder, claim).rules).options, replay.game.options)
    if replay.game.name != ladder.game.name or setup.options != options:
        return "its replay is of another game, or of other options"
    if setup.seed != game.seed:
        return f"its replay has the seed {setup.seed}; {game.seed} was drawn"
    if tuple(setup.names) != tuple(names):
        return f"its replay is of {', '.join(setup.names)}"
    if result is None or result.ranks != said.ranks or content(replay.lines, replay.game) != said.course:
        return f"its replay ends with the ranks {result.ranks if result else None}; the batch says {said.ranks}"
    if proof(replay.lines, replay.game, hash) != said.proof:
        return "its proof does not fit: the line was copied from somebody else, not played"
    return ""
