"""A block that changes our whole process, however many tasks and threads are in it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager


def shared(change: Callable[[], Iterator[None]]) -> Callable[[], AbstractContextManager[None]]:
    """Makes a context manager. The first of the blocks that overlap makes the change, and the last one undoes it."""
    lock, changed, blocks = threading.Lock(), ExitStack(), 0

    @contextmanager
    def block() -> Iterator[None]:
        nonlocal blocks
        with lock:
            if not blocks:
                changed.enter_context(contextmanager(change)())
            blocks += 1
        try:
            yield
        finally:
            with lock:
                blocks -= 1
                if not blocks:
                    changed.close()

    return block
