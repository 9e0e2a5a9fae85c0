"""Who may change what: decides about a pull request from git's objects. Nothing of it is run here.

`check_change` refuses everything that is wrong without a game. It returns the rest as an errand: a bot to check, or
games of modules to play again, in the sandbox.
"""

import time
from collections.abc import Sequence, Set

from msgspec import Struct

from referee.addons.ladder import draw, names
from referee.addons.ladder.addresses import address_problem
from referee.addons.ladder.chain import Chain
from referee.addons.ladder.draw import due, is_of_modules
from referee.addons.ladder.keys import signature_is_right
from referee.addons.ladder.reading import MOST_SMALL, Ladder, Strike, bot_file, is_module, read_strike
from referee.addons.ladder.records import (
    BOTS,
    CLAIMS,
    CLOCK_SLACK_S,
    GAMES,
    NAME,
    SETTINGS,
    STRIKES,
    Batch,
    Claim,
    Part,
    are_lines,
    are_ranks,
    batch_lines,
    courses_of,
    hash_of,
    read_batch,
    read_claim,
    read_game,
    same_owner,
)
from referee.addons.tournament.intake.objects import FILE, LINK, MOST_FILE_BYTES, PROGRAM, Change, Repository, TreeEntry
from referee.harness.common.errors import RunError, UsageError
from referee.harness.programs.bot_file import MAX_BYTES, BotFile
from referee.harness.programs.build import BOT_FILE
from referee.protocol.text import counted

MOST_CHANGES = 2_000
"""The most files that a change may touch."""
STALE = 64
"""A claim may have been made so many merges ago. A runner could otherwise look for a head that draws games it likes."""
WAIT_S = 86_400
"""How long a signed file may wait until it is merged. Otherwise a runner could hold games back and date them back."""
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
    git: str = ""
    """The address of the repository with its files; empty if they are in its folder."""
    commit: str = ""

    @property
    def version(self) -> draw.BotVersion:
        """The version to check."""
        return draw.BotVersion(self.name, self.tree, False, False, self.git, self.commit)


class Claimed(Struct, frozen=True):
    """A claim that may be merged at once."""

    claim: Claim
    hash: str


class HandedIn(Struct, frozen=True):
    """A batch whose games of modules have to be played again: all, or none if a sample is drawn later."""

    batch: Batch
    claim: Claim
    places: tuple[int, ...]
    """Of the games to play again, in the batch."""
    games: int


class Accused(Struct, frozen=True):
    """A strike whose game has to be played again."""

    strike: Strike
    claim: Claim


Errand = BotChange | Claimed | HandedIn | Accused


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
        raise Refused(f"the pull request touches {parts}; make one for each: one bot, one claim or one batch")
    (kind,) = owned
    if kind.startswith(f"{BOTS}/"):
        return _bot(ladder, head, kind.removeprefix(f"{BOTS}/"), author)
    if len(changes) > 1:
        raise Refused(f"the pull request adds {counted(len(changes), 'file')} to {kind}; add one at a time")
    (change,) = changes
    content = next(ladder.repository.read([change.id], MOST_FILE_BYTES if kind == GAMES else MOST_SMALL))
    if ladder.repository.id_of(ladder.commit, change.path):
        raise Refused(f"{change.path} is in the ladder already; fetch it, then `referee ladder play` again")
    if kind == CLAIMS:
        return _claim(ladder, content, change.path, now)
    if kind == GAMES:
        return _batch(ladder, content, change.path, now)
    return _strike(ladder, content, change.path)


def _kind_of(change: Change) -> str:
    """Returns the part of the ladder that a change belongs to. Refused if no pull request may touch it."""
    first, _, rest = change.path.partition("/")
    if first in (CLAIMS, GAMES, STRIKES) and rest:
        if change.status != "A":
            raise Refused(f"{change.path} was handed in and never changes; leave it as it is")
        if change.mode != FILE:
            raise Refused(f"{change.path}: expected a plain file; hand in what `referee ladder play` writes")
        return first
    if first == BOTS and "/" in rest:
        return f"{BOTS}/{rest.partition('/')[0]}"
    raise Refused(
        f"{change.path}: a pull request may change its own folder in {BOTS}/, or add one claim or one batch; "
        "a maintainer changes everything else"
    )


