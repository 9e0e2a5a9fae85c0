"""Finals of a contest: tournaments of their own over the current versions, with a seed that was committed before.

The referee draws a secret of 256 bits when a contest begins, and shows its SHA-256. The seed of the final follows from
the secret, the final's name and the bots. So nobody can pick the luck: teams do not know the secret before their last
upload, and when it is drawn, nobody knows the last uploads. After the final, everybody sees the secret.
"""

import hashlib
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from referee.addons.host import check_queue, outbox, pseudonyms, reveal, switches, teams
from referee.addons.host.store import Store, audit
from referee.addons.tournament.format_options import default_games, default_seating, default_ties
from referee.addons.tournament.formats.schedules import BRACKETS
from referee.addons.tournament.inbox import Enter, Withdraw, coming_plan, hand_in
from referee.addons.tournament.plan import Entry, Plan, checked, identified, read_plan, write_plan
from referee.addons.tournament.reports.all_stages import all_standings
from referee.addons.tournament.reports.past_tables import NAME
from referee.addons.tournament.stage_settings import Stage
from referee.addons.tournament.store import reader
from referee.addons.tournament.store.bot_archives import archive_path
from referee.addons.tournament.store.ledger import BOTS, PLAN
from referee.harness.common.errors import RunError, UsageError, writing
from referee.harness.common.paths import make_folder, replace_file
from referee.harness.isolation.removal import remove
from referee.protocol.errors import UNDECODABLE
from referee.protocol.text import counted, listed

FINALS = "finals"
"""The folder of finals in a contest's folder."""
FACTS = "final.json"
SECRET = "final_secret"
"""The file with the secret of the next final, and when it was drawn."""
SECRET_BYTES = 32

T = TypeVar("T")


class Commitment(Struct, frozen=True):
    """A secret that is not shown yet."""

    hash: str
    """SHA-256 of the secret's hexadecimal digits: `printf %s SECRET | sha256sum`."""
    at: float
    """When it was drawn, in seconds since 1970."""


class Final(Struct, frozen=True):
    """A final, as `final.json` in its folder describes it."""

    name: str
    secret: str
    committed_at: float
    made_at: float
    ended_at: float | None = None
    problem: str = ""
    """Why it could not be played to its end."""
    shown: int | None = None
    """Of a sealed final, how many matches everybody sees; None = all."""
    remarks: tuple[str, ...] = ()
    """Sentences about changes since it was played, such as a disqualification."""

    @property
    def hash(self) -> str:
        """The commitment."""
        return _hash(self.secret)

    @property
    def shown_secret(self) -> str:
        """The secret, once the final is over."""
        return "" if self.ended_at is None else self.secret


class _Drawn(Struct, frozen=True):
    secret: str
    at: float


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def commitment(store: Store) -> Commitment:
    """Returns the commitment of the next final, whose secret is drawn now if there is none."""
    drawn = _drawn(store)
    return Commitment(_hash(drawn.secret), drawn.at)


def _drawn(store: Store) -> _Drawn:
    used = {final.secret for final in finals(store.folder)}
    file = store.folder / SECRET
    with store.writing() as database:  # one process at a time
        with suppress(FileNotFoundError):
            known = _read(file, _Drawn)
            if known.secret not in used:
                return known
        drawn = _Drawn(secrets.token_hex(SECRET_BYTES), time.time())
        _keep(file, msgspec.json.encode(drawn))
        audit(database, "the referee", "commit", "the next final's seed", _hash(drawn.secret))
        return drawn


