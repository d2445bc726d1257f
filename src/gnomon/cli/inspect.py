"""`gnomon inspect`: which encoding is where, with its numbers, and no judgement."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.doctor import NoForward, Output, Pickle, Target
from gnomon.cli.output import deliver, require_writable, stdout_for_the_result

if TYPE_CHECKING:
    from gnomon.report.document import FoundEncoding, Report


def inspect(
    target: Target,
    format: Annotated[Literal["text", "json"], typer.Option(help="How to write what was found.")] = "text",
    output: Output = None,
    no_forward: NoForward = False,
    allow_pickle: Pickle = False,
) -> None:
    """Say which position encodings a model has, and where."""
    require_writable(output)
    from gnomon.doctor import inspect as examine

    with stdout_for_the_result():
        report = examine(target, forward=not no_forward, allow_pickle=allow_pickle)
    deliver(report.to_json() if format == "json" else _text(report), output)


def _text(report: "Report") -> str:
    found = [_lines(encoding) for encoding in report.encodings] or ["no position encoding found"]
    return "\n\n".join([report.target, *found])


def _lines(found: "FoundEncoding") -> str:
    options = [f"  {key}: {_plain(value)}" for key, value in found.options.items()]
    return "\n".join([f"{found.kind} at {found.where} (from the {found.source})", *options])


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
