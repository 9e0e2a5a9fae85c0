"""The fixtures of tests whose workers start as forks."""

from forked import fork_server_socket, forked  # noqa: F401
