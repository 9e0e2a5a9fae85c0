"""The organiser, for one team: looks at all it has handed in, hands in, extends its deadline, ends a check."""

import os
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import trio
from hosted import contest
from hosting import Browser, Cup, secret, serving
from submissions import RUN, zipped

from referee.addons.host import finals, switches, teams, versions
from referee.addons.host.store import Store, audited
from referee.addons.host.submissions import Queue, from_repository
from referee.addons.tournament.cli.prepare import write_report
from referee.addons.tournament.plan import Entry
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow
Served = tuple[Cup, Browser, Browser]
ZONE = "America/New_York"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A contest with the organiser's browser and one of Red, in a zone far from UTC."""
    cup = Cup(tmp_path_factory.mktemp("organiser"))
    with serving(cup, zone=ZONE):
        links = [teams.new_link(cup.store, number, "join", "x") for number in (None, cup.red)]
        ada, red = (
            Browser(cup.address).join(f"{cup.address}/join/{link}", name)
            for link, name in zip(links, ("Ada", "Ron"), strict=True)
        )
        yield cup, ada, red


def upload(browser: Browser, path: str, file: Path, status: int = 200) -> str:
    with file.open("rb") as content:
        response = browser.http.post(path, files={"file": (file.name, content)}, data={"note": "by hand"})
    assert response.status_code == status, response.text
    return response.text


HOSTILE: dict[str, Callable[[Path], object]] = {
    "bot.py": lambda path: path.write_bytes(b"<script>alert(1)</script>\n\x1b[31mred\x1b[0m\n\xff\xfe"),
    "bot.zip": lambda path: _zip(path, {"../../escape.py": b"x"}),
    "links.zip": lambda path: _link(path),
    "bomb.zip": lambda path: _zip(path, {"zeros": bytes(80 << 20)}),
    "cut.zip": lambda path: path.write_bytes(b"PK\x03\x04 cut"),
}


