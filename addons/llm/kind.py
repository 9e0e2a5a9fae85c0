"""Language models as a kind of player."""

from referee.harness.programs.kinds import Kind

MODEL = Kind(
    name="language model",
    plural="language models",
    place=90,
    prefixes=("llm:",),
    help="llm:MODEL (a language model; 'llm:--url URL MODEL' has options)",
    options="referee.addons.llm.spec:help_options",
    rows=(("a [language model](../how-to/language-models.md) by its service", "`llm:gpt-oss-20b`"),),
    start="referee.addons.llm.seat:ModelStart",
    settings="referee.harness.records:ModelSettings",
    in_replay="referee.addons.llm.spec:is_model",
    parse="referee.addons.llm.spec:parse",
    takes_variables=False,
)
KINDS = (MODEL,)
