"""Width of heads, scale of logits and sliding windows, against attention written out in loops."""

from dataclasses import replace

import pytest
import torch

from gnomon.attention import Attention, AttentionMask, LayerCache
from gnomon.encodings import ALiBi, NoPE, Rotary
from gnomon.encodings.alibi import reference as alibi_reference
from gnomon.errors import ShapeError
from tests.helpers.attention_reference import Rule, attention_reference
from tests.helpers.weights import normal, redraw

HEADS, DIM, BATCH, LENGTH = 4, 20, 2, 9
REAL = [[0, 0, 1, 1, 1, 1, 1, 1, 1], [1] * 9]
POSITIONS = torch.tensor([[0, 0, 0, 1, 2, 3, 4, 5, 6], [4, 5, 6, 9, 10, 11, 12, 13, 30]])
BIASED = Rule(logit=lambda h, q, k, i, j: alibi_reference(h, i, j, HEADS))


@pytest.mark.parametrize("head_dim", [3, 5, 8])
@pytest.mark.parametrize("scale", [None, 1.0, 0.3])
@pytest.mark.parametrize("biased", [True, False])
def test_heads_of_any_width_and_any_scale_equal_the_loops(head_dim: int, scale: float | None, biased: bool) -> None:
    encoding = ALiBi(HEADS) if biased else NoPE()
    layer = Attention(
        DIM, num_heads=HEADS, num_key_heads=2, encoding=encoding, causal=True, head_dim=head_dim, scale=scale
    )
    redraw(layer)
    x, rule = normal(BATCH, LENGTH, DIM), replace(BIASED if biased else Rule(), scale=scale)
    out = layer(x, POSITIONS)
    assert out.shape == (BATCH, LENGTH, DIM)
    expected = attention_reference(layer, x, POSITIONS, rule=rule)
    torch.testing.assert_close(out.double(), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("window", [1, 2, 3, 4, 20])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_a_window_counts_slots_and_hides_what_is_further_away(window: int, causal: bool, padded: bool) -> None:
    layer = Attention(DIM, num_heads=HEADS, encoding=ALiBi(HEADS), causal=causal, window=window)
    redraw(layer)

    def sees(query: int, key: int) -> bool:
        return query - key < window if causal else abs(query - key) <= window / 2

    x, real = normal(BATCH, LENGTH, DIM), REAL if padded else None
    mask = AttentionMask.of(None if real is None else torch.tensor(real))
    expected = attention_reference(layer, x, POSITIONS, rule=replace(BIASED, sees=sees), real=real)
    torch.testing.assert_close(layer(x, POSITIONS, mask).double(), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("window", [1, 3, 5])
@pytest.mark.parametrize("chunk", [1, 2, 4])
def test_a_window_sees_the_same_through_a_cache(window: int, chunk: int) -> None:
    layer = Attention(DIM, num_heads=HEADS, encoding=Rotary(4), causal=True, head_dim=4, window=window)
    redraw(layer)
    x, cache, mask = normal(BATCH, LENGTH, DIM), LayerCache(), torch.tensor(REAL)
    steps = []
    for start in range(0, LENGTH, chunk):
        part = slice(start, start + chunk)
        steps.append(layer(x[:, part], POSITIONS[:, part], AttentionMask.of(mask[:, part]), cache))
    whole = layer(x, POSITIONS, AttentionMask.of(mask))
    torch.testing.assert_close(torch.cat(steps, dim=1), whole, atol=1e-5, rtol=1e-5)


def test_a_width_of_zero_is_refused() -> None:
    with pytest.raises(ShapeError, match="head_dim=0"):
        Attention(DIM, num_heads=HEADS, encoding=NoPE(), causal=True, head_dim=0)


def test_a_dim_that_heads_do_not_divide_asks_for_their_width() -> None:
    with pytest.raises(ShapeError, match="unless head_dim is given, got dim=20, num_heads=3"):
        Attention(DIM, num_heads=3, encoding=NoPE(), causal=True)
    assert Attention(DIM, num_heads=3, encoding=NoPE(), causal=True, head_dim=6).output.in_features == 18


@pytest.mark.usefixtures("unchecked")
def test_positions_of_an_encoding_with_coordinates_must_have_them() -> None:
    encoding = NoPE()
    encoding.axes = 2
    layer, x = Attention(DIM, num_heads=HEADS, encoding=encoding, causal=True), normal(BATCH, LENGTH, DIM)
    with pytest.raises(ShapeError, match=r"need 2 coordinates each.*\(2, 9\)"):
        layer(x, POSITIONS)
    with pytest.raises(ShapeError, match=r"\(2, 8, 2\).*\(batch, length, 2\)"):
        layer(x, torch.zeros(2, 8, 2, dtype=torch.int64))
    assert layer(x, torch.zeros(1, 9, 2, dtype=torch.int64)).shape == (BATCH, LENGTH, DIM)
