"""PE601: casting the loaded model to bfloat16 spoils its angles."""

import copy
from collections.abc import Iterator

import numpy as np
import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.rotary import rotary_uses
from gnomon.doctor.evidence.trace import trace_forward
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

ANGLE = Threshold(0.03, "a finished table rounded to bfloat16 costs 8e-3 rad; rounded frequencies cost whole turns")
WINDOW = 31


@check("PE601", "cast-survival", severity="warning", needs=(model, rotary_uses))
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
    uses = rotary_uses(subject)
    cast = Model(copy.deepcopy(probe.module).to(torch.bfloat16), probe.signature, subject.example, probe.furthest)
    length = probe.length(WINDOW)
    last = probe.furthest if probe.signature.positions else length
    positions = torch.arange(last - length, last)[None].expand(2, -1)
    content = probe.draw(2, length)
    content = content.to(torch.bfloat16) if content.is_floating_point() else content
    seen = trace_forward(cast, content, **({"positions": positions} if probe.signature.positions else {}))
    known = {(u.first.layout, len(u.frequencies)): (u.frequencies, u.shift) for u in uses}
    worst, where = 0.0, ""
    for rotation in seen.rotations:
        if (rotation.layout, rotation.cos.shape[-1]) not in known or rotation.axis != "sequence":
            continue
        frequencies, shift = known[rotation.layout, rotation.cos.shape[-1]]
        expected = (positions[0].double().numpy()[:, None] + shift) * frequencies
        error = float(np.abs(np.angle(np.exp(1j * (rotation.angles()[0].numpy() - expected)))).max())
        if error >= worst:
            worst, where = error, rotation.where
    if not where:
        raise MissingEvidence("no rotation was recognised in the cast model")
    yield Measured(f"phase error at position {last - 1} after .to(bfloat16)", worst, ANGLE.value, ANGLE.why)
    if worst > ANGLE.value:
        yield Finding(
            where,
            f"after .to(bfloat16) angles are off by up to {worst:.2g} rad at position {last - 1}",
            "load with dtype=torch.bfloat16 instead of casting, or restore the float32 frequencies after the cast",
            {"phase error": worst, "position": last - 1},
        )
