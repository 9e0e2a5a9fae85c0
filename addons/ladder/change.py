"""Who may change what: decides about a pull request from git's objects. Nothing of it is run here.

`check_change` refuses everything that is wrong without a game. It returns the rest as an errand: a bot to check, or
games of modules to play again, in the sandbox.
"""

import time
from collections.abc import Callable, Sequence, Set

from msgspec import Struct

from referee.addons.ladder import draw, names, records
from referee.addons.ladder.beacon import next_round
from referee.addons.ladder.chain import Stage
from referee.addons.ladder.checkpoints import Checkpoint, check_checkpoint, read_checkpoint
from referee.addons.ladder.copies import copy_problem
from referee.addons.ladder.keys import signature_is_right
from referee.addons.ladder.reading import (
    MOST_SMALL,
    Ladder,
    Strike,
    bot_file,
    can_repeat,
    is_module,
    opening_path,
    read_strike,
    seats_of,
)
from referee.addons.ladder.records import BOTS, SETTINGS, Batch, Claim, Head, Seal, Settings, StageKind, told
from referee.addons.tournament.intake.objects import FILE, LINK, MOST_FILE_BYTES, PROGRAM, Change, Repository, TreeEntry
from referee.harness.common.errors import RunError, UsageError
from referee.harness.programs.bot_file import MAX_BYTES, BotFile
from referee.harness.programs.build import BOT_FILE
from referee.protocol.text import counted

MOST_CHANGES = 2_000
"""The most files that a change may touch."""
STALE = 64
"""A claim names the bots and rules of one of so many last commits."""
MOST_HISTORY = 4
"""How many times as much as a bot may hold, a pull request may bring: its history stays in the ladder."""
MEBIBYTE = 1 << 20


class Refused(RunError):
    """A change that nobody may merge, or a bot that cannot be one. The message says why and what to do."""


class BotChange(Struct, frozen=True):
    """A bot to check before it is merged."""

    name: str
    tree: str
    """The id of its folder in git; empty if it leaves the ladder."""


class Claimed(Struct, frozen=True):
    """A claim that may be merged at once."""

    claim: Claim
    hash: str


class SealedGames(Struct, frozen=True):
    """A seal that may be merged at once."""

    seal: Seal
    claim: Claim


class HandedIn(Struct, frozen=True):
    """A batch. Its replays have to be checked if native programs take part, and games of modules played again."""

    batch: Batch
    claim: Claim
    stage: Stage
    places: tuple[int, ...]
    """Of the games to play again, among its lines."""
    is_lie: bool = False
    """It opens something else than was sealed: it is kept as a strike."""


class Accused(Struct, frozen=True):
    """A strike whose game has to be played again."""

    strike: Strike
    head: Head
    claim: Claim


class Noted(Struct, frozen=True):
    """A checkpoint that may be merged at once."""

    checkpoint: Checkpoint
    path: str


Errand = BotChange | Claimed | SealedGames | HandedIn | Accused | Noted


def check_change(
    repository: Repository, base: str, head: str, author: str, now: float | None = None
) -> tuple[Ladder, Errand]:
    """Decides about the changes from `base` to `head`. Returns the ladder at the base and what is left to do.

    Refused says why a change is refused. `author`: the login of who asks for it. `now`: seconds since 1970.
    """
    base, head = repository.commit(base), repository.commit(head)
    repository.need_history()
    ladder = Ladder(repository, base)
    now = time.time() if now is None else now
    try:
        errand = _errand(ladder, head, changes_between(repository, base, head), author, now)
        _check_history(ladder, head)
        return ladder, errand
    except UsageError as error:
        raise Refused(str(error)) from error


def merge_time(ladder: Ladder, now: float) -> int:
    """Returns the time of the next merge: that of the clock, and after the one before.

    Refused if the ladder's newest entry is of the future.
    """
    if ladder.chain.now > now + records.CLOCK_SLACK_S:
        raise Refused(f"the ladder's newest merge is {ladder.chain.now - now:,.0f} s in the future; set this clock")
    return max(int(now), ladder.chain.now + 1)


