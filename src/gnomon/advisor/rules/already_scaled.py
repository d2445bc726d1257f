"""Checkpoints whose frequencies are scaled already."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="points", source="arithmetic: factors of one rule multiply; two rules in a row do not compose")
def already_scaled(facts: Facts) -> Iterator[Effect]:
    """A checkpoint that is scaled already keeps its rule and gets a larger factor: another rule on top does not
    compose.
    """
    if facts.turns and facts.rotary_kind != "plain" and facts.target > facts.trained:
        how = "by a larger factor" if "factor" in facts.frequencies else "and has no one factor to enlarge"
        yield Score("rescale", 4, f"its {facts.rotary_kind} scaling goes on {how}")
        if facts.fine_tune:
            yield Step("rescale", f"fine-tune at {facts.target} tokens")
