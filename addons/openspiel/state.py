"""A position of any game of OpenSpiel. Rules: openspiel.md.

OpenSpiel knows the rules. This engine draws the outcomes of chance with the match's dice, asks all players of a
simultaneous move at once, and lets a fault lose.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import blake2b
from typing import Any, ClassVar, Self

import msgspec
import pyspiel
from msgspec import UNSET

from referee.addons.openspiel import syzygy, trial
from referee.addons.openspiel.adjudication import Adjudication
from referee.addons.openspiel.start import FEN_OPTION, MOVES_OPTION, TENSOR_OPTION, first_state
from referee.addons.openspiel.types import ACT, METHODS, Action, FullView, Legal, Position, TensorPosition
from referee.games.contract import LOSES, Call, Event, Fault, Player, Result, Setup, State, draw, in_json, win
from referee.games.dice import Dice
from referee.games.game import Stakes

CHANCE, SIMULTANEOUS = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.SIMULTANEOUS)
UNIT = 1 << 53
"""The dice give a fraction of this, which a double holds exactly."""
SEEDS = (1 << 31) - 1
KINDS: dict[str, Any] = {kind.short_name: kind for kind in pyspiel.registered_games()}
"""OpenSpiel's types of its games, with their default parameters, by name."""
ADJUDICATION = ("draw", "resign", "maxmoves")
ADDED = frozenset({"opening", FEN_OPTION, MOVES_OPTION, TENSOR_OPTION, syzygy.OPTION, *ADJUDICATION})
"""The fields of a match's options that are no parameters of OpenSpiel."""
DEALT = frozenset({"kuhn_poker", "leduc_poker"})
"""Games whose hidden cards OpenSpiel deals again. Its other games cannot do so, or not with all parameters."""
REFUSALS = (pyspiel.SpielError, IndexError, ValueError)
"""What OpenSpiel raises for parameters and actions that it does not take."""


