"""`referee host`: a contest that runs itself, with teams that sign in and hand in."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import App, Parameter

from referee.addons.host.failures import FAILURES
from referee.addons.host.play import PlaySettings
from referee.addons.tournament import organise
from referee.addons.tournament.arrays import check_numpy
from referee.addons.tournament.cli.prepare import write_report
from referee.addons.tournament.cli.request import from_options
from referee.addons.tournament.cli.worker_options import ClusterOptions, WorkerOptions
from referee.addons.tournament.plan import Plan, read_plan
from referee.addons.tournament.store.ledger import PLAN
from referee.addons.web.cli.view import web_extra
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.options import MORE, MORE_TITLE, POSITIVE, Seats, SetupOptions, seats_option
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import err, out
from referee.harness.cli.signals import run
from referee.harness.common.errors import UsageError
from referee.harness.common.known_games import typed_game
from referee.harness.isolation.probe import probe
from referee.harness.match.rule_options import with_seats
from referee.harness.process import core_locks

if TYPE_CHECKING:
    from referee.addons.host.settings import WebSettings

BUILD_S = 120
"""How long a build in a new contest may take."""
TEAMS = 60
"""How many teams a rehearsal expects."""

host_app = App(name="host", help="Runs a contest: teams sign in and hand in, games are played at once.")
host_app.command("referee.addons.host.cli.backup:backup", name="backup")
host_app.command("referee.addons.host.cli.backup:restore", name="restore")


@host_app.default
def host(
    folder: Path,
    *,
    game: str | None = None,
    title: str | None = None,
    seats: Seats = None,
    seed: int | None = None,
    setup: SetupOptions = SetupOptions(),
    bind: str = "127.0.0.1:8000",
    address: str | None = None,
    jobs: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    checks: Annotated[int | None, Parameter(group=MORE_TITLE, validator=POSITIVE)] = None,
    with_: Annotated[Sequence[str], Parameter(name="--with")] = (),
    with_archive: Annotated[Path | None, MORE] = None,
    set_aside: Annotated[int, Parameter(group=MORE_TITLE, validator=POSITIVE)] = FAILURES,
    cluster: ClusterOptions = ClusterOptions(),
    rehearse: Annotated[int | None, Parameter(validator=POSITIVE)] = None,
    teams: Annotated[int | None, Parameter(group=MORE_TITLE, validator=POSITIVE)] = None,
    zone: str = "UTC",
    mail: str | None = None,
    mail_from: Annotated[str, MORE] = "",
    pseudonyms: bool = False,
    members_only: Annotated[bool, MORE] = False,
    sign_in: Annotated[Path | None, MORE] = None,
    access_log: Annotated[Path | None, MORE] = None,
    organisers_from: Annotated[Sequence[str], MORE] = (),
    proxy: Annotated[Sequence[str], MORE] = (),
    git_host: Annotated[Sequence[str], MORE] = (),
) -> int:
    """Runs a contest: teams sign in and hand in, games are played at once, and the table moves.

    The folder is that of a tournament: `referee tournament show`, `page`, `verify` and `referee view` work on it, also
    meanwhile. Ctrl-C ends, and the same command goes on.

    Builds in a new contest have no network, unless you add --build offline=false, and end after 120 s, unless you add
    --build time=10m.

    Args:
        folder: CUP: the contest's folder, made if it is new.
        game: GAME: the game's name, for a new contest.
        title: The contest's name.
        seed: The seed of all luck. Default: drawn. It is in tournament.toml, and on no page of the contest.
        bind: ADDRESS:PORT: where to listen.
        address: URL: where browsers reach it, such as https://cup.example.org with a proxy on this machine that
            terminates TLS. Default: http:// and --bind.
        jobs: Games at a time. Default: all physical cores but one.
        checks: Checks of new versions at a time. Default: as many as there are physical cores without a game, at least
            one.
        with_: BOT: a reference bot, such as simple=./simple_bot or @random. It plays rated games from the start, is
            marked as yours, and has no place in the table. Repeatable. It stays in the contest.
        with_archive: FILE: an archive of `referee tournament archive`, whose three best bots play as reference bots.
        set_aside: After this many games with a fault in a row, a version plays no more, and the one before it plays on.
            A game that the machine may have decided does not count.
        rehearse: MINUTES: make no contest. Build first bots of all languages as the contest will, let dummies hand in
            at once and play for so long, and print which languages are refused, how long teams will wait, and what this
            machine lacks. It takes at most twice as long.
        teams: How many teams a rehearsal expects. Default: 60.
        zone: The time zone of all times on the pages, such as Europe/Berlin.
        mail: WAY: send teams mails, with an invitation, about a version that is set aside, and about a final:
            smtp://USER@HOST:587, smtps://USER@HOST or "cmd:sendmail -t". REFEREE_MAIL_PASSWORD in the environment is
            the password. Default: no mails.
        mail_from: ADDRESS: the sender of these mails.
        pseudonyms: Show each team to the public and to other teams under another name. Your own pages and exports have
            the real ones. For a new contest.
        members_only: Show the table, bots and games to members of teams and organisers only.
        sign_in: FILE: a TOML file about the OpenID Connect provider by which team members sign in: issuer, client_id,
            client_secret (or REFEREE_OIDC_SECRET in the environment) and name.
        access_log: The file that gets a line for each request: time, address, method, path, status, milliseconds, id.
        organisers_from: A network from which the organiser's pages are reached, such as 192.168.1.0/24. Repeatable.
            Default: any.
        proxy: A network of proxies on other machines, such as 10.0.0.5, whose X-Forwarded-For is believed. Repeatable.
            Default: only a proxy on this machine, with --address.
        git_host: The beginning of the addresses of repositories that teams may name, such as https://git.example.org.
            Repeatable. They are read without your account's passwords and keys. Default: GitHub, GitLab, Codeberg and
            Bitbucket.
    """
    with web_extra("referee host"):
        from referee.addons.host import contest, reference_bots, settings
        from referee.addons.host import pseudonyms as names
        from referee.addons.host.submissions import GIT_HOSTS
    from referee.addons.web.addresses import reachable
    from referee.addons.web.server.access_log import check_log
    from referee.addons.web.server.limits import listen, where_to_listen

    _check_pairs(("--teams", teams is not None, "--rehearse", rehearse), ("--mail-from", mail_from, "--mail", mail))
    check_numpy()
    if sign_in is not None:
        with web_extra("--sign-in", "oidc"):
            from referee.addons.host.oidc import read_settings
        read_settings(sign_in)
    if access_log is not None:
        check_log(access_log)
    games = jobs or max(1, len(core_locks.physical()) - 1)
    cluster.check(WorkerOptions(jobs=jobs), forfeit=False)
    tls = (cluster.tls_ca, cluster.tls_cert, cluster.tls_key)
    where_to_play = PlaySettings(games, cluster=cluster.cluster, tls=tls, failures=set_aside)
    at_a_time = checks or max(1, where_to_play.spare_cores)
    where, port = where_to_listen(bind, f"--bind {bind}")
    reached = settings.WebSettings(
        address=(address or f"http://{reachable(where)}:{port}").rstrip("/"),
        organisers_from=tuple(organisers_from),
        behind_proxy=address is not None,
        proxies=tuple(proxy),
        git_hosts=tuple(each.rstrip("/") for each in git_host) or GIT_HOSTS,
        checks=at_a_time,
        zone=zone,
        members_only=members_only,
        mails=mail is not None,
        access_log=str(access_log.absolute()) if access_log else "",
        sign_in=str(sign_in.absolute()) if sign_in else "",
    )
    settings.check_settings(reached)
    way = None
    if mail is not None:
        from referee.addons.host.mail import MailSettings, check_settings

        way = MailSettings(mail, mail_from, reached.address, title or folder.resolve().name, zone)
        check_settings(way)
    if game is not None:
        setup = _offline(_short(setup))
    plan = _plan(game, title, seats, seed, setup)
    options: tuple[str, ...] = ()
    if game is not None and plan is not None:
        options = (*setup.command(typed_game(game))[3:], *seats_option(typed_game(game), plan.seats))
    if rehearse is not None:
        from referee.addons.host.rehearsal import rehearse as rehearsed

        if plan is None:
            raise UsageError("--rehearse needs --game, and what else the contest will be made with")
        lines = run(
            rehearsed, folder, plan, options, where_to_play, at_a_time, teams or TEAMS, rehearse, write_report, _note
        )
        for line in lines:
            out.print(printable(line))
        return PLAYED
    listening = listen(where, port)
    if address is None:
        port = listening.getsockname()[1]
        reached = msgspec.structs.replace(reached, address=f"http://{reachable(where)}:{port}")
    store = contest.opened(folder, plan, options)
    if way is not None:
        way = msgspec.structs.replace(way, address=reached.address, contest=read_plan(folder / PLAN).heading)
    with contest.hosted(store):  # before the link, which ends the one before
        if pseudonyms:
            names.use(store)
        if with_:
            reference_bots.enter(store, with_)
        if with_archive is not None:
            reference_bots.enter_archive(store, with_archive)
        _announce(folder, reached, contest.organisers_link(store, reached))
        run(contest.run, store, listening, reached, where_to_play, at_a_time, write_report, _note, way)
    return PLAYED


def _check_pairs(*pairs: tuple[str, object, str, object]) -> None:
    """Raises UsageError for an option without the one that it needs. Each option is followed by its value."""
    for option, value, needed, other in pairs:
        if value and other is None:
            raise UsageError(f"{option} needs {needed}, without which it means nothing")


def _plan(game: str | None, title: str | None, seats: int | None, seed: int | None, setup: SetupOptions) -> Plan | None:
    if game is None:
        if setup != SetupOptions() or (title, seats, seed) != (None, None, None):
            raise UsageError(
                "rules, times, limits, seats, seed and title are those of a new contest, which --game makes"
            )
        return None
    request = from_options(with_seats(typed_game(game), seats), (), setup, None, seed)
    return organise.plan_without_bots(msgspec.structs.replace(request, format="ladder", title=title))


def _short(setup: SetupOptions) -> SetupOptions:
    """Ends builds early, so that a slow one does not keep other teams waiting, unless the organiser decides."""
    if any(each.startswith("time=") for each in setup.limits.build):
        return setup
    return replace(setup, limits=replace(setup.limits, build=(*setup.limits.build, f"time={BUILD_S}s")))


def _offline(setup: SetupOptions) -> SetupOptions:
    """Takes the network from builds, which strangers write, unless the organiser decides."""
    limits = setup.limits
    if any(each.startswith("offline=") for each in limits.build):
        return setup
    if limits.isolation == "off" or probe().namespaces is None:
        err.print("builds have this machine's network, because they are not in namespaces; see `referee doctor`")
        return setup
    return replace(setup, limits=replace(limits, build=(*limits.build, "offline=true")))


def _announce(folder: Path, reached: "WebSettings", link: str) -> None:
    out.print(f"contest    {reached.address}")
    out.print(f"organiser  {link}")
    out.print(
        f"The organiser's link opens once. Ctrl-C ends; `referee host {shlex.quote(str(folder))}` goes on.", style="dim"
    )


def _note(text: str) -> None:
    err.print(printable(text))
