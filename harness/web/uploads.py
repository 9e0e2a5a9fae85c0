"""Uploads of an application: their bodies go to a file as they come."""

from functools import partial
from pathlib import Path

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request


async def saved(request: Request, path: Path, most: int) -> int:
    """Writes the body of a request to a new file as it comes, and returns its size in bytes.

    Raises HTTPException if it has more than `most` bytes or there is no room for it, and ClientDisconnect. Then there
    is no file.
    """
    size = 0
    try:
        async with await trio.open_file(path, "xb") as file:
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise HTTPException(413, f"the body is too long; expected at most {most} bytes")
                await file.write(piece)
    except BaseException as error:
        if not isinstance(error, FileExistsError):
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(partial(path.unlink, missing_ok=True))
        if isinstance(error, OSError) and not isinstance(error, FileExistsError):
            raise HTTPException(507, f"the server cannot keep this now: {error.strerror}") from error
        raise
    return size