class Spiel(State):
    """A position of the game `NAME`."""

    METHODS = METHODS
    NAME: ClassVar[str]
    """OpenSpiel's name of the game."""
    WARNINGS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, setup: Setup, dice: Dice | None = None, history: Sequence[int] | None = None) -> None:
        """`history`: the actions that lead to a known position; without it, the first position of a match."""
        super().__init__(setup, dice)
        self.warnings = self.WARNINGS
        self._game, state = loaded(self.NAME, setup)
        self._adjudication = _adjudication(setup.options)
        self._syzygy: int = getattr(setup.options, syzygy.OPTION, 0)
        if self._syzygy:
            syzygy.opened(self._syzygy)  # a table that is missing is said before the match
        self._type = self._game.get_type()  # parameters change it: a game can hide more than it does by default
        self._perfect = self._type.information == pyspiel.GameType.Information.PERFECT_INFORMATION
        sampled = self._type.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC
        self._dealt = self.NAME in DEALT
        self.deals_again = (self._perfect or self._dealt) and not sampled  # OpenSpiel does not draw such luck again
        self._simultaneous = self._type.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        self._for_a_point = pays_a_point(self._game)
        self._observed = self._type.provides_observation_string
        self._tensor = getattr(setup.options, TENSOR_OPTION, "")
        if self._tensor and not getattr(self._type, f"provides_{self._tensor}_tensor"):
            raise ValueError(f"OpenSpiel's {self.NAME} has no {self._tensor} tensor with these options")
        self._bind(state)
        self._turns = tuple([{player: ACT} for player in self._seats])
        self._history: list[int] = [*getattr(setup.options, MOVES_OPTION, ())]
        self._trail, self._trailed = blake2b(digest_size=16), 0  # of the first actions, and how many these are
        self._ids: dict[Player, list[int]] = {}
        if history is None:
            try:
                self._settle()
                self._play_opening(setup.options.opening)
                if any(getattr(setup.options, name, None) for name in (FEN_OPTION, MOVES_OPTION)):
                    self.dice = Dice(0)  # no luck is left: equal games from a book have equal keys
                if self._adjudication is not None:
                    self._adjudication.counts[0] = len(self._history)
                self._await()
            except REFUSALS as error:
                raise _refused(error) from error
        else:
            self._replay(history)
            self._await()

    def _bind(self, state: Any) -> None:
        """Takes this state of OpenSpiel. Its methods are looked up once: for a small game, each look-up counts."""
        self._state = state
        self._player_to_move, self._apply_action = state.current_player, state.apply_action
        self._legal_actions, self._text_of = state.legal_actions, state.action_to_string
        self._shown_to = state.observation_string if self._observed else state.information_state_string
        self._tensor_of = getattr(state, f"{self._tensor}_tensor") if self._tensor else None

    # The first position.

    def _play_opening(self, plies: int) -> None:
        """Plays random moves, but none that ends the match."""
        for _ in range(plies):
            state = self._state
            players = (state.is_simultaneous_node() and range(self._game.num_players())) or [state.current_player()]
            legal = {player: state.legal_actions(player) or [0] for player in players}
            chosen = {player: self.dice.choice(actions, "opening") for player, actions in legal.items()}
            child = state.clone()
            _apply(child, chosen)
            if child.is_terminal():
                return
            self._move(chosen)
            self._settle()

    def _replay(self, history: Sequence[int]) -> None:
        """Goes to where these actions lead."""
        moves, rest = self._history, list(history[len(self._history) :])
        if list(history[: len(moves)]) != moves:
            raise ValueError("the history does not begin with the option `moves`")
        while rest:
            state = self._state
            if state.is_simultaneous_node():
                actions = {player: rest.pop(0) for player in range(self._game.num_players())}
            else:
                actions = {state.current_player(): rest.pop(0)}
            _check_legal(state, actions)
            self._move(actions)

    # Moves.

    def _move(self, actions: Mapping[Player, int]) -> None:
        _apply(self._state, actions)
        self._history += actions.values()

    def _settle(self) -> None:
        """Draws the outcomes of chance until a player is to move, or the match is over."""
        while self._player_to_move() == CHANCE:
            outcomes = self._state.chance_outcomes()
            point, reached = self.dice.below(UNIT, "chance") / UNIT, 0.0
            outcome = outcomes[-1][0]
            for action, probability in outcomes:
                reached += probability
                if point < reached:
                    outcome = action
                    break
            self._move({0: outcome})

    def _await(self) -> None:
        """Asks the seats that are to move, or ends the match."""
        state = self._state
        self._ids = {}
        player = self._player_to_move()
        if player >= 0:
            self.awaited = self._turns[player]
        elif player == SIMULTANEOUS:
            players = [player for player in range(self._game.num_players()) if state.legal_actions(player)]
            self.awaited = dict.fromkeys(players, ACT)
        else:
            self.awaited = {}
            self.finish(_outcome(state.returns(), self._for_a_point))

    # The contract of every engine.

    # Most decisions are one player's. For these, `calls`, `judged` and `step` have a short way.

    def calls(self) -> tuple[Call, ...]:
        if len(self.awaited) != 1:
            return super().calls()
        (player,) = self.awaited
        return (Call(player, ACT, self.params(player)),)

    def judged(self, answers: Mapping[Player, Any]) -> dict[Player, Any]:
        if len(answers) == 1 and not (self._simultaneous or self.out):
            ((player, answer),) = answers.items()
            if type(answer) is Action and answer.text is UNSET and answer.action in self._ids.get(player, ()):
                return {player: answer}
        return super().judged(answers)

    def step(self, answers: Mapping[Player, Any]) -> list[Event]:
        events = self._step(answers)
        if self._adjudication is not None and self.result is None:
            ((player, answer),) = answers.items()
            if (result := self._adjudication.moved(player, answer)) is not None:
                events += self.finish(result)
        if self._syzygy and self.result is None:
            result = syzygy.opened(self._syzygy).result(self._state.board().to_fen())
            events += [] if result is None else self.finish(result)
        return events

    def _step(self, answers: Mapping[Player, Any]) -> list[Event]:
        if len(answers) == 1 and not self._simultaneous:
            (answer,) = answers.values()
            if type(answer) is Action and (action := answer.action) is not UNSET:
                self._apply_action(action)
                self._history.append(action)
                self._ids = {}
                if (player := self._player_to_move()) >= 0:
                    self.awaited = self._turns[player]
                else:
                    if player == CHANCE:
                        self._settle()
                    self._await()
                return []
        faults = {player: answer for player, answer in answers.items() if isinstance(answer, Fault)}
        if faults:
            events: list[Event] = [self.rule(player, fault, LOSES) for player, fault in faults.items()]
            return events + self.finish(self._walkover(faults))
        chosen = {player: _number(self, player, answer) for player, answer in answers.items()}
        if self._player_to_move() == SIMULTANEOUS:
            chosen = {player: chosen.get(player, 0) for player in range(self._game.num_players())}
        self._move(chosen)
        self._settle()
        self._await()
        return []

    def finish(self, result: Result) -> list[Event]:
        self._ids = {}
        return super().finish(result) if self.result is None else []

    def refusal(self, player: Player, answer: Action) -> str | None:
        if answer.action is UNSET and answer.text is UNSET:
            return "the answer has neither an action nor a text; expected one of them"
        legal = self._legal_numbers(player)
        if answer.action is not UNSET and answer.action not in legal:
            return f"action {in_json(answer.action)} is not legal now; expected one of {_few(legal)}"
        if answer.text is UNSET:
            return None
        texts = {number: self._text_of(player, number) for number in legal}
        if answer.text not in texts.values():
            return f"the text {in_json(answer.text)} is no legal action; expected one of {_few(list(texts.values()))}"
        if answer.action is not UNSET and texts[answer.action] != answer.text:
            return f"action {answer.action} is {in_json(texts[answer.action])}, not {in_json(answer.text)}"
        return None

    def _legal_numbers(self, player: Player) -> list[int]:
        if player not in self._ids:
            self._ids[player] = self._legal_actions(player)
        return self._ids[player]

    def _legal(self, player: Player) -> Iterator[Action]:
        return iter([Action(number) for number in self._legal_numbers(player)])

    def _sample(self, player: Player, dice: Dice) -> Action:
        return Action(dice.choice(self._legal_numbers(player)))

    def params(self, player: Player) -> Position:
        text_of, legal = self._text_of, []
        self._ids[player] = numbers = self._legal_actions(player)
        for number in numbers:  # a comprehension costs another call in Python 3.11
            legal.append(Legal(number, text_of(player, number)))
        history, tensor_of = tuple(self._history) if self._perfect else (), self._tensor_of
        if tensor_of is None:
            return Position(self._shown_to(player), tuple(legal), player, history)
        return TensorPosition(self._shown_to(player), tuple(legal), player, history, tuple(tensor_of(player)))

    def _view(self, player: Player) -> Position:
        if player in self.awaited:
            return self.params(player)
        history, tensor_of = tuple(self._history) if self._perfect else (), self._tensor_of
        if tensor_of is None:
            return Position(self._shown_to(player), (), player, history)
        return TensorPosition(self._shown_to(player), (), player, history, tuple(tensor_of(player)))

    def _full_view(self) -> FullView:
        counts = () if self._adjudication is None else tuple(self._adjudication.counts)
        return FullView(tuple(self._history), str(self._state), self.standing(), counts)

    @classmethod
    def rebuilt(cls, setup: Setup, view: FullView) -> Self:
        """Returns the position that a full view shows. ValueError if its actions lead to none."""
        try:
            state = cls(setup, history=view.history)
        except REFUSALS as error:
            raise ValueError(f"the history leads to no position: {error}") from error
        state.resume(view.standing)
        if state._adjudication is not None:
            state._adjudication.resume(view.adjudication)
        return state

    def key(self) -> bytes:
        self._trail.update(b"".join([b"%d " % action for action in self._history[self._trailed :]]))
        self._trailed = len(self._history)
        result = self.result and (self.result.ranks, self.result.reason)
        counts = "" if self._adjudication is None else f" {self._adjudication.counts}"
        return f"{self._trail.hexdigest()} {sorted(self.out)} {result} {self.dice.state:x}{counts}".encode()

    def copy(self, seed: int | None = None) -> Self:
        if self._type.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:  # its luck is outside of the state
            twin = type(self)(self.setup, history=self._history)
            twin.resume(self.standing())
        else:
            twin = self._twin()
            twin._bind(self._state.clone())
            twin._history, twin._trail = [*self._history], self._trail.copy()
            twin.awaited, twin._ids = dict(self.awaited), dict(self._ids)
            twin._adjudication = self._adjudication and self._adjudication.copy()
        twin.dice = self.dice.copy() if seed is None else Dice(seed)
        if seed is not None and self._dealt and self.result is None:
            _deal(twin)
        return twin

    def shown_to(self, player: Player) -> str:
        return str(self._shown_to(player))

    def __str__(self) -> str:
        return str(self._state)

    def __reduce__(self) -> tuple[Any, ...]:
        setup = self.setup  # the type of the options is made when the game is registered
        options = msgspec.to_builtins(setup.options)
        return _unpickled, (self.NAME, setup.seed, setup.names, options, self._full_view())


