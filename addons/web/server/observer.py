"""What an organiser can observe of the web process: metrics for Prometheus, and an access log."""

from collections.abc import Callable
from time import monotonic
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from referee.addons.web.server.access_log import AccessLog

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)


class Observer:
    """Notes every request, also in the access log, if any."""

    def __init__(
        self, connections: Callable[[], int], behind_s: Callable[[], float], access_log: AccessLog | None
    ) -> None:
        self.access_log = access_log
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "referee_http_requests", "Requests that have ended", ["method", "status"], registry=registry
        )
        self._seconds = Histogram(
            "referee_http_request_seconds",
            "From the head of a request to the end of its response",
            buckets=SECONDS,
            registry=registry,
        )
        self._open = Gauge("referee_http_open_requests", "Requests that are being answered", registry=registry)
        gauges = {
            "referee_http_connections": ("Open connections", connections),
            "referee_web_clock_behind_seconds": ("Time that no client was charged for", behind_s),
        }
        for name, (meaning, value) in gauges.items():
            Gauge(name, meaning, registry=registry).set_function(value)

    def metrics(self) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
        """Returns status, headers and body for Prometheus."""
        headers = [(b"content-type", CONTENT_TYPE_PLAIN_0_0_4.encode()), (b"cache-control", b"no-store")]
        return 200, headers, generate_latest(self._registry)

    async def observed(self, app: Any, scope: Any, receive: Any, send: Any) -> None:
        """Lets an application answer, and notes what it answers."""
        status, began = 0, monotonic()

        async def noting(message: Any) -> None:
            nonlocal status
            if message["type"] == "websocket.accept":
                status = 101
            elif not status:
                status = message.get("status", 0)
            await send(message)

        self._open.inc()
        try:
            await app(scope, receive, noting)
        finally:
            self._open.dec()
            method, seconds = scope.get("method", "GET"), monotonic() - began
            self._requests.labels(method, status or "none").inc()
            self._seconds.observe(seconds)
            if self.access_log is not None:
                self.access_log.add(scope, method, status, seconds)
