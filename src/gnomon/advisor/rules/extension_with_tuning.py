"""Longer contexts with some training."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import EXTENDED
from gnomon.advisor.rule import rule


@rule(stage="points", source="Peng et al. 2023, arXiv:2309.00071, table 1; Chen et al. 2023, arXiv:2306.15595, table 3")
def extension_with_tuning(facts: Facts) -> Iterator[Effect]:
    """A plain rotary checkpoint that may be trained further is extended by YaRN, or by interpolation almost as well."""
    if facts.rotary_kind == "plain" and facts.turns and facts.target > facts.trained and facts.fine_tune:
        yield Score("yarn", 4, "as good as interpolation after less than half of the training", EXTENDED)
        yield Score("linear", 3, "as good once it is fine-tuned", EXTENDED)
        yield Score("ntk", 1, "behind after fine-tuning", EXTENDED)
        yield Step(
            "yarn",
            f"fine-tune at {facts.target} tokens; 400 million tokens were enough for twice the length of a 7B model",
        )
        yield Step("linear", f"fine-tune at {facts.target} tokens; 1000 steps were enough for LLaMA")
