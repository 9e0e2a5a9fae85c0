"""The Rust kit: its own checks, its bindings and its build.

test_every_kit.py tests what all kits have in common.
"""

import fcntl
import subprocess
from pathlib import Path

import pytest
from kits import PROBES, built
from needs import skip_without

from referee.games import registry
from referee.harness.common.paths import KITS
from referee.tools.kits import rust
from referee.tools.kits.shapes import Binding

KIT = KITS / "rust"

pytestmark = pytest.mark.usefixtures("rust_kit")


def cargo(*words: str | Path, cwd: Path | None = None, timeout: float = 200) -> None:
    """Runs cargo offline, with what the kit's build has fetched."""
    done = subprocess.run(
        ["cargo", *words, "--offline"], cwd=cwd or built("rust"), capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_librarys_own_tests_pass() -> None:
    cargo("test", "--quiet", "--release", "--lib")


# The bindings.


def test_every_shape_of_a_schema_is_bound() -> None:
    """Tests the kit with a made-up game, always in the same folder, so that cargo compiles only what has changed."""
    folder = built("rust") / "target" / "madeup"
    manifest = (KIT / "Cargo.toml").read_text("utf-8").replace('"examples/*"', "")
    manifest = manifest.replace("[features]\ndefault = [", '[features]\nmadeup = []\ndefault = ["madeup", ')
    binding = rust.emit(Binding.read((PROBES / "shapes_rust.json").read_text("utf-8"), "here"))
    checks = (PROBES / "madeup.rs").read_text("utf-8")
    texts = {path.relative_to(KIT): path.read_text("utf-8") for path in (KIT / "src").rglob("*.rs")}
    texts |= {Path(name): (KIT / name).read_text("utf-8") for name in ("Cargo.lock", "conformance.rs")}
    texts |= {
        Path("Cargo.toml"): manifest,
        Path("src/tests.rs"): "",
        Path("src/games/mod.rs"): rust.modules([*registry.names(), "madeup"]),
        Path("src/games/madeup.rs"): f"{binding}\n#[cfg(test)]\nmod checks {{{checks}}}\n",
    }
    with (built("rust") / "target" / "madeup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path, text in texts.items():
            file = folder / path
            if not file.is_file() or file.read_text("utf-8") != text:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
        for file in (folder / "src").rglob("*.rs"):
            assert file.relative_to(folder) in texts, "the copy of another version of the kit"
        cargo("test", "--quiet", "--release", "--lib", "--target-dir", built("rust") / "target", cwd=folder)


def test_the_sources_are_formatted() -> None:
    skip_without("rustfmt")
    cargo_fmt = subprocess.run(
        ["cargo", "fmt", "--all", "--check"], cwd=KIT, capture_output=True, text=True, timeout=60
    )
    assert (cargo_fmt.returncode, cargo_fmt.stdout) == (0, "")
