"""PE515: documents packed into one row of a training batch see each other."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.batches import batch_arguments
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.signature import POSITIONS, main_output
from gnomon.report.document import Finding, Measured


@check("PE515", "packed-batch-leaks", severity="warning", needs=(batch_arguments, model))
def packed_batch_leaks(subject: Subject) -> Iterator[Finding | Measured]:
    """Position ids of a batch start again inside a row, but tokens of one document change the outputs of the next.

    Why: ids that restart say that a row holds several documents. Without a mask that keeps them apart, a token attends
    to an earlier document at a position its own document has too: relative encodings then see false distances, even
    negative ones. Kernels that read the borders from the ids keep documents apart; other attention paths do not.

    Fix: pass a mask that is true within a document alone (gnomon.positions.from_documents gives ids and borders), or
    use an attention path that takes cumulative lengths; or let ids run on when documents are meant to see each other.

    Sources: transformers documentation of packing with position ids and flash attention.
    """
    probe, judged = model(subject), False
    for number, batch in enumerate(batch_arguments(subject)):
        border = _border(batch)
        content = batch.get(probe.signature.content)
        if border is None or not isinstance(content, Tensor) or not probe.takes_ids:
            continue
        judged = True
        row, start = border
        effect = _effect(probe, batch, content, row, start)
        yield Measured(f"effect of a document on the next in batch {number}", effect, probe.tolerance, "of the outputs")
        if effect > probe.tolerance:
            yield Finding(
                f"batch {number}",
                f"ids of row {row} start again at token {start}, but tokens before it change outputs after it by"
                f" {effect:.2g} of their size",
                "pass a mask of documents, or use an attention path that takes their borders (cumulative lengths)",
                {"effect": effect, "row": row, "border": start},
            )
            return
    if not judged:
        raise MissingEvidence("no batch has position ids that start again inside a row")


def _border(batch: Mapping[str, Any]) -> tuple[int, int] | None:
    """A row and the token where its ids fall back."""
    ids = next((batch[name] for name in POSITIONS if isinstance(batch.get(name), Tensor)), None)
    if ids is None or ids.ndim != 2:
        return None
    falls = ((ids[:, 1:] < ids[:, :-1]) & (ids[:, :-1] > 0)).nonzero()
    return (int(falls[0, 0]), int(falls[0, 1]) + 1) if len(falls) else None


def _effect(probe: Model, batch: Mapping[str, Any], content: Tensor, row: int, start: int) -> float:
    """How far outputs from `start` on move when every token before it changes."""
    other = content.clone()
    other[row, :start] = (content[row, :start] + 1) % probe.vocabulary
    module = copy.deepcopy(probe.module)
    arguments = {name: value for name, value in batch.items() if name != "labels"}
    if probe.signature.use_cache:
        arguments.setdefault("use_cache", False)  # as in training: transformers reads borders from ids only then
    before, after = (_outputs(module, {**arguments, probe.signature.content: x}) for x in (content, other))
    if before.shape[:2] != content.shape:
        raise MissingEvidence("the forward gives no output for each token")
    own = slice(start, start + _own_length(batch, row, start))
    return difference(before[row, own], after[row, own])


def _own_length(batch: Mapping[str, Any], row: int, start: int) -> int:
    """Tokens of the document that starts at `start`."""
    ids = next(batch[name] for name in POSITIONS if isinstance(batch.get(name), Tensor))[row, start:]
    steps = (ids[1:] <= ids[:-1]).nonzero()
    return int(steps[0, 0]) + 1 if len(steps) else len(ids)


def _outputs(module: nn.Module, arguments: Mapping[str, Any]) -> Tensor:
    try:
        with torch.no_grad():
            return main_output(module(**arguments))
    except (Exception, SystemExit) as error:
        raise MissingEvidence(f"the forward fails on a batch: {error}") from error
