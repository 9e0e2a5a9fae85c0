"""`referee ladder play` and `check-change`: the two ends of a pull request."""

import re
import time
from datetime import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from msgspec import Struct

from referee.addons.ladder import names, playing, proof
from referee.addons.ladder import replays as packs
from referee.addons.ladder.change import Accused, BotChange, Errand, HandedIn, Refused, check_change
from referee.addons.ladder.cli.bots import check_bot
from referee.addons.ladder.commits import ORIGIN, advance, fetched, has_origin, newest, push_branch, write
from referee.addons.ladder.draw import BotVersion
from referee.addons.ladder.games import play_games
from referee.addons.ladder.keys import SigningKey, own_key
from referee.addons.ladder.merging import merge_of, words_of
from referee.addons.ladder.reading import Ladder
from referee.addons.ladder.records import StageKind
from referee.addons.ladder.verifying import changed_since
from referee.addons.ladder.waiting import duration, wait_of
from referee.addons.ladder.workshop import unpacked
from referee.addons.tournament.cli.worker_options import WorkerOptions
from referee.addons.tournament.intake.objects import Repository
from referee.harness.cli.exit_codes import AT_FAULT, INCONCLUSIVE, PLAYED
from referee.harness.cli.options import MORE, NOT_NEGATIVE
from referee.harness.cli.reports.text import counted, printable
from referee.harness.cli.screen import err, out, progress
from referee.harness.cli.signals import run
from referee.harness.common.errors import RunError, UsageError

MERGES = 5
"""How often to try again when somebody else has merged meanwhile."""
POLL_S = 5.0
"""How often to look whether something was merged."""
NO_LIMIT = 1 << 30
SPAN = re.compile(r"\+(\d+)([smhd])")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SEEN = "refs/referee/seen"
"""The newest commit of the ladder that this clone has played with, or the last one before its history was rewritten."""
MOST_LOST = 20
"""The most lines about a rewritten history."""
Folder = Annotated[Path, MORE]
Base = Annotated[str | None, MORE]


def play(
    *,
    runner: str,
    games: Annotated[int, Parameter(validator=NOT_NEGATIVE)] = 200,
    owner: str | None = None,
    merge: str | None = None,
    push: Annotated[str, MORE] = ORIGIN,
    until: str | None = None,
    replays: Path | None = None,
    base: Base = None,
    folder: Folder = Path(),
    workers: WorkerOptions = WorkerOptions(),
) -> int:
    """Claims, plays, seals and opens games: whatever is due next.

    Without a remote repository, the commits are on the branch that is checked out. With one, each is pushed as a branch
    of its own, for a pull request. The same command goes on when that is merged.

    Args:
        runner: Your runner's name. Its key is made at its first use.
        games: How many new games to claim; 0 = only play what a beacon has drawn or is about to
            draw for you, and stop then.
        owner: Your login: only write the file of a new runner to runners/, which a maintainer has to commit.
        merge: BRANCH: merge everything into this branch of `origin`, after the checks of `check-change`. For those who
            may write to it.
        push: The remote repository to push to, such as your fork.
        until: TIME: go on until then, such as +5h, +30m or 2026-11-30T18:00. Default: do what is due, and stop.
        replays: Keep the replays of the games in this folder.
        base: The ladder's newest commit. Default: the main branch of `origin`, or HEAD without it.
        folder: The clone of the ladder, if it is not the current folder.
    """
    names.check("--runner", runner)
    names.check("--owner", runner if owner is None else owner)
    _check_used(owner, merge, push, until, replays)
    end = _end(until)
    key = own_key(runner, make=True)
    with Repository(folder) as repository:
        if owner is not None:
            ((path, content),) = playing.runner_file(runner, key, owner).items()
            out.print(f"Wrote {write(repository, path, content)}. Next: have a maintainer commit it.")
            return PLAYED
        claims = 1 if end is None else NO_LIMIT
        volunteer = _Volunteer(repository, runner, key, games, merge, push, replays, base, workers, claims)
        while True:
            try:
                is_busy, next_at = volunteer.step(), volunteer.next_at
            except Refused:
                raise
            except RunError as error:  # such as a forge that does not answer
                if end is None:
                    raise
                err.print(printable(str(error)))
                is_busy, next_at = False, time.time() + POLL_S
            if not is_busy and volunteer.is_done:
                return PLAYED
            if (not is_busy and (end is None or next_at > end)) or (end is not None and time.time() > end):
                return PLAYED
            if not is_busy:
                time.sleep(max(0.1, min(next_at - time.time(), POLL_S)))


