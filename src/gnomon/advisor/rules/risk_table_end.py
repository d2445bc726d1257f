"""What happens at the end of a table."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.tables import rows


@rule(stage="risks", source="arithmetic: position p needs row p; IndexError on the CPU, a device assert on CUDA")
def risk_table_end(facts: Facts) -> Iterator[Effect]:
    """A table ends: inputs beyond it fail on lookup, in batches and in decoding, and more inputs than expected may be
    longer.
    """
    length = rows(facts) if facts.existing is None else facts.target
    for name in ("learned", "interpolate"):
        yield Expect(
            name, f"a batch that reads row {length} or later fails, with an index error or a device assert", "PE511"
        )
        if not facts.share_above(facts.target):  # else that share is told
            yield Expect(name, f"more than one input in a hundred is longer than {length} tokens", "PE701")
        if facts.causal:
            yield Expect(name, "decoding runs past the last row", "PE410")
