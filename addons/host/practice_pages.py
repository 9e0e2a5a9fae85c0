"""The pages of practice games: ask for one, and watch it. Each shows the own team only."""

import gzip
import tempfile
from pathlib import Path

import msgspec
from starlette.responses import Response

from referee.addons.host import practice, switches, times, versions
from referee.addons.host.access import Asked, Denied, see
from referee.addons.host.live import HTML
from referee.addons.host.practice import Practice
from referee.addons.host.practice_games import checked_options
from referee.addons.host.public_pages import VIEWER_POLICY
from referee.addons.host.team_pages import check_takes_part
from referee.addons.host.versions import Version
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.reports.readers import published
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.web import page as viewer
from referee.harness.common import maps
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import find_game
from referee.harness.match.rule_options import option_descriptions
from referee.harness.opponents import levels
from referee.harness.programs.built_in import check_seats
from referee.harness.replay.reader import Replay, read_content

OPTION_LETTERS = 2000


def practice_page(asked: Asked) -> Response:
    """Answers with the practice games of the team, and the form to ask for one."""
    store, plan = asked.contest.store, asked.contest.live.whole.plan
    found = practice.practices(store, asked.team)
    return asked.contest.render(
        "practice.html",
        title="Practice",
        games=found,
        numbers={each.id: each.version for each in versions.versions(store, asked.team)},
        versions=_playable(asked),
        rivals=rivals(plan),
        seats=range(plan.seats),
        maps=maps.names(plan.game),
        example=_example(plan.game),
        switch=switches.setting_of(store, "practice"),
        a_day=asked.contest.settings.practice_a_day,
        waits=any(each.status in ("waiting", "playing") for each in found),
    )


def _playable(asked: Asked) -> list[Version]:
    return [each for each in versions.versions(asked.contest.store, asked.team) if each.status == "accepted"]


def rivals(plan: Plan) -> list[str]:
    """Returns the names of the bots against which a team may practise: the built-in ones, then the contest's."""
    older = plan.older
    built_in = [f"@{name}" for name in levels(plan.game) if _plays(f"@{name}", plan.game)]
    own = (each.name for each in plan.bots if each.ident not in older and not each.void)
    return [*dict.fromkeys([*built_in, *own])]  # a reference bot may be a built-in one


def _plays(name: str, game: str) -> bool:
    """Tells whether a built-in bot takes every seat."""
    try:
        check_seats([name], game, every_seat=True)
    except UsageError:
        return False
    return True


def ask(asked: Asked) -> Response:
    """Asks for a practice game."""
    check_takes_part(asked)
    store = asked.contest.store
    plan, rival, number = read_plan(store.folder / PLAN), asked.text("rival"), asked.text("version")
    playable = _playable(asked)
    if not number and (current := versions.current(store, asked.team)) is not None:
        number = str(current.version)
    one = next((each for each in playable if str(each.version) == number), None)
    if one is None:
        raise UsageError("choose one of your accepted versions")
    if rival not in rivals(plan):
        raise UsageError(f"{rival}: there is no bot of that name to practise against")
    switch = switches.value_of(store, "practice")
    if not times.may_practise(switch, practice.is_staff(store, rival)):
        raise UsageError(f"practice is {'off' if switch == 'off' else 'limited to bots of the organiser'} now")
    seat, seed = asked.text("seat") or "0", asked.text("seed")
    if not seat.isdecimal() or int(seat) not in range(plan.seats):
        raise UsageError(f"seat {seat}: expected one of 0 to {plan.seats - 1}")
    if seed and not (seed.isdecimal() and seed.isascii() and len(seed) <= 19):
        raise UsageError(f"seed {seed}: expected a number of at most 19 digits, or nothing for a drawn one")
    options = _options(asked.text("options", OPTION_LETTERS), _example(plan.game))
    if name := asked.text("map"):
        options["map"] = name
    checked_options(plan, options)
    text = msgspec.json.encode(options).decode()
    most = asked.contest.settings.practice_a_day
    game = practice.ask(store, asked.team, asked.who.member, one.id, rival, int(seat), seed, text, most)
    if asked.who.is_program:
        return Response(msgspec.json.encode({"game": game}), 201, media_type="application/json")
    return see("/team/practice")


def _example(game: str) -> str:
    """Returns an option of a game's rules with its default, as `draw_after=2000`; empty if it has none."""
    return next((f"{name}={default}" for name, default, _ in option_descriptions(find_game(game))), "")


def _options(text: str, example: str) -> dict[str, object]:
    """Returns options of the rules, which were typed one a line."""
    found: dict[str, object] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals:
            raise UsageError(f"{line}: expected lines such as {example or 'NAME=VALUE'}")
        try:
            found[name.strip()] = msgspec.json.decode(value.strip().encode())
        except (msgspec.DecodeError, RecursionError):
            found[name.strip()] = value.strip()
    return found


def _game(asked: Asked) -> tuple[Practice, bytes]:
    """Returns a practice game of the own team, with its replay as the team may see it."""
    found = practice.practice(asked.contest.store, asked.path["game"])
    if found is None or found.team != asked.team or not found.game:
        raise Denied(404, "your team has no such practice game, or it was not played yet")
    try:
        content = read_content(asked.contest.store.folder / found.game)
    except OSError:
        raise Denied(404, "the replay of this game was not kept") from None
    return found, published(content, found.seat)


def practice_game(asked: Asked) -> Response:
    """Answers with a practice game in the viewer, with the standard error of the own bot."""
    asked.contest.rates.check(f"game {asked.network}", 60, 60)
    found, content = _game(asked)
    if not viewer.is_there():
        raise Denied(404, "this installation has no viewer; download the replay")
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        path = Path(scratch, f"practice-{found.id}.jsonl")
        path.write_bytes(content)
        page = viewer.page(Replay(path), "/team/practice")
    return Response(page, media_type=HTML, headers={"content-security-policy": VIEWER_POLICY})


def practice_replay(asked: Asked) -> Response:
    """Answers with the replay of a practice game as a packed file."""
    found, content = _game(asked)
    headers = {"content-disposition": f'attachment; filename="practice-{found.id}.jsonl.gz"'}
    return Response(gzip.compress(content, 6, mtime=0), media_type="application/gzip", headers=headers)
