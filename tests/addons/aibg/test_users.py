"""The file of users and the secret of tokens."""

from pathlib import Path

import pytest

from referee.addons.aibg.users import add_user, read_secret, read_users
from referee.harness.cli.main import main
from referee.harness.common.errors import UsageError

pytestmark = pytest.mark.slow


def test_a_file_of_users_contains_no_password_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    add_user(file, "ann", "player", "correct horse battery")
    add_user(file, "bob", "admin", "another password")
    assert file.stat().st_mode & 0o777 == 0o600
    assert "horse" not in file.read_text() and set(read_users(file)) == {"ann", "bob"}
    assert read_users(file)["ann"].password.startswith("$argon2id$")
    with pytest.raises(UsageError, match="expected 8 to 1000"):
        add_user(file, "eve", "player", "short")
    with pytest.raises(UsageError, match="invalid user name"):
        add_user(file, "../eve", "player", "long enough")
    file.chmod(0o644)
    with pytest.raises(UsageError, match="others can read it"):
        read_users(file)
    (tmp_path / "secret").write_bytes(b"short")
    (tmp_path / "secret").chmod(0o600)
    with pytest.raises(UsageError, match="at least 64"):
        read_secret(tmp_path / "secret")
    assert read_secret(None) != read_secret(None), "there is no secret by default"


def test_referee_user_adds_users_and_serve_requires_their_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "users.json"
    assert main(["serve", "user", "chief", "--role", "admin", "--users", str(file)]) == 0
    password = capsys.readouterr().out.strip()
    assert len(password) == 20 and password not in file.read_text()
    assert read_users(file)["chief"].role == "admin"
    for argv, words in (
        (["aibg"], "--users is missing"),
        (["aibg", "--users", str(file), "--compat", "original"], "Unknown option: --compat"),
        (["arena", "--users", str(file)], "Unknown option: --users"),
        (["aibg", "--users", str(file), "--token-time", "none"], "tokens must expire"),
        (["arena", "--bind", "8080"], "expected ADDRESS:PORT"),
        *[
            (["arena", "--alias", alias], f"--alias {alias!r} matches no request: expected HOST or HOST:PORT")
            for alias in ("http://a", "a/x", "u@a", "", "*", "a:", "a:0", "a:65536", "a:b", "[::g]", "é")
        ],
    ):
        assert main(["serve", *argv]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
