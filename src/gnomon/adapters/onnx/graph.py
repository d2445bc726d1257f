"""What an ONNX file says of itself: inputs with their sizes, outputs, the operator set and the vocabulary."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnomon.adapters.tensors import TensorInfo, TensorSource
from gnomon.adapters.wording import said
from gnomon.errors import UnsupportedTargetError

CONTENT = ("input_ids", "ids", "tokens", "token_ids", "input", "x", "inputs_embeds")


@dataclass(frozen=True)
class Port:
    """An input or output: sizes are numbers where the graph fixed them and names where it did not."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class Graph:
    """An ONNX graph without its weights."""

    path: Path
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    opset: int
    vocabulary: int | None
    initializers: tuple[TensorInfo, ...]
    operations: frozenset[str]

    @property
    def attends(self) -> bool:
        """Whether it holds an attention: a softmax, or a fused operation."""
        return "Softmax" in self.operations or any("Attention" in name for name in self.operations)

    @property
    def content(self) -> Port | None:
        """The input that holds tokens, or vectors in their place."""
        by_name = {port.name: port for port in self.inputs}
        known = next((by_name[name] for name in CONTENT if name in by_name), None)
        return known or next((port for port in self.inputs if len(port.shape) in (2, 3)), None)


def read_graph(path: Path) -> Graph:
    """The header of an ONNX file; weights in other files stay there. Raises UnsupportedTargetError in one sentence."""
    model = _loaded(path)
    graph = model.graph
    stored = {tensor.name for tensor in graph.initializer}
    opsets = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    return Graph(
        path,
        tuple(_port(value) for value in graph.input if value.name not in stored),
        tuple(_port(value) for value in graph.output),
        max(opsets, default=0),
        _vocabulary(graph),
        tuple(_info(tensor) for tensor in graph.initializer),
        frozenset(node.op_type for node in graph.node),
    )


def _loaded(path: Path, *, external: bool = False) -> Any:
    try:
        import onnx
    except ImportError:
        raise UnsupportedTargetError(f"{path} is an ONNX file; pip install 'gnomon[onnx]' reads it.") from None
    if not path.is_file():
        raise UnsupportedTargetError(f"{path} is not a regular file.")
    try:
        model = onnx.load(str(path), load_external_data=external)
    except Exception as error:  # noqa: BLE001 - protobuf's errors have no common base
        raise UnsupportedTargetError(f"{path} cannot be read as ONNX: {said(error)}.") from None
    if not model.graph.node:
        raise UnsupportedTargetError(f"{path} holds no ONNX graph.")
    return model


class OnnxTensors(TensorSource):
    """The initializers of a graph; values are read when asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def infos(self) -> tuple[TensorInfo, ...]:
        return self._graph.initializers

    def load(self, name: str) -> Tensor:
        from onnx import numpy_helper

        for tensor in _loaded(self._graph.path).graph.initializer:
            if tensor.name == name:
                values = numpy_helper.to_array(tensor, base_dir=str(self._graph.path.parent))
                return torch.from_numpy(values.copy())
        raise KeyError(name)


def _port(value: Any) -> Port:
    import onnx

    kind = value.type.tensor_type
    shape = tuple(d.dim_param or (d.dim_value if d.HasField("dim_value") else "?") for d in kind.shape.dim)
    return Port(value.name, onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).name, shape)


def _info(tensor: Any) -> TensorInfo:
    import onnx

    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).name
    return TensorInfo(tensor.name, tuple(tensor.dims), dtype)


def _vocabulary(graph: Any) -> int | None:
    """The rows of the table that the token ids pick from."""
    sizes = {tensor.name: tensor.dims for tensor in graph.initializer}
    inputs = {value.name for value in graph.input} & set(CONTENT)
    picked = [node for node in graph.node if node.op_type == "Gather" and node.input[1] in inputs]
    rows = [sizes[node.input[0]][0] for node in picked if len(sizes.get(node.input[0], ())) == 2]
    return min(rows, default=None)
