"""Protocol errors, split by blame: `LocalProtocolError` is our bug, `RemoteProtocolError` the other end's fault."""

from typing import Any

import msgspec

from referee.protocol.text import quote

UNDECODABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoding raises for bytes that are not what was expected."""


class LocalProtocolError(Exception):
    """We broke the protocol, for example with a call while another is open. A bug."""


class RemoteProtocolError(Exception):
    """The other end broke the protocol. The text is one printable line for its author."""


def broken(reason: str, frame: bytes | bytearray) -> RemoteProtocolError:
    """Returns the error for a frame that is no message: the reason, then the frame."""
    return RemoteProtocolError(f"{reason}: {quote(frame)}")


def misplaced(reason: str, message: Any) -> RemoteProtocolError:
    """Returns the error for a well-formed message that is not allowed here: the reason, then the message as JSON."""
    return broken(reason, msgspec.json.encode(message))


def stray_print(text: bytes | bytearray) -> RemoteProtocolError:
    """Returns the error for text that was not meant for the other end."""
    return RemoteProtocolError(f'wrote "{quote(text)}" to standard output; print debugging to standard error')
