"""Every forger that a ladder has to fear, and the message that its maintainer gets."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from ladders import HOUR, Cup, bot_files, honest, signature, turned

from referee.addons.ladder import chain, change, pages
from referee.addons.ladder.beacon import next_round
from referee.addons.ladder.change import BotChange, Claimed, HandedIn, Refused
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.draw import BotVersion, DrawnGame, new_games
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.merging import merge_of
from referee.addons.ladder.playing import BRANCH, Task, runner_file
from referee.addons.ladder.records import (
    Claim,
    StageKind,
    batch_path,
    batch_text,
    claim_path,
    hash_of,
    line_of,
    read_batch,
    seal_path,
)
from referee.addons.ladder.table import table_of
from referee.addons.ladder.verifying import problems
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow
RUNNERS = (("one", "ann"), ("two", "ann"), ("three", "ben"), ("four", "cleo"), ("five", "dan"))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A ladder of three modules, whose batches of up to eight games are proved whole, with two runners."""
    with Cup(tmp_path_factory.mktemp("three") / "cup", whole=8) as cup:
        cup.add_bots("ada bob cyd")
        cup.add_runner("laptop", "ann")
        cup.add_runner("tower", "ben")
        yield cup


@pytest.fixture
def cup(three: Cup) -> Iterator[Cup]:
    with three.back() as cup:
        yield cup


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cup]:
    """A ladder of two native programs. Ann has two runners."""
    with Cup(tmp_path_factory.mktemp("programs") / "cup") as cup:
        cup.add_bots("ada bob", module=False)
        for runner, owner in RUNNERS:
            cup.add_runner(runner, owner)
        yield cup


@pytest.fixture
def natives(programs: Cup) -> Iterator[Cup]:
    with programs.back() as cup:
        yield cup


@contextmanager
def refused(words: str) -> Iterator[None]:
    with pytest.raises(Refused) as refusal:
        yield
    text = str(refusal.value)
    assert re.search(words, text), text
    assert "\n" not in text


def drawn(cup: Cup, hash: str) -> tuple[str, str]:
    """Returns the runners that seal a claim: its own, and that of the owner whom the beacon draws."""
    (stage,) = cup.at_play().chain.stages(hash, cup.now)
    runners = [next(name for name, own in cup.owners.items() if own == owner) for owner in stage.owners]
    return runners[0], runners[1]


def sealed(cup: Cup, play: Callable[..., bytes] = honest) -> tuple[str, str, str]:
    """Claims games that both owners seal, the first one as `play` says. Returns the claim and their runners."""
    hash = cup.claim("one")
    first, second = drawn(cup, hash)
    cup.do(first, hash, play)
    cup.do(second, hash)
    return hash, first, second


# Nobody chooses games.


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"games": 3}, "claims 3 games; expected a multiple of 2 up to 8"),
        ({"games": 200}, "claims 200 games; expected a multiple of 2 up to 8"),
        ({"games": 0}, "version, games or owner are out of range"),
        ({"claim": 1}, "version, games or owner are out of range"),
        ({"owner": "Ann"}, "version, games or owner are out of range"),
        ({"bots": "0" * 40}, "its bots or rules are those of none of the last 64 commits"),
        ({"bots": "../x"}, "`bots`, `rules` or `owner` are wrong"),
        ({"rules": "0" * 40}, "its bots or rules are those of none of the last 64 commits"),
        ({"round": 1}, "it names round 1, and its time gives round"),
        ({"round": 0}, "it names round 0, and its time gives round"),
        ({"round": 1 << 39}, "nobody chooses games"),
        ({"round": -1}, "`at` is no time, or `round` no round"),
    ],
    ids=str,
)
def test_a_claim_follows_from_its_time(cup: Cup, changes: dict[str, object], words: str) -> None:
    with refused(words):
        cup.check(cup.claimed_with("laptop", **changes))


def test_a_claim_is_merged_before_its_round_is_out(cup: Cup) -> None:
    head = cup.claimed("laptop")
    assert isinstance(cup.check(head), Claimed)
    cup.now += 299
    assert isinstance(cup.check(head), Claimed)
    cup.now += 62
    with refused("is out since .* s: nobody claims known games; claim again"):
        cup.check(head)


