"""PE502: positions cannot be read from hidden states."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.additive import additive
from gnomon.doctor.evidence.recovery import recovery
from gnomon.report.document import Finding, Measured

ABOVE = 2.0  # times chance, and times the control
WHY = "twice chance; all-MiniLM-L6-v2 reaches 0.99 after the first block"


@check("PE502", "position-recoverable", severity="error", needs=(recovery,))
def position_recoverable(subject: Subject) -> Iterator[Finding | Measured]:
    """A linear reader of the hidden states after the first block cannot tell positions better than chance.

    Why: what an additive encoding writes must still be there after the first block, or no later layer can use it. The
    reader sees random tokens, so that no token gives its place away, and is tested on sequences it was not fitted on;
    the same model with all positions equal is the control. (Labelling the tokens A, B, C with 0, 1, 2, as is often
    advised, cannot fail: the token alone gives the label.)

    Fix: see what the other checks say of the table; if they are silent, positions are far quieter than words (PE211).

    Sources: the last step of the article's list, corrected (docs/article.md, item 33).
    """
    if not additive(subject):
        raise MissingEvidence("the model adds no positions to its embeddings; relative encodings act inside attention")
    found = recovery(subject)
    yield Measured(f"positions read rightly after {found.where}", found.accuracy, ABOVE * found.chance, WHY)
    yield Measured("chance", found.chance, None, "1 / number of positions")
    if found.control is not None:
        yield Measured("the same with all positions equal", found.control, None, "the position-free control")
    floor = ABOVE * found.chance
    if found.accuracy < floor:
        yield Finding(
            found.where,
            f"{found.accuracy:.0%} of positions are read rightly; chance is {found.chance:.0%}",
            "make positions arrive (PE306) and be loud enough (PE211)",
            {"accuracy": found.accuracy, "chance": found.chance},
        )
