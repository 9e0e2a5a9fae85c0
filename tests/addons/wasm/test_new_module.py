"""A new bot that is built as a module."""

from pathlib import Path

from referee.addons.wasm.target import WASM
from referee.games import registry
from referee.harness.new import write as new

PINNED = "referee @ git+https://example.org/referee@abc123"


def test_it_names_and_installs_what_builds_modules(tmp_path: Path) -> None:
    def written(lang: str) -> tuple[str, str]:
        folder = tmp_path / lang
        new.write(registry.game("tictactoe"), lang, folder, PINNED, WASM)
        return (folder / "README.md").read_text(), (folder / ".github" / "workflows" / "check.yml").read_text()

    readme, workflow = written("rust")
    assert "cargo (1.63 or newer), rustc (1.63 or newer) and wasm32-wasip1." in readme
    assert "rustup target add wasm32-wasip1\n" in workflow
    assert "pip install --quiet 'wasmtime" in workflow
    readme, workflow = written("c")
    assert "clang-19, wasm-ld-19, " in readme
    assert " clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32 " in workflow
    assert "rustup" not in workflow
