"""A Swiss with all that happens to one, and its table by a second implementation.

Twenty bots play. Two teams come late, one is withdrawn with its games, one hands in a new version, and the run is
killed twice. The table is worked out again from `docs/reference/tournaments.md` and the files of the folder alone,
`tournament.toml` and the ledger's lines, without any of the referee's statistics.
"""

import json
import subprocess
import time
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from contests import command, drawing_bot, environment, table, tournament

pytestmark = pytest.mark.slow

BOTS, ROUNDS, GAMES = 20, 6, 2
SLOW = """
import time
plain = choose
def choose():
    time.sleep(0.003)
    return plain()
"""
"""Makes the games of a round last some seconds, so that a run is killed within one."""
Line = dict[str, Any]


def played(folder: Path) -> list[Line]:
    """Returns the lines of all games as they are in the files, the earliest first. The last line may be torn."""
    lines = [
        json.loads(text)
        for file in (folder / "ledger").glob("*.jsonl")
        for text in file.read_bytes().split(b"\n")[:-1]
        if text and b'"ledger":' not in text[:12]
    ]
    return sorted(lines, key=lambda line: line["at"])


@contextmanager
def killed(folder: Path, *arguments: str | Path) -> Iterator[Callable[[int], None]]:
    """Plays in a process of its own, which is killed at the end. Yields a function that waits for so many games."""
    with (folder / "log").open("ab") as log:
        run = subprocess.Popen(
            [*command(*arguments), "--jobs", "1"], cwd=folder, env=environment(folder), stdout=log, stderr=log
        )

        def wait(games: int) -> None:
            deadline = time.monotonic() + 120
            while not (folder / "cup" / "ledger").exists() or len(played(folder / "cup")) < games:
                assert run.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.01)

        try:
            yield wait
            assert run.poll() is None, "it is still playing"
        finally:
            run.kill()
            run.wait()


class Table:
    """The Swiss, worked out from the files."""

    def __init__(self, folder: Path) -> None:
        plan = tomllib.loads((folder / "tournament.toml").read_text())
        self.bots = {bot["ident"]: bot for bot in plan["bots"]}
        newest = {bot["name"]: ident for ident, bot in self.bots.items() if not bot.get("absent")}
        self.void = {ident for ident, bot in self.bots.items() if bot.get("void")}
        self.older = {ident for ident, bot in self.bots.items() if newest.get(bot["name"], ident) != ident}
        self.lines = played(folder)
        assert len({line["k"] for line in self.lines}) == len(self.lines), "no game was played twice"
        self._count()

    def _count(self) -> None:
        self.met: dict[str, dict[str, Fraction]] = {ident: {} for ident in self.bots}
        self.unplayed = dict.fromkeys(self.bots, 0)
        """Games of byes, and those that an opponent lost without play because it left during the round."""
        self.byes = dict.fromkeys(self.bots, 0)
        for number, games in enumerate(self._rounds()):
            self._count_round(number, games)
        for void in self.void:  # its games count for nobody
            for other in self.met.pop(void):
                del self.met[other][void]
        self.points = {bot: sum(won.values(), Fraction(self.unplayed[bot])) for bot, won in self.met.items()}

    def _rounds(self) -> list[dict[frozenset[str], list[Line]]]:
        """Returns the games of each round by pair. One worker plays one round after the other."""
        rounds: list[dict[frozenset[str], list[Line]]] = [{}]
        for line in self.lines:
            pair = frozenset(line["b"])
            if pair not in rounds[-1] and not pair.isdisjoint(bot for known in rounds[-1] for bot in known):
                assert all(pair not in known for known in rounds), "no two bots have met in two rounds"
                rounds.append({})
            rounds[-1].setdefault(pair, []).append(line)
        assert len(rounds) == ROUNDS
        return rounds

    def _count_round(self, number: int, games: dict[frozenset[str], list[Line]]) -> None:
        present = {ident for ident, bot in self.bots.items() if takes_part(bot, number)}
        gone = {ident for ident in present if not takes_part(self.bots[ident], number + 1)}
        for pair, lines in games.items():
            assert pair <= present and (len(lines) == GAMES or pair & gone)
            for bot in pair:
                (other,) = pair - {bot}
                self.met[bot][other] = sum((worth(line, bot) for line in lines), Fraction())
                self.unplayed[bot] += 0 if bot in gone else GAMES - len(lines)
        idle = present - {bot for pair in games for bot in pair}
        lost = idle & gone
        stay = idle - lost
        assert len(stay) - len(lost) == len(present) % 2, "one bot has a bye if their number is odd"
        for bot in stay:  # of a bye, or because its opponent has lost without play
            self.byes[bot] += 1
            self.unplayed[bot] += GAMES

    def opponents(self, bot: str) -> list[Fraction]:
        """The points of the opponent of each round, the fewest first; a bye is one with the bot's own points."""
        return sorted([self.points[other] for other in self.met[bot]] + [self.points[bot]] * self.byes[bot])

    def sonneborn_berger(self, bot: str) -> Fraction:
        games = sum(self.points[other] * share for other, share in self.met[bot].items())
        return games + self.points[bot] * self.unplayed[bot]

    def order(self) -> list[list[str]]:
        """Ranks by points, Buchholz cut 1, Buchholz, Sonneborn-Berger and the games among equal bots."""
        keys: dict[tuple[Fraction, ...], list[str]] = defaultdict(list)
        for bot in self.met.keys() - self.older:
            buchholz = self.opponents(bot)
            key = self.points[bot], sum(buchholz[1:]), sum(buchholz), self.sonneborn_berger(bot)
            keys[tuple(map(Fraction, key))].append(bot)
        return [part for key in sorted(keys, reverse=True) for part in self._direct(keys[key])]

    def _direct(self, equal: list[str]) -> list[list[str]]:
        if len(equal) == 1 or any(other not in self.met[bot] for bot in equal for other in equal if other != bot):
            return [equal]
        won = {bot: sum((self.met[bot][other] for other in equal if other != bot), Fraction()) for bot in equal}
        parts = [[bot for bot in equal if won[bot] == value] for value in sorted({*won.values()}, reverse=True)]
        return parts if len(parts) == 1 else [each for part in parts for each in self._direct(part)]


