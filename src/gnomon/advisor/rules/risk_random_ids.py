"""How random ids go wrong."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="Ruoss et al. 2023, arXiv:2305.16843; docs/checks: PE303")
def risk_random_ids(facts: Facts) -> Iterator[Effect]:
    """Random ids must reach the model in training and in decoding, and stay the same while one sequence is decoded."""
    yield Expect("randomized", "a wrapper drops the position ids, and the model counts from 0", "PE303")
    if facts.causal:
        yield Expect("randomized", "ids are drawn anew between two steps of decoding", "PE403")
