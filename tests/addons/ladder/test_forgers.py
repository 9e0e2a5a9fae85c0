"""Every forger that a ladder has to fear, and the message that its maintainer gets."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from ladders import HOUR, Cup, bot_files, honest

from referee.addons.ladder import change, playing, verifying
from referee.addons.ladder.change import BotChange, Claimed, HandedIn, Refused
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.merging import merge_of
from referee.addons.ladder.reading import Strike, strike_path
from referee.addons.ladder.records import Part, batch_path, claim_path, line_of, read_claim
from referee.addons.ladder.table import table_of
from referee.addons.ladder.verifying import problems
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow


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
    """A ladder of two native programs that say that they are deterministic. Ann has two runners."""
    with Cup(tmp_path_factory.mktemp("programs") / "cup") as cup:
        cup.add_bots("ada bob", module=False, deterministic=True)
        for runner, owner in (("one", "ann"), ("two", "ann"), ("three", "ben"), ("four", "cleo")):
            cup.add_runner(runner, owner)
        yield cup


@pytest.fixture
def natives(programs: Cup) -> Iterator[Cup]:
    with programs.back() as cup:
        yield cup


def longer(game: DrawnGame, bots: tuple[BotVersion, ...], claim: str) -> bytes:
    """Says that a game had more turns than it had."""
    ranks, turns, rest = honest(game, bots, claim).split(b" ", 2)
    return b" ".join([ranks, str(int(turns) + 1000).encode(), rest])


@contextmanager
def refused(words: str) -> Iterator[None]:
    with pytest.raises(Refused) as refusal:
        yield
    text = str(refusal.value)
    assert re.search(words, text), text
    assert "\n" not in text


def test_an_honest_runner_claims_plays_and_hands_in(cup: Cup) -> None:
    assert isinstance(cup.merge(cup.claimed("laptop")), Claimed)
    errand = cup.merge(cup.batch("laptop"))
    assert isinstance(errand, HandedIn) and errand.places == (0, 1, 2, 3, 4, 5, 6, 7)  # the check plays all again
    table = table_of(cup.ladder(), use_cache=False)
    assert table.games == 8 and table.runners[0].games == 8 and list(problems(cup.ladder())) == []


def test_nobody_keeps_a_game_back(cup: Cup) -> None:
    cup.merge(cup.claimed("laptop"))
    lines = cup.lines(cup.open("laptop"))
    with refused("has 7 games, and its claim 8: nobody keeps results back; hand in every game"):
        cup.check(cup.batch("laptop", lines[:7]))


def test_a_game_cannot_end_as_machine_failed(cup: Cup) -> None:
    cup.merge(cup.claimed("laptop"))
    lines = cup.lines(cup.open("laptop"))
    for line in (b"machine failed", b"-", b"", lines[0] + b" machine failed"):
        with refused("game 1 is .*; expected ranks, turns, hashes and costs"):
            cup.check(cup.batch("laptop", [line, *lines[1:]]))


def test_a_game_has_a_result_that_can_be(cup: Cup) -> None:
    cup.merge(cup.claimed("laptop"))
    lines = cup.lines(cup.open("laptop"))
    for ranks in (b"22", b"13", b"1", b"121", b"00"):
        with refused("game 1 is"):
            cup.check(cup.batch("laptop", [ranks + lines[0][2:], *lines[1:]]))


def test_a_runner_that_hands_in_only_what_it_likes_is_shown_and_may_not_go_on(cup: Cup) -> None:
    """It tries ten times: it never hands in games that it does not like."""
    for _ in range(3):
        cup.merge(cup.claimed("laptop"))
        cup.now += 7 * HOUR
        cup.merge(cup.claimed("tower"))  # the clock of the ladder is that of its newest entry
        cup.merge(cup.batch("tower"))
    for _ in range(7):
        cup.now += HOUR
        with pytest.raises(UsageError, match="runner laptop let 3 claims lapse within 7 days: it may claim again when"):
            cup.claimed("laptop")
    ladder = cup.ladder()
    honest_step = playing.claim(ladder, "tower", cup.keys["tower"], 8, cup.now)
    claim, _, _ = read_claim(cup.claim_file("tower", 4, honest_step.commit), claim_path("tower", 4))
    own = msgspec.structs.replace(claim, runner="laptop", owner="ann", part=Part.NEW, of="", games=8)
    signed = line_of(own) + b"\n"
    with refused("claims/laptop/000004.json: runner laptop let 3 claims lapse"):
        cup.check(cup.signed("laptop", claim_path("laptop", 4), signed))
    row = table_of(cup.ladder(), use_cache=False).runners[0]
    assert (row.name, row.lapsed, row.games) == ("laptop", 3, 0)


def test_lapsed_games_are_drawn_for_somebody_else_with_the_same_seeds(cup: Cup) -> None:
    cup.merge(cup.claimed("laptop"))
    lost = cup.open("laptop")
    cup.now += 7 * HOUR
    cup.add_runner("third", "cleo")
    cup.play("third")  # new games, since the ladder's clock has not moved yet
    cup.merge(cup.claimed("tower"))
    ladder = cup.ladder()
    again = ladder.chain.claims[cup.open("tower")]
    assert again.of == lost and ladder.games_of(again) == ladder.games_of(ladder.chain.claims[lost])
    cup.merge(cup.batch("tower"))
    assert table_of(cup.ladder(), use_cache=False).games == 16


def test_games_that_come_late_are_refused(cup: Cup) -> None:
    cup.merge(cup.claimed("laptop"))
    hash, lines = cup.open("laptop"), cup.lines(cup.open("laptop"))
    late = playing.batch(cup.ladder(), hash, cup.keys["laptop"], lines, cup.now + 6 * HOUR + 60).commit
    cup.now += 6 * HOUR + 60
    with refused("it was handed in 60 s after its time; claim again"):
        cup.check(late)


def test_dating_games_back_helps_for_a_day_at_most(cup: Cup) -> None:
    cup.merge(cup.claimed("laptop"))
    batch = cup.batch("laptop")
    cup.now += 25 * HOUR
    with refused("it was signed 25 hours ago; a file waits 24 at most"):
        cup.check(batch)


def test_a_clock_that_is_ahead_is_refused(cup: Cup) -> None:
    cup.now += HOUR
    claim = cup.claimed("laptop")
    cup.now -= HOUR
    with refused("its clock is 3,600 s ahead; set it"):
        cup.check(claim)


def test_nobody_chooses_games(cup: Cup) -> None:
    """A claim from another head, of other bots or of other games than the chain draws."""
    old = cup.head
    cup.play("tower")
    cup.merge(cup.claimed("laptop"))
    cup.merge(cup.batch("laptop"))
    text = cup.claim_file("laptop", 1, cup.head).split(b"\n")[0]
    record = json.loads(text)
    path = claim_path("laptop", 2)

    def claim(**changes: object) -> str:
        ladder = cup.ladder()
        members = record | {"number": 2, "after": list(ladder.chain.tips()), "at": cup.now} | changes
        return cup.signed("laptop", path, json.dumps(members, separators=(",", ":")).encode() + b"\n")

    cup.check(claim())
    with refused("was drawn from a head, bots or rules that are none of the last 64 merges"):
        cup.check(claim(bots=cup.repository.id_of(cup.head, "runners")))
    with refused("at its head, the next claim of laptop has the number 1; claims have no gaps"):
        cup.check(claim(after=list(cup.ladder(old).chain.tips())))
    with refused("names the entry aaaaaaaaaaaa, which the ladder has not"):
        cup.check(claim(after=["a" * 64]))
    with refused("the chain draws new games for it; nobody chooses games"):
        cup.check(claim(part="again", of=next(iter(cup.ladder().chain.claims)), games=0))
    with refused("claims 9 games; expected a multiple of 2 up to 8"):
        cup.check(claim(games=9))
    with refused("runner laptop belongs to ann, not to ben"):
        cup.check(claim(owner="ben"))
    with refused("`after` names no entries"):
        cup.check(claim(after=["../x"]))


def test_an_old_head_may_not_be_looked_for(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    """With enough heads to choose from, a runner would find one that draws the games it likes."""
    monkeypatch.setattr(change, "STALE", 3)
    early = cup.claimed("laptop")
    cup.play("tower")
    cup.check(early)
    cup.play("tower")
    with refused("none of the last 3 merges; fetch the ladder and claim again"):
        cup.check(early)


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


def test_a_pull_request_changes_no_workflow_and_no_rule(cup: Cup) -> None:
    for path in (".github/workflows/submit.yml", "ladder.toml", "README.md", "runners/eve.toml", "bots.txt"):
        with refused("a maintainer changes everything else"):
            cup.check(cup.commit({path: b"run: curl evil"}), "eve")


def test_a_pull_request_hides_nothing_behind_its_bot(cup: Cup) -> None:
    files = bot_files("new", owner="eve") | {".github/workflows/submit.yml": b"run: curl evil"}
    with refused("a maintainer changes everything else"):
        cup.check(cup.commit(files), "eve")
    with refused("touches bots/new, bots/other; make one for each"):
        cup.check(cup.commit(bot_files("new", owner="eve") | bot_files("other", owner="eve")), "eve")


def test_what_was_handed_in_never_changes(cup: Cup) -> None:
    cup.play("laptop")
    for path in (claim_path("laptop", 1), batch_path("laptop", 1)):
        with refused(f"{path} was handed in and never changes"):
            cup.check(cup.commit({path: b"other"}))


def test_a_rewritten_chain_shows_in_a_clone_that_has_the_old_one(cup: Cup) -> None:
    start = cup.head
    cup.play("laptop")
    cup.play("tower")
    seen = cup.head
    cup.set(start)  # a force push
    cup.now += 60
    cup.play("laptop", lambda game, bots, claim: b"21" + honest(game, bots, claim)[2:])
    found = list(problems(cup.ladder(), seen))
    assert any("claims/laptop/000001.json is not what it was" in each and "rewritten" in each for each in found)
    assert any("games/tower/000001.txt" in each for each in found)


def test_an_entry_that_a_maintainer_removes_or_changes_is_missed(cup: Cup) -> None:
    cup.play("laptop")
    cup.play("tower")
    before = cup.head
    tree = cup.repository.id_of(before, "games/tower")
    cup.set(playing.commit_files(cup.repository, before, {}, "gone", folder=("games/laptop", "")))
    found = list(problems(cup.ladder()))
    assert any("is missing: others name it" in each for each in found)
    assert any(each.startswith("games/laptop/000001.txt was changed or removed") for each in found)
    assert tree == cup.repository.id_of(cup.head, "games/tower")


def test_a_claim_that_a_maintainer_removes_is_missed_and_the_table_still_shows(natives: Cup) -> None:
    cup = natives
    cup.play("one")
    cup.play("three")
    cup.set(playing.commit_files(cup.repository, cup.head, {}, "gone", folder=("claims/one", "")))
    found = list(problems(cup.ladder()))
    assert any("is missing: others name it" in each for each in found)
    assert any(each.startswith("games/one/000001.txt: its claim is missing") for each in found)
    assert any("is missing, whose games three has played" in each for each in found)
    table = table_of(cup.ladder(), use_cache=False)
    assert table.games == 0 and "entries of the chain are missing" in table.notes[0]


def test_a_batch_of_another_runner_is_not_handed_in_twice(cup: Cup) -> None:
    cup.merge(cup.claimed("tower"))
    theirs = cup.batch("tower")
    content = next(cup.repository.read([f"{theirs}:{batch_path('tower', 1)}"]))
    with refused("it says that it is games/tower/000001.txt; a runner hands in its own files"):
        cup.check(cup.commit({batch_path("laptop", 1): content}))
    text = content.replace(b'"runner":"tower"', b'"runner":"laptop"')
    with refused("belongs to runner tower; a runner hands in its own"):
        cup.check(cup.commit({batch_path("laptop", 1): text}))
    forged = content.replace(b" ", b" 1", 1)
    with refused("it was not signed with the key of runner tower"):
        cup.check(cup.commit({batch_path("tower", 1): forged}))


def test_two_runners_of_one_owner_are_no_witnesses(natives: Cup) -> None:
    """Nor if the second one's owner is written otherwise: a forge does not look at capitals."""
    cup = natives
    cup.maintain(playing.runner_file("two", cup.keys["two"], "Ann"))
    cup.play("one")
    cup.merge(cup.claimed("two"))
    assert cup.ladder().chain.claims[cup.open("two")].of == ""  # it is drawn new games, not to witness its owner's
    ladder = cup.ladder()
    first = next(hash for hash, claim in ladder.chain.claims.items() if claim.runner == "one")
    record = json.loads(cup.claim_file("two", 1, cup.head).split(b"\n")[0])
    cup.merge(cup.batch("two"))
    members = record | {"number": 2, "after": list(cup.ladder().chain.tips()), "at": cup.now, "part": "again"}
    text = json.dumps(members | {"of": first, "games": 0}, separators=(",", ":")).encode() + b"\n"
    with refused("the chain draws new games for it; nobody chooses games"):
        cup.check(cup.signed("two", claim_path("two", 2), text))
    assert table_of(cup.ladder(), use_cache=False).games == 0
    cup.play("three")
    assert table_of(cup.ladder(), use_cache=False).games == 8  # one of the two batches has a witness now


