"""The files that a build may read and change: toolchains, their caches, and the bot's own folder.

Everything else in the user's folders is closed to it: keys, settings with passwords, other bots.
"""

import hashlib
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from referee.harness.common.paths import KITS
from referee.harness.isolation.build_plan import BuildFiles
from referee.harness.isolation.layers.namespaces import BASE
from referee.harness.isolation.visible_paths import SYSTEM_FOLDERS, is_inside, outermost
from referee.harness.languages import toolchains
from referee.harness.programs import build_cache

Environment = Mapping[str, str]

CACHE_FOLDERS = {
    "XDG_CACHE_HOME": ".cache",
    "GOPATH": "go",
    "CARGO_HOME": ".cargo",
    "GRADLE_USER_HOME": ".gradle",
    "npm_config_cache": ".npm",
    "NUGET_PACKAGES": ".nuget/packages",
}
"""Variables that name a folder with caches, and that folder's default in the home folder."""
CACHE_VARIABLES = (*CACHE_FOLDERS, "GOCACHE", "GOMODCACHE", "CCACHE_DIR", "PIP_CACHE_DIR")
NPM_INDEX = "_cacache/index-v5"
"""npm appends to its files. All other tools write new files."""
MADE = ("go-build", "ccache", ".ccache")
"""Caches without which their tool does not run."""
CACHES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "go": (("GOCACHE", "XDG_CACHE_HOME", "go-build"), ("GOMODCACHE", "GOPATH", "pkg/mod")),
    "cargo": (("", "CARGO_HOME", "registry"), ("", "CARGO_HOME", "git")),
    "mvn": (("", "HOME", ".m2/repository"), ("", "HOME", ".m2/wrapper")),
    "gradle": (("", "GRADLE_USER_HOME", "caches"), ("", "GRADLE_USER_HOME", "wrapper")),
    "npm": (
        ("", "npm_config_cache", "_cacache/content-v2"),
        ("", "npm_config_cache", NPM_INDEX),
        ("", "XDG_CACHE_HOME", "yarn"),
    ),
    "dotnet": (("", "NUGET_PACKAGES", ""),),
    "pip": (("PIP_CACHE_DIR", "XDG_CACHE_HOME", "pip"),),
    "gcc": (("CCACHE_DIR", "XDG_CACHE_HOME", "ccache"), ("", "HOME", ".ccache")),
}
"""By build tool, its caches: the variable that names one, or else a folder in another one."""
USERS: dict[str, tuple[str, ...]] = {
    "go": (".go",),
    "cargo": (".rs", "Cargo.toml"),
    "mvn": ("pom.xml",),
    "gradle": (".gradle", ".kts"),
    "npm": ("package.json",),
    "dotnet": (".cs", ".fs", ".vb", ".csproj", ".fsproj", ".sln"),
    "pip": (".py", "requirements.txt", "pyproject.toml"),
    "gcc": (".c", ".cc", ".cpp", ".h", ".hpp", "Makefile", "CMakeLists.txt"),
}
"""By build tool, how the names of the files end for which it runs."""
PACKAGES = frozenset({"go", "cargo", "mvn", "npm"})
"""The build tools with which a kit's bots download packages, unless a cache has them."""
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "VIRTUAL_ENV")
NAMED = re.compile(r"(?:^|[\s:;,=]|-[IL])(/[^\s:;,]+)")
"""A path in the value of a variable, as in `-I/opt/include` or `/a:/b`."""
CONFIGURATION = re.compile("CONFIG|SETTINGS|RC$|GOENV", re.IGNORECASE)
"""Names of variables that name a file in which passwords may be."""


