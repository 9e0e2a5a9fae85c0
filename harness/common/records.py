"""Records in a replay and a fault report: the cost of calls, the usage of a process, metering, and language models."""

from collections.abc import Iterable
from typing import Annotated, Any

from msgspec import Meta, Struct

MILLION = 1_000_000
FIGURES = ("prompt_tokens", "completion_tokens", "cost", "completions", "illegal")
"""The members of `ModelUse` that tables and databases have as columns."""


class ModelSettings(Struct, frozen=True):
    """How a model is asked. These are the options of its bot spec."""

    model: str
    url: str
    """The service, without the credentials that a URL may have."""
    rethinks: int = 2
    """How often it may answer again after an answer that was refused."""
    budget: int | None = None
    """Most tokens in a match, prompts included; None = no limit."""
    temperature: float | None = None
    """None = the service's own."""
    seed: int | None = None
    """None = the match's seed for the seat."""
    max_tokens: int | None = None
    """Most tokens of a completion; None = the service's own limit, and never more than the budget has left."""
    price: tuple[float, float] | None = None
    """Dollars for a million tokens of prompts, and for a million of completions; None = not known."""
    cached_price: float | None = None
    """Dollars for a million tokens of prompts that the service had from an earlier one; None = as others."""
    timeout_s: float = 120.0
    """How long the service may take for a completion, if its time is not charged."""
    structured: bool | None = None
    """Whether requests have the schema of the answer; None = unless the service refuses it."""
    key_from: str | None = None
    """The environment variable with the key; None = the service wants none."""

    body: tuple[tuple[str, str], ...] = ()
    """More members of each request, with their values as JSON."""
    prompt: str = ""
    """The content of the user's file for the prompts: a template whose blocks replace others, or a text to add."""

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float | None:
        """Returns the cost in dollars; None without a price. `cached_tokens`: those of the prompt."""
        if self.price is None:
            return None
        cached_tokens = min(cached_tokens, prompt_tokens)
        cached_price = self.price[0] if self.cached_price is None else self.cached_price
        prompts = (prompt_tokens - cached_tokens) * self.price[0] + cached_tokens * cached_price
        return (prompts + completion_tokens * self.price[1]) / MILLION


class Model(ModelSettings, frozen=True, kw_only=True):
    """A model in the header of a replay. `seed` is the one that was sent."""

    template: str
    """SHA-256 of the template of its prompts."""


class ModelUse(Struct, frozen=True, omit_defaults=True):
    """The tokens, cost and time of a model in a call or in a match."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """Dollars; None without a price."""
    completions: int = 0
    illegal: int = 0
    """Completions without a legal answer."""
    service_s: float = 0.0
    """How long the service took, waits that it asked for included."""
    estimated: int = 0
    """Completions whose tokens the service did not count: a token for 4 bytes."""
    unstructured: int = 0
    """Completions that were asked for without the schema of the answer."""
    reasoning_tokens: int = 0
    """Those of `completion_tokens` that went into reasoning, as far as the service says."""
    cached_tokens: int = 0
    """Those of `prompt_tokens` that the service had from an earlier prompt, as far as it says."""

    @property
    def tokens(self) -> int:
        """Those of prompts and completions."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def illegal_share(self) -> float:
        """The share of completions without a legal answer, 0 … 1."""
        return self.illegal / max(1, self.completions)

    def __add__(self, other: "ModelUse") -> "ModelUse":
        costs = [each.cost for each in (self, other) if each.cost is not None]
        sums = {name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__ if name != "cost"}
        return ModelUse(**sums, cost=sum(costs) if costs else None)


def total(uses: Iterable[ModelUse | None]) -> ModelUse | None:
    """Returns the sum; None if no model is among them."""
    known = [use for use in uses if use is not None]
    return sum(known, ModelUse()) if known else None


class Exchange(Struct, frozen=True, omit_defaults=True):
    """A prompt and its completion, in the transcript of a match."""

    messages: list[dict[str, Any]]
    """Those that are new: a rethink continues the conversation, and the first message of a match is not repeated."""
    completion: str
    use: ModelUse
    finish: str = ""
    """Why the completion ended, as the service says."""
    problem: str = ""
    """Why the answer was refused; empty = it was legal."""
    reasoning: str = ""
    """The model's thoughts before the answer, if the service returns them apart from the text."""


class Moment(Struct, frozen=True):
    """Usage of a bot's process tree at one reading."""

    at_s: float
    """Since its start."""
    memory_bytes: int
    cpu_s: float
    processes: int


class Metering(Struct, frozen=True):
    """What determines the fuel of a metered bot, besides its input."""

    sha256: str
    """The hash of the module."""
    engine: str
    """Its name and version, and the target platform if that is not this machine's."""
    prices: int
    """The version of the prices of what the engine does not count."""
    fuel_per_ms: Annotated[int, Meta(ge=1)]
    """Units of fuel in a millisecond of the bot's clock."""


class CallCost(Struct, frozen=True):
    """The cost of one call."""

    wall_s: float = 0.0
    """Charge to the seat's clock."""
    cpu_s: float = 0.0
    """CPU time of the main process."""
    waited_s: float = 0.0
    """How long a call of more than a few milliseconds waited for a core, if that is known."""
    slowed: bool = False
    """The call was late or almost late because no core was free."""
    stderr_bytes: int = 0
    """Size of the file with standard error when the call began."""
    fuel: int | None = None
    """Units of fuel that a metered bot has used; None for any other."""
    model: ModelUse | None = None
    """The tokens and cost of a language model; None for any other."""
    transcript: tuple[Exchange, ...] = ()
    """The prompts and completions of a language model."""


NO_COST = CallCost()
