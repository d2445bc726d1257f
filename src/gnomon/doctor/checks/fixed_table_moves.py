"""PE508: a training step changes numbers that a formula gives."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.stepping import training_step
from gnomon.report.document import Finding, Measured


@check("PE508", "fixed-table-moves", severity="warning", needs=(training_step,))
def fixed_table_moves(subject: Subject) -> Iterator[Finding | Measured]:
    """One training step changes a sinusoid table or rotary frequencies, which a formula gives.

    Why: a formula has nothing to learn. The table is a parameter that gradients or weight decay reach, or the forward
    writes into its buffer; after training it is neither the formula nor a table that learned on purpose, and positions
    beyond the trained length, which the formula would serve, are left as they were drawn.

    Fix: keep the table as a buffer (persistent=False) or set requires_grad to False; never write into it in forward.
    When it is meant as a first guess of a learned table, or of learned frequencies, ignore this check.

    Sources: transformers issues 29807 and 29904 (DistilBERT, Flaubert, XLM: fixed tables that training changed).
    """
    step = training_step(subject)
    if not step.fixed:
        raise MissingEvidence("the module holds no sinusoid table and no frequencies")
    for moved in step.fixed:
        yield Measured(f"change of {moved.name} in one step", moved.change, 0.0, "a formula has nothing to learn")
        if moved.rows:
            yield Finding(
                moved.name,
                f"one training step changes {moved.rows} of its rows, by {moved.change:.2g} (RMS)",
                "register it as a buffer with persistent=False, or set requires_grad to False and leave it out of the"
                " optimizer",
                {"rows changed": moved.rows, "change": moved.change},
            )
