"""A hosted contest plays on a cluster: versions that come later, practice games, and one that cannot be built there."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from clusters import Cluster, folder_bot
from hosted import Team, contest, games_of, log, playing, until

from referee.addons.host import practice
from referee.addons.host.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(280)]

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.worker("first")
        yield made
    finally:
        made.close()


def submitted(team: Team, folder: Path, salt: int) -> str:
    """Hands in a bot, and returns its ident."""
    return team.submit(str(folder_bot(folder / "bots", f"{team.name}{salt}", salt))).ident


def version(team: Team) -> int:
    """Returns the number of the version of a team that plays."""
    found: int = team.store.value("SELECT submission FROM current_submission WHERE team = ?", team.number)
    return found


def test_a_cluster_plays_versions_that_come_later_and_practice_games(tmp_path: Path, cluster: Cluster) -> None:
    cup = contest(tmp_path / "cup")
    store = Store(cup)
    ann, bob = Team(store, "ann"), Team(store, "bob")
    first = [submitted(team, tmp_path, salt) for salt, team in enumerate((ann, bob))]
    with playing(cup, cluster=cluster.address):
        until(lambda: games_of(cup, first) > 2, "games", 120)
        later = submitted(ann, tmp_path, 7)
        until(lambda: games_of(cup, [later]), f"a game of the later version\n{log(cup)}", 120)
        practice.ask(store, bob.number, bob.member, version(bob), "@random", 0, "", "{}", a_day=9)
        until(lambda: store.value("SELECT game FROM practice"), "the practice game", 120)
    assert (cup / store.value("SELECT game FROM practice")).is_file()
    assert "KeyError" not in (cluster.folder / "cluster.log").read_text(), "a worker died of a bot that came later"


def test_a_bot_that_no_machine_can_build_is_set_aside_and_the_others_play_on(tmp_path: Path, cluster: Cluster) -> None:
    cup = contest(tmp_path / "cup")
    store = Store(cup)
    ann, bob, cid = (Team(store, name) for name in ("ann", "bob", "cid"))
    good = [submitted(team, tmp_path, 10 + salt) for salt, team in enumerate((ann, bob))]
    folder = folder_bot(tmp_path / "bots", "broken", 1)
    text = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(text.replace("mkdir -p", "echo no such compiler here; exit 1; mkdir -p"))
    with playing(cup, cluster=cluster.address):
        until(lambda: games_of(cup, good), f"games\n{log(cup)}", 120)
        broken = cid.submit(str(folder)).ident
        number = version(cid)
        practice.ask(store, cid.number, cid.member, number, "@random", 0, "", "{}", a_day=9)
        why = "SELECT set_aside_why FROM submission WHERE id = ?"
        until(lambda: store.value(why, number), f"it is set aside\n{log(cup)}", 120)
        assert "no machine of the cluster can start it" in store.value(why, number)
        until(lambda: store.value("SELECT status FROM practice") == "failed", f"no practice game\n{log(cup)}", 120)
        before = games_of(cup, good)
        until(lambda: games_of(cup, good) > before + 2, f"more games\n{log(cup)}", 120)
    assert games_of(cup, [broken]) == 0
    assert "no such compiler here" in log(cup) and log(cup).count("is set aside") == 1, log(cup)
