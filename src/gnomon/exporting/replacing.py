"""A copy of a model in which every gnomon encoding is its export form."""

import copy
from collections.abc import Iterable
from itertools import chain

import torch
from torch import Tensor, nn

from gnomon.adapters.fast_rotary import Rotation
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.exporting.forms.base import Form, form_of
from gnomon.exporting.options import ExportOptions


def with_forms(model: nn.Module, options: ExportOptions) -> tuple[nn.Module, tuple[tuple[str, str], ...]]:
    """The copy, and (encoding, form) for each kind in it. Weights are shared with the model, which stays as it is.

    Layers that share an encoding share its form, and so do equal encodings without weights. Equal tables of any forms
    are one tensor, which a graph stores once.
    """
    shared = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    copied = copy.deepcopy(model, shared)
    made: dict[str | PositionEncoding, Form] = {}
    if any(isinstance(module, Rotation) for module in model.modules()):
        raise GnomonError("The model is turned by fast_rotary, which a graph cannot hold; call remove() first.")
    for parent in list(copied.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, PositionEncoding) and not isinstance(parent, PositionEncoding):
                key = child if any(True for _ in child.parameters()) else repr(child)
                if key not in made:
                    made[key] = form_of(child, options)
                setattr(parent, name, made[key])
    _share_tables(made.values())
    kinds = {(form.kind, form.description): None for form in made.values()}
    return copied, tuple(kinds)


def _share_tables(made: Iterable[Form]) -> None:
    seen: list[Tensor] = []
    for part in (part for form in made for part in form.modules()):
        for name, table in part.named_buffers(recurse=False):
            same = (t for t in seen if (t.dtype, t.shape) == (table.dtype, table.shape) and torch.equal(t, table))
            part._buffers[name] = next(same, table)
            seen.append(table)
