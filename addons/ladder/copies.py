"""Finds games that one machine has played for two owners: all their calls took equally long."""

from collections.abc import Mapping, Sequence

from referee.addons.ladder.records import Batch

FEW_TURNS = 4
"""Games of fewer turns are not compared: their times could be equal by chance."""


def copy_problem(batch: Batch, others: Mapping[str, Sequence[bytes]]) -> str:
    """Returns which game's calls took as long as in another owner's batch, to the microsecond; empty if none did.

    `others`: the lines of the same claim, by owner.
    """
    mine = _times(batch.lines)
    for owner, lines in others.items():
        theirs = _times(lines)
        if owner == batch.head.owner or {*mine}.isdisjoint({*theirs} - {b""}):
            continue
        for number, (own, other, line) in enumerate(zip(mine, theirs, lines, strict=False), 1):
            if own and own == other and int(line.split(b" ")[1]) >= FEW_TURNS:
                return (
                    f"all calls of game {number} took as long as in the batch of {owner}, to the microsecond: "
                    "one machine has played both; play the games on your own"
                )
    return ""


def _times(lines: Sequence[bytes]) -> list[bytes]:
    """Returns the hashes of the times of calls; empty for a game of modules."""
    return [line.partition(b":")[2][:8] for line in lines]
