"""PE201: the position table is not as wide as the vectors it is added to."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.configs import config_parts
from gnomon.doctor.evidence.entry import entry
from gnomon.doctor.evidence.tables import position_tables, word_table
from gnomon.report.document import Finding, Measured

WIDTHS = ("hidden_size", "n_embd", "d_model", "dim", "emb_dim", "embedding_size", "word_embed_proj_dim")
TOWERS = ("decoder_hidden_size",)  # a second part in the same config (masked autoencoders)


@check("PE201", "width-mismatch", severity="error", needs=(position_tables,))
def width_mismatch(subject: Subject) -> Iterator[Finding | Measured]:
    """The position table's width differs from the width of the model (or of the word table it is added to).

    Why: positions are added to embeddings, so the two must be equally wide. A factorised embedding (narrow word table,
    wide model) must be projected first; a table that is wide where it should be long is a table with its axes swapped.

    Fix: build the position table with the model's width; with a factorised embedding project the words first.

    Sources: the second step of the usual five-step check list (add time, widths, overwritten values, gradient,
    isolation); Lan et al. 2019, arXiv:1909.11942 (ALBERT) for the factorised embedding.
    """
    allowed, sure = _widths(subject)
    if not allowed:
        raise MissingEvidence("neither a config nor a word table says how wide the model is")
    for table in position_tables(subject):
        rows, width = table.values.shape
        yield Measured(f"width of {table.name}", width, min(allowed), "the width of the model or of the word table")
        if width in allowed:
            continue
        swapped = rows in allowed
        if not sure and not swapped:
            raise MissingEvidence(f"words are {_listed(allowed)} wide; only a forward tells whether they are projected")
        yield Finding(
            table.name,
            f"the table is {rows} x {width} but vectors are {_listed(allowed)} wide",
            "swap the table's axes: one row a position" if swapped else f"make the table {min(allowed)} wide",
            {"rows": rows, "width": width},
        )


def _widths(subject: Subject) -> tuple[set[int], bool]:
    """Widths a position table may have: that of the vectors as they run, else of the config and of the word table.

    Words alone leave it open, as they may be projected first; not so beside a module that runs or fails to.
    """
    found = attempt(entry, subject) if subject.has("module") else None
    if found is not None:
        # Words may be widened or joined before positions come in (MobileBERT), so the stated widths count too.
        return {found.width, *_stated(subject)}, True
    stated, words = _stated(subject), attempt(word_table, subject)
    return stated | ({words.shape[1]} if words else set()), bool(stated) or subject.has("module")


def _stated(subject: Subject) -> set[int]:
    """Widths that the config states: its own, and those of its towers (text, vision), each with its own table."""
    parts = config_parts(attempt(lambda s: s.config, subject) or {})
    return {value for _, part in parts for key in (*WIDTHS, *TOWERS) if isinstance(value := part.get(key), int)}


def _listed(numbers: set[int]) -> str:
    return " or ".join(str(n) for n in sorted(numbers))
