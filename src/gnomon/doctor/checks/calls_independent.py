"""PE322: a call leaves something behind, in its arguments or in the calls after it."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.earlier_calls import changed_arguments, changed_buffers, earlier_calls
from gnomon.doctor.thresholds import OUTPUT
from gnomon.report.document import Finding, Measured

FIX = {
    "other position ids": "make the position ids part of what a cached table or mask is found by, or do not cache it: "
    "its length alone does not tell an offset",
    "an input longer than the stated limit": "when a scaling rule switched for a long input, switch back for the next "
    "short one: compute frequencies from the length of this call, and keep the original ones",
}
USUAL_FIX = (
    "compute tables, angles and masks for the ids of this call; what is kept between calls must be cut to the length "
    "and the batch at hand"
)


@check("PE322", "calls-independent", severity="error", needs=(model, earlier_calls))
def calls_independent(subject: Subject) -> Iterator[Finding | Measured]:
    """An earlier call changes the result of a later one, or a forward writes into the tensors it was given.

    Why: tables of angles, masks and offsets are kept between calls to save time. Kept by their length only, they serve
    a call with other position ids; grown or rescaled for a long input, they stay so for the next short one. A forward
    that adds an offset in place to the ids or vectors it was given moves them again with every call: a server breaks
    after some thousand requests, and no single call shows it. Each call is compared with the same call on a copy that
    has never run.

    Fix: a cache is found by everything that its content depends on, and nothing that was passed in is written to:
    `ids = ids + offset`, not `ids += offset`.

    Sources: lucidrains/rotary-embedding-torch#11 (a cache keyed by length), vllm-project/vllm#37884 (`+=` on a kept
    tensor of positions).
    """
    probe = model(subject)
    for argument, before, after in changed_arguments(probe):
        step = float((after - before).double().abs().max())
        yield Finding(
            f"the argument {argument}",
            f"the forward writes into the tensor it is given: its values move by up to {step:.3g}",
            f"work on a copy: {argument} = {argument} + offset instead of {argument} += offset",
            {"moved": step},
        )
    for buffer in changed_buffers(subject):
        yield Finding(
            buffer,
            "the same call, made twice, leaves other values in this buffer of integers",
            "do not write to a kept tensor of positions in place: ids = self.ids[:length] + offset",
            {},
            severity="warning",
        )
    for left in earlier_calls(subject):
        name = f"difference after {left.earlier}"
        yield Measured(name, left.difference, probe.tolerance, OUTPUT.why)
        if left.difference > probe.tolerance:
            yield Finding(
                "the forward",
                f"after a call with {left.earlier} the output differs by {left.difference:.2g} of its size from that "
                "of a copy which has never run",
                FIX.get(left.earlier, USUAL_FIX),
                {"difference": left.difference},
            )
