"""A language model that answers from the transcript of its match: no service is asked, and no key is read.

Of the model in the replay's header, only what decides how a conversation goes on is used: the replay may come from a
stranger, whose service, variable and template are not ours to use.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from referee.games.contract import FaultKind, Player
from referee.harness.adapters.llm import spec as llm_spec
from referee.harness.adapters.llm.completions import Completion
from referee.harness.adapters.llm.kind import MODEL
from referee.harness.adapters.llm.relay import Received, Trouble
from referee.harness.errors import UsageError
from referee.harness.paths import HOME
from referee.harness.programs.entrant import Entrant
from referee.harness.records import ModelSettings, ModelUse
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.protocol.text import printable

Kept = tuple[Completion, ModelUse]


class FromTranscript(ModelSettings, frozen=True, kw_only=True):
    """The settings of a model whose completions are known."""

    kept: tuple[tuple[Kept, ...], ...]
    """The completions of each call for which the service was asked."""
    troubles: tuple[str, ...]
    """By such call: what the service failed with after them; empty = it did not."""


class TranscriptRelay:
    """Gives the completions of a transcript, in order. It replaces `Relay`."""

    def __init__(self, settings: FromTranscript) -> None:
        self._calls = iter(zip(settings.kept, settings.troubles, strict=True))
        self._left: Iterator[Kept] = iter(())
        self._trouble = ""

    async def complete(
        self, messages: Sequence[Mapping[str, str]], schema: Any, seed: int, max_tokens: int | None
    ) -> Received:
        """Returns the next completion of the call. Trouble if the match had no further one."""
        if len(messages) == 2:  # a conversation begins
            kept, self._trouble = next(self._calls, ((), ""))
            self._left = iter(kept)
        found = next(self._left, None)
        if found is None:
            raise Trouble(self._trouble or "the transcript of the match has no further completion")
        completion, use = found
        return Received(
            completion,
            use.prompt_tokens,
            use.completion_tokens,
            bool(use.estimated),
            not use.unstructured,
            use.reasoning_tokens,
            use.cached_tokens,
        )


def model_of(replay: Replay, player: Player) -> Entrant:
    """Returns the model of a replay as its transcript has it. UsageError if no transcript was kept."""
    model = replay.header.models.get(player)
    kept, troubles = list[tuple[Kept, ...]](), list[str]()
    for line in replay.lines[1:]:
        try:
            turn = msgspec.json.decode(line, type=Turn)
        except (msgspec.MsgspecError, RecursionError):
            continue  # no turn: what reads the replay says whether it is wrong
        exchanges, fault = turn.transcript.get(player, ()), turn.faults.get(player)
        failed = fault.detail if fault is not None and fault.kind is FaultKind.ERROR else ""
        if exchanges or failed:
            kept.append(tuple((Completion(each.completion, each.finish), each.use) for each in exchanges))
            troubles.append(failed)
    name = replay.header.setup.names[player]
    if model is None or not any(kept):
        raise UsageError(
            f"a {MODEL.name} played at seat {player} ({printable(name)}), and the replay has no transcript of it "
            "(--transcripts); name a bot with BOT"
        )
    settings = FromTranscript(
        model=model.model,
        url=llm_spec.URL,
        rethinks=model.rethinks,
        budget=model.budget,
        max_tokens=model.max_tokens,
        seed=model.seed,
        kept=tuple(kept),
        troubles=tuple(troubles),
    )
    return Entrant(name, llm_spec.command(model.model), HOME, MODEL.name, settings)
