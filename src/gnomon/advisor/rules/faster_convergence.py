"""How fast causal models learn."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import CONVERGENCE
from gnomon.advisor.rule import rule


@rule(stage="points", source="EleutherAI 2021, Rotary Embeddings: A Relative Revolution, tables of OpenWebText2")
def faster_convergence(facts: Facts) -> Iterator[Effect]:
    """A causal model from scratch reaches a loss earlier with rotary than with a learned table or T5's bias."""
    if facts.existing is None and facts.axes == 1 and facts.causal:
        yield Score("rotary", 1, "it learns faster than a learned table or T5's bias", CONVERGENCE)
