"""A program or a library that bots need, and the toolchains that are made of them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """A program, a header of a library, or a target of the Rust compiler."""

    name: str
    """The program's name on PATH, the header as `#include` names it, or the target as `rustc` names it."""
    debian: str
    fedora: str
    macos: str = ""
    """Homebrew's name for it. Empty: `xcode-select --install` brings it."""
    minimum: tuple[int, ...] = ()
    """The oldest version that the starter kits support; empty for any."""
    ask: str = "--version"
    """A program's option that prints its version, or a header's macros that make up its version."""
    other_names: tuple[str, ...] = ()
    """What compilers and build tools call it when they do not find it."""
    download: str = ""
    """The address of newer versions than a system's packages have."""
    platform: str = ""
    """The platform for which clang must find it, as clang names it; empty = this machine's."""
    is_rust_target: bool = False
    """Whether it is a part of Rust, which rustup installs."""

    @property
    def is_header(self) -> bool:
        """Whether a compiler looks for it."""
        return self.name.endswith((".h", ".hpp"))


@dataclass(frozen=True)
class Toolchain:
    """The items that a starter kit or a part of this project needs. The first one is the compiler of its headers."""

    name: str
    items: tuple[str, ...]
    test_items: tuple[str, ...] = ()
    """Needed only by tests."""
    bot_test_items: tuple[str, ...] = ()
    """The items of `test_items` that the tests of a new bot need too."""
