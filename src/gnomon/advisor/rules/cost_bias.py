"""The memory of a bias."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.memory import one_row_bias, whole_bias
from gnomon.advisor.effects import Effect, Price
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.report.advice.document import Cost
from gnomon.report.reading import plural


@rule(stage="costs", source="arithmetic: 4 H T^2 bytes whole, 4 H T for one row")
def cost_bias(facts: Facts) -> Iterator[Effect]:
    """Bytes of a bias on the logits at the target length: whole; ALiBi's causal form is one row for all queries."""
    heads, length = facts.num_heads, facts.target
    whole = Cost(
        "bias, built whole",
        whole_bias(heads, length),
        "bytes",
        f"{plural(heads, 'head')} x {length}^2 x 4 bytes; nothing in a kernel that makes it on the fly",
    )
    for encoding in ("t5", "kerple", "alibi_grid", *(() if facts.causal else ("alibi",))):
        yield Price(encoding, whole)
    if facts.causal:
        how = f"{plural(heads, 'head')} x {length} x 4 bytes: the causal form is one row for all queries"
        yield Price("alibi", Cost("bias", one_row_bias(heads, length), "bytes", how))
