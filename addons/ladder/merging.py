"""Merges a change that `check_change` has accepted: what it may change, and nothing else of it."""

from referee.addons.ladder.change import Accused, BotChange, Claimed, Errand
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.reading import Ladder, strike_path
from referee.addons.ladder.records import BOTS, batch_path, claim_path


def merge_of(ladder: Ladder, errand: Errand, head: str) -> str:
    """Returns the commit that merges `head` into the ladder's commit."""
    repository = ladder.repository
    if isinstance(errand, BotChange):
        words = f"Bot {errand.name}" if errand.tree else f"Bot {errand.name} leaves"
        return commit_files(
            repository, ladder.commit, {}, words, folder=(f"{BOTS}/{errand.name}", errand.tree), merged=head
        )
    if isinstance(errand, Claimed):
        path, words = claim_path(errand.claim.runner, errand.claim.number), "Claim"
    elif isinstance(errand, Accused):
        path, words = strike_path(errand.strike.claim), "Strike"
    else:
        path, words = batch_path(errand.claim.runner, errand.claim.number), "Games"
    content = next(repository.read([repository.id_of(head, path)]))
    words = f"{words}: {errand.claim.runner}, claim {errand.claim.number}"
    return commit_files(repository, ladder.commit, {path: content}, words, merged=head)