def test_a_witness_that_says_something_else_calls_for_a_third(natives: Cup) -> None:
    cup = natives
    lie = cup.play("one", longer)
    assert table_of(cup.ladder(), use_cache=False).waiting == 8
    cup.play("three")
    table = table_of(cup.ladder(), use_cache=False)
    assert (table.games, table.disputed) == (0, 8)
    cup.merge(cup.claimed("four"))
    assert cup.ladder().chain.claims[cup.open("four")].of == lie
    cup.merge(cup.batch("four"))
    table = table_of(cup.ladder(), use_cache=False)
    agree = {row.name: (row.agree, row.shared) for row in table.runners}
    assert table.games == 8 and agree == {"two": (0, 0), "one": (0, 8), "three": (0, 8), "four": (0, 8)}


def played_anyhow(game: DrawnGame, bots: tuple[BotVersion, ...], claim: str, slow: str = "") -> bytes:
    """Plays a game of programs that are not deterministic. The bot `slow` runs out of time in every second one."""
    luck = sha256(f"{claim} {game}".encode()).digest()
    names = [bots[place].name for place in game.bots]
    late = slow in names and luck[0] % 2 == 0
    ranks = (b"21" if names[0] == slow else b"12") if late else (b"12", b"21")[luck[1] % 2]
    fault = f" {names.index(slow)}timeout".encode() if late else b""
    return b" ".join([ranks, b"9", luck[:12].hex().encode(), b"1,1"]) + fault


