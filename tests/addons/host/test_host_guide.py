"""The guide to a contest behind Caddy: its files are valid, and its commands exist."""

import re
import subprocess
from pathlib import Path

import pytest
from contests import referee
from needs import skip_without

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "host-behind-caddy.md"


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return found


def test_the_unit_is_one_that_systemd_takes(tmp_path: Path) -> None:
    unit = block("ini").replace("/opt/referee/bin/referee", "/bin/true").replace("User=referee", "User=root")
    assert re.search(r"^ExecStart=\S+ host cup --address https://", block("ini"), re.MULTILINE)
    skip_without("systemd-analyze")
    (tmp_path / "referee-host.service").write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "referee-host.service"], capture_output=True, text=True
    )
    wrong = [line for line in done.stderr.splitlines() if "referee-host.service" in line]
    wrong = [line for line in wrong if "Unknown key 'DelegateSubgroup'" not in line]  # before systemd 254
    assert not wrong, done.stderr


def test_the_proxy_logs_no_invitation_and_passes_no_counts_on(tmp_path: Path) -> None:
    caddyfile = block("caddyfile")
    assert "@link path /join/*" in caddyfile and "log_skip @link" in caddyfile and "respond @private 404" in caddyfile
    skip_without("caddy")
    (tmp_path / "Caddyfile").write_text(caddyfile.replace("/var/log/caddy", str(tmp_path)))
    subprocess.run(["caddy", "validate", "--config", tmp_path / "Caddyfile", "--adapter", "caddyfile"], check=True)


@pytest.mark.parametrize("command", ["host", "host backup", "host restore"])
def test_its_commands_and_options_exist(command: str, tmp_path: Path) -> None:
    text = referee(tmp_path, *command.split(), "--help", "--all")
    page = PAGE.read_text("utf-8").splitlines()
    lines = [line for line in page if f"referee {command} " in line or "-all host" in line]
    options = {word for line in lines for word in re.findall(r" (--[a-z-]+)", line.partition(f" {command} ")[2])}
    assert lines and options <= set(re.findall(r"--[a-z-]+", text))
