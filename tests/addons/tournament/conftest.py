"""The fixtures of tests of pages, and of those whose workers start as forks."""

from forked import fork_server_socket, forked  # noqa: F401
from page_fixtures import framed, opened, paged, played, viewing, visited, window  # noqa: F401