def test_a_runner_that_slows_one_bot_or_lets_it_win_is_suspected(tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", games=120) as cup:
        cup.add_bots("ada bob cyd", module=False)
        for runner, owner in (("fair", "ann"), ("just", "ben"), ("even", "cleo"), ("clock", "eve")):
            cup.add_runner(runner, owner)
        for letter in "fcjejfceejfc":
            (runner,) = (name for name in cup.keys if name.startswith(letter))
            cup.play(runner, partial(played_anyhow, slow="bob") if runner == "clock" else played_anyhow)
        table = table_of(cup.ladder(), use_cache=False)
        states = {row.name: row.state for row in table.runners}
        assert states == {"fair": "", "just": "", "even": "", "clock": "suspect"}
        assert table.notes == (
            "the results of clock differ from those of its witnesses, more than chance allows: its games of programs "
            "that are not deterministic do not count",
        )
        row = next(row for row in table.runners if row.name == "clock")
        assert row.evidence >= 1000 and row.calls_late > 10 and 0 < table.games < 1000


def slow_machine(mark: str, game: DrawnGame, bots: tuple[BotVersion, ...], claim: str) -> bytes:
    """Plays a game on a machine that makes bots run out of time in every third game; `mark`: what it says of that."""
    line = honest(game, bots, claim)
    if sha256(line).digest()[0] % 3:
        return line
    ranks, turns, rest = line.split(b" ", 2)
    return b" ".join(
        [ranks, turns, sha256(line).hexdigest()[:24].encode(), rest.split(b" ")[1], f"0timeout{mark}".encode()]
    )


@pytest.mark.parametrize(("mark", "state"), [("", "late"), ("~", "")])
def test_a_runner_whose_time_outs_exceed_its_certificate_is_named(tmp_path: Path, mark: str, state: str) -> None:
    """It says that its machine decided no game. One that says what its machine did has a certificate that admits it."""
    with Cup(tmp_path / "cup", games=120) as cup:
        cup.add_bots("ada bob cyd", module=False, deterministic=True)
        for runner, owner in (("fair", "ann"), ("just", "ben"), ("slow", "eve")):
            cup.add_runner(runner, owner)
        for runner in ("fair", "slow", "just", "slow"):
            cup.play(runner, partial(slow_machine, mark) if runner == "slow" else honest)
        table = table_of(cup.ladder(), use_cache=False)
        row = next(row for row in table.runners if row.name == "slow")
        assert {row.name: row.state for row in table.runners} == {"fair": "", "just": "", "slow": state}
        assert row.alone > 30 and row.missed == 0 and row.late_by_machine == (row.calls_late if mark else 0)
        assert (row.lateness >= 1000) == (state == "late") and (row.certified_ppm > 300_000) == (mark == "~")
        named = (
            "slow sees more time-outs than its witnesses, and more than its certificate admits: its games of programs"
        )
        assert any(note.startswith(named) for note in table.notes) == (state == "late")


def test_games_of_a_claim_that_lapsed_are_sampled_too_when_somebody_else_has_played_them(tmp_path: Path) -> None:
    """Otherwise the one who plays them again could say of modules what it likes."""
    with Cup(tmp_path / "cup", whole=2) as cup:
        cup.add_bots("ada bob cyd")
        for runner, owner in (("laptop", "ann"), ("tower", "ben"), ("third", "cleo")):
            cup.add_runner(runner, owner)
        cup.merge(cup.claimed("laptop"))
        lost = cup.open("laptop")
        cup.now += 7 * HOUR
        for runner in ("third", *(3 * ["tower", "third"])):
            cup.play(runner)
        claims = [claim for claim in cup.ladder().chain.claims.values() if claim.of == lost]
        (again,) = (claim for claim in claims if claim.part is Part.AGAIN)
        (sample,) = (claim for claim in claims if claim.part is Part.SAMPLE)
        assert again.owner != sample.owner


def test_a_claim_that_was_made_before_a_strike_came_is_still_taken(cup: Cup) -> None:
    lie = cup.play("laptop")
    early = cup.claimed("tower")
    lines = cup.lines(lie)
    strike = Strike(1, lie, 0, lines[0].decode(), lines[1].decode())
    cup.merge(cup.commit({strike_path(lie): msgspec.json.encode(strike)}))
    assert isinstance(cup.merge(early), Claimed)
    cup.now += 60
    cup.merge(cup.batch("tower"))
    cup.now += 60
    cup.merge(cup.claimed("tower"))
    assert cup.ladder().chain.claims[cup.open("tower")].of == lie  # and the next one confirms what the liar said
    assert list(problems(cup.ladder())) == []


def test_a_claim_is_one_of_the_chain_also_when_a_maintainer_merges_it(cup: Cup) -> None:
    """Who may write to the ladder could leave check-change out. Everybody sees that in `verify`."""
    old = cup.head
    for _ in range(2):
        cup.play("tower")
    record = json.loads(cup.claim_file("tower", 1, cup.head).split(b"\n")[0])
    first = next(hash for hash, claim in cup.ladder().chain.claims.items() if claim.number == 1)
    path, start = claim_path("laptop", 1), cup.head
    for changes, words in (
        ({"part": "again", "of": first, "games": 0}, "the chain draws new games for it; nobody chooses games"),
        ({"after": ["a" * 64]}, "it was drawn from a head that the ladder never had"),
        ({"games": 6, "number": 1, "after": list(cup.ladder(old).chain.tips())}, ""),
        ({"owner": "ben", "games": 7}, "claims 7 games; expected a multiple of 2 up to 8"),
    ):
        mine = {
            "runner": "laptop",
            "owner": "ann",
            "number": 1,
            "after": list(cup.ladder().chain.tips()),
            "at": cup.now,
        }
        text = json.dumps(record | mine | changes, separators=(",", ":")).encode() + b"\n"
        cup.set(cup.signed("laptop", path, text))
        found = list(problems(cup.ladder()))
        cup.set(start)
        assert any(words in each for each in found) if words else found == []


def test_a_head_that_is_too_old_shows_when_a_maintainer_merges_it(cup: Cup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "STALE", 3)
    early = cup.claimed("laptop")
    for _ in range(2):
        cup.play("tower")
    cup.set(merge_of(cup.ladder(), cup.check(early), early))
    assert [each for each in problems(cup.ladder()) if "a head that is none of the last 3 merges" in each]
