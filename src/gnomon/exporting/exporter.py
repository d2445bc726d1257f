"""`gnomon.export`: load, replace encodings, trace, audit, compare, and only then let the file appear."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from torch import nn

from gnomon.adapters.onnx.graph import read_graph
from gnomon.adapters.wording import shown
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.exporting.audit import require_plain_numbers
from gnomon.exporting.forms.rotary import Operator
from gnomon.exporting.graphs.base import BATCH, Graph
from gnomon.exporting.options import USUAL_LENGTH, USUAL_LENGTHS, ExportOptions, Rotary
from gnomon.exporting.replacing import with_forms
from gnomon.exporting.result import Exported, Port, WrongExportError
from gnomon.exporting.target import graph_of, load_model
from gnomon.exporting.tracing import require_exporter, trace
from gnomon.exporting.verifying import cases, verify
from gnomon.plots.files import check_writable

NO_OPERATOR: Final = (
    "No rotation of this model can be written as RotaryEmbedding, as those of Rotary and XPos can; leave rotary to "
    "'arithmetic'."
)


def export(
    target: str | Path | nn.Module,
    path: str | Path,
    *,
    example: Any = None,
    opset: int | None = None,
    rotary: Rotary = "arithmetic",
    max_length: int = USUAL_LENGTH,
    lengths: tuple[int, int] = USUAL_LENGTHS,
    cache: bool = False,
    dtype: torch.dtype | str | None = None,
    check: bool = True,
    keep: bool = False,
) -> Exported:
    """Write the model as an ONNX graph of any batch and any length, if the graph equals the model.

    `target`: a gnomon Decoder, Encoder or XLNet, any nn.Module (`example`: a tuple or dict of its forward arguments,
    drawn where it takes token ids), a Hugging Face folder, or `package.module:factory`. `dtype` casts it first.
    `opset`, `rotary`, `max_length`, `lengths` and `cache` are explained at `ExportOptions`. A graph of more than about
    1.5 GB has its weights in a second file, FILE.data.

    The graph runs in onnxruntime beside the model at both `lengths`, for 1 and 3 rows, from later positions and with
    padding on the left; `check=False` leaves that out. Raises WrongExportError where it differs, unless `keep`;
    GnomonError, in one sentence, for a target, path or options that cannot be used, a model that cannot be traced, and
    float64 or complex numbers in the graph. Nothing is then written.

    >>> model = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     exported = export(model, f"{folder}/model.onnx")
    >>> exported.ok, [(port.name, port.shape) for port in exported.inputs]
    (True, [('input', ('batch', 'sequence'))])
    """
    options = ExportOptions(opset, rotary, max_length, lengths, cache)
    require_exporter()
    place = _place(path)
    with _folder_beside(place) as folder:
        name, model, given = load_model(target, example, dtype)
        eager = graph_of(model, given, options)
        replaced, encodings = with_forms(model, options)
        if rotary == "operator" and not any(isinstance(part, Operator) for part in replaced.modules()):
            raise GnomonError(NO_OPERATOR)
        traced = graph_of(replaced, given, options)
        traced.limit = eager.limit = _limit(replaced, eager.limit)
        if check:
            cases(eager, options)
        written = folder / place.name
        trace(traced.eval(), options, written)
        require_plain_numbers(written)
        inputs, outputs = _ports(written, traced)
        checks = verify(eager.eval(), written, options) if check else ()
        exported = Exported(name, Path(path), options.opset_version, inputs, outputs, encodings, checks)
        if not (exported.ok or keep):
            raise WrongExportError(exported)
        _move(folder, place)
    return exported


def _limit(model: nn.Module, stated: int | None) -> int | None:
    """The least number of positions that an encoding, or the model's config, has."""
    found = [part.max_length for part in model.modules() if isinstance(part, PositionEncoding)]
    return min((n for n in (stated, *found) if n is not None), default=None)


def _ports(path: Path, graph: Graph) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """Inputs and outputs; raises GnomonError where a size of the example was built in."""
    header = read_graph(path)
    inputs, outputs = (tuple(Port(p.name, p.dtype, p.shape) for p in side) for side in (header.inputs, header.outputs))
    for port in inputs:
        for place, name in graph.open_sizes(port.name).items():
            if isinstance(port.shape[place], int):
                what = "batch" if name == BATCH else "length"
                raise GnomonError(
                    f"The model's forward builds the {what} of its example into the graph ({port.name} "
                    f"{port.shape}); take sizes from tensors there, without int() and len()."
                )
    return inputs, outputs


def _place(path: Any) -> Path:
    """The file itself where the path is a link to it, as for all that gnomon writes."""
    if not isinstance(path, str | Path):
        raise GnomonError(f"A graph is written to a path, got {shown(path)}.")
    check_writable(path)
    return Path(os.path.realpath(path))


@contextmanager
def _folder_beside(path: Path) -> Iterator[Path]:
    """An empty folder on the disk of the target; nothing of it stays."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise GnomonError(f"{path} is not a regular file; a graph is written to one.")
    try:
        folder = Path(tempfile.mkdtemp(prefix=".gnomon-", dir=path.parent))
    except OSError as error:
        raise GnomonError(f"Cannot write {path}: {error.strerror}. Choose another path.") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(folder: Path, path: Path) -> None:
    """The graph last: until then whoever reads the path sees what was there before."""
    for part in sorted(folder.iterdir(), key=lambda part: part.name == path.name):
        os.replace(part, path.with_name(part.name))
