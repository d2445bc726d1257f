"""Whether rows may be moved as asked, and what the small files beside them then have to say."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from gnomon.adapters.checkpoints.huggingface import CONFIG
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import LAYOUTS, Layout, checked_layout
from gnomon.layouts.geometry import Geometry, geometry_of, switched
from gnomon.layouts.marker import MARKER, marked_layout, marker
from gnomon.resolving.stack import OTHER_NAMES
from gnomon.resolving.stack import registry as stacks


@final
@dataclass(frozen=True)
class Order:
    """Rows go from `came_from` to `to`; `files` that change, by name (None: left out), and `words` for the user."""

    came_from: Layout
    to: Layout
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    words: tuple[str, ...] = ()


def order_for(
    source: Path,
    config: Mapping[str, Any],
    geometry: Geometry,
    *,
    to: Layout,
    came_from: Layout | None,
    program: str | None,
    switchable: bool,
) -> Order:
    """The order, where it makes sense; raises GnomonError where rows are so already, or nobody could run the result."""
    now = _present(source, geometry, came_from)
    if now == to:
        other = next(layout for layout in LAYOUTS if layout != to)
        raise GnomonError(
            f"The rows of {source} are taken to be {now} already; if they were made for {other} pairs, say so "
            f"(--from {other}), or look with `gnomon layout detect {source}`."
        )
    unlike = _unlike_its_class(source, geometry, now)
    told, key = switched(config, to) if switchable else (dict(config), "")
    runs = geometry_of(told).layout
    files: dict[str, bytes | None] = {CONFIG: (json.dumps(told, indent=2) + "\n").encode()} if key else {}
    words: tuple[str, ...] = (
        (f"{CONFIG}: {key} now; what does not read this key still turns {now} pairs.",) if key else ()
    )
    its_class = f"The class of {geometry.model_type} in transformers turns {runs} pairs"
    if runs == to:
        files |= {MARKER: None} if (source / MARKER).exists() else {}
        return Order(now, to, files, (*words, *unlike, f"{its_class} and runs the result."))
    _require_program(program, f"{its_class} and would run the result wrongly", to)
    content = marker(to, family=geometry.model_type, family_layout=runs, program=str(program))
    words = (
        *words,
        *unlike,
        f"{its_class} and would run the result wrongly; it is for {program}, and {MARKER} says so.",
    )
    return Order(now, to, {**files, MARKER: content}, words)


def _present(source: Path, geometry: Geometry, came_from: Layout | None) -> Layout:
    marked = marked_layout(source)
    if came_from is not None and marked not in (None, came_from):
        raise GnomonError(
            f"{source / MARKER} says that the rows are {marked}, not {came_from}; remove it if it is wrong."
        )
    return checked_layout(came_from) if came_from is not None else marked or geometry.layout


def _unlike_its_class(source: Path, geometry: Geometry, now: Layout) -> tuple[str, ...]:
    """A sentence where nothing but the user says that rows lie otherwise than the class turns them."""
    if now == geometry.layout or marked_layout(source) == now:
        return ()
    return (
        f"That rows were {now} is taken from what you said (--from); the class of {geometry.model_type} turns "
        f"{geometry.layout} pairs, and nothing here was measured. If the source runs well as it is, the result is "
        f"wrong: `gnomon layout detect {source}` tells by the loss.",
    )


def _require_program(program: str | None, wrong: str, to: Layout) -> None:
    if program is None or not program.strip():
        raise GnomonError(f"{wrong}; name the program that turns {to} pairs and will run it (--for NAME).")
    if program.lower() in OTHER_NAMES or program.lower() in stacks:
        raise GnomonError(
            f"{program} reads such a folder as transformers does; give it the folder as it is: where it turns other "
            f"pairs itself, it moves the rows when it loads or converts them. {wrong}."
        )
