"""PE404: a sequence leaves something on the model that changes the next one."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.again import earlier_uses, left_behind
from gnomon.doctor.evidence.calling import model
from gnomon.report.document import Finding, Measured


@check("PE404", "sequence-after-sequence", severity="error", needs=(model,))
def sequence_after_sequence(subject: Subject) -> Iterator[Finding | Measured]:
    """A sequence gives another result after an earlier one than on a fresh copy of the model.

    Why: frequencies that a long prompt enlarged and nobody restored, a table of cosines kept from another length, the
    offset or the keys of an earlier sequence, a delta of image positions stored on the module: each makes the answer
    depend on who asked before. A test that runs one sequence never sees it.

    Fix: derive positions and length-dependent frequencies from the arguments of each call; keep what belongs to one
    sequence in its cache, not on the module; what must stay on the module is reset when a sequence begins.

    Sources: transformers pull requests 25308 and 27227 (dynamic scaling kept its enlarged base), 43952 (a second
    generation of Qwen-VL used the offsets of the first).
    """
    probe = model(subject)
    for name, use in earlier_uses(subject).items():
        try:
            effects = left_behind(subject, use)
        except MissingEvidence:
            continue
        for later, effect in effects.items():
            yield Measured(f"{later} after {name}, against a fresh copy", effect, probe.tolerance, "0 but for rounding")
        later, effect = max(effects.items(), key=lambda pair: pair[1])
        if effect > probe.tolerance:
            yield Finding(
                "the forward",
                f"after {name}, {later} of a short sequence differs by {effect:.2g} of its size from the same on a "
                "fresh copy: something of the earlier sequence stayed on the model",
                "recompute positions and frequencies from the arguments of each call, and keep offsets, deltas and "
                "keys of a sequence in its cache; reset at the start of a sequence what the module must hold",
                {"effect": effect, "after": name},
            )
            return
