"""Rows of heads brought to other pairs: which rows move where, in tensors of any shape and dtype."""

import cmath

import pytest
import torch

from gnomon.layouts.lanes import Lanes

WHOLE = Lanes(16, query=(0, 8), key=(), width=8, begin=0, rotated=8)


def test_halves_become_neighbours_by_the_published_order() -> None:
    """huggingface/nanotron#427: heads of 8."""
    assert WHOLE.order("interleaved").tolist()[:8] == [0, 4, 1, 5, 2, 6, 3, 7]
    assert WHOLE.order("half").tolist()[8:] == [8, 10, 12, 14, 9, 11, 13, 15]


def test_lanes_before_and_after_the_turned_ones_stay() -> None:
    partial = Lanes(20, query=(0,), key=(10,), width=10, begin=2, rotated=6)
    one_head = [0, 1, 2, 5, 3, 6, 4, 7, 8, 9]
    assert partial.order("interleaved").tolist() == one_head + [row + 10 for row in one_head]


def test_there_and_back_is_where_it_was() -> None:
    there, back = WHOLE.order("interleaved"), WHOLE.order("half")
    assert torch.equal(there[back], torch.arange(16))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float8_e4m3fn, torch.int8, torch.complex64])
@pytest.mark.parametrize("shape", [(16,), (16, 3), (2, 8), (16, 1)])
def test_any_dtype_and_shape_moves_by_its_bytes(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    values = torch.arange(torch.Size(shape).numel()).reshape(shape) % 100
    tensor = values.to(torch.float32).to(dtype)
    moved = WHOLE.move(tensor.clone(), "interleaved")
    rows = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15])
    wanted = tensor.reshape(16, -1).view(torch.uint8)[rows]
    assert moved.shape == tensor.shape
    assert torch.equal(moved.reshape(16, -1).view(torch.uint8), wanted)


def test_only_pairs_far_apart_notice() -> None:
    """nanotron#427: positions (0, 0) and (3, 3) agree whatever the order of rows, (5, 2) does not."""
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(2, 8, generator=generator, dtype=torch.float64)

    def score(q: torch.Tensor, k: torch.Tensor, at: tuple[int, int], *, neighbours: bool) -> float:
        total = 0.0
        for pair in range(4):
            a, b = (2 * pair, 2 * pair + 1) if neighbours else (pair, pair + 4)
            turn = (at[0] - at[1]) * 10000.0 ** (-2 * pair / 8)
            turned = complex(q[a], q[b]) * complex(k[a], k[b]).conjugate() * cmath.exp(1j * turn)
            total += turned.real
        return total

    one_head = Lanes(8, (0,), (), 8, 0, 8)
    moved_q, moved_k = (one_head.move(x.clone(), "interleaved") for x in (q, k))
    for at in ((0, 0), (3, 3), (5, 2), (102, 99)):
        same = score(q, k, at, neighbours=False)
        assert score(moved_q, moved_k, at, neighbours=True) == pytest.approx(same, abs=1e-6)
        unmoved = score(q, k, at, neighbours=True)
        assert (abs(unmoved - same) < 1e-6) == (at[0] == at[1])


@pytest.mark.parametrize("shape", [(24, 5), (24,)])
def test_rows_move_as_transformers_moves_those_of_complex_rotations(shape: tuple[int, ...]) -> None:
    """Its loader's operation brings neighbours to halves (and back when inverse), for three heads of eight."""
    from types import SimpleNamespace

    from transformers.core_model_loading import PermuteForRope

    tensor = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    heads, config = Lanes(24, (0, 8, 16), (), 8, 0, 8), SimpleNamespace(num_attention_heads=3)
    for inverse, to in ((False, "half"), (True, "interleaved")):
        wanted = PermuteForRope(inverse=inverse)._permute_for_rope(tensor, config)
        assert torch.equal(heads.move(tensor.clone(), "half" if to == "half" else "interleaved"), wanted)
