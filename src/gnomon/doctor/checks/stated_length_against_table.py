"""PE204: the length that the config states and the rows of the table differ."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import claims_or_none
from gnomon.doctor.evidence.tables import position_tables
from gnomon.report.document import Finding, Measured


@check("PE204", "stated-length-against-table", severity="error", needs=(position_tables, "claims"))
def stated_length_against_table(subject: Subject) -> Iterator[Finding | Measured]:
    """The position table has fewer rows than the config states, or rows that nothing uses.

    Why: a table shorter than the stated length fails with an index error (on a GPU a device assert) at the first long
    input. RoBERTa and OPT reserve the first two rows, so 514 rows serve 512 positions: a limit that forgets them is
    wrong by two.

    Fix: make the table stated length plus reserved rows long (interpolate a trained one), or state the length it
    serves.

    Sources: transformers issues 9116, 14243, 33196; OPT's offset of 2 in its configuration and model code.
    """
    claims = [c for kind in ("learned", "sinusoidal") for c in claims_or_none(subject, kind)]
    judged = False
    for table in position_tables(subject):
        claim = table.claim or (claims[0] if len(claims) == 1 else None)
        length = claim.options.get("max_length") if claim else None
        if not isinstance(length, int):
            continue
        judged = True
        rows, usable = len(table.values), len(table.values) - table.reserved
        yield Measured(
            f"usable rows of {table.name}", usable, length, f"positions stated; {table.reserved} rows reserved"
        )
        if usable < length:
            yield Finding(
                table.name,
                f"{length} positions are stated but {rows} rows serve {usable}"
                + (f" ({table.reserved} are reserved)" if table.reserved else ""),
                f"give the table {length + table.reserved} rows, or state {usable} positions",
                {"rows": rows, "usable": usable, "stated": length},
            )
        elif usable > length:
            yield Finding(
                table.name,
                f"{usable} rows are usable but only {length} positions are stated",
                f"state {usable} positions, or find out why the other rows are there",
                {"rows": rows, "usable": usable, "stated": length},
                severity="warning",
            )
    if not judged:
        raise MissingEvidence("the config states no length for a table")