# Bots.


def _bot(ladder: Ladder, head: str, name: str, author: str) -> BotChange:
    repository, path = ladder.repository, f"{BOTS}/{name}"
    if not NAME.fullmatch(name):
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
    if bot.git is not None or bot.commit is not None:
        if why := address_problem(bot.git, bot.commit, ladder.settings.hosts):
            raise Refused(f"{path}/{BOT_FILE}: {why}")
        if [file.path for file in files] != [f"{path}/{BOT_FILE}"]:
            raise Refused(f"{path} names another repository, which has the files; leave {BOT_FILE} alone in the folder")
    same = [bot.name for bot in ladder.bots if bot.name.lower() == name.lower() and bot.name != name]
    if same:
        raise Refused(f"{path}: there is a bot {same[0]}; choose a name that differs in more than capitals")
    copies = [bot.name for bot in ladder.bots if bot.version == tree and bot.name != name]
    if copies:
        raise Refused(f"{path} is the same as {BOTS}/{copies[0]}; enter a program of your own")
    if not before:
        own = [bot.name for bot in ladder.bots if author in _described(ladder, bot.version, f"{BOTS}/{bot.name}").owner]
        if len(own) >= (most := ladder.settings.bots_per_owner):
            raise Refused(
                f"{author} has {', '.join(own)} already; an owner may have {counted(most, 'bot')}: change one"
            )
    kind = "module" if is_module(bot) else "native"
    if kind not in ladder.settings.kinds:
        why = ", since each machine builds it: hand in the module itself" if bot.build and kind == "native" else ""
        takes = " and ".join(ladder.settings.kinds)
        raise Refused(f"{path} is a {kind} program{why}; this ladder takes {takes} programs")
    return BotChange(name, tree, bot.git or "", bot.commit or "")


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


def _claim(ladder: Ladder, content: bytes, path: str, now: float) -> Claimed:
    ladder.check_rules()
    claim, signed, signature = read_claim(content, path)
    _check_signed(ladder, claim.runner, signed, signature, path)
    owner = ladder.runners[claim.runner].owner
    if claim.owner != same_owner(owner):
        raise Refused(f"{path}: runner {claim.runner} belongs to {owner}, not to {claim.owner}; claim again")
    _check_clock(claim.at, now, path)
    number = len(ladder.chain.of_runner.get(claim.runner, ())) + 1
    if claim.number != number:
        raise Refused(f"{path}: the next claim of {claim.runner} has the number {number}; claims have no gaps")
    known, commits = known_before(ladder, claim, path)
    struck = {_struck_at(ladder, commit) for commit in commits}  # a strike may have come in between
    refusals = [why for each in struck if (why := refusal_of_claim(ladder, known, each, claim, path))]
    if len(refusals) == len(struck):
        raise Refused(refusals[0])
    return Claimed(claim, hash_of(signed))


def _struck_at(ladder: Ladder, commit: str) -> frozenset[str]:
    """Returns the claims that were struck at an earlier commit."""
    ids = [ladder.repository.id_of(each, STRIKES) for each in (commit, ladder.commit)]
    return ladder.struck if ids[0] == ids[1] else Ladder(ladder.repository, commit, ladder.fields).struck


def known_before(ladder: Ladder, claim: Claim, path: str) -> tuple[Chain, list[str]]:
    """Returns the chain and the commits that a claim may have seen.

    Refused if it is none of the last merges' chains, bots and rules.
    """
    again = "fetch the ladder and claim again, with `referee ladder play`"
    try:
        hashes = ladder.chain.before(claim.after)
    except KeyError as error:
        raise Refused(f"{path} names the entry {str(error.args[0])[:12]}, which the ladder has not; {again}") from error
    missing = ladder.chain.hashes - hashes
    chain = ladder.chain.part(hashes)
    if list(claim.after) != list(chain.tips()):
        raise Refused(f"{path} names entries that others name too; {again}")
    commits = _heads_without(ladder, missing, claim) if len(missing) <= STALE else []
    if not commits:
        raise Refused(f"{path} was drawn from a head, bots or rules that are none of the last {STALE} merges; {again}")
    if claim.at < chain.now - CLOCK_SLACK_S:
        raise Refused(
            f"{path}: its clock is {chain.now - claim.at:,} s behind that of the ladder; set it and claim again"
        )
    return chain, commits


