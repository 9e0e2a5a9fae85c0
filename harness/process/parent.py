"""Ends this process when its parent has ended, also by a kill: the parent holds the other end of standard input."""

import os
import signal
import threading
import time


def end_with_parent(within_s: float) -> None:
    """Sends this process SIGTERM when its standard input ends, and SIGKILL after `within_s`."""

    def watch() -> None:
        try:
            while os.read(0, 4096):
                pass
        except OSError:
            pass  # it is closed
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(within_s)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="parent", daemon=True).start()
