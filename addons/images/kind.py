"""Container images as a kind of player."""

from referee.harness.programs.kinds import Kind

KINDS = (
    Kind(
        name="container image",
        plural="container images",
        place=100,
        prefixes=("oci:",),
        names_file=True,
        archives=(".tar",),
        help="oci:IMAGE.tar (a container image)",
        rows=(("a container image, as `docker save` writes it", "`oci:team.tar`"),),
        parse="referee.addons.images.image:parse",
        recognise="referee.addons.images.image:recognise",
        travels=True,
    ),
)
