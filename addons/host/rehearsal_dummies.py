"""The dummies of a rehearsal: teams that join and hand in a sound, a slow or a broken bot, all at once."""

import io
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from statistics import quantiles

from msgspec import Struct

from referee.addons.host import submissions, teams, versions
from referee.addons.host.store import Store
from referee.addons.host.versions import Version
from referee.harness.programs.build import BOT_FILE

KINDS = ("sound", "sound", "sound", "slow", "sound", "sound", "broken", "sound", "sound", "sound")
"""The bots of the teams, in turn: of ten teams, one has a slow build, and one has a bot that does not start."""
SLOW_S = 20
"""How long a slow build takes."""
BROKEN = 'run = ["./no-such-program"]\n'
SHOWN = 3


class Dummy(Struct, frozen=True):
    """A dummy's version."""

    kind: str
    version: Version


class Deadline(Struct, frozen=True):
    """What became of the dummies' versions, which were handed in at once."""

    handed_in: int = 0
    waits: tuple[float, ...] = ()
    """From the upload to the verdict, in seconds, of those that were decided."""
    elapsed_s: float = 0.0
    """How long they were watched."""
    wrong: tuple[str, ...] = ()
    """Verdicts that a rehearsal does not expect."""

    def report(self, teams: int) -> Iterator[str]:
        """Yields a line about the waits if so many teams hand in at once, and one for each wrong verdict."""
        decided = len(self.waits)
        if not self.handed_in:
            return
        if not decided:
            yield f"at the deadline: none of {self.handed_in} dummies got a verdict within {self.elapsed_s:.0f} s"
        elif decided < self.handed_in:
            last_s = self.elapsed_s * teams / decided
            yield (
                f"at the deadline: {decided} of {self.handed_in} dummies that handed in at once got a verdict within "
                f"{self.elapsed_s:.0f} s, so that {teams} teams wait about {last_s / 60:.0f} minutes for the last one"
            )
        else:
            half, most, last = summed_up(self.waits)
            yield (
                f"at the deadline: {decided} dummies handed in at once; half of the verdicts came within "
                f"{half:.0f} s, 95 % within {most:.0f} s, the last one after {last:.0f} s"
            )
        yield from self.wrong[:SHOWN]
        if len(self.wrong) > SHOWN:
            yield f"and {len(self.wrong) - SHOWN} more such verdicts"


def summed_up(waits: Sequence[float]) -> tuple[float, float, float]:
    """Returns within how long half of the waits were over, 95 % of them, and all."""
    cuts = quantiles(waits, n=20) if len(waits) > 1 else [*waits] * 19
    return cuts[9], min(cuts[18], max(waits)), max(waits)


def variant(content: bytes, kind: str, number: int) -> bytes:
    """Returns a first bot as a dummy hands it in. `number`: makes it different from all others."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        (bot,) = (name for name in source.namelist() if PurePosixPath(name).name == BOT_FILE)
        for entry in source.infolist():
            data = source.read(entry)
            target.writestr(entry, _bot_file(data.decode(), kind).encode() if entry.filename == bot else data)
        target.writestr(str(PurePosixPath(bot).with_name("dummy.txt")), f"dummy {number}\n")
    return made.getvalue()


def _bot_file(text: str, kind: str) -> str:
    if kind == "broken":
        return BROKEN
    if kind == "sound":
        return text
    build = tomllib.loads(text).get("build", "")
    lines = [line for line in text.splitlines() if not build or not line.startswith("build =")]
    words = f"sleep {SLOW_S}{f' && {build}' if build else ''}"
    return "\n".join([f"build = '''{words}'''", *lines, ""])


def hand_in(store: Store, content: bytes, count: int) -> list[Dummy]:
    """Lets teams join and hand in at once. `content`: a first bot that was accepted."""
    dummies = []
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        dummies.append(Dummy(kind, uploaded(store, f"{kind} dummy {number}", variant(content, kind, number))))
    return dummies


def uploaded(store: Store, name: str, content: bytes) -> Version:
    """Lets a new team join and hand in a zip."""
    team, token = teams.invite(store, name, "", "rehearsal")
    person = teams.person(store, teams.open_link(store, token, "rehearsal"))
    assert person is not None
    path = store.folder / submissions.UPLOADS / str(team.id) / "first" / "first.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    place = path.relative_to(store.folder).as_posix()
    return versions.hand_in(store, team.id, person.member, path.name, place, size=len(content))


def outcome(store: Store, dummies: Sequence[Dummy], elapsed_s: float) -> Deadline:
    """Returns what became of the dummies' versions."""
    waits, wrong = [], []
    for each in dummies:
        one = versions.by_id(store, each.version.id)
        if one is None or one.decided_at is None:
            continue
        waits.append(one.decided_at - one.handed_in_at)
        if not versions.is_undecided(one) and (one.status == "accepted") != (each.kind != "broken"):
            why = f": {one.reason}" if one.reason else ""
            wrong.append(f"UNEXPECTED: a {each.kind} bot was {one.status}{why}")
    return Deadline(len(dummies), tuple(waits), elapsed_s, tuple(wrong))