def _heads_without(ladder: Ladder, missing: Set[str], claim: Claim) -> list[str]:
    """Returns the last merges that had all entries but `missing`, with these bots and rules."""
    repository = ladder.repository
    paths = {ladder.chain.path(hash) for hash in missing}
    commits = repository.text("rev-list", "--first-parent", f"--max-count={STALE + 1}", ladder.commit).split()
    found = []
    for commit in commits:
        if (repository.id_of(commit, BOTS), repository.id_of(commit, SETTINGS)) == (claim.bots, claim.rules):
            added = repository.text("diff-tree", "-r", "--name-only", commit, ladder.commit, "--", CLAIMS, GAMES)
            if {*added.splitlines()} == paths:
                found.append(commit)
    return found


def refusal_of_claim(ladder: Ladder, known: Chain, struck: Set[str], claim: Claim, path: str) -> str:
    """Returns why a claim does not follow from what its runner knew; empty if it does: nobody chooses games."""
    rules = ladder.rules_of(claim.rules)
    number = len(known.of_runner.get(claim.runner, ())) + 1
    if claim.number != number:
        return f"{path}: at its head, the next claim of {claim.runner} has the number {number}; claims have no gaps"
    if why := known.refusal(claim.runner, rules):
        return f"{path}: {why}"
    natures = ladder.natures_at(claim.bots)
    need = due(known, claim.runner, claim.owner, rules, natures, struck & known.claims.keys())
    of, part = ("", Part.NEW) if need is None else (need.of, need.part)
    if (claim.of, claim.part) != (of, part):
        drawn = "new games" if need is None else f"{part} games of claim {of[:12]}"
        return f"{path}: the chain draws {drawn} for it; nobody chooses games: claim with `referee ladder play`"
    if part is Part.NEW and (claim.games % ladder.seats or not ladder.seats <= claim.games <= rules.games):
        games = counted(claim.games, "game")
        return f"{path}: claims {games}; expected a multiple of {ladder.seats} up to {rules.games}"
    if part is not Part.NEW and claim.games:
        return f"{path}: `games` is for new games alone; claim with `referee ladder play`"
    if part is Part.NEW:
        ladder.games_of(claim)  # UsageError if there are too few bots
    return ""


def _check_signed(ladder: Ladder, runner: str, signed: bytes, signature: bytes, path: str) -> None:
    known = ladder.runners.get(runner)
    if known is None:
        raise Refused(f"{path}: there is no runner {runner}; a maintainer adds runners/{runner}.toml")
    if not signature_is_right(known.key, signed, signature):
        raise Refused(f"{path}: it was not signed with the key of runner {runner}; only its owner hands in its games")


def _check_clock(at: int, now: float, path: str) -> None:
    if at > now + CLOCK_SLACK_S:
        raise Refused(f"{path}: its clock is {at - now:,.0f} s ahead; set it and repeat the command")
    if at < now - WAIT_S:
        raise Refused(
            f"{path}: it was signed {(now - at) / 3600:,.0f} hours ago; a file waits {WAIT_S // 3600} at most"
        )


# Batches.


def _batch(ladder: Ladder, content: bytes, path: str, now: float) -> HandedIn:
    batch = read_batch(content, path)
    head = batch.head
    claim = ladder.chain.claims.get(head.claim)
    if claim is None:
        raise Refused(f"{path}: its claim {head.claim[:12]} is not in the ladder; claim first, then play")
    if (claim.runner, claim.number) != (head.runner, head.number):
        raise Refused(f"{path}: claim {head.claim[:12]} belongs to runner {claim.runner}; a runner hands in its own")
    signed = content[: content.rstrip(b"\n").rfind(b"\n") + 1]
    _check_signed(ladder, head.runner, signed, batch.signature, path)
    _check_clock(head.at, now, path)
    check_batch(ladder, batch, claim, path)
    bots, _, games = ladder.games_of(claim)
    of_modules = [place for place, game in enumerate(games) if is_of_modules(game, bots)]
    is_whole = claim.part is Part.SAMPLE or len(of_modules) <= ladder.rules_of(claim.rules).whole
    disputed = () if is_whole else _disputed(ladder, batch, claim, of_modules)
    return HandedIn(batch, claim, tuple(of_modules) if is_whole else tuple(disputed), len(games))


