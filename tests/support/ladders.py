"""Ladders in git repositories, with a beacon of their own and runners that hand in whatever a test wants."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b, sha256
from pathlib import Path

import msgspec

from referee.addons.ladder import playing
from referee.addons.ladder.beacon import ED25519, SignedBeacon, message, next_round
from referee.addons.ladder.chain import Stage
from referee.addons.ladder.change import Errand, check_change
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.merging import merge_of
from referee.addons.ladder.new import write_ladder
from referee.addons.ladder.reading import Fields, Ladder
from referee.addons.ladder.records import (
    FORMAT,
    Claim,
    StageKind,
    claim_path,
    game_line,
    line_of,
    read_game,
    signed_file,
)
from referee.addons.tournament.intake.objects import Repository
from referee.harness.common.known_games import find_game

START = 1_790_000_000
INSTALL = "git+https://example.org/referee@v0.1.0"
HOUR = 3600
Play = Callable[[DrawnGame, tuple[BotVersion, ...], str], bytes]
"""Returns the line of a game, given the bots and the name of the runner."""
BEACON_KEY = SigningKey(sha256(b"a beacon of our own").digest())
BEACON = (
    f'[beacon]\nscheme = "{ED25519}"\nkey = "{BEACON_KEY.raw.hex()}"\ngenesis = {START - 1000}\nperiod = 3\n'
    "addresses = []\n"
)


def signature(round: int) -> bytes:
    """Returns what the beacon of the tests says in a round."""
    return BEACON_KEY.sign(message(ED25519, round))


def honest(game: DrawnGame, bots: tuple[BotVersion, ...], runner: str) -> bytes:
    """Plays a game that always ends alike: a made-up one, since no rule of a ladder depends on the game."""
    what = repr((game.seed, [bots[place].version for place in game.bots])).encode()
    course = blake2b(what, digest_size=16)
    first = course.digest()[0] % 3
    ranks = ("12", "21", "11")[first]
    modules = [bots[place].is_module for place in game.bots]
    machine = blake2b(what, key=runner.encode(), digest_size=4)
    times = "" if all(modules) else f":{machine.hexdigest()}"
    costs = ",".join(
        str(course.digest()[2 + seat] if module else machine.digest()[seat]) for seat, module in enumerate(modules)
    )
    return f"{ranks} {course.digest()[1]} {course.hexdigest()}{times} {costs}".encode()


def turned(game: DrawnGame, bots: tuple[BotVersion, ...], runner: str) -> bytes:
    """Plays as `honest`, but the bot in the second seat wins."""
    line = read_game(honest(game, bots, runner), "a game")
    return b"21" + game_line(line)[2:].replace(line.course[:8].encode(), b"00000000", 1)


class Cup:
    """A ladder, its maintainer and its runners. Time is what the test says, and so is the beacon."""

    def __init__(self, folder: Path, game: str = "connectfour", beacon: str = BEACON, **settings: object) -> None:
        settings = {"games": 8, "whole": 4, **settings}
        write_ladder(folder, find_game(game), "Cup", settings, INSTALL, beacon, START - 10)
        self.repository = Repository(folder)
        self.now = START
        self.start: tuple[str, int] | None = None
        self.keys: dict[str, SigningKey] = {}
        self.owners: dict[str, str] = {}
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
        return commit_files(self.repository, base or self.head, files, words, at=self.now)

    def maintain(self, files: Mapping[str, bytes]) -> None:
        """Commits files as a maintainer, who needs no check."""
        self.set(self.commit(files))

    def add_bots(self, names: str, *, module: bool = True, version: int = 1) -> None:
        for name in names.split():
            self.maintain(bot_files(name, module=module, version=version))

    def add_runner(self, name: str, owner: str) -> None:
        self.keys[name], self.owners[name] = SigningKey(sha256(name.encode()).digest()), owner.lower()
        self.maintain(playing.runner_file(name, self.keys[name], owner))

    def claimed(self, runner: str, base: str | None = None, games: int = 2000) -> str:
        """Returns a commit with the runner's next claim."""
        return playing.claim(self.ladder(base), runner, self.keys[runner], games, self.now).commit

    def claimed_with(self, runner: str, **changes: object) -> str:
        """Returns a commit with a claim as its runner wants it, which may not be allowed."""
        ladder, number = self.ladder(), len(self.ladder().chain.of_runner.get(runner, ())) + 1
        round = next_round(ladder.beacon, self.now, 300) if ladder.beacon.names_rounds else 0
        ids = ladder.bots_id, ladder.settings_id
        claim = Claim(FORMAT, runner, self.owners[runner], number, *ids, 4, self.now, round)
        claim = msgspec.structs.replace(claim, **changes)
        return self.signed(runner, claim_path(runner, claim.number), line_of(claim) + b"\n")

    def merge_unchecked(self, head: str) -> None:
        """Merges what a change adds, as a maintainer may who is a forger's friend."""
        changes = self.repository.changes(self.head, head)
        self.maintain({each.path: next(self.repository.read([each.id])) for each in changes})

    def claim(self, runner: str, games: int = 2000) -> str:
        """Merges the runner's next claim, and waits for the round that draws its games. Returns its hash."""
        errand = self.merge(self.claimed(runner, games=games))
        self.now += 361
        return errand.hash  # type: ignore[union-attr]

    def at_play(self) -> Ladder:
        """Returns the ladder as somebody sees it who can ask the beacon."""
        ladder = self.ladder()
        if isinstance(ladder.beacon, SignedBeacon):
            ladder.chain.fetch = signature
        return ladder

    def task(self, runner: str, hash: str) -> playing.Task:
        """Returns what a runner has to do for a claim now."""
        found = [each for each in playing.tasks(self.at_play(), self.owners[runner], self.now) if each.hash == hash]
        assert found, f"{runner} has nothing to do"
        return found[0]

    def tasks(self, runner: str) -> list[playing.Task]:
        return playing.tasks(self.at_play(), self.owners[runner], self.now)

    def lines(self, runner: str, task: playing.Task, play: Play = honest) -> list[bytes]:
        """Returns the lines of a task's games."""
        ladder = self.at_play()
        bots, games = ladder.games_of(task.hash, self.now)
        return [play(games[place], bots, runner) for place in ladder.places(task.hash, task.stage)]

    def signed_by(self, runner: str, task: playing.Task, lines: Sequence[bytes]) -> playing.Kept:
        """Returns the files with which a runner hands in games. Its salt is always the same."""
        salt = sha256(f"{runner} {task.hash}".encode()).digest()
        stage = task.stage
        if stage.kind is StageKind.OPEN:  # the signer makes both files at once
            task = playing.Task(task.hash, task.claim, _as_seal(stage), task.ready)
        return playing.sign(task, runner, self.owners[runner], self.keys[runner], [*lines], salt, b"")

    def hand_in(self, runner: str, hash: str, play: Play = honest, lines: Sequence[bytes] | None = None) -> str:
        """Returns a commit with what a runner has to hand in for a claim now."""
        task = self.task(runner, hash)
        lines = self.lines(runner, task, play) if lines is None else lines
        return self.commit_of(runner, task, self.signed_by(runner, task, lines))

    def commit_of(self, runner: str, task: playing.Task, made: playing.Kept) -> str:
        return playing.step(self.ladder(), task, runner, made).commit

    def do(self, runner: str, hash: str, play: Play = honest) -> Errand:
        """Hands in what a runner has to do for a claim, and merges it."""
        errand = self.merge(self.hand_in(runner, hash, play))
        self.now += 60
        return errand

    def check(self, head: str, author: str = "somebody", base: str | None = None) -> Errand:
        return check_change(self.repository, base or self.head, head, author, self.now)[1]

    def merge(self, head: str, author: str = "somebody") -> Errand:
        """Checks a change and merges it."""
        ladder, errand = check_change(self.repository, self.head, head, author, self.now)
        self.set(merge_of(ladder, errand, head, self.now))
        return errand

    def play(self, runner: str, play: Play = honest, games: int = 2000) -> str:
        """Claims games, which all owners play whom the beacon draws. Returns the claim's hash."""
        hash = self.claim(runner, games)
        self.finish(hash, play)
        return hash

    def finish(self, hash: str, play: Play = honest) -> None:
        """Lets everybody do what they have to do for a claim, as soon as the beacon allows it."""
        while True:
            chain = self.at_play().chain
            stage = chain.stages(hash, self.now)[-1]
            if stage.end is not None:
                return
            if stage.kind is not StageKind.OPEN:
                self.now = max(self.now, chain.beacon.time_of(stage.rounds[-1]))
                stage = self.at_play().chain.stages(hash, self.now)[-1]
            owner = next(each for each in stage.owners if chain.done(hash, stage.kind, each) is None)
            self.do(next(name for name, each in self.owners.items() if each == owner), hash, play)

    def signed(self, runner: str, path: str, signed: bytes) -> str:
        """Returns a commit with a file that a runner has signed."""
        return self.commit({path: signed_file(signed, self.keys[runner].sign(signed))})


def _as_seal(stage: Stage) -> Stage:
    return msgspec.structs.replace(stage, kind=StageKind.SEAL)


def bot_files(
    name: str, *, module: bool = True, version: int = 1, owner: str = "", repeats: bool = True
) -> dict[str, bytes]:
    """Returns the files of a bot that nobody builds."""
    run = ["bot.wasm"] if module else ["python3", "bot.py"]
    text = f"run = {json.dumps(run)}\nowner = [{json.dumps(owner or 'owner-of-' + name)}]\n"
    text += "deterministic = true\n" if repeats and not module else ""
    return {f"bots/{name}/bot.toml": text.encode(), f"bots/{name}/{run[-1]}": f"{name} {version}".encode()}
