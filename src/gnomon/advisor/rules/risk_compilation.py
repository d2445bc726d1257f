"""torch.compile."""

from collections.abc import Iterator

from gnomon.advisor.effects import ALL, Effect, Expect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Limit


@rule(stage="risks", source="torch.compile: a value that is read breaks the graph, a new shape compiles it again")
def risk_compilation(facts: Facts) -> Iterator[Effect]:
    """A compiled model must not be compiled again for each length, and cannot check positions before a lookup."""
    if Limit.COMPILE in facts.limits:
        yield Expect(ALL, "the forward is compiled anew for each length", "PE615")
        yield Step(
            "learned", "check lengths before the model: in compiled code a lookup beyond the table fails in the kernel"
        )
