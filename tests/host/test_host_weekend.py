"""A weekend of a contest: good, broken and hostile uploads, practice, kills, a freeze, a final, a restored backup."""

import shutil
import signal
import time
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from contests import referee
from hosting import Browser, Hosted, hosted, secret, wait_for
from submissions import RUN, zipped

from referee.harness.host import finals, versions
from referee.harness.host.backup import backup, restore
from referee.harness.host.store import Store
from referee.harness.tournament.plan import read_plan
from referee.harness.tournament.store import reader
from referee.harness.tournament.store.ledger import PLAN

pytestmark = pytest.mark.slow

CRASHES = """
plain = choose
def choose():
    if time.time() > {at}:
        sys.exit("gave up")
    return plain()
"""
"""Passes its check and fails in all later games."""
BROKEN = RUN + 'build = "echo no compiler here; exit 1"\n'


class Weekend:
    """The contest, and what its teams know of it."""

    def __init__(self, folder: Path, teams: int) -> None:
        self.folder, self.cup = folder, folder / "cup"
        self.names = [f"Team {number}" for number in range(1, teams + 1)]
        self.broken = set(self.names[:: max(2, teams // 4)])
        """Those whose second upload is broken."""
        self.browsers: dict[str, Browser] = {}
        self.expected: dict[tuple[str, int], str] = {}
        """By team and version, the verdict."""
        self.address = ""
        self.organiser: Browser

    def host(self, end: int = signal.SIGINT) -> "hosted":  # type: ignore[valid-type]
        bind = ("--bind", self.address) if self.address else ("--game", "tictactoe", "--seed", "5")
        return hosted(self.cup, *bind, "--jobs", "1", "--checks", "2", end=end)

    def begin(self, contest: Hosted) -> None:
        """Invites the teams, whose members sign in."""
        self.address = contest.address.removeprefix("http://")
        self.organiser = contest.organiser()
        invited = "\n".join(f"{name}, x@y.org" for name in self.names)
        table = self.organiser.post("/organiser/invite-many", table=invited)
        links = {line.split(",")[0]: line.split(",")[-1] for line in table.splitlines()[1:]}
        for name in self.names:
            self.browsers[name] = contest.browser().join(links[name], f"captain of {name}")
        second = contest.browser().join(secret(self.browsers[self.names[0]].post("/team/link")), "second")
        assert self.names[0] in second.get("/team")

    def upload(self, round: int) -> None:
        """Each team hands in a version."""
        for number, name in enumerate(self.names):
            file = self.folder / "files" / f"{number}-{round}.zip"
            is_broken = round == 2 and name in self.broken
            toml, more = BROKEN if is_broken else RUN, ""
            if round == 1 and number == 1:
                more = "import time\n" + CRASHES.format(at=time.time() + 45)
            zipped(file, 100 * round + number, toml, more)
            if round == 2 and number == 2:  # another hostile one leads out of its folder
                with zipfile.ZipFile(file, "a") as packed:
                    packed.writestr("../../outside.py", "print('out')")
                is_broken = True
            self.browsers[name].hand_in(file, note=f"round {round}")
            self.expected[name, round] = "refused" if is_broken else "accepted"

    def decide(self, round: int) -> None:
        """Waits for all verdicts of a round."""
        for name in self.names:
            state = self.browsers[name].decided(round, 180.0)
            assert state["status"] == self.expected[name, round], (name, state)

    def practise(self) -> None:
        for number, name in enumerate(self.names[:4]):
            rival = "@random" if number % 2 else self.names[number - 1]
            self.browsers[name].post("/team/practice", version="1", rival=rival, seat=str(number % 2), seed="7")

    def games(self) -> dict[str, str]:
        """Returns the finished games: by key, their course."""
        return {line.k: line.a for _, line in reader.counted_lines(self.cup)}

    def until_played(self, more: int) -> None:
        before = len(self.games())
        wait_for(lambda: len(self.games()) >= before + more)

    def everybody_plays(self) -> bool:
        """Whether the versions of all teams but the one that fails later are in, and have games."""
        present = {entry.ident: entry.name for entry in read_plan(self.cup / PLAN).bots if not entry.absent}
        if {*self.names} - {*present.values()} - {self.names[1]}:
            return False
        return present.keys() <= reader.idents_of(reader.read(self.cup).line_ups)


def check_all(weekend: Weekend, known: dict[str, str]) -> None:
    """Every accepted upload and every finished game is there, and no game twice."""
    cup = weekend.cup
    store = Store(cup)
    for (name, number), verdict in weekend.expected.items():
        team = store.value("SELECT id FROM team WHERE name = ?", name)
        one = versions.version(store, team, number)
        assert one is not None and one.status == verdict, (name, number)
        assert verdict == "refused" or (cup / "bots" / f"{one.hash}.zip").is_file()
    store.close()
    assert known.items() <= weekend.games().items()
    twice = {key: n for key, n in Counter(line.k for _, line in reader.every_line(cup)).items() if n > 1}
    assert not twice
    assert "0 differ" in referee(weekend.folder, "tournament", "verify", cup, "--sample", "20%")
    assert not (cup.parent / "outside.py").exists() and not (cup / "outside.py").exists()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("teams", [4, pytest.param(40, marks=pytest.mark.nightly)])
def test_a_weekend_loses_nothing(teams: int, tmp_path: Path) -> None:
    weekend = Weekend(tmp_path, teams)
    with weekend.host(end=signal.SIGKILL) as contest:
        weekend.begin(contest)
        weekend.upload(1)
        weekend.decide(1)
        wait_for(weekend.everybody_plays, 300.0)
        weekend.practise()
        known = weekend.games()
    with weekend.host(end=signal.SIGKILL):  # after the first kill
        weekend.until_played(3)
        known |= weekend.games()
        weekend.upload(2)  # and the second, in the middle of the checks
        time.sleep(1.0)
    with weekend.host() as contest:
        weekend.decide(2)
        weekend.upload(3)
        weekend.decide(3)
        wait_for(weekend.everybody_plays, 300.0)
        store = Store(weekend.cup)
        wait_for(lambda: store.value("SELECT count(*) FROM practice WHERE status = 'played'") == 4)
        why = store.value("SELECT set_aside_why FROM submission WHERE bot = ? AND version = 1", weekend.names[1])
        assert not why or "in a row" in why

        # The freeze, and the final.
        weekend.organiser.post("/organiser/switches/table", value="frozen")
        weekend.organiser.post("/organiser/switches/uploads", value="closed")
        at = finals.commitment(store)
        public = contest.browser()
        assert at.hash in public.get("/finals")
        late = zipped(tmp_path / "files" / "late.zip", 999)
        assert "uploads are closed" in weekend.browsers[weekend.names[0]].hand_in(late, status=400).lower()
        weekend.organiser.post("/organiser/final", name="Final", format="knockout", games="2")
        wait_for(lambda: finals.waiting(weekend.cup) is None, 300.0)
        assert "being played" not in weekend.organiser.get("/finals") and "frozen" in public.get("/finals")
        weekend.organiser.post("/organiser/switches/table", value="public")
        assert finals.finals(weekend.cup)[0].secret in wait_for(lambda: public.get("/finals"))
        known |= weekend.games()
        backup(weekend.cup, tmp_path / "backup.tar")
        store.close()
    check_all(weekend, known)
    final = weekend.cup / finals.FINALS / "Final"
    assert "its seed follows from its bots" in referee(tmp_path, "tournament", "verify", final)

    # The disk is lost; the backup goes on.
    shutil.rmtree(weekend.cup)
    restore(tmp_path / "backup.tar", weekend.cup)
    with weekend.host():
        weekend.until_played(3)
        assert weekend.names[0] in weekend.browsers[weekend.names[0]].get("/team"), "sessions outlast it"
    check_all(weekend, known)
    assert "its seed follows from its bots" in referee(tmp_path, "tournament", "verify", final)
