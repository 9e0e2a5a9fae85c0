"""A second `referee ladder verify`, written from `docs/explanation/ladder.md`. `second_table.py` counts the games.

It imports nothing of the ladder: git, JSON, hashes and signatures alone.
"""

import base64
import bisect
import hashlib
import json
import math
import re
import subprocess
import tomllib
from collections import Counter, defaultdict, namedtuple
from functools import cache
from importlib import import_module
from os.path import splitext
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from referee.addons.tournament.formats.designs import rows, seated

DEFAULTS = {
    "witnesses": 2, "whole": 20, "ahead": 300, "claim_hours": 6.0, "seal_hours": 6.0, "active_days": 3.0,
    "lapses": 3, "lapse_days": 7.0, "open_claims": 1, "games": 200, "seats": 2, "beacon": {},
}  # fmt: skip
QUICKNET = {"genesis": 1692803367, "period": 3, "key": (
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)}  # fmt: skip
ENTRIES = ("claims", "seals", "games", "strikes", "checkpoints")
DOMAIN = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"
PLAY, SEAL, OPEN, SAMPLE = "play", "seal", "open", "sample"
Entry = dict[str, Any]
Stage = namedtuple("Stage", "kind begin due owners rounds known end")


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def is_signed(key: bytes, signed: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, signed)
    except InvalidSignature:
        return False
    return True


def words(signature: bytes, hash: str, what: str, count: int) -> list[int]:
    seed = hashlib.sha256(f"referee ladder\n{what}\n{hash}\n".encode() + signature).digest()
    luck = hashlib.shake_256(seed).digest(8 * count)
    return [int.from_bytes(luck[at : at + 8], "big") for at in range(0, 8 * count, 8)]


def hat(luck: list[int], size: int) -> list[int]:
    left = [*range(size)]
    return [left.pop(word % len(left)) for word in luck]


def told(line: bytes) -> bytes:
    return line[: line.index(b" ", line.index(b" ") + 1) + 33]


