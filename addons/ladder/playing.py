"""The steps of a volunteer's machine: claim games, play and seal them, open the seal. It keeps its sealed results."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from referee.addons.ladder import names, records
from referee.addons.ladder import replays as packs
from referee.addons.ladder.beacon import next_round
from referee.addons.ladder.chain import Stage
from referee.addons.ladder.change import Claimed, Errand, check_change
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.games import Played, check_versions, played_by
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import Claim, StageKind
from referee.addons.tournament.intake.objects import Repository
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.paths import read_limited, replace_file
from referee.protocol.text import counted

BRANCH = "ladder"
"""The first part of the names of branches."""
PUSHED = "refs/referee/pushed"
"""Where a clone remembers what it has pushed, by the name of the branch."""
SALT_BYTES = 32


class Step(Struct, frozen=True):
    """A commit that a runner hands in."""

    commit: str
    branch: str
    words: str
    due: int
    """When it has to be merged at the latest, in seconds since 1970."""


class Task(Struct, frozen=True):
    """The part of a runner in a claim."""

    hash: str
    claim: Claim
    stage: Stage
    ready: int
    """From when on it can be done, in seconds since 1970."""

    @property
    def name(self) -> str:
        """Returns the claim in words."""
        return f"claim {self.claim.number} of {self.claim.runner}"


def runner_file(runner: str, key: SigningKey, owner: str) -> dict[str, bytes]:
    """Returns the file of a new runner by its path. UsageError for an owner that is no login."""
    names.check("--owner", owner)
    return {f"{records.RUNNERS}/{runner}.toml": f'key = "{key.public}"\nowner = "{owner}"\n'.encode()}


def check_runner(ladder: Ladder, runner: str, key: SigningKey) -> str:
    """Returns the owner of a runner. UsageError if the ladder does not know it by this key."""
    known = ladder.runners.get(runner)
    if known is None or known.key != key.public:
        what = f"does not know the runner {runner}" if known is None else f"has another key of the runner {runner}"
        text = runner_file(runner, key, "LOGIN")[f"{records.RUNNERS}/{runner}.toml"].decode().replace("\n", "  ")
        raise UsageError(f"the ladder {what}; a maintainer adds {records.RUNNERS}/{runner}.toml:  {text}")
    return records.same_owner(known.owner)


def tasks(ladder: Ladder, owner: str, now: int) -> list[Task]:
    """Returns the tasks of an owner, ordered by when they are due."""
    chain, found = ladder.chain, []
    is_struck = chain.is_struck(owner, max(now, chain.now))  # the time of its strike may be ahead of the clock
    for hash, claim in chain.claims.items():
        stage = chain.task(hash, owner, now)
        if stage is not None and not (stage.kind is StageKind.OPEN and is_struck):
            waits = stage.kind is not StageKind.OPEN
            found.append(Task(hash, claim, stage, chain.beacon.time_of(stage.rounds[-1]) if waits else stage.begin))
    return sorted(found, key=lambda each: (each.stage.due, each.hash))


def next_draw(ladder: Ladder, now: int) -> int | None:
    """Returns when the beacon draws owners for a claim next; None if no claim waits for that."""
    chain = ladder.chain
    last = [chain.stages(hash, now)[-1] for hash in chain.claims]
    times = [chain.beacon.time_of(stage.rounds[-1]) for stage in last if not stage.is_drawn]
    return min((at for at in times if at > now), default=None)


def claim(ladder: Ladder, runner: str, key: SigningKey, games: int, now: float | None = None) -> Step:
    """Returns a commit with the runner's next claim. UsageError if it may not claim. `now`: seconds since 1970."""
    ladder.check_rules()
    check_versions(ladder.settings)
    at = int(time.time() if now is None else now)
    chain, settings, owner = ladder.chain, ladder.settings, records.same_owner(ladder.runners[runner].owner)
    if why := chain.refusal(runner, owner, settings, at + 1, chain.lapses(owner, at)):
        raise UsageError(why)
    if len(ladder.bots) < ladder.seats:
        raise UsageError(
            f"the ladder has {counted(len(ladder.bots), 'bot')}; a game takes {ladder.seats}: enter another"
        )
    seats = ladder.seats
    made = Claim(
        claim=records.FORMAT,
        runner=runner,
        owner=owner,
        number=len(chain.of_runner.get(runner, ())) + 1,
        bots=ladder.bots_id,
        rules=ladder.settings_id,
        games=max(seats, min(games, settings.games) // seats * seats),
        at=at,
        round=next_round(ladder.beacon, at, settings.ahead) if ladder.beacon.names_rounds else 0,
    )
    signed = records.line_of(made) + b"\n"
    files = {records.claim_path(runner, made.number): records.signed_file(signed, key.sign(signed))}
    words = _words_of(made)
    return _claim_step(ladder, made, commit_files(ladder.repository, ladder.commit, files, words))


def _words_of(claim: Claim) -> str:
    return f"Claim {claim.number} of {claim.runner}: {claim.games} games"


def _claim_step(ladder: Ladder, claim: Claim, commit: str) -> Step:
    due = ladder.beacon.time_of(claim.round) if claim.round else claim.at + records.CLOCK_SLACK_S
    return Step(commit, _claim_branch(claim.runner, claim.number), _words_of(claim), due)


def _claim_branch(runner: str, number: int) -> str:
    return f"{BRANCH}/{runner}-{number:06}-claim"


# What a runner has pushed, in references of git.


def pushed(repository: Repository, base: str, branch: str, now: float) -> tuple[str, Errand] | None:
    """Returns the commit that this clone has pushed as a branch, if it can still be merged into the ladder's commit."""
    commit = repository.text("for-each-ref", "--format=%(objectname)", f"{PUSHED}/{branch}")
    if not commit:
        return None
    with suppress(RunError):
        return commit, check_change(repository, base, commit, "", now)[1]
    return None


def keep_pushed(repository: Repository, commit: str, branch: str) -> None:
    """Remembers what was pushed as a branch."""
    repository.run("update-ref", f"{PUSHED}/{branch}", commit)


def pushed_claim(ladder: Ladder, runner: str, now: float) -> Step | None:
    """Returns the next claim of a runner if it was pushed and can still be merged; else None."""
    number = len(ladder.chain.of_runner.get(runner, ())) + 1
    match pushed(ladder.repository, ladder.commit, _claim_branch(runner, number), now):
        case commit, Claimed(claim):
            return _claim_step(ladder, claim, commit)
    return None


def adds_the_same(repository: Repository, one: str, other: str) -> bool:
    """Whether two commits, made on top of a ladder, hand in the same file."""
    return repository.text("diff-tree", "-r", f"{one}^", one) == repository.text("diff-tree", "-r", f"{other}^", other)


# What a runner keeps, in the folder of git, from the seal until it is opened.


class Kept(Struct, frozen=True):
    """The games of a claim that a runner has played."""

    batch: bytes
    """The file that hands them in, or opens the seal."""
    seal: bytes
    """The file of the seal; empty for games of modules."""
    pack: bytes
    """The replays."""


def home(repository: Repository, hash: str, runner: str) -> Path:
    """Returns the folder in which a runner keeps the games of a claim."""
    return Path(repository.text("rev-parse", "--absolute-git-dir"), "referee", runner, hash)


def kept(repository: Repository, hash: str, runner: str) -> Kept | None:
    """Returns what a runner has kept of a claim; None if it has not played it."""
    folder = home(repository, hash, runner)
    try:
        return Kept(*(read_limited(folder / name, packs.MOST_PACKED) for name in ("batch", "seal", "pack")))
    except OSError:
        return None


def has_sealed(ladder: Ladder, task: Task, runner: str, made: Kept) -> bool:
    """Whether the seal in the ladder is that of these games. Another clone of this runner may have played them too."""
    ((_, seal),) = ladder.repository.find([f"{ladder.commit}:{records.seal_path(task.claim, runner)}"])
    return seal == made.seal


def batch_hash(made: Kept) -> str:
    """Returns the name of a batch."""
    return records.hash_of(records.parted(made.batch, "the batch")[0])


def keep(
    repository: Repository, task: Task, runner: str, owner: str, key: SigningKey, played: Mapping[int, Played]
) -> Kept:
    """Keeps the games of a claim that were played, and signs them."""
    lines = [records.game_line(played[place].line) for place in sorted(played)]
    made = sign(task, runner, owner, key, lines, os.urandom(SALT_BYTES), packs.packed(dict(played)))
    folder = home(repository, task.hash, runner)
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("batch", "seal", "pack"):
            replace_file(folder / name, getattr(made, name))
    return made


def sign(task: Task, runner: str, owner: str, key: SigningKey, lines: list[bytes], salt: bytes, pack: bytes) -> Kept:
    """Returns the files that hand in games: a batch alone, or a seal with what opens it."""
    is_sealed = task.stage.kind is StageKind.SEAL
    signatures = tuple(each.hex() for each in task.stage.signatures)
    head = records.Head(
        batch=records.FORMAT,
        runner=runner,
        owner=owner,
        claim=task.hash,
        signatures=() if is_sealed else signatures,
        salt=salt.hex() if is_sealed else "",
        courses=records.courses_of(lines),
        played=played_by(),
    )
    signed = records.batch_text(head, lines)
    batch, seal = records.signed_file(signed, key.sign(signed)), b""
    if is_sealed:
        root = records.root_of(salt, runner, lines)
        signed = records.line_of(records.Seal(records.FORMAT, runner, owner, task.hash, root, signatures)) + b"\n"
        seal = records.signed_file(signed, key.sign(signed))
    return Kept(batch, seal, pack)


def step(ladder: Ladder, task: Task, runner: str, made: Kept) -> Step:
    """Returns a commit that hands in what a task asks for, on top of the ladder as it is now."""
    own, other = f"{runner}-{task.claim.number:06}", f"{runner}-{task.claim.runner}-{task.claim.number:06}"
    branch = f"{BRANCH}/{own if runner == task.claim.runner else other}"
    if task.stage.kind is StageKind.SEAL:
        files, end = {records.seal_path(task.claim, runner): made.seal}, "seal"
        words = f"Seal of {runner}: {counted(task.claim.games, 'game')} of {task.name}"
    else:
        files, end = {records.batch_path(task.claim, runner): made.batch}, "games"
        words = f"{counted(len(made.batch.splitlines()) - 2, 'game')} of {runner}: {task.name}"
    commit = commit_files(ladder.repository, ladder.commit, files, words)
    return Step(commit, f"{branch}-{end}", words, task.stage.due)
