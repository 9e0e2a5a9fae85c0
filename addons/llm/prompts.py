"""Makes the prompts for a language model from a template and from what the seat may see."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import DictLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from referee.addons.llm.answers import listed
from referee.addons.llm.compact import KEY, compact, in_line

CHARACTERS = 8000
"""Most characters of a question. The drawing goes first, all answers but a few next, and then the ends of long data."""
FOR_DATA = CHARACTERS // 2
"""Room for data that are cut: if the rest of a question leaves less, the rest gets shorter too."""
LEAST = 200
"""Fewest characters of a member that is cut. If there is less room for each, the data are cut as one text."""
SENTENCE = 100
"""Most characters of the sentence on what is left out."""


class Prompts:
    """The prompts of one match. jinja2.TemplateError, now or later, if a template is wrong."""

    def __init__(self, templates: Sequence[str], match: dict[str, Any]) -> None:
        """Takes the templates, the usual one last: the blocks of an earlier one replace those of the later ones.

        `match`: the variables of a match.
        """
        sources = {str(number): text for number, text in enumerate(templates)}
        environment = ImmutableSandboxedEnvironment(  # the author of the game may be a stranger
            loader=DictLoader(sources), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )
        environment.filters |= {"json": _json, "compact": self._compact, "line": in_line, "listed": listed}
        self._templates = [environment.get_template(name) for name in sources]
        self._match = {"key": KEY, **match}
        self._data: dict[str, str] = {}
        """The data of the question, each with what is shown of it."""
        self._texts: dict[tuple[tuple[str, int], ...], tuple[Any, str]] = {}
        """Its texts by the identity of their values, which are kept alive: a question may be made several times."""
        self.system = self._block("system", {})

    def question(self, turn: dict[str, Any]) -> str:
        """Returns the prompt for a call, without the drawing and with examples only where it would be too long.

        If the data alone are too long, they are cut, and a sentence says so.
        """
        self._texts.clear()
        few = {"legal": turn["examples"], "legal_complete": False} if turn["examples"] else {}
        plain = {"board": ""}
        for less in ({}, plain, {**few, **plain}):
            text = self._question({**turn, **less})
            if len(text) <= CHARACTERS or not self._data:
                return text
        for less in ({}, plain, few, {**few, **plain}):
            shown = {**turn, **less}
            room = CHARACTERS - len(self._question(shown)) + sum(map(len, self._data.values()))
            if room >= FOR_DATA:
                break
        parts = dict(zip(self._data, shortened([*self._data], max(room, LEAST)), strict=True))
        return self._question(shown, parts)

    def _question(self, turn: dict[str, Any], parts: Mapping[str, str] | None = None) -> str:
        """Returns the prompt. `parts`: what to show of data that are too long."""
        self._data = dict(parts or {})
        return self._block("question", turn)

    def refusal(self, problem: str) -> str:
        """Returns the prompt after an answer that was refused."""
        return self._block("refusal", {"problem": problem})

    def _compact(self, value: Any, known: Mapping[str, Any] | None = None) -> str:
        values = {"": value, **(known or {})}
        key = tuple((name, id(each)) for name, each in values.items())
        if key not in self._texts:
            self._texts[key] = values, compact(value, known)
        _, text = self._texts[key]
        return self._data.setdefault(text, text)

    def _block(self, name: str, variables: dict[str, Any]) -> str:
        context = self._templates[-1].new_context({**self._match, **variables})
        context.blocks = {  # in this order, so that `super()` finds the next one
            each: [template.blocks[each] for template in self._templates if each in template.blocks]
            for each in self._templates[-1].blocks
        }
        return "".join(context.blocks[name][0](context)).strip()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def shortened(texts: Sequence[str], room: int) -> list[str]:
    """Returns data in `room` characters together. Of each long member of a record, only the beginning stays."""
    members = [_members(text) for text in texts]
    most = _most([len(each) + 1 for text in members for each in text], room)
    if most < LEAST:
        members, most = [[text] for text in texts], room // len(texts)
    return ["\n".join(_beginning(each, most - 1) for each in text) for text in members]


def _members(text: str) -> list[str]:
    """Returns the lines of each member of a record."""
    found, name = list[str](), ""
    for line in text.split("\n"):
        before, name = name, name if line.startswith(" ") else line.partition(":")[0].partition(".")[0]
        if found and name == before:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found


def _most(lengths: Sequence[int], room: int) -> int:
    """Returns the length that each may have: the short ones leave their room to the others."""
    for number, length in enumerate(sorted(lengths)):
        share = room // (len(lengths) - number)
        if length > share:
            return share
        room -= length
    return max(lengths)


def _beginning(text: str, most: int) -> str:
    """Returns the text, or its whole lines or words that have room, with a sentence on what is left out."""
    if len(text) <= most:
        return text
    kept = text[: most - SENTENCE]
    for end in "\n ":
        at = kept.rfind(end)
        if at > len(kept) // 2:
            kept = kept[:at]
            break
    return f"{kept}\n … {len(text) - len(kept):,} more characters are left out, since the question would be too long"
