"""Container images: what is unpacked and refused, and that nothing is written outside of the folder of an image."""

import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from images import Member, file, folder, layer, link, save

from referee.addons.images import image
from referee.addons.images import tree as image_tree
from referee.harness.common.errors import RunError, UsageError
from referee.harness.isolation.plan import OFF, Isolation
from referee.harness.isolation.probe import probe
from referee.harness.programs import build_cache

pytestmark = pytest.mark.skipif(probe().namespaces is None, reason="images need namespaces")

BOT = file("bot", b"#!/bot\n", 0o755)


class Images:
    """Unpacks images into a cache of the test's own, and notices files in any other place."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outside = path / "outside"
        self.outside.mkdir()

    def unpack(self, *layers: bytes, **settings: object) -> Path:
        """Returns the root of an image with these layers and a program."""
        saved = save(self.path / "image.tar", [*layers, layer(BOT)], ["/bot"], **settings)  # type: ignore[arg-type]
        return self.run(saved).root

    def run(self, saved: Path) -> image.Unpacked:
        try:
            return image.unpack(f"oci:{saved}", Isolation())
        finally:
            assert [*self.outside.iterdir()] == []
            inside = {entry.name for home in build_cache.root().glob("*") for entry in home.iterdir()}
            assert inside <= {"tree", "image.json", "lock", "used", "origin"}
            assert {entry.name for entry in self.path.iterdir()} <= {"outside", "image.tar", "referee"}


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Images:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Images(tmp_path)


def files(root: Path) -> dict[str, str]:
    """Returns the files below a root with their content; of links their target."""
    found = {}
    for place, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = Path(place, name)
            if path.is_symlink():
                found[str(path.relative_to(root))] = f"-> {path.readlink()}"
            elif path.is_file():
                found[str(path.relative_to(root))] = path.read_text()
    found.pop("bot", None)
    return found


@pytest.mark.parametrize("layout", ["docker", "oci"])
def test_later_layers_replace_and_delete_what_earlier_ones_brought(images: Images, layout: str) -> None:
    lower = layer(
        *(folder("a"), file("a/kept", b"1"), file("a/gone", b"1"), file("a/new", b"1"), folder("b"), folder("b/c")),
        *(file("b/c/old", b"1"), file("b/other", b"1"), file("was_file", b"1"), folder("was_folder")),
        *(file("was_folder/x", b"1"), link("shared", "a/kept", hard=True), link("lib", "usr/lib")),
    )
    upper = layer(
        *(file("a/.wh.gone"), file("a/new", b"2"), folder("b"), file("b/fresh", b"2"), file("b/.wh..wh..opq")),
        *(folder("was_file"), file("was_file/y", b"2"), file("was_folder", b"2"), file("a/.wh.kept")),
        *(file("lib/z", b"2"), file(".wh..wh.plnk"), file("a/.wh.nothing"), file("again/.wh.x"), file("again/x", b"2")),
    )
    root = images.unpack(lower, lower, upper, layout=layout)
    assert files(root) == {
        "a/new": "2",
        "b/fresh": "2",
        "was_file/y": "2",
        "was_folder": "2",
        "shared": "1",
        "again/x": "2",
        "lib": "-> usr/lib",
        "usr/lib/z": "2",
    }


def test_both_layouts_of_an_image_are_the_same_bot(images: Images) -> None:
    root = images.unpack(layer(file("a", b"1")), layout="docker")
    assert images.unpack(layer(file("a", b"1")), layout="oci") == root
    assert images.unpack(layer(file("a", b"2"))) != root


def test_files_keep_their_times_and_are_open_to_every_account_but_privileged_to_none(images: Images) -> None:
    root = images.unpack(layer(file("program", b"", 0o4700), file("secret", b"", 0o600), folder("private")))
    modes = [(root / name).stat().st_mode & 0o7777 for name in ("program", "secret", "private")]
    assert modes == [0o755, 0o644, 0o755]
    assert (root / "program").stat().st_mtime == 1_700_000_000


@pytest.mark.parametrize("target", ["{outside}", "../../../../../../../../../..{outside}", "up/../..{outside}"])
def test_a_link_of_an_earlier_layer_never_leads_a_write_outside(images: Images, target: str) -> None:
    leads = target.format(outside=images.outside)
    root = images.unpack(layer(link("evil", leads), link("up", "/")), layer(file("evil/file", b"x")))
    inside = root / str(images.outside).lstrip("/") / "file"
    assert inside.read_text() == "x"
    assert os.path.realpath(inside).startswith(str(root))


def test_a_link_is_replaced_and_never_written_through(images: Images) -> None:
    (images.path / "image.tar").write_text("as it was")
    link_first = layer(link("evil", str(images.path / "image.tar")))
    root = images.unpack(link_first, layer(file("evil", b"x")))
    assert files(root) == {"evil": "x"}


LONG = "/".join(["b" * 195] * 9)
HOSTILE: dict[str, tuple[list[list[Member]], str]] = {
    "absolute name": ([[file("/etc/x")]], "is an absolute path"),
    "parent folder": ([[file("a/../../x")]], "leads outside of the image"),
    "hard link to an absolute path": ([[link("a", "/etc/passwd", hard=True)]], "hard link that is an absolute path"),
    "hard link to outside": ([[link("a", "../../../etc/passwd", hard=True)]], "hard link that leads outside"),
    "hard link through a link": (
        [[link("host", "/etc")], [link("a", "host/hostname", hard=True)]],
        "which is no file of the image",
    ),
    "hard link to a folder": ([[folder("b"), link("a", "b", hard=True)]], "which is no file of the image"),
    "device": ([[file("disk", type=tarfile.BLKTYPE, devmajor=8)]], "is a device or a pipe"),
    "pipe": ([[file("pipe", type=tarfile.FIFOTYPE)]], "is a device or a pipe"),
    "file below a file": ([[file("a")], [file("a/b")]], "lies in what is no folder"),
    "circular links": ([[link("a", "b"), link("b", "a"), file("a/x")]], "more than 40 links"),
    "link without target": ([[link("a", "")]], "without a proper target"),
    "deep folders": ([[file("a/" * 101 + "x")]], "more than 100 folders"),
    "deep folders through links": (
        [[link("a", "b/" * 90), folder("a"), link("c", "b/" * 90)], [file("c/" + "d/" * 20 + "x")]],
        "more than 100 folders",
    ),
    "long name": ([[file("a" * 256)]], "too long"),
    "long name in a link": ([[link("a", "b" * 256), file("a/x")]], "too long"),
    "long path through links": ([[link("a", f"{LONG}/b"), link("b", f"a/{LONG}"), file("b/x")]], "too long"),
    "file with a long path through links": ([[link("a", LONG), file(f"a/{'x' * 255}")]], "too long"),
    "long header": ([[file("a", pax_headers={"comment": "x" * 300_000})]], "header that is too long"),
    "unknown kind": ([[file("a", type=b"V")]], "of a kind that images do not have"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_layer_is_refused_with_its_reason(images: Images, name: str) -> None:
    layers, reason = HOSTILE[name]
    with pytest.raises(UsageError, match=reason) as refused:
        images.unpack(*[layer(*members) for members in layers])
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("oci:")


def test_devices_of_the_folder_dev_are_left_out_because_the_sandbox_has_its_own(images: Images) -> None:
    null = file("dev/null", type=tarfile.CHRTYPE, devmajor=1, devminor=3)
    assert files(images.unpack(layer(folder("dev"), null))) == {}


LIMITS: dict[str, tuple[str, int, Callable[[], bytes], str]] = {
    "content": ("MAX_BYTES", 1000, lambda: layer(file("a", bytes(600)), file("b", bytes(600))), "1,000 bytes"),
    "deleted content": ("MAX_BYTES", 1000, lambda: layer(file("a", bytes(600)), file("a", bytes(600))), "1,000 bytes"),
    "declared content": ("MAX_BYTES", 1000, lambda: file("a", size=1 << 60)[0].tobuf(), "1,000 bytes"),
    "files": ("MAX_FILES", 3, lambda: layer(*[folder(f"{number}") for number in range(4)]), "more than 3 files"),
    "folders that no entry names": (
        "MAX_FILES",
        30,
        lambda: layer(*[file(f"{n}/a/b/c/d/e") for n in range(6)]),
        "30 f",
    ),
    "rest of a layer": ("MAX_STREAM_BYTES", 50_000, lambda: layer(folder("a")) + bytes(100_000), "unpacks to more"),
    "look-ups": ("MAX_STEPS", 100, lambda: layer(*[file("a/b/c/d/e/f/g") for _ in range(20)]), "takes too long"),
}


@pytest.mark.parametrize("layout", ["docker", "oci"])
@pytest.mark.parametrize("name", LIMITS)
def test_an_image_has_limits_of_size_files_and_work(
    images: Images, monkeypatch: pytest.MonkeyPatch, name: str, layout: str
) -> None:
    constant, limit, content, reason = LIMITS[name]
    monkeypatch.setattr(image_tree, constant, limit)
    with pytest.raises(UsageError, match=reason):
        images.unpack(content(), layout=layout)


BROKEN: dict[str, tuple[dict[str, object], str]] = {
    "no command": ({"entrypoint": []}, "names no command"),
    "missing program": ({"entrypoint": ["/nothing"]}, "runs '/nothing', which is no program in the image"),
    "program outside": ({"entrypoint": ["/tmp/bot"]}, "the sandbox replaces /tmp"),
    "program by a link outside": ({"entrypoint": ["/host"]}, "is no program in the image"),
    "not on PATH": ({"entrypoint": ["bot"], "env": ["PATH=/usr/bin"]}, "'bot', which is no program"),
    "variable": ({"env": ["PATH"]}, "expected NAME=VALUE"),
    "NUL": ({"env": ["A=\0account"]}, "has a NUL"),
    "user": ({"User": "nobody"}, "user 'nobody'"),
    "working folder": ({"WorkingDir": "/bot/x"}, "which is no folder"),
    "long working folder": ({"WorkingDir": f"/{'x' * 256}"}, "too long"),
    "working folder outside": ({"WorkingDir": "/tmp/x"}, "which the sandbox replaces"),
    "program of another system": ({"entrypoint": ["/mac"]}, "cannot be started: it is a program for macOS"),
    "missing interpreter": ({"entrypoint": ["/script"]}, "its first line names '/bin/sh', which does not exist$"),
    "another processor": ({"architecture": "pdp11"}, "is an image for linux/pdp11; expected linux/"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_image_that_cannot_run_is_refused_with_its_reason(images: Images, name: str) -> None:
    settings, reason = BROKEN[name]
    others = [file("mac", b"\xcf\xfa\xed\xfe", 0o755), file("script", b"#!/bin/sh\n", 0o755)]
    tree = layer(BOT, folder("tmp"), file("tmp/bot", b"", 0o755), link("host", "/bin/sh"), *others)
    saved = save(images.path / "image.tar", [tree], **{"entrypoint": ["/bot"], **settings})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=reason):
        images.run(saved)


def test_a_file_that_is_no_image_is_refused_with_its_reason(images: Images) -> None:
    saved = save(images.path / "image.tar", [layer(BOT)], ["/bot"])
    whole = saved.read_bytes()
    manifest = json.dumps([{"Config": "c", "Layers": []}] * 2).encode()
    for content, reason in (
        (b"not a tar file", "cannot be read"),
        (b"\x1f\x8b" + whole, "run gunzip first"),
        (layer(file("x")), "no image archive"),
        (layer(file("manifest.json", manifest)), "holds 2 images"),
        (layer(file("manifest.json", b"{")), "manifest.json: "),
        (layer(file("manifest.json", manifest.replace(b", {", b"]#{"))), "manifest.json: "),
        (whole[: len(whole) // 3], "cannot be read|lacks|no image archive"),
        (whole.replace(b"#!/bot", b"#!/bob"), "is damaged"),
        (layer(link("manifest.json", "manifest.json")), "no image archive"),
    ):
        saved.write_bytes(content)
        with pytest.raises(UsageError, match=reason):
            images.run(saved)


def test_an_image_cannot_take_the_place_of_another_by_lying_about_its_id(images: Images) -> None:
    saved = save(images.path / "image.tar", [layer(BOT)], ["/bot"])
    ident = image.unpack_verified(f"oci:{saved}", Isolation())
    saved.write_bytes(saved.read_bytes().replace(b"#!/bot", b"#!/bob"))
    with pytest.raises(UsageError, match="is damaged"):
        image.unpack_verified(f"oci:{saved}", Isolation())
    unpacked = image.unpacked_image(ident)
    assert unpacked is not None
    assert (unpacked.root / "bot").read_text() == "#!/bot\n"


def test_an_image_needs_namespaces(images: Images) -> None:
    saved = save(images.path / "image.tar", [layer(BOT)], ["/bot"])
    with pytest.raises(RunError, match="runs in namespaces only; --isolation off switches them off"):
        image.unpack(f"oci:{saved}", OFF)
    with pytest.raises(UsageError, match="there is no such file"):
        image.unpack("oci:nothing.tar", Isolation())
