"""Container images as a kind of player."""

from pathlib import Path

from referee.harness.programs.entrant import Parsed
from referee.harness.programs.kinds import Kind


class ContainerImage(Kind):
    """`oci:IMAGE.tar`."""

    name, plural, place = "container image", "container images", 100
    prefixes, names_file, archives = ("oci:",), True, (".tar",)
    help = "oci:IMAGE.tar (a container image)"
    rows = (("a container image, as `docker save` writes it", "`oci:team.tar`"),)
    travels = True

    def parse(self, spec: str, game: str | None) -> Parsed:
        from referee.addons.images.image import parse

        return parse(spec, game)

    def recognise(self, path: Path, game: str | None) -> Parsed | None:
        from referee.addons.images.image import recognise

        return recognise(path, game)


IMAGE = ContainerImage()
