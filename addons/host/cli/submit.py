"""`referee submit`: hands a bot in at a hosted contest."""

import re
from pathlib import Path

from referee.addons.host.client import Client, State, packed
from referee.addons.host.remembered import contest_of, remember
from referee.harness.cli.exit_codes import AT_FAULT, PLAYED
from referee.harness.cli.reports.text import printable
from referee.harness.cli.screen import out, progress
from referee.harness.common.errors import UsageError
from referee.harness.programs.kinds import PATH, kind_of, split_file
from referee.harness.programs.private_files import left_out_line


def submit(bot: str, *, to: str | None = None, note: str = "", commit: str = "", no_wait: bool = False) -> int:
    """Hands a bot in at a hosted contest.

    Shows the build log and the verdict as they come.

    The environment variable REFEREE_TOKEN holds your token, from your team's page. The contest and the token are
    remembered for the bot's folder, so that the next time, and for `referee team`, you need neither.

    Exit codes: 0 accepted, 1 refused, 2 usage, or the contest takes nothing now, 3 the contest cannot be reached.

    Args:
        bot: A folder, which is packed as a zip without files of secrets and caches, a file, or the address of a git
            repository.
        to: URL: the contest's address. Default: where this folder was handed in before.
        note: A note on this version, for your team.
        commit: Of a repository: the 40 digits of a commit, or a branch or tag. Default: the newest.
        no_wait: Do not wait for the verdict.
    """
    kind = kind_of(bot)
    is_address = re.match(r"[a-z][a-z0-9+.-]*://", bot) is not None
    if not (kind is PATH or is_address or kind.names_file):
        raise UsageError(f"{bot}: {kind.plural} cannot be handed in; expected a folder, a file or a repository")
    path = Path(split_file(bot)[1]) if not is_address else Path()
    known = contest_of(path, to)
    client = Client(known.address, known.token)
    if is_address:
        state = client.from_repository(bot, commit, note)
    elif commit:
        raise UsageError("--commit is for the address of a repository; leave it out")
    else:
        with packed(path) as (file, name, left_out):
            if left_out:
                out.print(left_out_line(left_out, "what the bot needs of it, hand in in a zip"))
            state = client.submit(file, name, note)
    remember(path, client.address, known.token)
    out.print(printable(f"version {state.version}: {client.address}/team/versions/{state.version}"))
    if no_wait:
        return PLAYED
    with progress() as show:
        state = client.followed(state, _print_log, lambda text: show(printable(text)))
    out.print(printable(_verdict(state)))
    return PLAYED if state.status == "accepted" else AT_FAULT


def _print_log(text: str) -> None:
    for line in text.splitlines():
        out.print(printable(line), style="dim")


def _verdict(state: State) -> str:
    return f"{state.status}: {state.reason}" if state.reason else state.status
