"""Makes the prompts for a language model from a template and from what the seat may see."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import DictLoader, StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from referee.harness.adapters.llm.answers import listed
from referee.harness.adapters.llm.compact import KEY, compact, in_line

CHARACTERS = 8000
"""Most characters of a question, if its data alone have fewer. Then the drawing goes first, and the answers next."""


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
        environment.filters |= {"json": _json, "compact": _compact, "line": in_line, "listed": listed}
        self._templates = [environment.get_template(name) for name in sources]
        self._match = {"key": KEY, **match}
        self.system = self._block("system", {})

    def question(self, turn: dict[str, Any]) -> str:
        """Returns the prompt for a call, without the drawing and with examples only where it would be too long."""
        few = {"board": "", "legal": turn["examples"], "legal_complete": False} if turn["examples"] else {"board": ""}
        for less in ({}, {"board": ""}, few):
            text = self._block("question", {**turn, **less})
            if len(text) <= CHARACTERS:
                break
        return text

    def refusal(self, problem: str) -> str:
        """Returns the prompt after an answer that was refused."""
        return self._block("refusal", {"problem": problem})

    def _block(self, name: str, variables: dict[str, Any]) -> str:
        context = self._templates[-1].new_context({**self._match, **variables})
        context.blocks = {  # in this order, so that `super()` finds the next one
            each: [template.blocks[each] for template in self._templates if each in template.blocks]
            for each in self._templates[-1].blocks
        }
        return "".join(context.blocks[name][0](context)).strip()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _compact(value: Any, known: Mapping[str, Any] | None = None) -> str:
    return compact(value, known)
