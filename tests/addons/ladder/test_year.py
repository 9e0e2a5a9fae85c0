"""A simulated year of a ladder: its size, its times, and a second count of its table."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import pytest
from ladders import START, Cup, signature
from needs import lacks
from second_table import Second

from referee.addons.ladder import records
from referee.addons.ladder.beacon import BLS, DOMAIN, BeaconSettings, bls_library, message, next_round
from referee.addons.ladder.chain import Result, Stage
from referee.addons.ladder.draw import is_of_modules
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import StageKind
from referee.addons.ladder.rows import Table
from referee.addons.ladder.verifying import problems
from referee.addons.tournament.intake.objects import Repository

pytestmark = pytest.mark.slow
BOTS, RUNNERS, OWNERS, GAMES = 300, 50, 40, 200
YEAR_S = 365 * 86_400
MIB = 1 << 20


def line(luck: bytes, runner: str, is_native: bool) -> bytes:
    """Returns the line of a game, of which the costs and times are those of a machine."""
    course, machine = blake2b(luck, digest_size=16), blake2b(luck, key=runner.encode(), digest_size=8)
    ranks = ("12", "21", "11")[course.digest()[0] % 3]
    costs = f"{course.digest()[1] * 1000 + course.digest()[2]},{machine.digest()[4]}"
    times = f":{machine.hexdigest()[:8]}" if is_native else ""
    return f"{ranks} {course.digest()[3]} {course.hexdigest()}{times} {costs}".encode()


def bls_secret() -> Any:
    return bls_library().Scalar.from_be_bytes_mod_order(sha256(b"a year").digest())


@cache
def bls_settings() -> BeaconSettings | None:
    """Returns a beacon as drand's quicknet with a key of its own; None without the library."""
    if lacks("py_arkworks_bls12381"):
        return None
    key = (bls_library().G2Point() * bls_secret()).to_compressed_bytes()
    return BeaconSettings(key=bytes(key).hex(), genesis=START - 1000, addresses=())


def bls_signature(round: int) -> bytes:
    return bytes(
        (bls_library().G1Point.hash_to_curve(message(BLS, round), DOMAIN) * bls_secret()).to_compressed_bytes()
    )


