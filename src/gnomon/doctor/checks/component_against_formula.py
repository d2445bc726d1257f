"""PE326: a bare position module gives other numbers than its formula."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.component import component
from gnomon.doctor.evidence.component_faults import added_faults, bias_faults, rotation_faults
from gnomon.report.document import Finding, Measured

FAULTS = {"added": added_faults, "rotation": rotation_faults, "bias": bias_faults}


@check("PE326", "component-against-formula", severity="error", needs=(component,))
def component_against_formula(subject: Subject) -> Iterator[Finding | Measured]:
    """A position module on its own gives the same vector everywhere, runs along the batch, or departs from its formula.

    Why: a position module is easiest to examine before it is part of a model. How it wants to be called is found by
    trying: hidden vectors, queries and keys, position ids or lengths. What comes out is told apart by its numbers and
    held against the formula of its kind: sinusoids by base, sign and start, rotations by angles that grow evenly with
    the position, biases by slopes and by distance alone. Which axis of the data is the sequence only the data can say:
    the axis that the module takes is measured, and judged only where its own `batch_first` says otherwise.

    Fix: as each finding says; the module's numbers for positions 0, 1, 2, ... must be those of the published formula.

    Sources: Vaswani et al. 2017, section 3.5; Su et al. 2021, arXiv:2104.09864; Press et al. 2022, arXiv:2108.12409;
    tanjimin/C.Origami#42 (positions along the batch), pytorch/tutorials#1547 (sequence-first by design, no fault).
    """
    found = component(subject)
    yield Measured("what the module gives", found.kind, None, f"called as {found.called}")
    yield from FAULTS[found.kind](found)
