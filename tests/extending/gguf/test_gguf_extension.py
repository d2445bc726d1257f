"""GGUF files: other metadata and lists, the same tensors byte for byte, read back by the gguf package."""

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.encodings.frequencies import Llama3, NTKAware, Plain
from gnomon.errors import GnomonError, UnsupportedTargetError
from gnomon.extending import Asked, Lists, extend, prepare
from gnomon.resolving.resolution import resolve
from tests.helpers.tiny_gguf import llama_metadata, llama_tensors, write_gguf

WIDE = 16  # the head
ORIGINAL = 48


def _llama(path: Path, *, more: dict[str, Any] | None = None, lists: dict[str, Any] | None = None) -> Path:
    return write_gguf(path, "llama", {**llama_metadata(), **(more or {})}, {**llama_tensors(), **(lists or {})})


def _values(path: Path) -> dict[str, Any]:
    """The metadata as the gguf package reads it."""
    import gguf

    fields = gguf.GGUFReader(path).fields
    return {key: field.contents() for key, field in fields.items() if not key.startswith("GGUF.")}


def _tensors(path: Path) -> dict[str, bytes]:
    import gguf

    return {tensor.name: tensor.data.tobytes() for tensor in gguf.GGUFReader(path).tensors}


def _changed(source: Path, output: Path) -> dict[str, Any]:
    before, after = _values(source), _values(output)
    assert list(after)[: len(before)] == list(before)
    return {key: value for key, value in after.items() if before.get(key) != value}


def test_yarn_is_four_keys_and_all_tensors_are_the_same_bytes(tmp_path: Path) -> None:
    source, output = _llama(tmp_path / "a.gguf"), tmp_path / "b.gguf"
    done = extend(source, output, to=192)
    assert _changed(source, output) == {
        "llama.context_length": 192,
        "llama.rope.scaling.type": "yarn",
        "llama.rope.scaling.factor": 4.0,
        "llama.rope.scaling.original_context_length": ORIGINAL,
    }
    assert _tensors(output) == _tensors(source)
    assert (done.untouched, done.changed, done.output) == (len(llama_tensors()), (), output)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["a.gguf", "b.gguf"]


def test_what_transformers_loader_drops_is_said_where_there_is_scaling(tmp_path: Path) -> None:
    source = _llama(tmp_path / "a.gguf")
    for method, said in (("yarn", True), ("linear", True), ("longrope", True), ("ntk", False)):
        drawbacks = prepare(source, Asked(192, method)).shown.drawbacks
        assert any("transformers loads GGUF files without their scaling" in one for one in drawbacks) is said


def test_a_phi_3_file_may_have_yarn_and_linear_because_transformers_class_is_not_its_reader(tmp_path: Path) -> None:
    metadata = llama_metadata() | {"rope.dimension_count": WIDE}
    source = write_gguf(tmp_path / "a.gguf", "phi3", metadata, llama_tensors())
    for method in ("yarn", "linear"):
        shown = prepare(source, Asked(192, method)).shown
        edits = {edit.key: edit.after for edit in shown.edits["metadata"]}
        assert (edits["phi3.rope.scaling.type"], edits["phi3.rope.scaling.factor"]) == (method, 4.0)
    assert prepare(source, Asked(192)).shown.method == "yarn"


def test_the_reader_of_llama_cpp_turns_by_the_new_rule(tmp_path: Path) -> None:
    source = _llama(tmp_path / "a.gguf")
    extend(source, tmp_path / "b.gguf", to=192, method="ntk")
    [layer] = resolve(tmp_path / "b.gguf", stacks="llama.cpp").column("llama.cpp").layers
    expected = NTKAware(4.0, 5e5).inverse(WIDE)
    np.testing.assert_allclose(np.array(layer.frequencies[0].inverse, dtype=float), expected, rtol=2e-6)
    assert _changed(source, tmp_path / "b.gguf").keys() == {"llama.context_length", "llama.rope.freq_base"}


def test_scaling_that_is_there_goes_on_from_the_original_length(tmp_path: Path) -> None:
    first = extend(_llama(tmp_path / "a.gguf"), tmp_path / "b.gguf", to=96)
    assert first.output is not None
    extend(first.output, tmp_path / "c.gguf", to=384)
    assert _changed(tmp_path / "b.gguf", tmp_path / "c.gguf") == {
        "llama.context_length": 384,
        "llama.rope.scaling.factor": 8.0,
    }
    with pytest.raises(GnomonError, match=r"scaled already \(yarn by 2\), and linear on top"):
        extend(first.output, tmp_path / "d.gguf", to=384, method="linear")


