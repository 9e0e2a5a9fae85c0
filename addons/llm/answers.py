"""Lists legal answers in a prompt: each with its words, or many of one form on one line."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from referee.addons.llm.compact import runs

WORDS = 1500
"""Most characters of a list that has words for every answer."""
DEPTHS = 0, 1, 2, 9
"""How deep the place may lie in which the answers of a line differ."""
HOLE = "?"
"""Marks that place. It has no quotes, so no answer has it there."""


def listed(legal: Sequence[Mapping[str, Any]]) -> str:
    """Returns lines that begin with `- `. Each answer has `answer` and `words`."""
    with_words = [f"- {_json(each['answer'])}" + (f"  ({each['words']})" if each["words"] else "") for each in legal]
    if sum(map(len, with_words)) <= WORDS:
        return "\n".join(with_words)
    answers = [each["answer"] for each in legal]
    return min(("\n".join(_forms(answers, depth)) for depth in DEPTHS), key=len)


def _forms(answers: Sequence[Any], depth: int) -> list[str]:
    """Returns a line for each run of answers that differ from the first in one place only."""
    lines, at = list[str](), 0
    while at < len(answers):
        first, end = answers[at], at + 1
        place = _difference(first, answers[end], depth) if end < len(answers) else None
        while place is not None and end < len(answers) and _difference(first, answers[end], depth) == place:
            end += 1
        if place is None:
            lines.append(f"- {_json(first)}")
        else:
            values = " ".join(runs([_tight(_at(each, place)) for each in answers[at:end]]))
            lines.append(f"- {_form(first, place)} with {HOLE} one of: {values}")
        at = end
    return lines


def _difference(one: Any, other: Any, depth: int) -> tuple[Any, ...] | None:
    """Returns the place in which two answers differ; None if they are equal."""
    if one == other:
        return None
    if depth and isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        different = [name for name in one if one[name] != other[name]]
    elif depth and isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        different = [number for number in range(len(one)) if one[number] != other[number]]
    else:
        return ()
    if len(different) != 1:
        return ()
    (name,) = different
    return (name, *(_difference(one[name], other[name], depth - 1) or ()))


def _at(answer: Any, place: Sequence[Any]) -> Any:
    for name in place:
        answer = answer[name]
    return answer


def _form(answer: Any, place: Sequence[Any]) -> str:
    if not place:
        return HOLE
    name, *rest = place
    if isinstance(answer, dict):
        members = (f"{_json(key)}: {_form(each, rest) if key == name else _json(each)}" for key, each in answer.items())
        return "{" + ", ".join(members) + "}"
    items = (_form(each, rest) if number == name else _json(each) for number, each in enumerate(answer))
    return "[" + ", ".join(items) + "]"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _tight(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
