"""Merges a change that `check_change` has accepted: what it may change, and nothing else of it."""

import os
import time

from referee.addons.ladder.change import (
    Accused,
    BotChange,
    Claimed,
    Errand,
    HandedIn,
    Noted,
    SealedGames,
    merge_time,
    words_of,
)
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.reading import BEACON_LINE, Ladder, opening_path, strike_path
from referee.addons.ladder.records import BOTS, batch_path, claim_path, seal_path

LUCK_BYTES = 32


def merge_of(ladder: Ladder, errand: Errand, head: str, now: float | None = None) -> str:
    """Returns the commit that merges `head` into the ladder's commit. `now`: seconds since 1970."""
    repository = ladder.repository
    at = merge_time(ladder, time.time() if now is None else now)
    words = words_of(errand).partition(";")[0]
    words = words[0].upper() + words[1:]
    if not ladder.beacon.names_rounds:
        words += f"\n\n{BEACON_LINE}: {os.urandom(LUCK_BYTES).hex()}\n"
    if isinstance(errand, BotChange):
        folder = f"{BOTS}/{errand.name}", errand.tree
        return commit_files(repository, ladder.commit, {}, words, folder=folder, merged=head, at=at)
    path, place = _places(errand)
    content = next(repository.read([repository.id_of(head, path)]))
    return commit_files(repository, ladder.commit, {place: content}, words, merged=head, at=at)


def _places(errand: Claimed | SealedGames | HandedIn | Accused | Noted) -> tuple[str, str]:
    """Returns the path of what a change adds, and where it is merged."""
    match errand:
        case Claimed(claim):
            path = claim_path(claim.runner, claim.number)
        case SealedGames(seal, claim):
            path = seal_path(claim, seal.runner)
        case HandedIn(batch=batch, claim=claim):
            path = batch_path(claim, batch.head.runner)
            if errand.is_lie:
                return path, opening_path(claim, batch.head.runner)
        case Accused(strike):
            path = strike_path(strike.batch)
        case Noted(path=path):
            pass
    return path, path
