"""A second `referee ladder verify`, and a second count of the table. See `second_ladder.py`."""

import bisect
import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from typing import Any

from second_ladder import OPEN, PLAY, SAMPLE, SEAL, Ladder, Stage, sha

from referee.addons.tournament.statistics.rating import rate
from referee.addons.tournament.statistics.tally import Game, Tally
from referee.harness.common.known_games import find_game


class Second(Ladder):
    """A ladder that can be verified and counted."""

    # What is wrong.

    def verify(self) -> list[str]:
        """Returns what is wrong; empty if nothing is."""
        commits = self.git.run("rev-list", "--first-parent", "--reverse", self.commit).split()
        place = {commit: at for at, commit in enumerate(commits)}
        changes = self.git.run(
            "rev-list", "--first-parent", "--reverse", self.commit, "--", "bots", "ladder.toml"
        ).split()
        ids = [
            tuple(
                self.git.run("rev-parse", "-q", "--verify", f"{each}:{name}").strip()
                for name in ("bots", "ladder.toml")
            )
            for each in changes
            if self.git.read(f"{each}:bots")
        ]
        starts = [place[each] for each in changes if self.git.read(f"{each}:bots")]
        for hash, claim in self.claims.items():
            end = place[self.commit_of[claim["path"]]]
            first = max(0, bisect.bisect_right(starts, end - 64) - 1)
            self.verify_claim(hash, claim, {*ids[first : bisect.bisect_left(starts, end)]})
        for kind, entries in (("seals", self.seals), ("games", self.heads)):
            for hash, by_owner in entries.items():
                for entry in by_owner.values():
                    self.verify_entry(kind, hash, entry)
        return self.wrong

    def verify_claim(self, hash: str, claim: dict[str, Any], known: set[Any]) -> None:
        rules, at, path = self.settings(claim["rules"]), claim["merged"], claim["path"]
        own = self.of_runner(claim["runner"])
        stage = self.stages(hash)[0]
        tests = {
            "number": [number for number, _, _ in own] == [*range(1, len(own) + 1)],
            "bots and rules": (claim["bots"], claim["rules"]) in known,
            "clock": claim["at"] <= at + 900,
            "round": claim["round"] == (0 if self.rules.get("beacon") == "merge" else self.round_after(claim["at"])),
            "late": not claim["round"] or at < self.time_of(claim["round"]),
            "games": 0 < claim["games"] <= rules["games"] and claim["games"] % rules["seats"] == 0,
            "struck": self.struck.get(claim["owner"], at + 1) > at,
            "open": sum(merged < at <= until for _, merged, until in own) < rules["open_claims"],
            "stage": stage.begin == at,
        }
        self.wrong += [f"{path}: {name}" for name, is_right in tests.items() if not is_right]
        since = at - rules["lapse_days"] * 86400
        if sum(since < due < at for due in self.lapses(claim["owner"])) >= rules["lapses"]:
            self.wrong.append(f"{path}: lapses")

    def of_runner(self, runner: str) -> list[tuple[int, int, int]]:
        """Number, time of the merge and until when it is open, of the claims of a runner."""
        if "claims" not in self.cache:
            own = self.cache["claims"] = defaultdict(list)
            for hash, claim in self.claims.items():
                first = self.stages(hash)[0]
                until = min(first.due, self.done(hash, first.kind, claim["owner"]) or first.due)
                own[claim["runner"]].append((claim["number"], claim["merged"], until))
        return sorted(self.cache["claims"][runner])

    def lapses(self, owner: str) -> list[int]:
        if f"lapses {owner}" not in self.cache:
            self.cache[f"lapses {owner}"] = [due for hash in self.claims for _, due in self.missed(hash, owner)]
        return self.cache[f"lapses {owner}"]  # type: ignore[no-any-return]

    def missed(self, hash: str, owner: str) -> list[tuple[str, int]]:
        found = []
        for number, stage in enumerate(self.stages(hash)):
            counts = stage.kind == OPEN or (number == 0 and owner == self.claims[hash]["owner"])
            entry = (self.seals if stage.kind == SEAL else self.heads)[hash].get(owner)
            if counts and owner in stage.owners and stage.due < self.now and (not entry or entry["merged"] > stage.due):
                found.append((stage.kind, stage.due))
        return found

    def verify_entry(self, kind: str, hash: str, entry: dict[str, Any]) -> None:
        path, claim = entry["path"], self.claims[hash]
        kinds = (SEAL,) if kind == "seals" else (PLAY, SAMPLE, OPEN)
        stage = next((each for each in self.stages(hash) if each.kind in kinds and entry["owner"] in each.owners), None)
        end = "json" if kind == "seals" else "txt"
        right_path = f"{kind}/{claim['runner']}/{claim['number']:06}/{entry['runner']}.{end}"
        if stage is None or not stage.begin <= entry["merged"] <= stage.due or path != right_path:
            self.wrong.append(f"{path}: nobody asked for it then")
            return
        signatures = [bytes.fromhex(each) for each in entry["signatures"]]
        if stage.kind != OPEN:
            pairs = zip(stage.rounds, signatures, strict=False)
            if signatures != stage.known or not all(self.is_signature(*each) for each in pairs):
                self.wrong.append(f"{path}: not signatures of the beacon")
            if entry["merged"] < self.time_of(stage.rounds[-1]):
                self.wrong.append(f"{path}: before its round")
        if kind == "seals":
            return
        lines = self.lines(entry)
        if len(lines) != len(self.places(hash, stage)) or entry["played"] != self.settings(claim["rules"])["versions"]:
            self.wrong.append(f"{path}: games left out, or other versions")
        if entry["courses"] != sha(b"\n".join(map(self.told, lines)))[:32]:
            self.wrong.append(f"{path}: courses")
        form = rb"[1-9]+ N [0-9a-f]{32}(:[0-9a-f]{8})? N(,N)*( N[a-z_]+~?)*".replace(b"N", rb"(0|[1-9]\d*)")
        if not all(re.fullmatch(form, line) for line in lines):
            self.wrong.append(f"{path}: no lines of games")
        if stage.kind == OPEN:
            start = bytes.fromhex(entry["salt"]) + entry["runner"].encode() + b"\n"
            root = sha(b"".join(hashlib.sha256(start + line).digest() for line in lines))
            if root != self.seals[hash][entry["owner"]]["root"]:
                self.wrong.append(f"{path}: not what was sealed")

    def lines(self, head: dict[str, Any]) -> list[bytes]:
        return (self.git.read(head["id"]) or b"").split(b"\n")[1:-2]

    @staticmethod
    def told(line: bytes) -> bytes:
        ranks, turns, hashes = line.split(b" ", 3)[:3]
        return b" ".join([ranks, turns, hashes[:32]])

    # The table.

    def table(self) -> bytes:
        """Returns the bytes of `referee ladder show --json`."""
        bots = self.bots(self.git.run("rev-parse", f"{self.commit}:bots").strip())
        current = {(name, version): place for place, (name, version, _) in enumerate(bots)}
        counts, cross = [[0] * 6 for _ in bots], defaultdict[tuple[int, int], list[int]](lambda: [0, 0])
        groups: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
        runners = defaultdict[str, Counter[str]](Counter)
        total = waiting = disputed = 0
        waits = []
        for hash in sorted(self.claims, key=lambda hash: (self.claims[hash]["merged"], hash)):
            claim, stages = self.claims[hash], self.stages(hash)
            said = {owner: self.lines(head) for owner, head in self.heads[hash].items()}
            for owner, lines in said.items():
                runners[self.heads[hash][owner]["runner"]]["games"] += len(lines)
            if stages[-1].end is None:
                waits.append(self.wait(hash, stages[-1]))
            if not stages[0].known:
                waiting += claim["games"]
                continue
            field, games = self.bots(claim["bots"]), self.games(hash)
            players = {owner for stage in stages if stage.kind in (PLAY, OPEN) for owner in stage.owners}
            honest = {owner: lines for owner, lines in said.items() if owner in players and owner not in self.struck}
            told = {owner: [*map(self.told, lines)] for owner, lines in honest.items()}
            for owner in honest if len(honest) > 1 else ():
                own = runners[self.heads[hash][owner]["runner"]]
                own["shared"] += claim["games"]
                own["agree"] += sum(
                    all(each[at] == told[owner][at] for each in told.values()) for at in range(claim["games"])
                )
            need = 1 if all(module for _, _, module in field) else self.settings(claim["rules"])["witnesses"]
            wrong = {
                place
                for stage in stages
                for owner in stage.owners
                if stage.kind == SAMPLE and owner in said
                for place, line in zip(self.places(hash, stage), said[owner], strict=True)
                if any(each[place] != self.told(line) for each in told.values())
            }
            rows_of: dict[int, list[tuple[tuple[int, ...], tuple[int, ...], int]]] = defaultdict(list)
            for place, (game, group) in enumerate(games):
                votes = Counter(each[place] for each in told.values())
                ranks = Counter(each.split()[0] for each in votes.elements())
                right = self.most(votes, need) or min(
                    (each for each in votes if each.split()[0] == self.most(ranks, need)), default=b""
                )
                if place in wrong or (need == 1 and len(votes) > 1) or (not right and len(votes) > 1):
                    disputed += 1
                elif not right:
                    waiting += 1
                else:
                    total += 1
                    line = honest[min(owner for owner in honest if told[owner][place] == right)][place]
                    seats = tuple(current.get(field[bot][:2], -1) for bot in game)
                    if min(seats) >= 0:
                        ranks = tuple(digit - 48 for digit in line.split()[0])
                        rows_of[group].append((seats, ranks, int(line.split()[2][:16], 16)))
                        self.count(counts, cross, seats, ranks, line, all(field[bot][2] for bot in game))
            for rows_in in rows_of.values():
                groups[tuple(each[:2] for each in rows_in)].append(tuple(each[2] for each in rows_in))
        tally = Tally(len(bots))
        for key in sorted(groups):
            tally.add([Game(*each) for each in key], groups[key])
        ratings = rate(len(bots), tally.weights(), draws=0)
        played = find_game(self.rules["game"])
        found: dict[str, Any] = {
            "format": 5,
            "title": self.rules.get("title") or f"{played.title} ladder",
            "game": played.title,
            "commit": self.commit,
            "at": self.now,
            "rows": self.rows(bots, counts, ratings),
            "runners": [self.runner_row(name, runners[name]) for name in sorted(self.runners)],
            "games": total,
            "waiting": waiting,
            "disputed": disputed,
            "waits": waits,
            "cross": {},
            "notes": self.notes,
        }
        for (bot, rival), cell in sorted(cross.items()) if len(bots) <= 60 else ():
            found["cross"].setdefault(bots[bot][0], {})[bots[rival][0]] = cell
        return json.dumps(found, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"

    @staticmethod
    def most(said: Counter[bytes], need: int) -> bytes:
        top = max([need, *said.values()])
        found = [each for each in said if said[each] == top]
        return found[0] if len(found) == 1 else b""

    @staticmethod
    def count(
        counts: Any, cross: Any, seats: tuple[int, ...], ranks: tuple[int, ...], line: bytes, proved: bool
    ) -> None:
        faults = [int(re.match(rb"\d+", word)[0]) for word in line.split()[4:]]  # type: ignore[index]
        for seat, bot in enumerate(seats):
            counts[bot][0 if proved else 1] += 1
            counts[bot][4 if ranks[seat] > 1 else 3 if ranks.count(1) > 1 else 2] += 1
            counts[bot][5] += faults.count(seat)
            for other, rival in enumerate(seats):
                if other != seat:
                    cross[bot, rival][0] += 2 if ranks[seat] < ranks[other] else ranks[seat] == ranks[other]
                    cross[bot, rival][1] += 1

    def rows(self, bots: Any, counts: Any, ratings: Any) -> list[dict[str, Any]]:
        def whole(value: float | None) -> int | None:
            return None if value is None or not math.isfinite(value) else math.floor(value + 0.5)

        found = []
        for (name, version, module), (proved, witnessed, won, drawn, lost, faults), rating in zip(
            bots, counts, ratings, strict=True
        ):
            games = proved + witnessed
            elo, low, high = (
                whole(each) if games else None for each in (rating.elo.value, rating.elo.low, rating.elo.high)
            )
            found.append({
                "rank": 0, "name": name, "version": version, "kind": "module" if module else "native", "elo": elo,
                "low": low, "high": high, "games": games, "proved": proved, "witnessed": witnessed, "wins": won,
                "draws": drawn, "losses": lost, "faults": faults, "note": rating.note if games else "no games yet",
            })  # fmt: skip
        found.sort(key=lambda row: (row["elo"] is None, -(row["elo"] or 0), row["name"]))
        for place, row in enumerate(found):
            same = place and found[place - 1]["elo"] == row["elo"]
            row["rank"] = found[place - 1]["rank"] if same else place + 1
        return found

    def runner_row(self, name: str, counts: Counter[str]) -> dict[str, Any]:
        owner, own = (
            self.runners[name]["owner"].lower(),
            [hash for hash, each in self.claims.items() if each["runner"] == name],
        )
        lapsed = sum(kind != OPEN for hash in own for kind, _ in self.missed(hash, owner))
        missed = sum(
            kind == OPEN
            for hash, seals in self.seals.items()
            if seals.get(owner, {}).get("runner") == name
            for kind, _ in self.missed(hash, owner)
        )
        return {
            "name": name, "owner": self.runners[name]["owner"], "games": counts["games"], "claims": len(own),
            "open": sum(until > self.now for _, _, until in self.of_runner(name)), "lapsed": lapsed, "missed": missed,
            "shared": counts["shared"], "agree": counts["agree"], "state": "struck" if owner in self.struck else "",
        }  # fmt: skip

    def wait(self, hash: str, stage: Stage) -> dict[str, Any]:
        claim = self.claims[hash]
        bots: list[str] = []
        if stage.known:
            field = self.bots(claim["bots"])
            bots = sorted({field[bot][0] for game, _ in self.games(hash) for bot in game})
        games, sealed = f"{claim['games']} games", len(self.seals[hash])
        done = sum(owner in self.heads[hash] for owner in stage.owners)
        need = max(self.settings(claim["rules"])["witnesses"], sealed)
        owners = f"{len(stage.owners)} owner{'s' * (len(stage.owners) != 1)}"
        again = " again in part" if stage.kind == SAMPLE else ""
        words = {
            SEAL: f"{games} sealed by {sealed} of {need} owners; they open",
            OPEN: f"{games} opened by {done} of {owners}; the others open them",
        }.get(
            stage.kind,
            f"{games} of modules that {' and '.join(stage.owners) or 'another owner'} plays{again}; they end",
        )
        return {
            "claim": f"{claim['runner']}, claim {claim['number']}",
            "bots": bots,
            "words": words,
            "until": stage.due,
        }
