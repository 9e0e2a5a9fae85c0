"""Moments as sentences."""

from typing import Any

from referee.addons.analysis.history import History
from referee.addons.analysis.moments import Moment
from referee.games.contract import Call, Fault, FaultKind, State
from referee.harness.cli.reports.text import as_json, cut, printable

FAULTS = {FaultKind.TIMEOUT: "a timeout", FaultKind.CRASH: "a crash", FaultKind.ILLEGAL: "an illegal answer"}
"""Other faults have the name of their kind."""


def sentence(history: History, moment: Moment, open_cards: bool = False) -> str:
    """Says what happened on a turn, what it cost or won, and what would have been better.

    `open_cards`: the continuations that say so had what was hidden as it was.
    """
    name = printable(history.names[moment.player])
    error = f" ± {moment.error:.0%}" if moment.error else ""
    amount = f"{abs(moment.change):.0%}{error} of the match" + (", given what was hidden" if open_cards else "")
    if moment.since is not None:
        verb = "lost" if moment.change < 0 else "won"
        return f"Turns {moment.since + 1} to {moment.turn}, {name}: {verb} {amount}."
    if moment.luck:
        verb = "bad" if moment.change < 0 else "good"
        return f"Turn {moment.turn}, {name}: {verb} luck, worth {amount}."
    state, _ = history.at(moment.turn - 1)
    call = next((call for call in state.calls() if call.player == moment.player), None)
    if call is None or moment.answer is None:
        verb = "lost" if moment.change < 0 else "won"
        return f"Turn {moment.turn}, {name}: {verb} {amount} by what others did."
    fault = None if isinstance(moment.answer, Fault) else state.check(moment.player, moment.answer)
    said = answer_in_words(state, history, call, fault or moment.answer)
    if moment.change > 0:
        return f"Turn {moment.turn}, {name}: {said} won {amount}."
    better = [answer_in_words(state, history, call, answer) for answer in moment.better]
    others = [each for each in dict.fromkeys(better) if each != said]
    instead = f" {' or '.join(others)} {'might' if open_cards else 'would'} have kept it." if others else ""
    return f"Turn {moment.turn}, {name}: {said} cost {amount}.{instead}"


def answer_in_words(state: State, history: History, call: Call, answer: Any) -> str:
    """Returns an answer in the game's own notation, or as JSON; of a fault, its kind and its detail."""
    if isinstance(answer, Fault):
        kind = FAULTS.get(answer.kind, f"a fault of kind {answer.kind}")
        return f"{kind} ({cut('; '.join(answer.detail.splitlines()))})"
    words = history.game.presentation.in_words(call, answer)
    return as_json(answer) if words is None else printable(words)
