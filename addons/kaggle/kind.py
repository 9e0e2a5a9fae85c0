"""Kaggle agents as a kind of player."""

from referee.harness.programs.kinds import Kind

KINDS = (
    Kind(
        name="Kaggle agent",
        plural="Kaggle agents",
        place=80,
        prefixes=("kaggle:",),
        help="kaggle:PATH (a Kaggle agent)",
        rows=(("a Kaggle agent", "`kaggle:submission.py`, `submission.tar.gz`"),),
        parse="referee.addons.kaggle.spec:parse",
        recognise="referee.addons.kaggle.spec:recognise",
        archives=(".tar.gz", ".tgz"),  # .tar is an image's
        modules="referee.addons.kaggle.spec:modules",
        paths="referee.addons.kaggle.spec:paths",
    ),
)
