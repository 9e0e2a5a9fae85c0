"""What `check-change` refuses shows to both implementations of `verify` if a maintainer merges it all the same."""

import re
from collections.abc import Callable, Iterator

import msgspec
import pytest
from ladders import BEACON_KEY, HOUR, Cup, Play, honest, signature, turned
from second_table import Second

from referee.addons.ladder.change import Refused
from referee.addons.ladder.draw import BotVersion, DrawnGame
from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.playing import Task
from referee.addons.ladder.records import batch_path
from referee.addons.ladder.verifying import problems

pytestmark = pytest.mark.slow
RUNNERS = {"one": "ann", "also": "ann", "two": "ben", "three": "cleo", "four": "dan"}


@pytest.fixture(scope="module")
def ladders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Cup]]:
    """A ladder of native programs (True), and one of modules. Ann has two runners."""
    top = tmp_path_factory.mktemp("ladders")
    with Cup(top / "modules", games=4, whole=8) as modules, Cup(top / "natives", games=4) as natives:
        for cup in (modules, natives):
            cup.add_bots("ada bob cyd", module=cup is modules)
            for runner, owner in RUNNERS.items():
                cup.add_runner(runner, owner)
        yield {True: natives, False: modules}


def one_machine(game: DrawnGame, bots: tuple[BotVersion, ...], runner: str) -> bytes:
    """Plays as if every runner were the same machine."""
    return honest(game, bots, "one")


def sealed(cup: Cup, *runners: str, play: Play = honest) -> tuple[str, str]:
    """Returns a claim of Ann's that both owners have sealed, and the runner of the second."""
    hash = cup.claim("one")
    owner = cup.at_play().chain.stages(hash, cup.now)[0].owners[1]
    second = next(name for name, each in cup.owners.items() if each == owner)
    for runner in runners or ("one", second):
        cup.do(runner, hash, play)
    return hash, second


def opened(cup: Cup, hash: str, play: Callable[..., bytes] = honest) -> tuple[Task, bytes]:
    """Returns the task of Ann's first runner, and the batch that opens its seal, or has its games."""
    task = cup.task("one", hash)
    return task, cup.signed_by("one", task, cup.lines("one", task, play)).batch


# Claims.


def of_a_stranger(cup: Cup) -> str:
    cup.keys["stranger"], cup.owners["stranger"] = SigningKey(bytes(32)), "eve"
    return cup.claimed_with("stranger")


def with_another_key(cup: Cup) -> str:
    cup.keys["one"] = cup.keys["two"]
    return cup.claimed_with("one")


def runners(cup: Cup) -> str:
    return cup.repository.id_of(cup.head, "runners")


def while_one_is_open(cup: Cup) -> str:
    cup.claim("one")
    return cup.claimed_with("one")


def after_three_lapses(cup: Cup) -> str:
    for _ in range(3):
        cup.claim("one")
        cup.now += 7 * HOUR
    return cup.claimed_with("one")


def after_a_lie(cup: Cup) -> str:
    hash, _ = sealed(cup)
    cup.merge(cup.hand_in("one", hash, turned))
    cup.now += 60
    return cup.claimed_with("also")


# Batches of modules.


def with_a_game_left_out(cup: Cup) -> str:
    hash = cup.claim("one")
    return cup.hand_in("one", hash, lines=cup.lines("one", cup.task("one", hash))[:-1])


def after_its_time(cup: Cup) -> str:
    head = cup.hand_in("one", cup.claim("one"))
    cup.now += 7 * HOUR
    return head


def by_other_versions(cup: Cup) -> str:
    task, batch = opened(cup, cup.claim("one"))
    signed = batch.rsplit(b"\n", 2)[0] + b"\n"
    return cup.signed("one", batch_path(task.claim, "one"), signed.replace(b"wasmtime ", b"wasmtime 1."))


def by_both_runners_of_an_owner(cup: Cup) -> str:
    hash = cup.claim("one")
    task = cup.task("one", hash)
    cup.do("one", hash)
    return cup.commit_of("also", task, cup.signed_by("also", task, cup.lines("also", task, turned)))


def with_a_wrong_summary(cup: Cup) -> str:
    task, batch = opened(cup, cup.claim("one"))
    signed = batch.rsplit(b"\n", 2)[0] + b"\n"
    return cup.signed("one", batch_path(task.claim, "one"), re.sub(rb'"courses":"..', b'"courses":"zz', signed))


# Seals of native programs, and what opens them.


def by_a_friend(cup: Cup) -> str:
    hash = cup.claim("one")
    task = cup.task("one", hash)
    friend = next(name for name, owner in RUNNERS.items() if owner not in task.stage.owners)
    return cup.commit_of(friend, task, cup.signed_by(friend, task, cup.lines("one", task)))


def sealed_by_both_runners(cup: Cup) -> str:
    hash = cup.claim("one")
    task = cup.task("also", hash)
    cup.do("one", hash)
    return cup.commit_of("also", task, cup.signed_by("also", task, cup.lines("also", task)))


def with_an_old_round(cup: Cup) -> str:
    task = cup.task("one", cup.claim("one"))
    stage = msgspec.structs.replace(task.stage, signatures=(signature(1),))
    task = Task(task.hash, task.claim, stage, task.ready)
    made = cup.signed_by("one", task, cup.lines("one", cup.task("one", task.hash)))
    return cup.commit_of("one", task, made)


