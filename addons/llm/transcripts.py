"""A language model that answers from the transcript of its match: no service is asked, and no key is read.

Of the model in the replay's header, only what decides how a conversation goes on is used: the replay may come from a
stranger, whose service, variable and template are not ours to use.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from referee.addons.llm import spec as llm_spec
from referee.addons.llm.completions import Completion
from referee.addons.llm.kind import MODEL
from referee.addons.llm.relay import Received, Unanswered
from referee.addons.llm.settings import ModelSettings
from referee.addons.llm.use import Exchange, ModelUse
from referee.games.contract import Fault, FaultKind, Player
from referee.harness.common.errors import UsageError
from referee.harness.common.measures import measured
from referee.harness.common.paths import HOME
from referee.harness.programs.entrant import Entrant
from referee.harness.replay.lines import Turn
from referee.harness.replay.reader import Replay
from referee.protocol.text import printable

Kept = tuple[Completion, ModelUse, tuple[str, ...]]
"""A completion, its use, and the messages that were new."""
OWN_PROMPTS = "the match had prompts of its own (--prompt), with which those of today are not compared"


class FromTranscript(ModelSettings, frozen=True, kw_only=True):
    """The settings of a model whose completions are known."""

    kept: tuple[tuple[Kept, ...], ...]
    """The prompts and completions of each call for which the service was asked."""
    failed: tuple[Fault | None, ...]
    """By such call: the fault that came instead of a further completion."""
    own_prompts: bool
    """The user changed the prompts, so that ours are others."""


class TranscriptRelay:
    """Gives the completions of a transcript, in order. It replaces `Relay`."""

    def __init__(self, settings: FromTranscript) -> None:
        self._calls = iter(zip(settings.kept, settings.failed, strict=True))
        self._left: Iterator[Kept] = iter(())
        self._fault: Fault | None = None
        self._questions = 0
        self.note = OWN_PROMPTS if settings.own_prompts else ""
        """How the prompts differ from those of the match; empty if they do not."""

    async def complete(
        self,
        messages: Sequence[Mapping[str, str]],
        schema: Any,
        seed: int | None,
        max_tokens: int | None,
        limit_s: float,
    ) -> Received:
        """Returns the next completion of the call. Unanswered if the match had no further one."""
        if len(messages) == 2:  # a conversation begins
            kept, self._fault = next(self._calls, ((), None))
            self._left = iter(kept)
            self._questions += 1
        found = next(self._left, None)
        if found is None:
            raise Unanswered(
                self._fault or Fault(FaultKind.ERROR, "the transcript of the match has no further completion")
            )
        completion, use, recorded = found
        self.note = self.note or self._difference(recorded, messages)
        return Received(
            completion,
            use.prompt_tokens,
            use.completion_tokens,
            bool(use.estimated),
            not use.unstructured,
            use.reasoning_tokens,
            use.cached_tokens,
            use.left_out,
        )

    def _difference(self, recorded: Sequence[str], messages: Sequence[Mapping[str, str]]) -> str:
        """Returns a sentence on the first difference from the prompts in the transcript; empty if there is none."""
        for old, new in zip(recorded, messages[-len(recorded) :], strict=False):
            lines = zip_longest(old.split("\n"), new["content"].split("\n"))
            line = next((number for number, (one, other) in enumerate(lines, 1) if one != other), 0)
            if line:
                which = "the first message" if new["role"] == "system" else f"question {self._questions}"
                return f"the model would get other prompts today: {which} differs from line {line} on"
        return ""


def _kept(exchange: Exchange) -> Kept:
    messages = tuple(str(each.get("content")) for each in exchange.messages)
    return Completion(exchange.completion, exchange.finish), exchange.use, messages


def model_of(replay: Replay, player: Player) -> Entrant:
    """Returns the model of a replay as its transcript has it. UsageError if no transcript was kept."""
    model = measured(replay.header, "models").get(player)
    kept, failed = list[tuple[Kept, ...]](), list[Fault | None]()
    for line in replay.lines[1:]:
        try:
            turn = msgspec.json.decode(line, type=Turn)
        except (msgspec.MsgspecError, RecursionError):
            continue  # no turn: what reads the replay says whether it is wrong
        exchanges, fault = measured(turn, "transcript").get(player, ()), turn.faults.get(player)
        unanswered = fault is not None and fault.kind in (FaultKind.ERROR, FaultKind.TIMEOUT)
        if exchanges or unanswered:
            kept.append(tuple(map(_kept, exchanges)))
            failed.append(Fault(fault.kind, fault.detail) if fault is not None and unanswered else None)
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
        show=model.show,
        kept=tuple(kept),
        failed=tuple(failed),
        own_prompts=bool(model.prompt),
    )
    return Entrant(name, llm_spec.command(model.model), HOME, MODEL.name, settings)
