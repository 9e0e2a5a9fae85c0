"""`plain_wire.py RUNNER …`: runs a metered bot whose wire is standard input and output, as a native bot's is."""

import os
import subprocess
import sys

from referee.addons.wasm.frames import CALL, GO_ON, MATCH, NO_LIMIT, READS, WROTE, Channel


def main(command: list[str]) -> None:
    """Runs one match, until the bot ends."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        channel = Channel(process.stdout.fileno(), process.stdin.fileno())
        channel.send(MATCH, 1)
        channel.send(CALL, NO_LIMIT)
        while (message := channel.receive()).kind in (READS, WROTE):
            if message.kind == WROTE:
                os.write(1, message.data)
                channel.send(GO_ON, 0)
            elif data := os.read(0, 1 << 16):
                channel.send(CALL, NO_LIMIT, data)
            else:
                break
        process.stdin.close()
    if message.kind != READS and message.data != b"exited with code 0":
        sys.exit(f"the module {message.data.decode()}")


if __name__ == "__main__":
    main(sys.argv[1:])
