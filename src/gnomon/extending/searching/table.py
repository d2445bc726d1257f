"""A search as text."""

from gnomon.extending.checking.table import WIDTH, columns
from gnomon.extending.searching.results import Searched
from gnomon.report.wrapping import wrap


def as_text(searched: Searched) -> str:
    """The verdict, the losses beside those of the plain methods, and the list."""
    losses = {**searched.baselines, "found": searched.change.after}
    rows = [(name, "-" if loss is None else f"{loss:.4f}") for name, loss in losses.items()]
    listed = " ".join(f"{factor:g}" for factor in searched.long_factor)
    blocks = [
        [line for sentence in searched.verdict for line in wrap(f"- {sentence}", WIDTH)],
        list(columns(("method", "loss"), rows)),
        list(wrap(f"long_factor: {listed}", WIDTH)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks)
