"""The two steps of a volunteer: claim games, and hand in their results."""

import time
from collections.abc import Sequence
from importlib import metadata

from msgspec import Struct

from referee.addons.ladder import names
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.draw import due
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import (
    RUNNERS,
    Claim,
    Head,
    Part,
    batch_path,
    batch_text,
    claim_path,
    courses_of,
    line_of,
    same_owner,
    signed_file,
)
from referee.harness.common.errors import UsageError
from referee.harness.common.installed import version

BRANCH = "ladder"
"""The first part of the names of branches."""


class Step(Struct, frozen=True):
    """A commit that a runner hands in."""

    commit: str
    branch: str
    words: str


def runner_file(runner: str, key: SigningKey, owner: str) -> dict[str, bytes]:
    """Returns the file of a new runner by its path. UsageError for an owner that is no login."""
    names.check("--owner", owner)
    return {f"{RUNNERS}/{runner}.toml": f'key = "{key.public}"\nowner = "{owner}"\n'.encode()}


def check_runner(ladder: Ladder, runner: str, key: SigningKey) -> None:
    """UsageError if the ladder does not know a runner by this key."""
    known = ladder.runners.get(runner)
    if known is None or known.key != key.public:
        what = f"does not know the runner {runner}" if known is None else f"has another key of the runner {runner}"
        text = runner_file(runner, key, "LOGIN")[f"{RUNNERS}/{runner}.toml"].decode().replace("\n", "  ")
        raise UsageError(f"the ladder {what}; a maintainer adds {RUNNERS}/{runner}.toml:  {text}")


def open_claim(ladder: Ladder, runner: str, now: float | None = None) -> str | None:
    """Returns the hash of the runner's oldest claim whose games can still be handed in."""
    chain, now = ladder.chain, time.time() if now is None else now
    for hash in chain.of_runner.get(runner, ()):
        rules = ladder.rules_of(chain.claims[hash].rules)
        if chain.is_open(hash, rules) and now < chain.deadline(hash, rules):
            return hash
    return None


def claim(ladder: Ladder, runner: str, key: SigningKey, games: int, now: float | None = None) -> Step:
    """Returns a commit with the runner's next claim. UsageError if it may not claim. `now`: seconds since 1970."""
    ladder.check_rules()
    chain, settings, owner = ladder.chain, ladder.settings, ladder.runners[runner].owner
    if why := chain.refusal(runner, settings):
        raise UsageError(why)
    need = due(chain, runner, same_owner(owner), settings, ladder.natures_at(ladder.bots_id), ladder.struck)
    seats = ladder.seats
    count = max(seats, min(games, settings.games) // seats * seats)
    made = Claim(
        claim=1,
        runner=runner,
        owner=owner,
        number=len(chain.of_runner.get(runner, ())) + 1,
        after=chain.tips(),
        bots=ladder.bots_id,
        rules=ladder.settings_id,
        games=count if need is None else 0,
        part=Part.NEW if need is None else need.part,
        of="" if need is None else need.of,
        at=int(time.time() if now is None else now),
    )
    if need is None:
        ladder.games_of(made)  # UsageError if there are too few bots
    signed = line_of(made) + b"\n"
    path = claim_path(runner, made.number)
    words = f"Claim {made.number} of {runner}: {_what(made)}"
    commit = commit_files(ladder.repository, ladder.commit, {path: signed_file(signed, key.sign(signed))}, words)
    return Step(commit, f"{BRANCH}/{runner}-{made.number:06}-claim", words)


def _what(claim: Claim) -> str:
    """Says what a claim is about."""
    if claim.part is Part.NEW:
        return f"{claim.games} new games"
    return "games of another runner again" if claim.part is Part.AGAIN else "a sample of another runner's games"


def batch(ladder: Ladder, hash: str, key: SigningKey, lines: Sequence[bytes], now: float | None = None) -> Step:
    """Returns a commit with the games of a claim, on top of the ladder as it is now."""
    claimed = ladder.chain.claims[hash]
    head = Head(
        batch=1,
        runner=claimed.runner,
        number=claimed.number,
        claim=hash,
        after=ladder.chain.tips(),
        at=int(time.time() if now is None else now),
        courses=courses_of(lines),
        referee=played_by(),
    )
    signed = batch_text(head, lines)
    files = {batch_path(claimed.runner, claimed.number): signed_file(signed, key.sign(signed))}
    words = f"{len(lines)} games of {claimed.runner}, claim {claimed.number}"
    commit = commit_files(ladder.repository, ladder.commit, files, words)
    return Step(commit, f"{BRANCH}/{claimed.runner}-{claimed.number:06}-games", words)


def played_by() -> str:
    """Returns the versions of the referee and of the engine of modules."""
    try:
        return f"referee {version()}, wasmtime {metadata.version('wasmtime')}"
    except metadata.PackageNotFoundError:
        return f"referee {version()}"
