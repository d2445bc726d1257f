"""PE408: after the rows of a cache were reordered, they go on otherwise than alone."""

from collections.abc import Iterator

import torch
from torch import Tensor

from gnomon import positions as position_ids
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.cache_edits import move_rows
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoding import Way, decoding
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.padding import pad_token, padded_unequally
from gnomon.report.document import Finding, Measured

LENGTH = 8  # tokens
FIX = "move keys, values, mask, offsets and stored positions of each row together, in every layer"


@check("PE408", "cache-reorder", severity="error", needs=(model, decoding))
def cache_reorder(subject: Subject) -> Iterator[Finding | Measured]:
    """Rows of a cache that beam search has moved go on otherwise than the same rows alone.

    Why: beam search copies the best rows over the others after each token. Rows differ in their padding, so an offset,
    a mask or positions that stay behind put each row's next token where another row would have it.

    Fix: reorder everything that is kept for a row together: keys, values, mask, offsets, deltas of image positions.

    Sources: the contract of transformers' Cache.reorder_cache; ml-explore/mlx-lm#1699 for offsets kept for each row.
    """
    probe, way = model(subject), decoding(subject)
    length = probe.length(LENGTH)
    content = probe.draw(2, length, seed=103)
    rows = torch.tensor([1, 0], device=content.device)
    session = way.open(probe)
    session.feed(content[:, : length - 3])
    name = move_rows(session, rows)
    moved = content[rows]
    output = torch.cat([session.feed(moved[:, i : i + 1]) for i in range(length - 3, length)], dim=1)
    limit = shift_tolerance(probe.tolerance, length)
    effects = {"rows that swapped": difference(probe(moved)[:, length - 3 :], output)}
    padded = _padded(probe, way, pad_token(subject), rows)
    if padded is not None:
        effects["rows padded differently that swapped"] = padded
    for what, effect in effects.items():
        yield Measured(f"{what}, against one pass", effect, limit, "relative to the outputs")
        if effect > limit:
            yield Finding(
                "the cache",
                f"after {name}, {what} go on {effect:.2g} of their outputs' size away from the same rows alone",
                FIX,
                {"effect": effect},
            )
            return


def _padded(probe: Model, way: Way, pad: int | None, rows: Tensor) -> float | None:
    """The same with padding in the first row only; None where padding is not heeded without a swap either."""
    if probe.signature.mask is None:
        return None
    try:
        content, mask = padded_unequally(probe, pad)
        kept = _swapped(probe, way, content, mask, None)
        moved = _swapped(probe, way, content, mask, rows)
    except MissingEvidence:
        return None
    return difference(kept[rows], moved)


def _swapped(probe: Model, way: Way, content: Tensor, mask: Tensor, rows: Tensor | None) -> Tensor:
    """Feed all but the last two tokens, swap the rows if asked to, and feed the rest: the outputs of the rest."""
    ids = position_ids.from_mask(mask) if probe.signature.positions else None
    session, last = way.open(probe), content.shape[1] - 2
    session.feed(content[:, :last], mask=mask[:, :last], positions=None if ids is None else ids[:, :last])
    if rows is not None:
        move_rows(session, rows)
        content, mask, ids = content[rows], mask[rows], None if ids is None else ids[rows]
    steps = [slice(i, i + 1) for i in (last, last + 1)]
    return torch.cat(
        [
            session.feed(content[:, now], mask=mask[:, now], positions=None if ids is None else ids[:, now])
            for now in steps
        ],
        dim=1,
    )
