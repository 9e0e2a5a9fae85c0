"""Figures as text."""

import math

from referee.harness.common.records import ModelUse
from referee.harness.match.interval import Interval
from referee.protocol.text import counted


def interval(figure: Interval, form: str = ".1f") -> str:
    """Formats like `12.3 [3.1, 21.6]`, with a question mark for an unknown end."""
    value, low, high = (number(each, form) for each in (figure.value, figure.low, figure.high))
    return f"{value} [{low}, {high}]"


MODEL_COLUMNS = ("tokens", "cost", "illegal")
"""Columns about language models."""


def model_cells(use: ModelUse | None) -> tuple[str, str, str]:
    """Returns the texts of `MODEL_COLUMNS`; empty for any other bot, and for an unknown cost."""
    if use is None:
        return "", "", ""
    return f"{use.tokens:,}", "" if use.cost is None else dollars(use.cost), f"{use.illegal_share:.1%}"


def model_use(use: ModelUse) -> str:
    """Returns the tokens and the cost of a language model in words, and how many of its completions were illegal."""
    estimated = ", some of them estimated" if use.estimated else ""
    cost = "" if use.cost is None else f", {dollars(use.cost)}"
    illegal = f"{use.illegal:,} of {counted(use.completions, 'completion')} illegal"
    illegal += f"; {use.unstructured} without a schema" if use.unstructured else ""
    return f"{use.prompt_tokens:,} tokens in, {use.completion_tokens:,} out{estimated}{cost}; {illegal}"


def dollars(cost: float) -> str:
    """Formats a cost like `$12.34`, and one below a dollar with four digits."""
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.4f}"


def number(value: float | None, form: str) -> str:
    """Formats a number, an infinite one as `∞`, an unknown one as `?`."""
    if value is None:
        return "?"
    return f"{value:{form}}" if math.isfinite(value) else "∞" if value > 0 else "-∞"