class Ladder:
    def __init__(self, folder: Path, commit: str = "main") -> None:
        words = ["git", "-C", folder, "cat-file", "--batch"]
        self.folder, self.wrong = folder, list[str]()
        self.batch = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name in ("settings", "bots", "stages", "is_signature", "of_runner", "lapses"):
            setattr(self, name, cache(getattr(self, name)))
        self.commit = self.git("rev-parse", f"{commit}^{{commit}}").strip()
        self.rules = self.settings(f"{self.commit}:ladder.toml")
        self.read_history()
        self.read_entries()

    def close(self) -> None:
        self.batch.communicate()

    def git(self, *words: str) -> str:
        return subprocess.run(["git", "-C", self.folder, *words], check=True, capture_output=True).stdout.decode()

    def read(self, name: str) -> bytes:
        """Returns the content of an object; empty if it is not there."""
        assert self.batch.stdin and self.batch.stdout
        self.batch.stdin.write(f"{name}\n".encode())
        self.batch.stdin.flush()
        words = self.batch.stdout.readline().split()
        return self.batch.stdout.read(int(words[2]) + 1)[:-1] if len(words) == 3 else b""

    def toml(self, name: str) -> Entry:
        return tomllib.loads(self.read(name).decode("utf-8-sig"))

    def read_history(self) -> None:
        form = "--format=%x01%H %ct %(trailers:key=Beacon,valueonly,separator=%x20)"
        words = ("log", "--first-parent", "-m", "--no-renames", "--reverse", "--name-status", "-z", form)
        self.merges = dict[str, tuple[int, str]]()
        self.luck, self.active = list[tuple[int, bytes]](), defaultdict[str, list[int]](list)
        last = self.now = 0
        for part in self.git(*words, self.commit, "--", *ENTRIES, "runners").split("\1")[1:]:
            first, *rest = [word.strip("\n") for word in part.split("\0") if word.strip("\n")]
            commit, at, luck = first.split(" ", 2)
            self.now, has_entries = max(self.now, int(at)), False
            for status, path in zip(rest[::2], rest[1::2], strict=True):
                is_runner = path.startswith("runners/")
                has_entries |= not is_runner
                if status == "A":
                    self.merges[path] = int(at), commit
                if is_runner and status != "D":
                    self.active[self.toml(f"{commit}:{path}")["owner"].lower()].append(max(int(at), last + 1))
                elif status != "A" and not is_runner:
                    self.wrong.append(f"{path} was changed")
            if has_entries:
                self.luck.append((int(at), bytes.fromhex(luck)))
                if int(at) <= last:
                    self.wrong.append(f"{commit} is dated back")
                last = int(at)

    def settings(self, id: str) -> Entry:
        found = DEFAULTS | self.toml(id)
        return found if found["beacon"] == "merge" else found | {"beacon": QUICKNET | found["beacon"]}

    def bots(self, id: str) -> list[tuple[str, str, bool]]:
        """Name, version and whether it is a module, of those that can be repeated."""
        found = []
        for line in self.git("ls-tree", "-z", id).split("\0")[:-1] if id else []:
            about, name = line.split("\t")
            toml = self.toml(f"{about.split()[2]}:bot.toml")
            module = splitext(toml.get("run", [""])[0])[1] == ".wasm" and "build" not in toml
            if module or toml.get("deterministic"):
                found.append((name, about.split()[2], module))
        return found

    def read_entries(self) -> None:
        self.claims, self.struck = dict[str, Entry](), dict[str, int]()
        self.seals, self.heads = defaultdict[str, dict[str, Entry]](dict), defaultdict[str, dict[str, Entry]](dict)
        self.known, self.owner_of = defaultdict[str, list[bytes]](list), dict[str, str]()
        self.openings, self.notes = list[Entry](), list[tuple[str, str]]()
        folders = ("runners/", "claims/", "seals/", "games/", "strikes/")
        lines = self.git("ls-tree", "-r", "-z", self.commit, "--", *folders).split("\0")[:-1]
        files = {path: about.split()[2] for about, path in (line.split("\t") for line in lines)}
        self.runners = {path[8:-5]: self.toml(id) for path, id in files.items() if path.startswith("runners/")}
        for path, id in files.items():
            kind, content = path.split("/")[0], self.read(id)
            if kind == "strikes" and path.endswith(".json"):
                strike = json.loads(content)
                self.strike(self.owner_of[strike["batch"]], path, f"in game {strike['game'] + 1} of a batch")
            elif kind != "runners":
                self.add(kind, path, id, content)
        for times in self.active.values():
            times.sort()

    def add(self, kind: str, path: str, id: str, content: bytes) -> None:
        signed = content[: content.rstrip(b"\n").rfind(b"\n") + 1]
        entry = json.loads(signed.split(b"\n")[0]) | {"merged": self.merges[path][0], "path": path, "id": id}
        runner, owner = self.runners.get(entry["runner"], {"owner": "", "key": ""}), entry["owner"]
        key, signature = base64.b64decode(runner["key"]), base64.b64decode(content[len(signed) :])
        if runner["owner"].lower() != owner or not is_signed(key, signed, signature):
            self.wrong.append(f"{path}: not signed by a runner of its owner")
        if kind == "strikes":
            self.openings.append(entry)
            self.strike(owner, path, "about what it had sealed")
            return
        self.active[owner].append(entry["merged"])
        if kind == "claims":
            self.claims[sha(signed)] = entry
            return
        signatures = [bytes.fromhex(each) for each in entry["signatures"]]
        self.known[entry["claim"]] = max(self.known[entry["claim"]], signatures, key=len)
        if (self.seals if kind == "seals" else self.heads)[entry["claim"]].setdefault(owner, entry) is not entry:
            self.wrong.append(f"{path}: its owner has handed this in already")
        self.owner_of[sha(signed)] = owner

    def strike(self, owner: str, path: str, how: str) -> None:
        at = self.merges[path][0]
        self.struck[owner] = min(at, self.struck.get(owner, at))
        self.notes.append((owner, f"{owner} has lied {how}: its games count only where others have played them too"))

    def time_of(self, round: int) -> int:
        beacon = self.rules["beacon"]
        return round if beacon == "merge" else beacon["genesis"] + (round - 1) * beacon["period"]

    def round_after(self, at: int) -> int:
        beacon, ahead = self.rules["beacon"], self.rules["ahead"]
        if beacon == "merge":
            return at
        time = math.ceil((at + ahead) / (step := max(1, min(60, ahead)))) * step
        return 1 + max(0, math.ceil((time - beacon["genesis"]) / beacon["period"]))

    def is_signature(self, round: int, signature: bytes) -> bool:
        beacon, number = self.rules["beacon"], round.to_bytes(8, "big")
        if beacon == "merge":
            return signature == self.merge_luck(round)
        if beacon.get("scheme") == "ed25519":
            return is_signed(bytes.fromhex(beacon["key"]), b"referee beacon\n" + number, signature)
        bls = import_module("py_arkworks_bls12381")
        hashed = bls.G1Point.hash_to_curve(hashlib.sha256(number).digest(), DOMAIN)
        points = [bls.G1Point.from_compressed_bytes(signature), -hashed]
        keys = [bls.G2Point(), bls.G2Point.from_compressed_bytes(bytes.fromhex(beacon["key"]))]
        return bool(bls.GT.pairing_check(points, keys))

    def merge_luck(self, at: int) -> bytes:
        return max((each for each in self.luck if each[0] <= at), default=(0, b""))[1]

    def games(self, hash: str) -> list[tuple[tuple[int, ...], int]]:
        """By place: bots by seat, and the number of the seed group."""
        claim, signature = self.claims[hash], self.stages(hash)[0].known[0]
        seats, bots, found = self.settings(claim["rules"])["seats"], len(self.bots(claim["bots"])), []
        luck = words(signature, hash, "games", (seats + 1) * (claim["games"] // seats))
        for group in range(claim["games"] // seats):
            line_up = hat(luck[group * (seats + 1) :][:seats], bots)
            found += [(seated(line_up, group, row), group) for row in range(len(rows(seats)))]
        return found

    def places(self, hash: str, stage: Stage) -> list[int]:
        games, whole = self.claims[hash]["games"], self.settings(self.claims[hash]["rules"])["whole"]
        if stage.kind != SAMPLE:
            return [*range(games)]
        return sorted(hat(words(stage.known[-1], hash, "sample", min(whole, games)), games))

    def is_struck(self, owner: str, at: int) -> bool:
        return self.struck.get(owner, at + 1) <= at

    def later(self, begin: int, used: set[str]) -> dict[str, tuple[int, list[int]]]:
        """By owner who is not used or struck: how many activities it had up to a time, and the times of all."""
        free = sorted(each for each in self.active if each not in used and not self.is_struck(each, begin))
        return {each: (bisect.bisect_right(self.active[each], begin), self.active[each]) for each in free}

    def done(self, hash: str, kind: str, owner: str) -> int | None:
        entry = (self.seals if kind == SEAL else self.heads)[hash].get(owner)
        return entry["merged"] if entry else self.struck.get(owner) if kind == OPEN else None

    def stages(self, hash: str) -> list[Stage]:
        claim, found, rounds, known = self.claims[hash], list[Stage](), list[int](), list[bytes]()
        rules, begin, need = self.settings(claim["rules"]), claim["merged"], 0
        sealing = not all(module for _, _, module in self.bots(claim["bots"]))
        used, players, samplers, gathered = set[str](), set[str](), set[str](), set[str]()

        def said(owners: set[str]) -> list[str]:
            heads = {owner: self.heads[hash][owner] for owner in owners & self.heads[hash].keys()}
            right = {owner: head for owner, head in heads.items() if head["merged"] <= begin}
            return [head["courses"] for owner, head in right.items() if not self.is_struck(owner, begin)]

        def add(kind: str, start: int, hours: float, owners: list[str]) -> int | None:
            due = start + round(hours * 3600)
            times = [self.done(hash, kind, owner) for owner in owners]
            right = [at for at in times if at is not None and at <= min(due, self.now)]
            end = max(right, default=due) if len(right) == len(owners) else due if due < self.now else None
            end = None if len(known) < len(rounds) else end
            found.append(Stage(kind, begin, due, owners, [*rounds], [*known], end))
            return end

        while len(rounds) < 100:
            if sealing and gathered and len(gathered) >= need:
                players |= gathered
                end, gathered, need = add(OPEN, begin, rules["seal_hours"], sorted(gathered)), set(), 0
                if end is None:
                    break
                begin = max(begin, end)
            if sealing and not need:
                votes = Counter(said(players))
                most = max(votes.values(), default=0)
                need = 0 if votes.total() >= 2 * rules["witnesses"] else max(0, rules["witnesses"] - most)
            kind, count, hours = SEAL, need - len(gathered), rules["seal_hours"]
            if not sealing:
                kind, hours = SAMPLE if said(players) else PLAY, rules["claim_hours"]
                count = int(kind == PLAY or (claim["games"] > rules["whole"] and not said(samplers)))
            if not count:
                struck = [at for owner, at in self.struck.items() if owner in used and begin < at <= self.now]
                if not struck:
                    break
                begin = min(struck)
                continue
            own, since = [] if rounds else [claim["owner"]], rules["active_days"] * 86400
            while True:
                free = self.later(begin, used | {*own})
                pool = [owner for owner, (at, all) in free.items() if at > bisect.bisect_right(all, begin - since)]
                later = min((all[at] for at, all in free.values() if at < len(all)), default=self.now + 1)
                if own or pool or later > self.now:
                    break
                begin = later
            if not own and not pool:
                break
            rounds.append(self.round_after(begin) if rounds else claim["round"] or begin)
            luck = [*self.known[hash], b""][: len(rounds)][-1]
            if self.rules["beacon"] == "merge" and rounds[-1] <= self.now:
                luck = luck or self.merge_luck(rounds[-1])
            owners = own
            if luck:
                known.append(luck)
                fresh = min(count - len(own), len(pool))
                owners = own + [pool[at] for at in hat(words(luck, hash, "owners", fresh), len(pool))]
            used |= {*owners}
            end = add(kind, self.time_of(rounds[-1]), hours, owners)
            (players if kind == PLAY else samplers if kind == SAMPLE else set()).update(owners)
            if end is None:
                break
            seals, due = self.seals[hash], found[-1].due
            gathered |= {each for each in owners if kind == SEAL and each in seals and seals[each]["merged"] <= due}
            begin = max(begin, end)
        return found

    def verify(self) -> list[str]:
        """Returns what is wrong; empty if nothing is."""
        words = ("rev-list", "--first-parent", "--reverse", self.commit)
        place = {commit: at for at, commit in enumerate(self.git(*words).split())}
        changes = [each for each in self.git(*words, "--", "bots", "ladder.toml").split() if self.read(f"{each}:bots")]
        ids = [tuple(self.git("rev-parse", f"{each}:bots", f"{each}:ladder.toml").split()) for each in changes]
        starts = [place[each] for each in changes]
        for hash, claim in self.claims.items():
            end = place[self.merges[claim["path"]][1]]
            first = max(0, bisect.bisect_right(starts, end - 64) - 1)
            self.verify_claim(hash, claim, {*ids[first : bisect.bisect_left(starts, end)]})
            times = set[tuple[int, bytes]]()
            for entry in (*self.seals[hash].values(), *self.heads[hash].values()):
                self.verify_entry(hash, entry, times)
        self.wrong += [f"claim {hash} is missing" for hash in self.known.keys() - self.claims.keys()]
        for entry in self.openings:
            sealed = self.seals[entry["claim"]].get(entry["owner"])
            if sealed is None or sealed["root"] == self.root(entry):
                self.wrong.append(f"{entry['path']}: what was sealed strikes nobody")
        return self.wrong

    def verify_claim(self, hash: str, claim: Entry, known: set[Any]) -> None:
        rules, at, path = self.settings(claim["rules"]), claim["merged"], claim["path"]
        own, by_merge = self.of_runner(claim["runner"]), self.rules["beacon"] == "merge"
        since = at - rules["lapse_days"] * 86400
        tests = {
            "number": [number for number, _, _ in own] == [*range(1, len(own) + 1)],
            "bots and rules": (claim["bots"], claim["rules"]) in known,
            "clock": at - (900 if by_merge else math.inf) <= claim["at"] <= at + 900,
            "round": claim["round"] == (0 if by_merge else self.round_after(claim["at"])),
            "late": by_merge or at < self.time_of(claim["round"]),
            "games": 0 < claim["games"] <= rules["games"] and claim["games"] % rules["seats"] == 0,
            "struck": not self.is_struck(claim["owner"], at),
            "open": sum(merged < at <= until for _, merged, until in own) < rules["open_claims"],
            "lapses": sum(since < due < at for due in self.lapses(claim["owner"])) < rules["lapses"],
        }
        self.wrong += [f"{path}: {name}" for name, is_right in tests.items() if not is_right]

    def of_runner(self, runner: str) -> list[tuple[int, int, int]]:
        """Number, time of the merge and until when it is open, of the claims of a runner."""
        own = [(claim, hash, self.stages(hash)[0]) for hash, claim in self.claims.items() if claim["runner"] == runner]
        ends = [min(first.due, self.done(hash, first.kind, claim["owner"]) or first.due) for claim, hash, first in own]
        return sorted((each[0]["number"], each[0]["merged"], end) for each, end in zip(own, ends, strict=True))

    def lapses(self, owner: str) -> list[int]:
        return [due for hash in self.claims for _, due in self.missed(hash, owner)]

    def missed(self, hash: str, owner: str) -> list[tuple[str, int]]:
        found = []
        for number, stage in enumerate(self.stages(hash)):
            counts = stage.kind == OPEN or (number == 0 and owner == self.claims[hash]["owner"])
            entry = (self.seals if stage.kind == SEAL else self.heads)[hash].get(owner)
            if counts and owner in stage.owners and stage.due < self.now and (not entry or entry["merged"] > stage.due):
                found.append((stage.kind, stage.due))
        return found

    def verify_entry(self, hash: str, entry: Entry, times: set[tuple[int, bytes]]) -> None:
        """`times`: those of calls of other owners, by the places of games."""
        path, claim, kind = entry["path"], self.claims[hash], entry["path"].split("/")[0]
        kinds = (SEAL,) if kind == "seals" else (PLAY, SAMPLE, OPEN)
        stage = next((each for each in self.stages(hash) if each.kind in kinds and entry["owner"] in each.owners), None)
        right_path = f"{kind}/{claim['runner']}/{claim['number']:06}/{entry['runner']}."
        if stage is None or not stage.begin <= entry["merged"] <= stage.due or not path.startswith(right_path):
            self.wrong.append(f"{path}: nobody asked for it then")
            return
        signatures = [bytes.fromhex(each) for each in entry["signatures"]]
        pairs = zip(stage.rounds, signatures, strict=False) if stage.kind != OPEN else ()
        tests = {
            "rounds": stage.kind == OPEN or signatures == stage.known,
            "signatures": all(self.is_signature(*each) for each in pairs),
            "early": stage.kind == OPEN or entry["merged"] >= self.time_of(stage.rounds[-1]),
        }
        if kind == "games":
            lines, form = self.lines(entry), rb"[1-9]+ N [0-9a-f]{32}(:[0-9a-f]{8})? N(,N)*( N[a-z_]+~?)*"
            long = [(at, line.split()[2][32:]) for at, line in enumerate(lines) if int(line.split()[1]) > 3]
            fresh = {each for each in long if each[1]}
            sealed = self.seals[hash].get(entry["owner"], {"runner": "", "root": ""})
            tests |= {
                "games left out": len(lines) == len(self.places(hash, stage)),
                "versions": entry["played"] == self.settings(claim["rules"])["versions"],
                "courses": entry["courses"] == sha(b"\n".join(map(told, lines)))[:32],
                "lines": all(re.fullmatch(form.replace(b"N", rb"(0|[1-9]\d*)"), line) for line in lines),
                "opens otherwise": stage.kind != OPEN
                or (sealed["runner"], sealed["root"]) == (entry["runner"], self.root(entry)),
                "copied": times.isdisjoint(fresh),
            }
            times |= fresh
        self.wrong += [f"{path}: {name}" for name, is_right in tests.items() if not is_right]

    def root(self, entry: Entry) -> str:
        start = bytes.fromhex(entry["salt"]) + entry["runner"].encode() + b"\n"
        return sha(b"".join(hashlib.sha256(start + line).digest() for line in self.lines(entry)))

    def lines(self, entry: Entry) -> list[bytes]:
        return self.read(entry["id"]).split(b"\n")[1:-2]
