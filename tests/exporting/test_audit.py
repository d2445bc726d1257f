"""No float64 and no complex numbers, wherever in a graph they hide; what has them is named."""

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from gnomon.errors import GnomonError
from gnomon.exporting.audit import require_plain_numbers

X, Y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
ADD = helper.make_node("Add", ["x", "x"], ["y"], name="plus")


def one(kind: int, name: str = "") -> onnx.TensorProto:
    return helper.make_tensor(name, kind, [1], [1.0])


def constant(kind: int) -> onnx.NodeProto:
    return helper.make_node("Constant", [], ["c"], name="number", value=one(kind))


def branch(node: onnx.NodeProto) -> onnx.NodeProto:
    body = helper.make_graph([node], "branch", [], [helper.make_tensor_value_info(node.output[0], 1, [1])])
    return helper.make_node("If", ["cond"], ["z"], name="choice", then_branch=body, else_branch=body)


def model(nodes: list[onnx.NodeProto], **others: object) -> onnx.ModelProto:
    return helper.make_model(helper.make_graph([*nodes, ADD], "g", [X], [Y], **others))  # type: ignore[arg-type]


def with_function() -> onnx.ModelProto:
    made = model([])
    opsets = [helper.make_opsetid("", 18)]
    made.functions.append(helper.make_function("own", "f", ["a"], ["b"], [cast(TensorProto.DOUBLE)], opsets))
    return made


def cast(kind: int) -> onnx.NodeProto:
    return helper.make_node("Cast", ["x"], ["d"], name="widen", to=kind)


CASES = {
    r"float64 at the node widen \(Cast\)": model([cast(TensorProto.DOUBLE)]),
    r"complex numbers at the node widen \(Cast\)": model([cast(TensorProto.COMPLEX64)]),
    r"float64 at the node number \(Constant\)": model([constant(TensorProto.DOUBLE)]),
    r"float64 at the node eye \(EyeLike\)": model(
        [helper.make_node("EyeLike", ["x"], ["e"], name="eye", dtype=TensorProto.DOUBLE)]
    ),
    "float64 at the table angles": model([], initializer=[one(TensorProto.DOUBLE, "angles")]),
    "complex numbers at the table turns": model([], initializer=[one(TensorProto.COMPLEX128, "turns")]),
    "float64 at the value between": model(
        [], value_info=[helper.make_tensor_value_info("between", TensorProto.DOUBLE, [1])]
    ),
    r"float64 at the node number \(Constant": model([branch(branch(constant(TensorProto.DOUBLE)))]),
    r"float64 at the node widen \(Cast\);": with_function(),
}


@pytest.mark.parametrize("words", CASES)
def test_the_place_is_named(words: str, tmp_path: Path) -> None:
    onnx.save(CASES[words], tmp_path / "model.onnx")
    with pytest.raises(GnomonError, match=words):
        require_plain_numbers(tmp_path / "model.onnx")


def test_float32_and_integers_pass(tmp_path: Path) -> None:
    kinds = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64, TensorProto.BOOL)
    nodes = [*(cast(kind) for kind in kinds), constant(TensorProto.FLOAT), branch(constant(TensorProto.FLOAT))]
    onnx.save(model(nodes, initializer=[one(TensorProto.FLOAT, "table")]), tmp_path / "model.onnx")
    require_plain_numbers(tmp_path / "model.onnx")


def test_the_module_of_the_model_is_named_too(tmp_path: Path) -> None:
    node = cast(TensorProto.DOUBLE)
    node.metadata_props.append(
        onnx.StringStringEntryProto(key="pkg.torch.onnx.name_scopes", value="['', 'model', 'model.rope', '_to_copy']")
    )
    onnx.save(model([node]), tmp_path / "model.onnx")
    with pytest.raises(GnomonError, match=r"\(Cast, in rope\)"):
        require_plain_numbers(tmp_path / "model.onnx")
