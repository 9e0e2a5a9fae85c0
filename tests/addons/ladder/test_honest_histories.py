"""Honest people are never refused, whatever they do in whatever order."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ladders import HOUR, Cup, bot_files, honest

from referee.addons.ladder.playing import open_claim
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
        """Does what `referee ladder play` does next: claims games, or hands in those of a claim that is merged."""
        ladder = self.cup.ladder()
        if runner in self.busy:
            self.merge([author.rpartition(" ")[2] for _, author in self.waiting].index(runner))
            return
        hash = open_claim(ladder, runner, self.cup.now)
        if hash is not None:
            self.waiting.append((self.cup.batch(runner, self.cup.lines(hash, honest)), f"games of {runner}"))
            self.handed_in += 1
        elif not ladder.chain.refusal(runner, ladder.settings):
            self.waiting.append((self.cup.claimed(runner), f"claim of {runner}"))
        else:
            return
        self.busy.add(runner)

    def enter(self, name: str) -> None:
        """Hands in a new version of a bot."""
        author = f"owner-of-{name}"
        if author not in self.busy:
            self.versions[name] += 1
            files = bot_files(name, module=BOTS[name], deterministic=True, version=self.versions[name])
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
        """Lets time pass. The forge merges within a day, since a signed file waits no longer."""
        self.idle += seconds
        while self.idle > 16 * HOUR and self.waiting:
            self.merge(0)
        self.idle *= bool(self.waiting)
        self.cup.now += seconds


steps = st.lists(
    st.one_of(
        *(3 * [st.tuples(st.just("work"), st.sampled_from([*RUNNERS]))]),
        st.tuples(st.just("merge"), st.integers(0, 9)),
        st.tuples(st.just("enter"), st.sampled_from([*BOTS])),
        st.tuples(st.just("wait"), st.sampled_from([60, HOUR, 7 * HOUR])),
    ),
    min_size=20,
    max_size=40,
)


@pytest.mark.timeout(3000)
@pytest.mark.parametrize("histories", [3, pytest.param(100, marks=pytest.mark.nightly)])
def test_honest_histories_are_never_refused(histories: int, tmp_path: Path) -> None:
    with Cup(tmp_path / "cup", games=4, whole=1) as cup:
        for name, module in BOTS.items():
            cup.add_bots(name, module=module, deterministic=True)
        for runner, owner in RUNNERS.items():
            cup.add_runner(runner, owner)
        start, time = cup.head, cup.now
        seen = {"merged": 0, "again": 0, "sample": 0, "lapsed": 0}

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
                cup.now += 60
            while community.waiting:
                community.merge(0)
            ladder = cup.ladder()
            assert list(problems(ladder)) == []
            table = table_of(ladder, use_cache=False)
            assert table.disputed == 0 and not table.notes
            assert encoded(table) == encoded(table_of(cup.ladder(), use_cache=False))
            seen["merged"] += community.merged
            seen["lapsed"] += sum(row.lapsed for row in table.runners)
            for claim in ladder.chain.claims.values():
                if claim.part in seen:
                    seen[claim.part] += 1

        history()
        assert seen["merged"] > 0 and (histories < 100 or min(seen.values()) > 0), seen
