"""Mails to teams: off by default, one for each event, nothing twice after a kill, and no link in the database."""

import os
import shlex
import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
import trio
import trustme
from hosted import contest

from referee.addons.host import mail, outbox, teams, versions
from referee.addons.host.mail import MailSettings, Sender
from referee.addons.host.store import Store
from referee.addons.tournament.plan import Entry
from referee.harness.common.errors import RunError, UsageError

ENTRY = Entry("Blue", "ab" * 5, "ab" * 32, "@random")
KEEP = """
import pathlib, sys
folder = pathlib.Path(sys.argv[1])
(folder / str(len(list(folder.iterdir())))).write_bytes(sys.stdin.buffer.read())
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(contest(tmp_path / "cup"))


def settings(*command: object, way: str = "") -> MailSettings:
    text = way or f"cmd:{shlex.join(map(str, command))}"
    return MailSettings(text, "cup@example.org", "https://cup.example.org", "Spring cup", "Europe/Berlin")


def kept(folder: Path) -> MailSettings:
    """Returns the settings of a way that keeps each message as a file."""
    folder.mkdir(exist_ok=True)
    return settings(sys.executable, "-c", KEEP, folder)


def states(store: Store) -> list[str]:
    return [each.state for each in outbox.messages(store)]


def sent(store: Store, given: MailSettings) -> list[str]:
    """Runs the sender until nothing waits. Returns what it noted for the organiser."""
    notes: list[str] = []

    async def run() -> None:
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(Sender(store, given, notes.append).run)
                while {"waiting", "sending"} & {*states(store)}:
                    await trio.sleep(0.02)
                nursery.cancel_scope.cancel()

    trio.run(run)
    return notes


def read(folder: Path) -> list[EmailMessage]:
    files = sorted(folder.iterdir(), key=lambda file: int(file.name))
    return [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]  # type: ignore[misc]


def team(store: Store, name: str = "Blue", email: str = "blue@example.org") -> teams.Team:
    return teams.invite(store, name, email, "organiser Ada")[0]


def handed_in(store: Store, number: int) -> versions.Version:
    token = teams.new_link(store, number, "join", "x")
    person = teams.person(store, teams.open_link(store, token, "Bo"))
    assert person is not None
    one = versions.hand_in(store, number, person.member, "bot.zip", "uploads/1.zip")
    versions.accept(store, one, ENTRY)
    return one


def test_without_a_way_no_message_is_made(store: Store) -> None:
    one = team(store)
    versions.set_aside(store, handed_in(store, one.id), "it was at fault in 5 games in a row")
    assert outbox.messages(store) == []


def test_an_invitation_comes_with_a_link_that_no_database_has_and_that_opens(store: Store, tmp_path: Path) -> None:
    mail.set_on(store, True)
    team(store)
    team(store, "Red", "")
    assert sent(store, kept(tmp_path / "mails")) == []
    (got,) = read(tmp_path / "mails")
    assert (got["To"], got["From"], got["Subject"]) == (
        "blue@example.org",
        "cup@example.org",
        "Spring cup: your invitation",
    )
    (link,) = [line for line in got.get_content().splitlines() if line.startswith("https://cup.example.org/join/")]
    token = link.rpartition("/")[2]
    assert token.encode() not in b"".join(file.read_bytes() for file in store.folder.glob("host.sqlite*"))
    assert teams.open_link(store, token, "Bo")


def test_an_event_makes_one_message_and_a_restart_sends_nothing_twice(store: Store, tmp_path: Path) -> None:
    mail.set_on(store, True)
    one = team(store)
    version = handed_in(store, one.id)
    versions.set_aside(store, version, "it was at fault\nin 5 games")
    with store.writing() as database:
        assert outbox.put(database, "final", one.id, "cup", name="cup", at="1764442800.0")
        assert outbox.put(database, "final", one.id, "cup", name="cup", at="1764442800.0")
    way = kept(tmp_path / "mails")
    sent(store, way)
    sent(store, way)
    assert [each["Subject"].partition(": ")[2] for each in read(tmp_path / "mails")] == [
        "your invitation",
        "version 1 of your bot was set aside",
        "the final cup",
    ]
    assert "made at 2025-11-29 20:00:00 CET" in read(tmp_path / "mails")[2].get_content()
    assert states(store) == ["sent"] * 3


KILLED = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"


def test_a_message_during_which_the_contest_was_killed_is_not_sent_again(store: Store, tmp_path: Path) -> None:
    mail.set_on(store, True)
    team(store)
    killer = settings(sys.executable, "-c", KILLED)
    pid = os.fork()
    if not pid:
        Sender(Store(store.folder), killer, print).send(_waiting(store.folder))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    sent(store, kept(tmp_path / "mails"))
    assert read(tmp_path / "mails") == [] and states(store) == ["unsure"]


def _waiting(folder: Path) -> mail.Waiting:
    found = Sender(Store(folder), settings("true"), print).next()
    assert found is not None
    return found


FOREIGN = (
    *("a@b.example\nBcc: c@d.example", "a@b, c@d", "<a@b>", "x" * 99 + "@b", "a@b.", "a@b..c", ".a@b", "[a@b", "a@-b"),
    *("=?utf-8?q?c=40d.example=2c?=@b.example", "=?utf-8?q?a=0aBcc=3a_c?=@b.example", "\u202ea@b", "é@b.example"),
)
"""Addresses that a mail program may read as another one, or as a header."""


@pytest.mark.parametrize("email", [*FOREIGN, "-oQ/tmp@x"])
def test_texts_of_teams_reach_no_header_and_no_other_address(email: str, store: Store, tmp_path: Path) -> None:
    mail.set_on(store, True)
    team(store, "Blue", email)
    sent(store, kept(tmp_path / "mails"))
    assert states(store) == (["sent"] if email.startswith("-oQ") else ["failed"])
    facts = {"team": "Blue\nBcc: x@y.example", "name": "cup\r\nBcc: x@y.example", "at": "1764442800.0"}
    made = mail.message(settings("true"), "a@b.example", "final", facts)
    assert made["Bcc"] is None and "Bcc" in made["Subject"] and bytes(made).count(b"\nBcc") == 0


def test_a_refused_address_does_not_hold_up_the_mails_of_other_teams(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail, "AGAIN_S", (0.01, 3600.0))
    mail.set_on(store, True)
    for number in range(5):
        team(store, f"Hostile {number}", f"nobody{number}@example.org")
    team(store)
    refuse = "import sys; data = sys.stdin.buffer.read(); sys.exit('no' if b'To: nobody' in data else 0)\n"
    sent(store, settings(sys.executable, "-c", refuse))
    assert sorted(states(store)) == ["failed"] * 5 + ["sent"]


def test_a_refused_message_is_tried_again_and_given_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "AGAIN_S", (0.01,))
    mail.set_on(store, True)
    team(store)
    notes = sent(store, settings(sys.executable, "-c", "import sys; sys.exit('no such user')"))
    (message,) = outbox.messages(store)
    assert message.state == "failed" and "no such user" in message.problem and len(notes) == 1


@contextmanager
def server(
    answer: Callable[[bytes], bytes | None], host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
) -> Iterator[tuple[int, list[bytes]]]:
    """Runs an SMTP server that answers each line; None = it closes. Yields its port and the lines it has heard.

    `tls`: its certificate, with which it begins.
    """
    heard: list[bytes] = []
    with socket.create_server((host, 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with suppress(OSError):  # a client that distrusts us leaves
                speak(connection if tls is None else tls.wrap_socket(connection, server_side=True))

        def speak(connection: socket.socket) -> None:
            with connection, connection.makefile("rwb") as file:
                file.write(b"220 hello\r\n")
                file.flush()
                is_body = False
                for line in file:
                    heard.append(line)
                    if is_body and line != b".\r\n":
                        continue
                    said = answer(b"END" if is_body else line.strip().upper())
                    is_body = line.strip().upper() == b"DATA"
                    if said is None:
                        return
                    file.write(said + b"\r\n")
                    file.flush()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1], heard
        thread.join(10)


@pytest.mark.parametrize(("end", "state"), [(b"250 queued", "sent"), (None, "unsure")])
def test_a_mail_server_takes_a_message_or_its_fate_is_unknown(end: bytes | None, state: str, store: Store) -> None:
    mail.set_on(store, True)
    team(store)
    known = {b"DATA": b"354 go on", b"QUIT": b"221 bye", b"END": end}
    with server(lambda line: known.get(line, b"250 ok")) as (port, heard):
        sent(store, settings(way=f"smtp://127.0.0.1:{port}"))
    assert states(store) == [state] and b"To: blue@example.org\r\n" in heard


ANSWERS = {b"DATA": b"354 go on", b"QUIT": b"221 bye", b"EHLO": b"250-hello\r\n250 AUTH PLAIN", b"AUTH": b"235 ok"}


def answered(line: bytes) -> bytes:
    """Answers as a server that takes any password."""
    return ANSWERS.get(line.split()[0], b"250 ok")


def own_address() -> str:
    """Returns an address of this machine as others see it: a server there may be anywhere."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, suppress(OSError):
        one.connect(("192.0.2.1", 9))  # sends nothing
        if not (address := str(one.getsockname()[0])).startswith("127."):
            return address
    pytest.skip("this machine has no address in a network")


