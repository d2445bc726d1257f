"""PE601: casting the loaded model to bfloat16 spoils its angles."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.deployment.copies import replica, untouched
from gnomon.doctor.evidence.expected import angles_follow_positions
from gnomon.doctor.evidence.rotary import phase_error, rotary_uses
from gnomon.doctor.evidence.trace import trace_forward
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

ANGLE = Threshold(0.03, "a finished table rounded to bfloat16 costs 8e-3 rad; rounded frequencies cost whole turns")
WINDOW, LONGEST = 31, 512


@check("PE601", "cast-survival", severity="note", needs=(model, rotary_uses))
def cast_survival(subject: Subject) -> Iterator[Finding | Measured]:
    """After `model.to(torch.bfloat16)` the rotary angles are no longer those of the float32 model.

    Why: `Module.to` casts every floating buffer, the rotary frequencies among them. Loading with `dtype=torch.bfloat16`
    leaves them in float32, so the same weights give two different models, and only long inputs show it. A table that
    was finished before the cast is harmless until an input makes the model build it again from what was cast, which
    some do when an input is exactly as long as the table.

    Fix: load with `dtype=` instead of casting, restore the frequencies after a cast, or derive them from the config
    when called (as gnomon.encodings does).

    Sources: transformers issues 30709, 25681 and 31228; DeepSpeed issue 5812 (its engine casts all buffers); measured
    on transformers 5.24: `LlamaModel.to(bfloat16)` has bfloat16 frequencies.
    """
    probe = model(subject)
    if probe.is_half:
        raise MissingEvidence(
            f"the model computes in {probe.dtype} already; load it in float32 to see what a cast does"
        )
    rotary_uses(subject)
    cast = replica(probe, untouched(subject)).cast(torch.bfloat16)
    before: float | None = None
    seen = False
    for ids in _positions(subject, probe):
        found = _worst(subject, cast, probe, ids)
        if found is None:
            continue
        seen = True
        error, where = found
        last = int(ids[-1])
        yield Measured(f"phase error at position {last} after .to(bfloat16)", error, ANGLE.value, ANGLE.why)
        if error > ANGLE.value:
            yield _finding(where, error, last, before)
            return
        before = error
    if not seen:
        raise MissingEvidence("no rotation was recognised in the cast model")


def _positions(subject: Subject, probe: Model) -> list[Tensor]:
    """Positions (S,) of each run: from 0 to one before the longest length and to it, and the furthest ids there are."""
    longest = probe.length(LONGEST)
    runs = [torch.arange(length) for length in (longest - 1, longest) if length >= 1]
    if probe.signature.positions:
        last = probe.reach(probe.furthest)
        runs = runs if longest <= 64 else []
        runs.append(torch.arange(max(last - probe.length(WINDOW), 0), last))
    kept = [ids for ids in runs if angles_follow_positions(subject, int(ids[-1]) + 1)]
    if not kept:
        raise MissingEvidence("far positions turn otherwise than near ones, so those are no measure for them")
    return kept


def _worst(subject: Subject, cast: Model, probe: Model, ids: Tensor) -> tuple[float, str] | None:
    """The largest phase error of the cast model at these positions and its place; None when nothing was recognised."""
    content = probe.draw(2, len(ids))
    content = content.to(torch.bfloat16) if content.is_floating_point() else content
    given: dict[str, Any] = {"positions": ids[None].expand(2, -1)} if probe.signature.positions else {}
    try:
        seen = trace_forward(cast, content, **given)
    except Exception as failure:
        raise MissingEvidence(
            f"the model does not run after .to(bfloat16): {type(failure.__cause__ or failure).__name__}"
        ) from failure
    uses = rotary_uses(subject)
    errors = [(error, r.where) for r in seen.rotations if (error := phase_error(r, uses, ids)) is not None]
    return max(errors, default=None)


def _finding(where: str, error: float, last: int, before: float | None) -> Finding:
    sudden = "" if before is None or before > error / 4 else f", and by {before:.2g} rad at length {last}"
    return Finding(
        where,
        f"after .to(bfloat16) angles are off by up to {error:.2g} rad at position {last}{sudden}",
        "keep loading with dtype= rather than casting; after a cast, restore the float32 frequencies"
        + ("" if not sudden else "; build tables in float32 whatever the dtype of the model"),
        {"phase error": error, "position": last},
    )
