"""An .onnx file as a target: its header, its tensors, and a module that runs it like the model it was made from."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch

from gnomon.adapters import load_subject
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import UnsupportedTargetError
from tests.helpers.onnx_files import export
from tests.helpers.toys import ToyDecoder

ONES = torch.ones(2, 6, dtype=torch.int64)
NAMES = ("input_ids", "attention_mask")


@pytest.fixture(scope="module")
def path(tmp_path_factory: Any) -> Path:
    return export(ToyDecoder(), tmp_path_factory.mktemp("onnx") / "toy.onnx", ONES, ONES, names=NAMES)


def test_the_header_says_inputs_sizes_and_vocabulary(path: Path) -> None:
    graph = load_subject(path).get("graph")
    assert [port.name for port in graph.inputs] == list(NAMES)
    assert all(isinstance(size, str) for size in graph.inputs[0].shape)
    assert (graph.vocabulary, graph.content.name, graph.attends) == (40, "input_ids", True)
    assert graph.opset >= 17


def test_initializers_are_tensors_with_the_model_s_values(path: Path) -> None:
    tensors = load_subject(path).tensors
    assert tensors.info("positions.weight").shape == (64, 32)
    assert torch.equal(tensors.load("positions.weight"), ToyDecoder().positions.weight)
    with pytest.raises(KeyError):
        tensors.load("nothing")


def test_the_module_gives_what_the_model_gives(path: Path) -> None:
    module, model = load_subject(path).module, ToyDecoder().eval()
    ids = torch.randint(0, 40, (3, 11), generator=torch.Generator().manual_seed(0))
    mask = torch.ones_like(ids)
    mask[0, :4] = 0
    for got, right in (
        (module(ids), model(ids)),
        (module(input_ids=ids, attention_mask=mask), model(ids, mask)),
        (copy.deepcopy(module)(ids), model(ids)),
    ):
        torch.testing.assert_close(next(iter(got.values())), right.detach(), rtol=1e-4, atol=1e-5)


def test_a_graph_of_one_batch_is_not_run(tmp_path: Path) -> None:
    fixed = export(ToyDecoder(), tmp_path / "fixed.onnx", ONES, ONES, names=NAMES, fixed=True)
    with pytest.raises(MissingEvidence, match="takes batches of 2 only"):
        _ = load_subject(fixed).module


@pytest.mark.parametrize("content", [b"", b"x" * 40, b"\x08\x07"])
def test_what_is_no_graph_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "bad.onnx"
    file.write_bytes(content)
    with pytest.raises(UnsupportedTargetError, match="ONNX"):
        load_subject(file)


def test_without_forward_there_is_no_model(path: Path) -> None:
    with pytest.raises(MissingEvidence, match="no-forward"):
        _ = load_subject(path, forward=False).module
