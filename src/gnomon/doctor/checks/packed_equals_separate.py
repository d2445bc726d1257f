"""PE405: a document in a packed row gives other outputs than alone."""

from collections.abc import Iterator

from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.decoded import spelled
from gnomon.doctor.evidence.noise import difference, shift_tolerance
from gnomon.doctor.evidence.packing import LENGTHS, Packing, own_start, packings, restarted_ids
from gnomon.report.document import Finding, Measured


@check("PE405", "packed-equals-separate", severity="error", needs=(model, packings))
def packed_equals_separate(subject: Subject) -> Iterator[Finding | Measured]:
    """Documents packed into one row give other outputs than each of them alone, or their ids start at another number.

    Why: packing saves padding when a second document starts where the first ended. Positions that run on across the
    border, documents that see each other, or ids that restart at 0 in a family whose first row is 2 train the model on
    rows that it never sees in use.

    Fix: position ids restart with each document at the number that the model itself starts from
    (gnomon.positions.from_documents, plus the padding id and 1 for RoBERTa), and the mask lets no document see another.

    Sources: transformers issue 47496 (RoBERTa packed from 0), hiyouga/LLaMA-Factory#7318 (positions run on),
    hiyouga/LLaMA-Factory#7754 (only the first sample of a row was counted), NVIDIA/Megatron-LM#453.
    """
    probe = model(subject)
    yield from _batches(subject, probe)
    content = probe.draw(1, sum(LENGTHS), seed=93)
    limit = shift_tolerance(probe.tolerance, sum(LENGTHS))
    for packing in packings(subject):
        by_mask = "(" in packing.name
        with_ids = _effect(probe, packing, content, restarted=True)
        yield Measured(f"packed by {packing.name} against alone", with_ids, limit, "relative to the outputs")
        if by_mask and packing.start is None:
            continue  # relative encodings are right, and others have no ids to restart
        if with_ids > limit:
            yield Finding(
                "the forward",
                f"documents of {LENGTHS[0]} and {LENGTHS[1]} tokens packed by {packing.name} differ from each alone by "
                f"{with_ids:.2g} of their size" + ("" if packing.start is None else ", with ids that restart"),
                f"restart positions with each document ({_right(packing)}), and let no document see another",
                {"effect": with_ids, "lengths": str(LENGTHS)},
            )
            return
        bare = _effect(probe, packing, content, restarted=False)
        if not by_mask and bare > limit:
            yield Finding(
                "the forward",
                f"{packing.name} separates the documents, but without position ids they differ from each alone "
                f"by {bare:.2g} of their size: positions run on across documents",
                f"restart positions with each document ({_right(packing)}); until then pass position ids",
                {"effect": bare, "lengths": str(LENGTHS)},
                severity="warning",
            )
            return


def _effect(probe: Model, packing: Packing, content: Tensor, *, restarted: bool) -> float:
    """The largest difference of a document from itself alone."""
    packed, at, effects = packing.run(probe, content, restarted=restarted), 0, []
    for length in LENGTHS:
        now = slice(at, at + length)
        effects.append(difference(probe(content[:, now]), packed[:, now]))
        at += length
    return max(effects)


def _right(packing: Packing) -> str:
    return spelled(restarted_ids(packing.start or 0)[0].tolist())


def _batches(subject: Subject, probe: Model) -> Iterator[Finding | Measured]:
    """The ids of packed training batches, against the number that the model itself starts from."""
    name = probe.signature.positions
    if not subject.has("batches") or name is None:
        return
    own = own_start(probe)
    given = [batch[name] for batch in subject.get("batches") if isinstance(batch.get(name), Tensor)]
    lowest = min((int(ids.min()) for ids in given if ids.ndim == 2), default=None)
    if own is None or lowest is None:
        return
    yield Measured("first position id of the batches", lowest, own, "the id that the model itself gives a first token")
    if lowest < own:
        yield Finding(
            "the batches",
            f"position ids of the batches start at {lowest}, while the model numbers its first token {own}",
            f"restart the ids of each document at {own}: {_right(Packing('', {}, own))} for documents of {LENGTHS[0]} "
            f"and {LENGTHS[1]} tokens",
            {"start": lowest, "right": own},
        )
        raise MissingEvidence("the batches number documents from another start than the model")
