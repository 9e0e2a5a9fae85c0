"""Merges a change that `check_change` has accepted: what it may change, and nothing else of it."""

import os
import time

from referee.addons.ladder.change import Accused, BotChange, Claimed, Errand, HandedIn, Noted, SealedGames, merge_time
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.reading import BEACON_LINE, Ladder, opening_path, strike_path
from referee.addons.ladder.records import BOTS, batch_path, claim_path, seal_path
from referee.protocol.text import counted

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


def words_of(errand: Errand) -> str:
    """Says what a change is."""
    match errand:
        case BotChange():
            return f"bot {errand.name}" if errand.tree else f"bot {errand.name} leaves"
        case Claimed(claim):
            drawn = f"; round {claim.round} of the beacon draws its games" if claim.round else ""
            return f"claim {claim.number} of {claim.runner}{drawn}"
        case SealedGames(seal, claim):
            return f"seal of {seal.runner}, claim {claim.number} of {claim.runner}"
        case HandedIn(batch=batch, claim=claim):
            name = f"{counted(len(batch.lines), 'game')} of {batch.head.runner}, claim {claim.number} of {claim.runner}"
            if errand.is_lie:
                return f"strike against {batch.head.owner}: {name} are not what was sealed"
            return f"{name}; {counted(len(errand.places), 'game')} of modules to prove"
        case Accused(head=head):
            return f"strike against {head.owner}"
        case Noted(checkpoint):
            return f"checkpoint of {checkpoint.witness}"
