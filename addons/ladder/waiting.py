"""Says what a claim waits for."""

from referee.addons.ladder.chain import Stage
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import StageKind
from referee.addons.ladder.rows import Wait
from referee.protocol.text import counted


def wait_of(ladder: Ladder, hash: str, stage: Stage) -> Wait:
    """Returns what a claim waits for in the stage that goes on."""
    chain, claim = ladder.chain, ladder.chain.claims[hash]
    games, bots = counted(claim.games, "game"), tuple[str, ...]()
    if first := stage.signatures[:1]:
        field, drawn = ladder.games_by(hash, claim, first[0])
        bots = tuple(sorted({field[bot].name for game in drawn for bot in game.bots}))
    owners = " and ".join(stage.owners) or "another owner"
    if stage.kind is StageKind.SEAL:
        sealed = len(chain.seals.get(hash, {}))
        words = f"{games} sealed by {sealed} of {max(ladder.rules_of(claim.rules).witnesses, sealed)} owners; they open"
    elif stage.kind is StageKind.OPEN:
        done = sum(chain.done(hash, stage.kind, owner) is not None for owner in stage.owners)
        words = f"{games} opened by {done} of {counted(len(stage.owners), 'owner')}; the others open them"
    else:
        words = f"{games} of modules that {owners} plays{' again in part' * (stage.kind is StageKind.SAMPLE)}; they end"
    return Wait(f"{claim.runner}, claim {claim.number}", bots, words, stage.due)


def duration(seconds: float) -> str:
    """Returns a time from now on in words."""
    for unit, size in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}s"
    return counted(max(0, round(seconds)), "second")
