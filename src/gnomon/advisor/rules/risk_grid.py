"""How grids go wrong."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="public reports, in docs/checks: PE222, PE224, PE319, PE414")
def risk_grid(facts: Facts) -> Iterator[Effect]:
    """On grids rows and columns get mixed up, and tables of one image size are used for another."""
    if facts.axes > 1:
        for encoding in ("axial_rotary", "mixed_rotary", "mrope"):
            yield Expect(encoding, "rows and columns, or time, turn other pairs than meant", "PE319")
        yield Expect("mrope", "an image's tokens have other coordinates than its grid gives", "PE414")
        yield Expect("learned", "the table is resampled with its axes swapped, or not at all", "PE222")
        yield Expect("sinusoidal_grid", "the table is laid out for another grid", "PE224")
