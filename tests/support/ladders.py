"""Ladders in git repositories, with runners that hand in whatever a test wants."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b, sha256
from pathlib import Path

from referee.addons.ladder import playing
from referee.addons.ladder.change import Errand, check_change
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.merging import merge_of
from referee.addons.ladder.new import write_ladder
from referee.addons.ladder.reading import Fields, Ladder
from referee.addons.ladder.records import claim_path, signed_file
from referee.addons.tournament.intake.objects import Repository
from referee.harness.common.known_games import find_game

START = 1_790_000_000
INSTALL = "git+https://example.org/referee@v0.1.0"
HOUR = 3600
Play = Callable[[DrawnGame, tuple[BotVersion, ...], str], bytes]
"""Returns the line of a game, given the bots and the hash of the claim."""


def honest(game: DrawnGame, bots: tuple[BotVersion, ...], claim: str) -> bytes:
    """Plays a game that always ends alike: a made-up one, since no rule of a ladder depends on the game."""
    what = repr((game.seed, [bots[place].version for place in game.bots])).encode()
    course = blake2b(what, digest_size=8)
    first = course.digest()[0] % 3
    ranks = ("12", "21", "11")[first]
    proof = blake2b(course.digest(), key=bytes.fromhex(claim), digest_size=4).hexdigest()
    return (
        f"{ranks} {course.digest()[1]} {course.hexdigest()}{proof} {course.digest()[2]},{course.digest()[3]}".encode()
    )


class Cup:
    """A ladder, its maintainer and its runners. Time is what the test says."""

    def __init__(self, folder: Path, game: str = "connectfour", **settings: object) -> None:
        write_ladder(folder, find_game(game), "Cup", {"games": 8, "whole": 4, **settings}, INSTALL)
        self.repository = Repository(folder)
        self.now = START
        self.start: tuple[str, int] | None = None
        self.keys: dict[str, SigningKey] = {}
        self.fields = Fields(self.repository)

    @contextmanager
    def back(self) -> "Iterator[Cup]":
        """Goes back to the ladder's head and time when this was called first. A module's tests can share a ladder."""
        self.start = self.start or (self.head, self.now)
        self.set(self.start[0])
        self.now = self.start[1]
        yield self
        self.repository.__exit__()

    def __enter__(self) -> "Cup":
        return self

    def __exit__(self, *error: object) -> None:
        self.repository.__exit__()

    @property
    def head(self) -> str:
        return self.repository.commit("main")

    def ladder(self, commit: str | None = None) -> Ladder:
        return Ladder(self.repository, commit or self.head, self.fields)

    def set(self, commit: str) -> None:
        """Moves the ladder's branch."""
        self.repository.run("update-ref", "refs/heads/main", commit)

    def commit(self, files: Mapping[str, bytes], base: str | None = None, words: str = "a change") -> str:
        """Returns a commit with these files."""
        return commit_files(self.repository, base or self.head, files, words)

    def maintain(self, files: Mapping[str, bytes]) -> None:
        """Commits files as a maintainer, who needs no check."""
        self.set(self.commit(files))

    def add_bots(self, names: str, *, module: bool = True, deterministic: bool = False, version: int = 1) -> None:
        for name in names.split():
            self.maintain(bot_files(name, module=module, deterministic=deterministic, version=version))

    def add_runner(self, name: str, owner: str) -> None:
        self.keys[name] = SigningKey(sha256(name.encode()).digest())
        self.maintain(playing.runner_file(name, self.keys[name], owner))

    def claimed(self, runner: str, base: str | None = None, games: int = 2000) -> str:
        """Returns a commit with the runner's next claim."""
        return playing.claim(self.ladder(base), runner, self.keys[runner], games, self.now).commit

    def open(self, runner: str) -> str:
        """Returns the hash of a runner's open claim."""
        hash = playing.open_claim(self.ladder(), runner, self.now)
        assert hash is not None
        return hash

    def lines(self, hash: str, play: Play = honest) -> list[bytes]:
        """Returns the lines of a claim's games."""
        ladder = self.ladder()
        bots, _, games = ladder.games_of(ladder.chain.claims[hash])
        return [play(game, bots, hash) for game in games]

    def batch(self, runner: str, lines: Sequence[bytes] | None = None, base: str | None = None) -> str:
        """Returns a commit with the games of the runner's open claim."""
        hash = self.open(runner)
        lines = self.lines(hash) if lines is None else lines
        return playing.batch(self.ladder(base), hash, self.keys[runner], lines, self.now).commit

    def check(self, head: str, author: str = "somebody", base: str | None = None) -> Errand:
        return check_change(self.repository, base or self.head, head, author, self.now)[1]

    def merge(self, head: str, author: str = "somebody") -> Errand:
        """Checks a change and merges it."""
        ladder, errand = check_change(self.repository, self.head, head, author, self.now)
        self.set(merge_of(ladder, errand, head))
        return errand

    def play(self, runner: str, play: Play = honest) -> str:
        """Claims games, plays them and hands them in. Returns the claim's hash."""
        self.merge(self.claimed(runner))
        self.now += 60
        hash = self.open(runner)
        self.merge(self.batch(runner, self.lines(hash, play)))
        self.now += 60
        return hash

    def signed(self, runner: str, path: str, signed: bytes) -> str:
        """Returns a commit with a file that a runner has signed."""
        return self.commit({path: signed_file(signed, self.keys[runner].sign(signed))})

    def claim_file(self, runner: str, number: int, commit: str) -> bytes:
        return next(self.repository.read([f"{commit}:{claim_path(runner, number)}"]))


def bot_files(
    name: str, *, module: bool = True, deterministic: bool = False, version: int = 1, owner: str = ""
) -> dict[str, bytes]:
    """Returns the files of a bot that nobody builds."""
    run = ["bot.wasm"] if module else ["python3", "bot.py"]
    text = f"run = {json.dumps(run)}\nowner = [{json.dumps(owner or 'owner-of-' + name)}]\n"
    text += "deterministic = true\n" if deterministic else ""
    return {f"bots/{name}/bot.toml": text.encode(), f"bots/{name}/{run[-1]}": f"{name} {version}".encode()}
