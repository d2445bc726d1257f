"""Buffers that old checkpoints store beside a table grow along, and only those with the usual numbers."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from gnomon.errors import GnomonError
from gnomon.extending.tables import plan_tables
from tests.helpers.extended_folder import config_of, extended, saved, store, stored
from tests.helpers.tiny_transformers import LENGTH

TO = 101


def test_buffers_of_old_checkpoints_grow_along(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    store(
        tmp_path / "model",
        {
            "embeddings.position_ids": torch.arange(LENGTH)[None],
            "embeddings.token_type_ids": torch.zeros(1, LENGTH, dtype=torch.int64),
        },
    )
    output, _ = extended(tmp_path / "model", TO)
    held = load_file(output / "model.safetensors")
    assert torch.equal(held["embeddings.position_ids"], torch.arange(TO)[None])
    assert torch.equal(held["embeddings.token_type_ids"], torch.zeros(1, TO, dtype=torch.int64))


def test_buffers_of_tables_with_reserved_rows_count_rows(tmp_path: Path) -> None:
    saved(tmp_path / "model", "roberta", pad_token_id=1)
    store(tmp_path / "model", {"embeddings.position_ids": torch.arange(LENGTH)[None]})
    output, _ = extended(tmp_path / "model", TO)
    assert torch.equal(stored(output, "embeddings.position_ids"), torch.arange(TO + 2)[None])


def test_a_buffer_with_other_numbers_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "model", "bert")
    store(tmp_path / "model", {"embeddings.position_ids": torch.arange(LENGTH).flip(0)[None]})
    with pytest.raises(GnomonError, match=r"position_ids' grows with the table, but its numbers"):
        plan_tables(tmp_path / "model", config_of(tmp_path / "model"), to=TO)


def test_masks_of_old_checkpoints_keep_their_triangle_and_their_window(tmp_path: Path) -> None:
    saved(tmp_path / "model", "gpt_neo")
    whole = torch.ones(LENGTH, LENGTH, dtype=torch.uint8).tril()
    local = whole - whole.tril(-9)
    names = ("h.0.attn.attention.bias", "h.1.attn.attention.bias")
    store(tmp_path / "model", dict(zip(names, (whole[None, None], local[None, None]), strict=True)))
    output, _ = extended(tmp_path / "model", TO)
    triangle = torch.ones(TO, TO, dtype=torch.uint8).tril()
    assert torch.equal(stored(output, names[0])[0, 0], triangle)
    assert torch.equal(stored(output, names[1])[0, 0], triangle - triangle.tril(-9))