def _deal(position: Spiel) -> None:
    """Deals again what is hidden from the player to move."""
    player, dice = position._player_to_move(), position.dice
    position._bind(position._state.resample_from_infostate(player, lambda: dice.below(UNIT, "chance") / UNIT))
    position._history, position._ids = list(position._state.history()), {}
    position._trail, position._trailed = blake2b(digest_size=16), 0


def moves_in_words(position: Spiel, player: Player) -> list[str]:
    """Returns all moves so far, with luck; none in a game that hides something."""
    if not position._perfect:
        return []
    fen, game = getattr(position.setup.options, FEN_OPTION, ""), position._game
    state, words, rest = first_state(game, fen), list[str](), list(position._history)
    while rest:
        movers = range(game.num_players()) if state.is_simultaneous_node() else [state.current_player()]
        chosen = {mover: rest.pop(0) for mover in movers}
        for mover, action in chosen.items():
            name = "luck" if mover == CHANCE else f"seat {mover}"
            words.append(f"{name}: {state.action_to_string(mover, action)}")
        _apply(state, chosen)
    return words


def pays_a_point(game: Any) -> bool:
    """Returns whether a game of OpenSpiel pays 1 at most, and what one player gets is lost by another."""
    zero_sum = game.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    return bool(zero_sum and game.max_utility() == 1)


