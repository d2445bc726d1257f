"""From what the user names to a model and the graph of it."""

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn

from gnomon.adapters import FACTORY, load_subject
from gnomon.adapters.factory import call_factory
from gnomon.adapters.module import module_subject
from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.adapters.wording import shown
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.exporting.graphs.base import Graph
from gnomon.exporting.graphs.cached import CachedGraph
from gnomon.exporting.graphs.foreign import ForeignGraph
from gnomon.exporting.graphs.models import TokensGraph, XLNetGraph
from gnomon.exporting.options import ExportOptions
from gnomon.models import Decoder, Encoder, XLNet

KINDS: Final = "A target is an nn.Module, the path of a folder, or package.module:factory"


def load_model(
    target: str | Path | nn.Module, example: Any, dtype: torch.dtype | str | None
) -> tuple[str, nn.Module, Any]:
    """The target's name, its model on the CPU in eval mode, and the example that came with it, or None.

    A module, in memory or of a factory, keeps its dtype unless another is asked for; files are read in float32. Raises
    GnomonError for files that do not hold all weights of the model.
    """
    subject = _subject(target, dtype)
    if subject.has("graph"):
        raise UnsupportedTargetError(f"{target} is an ONNX graph already; name the model that it was made of.")
    if subject.has("built"):
        raise UnsupportedTargetError(f"{target} is a config and has no weights; name the folder that holds both.")
    try:
        model = subject.module
        if subject.has("loading"):
            _require_all(model, subject.get("loading")["missing"], str(target))
    except MissingEvidence as missing:
        raise UnsupportedTargetError(f"{subject.target} has no model to export: {missing}.") from None
    if example is not None or isinstance(model, Decoder | Encoder | XLNet):
        return subject.target, model, example
    try:
        return subject.target, model, subject.example
    except MissingEvidence as missing:
        raise UnsupportedTargetError(f"{subject.target} cannot be exported: {missing}.") from None


def _subject(target: Any, dtype: torch.dtype | str | None) -> Subject:
    if isinstance(target, type):
        raise UnsupportedTargetError(f"{target.__name__} is a class; make a model of it.")
    if not isinstance(target, str | Path | nn.Module):
        raise UnsupportedTargetError(f"{KINDS}, got {shown(target)}.")
    if isinstance(target, nn.Module):
        return load_subject(target, dtype=dtype or _dtype(target))
    if FACTORY.fullmatch(str(target)) and not os.path.exists(target):
        module, example = call_factory(str(target))
        return module_subject(module, example, target=str(target), dtype=dtype or _dtype(module))
    return load_subject(target, dtype=dtype)


def _dtype(module: nn.Module) -> torch.dtype | None:
    return next((p.dtype for p in module.parameters() if p.is_floating_point()), None)


def _require_all(model: nn.Module, missing: Sequence[str], target: str) -> None:
    """Raise where loading drew a tensor at random; one that is tied to a tensor of the file is no such tensor."""
    every = chain(model.named_parameters(remove_duplicate=False), model.named_buffers(remove_duplicate=False))
    tensors = dict(every)
    loaded = {id(tensor) for name, tensor in tensors.items() if name not in missing}
    lacking = [name for name in missing if id(tensors.get(name)) not in loaded]
    if lacking:
        count = f"1 tensor that its model needs, {lacking[0]}"
        if len(lacking) > 1:
            count = f"{len(lacking)} tensors that its model needs, {lacking[0]} among them"
        raise UnsupportedTargetError(
            f"{target} lacks {count}: its numbers would be random; complete the weights, or export a module in memory."
        )


def graph_of(model: nn.Module, example: Any, options: ExportOptions) -> Graph:
    """The model as a function of named tensors."""
    if options.cache:
        if not isinstance(model, Decoder):
            raise GnomonError(f"A cache is exported for gnomon's Decoder alone, the model is {type(model).__name__}.")
        return CachedGraph(model)
    if isinstance(model, Decoder | Encoder):
        return TokensGraph(model)
    return XLNetGraph(model) if isinstance(model, XLNet) else ForeignGraph(model, example)
