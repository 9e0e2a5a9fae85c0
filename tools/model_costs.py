"""`python -m referee.tools.model_costs [--check | --price IN/OUT/CACHED]`: what a match of a language model costs.

Writes docs/reference/model-costs.md, or prints its table at other prices. The figures come from matches that are played
here, in which every seat draws legal answers: nothing on the page is written by hand.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from referee.addons.llm import spec as llm_spec
from referee.addons.llm.relay import BYTES_A_TOKEN
from referee.addons.llm.settings import ModelSettings
from referee.games import registry
from referee.games.contract import Setup
from referee.games.game import Game
from referee.harness.common.errors import UsageError
from referee.tools import generated
from referee.tools.prompted import turns

PAGE = Path("docs/reference/model-costs.md")
PRICE = "0.25/2/0.025"
"""Dollars for a million tokens in, out and cached."""
SEED = 1
CALLS = 1000
"""Most calls that are counted: a match of random ants may have far more."""
TEXT = """\
# What a match of a language model costs

`python -m referee.tools.model_costs` wrote this page. It plays one match of each game, in which every
seat draws legal answers, and counts the prompts of seat 0 as Referee does for a service that counts
none: a token for {bytes} bytes.

These are the costs at ${input:g} for a million tokens of prompts, ${output:g} for completions and
${cached:g} for cached prompts:

{table}

- *In* are all tokens of prompts, and *cached* those of the first message from the second call on, which
  a service with a cache has seen. Without a cache they cost as much as the others.
- *Out* is the bare JSON. A model that reasons adds its tokens: the last column has the dollars if it
  writes {thoughts:,} tokens before every answer.
- The longest question of the match is given in characters.
- AIBG 5 ends after {rounds} rounds here. At most {calls:,} calls of a match are counted.
- Rethinks cost what they send again. A strong player has other matches than a random one: shorter in
  Quoridor, longer in Connect Four.

For other prices: `python -m referee.tools.model_costs --price 1/8/0.1`.
"""
THOUGHTS = 1000


class Figures(NamedTuple):
    """The tokens of a match."""

    calls: int
    prompt: int
    cached: int
    completion: int
    longest: int
    """Characters of the longest question."""


@cache
def figures(name: str) -> Figures:
    """Plays a match and counts."""
    game = registry.game(name)
    names = tuple(f"player {seat}" for seat in range(game.seats.start))
    setup = Setup(SEED, names, game.options(**game.ending))
    calls = prompt = cached = completion = longest = 0
    for turn in turns(game, setup, 0, None, CALLS):
        first, question = tokens(turn.system), tokens(turn.question)
        cached += first if calls else 0
        prompt += first + question
        completion += tokens(json.dumps(turn.answer, ensure_ascii=False))
        longest = max(longest, len(turn.question))
        calls += 1
    return Figures(calls, prompt, cached, completion, longest)


def tokens(text: str) -> int:
    """Returns the tokens of a text by the rule for services that count none."""
    return -(-len(text.encode()) // BYTES_A_TOKEN)


def table(prices: ModelSettings) -> Iterator[str]:
    """The lines of the table."""
    yield "| game | calls | in | cached | out | dollars | longest question | dollars with reasoning |"
    yield "| --- | --: | --: | --: | --: | --: | --: | --: |"
    for name in registry.own_names():
        found = figures(name)
        cost = prices.cost(found.prompt, found.completion, found.cached) or 0
        more = prices.cost(found.prompt, found.completion + THOUGHTS * found.calls, found.cached) or 0
        title = registry.game(name).title
        yield (
            f"| {title} | {found.calls:,} | {found.prompt:,} | {found.cached:,} | {found.completion:,} | {cost:.4f} "
            f"| {found.longest:,} | {more:.3f} |"
        )


def page_files() -> dict[Path, str]:
    """The page, by its path below the project's root."""
    prices = _prices(PRICE)
    assert prices.price is not None
    aibg5: Game = registry.game("aibg5")
    text = TEXT.format(
        bytes=BYTES_A_TOKEN,
        input=prices.price[0],
        output=prices.price[1],
        cached=prices.cached_price,
        table="\n".join(table(prices)),
        thoughts=THOUGHTS,
        rounds=aibg5.ending["rounds"],
        calls=CALLS,
    )
    return {PAGE: text}


def _prices(text: str) -> ModelSettings:
    return llm_spec.read(f"llm:--price {text} any")


def main(argv: Sequence[str]) -> int:
    """Does what the arguments say; returns the exit code."""
    if len(argv) == 2 and argv[0] == "--price":
        try:
            print("\n".join(table(_prices(argv[1]))))
        except UsageError as error:
            print(error, file=sys.stderr)
            return 2
        return 0
    return generated.main(page_files(), argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
