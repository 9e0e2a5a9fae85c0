"""What bots are asked and answer in all games of OpenSpiel."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.contract import Method, Standing, typed


class Legal(Struct, frozen=True, gc=False):
    """A legal action."""

    action: Annotated[int, Meta(description="OpenSpiel's number of the action")]
    text: Annotated[str, Meta(description="OpenSpiel's name for it, such as `e4`")]


class Position(Struct, frozen=True, gc=False):
    """What a player may see, and do."""

    observation: Annotated[str, Meta(description="what the player sees, as OpenSpiel writes it")]
    legal: Annotated[tuple[Legal, ...], Meta(description="the legal actions; empty while the player is not awaited")]
    player: Annotated[int, Meta(ge=0, description="the player's number, which is the seat")]
    history: Annotated[
        tuple[int, ...],
        Meta(description="all actions so far, those of chance too; empty in games with hidden information"),
    ]


class TensorPosition(Position, frozen=True, gc=False):
    """The same with the option `observation`. Bindings of the kits have the members of `Position` only."""

    tensor: Annotated[tuple[float, ...], Meta(description="OpenSpiel's tensor of what the player sees")]


Centipawns = Annotated[int, Meta(ge=-100_000, le=100_000, description="its evaluation, from the player's own side")]
Mate = Annotated[int, Meta(ge=-1000, le=1000, description="moves until it mates; negative: until it is mated")]
Depth = Annotated[int, Meta(ge=0, le=10_000, description="how deep it searched")]
Nodes = Annotated[int, Meta(ge=0, lt=1 << 53, description="how many positions it looked at")]


class Search(Struct, frozen=True, omit_defaults=True, gc=False):
    """The figures of the search behind an action. They play no part in the rules; adjudication reads them."""

    score: Centipawns | UnsetType = UNSET
    mate: Mate | UnsetType = UNSET
    depth: Depth | UnsetType = UNSET
    nodes: Nodes | UnsetType = UNSET


class Action(Struct, frozen=True, omit_defaults=True, gc=False):
    """An answer to `act`: the number of a legal action, or its text. With both, they must be the same action."""

    action: Annotated[int | UnsetType, Meta(description="the number of a legal action")] = UNSET
    text: Annotated[str | UnsetType, Meta(description="the text of a legal action")] = UNSET
    search: Annotated[Search | UnsetType, Meta(description="what the player found in its search; optional")] = UNSET


class FullView(Struct, frozen=True):
    """The whole position."""

    history: Annotated[tuple[int, ...], Meta(description="all actions so far, those of chance too")]
    board: Annotated[str, Meta(description="the position as OpenSpiel draws it")]
    standing: Standing
    adjudication: Annotated[tuple[int, ...], Meta(description="the counts of the adjudication; empty without one")] = ()


def search_of(answer: Any) -> Search:
    """Returns what an answer, also as plain JSON values, reports of the search behind it."""
    try:
        search = typed(answer, Action).search
    except (msgspec.ValidationError, UnicodeEncodeError):
        return Search()
    return Search() if search is UNSET else search


ACT = Method("act", Position, Action, "Choose one of the legal actions.", rules="openspiel.md, 2", remarks=("search",))
METHODS = {ACT.name: ACT}
