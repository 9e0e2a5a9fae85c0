"""Honest people are never refused, whatever they do in whatever order."""

from collections.abc import Callable
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
BOTS = {"ada": True, "bob": True, "cyd": True, "dan": False}
"""Whether each is a module."""


class Community:
    """Honest people, each with pull requests that wait to be merged."""

    def __init__(self, cup: Cup) -> None:
        self.cup = cup
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
            files = bot_files(name, module=BOTS[name], version=self.versions[name])
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
        st.tuples(st.just("enter"), st.sampled_from([*BOTS])),
        st.tuples(st.just("wait"), st.sampled_from([400, HOUR, 7 * HOUR])),
    ),
    min_size=20,
    max_size=40,
)


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("histories", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_honest_histories_are_never_refused(histories: int, tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", games=4, whole=1) as cup:
        for name, module in BOTS.items():
            cup.add_bots(name, module=module)
        for runner, owner in RUNNERS.items():
            cup.add_runner(runner, owner)
        start, time = cup.head, cup.now
        seen = {"merged": 0, "sample": 0, "open": 0, "lapsed": 0}

        @settings(max_examples=histories, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(steps)
        def history(happened: list[tuple[str, object]]) -> None:
            cup.set(start)
            cup.now = time
            community = Community(cup)
            do: dict[str, Callable[..., None]] = {
                "work": community.work,
                "merge": community.merge,
                "enter": community.enter,
                "wait": community.wait,
            }
            for what, value in happened:
                do[what](value)
                cup.now += 5
            while community.waiting:
                community.merge(0)
            ladder = cup.ladder()
            assert list(problems(ladder)) == []
            table = table_of(ladder, use_cache=False)
            assert table.disputed == 0 and not table.notes
            assert encoded(table) == encoded(table_of(cup.ladder(), use_cache=False))
            seen["merged"] += community.merged
            seen["lapsed"] += sum(row.lapsed for row in table.runners)
            for hash in ladder.chain.claims:
                for stage in ladder.chain.stages(hash, ladder.chain.now):
                    if stage.kind in seen:
                        seen[stage.kind] += 1

        history()
        assert seen["merged"] > 0 and (histories < 100 or min(seen.values()) > 0), seen
