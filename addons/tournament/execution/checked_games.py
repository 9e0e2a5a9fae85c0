"""Checks a game of a ledger against its replay."""

from referee.addons.tournament.execution.worker import content
from referee.addons.tournament.store.ledger import Line
from referee.games.contract import Result
from referee.harness.replay.reader import Replay
from referee.harness.replay.simulate import Difference, verify


def check_game(line: Line, replay: Replay) -> None:
    """Difference if the replay is wrong, or not that of the line."""
    if replay.other_rules:
        raise Difference(1, f"the rules have the hash {replay.header.game_sha256}, and {replay.game.sha256} here")
    result = verify(replay)
    if replay.header.setup.seed != line.s:
        raise Difference(1, f"the seed is {replay.header.setup.seed}, and {line.s} in the ledger")
    recorded = Result(line.r, line.p, line.why)
    if result is None or (result.ranks, result.scores) != (recorded.ranks, recorded.scores):
        raise Difference(len(replay.lines), f"the result is {result}, and {recorded} in the ledger")
    if line.a and content(replay.lines, replay.game) != line.a:
        raise Difference(1, "the course of the game is another than in the ledger")