def changes_between(repository: Repository, base: str, head: str) -> list[Change]:
    """Returns what a pull request changes since it left the base. Refused if it has no common history."""
    try:
        start = repository.text("merge-base", base, head)
    except RunError as error:
        raise Refused("the pull request shares no history with the ladder; make it in a clone of the ladder") from error
    changes = []
    for change in repository.changes(start, head):
        changes.append(change)
        if len(changes) > MOST_CHANGES:
            raise Refused(f"the pull request touches more than {MOST_CHANGES:,} files; divide it")
    if not changes:
        raise Refused("the pull request changes nothing")
    return changes


def _check_history(ladder: Ladder, head: str) -> None:
    """Refused for commits with far more than a bot in them, also if the last one removes it: a merge keeps them all."""
    repository = ladder.repository
    try:
        ids = repository.run("rev-list", "--objects", "--no-object-names", head, f"^{ladder.commit}")
    except RunError as error:
        raise Refused(f"the commits of the pull request cannot be read: {error}; push them again") from error
    sizes = repository.run("cat-file", "--buffer", "--batch-check=%(objectsize:disk)", given=ids)
    size, most = sum(int(each) for each in sizes.split() if each.isdigit()), MOST_HISTORY * ladder.settings.bot_bytes
    if size > most + MEBIBYTE:
        raise Refused(
            f"the commits of the pull request hold {size:,} bytes, and a merge would keep all of them; {most:,} are "
            "allowed: squash them into one commit"
        )


def _errand(ladder: Ladder, head: str, changes: Sequence[Change], author: str, now: float) -> Errand:
    owned = {_kind_of(change) for change in changes}
    if len(owned) > 1:
        parts = ", ".join(sorted(owned))
        raise Refused(f"the pull request touches {parts}; make one for each: one bot, one claim, one seal or one batch")
    (kind,) = owned
    if kind.startswith(f"{BOTS}/"):
        return _bot(ladder, head, kind.removeprefix(f"{BOTS}/"), author)
    if len(changes) > 1:
        raise Refused(f"the pull request adds {counted(len(changes), 'file')} to {kind}; add one at a time")
    (change,) = changes
    content = next(ladder.repository.read([change.id], MOST_FILE_BYTES if kind == records.GAMES else MOST_SMALL))
    if ladder.repository.id_of(ladder.commit, change.path):
        raise Refused(f"{change.path} is in the ladder already; fetch it, then `referee ladder play` again")
    read: dict[str, Callable[[Ladder, bytes, str, int], Errand]]
    read = {records.CLAIMS: _claim, records.SEALS: _seal, records.GAMES: _batch}
    if kind in read:
        return read[kind](ladder, content, change.path, merge_time(ladder, now))
    if kind == records.CHECKPOINTS:
        checkpoint, signed, signature = read_checkpoint(content, change.path)
        check_checkpoint(ladder, checkpoint, signed, signature)
        return Noted(checkpoint, change.path)
    return accused(ladder, read_strike(content, change.path), change.path)


def _kind_of(change: Change) -> str:
    """Returns the part of the ladder that a change belongs to. Refused if no pull request may touch it."""
    first, _, rest = change.path.partition("/")
    if first in records.ENTRIES and rest:
        if change.status != "A":
            raise Refused(f"{change.path} was handed in and never changes; leave it as it is")
        if change.mode != FILE:
            raise Refused(f"{change.path}: expected a plain file; hand in what `referee ladder play` writes")
        return first
    if first == BOTS and "/" in rest:
        return f"{BOTS}/{rest.partition('/')[0]}"
    raise Refused(
        f"{change.path}: a pull request may change its own folder in {BOTS}/, or add one claim, seal, batch or strike; "
        "a maintainer changes everything else"
    )


# Bots.


