"""Reads the answer in a completion: the whole text is JSON, or it has exactly one fenced block, which is.

A service writes megabytes if it wants to, so each text is read in one pass.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from referee.protocol.codec import JSON
from referee.protocol.errors import RemoteProtocolError

THOUGHTS = "<think>", "</think>"
"""Around the reasoning at the beginning, which some services leave in the text."""
FENCE = "```"
LANGUAGE = re.compile(r"\w*")
ANSWER_CHARACTERS = 100_000
"""The longest answer that is decoded. No game has a longer one."""
QUOTED = 200
"""Characters of a completion that a refusal quotes."""


class Completion(Struct, frozen=True):
    """A service's reply to a prompt."""

    text: str
    finish: str = "stop"
    """Why it ended: `stop`, `length`, `content_filter` …"""
    refusal: str = ""
    """Why the model refused to answer, if the service says that apart from the text."""
    reasoning: str = ""
    """The model's thoughts, if the service returns them apart from the text."""


class Unreadable(ValueError):
    """A completion without an answer. The message, for the model, says what was expected."""

    def __init__(self, message: str, verdict: str) -> None:
        """`verdict`: the same for people, after the model's name: `completion was empty`."""
        super().__init__(message)
        self.verdict = verdict


def answer_in(completion: Completion) -> Any:
    """Returns the answer as plain JSON values. Raises Unreadable."""
    if completion.refusal:
        refusal = _quoted(completion.refusal)
        raise Unreadable(f"you refused to answer: {refusal}", f"completion was a refusal: {refusal}")
    if completion.finish == "content_filter":
        raise Unreadable("the service's filter removed your answer", "completion was removed by the service's filter")
    text = _without_thoughts(completion.text)
    blocks = _fenced(text)
    answer = blocks[0] if len(blocks) == 1 else text
    if len(answer) > ANSWER_CHARACTERS:
        long = f"{len(answer):,} characters; expected at most {ANSWER_CHARACTERS:,}"
        raise Unreadable(f"your answer has {long}", f"completion had {long}: {_quoted(answer)}")
    try:
        return _decoded(answer)
    except (msgspec.MsgspecError, RemoteProtocolError, RecursionError, ValueError) as error:
        if completion.finish == "length":
            raise Unreadable(
                "your answer was cut off, because it reached the limit of tokens; write less",
                f"completion was cut off at the limit of tokens: {_quoted(text)}",
            ) from None
        if not text:
            raise Unreadable("your answer is empty", "completion was empty") from None
        if len(blocks) > 1:
            raise Unreadable(
                f"your answer has {len(blocks)} fenced blocks; expected one",
                f"completion had {len(blocks)} fenced blocks instead of one: {_quoted(text)}",
            ) from None
        where = "the fenced block" if blocks else "your answer has no fenced block, and the whole of it"
        raise Unreadable(
            f"{where} is not valid JSON ({error}): {_quoted(text)}", f"completion was no JSON: {_quoted(text)}"
        ) from None


def _without_thoughts(text: str) -> str:
    begin, end = THOUGHTS
    text = text.strip()
    thoughts, found, rest = text.partition(end)
    return rest.strip() if found and thoughts.startswith(begin) else text


def _fenced(text: str) -> list[str]:
    """Returns the contents of the fenced blocks. The first line of one may name a language."""
    blocks, lines = list[str](), list[str]()
    is_open = False
    for line in text.split("\n"):
        rest = line.removeprefix(FENCE).strip(" \t") if line.startswith(FENCE) else None
        if is_open and rest == "":
            blocks.append("\n".join(lines))
            lines, is_open = [], False
        elif is_open:
            lines.append(line)
        else:
            is_open = rest is not None and LANGUAGE.fullmatch(rest) is not None
    return blocks


def _decoded(text: str) -> Any:
    """Reads JSON as strictly as a bot's answer, with the better message of a decoder that names the place."""
    msgspec.json.decode(text)
    return JSON.decode(b" ".join(text.encode().split(b"\n")))


def _quoted(text: str) -> str:
    return ascii(text) if len(text) <= QUOTED else ascii(text[:QUOTED]) + "…"
