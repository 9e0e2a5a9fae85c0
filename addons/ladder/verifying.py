"""Checks a whole ladder: its history, its signatures, its draws, and as many games as somebody wants to play again."""

import bisect
from collections.abc import Callable, Iterator, Sequence

import msgspec

from referee.addons.ladder import change, records
from referee.addons.ladder.chain import Stage
from referee.addons.ladder.copies import copy_problem
from referee.addons.ladder.games import Opened, check_versions
from referee.addons.ladder.proof import convict, differences, words_of
from referee.addons.ladder.reading import ADDED, Ladder, Strike, strike_path
from referee.addons.ladder.records import BOTS, CLAIMS, GAMES, SEALS, SETTINGS, StageKind
from referee.harness.common.errors import UsageError

Owned = records.Seal | records.Head
Rounds = dict[tuple[int, bytes], list[str]]
"""The paths of entries, by a round and what they say is its signature."""
REWRITTEN = "somebody rewrote it; keep your clone, and tell others"


def problems(ladder: Ladder, old: str | None = None) -> Iterator[str]:
    """Yields what is wrong with the files of a ladder. `old`: a commit that somebody has seen before."""
    yield from changed_history(ladder, old)
    yield from _wrong_times(ladder)
    yield from _gaps(ladder)
    yield from _wrong_claims(ladder)
    yield from _wrong_entries(ladder)
    yield from _wrong_strikes(ladder)


def changed_history(ladder: Ladder, old: str | None) -> Iterator[str]:
    """Yields files that were handed in and changed later, in the history or since a commit that somebody has seen."""
    changes = {path for merge in ladder.merges for status, path in merge.changes if status != ADDED}
    for path in sorted(path for path in changes if path.split("/")[0] in records.ENTRIES):
        yield f"{path} was changed or removed after it was handed in; nothing in that folder ever changes"
    if old is not None:
        yield from changed_since(ladder, old)


def changed_since(ladder: Ladder, old: str) -> Iterator[str]:
    """Yields what a ladder has lost of a commit that somebody has seen."""
    compare = ("diff-tree", "-r", "--no-renames", "--diff-filter=MDT", "--name-only", "-z", old, ladder.commit)
    for path in sorted({*ladder.repository.text(*compare, "--", *records.ENTRIES).split("\0")} - {""}):
        yield f"{path} is not what it was in {old[:12]}: {REWRITTEN}"
    if old not in ladder.history:
        yield f"commit {old[:12]} is not in the history any more, which may have other dates: {REWRITTEN}"


def _wrong_times(ladder: Ladder) -> Iterator[str]:
    """Yields merges that are dated before an earlier one: a claim could be merged after its round was known."""
    last = 0
    for merge in ladder.merges:
        if merge.has_entries:
            if merge.at <= last:
                yield f"merge {merge.commit[:12]} is dated {merge.at}, and an earlier one {last}: somebody chose that"
            last = max(last, merge.at)


def _gaps(ladder: Ladder) -> Iterator[str]:
    for runner, hashes in sorted(ladder.chain.of_runner.items()):
        numbers = [ladder.chain.claims[hash].number for hash in hashes]
        if numbers != [*range(1, len(numbers) + 1)]:
            yield f"the claims of {runner} have gaps: {', '.join(map(str, numbers[:20]))}"


def _wrong_signature(ladder: Ladder, runner: str, owner: str, content: bytes, path: str) -> Iterator[str]:
    if why := change.signature_problem(ladder, runner, owner, *records.parted(content, path)):
        yield f"{path}: {why}"


def _wrong_claims(ladder: Ladder) -> Iterator[str]:
    chain = ladder.chain
    known, lapses = _known(ladder), dict[str, list[int]]()
    commits = {path: merge.commit for merge in ladder.merges for status, path in merge.changes if status == ADDED}
    for file, content in ladder.files(CLAIMS):
        claim, signed, _ = records.read_claim(content, file.path)
        yield from _wrong_signature(ladder, claim.runner, claim.owner, content, file.path)
        at = chain.merged[records.hash_of(signed)]
        if file.path not in commits:
            yield f"{file.path}: no commit of the ladder's branch has added it"
            continue
        if claim.owner not in lapses:
            lapses[claim.owner] = chain.lapses(claim.owner, chain.now)
        if why := change.claim_problem(ladder, claim, known(commits[file.path]), at, lapses[claim.owner]):
            yield f"{file.path}: {why}"


