"""How sinusoids go wrong beside the words."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="risks", source="Vaswani et al. 2017, section 3.4; arithmetic: a norm of sqrt(d / 2) beside words of about 1"
)
def risk_sinusoid_size(facts: Facts) -> Iterator[Effect]:
    """Sinusoids drown words that are not scaled, and a table of them must not be trained."""
    yield Expect("sinusoidal", "position vectors are far larger than the word vectors", "PE211")
    yield Expect("sinusoidal", "the table is a parameter, and training moves it", "PE210")