def _check_used(owner: str | None, merge: str | None, push: str, until: str | None, replays: Path | None) -> None:
    """Raises UsageError for an option that would do nothing."""
    playing_options = {"--merge": merge, "--push": push != ORIGIN, "--until": until, "--replays": replays}
    if owner is not None and (used := [option for option, value in playing_options.items() if value]):
        raise UsageError(f"--owner writes the file of a runner and plays nothing; leave {used[0]} out")
    if merge is not None and push != ORIGIN:
        raise UsageError(f"--merge pushes to {ORIGIN}; leave --push out")


def _end(until: str | None) -> float | None:
    """Returns the time of `--until`, in seconds since 1970; None without it."""
    if until is None:
        return None
    if span := SPAN.fullmatch(until):
        return time.time() + int(span[1]) * UNITS[span[2]]
    try:
        return datetime.fromisoformat(until).timestamp()
    except ValueError as error:
        raise UsageError(f"--until {until}: expected a time such as +5h, +30m or 2026-11-30T18:00") from error


class _Volunteer(Struct):
    """A runner that does what is due next."""

    repository: Repository
    runner: str
    key: SigningKey
    games: int
    merge: str | None
    push: str
    replays: Path | None
    base: str | None
    workers: WorkerOptions
    claims_left: int
    """How many claims this command may still make."""
    next_at: float = 0.0
    """When there may be something to do."""
    pushed: dict[tuple[str, str], int] = {}
    """Until when each thing that was pushed can be merged, in seconds since 1970."""
    said: str = ""
    lost: list[str] = []
    """The lines about a rewritten history that it has printed."""
    is_done: bool = False
    """Whether it makes no claims, and waits for no round."""

    def step(self) -> bool:
        """Does what is due. Returns False if nothing is, and says what it waits for."""
        ladder = Ladder(self.repository, newest(self.repository, self.base), has_network=True)
        self._compare(ladder)
        owner, now = playing.check_runner(ladder, self.runner, self.key), int(time.time())
        self.next_at = now + POLL_S
        todo = playing.tasks(ladder, owner, now)
        draw = playing.next_draw(ladder, now)
        self.is_done = not self.games and draw is None and all(task.ready <= now for task in todo)
        for task in todo:
            if (
                task.ready <= now
                and self.pushed.get((task.hash, task.stage.kind), 0) < now
                and self._do(ladder, task, owner)
            ):
                return True
        at, lapses = max(now, ladder.chain.now) + 1, ladder.chain.lapses(owner, now)
        why = ladder.chain.refusal(self.runner, owner, ladder.settings, at, lapses)
        if not why and self.games and self.claims_left and self.pushed.get(("", ""), 0) <= now:
            step = playing.pushed_claim(ladder, self.runner, now)
            step = step or playing.claim(ladder, self.runner, self.key, self.games, now)
            self._hand_in(step, b"")
            self.claims_left -= 1
            is_merged = self.merge is not None or not has_origin(self.repository)
            self.pushed["", ""] = now + ladder.settings.ahead if is_merged else step.due
            return is_merged
        self._say(ladder, todo, owner, why if not todo else "", now)
        return False

    def _do(self, ladder: Ladder, task: playing.Task, owner: str) -> bool:
        """Plays the games of a task, or takes those that were kept, and hands them in. Returns False if it cannot."""
        made = playing.kept(self.repository, task.hash, self.runner)
        is_opening = task.stage.kind is StageKind.OPEN
        if is_opening and (made is None or not playing.has_sealed(ladder, task, self.runner, made)):
            return False  # another machine or clone of this owner has sealed them
        if made is None:
            if len(task.stage.signatures) < len(task.stage.rounds):
                ladder.beacon.fetch(task.stage.rounds[-1])  # RunError says why it cannot be had
            places = ladder.places(task.hash, task.stage)
            with progress() as show:

                def on_game(done: int) -> None:
                    show(f"game {done} of {len(places)}")

                played = run(
                    play_games, ladder, task.hash, self.workers.opened, places, on_game, show, int(time.time())
                )
            made = playing.keep(self.repository, task, self.runner, owner, self.key, played)
        if task.stage.kind is not StageKind.SEAL:
            if self.replays is not None:
                batch = playing.batch_hash(made)
                out.print(f"replays  {packs.keep(self.replays, batch, made.pack)}")
            if self.merge is None and has_origin(self.repository):
                commit = packs.commit_of(self.repository, task.hash, made.pack)
                push_branch(self.repository, commit, packs.branch_of(task.claim, self.runner), self.push)
        ladder = Ladder(self.repository, newest(self.repository, self.base))
        self._hand_in(playing.step(ladder, task, self.runner, made), made.pack)
        self.pushed[task.hash, task.stage.kind] = task.stage.due
        return True

    def _hand_in(self, step: playing.Step, pack: bytes) -> None:
        """Pushes a step, or checks and merges it where that is possible. `pack`: the replays of its games."""
        repository, has_remote = self.repository, has_origin(self.repository)
        if self.merge is None and has_remote:
            self._push(step)
            return
        for number in range(MERGES):
            base, now = newest(repository, self.base), time.time()  # it is merged as of now, however long a check takes
            ladder, errand = check_change(repository, base, step.commit, "", now)
            if number == 0:
                _is_right(repository, ladder, errand, pack, self.workers)
            if advance(repository, merge_of(ladder, errand, step.commit, now), self.merge if has_remote else None):
                where = f"merged into {self.merge}" if has_remote else "committed"
                if isinstance(errand, HandedIn) and errand.is_lie:
                    where = f"{where} as a strike, because it is not what was sealed"
                out.print(f"{step.words}: {where}")
                return
        raise RunError(f"{self.merge} moved {MERGES} times meanwhile; repeat the command")

    def _push(self, step: playing.Step) -> None:
        """Pushes a step; again as the same commit if it was pushed before, since another restarts the forge's check."""
        now, commit = time.time(), step.commit
        before = playing.pushed(self.repository, f"{commit}^", step.branch, now)
        if before is not None and playing.adds_the_same(self.repository, before[0], commit):
            commit = before[0]
        push_branch(self.repository, commit, step.branch, self.push)
        playing.keep_pushed(self.repository, commit, step.branch)
        out.print(f"{step.words}: pushed as {step.branch}. Next: make a pull request of it.")
        out.print(f"It has to be merged by {_clock(step.due, int(now))}.")

    def _say(self, ladder: Ladder, todo: list[playing.Task], owner: str, why: str, now: int) -> None:
        """Says what comes next and when, once."""
        lines, chain = [why[:1].upper() + why[1:]] if why else [], ladder.chain
        for task in todo:
            games = f"{counted(task.claim.games, 'game')} of {task.claim.runner}, claim {task.claim.number}"
            left = duration(task.stage.due - now)
            if task.ready > now:
                lines.append(
                    f"{games}: round {task.stage.rounds[-1]} of the beacon draws them at {_clock(task.ready, now)}"
                )
                self.next_at = min(self.next_at, task.ready)
            else:
                lines.append(f"{games}: handed in as {task.stage.kind}, and not merged; that has to be within {left}")
        for hash in chain.of_runner.get(self.runner, ()):
            for stage in chain.stages(hash, now)[-1:]:
                if stage.end is None and now <= stage.due and all(hash != task.hash for task in todo):
                    wait = wait_of(ladder, hash, stage)
                    lines.append(f"{wait.claim}: {wait.words} in {duration(stage.due - now)} at the latest")
        if not lines and (at := playing.next_draw(ladder, now)) is not None:
            lines.append(f"The beacon draws owners for a claim at {_clock(at, now)}.")
            self.next_at = min(self.next_at, at)
        said = re.sub(r"\d+ \w+", "", "\n".join(lines))
        if lines and said != self.said:
            for line in lines:
                out.print(printable(line))
            out.print("The same command goes on.")
        self.said = said

    def _compare(self, ladder: Ladder) -> None:
        """Says what the ladder has lost since this clone has played last, such as a claim after a force push.

        The clone goes on to compare with what it has seen before the loss, which keeps the old commits, until its owner
        accepts the new history.
        """
        repository = self.repository
        seen = repository.text("for-each-ref", "--format=%(objectname)", SEEN)
        lost = list(changed_since(ladder, seen)) if seen and seen != ladder.commit else []
        if lost and lost != self.lost:
            for problem in lost[:MOST_LOST]:
                err.print(printable(problem))
            err.print(f"This clone keeps the old history. To accept the new one: git update-ref -d {SEEN}")
        if not lost and seen != ladder.commit:
            repository.run("update-ref", SEEN, ladder.commit)
        self.lost = lost


