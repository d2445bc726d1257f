"""The exporter of torch, kept quiet, with one sentence for whatever it raises."""

import contextlib
import io
import logging
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from gnomon.adapters.wording import said
from gnomon.errors import GnomonError
from gnomon.exporting.graphs.base import Graph
from gnomon.exporting.options import ExportOptions
from gnomon.exporting.result import Case

LOGGERS = ("torch.onnx", "onnxscript", "onnx_ir", "torch.export", "torch.fx")
BRANCH = "GuardOnDataDependentSymNode"  #: what torch raises where Python asks a tensor that has no values


def require_exporter() -> None:
    """Raise GnomonError unless everything that an export needs is installed."""
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise GnomonError(f"An export needs {error.name}; pip install 'gnomon[onnx]'.") from None


def trace(graph: Graph, options: ExportOptions, path: Path) -> None:
    """Write the graph of the model to `path`, with weights in a second file where one cannot hold them.

    Raises GnomonError when the exporter cannot, or when it built a size of the example into the graph.
    """
    example = graph.draw(Case(2, options.traced_length, padding=3, past=5 if options.cache else 0), seed=0)
    open_sizes = {"tensors": tuple(graph.open_sizes(name) for name in example)}
    try:
        with quietly(), torch.no_grad():
            program = torch.onnx.export(
                graph,
                tuple(example.values()),
                dynamo=True,
                dynamic_shapes=open_sizes,
                input_names=list(example),
                output_names=list(graph.outputs),
                opset_version=options.opset_version,
                verbose=False,
            )
            if program is None:
                raise GnomonError("The exporter of torch gave no program.")
            program.save(str(path))
    except OSError as error:
        raise GnomonError(f"Cannot write the graph: {error.strerror}. Choose another path.") from error
    except GnomonError:
        raise
    except Exception as error:
        model = type(getattr(graph, "model", graph)).__name__
        raise GnomonError(
            _branch(error, model) or f"The exporter cannot write this model as a graph: {cause(error)}."
        ) from error


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """The exporter prints, warns and logs; none of it is the user's."""
    loggers: list[Any] = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with (
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def cause(error: BaseException) -> str:
    """What the first cause says; where its first line only announces a list, the first entry of that too."""
    error = _root(error)
    first, *others = str(error).strip().split("\n")
    if not first.endswith(":") or not others:
        return said(error)
    return said(type(error)(f"{first} {others[0].strip(' -')}"))


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _branch(error: BaseException, model: str) -> str | None:
    """The sentence for a forward that chooses by a tensor's values, with the place of it; None for other errors."""
    root = _root(error)
    if type(root).__name__ != BRANCH:
        return None
    own = str(Path(torch.__file__).parent)
    frames = [f for f in traceback.extract_tb(root.__traceback__) if not f.filename.startswith((own, "<"))]
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{model}.forward branches on the values of a tensor{place}; use torch.where."
