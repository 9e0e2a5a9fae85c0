"""What bots are asked and answer in all games of OpenSpiel."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from referee.games.contract import Method, Standing


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


class Action(Struct, frozen=True, omit_defaults=True, gc=False):
    """An answer to `act`: the number of a legal action, or its text. With both, they must be the same action."""

    action: Annotated[int | UnsetType, Meta(description="the number of a legal action")] = UNSET
    text: Annotated[str | UnsetType, Meta(description="the text of a legal action")] = UNSET


class FullView(Struct, frozen=True):
    """The whole position."""

    history: Annotated[tuple[int, ...], Meta(description="all actions so far, those of chance too")]
    board: Annotated[str, Meta(description="the position as OpenSpiel draws it")]
    standing: Standing


ACT = Method("act", Position, Action, "Choose one of the legal actions.", rules="openspiel.md, 2")
METHODS = {ACT.name: ACT}
