"""How many numbers are learned."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Price
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.rules.options_t5 import BUCKETS
from gnomon.advisor.tables import rows
from gnomon.report.advice.document import Cost
from gnomon.report.reading import plural


@rule(stage="costs", source="arithmetic: sizes of the tables")
def cost_parameters(facts: Facts) -> Iterator[Effect]:
    """Parameters of one module of each encoding that learns something; a module in each layer costs that many times
    over.
    """
    heads, head_dim, dim, span = facts.num_heads, facts.head_dim, facts.dim, 2 * facts.target
    pairs = (head_dim - head_dim % 4) // 2
    wide = facts.existing_options.get("dim", dim)
    resampled = facts.target + int(facts.existing_options.get("padding_offset", 0))
    learned = {
        "learned": (rows(facts) * dim, f"{rows(facts)} rows x {dim}"),
        "interpolate": (resampled * wide, f"{resampled} rows x {wide}"),
        "t5": (BUCKETS * heads, f"{BUCKETS} buckets x {plural(heads, 'head')}"),
        "kerple": (2 * heads, f"2 x {plural(heads, 'head')}"),
        "transformer_xl": (
            (dim + 2) * heads * head_dim,
            f"{dim} x {heads * head_dim} that project positions, and 2 vectors of {heads * head_dim}",
        ),
        "randomized": (span * dim, f"{span} rows x {dim}"),
        "mixed_rotary": (heads * 2 * pairs, f"{plural(heads, 'head')} x 2 axes x {pairs} pairs"),
    }
    for name, (count, how) in learned.items():
        if facts.existing is None or name == "interpolate":
            yield Price(name, Cost("parameters", count, "parameters", how))
