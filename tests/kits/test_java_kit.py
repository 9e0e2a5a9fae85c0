"""The Java kit: its own checks, its package and its build.

test_every_kit.py tests what all kits have in common.
"""

import os
import pwd
import re
import subprocess
import tomllib
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import msgspec
import pytest
from driving import Bot
from kits import built, folder_of, locked, readme_bot, run

from referee.harness.common.paths import HOME, KITS
from referee.harness.match.series import Outcome
from referee.harness.programs.entrant import Entrant
from referee.protocol.messages import Encoding

KIT = KITS / "java"

pytestmark = pytest.mark.usefixtures("java_kit")


def test_the_librarys_own_tests_pass() -> None:
    done = subprocess.run(["mvn", "-B", "test"], cwd=built("java"), capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"Tests run: [1-9]\d*, Failures: 0, Errors: 0, Skipped: 0", done.stdout), done.stdout


@pytest.fixture(scope="module")
def library() -> Path:
    """Builds the library's package in a copy of the kit, once. Returns the folder of its jars."""
    folder = folder_of("java", KIT)
    done = folder.with_name("packaged")
    with locked(folder):
        if not done.exists():
            assert "warning" not in run("mvn -q -B -Dmaven.test.skip=true clean package", folder).lower()
            done.touch()
    return folder / "target"


@pytest.mark.timeout(300)
def test_the_package_has_the_library_its_sources_and_its_documentation(library: Path) -> None:
    names = {}
    for kind in ("", "-sources", "-javadoc"):
        with zipfile.ZipFile(library / f"referee-kit-0.1.0{kind}.jar") as jar:
            names[kind] = {name for name in jar.namelist() if name.startswith("referee/kit/") and "$" not in name}
    sources = {path.relative_to(KIT / "src/main/java").as_posix() for path in KIT.glob("src/main/java/**/*.java")}
    assert {name for name in names["-sources"] if name.endswith(".java")} == sources
    assert {name for name in names[""] if name.endswith(".class")} == {
        name.replace(".java", ".class") for name in sources
    }
    assert {"referee/kit/Bot.html", "referee/kit/Options.html"} <= names["-javadoc"]
    with zipfile.ZipFile(library / "referee-kit-0.1.0.jar") as jar:
        others = [name for name in jar.namelist() if name.endswith(".class") and not name.startswith("referee/kit/")]
    assert others == []


@pytest.mark.timeout(300)
def test_a_bot_compiles_and_plays_with_the_packaged_library(library: Path, tmp_path: Path) -> None:
    (tmp_path / "Sleeper.java").write_text(readme_bot("java"), "utf-8")
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # Java's home, whatever HOME says
    needed = [
        *home.glob(".m2/repository/com/fasterxml/jackson/core/*/2.17.2/*.jar"),
        *home.glob(".m2/repository/org/msgpack/*/0.9.8/*.jar"),
    ]
    path = ":".join(map(str, (library / "referee-kit-0.1.0.jar", *needed, tmp_path)))
    subprocess.run(["javac", "-cp", path, "Sleeper.java"], cwd=tmp_path, check=True, timeout=60)
    command = ("java", "-cp", path, "Sleeper")
    with Bot(Entrant("bot", command, tmp_path), Encoding.MSGPACK, tmp_path / "log") as bot:
        assert bot.initialize("reantics").name == "Sleeper"
        assert bot.exit() == 0


def test_the_package_has_the_metadata_that_maven_central_asks_for() -> None:
    project = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
    address = project["urls"]["Repository"]
    pom = ET.parse(KIT / "pom.xml").getroot()

    def texts(path: str) -> list[str | None]:
        return [each.text for each in pom.findall(path, {"": "http://maven.apache.org/POM/4.0.0"})]

    group = f"io.github.{address.split('/')[-2]}"
    assert texts("groupId") == [group]
    assert f"<groupId>{group}</groupId>" in (KIT / "README.md").read_text("utf-8")
    assert texts("version") == [project["version"]]
    assert texts("url") == texts("scm/url") == texts("developers/developer/url") == [address]
    assert texts("scm/connection") == [f"scm:git:{address}"]
    assert texts("developers/developer/name") == [author["name"] for author in project["authors"]]
    assert texts("licenses/license/name") == [f"{project['license']} License"]
    assert all(texts(path) and all(texts(path)) for path in ("name", "description"))


HUNGRY = """
    private static final byte[][] KEPT = new byte[160][];

    public Move getMove(GameState state) {
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = new byte[1 << 20];
        }
        System.out.println("heap " + (Runtime.getRuntime().maxMemory() >> 20));
"""


def test_the_heap_fits_the_memory_limit_of_the_match(tmp_path: Path) -> None:
    """A bot that needs 160 MiB plays within 320 MiB, and gets an OutOfMemoryError within 160 MiB."""
    source = readme_bot("java").replace("Sleeper", "Hungry")
    source = source.replace("    public Move getMove(GameState state) {", HUNGRY)
    (tmp_path / "Hungry.java").write_text(source, "utf-8")
    command = ["referee", "--game", "reantics", "--set", "draw_after=5", "--call-time", "5s", "--json", "--memory"]
    ended = []
    for limit in ("320MiB", "160MiB"):
        argv = [*command, limit, "./Hungry.java", "@random"]
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        (verdict,) = msgspec.json.decode(done.stdout, type=Outcome).matches
        ended.append((verdict.result.reason, "Java heap space" in str(verdict.faults)))
        if limit == "320MiB":
            assert verdict.seats[0].stderr is not None
            heap = int((tmp_path / verdict.seats[0].stderr).read_text("utf-8").split()[1])
            assert 160 < heap < 320
    assert ended == [("draw_limit", False), ("error", True)]
