"""Every example of SPEC.md is a vector, shown as it is and with the very words that its author would read."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from conformance import expanded, frame_bytes
from vectors import VECTORS, fed, load

from referee.protocol.errors import RemoteProtocolError
from referee.protocol.messages import Encoding

SPEC = Path(VECTORS.parent, "SPEC.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```(\S+)( msgpack)?\n(.*?)^```$", SPEC, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("name", "encoding", "shown"), EXAMPLES, ids=[name for name, _, _ in EXAMPLES])
def test_an_example_is_its_vector(name: str, encoding: str, shown: str) -> None:
    assert shown == rendered(name, Encoding(encoding.strip() or "json"))


def test_every_vector_that_the_text_names_exists() -> None:
    named = re.findall(r"`((?:frames|faults|dialogues)/\w+)`", SPEC)
    assert len(named) >= 10
    for name in named:
        load(name)


def test_there_are_examples_of_everything() -> None:
    folders = {name.partition("/")[0] for name, _, _ in EXAMPLES}
    assert folders == {"frames", "faults", "dialogues", "rules"}
    assert len(EXAMPLES) >= 35


def rendered(name: str, encoding: Encoding) -> str:
    """A vector as SPEC.md shows it."""
    vector = load(name)
    if name.startswith("rules/"):
        lines = [f"-> {_compact(vector['request'])}", f"<- {_compact(vector['answer'])}"]
        lines += [f"!! {words}" for words in vector.get("fault", ())]
        return "".join(f"{line}\n" for line in lines)
    if "steps" in vector:
        return "".join(f"{line}\n" for step in vector["steps"] for line in dialogue_lines(step))
    arrow = "->" if vector["from"] == "referee" else "<-"
    data = frame_bytes(vector["frame"], encoding)
    text = data.decode().removesuffix("\n") if encoding is Encoding.JSON else data.hex()
    lines = [f"{arrow} {line}" for line in text.replace("\r", "\\r").split("\n")]
    if "fault" in vector:
        with pytest.raises(RemoteProtocolError) as caught:
            fed(vector, encoding, "whole")
        lines.append(f"!! {caught.value}")
    return "".join(f"{line}\n" for line in lines)


def dialogue_lines(step: dict[str, Any]) -> list[str]:
    """The frames of one step. `initialize` is cut short; it is shown whole elsewhere."""
    if "initialize" in step:
        number = step.get("id", 0)
        hello = {"name": "conformance", "encoding": "json", "reuse": True}
        return [
            f'-> {{"jsonrpc":"2.0","id":{number},"method":"initialize","params":{{…}}}}',
            "<- " + _compact({"jsonrpc": "2.0", "id": number, "result": hello}),
        ]
    if "end" in step:
        return ["-> " + _compact({"jsonrpc": "2.0", "method": "exit"})]
    arrow, message = ("->", step["send"]) if "send" in step else ("<-", step["expect"])
    return [f"{arrow} " + _compact(expanded({"jsonrpc": "2.0", **message}))]


def _compact(message: Any) -> str:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
