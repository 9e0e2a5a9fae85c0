"""Honest people are never refused, whatever they do in whatever order."""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ladders import HOUR, Cup, bot_files

from referee.addons.ladder.records import StageKind
from referee.addons.ladder.rows import encoded
from referee.addons.ladder.table import table_of
from referee.addons.ladder.verifying import problems

pytestmark = pytest.mark.slow
RUNNERS = {"one": "ann", "two": "ann", "three": "ben", "four": "cleo"}
BOTS = ("ada", "bob", "cyd", "dan")
NATIVE = ("", "dan")
"""The native program of each ladder. With one, all games are sealed; without, one plays them and another a sample."""


class Community:
    """Honest people, each with pull requests that wait to be merged. `native`: the bot that is no module."""

    def __init__(self, cup: Cup, native: str) -> None:
        self.cup, self.native = cup, native
        self.waiting: list[tuple[str, str]] = []
        """Commits and their authors."""
        self.busy: set[str] = set()
        """Runners with a pull request that is not merged."""
        self.versions = dict.fromkeys(BOTS, 1)
        self.merged = self.handed_in = self.idle = 0

    def work(self, runner: str) -> None:
        """Does what `referee ladder play` does next: hands in what the beacon has drawn, or claims games."""
        if runner in self.busy:
            self.merge([author.rpartition(" ")[2] for _, author in self.waiting].index(runner))
            return
        cup, ladder = self.cup, self.cup.at_play()
        owner = cup.owners[runner]
        others = {cup.owners[name] for name in self.busy if name in cup.owners}
        todo = [each for each in cup.tasks(runner) if each.ready <= cup.now and owner not in others]
        sealed = ladder.chain.seals
        todo = [
            each
            for each in todo
            if each.stage.kind is not StageKind.OPEN or sealed[each.hash][owner].seal.runner == runner
        ]
        if todo:
            self.waiting.append((cup.hand_in(runner, todo[0].hash), f"games of {runner}"))
            self.handed_in += 1
        elif not ladder.chain.refusal(runner, owner, ladder.settings, cup.now + 1, ladder.chain.lapses(owner, cup.now)):
            self.waiting.append((cup.claimed(runner), f"claim of {runner}"))
        else:
            return
        self.busy.add(runner)

    def enter(self, name: str) -> None:
        """Hands in a new version of a bot."""
        author = f"owner-of-{name}"
        if author not in self.busy:
            self.versions[name] += 1
            files = bot_files(name, module=name != self.native, version=self.versions[name])
            self.waiting.append((self.cup.commit(files), author))
            self.busy.add(author)

    def merge(self, which: int) -> None:
        """Merges one of the pull requests that wait."""
        if self.waiting:
            head, author = self.waiting.pop(which % len(self.waiting))
            self.cup.merge(head, author)
            self.busy.discard(author.rpartition(" ")[2])
            self.merged += 1

    def wait(self, seconds: int) -> None:
        """Lets time pass. The forge merges within minutes, since a claim has to come before its round."""
        while self.waiting:
            self.merge(0)
        self.cup.now += seconds


steps = st.lists(
    st.one_of(
        *(3 * [st.tuples(st.just("work"), st.sampled_from([*RUNNERS]))]),
        st.tuples(st.just("merge"), st.integers(0, 9)),
        st.tuples(st.just("enter"), st.sampled_from(BOTS)),
        st.tuples(st.just("wait"), st.sampled_from([400, HOUR, 7 * HOUR])),
    ),
    min_size=20,
    max_size=40,
)


def played(community: Community, steps: list[tuple[str, object]]) -> Counter[str]:
    """Follows a history to its end. Returns how often what came up."""
    cup, seen = community.cup, Counter[str]()
    for what, value in steps:
        getattr(community, what)(value)
        cup.now += 5
    while community.waiting:
        community.merge(0)
    ladder = cup.ladder()
    assert list(problems(ladder)) == []
    table = table_of(ladder, use_cache=False)
    assert table.disputed == 0 and not table.notes
    assert encoded(table) == encoded(table_of(cup.ladder(), use_cache=False))
    seen["merged"] = community.merged
    seen["lapsed"] = sum(row.lapsed for row in table.runners)
    for hash in ladder.chain.claims:
        seen.update(stage.kind.value for stage in ladder.chain.stages(hash, ladder.chain.now))
    return seen


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("histories", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_honest_histories_are_never_refused(histories: int, tmp_path: Path) -> None:
    seen = Counter[str]()
    with ExitStack() as stack:
        cups = [stack.enter_context(Cup(tmp_path / f"cup{number}", games=4, whole=1)) for number in range(len(NATIVE))]
        for cup, native in zip(cups, NATIVE, strict=True):
            for name in BOTS:
                cup.add_bots(name, module=name != native)
            for runner, owner in RUNNERS.items():
                cup.add_runner(runner, owner)

        @settings(max_examples=histories, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(st.integers(0, len(NATIVE) - 1), steps)
        def history(number: int, happened: list[tuple[str, object]]) -> None:
            with cups[number].back() as cup:
                seen.update(played(Community(cup, NATIVE[number]), happened))

        history()
    assert seen["merged"] > 0
    assert histories < 100 or all(seen[each] for each in ("sample", "open", "lapsed")), seen
