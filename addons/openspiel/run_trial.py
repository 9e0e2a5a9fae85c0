"""Begins and plays a game of OpenSpiel with given parameters, in a process of its own.

OpenSpiel checks few parameters: others crash the process, take all its memory or never return. Standard input has
`[NAME, PARAMETERS]` as JSON. The last line of standard output is `ok`, or `refused ` and the reason. Without such a
line, the process was ended. It imports nothing of Referee, which would take longer than the trial.
"""

import json
import random
import resource
import signal
import sys
import time

CPU_S = 10
"""The limit of CPU time. With usual parameters, a trial takes less than 0.5 s."""
MEMORY_BYTES = 3 << 30
TEXT_CHARACTERS = 1 << 20
"""A longer text of a position would not fit into a frame of the usual size."""
PLAYS, PLAY_S = 3, 0.5
"""How many random matches are played, and when the last of them is broken off, in seconds of CPU time."""


def main() -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_CPU, CPU_S)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    import pyspiel

    name, parameters = json.load(sys.stdin)
    try:
        _try(pyspiel, name, parameters)
    except UnicodeError:
        sys.stdout.write(
            "refused with these options, OpenSpiel writes actions that are not UTF-8; choose smaller numbers"
        )
    except MemoryError:
        sys.stdout.write(
            f"refused OpenSpiel needs more than {MEMORY_BYTES >> 30} GiB of memory with them; choose smaller numbers"
        )
    except (pyspiel.SpielError, IndexError, ValueError, RuntimeError) as error:
        sys.stdout.write(f"refused OpenSpiel begins no match with these options: {' '.join(str(error).split())[:500]}")
    else:
        sys.stdout.write("ok")


def _limit(kind: int, value: int) -> None:
    """Sets a limit, unless a lower one holds already."""
    _, most = resource.getrlimit(kind)
    value = value if most == resource.RLIM_INFINITY else min(value, most)
    resource.setrlimit(kind, (value, value))


def _try(pyspiel: object, name: str, parameters: dict[str, object]) -> None:
    """Calls what the engine and the arrays for training call."""
    game = pyspiel.load_game(name, parameters)  # type: ignore[attr-defined]
    kind = game.get_type()
    game.max_utility()
    if kind.provides_observation_tensor:
        game.observation_tensor_shape()
    game.num_distinct_actions()
    players = tuple(range(game.num_players()))
    for number in range(PLAYS):
        luck, state = random.Random(number), game.new_initial_state()
        _look(state, players, kind)
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.chance_outcomes()
                actions = [outcomes[luck.randrange(len(outcomes)) if outcomes else -1][0]]
            elif state.is_simultaneous_node():
                actions = [luck.choice(state.legal_actions(each) or [0]) for each in players]
            else:
                actions = [luck.choice(state.legal_actions(players[state.current_player()]))]
            before = state.clone()
            state.apply_action(actions[0]) if len(actions) == 1 else state.apply_actions(actions)
            del before
            _look(state, players, kind)
            if time.process_time() > PLAY_S:
                return


def _look(state: object, players: tuple[int, ...], kind: object) -> None:
    """Calls all that shows a position."""
    str(state)
    observe = state.observation_string if kind.provides_observation_string else state.information_state_string  # type: ignore[attr-defined]
    is_over, is_chance = state.is_terminal(), state.is_chance_node()  # type: ignore[attr-defined]
    for player in players:
        if len(observe(player)) > TEXT_CHARACTERS:
            raise ValueError("a position has more than 1 MiB of text; choose smaller numbers")
        if not (is_over or is_chance):
            [state.action_to_string(player, action) for action in state.legal_actions(player)]  # type: ignore[attr-defined]
    if is_over:
        state.returns()  # type: ignore[attr-defined]


main()
