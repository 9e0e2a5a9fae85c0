"""`referee ladder beacon`: a beacon of your own, for ladders in a closed network."""

import json
import os
import socket
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number
from msgspec import Struct

from referee.addons.ladder.beacon import ED25519, MOST_PERIOD_S, BeaconSettings, SignedBeacon, message
from referee.addons.ladder.keys import SigningKey, key_in
from referee.addons.tournament.intake.objects import MOST_FILE_BYTES
from referee.addons.web.addresses import reachable
from referee.addons.web.server.limits import where_to_listen
from referee.harness.cli.exit_codes import PLAYED
from referee.harness.cli.screen import out
from referee.harness.common import toml
from referee.harness.common.errors import UsageError, reason, writing
from referee.harness.common.paths import read_limited


class _File(Struct, forbid_unknown_fields=True):
    beacon: BeaconSettings


class _Rounds(BaseHTTPRequestHandler):
    """Answers as drand does: /public/ROUND."""

    rounds: SignedBeacon
    secret: SigningKey

    def do_GET(self) -> None:
        number = self.path.removeprefix("/public/")
        round = int(number) if number.isdecimal() and len(number) < 16 else 0
        if round < 1 or self.rounds.time_of(round) > time.time():
            self.send_error(404, "no such round yet")
            return
        signature = self.secret.sign(message(ED25519, round)).hex()
        content = json.dumps({"round": round, "signature": signature}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing."""


class _Server(ThreadingHTTPServer):
    """Serves the rounds, with IPv6 if the host is such an address."""

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Rounds)


def beacon(
    file: Path,
    *,
    key: Path,
    bind: str = "127.0.0.1:8017",
    period: Annotated[int, Parameter(validator=Number(gte=1, lte=MOST_PERIOD_S))] = 3,
) -> int:
    """Serves a beacon of your own, until you stop it. Who uses it trusts you: you can know rounds before they are out.

    Args:
        file: Where to write the lines for ladder.toml, unless the file is there: `referee ladder new --beacon FILE`.
        key: The file with the secret key, which is made at its first use.
        bind: ADDRESS:PORT: where to listen.
        period: SECONDS from a round to the next.
    """
    host, port = where_to_listen(bind, f"--bind {bind}")
    if not host:
        raise UsageError(f"--bind {bind}: expected ADDRESS:PORT, such as 127.0.0.1:8017")
    secret = key_in(key, make=True)
    try:
        server = _Server(host, port)
    except (OSError, OverflowError, TypeError) as error:
        raise UsageError(f"--bind {bind}: {reason(error) if isinstance(error, OSError) else error}") from error
    if not os.path.exists(file):
        address = f"http://{reachable(host)}:{server.server_port}"
        text = (
            f'[beacon]\nscheme = "{ED25519}"\nkey = "{secret.raw.hex()}"\ngenesis = {int(time.time())}\n'
            f'period = {period}\naddresses = ["{address}"]\n'
        )
        with writing(file):
            file.write_text(text)
    try:
        settings = toml.read_as(read_limited(file, MOST_FILE_BYTES).decode(), _File).beacon
    except (OSError, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"{file}: {why}; expected what this command has written") from error
    if problem := settings.problem() or ("another key" if settings.key != secret.raw.hex() else ""):
        raise UsageError(f"{file} does not fit {key}: {problem}")
    _Rounds.rounds, _Rounds.secret = SignedBeacon(settings), secret
    out.print(f"Serving rounds at {settings.addresses[0] if settings.addresses else bind}. Stop with Ctrl-C.")
    sys.stdout.flush()
    with server:
        server.serve_forever()
    return PLAYED
