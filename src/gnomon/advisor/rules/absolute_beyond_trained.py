"""Absolute positions that training has not met."""

from collections.abc import Iterator

from gnomon.advisor.effects import ALL, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Need


@rule(stage="options", source="arithmetic: a function of the position is fitted only where there were examples")
def absolute_beyond_trained(facts: Facts) -> Iterator[Effect]:
    """Where absolute positions decide and the target is longer than training, no encoding helps: the model has seen no
    answer there.
    """
    if facts.need is Need.ABSOLUTE and facts.existing is None and facts.target > facts.trained:
        said = f"no encoding carries absolute positions beyond the {facts.trained} of training"
        yield Step(ALL, f"{said}: train at {facts.target} tokens, and a learned table of that length is possible too")
