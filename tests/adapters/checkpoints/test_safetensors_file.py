"""Safetensors: single tensors are read, and no header, however hostile, gives anything but one sentence."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save_file

from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile, shards
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import GnomonError, UnsupportedTargetError

F32 = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


def _write(path: Path, header: Any, data: bytes = bytes(8), length: int | None = None) -> Path:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(raw) if length is None else length) + raw + data)
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    tensors = {"table.weight": torch.arange(6.0).reshape(3, 2), "half": torch.ones(5, dtype=torch.bfloat16)}
    save_file(tensors, path, metadata={"format": "pt"})
    return path


def test_headers_and_single_tensors_are_those_that_were_saved(good: Path) -> None:
    source = SafetensorsFile(good)
    assert {(info.name, info.shape, info.dtype) for info in source} == {
        ("table.weight", (3, 2), "float32"),
        ("half", (5,), "bfloat16"),
    }
    assert source.load("table.weight").tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert source.load("half").dtype == torch.bfloat16
    assert source.info("half").shape == (5,)


def test_a_file_is_opened_once_for_all_its_tensors(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import safetensors

    opened, real = [], safetensors.safe_open

    def count(path: Path, **more: Any) -> Any:
        opened.append(path)
        return real(path, **more)

    monkeypatch.setattr(safetensors, "safe_open", count)
    source = SafetensorsFile(good)
    assert opened == []
    for name in ("table.weight", "half", "table.weight"):
        assert source.load(name).numel() > 4
    assert opened == [good]


@pytest.mark.parametrize(("dtype", "bits"), [("F4", 4), ("F6_E2M3", 6)])
def test_a_dtype_without_arithmetic_is_missing_evidence(tmp_path: Path, dtype: str, bits: int) -> None:
    header = {"a": {"dtype": dtype, "shape": [8], "data_offsets": [0, bits]}}
    source = SafetensorsFile(_write(tmp_path / "x.safetensors", header, bytes(bits)))
    assert source.info("a").shape == (8,)
    with pytest.raises(MissingEvidence, match=rf"the tensor a has the dtype float{bits}_\w+, whose values torch"):
        source.load("a")
    unmapped = SafetensorsFile(tmp_path / "x.safetensors", mapped=False)
    with pytest.raises(GnomonError, match=rf"The tensor 'a' has the dtype {dtype}, whose values torch cannot read"):
        unmapped.load("a")


def test_a_file_cut_off_at_any_byte_is_one_sentence(good: Path, tmp_path: Path) -> None:
    whole = good.read_bytes()
    for end in range(len(whole)):
        cut = tmp_path / "cut.safetensors"
        cut.write_bytes(whole[:end])
        with pytest.raises(UnsupportedTargetError, match=r"cut\.safetensors"):
            SafetensorsFile(cut)


HOSTILE = [
    pytest.param({"a": F32 | {"shape": [-2]}}, "no usable shape", id="negative size"),
    pytest.param({"a": F32 | {"shape": [True]}}, "no usable shape", id="boolean size"),
    pytest.param({"a": F32 | {"shape": [2.0]}}, "no usable shape", id="fractional size"),
    pytest.param({"a": F32 | {"shape": [2**62, 2**62]}}, "needs", id="huge product"),
    pytest.param({"a": F32 | {"shape": [0, 2**62]}}, "needs", id="empty but not empty"),
    pytest.param({"a": F32 | {"shape": 2}}, "no usable shape", id="shape no list"),
    pytest.param({"a": F32 | {"data_offsets": [0, 2**63 - 1]}}, "outside the 8 bytes", id="huge end"),
    pytest.param({"a": F32 | {"data_offsets": [-8, 0]}}, "outside", id="negative begin"),
    pytest.param({"a": F32 | {"data_offsets": [8, 0]}}, "outside", id="backwards"),
    pytest.param({"a": F32 | {"data_offsets": [0]}}, "outside", id="one offset"),
    pytest.param({"a": F32 | {"dtype": "F31"}}, "unknown dtype", id="unknown dtype"),
    pytest.param({"a": F32 | {"dtype": ["F32"]}}, "unknown dtype", id="dtype no text"),
    pytest.param({"a": 3}, "not an object", id="entry no object"),
    pytest.param({"a": F32, "b": F32}, "overlap", id="overlap"),
    pytest.param([1], "must hold a JSON object", id="list"),
    pytest.param(b"{", "not valid JSON", id="broken JSON"),
    pytest.param(b"\xff\xfe", "not valid JSON", id="no text"),
    pytest.param(b"[" * 100_000, "nested too deeply", id="deep JSON"),
    pytest.param(b'{"a": ' + b"9" * 10_000 + b"}", "not valid JSON", id="huge number"),
]


@pytest.mark.parametrize(("header", "message"), HOSTILE)
def test_a_hostile_header_is_refused_by_its_reason(tmp_path: Path, header: Any, message: str) -> None:
    with pytest.raises(UnsupportedTargetError, match=message):
        SafetensorsFile(_write(tmp_path / "x.safetensors", header))


@pytest.mark.parametrize("length", [9, 10**8 + 1, 2**63, 2**64 - 1])
def test_a_header_longer_than_the_file_is_never_allocated(tmp_path: Path, length: int) -> None:
    with pytest.raises(UnsupportedTargetError, match="its header claims"):
        SafetensorsFile(_write(tmp_path / "x.safetensors", b"", b"", length))


TWO = {"a": F32, "b": {"dtype": "I64", "shape": [1], "data_offsets": [8, 16]}}


def _complaint(path: Path) -> str | None:
    """The sentence that reading everything ends in, or None when all of it can be read."""
    try:
        source = SafetensorsFile(path)
        for info in source:
            assert tuple(source.load(info.name).shape) == info.shape
    except UnsupportedTargetError as error:
        return str(error)
    return None


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_mutated_files_give_tensors_or_one_sentence(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = _write(tmp_path_factory.mktemp("mutated") / "x.safetensors", TWO, bytes(16))
    assert _complaint(path) is None
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(raw)
    complaint = _complaint(path)
    assert complaint is None or str(path) in complaint


def test_a_file_that_shrinks_after_its_header_was_read_is_one_sentence(good: Path) -> None:
    source = SafetensorsFile(good)
    good.write_bytes(good.read_bytes()[:-4])
    with pytest.raises(UnsupportedTargetError, match=r"table\.weight"):
        source.load("table.weight")


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ({}, "no weight_map"),
        ({"weight_map": []}, "no weight_map"),
        ({"weight_map": {"a": "../secret.safetensors"}}, "not a file beside it"),
        ({"weight_map": {"a": "/etc/passwd"}}, "not a file beside it"),
        ({"weight_map": {"a": ".."}}, "not a file beside it"),
        ({"weight_map": {"a": 3}}, "does not exist"),
    ],
)
def test_an_index_names_only_files_beside_it(tmp_path: Path, index: Any, message: str) -> None:
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    with pytest.raises(UnsupportedTargetError, match=message):
        shards(path)


def test_tensors_in_double_precision_are_read(tmp_path: Path) -> None:
    """Packed kinds of numbers (float6_e2m3) start with the same letters."""
    table = torch.randn(3, 2, dtype=torch.float64)
    save_file({"table.weight": table}, tmp_path / "model.safetensors")
    assert torch.equal(SafetensorsFile(tmp_path / "model.safetensors").load("table.weight"), table)
