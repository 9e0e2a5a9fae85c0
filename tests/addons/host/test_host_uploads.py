"""Uploads of strangers: too large, cut, with hostile names, in the wrong form, at the wrong time."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hosting import Cup, serving, wait_for

from referee.addons.host import switches, versions
from referee.addons.host.submissions import UPLOADS

pytestmark = pytest.mark.slow

QUOTA = versions.Quota(an_hour=1000, waiting=1000, bytes=1 << 20)
FORM = "multipart/form-data; boundary=b"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cup, httpx.Client]]:
    cup = Cup(tmp_path_factory.mktemp("uploads"))
    with serving(cup, quota=QUOTA) as client:
        yield cup, client


def files(cup: Cup) -> list[Path]:
    return [path for path in (cup.store.folder / UPLOADS).rglob("*") if path.is_file()]


def part(name: str, content: bytes) -> bytes:
    head = f'--b\r\ncontent-disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return head.encode("utf-8", "surrogateescape") + content + b"\r\n--b--\r\n"


def upload(cup: Cup, client: httpx.Client, body: object, kind: str = FORM) -> httpx.Response:
    headers = cup.headers("program") | {"content-type": kind}
    return client.post("/team/versions", content=body, headers=headers)  # type: ignore[arg-type]


def test_an_upload_beyond_the_limit_ends_early_and_leaves_nothing(served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    before = files(cup)
    large = part("bot.zip", bytes(3 << 20))
    assert upload(cup, client, large).status_code == 413
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield large[:200]
        while True:
            sent += 1 << 16
            yield bytes(1 << 16)

    try:
        assert upload(cup, client, endless()).status_code == 413
    except httpx.HTTPError:
        pass  # the connection was closed while we wrote
    assert sent < 64 << 20
    wait_for(lambda: files(cup) == before)


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/x.zip",
        "..\\..\\x.zip",
        "/etc/x.zip",
        "x" * 4000 + ".zip",
        "ä\u202egip.zip",
        "-rf.zip",
        "a=b@c.zip",
    ],
)
def test_no_name_of_a_file_leads_out_of_the_folder(name: str, served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    before = {*files(cup)}
    response = upload(cup, client, part(name, b"PK"))
    assert response.status_code == 201, response.text
    (new,) = {*files(cup)} - before
    assert new.parent.parent.parent == cup.store.folder / UPLOADS and new.read_bytes() == b"PK"
    assert len(new.name.encode()) <= 120 and new.name.isprintable() and new.suffix == ".zip"


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", FORM, 400),
        (b"nonsense", FORM, 400),
        (part("bot.zip", b"PK")[:60], FORM, 400),
        (part("", b"PK"), FORM, 400),
        (part("bot.rar", b"PK"), FORM, 400),
        (part("notes.pdf", b"PK"), FORM, 400),
        (b"".join(part(f"{number}.zip", b"")[:-6] + b"\r\n" for number in range(9)) + b"--b--\r\n", FORM, 400),
        (part("bot.zip", b"PK"), "multipart/form-data", 400),
        (b"file=PK", "application/x-www-form-urlencoded", 415),
        (b"--b\r\n" + b"a" * 200_000 + b": b\r\n\r\n--b--\r\n", FORM, 400),
    ],
)
def test_what_is_no_form_with_a_file_is_refused(
    body: bytes, kind: str, status: int, served: tuple[Cup, httpx.Client]
) -> None:
    cup, client = served
    before = files(cup)
    response = upload(cup, client, body, kind)
    assert response.status_code == status and len(response.text.strip().splitlines()) == 1, response.text
    assert files(cup) == before


def test_a_client_that_leaves_leaves_nothing(served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    before = files(cup)
    token = cup.headers("program")["authorization"]
    head = f"POST /team/versions HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\ncontent-type: {FORM}\r\n"
    with socket.create_connection(("127.0.0.1", int(cup.address.rpartition(":")[2]))) as connection:
        connection.sendall(f"{head}content-length: 1000000\r\n\r\n".encode() + part("bot.zip", bytes(500_000))[:-9])
        time.sleep(0.3)
    wait_for(lambda: files(cup) == before)
    assert client.get("/health").status_code == 200


def test_strangers_and_closed_uploads_are_refused_before_the_file_comes(served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    body = part("bot.zip", b"PK")
    assert client.post("/team/versions", content=body, headers={"content-type": FORM}).status_code == 401
    switches.set_switch(cup.store, "uploads", "closed", None, "organiser Ada")
    response = upload(cup, client, body)
    assert response.status_code == 400 and "uploads are closed" in response.text
    switches.set_switch(cup.store, "uploads", "open", None, "organiser Ada")
    assert upload(cup, client, body).status_code == 201


@pytest.mark.parametrize(
    "end",
    [
        part("bot.zip", b"PK")[5:],
        b'content-disposition: form-data; name="repository"\r\n\r\nhttps://github.com/a/b\r\n--b--',
    ],
    ids=["a file", "a repository"],
)
def test_an_upload_that_has_not_come_whole_when_uploads_close_is_refused(
    end: bytes, served: tuple[Cup, httpx.Client]
) -> None:
    cup, client = served
    before, headers = files(cup), cup.headers("other") | {"origin": cup.address, "content-type": FORM}

    def slow() -> Iterator[bytes]:
        yield b"--b\r\n"
        time.sleep(0.5)  # the server has read the head, and waits for the rest
        switches.set_switch(cup.store, "uploads", "closed", None, "organiser Ada")
        yield end

    response = client.post("/team/versions", content=slow(), headers=headers)
    switches.set_switch(cup.store, "uploads", "open", None, "organiser Ada")
    assert response.status_code == 400 and "uploads are closed" in response.text
    assert files(cup) == before and versions.versions(cup.store, cup.red) == []


@pytest.mark.parametrize(
    ("address", "commit"),
    [
        ("file:///etc", ""),
        ("ssh://git@github.com/a/b", ""),
        ("https://github.com.evil.example/a/b", ""),
        ("https://user:pass@github.com/a/b", ""),
        ("https://github.com/a/b --upload-pack=x", ""),
        ("https://github.com/a/b", "--upload-pack=x"),
        ("https://github.com/a/b", "a..b"),
    ],
)
def test_repositories_are_at_allowed_places_only(address: str, commit: str, served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    form = {"repository": (None, address), "commit": (None, commit)}
    response = client.post("/team/versions", files=form, headers=cup.headers("program"))  # type: ignore[arg-type]
    assert response.status_code == 400, response.text


def test_a_flood_of_forms_is_refused(served: tuple[Cup, httpx.Client]) -> None:
    cup, client = served
    headers = cup.headers("other") | {"origin": cup.address}
    statuses = [client.post("/team/versions/9/note", headers=headers).status_code for _ in range(70)]
    assert statuses[0] == 404 and statuses[-1] == 429


def test_metrics_are_for_this_machine_alone(served: tuple[Cup, httpx.Client]) -> None:
    _, client = served
    found = client.get("/metrics")
    assert found.status_code == 200 and "referee_http_requests_total" in found.text
    assert client.get("/metrics", headers={"x-forwarded-for": "192.0.2.1"}).status_code == 404
