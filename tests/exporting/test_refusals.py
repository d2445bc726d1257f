"""What cannot be exported is refused in one sentence, and nothing is written."""

import logging
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import gnomon
from gnomon.encodings import ALiBi, AxialRotary, Learned, MRoPE, Rotary
from gnomon.errors import GnomonError
from gnomon.models import Decoder, Encoder, ModelOptions, XLNet, XLNetOptions

SIZES = ModelOptions(vocabulary=11, dim=16, num_layers=1, num_heads=2)


def decoder(**frequencies: Any) -> Decoder:
    return Decoder(SIZES, encoding=Rotary(8, frequencies=frequencies) if frequencies else Rotary(8))


class Wide(nn.Module):
    """Angles in float64, as some models compute them."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(11, 4)

    def forward(self, ids: Tensor) -> Tensor:
        words: Tensor = self.words(ids)
        return words * torch.arange(ids.shape[1]).double().cos().float()[:, None]


class Reader(nn.Module):
    """A forward that chooses by a value, which no graph can."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(11, 4)

    def forward(self, ids: Tensor) -> Tensor:
        words: Tensor = self.words(ids)
        return words if bool((ids > 5).any()) else words * 2


class Broken(Reader):
    """A forward that nobody can trace."""

    def forward(self, ids: Tensor) -> Tensor:
        if torch.compiler.is_exporting():
            raise RuntimeError("no graphs here")
        words: Tensor = self.words(ids)
        return words


