"""Processes that play continuations side by side."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from referee.addons.analysis.continuation import OutOfTimeError, ended
from referee.addons.analysis.curve import Play, Task, most_turns, sampled
from referee.addons.analysis.history import History
from referee.addons.analysis.policy import Policy, known
from referee.harness.common.known_games import typed_game
from referee.harness.replay.reader import Replay

QUICK_S = 2.0
"""Less work than this is done in this process: others would take as long to start."""
LEAST = 100
"""A bot that can play fewer continuations than this in the time is too slow: the next weaker one plays."""
CHOICE_SHARE = 0.2
"""Of the time, at most, to find out how quick the bots are."""

_history: History | None = None
"""In such a process: the match."""


def chosen(history: History, seconds: float, policy: Policy | None) -> tuple[Policy, float]:
    """Returns the built-in bot that plays, and about how long a continuation with it takes: at least so long.

    `policy`: the one that the user named; None = the strongest that is quick enough.
    """
    left_s = CHOICE_SHARE * seconds
    if policy is not None:
        return policy, cost(history, policy, left_s)
    enough_s = seconds * len(os.sched_getaffinity(0)) / LEAST
    for name in reversed(known(history.game)):
        policy = Policy(history.game, name)
        most_s = min(enough_s, left_s / 4)
        cost_s = cost(history, policy, 2 * most_s)
        left_s -= 2 * cost_s
        if cost_s <= most_s:
            break
    assert policy is not None
    return policy, cost_s


def cost(history: History, policy: Policy, most_s: float) -> float:
    """Returns how many seconds of CPU a continuation takes, from the opening and the middle.

    Both are stopped after `most_s`; then a continuation takes longer than what is returned, half of that or more.
    """
    turns = (history.turns // 2, 0)
    ended(*history.at(turns[0]), policy, 0, most_turns=1)  # loads the bot's program
    started = time.thread_time()
    with suppress(OutOfTimeError):
        for turn in turns:
            state, told = history.at(turn)
            most = most_turns(history, turn)
            ended(state, told, policy, 0, None, most, lambda: time.thread_time() > started + most_s)
    return (time.thread_time() - started) / len(turns)


@contextmanager
def playing(
    replay: Replay, rules: Path | None, history: History, policy: Policy, work_s: float
) -> Iterator[tuple[Play, int]]:
    """Yields what plays continuations, and how many tasks it takes at a time. `work_s`: how much there is, about."""
    if work_s < QUICK_S or (history.game.sha256 and rules is None):  # other processes would not find the game
        yield (lambda tasks: [sampled(history, policy, task) for task in tasks]), 1
        return
    jobs = len(os.sched_getaffinity(0))
    content = b"".join(line + b"\n" for line in replay.lines)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _begin, (replay.path, content, rules)) as pool:

        def play(tasks: Sequence[Task]) -> Iterator[list[tuple[float, ...]]]:
            return pool.map(_sampled, [policy.name] * len(tasks), tasks)

        try:
            list(play([Task(history.turns, range(0))] * jobs))  # when the time begins, all are there
            yield play, jobs
        finally:
            pool.shutdown(cancel_futures=True)


def _begin(path: Path, content: bytes, rules: Path | None) -> None:
    global _history
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that shows what there is
    if rules is not None:
        typed_game(os.path.join(rules, ""))
    _history = History(Replay(path, content))


def _sampled(name: str, task: Task) -> list[tuple[float, ...]]:
    assert _history is not None
    return sampled(_history, Policy(_history.game, name), task)
