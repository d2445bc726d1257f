"""`gnomon explain`: a check's page, or one line for each check."""

import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.columns import columns

if TYPE_CHECKING:
    from gnomon.doctor.check import Check

WIDTH = 80


def explain(
    code: Annotated[str | None, typer.Argument(help="A check's code or name, as in PE203; none lists all.")] = None,
) -> None:
    """Print a check's page: what, why, how to fix it, sources."""
    from gnomon.doctor.check import registry

    if code is None:
        typer.echo(columns([(check.code, check.title) for _, check in registry]))
    else:
        named = {check.name: check for _, check in registry}
        typer.echo(page(named.get(code.lower()) or registry.get(code.upper())))


def page(check: "Check") -> str:
    """The page of one check, 80 columns wide."""
    from gnomon.doctor.check import GROUPS

    head = f"{check.code} {check.name} ({check.severity})"
    needs = f"Needs: {check.needed}. Codes {check.code[:3]}xx: {GROUPS[check.code[:3]]}."
    paragraphs = [" ".join(paragraph.split()) for paragraph in check.doc.split("\n\n")]
    title, *body = paragraphs
    return "\n\n".join(textwrap.fill(text, WIDTH) for text in (head, title, needs, *body))