def files_of(
    argv: Sequence[str],
    cwd: Path,
    changed: Path,
    env: Environment,
    sources: Collection[str],
    source: Path | None = None,
    layers: Path | None = None,
) -> BuildFiles:
    """Returns the files of a build, whose first word is the path of a program.

    `changed`: the folder in which it builds. `sources`: the names of the bot's files, which decide whose caches it
    sees. `source`: a file of the user's that is compiled where it lies. `layers`: the folder for what the bot's builds
    change in caches; None = no caches.
    """
    home = home_folder(env)
    caches = [] if layers is None else [*_caches(env, home, sources)]
    private = [home] if home else []
    for name in CACHE_VARIABLES:
        folder = _real(env.get(name, ""))
        if folder and _can_be_replaced(folder) and not is_inside(folder, private):
            private.append(folder)
    # The command of a folder is its author's, so that it shows no build of somebody else.
    needed = () if source is None else (str(source), os.path.realpath(source.parent), str(KITS))
    builds = () if source is None else build_cache.builds_in(argv)
    return BuildFiles(
        program=argv[0],
        path=env.get("PATH", ""),
        cwd=os.path.realpath(cwd),
        changed=os.path.realpath(changed),
        toolchains=tuple(_toolchains(env, home)),
        readable=(*builds, *_named(env, home)),
        private=tuple(private),
        caches=tuple((cache, str(layers / _key(cache)), _kind(cache)) for cache in caches if layers is not None),
        needed=needed,
    )


def has_packages(tool: str, env: Environment) -> bool:
    """Tells whether a cache of packages that a build tool has is there, and not empty."""
    caches = _caches(env, home_folder(env), USERS[tool])
    return any(os.listdir(cache) for cache in caches if os.path.basename(cache) not in MADE)


def home_folder(env: Environment) -> str:
    """Returns the home folder; empty if there is none, or if the system lies in it."""
    home = _real(env.get("HOME", ""))
    return home if home and _can_be_replaced(home) else ""


def _can_be_replaced(folder: str) -> bool:
    return not any(is_inside(path, [folder]) for path in (*SYSTEM_FOLDERS, BASE))


def _real(path: str) -> str:
    """Returns a folder without links; empty if it is none."""
    return os.path.realpath(path) if os.path.isabs(path) and os.path.isdir(path) else ""


def _caches(env: Environment, home: str, sources: Collection[str]) -> Iterator[str]:
    for tool, caches in CACHES.items():
        if not any(name.endswith(USERS[tool]) for name in sources):
            continue
        for variable, parent, name in caches:
            above = env.get(parent, "") or os.path.join(home, CACHE_FOLDERS.get(parent, ""))
            folder = _real(env.get(variable, "") or os.path.join(above.partition(":")[0], name))
            if folder and not is_inside(home, [folder]):
                yield folder


def _kind(cache: str) -> str:
    if cache.endswith(NPM_INDEX):
        return "files"
    return "made" if os.path.basename(cache) in MADE else "folders"


def _key(cache: str) -> str:
    return hashlib.sha256(os.fsencode(cache)).hexdigest()[:16]


def _toolchains(env: Environment, home: str) -> Iterator[str]:
    """Yields the folders in which compilers and build tools are installed, outside of the system's."""
    rustup = _real(env.get("RUSTUP_HOME", "") or os.path.join(home, ".rustup"))
    if rustup:
        yield rustup
    others = {home, os.path.join(home, ".local"), *(os.path.join(home, name) for name in CACHE_FOLDERS.values())}
    others |= {_real(env.get(name, "")) for name in CACHE_FOLDERS}
    found = [os.path.realpath(path) for path in map(toolchains.find, sorted(toolchains.KNOWN)) if path is not None]
    for folder in {os.path.dirname(path) for path in found}:
        above = os.path.dirname(folder)
        if os.path.basename(folder) == "bin" and above not in others and not is_inside(home, [above]):
            yield above


def _named(env: Environment, home: str) -> list[str]:
    """Returns the folders and files that the user names in variables of compilers and build tools."""
    found = []
    for name, value in env.items():
        if name in CACHE_VARIABLES or not (toolchains.is_setting(name) or name in CERTIFICATES):
            continue
        for path in NAMED.findall(value):
            is_file = os.path.isfile(path) and not CONFIGURATION.search(name)
            if (is_file or os.path.isdir(path)) and path != "/" and not is_inside(home, [os.path.realpath(path)]):
                found.append(os.path.realpath(path))
    return outermost(found)