class Short(nn.Module):
    """Ten positions, and no config that says so."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(11, 4), nn.Embedding(10, 4)

    def forward(self, ids: Tensor) -> Tensor:
        both: Tensor = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        return both


REFUSED: dict[str, tuple[Any, dict[str, Any]]] = {
    "The exporter writes opset 18 to 23, got 17": (decoder(), {"opset": 17}),
    "The exporter writes opset 18 to 23, got 99": (decoder(), {"opset": 99}),
    "operator from opset 23 on, got opset 20; choose 23": (decoder(), {"opset": 20, "rotary": "operator"}),
    "exported as arithmetic or operator, got 'complex'": (decoder(), {"rotary": "complex"}),
    "Tables have 1 to 2147483647 positions, got max_length=0": (decoder(), {"max_length": 0}),
    "Tables have 1 to 2147483647 positions, got max_length=4611686018427387904": (decoder(), {"max_length": 2**62}),
    "a whole number, got max_length='9'": (decoder(), {"max_length": "9"}),
    "a whole number, got max_length=2.5": (decoder(), {"max_length": 2.5}),
    "a whole number, got opset='20'": (decoder(), {"opset": "20"}),
    "a whole number, got opset=20.5": (decoder(), {"opset": 20.5}),
    r"two different lengths from 1 to 2147483647, got \(7, 7\)": (decoder(), {"lengths": (7, 7)}),
    r"two different lengths from 1 to 2147483647, got \(7, 1000000000": (decoder(), {"lengths": (7, 10**25)}),
    "two different lengths from 1 to 2147483647, got 7": (decoder(), {"lengths": 7}),
    "two different lengths from 1 to 2147483647, got None": (decoder(), {"lengths": None}),
    r"two different lengths from 1 to 2147483647, got \('a', 'b'\)": (decoder(), {"lengths": ("a", "b")}),
    r"two different lengths from 1 to 2147483647, got \(7.5, 9\)": (decoder(), {"lengths": (7.5, 9)}),
    "needs two lengths, and the model has 1 position": (decoder(), {"max_length": 1}),
    "A target is an nn.Module, the path of a folder, or package.module:factory, got None": (None, {}),
    "A target is .*, got 3": (3, {}),
    "Decoder is a class; make a model of it": (Decoder, {}),
    "No rotation of this model can be written as RotaryEmbedding": (
        Decoder(SIZES, encoding=ALiBi(2)),
        {"rotary": "operator"},
    ),
    "RotaryEmbedding, as those of Rotary and XPos can": (
        Decoder(SIZES, encoding=MRoPE(8, sections=(2, 1, 1))),
        {"rotary": "operator"},
    ),
    r"takes ids \(0, 3\): give an example of at least one row": (Reader(), {"example": (torch.ones(0, 3).long(),)}),
    r"takes ids \(2, 0\): give an example of at least one row": (Reader(), {"example": (torch.ones(2, 0).long(),)}),
    "IndexError: index out of range in self; --lengths": (Short(), {}),
    "onnxruntime has no bfloat16 MatMul on the CPU: use --no-check": (
        nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 4)).bfloat16(),
        {},
    ),
    r"at_length\(n\) before the export": (decoder(kind="dynamic", factor=2.0, original_max_length=8), {}),
    "2 coordinates and no export form": (Decoder(SIZES, encoding=AxialRotary(8)), {}),
    "cache is exported for gnomon's Decoder alone, the model is Encoder": (
        Encoder(SIZES, encoding=Learned(40, 16)),
        {"cache": True},
    ),
    "mirrored XLNet": (
        XLNet(XLNetOptions(vocabulary=9, dim=8, num_layers=1, num_heads=2, feed_forward_dim=8, mirrored=True)),
        {},
    ),
    "no nn.Embedding to draw token ids for": (nn.Linear(4, 4), {}),
    r"\(batch, length, ...\); Linear takes input \(4,\)": (nn.Linear(4, 4), {"example": (torch.ones(4),)}),
    "There is no file or folder 'nowhere'": ("nowhere", {}),
    "Embedding.forward raised": (nn.Embedding(3, 4), {"example": (torch.ones(2, 5),)}),
    "The graph has float64 at": (Wide(), {}),
    r"Reader.forward branches on the values of a tensor \(test_refusals.py, line 4\d\); use torch.where": (
        Reader(),
        {},
    ),
    "The exporter cannot write this model as a graph: RuntimeError: no graphs here": (Broken(), {}),
}


@pytest.mark.parametrize("words", REFUSED)
def test_one_sentence_and_no_file(words: str, tmp_path: Path) -> None:
    model, given = REFUSED[words]
    with pytest.raises(GnomonError, match=words) as raised:
        gnomon.export(model, tmp_path / "model.onnx", **given)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_branch_on_values_is_refused_without_a_word_of_torch(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(GnomonError, match="branches on the values"):
        gnomon.export(Reader(), tmp_path / "model.onnx")
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


@pytest.mark.parametrize("package", ["onnx", "onnxscript", "onnxruntime"])
def test_a_missing_package_is_named_with_the_extra(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(GnomonError, match=rf"An export needs {package}; pip install 'gnomon\[onnx\]'"):
        gnomon.export(decoder(), tmp_path / "model.onnx")


def test_a_path_that_cannot_be_written_is_refused_before_the_model_is_read(tmp_path: Path) -> None:
    with pytest.raises(GnomonError, match="does not exist; make it"):
        gnomon.export("nowhere", tmp_path / "missing" / "model.onnx")
    with pytest.raises(GnomonError, match="is a folder"):
        gnomon.export("nowhere", tmp_path)
    with pytest.raises(GnomonError, match="is not a regular file"):
        gnomon.export("nowhere", "/dev/null")


@pytest.mark.parametrize("path", [None, 3, b"model.onnx"])
def test_a_path_of_another_type_is_refused(path: Any) -> None:
    with pytest.raises(GnomonError, match="is written to a path, got"):
        gnomon.export(decoder(), path)


def test_a_link_to_a_missing_folder_names_that_folder(tmp_path: Path) -> None:
    (tmp_path / "link.onnx").symlink_to(tmp_path / "missing" / "model.onnx")
    with pytest.raises(GnomonError, match=r"The folder .*missing does not exist"):
        gnomon.export("nowhere", tmp_path / "link.onnx")


def test_an_unwritable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(**_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", denied)
    with pytest.raises(GnomonError, match=r"Permission denied\. Choose another path"):
        gnomon.export(decoder(), tmp_path / "model.onnx")


def test_a_graph_is_not_exported_again(tmp_path: Path) -> None:
    import onnx
    from onnx import TensorProto, helper

    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["b", "s"]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph), tmp_path / "a.onnx")
    with pytest.raises(GnomonError, match="is an ONNX graph already"):
        gnomon.export(tmp_path / "a.onnx", tmp_path / "b.onnx")