def _bot(ladder: Ladder, head: str, name: str, author: str) -> BotChange:
    repository, path = ladder.repository, f"{BOTS}/{name}"
    if not records.NAME.fullmatch(name):
        raise Refused(f"{path!a}: a name has 1 to 40 letters, digits, dots, dashes and underscores; rename the folder")
    before, tree = repository.id_of(ladder.commit, path), repository.id_of(head, path)
    if not before and (why := names.problem(name)):
        raise Refused(f"{path}: {why}; rename the folder")
    owners = _described(ladder, before, path).owner if before else []
    if before and author not in owners:
        raise Refused(f"{path} belongs to {', '.join(owners) or 'nobody'}, not to {author}; use a folder of your own")
    if not tree:
        return BotChange(name, "")
    files = repository.entries(head, f"{path}/", sizes=True)
    check_files(files, path, ladder.settings.bot_bytes)
    if any(file.path == f"{path}/{BOT_FILE}" and file.bytes > MAX_BYTES for file in files):
        raise Refused(f"{path}/{BOT_FILE} has more than {MAX_BYTES:,} bytes, which are allowed; shorten it")
    bot = _described(ladder, tree, path)
    if author not in bot.owner:
        raise Refused(f'{path}/{BOT_FILE}: add the line `owner = ["{author}"]`, so that you can change the bot later')
    same = [bot.name for bot in ladder.bots if bot.name.lower() == name.lower() and bot.name != name]
    if same:
        raise Refused(f"{path}: there is a bot {same[0]}; choose a name that differs in more than capitals")
    copies = [bot.name for bot in ladder.bots if bot.version == tree and bot.name != name]
    if copies:
        raise Refused(f"{path} is the same as {BOTS}/{copies[0]}; enter a program of your own")
    if bot.owner[:1] != owners[:1]:
        if bot.owner[0] != author:
            raise Refused(
                f"{path}/{BOT_FILE}: the first owner is {bot.owner[0]}, among whose bots it would count; put {author} "
                "first"
            )
        first = {bot.name: _described(ladder, bot.version, f"{BOTS}/{bot.name}").owner[:1] for bot in ladder.bots}
        own = [name for name, owner in first.items() if owner == [author]]
        if len(own) >= (most := ladder.settings.bots_per_owner):
            raise Refused(
                f"{author} has {', '.join(own)} already; an owner may have {counted(most, 'bot')}: change one"
            )
    kind = "module" if is_module(bot) else "native"
    if kind not in ladder.settings.kinds:
        why = ", since each machine builds it: hand in the module itself" if bot.build and kind == "native" else ""
        takes = " and ".join(ladder.settings.kinds)
        raise Refused(f"{path} is a {kind} program{why}; this ladder takes {takes} programs")
    if not can_repeat(bot):
        raise Refused(
            f"{path}/{BOT_FILE}: a ladder takes bots whose games everybody can repeat; draw all luck from the match's "
            "seed, limit the search by nodes instead of the clock, and add the line `deterministic = true`"
        )
    return BotChange(name, tree)


def _described(ladder: Ladder, tree: str, path: str) -> BotFile:
    """Returns the bot.toml of a bot's folder. Refused if it cannot be read."""
    (_, content), *_ = ladder.repository.find([f"{tree}:{BOT_FILE}"])
    bot = None if content is None else bot_file(content)
    if bot is None:
        raise Refused(f"{path}/{BOT_FILE} is missing or wrong; `referee check {path}` says why")
    return bot


def check_files(files: Sequence[TreeEntry], path: str, most_bytes: int) -> None:
    """Refused for files that cannot be a bot's: links, submodules, paths that lead out, too many or too large ones."""
    for file in files:
        shown = ascii(file.path)[1:-1][: names.MOST_PATH]
        if file.mode not in (FILE, PROGRAM):
            what = "a link" if file.mode == LINK else "a submodule or something else"
            raise Refused(f"{shown} is {what}; a bot has plain files alone: include the file itself")
        if why := names.problem(file.path):
            raise Refused(f"{shown}: {why}; rename the file")
    if both := names.clash(file.path for file in files):
        one, other = (ascii(each)[1:-1][: names.MOST_PATH] for each in both)
        raise Refused(f"{other}: some systems take it for {one}; rename the file")
    size = sum(file.bytes for file in files)
    if len(files) > MOST_CHANGES or size > most_bytes:
        most = f"{MOST_CHANGES:,} files and {most_bytes:,} bytes"
        raise Refused(f"{path} holds {counted(len(files), 'file')} with {size:,} bytes; {most} are allowed")


