"""How T5's buckets go wrong."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task


@rule(stage="risks", source="Raffel et al. 2020, arXiv:1910.10683, section 2.1, and its published code")
def risk_t5_buckets(facts: Facts) -> Iterator[Effect]:
    """T5's buckets have a direction and a widest distance, and belong to self-attention only."""
    yield Expect("t5", "distances fall into other buckets than the config gives, or the sign is reversed", "PE318")
    if facts.task in (Task.TRANSLATION, Task.SUMMARISATION) or (facts.checkpoint is not None and facts.checkpoint.both):
        yield Expect("t5", "attention between encoder and decoder gets a bias too", "PE317")
