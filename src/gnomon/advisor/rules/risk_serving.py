"""Servers: several devices, packed batches."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Device


@rule(stage="risks", source="docs/checks: PE405, PE608, PE609")
def risk_serving(facts: Facts) -> Iterator[Effect]:
    """On a server heads and sequences are split among devices and packed into rows, and each part must know its
    place.
    """
    if facts.device is Device.SERVER:
        yield Expect("alibi", "each device computes slopes as if its heads were all of them", "PE609")
        for encoding in ("rotary", "learned", "mrope", "sinusoidal"):
            yield Expect(encoding, "a device that holds part of a sequence counts it from 0", "PE608")
            yield Expect(encoding, "documents packed into one row go on counting from each other", "PE405")
