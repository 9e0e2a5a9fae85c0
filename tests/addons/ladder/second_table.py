"""A second count of a ladder's table. See `second_verify.py`."""

import json
import math
import re
from collections import Counter, defaultdict
from typing import Any

from second_verify import OPEN, PLAY, SAMPLE, SEAL, Ladder, Stage, told

from referee.addons.tournament.statistics.rating import rate
from referee.addons.tournament.statistics.tally import Game, Tally
from referee.harness.common.known_games import find_game


class Second(Ladder):
    """A ladder that can be verified and counted."""

    def table(self) -> bytes:
        """Returns the bytes of `referee ladder show --json`."""
        bots = self.bots(self.git("rev-parse", f"{self.commit}:bots").strip())
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
            tells = {owner: [*map(told, lines)] for owner, lines in honest.items()}
            for owner in honest if len(honest) > 1 else ():
                own = runners[self.heads[hash][owner]["runner"]]
                own["shared"] += claim["games"]
                own["agree"] += sum(
                    all(each[at] == tells[owner][at] for each in tells.values()) for at in range(claim["games"])
                )
            need = 1 if all(module for _, _, module in field) else self.settings(claim["rules"])["witnesses"]
            wrong = {
                place
                for stage in stages
                for owner in stage.owners
                if stage.kind == SAMPLE and owner in said
                for place, line in zip(self.places(hash, stage), said[owner], strict=True)
                if any(each[place] != told(line) for each in tells.values())
            }
            rows_of: dict[int, list[tuple[tuple[int, ...], tuple[int, ...], int]]] = defaultdict(list)
            for place, (game, group) in enumerate(games):
                votes = Counter(each[place] for each in tells.values())
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
                    line = honest[min(owner for owner in honest if tells[owner][place] == right)][place]
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
            "notes": [words for _, words in sorted(self.notes, key=lambda each: each[0])],
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
