"""Registers OpenSpiel's games when they are asked for."""

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import pyspiel
from msgspec import UNSET, Meta, defstruct

from referee.addons.openspiel import boards, syzygy
from referee.addons.openspiel.adjudication import REASON, Draw, Most, Resign
from referee.addons.openspiel.fen import LONGEST_FEN
from referee.addons.openspiel.start import CHESS, FEN_OPTION, MOST_MOVES, MOVES_OPTION, TENSOR_OPTION
from referee.addons.openspiel.state import (
    ADDED,
    ADJUDICATION,
    KINDS,
    REFUSALS,
    Spiel,
    kept_stderr,
    loaded,
    moves_in_words,
    parameters,
    pays_a_point,
    stakes_of,
)
from referee.addons.openspiel.types import METHODS, Action, FullView, Position
from referee.games.contract import Call, Player, Setup
from referee.games.game import Game, Listed, Presentation, Stakes, TimeControl

PREFIX = "openspiel:"
MOST_PLIES = 1000
OWN = frozenset({"players", "rng_seed"})
"""Parameters that the match sets: the number of bots, and the seed."""
FILES = frozenset({"boards_file", "instances_file"})
"""Parameters that name a file: a replay from somebody else could name any file of this machine."""
HIDING = frozenset({"imp_info", "fully_obs"})
"""Parameters that decide whether something is hidden, in goofspiel and laser_tag."""
SIMULATIONS = 100
"""Those of `@mcts` for a move, without a number."""
TENSORS = ("observation", "information_state")
"""What OpenSpiel has tensors of."""
PROMPT, RULES_PAGES = "prompt.md.jinja", Path(__file__).parent / "rules"
"""The template for language models, and our pages with the rules of the games that people play."""
RECORDS = {"chess": "pgn", "go": "sgf"}
"""The games with files of their own, and the modules that read and write these."""
Fen = Annotated[str, Meta(max_length=LONGEST_FEN, description="the first position, as FEN; empty = the usual one")]
Moves = Annotated[
    tuple[int, ...], Meta(max_length=MOST_MOVES, description="actions that are played before the first call")
]
Opening = Annotated[int, Meta(ge=0, le=MOST_PLIES, description="random moves at the start, drawn from the seed")]


def game_of(name: str) -> Game:
    """Returns the registration of a game. KeyError, with the reason, for one that cannot be played here."""
    game = environment_of(name)
    if game.seats.start < 2:
        default = " with its defaults" if game.seats.stop > 2 else ""
        raise KeyError(f"{game.name} is for one player{default}; two or more are needed")
    return game


@cache
def environment_of(name: str) -> Game:
    """Returns the registration of a game, also of one for one player. KeyError, with the reason, if there is none."""
    if name not in KINDS:
        near = get_close_matches(name, KINDS, 1)
        hint = f"; did you mean {PREFIX}{near[0]}?" if near else "; `referee games openspiel` lists them"
        raise KeyError(f"OpenSpiel has no game {name!r}{hint}")
    kind = KINDS[name]
    game, printed = _loaded(name)

    class OneGame(Spiel):
        NAME = name
        WARNINGS = _warnings(name, printed)

    seats = range(min(game.num_players(), max(2, kind.min_num_players)), kind.max_num_players + 1)
    if "players" not in kind.parameter_specification:
        seats = range(game.num_players(), game.num_players() + 1)
    return Game(
        name=PREFIX + name,
        title=kind.long_name,
        seats=seats,
        methods=METHODS,
        options=_options(kind),
        time=TimeControl(per_call_s=1.0),
        new=OneGame,
        view=FullView,
        seat_view=Position,
        rebuild=OneGame.rebuilt,
        doc=f"{kind.long_name}, a game of OpenSpiel. Rules: openspiel.md, and OpenSpiel's own documentation.",
        rules_page=f"rules/{name}.md" if (RULES_PAGES / f"{name}.md").is_file() else "",
        prompt=PROMPT,
        vary={"opening": 4},
        encoding=f"{__package__}.arrays",
        files=f"{__package__}.files.{RECORDS[name]}" if name in RECORDS else "",
        opponents=_opponents(game.get_type()),
        stakes=lambda options, seats: _stakes(name, options, seats),
        presentation=Presentation(
            answer=_in_words,
            history=moves_in_words,
            start=_start_in_words,
            board=boards.board,
            clicks=boards.clicks,
            secret=frozenset(METHODS if _may_hide(kind) else ()),
            endings={
                "WIN": "{winner} has won",
                "DRAW": "nobody has won",
                "RETURNS": "{scores}",
                REASON: "adjudicated: {detail}",
            },
        ),
    )


