"""A year of a ladder in git, without real games: 300 bots, 50 runners, 5,000,000 games. Sizes, times, memory.

`python -m referee.benchmarks.ladder_year FOLDER [GAMES]` writes a repository and measures `show`, `show` from the
cache, `publish`, the rules of `check-change`, and `verify`. Half of the bots are modules, half deterministic native
programs, so that nearly every batch needs a witness and a sample. Runners claim what the chain draws, and some claims
lapse. Every entry is signed and merged by a commit, in the shape that the commands write.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from hashlib import blake2b, sha256
from pathlib import Path
from typing import IO

import msgspec

from referee.addons.ladder.chain import Chain, Nature, Result
from referee.addons.ladder.commits import NEW
from referee.addons.ladder.draw import DrawnGame, due, new_games, sampled
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.new import write_ladder
from referee.addons.ladder.playing import runner_file
from referee.addons.ladder.records import (
    Claim,
    Head,
    Part,
    Settings,
    batch_path,
    batch_text,
    claim_path,
    courses_of,
    hash_of,
    line_of,
    signed_file,
)
from referee.addons.tournament.intake.objects import Repository
from referee.harness.common import git
from referee.harness.common.known_games import find_game

BOTS, RUNNERS, GAMES, BATCH = 300, 50, 5_000_000, 200
UPDATES = 900
"""New versions of bots in the first half of the year."""
START, YEAR_S = int(time.time()) - 365 * 86_400 - 7_200, 365 * 86_400
SEATS = 2
BREAKDOWNS = 0.005
"""The share of claims whose games are never handed in."""
SETTINGS = {"games": BATCH, "claim_hours": 24}
RULES = msgspec.convert({"game": "connectfour", **SETTINGS}, Settings)


class Year:
    """Writes the commits of a year to `git fast-import`."""

    def __init__(self, stream: IO[bytes], answers: IO[bytes]) -> None:
        self.stream, self.answers = stream, answers
        self.luck = random.Random(7)
        self.keys = {f"runner-{number}": SigningKey(sha256(b"%d" % number).digest()) for number in range(RUNNERS)}
        self.strength = [self.luck.gauss(0, 1) for _ in range(BOTS)]
        self.now = START
        self.chain = Chain({}, {})
        self.known: dict[Claim, Nature] = {}
        self.numbers = dict.fromkeys(self.keys, 0)
        self.first = True

    def commit(self, files: dict[str, bytes], *paths: str) -> list[str]:
        """Writes a commit. Returns the ids that these paths have in it."""
        parent = b"from refs/heads/main^0\n" if self.first else b""
        self.first = False
        self.stream.write(b"commit refs/heads/main\ncommitter y <y@y> %d +0000\ndata 1\ny\n%s" % (self.now, parent))
        for path, content in files.items():
            self.stream.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(content), content))
        ids = []
        for path in paths:
            self.stream.write(b'ls "%s"\n' % path.encode())
            self.stream.flush()
            ids.append(self.answers.readline().split()[2].decode())
        self.stream.write(b"\n")
        return ids

    def play(self, runner: str, bots: str, rules: str) -> int:
        """Claims what the chain draws, and hands it in unless the machine breaks down. Returns the number of games."""
        self.numbers[runner] += 1
        number, owner = self.numbers[runner], owner_of(runner)
        need = due(self.chain, runner, owner, RULES, self.natures)
        of, part = ("", Part.NEW) if need is None else (need.of, need.part)
        after = self.chain.tips()
        claim = Claim(1, runner, owner, number, after, bots, rules, 0 if of else BATCH, part, of, self.now)
        signed = line_of(claim) + b"\n"
        hash = hash_of(signed)
        self.commit({claim_path(runner, number): signed_file(signed, self.keys[runner].sign(signed))})
        self.chain.add_claim(hash, claim)
        self.now += 1
        games = new_games(self.chain.claims[of or hash], BOTS, SEATS)
        if part is Part.SAMPLE:
            of_modules = [place for place, game in enumerate(games) if is_of_modules(game)]
            games = [games[place] for place in sampled(claim, of_modules, RULES.whole)]
        if self.luck.random() < BREAKDOWNS:
            return 0
        lines = [self.line(game, hash) for game in games]
        head = Head(
            1, runner, number, hash, self.chain.tips(), self.now, courses_of(lines), "referee 0.1.0, wasmtime 50.0.1"
        )
        text = batch_text(head, lines)
        self.commit({batch_path(runner, number): signed_file(text, self.keys[runner].sign(text))})
        self.chain.add_result(Result(hash_of(text), head, ""))
        self.now += 1
        return len(lines)

    def natures(self, claim: Claim) -> Nature:
        """Returns how the games of a claim are checked: all native programs are deterministic."""
        known = self.known.get(claim)
        if known is None:
            games = new_games(claim, BOTS, SEATS)
            modules = sum(map(is_of_modules, games))
            known = self.known[claim] = Nature(modules < len(games), True, modules)
        return known

    def line(self, game: DrawnGame, claim: str) -> bytes:
        one, other = game.bots
        course = blake2b(b"%d %d %d" % (game.seed, one, other), digest_size=8)
        first = course.digest()[0] / 256 < 1 / (1 + 2.7 ** (self.strength[other] - self.strength[one]))
        proof = blake2b(course.digest(), key=claim.encode(), digest_size=4).hexdigest()
        luck = self.luck.randrange
        costs = f"{luck(10**5, 10**8)},{luck(10**5, 10**8)}"
        fault = " 0timeout" if course.digest()[2] == 0 else ""
        return f"{'12' if first else '21'} {course.digest()[1]} {course.hexdigest()}{proof} {costs}{fault}".encode()


def is_of_modules(game: DrawnGame) -> bool:
    """Whether only modules play: every second bot is one."""
    return all(place % 2 for place in game.bots)


def owner_of(runner: str) -> str:
    return f"owner-{int(runner.partition('-')[2]) % 40}"


def bot(number: int, version: int) -> dict[str, bytes]:
    run = "bot.wasm" if number % 2 else "bot"
    text = f'owner = ["o{number}"]\nrun = ["{run}"]\ndeterministic = true\n# version {version}\n'
    return {f"bots/bot-{number:03}/bot.toml": text.encode()}


def write_year(folder: Path, games: int) -> None:
    """Writes a year with so many games."""
    write_ladder(folder, find_game("connectfour"), "A year", SETTINGS, "git+https://example.org/referee@v0.1.0")
    command = [git.program(), "-C", str(folder), "fast-import", "--quiet", "--force"]
    importer = subprocess.Popen(
        command, env=git.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 20
    )
    assert importer.stdin is not None and importer.stdout is not None
    year = Year(importer.stdin, importer.stdout)
    files = {path: data for number in range(BOTS) for path, data in bot(number, 0).items()}
    for runner, key in year.keys.items():
        files |= runner_file(runner, key, owner_of(runner))
    rules, bots = year.commit(files, "ladder.toml", "bots")
    runners, batches = list(year.keys), games // BATCH
    step_s = YEAR_S // max(batches, 1)
    played = updates = 0
    while played < games:
        number = played // BATCH
        year.now = max(year.now, START + number * step_s)
        if number < batches / 2 and updates * max(1, batches // 2 // UPDATES) <= number:
            updates += 1
            (bots,) = year.commit(bot(year.luck.randrange(BOTS), updates), "bots")
        runner = year.luck.choice(runners)
        if not year.chain.refusal(runner, RULES):
            played += year.play(runner, bots, rules)
    importer.stdin.close()
    importer.wait()


def measured(command: list[str], cache: Path) -> tuple[float, float, str]:
    """Returns the CPU seconds with those of its git, the peak MiB, and the output of a command."""
    process = subprocess.Popen(
        command, env=os.environ | {"XDG_CACHE_HOME": str(cache)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    output = process.stdout.read().decode()
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, output


def main(folder: Path, games: int) -> None:
    """Writes the year, unless it is there, and prints what it measures."""
    if not folder.exists():
        started = time.monotonic()
        write_year(folder, games)
        with Repository(folder) as repository:
            repository.run("repack", "-adq", "--window=2")
            repository.run("update-ref", "-d", NEW)
        print(f"written in {time.monotonic() - started:.0f} s")
    size = sum(file.stat().st_size for file in (folder / ".git").rglob("*") if file.is_file())
    print(f"repository {size / 2**20:,.0f} MiB, {size / games:.1f} bytes a game")
    with tempfile.TemporaryDirectory() as cache:
        ladder = [str(Path(sys.executable).with_name("referee")), "ladder"]
        where = ["--folder", str(folder)]
        show = [*ladder, "show", "main", *where]
        for what in ("fresh", "cached"):
            seconds, peak, output = measured(show, Path(cache))
            print(f"show, {what}: {seconds:.1f} s of CPU, {peak:,.0f} MiB; {output.splitlines()[0]}")
        with tempfile.TemporaryDirectory() as site:
            seconds, peak, output = measured([*ladder, "publish", site, "--commit", "main", *where], Path(cache))
        print(f"publish, with the table in the cache: {seconds:.1f} s of CPU, {peak:,.0f} MiB; {output.strip()}")
        check = [*ladder, "check-change", "main~1", "main", "--author", "x", "--rules-only", *where]
        seconds, peak, output = measured(check, Path(cache))
        print(f"check-change of a batch, rules only: {seconds:.1f} s of CPU, {peak:,.0f} MiB; {output.strip()}")
        seconds, peak, output = measured([*ladder, "verify", "main", *where], Path(cache))
        print(f"verify: {seconds:.1f} s of CPU, {peak:,.0f} MiB; {output.strip()}")
    print(f"memory of this program {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else GAMES)
