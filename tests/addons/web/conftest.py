"""The fixtures of tests of pages."""

from page_fixtures import framed, opened, paged, played, visited, window  # noqa: F401
from page_fixtures import viewing as viewing_process  # noqa: F401
from watching import room, viewing, watched  # noqa: F401
