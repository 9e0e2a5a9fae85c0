"""How a language model is asked, and what the header of a replay says of it."""

from msgspec import Struct

MILLION = 1_000_000


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
    show: tuple[str, ...] = ("legal", "history", "board")
    """What questions have: the legal answers, the moves so far, the position."""
    sends_seed: bool = True
    """False = requests have no seed."""
    max_tokens: int | None = None
    """Most tokens of a completion; None = the service's own limit, and never more than the budget has left."""
    price: tuple[float, float] | None = None
    """Dollars for a million tokens of prompts, and for a million of completions; None = not known."""
    cached_price: float | None = None
    """Dollars for a million tokens of prompts that the service had from an earlier one; None = as others."""
    timeout_s: float = 120.0
    """How long the model may take for a completion."""
    structured: bool | None = None
    """Whether requests have the schema of the answer; None = unless the service refuses it."""
    key_from: str | None = None
    """The environment variable with the key; None = the service wants none."""

    body: tuple[tuple[str, str], ...] = ()
    """More members of each request, with their values as JSON. `null` leaves one out that requests usually have."""
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
    """A model in the header of a replay. `seed` is the one that was sent; None = none."""

    template: str
    """SHA-256 of the template of its prompts."""
