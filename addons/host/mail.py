"""Mails to teams: an invitation, a version that is set aside, a final. They are off unless the organiser names a way.

A message waits in the database, and `referee host` sends it. It is noted before it is handed over, so that a restart
sends nothing twice; a message whose fate is not known is shown to the organiser. An invitation's link is made when it
is sent: no link is ever in the database.
"""

import os
import re
import shlex
import smtplib
import sqlite3
import ssl
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jinja2
import msgspec
import trio
from msgspec import Struct

from referee.addons.host import teams, times
from referee.addons.host.outbox import Kind
from referee.addons.host.store import Store
from referee.harness.common.addresses import is_local, split_address
from referee.harness.common.errors import RunError, UsageError
from referee.protocol.text import printable

PASSWORD = "REFEREE_MAIL_PASSWORD"
"""The environment variable with the password of the mail server: others on the machine see command lines."""
COMMAND = "cmd:"
LOOK_S = 1.0
PAUSE_S = 0.2
"""Between two messages."""
AGAIN_S = (10.0, 60.0, 600.0)
"""How long to wait after a message that was refused, or after a server that cannot be reached."""
SEND_S = 60.0
TRIES = 3
"""How often a message is tried that is refused."""
_WORD, _LABEL = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+", "[A-Za-z0-9]+(-+[A-Za-z0-9]+)*"
ADDRESS = re.compile(rf"(?!.*=\?)(?=.{{1,64}}@.{{1,190}}\Z){_WORD}(\.{_WORD})*@{_LABEL}(\.{_LABEL})*")
"""An address in plain letters. Without =?, which begins an encoded word that stands for another address."""
EXPECTED = "expected smtp://USER@HOST:587, smtps://USER@HOST or cmd:sendmail -t"


class MailSettings(Struct, frozen=True):
    """How mails are sent."""

    way: str
    """An address such as `smtp://user@mail.example.org:587`, or `cmd:` and a command that reads a message."""
    sender: str
    address: str
    """Of the contest."""
    contest: str
    """Its name."""
    zone: str = "UTC"
    """The time zone of its times."""


class Waiting(Struct, frozen=True):
    """A message that waits."""

    id: int
    kind: Kind
    team: int
    facts: str
    """The values for its template, as JSON."""
    tries: int


class Refused(Exception):
    """A message was not sent, for a reason that may be its own."""


class Unsure(Exception):
    """Nobody knows whether a message was sent."""


def check_settings(settings: MailSettings) -> None:
    """UsageError for a way that is none, or a sender that is no address."""
    if not ADDRESS.fullmatch(settings.sender):
        raise UsageError(f"--mail-from {settings.sender}: expected an address such as cup@example.org")
    if settings.way.startswith(COMMAND):
        try:
            if shlex.split(settings.way.removeprefix(COMMAND)):
                return
        except ValueError as error:
            raise UsageError(f"--mail {settings.way}: {error}") from error
    try:
        parts = split_address(settings.way)
        known = parts.scheme in ("smtp", "smtps") and bool(parts.hostname)
    except ValueError:
        known = False
    if not known:
        raise UsageError(f"--mail {printable(settings.way)}: {EXPECTED}")
    if parts.password is not None:
        raise UsageError(f"--mail: others see the password on the command line; leave it out, and set {PASSWORD}")


_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "mails"), undefined=jinja2.StrictUndefined, autoescape=False
)


def message(settings: MailSettings, to: str, template: str, facts: dict[str, str]) -> EmailMessage:
    """Returns a message. Texts of teams stay in its body or in one line of its subject."""
    plain = {name: printable(" ".join(value.split())) for name, value in facts.items()}
    text = _templates.get_template(f"{template}.txt").render(
        plain,
        contest=printable(settings.contest),
        address=settings.address,
        shown=partial(times.shown, zone=settings.zone),
    )
    subject, _, body = text.partition("\n")
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = settings.sender, to, subject[:200]
    made["Auto-Submitted"] = "auto-generated"
    made.set_content(body)
    return made


