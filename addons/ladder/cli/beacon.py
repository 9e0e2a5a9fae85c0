"""`referee ladder beacon`: a beacon of your own, for ladders in a closed network."""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from msgspec import Struct

from referee.addons.ladder.beacon import ED25519, BeaconSettings, SignedBeacon, message
from referee.addons.ladder.keys import SigningKey, key_in
from referee.addons.tournament.intake.objects import MOST_FILE_BYTES
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


def beacon(file: Path, *, key: Path, bind: str = "127.0.0.1:8017", period: int = 3) -> int:
    """Serves a beacon of your own, until you stop it. Who uses it trusts you: you can know rounds before they are out.

    Args:
        file: Where to write the lines for ladder.toml, unless the file is there: `referee ladder new --beacon FILE`.
        key: The file with the secret key, which is made at its first use.
        bind: HOST:PORT to listen at.
        period: SECONDS from a round to the next.
    """
    host, _, port = bind.rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"--bind {bind}: expected HOST:PORT, such as 127.0.0.1:8017")
    secret = key_in(key, make=True)
    try:
        server = ThreadingHTTPServer((host, int(port)), _Rounds)
    except (OSError, OverflowError) as error:
        raise UsageError(f"--bind {bind}: {reason(error) if isinstance(error, OSError) else error}") from error
    if not os.path.exists(file):
        address = f"http://{host}:{server.server_port}"
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
