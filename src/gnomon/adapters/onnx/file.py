"""An .onnx file as a Subject: initializers are its tensors, and a session of onnxruntime is its model."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.onnx.graph import Graph, OnnxTensors, read_graph
from gnomon.adapters.onnx.module import OnnxModule
from gnomon.adapters.placement import NO_FORWARD
from gnomon.adapters.subject import Absent, Lazy, MissingEvidence, Subject

BATCH, LENGTH, WIDTH = 2, 12, 32
ALONE = "an ONNX file has no {}"


def onnx_subject(path: Path, *, forward: bool = True) -> Subject:
    """The Subject of an ONNX file; it runs on the CPU in the types of its graph.

    Raises UnsupportedTargetError with one sentence for a file that is no ONNX graph.
    """
    graph = read_graph(path)
    return Subject(
        str(path),
        **{name: Absent(ALONE.format(name)) for name in ("config", "claims", "family", "tokenizer", "loading")},
        tensors=OnnxTensors(graph),
        module=Lazy(lambda: OnnxModule(graph).eval()) if forward else Absent(NO_FORWARD),
        example=Lazy(lambda: _example(graph)),
        trained=True,
        graph=graph,
    )


def _example(graph: Graph) -> dict[str, Any]:
    """Token ids up to the last of the vocabulary, or vectors, at the sizes that the graph fixed."""
    port = graph.content
    if port is None:
        raise MissingEvidence("the graph has no input of token ids (batch, sequence) or of vectors")
    usual = (BATCH, LENGTH, WIDTH)
    shape = [size if isinstance(size, int) and size > 0 else usual[i] for i, size in enumerate(port.shape)]
    generator = torch.Generator().manual_seed(0)
    if not port.dtype.startswith("int"):
        return {port.name: torch.randn(shape, generator=generator)}
    ids: Tensor = torch.randint(0, graph.vocabulary or 2, shape, generator=generator)
    ids[0, 0] = (graph.vocabulary or 2) - 1
    return {port.name: ids}
