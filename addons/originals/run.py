"""Runs one bot of an original competition as a bot of the protocol.

    python run.py GAME [--seed N] [--folder DIR] [--original-ids] PATH

It needs only the Python kit on its path, so that any interpreter can run it. Everything that the bot prints goes to
standard error. The bot is loaded at the start of a match, with random numbers from the match's seed.
"""

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any, Dict

from _folders import report_lost_files
from _luck import seed_luck
from _missing import crash
from _shared import Settings
from referee_kit import wire

GAMES = ("aiarena21", "cardgame", "reantics")
"""The games whose competitions had bots in Python; each has a module here."""


class Server(wire.Server):
    """The kit's server, which announces the name of the loaded bot."""

    def initialize(self, params: Dict[str, Any]) -> Dict[str, Any]:
        greeting = super().initialize(params)
        name, reuse = getattr(self.bot, "title", self.name), getattr(self.bot, "reuse", True)
        return {**greeting, "name": str(name), "version": "original", "reuse": reuse}


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs one bot of an original competition as a bot of the protocol.")
    parser.add_argument("game", choices=GAMES)
    parser.add_argument("path", type=Path, help="the bot's file or folder")
    parser.add_argument(
        "--seed", type=int, help="the seed of its random numbers; default: the match's seed for its seat"
    )
    parser.add_argument("--folder", type=Path, help="its working folder")
    parser.add_argument("--root", type=Path, help="the bot's folder, if the agent lies deeper in it")
    parser.add_argument(
        "--module", type=Path, action="append", default=[], help="a module that it imports from the folder above"
    )
    parser.add_argument("--copy", action="store_true", help="work in a copy of the working folder")
    parser.add_argument("--original-ids", action="store_true", help="card game: token ids as texts")
    settings = parser.parse_args(namespace=Settings())
    settings.path = settings.path.resolve()
    reading, writing = wire.take_pipes()
    adapter = importlib.import_module(f"_{settings.game}")
    del sys.path[0]  # an agent imports none of our modules by mistake

    class Original(adapter.Agent):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            seed = self.match.seed if settings.seed is None else settings.seed
            seed_luck(seed)
            try:
                super().__init__(settings)
            except BaseException:
                crash()

    Server(Original, settings.path.stem, "original", wire.Frames(reading), writing).serve()
    report_lost_files()


if __name__ == "__main__":
    main()
