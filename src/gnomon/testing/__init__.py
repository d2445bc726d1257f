"""The contract of a position encoding, offered to users for their own encodings; and the doctor as an assertion.

>>> from gnomon.encodings import ALiBi
>>> from gnomon.testing import Reference, check_encoding
>>> check_encoding(ALiBi(num_heads=2), reference=Reference(bias=lambda head, i, j: -abs(i - j) / 16 ** (head + 1)))
"""

from gnomon.encodings.base import PositionEncoding
from gnomon.testing import distance, heads, order, parts, state, values
from gnomon.testing.healthy import UnhealthyModelError, assert_healthy
from gnomon.testing.trial import ClauseError, Reference, Trial

__all__ = ["CLAUSES", "ContractError", "Reference", "UnhealthyModelError", "assert_healthy", "check_encoding"]

#: Every clause by name: a function that raises when the encoding breaks it, with a docstring that says what it asks.
CLAUSES = {
    clause.__name__: clause
    for clause in (
        values.reference,
        values.double_precision,
        values.far_out,
        values.shapes_and_dtypes,
        values.one_rounding_in_bfloat16,
        values.autocast,
        values.half_precision_module,
        order.uses_position,
        order.neighbours_differ,
        order.int64_ids,
        order.one_token_at_a_time,
        order.permutation_of_tokens,
        order.rows_of_the_batch,
        order.shift_invariance,
        order.norms,
        order.limit,
        order.lengths,
        state.arguments_unchanged,
        state.gradients,
        state.json_round_trip,
        state.copies,
        state.state_dict,
        state.separate_instances,
        state.meta_device,
        distance.by_distance,
        parts.content_by_distance,
        heads.for_heads,
    )
}


class ContractError(AssertionError):
    """An encoding breaks its contract. `broken` maps the name of each broken clause to what was measured."""

    def __init__(self, encoding: PositionEncoding, broken: dict[str, str]) -> None:
        lines = "".join(f"\n  {name}: {detail}" for name, detail in broken.items())
        super().__init__(f"{type(encoding).__name__} breaks {len(broken)} of {len(CLAUSES)} clauses:{lines}")
        self.broken = broken


def check_encoding(
    encoding: PositionEncoding,
    *,
    reference: Reference | None = None,
    num_heads: int | None = None,
    head_dim: int | None = None,
    dim: int | None = None,
) -> None:
    """Hold an encoding to what every encoding promises; raises ContractError that lists each broken clause.

    All clauses run on the CPU in about 0.1 s and leave the encoding as it was. Without a `reference` the clauses
    "reference", "double_precision" and "far_out" cannot compare with the formula; all others still bite. The sizes of
    the model are read from the encoding's options of the same names; what is not there is 3 heads of width 8, and
    dim = heads x width.
    """
    options = encoding.options
    heads = num_heads or options.get("num_heads", 3)
    width = head_dim or options.get("head_dim", 8)
    trial = Trial(encoding, reference, heads, width, dim or options.get("dim", heads * width))
    broken: dict[str, str] = {}
    for name, clause in CLAUSES.items():
        try:
            clause(trial)
        except ClauseError as error:
            broken[name] = str(error)
        except Exception as error:  # noqa: BLE001 - an encoding may fail in any way, and that breaks the clause
            broken[name] = f"raised {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    if broken:
        raise ContractError(encoding, broken)
