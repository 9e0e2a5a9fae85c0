"""A hosted contest plays on a cluster: versions that come later, and practice games."""

from pathlib import Path

import pytest
from clusters import Cluster, folder_bot
from hosted import Team, contest, games_of, log, playing, until

from referee.harness.host import practice
from referee.harness.host.store import Store

pytestmark = pytest.mark.slow

pytest.importorskip("distributed")


@pytest.mark.timeout(280)
def test_a_cluster_plays_versions_that_come_later_and_practice_games(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path)
    try:
        cluster.worker("first")
        cup = contest(tmp_path / "cup")
        store = Store(cup)
        ann, bob = Team(store, "ann"), Team(store, "bob")
        first = [
            team.submit(str(folder_bot(tmp_path / "bots", team.name, salt))) for salt, team in enumerate((ann, bob))
        ]
        with playing(cup, cluster=cluster.address):
            until(lambda: games_of(cup, [entry.ident for entry in first]) > 2, "games", 120)
            later = ann.submit(str(folder_bot(tmp_path / "bots", "later", 7)))
            until(lambda: games_of(cup, [later.ident]), f"a game of the later version\n{log(cup)}", 120)
            version = store.value("SELECT submission FROM current_submission WHERE team = ?", bob.number)
            practice.ask(store, bob.number, bob.member, version, "@random", 0, "", "{}", a_day=9)
            until(lambda: store.value("SELECT game FROM practice"), "the practice game", 120)
        assert (cup / store.value("SELECT game FROM practice")).is_file()
        assert "KeyError" not in (tmp_path / "cluster.log").read_text(), "a worker died of a bot that came later"
    finally:
        cluster.close()
