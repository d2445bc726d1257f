"""PE217: an nn.Embedding of positions has a padding_idx, so that one position has no vector and learns none."""

from collections.abc import Iterator

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.looked_up import first_row
from gnomon.doctor.evidence.tables import Table, position_tables
from gnomon.report.document import Finding, Measured


@check("PE217", "padding-row-in-use", severity="error", needs=(position_tables,))
def padding_row_in_use(subject: Subject) -> Iterator[Finding | Measured]:
    """A position table was made with `padding_idx`, and a position uses that row.

    Why: `padding_idx` zeroes one row and keeps gradients from it for ever. It is meant for the id of the padding token;
    given to a table of positions it silences a position, unless positions are counted from the row after it, as in
    RoBERTa and fairseq. Before training nothing shows but the zero row, after training one place in every text is
    worse.

    Fix: make the table `nn.Embedding(length, dim)` without `padding_idx`; to reserve rows, count positions from
    `padding_idx + 1`, and make the table that much longer.

    Sources: transformers pull request 10200 (a zeroed row of BART's table), torch.nn.Embedding's documentation of
    `padding_idx`; fairseq's LearnedPositionalEmbedding for the healthy use.
    """
    for table in position_tables(subject):
        row = table.info.padding_row
        yield Measured(f"padding_idx of {table.name}", "none" if row is None else row, None, "a row without gradient")
        if row is None:
            continue
        row = row % len(table.values)
        first = first_row(subject, table.name)
        start = table.reserved if first is None else first
        if row >= start:
            yield _finding(table, row, start, certain=first is not None or table.claim is not None)


def _finding(table: Table, row: int, start: int, *, certain: bool) -> Finding:
    return Finding(
        table.name,
        f"padding_idx={row} silences position {row - start}: its row gets no gradient"
        + ("" if table.values[row].any() else " and is all zero"),
        f"make the table without padding_idx, or count positions from {row + 1} and give it {row + 1} more rows",
        {"padding_idx": row, "first row in use": start},
        severity=None if certain else "warning",
    )
