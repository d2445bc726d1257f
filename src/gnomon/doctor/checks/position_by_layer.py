"""PE509: positions that the first block had are gone in a deeper one."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.additive import additive
from gnomon.doctor.evidence.recovery_by_layer import recovery_by_layer
from gnomon.report.document import Finding, Measured

ABOVE = 2.0  # times chance
WHY = "twice chance"


@check("PE509", "position-by-layer", severity="note", needs=(recovery_by_layer,))
def position_by_layer(subject: Subject) -> Iterator[Finding | Measured]:
    """A linear reader tells positions after the first block but no longer after a deeper one.

    Why: an encoding that is added once has to pass through every block. A block without its residual path, a layer
    that overwrites the stream, or words that outgrow positions block by block leave the deep layers without order. A
    trained model may drop positions in its last blocks on purpose, when its task has no use for them.

    Fix: look at the block named here: its residual path, its normalisation, what it returns. When depth is the reason,
    add positions in every block or use an encoding that acts inside attention.

    Sources: the last step of the article's list (docs/article.md, item 33), carried to every block.
    """
    if not additive(subject):
        raise MissingEvidence("the model adds no positions to its embeddings; relative encodings act inside attention")
    found = recovery_by_layer(subject)
    floor = ABOVE * found[0].chance
    for layer in found:
        yield Measured(f"positions read rightly after {layer.where}", round(layer.accuracy, 4), floor, WHY)
        if layer.control is not None:
            name = f"the same after {layer.where}, all positions equal"
            yield Measured(name, round(layer.control, 4), None, "control")
    if found[0].accuracy < floor:
        raise MissingEvidence("positions cannot be read after the first block (PE502)")
    lost = next((layer for layer in found[1:] if layer.accuracy < floor), None)
    if lost is not None:
        yield Finding(
            lost.where,
            f"{found[0].accuracy:.0%} of positions are read rightly after {found[0].where}, {lost.accuracy:.0%} after"
            f" {lost.where}; chance is {lost.chance:.0%}",
            "look at the residual path of this block, or give every block its positions",
            {"first block": found[0].accuracy, "this block": lost.accuracy, "chance": lost.chance},
        )
