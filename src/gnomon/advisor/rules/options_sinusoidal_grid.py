"""Sinusoids and penalties on a grid."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="options",
    source="arithmetic: the width and the axes of the model; Press et al. 2022 for slopes",
)
def options_sinusoidal_grid(facts: Facts) -> Iterator[Effect]:
    """Sinusoids of a grid are as wide as the model, penalties have a slope for each head; both take the axes."""
    if facts.axes > 1 and facts.existing is None:
        yield Build("sinusoidal_grid", {"dim": facts.dim, "axes": facts.axes})
        yield Build("alibi_grid", {"num_heads": facts.num_heads, "axes": facts.axes})