def opened_before_all_have_sealed(cup: Cup) -> str:
    hash = cup.claim("one")
    task, batch = opened(cup, hash)
    cup.do("one", hash)
    return cup.commit({batch_path(task.claim, "one"): batch})


def opened_by_another_runner(cup: Cup) -> str:
    hash, _ = sealed(cup)
    task = cup.task("also", hash)
    return cup.commit_of("also", task, cup.signed_by("also", task, cup.lines("also", task)))


@pytest.mark.parametrize(
    ("native", "forge", "refusal", "problem"),
    [
        (False, of_a_stranger, "there is no runner stranger", "there is no runner stranger"),
        (False, with_another_key, "not signed with the key of runner one", "not signed with the key of runner one"),
        (False, lambda cup: cup.claimed_with("one", owner="ben"), "belongs to ann, not", "belongs to ann, not to ben"),
        (False, lambda cup: cup.claimed_with("one", number=2), "claims have no gaps", "claims of one have gaps: 2"),
        (False, lambda cup: cup.claimed_with("one", games=6), "claims 6 games", "claims 6 games"),
        (False, lambda cup: cup.claimed_with("one", round=9), "it names round 9", "it names round 9"),
        (False, lambda cup: cup.claimed_with("one", bots=runners(cup)), "none of the last 64", "none of the last 64"),
        (False, while_one_is_open, "has claim 1 open", "has claim 1 open"),
        (False, after_three_lapses, "ann let 3 claims or seals lapse", "ann let 3 claims or seals lapse"),
        (True, after_a_lie, "ann has lied, and its runners may not claim", "ann has lied, and its runners may not"),
        (False, with_a_game_left_out, "has 3 games; expected 4", "has 3 games; expected 4"),
        (False, after_its_time, "it comes .* s after its time", "it was merged at"),
        (False, by_other_versions, "it was played by", "it was played by"),
        (False, by_both_runners_of_an_owner, "two runners of one owner are one", "ann has handed this in already"),
        (False, with_a_wrong_summary, "`courses` does not fit its games", "`courses` does not fit its games"),
        (True, by_a_friend, "has not drawn .* for this", "has not drawn .* for this"),
        (True, sealed_by_both_runners, "two runners of one owner are one", "ann has handed this in already"),
        (True, with_an_old_round, "signatures are not those of the rounds", "round .* of the beacon is not signed"),
        (True, opened_before_all_have_sealed, "has not drawn ann for this", "has not drawn ann for this"),
        (True, opened_by_another_runner, "one has sealed these games, and not also", "one has sealed these games"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_refused_shows_if_it_is_merged(
    native: bool, forge: Callable[[Cup], str], refusal: str, problem: str, ladders: dict[bool, Cup]
) -> None:
    with ladders[native].back() as cup:
        keys = {**cup.keys}
        try:
            head = forge(cup)
        finally:
            cup.keys = keys
        with pytest.raises(Refused, match=refusal):
            cup.check(head)
        cup.merge_unchecked(head)
        assert_shown(cup, problem)


def assert_shown(cup: Cup, problem: str) -> None:
    """Asserts that both implementations of `verify` see something wrong."""
    found = [*problems(cup.ladder())]
    assert any(re.search(problem, each) for each in found), found
    second = Second(cup.repository.folder)
    try:
        assert second.verify()
    finally:
        second.close()


def test_an_opening_that_is_not_what_was_sealed_shows(ladders: dict[bool, Cup]) -> None:
    """It is a strike, and no batch."""
    with ladders[True].back() as cup:
        task, batch = opened(cup, sealed(cup)[0], turned)
        cup.maintain({batch_path(task.claim, "one"): batch})
        assert_shown(cup, "it is not what its runner has sealed")


def test_a_strike_for_what_was_sealed_shows(ladders: dict[bool, Cup]) -> None:
    with ladders[True].back() as cup:
        _, batch = opened(cup, sealed(cup)[0])
        cup.maintain({"strikes/one/000001/one.txt": batch})
        assert_shown(cup, "it is what ann has sealed, so that it strikes nobody")


def test_times_of_calls_that_were_copied_show(ladders: dict[bool, Cup]) -> None:
    with ladders[True].back() as cup:
        hash, second = sealed(cup, play=one_machine)
        cup.do("one", hash, one_machine)
        head = cup.hand_in(second, hash, one_machine)
        with pytest.raises(Refused, match="to the microsecond: one machine has played both"):
            cup.check(head)
        cup.merge_unchecked(head)
        assert_shown(cup, "to the microsecond: one machine has played both")


def test_another_beacon_than_that_of_the_claims_shows(ladders: dict[bool, Cup]) -> None:
    with ladders[True].back() as cup:
        cup.play("one")
        settings = next(cup.repository.read([f"{cup.head}:ladder.toml"]))
        cup.maintain(
            {"ladder.toml": settings.replace(BEACON_KEY.raw.hex().encode(), SigningKey(bytes(32)).raw.hex().encode())}
        )
        assert_shown(cup, "of the beacon is not signed")
