"""Merges a change that `check_change` has accepted: what it may change, and nothing else of it."""

import os
import time

from referee.addons.ladder.change import Accused, BotChange, Claimed, Errand, HandedIn, Noted, SealedGames, merge_time
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.reading import BEACON_LINE, Ladder, opening_path, strike_path
from referee.addons.ladder.records import BOTS, batch_path, claim_path, seal_path

LUCK_BYTES = 32


def merge_of(ladder: Ladder, errand: Errand, head: str, now: float | None = None) -> str:
    """Returns the commit that merges `head` into the ladder's commit. `now`: seconds since 1970."""
    repository = ladder.repository
    at = merge_time(ladder, time.time() if now is None else now)
    luck = "" if ladder.beacon.names_rounds else f"\n\n{BEACON_LINE}: {os.urandom(LUCK_BYTES).hex()}\n"
    if isinstance(errand, BotChange):
        words = f"Bot {errand.name}" if errand.tree else f"Bot {errand.name} leaves"
        folder = f"{BOTS}/{errand.name}", errand.tree
        return commit_files(repository, ladder.commit, {}, words + luck, folder=folder, merged=head, at=at)
    path, words = _entry(ladder, errand)
    content = next(repository.read([repository.id_of(head, path)]))
    if isinstance(errand, HandedIn) and errand.is_lie:
        path = opening_path(errand.claim, errand.batch.head.runner)
    return commit_files(repository, ladder.commit, {path: content}, words + luck, merged=head, at=at)


def _entry(ladder: Ladder, errand: Claimed | SealedGames | HandedIn | Accused | Noted) -> tuple[str, str]:
    """Returns the path of what a change adds, and the first line of its commit."""
    match errand:
        case Claimed(claim):
            return claim_path(claim.runner, claim.number), f"Claim: {claim.runner}, claim {claim.number}"
        case SealedGames(seal, claim):
            return seal_path(claim, seal.runner), f"Seal: {seal.runner}, claim {claim.number} of {claim.runner}"
        case HandedIn(batch=batch, claim=claim):
            words = f"Games: {batch.head.runner}, claim {claim.number} of {claim.runner}"
            return batch_path(claim, batch.head.runner), words
        case Accused(strike, head, _):
            return strike_path(strike.batch), f"Strike: {head.runner}"
        case Noted(checkpoint, path):
            return path, f"Checkpoint: {checkpoint.witness}"