def stakes_of(game: Any) -> Stakes:
    """Returns what a game of OpenSpiel is played for."""
    return Stakes(game.min_utility(), game.utility_sum())


def named(state: Spiel, player: Player, answer: Action) -> tuple[int, str]:
    """Returns the number of a legal action and its text. StopIteration if the text is of none."""
    number = _number(state, player, answer)
    return number, state._text_of(player, number)


def _number(state: Spiel, player: Player, answer: Action) -> int:
    if answer.action is not UNSET:
        return answer.action
    return next(number for number in state._legal_numbers(player) if state._text_of(player, number) == answer.text)


def _unpickled(name: str, seed: int, names: tuple[str, ...], options: dict[str, Any], view: FullView) -> Spiel:
    from referee.addons.openspiel.family import environment_of

    game = environment_of(name)
    state = game.position(Setup(seed, names, msgspec.convert(options, game.options)), view)
    assert isinstance(state, Spiel)
    return state


def _outcome(returns: Sequence[float], for_a_point: bool) -> Result:
    """Returns the result: the more a player gets, the better. Of a won, drawn and lost game, the usual points."""
    if for_a_point and len(returns) == 2:
        first, second = returns
        return draw("DRAW") if first == second else win(0 if first > second else 1, "WIN")
    ranks = tuple([1 + sum(other > own for other in returns) for own in returns])
    return Result(ranks, tuple([float(own) for own in returns]), "RETURNS")


def _apply(state: Any, actions: Mapping[Player, int]) -> None:
    if len(actions) == 1:
        (action,) = actions.values()
        state.apply_action(action)
    else:
        state.apply_actions(list(actions.values()))


def _check_legal(state: Any, actions: Mapping[Player, int]) -> None:
    """Raises ValueError for an action that is not legal: some would end the process."""
    for player, action in actions.items():
        legal = state.legal_actions() if player == CHANCE else state.legal_actions(player) or [0]
        if action not in legal:
            raise ValueError(f"action {action} is not legal there")


