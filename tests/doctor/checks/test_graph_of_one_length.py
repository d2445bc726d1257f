"""PE613: .onnx files whose sizes are fixed, declared or not."""

from pathlib import Path

import torch

from gnomon.adapters import load_subject
from gnomon.doctor import run
from tests.helpers.gallery_deployment import ComputedAngles, Turned
from tests.helpers.onnx_files import export
from tests.helpers.toys import examine

ONES = torch.ones(2, 6, dtype=torch.int64)


def write(folder: Path, **options: bool) -> Path:
    return export(Turned(ComputedAngles()), folder / "m.onnx", ONES, names=("input_ids",), **options)


def test_sizes_that_the_graph_declares_fixed_are_a_warning(tmp_path: Path) -> None:
    result = run("PE613", load_subject(write(tmp_path, fixed=True)))
    assert result.severity == "warning"
    assert result.findings[0].message == "the graph takes input_ids (2, 6): batch 2 and length 6 only"


def test_an_open_graph_passes_at_every_length(tmp_path: Path) -> None:
    result = run("PE613", load_subject(write(tmp_path)))
    assert result.status == "passed", result.findings
    assert result.measured[-1].value == "[5, 9, 12]"


def test_a_length_that_is_built_in_behind_open_inputs_is_an_error(tmp_path: Path) -> None:
    """A table of 12 rows that is added whole, as an old exporter writes the positions of its example."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    table = numpy_helper.from_array(torch.randn(12, 4).numpy(), "table")
    words = numpy_helper.from_array(torch.randn(20, 4).numpy(), "words")
    nodes = [helper.make_node("Gather", ["words", "input_ids"], ["x"]), helper.make_node("Add", ["x", "table"], ["y"])]
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", "length", 4])
    graph = helper.make_graph(nodes, "g", [ids], [out], [words, table])
    path = tmp_path / "baked.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), str(path))
    result = run("PE613", load_subject(path))
    assert result.severity == "error"
    assert "runs only at 12 tokens" in result.findings[0].message


def test_a_module_is_not_judged() -> None:
    assert examine("PE613", Turned(ComputedAngles())).status == "not-applicable"
