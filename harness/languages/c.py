"""C."""

from referee.harness.languages.items import Item, Toolchain
from referee.harness.languages.language import Argv, Language, SourceBuild
from referee.harness.languages.native import NATIVE, compiled


def _run(build: SourceBuild) -> Argv:
    """Links the kit, and the libraries that it needs, if the file includes it."""
    gcc = build.need("gcc")
    if b"<referee/" not in build.source.read_bytes():
        return compiled([gcc, "-O2", "-g"], build)
    build.need("make")
    kit = build.kit("make -s build/libreferee.a")
    libraries = (str(kit / "build" / "libreferee.a"), "-ljson-c", "-lm")
    return compiled([gcc, "-std=c11", "-O2", "-g", "-I", str(kit / "include")], build, *libraries)


C = Language(
    name="C",
    suffixes=(".c",),
    run=_run,
    debugger=NATIVE,
    kit="c",
    builders=("gcc", "cc", "make"),
    items=(
        Item("gcc", "gcc", "gcc", other_names=("cc", "CMAKE_C_COMPILER")),
        Item("make", "make", "make"),
        Item("stdlib.h", "libc6-dev", "glibc-devel", ask=""),
        Item(
            *("json-c/json.h", "libjson-c-dev", "json-c-devel", "json-c"),
            ask="JSON_C_VERSION",
            other_names=("json-c", "-ljson-c"),
        ),
        Item(
            *("msgpack.h", "libmsgpack-dev", "msgpack-devel", "msgpack"),
            ask="MSGPACK_VERSION_MAJOR . MSGPACK_VERSION_MINOR . MSGPACK_VERSION_REVISION",
            other_names=("msgpack", "-lmsgpackc"),
        ),
        Item("cmocka.h", "libcmocka-dev", "libcmocka-devel", "cmocka", ask="", other_names=("cmocka", "-lcmocka")),
        Item("valgrind", "valgrind", "valgrind", "valgrind"),
    ),
    toolchain=Toolchain(
        "C", ("gcc", "make", "stdlib.h", "json-c/json.h", "msgpack.h"), ("valgrind", "cmocka.h"), ("cmocka.h",)
    ),
)
