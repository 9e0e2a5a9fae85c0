"""Signals that end a run."""

import signal

import trio


async def stop_on_signals(stop: trio.Event, whole: trio.CancelScope, task_status: trio.TaskStatus[None]) -> None:
    """Stops at the first Ctrl-C, when running games may finish within seconds, and ends at the second.

    Ignored signals stay ignored, such as SIGHUP under nohup.
    """
    others = [number for number in (signal.SIGINT, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN]
    with trio.open_signal_receiver(signal.SIGTERM, *others) as received:
        task_status.started()
        async for _ in received:
            if stop.is_set():
                whole.cancel()
            stop.set()
