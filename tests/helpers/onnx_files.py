"""ONNX files for tests: small models, exported with the sizes that a test wants open."""

import contextlib
import io
import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from torch import nn


def export(model: nn.Module, path: Path, *arguments: torch.Tensor, names: tuple[str, ...], fixed: bool = False) -> Path:
    """Exports with batch and length open for every argument, or with the example's sizes `fixed`."""
    sizes: Any = None if fixed else tuple({0: torch.export.Dim.AUTO, 1: torch.export.Dim.AUTO} for _ in arguments)
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            separate = tuple(argument.clone() for argument in arguments)  # one tensor twice would be one input
            program = torch.onnx.export(
                model.eval(), separate, dynamo=True, dynamic_shapes=sizes, input_names=list(names), verbose=False
            )
            assert program is not None
            program.save(str(path))
    finally:
        log.setLevel(level)
    return path
