"""Outsiders sign what a commit holds, so that nobody rewrites the history alone; and a runner sees what it has lost."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from ladders import Cup, turned

from referee.addons.ladder.change import Noted, Refused
from referee.addons.ladder.checkpoints import checkpoint_file, last_witnessed
from referee.addons.ladder.commits import commit_files
from referee.addons.ladder.keys import VARIABLE, SigningKey
from referee.addons.ladder.verifying import problems
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow
NAMES = ("cleo", "dan", "eve")


@pytest.fixture
def cup(tmp_path: Path) -> Iterator[Cup]:
    """A ladder with games, and three outsiders of whom the maintainer has keys."""
    with Cup(tmp_path / "cup", whole=8) as cup:
        cup.add_bots("ada bob")
        cup.add_runner("laptop", "ann")
        cup.maintain({"witnesses.toml": "".join(f'{name} = "{key(name).public}"\n' for name in NAMES).encode()})
        cup.play("laptop")
        yield cup


def key(name: str) -> SigningKey:
    return SigningKey(sha256(f"witness {name}".encode()).digest())


def signed(cup: Cup, name: str, commit: str | None = None, by: str | None = None) -> str:
    """Returns a commit with a checkpoint of a commit of the ladder."""
    path, content = checkpoint_file(cup.ladder(commit), name, key(by or name))
    return cup.commit({path: content})


def test_a_history_that_two_outsiders_have_signed_cannot_be_rewritten_alone(cup: Cup) -> None:
    start, seen = cup.repository.commit("main~2"), cup.head
    assert isinstance(cup.merge(signed(cup, "cleo", seen)), Noted)
    with pytest.raises(UsageError, match=r"no commit is signed by 2 keys of witnesses\.toml"):
        last_witnessed(cup.ladder())
    cup.merge(signed(cup, "dan", seen))
    assert last_witnessed(cup.ladder()) == (seen, ["cleo", "dan"])
    assert not list(problems(cup.ladder()))
    checkpoints = {
        each.path: next(cup.repository.read([each.id])) for each in cup.repository.entries("main", "checkpoints/")
    }
    cup.set(start)
    cup.now += 400
    cup.play("laptop", turned)
    assert not list(problems(cup.ladder())), "nothing else shows that it was rewritten"
    with pytest.raises(UsageError, match="no commit is signed by 2 keys"):
        last_witnessed(cup.ladder())
    cup.maintain(checkpoints)
    rewritten = cup.head
    for aside in ([], [seen]):  # a merge that takes nothing of the true history makes it an ancestor
        for commit in aside:
            cup.set(commit_files(cup.repository, rewritten, {}, "aside", merged=commit, at=cup.now))
        with pytest.raises(UsageError, match="which the history has not: it was rewritten; keep your clone"):
            last_witnessed(cup.ladder())


def test_one_person_is_one_witness(cup: Cup) -> None:
    cup.maintain({"witnesses.toml": f'cleo = "{key("cleo").public}"\ndan = "{key("cleo").public}"\n'.encode()})
    seen = cup.head
    for name in ("cleo", "dan"):
        cup.merge(signed(cup, name, seen, by="cleo"))
    with pytest.raises(UsageError, match="no commit is signed by 2 keys"):
        last_witnessed(cup.ladder())


def test_a_checkpoint_that_nobody_may_sign_or_that_says_something_else_is_refused(cup: Cup) -> None:
    for head in (signed(cup, "cleo", by="dan"), signed(cup, "fay")):
        with pytest.raises(Refused, match=r"is not signed by a key of witnesses\.toml"):
            cup.check(head)
    path, content = checkpoint_file(cup.ladder(), "cleo", key("cleo"))
    for other in (path.replace("cleo", "dan"), path.replace(".json", "xjson")):
        with pytest.raises(Refused, match="as `referee ladder witness` writes it"):
            cup.check(cup.commit({other: content}))
    line = content.rsplit(b"\n", 2)[0].replace(b'"count":', b'"count":1') + b"\n"
    forged = cup.signed("laptop", path, line)
    with pytest.raises(Refused, match="is not signed by a key"):
        cup.check(forged)
    cup.keys["cleo"] = key("cleo")
    with pytest.raises(Refused, match="says something else of commit"):
        cup.check(cup.signed("cleo", path, line))


def test_a_witness_signs_by_a_command_and_verify_demands_it(
    cup: Cup, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, seen = ["--folder", str(cup.repository.folder)], cup.head
    lines = ""
    for name in NAMES[:2]:
        words = ["ladder", "witness", seen, "--key", str(tmp_path / f"{name}.key"), "--name", name, *folder]
        assert main(words) == 0
        printed = " ".join(capsys.readouterr().out.split())
        lines += printed.partition("witnesses.toml: ")[2] + "\n"
    files = {
        str(path.relative_to(cup.repository.folder)): path.read_bytes()
        for path in (cup.repository.folder / "checkpoints").rglob("*.json")
    }
    cup.maintain({"witnesses.toml": lines.encode(), **files})
    assert main(["ladder", "verify", "main", "--witnessed", *folder]) == 0
    assert f"{seen[:12]} signed by cleo and dan; verified" in " ".join(capsys.readouterr().out.split())
    assert main(["ladder", "verify", seen, "--witnessed", *folder]) == 1
    assert "no commit is signed by 2 keys" in capsys.readouterr().err


def test_a_runner_is_told_what_the_history_has_lost_since_it_has_played(
    cup: Cup, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.addons.ladder.change.time.time", lambda: cup.now)
    monkeypatch.setenv(VARIABLE, b64encode(sha256(b"laptop").digest()).decode())
    words = ["ladder", "play", "--runner", "laptop", "--games", "0", "--folder", str(cup.repository.folder)]
    assert main(words) == 0 and not capsys.readouterr().err
    cup.set(cup.repository.commit("main~2"))  # a force push
    assert main(words) == 0
    printed = " ".join(capsys.readouterr().err.split())
    assert "claims/laptop/000001.json is not what it was" in printed and "keep your clone, and tell others" in printed
