"""The plan of an extension of tables: what a checkpoint folder has for each position, and what becomes of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile
from gnomon.adapters.checkpoints.weight_files import folder_tensors
from gnomon.errors import GnomonError
from gnomon.extending.plan import Plan
from gnomon.extending.tables.beside import images_beside, texts_beside
from gnomon.extending.tables.found import is_grid, model_claims
from gnomon.extending.tables.grids import Size, require_size
from gnomon.extending.tables.images import image_parts
from gnomon.extending.tables.optimizer import extended_optimizer
from gnomon.extending.tables.options import AUTO, Options
from gnomon.extending.tables.part import Part
from gnomon.extending.tables.relative import relative_parts
from gnomon.extending.tables.texts import text_parts


def plan_tables(
    folder: Path,
    config: Mapping[str, Any],
    *,
    to: int | Size,
    method: str = AUTO,
    optimizer: bool = False,
    options: Options | None = None,
) -> Plan | None:
    """What changes in a folder whose tables of positions are to serve `to`; None when the model has no such table.

    `to` is a number of positions for a text model (tokens, special ones among them), and (height, width) for an image
    model: a grid of patches, or the window of Swin. `method` is one of `METHODS`; a grid and a window are interpolated.
    A table that holds sinusoids is continued by its formula, whatever the method. Only tables are read, one at a time.
    With `optimizer` the moments of the tables change as well, in the optimizer.pt or optimizer.bin of the folder.

    Raises GnomonError, with one sentence, for a length that is none or not longer, for a method that does not fit, for
    a table that the config contradicts, and for one that gnomon does not know.
    """
    source = folder_tensors(folder)
    parts = list(_parts(source, config, to, method, options or Options()))
    if not parts:
        return None
    plan = reduce(lambda whole, part: whole.joined(part.plan()), parts, Plan())
    plan = _with_files(plan, folder, parts)
    if not optimizer:
        return plan
    tables = {name: table for part in parts for name, table in part.tables.items()}
    if not any(table.moments for table in tables.values()):
        raise GnomonError("Nothing would read --optimizer: no learned table changes; leave it out.")
    name, content, words = extended_optimizer(folder, source, tables)
    return replace(plan, files={**plan.files, name: content}, words=(*plan.words, *words))


def _parts(
    source: SafetensorsFile, config: Mapping[str, Any], to: int | Size, method: str, options: Options
) -> Iterator[Part]:
    if isinstance(to, tuple):
        require_size(to)
        yield from image_parts(source, config, to, method, options)
        return
    if type(to) is not int or to < 1:
        raise GnomonError(f"A length is a whole number from 1, or HEIGHTxWIDTH for images, got {to!r}.")
    texts = list(text_parts(source, config, to, method, options))
    if any(is_grid(claim) or claim.kind in ("window_bias", "log_cpb") for claim in model_claims(config)):
        raise GnomonError(f"The model sees images; give a grid of patches, or a window, as HEIGHTxWIDTH, not {to}.")
    yield from texts
    yield from relative_parts(config, to, method, alone=not texts)


def _with_files(plan: Plan, folder: Path, parts: list[Part]) -> Plan:
    """The plan with the files that state a length or a size a second time."""
    length = max((part.length for part in parts if part.length is not None), default=None)
    changed = list(texts_beside(folder, length)) if length is not None else []
    for old, new in (part.image for part in parts if part.image):
        changed += images_beside(folder, old, new)
    files = {name: content for name, content, _ in changed}
    return replace(plan, files=files, words=(*plan.words, *(word for _, _, word in changed)))
