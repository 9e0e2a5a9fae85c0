"""The end of a match in words: `A wins: B's queen was killed`."""

from collections.abc import Mapping, Sequence

from referee.games.contract import FaultKind, Result

ENDINGS: Mapping[str, str] = {
    FaultKind.TIMEOUT: "{loser} did not answer in time",
    FaultKind.CRASH: "{loser} crashed",
    FaultKind.CPU: "{loser} used too much CPU time",
    FaultKind.MEMORY: "{loser} used too much memory",
    FaultKind.OUTPUT: "{loser} wrote too much output",
    FaultKind.PROCESSES: "{loser} ran too many processes",
    FaultKind.FILES: "{loser} wrote too much to files",
    FaultKind.PROTOCOL: "{loser} broke the protocol",
    FaultKind.ERROR: "{loser} answered with an error",
    FaultKind.TOKENS: "{loser} used too many tokens",
    FaultKind.ILLEGAL: "{loser}'s answer was illegal",
    "no_winner": "no player is left",
}
"""Words for the reasons that every game has, as in `Presentation.endings`."""


def headline(endings: Mapping[str, str], result: Result, names: Sequence[str]) -> str:
    """Returns who has won and why. `endings` are the game's own words."""
    return f"{winners(result, names)}: {reason_in_words(endings, result, names)}"


def winners(result: Result, names: Sequence[str]) -> str:
    """Returns `A wins`, `A and B win` if they share the first rank with losers behind them, or `a draw`."""
    best = [name for name, rank in zip(unique(names), result.ranks, strict=True) if rank == 1]
    if len(best) == len(names):
        return "a draw"
    return f"{' and '.join(best)} win{'s' if len(best) == 1 else ''}"


def reason_in_words(endings: Mapping[str, str], result: Result, names: Sequence[str]) -> str:
    """Returns why a match ended, in the game's own words or in those of every game.

    A reason without words is returned as it is, with blanks for underscores.
    """
    reason, _, detail = result.reason.partition(": ")
    words = {**ENDINGS, **endings}.get(reason)
    if words is None:
        return result.reason.replace("_", " ")
    seats = sorted(zip(result.ranks, unique(names), result.scores, strict=True), key=lambda seat: seat[0])
    losers = [name for rank, name, _ in seats if rank > 1]
    return words.format(
        winner=seats[0][1],
        loser=losers[0] if len(losers) == 1 else "a rival",
        scores=(" to " if len(seats) == 2 else ", ").join(f"{score:g}" for _, _, score in seats),
        detail="; ".join(detail.splitlines()),
    )


def unique(names: Sequence[str]) -> list[str]:
    """Returns the names, each with its seat if another seat has the same name."""
    return [f"{name} (seat {seat})" if names.count(name) > 1 else name for seat, name in enumerate(names)]