def test_a_claim_that_a_maintainer_merges_late_shows(cup: Cup) -> None:
    head = cup.claimed("laptop")
    ladder, errand = change.check_change(cup.repository, cup.head, head, "x", cup.now)
    cup.now += 400
    cup.set(merge_of(ladder, errand, head, cup.now))
    assert any("is out since" in each for each in problems(cup.ladder()))


def test_a_late_merge_with_a_chosen_date_shows_when_a_later_round_was_merged_before_it(cup: Cup) -> None:
    head, early = cup.claimed("laptop"), cup.now + 100
    cup.now += 60
    hash = cup.claim("tower")
    cup.do("tower", hash)  # has the signature of a round after that of the laptop's claim
    ladder = cup.ladder()
    content = next(cup.repository.read([f"{head}:{claim_path('laptop', 1)}"]))
    cup.set(
        commit_files(ladder.repository, cup.head, {claim_path("laptop", 1): content}, "Claim", merged=head, at=early)
    )
    assert any("somebody chose that" in each for each in problems(cup.ladder()))


def test_a_batch_that_is_dated_before_its_round_shows(cup: Cup) -> None:
    hash = cup.claim("laptop")
    at = cup.ladder().chain.merged[hash]
    head = cup.hand_in("laptop", hash)
    ladder, errand = change.check_change(cup.repository, cup.head, head, "x", cup.now)
    cup.set(merge_of(ladder, errand, head, at + 5))
    assert any("it was merged before round" in each for each in problems(cup.ladder()))


def test_a_runner_that_tries_times_of_its_claim_chooses_no_games(cup: Cup) -> None:
    """It tries times until the newest round draws the pair that it wants. Its claim is merged, and draws others."""
    ladder = cup.ladder()
    known = signature(ladder.beacon.round_at(cup.now))
    claims = [
        Claim(2, "laptop", "ann", 1, ladder.bots_id, ladder.settings_id, 2, at, next_round(ladder.beacon, at, 300))
        for at in range(cup.now - 200, cup.now + 900)
    ]
    hashes = {hash_of(line_of(claim) + b"\n"): claim for claim in claims}
    wanted = {hash: new_games(known, hash, 2, 3, 2) for hash in hashes}
    wanted = {hash: games for hash, games in wanted.items() if games[0].bots == (0, 1)}
    drawn = {hash: new_games(signature(hashes[hash].round), hash, 2, 3, 2) for hash in wanted}
    assert len(wanted) > 100 and sum(games[0].bots == (0, 1) for games in drawn.values()) < len(wanted) / 3
    assert all(games[0].seed != wanted[hash][0].seed for hash, games in drawn.items())
    chosen = next(iter(wanted))
    cup.merge(cup.signed("laptop", claim_path("laptop", 1), line_of(hashes[chosen]) + b"\n"))
    cup.now += 400
    assert cup.at_play().games_of(chosen, cup.now)[1] == drawn[chosen]


def test_nothing_but_the_round_and_the_claim_enters_a_draw(cup: Cup) -> None:
    """Bytes of batches, seals, commits, signatures and names of branches change nothing."""
    hash = cup.claim("laptop")
    before = cup.at_play().games_of(hash, cup.now)
    cup.maintain({"README.md": b"other"})
    cup.do("laptop", hash, lambda game, bots, runner: honest(game, bots, runner).replace(b" ", b" 1", 1))
    assert cup.at_play().games_of(hash, cup.now) == before
    cup.repository.run("update-ref", f"refs/heads/{BRANCH}/other", cup.head)
    assert cup.ladder().games_of(hash)[1] == before[1]


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda right, cup: signature(1), "is none of round|are not those of the rounds"),
        (lambda right, cup: SigningKey(sha256(b"other").digest()).sign(b"x" * 22), "are not those of the rounds"),
        (lambda right, cup: right[:-1] + bytes([right[-1] ^ 1]), "are not those of the rounds"),
        (lambda right, cup: bytes(64), "are not those of the rounds"),
        (lambda right, cup: right + right, "are not those of the rounds"),
    ],
    ids=["an old round", "a false beacon", "a bit", "nothing", "too long"],
)
@pytest.mark.parametrize("native", [False, True])
def test_a_wrong_signature_of_the_beacon_is_refused(
    native: bool, cup: Cup, natives: Cup, forge: Callable[[bytes, Cup], bytes], words: str
) -> None:
    cup, runner = (natives, "one") if native else (cup, "laptop")
    hash = cup.claim(runner)
    task = cup.task(runner, hash)
    stage = msgspec.structs.replace(task.stage, signatures=(forge(task.stage.signatures[0], cup),))
    task = Task(hash, task.claim, stage, task.ready)
    made = cup.signed_by(runner, task, cup.lines(runner, cup.task(runner, hash)))
    with refused(words):
        cup.check(cup.commit_of(runner, task, made))