# Claims.


def _claim(ladder: Ladder, content: bytes, path: str, at: int) -> Claimed:
    ladder.check_rules()
    claim, signed, signature = records.read_claim(content, path)
    _check_signed(ladder, claim.runner, claim.owner, signed, signature, path)
    number = len(ladder.chain.of_runner.get(claim.runner, ())) + 1
    if claim.number != number:
        raise Refused(f"{path}: the next claim of {claim.runner} has the number {number}; claims have no gaps")
    repository = ladder.repository
    commits = ladder.history[:STALE]
    known = {(repository.id_of(commit, BOTS), repository.id_of(commit, SETTINGS)) for commit in commits}
    if why := claim_problem(ladder, claim, known, at, ladder.chain.lapses(claim.owner, at)):
        raise Refused(f"{path}: {why}")
    return Claimed(claim, records.hash_of(signed))


def claim_problem(
    ladder: Ladder,
    claim: Claim,
    known: Set[tuple[str, str]],
    at: int,
    lapses: Sequence[int],
) -> str:
    """Returns why a claim may not be merged at a time; empty if it may.

    `known`: the bots and rules of the last commits. `lapses`: those of its owner.
    """
    again = "claim again, with `referee ladder play`"
    if (claim.bots, claim.rules) not in known:
        return f"its bots or rules are those of none of the last {STALE} commits; {again}"
    rules, beacon = ladder.rules_of(claim.rules), ladder.beacon
    if claim.at > at + records.CLOCK_SLACK_S:
        return f"its clock is {claim.at - at:,} s ahead of that of the merge; set it and {again}"
    if not beacon.names_rounds:
        if claim.round:
            return f"it names round {claim.round}, and the merge draws its games; {again}"
        if claim.at < at - records.CLOCK_SLACK_S:
            return f"it was signed {at - claim.at:,} s before its merge; {records.CLOCK_SLACK_S} s are allowed: {again}"
    else:
        round = next_round(beacon, claim.at, rules.ahead)
        if claim.round != round:
            return f"it names round {claim.round}, and its time gives round {round}: nobody chooses games; {again}"
        if at >= beacon.time_of(round):
            return f"round {round} is out since {at - beacon.time_of(round)} s: nobody claims known games; {again}"
    seats, bots = seats_of(rules), len(ladder.fields.bots(claim.bots))
    if claim.games % seats or not seats <= claim.games <= rules.games:
        return f"claims {counted(claim.games, 'game')}; expected a multiple of {seats} up to {rules.games}"
    if bots < seats:
        return f"the ladder has {counted(bots, 'bot')}; a game takes {seats}: enter another with `referee ladder enter`"
    return ladder.chain.refusal(claim.runner, claim.owner, rules, at, lapses)


def _check_signed(ladder: Ladder, runner: str, owner: str, signed: bytes, signature: bytes, path: str) -> None:
    if why := signature_problem(ladder, runner, owner, signed, signature):
        raise Refused(f"{path}: {why}")


def signature_problem(ladder: Ladder, runner: str, owner: str, signed: bytes, signature: bytes) -> str:
    """Returns why something was not signed by a runner of an owner; empty if it was."""
    known = ladder.runners.get(runner)
    if known is None:
        return f"there is no runner {runner}; a maintainer adds runners/{runner}.toml"
    if records.same_owner(known.owner) != owner:
        return f"runner {runner} belongs to {known.owner}, not to {owner}; {SIGN_AGAIN}"
    if not signature_is_right(known.key, signed, signature):
        return f"it was not signed with the key of runner {runner}; only its owner hands in its games"
    return ""


SIGN_AGAIN = "fetch the ladder and repeat `referee ladder play`"

# Seals and batches.


def _seal(ladder: Ladder, content: bytes, path: str, at: int) -> SealedGames:
    seal, signed, signature = records.read_seal(content, path)
    claim = _claim_of(ladder, seal, path)
    _check_signed(ladder, seal.runner, seal.owner, signed, signature, path)
    if path != records.seal_path(claim, seal.runner):
        raise Refused(f"{path}: expected {records.seal_path(claim, seal.runner)}; a runner hands in its own files")
    _stage(ladder, seal, StageKind.SEAL, at, path)
    return SealedGames(seal, claim)


