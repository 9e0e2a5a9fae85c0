"""When the bytes of a request came, as closely as a loop can tell that is busy with other things too.

What the loop did before it looked at the socket is in nobody's time.
"""

import trio

from referee.harness.process.stall_clock import presence

WAITED_S = 0.00005
"""A look at the sockets that took longer has waited for them: what it found had only just come."""


class Arrivals(trio.abc.Instrument):
    """Notes when the loop looked at its sockets. `latest` is the moment since which the last bytes may have been there.

    Where the loop had to wait for them they came at that moment; else at any time since the look before, and the
    earliest counts, in the client's favour.
    """

    def __init__(self) -> None:
        self._presence = presence()
        self.latest = self._presence.now()
        self._looked = self._begun = self.latest

    def before_io_wait(self, timeout: float) -> None:
        """The loop looks at its sockets."""
        self._begun = self._presence.now()

    def after_io_wait(self, timeout: float) -> None:
        """It goes on."""
        now = self._presence.now()
        self.latest = now if now - self._begun > WAITED_S else self._looked
        self._looked = now
