"""A second implementation of a ladder, written from `docs/explanation/ladder.md`: its records, draws and stages.

It imports nothing of the ladder: git, JSON, hashes and signatures alone. `second_verify.py` goes on.
"""

import base64
import bisect
import hashlib
import json
import math
import subprocess
import tomllib
from collections import Counter, defaultdict
from importlib import import_module
from os.path import splitext
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from referee.addons.tournament.formats.designs import rows, seated

DEFAULTS = {
    "witnesses": 2, "whole": 20, "ahead": 300, "claim_hours": 6.0, "seal_hours": 6.0, "active_days": 3.0,
    "lapses": 3, "lapse_days": 7.0, "open_claims": 1, "games": 200, "seats": 2,
}  # fmt: skip
ENTRIES = ("claims", "seals", "games", "strikes", "checkpoints")
DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
PLAY, SEAL, OPEN, SAMPLE = "play", "seal", "open", "sample"


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Git:
    """A repository, read with plain commands of git."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.batch = subprocess.Popen(
            ["git", "-C", folder, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(self, *words: str) -> str:
        return subprocess.run(["git", "-C", self.folder, *words], check=True, capture_output=True).stdout.decode()

    def read(self, name: str) -> bytes | None:
        assert self.batch.stdin and self.batch.stdout
        self.batch.stdin.write(f"{name}\n".encode())
        self.batch.stdin.flush()
        words = self.batch.stdout.readline().split()
        return self.batch.stdout.read(int(words[2]) + 1)[:-1] if len(words) == 3 else None

    def files(self, commit: str, *folders: str) -> list[tuple[str, str]]:
        """Paths and ids."""
        lines = self.run("ls-tree", "-r", "-z", commit, "--", *folders).split("\0")[:-1]
        return [(line.split("\t")[1], line.split()[2]) for line in lines]


class Stage:
    def __init__(
        self, kind: str, begin: int, due: int, owners: list[str], rounds: list[int], known: list[bytes]
    ) -> None:
        self.kind, self.begin, self.due, self.owners = kind, begin, due, owners
        self.rounds, self.known = rounds, known
        self.end: int | None = None


class Ladder:
    def __init__(self, folder: Path, commit: str = "main") -> None:
        self.git = Git(folder)
        self.commit = self.git.run("rev-parse", f"{commit}^{{commit}}").strip()
        self.wrong: list[str] = []
        self.cache: dict[str, Any] = {}
        self.read_history()
        self.read_entries()

    def close(self) -> None:
        self.git.batch.communicate()

    # Reading.

    def read_history(self) -> None:
        form = "--format=%x01%H %ct %(trailers:key=Beacon,valueonly,separator=%x20)"
        words = ("log", "--first-parent", "-m", "--no-renames", "--reverse", "--name-status", "-z", form)
        self.at: dict[str, int] = {}
        self.commit_of: dict[str, str] = {}
        self.luck: list[tuple[int, bytes]] = []
        self.active: dict[str, list[int]] = defaultdict(list)
        last = self.now = 0
        for part in self.git.run(*words, self.commit, "--", *ENTRIES, "runners").split("\1")[1:]:
            first, *rest = [word.strip("\n") for word in part.split("\0") if word.strip("\n")]
            commit, time, luck = first.split(" ", 2)
            self.luck.append((int(time), bytes.fromhex(luck)))
            self.now = max(self.now, int(time))
            changes = [*zip(rest[::2], rest[1::2], strict=True)]
            for status, path in changes:
                if status == "A":
                    self.at[path], self.commit_of[path] = int(time), commit
                if path.startswith("runners/") and status != "D":
                    runner = tomllib.loads((self.git.read(f"{commit}:{path}") or b"").decode())
                    self.active[runner["owner"].lower()].append(max(int(time), last + 1))
                elif status != "A" and not path.startswith("runners/"):
                    self.wrong.append(f"{path} was changed")
            if any(not path.startswith("runners/") for _, path in changes):
                if int(time) <= last:
                    self.wrong.append(f"{commit} is dated back")
                last = int(time)

    def settings(self, id: str) -> dict[str, Any]:
        if id not in self.cache:
            self.cache[id] = DEFAULTS | tomllib.loads((self.git.read(id) or b"").decode())
        return self.cache[id]  # type: ignore[no-any-return]

    def bots(self, id: str) -> list[tuple[str, str, bool]]:
        """Name, version and whether it is a module, of those that can be repeated."""
        if f"bots {id}" not in self.cache:
            found = []
            for line in self.git.run("ls-tree", "-z", id).split("\0")[:-1] if id else []:
                about, name = line.split("\t")
                toml = tomllib.loads((self.git.read(f"{about.split()[2]}:bot.toml") or b"").decode("utf-8-sig"))
                module = splitext(toml.get("run", [""])[0])[1] == ".wasm" and "build" not in toml
                if module or toml.get("deterministic"):
                    found.append((name, about.split()[2], module))
            self.cache[f"bots {id}"] = found
        return self.cache[f"bots {id}"]  # type: ignore[no-any-return]

    def read_entries(self) -> None:
        self.rules = DEFAULTS | tomllib.loads((self.git.read(f"{self.commit}:ladder.toml") or b"").decode())
        self.runners: dict[str, dict[str, str]] = {}
        self.claims: dict[str, dict[str, Any]] = {}
        self.seals: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        self.heads: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        self.struck: dict[str, int] = {}
        self.known: dict[str, list[bytes]] = defaultdict(list)
        notes, by_hash = [], dict[str, str]()
        files = self.git.files(self.commit, "runners/", "claims/", "seals/", "games/", "strikes/")
        for path, id in [each for each in files if each[0].startswith("runners/")]:
            runner = tomllib.loads((self.git.read(id) or b"").decode())
            self.runners[path[8:-5]] = runner
        for path, id in files:
            content, kind = self.git.read(id) or b"", path.split("/")[0]
            if kind == "runners" or (kind == "strikes" and path.endswith(".json")):
                continue
            signed = content[: content.rstrip(b"\n").rfind(b"\n") + 1]
            entry = json.loads(signed.split(b"\n")[0]) | {"merged": self.at[path], "path": path, "id": id}
            self.check_signature(path, entry, signed, content[len(signed) : -1])
            if kind == "strikes":
                self.strike(entry["owner"], self.at[path])
                notes.append((entry["owner"], "about what it had sealed"))
                continue
            self.active[entry["owner"]].append(self.at[path])
            if kind == "claims":
                self.claims[sha(signed)] = entry
                continue
            signatures = [bytes.fromhex(each) for each in entry["signatures"]]
            self.known[entry["claim"]] = max(self.known[entry["claim"]], signatures, key=len)
            known = (self.seals if kind == "seals" else self.heads)[entry["claim"]]
            if known.setdefault(entry["owner"], entry) is not entry:
                self.wrong.append(f"{path}: its owner has handed this in already")
            by_hash[sha(signed)] = entry["owner"]
        for path, id in files:
            if path.startswith("strikes/") and path.endswith(".json"):
                strike = json.loads(self.git.read(id) or b"")
                self.strike(by_hash[strike["batch"]], self.at[path])
                notes.append((by_hash[strike["batch"]], f"in game {strike['game'] + 1} of a batch"))
        self.notes = [
            f"{owner} has lied {how}: its games count only where others have played them too"
            for owner, how in sorted(notes, key=lambda each: each[0])
        ]
        for times in self.active.values():
            times.sort()

    def strike(self, owner: str, at: int) -> None:
        self.struck[owner] = min(at, self.struck.get(owner, at))

    def check_signature(self, path: str, entry: dict[str, Any], signed: bytes, signature: bytes) -> None:
        runner = self.runners.get(entry["runner"])
        if runner is None or runner["owner"].lower() != entry["owner"]:
            self.wrong.append(f"{path}: not its runner")
            return
        try:
            key = Ed25519PublicKey.from_public_bytes(base64.b64decode(runner["key"]))
            key.verify(base64.b64decode(signature), signed)
        except InvalidSignature:
            self.wrong.append(f"{path}: not signed by its runner")

    # The beacon.

    def time_of(self, round: int) -> int:
        beacon = self.rules.get("beacon", {})
        if beacon == "merge":
            return round
        return int(beacon.get("genesis", 1692803367) + (round - 1) * beacon.get("period", 3))

    def round_after(self, at: int) -> int:
        if self.rules.get("beacon") == "merge":
            return at
        ahead: int = self.rules["ahead"]
        step = max(1, min(60, ahead))
        beacon, time = self.rules.get("beacon", {}), math.ceil((at + ahead) / step) * step
        return 1 + max(0, math.ceil((time - int(beacon.get("genesis", 1692803367))) / int(beacon.get("period", 3))))

    def is_signature(self, round: int, signature: bytes) -> bool:
        beacon = self.rules.get("beacon", {})
        if beacon == "merge":
            return signature == self.merge_luck(round)
        number = round.to_bytes(8, "big")
        if beacon.get("scheme") == "ed25519":
            try:
                key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(beacon["key"]))
                key.verify(signature, b"referee beacon\n" + number)
            except InvalidSignature:
                return False
            return True
        bls = import_module("py_arkworks_bls12381")
        hashed = bls.G1Point.hash_to_curve(hashlib.sha256(number).digest(), DOMAIN)
        points = [bls.G1Point.from_compressed_bytes(signature), -hashed]
        keys = [bls.G2Point(), bls.G2Point.from_compressed_bytes(bytes.fromhex(beacon["key"]))]
        return bool(bls.GT.pairing_check(points, keys))

    def merge_luck(self, at: int) -> bytes:
        return max((each for each in self.luck if each[0] <= at), default=(0, b""))[1]

    def signature(self, hash: str, number: int, round: int) -> bytes | None:
        if number < len(self.known[hash]):
            return self.known[hash][number]
        return self.merge_luck(round) if self.rules.get("beacon") == "merge" and round <= self.now else None

    @staticmethod
    def words(signature: bytes, hash: str, what: str, count: int) -> list[int]:
        seed = hashlib.sha256(f"referee ladder\n{what}\n{hash}\n".encode() + signature).digest()
        luck = hashlib.shake_256(seed).digest(8 * count)
        return [int.from_bytes(luck[at : at + 8], "big") for at in range(0, 8 * count, 8)]

    @staticmethod
    def hat(luck: list[int], size: int) -> list[int]:
        left, drawn = [*range(size)], []
        for word in luck:
            drawn.append(left.pop(word % len(left)))
        return drawn

    def games(self, hash: str) -> list[tuple[tuple[int, ...], int]]:
        """By place: bots by seat, and the number of the seed group."""
        claim = self.claims[hash]
        seats, bots = self.settings(claim["rules"])["seats"], len(self.bots(claim["bots"]))
        luck = self.words(self.known_first(hash), hash, "games", (seats + 1) * (claim["games"] // seats))
        found = []
        for group in range(claim["games"] // seats):
            line_up = self.hat(luck[group * (seats + 1) :][:seats], bots)
            found += [(seated(line_up, group, row), group) for row in range(len(rows(seats)))]
        return found

    def known_first(self, hash: str) -> bytes:
        return self.signature(hash, 0, self.claims[hash]["round"] or self.claims[hash]["merged"]) or b""

    # Stages.

    def pool(self, begin: int, used: set[str], days: float) -> list[str]:
        since = begin - days * 86400
        return sorted(
            owner
            for owner, times in self.active.items()
            if owner not in used
            and self.struck.get(owner, begin + 1) > begin
            and bisect.bisect_right(times, begin) > bisect.bisect_right(times, since)
        )

    def done(self, hash: str, kind: str, owner: str) -> int | None:
        entry = (self.seals if kind == SEAL else self.heads)[hash].get(owner)
        return entry["merged"] if entry else self.struck.get(owner) if kind == OPEN else None

    def stages(self, hash: str) -> list[Stage]:
        if f"stages {hash}" in self.cache:
            return self.cache[f"stages {hash}"]  # type: ignore[no-any-return]
        claim, found = self.claims[hash], list[Stage]()
        rules, begin = self.settings(claim["rules"]), claim["merged"]
        sealing = not all(module for _, _, module in self.bots(claim["bots"]))
        used, players, samplers, gathered = set[str](), set[str](), set[str](), set[str]()
        rounds, known, need = list[int](), list[bytes](), 0

        def said(owners: set[str]) -> list[str]:
            heads = self.heads[hash]
            return [
                heads[owner]["courses"]
                for owner in owners
                if owner in heads and heads[owner]["merged"] <= begin and self.struck.get(owner, begin + 1) > begin
            ]

        def add(kind: str, due: int, owners: list[str]) -> bool:
            stage = Stage(kind, begin, due, owners, [*rounds], [*known])
            found.append(stage)
            times = [self.done(hash, kind, owner) for owner in owners]
            right = [at for at in times if at is not None and at <= min(due, self.now)]
            stage.end = max(right) if len(right) == len(owners) else due if due < self.now else None
            return stage.end is not None

        while len(rounds) < 100:
            if sealing and len(gathered) < need:
                kind, count, hours = SEAL, need - len(gathered), rules["seal_hours"]
            elif sealing:
                if gathered:
                    players |= gathered
                    due, owners, gathered, need = begin + round(rules["seal_hours"] * 3600), sorted(gathered), set(), 0
                    if not add(OPEN, due, owners):
                        break
                    begin = max(begin, found[-1].end or 0)
                votes = Counter(said(players))
                most = max(votes.values(), default=0)
                need = 0 if votes.total() >= 2 * rules["witnesses"] else max(0, rules["witnesses"] - most)
                kind, count, hours = "", need, 0
            else:
                played = said(players)
                count = 1 if not played or (claim["games"] > rules["whole"] and not said(samplers)) else 0
                kind, hours = SAMPLE if played else PLAY, rules["claim_hours"]
            if not count:
                later = [at for owner, at in self.struck.items() if owner in used and begin < at <= self.now]
                if not later:
                    break
                begin = min(later)
                continue
            if not kind:
                continue
            own = [] if rounds else [claim["owner"]]
            if not own and not self.pool(begin, used, rules["active_days"]):
                later = [
                    times[bisect.bisect_right(times, begin)]
                    for owner, times in self.active.items()
                    if owner not in used
                    and self.struck.get(owner, begin + 1) > begin
                    and bisect.bisect_right(times, begin) < len(times)
                ]
                if not later or min(later) > self.now:
                    break
                begin = min(later)
            pool = [each for each in self.pool(begin, used, rules["active_days"]) if each not in own]
            rounds.append(self.round_after(begin) if rounds else claim["round"] or begin)
            luck = self.signature(hash, len(rounds) - 1, rounds[-1])
            due = self.time_of(rounds[-1]) + round(hours * 3600)
            if luck is None:
                found.append(Stage(kind, begin, due, own, [*rounds], [*known]))
                break
            known.append(luck)
            fresh = min(count - len(own), len(pool))
            owners = own + [pool[at] for at in self.hat(self.words(luck, hash, "owners", fresh), len(pool))]
            used |= {*owners}
            ended = add(kind, due, owners)
            (players if kind == PLAY else samplers if kind == SAMPLE else set()).update(owners)
            if not ended:
                break
            begin = max(begin, found[-1].end or 0)
            if kind == SEAL:
                gathered |= {
                    each for each in owners if each in self.seals[hash] and self.seals[hash][each]["merged"] <= due
                }
        self.cache[f"stages {hash}"] = found
        return found

    def places(self, hash: str, stage: Stage) -> list[int]:
        games, whole = self.claims[hash]["games"], self.settings(self.claims[hash]["rules"])["whole"]
        if stage.kind != SAMPLE:
            return [*range(games)]
        return sorted(self.hat(self.words(stage.known[-1], hash, "sample", min(whole, games)), games))