def loaded(name: str, setup: Setup, tried: bool = False) -> tuple[Any, Any]:
    """Returns OpenSpiel's game with the options of a match, and its first state. ValueError if they make none.

    `tried`: the options are those of a match that has begun, and need no trial.
    """
    kind = KINDS[name]
    known = kind.parameter_specification
    options = setup.options
    given = {name: value for name, value in parameters(options).items() if value != known[name]}
    if not kind.min_num_players <= len(setup.names) <= kind.max_num_players:
        raise ValueError(f"{len(setup.names)} players are named; OpenSpiel's {name} has other numbers of players")
    if (players := given.get("numPlayers", len(setup.names))) != len(setup.names):  # OpenSpiel itself crashes then
        raise ValueError(f"numPlayers is {players}, and {len(setup.names)} are named")
    if given and not tried:  # OpenSpiel checks few of them, and some end the process
        trial.check(name, tuple(sorted({**given, **_players(kind, setup)}.items())))
    given |= _players(kind, setup)
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:  # such a game has luck of its own
        given["rng_seed"] = Dice(setup.seed).fork("openspiel").below(SEEDS)
        game, state = _started(name, tuple(given.items()))
    else:
        game, state = _shared(name, tuple(given.items()))
    if game.num_players() != len(setup.names):
        raise ValueError(f"with these options {game.num_players()} players play, and {len(setup.names)} are named")
    fen, moves = getattr(options, FEN_OPTION, ""), getattr(options, MOVES_OPTION, ())
    return game, first_state(game, fen, moves) if fen or moves else state.clone()


def _adjudication(options: Any) -> Adjudication | None:
    """Returns the adjudication that the options ask for. ValueError for a rule that is written wrong."""
    draw, resign, most = (getattr(options, name, None) for name in ADJUDICATION)
    return Adjudication(draw or "", resign or "", most or 0) if draw or resign or most else None


def _players(kind: Any, setup: Setup) -> dict[str, int]:
    return {"players": len(setup.names)} if "players" in kind.parameter_specification else {}


def _started(name: str, given: tuple[tuple[str, Any], ...]) -> tuple[Any, Any]:
    try:
        with kept_stderr():
            game = pyspiel.load_game(name, dict(given))
            state = game.new_initial_state()
            if not state.is_chance_node():
                for player in range(game.num_players()):  # of a board that is too large, the texts are no UTF-8
                    [state.action_to_string(player, action) for action in state.legal_actions(player)]
            return game, state
    except REFUSALS as error:
        raise _refused(error) from error


def _refused(error: Exception) -> ValueError:
    """Returns the error for parameters with which OpenSpiel cannot begin a match."""
    if isinstance(error, UnicodeError):
        return ValueError("with these options, OpenSpiel writes actions that are not UTF-8; choose smaller numbers")
    return ValueError(f"OpenSpiel begins no match with these options: {' '.join(str(error).split())}")


_shared = lru_cache(64)(_started)
"""Some games read files when they are loaded."""


def parameters(options: Any) -> dict[str, Any]:
    """Returns OpenSpiel's parameters among a match's options, by their names there."""
    names = zip(options.__struct_fields__, options.__struct_encode_fields__, strict=True)
    return {encoded: getattr(options, name) for name, encoded in names if name not in ADDED}


@contextmanager
def kept_stderr() -> Iterator[list[str]]:
    """Keeps what OpenSpiel prints off the terminal: its warnings would come from every process of a run."""
    printed: list[str] = []
    own, (source, target) = os.dup(2), os.pipe()
    os.set_blocking(target, False)  # OpenSpiel writes a line or two
    os.dup2(target, 2)
    os.close(target)
    try:
        yield printed
    finally:
        os.dup2(own, 2)  # closes the pipe's other end
        os.close(own)
        with os.fdopen(source, "rb") as read:
            printed.append(read.read().decode("utf-8", "replace"))


def _few(items: Sequence[Any]) -> str:
    return ", ".join(map(in_json, items[:3])) + ", …" * (len(items) > 3)
