"""A language model at a seat. A program makes the prompts and reads the completions; our relay asks the service.

The program runs in a sandbox without network. The seat judges each answer before the match sees it, so that the model
may answer again after an illegal one.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from math import inf
from types import NoneType
from typing import Any

import msgspec
import trio
from msgspec import UNSET, Struct

from referee.addons.llm import spec as llm_spec
from referee.addons.llm.completions import Completion
from referee.addons.llm.functions import PREPARE, QUESTION, READ, RETHINK
from referee.addons.llm.measure import TOKENS
from referee.addons.llm.questions import match_variables, schema_for_models, shown_refusal, turn_variables
from referee.addons.llm.relay import Received, Relay, Trouble, Unanswered
from referee.addons.llm.settings import ModelSettings
from referee.addons.llm.transcripts import FromTranscript, TranscriptRelay
from referee.addons.llm.use import Exchange, ModelUse
from referee.games import registry
from referee.games.contract import Call, Fault, FaultKind, Player
from referee.games.dice import Dice, derive_seed
from referee.games.game import Game
from referee.harness.common.errors import RunError
from referee.harness.common.records import Cost
from referee.harness.process.bot_process import BotProcess, Program
from referee.harness.process.limits import Limits
from referee.harness.process.transport import Transport
from referee.harness.programs.entrant import Entrant
from referee.harness.seats.program import Bot
from referee.harness.seats.seat import CallTotals, MatchContext, Reply, SeatStatus
from referee.harness.seats.start import MakePipes, Start
from referee.protocol.connection import AnswerDecoder
from referee.protocol.messages import Clock, ErrorObject, Initialize
from referee.protocol.text import printable

MESSAGE_CHARACTERS = 300
FLUSH_S = 0.1
"""How often notices and the replay are written while the service thinks."""


class _Found(Struct):
    """The program's reading of a completion: an answer, or the problem with it."""

    answer: Any = UNSET
    problem: str = ""
    """For the model."""
    verdict: str = ""
    """The same for people, after the model's name."""


TEXT, FOUND = AnswerDecoder(str), AnswerDecoder(_Found)


