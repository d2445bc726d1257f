"""The length of a learned table."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule
from gnomon.advisor.tables import rows


@rule(stage="options", source="the article, section 2.2: 95th percentile and a tenth; arithmetic on the lengths given")
def options_learned(facts: Facts) -> Iterator[Effect]:
    """A new table has the 95th percentile of the lengths and a tenth more as its length; a stated trained or target
    length if that is longer, and the longest input if nothing may be cut. Without lengths it has the target's.
    """
    if facts.existing is not None:
        return
    length = rows(facts)
    options = {"max_length": length, "dim": facts.dim, "init_std": 0.02}
    if facts.p95 is None or facts.axes > 1:
        yield Build("learned", options)
        return
    told = arithmetic(
        f"95th percentile {facts.p95} x 1.1 = {facts.p95 * 11 // 10}.{facts.p95 * 11 % 10}, rounded up; "
        f"the table has {length} rows"
    )
    above = facts.share_above(length)
    share = {} if above is None else {"share_cut": round(above, 6)}
    yield Build("learned", options, {"p95": facts.p95, **share}, told)
    if above:
        yield Step(
            "learned", f"cut inputs to {length} tokens: {'' if facts.counted else 'at most '}{above:.2%} are longer"
        )