def _keep(file: Path, content: bytes) -> None:
    """Writes the secret for the organiser's account alone."""
    new = file.with_name(f".{SECRET}.new")
    with writing(file):
        with open(new, "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as target:
            target.write(content)
            target.flush()
            os.fsync(target.fileno())
        new.replace(file)


def _read(file: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except FileNotFoundError:
        raise
    except (OSError, *UNDECODABLE) as error:
        raise RunError(f"{file} is damaged: {error}") from error


def seed_of(secret: str, name: str, hashes: Iterable[str]) -> int:
    """Returns the seed of a final between these bots: 63 bits of a SHA-256."""
    digest = hashlib.sha256("\n".join([secret, name, *sorted(hashes)]).encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def make(
    store: Store,
    name: str,
    format: str,
    actor: str,
    games: int | None = None,
    rounds: int | None = None,
    first: int | None = None,
    stages: tuple[Stage, ...] = (),
    address: str = "",
    only: Sequence[str] = (),
    sealed: bool = False,
) -> Path:
    """Makes a final of the versions that play now, in the order of the table. The play process plays it next.

    `first`: how many of the first bots take part; None = all. `only`: the names of the teams that take part; none =
    all. `sealed`: nobody sees a game until the organiser shows it. UsageError if that is impossible, while uploads are
    open, and while a version waits for its check.
    """
    if not NAME.fullmatch(name):
        raise UsageError(
            f"final {name[:60]!r}: expected up to 60 letters, digits, blanks, dots, + and -, such as CUP-1"
        )
    if switches.value_of(store, "uploads") != "closed":
        raise UsageError("uploads are open; close them first, so that the final's versions are the last ones")
    if late := switches.extended(store):
        raise UsageError(f"{listed(late)} may still hand in; wait until then, or end the extension on the team's page")
    if undecided := len(check_queue.queue(store)):
        versions = counted(undecided, "version waits", "versions wait")
        raise UsageError(f"{versions} for a check; wait for the verdict, or cancel the check on the organiser's page")
    folder = store.folder / FINALS / name
    if any(each.name.casefold() == name.casefold() for each in finals(store.folder)):
        raise UsageError(f"there is a final {name!r} already; choose another name")
    plan = coming_plan(store.folder)
    drawn, bots = _drawn(store), _of(store, _in_order(store.folder, plan), only)[:first]
    made = _plan(plan, name, format, bots, seed_of(drawn.secret, name, (entry.hash for entry in bots)))
    made = checked(made.replaced(games=games or made.games, rounds=rounds, stages=stages))
    facts = Final(name, drawn.secret, drawn.at, time.time(), shown=0 if sealed else None)
    with writing(folder):
        make_folder(folder.parent)
        scratch = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
        try:
            _copy_archives(store.folder, scratch, bots)
            write_plan(made, scratch / PLAN)
            replace_file(scratch / FACTS, msgspec.json.encode(facts))
            scratch.rename(folder)
        finally:
            remove(scratch)
    with store.writing() as database:
        audit(database, actor, "final", name, f"{format} of {len(bots)} bots; seed committed as {facts.hash}", address)
        for (team,) in database.execute("SELECT id FROM team WHERE state = 'active'").fetchall():
            outbox.put(database, "final", team, name, name=name, at=str(facts.made_at))
    return folder


def _in_order(folder: Path, plan: Plan) -> list[Entry]:
    """Returns the bots that play now, best first."""
    rows = all_standings(plan, reader.read(folder, plan=plan), chances=False).rows
    places = {row.name: place for place, row in enumerate(rows)}
    present = [entry for entry in plan.bots if not (entry.absent or entry.guest or entry.reference)]
    return sorted(present, key=lambda entry: places.get(entry.name, len(places)))


def _of(store: Store, bots: Sequence[Entry], only: Sequence[str]) -> list[Entry]:
    """Returns the bots of these teams, named by real or public names. UsageError for an unknown one."""
    real = pseudonyms.real_names(store)
    wanted = {name.casefold() for name in only}
    names = [{entry.name.casefold(), real.get(entry.name, entry.name).casefold()} for entry in bots]
    if unknown := wanted.difference(*names):
        raise UsageError(f"{listed(sorted(unknown))}: no version of such a team plays now")
    return [entry for entry, of in zip(bots, names, strict=True) if not wanted or of & wanted]


def _plan(plan: Plan, name: str, format: str, bots: Sequence[Entry], seed: int) -> Plan:
    return Plan(
        game=plan.game,
        format=format,
        seed=seed,
        bots=identified([Entry(each.name, "", each.hash, each.bot, each.inside, each.cwd) for each in bots]),
        games=default_games(format, plan.seats),
        seats=plan.seats,
        seating=default_seating(format),
        ties=default_ties(format, plan.seats),
        options=plan.options,
        maps=plan.maps,
        time=plan.time,
        limits=plan.limits,
        encodings=plan.encodings,
        version=plan.version,
        title=f"{plan.heading}: {name}",
    )


def _copy_archives(cup: Path, folder: Path, bots: Iterable[Entry]) -> None:
    make_folder(folder / BOTS)
    for entry in bots:
        source, target = archive_path(cup, entry), archive_path(folder, entry)
        if source.exists() and not target.exists():
            try:
                os.link(source, target)
            except OSError:  # a file system without links
                shutil.copyfile(source, target)


def finals(cup: Path) -> list[Final]:
    """Returns all finals, oldest first. RunError for a damaged one."""
    found = []
    for file in (cup / FINALS).glob(f"*/{FACTS}"):
        if not file.parent.name.startswith("."):
            found.append(final := _read(file, Final))
            if final.name != file.parent.name:
                raise RunError(f"{file} is damaged: it is that of a final {final.name[:60]!r}")
    return sorted(found, key=lambda final: final.made_at)


def waiting(cup: Path) -> Final | None:
    """Returns the final that is played next; None if none waits."""
    return next((final for final in finals(cup) if final.ended_at is None), None)


def end(cup: Path, final: Final, problem: str = "") -> None:
    """Notes that a final is over. From now on, its secret is shown."""
    final = find(cup, final.name) or final  # it may have got a remark meanwhile
    over = msgspec.structs.replace(final, ended_at=time.time(), problem=problem)
    replace_file(cup / FINALS / final.name / FACTS, msgspec.json.encode(over))


def find(cup: Path, name: str) -> Final | None:
    """Returns a final; None if there is none of that name."""
    return next((final for final in finals(cup) if final.name == name), None)


def show(store: Store, name: str, what: str, actor: str, address: str = "") -> None:
    """Shows the next match of a sealed final, its next round, or all. UsageError if there is nothing to show."""
    final = find(store.folder, name)
    if final is None or final.shown is None:
        raise UsageError(f"there is no sealed final {name[:60]!r}")
    if final.ended_at is None:
        raise UsageError("the final is still being played; wait for its end")
    folder = store.folder / FINALS / name
    plan = read_plan(folder / PLAN)
    played = reveal.matches(plan, reader.read(folder, plan=plan))
    steps = {"match": final.shown + 1, "round": reveal.next_round(played, final.shown), "all": len(played)}
    if what not in steps:
        raise UsageError(f"{what[:40]}: expected match, round or all")
    shown = None if steps[what] >= len(played) else steps[what]
    if shown is None:
        for bot in (team.bot for team in teams.teams(store) if team.state == "disqualified"):
            final = _reconsidered(store.folder, final, bot, is_out=True)
    replace_file(folder / FACTS, msgspec.json.encode(msgspec.structs.replace(final, shown=shown)))
    with store.writing() as database:
        audit(database, actor, "reveal", name, "all" if shown is None else f"{shown} matches", address)


def reconsider(store: Store, bot: str, state: str) -> None:
    """Takes a disqualified bot out of the finals that were played, or back in, and says so on their pages.

    A sealed final follows when all of it is shown.
    """
    for final in finals(store.folder):
        if final.shown is None:
            changed = _reconsidered(store.folder, final, bot, is_out=state == "disqualified")
            if changed != final:
                replace_file(store.folder / FINALS / final.name / FACTS, msgspec.json.encode(changed))


def _reconsidered(cup: Path, final: Final, bot: str, is_out: bool) -> Final:
    """Takes a bot out of a final, or back in. Returns the final with the remark about it, instead of earlier ones."""
    folder = cup / FINALS / final.name
    plan = coming_plan(folder)
    entry = next((entry for entry in plan.bots if entry.name == bot), None)
    if entry is None or (is_out and entry.void):
        return final
    was_out, is_back = f"{bot} was disqualified", f"{bot} is back: its games count again"
    if not (is_out or entry.void):  # it could not be taken out, so its games have always counted
        kept = tuple(each for each in final.remarks if not each.startswith(was_out))
        return msgspec.structs.replace(final, remarks=kept)
    try:
        hand_in(folder, Withdraw((bot,), void=True) if is_out else Enter(back=(bot,)))
        remark = f"{was_out}: its games count for nobody, and those behind it moved up" if is_out else is_back
        remark += ". No match was played again" if is_out and plan.format in BRACKETS else ""
    except UsageError as error:
        why = "after it was played. The places are those of before, and are open" if is_out else "and cannot come back"
        remark = f"{was_out} {why}: {error}"
    others = (each for each in final.remarks if each != is_back and not each.startswith(was_out))
    return msgspec.structs.replace(final, remarks=(*others, remark))


def check_seed(folder: Path, plan: Plan) -> str | None:
    """Returns a sentence about the seed of a final's folder; None for another tournament.

    UsageError if the seed is not the one that was committed.
    """
    if not (folder / FACTS).exists():
        return None
    final = _read(folder / FACTS, Final)
    expected = seed_of(final.secret, final.name, (entry.hash for entry in plan.bots))
    if plan.seed != expected:
        raise UsageError(f"{folder}: the seed is {plan.seed}, and the committed secret makes {expected} for these bots")
    date = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(final.committed_at))
    return f"its seed follows from its bots and the secret {final.secret}, committed on {date} as {final.hash}"