def _disputed(ladder: Ladder, batch: Batch, claim: Claim, of_modules: Sequence[int]) -> list[int]:
    """Returns the games of modules in which an earlier player of the same games says something else."""
    found: set[int] = set()
    of = claim.of or batch.head.claim
    _, places, _ = ladder.games_of(claim)
    for other in (of, *ladder.chain.tasks.get(of, ())):
        result = ladder.chain.results.get(other)
        if result is None:
            continue
        lines = batch_lines(next(ladder.repository.read([result.blob])))
        _, theirs, _ = ladder.games_of(ladder.chain.claims[other])
        said = dict(zip(theirs, lines, strict=False))
        for place in of_modules:
            line = said.get(places[place])
            if line is not None and courses_of([line]) != courses_of([batch.lines[place]]):
                found.add(place)
    return sorted(found)


def check_batch(ladder: Ladder, batch: Batch, claim: Claim, path: str) -> None:
    """Refused for a batch that cannot be right, with any signature: late, incomplete, or with impossible lines."""
    head, rules = batch.head, ladder.rules_of(claim.rules)
    late_s = head.at - ladder.chain.deadline(head.claim, rules)
    if late_s > 0:
        raise Refused(f"{path}: it was handed in {late_s:,} s after its time; claim again, with `referee ladder play`")
    if head.at < claim.at - CLOCK_SLACK_S:
        raise Refused(f"{path}: it is older than its claim; set the clock, and play again")
    if unknown := [hash for hash in head.after if hash not in ladder.chain]:
        raise Refused(f"{path} names the entry {unknown[0][:12]}, which the ladder has not; fetch it and sign again")
    _, _, games = ladder.games_of(claim)
    if len(batch.lines) != len(games):
        raise Refused(
            f"{path} has {counted(len(batch.lines), 'game')}, and its claim {len(games)}: nobody keeps results back; "
            "hand in every game of the claim"
        )
    if not games or not are_lines(batch.lines, len(games[0].bots)):
        _refuse_wrong_line(batch, games, path)
    if head.courses != courses_of(batch.lines):
        raise Refused(f"{path}: `courses` does not fit its games; hand in what `referee ladder play` writes, unchanged")


def _refuse_wrong_line(batch: Batch, games: Sequence[draw.DrawnGame], path: str) -> None:
    for number, (line, game) in enumerate(zip(batch.lines, games, strict=True), 1):
        place = f"{path}: game {number}"
        read = read_game(line, place)
        seats = len(game.bots)
        if not len(read.ranks) == len(read.costs) == seats or not are_ranks(read.ranks):
            raise Refused(f"{place} is no result of {seats} bots: {line[:60].decode()!r}; play it again")
        if any(fault.seat >= seats for fault in read.faults):
            raise Refused(f"{place} has a fault of a seat that is not there; play it again")


def _strike(ladder: Ladder, content: bytes, path: str) -> Accused:
    strike = read_strike(content, path)
    claim = ladder.chain.claims.get(strike.claim)
    result = ladder.chain.results.get(strike.claim)
    if claim is None or result is None:
        raise Refused(f"{path}: the ladder has no games of claim {strike.claim[:12]}; fetch it and verify again")
    lines = batch_lines(next(ladder.repository.read([result.blob])))
    bots, _, games = ladder.games_of(claim)
    if strike.game >= len(games) or lines[strike.game].decode() != strike.said:
        raise Refused(f"{path}: game {strike.game + 1} is not what the batch says; verify again")
    if not is_of_modules(games[strike.game], bots):
        raise Refused(f"{path}: a native program plays in game {strike.game + 1}, so that it proves nothing")
    return Accused(strike, claim)