def worth(line: Line, bot: str) -> Fraction:
    """Returns the points of a bot in a game."""
    seat = line["b"].index(bot)
    rank, other = line["r"][seat], line["r"][1 - seat]
    return Fraction((rank < other) + (rank <= other), 2)


def takes_part(bot: dict[str, Any], number: int) -> bool:
    """Whether a bot takes part in a round: `changes` has those before which it came, left, came again."""
    return sum(change <= number for change in bot.get("changes", [0])) % 2 == 1


def test_the_table_of_a_swiss_with_changes_and_kills_is_that_of_a_second_implementation(tmp_path: Path) -> None:
    bots = [drawing_bot(tmp_path / "bots", f"bot{salt:02}", salt, SLOW) for salt in range(BOTS)]
    late = [drawing_bot(tmp_path / "bots", f"late{salt}", 100 + salt, SLOW) for salt in range(2)]
    cup = tmp_path / "cup"
    listed = ", ".join(json.dumps(bot) for bot in bots)
    (tmp_path / "cup.toml").write_text(
        f'game = "tictactoe"\nformat = "swiss"\nrounds = {ROUNDS}\ngames = {GAMES}\nseed = 7\nbots = [{listed}]\n'
    )
    with killed(tmp_path, tmp_path / "cup.toml", "--ledger", cup) as wait:
        wait(26)  # in the second round
    kept = {line["k"] for line in played(cup)}
    tournament(tmp_path, "add", cup, late[0])
    with killed(tmp_path, cup) as wait:
        wait(len(kept) + 22)
        tournament(tmp_path, "withdraw", cup, "bot07", "--void")
        new = drawing_bot(tmp_path / "new", "bot11", 111, SLOW)
        tournament(tmp_path, "add", cup, late[1], new)
        wait(len(kept) + 50)
    before = {line["k"] for line in played(cup)}
    tournament(tmp_path, cup)
    found, mine = table(cup), Table(cup)
    assert kept < before < {line["k"] for line in played(cup)}, "no kill has lost a game"
    labels = {ident: bot["name"] for ident, bot in mine.bots.items()}
    assert [labels[ident] for ident in (*mine.void, *mine.older)] == ["bot07", "bot11"]
    assert sum(mine.byes.values()) > 0 and len(mine.bots) == BOTS + 3

    order = mine.order()
    ranks = {bot: 1 + sum(map(len, order[:place])) for place, equal in enumerate(order) for bot in equal}
    assert len(found["rows"]) == len(ranks) == BOTS + 1
    for row in found["rows"]:
        bot, buchholz = row["ident"], mine.opponents(row["ident"])
        assert row["points"] == mine.points[bot] and row["byes"] == mine.byes[bot]
        assert row["games"] == sum(bot in line["b"] and mine.void.isdisjoint(line["b"]) for line in mine.lines)
        assert row["ties"] == {
            "buchholz-cut-1": sum(buchholz[1:]),
            "buchholz": sum(buchholz),
            "sonneborn-berger": mine.sonneborn_berger(bot),
        }
        assert row["rank"] == ranks[bot]
    assert found["played"] == sum(mine.void.isdisjoint(line["b"]) for line in mine.lines)
    assert "0 differ" in tournament(tmp_path, "verify", cup)
