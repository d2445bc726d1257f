"""PE301: positions or angles go through half precision on their way."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import Model, model
from gnomon.doctor.evidence.expected import angles_follow_positions
from gnomon.doctor.evidence.record import Trace
from gnomon.doctor.evidence.rotary import RotaryUse, distinct_rows, phase_error, rotary_uses
from gnomon.doctor.evidence.trace import trace_forward
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

NEAR = 300  # tokens, where no position ids can be passed: bfloat16 ids collapse above 256
WINDOW = 31
UNEVEN = 0.3  # radians: rounding leaves less over a short input, rows and columns of a grid differ by more
ANGLE = Threshold(0.02, "float32 angles are off by 2e-3 rad at 16,384; bfloat16 ids or angles by 1 rad and more")
HALF = (torch.float16, torch.bfloat16)
SETTINGS: tuple[tuple[str, Any], ...] = (
    ("as it is", nullcontext),
    ("under autocast(bfloat16)", lambda: torch.autocast("cpu", torch.bfloat16)),
)


@check("PE301", "low-precision-positions", severity="error", needs=(model,))
def low_precision_positions(subject: Subject) -> Iterator[Finding | Measured]:
    """Position ids or angles are rounded to bfloat16 or float16 during the forward.

    Why: bfloat16 holds integers exactly only up to 256 (769 of the first 4,096 ids stay distinct) and float16 up to
    2,048. Neighbouring tokens then share one position. It happens when ids take the dtype of the hidden states, when
    a matrix product forms the angles under autocast, or when a cached table was built from a cast frequency.

    Fix: keep ids int64 and compute angles in float32 or better with autocast switched off; cast only the finished
    sine and cosine.

    Sources: transformers pull request 29285 and issue 25681, diffusers issue 13920, keras-hub's sine encoding;
    8 and 11 significant bits of bfloat16 and float16.
    """
    probe = model(subject)
    judged, told = False, set()
    for setting, context in SETTINGS:
        try:
            with context():
                seen, positions = _far(probe)
        except Exception as error:
            if context is nullcontext:
                raise
            yield Measured(f"the forward {setting}", f"does not run: {type(error.__cause__ or error).__name__}")
            continue
        for measured, finding in (*_rotations(seen, positions, subject, setting), *_angles(seen, setting)):
            judged = True
            yield measured
            if finding is not None and finding.where not in told:  # once for each place, not for each setting
                told.add(finding.where)
                yield finding
    if not judged:
        raise MissingEvidence("the forward computes no angles (a stored table or a bias carries the positions)")


def _far(probe: Model) -> tuple[Trace, Tensor]:
    """A short input at far positions where the model takes position ids, else a long enough input."""
    if probe.signature.positions is not None:
        last = probe.reach(probe.furthest)
        length = min(probe.length(WINDOW), last)
        positions = torch.arange(last - length, last)[None].expand(2, -1)
        return trace_forward(probe, probe.draw(2, length), positions=positions), positions
    length = probe.length(NEAR)
    return trace_forward(probe, probe.draw(1, length)), torch.arange(length)[None]


Judgement = tuple[Measured, Finding | None]


def _rotations(seen: Trace, positions: Tensor, subject: Subject, setting: str) -> Iterator[Judgement]:
    """Rotations at far positions against the frequencies that the same model shows at near ones."""
    if not seen.rotations or model(subject).is_half:  # half tables tell near frequencies too roughly to go far with
        return
    if not angles_follow_positions(subject, int(positions.max()) + 1):
        return
    try:
        near = rotary_uses(subject)
    except MissingEvidence:
        return
    if any((phase_error(use.first, [use], places_of(use)) or 0.0) > UNEVEN for use in near):
        return  # rows and columns of a grid: angles are no multiple of the place in the sequence
    errors = [
        (error, rotation)
        for rotation in seen.rotations
        if (error := phase_error(rotation, near, positions[0])) is not None
    ]
    if not errors:
        return
    worst, first = max(errors, key=lambda pair: pair[0])
    measured = Measured(f"phase error at position {int(positions.max())}, {setting}", worst, ANGLE.value, ANGLE.why)
    if worst <= ANGLE.value:
        yield measured, None
        return
    distinct = distinct_rows(torch.cat((first.cos[0], first.sin[0]), dim=-1))
    yield (
        measured,
        Finding(
            first.where,
            f"{setting}, angles are off by {worst:.2g} rad at position {int(positions.max())}; "
            f"{distinct} of {positions.shape[1]} neighbouring positions stay distinct",
            "keep ids int64 and compute the angles in float32 with autocast off; cast only cos and sin",
            {"phase error": worst, "distinct": distinct, "positions": positions.shape[1]},
        ),
    )


def places_of(use: RotaryUse) -> Tensor:
    """0, 1, 2, ... for the tokens of the forward that a use was read from."""
    return torch.arange(use.first.cos.shape[1])


def _angles(seen: Trace, setting: str) -> Iterator[Judgement]:
    """Angles that went into sin or cos: in half precision, or with rows that coincide."""
    for trig in {trig.where: trig for trig in reversed(seen.trigs)}.values():  # sine and cosine share their angles
        axes = [i for i, n in enumerate(trig.angles.shape[:-1]) if n == seen.length]
        if not axes:
            continue
        rows = trig.angles.movedim(axes[-1], 0).flatten(1).double()
        distinct = distinct_rows(rows)
        half = trig.angles.dtype in HALF
        name = f"distinct angles in {trig.where or 'the model'}, {setting}"
        measured = Measured(name, distinct, seen.length, "one for each position")
        if distinct == seen.length and not half:
            yield measured, None
            continue
        yield (
            measured,
            Finding(
                trig.where or "the model",
                f"{setting}, angles are {str(trig.angles.dtype).removeprefix('torch.')} and only {distinct} of "
                f"{seen.length} positions have their own"
                + (": they were rounded to half precision" if half else ": ids or frequencies were lost before"),
                "keep ids int64 and compute the angles in float32 with autocast off; cast only the result"
                if half
                else "compute each token's angle from its own int64 id, with frequencies that are not zero",
                {"distinct": distinct, "positions": seen.length, "dtype": str(trig.angles.dtype)},
            ),
        )
