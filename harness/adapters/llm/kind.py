"""Language models as a kind of player."""

from referee.harness.programs.kinds import Kind

KINDS = (
    Kind(
        name="language model",
        plural="language models",
        place=90,
        prefixes=("llm:",),
        help="llm:MODEL (a language model)",
        rows=(("a [language model](../how-to/language-models.md) by its service", "`llm:gpt-oss-20b`"),),
        parse="referee.harness.adapters.llm.spec:parse",
    ),
)
