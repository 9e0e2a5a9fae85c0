"""The workflows of a new ladder: their steps run as scripts in a clean environment, as a runner would run them."""

import base64
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml
from ladders import Cup
from modules import bot

from referee.addons.ladder.keys import SigningKey
from referee.addons.ladder.playing import claim, runner_file

COMMAND = r"(pip install '[^']+'|cd [^;&|]+|git (clone|fetch|remote set-url) [^;&|]+|referee ladder [^;&|]+)$"
SECRET = sha256(b"forge").digest()


def workflow(cup: Cup, name: str) -> Any:
    return yaml.safe_load((cup.repository.folder / name).read_text("utf-8"))


@pytest.fixture
def cup(tmp_path: Path) -> Cup:
    """A ladder of two modules on a forge, `forge.git`, with the forge's own runner."""
    with Cup(tmp_path / "cup", games=4, whole=4, beacon='beacon = "merge"\n') as cup:
        cup.now = int(time.time())
        for name, column in (("ada", "C"), ("bob", "D")):
            answer = json.dumps({"action": "putToken", "column": column})
            toml = f'run = ["bot.wasm"]\nowner = ["{name}"]\n'.encode()
            cup.maintain({f"bots/{name}/bot.toml": toml, f"bots/{name}/bot.wasm": bot(answer)})
        cup.keys["forge"] = SigningKey(SECRET)
        cup.maintain(runner_file("forge", cup.keys["forge"], "owner"))
        cup.add_runner("laptop", "ann")
        git(tmp_path, "clone", "--quiet", "--bare", str(cup.repository.folder), "forge.git")
        git(cup.repository.folder, "remote", "add", "origin", str(tmp_path / "forge.git"))
    return cup


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def run(cup: Cup, lines: list[str], env: Mapping[str, str], job: str, clone: bool = True) -> tuple[int, str]:
    """Runs the lines of a job in a fresh clone, with a new home folder and nothing else of this machine's variables.

    Without `clone`, they run in an empty folder.
    """
    top = cup.repository.folder.parent
    folder, home = top / f"{job}-clone", top / f"{job}-home"
    if clone:
        git(top, "clone", "--quiet", "forge.git", folder.name)
    else:
        folder.mkdir()
    home.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "CI": "true", "GIT_CONFIG_NOSYSTEM": "1"}
    settings |= {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
    text = "\n".join(line for line in lines if not line.startswith("pip install"))
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        cwd=folder, env=settings | dict(env), capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def steps(job: Mapping[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_the_workflows_call_commands_and_hold_no_logic(cup: Cup) -> None:
    names = [f".github/workflows/{name}.yml" for name in ("submit", "play", "verify", "publish")]
    lines = [line for name in names for job in workflow(cup, name)["jobs"].values() for line in steps(job)]
    gitlab = workflow(cup, ".gitlab-ci.yml")
    assert {"submit", "merge", "play", "verify", "pages"} <= gitlab.keys()
    lines += [line for job in gitlab.values() if isinstance(job, dict) for line in job.get("script", ())]
    for line in lines:
        assert re.match(COMMAND, line), line
        assert "${{" not in line  # what a stranger writes, such as a title, must not become part of a script


def test_the_pages_follow_what_a_workflow_merges(cup: Cup) -> None:
    """GitHub starts no workflow for a push with the token of another one."""
    publish = workflow(cup, ".github/workflows/publish.yml")
    pushing = []
    for name in ("submit", "play", "verify"):
        jobs = workflow(cup, f".github/workflows/{name}.yml")["jobs"]
        pushing += [name for job in jobs.values() if any("--merge" in line for line in steps(job))]
    assert pushing and publish[True]["workflow_run"] == {"workflows": pushing, "types": ["completed"]}
    assert publish["concurrency"]["cancel-in-progress"] is False  # or a busy ladder would never have new ones


def test_a_pull_request_never_brings_its_own_workflow_and_bots_play_without_the_right_to_write(cup: Cup) -> None:
    submit = workflow(cup, ".github/workflows/submit.yml")
    assert [*submit[True]] == ["pull_request_target"]  # YAML reads the key `on` as true
    check, merge = submit["jobs"]["check"], submit["jobs"]["merge"]
    assert check["permissions"] == {"contents": "read"} and merge["needs"] == "check"
    for job in (check, merge):
        checkout = next(step for step in job["steps"] if step.get("uses", "").startswith("actions/checkout"))
        assert "ref" not in checkout["with"] and "repository" not in checkout["with"]
    assert "--rules-only" in steps(merge)[-1] and "--rules-only" not in steps(check)[-1]


@pytest.mark.slow
def test_the_steps_of_the_workflows_run_on_a_clean_machine(cup: Cup, tmp_path: Path) -> None:
    forge = tmp_path / "forge.git"
    key = {"RUNNER": "forge", "REFEREE_RUNNER_KEY": base64.b64encode(SECRET).decode()}
    lines = [
        line.partition(" --until")[0] for line in steps(workflow(cup, ".github/workflows/play.yml")["jobs"]["play"])
    ]
    code, printed = run(cup, lines, key, "play")
    assert code == 0 and "4 games of forge: claim 1 of forge: merged into main" in printed, printed
    assert list((tmp_path / "play-clone" / "replays").glob("*/*.jsonl.gz"))

    git(cup.repository.folder, "fetch", "--quiet", "origin")
    base = git(cup.repository.folder, "rev-parse", "origin/main")
    head = claim(cup.ladder(base), "laptop", cup.keys["laptop"], 4).commit
    cup.repository.__exit__()
    git(cup.repository.folder, "push", "--quiet", str(forge), f"{head}:refs/pull/7/head")
    submit = workflow(cup, ".github/workflows/submit.yml")["jobs"]
    env = {"AUTHOR": "ann", "HEAD": head, "PULL": "7", "FORK": str(forge)}
    for job in ("check", "merge"):
        code, printed = run(cup, steps(submit[job]), env, job)
        assert code == 0 and "accepted: claim 1 of laptop" in printed, printed
    assert git(forge, "cat-file", "-t", "main:claims/laptop/000001.json") == "blob"

    code, printed = run(cup, steps(workflow(cup, ".github/workflows/verify.yml")["jobs"]["verify"]), {}, "verify")
    assert code == 0 and "verified" in printed, printed
    code, printed = run(cup, steps(workflow(cup, ".github/workflows/publish.yml")["jobs"]["publish"]), {}, "publish")
    assert code == 0 and (tmp_path / "publish-clone" / "site" / "runners" / "forge.html").is_file()


FORK, PROJECT = "https://gitlab.test/ann/cup.git", "https://gitlab.test/group/cup"
"""Addresses that lead to bare repositories on this disk: no forge can be reached from here."""


def gitlab_variables(cup: Cup, head: str) -> dict[str, str]:
    """Returns what GitLab gives to the jobs of a merge request. Its addresses lead to repositories on this disk."""
    top = cup.repository.folder.parent
    places = {FORK: "fork.git", PROJECT: "forge.git", "https://ladder:token@gitlab.test/group/cup.git": "forge.git"}
    settings: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(places))}
    for number, (address, folder) in enumerate(places.items()):
        settings[f"GIT_CONFIG_KEY_{number}"] = f"url.{top / folder}.insteadOf"
        settings[f"GIT_CONFIG_VALUE_{number}"] = address
    return settings | {
        "CI_MERGE_REQUEST_PROJECT_URL": PROJECT,
        "CI_MERGE_REQUEST_SOURCE_PROJECT_URL": FORK,
        "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "ann/cup",
        "CI_MERGE_REQUEST_IID": "7",
        "CI_COMMIT_SHA": head,
        "CI_JOB_ID": "4711",
        "CI_SERVER_HOST": "gitlab.test",
        "CI_PROJECT_PATH": "group/cup",
    }


@pytest.mark.slow
def test_the_jobs_of_gitlab_run_on_a_clean_machine(cup: Cup, tmp_path: Path) -> None:
    jobs, forge = workflow(cup, ".gitlab-ci.yml"), tmp_path / "forge.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(forge), "fork.git")
    cup.now = int(time.time())
    head = claim(cup.ladder(), "laptop", cup.keys["laptop"], 4, cup.now).commit
    cup.repository.__exit__()
    git(cup.repository.folder, "push", "--quiet", str(forge), f"{head}:refs/merge-requests/7/head")
    variables = gitlab_variables(cup, head)
    code, printed = run(cup, jobs["submit"]["script"], variables, "submit", clone=False)
    assert code == 0 and "accepted: claim 1 of laptop" in printed, printed
    assert git(forge, "log", "-1", "--format=%s", "main") != "Claim 1 of laptop"
    code, printed = run(cup, jobs["merge"]["script"], variables | {"LADDER_TOKEN": "token"}, "merge", clone=False)
    assert code == 0 and git(forge, "log", "-1", "--format=%s", "main") == "Claim 1 of laptop", printed
    code, printed = run(cup, jobs["submit"]["script"], variables | {"CI_JOB_ID": "4712"}, "again", clone=False)
    assert code == 1 and "the pull request changes nothing" in printed  # it is merged

    git(cup.repository.folder, "fetch", "--quiet", "origin")
    bot = cup.commit({"bots/ada/bot.toml": b'run = ["x.wasm"]\nowner = ["ada"]\n'}, git(forge, "rev-parse", "main"))
    cup.repository.__exit__()
    git(cup.repository.folder, "push", "--quiet", "--force", str(forge), f"{bot}:refs/merge-requests/7/head")
    code, printed = run(
        cup, jobs["merge"]["script"], gitlab_variables(cup, bot) | {"LADDER_TOKEN": "token"}, "rival", clone=False
    )
    assert code == 1 and "bots/ada belongs to ada, not to ann" in printed

    key = {"RUNNER": "forge", "REFEREE_RUNNER_KEY": base64.b64encode(SECRET).decode(), "LADDER_TOKEN": "token"}
    assert jobs["play"]["variables"] == {"REFEREE_RUNNER_KEY": "$RUNNER_KEY"}
    lines = [line.partition(" --until")[0] for line in jobs["play"]["script"]]
    code, printed = run(cup, lines, variables | key, "gitlab-play")
    assert code == 0 and "4 games of forge: claim 1 of forge: merged into main" in printed, printed
    for job in ("verify", "pages"):
        code, printed = run(cup, jobs[job]["script"], {}, f"gitlab-{job}")
        assert code == 0, printed
    assert (tmp_path / "gitlab-pages-clone" / "public" / "runners" / "forge.html").is_file()


def test_a_merge_request_never_brings_its_own_files_to_gitlab(cup: Cup) -> None:
    jobs = workflow(cup, ".gitlab-ci.yml")
    for name in ("submit", "merge"):
        job = jobs[".change"] | jobs[name]
        assert job["extends"] == ".change" and job["variables"] == {"GIT_STRATEGY": "none"}
        assert "merge_request_event" in job["rules"][0]["if"]
    assert jobs["merge"]["needs"] == ["submit"]
    assert "LADDER_TOKEN" not in " ".join(jobs["submit"]["script"])  # nothing plays where the token is
    assert "--rules-only" in jobs["merge"]["script"][-1] and "--rules-only" not in jobs["submit"]["script"][-1]
