"""The memory of tables that are kept."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.memory import BYTES, cosines_and_sines, vectors
from gnomon.advisor.effects import Effect, Price
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.tables import rows
from gnomon.report.advice.document import Cost


@rule(stage="costs", source="arithmetic: rows times columns times bytes")
def cost_tables(facts: Facts) -> Iterator[Effect]:
    """Bytes of the tables: a vector for each position, or the cosines and sines of a rotation if they are kept."""
    turned, length = facts.rotary_dim, facts.target
    how = (
        f"a cosine and a sine for {turned // 2} pairs x {length} positions x 4 bytes, if kept; one table for all layers"
    )
    yield Price("rotary", Cost("cosines and sines", cosines_and_sines(turned, length), "bytes", how))
    if facts.existing is None:
        wide, size = facts.dim, BYTES[facts.dtype]
        held = f"{rows(facts)} rows x {wide} x {size} bytes"
        yield Price("learned", Cost("table", vectors(wide, rows(facts), facts.dtype), "bytes", held))
        kept = f"{length} rows x {wide} x {size} bytes, if kept: computed in float32, stored in {facts.dtype}"
        yield Price("sinusoidal", Cost("table", vectors(wide, length, facts.dtype), "bytes", kept))
    resampled = length + int(facts.existing_options.get("padding_offset", 0))
    wide, size = facts.existing_options.get("dim", facts.dim), BYTES[facts.dtype]
    held = f"{resampled} rows x {wide} x {size} bytes"
    more = Cost("table", vectors(wide, resampled, facts.dtype), "bytes", held)
    yield Price("interpolate", more)
