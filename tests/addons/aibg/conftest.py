"""The fixtures of tests of pages."""

from page_fixtures import framed, opened, paged, played, viewing, visited, window  # noqa: F401
