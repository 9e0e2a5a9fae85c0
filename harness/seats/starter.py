"""Starts the processes of bots: each in its sandbox, with a scratch folder of its own."""

import errno
import os
from collections.abc import Iterable, Sequence
from errno import E2BIG, EACCES, EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOEXEC, ENOTDIR, EPERM
from functools import partial
from pathlib import Path

from referee.harness.common.errors import NotIsolated, RunError
from referee.harness.common.paths import REPLAYS, TOURNAMENTS
from referee.harness.isolation import plan
from referee.harness.isolation.hidden_files import HiddenFiles
from referee.harness.isolation.layers.namespaces import BASE
from referee.harness.isolation.plan import SandboxPlan, SandboxSpec
from referee.harness.isolation.spawner import Spawner
from referee.harness.process.limits import Limits, rlimits
from referee.harness.programs import build_cache, kinds
from referee.harness.programs.entrant import Entrant
from referee.harness.programs.process_start import SETTINGS, environment, scratch_variables
from referee.harness.programs.start_problem import start_hint
from referee.harness.seats.program import Bot
from referee.harness.seats.scratch_folders import ScratchFolders
from referee.harness.seats.seat import Seat
from referee.harness.seats.start import MakePipes, Start

ELIBBAD = getattr(errno, "ELIBBAD", ENOEXEC)  # Linux has it, macOS does not
REFUSALS = (ENOENT, ENOTDIR, EACCES, EPERM, ENOEXEC, ELIBBAD, ELOOP, ENAMETOOLONG, E2BIG, EINVAL)
"""Errors by which the system refuses to execute a file. Others say that the machine lacks something."""


class StartRefused(RunError):
    """The system does not execute the bot's program in its sandbox."""


