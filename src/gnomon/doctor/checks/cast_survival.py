"""PE601: casting the loaded model to bfloat16 spoils its angles."""

from collections.abc import Iterator

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.expected import angles_follow_positions
from gnomon.doctor.evidence.rotary import phase_error, rotary_uses
from gnomon.doctor.evidence.trace import trace_forward
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

ANGLE = Threshold(0.03, "a finished table rounded to bfloat16 costs 8e-3 rad; rounded frequencies cost whole turns")
WINDOW = 31


@check("PE601", "cast-survival", severity="note", needs=(model, rotary_uses))
def cast_survival(subject: Subject) -> Iterator[Finding | Measured]:
    """After `model.to(torch.bfloat16)` the rotary angles are no longer those of the float32 model.

    Why: `Module.to` casts every floating buffer, the rotary frequencies among them. Loading with `dtype=torch.bfloat16`
    leaves them in float32, so the same weights give two different models, and only long inputs show it.

    Fix: load with `dtype=` instead of casting, restore the frequencies after a cast, or derive them from the config
    when called (as gnomon.encodings does).

    Sources: transformers issue 30709 and 25681; measured on transformers 5.24: `LlamaModel.to(bfloat16)` has bfloat16
    frequencies.
    """
    probe = model(subject)
    if probe.is_half:
        raise MissingEvidence(
            f"the model computes in {probe.dtype} already; load it in float32 to see what a cast does"
        )
    uses = rotary_uses(subject)
    length = probe.length(WINDOW)
    last = probe.reach(probe.furthest) if probe.signature.positions else length
    if not angles_follow_positions(subject, last):
        raise MissingEvidence("far positions turn otherwise than near ones, so those are no measure for them")
    length = min(length, last)
    positions = torch.arange(last - length, last)[None].expand(2, -1)
    content = probe.draw(2, length)
    content = content.to(torch.bfloat16) if content.is_floating_point() else content
    arguments = {"positions": positions} if probe.signature.positions else {}
    try:
        seen = trace_forward(probe.cast(torch.bfloat16), content, **arguments)
    except Exception as failure:
        raise MissingEvidence(
            f"the model does not run after .to(bfloat16): {type(failure.__cause__ or failure).__name__}"
        ) from failure
    errors = [(error, r.where) for r in seen.rotations if (error := phase_error(r, uses, positions[0])) is not None]
    if not errors:
        raise MissingEvidence("no rotation was recognised in the cast model")
    worst, where = max(errors)
    yield Measured(f"phase error at position {last - 1} after .to(bfloat16)", worst, ANGLE.value, ANGLE.why)
    if worst > ANGLE.value:
        yield Finding(
            where,
            f"after .to(bfloat16) angles are off by up to {worst:.2g} rad at position {last - 1}",
            "keep loading with dtype= rather than casting; after a cast, restore the float32 frequencies",
            {"phase error": worst, "position": last - 1},
        )