def _stakes(name: str, options: Any, seats: int) -> Stakes | None:
    """Returns what a match is played for; None where a win is a point."""
    game, _ = loaded(name, Setup(0, tuple(map(str, range(seats))), options))
    return None if seats == 2 and pays_a_point(game) else stakes_of(game)


def _opponents(kind: Any) -> dict[str, str]:
    """Returns OpenSpiel's bots that play a game from what a call shows: a search needs all actions so far."""
    found = {name: f"{__package__}.opponents.{name}" for name in ("first", "uniform")}
    sampled = kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
    in_turn = kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    at_the_end = kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    if in_turn and at_the_end and not sampled and not _may_hide(kind):
        found[f"mcts:{SIMULATIONS}"] = f"{__package__}.opponents.mcts"
    return found


def _may_hide(kind: Any) -> bool:
    """Returns whether something is hidden from some player, or can be with other parameters."""
    perfect = kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    return not perfect or not HIDING.isdisjoint(kind.parameter_specification)


def _start_in_words(position: Spiel, player: Player) -> str:
    """Returns the FEN of the first position in which a player may move; empty for the usual one, or without a FEN."""
    options, state = position.setup.options, position._game.new_initial_state()
    if position.NAME != CHESS:
        fen = str(parameters(options).get(FEN_OPTION, ""))
        placed = fen.partition(" ")[0]
        return fen if placed and placed in str(state) else ""  # antichess ignores it
    if fen := options.fen:
        return str(fen)
    if not (position._history and state.is_chance_node()):
        return ""
    state.apply_action(position._history[0])  # Chess960 draws its first position
    return str(state.board().to_fen())


def _in_words(call: Call, answer: Action) -> str | None:
    """Returns the text of an action."""
    if answer.action is UNSET:
        return None if answer.text is UNSET else answer.text
    return next((each.text for each in call.params.legal if each.action == answer.action), None)


def _loaded(name: str) -> tuple[Any, str]:
    """Loads a game with its defaults. Returns it, and what OpenSpiel printed. KeyError if it cannot be played here."""
    with kept_stderr() as printed:
        try:
            game = pyspiel.load_game(name)
            if game.num_players() == 1 and not (state := game.new_initial_state()).is_chance_node():
                state.legal_actions()  # one game has no numbers for its actions
        except REFUSALS as error:
            raise KeyError(f"{PREFIX}{name} cannot be loaded without parameters: {error}") from error
    kind = KINDS[name]
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise KeyError(f"{PREFIX}{name} is a mean-field game, which has no seats for bots")
    return game, printed[0]


def _warnings(name: str, printed: str) -> tuple[str, ...]:
    return (f"OpenSpiel's {name} has known issues, OpenSpiel says",) if "known issues" in printed else ()


def _options(kind: Any) -> type:
    """Returns the type of a game's options: its parameters, and random moves at the start."""
    fields: list[Any] = [("opening", Opening, 0), *_added(kind)]
    names = {}
    for name, default in sorted(kind.parameter_specification.items()):
        if name not in OWN | FILES and isinstance(default, bool | int | float | str):
            field = name if name.isidentifier() and name not in ADDED else f"parameter_{name}"
            names[field] = name
            fields.append((field, Annotated[type(default), Meta(description=f"OpenSpiel's parameter {name}")], default))
    return defstruct(
        "Options",
        fields,
        frozen=True,
        forbid_unknown_fields=True,
        rename=names,
        module=Position.__module__,
        namespace={"__doc__": f"Options of OpenSpiel's {kind.long_name}."},
    )


def _added(kind: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yields what Referee adds to the options: tensors; and more for two players who move in turn."""
    if tensors := [name for name in TENSORS if getattr(kind, f"provides_{name}_tensor")]:
        meaning = f"the tensor that calls carry: {' or '.join(tensors)}; empty = none"
        yield TENSOR_OPTION, Annotated[Literal["", *tensors], Meta(description=meaning)], ""
    luck = kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC and kind.short_name != CHESS
    hides = kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION
    in_turn = kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    if luck or hides or not in_turn or kind.max_num_players != 2:
        return
    if kind.short_name == CHESS:
        yield FEN_OPTION, Fen, ""
        yield syzygy.OPTION, syzygy.Pieces, 0
    yield MOVES_OPTION, Moves, ()
    yield from zip(ADJUDICATION, (Draw, Resign, Most), ("", "", 0), strict=True)


def listed_games() -> list[Listed]:
    """Returns all games that can be played here."""
    found = []
    for name, kind in sorted(KINDS.items()):
        try:
            game = game_of(name)
        except KeyError:
            continue
        found.append(
            Listed(
                name=game.name,
                title=game.title,
                seats=game.seats,
                dynamics=kind.dynamics.name.lower(),
                information=kind.information.name.lower().replace("_", " ").removesuffix(" information"),
                chance=kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC,
            )
        )
    return found