class Year:
    """Writes a year of entries with one `git fast-import`. One claim in 200 lapses."""

    def __init__(self, cup: Cup, claims: int) -> None:
        self.cup, self.claims = cup, claims
        self.keys = {f"r{number:02}": SigningKey(sha256(b"%d" % number).digest()) for number in range(RUNNERS)}
        self.owners = {name: f"o{int(name[1:]) % OWNERS:02}" for name in self.keys}
        for name, key in self.keys.items():
            text = f'key = "{key.public}"\nowner = "{self.owners[name]}"\n'
            cup.maintain({f"runners/{name}.toml": text.encode()})
        ladder = cup.ladder()
        self.ladder, self.chain, self.now = ladder, ladder.chain, START + 100
        self.chain.fetch = signature
        if cup.ladder().settings.beacon == bls_settings():
            self.chain.fetch = bls_signature
        self.parts: list[bytes] = [b"reset refs/heads/main\nfrom %s\n\n" % cup.head.encode()]

    def add(self, path: str, content: bytes) -> int:
        """Merges a file, and returns when."""
        self.now += 1
        who = b"committer m <m@m> %d +0000\ndata 1\nx\n" % self.now
        self.parts.append(b"commit refs/heads/main\n%sM 100644 inline %s\n" % (who, path.encode()))
        self.parts.append(b"data %d\n%s\n" % (len(content), content))
        return self.now

    def signed(self, runner: str, text: bytes) -> bytes:
        return records.signed_file(text, self.keys[runner].sign(text))

    def play(self, number: int) -> None:
        names = [*self.keys]
        runner = names[number % RUNNERS]
        own, owner = self.chain.of_runner.get(runner, []), self.owners[runner]
        round = next_round(self.chain.beacon, self.now, 300)
        ids = self.ladder.bots_id, self.ladder.settings_id
        claim = records.Claim(2, runner, owner, len(own) + 1, *ids, GAMES, self.now, round)
        text = records.line_of(claim) + b"\n"
        hash = records.hash_of(text)
        at = self.add(records.claim_path(runner, claim.number), self.signed(runner, text))
        self.chain.add_claim(hash, claim, at)
        if number % 200 == 199:
            self.now += 7 * 3600
            return
        while (stage := self.chain.stages(hash, self.now)[-1]).end is None:
            self.now = max(self.now, self.chain.beacon.time_of(stage.rounds[-1]))
            stage = self.chain.stages(hash, self.now)[-1]
            for each in stage.owners:
                player = runner if each == owner else next(name for name in names if self.owners[name] == each)
                self.hand_in(hash, claim, stage, player)

    def hand_in(self, hash: str, claim: records.Claim, stage: Stage, player: str) -> None:
        owner, salt = self.owners[player], sha256(f"{hash} {player}".encode()).digest()
        luck = bytes.fromhex(hash)
        bots, games = self.ladder.games_by(hash, claim, self.chain.stages(hash, self.now)[0].signatures[0])
        native = [not is_of_modules(game, bots) for game in games]
        lines = [line(luck + number.to_bytes(2, "big"), player, each) for number, each in enumerate(native)]
        if stage.kind is StageKind.SEAL:
            known = tuple(each.hex() for each in stage.signatures)
            seal = records.Seal(2, player, owner, hash, records.root_of(salt, player, lines), known)
            text = records.line_of(seal) + b"\n"
            self.chain.add_seal(seal, self.add(records.seal_path(claim, player), self.signed(player, text)))
            return
        played = self.ladder.settings.versions
        head = records.Head(2, player, owner, hash, (), salt.hex(), records.courses_of(lines), played)
        content = self.signed(player, records.batch_text(head, lines))
        self.chain.add_result(Result("", head, "", self.add(records.batch_path(claim, player), content)))

    def write(self) -> int:
        """Writes the year. Returns the number of played games."""
        command = ["git", "-C", str(self.cup.repository.folder), "fast-import", "--quiet", "--force"]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            assert process.stdin is not None
            for number in range(self.claims):
                self.now = max(self.now, START + 100 + number * YEAR_S // max(self.claims, 12_500))
                self.play(number)
                process.stdin.write(b"".join(self.parts))
                self.parts = []
            process.stdin.close()
            assert process.wait() == 0
        return sum(GAMES for each in self.chain.results.values() for _ in each)


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    settings, more = bls_settings(), {}
    if settings is not None:
        lines = (f"{name} = {json.dumps(value)}" for name, value in msgspec.structs.asdict(settings).items())
        more = {"beacon": "\n".join(["[beacon]", *lines, ""])}
    with Cup(tmp_path / "cup", games=GAMES, **more) as cup:
        files = {}
        for number in range(BOTS):
            module = number % 2 == 0
            run = '"bot.wasm"' if module else '"python3", "bot.py"'
            more = "" if module else "deterministic = true\n"
            files[f"bots/b{number:03}/bot.toml"] = f'run = [{run}]\nowner = ["o{number}"]\n{more}'.encode()
            files[f"bots/b{number:03}/bot"] = b"%d" % number
        cup.maintain(files)
        yield cup


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints the CPU time of this process and those that it has waited for, and the time on the wall."""
    before, start = os.times(), monotonic()
    yield
    cpu = sum(now - then for now, then in list(zip(os.times(), before, strict=True))[:4])
    print(f"{what}: {cpu:.1f} s of CPU, {monotonic() - start:.1f} s", flush=True)


@pytest.mark.timeout(6000)
@pytest.mark.parametrize("claims", [30, pytest.param(12_560, marks=pytest.mark.nightly)])
def test_a_year_fits_and_both_implementations_agree(claims: int, cup: Cup, tmp_path: Path) -> None:
    """Five million played games: below a gigabyte, and a minute each to show and to verify."""
    is_year = claims > 12_000
    with timed("writing"):
        games = Year(cup, claims).write()
    if is_year:
        cup.repository.run("repack", "-adq", seconds=3000)
    packed = sum(each.stat().st_size for each in (cup.repository.folder / ".git" / "objects").rglob("*"))
    print(f"{games:,} games, {packed / MIB:,.1f} MiB, {packed / games:.0f} bytes a game", flush=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", cup.repository.folder, tmp_path / "clone"], check=True)
    words = ("ladder", "show", "main", "--json", "--folder", str(tmp_path / "clone"))
    show = (sys.executable, "-m", "referee.harness.cli.main", *words)
    with timed("show in a fresh clone"):
        table = subprocess.run(show, check=True, capture_output=True).stdout
    with timed("show from the cache"):
        assert subprocess.run(show, check=True, capture_output=True).stdout == table
    with Repository(tmp_path / "clone") as repository, timed("verify"):
        wrong = list(problems(Ladder(repository, repository.commit("main"))))
    assert wrong == [] and msgspec.json.decode(table, type=Table).games * 2 <= games
    if is_year:
        assert games >= 4_900_000 and packed < 1 << 30
    second = Second(tmp_path / "clone")
    with timed("the second table and verify"):
        assert second.table() == table and second.verify() == []
    second.close()
