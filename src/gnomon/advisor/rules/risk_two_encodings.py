"""Rotary encoding with another one beside it."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="arithmetic: position would enter twice; the article, section 2.3, advises both")
def risk_two_encodings(facts: Facts) -> Iterator[Effect]:
    """Rotary encoding needs no sinusoid or table beside it: one left in place counts positions twice."""
    if facts.existing in (None, "learned", "sinusoidal"):
        name = "rotary" if facts.existing is None else "switch"
        yield Expect(name, "a table or a sinusoid is still added to the embeddings", "PE316")
