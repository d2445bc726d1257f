"""PE201: the position table is not as wide as the vectors it is added to."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.tables import position_tables, word_table
from gnomon.report.document import Finding, Measured


@check("PE201", "width-mismatch", severity="error", needs=(position_tables,))
def width_mismatch(subject: Subject) -> Iterator[Finding | Measured]:
    """The position table's width differs from the width of the model (or of the word table it is added to).

    Why: positions are added to embeddings, so the two must be equally wide. A factorised embedding (narrow word table,
    wide model) must be projected first; a table that is wide where it should be long is a table with its axes swapped.

    Fix: build the position table with the model's width; with a factorised embedding project the words first.

    Sources: the second step of the usual five-step check list (add time, widths, overwritten values, gradient,
    isolation); Lan et al. 2019, arXiv:1909.11942 (ALBERT) for the factorised embedding.
    """
    allowed = _widths(subject)
    for table in position_tables(subject):
        width = table.values.shape[1]
        yield Measured(f"width of {table.name}", width, min(allowed), "the width of the model or of the word table")
        if width not in allowed:
            swapped = table.values.shape[0] in allowed
            yield Finding(
                table.name,
                f"the table is {table.values.shape[0]} x {width} but vectors are {_listed(allowed)} wide",
                "swap the table's axes: one row a position" if swapped else f"make the table {min(allowed)} wide",
                {"rows": table.values.shape[0], "width": width},
            )


def _widths(subject: Subject) -> set[int]:
    """Widths a position table may have: that of the vectors as they run, else the config's and the word table's."""
    if subject.has("module"):
        found = attempt(entry, subject)
        if found is not None:
            return {found.width}
    widths: set[int] = set()
    if subject.has("config"):
        keys = ("hidden_size", "n_embd", "d_model", "embedding_size", "word_embed_proj_dim")
        widths |= {value for key in keys if isinstance(value := subject.config.get(key), int)}
    words = attempt(word_table, subject)
    widths |= {words.shape[1]} if words else set()
    if not widths:
        raise MissingEvidence("neither a config nor a word table says how wide the model is")
    return widths


def _listed(numbers: set[int]) -> str:
    return " or ".join(str(n) for n in sorted(numbers))
