"""A GGUF file written again: other metadata and lists, the same tensors byte for byte, as the gguf package reads it."""

import errno
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.adapters.gguf.header import read_gguf
from gnomon.adapters.gguf.pairs import read_head
from gnomon.adapters.gguf.writing import write_gguf
from gnomon.errors import GnomonError, UnsupportedTargetError
from tests.helpers.peaks import peak_growths
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors
from tests.helpers.tiny_gguf import write_gguf as made

SIZES = {"a.weight": 3, "b.weight": 5}


def _file(path: Path, *, alignment: int | None = None, wide: bool = False) -> Path:
    """Two lists of floats, and four keys; numbers take 64 bits in a `wide` one."""
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    (writer.add_uint64 if wide else writer.add_uint32)("llama.context_length", 48)
    (writer.add_float64 if wide else writer.add_float32)("llama.rope.freq_base", 1e4)
    writer.add_array("llama.words", ["one", "häuser"])
    for name, size in SIZES.items():
        writer.add_tensor(name, np.arange(size, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _read(path: Path) -> tuple[dict[str, Any], dict[str, list[float]]]:
    import gguf

    reader = gguf.GGUFReader(path)
    values = {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}
    return values, {tensor.name: tensor.data.tolist() for tensor in reader.tensors}


@pytest.mark.parametrize("alignment", [None, 256])
def test_nothing_changed_is_the_same_file(tmp_path: Path, alignment: int | None) -> None:
    source = _file(tmp_path / "a.gguf", alignment=alignment)
    write_gguf(read_head(source), tmp_path / "b.gguf", {}, {})
    assert (tmp_path / "b.gguf").read_bytes() == source.read_bytes()


@pytest.mark.parametrize("alignment", [None, 256])
def test_keys_and_lists_are_replaced_in_their_place_and_new_ones_come_last(
    tmp_path: Path, alignment: int | None
) -> None:
    source, output = _file(tmp_path / "a.gguf", alignment=alignment), tmp_path / "b.gguf"
    lists = {"c.weight": np.full(7, 3, dtype=np.float32), "a.weight": np.ones(4, dtype=np.float32)}
    write_gguf(read_head(source), output, {"llama.new": "yarn", "llama.context_length": 96}, lists)
    (before, _), (after, tensors) = _read(source), _read(output)
    assert after == {**before, "llama.context_length": 96, "llama.new": "yarn"}
    assert list(after) == [*before, "llama.new"]
    assert tensors == {"a.weight": [1.0] * 4, "b.weight": [0.0, 1.0, 2.0, 3.0, 4.0], "c.weight": [3.0] * 7}
    assert list(tensors) == ["a.weight", "b.weight", "c.weight"]
    assert all(stored.begin % (alignment or 32) == 0 for stored in read_gguf(output).tensors)


def test_the_type_of_a_number_stays(tmp_path: Path) -> None:
    import gguf

    source = _file(tmp_path / "a.gguf", wide=True)
    write_gguf(read_head(source), tmp_path / "b.gguf", {"llama.context_length": 96, "llama.rope.freq_base": 2e4}, {})
    fields = gguf.GGUFReader(tmp_path / "b.gguf").fields
    assert fields["llama.context_length"].types == [gguf.GGUFValueType.UINT64]
    assert fields["llama.rope.freq_base"].types == [gguf.GGUFValueType.FLOAT64]
    assert (fields["llama.context_length"].contents(), fields["llama.rope.freq_base"].contents()) == (96, 2e4)


def test_a_number_that_does_not_fit_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    source = _file(tmp_path / "a.gguf")
    with pytest.raises(GnomonError, match=r"4294967296 does not fit into the type .* for llama\.context_length"):
        write_gguf(read_head(source), tmp_path / "b.gguf", {"llama.context_length": 2**32}, {})
    assert list(tmp_path.iterdir()) == [source]


def test_a_full_disk_is_said_in_one_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = _file(tmp_path / "a.gguf")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(
        GnomonError, match=r"^Cannot write .*b\.gguf: No space left on device\. Choose another place\.$"
    ):
        write_gguf(read_head(source), tmp_path / "b.gguf", {}, {})
    assert list(tmp_path.iterdir()) == [source]


def test_a_file_that_became_shorter_is_one_sentence(tmp_path: Path) -> None:
    source = _file(tmp_path / "a.gguf")
    head = read_head(source)
    source.write_bytes(source.read_bytes()[:-40])
    with pytest.raises(UnsupportedTargetError, match=r"a\.gguf became shorter while it was read"):
        write_gguf(head, tmp_path / "b.gguf", {}, {})
    assert list(tmp_path.iterdir()) == [source]


def test_a_name_that_is_no_text_cannot_be_written_again(tmp_path: Path) -> None:
    raw = _file(tmp_path / "a.gguf").read_bytes()
    (tmp_path / "odd.gguf").write_bytes(raw.replace(b"b.weight", b"b.wei\xffht"))
    with pytest.raises(GnomonError, match="has a tensor whose name is no text"):
        read_head(tmp_path / "odd.gguf")


def test_without_the_gguf_package_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = _file(tmp_path / "a.gguf")
    monkeypatch.setitem(sys.modules, "gguf.constants", None)
    with pytest.raises(UnsupportedTargetError, match=r"pip install gnomon\[gguf\]"):
        read_head(source)


STREAMED = """
from pathlib import Path
from gnomon.adapters.gguf.pairs import read_head
from gnomon.adapters.gguf.writing import write_gguf
def setup(source, output):
    return read_head(Path(source)), Path(output)
def run(thing):
    write_gguf(*thing, {"llama.context_length": 192}, {})
"""


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    cases = []
    for rows in (4096, 16384):  # 16 and 64 MiB
        big = np.lib.format.open_memmap(tmp_path / f"{rows}.npy", mode="w+", dtype=np.float32, shape=(rows, 1024))
        tensors = {**llama_tensors(), "output.weight": big}
        source = made(tmp_path / f"{rows}.gguf", "llama", llama_metadata(), tensors)
        cases.append({"source": str(source), "output": str(tmp_path / f"{rows}-b.gguf")})
    small, large = peak_growths(STREAMED, *cases)
    assert max(small, large) < 32 * 2**20
    assert abs(large - small) < 4 * 2**20
