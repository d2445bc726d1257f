"""Grids against counting by hand, and against what a convolution over patches makes of an image."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon import positions
from gnomon.attention import Attention, AttentionMask
from gnomon.encodings import AxialRotary
from gnomon.errors import PositionError

SIZES = st.integers(2, 4).flatmap(lambda axes: st.lists(st.integers(1, 4), min_size=axes, max_size=axes))


def count(sizes: list[int]) -> list[list[int]]:
    """Reading order as nested loops, the last axis fastest."""
    if not sizes:
        return [[]]
    return [[first, *rest] for first in range(sizes[0]) for rest in count(sizes[1:])]


@given(SIZES, st.integers(0, 3))
def test_a_grid_counts_the_last_axis_fastest_after_its_prefix(sizes: list[int], prefix: int) -> None:
    ids = positions.grid(*sizes, prefix=prefix)
    assert ids.dtype == torch.int64
    assert ids.shape == (1, prefix + math.prod(sizes), len(sizes))
    assert ids[0].tolist() == [[-1] * len(sizes)] * prefix + count(sizes)


def test_a_grid_is_the_order_of_flattened_patches() -> None:
    height, width = 2, 5
    image = torch.stack(torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")).float()
    patches = image.repeat_interleave(3, 1).repeat_interleave(3, 2)[None]  # each patch holds its own coordinates
    tokens = torch.nn.functional.avg_pool2d(patches, 3).flatten(2).transpose(1, 2)
    assert torch.equal(tokens.long(), positions.grid(height, width))


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4)), min_size=1, max_size=4), st.integers(0, 2))
def test_images_of_several_sizes_are_packed_with_their_documents(sizes: list[tuple[int, int]], prefix: int) -> None:
    ids = positions.from_grids(sizes, prefix=prefix)
    documents = positions.documents_from_grids(sizes, prefix=prefix)
    assert ids.dtype == documents.dtype == torch.int64
    assert ids.shape[:2] == documents.shape
    for index, size in enumerate(sizes):
        mine = ids[:, documents[0] == index]
        assert torch.equal(mine, positions.grid(*size, prefix=prefix))
    assert documents.diff().ge(0).all()


def test_packed_images_attend_as_each_image_alone() -> None:
    sizes, generator = [(2, 3), (1, 4), (3, 1)], torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    layer = Attention(16, num_heads=2, encoding=AxialRotary(8), causal=False).eval()
    ids, documents = positions.from_grids(sizes, prefix=1), positions.documents_from_grids(sizes, prefix=1)
    x = torch.randn(1, ids.shape[1], 16, generator=generator)
    packed = layer(x, ids, AttentionMask.of(documents=documents))
    for index, size in enumerate(sizes):
        mine = documents[0] == index
        torch.testing.assert_close(packed[:, mine], layer(x[:, mine], positions.grid(*size, prefix=1)))


def test_grids_are_made_where_they_are_asked_for() -> None:
    assert positions.grid(2, 3, prefix=1, device="meta").device.type == "meta"
    assert positions.from_grids([(2, 3)], device="meta").device.type == "meta"


BAD_INPUT = {
    "one axis": (lambda: positions.grid(5), r"at least 2 axes, got \(5,\); for one axis use after\(0, length\)"),
    "no axis": (lambda: positions.grid(), r"at least 2 axes, got \(\)"),
    "no place": (lambda: positions.grid(2, 0), r"at least 1 place along each axis, got \(2, 0\)"),
    "negative prefix": (lambda: positions.grid(2, 2, prefix=-1), "0 or more prefix tokens, got prefix=-1"),
    "no grids": (lambda: positions.from_grids([]), r"at least one size, .* got \[\]"),
    "axes differ": (lambda: positions.from_grids([(2, 3), (1, 2, 3)]), r"as many axes; got \[\(2, 3\), \(1, 2, 3\)\]"),
    "documents": (lambda: positions.documents_from_grids([(2, 3), (4,)]), "as many axes"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_grids_are_one_clear_sentence(name: str) -> None:
    call, message = BAD_INPUT[name]
    with pytest.raises(PositionError, match=message):
        call()
