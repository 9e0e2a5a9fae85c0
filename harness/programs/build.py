"""Builds bots, in the cache: nothing is written beside a source, nor into the installed package.

A build is made again when its source, its kit or its compiler is another one, and only then. A folder is built in a
place of its own that never changes, so that its build tools find what they made before. It plays from a copy, which is
named by its content and which no later build touches.
"""

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NoReturn

from referee.harness.errors import RunError
from referee.harness.isolation import job, plan
from referee.harness.isolation.layers.cgroups import Group
from referee.harness.process.limits import Limits, exit_words, mebibytes
from referee.harness.process.usage import Meter
from referee.harness.programs import archive, build_cache, build_copy, toolchains
from referee.harness.programs.archive import Bundle
from referee.protocol.errors import printable

KEPT = frozenset(
    [
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CACHE_HOME"),
        *("LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "MAKEFLAGS", "PYTHONPATH", "VIRTUAL_ENV", "SOURCE_DATE_EPOCH"),
        *("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
        *toolchains.SETTINGS,
    ]
)
"""Environment variables that a build sees."""
KEPT_FAMILIES = (
    *("LC_", "CARGO_", "RUST", "GO", "CGO_", "JAVA_", "JDK_", "MAVEN_", "GRADLE_", "NODE_", "npm_", "NPM_", "PIP_"),
    *("CMAKE_", "PKG_CONFIG", "C_INCLUDE", "CPLUS_", "CCACHE_", "PYENV_", "NVM_", "ASDF_", "MISE_"),
)
"""So do variables whose names begin so: settings of compilers, build tools and their version managers."""
SECRET = re.compile("TOKEN|SECRET|PASSW|CREDENTIAL|API_?KEY|PRIVATE_KEY|SSH_|AUTH", re.IGNORECASE)
"""Variables with such names are kept from builds: a build is a program of the bot's author."""
SETTINGS = "bot.toml"
"""The file of a bot's folder that says how to build it."""
BUILD_LINES = 20
"""Of what a failed build printed, at most so many lines are shown."""
WORK, FILES, BEGUN = "work", "files", "begun"
"""In a project's work folder: the tree in which it is built, the names of its sources, and a mark that is there while
something changes the tree. A mark that is still there later means that the process was killed."""
TREE = "tree"
"""In the folder of a build: the tree from which it plays. The name is as long as `WORK`, which it replaces in files."""

Command = Callable[[Path], Sequence[str]]
"""The command that compiles a source file into the folder that it is given."""


Progress = Callable[[str, float], None]
"""Is told what is being built, such as `my_bot (C++)`, and for how many seconds, again and again."""

_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)
_name: ContextVar[str | None] = ContextVar("name", default=None)
_limits: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039 - a frozen value


class BuildError(RunError):
    """There is no program, and the fault is the bot's: its build fails, passes a limit or leaves no program."""


class BuildFailed(BuildError):
    """The command of a build has ended by itself, and said that it failed."""


class NoPlace(RunError):
    """A build cannot be made here, whoever's it is: the machine lacks a program that it needs, or room on a disk."""


NOT_FOUND = 127
"""The exit code of a shell that does not find a program."""
KILLED = 128
"""A shell adds to this the number of the signal that ended its last program. A process itself has a negative code."""
MISSING = re.compile(r"(?:^|: )([^\s:/]+): (?:command )?not found$", re.MULTILINE)
"""What it prints then; a name with a slash is a file of the bot's own."""
FULL = b"No space left on device"
"""What a build's tools print on a full disk."""
LITTLE_BYTES = 256 << 20
"""That is believed where a disk has no more room: compilers remove what they have written when they fail."""


# A folder, built by its own command.


def folder(found: Bundle, command: Sequence[str], inside: str, spec: str) -> Path:
    """A copy of a bundle's files in which `command` has been run, in the folder `inside` of it. RunError if it fails.

    Every command that is run in a bundle gets the same copy, so the examples of a kit share what they are built of.
    """
    tools = toolchains.identities(toolchains.builders(file.path for file in found.files))
    made = build_cache.named(["folder", found.identity, *tools])
    done = made / f"{build_cache.key([inside, *command])}.built"
    if not _is_made(made, done):
        # A second command for the same content, which may lie in another folder, is run where the first one was.
        work = build_cache.made_in(made) or build_cache.named(["work", str(found.folder), *tools])
        with build_cache.locked(work):
            if not _is_made(made, done):  # another process may have made it while this one waited
                _build(found, command, inside, spec, work)
                _publish(found, work, made, done)
                build_cache.prune(found.folder, keep={work, made})
    return made / TREE


def _is_made(made: Path, done: Path) -> bool:
    """Whether a build is complete; then this process uses it from now on."""
    with build_cache.locked(made):
        if not done.exists():
            return False
        build_cache.use(made)
        return True


class _NotCopied(RunError):
    """The sources could not be copied; the work folder is as good as before."""


def _build(found: Bundle, command: Sequence[str], inside: str, spec: str, work: Path) -> None:
    """Runs the command in the project's work folder. To be used under its lock."""
    begun = work / BEGUN
    if begun.exists() or _has_new_settings(found, inside, work):
        build_cache.discard(work)
    try:
        try:
            build_cache.make(work, found.folder)
            build_cache.use(work)
            begun.touch()
            build_copy.sync(found, work / WORK, work / FILES)
        except OSError as error:
            raise _NotCopied(f"{found.folder} cannot be copied to be built: {error}") from error
        with named(Path(spec).resolve().name):
            language = toolchains.language(file.path for file in found.files)
            tools = toolchains.builders(file.path for file in found.files)
            run(command, work / WORK / inside, spec, {str(work / WORK): str(found.folder)}, language, tools)
    except (BuildFailed, _NotCopied):
        begun.unlink(missing_ok=True)  # everything else may have left half a file
        raise
    begun.unlink()


def _has_new_settings(found: Bundle, inside: str, work: Path) -> bool:
    """Whether the last build had another `bot.toml`. Few build tools notice a change of their own command."""
    file = Path(inside, SETTINGS)
    before = work / WORK / file
    return before.is_file() and all(
        each.path != file.as_posix() or each.sha256 != archive.sha256(before) for each in found.files
    )


def _publish(found: Bundle, work: Path, made: Path, done: Path) -> None:
    """Copies what was built to where it plays, and says so."""
    with build_cache.locked(made):
        try:
            if not done.exists():  # a copy of the project may have been built at the same time
                build_cache.make(made, found.folder, work)
                build_copy.publish(work / WORK, made / TREE)
                done.touch()
        except OSError as error:
            raise RunError(f"what was built of {found.folder} cannot be kept: {error}") from error
        build_cache.use(made)


# A program of one source file.


def program(source: Path, tools: Iterable[str], command: Command, kit: str = "", called: str = "") -> Path:
    """The folder in which a source file is compiled by `command`, which is told that folder.

    The compiler lists what else it has read in `inputs.d` there, as for make; without that list the source is all.
    `kit` names the content of the kit that is used. `called`: the source has this name too in the folder.
    """
    named_by = ["program", str(source), archive.sha256(source), kit, *toolchains.identities(tools), *command(Path("."))]
    listing = build_cache.named(named_by).with_suffix(".inputs")
    with build_cache.locked(listing):
        if (inputs := build_cache.listed(listing)) is not None:
            made = build_cache.named([*named_by, *_hashes(inputs)])
            with build_cache.locked(made):
                if made.exists():
                    build_cache.use(made)
                    return made
        return _compiled(source, named_by, listing, command, called)


def _compiled(source: Path, named_by: list[str], listing: Path, command: Command, called: str) -> Path:
    with build_cache.draft() as new:
        if called:
            (new / called).symlink_to(source)
        shown = {str(new / called): str(source)} if called else {}
        with named(source.stem):
            tools = toolchains.builders([source.name])
            run(command(new), source.parent, str(source), shown, toolchains.language([source.name]), tools)
        inputs = _dependencies(new / "inputs.d", source.parent)
        made = build_cache.named([*named_by, *_hashes(inputs)])
        with build_cache.locked(made):
            if not made.exists():
                build_cache.put(new, made, source)
                build_cache.use(made)
        build_cache.list_inputs(listing, source, inputs)
        build_cache.prune(source, keep={made, listing})
    return made


def _hashes(files: Iterable[Path]) -> list[str]:
    """A line for each file; a file that is gone has no hash."""
    return [f"{archive.sha256(file) if file.is_file() else '-'} {file}" for file in files]


def _dependencies(rules: Path, cwd: Path) -> list[Path]:
    """The files that a compiler has read, as its rules for make have them."""
    if not rules.exists():
        return []
    text = rules.read_text("utf-8", "surrogateescape").replace("\\\n", " ")
    found: set[Path] = set()
    for line in text.splitlines():
        if not line.startswith("#") and ": " in line:
            words = re.split(r"(?<!\\)\s+", line.split(": ", 1)[1].strip())
            found.update(cwd / word.replace("\\ ", " ") for word in words if word)
    return sorted(found)


# Any build.


@contextmanager
def under(limits: Limits, progress: Progress | None = None) -> Iterator[None]:
    """Builds in this block, and in this thread, are made under these limits; `progress` hears how long they take."""
    before, before_progress = _limits.set(limits), _progress.set(progress)
    try:
        yield
    finally:
        _limits.reset(before)
        _progress.reset(before_progress)


@contextmanager
def named(name: str) -> Iterator[None]:
    """What is built in this block belongs to the bot of that name, unless it was named already."""
    before = _name.set(_name.get() or name)
    try:
        yield
    finally:
        _name.reset(before)


def run(
    command: Sequence[str],
    cwd: Path,
    spec: str,
    shown: dict[str, str],
    language: str = "",
    tools: Iterable[str] = (),
) -> None:
    """Runs a build below a supervisor, as a bot is run, but by our account and with our files. RunError, with what it
    said about its first error, unless it succeeds.

    It is over when the command has ended: nothing that it started lives on, nor if we are ended meanwhile, however
    that comes. `shown`: the paths in its words, and what the author knows them by. `tools`: the programs that it needs.
    """
    limits = _limits.get()
    program = shutil.which(command[0])
    try:
        with plan.room(limits.isolation):
            done = _done(program or command[0], command[1:], cwd, spec, language, tools)
    except OSError as error:
        raise RunError(f"{spec}: the build cannot be started: {error}") from error
    printed = excerpt(done.output)
    if done.code is None:
        raise RunError(f"{spec}: the build did not run to its end: {printed}")
    if done.code != 0:
        printed = printed or "it printed nothing"
        for path, known in shown.items():
            printed = printed.replace(path, known)
        missing = MISSING.search(printed) if done.code == NOT_FOUND else None
        if missing is not None and shutil.which(missing[1]) is None:
            raise NoPlace(f"{spec}: the build needs {missing[1]}, which is not on this machine")
        for place in (tempfile.gettempdir(), str(cwd)) if FULL in done.output else ():
            if shutil.disk_usage(place).free < LITTLE_BYTES:
                raise NoPlace(f"{spec}: the build failed where the disk of {place} is full; make room\n{printed}")
        kind = BuildFailed if 0 < done.code < KILLED else BuildError
        raise kind(f"{spec}: the build failed with {exit_words(done.code)}\n{printed}")


def _done(
    program: str, arguments: Sequence[str], cwd: Path, spec: str, language: str, tools: Iterable[str]
) -> job.Done:
    """Runs a build to its end, in a control group where there are some."""
    limits = _limits.get()
    start = plan.start_build(limits.isolation, limits.build_memory_bytes, limits.build_processes, limits.build_network)
    try:
        name = printable(_name.get() or spec)
        watch = Watch(limits, spec, start.group, f"{name} ({language})" if language else name)
        folders = start.group.paths() if start.group is not None else ()
        return job.run((program, *arguments), cwd, environment(tools), watch.look, start.launcher, folders)
    finally:
        if start.group is not None:
            start.group.remove()


class Watch:
    """Holds one build to its limits."""

    def __init__(self, limits: Limits, spec: str, group: Group | None, what: str) -> None:
        self.what = what
        self.limits = limits
        self.spec = spec
        self.group = group
        self._since = time.monotonic()
        self._progress = _progress.get()
        self._meter: Meter | None = None

    def look(self, root: int) -> None:
        """Reads what is below the process `root`, 0 = nothing yet. RunError for the limit that it has passed."""
        limits = self.limits
        taken_s = time.monotonic() - self._since
        if self._progress is not None:
            self._progress(self.what, taken_s)
        if taken_s > limits.build_s:
            raise self._over(f"did not end within {limits.build_s:g} s", "--build-time")
        if self.group is not None and self.group.out_of_memory():
            self._over_memory()
        if not root:
            return
        self._meter = self._meter or Meter(root, root, limits.build_memory_bytes)
        usage = self._meter.read_now()
        if limits.build_memory_bytes is not None and usage.memory_bytes > limits.build_memory_bytes:
            self._over_memory()
        if limits.build_processes is not None and usage.processes > limits.build_processes:
            raise self._over(f"ran more than {limits.build_processes} processes at once", "--build-processes")

    def _over_memory(self) -> NoReturn:
        assert self.limits.build_memory_bytes is not None
        raise self._over(f"wanted more than {mebibytes(self.limits.build_memory_bytes)} of memory", "--build-memory")

    def _over(self, what: str, option: str) -> BuildError:
        return BuildError(f"{self.spec}: the build {what}, which is its limit; {option} sets another")


def environment(tools: Iterable[str]) -> dict[str, str]:
    """The variables that a build sees: a PATH that leads to these programs, the language, settings of compilers."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if (name in KEPT or name.startswith(KEPT_FAMILIES)) and not SECRET.search(name)
    }
    return kept | {"PATH": toolchains.search_path(tools)}


def excerpt(output: bytes) -> str:
    """What a build printed, without colours. Of much, the lines around the first error, since compilers go on after
    it; the last ones if none calls itself an error."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", output.decode("utf-8", "backslashreplace"))
    lines = [line.rstrip() for line in text.strip().splitlines()]
    last = max(len(lines) - BUILD_LINES, 0)
    errors = (at for at, line in enumerate(lines) if re.search(r"\berror\b", line, re.IGNORECASE))
    start = min(max(next(errors, len(lines)) - BUILD_LINES // 4, 0), last)
    shown = lines[start : start + BUILD_LINES]
    return "\n".join([*shown, f"… {last - start} more lines"] if start < last else shown)
