"""Claim 41: which ways to rotate can be exported."""

import contextlib
import io
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import final

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.encodings import Rotary
from gnomon.errors import GnomonError
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, flag
from gnomon.lab.experiments.context import Context

LENGTH, HEAD = 5, 8
EXACT = 1e-5
EXPORTERS = ("the exporter of today", "the older one by tracing")
OURS = "the rotation written out"


class Turned(nn.Module):
    """gnomon's rotation."""

    def __init__(self) -> None:
        super().__init__()
        self.rotary = Rotary(HEAD, layout="interleaved")

    def forward(self, q: Tensor) -> Tensor:
        """(B, H, S, D) -> the same."""
        return self.rotary.rotate_query(q, torch.arange(LENGTH)[None])


class Complex(nn.Module):
    """The same rotation as a product of complex numbers, as Llama's first code has it."""

    def forward(self, q: Tensor) -> Tensor:
        angle = torch.arange(LENGTH)[:, None] * torch.tensor(Rotary(HEAD).inverse_frequencies)
        turns = torch.polar(torch.ones_like(angle), angle)
        pairs = torch.view_as_complex(q.unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * turns).flatten(-2)


class Quarter(nn.Module):
    """torch.rot90, which is no rotation of pairs, but can be exported or not all the same."""

    def forward(self, q: Tensor) -> Tensor:
        return torch.rot90(q, 1, (-2, -1))


@claim(41, "5.4")
@final
class Export(Measured):
    """Three modules through both exporters of torch; what comes out is run with onnxruntime and compared."""

    seeded = False
    statement = "Exporting RoPE to ONNX fails on torch.rot90: write the rotation out as a product of matrices."
    truth = (
        "RoPE has no rot90 in it; what it stumbles over are complex numbers, in exporters that lack them. Written out "
        "in real arithmetic it exports, and ONNX has an operator for it since opset 23."
    )
    gnomon = "real arithmetic only; `PE607`, `PE613`, `PE614`"

    def measure(self, context: Context) -> dict[str, float]:
        q = torch.randn(1, 2, LENGTH, HEAD, generator=context.generator("queries"))
        return {
            f"{name}, {exporter}": _works(module, q, exporter)
            for name, module in _modules().items()
            for exporter in EXPORTERS
        }

    def judge(self, numbers: Numbers) -> Said:
        works = {name: bool(spread.mean) for name, spread in numbers.items()}
        taken = {name: [e for e in EXPORTERS if works[f"{name}, {e}"]] for name in _modules()}
        words = [f"{_takers(exporters)} {name}" for name, exporters in taken.items()]
        version = torch.__version__.partition("+")[0]
        seen = f"In torch {version} {', '.join(words)}."
        if not all(works[f"{OURS}, {exporter}"] for exporter in EXPORTERS):
            return Said("depends", seen)
        return Said("fails" if all(works[f"torch.rot90, {exporter}"] for exporter in EXPORTERS) else "depends", seen)


def _modules() -> dict[str, nn.Module]:
    return {OURS: Turned(), "complex numbers": Complex(), "torch.rot90": Quarter()}


def _takers(exporters: list[str]) -> str:
    """Who takes a module, in words."""
    if len(exporters) == len(EXPORTERS):
        return "both exporters take"
    return f"only {exporters[0]} takes" if exporters else "no exporter takes"


def _works(module: nn.Module, q: Tensor, exporter: str) -> float:
    """1 when the exporter takes the module and onnxruntime then gives the same numbers."""
    try:
        import onnxruntime
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise GnomonError("This is measured with onnxruntime; install it with `pip install 'gnomon[onnx]'`.") from error
    with _quiet(), tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "module.onnx"
        try:
            torch.onnx.export(module.eval(), (q,), file, dynamo=exporter == EXPORTERS[0])
            session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
            [found] = session.run(None, {session.get_inputs()[0].name: q.numpy()})
        except Exception:  # noqa: BLE001  whatever is said, it has not worked
            return 0.0
    return flag(bool(np.abs(found - module(q).numpy()).max() < EXACT))


@contextmanager
def _quiet() -> Iterator[None]:
    """The exporter's remarks about its own parts go nowhere."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)