def _claim_of(ladder: Ladder, entry: Seal | Head, path: str) -> Claim:
    claim = ladder.chain.claims.get(entry.claim)
    if claim is None:
        raise Refused(f"{path}: its claim {entry.claim[:12]} is not in the ladder; claim first, then play")
    return claim


def _stage(ladder: Ladder, entry: Seal | Head, kind: StageKind, at: int, path: str) -> Stage:
    """Returns the stage that an entry belongs to. Refused if none asks its owner for it now."""
    chain, beacon = ladder.chain, ladder.beacon
    signatures = tuple(map(bytes.fromhex, entry.signatures))
    stages, known = chain.stages(entry.claim, at, signatures), chain.known(entry.claim)
    wrong = f"{path}: its signatures are not those of the rounds"
    if signatures[: len(known)] != known[: len(signatures)]:
        raise Refused(f"{wrong} that others have handed in; {SIGN_AGAIN}")
    for round, each in zip(stages[-1].rounds, signatures, strict=False):
        if at < beacon.time_of(round):
            raise Refused(f"{path}: round {round} of the beacon is not out yet; wait for it, then play")
        if not beacon.is_signature(round, each):
            raise Refused(f"{wrong} {stages[-1].rounds} of the beacon; {SIGN_AGAIN}")
    fitting = (StageKind.PLAY, StageKind.SAMPLE) if kind is StageKind.PLAY else (kind,)
    stage = next((each for each in reversed(stages) if entry.owner in each.owners and each.kind in fitting), None)
    if stage is None:
        raise Refused(f"{path}: the beacon has not drawn {entry.owner} for this; {SIGN_AGAIN}")
    if chain.done(entry.claim, stage.kind, entry.owner) is not None:
        raise Refused(f"{path}: {entry.owner} has handed this in already; two runners of one owner are one")
    if at > stage.due:
        raise Refused(f"{path}: it comes {at - stage.due:,} s after its time; claim again, with `referee ladder play`")
    if signatures != (() if kind is StageKind.OPEN else stage.signatures) or len(stage.signatures) < len(stage.rounds):
        raise Refused(f"{wrong} {stage.rounds} of the beacon; {SIGN_AGAIN}")
    return stage


def _batch(ladder: Ladder, content: bytes, path: str, at: int) -> HandedIn:
    batch = records.read_batch(content, path)
    head, claim = batch.head, _claim_of(ladder, batch.head, path)
    signed = content[: content.rstrip(b"\n").rfind(b"\n") + 1]
    _check_signed(ladder, head.runner, head.owner, signed, batch.signature, path)
    if path != records.batch_path(claim, head.runner):
        raise Refused(f"{path}: expected {records.batch_path(claim, head.runner)}; a runner hands in its own files")
    if ladder.repository.id_of(ladder.commit, opening_path(claim, head.runner)):
        raise Refused(f"{path}: {head.owner} has opened something else already, which is kept as a strike")
    is_sealed = ladder.is_sealed(claim)
    stage = _stage(ladder, head, StageKind.OPEN if is_sealed else StageKind.PLAY, at, path)
    check_batch(ladder, batch, claim, stage, path)
    if is_sealed:
        is_lie = opens_otherwise(ladder, batch)
        if not is_lie and (why := copy_problem(batch, ladder.lines_of(head.claim))):
            raise Refused(f"{path}: {why}")
        return HandedIn(batch, claim, stage, (), is_lie)
    if stage.kind is StageKind.SAMPLE or claim.games <= ladder.rules_of(claim.rules).whole:
        places = range(len(batch.lines))
    else:
        places = range(0)
    disputed = _disputed(ladder, batch, stage)
    return HandedIn(batch, claim, stage, tuple(sorted({*places, *disputed})))


