"""The conformance program: a bot for the pseudo-game `conformance`, which tests the wire and nothing else."""

from dataclasses import asdict
from typing import Any

from referee_kit.wire import Bot, run


class Conformance(Bot):
    game = "conformance"

    def __init__(self) -> None:
        self.notes: list[Any] = []

    def call(self, method: str, params: dict[str, Any]) -> Any:
        if method == "echo":
            return params["value"]
        if method == "fail":
            raise RuntimeError(params["message"])
        if method == "print":
            print(params["text"])
            return None
        if method == "nothing":
            return None
        if method == "notes":
            notes, self.notes = self.notes, []
            return notes
        if method == "clock":
            shown = asdict(self.clock)
            return {name: shown[name] for name in ("call_ms", "remaining_ms", "last_ms")}
        return super().call(method, params)

    def notice(self, method: str, params: dict[str, Any]) -> None:
        if method == "note":
            self.notes.append(params["value"])


if __name__ == "__main__":
    run(Conformance, "conformance")
