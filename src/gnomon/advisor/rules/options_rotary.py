"""The base of a new rotary encoding."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.base_bound import LONGEST, base_for, least_base
from gnomon.advisor.arithmetic.scaling import factor_for, yarn_attention_factor
from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import BASES
from gnomon.advisor.rule import rule


@rule(stage="options", source="Men et al. 2024, arXiv:2405.14591, table 2, read between its rows along logarithms")
def options_rotary(facts: Facts) -> Iterator[Effect]:
    """A new rotary encoding gets the least base that the target length allows, and no less than the paper's 10000.

    Beyond 1,048,576 tokens nothing is published, and the base is that of the last row. A model that is trained short is
    extended to the target afterwards, by YaRN.
    """
    length = min(facts.target, LONGEST)
    base = base_for(length)
    options = {"head_dim": facts.head_dim, "layout": "half", "frequencies": {"kind": "plain", "base": base}}
    for name in ("rotary", "switch") if facts.existing is None else ("switch",):
        yield Build(name, options, {"least_base": round(least_base(length), 1), "base": base}, BASES)
    if facts.target > LONGEST:
        yield Step(
            "rotary", f"no bound of the base is published beyond {LONGEST} tokens: measure retrieval at {facts.target}"
        )
    if facts.existing is None and facts.target > facts.trained:
        factor = factor_for(facts.target, facts.trained)
        yarn = {"kind": "yarn", "factor": factor, "original_max_length": facts.trained, "base": base}
        yield Build("rotary", {}, {"factor": factor, "attention_factor": round(yarn_attention_factor(factor), 6)})
        yield Step(
            "rotary",
            f"train at {facts.trained}, then go on at {facts.target} tokens for a while with frequencies={yarn}; "
            f"without "
            f"that second part it will not serve {facts.target}",
        )
