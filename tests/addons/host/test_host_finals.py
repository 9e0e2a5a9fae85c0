"""Finals: whose luck nobody can pick, whom they are between, and that a kill loses none of their games."""

import hashlib
import sqlite3
import stat
from pathlib import Path

import msgspec
import pytest
from contests import drawing_bot, referee
from hosted import Team, contest, games_of, killed, log, play, playing, until
from hosting import Cup, serving
from playwright.sync_api import Browser, expect

from referee.addons.host import finals, switches, versions
from referee.addons.host.store import FILE, Store, audited
from referee.addons.tournament.formats.schedules import BRACKETS
from referee.addons.tournament.inbox import Submit, hand_in
from referee.addons.tournament.plan import Plan, read_plan, write_plan
from referee.addons.tournament.store import bot_archives, reader
from referee.addons.tournament.store.ledger import PLAN, claimed
from referee.harness.common.errors import UsageError


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A contest with four teams, and uploads that are closed."""
    found = Store(contest(tmp_path / "cup"))
    for name in ("ann", "bob", "cid", "dan"):
        Team(found, name).submit("@random")
    close(found)
    return found


def close(store: Store) -> None:
    switches.set_switch(store, "uploads", "closed", None, "organiser Ada")


def test_the_seed_is_committed_before_and_anybody_can_check_it_afterwards(store: Store) -> None:
    committed = finals.commitment(store)
    assert finals.commitment(store) == committed, "it does not change until a final uses it"
    folder = finals.make(store, "cup", "knockout", "organiser Ada")
    (final,) = finals.finals(store.folder)
    assert final.hash == committed.hash and final.shown_secret == ""
    finals.end(store.folder, final)
    (final,) = finals.finals(store.folder)
    assert hashlib.sha256(final.shown_secret.encode()).hexdigest() == committed.hash
    plan = read_plan(folder / PLAN)
    hashes = [entry.hash for entry in plan.bots]
    digest = hashlib.sha256("\n".join([final.shown_secret, "cup", *sorted(hashes)]).encode()).digest()
    assert plan.seed == int.from_bytes(digest[:8], "big") >> 1
    assert committed.hash in (finals.check_seed(folder, plan) or "")
    assert finals.commitment(store).hash != committed.hash, "the next final has another secret"
    assert final.secret not in str([msgspec.to_builtins(each) for each in audited(store)])


def test_the_secret_of_the_next_final_is_in_a_file_of_its_own(store: Store) -> None:
    committed = finals.commitment(store)
    assert stat.S_IMODE((store.folder / finals.SECRET).stat().st_mode) == 0o600
    secret = msgspec.json.decode((store.folder / finals.SECRET).read_bytes())["secret"]
    assert committed.hash == finals._hash(secret)
    with sqlite3.connect(store.folder / FILE) as database:
        assert secret not in "\n".join(database.iterdump())


def test_another_seed_other_bots_or_another_secret_is_found(store: Store) -> None:
    folder = finals.make(store, "cup", "round-robin", "organiser Ada")
    plan = read_plan(folder / PLAN)

    def refused(changed: Plan) -> None:
        with pytest.raises(UsageError, match="and the committed secret makes"):
            finals.check_seed(folder, changed)

    refused(plan.replaced(seed=plan.seed + 1))
    refused(plan.replaced(bots=plan.bots[:-1]))
    facts = folder / finals.FACTS
    final = msgspec.json.decode(facts.read_bytes(), type=finals.Final)
    facts.write_bytes(msgspec.json.encode(msgspec.structs.replace(final, secret="0" * 64)))
    refused(plan)
    write_plan(plan.replaced(seed=1), folder / PLAN)
    assert "the committed secret makes" in referee(folder.parent, "tournament", "verify", folder, code=2)
    assert finals.check_seed(store.folder, read_plan(store.folder / PLAN)) is None


def test_a_final_is_between_the_versions_that_play_best_first(store: Store) -> None:
    plan = read_plan(store.folder / PLAN)
    gone = msgspec.structs.replace(plan.bots[0], absent=True)
    write_plan(plan.replaced(bots=(gone, *plan.bots[1:])), store.folder / PLAN)
    made = read_plan(finals.make(store, "all", "round-robin", "organiser Ada", games=4) / PLAN)
    assert {entry.name for entry in made.bots} == {"bob", "cid", "dan"} and made.games == 4
    made = read_plan(finals.make(store, "two", "knockout", "organiser Ada", first=2) / PLAN)
    assert len(made.bots) == 2 and made.format in BRACKETS and made.bots[0].name in ("bob", "cid", "dan")


@pytest.mark.parametrize(
    "words",
    [
        "add CUP late=@random",
        "withdraw CUP ann",
        "merge CUP other",
        "prepare teams --into CUP",
        "prepare teams --into CUP --game tictactoe",
        "run CUP",
        "run --ledger CUP",
        "run --ledger CUP --game tictactoe --format ladder --games 0 @random @baseline",
        "gate --ledger CUP --resume --game tictactoe @random @baseline",
    ],
)
def test_no_command_of_tournaments_changes_a_contest_or_its_final(words: str, store: Store) -> None:
    cup, verb = store.folder, [] if words.startswith("gate") else ["tournament"]
    final = finals.make(store, "cup", "swiss", "organiser Ada")
    (cup.parent / "teams").mkdir()
    before = {path: path.read_bytes() for path in cup.rglob("*") if path.is_file()}
    for folder in (cup, final):
        said = referee(cup.parent, *verb, *words.replace("CUP", str(folder)).split(), code=2)
        assert said.endswith(f"{folder} belongs to a contest, which only its own pages change: referee host {cup}\n")
    assert {path: path.read_bytes() for path in cup.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 61, "a\nb"])
def test_a_final_has_a_name_that_a_folder_can_have(name: str, store: Store) -> None:
    with pytest.raises(UsageError, match="expected up to 60 letters"):
        finals.make(store, name, "knockout", "organiser Ada")


def test_a_final_needs_closed_uploads_a_format_and_a_new_name(store: Store) -> None:
    with pytest.raises(UsageError, match="there is no format 'best'"):
        finals.make(store, "cup", "best", "organiser Ada")
    finals.make(store, "Cup", "knockout", "organiser Ada")
    with pytest.raises(UsageError, match="there is a final 'cup' already"):
        finals.make(store, "cup", "knockout", "organiser Ada")
    switches.set_switch(store, "uploads", "open", None, "organiser Ada")
    with pytest.raises(UsageError, match="uploads are open"):
        finals.make(store, "next", "knockout", "organiser Ada")
    assert [final.name for final in finals.finals(store.folder)] == ["Cup"]


def test_a_final_waits_until_every_version_has_its_verdict(store: Store) -> None:
    eve = Team(store, "eve")
    one, two = (versions.hand_in(store, eve.number, eve.member, "bot.zip", "uploads/2.zip") for _ in range(2))
    assert versions.next_to_check(store) == one, "one is being checked, the other one waits"
    with pytest.raises(UsageError, match="2 versions wait for a check; wait for the verdict, or cancel the check on"):
        finals.make(store, "cup", "round-robin", "organiser Ada")
    versions.cancel(store, one.id, "organiser Ada")
    with pytest.raises(UsageError, match="1 version waits for a check"):
        finals.make(store, "cup", "round-robin", "organiser Ada")
    versions.refuse(store, two, "it does not build")
    assert len(read_plan(finals.make(store, "cup", "round-robin", "organiser Ada") / PLAN).bots) == 4


def test_a_final_has_versions_that_were_accepted_a_moment_ago(store: Store) -> None:
    """Also those that the process that plays has not taken into the plan yet."""
    with claimed(store.folder):
        entry = Team(store, "eve").submit("@baseline")
        assert entry.name not in {each.name for each in read_plan(store.folder / PLAN).bots}
        made = read_plan(finals.make(store, "cup", "round-robin", "organiser Ada") / PLAN)
    assert {each.name for each in made.bots} == {"ann", "bob", "cid", "dan", "eve"}


@pytest.mark.slow
def test_a_final_is_played_before_the_ladder_goes_on_and_kills_lose_none_of_its_games(tmp_path: Path) -> None:
    cup = contest(tmp_path / "cup")
    store = Store(cup)
    slow = "import time\nplain = choose\ndef choose():\n    time.sleep(0.01)\n    return plain()\n"
    names = ("ann", "bob", "cid", "dan")
    entries = [Team(store, name).submit(drawing_bot(tmp_path, name, salt, slow)) for salt, name in enumerate(names)]
    idents = [entry.ident for entry in entries]
    process = play(cup)
    until(lambda: games_of(cup, idents), "a game of the ladder")
    close(store)
    folder = finals.make(store, "cup", "knockout", "organiser Ada", games=8)
    until(lambda: games_of(folder, idents) > 3, "games of the final")
    killed(process)
    before, ladder = games_of(folder, idents), games_of(cup, idents)
    with playing(cup):
        until(lambda: finals.waiting(cup) is None, "the end of the final")
        assert games_of(cup, idents) <= ladder + 1
        until(lambda: games_of(cup, idents) > ladder + 1, "the ladder again")
    keys = [line.k for _, line in reader.every_line(folder)]
    assert len(keys) == len(set(keys)) >= 3 * 5 and len(keys) >= before
    said = referee(tmp_path, "tournament", "verify", folder)
    assert "0 differ" in said and "its seed follows from its bots" in said, log(cup)


@pytest.mark.slow
def test_a_final_that_cannot_be_played_ends_with_a_reason(tmp_path: Path) -> None:
    cup = contest(tmp_path / "cup")
    store = Store(cup)
    for salt, name in enumerate(("ann", "bob")):
        Team(store, name).submit(drawing_bot(tmp_path, name, salt))
    close(store)
    folder = finals.make(store, "cup", "knockout", "organiser Ada")
    text = (folder / PLAN).read_text()
    (folder / PLAN).write_text(text.replace('bot = "cmd:', 'bot = "cmd:/nowhere'))
    with playing(cup):
        until(lambda: finals.waiting(cup) is None, "the end of the final")
    (final,) = finals.finals(cup)
    assert final.problem and "the final cup ends" in log(cup)


@pytest.mark.slow
def test_the_organiser_makes_a_final_and_everybody_sees_its_commitment(tmp_path: Path, browser: Browser) -> None:
    """Also on a projector, where nobody reloads the page."""
    made = Cup(tmp_path)
    with serving(made) as client, browser.new_page() as projector:
        projector.goto(f"{made.address}/finals")
        committed = finals.commitment(made.store).hash
        page = client.get("/finals").text
        assert committed in page and "Uploads are open" in page
        form = {"name": "Cup final", "format": "knockout", "games": "4", "first": "2"}
        organiser = made.headers("organiser") | {"origin": made.address}
        assert "uploads are open" in client.post("/organiser/final", data=form, headers=organiser).text
        close(made.store)
        for wrong in ({"games": "-1"}, {"games": "1e9"}, {"first": "many"}, {"format": "best"}, {"name": "<b>"}):
            assert client.post("/organiser/final", data=form | wrong, headers=organiser).status_code == 400
        with bot_archives.finding(["Red=@random"], "tictactoe") as (found,):
            hand_in(made.store.folder, Submit((found.entry,)))
        assert client.post("/organiser/final", data=form, headers=organiser).status_code == 303
        (final,) = finals.finals(made.store.folder)
        expect(projector.get_by_role("heading", name="Cup final")).to_be_visible(timeout=60_000)
        page, table = client.get("/finals").text, "/finals/Cup%20final/index.html"
        assert "Cup final" in page and table in page and final.secret not in page and page.count(committed) == 1
        assert finals.commitment(made.store).hash in page and "Blue" in client.get(table).text
        switches.set_switch(made.store, "table", "frozen", None, "organiser Ada")
        assert client.get(table).status_code == 403 and table not in client.get("/finals").text
        assert "Blue" in client.get(table, headers=organiser).text
        finals.end(made.store.folder, final)
        assert final.secret in client.get("/finals").text
