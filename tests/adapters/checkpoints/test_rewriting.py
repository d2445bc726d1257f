"""A checkpoint rewritten: what changes changes, all else is the same bytes, and a failure leaves nothing."""

import hashlib
import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from gnomon.adapters.checkpoints.rewriting import Changed, Rewriting
from tests.helpers.peaks import peak_growths
from tests.helpers.rewritten import DOUBLED, digests, doubled, folder_of, tensors
from tests.helpers.sparse_checkpoints import sparse_folder

MIB = 2**20


def test_untouched_tensors_are_the_same_bytes_in_every_dtype(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "a")
    done = Rewriting(DOUBLED).write(source, tmp_path / "b")
    before, after = (digests(tmp_path / name / "model.safetensors") for name in "ab")
    assert after.keys() == before.keys()
    assert [name for name in before if before[name] != after[name]] == ["embed.weight"]
    assert (done.changed, done.untouched) == (("embed.weight",), 6)
    assert torch.equal(
        load_file(tmp_path / "b" / "model.safetensors")["embed.weight"], doubled(tensors()["embed.weight"])
    )


def test_the_digest_is_that_of_names_and_bytes_of_the_others(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "a")
    done = Rewriting(DOUBLED).write(source, tmp_path / "b")
    raw = (source / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    entries = sorted((fields["data_offsets"], name) for name, fields in header.items() if name != "__metadata__")
    whole = hashlib.sha256()
    for (begin, end), name in entries:
        if name != "embed.weight":
            whole.update(hashlib.sha256(name.encode() + data[begin:end]).digest())
    assert done.digest == whole.hexdigest()


def test_nothing_changed_gives_a_copy_with_its_metadata(tmp_path: Path) -> None:
    Rewriting().write(folder_of(tmp_path / "a"), tmp_path / "b")
    with safe_open(tmp_path / "b" / "model.safetensors", framework="pt") as held:
        assert held.metadata() == {"format": "pt", "by": "a test"}
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == [
        "config.json",
        "model.safetensors",
        "tokenizer.json",
    ]


def test_the_new_header_is_aligned_and_its_offsets_leave_no_gap(tmp_path: Path) -> None:
    Rewriting(DOUBLED).write(folder_of(tmp_path / "a"), tmp_path / "b")
    raw = (tmp_path / "b" / "model.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    offsets = sorted(f["data_offsets"] for n, f in json.loads(raw[8 : 8 + length]).items() if n != "__metadata__")
    assert length % 8 == 0
    assert [end for _, end in offsets] == [begin for begin, _ in offsets[1:]] + [len(raw) - 8 - length]


@pytest.mark.parametrize("shards", [2, 3])
def test_shards_keep_their_names_and_the_index_counts_anew(tmp_path: Path, shards: int) -> None:
    source = folder_of(tmp_path / "a", shards=shards)
    Rewriting(DOUBLED).write(source, tmp_path / "b")
    old, new = (json.loads((tmp_path / n / "model.safetensors.index.json").read_text()) for n in "ab")
    assert new["weight_map"] == old["weight_map"]
    sizes = {name: t.numel() * t.element_size() for name, t in tensors().items()} | {"embed.weight": 12 * 4 * 4}
    assert new["metadata"] == {
        "total_size": sum(sizes.values()),
        "total_parameters": old["metadata"]["total_parameters"] + 24,
        "own": "kept",
    }
    for name in set(old["weight_map"].values()):
        before, after = (digests(tmp_path / folder / name) for folder in "ab")
        assert {n: d for n, d in before.items() if n != "embed.weight"} == {
            n: d for n, d in after.items() if n != "embed.weight"
        }


def test_tied_weights_that_the_file_holds_once_stay_so(tmp_path: Path) -> None:
    import transformers

    config = transformers.GPT2Config(n_embd=8, n_head=2, n_layer=1, n_positions=16, vocab_size=11)
    model = transformers.GPT2LMHeadModel(config)
    model.save_pretrained(tmp_path / "a")
    name = "transformer.wpe.weight"
    Rewriting({name: Changed((32, 8), doubled)}, {"config.json": config_for(config, 32)}).write(
        tmp_path / "a", tmp_path / "b"
    )
    longer = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "b")
    assert longer.lm_head.weight.data_ptr() == longer.transformer.wte.weight.data_ptr()
    assert torch.equal(longer.transformer.wpe.weight[:16], model.transformer.wpe.weight)


def config_for(config: Any, length: int) -> bytes:
    return json.dumps({**config.to_dict(), "n_positions": length}).encode()


def test_what_is_not_copied_is_reported(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "a")
    (source / "1_Pooling").mkdir()
    (source / "pytorch_model.bin").write_bytes(b"old")
    (source / "model.gguf").write_bytes(b"old")
    (source / "dangling").symlink_to("nowhere")
    os.mkfifo(source / "pipe")
    done = Rewriting().write(source, tmp_path / "b")
    assert done.left_behind == ("1_Pooling", "dangling", "model.gguf", "pipe", "pytorch_model.bin")
    assert not {*done.left_behind} & {path.name for path in (tmp_path / "b").iterdir()}


def test_small_files_are_replaced_left_out_or_made_by_a_function(tmp_path: Path) -> None:
    source = folder_of(tmp_path / "a")
    files = {"config.json": b"{}", "tokenizer.json": None}
    made = {"big.gguf": lambda path: path.write_bytes(b"made")}
    Rewriting(files=files, made=made).write(source, tmp_path / "b")
    held = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir() if path.suffix != ".safetensors"}
    assert held == {"config.json": b"{}", "big.gguf": b"made"}


