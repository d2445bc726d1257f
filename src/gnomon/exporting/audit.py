"""Looks through a whole ONNX graph for numbers that no graph of ours may hold: float64 and complex."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gnomon.errors import GnomonError


def require_plain_numbers(path: Path) -> None:
    """Raise GnomonError that names the first node, table or value in float64 or complex numbers.

    Looks at nodes with their attributes, tables, inputs, outputs and values in between, in subgraphs and functions too.
    """
    import onnx

    model = onnx.load(str(path), load_external_data=False)
    names = {
        onnx.TensorProto.DOUBLE: "float64",
        onnx.TensorProto.COMPLEX64: "complex numbers",
        onnx.TensorProto.COMPLEX128: "complex numbers",
    }
    parts = [*_of_graph(model.graph), *(found for f in model.functions for node in f.node for found in _of_node(node))]
    for where, kind in parts:
        if kind in names:
            raise GnomonError(
                f"The graph has {names[kind]} at {where}; compute there in float32 and real arithmetic (finished "
                f"tables hold what needs more digits)."
            )


def _of_graph(graph: Any) -> Iterator[tuple[str, int]]:
    """Where, and the element type there."""
    for node in graph.node:
        yield from _of_node(node)
    for tensor in graph.initializer:
        yield f"the table {tensor.name}", tensor.data_type
    for sparse in graph.sparse_initializer:
        yield f"the table {sparse.values.name}", sparse.values.data_type
    for value in (*graph.input, *graph.output, *graph.value_info):
        yield f"the value {value.name}", value.type.tensor_type.elem_type


def _of_node(node: Any) -> Iterator[tuple[str, int]]:
    where = f"the node {node.name or node.output[0]} ({node.op_type}{_module(node)})"
    for attribute in node.attribute:
        if attribute.name in ("to", "dtype"):
            yield where, attribute.i
        for tensor in (attribute.t, *attribute.tensors):
            yield where, tensor.data_type
        for graph in (attribute.g, *attribute.graphs):
            yield from _of_graph(graph)


def _module(node: Any) -> str:
    """The module of the model that a node comes from, where the exporter noted it."""
    noted = {entry.key: entry.value for entry in node.metadata_props}.get("pkg.torch.onnx.name_scopes", "")
    scopes = [scope.strip(" '\"") for scope in noted.strip("[]").split(",")]
    inner = [scope.removeprefix("model.") for scope in scopes[:-1] if scope not in ("", "model")]
    return f", in {inner[-1]}" if inner else ""