def _disputed(ladder: Ladder, batch: Batch, stage: Stage) -> list[int]:
    """Returns the games of modules about which an earlier player of the same claim says something else."""
    places = ladder.places(batch.head.claim, stage)
    found: set[int] = set()
    for lines in ladder.lines_of(batch.head.claim).values():
        if len(lines) == ladder.chain.claims[batch.head.claim].games:
            found |= {at for at, place in enumerate(places) if told(lines[place]) != told(batch.lines[at])}
    return sorted(found)


def opens_otherwise(ladder: Ladder, batch: Batch) -> bool:
    """Whether a batch is not what its runner has sealed."""
    sealed = ladder.chain.seals[batch.head.claim][batch.head.owner].seal
    if sealed.runner != batch.head.runner:
        raise Refused(f"{sealed.runner} has sealed these games, and not {batch.head.runner}; open them with its key")
    return sealed.root != records.root_of(bytes.fromhex(batch.head.salt), batch.head.runner, batch.lines)


def check_batch(ladder: Ladder, batch: Batch, claim: Claim, stage: Stage, path: str) -> None:
    """Refused for a batch that cannot be right: by other versions, incomplete, or with impossible lines."""
    head, rules = batch.head, ladder.rules_of(claim.rules)
    if head.played != rules.versions:
        raise Refused(f"{path}: it was played by {head.played!a}; {versions_wanted(rules)}")
    if bool(head.salt) != (stage.kind is StageKind.OPEN):
        raise Refused(f"{path}: `salt` belongs to what opens a seal; {SIGN_AGAIN}")
    drawn = ladder.games_by(head.claim, claim, stage.signatures[0])[1]
    games = [drawn[place] for place in ladder.places(head.claim, stage)]
    if len(batch.lines) != len(games):
        raise Refused(
            f"{path} has {counted(len(batch.lines), 'game')}; expected {len(games)}: nobody keeps results back; "
            "hand in every game of the claim"
        )
    if not games or not records.are_lines(batch.lines, len(games[0].bots)):
        _refuse_wrong_line(batch, games, path)
    native = {place for place, bot in enumerate(ladder.fields.bots(claim.bots)) if not bot.is_module}
    if [b":" in line for line in batch.lines] != [not native.isdisjoint(game.bots) for game in games]:
        raise Refused(f"{path}: a game has times if native programs play, and a game of modules has none; {SIGN_AGAIN}")
    if head.courses != records.courses_of(batch.lines):
        raise Refused(f"{path}: `courses` does not fit its games; {SIGN_AGAIN}")


def versions_wanted(rules: Settings) -> str:
    """Says which versions a ladder's games are played by, and how to get them."""
    advice = f"; to install them: pip install '{rules.install}'" if rules.install else ""
    return f"{SETTINGS} names {rules.versions!a}{advice}"


def _refuse_wrong_line(batch: Batch, games: Sequence[draw.DrawnGame], path: str) -> None:
    for number, (line, game) in enumerate(zip(batch.lines, games, strict=True), 1):
        place = f"{path}: game {number}"
        read = records.read_game(line, place)
        seats = len(game.bots)
        if not len(read.ranks) == len(read.costs) == seats or not records.are_ranks(read.ranks):
            raise Refused(f"{place} is no result of {seats} bots: {line[:60].decode()!r}; play it again")
        if any(fault.seat >= seats for fault in read.faults):
            raise Refused(f"{place} has a fault of a seat that is not there; play it again")


def accused(ladder: Ladder, strike: Strike, path: str) -> Accused:
    """Returns what a strike is about. Refused if it is not about a game of modules in a batch of the ladder."""
    chain = ladder.chain
    result = next((own for each in chain.results.values() for own in each.values() if own.hash == strike.batch), None)
    if result is None:
        raise Refused(f"{path}: the ladder has no batch {strike.batch[:12]}; fetch it and verify again")
    claim = chain.claims[result.head.claim]
    lines = records.batch_lines(next(ladder.repository.read([result.blob])))
    if strike.game >= len(lines) or lines[strike.game].decode() != strike.said:
        raise Refused(f"{path}: game {strike.game + 1} is not what the batch says; verify again")
    if ladder.is_sealed(claim):
        raise Refused(f"{path}: native programs play in this claim, so that one machine proves nothing")
    return Accused(strike, result.head, claim)
