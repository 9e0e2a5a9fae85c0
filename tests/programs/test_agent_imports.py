"""We find out what an agent imports without running it."""

import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from referee.harness.programs import agent_imports


def test_sources_are_read_in_several_threads(tmp_path: Path) -> None:
    """A thread that builds a syntax tree lets another one run when it tidies up; see `ONE_AT_A_TIME`."""
    source = tmp_path / "agent.py"
    source.write_text(f"x = {'(' * 30}[1, 2]{')' * 30}\n" * 400)
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()

    class Tidied:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            sum(range(20))

    def parsed(_: int) -> bool:
        kept = [Tidied() for _ in range(20)]
        del kept
        return agent_imports.parsed(source) is not None

    try:
        sys.setswitchinterval(1e-6)
        gc.set_threshold(50)
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(parsed, range(60)))
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
