"""Static scaling and short inputs."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="risks", source="DaRoPE, Levy et al. 2026: YaRN costs perplexity inside the window; arithmetic on the lengths"
)
def risk_short_texts(facts: Facts) -> Iterator[Effect]:
    """Where at least half of the inputs fit the trained length, a static extension changes them for nothing."""
    if facts.turns and facts.p50 is not None and facts.p50 <= facts.trained < facts.target:
        for name in ("yarn", "linear", "ntk", "rescale"):
            said = f"half of the inputs have {facts.p50} tokens or fewer, and are scaled too"
            yield Expect(name, said, "PE702")
