"""Prepares prompts for a language model and reads its completions: `run.py MODEL`.

This program has no network. The referee asks it for a prompt, sends that to the model's service by its relay, and
gives it the completion. So text from outside is parsed in the sandbox, and the key of the service never gets here.

Its functions are not those of the game: PREPARE begins a match, QUESTION returns a prompt for a call of the game, READ
returns the answer in a completion, and RETHINK returns the prompt after an answer that was refused.
"""

import sys
from collections import deque
from typing import Any

import msgspec

from referee.addons.llm.completions import Completion, Unreadable, answer_in
from referee.addons.llm.functions import PREPARE, QUESTION, READ, RETHINK
from referee.addons.llm.prompts import Prompts
from referee.harness.opponents._serve import Handler, serve_matches
from referee.protocol.messages import Initialize

MOST_EVENTS = 100
"""Most notices in a prompt. The last ones are shown."""
NOTICE_CHARACTERS, NOTICES_CHARACTERS = 500, 2000
"""A longer notice is cut: a rival may have chosen its text. And most characters of all: the last ones are shown."""


class Prompter:
    """One match: the prompts, and what has happened since the last call."""

    def __init__(self) -> None:
        self.prompts: Prompts
        self.events: deque[dict[str, Any]] = deque(maxlen=MOST_EVENTS)

    def handle(self, method: str, params: dict[str, Any]) -> Any:
        """Returns the answer to a call of the referee, and keeps the game's notices for the next prompt."""
        params.pop("clock", None)
        function = FUNCTIONS.get(method)
        if function is not None:
            return function(self, params)
        text = msgspec.json.encode(params).decode()
        is_short = len(text) <= NOTICE_CHARACTERS
        self.events.append({"function": method, "params": params if is_short else text[:NOTICE_CHARACTERS] + "…"})
        return None

    def prepare(self, params: dict[str, Any]) -> str:
        """Begins a match. Returns the first message of every conversation."""
        self.prompts = Prompts(params.pop("templates"), params)
        return self.prompts.system

    def question(self, params: dict[str, Any]) -> str:
        """Returns the prompt for a call of the game."""
        left, events = NOTICES_CHARACTERS, list[dict[str, Any]]()
        while self.events and (left := left - len(msgspec.json.encode(self.events[-1]))) >= 0:
            events.insert(0, self.events.pop())
        self.events.clear()
        return self.prompts.question({**params, "events": events})

    def read(self, params: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer in a completion, or the problem with it."""
        try:
            return {"answer": answer_in(msgspec.convert(params, Completion))}
        except Unreadable as error:
            return {"problem": str(error), "verdict": error.verdict}

    def rethink(self, params: dict[str, Any]) -> str:
        """Returns the prompt after an answer that was refused."""
        return self.prompts.refusal(params["problem"])


FUNCTIONS = {PREPARE: Prompter.prepare, QUESTION: Prompter.question, READ: Prompter.read, RETHINK: Prompter.rethink}


def main(model: str) -> None:
    """Plays until standard input ends."""

    def begin(match: Initialize) -> tuple[Handler, str]:
        return Prompter().handle, model

    serve_matches(begin)


if __name__ == "__main__":
    main(sys.argv[1])