def test_links_of_a_cache_are_followed(tmp_path: Path) -> None:
    real, source = folder_of(tmp_path / "real"), tmp_path / "a"
    source.mkdir()
    for path in real.iterdir():
        (source / path.name).symlink_to(path)
    Rewriting().write(source, tmp_path / "b")
    assert not (tmp_path / "b" / "model.safetensors").is_symlink()
    assert digests(tmp_path / "b" / "model.safetensors") == digests(real / "model.safetensors")


STREAMED = """
from pathlib import Path
import torch
from gnomon.adapters.checkpoints.rewriting import Changed, Rewriting
def setup(source, output, changed):
    tensors = {changed: Changed((4096, 1024), lambda old: old + 1)} if changed else {}
    return Rewriting(tensors), Path(source), Path(output)
def run(thing):
    rewriting, source, output = thing
    rewriting.write(source, output)
    for path in output.iterdir():
        path.unlink()
"""


def test_memory_does_not_grow_with_the_checkpoint(tmp_path: Path) -> None:
    shapes = {"table": ("F32", (4096, 1024))}
    cases = []
    for layers in (2, 8):  # of 16 MiB each
        whole = {**shapes, **{f"layer.{i}": ("BF16", (4096, 2048)) for i in range(layers)}}
        source = sparse_folder(tmp_path / f"a{layers}", {}, whole, shards=2)
        cases.append({"source": str(source), "output": str(tmp_path / f"b{layers}"), "changed": "table"})
    two, eight = peak_growths(STREAMED, *cases)
    tables = 2 * 16 * MIB  # the old one and the new one
    assert max(two, eight) < tables + 16 * MIB
    assert abs(eight - two) < 8 * MIB


@pytest.mark.parametrize("name", sorted(tensors()))
def test_a_tensor_of_any_dtype_and_shape_can_be_made_anew(tmp_path: Path, name: str) -> None:
    source, old = folder_of(tmp_path / "a"), tensors()[name]
    Rewriting({name: Changed(tuple(old.shape), lambda held: held.clone())}).write(source, tmp_path / "b")
    assert digests(tmp_path / "b" / "model.safetensors") == digests(source / "model.safetensors")
