"""Two documents in one row, told to a model in each way that it takes, found by trying."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.base import evidence
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.order import require_sequence
from gnomon.doctor.evidence.signature import main_output

LENGTHS = (5, 7)  # tokens of the two documents
STARTS = 5  # rows at most that a table keeps before that of position 0, and one more
DOCUMENTS = ("documents", "document_ids", "doc_ids", "document_id", "seq_idx", "sequence_ids", "sample_ids")
CUMULATIVE = ("cu_seqlens", "cu_seq_lens", "cu_seqlens_q", "cumulative_lengths")
LONGEST = ("max_seqlen", "max_seq_len", "max_seqlen_q", "max_length")


@final
@dataclass(frozen=True)
class Packing:
    """One way to tell a model where documents end. `start`: the id that it counts from itself; None: takes no ids."""

    name: str
    arguments: dict[str, Any]
    start: int | None

    def run(self, probe: Model, content: Tensor, *, restarted: bool) -> Tensor:
        """(1, 12) tokens -> outputs, with position ids that restart or without any."""
        ids = restarted_ids(self.start) if restarted and self.start is not None else None
        with torch.no_grad():
            return main_output(probe.forward(content, positions=ids, **self.arguments))


@evidence
def packings(subject: Subject) -> tuple[Packing, ...]:
    """The ways in which the model is told of documents: ids or cumulative lengths by name, else a block mask."""
    probe = model(subject)
    if probe.length(sum(LENGTHS)) < sum(LENGTHS):
        raise MissingEvidence(f"the model takes {probe.limit} tokens, too few to pack {sum(LENGTHS)}")
    require_sequence(probe(probe.draw(1, sum(LENGTHS))), sum(LENGTHS))
    start = own_start(probe)
    found = tuple(Packing(name, given, start) for name, given in _tries(probe) if _separates(probe, given))
    if not found:
        raise MissingEvidence("the forward takes neither document ids nor cumulative lengths nor a mask (B, 1, S, S)")
    return found


def own_start(probe: Model) -> int | None:
    """The id that the model itself gives the first token (RoBERTa: 2); None where it takes no ids, or keeps to none."""
    if probe.signature.positions is None:
        return None
    content = probe.draw(1, min(6, probe.length(6)), seed=91)
    plain, count = probe(content), torch.arange(content.shape[1], device=content.device)[None]
    for start in range(STARTS):
        try:
            if difference(plain, probe(content, positions=count + start)) <= probe.tolerance:
                return start
        except MissingEvidence:
            break
    return None


def restarted_ids(start: int) -> Tensor:
    """Position ids (1, 12) that begin anew with each document."""
    return torch.cat([torch.arange(n) for n in LENGTHS])[None] + start


def _tries(probe: Model) -> Iterator[tuple[str, dict[str, Any]]]:
    parameters = inspect.signature(probe.module.forward).parameters
    number = torch.repeat_interleave(torch.arange(1, len(LENGTHS) + 1), torch.tensor(LENGTHS))[None]
    for name in DOCUMENTS:
        if name in parameters:
            yield name, {name: number}
    ends = torch.tensor([0, *torch.tensor(LENGTHS).cumsum(0).tolist()])
    longest = {name: max(LENGTHS) for name in LONGEST if name in parameters}
    for name in CUMULATIVE:
        if name in parameters:
            yield name, {name: ends.int(), **longest}
    mask = probe.signature.mask
    if mask is not None:
        same = number[:, :, None] == number[:, None, :]
        forms = [seen for seen in _block_masks(same) if _is_a_mask(probe, mask, seen)]
        # Booleans added to the scores (GPT-Neo) look like a mask and hide nothing: a form that hides all is the one.
        whole = (seen for seen in forms if _hides_the_first(probe, mask, seen))
        if (seen := next(whole, forms[0] if forms else None)) is not None:
            yield f"{mask} (B, 1, S, S)", {mask: seen}


def _block_masks(same: Tensor) -> Iterator[Tensor]:
    """What each token may see, as booleans and as numbers to add."""
    causal = same & torch.ones_like(same).tril()
    for seen in (causal, same):
        yield seen[:, None]
        yield torch.zeros(seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)[:, None]


def _is_a_mask(probe: Model, name: str, seen: Tensor) -> bool:
    """Whether the forward takes it so that the first document's outputs stay what they are alone."""
    content = probe.draw(1, sum(LENGTHS), seed=92)
    alone = probe(content[:, : LENGTHS[0]])
    try:
        with torch.no_grad():
            packed = main_output(probe.forward(content, **{name: seen}))
    except MissingEvidence:
        return False
    whole = probe(content)
    return (
        packed.shape == whole.shape
        and difference(alone, packed[:, : LENGTHS[0]]) <= probe.tolerance
        and difference(whole[:, LENGTHS[0] :], packed[:, LENGTHS[0] :]) > probe.tolerance
    )


def _hides_the_first(probe: Model, name: str, seen: Tensor) -> bool:
    """Whether the second document's outputs stay what they are when the first document is another."""
    content = probe.draw(1, sum(LENGTHS), seed=92)
    changed = torch.cat((probe.draw(1, LENGTHS[0], seed=94), content[:, LENGTHS[0] :]), dim=1)
    with torch.no_grad():
        before, after = (main_output(probe.forward(c, **{name: seen}))[:, LENGTHS[0] :] for c in (content, changed))
    return difference(before, after) <= probe.tolerance


def _separates(probe: Model, given: dict[str, Any]) -> bool:
    """Whether the forward runs with these arguments and they have an effect."""
    content = probe.draw(1, sum(LENGTHS), seed=92)
    try:
        with torch.no_grad():
            packed = main_output(probe.forward(content, **given))
    except MissingEvidence:
        return False
    return packed.ndim >= 3 and packed.shape[1] == sum(LENGTHS)