class Sender:
    """Sends what waits."""

    def __init__(self, store: Store, settings: MailSettings, note: Callable[[str], None]) -> None:
        self.store, self.settings, self.note = store, settings, note

    async def run(self) -> None:
        """Sends messages until it is cancelled. One that was being sent when an earlier run ended is not sent again."""
        with self.store.writing() as database:
            database.execute(
                "UPDATE mail SET state = 'unsure', problem = 'the contest ended while it was sent' "
                "WHERE state = 'sending'"
            )
        failures = 0
        while True:
            one = self.next()
            if one is None:
                await trio.sleep(LOOK_S)
                continue
            try:
                await trio.to_thread.run_sync(self.send, one)
                failures = 0
                await trio.sleep(PAUSE_S)
            except Refused:  # through this message or the server: one address does not hold up those of others for long
                await trio.sleep(AGAIN_S[0])
            except RunError as error:
                if not failures:
                    self.note(f"mail: {error}")
                await trio.sleep(AGAIN_S[min(failures, len(AGAIN_S) - 1)])
                failures += 1

    def next(self) -> Waiting | None:
        """Returns the message that is sent next."""
        return self.store.first(
            Waiting, "SELECT id, kind, team, facts, tries FROM mail WHERE state = 'waiting' ORDER BY tries, id LIMIT 1"
        )

    def send(self, one: Waiting) -> None:
        """Sends a message, or notes why not. Refused if the server refuses it, RunError if it cannot be reached."""
        team = teams.team(self.store, one.team)
        if team is None or not ADDRESS.fullmatch(team.email):
            return self._note(one, "failed", "the team has no address")
        facts = msgspec.json.decode(one.facts, type=dict[str, str]) | {"team": team.name}
        try:
            with _connected(self.settings) as connection:
                if one.kind == "invitation":
                    token = teams.new_link(self.store, team.id, "invitation", "the referee")
                    facts["link"] = f"{self.settings.address}/join/{token}"
                made = message(self.settings, team.email, one.kind, facts)
                self._note(one, "sending", "")
                connection(made)
        except Unsure as error:
            return self._note(one, "unsure", str(error))
        except Refused as error:
            is_last = one.tries + 1 >= TRIES
            self._note(one, "failed" if is_last else "waiting", str(error))
            if is_last:
                self.note(f"mail to {team.email}: {error}")
            raise
        return self._note(one, "sent", "")

    def _note(self, one: Waiting, state: str, problem: str) -> None:
        with self.store.writing() as database:
            database.execute(
                "UPDATE mail SET state = ?, problem = ?, at = ?, tries = tries + ? WHERE id = ?",
                (state, printable(problem)[:200], time.time(), state == "waiting", one.id),
            )


Send = Callable[[EmailMessage], None]


class _connected:
    """Opens the way for a message, and closes it. RunError if that is impossible."""

    def __init__(self, settings: MailSettings) -> None:
        self._settings = settings
        self._server: smtplib.SMTP | None = None

    def __enter__(self) -> Send:
        way = self._settings.way
        if way.startswith(COMMAND):
            return lambda made: _by_command(shlex.split(way.removeprefix(COMMAND)), made)
        parts = urlsplit(way)
        host = parts.hostname or ""
        try:
            if parts.scheme == "smtps":
                context = ssl.create_default_context()
                server: smtplib.SMTP = smtplib.SMTP_SSL(host, parts.port or 465, timeout=SEND_S, context=context)
            else:
                server = smtplib.SMTP(host, parts.port or 587, timeout=SEND_S)
            self._server = server
            server.ehlo()
            if parts.scheme == "smtp":
                _encrypt(server)
            if parts.username:
                server.login(unquote(parts.username), os.environ.get(PASSWORD, ""))
        except (smtplib.SMTPException, OSError) as error:
            self.__exit__()
            raise RunError(f"{host} cannot be used: {error}") from error
        return self._by_server

    def _by_server(self, made: EmailMessage) -> None:
        assert self._server is not None
        try:
            self._server.send_message(made)
        except (smtplib.SMTPResponseException, smtplib.SMTPRecipientsRefused) as error:
            raise Refused(f"the mail server refuses the message: {error}") from error
        except (smtplib.SMTPException, OSError) as error:
            raise Unsure(f"the mail server left meanwhile: {error}") from error

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            with suppress(smtplib.SMTPException, OSError):
                self._server.quit()


def _encrypt(server: smtplib.SMTP) -> None:
    """Encrypts a connection. SMTPException if that is impossible, unless the server is on this machine."""
    assert server.sock is not None
    is_here = is_local(server.sock.getpeername()[0])
    if server.has_extn("starttls"):
        server.starttls(context=None if is_here else ssl.create_default_context())  # None: any certificate is good
    elif not is_here:
        raise smtplib.SMTPNotSupportedError(
            "it offers no STARTTLS, so others could read the password and the links; use smtps://, or a server on this "
            "machine"
        )


def _by_command(command: Sequence[str], made: EmailMessage) -> None:
    """Has a command send a message, which it reads."""
    try:
        done = subprocess.run(command, input=bytes(made), capture_output=True, timeout=SEND_S)
    except OSError as error:
        raise RunError(f"{command[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise Unsure(f"{command[0]} did not end within {SEND_S:.0f} s") from error
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Refused(f"{command[0]} ended with exit code {done.returncode}{': ' + lines[-1][:100] if lines else ''}")


def set_on(store: Store, is_on: bool) -> None:
    """Notes whether events make messages from now on. A message that waits when mail is switched off is never sent."""
    with store.writing() as database:
        _switch(database, is_on)


def _switch(database: sqlite3.Connection, is_on: bool) -> None:
    database.execute("DELETE FROM setting WHERE name = 'mail'")
    if is_on:
        database.execute("INSERT INTO setting (name, value) VALUES ('mail', '1')")
    else:
        database.execute("UPDATE mail SET state = 'failed', problem = 'mail was switched off' WHERE state = 'waiting'")