def test_nobody_plays_before_the_round_is_out(cup: Cup) -> None:
    hash = cup.claim("laptop")
    head = cup.hand_in("laptop", hash)
    cup.now -= 200
    with refused("of the beacon is not out yet; wait for it, then play"):
        cup.check(head)


# Nobody keeps results back.


def longer(game: DrawnGame, bots: tuple[BotVersion, ...], runner: str) -> bytes:
    """Says that a game had more turns than it had."""
    ranks, turns, rest = honest(game, bots, runner).split(b" ", 2)
    return b" ".join([ranks, str(int(turns) + 1000).encode(), rest])


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (lambda lines: lines[:-1], "has 7 games; expected 8: nobody keeps results back"),
        (lambda lines: [*lines, lines[0]], "has 9 games; expected 8"),
        (lambda lines: [], "has 0 games; expected 8"),
        (lambda lines: [b"machine-failed", *lines[1:]], "game 1 is 'machine-failed'; expected ranks"),
        (lambda lines: [b"13" + lines[0][2:], *lines[1:]], "game 1 is no result of 2 bots"),
        (lambda lines: [b"123" + lines[0][2:], *lines[1:]], "game 1 is no result of 2 bots"),
        (lambda lines: [lines[0] + b" 2timeout", *lines[1:]], "game 1 has a fault of a seat that is not there"),
        (lambda lines: [lines[0].rsplit(b" ", 1)[0] + b" 1", *lines[1:]], "game 1 is no result of 2 bots"),
        (
            lambda lines: [re.sub(rb"([0-9a-f]{32})", rb"\1:01234567", lines[0]), *lines[1:]],
            "a game of modules has none",
        ),
    ],
)
def test_a_batch_has_every_game_of_its_claim_and_a_result_that_can_be(
    cup: Cup, forge: Callable[[list[bytes]], list[bytes]], words: str
) -> None:
    hash = cup.claim("laptop")
    lines = cup.lines("laptop", cup.task("laptop", hash))
    with refused(words):
        cup.check(cup.hand_in("laptop", hash, lines=forge(lines)))


def test_a_runner_that_hands_in_only_what_it_likes_is_shown_and_may_not_go_on(cup: Cup) -> None:
    lapsed = []
    for _ in range(3):
        lapsed.append(cup.claim("laptop"))
        cup.now += 8 * HOUR
    with pytest.raises(UsageError, match="ann let 3 claims or seals lapse within 7 days"):
        cup.claimed("laptop")
    cup.play("tower")
    row = next(row for row in table_of(cup.ladder(), use_cache=False).runners if row.name == "laptop")
    assert (row.claims, row.lapsed, row.games) == (3, 3, 0)
    cup.now += 7 * 24 * HOUR
    cup.check(cup.claimed("laptop"))


def test_games_of_a_lapsed_claim_are_drawn_for_somebody_else_with_the_same_seeds(cup: Cup) -> None:
    hash = cup.claim("laptop")
    games = cup.at_play().games_of(hash, cup.now)
    cup.now += 7 * HOUR
    assert cup.tasks("laptop") == []
    (task,) = cup.tasks("tower")
    cup.now = max(cup.now, task.ready)
    assert (task.hash, task.stage.kind) == (hash, StageKind.PLAY)
    cup.do("tower", hash)
    ladder = cup.ladder()
    assert ladder.games_of(hash) == games and not list(problems(ladder))
    assert table_of(ladder, use_cache=False).games == 8


# Seals.


def test_an_honest_game_of_programs_counts_when_both_owners_have_opened_their_seals(natives: Cup) -> None:
    cup = natives
    hash, first, second = sealed(cup)
    assert (
        table_of(cup.ladder(), use_cache=False).waits[0].words
        == "8 games opened by 0 of 2 owners; the others open them"
    )
    cup.do(first, hash)
    assert table_of(cup.ladder(), use_cache=False).games == 0
    cup.do(second, hash)
    table = table_of(cup.ladder(), use_cache=False)
    assert (table.games, table.waiting, table.disputed, table.waits) == (8, 0, 0, ())
    assert {row.witnessed for row in table.rows} == {8} and not list(problems(cup.ladder()))