def _known(ladder: Ladder) -> Callable[[str], set[tuple[str, str]]]:
    """Returns what says which bots and rules the last commits before one had."""
    repository = ladder.repository
    order = {commit: place for place, commit in enumerate(reversed(ladder.history))}
    words = ("rev-list", "--first-parent", "--reverse", ladder.commit)
    changes = repository.text(*words, "--", BOTS, SETTINGS).split()
    places = [order[commit] for commit in changes]
    ids = [(repository.id_of(commit, BOTS), repository.id_of(commit, SETTINGS)) for commit in changes]

    def known(commit: str) -> set[tuple[str, str]]:
        end = bisect.bisect_left(places, order[commit])
        return {*ids[max(0, bisect.bisect_right(places, order[commit] - change.STALE) - 1) : end]}

    return known


# Seals and batches.


def _wrong_entries(ladder: Ladder) -> Iterator[str]:
    """Yields seals and batches that cannot be right."""
    chain, stages = ladder.chain, dict[str, list[Stage]]()

    def stage_of(entry: Owned, kinds: Sequence[StageKind]) -> Stage | None:
        if entry.claim not in chain.claims:
            return None
        if entry.claim not in stages:
            stages.clear()  # entries of a claim come one after the other
            stages[entry.claim] = chain.stages(entry.claim, chain.now)
        mine = (each for each in stages[entry.claim] if each.kind in kinds and entry.owner in each.owners)
        return next(mine, None)

    rounds: Rounds = {}
    for file, content in ladder.files(SEALS):
        seal = records.read_seal(content, file.path)[0]
        yield from _wrong_signature(ladder, seal.runner, seal.owner, content, file.path)
        stage, first = stage_of(seal, [StageKind.SEAL]), chain.seals[seal.claim][seal.owner]
        if first.seal != seal:
            yield f"{file.path}: {seal.owner} has handed this in already"
            continue
        yield from _wrong_entry(ladder, seal, stage, first.at, file.path, records.seal_path, rounds)
    others, last = dict[str, Sequence[bytes]](), ""
    for file, content in ladder.files(GAMES, None):
        batch = records.read_batch(content, file.path)
        yield from _wrong_signature(ladder, batch.head.runner, batch.head.owner, content, file.path)
        stage = stage_of(batch.head, [StageKind.PLAY, StageKind.SAMPLE, StageKind.OPEN])
        result = chain.results[batch.head.claim][batch.head.owner]
        if result.hash != batch.hash:
            yield f"{file.path}: {batch.head.owner} has handed this in already"
            continue
        yield from _wrong_entry(ladder, batch.head, stage, result.at, file.path, records.batch_path, rounds)
        if stage is None:
            continue
        try:
            change.check_batch(ladder, batch, chain.claims[batch.head.claim], stage, file.path)
            if stage.kind is StageKind.OPEN and change.opens_otherwise(ladder, batch):
                yield f"{file.path}: it is not what its runner has sealed"
            others = others if batch.head.claim == last else {}
            last = batch.head.claim
            if why := copy_problem(batch, others):
                yield f"{file.path}: {why}"
            others[batch.head.owner] = batch.lines
        except (change.Refused, UsageError) as error:
            yield str(error)
    for wrong in ladder.beacon.wrong([*rounds]):
        yield from (f"{path}: what it says of round {wrong[0]} of the beacon is not signed" for path in rounds[wrong])


def _wrong_entry(
    ladder: Ladder,
    entry: Owned,
    stage: Stage | None,
    at: int,
    path: str,
    place: Callable[[records.Claim, str], str],
    rounds: Rounds,
) -> Iterator[str]:
    """Yields why an entry does not belong to a stage. Its signatures of the beacon, still to be checked, are added."""
    claim, beacon = ladder.chain.claims.get(entry.claim), ladder.beacon
    if claim is None:
        yield f"{path}: its claim {entry.claim[:12]} is missing"
    elif path != place(claim, entry.runner):
        yield f"{path}: expected {place(claim, entry.runner)}"
    elif stage is None:
        yield f"{path}: the beacon has not drawn {entry.owner} for this"
    elif not stage.begin <= at <= stage.due:
        yield f"{path}: it was merged at {at}; expected {stage.begin} to {stage.due}"
    elif stage.kind is not StageKind.OPEN:
        signatures = tuple(map(bytes.fromhex, entry.signatures))
        for pair in zip(stage.rounds, signatures, strict=False):
            rounds.setdefault(pair, []).append(path)
        if signatures != stage.signatures:
            expected = ", ".join(map(str, stage.rounds))
            yield f"{path}: its signatures are not those of the rounds {expected} of the beacon"
        elif at < beacon.time_of(stage.rounds[-1]):
            yield f"{path}: it was merged before round {stage.rounds[-1]} was out; somebody chose the date of a merge"


