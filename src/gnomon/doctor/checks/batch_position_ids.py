"""PE514: position ids in a training batch that cannot tell positions apart."""

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.additive import additive
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.batches import batch_arguments
from gnomon.doctor.evidence.signature import MASK, POSITIONS
from gnomon.doctor.evidence.visits import row_tables
from gnomon.report.document import Finding, Measured


@check("PE514", "batch-position-ids", severity="error", needs=("example",))
def batch_position_ids(subject: Subject) -> Iterator[Finding | Measured]:
    """Position ids of a batch, or of the example, were rounded, stand still, are negative, or count what they must not.

    Why: a loop that casts every tensor of a batch to the model's dtype casts ids too. bfloat16 holds whole numbers to
    256 and float16 to 2,048: above, neighbours become one position, and long inputs lose their order where they are
    long. Ids that stand still come from a mask summed without its cumulative sum, or a clamp. Where positions are
    added to words, ids that count padding, start at 1 or run on from row to row read other rows of the table than the
    same text alone does.

    Fix: keep ids int64 (cast only floating tensors of a batch), and make them with gnomon.positions.from_mask.

    Sources: Nerogar/OneTrainer issue 1177 (ids cast with the other inputs).
    """
    judged = False
    given = batch_arguments(subject) if subject.has("batches") else (subject.example,)
    for number, batch in enumerate(given):
        for name, ids in _ids(batch):
            judged = True
            real = _real(batch, ids)
            found = _fault(name, ids, real) or (_shifted(name, ids, real) if _added(subject) else None)
            if found is not None:
                yield found
                return
            dtype = str(ids.dtype).removeprefix("torch.")
            yield Measured(f"dtype of {name} in batch {number}", dtype, "int64", "exact")
    if not judged:
        raise MissingEvidence("neither a batch nor the example passes position ids")


def _ids(batch: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    for name, value in batch.items():
        if name.removeprefix("decoder_") in POSITIONS and isinstance(value, Tensor) and value.ndim in (1, 2):
            yield name, value.reshape(-1, value.shape[-1])


def _real(batch: Mapping[str, Any], ids: Tensor) -> Tensor:
    """(B, S) true where a token is no padding."""
    mask = next((batch[name] for name in MASK if isinstance(batch.get(name), Tensor)), None)
    if mask is None or mask.ndim != 2 or mask.shape[-1] != ids.shape[-1]:
        return torch.ones(ids.shape, dtype=torch.bool, device=ids.device)
    real: Tensor = mask.bool().expand(ids.shape) if len(mask) in (1, len(ids)) else torch.ones_like(ids).bool()
    return real


def _fault(name: str, ids: Tensor, real: Tensor) -> Finding | None:
    pairs = real[:, 1:] & real[:, :-1]
    steps = (ids[:, 1:].double() - ids[:, :-1].double())[pairs]
    still = int((steps == 0).sum())
    dtype = str(ids.dtype).removeprefix("torch.")
    if ids.is_floating_point() and still:
        last = ids.double()[real].unique()
        return Finding(
            name,
            f"{name} are {dtype}: {still} neighbours share one position; {len(last)} of {ids.shape[-1]} stay apart",
            "keep position ids int64; cast only floating tensors of a batch",
            {"dtype": dtype, "distinct": len(last), "tokens": ids.shape[-1]},
        )
    if bool(real.any()) and float(ids[real].min()) < 0:
        return Finding(name, f"{name} go down to {float(ids[real].min()):g}", "count real tokens from 0", {})
    if still and still == len(steps):
        same = float(ids[real][0])
        return Finding(name, f"all {name} are {same:g}: no order is given", "pass 0, 1, 2, ...", {"distinct": 1})
    if still:
        return Finding(
            name,
            f"{still} real tokens have the position of the token before them",
            "make ids from the mask: gnomon.positions.from_mask, or from_lengths for packed rows",
            {"repeated": still},
            severity="warning",
        )
    return None


def _added(subject: Subject) -> bool:
    """Whether positions are added to words, in a table whose first row is for the first token."""
    return bool(attempt(additive, subject)) and not any(table.reserved for table in row_tables(subject))


def _shifted(name: str, ids: Tensor, real: Tensor) -> Finding | None:
    """Ids in steps of one that begin elsewhere than at 0; where a relative encoding sees no difference."""
    ids = ids.expand(len(real), -1)
    rows = [(row[keep], int(keep.int().argmax())) for row, keep in zip(ids, real, strict=True) if bool(keep.any())]
    starts = [int(row[0]) for row, _ in rows]
    padded = [(start, slot) for start, (_, slot) in zip(starts, rows, strict=True) if slot]
    if padded and all(start == slot for start, slot in padded):
        start = padded[0][0]
        message = f"{name} count padding: after {start} padded slots the first real token has position {start}, not 0"
    elif padded and set(starts) == {1}:
        message = f"{name} start at 1 in every row: a cumulative sum of the mask without - 1"
    elif len(rows) > 1 and all(
        starts[row] > 0 and starts[row] == int(rows[row - 1][0][-1]) + 1 for row in range(1, len(rows))
    ):
        message = f"{name} run on from row to row: row 1 starts at {starts[1]}"
    else:
        return None
    fix = "count each row's real tokens from 0: gnomon.positions.from_mask"
    return Finding(name, message, fix, {"starts": starts[:8]}, severity="warning")
