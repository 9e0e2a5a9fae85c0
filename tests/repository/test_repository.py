"""The files that a host of repositories reads: workflows, templates, the action, containers."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from referee.harness.languages.packages import ITEMS, KITS

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_only_read_and_its_make_targets_exist(path: Path) -> None:
    workflow = loaded(path)
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([\w-]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step), step
            for words in re.findall(r"^make ((?:[\w-]+ ?)+)", step.get("run", ""), re.MULTILINE):
                assert set(re.sub(r"[A-Z]+$", "", words).split()) <= targets, step


def test_only_the_jobs_of_a_release_and_of_the_pages_get_more_permissions() -> None:
    jobs = {(path.stem, name): job for path in WORKFLOWS for name, job in loaded(path)["jobs"].items()}
    more = {key: job["permissions"] for key, job in jobs.items() if "permissions" in job}
    assert more == {
        ("docs", "publish"): {"pages": "write", "id-token": "write"},
        ("release", "publish"): {"id-token": "write"},
        ("release", "announce"): {"contents": "write"},
    }
    assert "password" not in (ROOT / ".github" / "workflows" / "release.yml").read_text(), "trusted publishing"


def release_check(name: str, repository: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Runs the step of a release that compares tag and address."""
    steps = loaded(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["build"]["steps"]
    (script,) = [step["run"] for step in steps if step.get("name", "").startswith("Compare")]
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    env = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": repository,
        "GITHUB_REF_NAME": name,
    }
    return subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)


def test_a_release_needs_the_tag_of_its_version_and_the_address_of_the_project(tmp_path: Path) -> None:
    place, tag = PROJECT["urls"]["Repository"].removeprefix("https://github.com/"), f"v{PROJECT['version']}"
    assert release_check(tag, place, tmp_path).returncode == 0
    for name, repository in (("v9.9.9", place), (tag, "someone/else")):
        done = release_check(name, repository, tmp_path)
        assert done.returncode == 1 and "expected" in done.stderr


def test_a_release_tags_the_go_kit_as_go_get_expects(tmp_path: Path) -> None:
    """The tag is the path of the module's folder and the version."""
    steps = loaded(ROOT / ".github" / "workflows" / "release.yml")["jobs"]["announce"]["steps"]
    (script,) = [step["run"] for step in steps if "Go kit" in step.get("name", "")]
    (tmp_path / "gh").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "gh").chmod(0o755)
    tag, place = f"v{PROJECT['version']}", PROJECT["urls"]["Repository"].removeprefix("https://github.com/")
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GITHUB_REPOSITORY": place, "GITHUB_REF_NAME": tag, "GITHUB_SHA": "abc"}
    done = subprocess.run(["bash", "-e", "-c", script], env=env, capture_output=True, text=True, check=True)
    module = (ROOT / "starter_kits" / "go" / "go.mod").read_text().split()[1]
    folder = module.removeprefix(f"github.com/{place}/")
    assert (ROOT / folder / "go.mod").is_file()
    made = ["api", f"repos/{place}/git/refs", "-f", f"ref=refs/tags/{folder}/{tag}", "-f", "sha=abc"]
    assert done.stdout.splitlines() == made


def test_the_go_kit_and_its_bots_need_the_oldest_go_that_is_supported() -> None:
    """Dependencies whose newer versions raise it are not updated."""
    oldest = f"go {'.'.join(map(str, ITEMS['go'].minimum))}"
    for file in ("go.mod", "new/go.mod", "new/go.work"):
        lines = (ROOT / "starter_kits" / "go" / file).read_text().splitlines()
        assert oldest in lines and not any(line.startswith("toolchain") for line in lines)
    (update,) = [
        each for each in loaded(ROOT / ".github" / "dependabot.yml")["updates"] if each["package-ecosystem"] == "gomod"
    ]
    direct = re.findall(r"^\t(\S+) v", (ROOT / "starter_kits" / "go" / "go.mod").read_text(), re.MULTILINE)
    assert [each["dependency-name"] for each in update["ignore"]] == direct


def test_the_action_names_its_tag_and_every_output_comes_from_a_step() -> None:
    text, action = (ROOT / "action.yml").read_text(), loaded(ROOT / "action.yml")
    assert f"@v{PROJECT['version']}`" in text
    assert action["branding"].keys() == {"icon", "color"}
    steps = {step["id"] for step in action["runs"]["steps"] if "id" in step}
    used = [re.search(r"steps\.(\w+)\.outputs\.\w+", output["value"]) for output in action["outputs"].values()]
    assert {found[1] for found in used if found} == steps == {"check", "gate"}


def test_the_image_with_all_toolchains_has_the_packages_of_every_kit() -> None:
    text = (ROOT / "Dockerfile").read_text()
    needed = {ITEMS[name].debian for kit in KITS.values() for name in kit.items} - {"golang-go"}
    stage = text.partition("FROM python AS all")[2].replace("\\\n", "")
    (listed,) = re.findall(r"--no-install-recommends (.*?)&&", stage, re.DOTALL)
    assert needed <= set(listed.split())
    assert f"golang:{'.'.join(map(str, ITEMS['go'].minimum))}-" in text, "Debian's is too old"


def test_the_image_of_the_cluster_page_has_the_extra_for_clusters() -> None:
    page = (ROOT / "docs" / "how-to" / "use-a-cluster.md").read_text()
    (target,) = re.findall(r"The image \[`referee-(\w+)`\]", page)
    stage = (ROOT / "Dockerfile").read_text().partition(f" AS {target}\n")[2].partition("\nFROM ")[0]
    assert "/*.whl)[cluster,oidc,tournament]" in stage