@pytest.mark.parametrize(
    ("name", "is_known", "state"),
    [("localhost", True, "sent"), ("mail.example.org", True, "waiting"), ("localhost", False, "waiting")],
)
def test_a_mail_server_with_another_certificate_gets_neither_a_password_nor_a_link(
    name: str, is_known: bool, state: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(tls)
    (authority if is_known else trustme.CA()).cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    monkeypatch.setenv(mail.PASSWORD, "secret")
    mail.set_on(store, True)
    team(store)
    is_sent = state == "sent"
    with server(answered, tls=tls) as (port, heard):
        sender = Sender(store, settings(way=f"smtps://user@localhost:{port}"), print)
        with nullcontext() if is_sent else pytest.raises(RunError, match="localhost cannot be used"):
            sender.send(_waiting(store.folder))
    assert states(store) == [state] and any(line.startswith(b"AUTH") for line in heard) == is_sent


@pytest.mark.parametrize("user", ["", "user@"])
def test_a_mail_server_elsewhere_that_cannot_encrypt_gets_neither_a_password_nor_a_link(
    user: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(mail.PASSWORD, "secret")
    mail.set_on(store, True)
    team(store)
    with server(answered, (host := own_address())) as (port, heard):
        sender = Sender(store, settings(way=f"smtp://{user}{host}:{port}"), print)
        with pytest.raises(RunError, match="it offers no STARTTLS, so others could read the password and the links"):
            sender.send(_waiting(store.folder))
    assert states(store) == ["waiting"] and {line[:4].upper() for line in heard} == {b"EHLO", b"QUIT"}


@pytest.mark.parametrize(
    ("way", "sender"),
    [
        ("mail.example.org", "a@b.example"),
        ("smtp://", "a@b.example"),
        ("smtp://h:99999999", "a@b.example"),
        ("cmd:", "a@b.example"),
        ("cmd:'", "a@b.example"),
        ("smtp://u:secret@h", "a@b.example"),
        ("smtp://h", "nobody"),
        ("smtp://h", "a@b.example\nBcc: c@d.example"),
    ],
)
def test_a_way_that_is_none_is_refused_without_a_password(way: str, sender: str) -> None:
    with pytest.raises(UsageError) as caught:
        mail.check_settings(MailSettings(way, sender, "https://cup.example.org", "Cup"))
    assert "secret" not in str(caught.value)
