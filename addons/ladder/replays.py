"""The replays of a ladder's games: not in git, but in a folder, or on a branch of their own beside a pull request.

A replay must obey the rules, be of the drawn bots and seed, and give the line, which was sealed before anybody showed
a replay.
"""

import gzip
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from referee.addons.ladder.chain import Stage
from referee.addons.ladder.change import HandedIn, Refused
from referee.addons.ladder.commits import ORIGIN, commit_files
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.games import Played, line_of_game
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import Batch, Claim, batch_lines, game_line, read_game
from referee.addons.tournament.intake.objects import TOO_LARGE, Repository
from referee.harness.common import git
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.paths import read_limited
from referee.harness.replay.reader import HEADER, MAX_BYTES, Replay
from referee.harness.replay.simulate import Difference, verify

MOST_PACKED = 64 << 20
"""The most bytes of the replays of a batch, as they are packed."""
FETCHED = "refs/referee/replays"
UNREADABLE = (OSError, EOFError, zlib.error)


def pack_name(claim: str) -> str:
    """Returns the name of the file with the replays of a claim's games, given its hash."""
    return f"{claim}.jsonl.gz"


def branch_of(claim: Claim, runner: str) -> str:
    """Returns the branch on which a runner hands in the replays of its games."""
    of = runner if runner == claim.runner else f"{runner}-{claim.runner}"
    return f"ladder/{of}-{claim.number:06}-replays"


def packed(played: dict[int, Played]) -> bytes:
    """Returns the replays of a claim's games as one gzip file, in their order."""
    return b"".join(played[place].replay for place in sorted(played))


def keep(folder: Path, batch: str, pack: bytes) -> Path:
    """Writes the replays of a batch, each to a file of its own. Returns their folder, `FOLDER/HASH`."""
    home = folder / batch
    with writing(home):
        home.mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(unpacked(pack), 1):
            (home / f"{number:04}.jsonl.gz").write_bytes(gzip.compress(text, mtime=0))
    return home


def kept(folder: Path, batch: str) -> bytes | None:
    """Returns the replays of a batch that `keep` has written, as one pack; None if there are none.

    OSError if they are too large.
    """
    parts, left = [], MOST_PACKED
    for path in sorted((folder / batch).glob("*.jsonl.gz")):
        parts.append(read_limited(path, left))
        left -= len(parts[-1])
    return b"".join(parts) if parts else None


def commit_of(repository: Repository, claim: str, pack: bytes) -> str:
    """Returns a commit without history that has only the replays of a claim's games."""
    return commit_files(repository, None, {pack_name(claim): pack}, "Replays")


def check_handed_in(ladder: Ladder, handed_in: HandedIn, source: str | bytes) -> None:
    """Checks the replays of a batch in which native programs play.

    Refused if they are missing or wrong. `source`: the replays, or the repository that has their branch: an address or
    a remote's name.
    """
    claim, batch = handed_in.claim, handed_in.batch
    if not batch.head.salt or handed_in.is_lie:
        return
    if why := ladder.other_version(ladder.rules_of(claim.rules)):
        raise UsageError(why)
    name = f"the batch of {batch.head.runner}, claim {claim.number} of {claim.runner}"
    if isinstance(source, str):
        source = _fetched(ladder.repository, source or ORIGIN, claim, batch, name)
    for problem in problems_of(ladder, batch.head.claim, handed_in.stage, batch.lines, source):
        if problem:
            raise Refused(f"{name}: {problem}")


def _fetched(repository: Repository, source: str, claim: Claim, batch: Batch, name: str) -> bytes:
    branch, hash = branch_of(claim, batch.head.runner), batch.head.claim
    words = (*git.options(*git.PACKED), *git.FETCH, "--no-write-fetch-head")
    try:
        repository.run(*words, "--", source, f"+refs/heads/{branch}:{FETCHED}", most_written=MOST_PACKED)
        pack = next(repository.read([f"{FETCHED}:{pack_name(hash)}"], MOST_PACKED))
    except RunError as error:
        if "remote ref" in str(error) or "does not appear to be a git repository" in str(error):
            raise Refused(
                f"{name}: native programs play in it, so its replays are needed; push the branch {branch} to the same "
                "repository, as `referee ladder play` does"
            ) from error
        if TOO_LARGE in str(error):
            raise Refused(f"{name}: the branch {branch} has more than {MOST_PACKED:,} bytes") from error
        raise
    except UsageError as error:
        raise Refused(f"{name}: the branch {branch} has no file {pack_name(hash)[:20]}… of a size that fits") from error
    repository.run("update-ref", "-d", FETCHED)
    return pack


