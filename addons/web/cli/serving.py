"""The announcement of a server, shared by the commands that serve clients of original contests."""

from pathlib import Path

from rich.text import Text

from referee.addons.web.addresses import reachable
from referee.harness.cli.screen import out


def announce(address: str, paths: str, folder: Path | None) -> None:
    """Says where a server is, and where its replays go."""
    host, _, port = address.rpartition(":")
    out.print(Text.assemble(("serving ", "bold"), f"http://{reachable(host.strip('[]'))}:{port}", (paths, "dim")))
    if folder is not None:
        out.print(f"replays  {folder}", style="dim")
