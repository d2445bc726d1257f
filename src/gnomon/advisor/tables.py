"""How many rows a learned table gets."""

from gnomon.advisor.arithmetic.scaling import table_length
from gnomon.advisor.facts import Facts


def rows(facts: Facts) -> int:
    """The 95th percentile and a tenth, and no less than a stated length, nor than the longest input if none may be
    cut.
    """
    stated = max(facts.stated_trained or 0, facts.stated_target or 0)
    if facts.p95 is None or facts.axes > 1:
        return max(stated, facts.target)
    return max(stated, table_length(facts.p95), 0 if facts.cut else facts.longest or 0)
