"""Runs an engine as a bot of the protocol: `run.py PROTOCOL [OPTION …] -- COMMAND [ARGUMENT …]`.

A line in which the engine plays no legal move is the bot's answer as it is, so that the verdict quotes it.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any

from referee.addons.engines import options
from referee.addons.engines.board import Board
from referee.addons.engines.cecp import Cecp
from referee.addons.engines.child import Engine
from referee.addons.engines.dialect import START_SHARE, Dialect, Settings, Time
from referee.addons.engines.gtp import Gtp
from referee.addons.engines.uci import Uci
from referee.harness.opponents._serve import Handler, UnknownMethod, serve_matches
from referee.protocol.messages import Initialize

METHOD = "act"
END_S = 5.0
"""How long an engine may take to end. The referee usually allows less."""


class EngineBot:
    """One engine, in match after match."""

    def __init__(self, protocol: str, settings: Settings, command: Sequence[str]) -> None:
        self.settings = settings
        self.engine = Engine(command, settings.debug)
        self.dialect = _dialect(protocol, self.engine, settings)
        self._began = time.monotonic()
        self._name = ""

    def begin(self, match: Initialize) -> tuple[Handler, str]:
        """Begins a match. Returns the handler of its calls and the engine's name."""
        limits, overhead_ms = match.limits, self.settings.overhead_ms
        board = Board(match.game, match.options)
        increment_ms = limits.increment_ms
        if not self._name:
            self._name = self.dialect.greet(self._began + START_SHARE * limits.startup_ms / 1000)
        first = Time(limits.call_ms, limits.initial_ms, increment_ms, overhead_ms)
        self.dialect.start(board, first, match.seed)

        def handle(method: str, params: dict[str, Any]) -> Any:
            if method != METHOD:
                raise UnknownMethod(method)
            shown = params["clock"]
            answers_left = shown.get("answers_left")
            left = Time(shown["call_ms"], shown["remaining_ms"], increment_ms, overhead_ms, answers_left=answers_left)
            board.advance(params["history"])
            line = self.dialect.move(board, left)
            action = board.action_of(self.dialect.move_in(line))
            return {"text": line} if action is None else self.dialect.info.with_action(action)

        return handle, self._name


def _dialect(protocol: str, engine: Engine, settings: Settings) -> Dialect:
    if protocol == "gtp":
        return Gtp(engine, settings)
    return Cecp(engine, settings) if protocol == "cecp" else Uci(engine, settings, protocol)


def main(words: list[str]) -> None:
    """Plays until standard input ends."""
    place = words.index(options.COMMAND)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("protocol", choices=options.PROTOCOLS)
    for name in options.BOUNDS:
        parser.add_argument(name, type=int)
    parser.add_argument(options.OPTION, action="append", default=[])
    parser.add_argument(options.OVERHEAD, type=int, default=options.OVERHEAD_MS)
    parser.add_argument(options.DEBUG, action="store_true")
    given = parser.parse_args(words[:place])
    parts = (each.partition("=") for each in given.option)
    own = tuple((name, value if equals else None) for name, equals, value in parts)
    settings = Settings(given.nodes, given.depth, given.movetime, own, given.overhead, given.debug)
    try:
        seat = EngineBot(given.protocol, settings, words[place + 1 :])
    except OSError as error:
        sys.exit(f"the engine cannot be started: {error}")
    serve_matches(seat.begin)
    seat.engine.quit(END_S)


if __name__ == "__main__":
    main(sys.argv[1:])
