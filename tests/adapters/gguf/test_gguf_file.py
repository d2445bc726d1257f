"""GGUF: metadata becomes claims, single tensors are dequantised, and hostile files give one sentence."""

import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from gguf.quants import dequantize, quantize
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from gnomon.adapters import load_subject
from gnomon.adapters.claims import Claim
from gnomon.adapters.gguf.header import read_gguf
from gnomon.adapters.subject import MissingEvidence
from gnomon.errors import UnsupportedTargetError
from tests.helpers.tiny_gguf import HEADS, WIDTH, llama_metadata, llama_tensors, write_gguf

Q4_1, Q8_0 = gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0
SMALL = {"context_length": 5, "rope.freq_base": 10.0, "tokenizer.ggml.tokens": ["a", "b"]}
ONE = {"token_embd.weight": np.zeros((2, 32), np.float32)}


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "llama.gguf", "llama", llama_metadata(), llama_tensors())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNOMON_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def _one(path: Path) -> Claim:
    [claim] = load_subject(path).claims
    return claim


def test_llama_metadata_becomes_a_config_and_a_rotary_claim(llama: Path) -> None:
    subject = load_subject(llama)
    assert subject.config["max_position_embeddings"] == 48
    assert (subject.config["num_key_value_heads"], subject.config["vocab_size"]) == (2, 32)
    assert subject.tokenizer["ggml.bos_token_id"] == 1
    assert subject.trained
    [claim] = subject.claims
    assert claim.options == {
        "head_dim": 16,
        "rotary_dim": 16,
        "layout": "half",
        "frequencies": {"kind": "plain", "base": 5e5},
        "num_heads": 4,
        "num_key_heads": 2,
        "stated_length": 48,
        "file_layout": "interleaved",
    }
    assert claim.keys["frequencies.base"] == "llama.rope.freq_base"
    assert claim.keys["head_dim"] == "llama.embedding_length // llama.attention.head_count"
    assert "permuted in the file" in claim.keys["note"]


def test_other_architectures_map_to_their_families(tmp_path: Path) -> None:
    sizes = {"embedding_length": 80, "attention.head_count": 4, "context_length": 99}
    table = {"position_embd.weight": np.zeros((99, 80), np.float32)}
    bert = _one(write_gguf(tmp_path / "b.gguf", "bert", sizes, table))
    assert (bert.kind, bert.options["rows"], bert.options["dim"]) == ("learned", 99, 80)
    assert (bert.table_names, bert.keys["rows"]) == (("^position_embd\\.weight$",), "bert.context_length")
    bloom = _one(write_gguf(tmp_path / "bl.gguf", "bloom", sizes, ONE))
    assert (bloom.kind, bloom.options["num_heads"]) == ("alibi", 4)
    phi = _one(write_gguf(tmp_path / "p.gguf", "phi2", {**sizes, "rope.dimension_count": 6}, ONE))
    assert (phi.options["head_dim"], phi.options["rotary_dim"]) == (20, 6)
    assert "file_layout" not in phi.options
    mpt = {kind: {**sizes, "attention.max_alibi_bias": bias} for kind, bias in (("alibi", 8.0), ("learned", 0.0))}
    for kind, metadata in mpt.items():
        assert _one(write_gguf(tmp_path / f"m{kind}.gguf", "mpt", metadata, ONE)).kind == kind


def test_scaling_and_separate_head_width_are_read(tmp_path: Path) -> None:
    metadata = llama_metadata() | {"attention.key_length": 24, "rope.dimension_count": 24}
    metadata |= {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 12}
    metadata |= {"rope.scaling.attn_factor": 1.0, "rope.scaling.yarn_beta_fast": 16.0}
    claim = _one(write_gguf(tmp_path / "q.gguf", "qwen2", metadata, ONE))
    assert claim.options["head_dim"] == 24
    assert claim.options["frequencies"] == {
        "kind": "yarn",
        "base": 5e5,
        "factor": 4.0,
        "original_max_length": 12,
        "beta_fast": 16.0,
    }
    assert claim.keys["frequencies.factor"] == "qwen2.rope.scaling.factor"
    assert claim.keys["frequencies.original_max_length"] == "qwen2.rope.scaling.original_context_length"
    assert claim.keys["note"].startswith("transformers does not read attn_factor")
    del metadata["rope.scaling.factor"]
    claim = _one(write_gguf(tmp_path / "r.gguf", "qwen2", metadata, ONE))
    ratio = "qwen2.context_length / qwen2.rope.scaling.original_context_length"
    assert claim.keys["frequencies.factor"] == ratio


