"""Headers of safetensors files: where tensors lie, and the start of a new file, against the safetensors library."""

from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from gnomon.adapters.checkpoints import safetensors_header
from gnomon.adapters.checkpoints.safetensors_file import SafetensorsFile
from gnomon.adapters.checkpoints.safetensors_header import header_bytes, read_header
from gnomon.errors import GnomonError, UnsupportedTargetError
from tests.helpers.rewritten import tensors


def _raw(tensor: torch.Tensor) -> bytes:
    return bytes(tensor.reshape(-1).view(torch.uint8).tolist())


def test_every_tensor_lies_at_its_place_and_is_made_of_its_bytes(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "a", metadata={"by": "a test"})
    raw, header = (tmp_path / "a").read_bytes(), read_header(tmp_path / "a")
    assert header.metadata == {"by": "a test"}
    assert {placed.info.name for placed in header.tensors} == tensors().keys()
    for placed in header.tensors:
        expected, held = tensors()[placed.info.name], raw[placed.begin : placed.end]
        assert held == _raw(expected)
        assert placed.tensor(bytearray(held)).dtype == expected.dtype
        assert placed.tensor(bytearray(held)).shape == expected.shape
        assert _raw(placed.tensor(bytearray(held))) == held


@pytest.mark.parametrize("metadata", [None, {"format": "pt"}])
def test_a_new_header_is_one_that_the_library_reads(tmp_path: Path, metadata: dict[str, str] | None) -> None:
    save_file(tensors(), tmp_path / "a")
    held = read_header(tmp_path / "a").tensors[::-1]
    start = header_bytes(((placed.info, placed.kind) for placed in held), metadata)
    assert len(start) % 8 == 0
    assert (b"__metadata__" in start) == (metadata is not None)
    (tmp_path / "b").write_bytes(start + b"".join(_raw(tensors()[placed.info.name]) for placed in held))
    assert {name: _raw(tensor) for name, tensor in load_file(tmp_path / "b").items()} == {
        name: _raw(tensor) for name, tensor in tensors().items()
    }
    with safe_open(tmp_path / "b", framework="pt") as file:
        assert file.metadata() == metadata


def test_a_header_that_no_reader_takes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_file(tensors(), tmp_path / "a")
    header = read_header(tmp_path / "a")
    monkeypatch.setattr(safetensors_header, "HEADER_LIMIT", 64)
    with pytest.raises(GnomonError, match="more than readers take"):
        header_bytes(((placed.info, placed.kind) for placed in header.tensors), None)


def test_an_unmapped_source_gives_the_same_tensors_in_memory_of_their_own(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "a")
    mapped, unmapped = SafetensorsFile(tmp_path / "a"), SafetensorsFile(tmp_path / "a", mapped=False)
    assert unmapped.infos() == mapped.infos()
    for name, expected in tensors().items():
        found = unmapped.load(name)
        assert (found.shape, found.dtype, _raw(found)) == (expected.shape, expected.dtype, _raw(expected))
        assert _raw(mapped.load(name)) == _raw(expected)
    found = unmapped.load("embed.weight")
    (tmp_path / "a").write_bytes(bytes((tmp_path / "a").stat().st_size))
    assert torch.equal(found, tensors()["embed.weight"])


def test_an_unmapped_file_that_is_gone_or_shorter_is_one_sentence(tmp_path: Path) -> None:
    save_file(tensors(), tmp_path / "a")
    source = SafetensorsFile(tmp_path / "a", mapped=False)
    (tmp_path / "a").write_bytes(b"short")
    with pytest.raises(UnsupportedTargetError, match="became shorter while it was read"):
        source.load("embed.weight")
    (tmp_path / "a").unlink()
    with pytest.raises(UnsupportedTargetError, match="cannot be read: No such file"):
        source.load("embed.weight")
