"""PE615: torch.compile splits the model, or compiles it anew for each length."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.deployment.compiled import compiled
from gnomon.report.document import Finding, Measured

EACH = 2  # compilations of one graph: the first, and one with the length left open


@check("PE615", "compiles-once", severity="warning", needs=(model, compiled), heavy=True)
def compiles_once(subject: Subject) -> Iterator[Finding | Measured]:
    """The forward breaks into several graphs under torch.compile, or is compiled again for each length.

    Why: a table that is refreshed inside the forward when a position exceeds it asks for a value in the middle of the
    graph: tracing stops there, and starts again after it. A length that is kept as a number on the module is a guard:
    every new length compiles again, until the limit is reached and nothing is compiled any more.

    Fix: compute angles from positions in the forward, or keep one table of full size; compare shapes, not stored
    numbers, and read no values with `.item()` or `int(positions.max())`.

    Sources: foundation-model-stack 64, quack 150, diffusers pull request 10959.
    """
    found = compiled(subject)
    if found.first == 0:
        raise MissingEvidence("torch.compile found no tensor operation to compile")
    yield Measured("graphs at one length", found.first, 1, "each more is a break, where Python runs between them")
    yield Measured(
        f"graphs after lengths {found.lengths}", found.total, EACH * found.first, "one more with length open"
    )
    if found.breaks:
        yield Finding(
            "the forward",
            f"torch.compile breaks it into {found.first} graphs: {found.breaks[0]}",
            "read no values in the forward: compute angles from positions, or keep one table of full size (0 breaks)",
            {"graphs": found.first, "reasons": list(found.breaks[:3])},
        )
    if found.total > EACH * found.first:
        yield Finding(
            "the forward",
            f"{len(found.lengths)} lengths compile {found.total} graphs: a number that follows the length is a guard",
            f"keep no length on the module but derive it from the input: at most {EACH * found.first} compilations",
            {"graphs": found.total, "lengths": list(found.lengths)},
        )
