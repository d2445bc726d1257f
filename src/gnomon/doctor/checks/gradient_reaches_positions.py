"""PE501: training does not move the learned position table."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.gradients import gradients
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

STARVED = Threshold(1e-3, "gradient of a position row / of a word row; all-MiniLM-L6-v2 has 1.4")


@check("PE501", "gradient-reaches-positions", severity="error", needs=(gradients,))
def gradient_reaches_positions(subject: Subject) -> Iterator[Finding | Measured]:
    """No gradient reaches the learned position table, or far less than reaches the words.

    Why: a table that is detached, masked, frozen by accident or never called stays at its initial noise. Loss still
    falls, since words carry most of it; the model only never learns order.

    Fix: index the parameter itself (no `.data`, no `detach`, no copy made at construction), keep requires_grad on,
    and give the parameter to the optimizer.

    Sources: the fourth step of the article's list (docs/article.md, item 33). A plain backward pass is the test;
    `torch.autograd.gradcheck` compares a gradient with finite differences and needs float64.
    """
    every = gradients(subject)
    others_reached = any(found.rows_reached for found in every)
    for found in every:
        yield Measured(
            f"rows of {found.name} that a gradient reaches", found.rows_reached, found.rows_used, "rows in use"
        )
        if not found.finite:
            yield Finding(found.name, "the gradient is NaN or infinite", "look for an overflow before the table")
        elif found.rows_reached == 0:
            yield Finding(
                found.name,
                "no gradient reaches the table: it is detached, masked out, or not used",
                "index the parameter itself; no .data, no detach(), no copy made at construction, no mask of zeros",
                {"rows reached": 0},
                # Beside a table that is reached it may be for arguments that were not given.
                severity="warning" if others_reached else None,
            )
        elif found.rows_reached < found.rows_used:
            yield Finding(
                found.name,
                f"{found.rows_used} positions use only {found.rows_reached} rows of the table: some share a row",
                "index the table with each token's own position; look for a clamp or a modulo on the ids",
                {"rows reached": found.rows_reached, "rows used": found.rows_used},
            )
        elif found.word_size:
            ratio = found.size / found.word_size
            yield Measured(f"gradient of {found.name} / of the words", ratio, STARVED.value, STARVED.why)
            if ratio < STARVED.value:
                yield Finding(
                    found.name,
                    f"the gradient of a position row is {ratio:.1g} of that of a word row: positions starve",
                    "remove the scale that shrinks positions, or give them their own learning rate",
                    {"ratio": ratio},
                    severity="warning",
                )
        if found.frozen:
            yield Finding(
                found.name,
                "requires_grad is off: training will not move the table",
                "set requires_grad to True, unless the table is frozen on purpose",
                severity="note",
            )
