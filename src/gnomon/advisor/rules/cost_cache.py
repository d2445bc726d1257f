"""The cache of keys and values, to see the rest in proportion."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.memory import BYTES, key_value_cache
from gnomon.advisor.effects import ALL, Effect, Price
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.report.advice.document import Cost
from gnomon.report.reading import plural


@rule(stage="costs", source="arithmetic: 2 N H D T B numbers")
def cost_cache(facts: Facts) -> Iterator[Effect]:
    """Bytes of the keys and values of a causal model at the target length, when the number of layers is known."""
    layers = facts.num_layers
    if facts.causal and layers is not None:
        heads, width, length, batch, size = (
            facts.key_heads,
            facts.head_dim,
            facts.target,
            facts.batch,
            BYTES[facts.dtype],
        )
        count = key_value_cache(
            layers=layers, key_heads=heads, head_dim=width, length=length, batch=batch, dtype=facts.dtype
        )
        how = (
            f"2 x {plural(layers, 'layer')} x {plural(heads, 'key head')} x {width} x {length} tokens x {batch} "
            f"x {size} bytes"
        )
        yield Price(ALL, Cost("cache of keys and values", count, "bytes", how))
