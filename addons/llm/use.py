"""The use of a language model: tokens and money, and the transcript of a match."""

from typing import Any

from msgspec import Struct


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
    """How long the service took, with attempts that failed and waits."""
    estimated: int = 0
    """Completions whose tokens the service did not count: a token for 4 bytes."""
    unstructured: int = 0
    """Completions that were asked for without the schema of the answer."""
    reasoning_tokens: int = 0
    """Those of `completion_tokens` that went into reasoning, as far as the service says."""
    cached_tokens: int = 0
    """Those of `prompt_tokens` that the service had from an earlier prompt, as far as it says."""
    left_out: tuple[str, ...] = ()
    """Members that requests did not have because the service refuses them, besides the schema of the answer."""

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
        apart: dict[str, Any] = {
            "cost": sum(costs) if costs else None,
            "left_out": tuple(dict.fromkeys((*self.left_out, *other.left_out))),
        }
        summed = [name for name in self.__struct_fields__ if name not in apart]
        return ModelUse(**{name: getattr(self, name) + getattr(other, name) for name in summed}, **apart)


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
