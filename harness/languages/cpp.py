"""C++."""

import os
import re
from pathlib import Path

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, Language, SourceBuild
from referee.harness.languages.native import NATIVE, compiled

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
NLOHMANN = "NLOHMANN_JSON_VERSION_MAJOR . NLOHMANN_JSON_VERSION_MINOR . NLOHMANN_JSON_VERSION_PATCH"


def _run(build: SourceBuild) -> Argv:
    """Links the parts of the kit that the file includes; these are compiled once for all bots."""
    command = [build.need("g++"), "-std=c++17", "-O2", "-g"]
    known = {source.stem for source in (build.kit_sources / "src").glob("*.cpp")}
    parts = sorted(_kit_headers(build.source, build.kit_sources / "include") & known)
    if not parts:
        return compiled(command, build)
    parts += ["frames"]
    kit = build.kit(" ".join(["./library.sh", *parts]))
    objects = [str(kit / "library" / f"{part}.o") for part in parts]
    return compiled([*command, "-I", str(kit / "include")], build, *objects)


def _kit_headers(path: Path, include: Path) -> set[str]:
    """Returns the names of the kit's headers that a file includes, directly or indirectly."""
    seen, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        for name in map(os.fsdecode, INCLUDE.findall(file.read_bytes())):
            waiting += [file.parent / name, include / name]
    return {file.stem for file in seen if file.is_relative_to(include)}


CPP = Language(
    name="C++",
    suffixes=(".cpp", ".cc"),
    run=_run,
    debugger=NATIVE,
    kit="cpp",
    aliases=("c++",),
    builders=("g++", "c++", "cmake", "make"),
    items=(
        Item("g++", "g++", "gcc-c++", minimum=(8,), other_names=("c++", "CMAKE_CXX_COMPILER")),
        Item("cmake", "cmake", "cmake", "cmake", (3, 20), download="https://cmake.org/download"),
        Item(
            *("nlohmann/json.hpp", "nlohmann-json3-dev", "json-devel", "nlohmann-json", (3, 10)),
            ask=NLOHMANN,
            other_names=("nlohmann_json",),
        ),
        Item("gtest/gtest.h", "libgtest-dev", "gtest-devel", "googletest", ask="", other_names=("GTest", "-lgtest")),
    ),
    toolchain=Toolchain("C++", ("g++", "cmake", "make", "nlohmann/json.hpp"), ("gtest/gtest.h",)),
)