def _zip(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def _link(path: Path) -> None:
    entry = zipfile.ZipInfo("secret")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(entry, "/etc/passwd")


def test_the_source_of_every_version_is_shown_as_text_and_nothing_of_it_runs(served: Served, tmp_path: Path) -> None:
    cup, ada, red = served
    cup.store.folder.joinpath("uploads", ".coming").mkdir(exist_ok=True)
    zipped(tmp_path / "files" / "good.zip", 1, RUN).rename(tmp_path / "good.zip")
    for name, write in HOSTILE.items():
        write(tmp_path / name)
    shown = {}
    for name in ("good.zip", *HOSTILE):
        upload(ada, f"/organiser/teams/{cup.red}/versions", tmp_path / name)
        (newest, *_) = versions.versions(cup.store, cup.red)
        at = f"/organiser/teams/{cup.red}/versions/{newest.version}"
        shown[name] = ada.get(f"{at}/source")
        file = ada.http.get(f"{at}/file")
        assert file.content == (tmp_path / name).read_bytes() and file.headers["content-type"].endswith("octet-stream")
        assert file.headers["content-disposition"].startswith("attachment")
        red.get(f"{at}/source", 403)
    assert "def choose" in shown["good.zip"] and "bot.toml" in shown["good.zip"]
    assert "&lt;script&gt;alert" in shown["bot.py"] and "\x1b" not in shown["bot.py"]
    assert "root:" not in shown["links.zip"] and "escape" not in os.listdir(cup.store.folder)
    for name in ("bot.zip", "bomb.zip", "cut.zip"):
        assert "<details" not in shown[name] and str(cup.store.folder) not in shown[name], name
    assert len(shown["bomb.zip"]) < 10_000
    assert [each.action for each in audited(cup.store)][:2] == ["hand in", "hand in"]
    assert "by hand" in ada.get(f"/organiser/teams/{cup.red}")
    assert upload(ada, "/organiser/teams/99/versions", tmp_path / "good.zip", 404)
    for each in versions.versions(cup.store, cup.red):
        versions.cancel(cup.store, each.id, "organiser Ada")


def test_a_team_with_an_extension_hands_in_alone_and_no_final_begins_before(served: Served, tmp_path: Path) -> None:
    cup, ada, red = served
    bot = zipped(tmp_path / "files" / "bot.zip", 1, RUN)
    ada.post("/organiser/switches/uploads", value="closed")
    assert "uploads are closed" in upload(red, "/team/versions", bot, 400)
    extend = f"/organiser/teams/{cup.red}/extension"
    later = datetime.fromtimestamp(time.time() + 3600, ZoneInfo(ZONE))
    page = ada.post(extend, until=later.strftime("%Y-%m-%dT%H:%M"))
    assert later.strftime("may hand in until %Y-%m-%d %H:%M:00 E") in page, "in the contest's zone"
    assert "Your team may hand in until" in red.get("/team")
    assert "were refused" in upload(red, "/team/versions", bot, 400), "a pause is no matter of the deadline"
    assert "may still hand in" in ada.get("/organiser")
    with pytest.raises(UsageError, match="Red may still hand in"):
        finals.make(cup.store, "cup", "knockout", "organiser Ada")
    assert not switches.may_hand_in(cup.store, cup.blue)
    ada.post(extend, status=400, until="2001-01-01T00:00")
    ada.post(extend, status=400, until="soon")
    ada.post(extend)
    assert not switches.may_hand_in(cup.store, cup.red) and switches.extended(cup.store) == []
    ada.post("/organiser/switches/uploads", value="open")


def test_another_organiser_comes_by_a_link_that_opens_once(served: Served) -> None:
    cup, ada, red = served
    link = secret(ada.post("/organiser/organisers"))
    Browser(cup.address).join(link, "Bea").post("/organiser/announce", title="Hello")
    assert audited(cup.store)[0].actor == "organiser Bea"
    Browser(cup.address).post(link.removeprefix(cup.address), 404, name="Eve")
    red.post("/organiser/organisers", 403)


def test_the_organiser_sees_the_queue_and_ends_a_check(served: Served, tmp_path: Path) -> None:
    cup, ada, _ = served
    bot = zipped(tmp_path / "files" / "bot.zip", 1, RUN)
    upload(ada, f"/organiser/teams/{cup.third}/versions", bot)
    (one,) = versions.versions(cup.store, cup.third)
    assert "waiting: next in the queue" in ada.get("/organiser")
    ada.post(f"/organiser/checks/{one.id}/cancel")
    assert "No version waits" in ada.get("/organiser")
    ada.post(f"/organiser/checks/{one.id}/cancel", 404)
    decided = versions.by_id(cup.store, one.id)
    assert decided is not None and (decided.status, decided.reason) == ("refused", versions.CANCELLED)


def test_a_check_that_runs_ends_when_the_organiser_cancels_it(tmp_path: Path) -> None:
    store = Store(contest(tmp_path / "cup"))
    made, token = teams.invite(store, "Slow", "", "organiser Ada")
    person = teams.person(store, teams.open_link(store, token, "Bo"))
    assert person is not None
    folder = store.folder / "uploads" / "1"
    folder.mkdir(parents=True)
    bot = zipped(folder / "bot.zip", 1, RUN + 'build = "echo begun; sleep 3000"\n')
    one = versions.hand_in(store, made.id, person.member, "bot.zip", str(bot.relative_to(store.folder)))
    queue = Queue(store, 1, write_report)
    decided: list[versions.Version] = []
    queue.on_decision = decided.append

    async def run() -> None:
        with trio.fail_after(100):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(queue.run)
                while "begun" not in _log(store):
                    await trio.sleep(0.05)
                assert versions.cancel(store, one.id, "organiser Ada")
                while not decided:
                    await trio.sleep(0.05)
                nursery.cancel_scope.cancel()

    trio.run(run)
    assert decided[0].reason == versions.CANCELLED and queue._free.available_tokens == 1
    assert not versions.accept(store, one, _entry()) and versions.current(store, made.id) is None
    with pytest.raises(UsageError, match="a repository may be at"):
        from_repository(store, person, "https://evil.example/x", "", "", versions.Quota())


def _log(store: Store) -> str:
    found = [*store.folder.glob("reports/*.log")]
    return found[0].read_text() if found else ""


def _entry() -> Entry:
    return Entry("Slow", "ab" * 5, "ab" * 32, "@random")
