"""`gnomon resolve`: what every engine makes of one config; end with 1 when it is wrong, or an asked one differs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.advise import WIDEST
from gnomon.cli.columns import columns, terminal_width
from gnomon.cli.doctor import Output, in_color
from gnomon.cli.output import deliver, require_writable, say_written, stdout_for_the_result
from gnomon.cli.progress import show_progress
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from gnomon.report.resolved.document import Resolution

DEFAULT_PAGE = Path("gnomon-resolve.html")
WRONG = ("differs", "stops", "broken")

Target = Annotated[str | None, typer.Argument(help="A config.json, a folder that holds one, or a .gguf file.")]
Stacks = Annotated[
    str | None, typer.Option("--stack", metavar="A,B", help="Only these engines: vllm,hf4@4.43,sglang@all.")
]
Lengths = Annotated[
    list[int] | None, typer.Option("--length", metavar="N", help="Compare at this length too; repeatable.")
]
Served = Annotated[int | None, typer.Option(help="What servers are started for: the longest compared length.")]
Reference = Annotated[
    str | None, typer.Option(metavar="ENGINE", help="Held against this one: hf5, for a GGUF file llama.cpp.")
]
Format = Annotated[
    Literal["text", "json", "html"],
    typer.Option(help=f"How to write the answer; html goes to --output or {DEFAULT_PAGE}."),
]
Gallery = Annotated[bool, typer.Option("--gallery", help="Resolve the configs of well-known models instead of a file.")]
ListStacks = Annotated[bool, typer.Option("--list", help="List the engines and their versions.")]


def resolve(
    target: Target = None,
    stack: Stacks = None,
    length: Lengths = None,
    served: Served = None,
    reference: Reference = None,
    format: Format = "text",
    output: Output = None,
    gallery: Gallery = False,
    list_stacks: ListStacks = False,
) -> None:
    """Show what every engine makes of one config.

    And what makes them agree. Ends with 1 where the file itself has a fault at error level, or where an engine named by
    --stack differs, stops, or breaks gnomon's own reader of it; with 2 where the reference does not serve the file, so
    that nothing could be resolved.
    """
    if output is None and format == "html":
        output = DEFAULT_PAGE
    require_writable(output)
    if list_stacks:
        deliver(_listed(as_json=format == "json"), output)
        return
    if gallery == (target is not None):
        raise GnomonError("Give a config.json, a folder or a .gguf file to resolve, or --gallery; one of them.")
    options: dict[str, Any] = {"stacks": stack, "lengths": length or [], "served": served, "reference": reference}
    with stdout_for_the_result():
        found = _gallery(options) if target is None else _one(target, options)
    if not gallery and not any(column.status == "serves" for column in found[0].columns):
        _require_reference(found[0])
    if format == "html" and output is not None:
        from gnomon.report.resolved.html import write_page

        write_page(found, output)
        say_written(output)
    else:
        deliver(_as_json(found, gallery=gallery) if format == "json" else _as_text(found, output, gallery), output)
    if not gallery:
        _require_reference(found[0])
    raise typer.Exit(_broken(found) if gallery else _code(found[0], asked=stack is not None))


def _one(target: str, options: dict[str, Any]) -> "list[Resolution]":
    from gnomon.resolving import resolve

    return [resolve(target, **options)]


def _gallery(options: dict[str, Any]) -> "list[Resolution]":
    from gnomon.resolving import resolve
    from gnomon.resolving.gallery import gallery

    found = []
    with show_progress() as progress:
        for done, entry in enumerate(entries := gallery()):
            progress("resolving", entry.title, done, len(entries))
            found.append(resolve(entry.given, **options))
    return found


def _as_json(found: "list[Resolution]", *, gallery: bool) -> str:
    import json

    if not gallery:
        return found[0].to_json()
    return json.dumps([each.to_dict() for each in found], indent=2, ensure_ascii=False, allow_nan=False)


def _as_text(found: "list[Resolution]", output: Path | None, gallery: bool) -> str:
    from gnomon.report.resolved.matrix import render_matrix
    from gnomon.report.resolved.text import render_resolution

    width = min(WIDEST, terminal_width() or WIDEST)
    if gallery:
        return render_matrix(found, width=width)
    return render_resolution(found[0], width=max(width, 40), color=output is None and in_color())


def _require_reference(found: "Resolution") -> None:
    """Where nothing could be held against anything the command ends with 2, after whatever there is to show."""
    reference = found.columns[0]
    if reference.status in ("absent", "stops"):
        why = f"{reference.name} {'stops' if reference.status == 'stops' else 'does not serve the file'}"
        message = reference.message.rstrip(".")
        raise GnomonError(f"There is nothing to resolve, since the reference {why}: {message}.")


def _broken(found: "list[Resolution]") -> int:
    """1 where one of gnomon's own readers broke on a config of the gallery."""
    return int(any(column.status == "broken" for each in found for column in each.columns))


def _code(found: "Resolution", *, asked: bool) -> int:
    faults = any(lint.severity == "error" for lint in found.lints)
    wrong = asked and any(column.verdict in WRONG for column in found.columns)
    return int(faults or wrong or found.columns[0].status == "broken")


def _listed(*, as_json: bool) -> str:
    from gnomon.resolving.stack import registry

    kinds = [(name, kind, version) for name, kind in registry for version in kind.versions]
    if not as_json:
        rows = [(f"{name}@{each.name}", kind.sure, f"{kind.title}, {each.since}") for name, kind, each in kinds]
        return columns(rows, width=terminal_width())
    import json

    listed = [
        {"stack": name, "version": each.name, "title": kind.title, "since": each.since, "sure": kind.sure}
        for name, kind, each in kinds
    ]
    return json.dumps(listed, indent=2, ensure_ascii=False)
