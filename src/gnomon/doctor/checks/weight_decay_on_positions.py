"""PE506: weight decay pulls a position table, bias or frequency towards zero."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.optimizing import Held, optimizing
from gnomon.report.document import Finding, Measured


@check("PE506", "weight-decay-on-positions", severity="note", needs=(optimizing,))
def weight_decay_on_positions(subject: Subject) -> Iterator[Finding | Measured]:
    """Weight decay acts on parameters that carry positions.

    Why: a row of a table is trained only by inputs that reach it, but decoupled decay shrinks every row at every step,
    by lr times decay. Rows of long positions, seen seldom, fade: at lr 1e-4 and decay 0.1 they lose two thirds in
    100,000 steps. A fixed sinusoid kept as a parameter fades without any gradient, and decayed frequencies or slopes
    drift to zero, which is no position at all. Many trainers do decay tables on purpose: then this is only a note.

    Fix: put position tables, biases, slopes and frequencies into the parameter group that has weight_decay=0, beside
    norms and biases; a fixed table is no parameter (PE210).

    Sources: Loshchilov and Hutter 2019, arXiv:1711.05101 (decoupled decay: w <- (1 - lr * decay) * w at every step).
    """
    for held in optimizing(subject).held:
        if not held.groups or not held.trainable:
            continue
        decay = max(float(group.get("weight_decay", 0.0)) for group in held.groups)
        yield Measured(f"weight decay on {held.name}", decay, 0.0, "rows that no input reaches only shrink")
        if decay > 0:
            yield _finding(held, decay)


def _finding(held: Held, decay: float) -> Finding:
    rate = float(held.groups[0].get("lr", 0.0))
    fixed = held.parameter.table is not None and held.parameter.table.sinusoid is not None
    formula = fixed or "freq" in held.name or "slope" in held.name
    what = "a sinusoid that should stay as it is" if fixed else "numbers of a formula" if formula else "it"
    return Finding(
        held.name,
        f"weight decay {decay:g} shrinks {what} by {rate * decay:.2g} of its size at every step, rows that no input"
        " reaches too",
        "put it into the parameter group with weight_decay=0",
        {"weight decay": decay, "lr": rate},
        severity="warning" if formula else None,
    )