def test_a_linear_file_that_does_not_say_from_where_asks_and_takes_an_answer(tmp_path: Path) -> None:
    more = {"rope.scaling.type": "linear", "rope.scaling.factor": 2.0}
    source = _llama(tmp_path / "a.gguf", more=more)
    with pytest.raises(GnomonError, match="--original 48 if it was trained to 48 tokens and reaches 96"):
        extend(source, tmp_path / "b.gguf", to=192)
    extend(source, tmp_path / "b.gguf", to=192, original=24)
    assert _values(tmp_path / "b.gguf")["llama.rope.scaling.factor"] == 8.0


def test_lists_of_divisors_are_appended_for_longrope(tmp_path: Path) -> None:
    source, output = _llama(tmp_path / "a.gguf"), tmp_path / "b.gguf"
    lists = Lists((1.0,) * 8, tuple(1.0 + i / 2 for i in range(8)), 1.25)
    done = extend(source, output, to=192, method="longrope", lists=lists)
    assert _changed(source, output) == {
        "llama.context_length": 192,
        "llama.rope.scaling.type": "longrope",
        "llama.rope.scaling.original_context_length": ORIGINAL,
        "llama.rope.scaling.attn_factor": 1.25,
    }
    before, after = _tensors(source), _tensors(output)
    assert {name: after[name] for name in before} == before
    assert np.frombuffer(after["rope_factors_long.weight"], "<f4").tolist() == list(lists.long)
    assert done.changed == ("rope_factors_short.weight", "rope_factors_long.weight")
    twice = extend(output, tmp_path / "c.gguf", to=384)
    assert twice.words[-1].startswith("The short list stays")
    assert _tensors(tmp_path / "c.gguf")["rope_factors_short.weight"] == after["rope_factors_short.weight"]


def test_the_attention_factor_of_phi_3_follows_the_length(tmp_path: Path) -> None:
    usual = math.sqrt(1 + math.log(4) / math.log(48))
    metadata = llama_metadata() | {"context_length": 192, "rope.scaling.original_context_length": 48}
    ones = np.ones(8, dtype=np.float32)
    tensors = {**llama_tensors(), "rope_factors_long.weight": 4 * ones, "rope_factors_short.weight": ones}
    source = write_gguf(tmp_path / "a.gguf", "phi3", metadata | {"rope.scaling.attn_factor": usual}, tensors)
    extend(source, tmp_path / "b.gguf", to=384)
    found = _values(tmp_path / "b.gguf")["phi3.rope.scaling.attn_factor"]
    assert found == pytest.approx(math.sqrt(1 + math.log(8) / math.log(48)), rel=1e-6)


def _llama3(factor: float) -> Any:
    return (Plain(5e5).inverse(WIDE) / Llama3(factor, 8192, base=5e5).inverse(WIDE)).astype(np.float32)


def test_divisors_of_llama_3_are_recognised_and_made_anew(tmp_path: Path) -> None:
    more, lists = {"context_length": 131072}, {"rope_freqs.weight": _llama3(8.0)}
    source, output = _llama(tmp_path / "a.gguf", more=more, lists=lists), tmp_path / "b.gguf"
    extend(source, output, to=262144)
    assert _changed(source, output) == {"llama.context_length": 262144}
    found = np.frombuffer(_tensors(output)["rope_freqs.weight"], "<f4")
    np.testing.assert_allclose(found, _llama3(16.0), rtol=1e-6)
    before, after = _tensors(source), _tensors(output)
    assert [name for name in before if before[name] != after[name]] == ["rope_freqs.weight"]


def test_divisors_of_no_rule_are_refused(tmp_path: Path) -> None:
    source = _llama(tmp_path / "a.gguf", lists={"rope_freqs.weight": np.linspace(1, 9, 8, dtype=np.float32)})
    with pytest.raises(GnomonError, match="follow from no rule gnomon knows"):
        extend(source, tmp_path / "b.gguf", to=192)


