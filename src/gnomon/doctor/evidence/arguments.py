"""The arguments of a call beside its content: those of an example, cut to the content, and those a forward needs."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.adapters.subject import MissingEvidence
from gnomon.doctor.evidence.signature import CONTENT, MASK, POSITIONS, Signature

LABELS = ("labels", "targets", "target", "label")


def like_content(value: Any, sample: Tensor, content: Tensor) -> Any:
    """A tensor argument cut to its first row, and to its first place where it has one for each of the sample's."""
    if not isinstance(value, Tensor) or value.ndim == 0 or value.shape[0] != sample.shape[0]:
        return value
    if value.shape[:2] == sample.shape[:2] and content.ndim <= 3:
        return value[:1, :1].expand(*content.shape[:2], *value.shape[2:])
    return value[:1].expand(content.shape[0], *value.shape[1:])


def completed(module: nn.Module, names: Signature, example: dict[str, Any]) -> dict[str, Any] | None:
    """The example with every argument that the forward insists on and that its name tells; None when one stays unknown.

    Further content and labels are the content itself, masks all true, positions 0, 1, 2, ...
    """
    content = example[names.content]
    whole = torch.ones(content.shape[:2], dtype=torch.int64, device=content.device)
    parts = {CONTENT: content, MASK: whole, POSITIONS: whole.cumsum(1) - 1, LABELS: content}
    added = {}
    for name, parameter in inspect.signature(module.forward).parameters.items():
        optional = parameter.default is not inspect.Parameter.empty or parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        )
        if optional or name in example:
            continue
        known = next((value for known_names, value in parts.items() if name in known_names), None)
        if known is None:
            return None
        added[name] = known
    return {**example, **added} if added else None


def vocabulary(module: nn.Module, sample: Tensor, run: Callable[[Tensor], Any]) -> int:
    """How many token ids there are: the rows of the tables that are asked for them in a run, else of the first table.

    The first nn.Embedding of a module may as well be its table of positions.
    """
    tables = [m for m in module.modules() if isinstance(m, nn.Embedding)]
    if len(tables) > 1:
        tables = _asked(tables, sample, run) or tables[:1]
    return min((table.num_embeddings for table in tables), default=int(sample.max()) + 1)


def _asked(tables: list[nn.Embedding], sample: Tensor, run: Callable[[Tensor], Any]) -> list[nn.Embedding]:
    """The tables that look up the tokens themselves, in a run on ids 0 and 1 that no count of places gives."""
    ids = (torch.arange(sample.numel(), device=sample.device) % 3).clamp(max=1).view_as(sample).to(sample.dtype)
    asked: list[nn.Embedding] = []

    def look(table: nn.Module, args: tuple[Any, ...]) -> None:
        rows = args[0] if args else None
        if isinstance(rows, Tensor) and sorted(rows.flatten().tolist()) == flat:
            asked.append(table)  # type: ignore[arg-type]

    flat = sorted(ids.flatten().tolist())
    handles = [table.register_forward_pre_hook(look) for table in tables]
    try:
        run(ids)
    except MissingEvidence:
        pass
    finally:
        for handle in handles:
            handle.remove()
    return asked