def _clock(at: int, now: int) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(at))}, in {duration(at - now)}"


def check_a_change(
    base: str,
    head: str,
    *,
    author: str,
    source: Annotated[str, Parameter(name="--from")] = ORIGIN,
    rules_only: bool = False,
    merge: str | None = None,
    folder: Folder = Path(),
    workers: WorkerOptions = WorkerOptions(),
) -> int:
    """Decides whether a pull request may be merged. Nothing of it is run outside of the sandbox.

    It may change its author's own bot, or add one claim, seal, batch of games, strike or checkpoint. A bot is checked,
    games of modules are played again, and the replays of native programs must obey the rules and give the results.

    Exit codes: 0 it may be merged, 1 refused, 4 not decided: the machine was busy.

    Args:
        base: The commit that it would be merged into.
        head: Its newest commit.
        author: The login of who made it.
        source: The repository that it comes from, whose branch has the replays of its games.
        rules_only: Decide from the files alone: fetch and play nothing.
        merge: BRANCH: then merge it into this branch of `origin`.
        folder: A clone of the ladder that has both commits.
    """
    try:
        with Repository(folder) as repository:
            head = repository.commit(head)  # a fetch may change what the name means
            for _ in range(MERGES):
                now = time.time()
                ladder, errand = check_change(repository, base, head, author, now)
                if not rules_only and not _is_right(repository, ladder, errand, source, workers):
                    return INCONCLUSIVE
                if merge is None or advance(repository, merge_of(ladder, errand, head, now), merge):
                    out.print(printable(f"accepted: {words_of(errand)}"))
                    return PLAYED
                if fetched(repository, merge) != repository.commit(base):  # somebody else has merged meanwhile
                    raise UsageError(f"{merge} has moved at {ORIGIN}, and {base} has not; name {ORIGIN}/{merge}")
    except Refused as refused:
        err.print(printable(f"refused: {refused}"))
        return AT_FAULT
    raise RunError(f"{merge} moved {MERGES} times meanwhile; run the workflow again")


def _is_right(
    repository: Repository, ladder: Ladder, errand: Errand, source: str | bytes, workers: WorkerOptions
) -> bool:
    """Checks a bot, or games and their replays, which `source` has. Refused if they are wrong.

    Returns False if the machine was too busy to tell.
    """
    with progress() as show:
        if isinstance(errand, HandedIn):
            packs.check_handed_in(ladder, errand, source)
            run(proof.prove, ladder, errand, workers.opened, show)
        elif isinstance(errand, Accused):
            run(proof.convict, ladder, errand, workers.opened, show)
    if not isinstance(errand, BotChange) or not errand.tree:
        return True
    bot = BotVersion(errand.name, errand.tree, False)
    report = check_bot(unpacked(repository, bot, ladder.settings.bot_bytes), ladder.settings)
    if not report.passed and not report.undecided:
        raise Refused(f"{errand.name} does not pass; `referee check` on your machine shows the same")
    return not report.undecided
