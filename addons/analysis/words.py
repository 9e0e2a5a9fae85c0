"""Moments as sentences."""

from typing import Any

from referee.addons.analysis.history import History
from referee.addons.analysis.moments import Moment
from referee.games.contract import Call, State
from referee.harness.cli.reports.text import as_json, printable


def sentence(history: History, moment: Moment) -> str:
    """Says what happened on a turn, what it cost or won, and what would have been better."""
    name = printable(history.names[moment.player])
    error = f" ± {moment.error:.0%}" if moment.error else ""
    amount = f"{abs(moment.change):.0%}{error} of the match"
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
    said = answer_in_words(state, history, call, moment.answer)
    if moment.change > 0:
        return f"Turn {moment.turn}, {name}: {said} won {amount}."
    better = [answer_in_words(state, history, call, answer) for answer in moment.better]
    others = [each for each in dict.fromkeys(better) if each != said]
    instead = f" {' or '.join(others)} would have kept it." if others else ""
    return f"Turn {moment.turn}, {name}: {said} cost {amount}.{instead}"


def answer_in_words(state: State, history: History, call: Call, answer: Any) -> str:
    """Returns an answer in the game's own notation, or as JSON."""
    words = history.game.presentation.in_words(call, answer)
    return as_json(answer) if words is None else printable(words)
