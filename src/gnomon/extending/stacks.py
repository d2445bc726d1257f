"""What each serving stack will make of an extended config, asked before it is written."""

from dataclasses import dataclass
from typing import final

from gnomon.errors import GnomonError
from gnomon.report.resolved.document import Column, Resolution, Verdict
from gnomon.resolving.given import Given


@final
@dataclass(frozen=True)
class StackRow:
    """One stack: `verdict` is "reference", "equal", "differs", "stops", "absent" or "unknown", `says` why."""

    stack: str
    verdict: Verdict
    cap: int | None
    says: str
    mend: str = ""


def rows_of(given: Given, to: int, stacks: str | None = None) -> tuple[StackRow, ...]:
    """Every stack in its newest version, or `stacks`, on the new file, for servers started for `to` tokens."""
    from gnomon.resolving.resolution import resolve

    found: Resolution = resolve(given, stacks=stacks, lengths=(to,), served=to)
    return tuple(_row(column) for column in found.columns)


def require_served(rows: tuple[StackRow, ...]) -> None:
    """Raises GnomonError when no stack computes anything from the file."""
    if rows and not any(row.verdict in ("reference", "equal", "differs", "unknown") for row in rows):
        stops = next((row for row in rows if row.verdict == "stops"), rows[0])
        raise GnomonError(
            f"No engine could serve the result ({stops.stack}: {stops.says}); nothing is written, unless with --force."
        )


def _row(column: Column) -> StackRow:
    verdict: Verdict = column.status if column.status != "serves" else column.verdict
    says = column.message or (column.sentences[0] if column.sentences else "")
    return StackRow(column.name, verdict, column.cap, says, column.mend.text if column.mend else "")