def _wrong_strikes(ladder: Ladder) -> Iterator[str]:
    for path, (owner, strike) in ladder.strikes.items():
        try:
            if isinstance(strike, Strike):
                change.accused(ladder, strike, path)
                continue
            content = next(ladder.repository.read([f"{ladder.commit}:{path}"]))
            yield from _wrong_signature(ladder, strike.head.runner, owner, content, path)
            if owner not in ladder.chain.seals.get(strike.head.claim, {}) or not change.opens_otherwise(ladder, strike):
                yield f"{path}: it is what {owner} has sealed, so that it strikes nobody"
        except (change.Refused, UsageError) as error:
            yield f"{path}: {str(error).removeprefix(f'{path}: ')}"


# Games.


def drawn_games(ladder: Ladder, share: float, luck: Callable[[], float]) -> Iterator[tuple[str, str, dict[int, int]]]:
    """Yields batches of modules by claim and owner, with drawn games: their places in the claim and in the batch."""
    chain = ladder.chain
    for hash in sorted(chain.results):
        if hash in chain.claims and not ladder.is_sealed(chain.claims[hash]):
            for stage in chain.stages(hash, chain.now):
                places = ladder.places(hash, stage)
                for owner in stage.owners:
                    drawn = {place: at for at, place in enumerate(places) if luck() < share}
                    if drawn and owner in chain.results[hash]:
                        yield hash, owner, drawn


async def play_again(
    ladder: Ladder, share: float, luck: Callable[[], float], opened: Opened, progress: Callable[[str], None]
) -> tuple[int, list[tuple[str, Strike]], list[str]]:
    """Plays a share of the games of modules again.

    Returns their number, a strike for each batch that lies, and what says why other games were not played.
    """
    count, strikes, left = 0, [], dict[str, str]()
    for hash, owner, places in drawn_games(ladder, share, luck):
        claim, result = ladder.chain.claims[hash], ladder.chain.results[hash][owner]
        if claim.rules not in left:
            left[claim.rules] = _why_not(ladder, ladder.rules_of(claim.rules))
        if left[claim.rules]:
            continue
        lines = records.batch_lines(next(ladder.repository.read([result.blob])))
        said = {place: lines[at] for place, at in places.items()}
        wrong = await differences(ladder, hash, said, opened, progress)
        count += len(places)
        for place, played in list(wrong.items())[:1]:
            what = words_of(ladder, hash, place, said[place], played)
            line, truth = said[place].decode(), records.game_line(played).decode()
            strike = Strike(records.FORMAT, result.hash, places[place], line, truth)
            strikes.append((f"{result.head.runner}, claim {claim.number} of {claim.runner}: {what}", strike))
    return count, strikes, sorted({why for why in left.values() if why})


async def false_strikes(ladder: Ladder, opened: Opened, progress: Callable[[str], None]) -> list[str]:
    """Plays the games of strikes again. Returns what is wrong with those whose batch was right."""
    found = []
    for path, (_, strike) in ladder.strikes.items():
        try:
            if isinstance(strike, Strike):
                about = change.accused(ladder, strike, path)
                if not _why_not(ladder, ladder.rules_of(about.claim.rules)):
                    await convict(ladder, about, opened, progress)
        except change.Refused as refused:
            found.append(f"{path}: {refused}")
    return found


def _why_not(ladder: Ladder, rules: records.Settings) -> str:
    """Returns why games of older settings cannot be played again here; empty if they can."""
    why = ladder.other_version(rules)
    try:
        check_versions(rules)
    except UsageError as error:
        why = str(error)
    return why and f"{why}; they were not played again"


def strike_files(strikes: Sequence[tuple[str, Strike]]) -> Iterator[tuple[str, bytes]]:
    """Yields the files of strikes with their paths."""
    for _, strike in strikes:
        yield strike_path(strike.batch), msgspec.json.encode(strike) + b"\n"
