"""From what the user names to a model and the graph of it."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.exporting.graphs.base import Graph
from gnomon.exporting.graphs.cached import CachedGraph
from gnomon.exporting.graphs.foreign import ForeignGraph
from gnomon.exporting.graphs.models import TokensGraph, XLNetGraph
from gnomon.exporting.options import ExportOptions
from gnomon.models import Decoder, Encoder, XLNet


def load_model(
    target: str | Path | nn.Module, example: Any, dtype: torch.dtype | str | None
) -> tuple[str, nn.Module, Any]:
    """The target's name, its model on the CPU in eval mode, and the example that came with it, or None.

    A module keeps its dtype unless another is asked for; files are read in float32.
    """
    if isinstance(target, nn.Module) and dtype is None:
        dtype = next((p.dtype for p in target.parameters() if p.is_floating_point()), None)
    subject = load_subject(target, dtype=dtype)
    if subject.has("graph"):
        raise UnsupportedTargetError(f"{target} is an ONNX graph already; name the model that it was made of.")
    try:
        model = subject.module
    except MissingEvidence as missing:
        raise UnsupportedTargetError(f"{subject.target} has no model to export: {missing}.") from None
    if example is not None or isinstance(model, Decoder | Encoder | XLNet):
        return subject.target, model, example
    try:
        return subject.target, model, subject.example
    except MissingEvidence as missing:
        raise UnsupportedTargetError(f"{subject.target} cannot be exported: {missing}.") from None


def graph_of(model: nn.Module, example: Any, options: ExportOptions) -> Graph:
    """The model as a function of named tensors."""
    if options.cache:
        if not isinstance(model, Decoder):
            raise GnomonError(f"A cache is exported for gnomon's Decoder alone, the model is {type(model).__name__}.")
        return CachedGraph(model)
    if isinstance(model, Decoder | Encoder):
        return TokensGraph(model)
    return XLNetGraph(model) if isinstance(model, XLNet) else ForeignGraph(model, example)
