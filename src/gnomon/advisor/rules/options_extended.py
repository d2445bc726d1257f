"""The numbers of an extended rotary checkpoint."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.advisor.arithmetic.scaling import factor_for, ntk_base, yarn_attention_factor
from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule


@rule(
    stage="options",
    source="Chen et al. 2023, arXiv:2306.15595; Peng et al. 2023, arXiv:2309.00071, sections 3.1 to 3.4",
)
def options_extended(facts: Facts) -> Iterator[Effect]:
    """An extended checkpoint gets factor = target / trained, on the base that it was trained with: YaRN with its
    attention factor 0.1 ln s + 1, NTK-aware with the base b s^(d / (d - 2)). A scaled one multiplies the factor that
    it has.
    """
    if not facts.turns or facts.target <= facts.trained:
        return
    factor, base = factor_for(facts.target, facts.trained), facts.frequencies.get("base", 10000.0)
    own = {"head_dim": facts.head_dim, **facts.existing_options}
    if facts.rotary_kind != "plain":
        yield from _rescaled(own, facts.frequencies, factor)
        return
    magnitude = yarn_attention_factor(factor)
    told = f"{facts.target} / {facts.trained} = {factor:g}"
    yarn = {"kind": "yarn", "factor": factor, "original_max_length": facts.trained, "base": base}
    more = arithmetic(f"{told}; 0.1 ln {factor:g} + 1 = {magnitude:.6f}", "Peng et al. 2023, section 3.4")
    numbers = {"factor": factor, "attention_factor": round(magnitude, 6)}
    yield Build("yarn", {**own, "frequencies": yarn}, numbers, more)
    linear = {"kind": "linear", "factor": factor, "base": base}
    yield Build("linear", {**own, "frequencies": linear}, {"factor": factor}, arithmetic(told))
    if facts.rotary_dim > 2:
        larger = ntk_base(base, factor, facts.rotary_dim)
        d = facts.rotary_dim
        sum_of_base = arithmetic(f"{base:g} x {factor:g}^({d}/{d - 2}) = {larger:.6g}", "Peng et al. 2023, section 3.1")
        numbers = {"factor": factor, "base": round(larger, 3)}
        yield Build(
            "ntk", {**own, "frequencies": {"kind": "ntk", "factor": factor, "base": base}}, numbers, sum_of_base
        )
    for name in ("yarn", "linear", "ntk"):
        yield Step(name, f"state the new length in the config: max_position_embeddings {facts.target}")


def _rescaled(own: Mapping[str, Any], frequencies: Mapping[str, Any], stretch: float) -> Iterator[Effect]:
    """The same rule by a larger factor; what was stated for the old one (YaRN's attention factor) is left out."""
    kind, old = frequencies["kind"], frequencies.get("factor")
    if old is None:
        follows = kind == "dynamic_yarn"
        how = (
            "follows the length by itself"
            if follows
            else "has no one factor: search its numbers for the longer context"
        )
        yield Build("rescale", own)
        yield Step("rescale", f"the {kind} rule {how}")
        return
    factor = old * stretch
    fresh = {key: value for key, value in frequencies.items() if key != "attention_factor"}
    told = arithmetic(f"{old:g} x {stretch:g} = {factor:g}")
    yield Build("rescale", {**own, "frequencies": {**fresh, "factor": factor}}, {"factor": factor}, told)
    if kind == "yarn" and not fresh.get("mscale"):
        yield Build("rescale", {}, {"attention_factor": round(yarn_attention_factor(factor), 6)})
