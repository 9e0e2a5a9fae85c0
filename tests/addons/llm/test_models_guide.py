"""docs/how-to/language-models.md, followed to the letter. A service of the tests stands for those of the page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from guides import DOCS, commands, run
from model_service import ModelService, serving

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(580)]

GUIDE = DOCS / "how-to" / "language-models.md"
ADDRESSES = ("http://127.0.0.1:11434/v1", "https://api.example.com/v1")


@pytest.fixture
def service() -> Iterator[ModelService]:
    with serving() as running:
        yield running


def sent_to(service: ModelService, text: str) -> str:
    """Returns commands of the page with the address of the service instead of those that it shows."""
    for address in ADDRESSES:
        text = text.replace(address, service.url)
    text = re.sub(r"(?<=')((?:\w+=)?llm:)(?!--url)", rf"\1--url {service.url} ", text)
    return re.sub(r"(?<= )llm:(\S+)", rf"'llm:--url {service.url} \1'", text)


def test_the_commands_of_the_guide_work(tmp_path: Path, service: ModelService) -> None:
    match, others, transcripts, bench, repeat, tournament = (sent_to(service, text) for text in commands(GUIDE))
    assert "gpt-oss-20b" in run(match, tmp_path)
    local, remote = others.splitlines()
    assert "qwen3:8b" in run(local, tmp_path)
    assert "big-model" in run(remote, tmp_path, stdin="*\n" * 99, API_KEY="nobodys-key")
    assert service.headers[-1]["Authorization"] == "Bearer nobodys-key"
    assert "gpt-oss-20b wins" in run(transcripts, tmp_path)
    assert "putToken" in (tmp_path / "page.html").read_text("utf-8"), "the page has the completions"
    measured = run(bench, tmp_path)
    asked = len(service.requests)
    assert run(repeat, tmp_path).splitlines()[:4] == measured.splitlines()[:4]
    assert len(service.requests) == asked, "a bench that is repeated asks no service"
    assert "10 of 10 games" in run(tournament, tmp_path)