class _Failed(Exception):
    """The call cannot go on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.detail)
        self.fault = fault


class _Spent(Struct):
    """The cost of a call so far."""

    limit_s: float
    wall_s: float = 0.0
    cpu_s: float = 0.0
    waited_s: float = 0.0
    slowed: bool = False
    use: ModelUse = ModelUse()
    exchanges: list[Exchange] = []

    @property
    def left_s(self) -> float:
        """The rest of the limit."""
        return max(0.0, self.limit_s - self.wall_s)


class ModelStart(Start):
    """The program that makes the prompts of a model."""

    def seat(self, process: BotProcess, make_pipes: MakePipes, limits: Limits, entrant: Entrant) -> "ModelBot":
        return ModelBot(make_pipes(process), process, limits, entrant.settings)


class ModelBot(Bot):
    """A model. Every call of the game is a conversation of its own."""

    def __init__(self, transport: Transport, program: Program, limits: Limits, settings: ModelSettings) -> None:
        super().__init__(transport, program, limits)
        self.settings = settings
        self._relay = TranscriptRelay(settings) if isinstance(settings, FromTranscript) else Relay(settings)
        self._answered = False  # the service has given a completion before
        self._seed: int | None = None
        self._dice = Dice(0)
        self._played: Game
        self._system: dict[str, str] = {}  # the first message of every conversation
        self._system_shown = False  # it is in this match's transcript
        self._said: bytes | None = None  # its last completion in this call; None before the first call
        self._conversation: list[dict[str, str]] = []  # of this call, as it was sent

    # The match.

    async def greet(self, match: Initialize, context: MatchContext) -> Reply:
        reply = await super().greet(match, context)
        if reply.value is not None:
            return reply
        self._seed, self._dice = llm_spec.seed_of(self.settings, match.seed), Dice(match.seed)
        self._played, self._system_shown, self._said = registry.game(match.game), False, None
        spent = _Spent(self.limits.startup_s)
        try:
            text = await self._run(
                PREPARE,
                match_variables(self._played, match.seat, len(match.names), match.options, self.settings.prompt),
                TEXT,
                spent,
            )
        except _Failed as failed:
            return Reply(self._finish(Fault(failed.fault.kind, f"initialize: {failed.fault.detail}")), reply.cost)
        self._system = {"role": "system", "content": text}
        self.totals = CallTotals(measured={TOKENS.name: ModelUse(), "model_clock": self.limits.model_clock})
        return reply

    def record(self, game: Game, seed: int, player: Player) -> Mapping[str, Any]:
        return {"models": llm_spec.record_of(self.settings, game, derive_seed(seed, "seat", player))}

    async def ask(self, call: Call, clock: Clock, limit_s: float) -> Reply:
        if self.fault is not None or self.check_unasked() is not None:
            return Reply(self.fault, Cost(stderr_bytes=self._stderr_bytes))
        log = self.program.log
        log.call_from = log.taken
        self._stderr_bytes = min(log.taken, log.cap_bytes)
        self._said, self._conversation = b"", []
        if self._context.several:
            await self._context.all_read()  # to list the legal answers may take long
        spent, calls = _Spent(limit_s), self.totals.calls
        try:
            value = await self._answer(call, spent)
        except _Failed as failed:
            value = failed.fault
            if value.fatal:
                self._finish(value)
        self.totals.calls = calls + 1
        self.totals.measured[TOKENS.name] += spent.use
        measured = {TOKENS.name: spent.use, "transcript": tuple(spent.exchanges)}
        cost = Cost(spent.wall_s, spent.cpu_s, spent.waited_s, spent.slowed, self._stderr_bytes, measured)
        return Reply(value, cost)

    async def _answer(self, call: Call, spent: _Spent) -> Any:
        """Asks the model until it answers legally, or may not rethink. Returns its last answer, or the fault."""
        if call.method.result is NoneType:
            return None
        prompt = await self._run(
            QUESTION,
            turn_variables(self._played, self._context.state, call, self._dice, self.settings.show),
            TEXT,
            spent,
        )
        conversation, new = [self._system], [{"role": "user", "content": prompt}]
        self._conversation = conversation
        schema = schema_for_models(call.method)
        for rethinks in range(self.settings.rethinks, -1, -1):
            conversation += new
            received, use = await self._serve(conversation, schema, spent)
            text = received.completion.text
            self._said = text.encode()
            found: _Found = await self._run(
                READ, msgspec.structs.replace(received.completion, reasoning=""), FOUND, spent
            )
            answer: Any = found.answer
            name = self._context.state.setup.names[call.player]
            refused: Fault | None = Fault(FaultKind.ILLEGAL, f"{name}'s {found.verdict}", text)
            problem = for_model = found.problem
            if answer is not UNSET:
                answer = AnswerDecoder(call.method.answer_type).typed(answer)
                refused = self._context.state.check(call.player, answer)
                problem = "" if refused is None else refused.detail
                for_model = "" if refused is None else shown_refusal(call.method, answer, refused, self.settings.show)
            illegal = ModelUse(illegal=refused is not None)
            spent.use += illegal
            spent.exchanges.append(self._exchanged(new, received.completion, use + illegal, problem))
            if self._tokens(spent) > (self.settings.budget or inf):
                raise _Failed(self._over_budget(spent))
            if refused is None or not rethinks:
                return refused if answer is UNSET else answer
            prompt = await self._run(RETHINK, {"problem": for_model}, TEXT, spent)
            new = [{"role": "assistant", "content": text}, {"role": "user", "content": prompt}]
        raise AssertionError("the last answer is always returned")

    # The program.

    async def _run(self, function: str, params: Any, decoder: AnswerDecoder, spent: _Spent) -> Any:
        """Calls a function of the program. Raises _Failed."""
        encoded = self.wire.encode(msgspec.to_builtins(params, str_keys=True))
        frame = self.wire.call(function, encoded, Clock(None, None, None))
        reply = await self._exchange(frame, spent.left_s, decoder)
        cost = reply.cost
        spent.wall_s += cost.wall_s
        spent.cpu_s += cost.cpu_s
        spent.waited_s += cost.waited_s
        spent.slowed |= cost.slowed
        if type(reply.value) is ErrorObject:  # an error in a template is no fault of the model
            wrong = printable(reply.value.message, MESSAGE_CHARACTERS)
            raise RunError(f"{self.settings.model} cannot be asked: a template of its prompts is wrong: {wrong}")
        if isinstance(reply.value, Fault):
            raise _Failed(reply.value)
        return reply.value

    # The service.

    async def _serve(self, conversation: list[dict[str, str]], schema: Any, spent: _Spent) -> tuple[Received, ModelUse]:
        """Gets a completion. Raises _Failed if the model gives none, and RunError if the service fails."""
        settings, charged, now = self.settings, self.limits.model_clock, self.transport.now
        left = None if settings.budget is None else settings.budget - self._tokens(spent)
        if left is not None and left <= 0:
            raise _Failed(self._over_budget(spent))
        most = min([each for each in (left, settings.max_tokens) if each is not None], default=None)
        limit_s = min(settings.timeout_s, spent.left_s if charged else inf)
        started, is_over = now(), limit_s < settings.timeout_s
        outcome = await self._completed(partial(self._relay.complete, conversation, schema, self._seed, most, limit_s))
        took_s = now() - started
        if isinstance(outcome, Trouble):
            raise self._run_error(outcome)
        if charged:  # without the waits, which are the service's
            model_s = limit_s if isinstance(outcome, Unanswered) else outcome.took_s
            spent.wall_s += model_s
            self.totals.wall_s += model_s
        if isinstance(outcome, Unanswered):
            spent.use += ModelUse(service_s=took_s)
            raise _Failed(self._late(spent.limit_s) if is_over else outcome.fault)
        self._answered = True
        cost = settings.cost(outcome.prompt_tokens, outcome.completion_tokens, outcome.cached_tokens)
        use = ModelUse(
            outcome.prompt_tokens,
            outcome.completion_tokens,
            cost,
            completions=1,
            service_s=took_s,
            estimated=int(outcome.estimated),
            unstructured=int(not outcome.structured),
            reasoning_tokens=outcome.reasoning_tokens,
            cached_tokens=outcome.cached_tokens,
            left_out=outcome.left_out,
        )
        spent.use += use
        if charged and spent.wall_s > spent.limit_s:
            raise _Failed(self._late(spent.limit_s))
        return outcome, use

    async def _completed(self, complete: Callable[[], Awaitable[Received]]) -> Received | Trouble | Unanswered:
        """Awaits a completion. Notices and the replay are written meanwhile."""

        async def keep_up() -> None:
            while True:
                self._context.flush()
                await trio.sleep(FLUSH_S)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(keep_up)
            outcome: Received | Trouble | Unanswered
            try:
                outcome = await complete()
            except (Trouble, Unanswered) as failed:
                outcome = failed
            nursery.cancel_scope.cancel()
        return outcome

    def _run_error(self, trouble: Trouble) -> RunError:
        """Returns the error that ends the run: a service that fails is no fault of the model, and scores nothing."""
        if trouble.unusable and not self._answered:
            advice = "check that the service runs, its address (--url), the key (--key-from) and the model's name"
            return RunError(f"{self.settings.model} cannot play: {trouble}; {advice}")
        return RunError(f"{self.settings.model} cannot play on: {trouble}; this game does not count")

    def _tokens(self, spent: _Spent) -> int:
        """Returns the tokens of this match so far."""
        used: ModelUse = self.totals.measured.get(TOKENS.name, ModelUse())
        return used.tokens + spent.use.tokens

    def _over_budget(self, spent: _Spent) -> Fault:
        return Fault(
            FaultKind.TOKENS,
            f"used {self._tokens(spent):,} tokens in this match; its budget is {self.settings.budget:,}",
        )

    def _exchanged(self, new: list[dict[str, str]], completion: Completion, use: ModelUse, problem: str) -> Exchange:
        """Returns what the transcript has of a completion. Only the first of a match has the first message."""
        messages = [*([] if self._system_shown else [self._system]), *new]
        self._system_shown = True
        return Exchange(messages, completion.text, use, completion.finish, problem, completion.reasoning)

    def status(self, brief: bool = False) -> SeatStatus:
        """Returns the status, with the prompts and completions of the last call instead of the program's frames."""
        status = super().status(brief)
        if brief or self._said is None:
            return status
        note = self._relay.note if isinstance(self._relay, TranscriptRelay) else ""
        texts = [(each["role"] == "assistant", each["content"].encode() + b"\n") for each in self._conversation]
        return msgspec.structs.replace(
            status,
            sent=tuple(text for is_its_own, text in texts if not is_its_own),
            received=(*[text for is_its_own, text in texts if is_its_own], self._said),
            answer=self._said,
            note=note,
        )
