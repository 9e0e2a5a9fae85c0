"""Replays in the formats of other programs: the games' own (PGN, SGF), and the original competitions'."""

import re
import socket
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path

from referee.games.game import Game
from referee.harness.common.errors import UsageError, writing
from referee.harness.common.game_files import GameFiles, Move, Occasion, Record, files_of
from referee.harness.common.output import FileKind, whole_file
from referee.harness.replay.formats import originals
from referee.harness.replay.lines import Opening, Turn
from referee.harness.replay.reader import Replay, refuse_same_file
from referee.harness.replay.simulate import positions_to_the_end


def check(name: str, game: Game) -> bool:
    """Returns whether a file of this format can hold several matches of a game.

    UsageError for an unknown format or another game's, RunError if the extra of the format is missing.
    """
    return _found(name, game) is not None


def check_place(name: str, game: Game, path: Path, *inputs: Path | None) -> None:
    """UsageError as in `FileKind.check_place`, and in `check`."""
    files = _found(name, game)
    begins = originals.find(name, game.name).begins if files is None else files.begins
    FileKind(f"a file of the format {name}", re.compile(re.escape(begins))).check_place(path, *inputs)


def export(name: str, replay: Replay, path: Path, occasion: Occasion | None = None) -> None:
    """Writes a replay to `path` in another format. Errors as in `export_all`."""
    export_all(name, [(replay, occasion or occasion_of(replay))], replay.game, path)


def occasion_of(replay: Replay) -> Occasion:
    """Returns what the file of a replay says of its occasion: the date on which it was written, and this machine."""
    written = datetime.fromtimestamp(replay.path.stat().st_mtime).strftime("%Y.%m.%d")
    return Occasion(" against ".join(replay.header.setup.names), socket.gethostname(), "1", written)


def export_all(name: str, replays: Iterable[tuple[Replay, Occasion]], game: Game, path: Path) -> int:
    """Writes replays to `path` in another format, and returns how many.

    UsageError as in `check_place` and if it would replace a replay, Difference if a replay does not verify, RunError if
    the file cannot be written. The file is written at once or not at all.
    """
    check_place(name, game, path)
    files, count = _found(name, game), 0
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as new, open(new, "wb") as target:
            for content in _contents(name, files, replays, path):
                target.write(content)
                count += 1
    return count


def _contents(
    name: str, files: GameFiles | None, replays: Iterable[tuple[Replay, Occasion]], path: Path
) -> Iterator[bytes]:
    for replay, occasion in replays:
        refuse_same_file(replay.path, path)
        yield originals.content(name, replay) if files is None else files.record(record_of(replay, occasion)).encode()


def _found(name: str, game: Game) -> GameFiles | None:
    """Returns the format of the game's own files if it has this name; None for an original competition's."""
    if game.files and (files := files_of(game)) is not None and files.format == name:
        return files
    if name in OWN:
        raise UsageError(f"{name} is a format for {OWN[name]} matches; this is {game.name}")
    originals.find(name, game.name, OWN)
    return None


OWN = {"pgn": "openspiel:chess", "sgf": "openspiel:go"}
"""The formats of games of add-ons, for the message about another game."""


def record_of(replay: Replay, occasion: Occasion) -> Record:
    """Returns a match for its record. Difference if it does not verify."""
    moves: list[Move] = []
    start, state = None, replay.new()
    for _, state, step in positions_to_the_end(replay):
        if isinstance(step, Opening):
            start = state.view(None)
        elif isinstance(step, Turn):
            for player, answer in step.answers.items():
                moves.append(Move(player, answer, step.wall_us.get(player, 0) / 1e6))
    header = replay.header
    return Record(
        header.setup.names,
        header.setup.options,
        header.time,
        state.view(None) if start is None else start,
        state.view(None),
        tuple(moves),
        state.result,
        occasion,
    )
