"""M-RoPE's sections and base."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.base_bound import LONGEST, base_for, least_base
from gnomon.advisor.effects import Build, Effect
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import BASES
from gnomon.advisor.rule import rule


@rule(stage="options", source="Qwen2-VL, arXiv:2409.12191: sections 16, 24, 24 of 64 pairs; Men et al. 2024, table 2")
def options_mrope(facts: Facts) -> Iterator[Effect]:
    """Pairs are shared among time, height and width as 2 : 3 : 3, and the base is that of a rotary encoding."""
    if facts.existing is None:
        pairs, base = facts.head_dim // 2, base_for(min(facts.target, LONGEST))
        space = 3 * pairs // 8
        sections = [pairs - 2 * space, space, space]
        options = {"head_dim": facts.head_dim, "sections": sections, "frequencies": {"kind": "plain", "base": base}}
        bound = round(least_base(min(facts.target, LONGEST)), 1)
        yield Build("mrope", options, {"least_base": bound, "base": base}, BASES)