class Starter:
    """Starts the bots of a run, and knows what they may see."""

    def __init__(self, limits: Limits, spawner: Spawner, folder: Path, make_pipes: MakePipes) -> None:
        """`folder`: for the scratch folders."""
        self._limits = limits
        self._spawner = spawner
        self._make_pipes = make_pipes
        self._folders = ScratchFolders(folder)
        self._rlimits = rlimits(limits)
        self._environment = environment()
        self._scratches: dict[Seat, Path | None] = {}  # of all bots; None: it shares one
        self._shown: dict[Entrant, tuple[str, ...]] = {}
        self._plans: dict[Entrant, SandboxPlan] = {}
        self._hidden_by_plans: tuple[HiddenFiles, tuple[str, ...]] | None = None
        self._hidden = HiddenFiles().extended((), (REPLAYS, TOURNAMENTS))
        # Replays in folders that are hidden already. The next start hides them: a series has one for every match.
        self._not_hidden_yet: list[str] = []

    @property
    def started(self) -> tuple[Seat, ...]:
        """The bots that were started and not forgotten."""
        return tuple(self._scratches)

    def hide(self, files: Iterable[Path], folders: Sequence[Path]) -> bool:
        """Hides replays, and folders of replays, from bots that start from now on. Returns whether others see more."""
        elsewhere: list[str] = []
        for file in map(os.path.abspath, files):
            known = os.path.dirname(file) in self._hidden.places and not os.path.islink(file)
            (self._not_hidden_yet if known else elsewhere).append(file)
        before = self._hidden
        if elsewhere or folders:
            self._hidden = before.extended(elsewhere, folders)
        return self._hidden.places != before.places

    async def start(self, entrant: Entrant) -> Bot:
        """Starts a program. RunError if that fails; NotIsolated if a required guarantee is missing.

        StartRefused if the system does not execute it.
        """
        how = _start_of(entrant)
        sandboxes = self._plan(entrant)
        shared = sandboxes.scratch if plan.shares_scratch(sandboxes.layers) else None
        try:
            scratch = shared or self._folders.take()
        except OSError as error:
            raise RunError(f"no scratch folder can be made for {entrant.name}: {error}") from error
        env = (self._environment if entrant.image is None else SETTINGS) | dict(entrant.variables)
        env |= scratch_variables(scratch)
        try:
            sandbox = sandboxes.make(scratch, self._spawner.kept_group)
            argv = how.command(entrant.argv, self._limits.memory_bytes)
            make = partial(how.process, limits=how.limits(self._limits), scratch=scratch)
            process = await self._spawner.start(argv, entrant.cwd, env, make, self._rlimits, sandbox)
        except BaseException as error:
            if not shared:
                self._folders.give_back(scratch)
            if isinstance(error, (OSError, RunError)):
                raise _not_started(entrant, error) from error
            raise
        bot = how.seat(process, self._make_pipes, self._limits, entrant)
        self._scratches[bot] = None if shared else scratch
        return bot

    def forget(self, seats: Iterable[Seat]) -> list[Path]:
        """Forgets seats that are about to end. Returns their scratch folders, for `clear`."""
        return [folder for seat in seats if (folder := self._scratches.pop(seat, None)) is not None]

    def clear(self, folders: Iterable[Path]) -> None:
        """Takes back the scratch folders of bots that have ended, and ends what these have left behind."""
        self._spawner.end_strays()
        for folder in folders:
            self._folders.give_back(folder)

    def _plan(self, entrant: Entrant) -> SandboxPlan:
        """Returns the plan for the sandboxes of a program. It is made again only if it may show or hide other files."""
        if self._not_hidden_yet:
            self._hidden, self._not_hidden_yet = self._hidden.extended(self._not_hidden_yet, ()), []
        hidden = self._hidden, self._hidden.existing_places()
        if hidden != self._hidden_by_plans:
            self._hidden_by_plans = hidden
            self._plans.clear()
        if (made := self._plans.get(entrant)) is None:
            try:
                made = self._new_plan(entrant)
                if plan.shares_scratch(made.layers):
                    self._folders.make_shared()
            except NotIsolated as error:
                raise NotIsolated(f"{entrant.name} is not started: {error}") from error
            except (OSError, RunError) as error:
                raise _not_started(entrant, error) from error
            if not made.lists_entries:
                self._plans[entrant] = made
        return made

    def _new_plan(self, entrant: Entrant) -> SandboxPlan:
        how = _start_of(entrant)
        limits = how.limits(self._limits)
        if entrant not in self._shown:  # looked up once, because it searches folders
            self._shown[entrant] = () if entrant.image is not None else _shown(entrant)
        spec = SandboxSpec(
            named=how.command(entrant.named_words, self._limits.memory_bytes),
            cwd=entrant.cwd,
            path=self._environment.get("PATH", ""),
            scratch=self._folders.shared if entrant.image is None else Path(BASE),
            whole=(*self._shown[entrant], *how.folders()),
            memory_bytes=limits.memory_bytes,
            processes=limits.processes,
            scratch_bytes=limits.scratch_bytes,
            hidden=self._hidden,
            submitted=None if entrant.named is None else entrant.argv,
            image=entrant.image,
        )
        return plan.plan_sandbox(limits.isolation, spec)


def _shown(entrant: Entrant) -> tuple[str, ...]:
    """Returns what an entrant may read besides its own folder: the builds that its command names, and its kind's."""
    words = entrant.named_words
    return (*build_cache.builds_in((*words, str(entrant.cwd))), *kinds.shown(words))


def _start_of(entrant: Entrant) -> Start:
    return kinds.called(entrant.kind).start() or Start()


def _not_started(entrant: Entrant, error: Exception) -> RunError:
    hint = start_hint(entrant.argv[0]) if entrant.image is None else ""
    kind = StartRefused if _is_refused(entrant.argv[0], str(error)) else RunError
    return kind(f"{entrant.name} cannot be started: {error}{hint}")


def _is_refused(program: str, text: str) -> bool:
    """Whether these are the words for a program that the system does not execute: the launcher's, or Python's."""
    errors = [(code, os.strerror(code)) for code in REFUSALS]
    return any(text in (f"{program}: {words}", str(OSError(code, words, program))) for code, words in errors)