def problems_in(ladder: Ladder, folder: Path) -> Iterator[str]:
    """Yields for every replay that is in a folder what is wrong; empty if nothing is."""
    chain = ladder.chain
    for hash, results in sorted(chain.results.items()):
        claim = chain.claims.get(hash)
        if claim is None or ladder.other_version(ladder.rules_of(claim.rules)):
            continue
        stages = {owner: stage for stage in chain.stages(hash, chain.now) for owner in stage.owners}
        for owner, result in sorted(results.items()):
            name = f"{result.head.runner}, claim {claim.number} of {claim.runner}"
            try:
                pack = kept(folder, result.hash)
            except OSError as error:
                yield f"{name}: {result.hash} cannot be read: {error}"
                continue
            if pack is not None and owner in stages:
                lines = batch_lines(next(ladder.repository.read([result.blob])))
                for problem in problems_of(ladder, hash, stages[owner], lines, pack):
                    yield f"{name}: {problem}" if problem else ""


def problems_of(ladder: Ladder, hash: str, stage: Stage, lines: Sequence[bytes], pack: bytes) -> Iterator[str]:
    """Yields for every replay of a batch what is wrong; empty if nothing is."""
    bots, drawn = ladder.games_of(hash)
    games = [drawn[place] for place in ladder.places(hash, stage)]
    try:
        replays = unpacked(pack)
    except UNREADABLE as error:
        yield f"its replays cannot be read: {error}"
        return
    if len(replays) != len(games):
        yield f"it has {len(replays)} replays; expected {len(games)}"
        return
    for number, (text, line, game) in enumerate(zip(replays, lines, games, strict=True), 1):
        what = _wrong_replay(ladder, ladder.chain.claims[hash], text, line, game, [bots[bot] for bot in game.bots])
        names = ", ".join(bots[bot].name for bot in game.bots)
        yield f"game {number} ({names}): {what}" if what else ""


def unpacked(pack: bytes) -> list[bytes]:
    """Returns the replays of a pack. OSError if they are larger than a replay may be."""
    with gzip.GzipFile(fileobj=BytesIO(pack)) as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise OSError(f"it has more than {MAX_BYTES >> 20} MiB")
    return [text[start:end] for start, end in pairwise([*_found(text, HEADER), len(text)])]


def _found(text: bytes, what: bytes) -> Iterator[int]:
    at = text.find(what)
    while at >= 0:
        if at == 0 or text[at - 1] == 10:
            yield at
        at = text.find(what, at + 1)


def _wrong_replay(
    ladder: Ladder, claim: Claim, text: bytes, line: bytes, game: DrawnGame, bots: Sequence[BotVersion]
) -> str:
    said, names = read_game(line, "the line"), tuple(bot.label for bot in bots)
    try:
        replay = Replay(Path("replay"), text)
    except UsageError as error:
        return f"its replay is wrong: {error}"
    setup = replay.header.setup
    options: Any = msgspec.convert(ladder.rules_of(claim.rules).options, replay.game.options)
    if replay.game.name != ladder.game.name or setup.options != options:
        return "its replay is of another game, or of other options"
    if setup.seed != game.seed:
        return f"its replay has the seed {setup.seed}; {game.seed} was drawn"
    if tuple(setup.names) != names:
        return f"its replay is of {', '.join(setup.names)}"
    if replay.header.origin is not None or replay.ending is None or len(replay.ending.seats) != len(names):
        return "its replay has no summary of a whole match in its last line"
    try:
        if verify(replay) is None:
            return "its replay breaks off before the end of the match"
        shown = line_of_game(replay.lines, replay.game, [bot.is_module for bot in bots])
    except (Difference, UsageError, msgspec.MsgspecError, OverflowError, RecursionError) as error:
        return f"its replay is wrong: {error}"
    if (shown.ranks, shown.course) != (said.ranks, said.course):
        return f"its replay ends with the ranks {shown.ranks}; the batch says {said.ranks}"
    if shown != said:
        return f"its replay gives the line {game_line(shown).decode()}; the batch says {line.decode()}"
    return ""