@pytest.mark.parametrize(
    ("architecture", "method", "said"),
    [
        ("llama", "dynamic", "GGUF has no words for dynamic scaling"),
        ("qwen2", "longrope", "llama.cpp loads lists of divisors for llama, phi3, minicpm, not for qwen2"),
        ("bloom", "auto", "has no rotation to extend"),
        ("llama", "tile", "is no method for a model with rotary positions"),
    ],
)
def test_what_gguf_cannot_say_is_refused(tmp_path: Path, architecture: str, method: str, said: str) -> None:
    source = write_gguf(tmp_path / "a.gguf", architecture, llama_metadata(), llama_tensors())
    with pytest.raises(GnomonError, match=said):
        extend(source, tmp_path / "b.gguf", to=192, method=method)
    assert [path.name for path in tmp_path.iterdir()] == ["a.gguf"]


def test_outputs_that_cannot_be_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    source = _llama(tmp_path / "a.gguf")
    (tmp_path / "there.gguf").write_bytes(b"mine")
    (tmp_path / "link.gguf").symlink_to(tmp_path / "nowhere.gguf")
    for name, said in (
        ("there.gguf", "exists already, and nothing is overwritten"),
        ("link.gguf", "exists already, and nothing is overwritten"),
        ("a.gguf", "exists already"),
        ("folder", "with .gguf at its end"),
        ("missing/b.gguf", "does not exist; make it"),
    ):
        with pytest.raises(GnomonError, match=said):
            extend(source, tmp_path / name, to=192)
    assert (tmp_path / "there.gguf").read_bytes() == b"mine"
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("cut", [3, 20, 200, 3000])
def test_a_truncated_file_is_one_sentence(tmp_path: Path, cut: int) -> None:
    raw = _llama(tmp_path / "a.gguf").read_bytes()
    (tmp_path / "cut.gguf").write_bytes(raw[:cut])
    with pytest.raises(UnsupportedTargetError):
        extend(tmp_path / "cut.gguf", tmp_path / "b.gguf", to=192)
    assert not (tmp_path / "b.gguf").exists()


def test_a_count_that_the_file_cannot_hold_is_one_sentence(tmp_path: Path) -> None:
    raw = bytearray(_llama(tmp_path / "a.gguf").read_bytes())
    raw[16:24] = struct.pack("<Q", 2**60)
    (tmp_path / "hostile.gguf").write_bytes(raw)
    with pytest.raises(UnsupportedTargetError, match="is not a usable GGUF file"):
        extend(tmp_path / "hostile.gguf", tmp_path / "b.gguf", to=192)


def test_nothing_is_written_by_preparing(tmp_path: Path) -> None:
    source = _llama(tmp_path / "a.gguf")
    shown = prepare(source, Asked(192)).shown
    assert [edit.key for edit in shown.edits["metadata"]][:2] == ["llama.context_length", "llama.rope.scaling.type"]
    assert {row.stack.partition("@")[0]: row.verdict for row in shown.stacks}["llama.cpp"] == "reference"
    assert list(tmp_path.iterdir()) == [source]


def test_a_part_of_the_head_is_what_the_new_base_is_for(tmp_path: Path) -> None:
    metadata = llama_metadata() | {"rope.dimension_count": 8}
    source = write_gguf(tmp_path / "a.gguf", "phi2", metadata, llama_tensors())
    extend(source, tmp_path / "b.gguf", to=192, method="ntk")
    found = _values(tmp_path / "b.gguf")["phi2.rope.freq_base"]
    assert found == pytest.approx(5e5 * 4 ** (8 / 6), rel=1e-6)


def test_a_part_of_a_model_and_a_name_that_is_no_text_are_refused(tmp_path: Path) -> None:
    import gguf

    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama")
    writer.add_uint16("split.count", 3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(GnomonError, match="is one of 3 parts of a model; join them first"):
        extend(tmp_path / "a.gguf", tmp_path / "b.gguf", to=192)
    raw = _llama(tmp_path / "c.gguf").read_bytes()
    (tmp_path / "odd.gguf").write_bytes(raw.replace(b"output_norm.weight", b"output_norm.wei\xffht"))
    with pytest.raises(GnomonError, match="has a tensor whose name is no text"):
        extend(tmp_path / "odd.gguf", tmp_path / "b.gguf", to=192)
