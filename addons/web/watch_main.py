"""The viewer's process of `referee --watch`: starts its web process, and loads all else meanwhile.

`python -m referee.addons.web.watch_main MESSAGES LISTENING PEOPLE` takes a socket to the referee
(`referee.addons.web.watch`), the socket that listens, and the number of people who play.
"""

import gc
import socket
import sys

from referee.addons.web.server.start import started


def main(messages: int, listening: int, people: int) -> None:
    """Serves until the referee is done and open pages have read the end."""
    with socket.socket(fileno=listening) as listens, started(listens) as web:
        import trio

        from referee.addons.web.watch_process import serve

        trio.run(serve, socket.socket(fileno=messages), listens, people, web)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
    gc.freeze()  # the referee waits for our end: Python would search all that was loaded for garbage
