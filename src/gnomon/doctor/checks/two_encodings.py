"""PE316: positions enter twice, by two encodings."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.additive import ADDED
from gnomon.doctor.evidence.base import claims
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.rotary import rotary_uses
from gnomon.report.document import Finding, Measured


@check("PE316", "two-encodings", severity="warning", needs=(model, rotary_uses))
def two_encodings(subject: Subject) -> Iterator[Finding | Measured]:
    """Queries and keys are rotated, and a table of positions is added to the embeddings as well.

    Why: which encoding a model uses is often two flags, one for the rotation and one for the table, with defaults of
    their own. With both on, training works; but the table has a last row, so the length that the rotation would allow
    is lost, scores no longer depend on the distance alone, and other programs that read "rotary" in the config leave
    the table out. A few models have both on purpose; their configs say so.

    Fix: switch the table off (and drop its weights) where rotary is meant; or say in the config that both are used.

    Sources: deepspeedai/Megatron-DeepSpeed#169, NVIDIA/Megatron-LM#401.
    """
    uses = rotary_uses(subject)
    stated = {claim.kind for claim in claims(subject)}
    if model(subject).takes_images:
        raise MissingEvidence("the model takes images, for which both together are usual")
    found = entry(subject)
    adds = found.axis == "sequence" and not found.attentions_before
    yield Measured("tables added beside the rotation", int(adds), 0, "one encoding, unless the config names both")
    if adds and not stated & set(ADDED):
        yield Finding(
            found.where,
            f"queries and keys are rotated ({uses[0].where}), and positions are added to the embeddings too"
            + (f", from {found.table}" if found.table else ""),
            "keep one: remove the table where the rotation is meant, or state both in the config",
            {"ratio of positions to words": found.ratio},
            severity=None if stated else "note",
        )