def test_an_unknown_architecture_is_named_and_its_tensors_still_load(tmp_path: Path) -> None:
    subject = load_subject(write_gguf(tmp_path / "x.gguf", "martian", {"context_length": 5}, ONE))
    with pytest.raises(MissingEvidence, match="martian"):
        _ = subject.claims
    with pytest.raises(MissingEvidence, match="martian"):
        _ = subject.module
    assert subject.tensors.load("token_embd.weight").shape == (2, 32)


def test_tensors_have_torch_order_and_dequantise_to_float32(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    tensors = {
        "plain": values,
        "half": values.astype(np.float16),
        "ids": np.arange(6, dtype=np.int32).reshape(2, 3),
        "q4": (values, Q4_1),
        "q8": (values, Q8_0),
    }
    source = load_subject(write_gguf(tmp_path / "t.gguf", "llama", {}, tensors)).tensors
    dtypes = {info.name: (info.shape, info.dtype) for info in source}
    assert dtypes == {
        "plain": ((3, 64), "float32"),
        "half": ((3, 64), "float16"),
        "ids": ((2, 3), "int32"),
        "q4": ((3, 64), "Q4_1"),
        "q8": ((3, 64), "Q8_0"),
    }
    assert torch.equal(source.load("plain"), torch.from_numpy(values))
    assert source.load("half").dtype == torch.float16
    assert source.load("ids").tolist() == [[0, 1, 2], [3, 4, 5]]
    for name, kind in (("q4", Q4_1), ("q8", Q8_0)):
        assert source.load(name).numpy() == pytest.approx(dequantize(quantize(values, kind), kind))
    assert (source.load("q8") - source.load("plain")).abs().max() < 0.03


def _half_from_pairs(weight: Tensor, heads: int) -> Tensor:
    """Rows (2 i, 2 i + 1) of each head to rows (i, i + d/2), one row at a time."""
    width = weight.shape[0] // heads
    order = [h * width + 2 * i + part for h in range(heads) for part in (0, 1) for i in range(width // 2)]
    return weight[order]


def test_the_model_is_converted_once_with_q_and_k_back_in_halves(llama: Path, cache: Path) -> None:
    subject = load_subject(llama)
    module: Any = subject.module
    stored = subject.tensors.load("blk.0.attn_q.weight")
    assert torch.allclose(module.model.layers[0].self_attn.q_proj.weight, _half_from_pairs(stored, HEADS), atol=0.02)
    assert module.model.rotary_emb.inv_freq.tolist() == pytest.approx(
        [5e5 ** (-2 * i / 16) for i in range(8)], rel=1e-5
    )
    assert subject.get("loading") == {"missing": [], "unexpected": [], "mismatched": []}
    assert module(**subject.example).logits.shape == (2, 12, 32)
    assert next(module.parameters()).dtype == torch.float32
    [folder] = cache.iterdir()
    made = (folder / "model.safetensors").stat().st_mtime_ns
    assert load_subject(llama).module is not module
    assert [f.name for f in cache.iterdir()] == [folder.name]
    assert (folder / "model.safetensors").stat().st_mtime_ns == made


def test_other_content_is_converted_again_and_a_failure_leaves_nothing(llama: Path, cache: Path) -> None:
    _ = load_subject(llama).module
    write_gguf(llama, "llama", llama_metadata(), llama_tensors(seed=1))
    _ = load_subject(llama).module
    assert len(list(cache.iterdir())) == 2
    lacking = {name: t for name, t in llama_tensors().items() if name != "blk.1.ffn_up.weight"}
    write_gguf(llama, "llama", llama_metadata(), lacking)
    with pytest.raises(MissingEvidence, match="lacks 1 tensors"):
        _ = load_subject(llama).module
    assert len(list(cache.iterdir())) == 2


def test_without_forward_nothing_is_converted(llama: Path, cache: Path) -> None:
    with pytest.raises(MissingEvidence, match="--no-forward"):
        _ = load_subject(llama, forward=False).module
    assert not cache.exists()


def test_a_file_cut_off_at_any_byte_is_one_sentence(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "w.gguf", "llama", SMALL, {"a": np.ones((1, 32), np.float32)}).read_bytes()
    cut = tmp_path / "cut.gguf"
    for end in range(len(whole)):
        cut.write_bytes(whole[:end])
        with pytest.raises(UnsupportedTargetError, match=r"cut\.gguf"):
            load_subject(cut)


def _header(*, version: int = 3, tensors: int = 0, pairs: int = 0, body: bytes = b"") -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, tensors, pairs) + body + bytes(64)


def _text(value: bytes, length: int | None = None) -> bytes:
    return struct.pack("<Q", len(value) if length is None else length) + value


def _pair(value: bytes, *, key: bytes = b"k") -> bytes:
    return _header(pairs=1, body=_text(key) + value)


def _tensor(dims: list[int], *, kind: int = 0, offset: int = 0, count: int | None = None) -> bytes:
    shape = struct.pack(f"<I{len(dims)}Q", len(dims) if count is None else count, *dims)
    return _text(b"t") + shape + struct.pack("<IQ", kind, offset)


def _one_tensor(dims: list[int], **fields: int) -> bytes:
    return _header(tensors=1, body=_tensor(dims, **fields))


TWICE = (_text(b"k") + struct.pack("<IB", 0, 1)) * 2
HOSTILE = {
    "magic": (b"GGML" + bytes(64), "starts with"),
    "old version": (_header(version=1), "version 1"),
    "big-endian": (_header(version=3 << 24), "big-endian"),
    "huge tensor count": (_header(tensors=2**63), "claims 0 metadata pairs"),
    "huge pair count": (_header(pairs=2**63), "claims 9,223"),
    "huge key": (_header(pairs=1, body=_text(b"", 2**60)), "more than the 65,535"),
    "unknown type": (_pair(struct.pack("<I", 99)), "unknown type 99"),
    "huge text": (_pair(struct.pack("<IQ", 8, 2**60)), "ends inside"),
    "huge text array": (_pair(struct.pack("<IIQ", 9, 8, 2**40)), "texts"),
    "huge text in an array": (_pair(struct.pack("<IIQQ", 9, 8, 2, 2**50)), "ends inside"),
    "huge array": (_pair(struct.pack("<IIQ", 9, 5, 2**60)), "values, but only"),
    "array of arrays": (_pair(struct.pack("<IIQ", 9, 9, 1)), "unknown type 9"),
    "same key": (_header(pairs=2, body=TWICE), "stands there twice"),
    "alignment": (_pair(struct.pack("<II", 4, 3), key=b"general.alignment"), "alignment 3"),
    "many dimensions": (_one_tensor([2], count=10**6), "dimensions"),
    "dimension of zero": (_one_tensor([0]), "dimension of 0"),
    "huge shape": (_one_tensor([2**63, 2**63]), "ends at byte"),
    "unknown tensor type": (_one_tensor([2], kind=77), "unknown type 77"),
    "broken block": (_one_tensor([31], kind=3), "not a multiple"),
    "offset outside": (_one_tensor([2], offset=2**62), "ends at byte"),
    "overlap": (_header(tensors=2, body=_tensor([2]) * 2), "overlap"),
    "same name": (_header(tensors=2, body=_tensor([2]) + _tensor([2], offset=32)), "same name"),
}


@pytest.mark.parametrize(("content", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused_by_its_reason(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(UnsupportedTargetError, match=message):
        load_subject(path)


def _complaint(path: Path) -> str | None:
    """The sentence that reading everything but the model ends in, or None when all of it can be read."""
    try:
        subject = load_subject(path)
        for info in subject.tensors:
            assert tuple(subject.tensors.load(info.name).shape) == info.shape
        assert isinstance(subject.claims, tuple)
    except (UnsupportedTargetError, MissingEvidence) as error:
        return str(error)
    return None


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_mutated_files_give_claims_and_tensors_or_one_sentence(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("mutated") / "x.gguf"
    write_gguf(path, "llama", SMALL, {"a": (np.ones((1, 32), np.float32), Q4_1)})
    assert _complaint(path) is None
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 8))
        value = data.draw(st.sampled_from([0, 1, 255, 2**31, 2**32 - 1, 2**62, 2**64 - 1]) | st.integers(0, 2**64 - 1))
        raw[at : at + 8] = struct.pack("<Q", value)
    path.write_bytes(raw)
    complaint = _complaint(path)
    assert complaint is None or str(path) in complaint or "model_type" in complaint


def test_the_header_is_what_the_gguf_package_reads(llama: Path) -> None:
    reader = gguf.GGUFReader(llama)
    header = read_gguf(llama)
    assert set(header.metadata) == {name for name in reader.fields if not name.startswith("GGUF.")}
    for ours, theirs in zip(header.tensors, reader.tensors, strict=True):
        assert (ours.name, ours.begin, ours.size) == (theirs.name, theirs.data_offset, theirs.n_bytes)
        assert ours.shape == tuple(int(n) for n in reversed(theirs.shape))
    assert header.metadata["llama.embedding_length"] == WIDTH