def test_nobody_opens_before_all_have_sealed_and_a_team_sees_what_its_bot_waits_for(
    natives: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = natives
    hash = cup.claim("one")
    first, second = drawn(cup, hash)
    task = cup.task(first, hash)
    made = cup.signed_by(first, task, cup.lines(first, task))
    cup.do(first, hash)
    wait = table_of(cup.ladder(), use_cache=False).waits[0]
    assert wait.words == "8 games sealed by 1 of 2 owners; they open" and wait.bots == ("ada", "bob")
    opening = cup.commit({batch_path(task.claim, first): made.batch})
    with refused("the beacon has not drawn ann for this"):
        cup.check(opening)
    with monkeypatch.context() as clock:
        clock.setattr("referee.addons.ladder.cli.show.time.time", lambda: cup.now)
        assert main(["ladder", "show", "main", "--folder", str(cup.repository.folder)]) == 0
    words = "one, claim 1 (ada, bob): 8 games sealed by 1 of 2 owners; they open in 6 hours at the latest"
    assert words in " ".join(capsys.readouterr().out.split())
    pages.write(cup.ladder(), table_of(cup.ladder(), use_cache=False), tmp_path / "site")
    assert "8 games sealed by 1 of 2 owners" in (tmp_path / "site" / "bots" / "ada.html").read_text("utf-8")
    cup.do(second, hash)
    assert isinstance(cup.check(cup.commit({batch_path(task.claim, first): made.batch})), HandedIn)


def test_a_copied_seal_cannot_be_opened_and_a_copied_salt_is_struck(natives: Cup) -> None:
    """Ben copies Ann's seal without playing a game, and opens it with her answers and her salt."""
    cup = natives
    hash = cup.claim("one")
    first, second = drawn(cup, hash)
    cup.do(first, hash)
    task, theirs = cup.task(second, hash), cup.ladder().chain.seals[hash]["ann"].seal
    copy = msgspec.structs.replace(theirs, runner=second, owner=cup.owners[second])
    cup.merge(cup.signed(second, seal_path(task.claim, second), line_of(copy) + b"\n"))
    cup.now += 60
    cup.do(first, hash)
    opened = read_batch(next(cup.repository.read([cup.ladder().chain.results[hash]["ann"].blob])), f"{first}.txt")
    head = msgspec.structs.replace(opened.head, runner=second, owner=cup.owners[second])
    errand = cup.merge(cup.signed(second, batch_path(task.claim, second), batch_text(head, opened.lines)))
    assert isinstance(errand, HandedIn) and errand.is_lie
    table = table_of(cup.ladder(), use_cache=False)
    assert next(row.state for row in table.runners if row.name == second) == "struck"
    assert f"{cup.owners[second]} has lied about what it had sealed" in table.notes[0]
    assert not list(problems(cup.ladder()))


def test_a_seal_that_is_opened_otherwise_strikes_its_owner_and_others_are_drawn(natives: Cup) -> None:
    """Ann sees that Ben saw another result than she had forged, and opens his."""
    cup = natives
    hash, first, second = sealed(cup, turned)
    cup.do(second, hash)
    errand = cup.merge(cup.hand_in(first, hash))
    assert isinstance(errand, HandedIn) and errand.is_lie
    cup.now -= 5  # whose clock is behind that of the merge has nothing to do either
    assert cup.tasks(first) == []
    cup.now += 65
    with pytest.raises(UsageError, match="ann has lied, and its runners may not claim"):
        cup.claimed("two")
    cup.finish(hash)
    table = table_of(cup.ladder(), use_cache=False)
    assert table.games == 8 and not list(problems(cup.ladder()))
    assert cup.ladder().chain.results[hash].keys().isdisjoint({"ann"})


def test_a_withheld_opening_lapses_and_another_owner_is_drawn(natives: Cup) -> None:
    cup = natives
    hash, first, second = sealed(cup, turned)
    cup.do(second, hash)
    cup.now += 7 * HOUR
    cup.do("five" if second != "five" else "four", cup.claim("five" if second != "five" else "four"))
    cup.finish(hash)
    table = table_of(cup.ladder(), use_cache=False)
    row = next(row for row in table.runners if row.name == first)
    assert (row.missed, row.games) == (1, 0)
    assert len(cup.ladder().chain.results[hash]) == 2 and not list(problems(cup.ladder()))


def test_a_runner_that_alters_a_result_or_slows_a_bot_is_outvoted(natives: Cup) -> None:
    """Its seal is what it opens, so nobody can say yet who lies: a third owner is drawn."""
    cup = natives
    for play in (turned, lambda *game: honest(*game) + b" 1timeout", longer):
        before = table_of(cup.ladder(), use_cache=False).games
        hash, first, second = sealed(cup, play)
        cup.do(first, hash, play)
        cup.do(second, hash)
        cup.finish(hash)
        ladder = cup.ladder()
        table = table_of(ladder, use_cache=False)
        owners = ladder.chain.results[hash]
        assert not list(problems(ladder))
        if len(owners) == 3:
            assert table.games == before + 8 and table.disputed == 0
            row = next(row for row in table.runners if row.name == first)
            assert row.agree < row.shared
        else:  # of a bot's time, its witnesses do not agree before the course tells
            assert play not in (turned, longer)


def test_owners_are_drawn_until_twice_as_many_as_are_needed_have_opened(natives: Cup) -> None:
    """All of them see something else, as with a program that answers at random. A sixth owner plays no more."""
    cup = natives
    cup.add_runner("six", "eve")

    def at_random(game: DrawnGame, bots: tuple[BotVersion, ...], runner: str) -> bytes:
        return re.sub(rb"[0-9a-f]{32}", sha256(runner.encode()).hexdigest()[:32].encode(), honest(game, bots, runner))

    hash = cup.play("one", at_random)
    ladder = cup.ladder()
    assert len(ladder.chain.results[hash]) == 4 and ladder.chain.stages(hash, ladder.chain.now)[-1].end is not None
    assert len({*cup.owners.values()}) == 5 and not list(problems(ladder))


def test_if_nobody_is_free_a_claim_waits_for_somebody(cup: Cup) -> None:
    hash = cup.claim("laptop")
    cup.now += 20 * HOUR  # both owners let it lapse
    assert not cup.tasks("laptop") and not cup.tasks("tower")
    cup.add_runner("third", "cleo")
    cup.finish(hash)
    assert cup.ladder().chain.results[hash].keys() == {"cleo"} and not list(problems(cup.ladder()))


def test_a_claim_that_nobody_plays_ends_after_some_draws(natives: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "MOST_STAGES", 2)
    hash = natives.claim("one")
    natives.now += 20 * HOUR
    stages = natives.at_play().chain.stages(hash, natives.now)
    assert [stage.kind for stage in stages] == [StageKind.SEAL] * 2 and stages[-1].end is not None


def test_two_runners_of_one_owner_are_no_witnesses(natives: Cup) -> None:
    """Nor if the second one's owner is written otherwise: a forge does not look at capitals."""
    cup = natives
    cup.maintain(runner_file("two", cup.keys["two"], "Ann"))
    for _ in range(4):
        hash = cup.claim("one")
        stages = cup.at_play().chain.stages(hash, cup.now)
        assert stages[0].owners[0] == "ann" and len({*stages[0].owners}) == 2
        task = cup.task("two", hash)  # ann's other runner may seal instead
        cup.do("one", hash)
        made = cup.signed_by("two", task, cup.lines("two", task))
        with refused("ann has handed this in already; two runners of one owner are one"):
            cup.check(cup.commit_of("two", task, made))
        cup.finish(hash)


# Others' files, and what was handed in.


def test_an_author_changes_no_rivals_folder(cup: Cup) -> None:
    mine = cup.commit(bot_files("ada", version=2, owner="owner-of-ada"))
    assert cup.check(mine, "owner-of-ada") == BotChange("ada", cup.repository.id_of(mine, "bots/ada"))
    with refused("bots/ada belongs to owner-of-ada, not to eve; use a folder of your own"):
        cup.check(cup.commit(bot_files("ada", version=2, owner="eve")), "eve")
    with refused('add the line `owner = \\["eve"\\]`'):
        cup.check(cup.commit(bot_files("new")), "eve")
    with refused("is the same as bots/ada; enter a program of your own"):
        files = {path.replace("ada", "new"): data for path, data in bot_files("ada").items()}
        cup.check(cup.commit(files), "owner-of-ada")
    with refused("there is a bot ada; choose a name that differs in more than capitals"):
        cup.check(cup.commit(bot_files("ADA", owner="eve")), "eve")
    with refused("a name has 1 to 40 letters"):
        cup.check(cup.commit(bot_files("аda", owner="eve")), "eve")  # a Cyrillic letter
    with refused("bots/ada belongs to owner-of-ada, not to eve"):
        cup.check(cup.commit({"bots/ada/.gitattributes": b"* -text"}), "eve")


def test_an_owner_enters_only_so_many_bots_and_takes_nobody_elses_places(cup: Cup) -> None:
    """Otherwise a rival who is named as an owner of many bots could enter none."""

    def bot(name: str, *owners: str, version: int = 1) -> dict[str, bytes]:
        files = bot_files(name, owner="eve", version=version)
        files[f"bots/{name}/bot.toml"] = f'run = ["bot.wasm"]\nowner = {[*owners]}\n'.encode()
        return files

    for number in range(3):
        cup.maintain(bot(f"new{number}", "eve", "ben"))
    with refused("eve has new0, new1, new2 already; an owner may have 3 bots: change one"):
        cup.check(cup.commit(bot("more", "eve")), "eve")
    with refused("the first owner is ben, among whose bots it would count; put eve first"):
        cup.check(cup.commit(bot("more", "ben", "eve")), "eve")
    with refused("the first owner is zoe, among whose bots it would count; put eve first"):
        cup.check(cup.commit(bot("new0", "zoe", "eve")), "eve")
    for author, files in (("eve", bot("new0", "eve", "ben", version=2)), ("ben", bot("more", "ben"))):
        assert isinstance(cup.check(cup.commit(files), author), BotChange)


def test_only_bots_whose_games_everybody_can_repeat_may_enter(cup: Cup) -> None:
    with refused("limit the search by nodes instead of the clock, and add the line `deterministic = true`"):
        cup.check(cup.commit(bot_files("new", module=False, repeats=False, owner="eve")), "eve")
    cup.maintain(bot_files("new", module=False, repeats=False, owner="eve"))
    assert "new" not in [bot.name for bot in cup.ladder().bots], "a maintainer's commit does not help"


def test_a_pull_request_changes_no_workflow_and_no_rule(cup: Cup) -> None:
    for path in (".github/workflows/submit.yml", "ladder.toml", "README.md", "runners/eve.toml", "witnesses.toml"):
        with refused("a maintainer changes everything else"):
            cup.check(cup.commit({path: b"run: curl evil"}), "eve")
    files = bot_files("new", owner="eve") | {".github/workflows/submit.yml": b"run: curl evil"}
    with refused("a maintainer changes everything else"):
        cup.check(cup.commit(files), "eve")
    with refused("touches bots/new, bots/other; make one for each"):
        cup.check(cup.commit(bot_files("new", owner="eve") | bot_files("other", owner="eve")), "eve")


def test_what_was_handed_in_never_changes(natives: Cup) -> None:
    cup = natives
    hash = cup.play("one")
    claim = cup.ladder().chain.claims[hash]
    for path in (claim_path("one", 1), seal_path(claim, "one"), batch_path(claim, "one")):
        with refused(f"{path} was handed in and never changes"):
            cup.check(cup.commit({path: b"other"}))


def test_an_entry_that_a_maintainer_removes_or_changes_is_named(cup: Cup) -> None:
    hash = cup.play("laptop")
    path = batch_path(cup.ladder().chain.claims[hash], "laptop")
    cup.set(commit_files(cup.repository, cup.head, {}, "gone", folder=("games/laptop", "")))
    assert any(each.startswith(f"{path} was changed or removed") for each in problems(cup.ladder()))


def test_a_batch_of_another_runner_is_not_handed_in_again(cup: Cup) -> None:
    hash = cup.claim("tower")
    task = cup.task("tower", hash)
    content = cup.signed_by("tower", task, cup.lines("tower", task)).batch
    with refused("version, runner or claim are wrong"):
        cup.check(cup.commit({batch_path(task.claim, "laptop"): content}))
    text = content.replace(b'"runner":"tower"', b'"runner":"laptop"')
    with refused("runner laptop belongs to ann, not to ben"):
        cup.check(cup.commit({batch_path(task.claim, "laptop"): text}))
    with refused("it was not signed with the key of runner tower"):
        cup.check(cup.commit({batch_path(task.claim, "tower"): content.replace(b" ", b" 1", 1)}))
    with refused("a runner hands in its own files"):
        cup.check(cup.commit({"games/laptop/000001/tower.txt": content}))


def test_games_by_other_versions_are_refused_with_the_command_that_installs_the_right_ones(cup: Cup) -> None:
    hash = cup.claim("laptop")
    task = cup.task("laptop", hash)
    made = cup.signed_by("laptop", task, cup.lines("laptop", task))
    signed = made.batch.rsplit(b"\n", 2)[0] + b"\n"
    other = signed.replace(b"wasmtime ", b"wasmtime 1.")
    with refused("it was played by 'referee .*, wasmtime 1.*; to install them: pip install .referee"):
        cup.check(cup.signed("laptop", batch_path(task.claim, "laptop"), other))


def test_a_rewritten_history_shows_in_a_clone_that_has_the_old_one(cup: Cup) -> None:
    start = cup.head
    cup.play("laptop")
    cup.play("tower")
    seen = cup.head
    cup.set(start)  # a force push
    cup.now += 60
    cup.play("laptop", turned)
    assert main(["ladder", "verify", "main", "--seen", seen, "--folder", str(cup.repository.folder)]) == 1
    found = list(problems(cup.ladder(), seen))
    assert any("claims/laptop/000001.json is not what it was" in each and "rewrote" in each for each in found)
    assert any("games/tower/000001/tower.txt" in each for each in found)
    assert not list(problems(cup.ladder())), "without an older clone or a checkpoint nothing shows"


def test_dating_a_clock_ahead_is_refused(cup: Cup) -> None:
    with refused("its clock is .* s ahead of that of the merge"):
        head = cup.claimed_with(
            "laptop", at=cup.now + 5000, round=cup.ladder().beacon.round_at(cup.now + 5300 // 60 * 60)
        )
        cup.check(head)
    cup.play("laptop")
    head = cup.claimed("laptop")
    cup.now -= 2000
    with refused("the ladder's newest merge is .* s in the future; set this clock"):
        cup.check(head)


def test_an_old_list_of_bots_may_not_be_looked_for(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """With an old list, a runner would leave out a rival."""
    monkeypatch.setattr(change, "STALE", 3)
    old = cup.ladder().bots_id
    cup.add_bots("dan")
    cup.check(cup.claimed_with("laptop", bots=old))
    for number in range(3):
        cup.maintain({"README.md": str(number).encode()})
    with refused("those of none of the last 3 commits"):
        cup.check(cup.claimed_with("laptop", bots=old))


@pytest.mark.usefixtures("tmp_path")
def test_a_maintainers_ladder_without_network_draws_from_its_merges(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", beacon='beacon = "merge"\n') as cup:
        cup.add_bots("ada bob", module=False)
        for runner, owner in RUNNERS:
            cup.add_runner(runner, owner)
        first, second = cup.play("one"), cup.play("four")
        ladder = cup.ladder()
        assert not list(problems(ladder)) and table_of(ladder, use_cache=False).games == 16
        assert ladder.games_of(first)[1] != ladder.games_of(second)[1]
        with refused("it names round 7, and the merge draws its games"):
            cup.check(cup.claimed_with("one", round=7))
        task_of = cup.claim("three")
        task = cup.task("three", task_of)
        stage = msgspec.structs.replace(task.stage, signatures=(bytes(32),))
        made = cup.signed_by("three", Task(task_of, task.claim, stage, 0), cup.lines("three", task))
        with refused("its signatures are not those"):
            cup.check(cup.commit_of("three", task, made))
        with refused("it was signed 1,000 s before its merge; 900 s are allowed"):
            cup.check(cup.claimed_with("one", at=cup.now - 1000, round=0))
        cup.add_runner("six", "eve")  # a commit of a maintainer, without random bytes
        cup.now += 9 * HOUR
        cup.finish(task_of)
        assert not list(problems(cup.ladder())) and len(cup.ladder().chain.results[task_of]) == 2
